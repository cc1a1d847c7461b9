"""Figures for papers: displays that hold their data and draw it.

Create a display with a ``from_...`` constructor, draw it with :meth:`plot` and save it with
:meth:`save` as png, pdf or svg. :meth:`plot` draws on a given axis or makes a new figure at the
width of a column or of a page. pyplot is not needed, and no global state changes.

>>> from vuskit.figures import SurfaceDisplay
>>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
>>> display = SurfaceDisplay.from_scores(labels, score, max_buffer=4)
>>> display.plot().figure_.get_size_inches().tolist()
[3.33, 3.0]
"""

from __future__ import annotations

from vuskit.figures.bars import RobustnessBarsDisplay, SeparabilityBarsDisplay
from vuskit.figures.base import ChoiceDisplay, Display
from vuskit.figures.boxes import CenteredBoxDisplay, SeparabilityBoxDisplay
from vuskit.figures.comparison_matrix import MultiComparisonMatrixDisplay
from vuskit.figures.consistency import EntropyDisplay, RankLinesDisplay
from vuskit.figures.critical_difference import CriticalDifferenceDisplay
from vuskit.figures.curves import RangeCurveDisplay, SurfaceDisplay, VolumeDisplay
from vuskit.figures.detectors import DetectorBarsDisplay, DetectorComparisonDisplay, SeriesDisplay
from vuskit.figures.forest import ForestDisplay, ForestPanel
from vuskit.figures.panels import Panel, PanelsDisplay
from vuskit.figures.scenarios import ScenarioDisplay, SweepDisplay
from vuskit.figures.sensitivity import (
    Case,
    CasePanelsDisplay,
    CasesDisplay,
    LabelingDisplay,
    SensitivityDisplay,
)
from vuskit.figures.soft_labels import (
    LabelEvolutionDisplay,
    SectionsDisplay,
    SoftLabelDisplay,
    soft_label,
)
from vuskit.figures.summary import ScatterDisplay, SummaryDisplay
from vuskit.figures.timing import TimingSeriesDisplay, TimingSweepDisplay

__all__ = [
    "Case",
    "CasePanelsDisplay",
    "CasesDisplay",
    "CenteredBoxDisplay",
    "ChoiceDisplay",
    "CriticalDifferenceDisplay",
    "DetectorBarsDisplay",
    "DetectorComparisonDisplay",
    "Display",
    "EntropyDisplay",
    "ForestDisplay",
    "ForestPanel",
    "LabelEvolutionDisplay",
    "LabelingDisplay",
    "MultiComparisonMatrixDisplay",
    "Panel",
    "PanelsDisplay",
    "RangeCurveDisplay",
    "RankLinesDisplay",
    "RobustnessBarsDisplay",
    "ScatterDisplay",
    "ScenarioDisplay",
    "SectionsDisplay",
    "SensitivityDisplay",
    "SeparabilityBarsDisplay",
    "SeparabilityBoxDisplay",
    "SeriesDisplay",
    "SoftLabelDisplay",
    "SummaryDisplay",
    "SurfaceDisplay",
    "SweepDisplay",
    "TimingSeriesDisplay",
    "TimingSweepDisplay",
    "VolumeDisplay",
    "soft_label",
]

"""Evidence about the measures: what they cost and how they behave."""

from __future__ import annotations

from vuskit.bench.run import open_scores
from vuskit.figures.scenarios import Scenario
from vuskit.statistics.comparison import TableComparison, compare
from vuskit.studies import timing as _timing  # noqa: F401 - registers the study
from vuskit.studies.base import (
    DetectorStudy,
    Study,
    evaluate_detectors,
    get_study,
    list_studies,
    study,
)
from vuskit.studies.buffer_dependence import BufferDependence, buffer_dependence
from vuskit.studies.consistency import Consistency, ConsistencyResult
from vuskit.studies.published import (
    PublishedComparison,
    PublishedTable,
    compare_with_published,
    read_published,
)
from vuskit.studies.result import (
    Failure,
    SeriesValues,
    StudyInput,
    StudyResult,
    changed_inputs,
    load_study_result,
    load_study_results,
)
from vuskit.studies.robustness import Robustness, RobustnessResult
from vuskit.studies.run import run_study
from vuskit.studies.scenarios import ScenarioResult, Scenarios, paper_scenarios
from vuskit.studies.separability import Separability, SeparabilityResult
from vuskit.studies.summary import Summary, SummaryStudy, summarize

__all__ = [
    "BufferDependence",
    "Consistency",
    "ConsistencyResult",
    "DetectorStudy",
    "Failure",
    "PublishedComparison",
    "PublishedTable",
    "Robustness",
    "RobustnessResult",
    "Scenario",
    "ScenarioResult",
    "Scenarios",
    "Separability",
    "SeparabilityResult",
    "SeriesValues",
    "Study",
    "StudyInput",
    "StudyResult",
    "Summary",
    "SummaryStudy",
    "TableComparison",
    "buffer_dependence",
    "changed_inputs",
    "compare",
    "compare_with_published",
    "evaluate_detectors",
    "get_study",
    "list_studies",
    "load_study_result",
    "load_study_results",
    "open_scores",
    "paper_scenarios",
    "read_published",
    "run_study",
    "study",
    "summarize",
]

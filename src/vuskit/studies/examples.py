"""Figures of one scored series; each takes one call.

All functions take the scored series first, then the detectors. The default settings are those of
the studies. Figures that explain a definition show a stretch around one anomaly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.synthetic import make_series
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    CasePanelsDisplay,
    DetectorBarsDisplay,
    DetectorComparisonDisplay,
    LabelEvolutionDisplay,
    LabelingDisplay,
    SectionsDisplay,
    SoftLabelDisplay,
    VolumeDisplay,
)
from vuskit.inputs import check_choice
from vuskit.measures.evaluate import evaluate_many
from vuskit.measures.registry import Measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.thresholds import Sigma, threshold_value
from vuskit.studies.base import PUBLISHED
from vuskit.studies.perturbations import crops_by_ratio
from vuskit.studies.sensitivity import compare_cases

__all__ = [
    "comparison_example",
    "evolution_example",
    "example_series",
    "extension_example",
    "first_channel",
    "first_run",
    "labeling_example",
    "measures_example",
    "part_around_anomaly",
    "sections_example",
    "sensitivity_example",
]

Floats = NDArray[np.float64]
Chosen = str | Measure | Iterable[str | Measure]
_SHARES = (0.05, 0.2)
_VARIED = ("threshold", "lag", "noise", "ratio")
_SHORT = 60  # longest buffer of illustrations, in points, so that single points stay visible


def example_series(*, n: int = 3000, seed: int = 0) -> ScoredSeries:
    """Return a synthetic heartbeat with the scores of two made-up detectors, for illustrations.

    Parameters
    ----------
    n : int, default=3000
        Number of points.
    seed : int, default=0
        Seed of series and scores.

    Examples
    --------
    >>> example_series().detectors
    ('late', 'noisy')
    """
    series = make_series("ecg", n=n, n_anomalies=max(n // 1000, 1), seed=seed)
    random = np.random.default_rng(seed)
    width = 25
    smooth = np.convolve(series.labels, np.ones(width) / width, mode="same")
    late = np.roll(smooth, width) + 0.05 * random.random(n)
    noisy = 0.6 * smooth + 0.4 * random.random(n)
    return ScoredSeries(series, {"late": late, "noisy": noisy})


def part_around_anomaly(scored: ScoredSeries, margin: int) -> ScoredSeries:
    """Return the stretch around the anomaly of median length, with `margin` points on each side.

    Other anomalies in the stretch are kept. At the ends of the series the stretch is shorter.

    Raises
    ------
    InvalidInputError
        If the series has no anomaly.

    Examples
    --------
    >>> series = Series("s", "docs", [0.0] * 9, [0, 0, 0, 0, 1, 0, 0, 0, 0])
    >>> part_around_anomaly(ScoredSeries(series, {"a": np.arange(9.0)}), 2).scores["a"]
    array([2., 3., 4., 5., 6.])
    """
    start, stop = _typical_anomaly(scored)
    kept = slice(max(start - margin, 0), min(stop + margin, scored.series.n_points))
    return _part(scored, kept)


def _typical_anomaly(scored: ScoredSeries) -> tuple[int, int]:
    bounds = sorted(scored.series.events, key=lambda pair: pair[1] - pair[0])
    if not bounds:
        raise InvalidInputError(
            f"`scored` must hold an anomaly, got none in {scored.series.name!r}"
        )
    start, stop = bounds[(len(bounds) - 1) // 2]
    return start, stop


def _part(scored: ScoredSeries, kept: slice) -> ScoredSeries:
    one = scored.series
    part = Series(one.name, one.dataset, one.values[kept], one.labels[kept], channels=one.channels)
    scores = {name: score[kept] for name, score in scored.scores.items()}
    return ScoredSeries(part, scores, dict(scored.repeats))


def _name(scored: ScoredSeries) -> str:
    return f"{scored.series.dataset}/{scored.series.name}"


def first_run(scored: ScoredSeries, detector: str | None = None) -> Floats:
    """Return the score of the first run of a detector; by default of the first detector.

    Raises
    ------
    InvalidInputError
        If the detector does not exist, or there are no scores.

    Examples
    --------
    >>> first_run(example_series(), "late").shape
    (3000,)
    """
    if not scored.detectors:
        raise InvalidInputError(f"`scored` must hold scores, got none of {scored.series.name!r}")
    name = scored.detectors[0] if detector is None else detector
    check_choice("detector", name, scored.detectors)
    return scored.scores[scored.repeats.get(name, (name,))[0]]


def first_channel(scored: ScoredSeries) -> Floats:
    """Return the first channel of the series; missing values are interpolated.

    Examples
    --------
    >>> first_channel(example_series()).shape
    (3000,)
    """
    values = scored.series.values
    line = np.array(values if values.ndim == 1 else values[:, 0])
    known = np.flatnonzero(np.isfinite(line))
    if not known.size:
        return np.zeros(line.size)
    return np.interp(np.arange(line.size), known, line[known])


def _buffer(scored: ScoredSeries, settings: EvaluationSettings) -> int:
    choice: BufferChoice = settings.choose_buffer(
        values=scored.series.values, y_true=scored.series.labels
    )
    return choice.length


def sensitivity_example(
    scored: ScoredSeries,
    detector: str | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
    measures: Chosen = "paper",
    seed: int = 0,
) -> CasePanelsDisplay:
    """All measures before and after a change of threshold, lag, noise and ratio (Fig. 2).

    Shows a stretch around one anomaly. The crops have 5 and 20 % anomalous points, or the closest
    shares that crops of the stretch reach. Without two such crops, the ratio is omitted.

    Parameters
    ----------
    scored : ScoredSeries
        A series with scores.
    detector : str, optional
        Detector to show. Default: the first.
    settings : EvaluationSettings
        Buffer and longest buffer of VUS.
    measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
        Measures to evaluate.
    seed : int, default=0
        Seed of the noise.

    Raises
    ------
    InvalidInputError
        If the series has no anomaly, or the detector does not exist.

    Examples
    --------
    >>> sensitivity_example(example_series())
    CasePanelsDisplay(threshold, lag, noise, ratio; 13 measures)
    """
    buffer = _buffer(scored, settings)
    start, stop = _typical_anomaly(scored)
    part = part_around_anomaly(scored, max(3 * buffer, 12 * (stop - start)))
    score = first_run(part, detector)
    shares = _reachable_shares(part.series.labels)
    panels = {}
    for vary in _VARIED:
        pair = shares if vary == "ratio" else None
        if vary == "ratio" and pair is None:
            continue  # no two crops of the series differ enough
        panels[vary] = compare_cases(
            part.series.labels,
            score,
            buffer=buffer,
            vary=vary,
            at=pair,
            series=first_channel(part),
            measures=measures,
            volume_factor=settings.volume_factor,
            seed=seed,
        )
    return CasePanelsDisplay(
        panels,
        title=f"Sensitivity on {_name(scored)}",
        caption="Two variants of one score, the values of all measures, and their differences. "
        "Shaded: anomalies. Dashed: threshold. Crops are drawn at their position in the series.",
    )


def _reachable_shares(labels: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the lowest and the highest share from 5 to 20 % that crops reach."""
    crops = crops_by_ratio(labels, count=16, low=_SHARES[0], high=_SHARES[1])
    found = [crop.target for crop in crops if crop.stop > crop.start]
    return (found[0], found[-1]) if len(found) > 1 else None


def labeling_example(
    scored: ScoredSeries,
    detector: str | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
    measures: Chosen = ("auc_pr", "vus_pr"),
) -> LabelingDisplay:
    """One score under several ways to label the same anomaly (Fig. 3).

    The labelings are: as labeled, only the middle third, only the first half, and with a quarter of
    a buffer on each side.

    Parameters
    ----------
    scored, detector, settings, measures
        As for :func:`sensitivity_example`.

    Examples
    --------
    >>> labeling_example(example_series()).labels.keys()
    dict_keys(['as labeled', 'middle third', 'first half', 'with surroundings'])
    """
    buffer = _buffer(scored, settings)
    part = part_around_anomaly(scored, 3 * buffer)
    aside = max(buffer // 4, 1)
    labels = {
        name: np.zeros(part.series.n_points, dtype=bool)
        for name in ("as labeled", "middle third", "first half", "with surroundings")
    }
    for start, stop in part.series.events:
        length = stop - start
        third, half = length // 3, max(length // 2, 1)
        kept = (
            slice(start, stop),
            slice(start + third, stop - third),
            slice(start, start + half),
            slice(max(start - aside, 0), stop + aside),
        )
        for label, place in zip(labels.values(), kept, strict=True):
            label[place] = True
    display = LabelingDisplay.from_labels(
        first_channel(part), first_run(part, detector), labels, buffer=buffer, measures=measures
    )
    display.title = f"Labeling strategies on {_name(scored)}"
    display.caption = "One score, evaluated with four labelings of the same anomaly."
    return display


def measures_example(
    scored: ScoredSeries,
    detector: str | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
    curve: str = "roc",
) -> VolumeDisplay:
    """From AUC to R-AUC (one buffer) to VUS (all buffers) (Fig. 4).

    Parameters
    ----------
    scored, detector, settings
        As for :func:`sensitivity_example`.
    curve : {"roc", "pr"}, default="roc"
        Curve to show.

    Examples
    --------
    >>> measures_example(example_series()).curve.curve
    'roc'
    """
    buffer = _buffer(scored, settings)
    part = part_around_anomaly(scored, 3 * buffer)
    display = VolumeDisplay.from_scores(
        part.series.labels, first_run(part, detector), max_buffer=buffer, curve=curve,
        definition=settings.definition, side=settings.side,
    )  # fmt: skip
    display.title = f"From AUC to VUS on {_name(scored)}"
    display.caption = (
        "Top: labels without a buffer, with one buffer, and with growing buffers. Bottom: the "
        "curve, the curve with a buffer, and the surface over all buffers."
    )
    return display


def extension_example(
    scored: ScoredSeries,
    detector: str | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
    factor: float = 1.0,
) -> SoftLabelDisplay:
    """How a buffer extends the label where points are predicted (Fig. 5).

    Parameters
    ----------
    scored, detector, settings
        As for :func:`sensitivity_example`; long buffers are shortened to show single points.
    factor : float, default=1
        Threshold, in standard deviations above the mean of the score.

    Examples
    --------
    >>> extension_example(example_series()).buffer
    60
    """
    buffer = min(_buffer(scored, settings), _SHORT)
    score = first_run(scored, detector)
    threshold = threshold_value(Sigma(factor), score)
    part = part_around_anomaly(scored, 2 * buffer)
    display = SoftLabelDisplay.from_labels(
        part.series.labels, buffer=buffer, y_pred=first_run(part, detector) >= threshold
    )
    display.title = f"Label extension on {_name(scored)}"
    display.caption = "The label is extended only where a point within the buffer is predicted."
    return display


def sections_example(
    scored: ScoredSeries,
    detector: str | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
) -> SectionsDisplay:
    """Dynamic sections, which a buffer can change, and static sections (Fig. 6).

    Parameters
    ----------
    scored, detector, settings
        As for :func:`sensitivity_example`.

    Examples
    --------
    >>> sections_example(example_series()).dynamic.any()
    np.True_
    """
    buffer = _buffer(scored, settings)
    part = part_around_anomaly(scored, 4 * buffer)
    display = SectionsDisplay.from_scores(
        part.series.labels, first_run(part, detector), max_buffer=buffer
    )
    display.title = f"Static and dynamic sections on {_name(scored)}"
    display.caption = (
        f"Dynamic: within reach of a buffer of {buffer} points. Static: everything else; its "
        "counts are the same for every buffer."
    )
    return display


def evolution_example(
    scored: ScoredSeries,
    detector: str | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
    count: int = 5,
) -> LabelEvolutionDisplay:
    """The label while the buffer grows (Fig. 7).

    Parameters
    ----------
    scored, settings
        As for :func:`sensitivity_example`.
    detector : str, optional
        Ignored; the figure needs no score.
    count : int, default=5
        Number of buffers, from 0 to the buffer of the settings.

    Examples
    --------
    >>> evolution_example(example_series()).buffers
    (0, 26, 51, 76, 102)
    """
    buffer = _buffer(scored, settings)
    part = part_around_anomaly(scored, 2 * buffer)
    lengths = np.unique(np.linspace(0, buffer, count).round().astype(int)).tolist()
    display = LabelEvolutionDisplay.from_labels(part.series.labels, buffers=lengths)
    display.title = f"Labels as L grows on {_name(scored)}"
    display.caption = "Soft labels for growing buffers. Static sections keep their label."
    return display


def comparison_example(
    scored: ScoredSeries,
    detectors: Sequence[str] | None = None,
    *,
    settings: EvaluationSettings = PUBLISHED,
    measures: Chosen = "paper",
) -> DetectorComparisonDisplay:
    """Two detectors on one series: scores, R-AUC curves, VUS surfaces, all measures (Fig. 8).

    Parameters
    ----------
    scored, settings, measures
        As for :func:`sensitivity_example`.
    detectors : sequence of str, optional
        One to four detectors. Default: the first two.

    Raises
    ------
    InvalidInputError
        If a detector does not exist, or there are too many.

    Examples
    --------
    >>> comparison_example(example_series())
    DetectorComparisonDisplay(late, noisy on 3000 points, 13 measures)
    """
    names = scored.detectors[:2] if detectors is None else tuple(detectors)
    buffer = _buffer(scored, settings)
    scores = {name: first_run(scored, name) for name in names}
    labels = scored.series.labels
    display = DetectorComparisonDisplay.from_scores(
        labels, scores, buffer=buffer, measures=measures, volume_factor=settings.volume_factor,
        definition=settings.definition, side=settings.side,
    )  # fmt: skip
    found = evaluate_many(
        labels, scores, measures=measures, settings=settings.replace(buffer=buffer)
    )
    display.bars = DetectorBarsDisplay.from_evaluations(found)
    display.title = f"{' and '.join(names)} on {_name(scored)}"
    longest = round(settings.volume_factor * buffer)
    display.caption = (
        f"(a) Scores; anomalies are shaded. (b, c) Curves with a buffer of {buffer} points; "
        f"dashed: without a buffer. (d, e) Surfaces over buffers 0 to {longest}. (f) Values of all "
        "measures."
    )
    return display

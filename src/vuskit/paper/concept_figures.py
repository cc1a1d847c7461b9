"""Figures 1 to 8: why the measure matters and how range-aware measures work, by example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.buffers import choose_buffer
from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    CasePanelsDisplay,
    DetectorBarsDisplay,
    DetectorComparisonDisplay,
    LabelEvolutionDisplay,
    LabelingDisplay,
    Panel,
    PanelsDisplay,
    SectionsDisplay,
    SeriesDisplay,
    SoftLabelDisplay,
    VolumeDisplay,
    soft_label,
)
from vuskit.figures.critical_difference import BARS
from vuskit.measures.registry import Measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.thresholds import Sigma, threshold_value
from vuskit.paper.examples import Example
from vuskit.paper.exhibits import Built, NotPossibleError, Part, exhibit
from vuskit.paper.material import Material
from vuskit.paper.words import (
    RANGE_AWARE,
    in_order,
    joined,
    number,
    plural,
    series_count,
    title_of,
    titles,
)
from vuskit.studies import TableComparison, compare
from vuskit.studies.perturbations import crops_by_ratio
from vuskit.studies.sensitivity import compare_cases

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

_ALPHA = 0.1
_SHARE_PRESENT = 0.5  # share of the series that a detector must have scored to be ranked
_VARIED = ("threshold", "lag", "noise", "ratio")
_SHARES = (0.05, 0.2)  # of anomalous points, in the two crops of Figure 2
_SHORT = 60  # longest buffer of Figure 5, in points, so that single points stay visible
_LABELINGS = ("as labeled", "middle third", "first half", "with surroundings")
_LABELED_BY = ("auc_pr", "vus_pr")
_N_BUFFERS = 5  # of Figure 7


def _frame(columns: Any) -> pd.DataFrame:
    frame: pd.DataFrame = require("pandas", purpose="tables").DataFrame(columns)
    return frame


# -- Figure 1 --------------------------------------------------------------------------------------


def compare_detectors(material: Material, dataset: str, measure: str) -> TableComparison:
    """Rank the detectors of a data set by a measure.

    Detectors with scores on fewer than half of the series are ignored.
    """
    rows = material.values
    rows = rows[(rows["dataset"] == dataset) & (rows["measure"] == measure)]
    total = rows["series"].nunique()
    counts = rows.dropna(subset="value").groupby("detector")["series"].nunique()
    kept = counts.index[counts >= _SHARE_PRESENT * total]
    if len(kept) < 2:
        raise NotPossibleError(
            f"{dataset} has values of {title_of(measure)} for {plural(len(kept), 'detector')}, "
            "needs two"
        )
    return compare(rows[rows["detector"].isin(kept)], measure=measure, alpha=_ALPHA)


@exhibit("fig", 1, "detector-ranks", title="Detectors ranked by F and by RF", needs=["consistency"])
def detector_ranks(material: Material) -> Built:
    """Critical-difference diagrams of the detectors on one data set, by F and by RF."""
    dataset = material.examples.ranked_dataset()
    found = {
        name: compare_detectors(material, dataset, name) for name in ("f_score", "range_f_score")
    }
    rows = [
        [Panel(f"({letter}) {title_of(name)}", one.figure())]
        for letter, (name, one) in zip("ab", found.items(), strict=True)
    ]
    orders = {name: list(map(str, one.summary.index)) for name, one in found.items()}
    moved = [name for name, before, after in zip(*_places(orders), strict=True) if before != after]
    by_f, by_rf = found["f_score"], found["range_f_score"]
    first, second = (str(one.summary.index[0]) for one in (by_f, by_rf))
    leaders = (
        f"Both rank {first} first"
        if first == second
        else f"F ranks {first} first, RF ranks {second}"
    )
    changes = f"{len(moved)} detectors change places" if moved else "no detector changes its place"
    caption = (
        f"Mean ranks of {plural(len(orders['f_score']), 'detector')} over "
        f"{series_count(by_f.pairs.n)} of {dataset}, by F-score (F) and range-based F-score (RF); "
        f"1 is best. {leaders}; {changes}. {_significant(by_f)} of {len(by_f.pairs_frame())} pairs "
        f"differ significantly by F, {_significant(by_rf)} by RF. {BARS} "
        f"Wilcoxon\N{EN DASH}Holm, \N{GREEK SMALL LETTER ALPHA} = {_ALPHA:g}."
    )
    tables = [one.to_frame().assign(measure=name) for name, one in found.items()]
    table = require("pandas", purpose="tables").concat(tables, ignore_index=True)
    return Built(caption, table, (Part(PanelsDisplay(rows)),))


def _significant(comparison: TableComparison) -> int:
    return int(comparison.pairs_frame()["significant"].sum())


def _places(orders: dict[str, list[str]]) -> tuple[list[str], list[int], list[int]]:
    """Return the detectors that occur in both orders, and their places in each."""
    first, second = orders.values()
    names = [name for name in first if name in second]
    return names, [first.index(name) for name in names], [second.index(name) for name in names]


# -- Figures 2 to 7: one series --------------------------------------------------------------------


def _single(material: Material) -> tuple[ScoredSeries, str, int]:
    """Return series, detector and buffer of Figures 2 to 7."""
    series, detector = material.examples.single
    scored = material.scored(series)
    if not scored.series.events or scored.series.labels.all():
        raise NotPossibleError(f"{series} must have both normal and anomalous points")
    return scored, detector, material.buffer(series)


def _about(scored: ScoredSeries, detector: str, n_points: int, buffer: int) -> str:
    return f"{detector} on {n_points:,} points of {_name(scored)}, with a buffer of {buffer}."


def _name(scored: ScoredSeries) -> str:
    return f"{scored.series.dataset}/{scored.series.name}"


def part_around_anomaly(scored: ScoredSeries, margin: int) -> ScoredSeries:
    """Return the stretch around the anomaly of median length, with `margin` points on each side.

    Other anomalies in the stretch are kept. At the ends of the series the stretch is shorter.
    """
    start, stop = _typical_anomaly(scored)
    one = scored.series
    kept = slice(max(start - margin, 0), min(stop + margin, one.n_points))
    part = Series(one.name, one.dataset, one.values[kept], one.labels[kept], channels=one.channels)
    scores = {name: score[kept] for name, score in scored.scores.items()}
    return ScoredSeries(part, scores, dict(scored.repeats))


def _typical_anomaly(scored: ScoredSeries) -> tuple[int, int]:
    bounds = sorted(scored.series.events, key=lambda pair: pair[1] - pair[0])
    start, stop = bounds[(len(bounds) - 1) // 2]
    return start, stop


def first_run(scored: ScoredSeries, detector: str) -> Floats:
    """Return the score of the first run of a detector."""
    return scored.scores[scored.repeats.get(detector, (detector,))[0]]


def first_channel(scored: ScoredSeries) -> Floats:
    """Return the first channel of the series; missing values are interpolated."""
    values = scored.series.values
    line = np.array(values if values.ndim == 1 else values[:, 0])
    known = np.flatnonzero(np.isfinite(line))
    if not known.size:
        return np.zeros(line.size)
    return np.interp(np.arange(line.size), known, line[known])


@exhibit(
    "fig",
    2,
    "limits",
    title="Effect of threshold, lag, noise and ratio on the measures",
    needs=["consistency"],
)
def limits(material: Material) -> Built:
    """Four changes of one score and their effect on all measures."""
    scored, detector, buffer = _single(material)
    display = changed_cases(
        scored, detector, buffer, material.settings, material.consistency.measures
    )
    rows, largest = [], []
    for vary, cases in display.panels.items():
        before, after = (np.asarray(one.values) for one in cases.cases)
        names = [measure.name for measure in cases.measures]
        rows += [
            {"varied": vary, "measure": name, "before": first, "after": second}
            for name, first, second in zip(names, before.tolist(), after.tolist(), strict=True)
        ]
        change = np.abs(after - before)
        if np.isfinite(change).any():
            place = int(np.nanargmax(change))
            largest.append(f"{vary}, {title_of(names[place])} by {number(change[place])}")
    table = _frame(rows)
    table["difference"] = table["after"] - table["before"]
    changes = table.assign(change=table["difference"].abs())
    steady = in_order(changes.groupby("measure", sort=False)["change"].mean())
    size = next(iter(display.panels.values())).label.size
    caption = (
        f"{_about(scored, detector, size, buffer)} Each part changes one condition: "
        f"{joined(display.panels)}. Ratio: share of anomalous points. Largest change in each part: "
        f"{'; '.join(largest)}. Averaged over the parts, {title_of(str(steady.index[0]))} changes "
        f"least ({number(steady.iloc[0])}), {title_of(str(steady.index[-1]))} most "
        f"({number(steady.iloc[-1])}). Two variants of one score, the values of all measures, and "
        "their differences. Shaded: anomalies. Dashed: threshold. Crops are drawn at their "
        "position in the series."
    )
    return Built(caption, table, (Part(display),))


def changed_cases(
    scored: ScoredSeries,
    detector: str,
    buffer: int,
    settings: EvaluationSettings,
    measures: tuple[Measure, ...],
) -> CasePanelsDisplay:
    """Return all measures before and after four changes, on a stretch around one anomaly.

    Without two crops that differ enough in their share of anomalous points, the ratio is omitted.
    """
    start, stop = _typical_anomaly(scored)
    part = part_around_anomaly(scored, max(3 * buffer, 12 * (stop - start)))
    shares = _reachable_shares(part.series.labels)
    panels = {
        vary: compare_cases(
            part.series.labels,
            first_run(part, detector),
            buffer=buffer,
            vary=vary,
            at=shares if vary == "ratio" else None,
            series=first_channel(part),
            measures=measures,
            settings=settings,
        )
        for vary in _VARIED
        if vary != "ratio" or shares is not None
    }
    return CasePanelsDisplay(panels, title=f"Sensitivity on {_name(scored)}")


def _reachable_shares(labels: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Return the lowest and the highest share from 5 to 20 % that crops reach."""
    crops = crops_by_ratio(labels, count=16, low=_SHARES[0], high=_SHARES[1])
    found = [crop.target for crop in crops if crop.stop > crop.start]
    return (found[0], found[-1]) if len(found) > 1 else None


@exhibit("fig", 3, "labeling", title="One anomaly, several labelings", needs=["consistency"])
def labeling(material: Material) -> Built:
    """Values of one score under several labelings of the same anomaly."""
    example = material.examples.compared[0]
    scored, buffer = material.scored(example.series), material.buffer(example.series)
    part = part_around_anomaly(scored, 3 * buffer)
    labels = labelings(part, max(buffer // 4, 1))
    panels, rows = [], []
    shown = [one for one in material.consistency.measures if one.name in _LABELED_BY]
    if len(shown) < len(_LABELED_BY):
        raise NotPossibleError(f"{titles(_LABELED_BY)} must be among the measures")
    for letter, detector in zip("ab", example.detectors, strict=True):
        display = LabelingDisplay.from_labels(
            first_channel(part), first_run(part, detector), labels, buffer=buffer,
            measures=shown, settings=material.settings,
        )  # fmt: skip
        display.title = f"Labeling strategies on {_name(scored)}"
        panels.append(Panel(f"({letter}) {detector}", display))
        rows += [
            {"detector": detector, "labels": name, **found}
            for name, found in display.values.items()
        ]
    table = _frame(rows)
    spans = table.groupby("detector", sort=False)[["auc_pr", "vus_pr"]].agg(np.ptp)
    said = "; ".join(
        f"{name}, AUC-PR {number(span['auc_pr'])} and VUS-PR {number(span['vus_pr'])}"
        for name, span in spans.iterrows()
    )
    caption = (
        f"Scores of {joined(example.detectors)} on {example.series}, evaluated with "
        f"{table['labels'].nunique()} labelings of the same anomaly. Shaded: points that any "
        f"labeling marks as anomalous. Range of the values over the labelings: {said}."
    )
    parts = [Part(PanelsDisplay([panels]), "labelings of one anomaly")]
    found = labels_of_datasets(material)
    if len(found) > 1:
        own = [
            [
                Panel(
                    f"({letter}) {_name(one)}: anomaly of {periods:.1f} periods",
                    SeriesDisplay(one.series.labels, {"series": first_channel(one)}),
                )
            ]
            for letter, (periods, one) in zip("cde", found, strict=False)
        ]
        parts.append(Part(PanelsDisplay(own), "labels of data sets"))
        rows += [{"labels": _name(one), "periods": periods} for periods, one in found]
        caption += (
            f" Second figure: labels as they are in {len(found)} data sets, by the length of the "
            "anomaly in periods of the series."
        )
    return Built(caption, _frame(rows), tuple(parts))


def labels_of_datasets(material: Material) -> list[tuple[float, ScoredSeries]]:
    """Return anomalies of up to three data sets, and their lengths in periods of the series.

    The first series of each data set is taken; of these, the shortest, middle and longest anomaly.
    """
    found = []
    for dataset in material.examples.sizes:
        one = material.scored(material.examples.first_of(dataset))
        try:
            period = choose_buffer("period", values=first_channel(one)).length
        except InvalidInputError:
            continue
        if one.series.events:
            start, stop = _typical_anomaly(one)
            margin = max(3 * period, stop - start)
            found.append(((stop - start) / period, part_around_anomaly(one, margin)))
    found.sort(key=lambda pair: pair[0])
    return [found[at] for at in sorted({0, len(found) // 2, len(found) - 1})] if found else []


def labelings(part: ScoredSeries, aside: int) -> dict[str, NDArray[np.bool_]]:
    """Return four labelings of the anomalies of a series; the last adds points on each side."""
    labels = {name: np.zeros(part.series.n_points, dtype=bool) for name in _LABELINGS}
    for start, stop in part.series.events:
        third, half = (stop - start) // 3, max((stop - start) // 2, 1)
        kept = (
            slice(start, stop),
            slice(start + third, stop - third),
            slice(start, start + half),
            slice(max(start - aside, 0), stop + aside),
        )
        for label, place in zip(labels.values(), kept, strict=True):
            label[place] = True
    return labels


@exhibit("fig", 4, "volume", title="From AUC to R-AUC to VUS", needs=["consistency"])
def volume(material: Material) -> Built:
    """Labels, curves and the surface of one score."""
    scored, detector, buffer = _single(material)
    settings = material.settings
    part = part_around_anomaly(scored, 3 * buffer)
    display = VolumeDisplay.from_scores(
        part.series.labels, first_run(part, detector), max_buffer=buffer, curve="roc",
        volume_factor=settings.volume_factor, **_drawn_by(settings),
    )  # fmt: skip
    display.title = f"From AUC to VUS on {_name(scored)}"
    curve, surface = display.curve, display.surface
    caption = (
        f"{_about(scored, detector, display.label.size, curve.buffer)} AUC-ROC uses no buffer "
        f"({curve.plain_area:.3f}), R-AUC-ROC this buffer ({curve.buffered_area:.3f}), and VUS-ROC "
        f"the mean over all buffers up to {surface.buffers[-1]} ({surface.volume:.3f}). Top: "
        "labels without a buffer, with one buffer, and with growing buffers. Bottom: the curve, "
        "the curve with a buffer, and the surface over all buffers."
    )
    rates, heights = np.meshgrid(surface.places, surface.buffers)
    table = _frame(
        {
            "buffer": heights.ravel(),
            "false_positive_rate": rates.ravel(),
            "true_positive_rate": surface.heights.ravel(),
            "auc_roc": curve.plain_area,
            "range_auc_roc": curve.buffered_area,
            "vus_roc": surface.volume,
        }
    )
    return Built(caption, table, (Part(display),))


@exhibit("fig", 5, "label-extension", title="How a buffer extends a label", needs=["consistency"])
def label_extension(material: Material) -> Built:
    """Label, soft label and a prediction."""
    scored, detector, longest = _single(material)
    buffer = min(longest, _SHORT)
    threshold = threshold_value(Sigma(1.0), first_run(scored, detector))
    part = part_around_anomaly(scored, 2 * buffer)
    display = SoftLabelDisplay.from_labels(
        part.series.labels, buffer=buffer, y_pred=first_run(part, detector) >= threshold
    )
    display.title = f"Label extension on {_name(scored)}"
    label, soft = display.label, display.soft
    predicted = np.zeros_like(label) if display.prediction is None else display.prediction
    beside = predicted & ~label
    caption = (
        f"{_about(scored, detector, label.size, display.buffer)} The soft label is 1 on the "
        f"{int(label.sum()):,} labeled points and between 0 and 1 on the "
        f"{int(np.count_nonzero((soft > 0) & ~label)):,} points of the buffer around them. Of "
        f"{int(beside.sum()):,} predicted points outside the label, "
        f"{int(np.count_nonzero(beside & (soft > 0))):,} are in the buffer and count in part."
    )
    table = _frame(
        {
            "point": np.arange(label.size),
            "label": label.astype(int),
            "soft_label": soft,
            "predicted": predicted.astype(int),
        }
    )
    return Built(caption, table, (Part(display),))


@exhibit("fig", 6, "sections", title="Static and dynamic sections", needs=["consistency"])
def sections(material: Material) -> Built:
    """Sections whose label depends on the buffer, and sections whose label does not."""
    scored, detector, buffer = _single(material)
    part = part_around_anomaly(scored, 4 * buffer)
    display = SectionsDisplay.from_scores(
        part.series.labels, first_run(part, detector), max_buffer=buffer
    )
    display.title = f"Static and dynamic sections on {_name(scored)}"
    whole, size = scored.series, display.label.size
    reached = np.asarray(soft_label(whole.labels, buffer=buffer) > 0)
    caption = (
        f"{_about(scored, detector, size, buffer)} {int(display.dynamic.sum()):,} of "
        "these points are in dynamic sections, where the soft label depends on the buffer. In the "
        f"whole series, {int(reached.sum()):,} of {whole.n_points:,} points are dynamic "
        f"({100 * reached.mean():.1f}%); the static rest is evaluated once for all buffers."
    )
    table = _frame(
        {
            "point": np.arange(size),
            "score": display.score,
            "label": display.label.astype(int),
            "soft_label": display.soft,
            "dynamic": display.dynamic.astype(int),
        }
    )
    return Built(caption, table, (Part(display),))


@exhibit(
    "fig", 7, "label-growth", title="The soft label as the buffer grows", needs=["consistency"]
)
def label_growth(material: Material) -> Built:
    """Soft labels of growing buffers."""
    scored, _, buffer = _single(material)
    part = part_around_anomaly(scored, 2 * buffer)
    lengths = np.unique(np.linspace(0, buffer, _N_BUFFERS).round().astype(int)).tolist()
    display = LabelEvolutionDisplay.from_labels(part.series.labels, buffers=lengths)
    display.title = f"Labels as L grows on {_name(scored)}"
    sums = [float(soft.sum()) for soft in display.soft]
    caption = (
        f"Soft labels on {display.label.size:,} points of {_name(scored)}, for buffers from 0 to "
        f"{display.buffers[-1]} points. The sum of the weights grows from {sums[0]:,.0f} to "
        f"{sums[-1]:,.0f}. Points outside the dynamic sections stay normal."
    )
    columns = {
        f"buffer_{length}": soft for length, soft in zip(display.buffers, display.soft, strict=True)
    }
    table = _frame(
        {"point": np.arange(display.label.size), "label": display.label.astype(int), **columns}
    )
    return Built(caption, table, (Part(display),))


# -- Figure 8 --------------------------------------------------------------------------------------


@exhibit("fig", 8, "quality", title="Two detectors under all measures", needs=["consistency"])
def quality(material: Material) -> Built:
    """Scores, curves, surfaces and values of two detectors on a series, twice."""
    parts, tables, said = [], [], []
    for letter, example in zip("AB", material.examples.compared, strict=False):
        values = _values_on(material, example)
        display = compared_detectors(
            material.scored(example.series),
            material.buffer(example.series),
            material.settings,
            material.consistency.measures,
            values,
        )
        tables.append(values.reset_index().assign(series=example.series))
        heading = f"({letter}) {joined(example.detectors)} on {example.series}"
        parts.append(Part(display, heading))
        said.append(f"{heading}, {example.reason}: {_preferences(values)}")
    table = require("pandas", purpose="tables").concat(tables, ignore_index=True)
    caption = f"{' '.join(said)} {_PANELS_OF_8}"
    return Built(caption, table, tuple(parts))


def compared_detectors(
    scored: ScoredSeries,
    buffer: int,
    settings: EvaluationSettings,
    measures: tuple[Measure, ...],
    values: pd.DataFrame,
) -> DetectorComparisonDisplay:
    """Return scores, curves and surfaces of some detectors, with their values from a study."""
    detectors = [str(name) for name in values.columns]
    display = DetectorComparisonDisplay.from_scores(
        scored.series.labels,
        {name: first_run(scored, name) for name in detectors},
        buffer=buffer,
        measures=measures,
        volume_factor=settings.volume_factor,
        **_drawn_by(settings),
    )
    known = {name: dict(values[name]) for name in detectors}
    display.bars = DetectorBarsDisplay(known, measures, str(settings.replace(buffer=buffer)))
    for name, own in known.items():
        for kind, curves, surfaces in (
            ("roc", display.roc, display.roc_surface),
            ("pr", display.pr, display.pr_surface),
        ):
            curve, surface = curves[name], surfaces[name]
            curve.plain_area = own.get(f"auc_{kind}", curve.plain_area)
            curve.buffered_area = own.get(f"range_auc_{kind}", curve.buffered_area)
            surface.volume = own.get(f"vus_{kind}", surface.volume)
    display.title = f"{' and '.join(detectors)} on {_name(scored)}"
    return display


def _drawn_by(settings: EvaluationSettings) -> dict[str, Any]:
    """Return the settings that curves and surfaces depend on, apart from the buffers."""
    return {name: getattr(settings, name) for name in ("definition", "thresholds", "side")}


_PANELS_OF_8 = (
    "Panels: (a) scores, anomalies shaded; (b, c) ROC and PR curves with the buffer, dashed "
    "without; (d, e) ROC and PR surfaces over all buffers; (f) values of all measures."
)


def _values_on(material: Material, example: Example) -> pd.DataFrame:
    """Values of the two detectors (columns) by measure (rows), from the consistency study."""
    rows = material.examples.table.loc[example.series].loc[list(example.detectors)]
    names = list(material.consistency.study.names)
    values: pd.DataFrame = rows[names].T
    return values


def _preferences(values: pd.DataFrame) -> str:
    """State which measures prefer which of two detectors."""
    first, second = values.columns
    prefers = {
        first: [str(name) for name, row in values.iterrows() if row[first] > row[second]],
        second: [str(name) for name, row in values.iterrows() if row[second] > row[first]],
    }
    said = [
        f"{plural(len(names), 'measure prefers', 'measures prefer')} {detector} ({titles(names)})"
        if names
        else f"no measure prefers {detector}"
        for detector, names in prefers.items()
    ]
    text = f"{'; '.join(said)}."
    buffered = [name for name in RANGE_AWARE if name in values.index]
    means = values.loc[buffered].mean()
    if buffered and means[first] != means[second]:
        best = first if means[first] > means[second] else second
        text += f" The mean of {titles(buffered)} is higher for {best}."
    return text

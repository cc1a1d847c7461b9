"""Figures 1 to 8: why the measure matters and how range-aware measures work, by example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.figures import Panel, PanelsDisplay, soft_label
from vuskit.measures.settings import EvaluationSettings
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
from vuskit.studies.examples import (
    comparison_example,
    evolution_example,
    extension_example,
    labeling_example,
    measures_example,
    sections_example,
    sensitivity_example,
)

if TYPE_CHECKING:
    import pandas as pd

_ALPHA = 0.1
_SHARE_PRESENT = 0.5  # share of the series that a detector must have scored to be ranked


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
        f"differ significantly by F, {_significant(by_rf)} by RF. Bars join detectors whose ranks "
        f"do not differ significantly (Wilcoxon\N{EN DASH}Holm, \N{GREEK SMALL LETTER ALPHA} = "
        f"{_ALPHA:g})."
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


def _single(material: Material) -> tuple[ScoredSeries, str, EvaluationSettings]:
    """Return series, detector and settings of Figures 2 to 7; the settings hold the buffer."""
    series, detector = material.examples.single
    scored = material.scored(series)
    if not scored.series.events or scored.series.labels.all():
        raise NotPossibleError(f"{series} must have both normal and anomalous points")
    return scored, detector, _settings_on(material, series)


def _settings_on(material: Material, series: str) -> EvaluationSettings:
    return material.settings.replace(buffer=material.buffer(series))


def _about(scored: ScoredSeries, detector: str, n_points: int, buffer: Any) -> str:
    return f"{detector} on {n_points:,} points of {_name(scored)}, with a buffer of {buffer}."


@exhibit(
    "fig",
    2,
    "limits",
    title="Effect of threshold, lag, noise and ratio on the measures",
    needs=["consistency"],
)
def limits(material: Material) -> Built:
    """Four changes of one score and their effect on all measures."""
    scored, detector, settings = _single(material)
    display = sensitivity_example(
        scored, detector, settings=settings, measures=material.consistency.measures
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
        f"{_about(scored, detector, size, settings.buffer)} Each part changes one condition: "
        f"{joined(display.panels)}. Ratio: share of anomalous points. Largest change in each part: "
        f"{'; '.join(largest)}. Averaged over the parts, {title_of(str(steady.index[0]))} changes "
        f"least ({number(steady.iloc[0])}), {title_of(str(steady.index[-1]))} most "
        f"({number(steady.iloc[-1])}). {display.caption}"
    )
    return Built(caption, table, (Part(display),))


@exhibit("fig", 3, "labeling", title="One anomaly, several labelings", needs=["consistency"])
def labeling(material: Material) -> Built:
    """Values of one score under several labelings of the same anomaly."""
    example = material.examples.compared[0]
    scored, settings = material.scored(example.series), _settings_on(material, example.series)
    panels, rows = [], []
    for letter, detector in zip("ab", example.detectors, strict=True):
        display = labeling_example(scored, detector, settings=settings)
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
    return Built(caption, table, (Part(PanelsDisplay([panels])),))


@exhibit("fig", 4, "volume", title="From AUC to R-AUC to VUS", needs=["consistency"])
def volume(material: Material) -> Built:
    """Labels, curves and the surface of one score."""
    scored, detector, settings = _single(material)
    display = measures_example(scored, detector, settings=settings)
    curve, surface = display.curve, display.surface
    caption = (
        f"{_about(scored, detector, display.label.size, curve.buffer)} AUC-ROC uses no buffer "
        f"({curve.plain_area:.3f}), R-AUC-ROC this buffer ({curve.buffered_area:.3f}), and VUS-ROC "
        f"the mean over all buffers up to it ({surface.volume:.3f}). {display.caption}"
    )
    rates, heights = np.meshgrid(surface.places, surface.buffers)
    table = _frame(
        {
            "buffer": heights.ravel(),
            "false_positive_rate": rates.ravel(),
            "true_positive_rate": surface.heights.ravel(),
        }
    )
    return Built(caption, table, (Part(display),))


@exhibit("fig", 5, "label-extension", title="How a buffer extends a label", needs=["consistency"])
def label_extension(material: Material) -> Built:
    """Label, soft label and a prediction."""
    scored, detector, settings = _single(material)
    display = extension_example(scored, detector, settings=settings)
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
    scored, detector, settings = _single(material)
    display = sections_example(scored, detector, settings=settings)
    whole, size = scored.series, display.label.size
    name, _ = material.examples.single
    reached = np.asarray(soft_label(whole.labels, buffer=material.buffer(name)) > 0)
    caption = (
        f"{_about(scored, detector, size, settings.buffer)} {int(display.dynamic.sum()):,} of "
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


def _name(scored: ScoredSeries) -> str:
    return f"{scored.series.dataset}/{scored.series.name}"


@exhibit(
    "fig", 7, "label-growth", title="The soft label as the buffer grows", needs=["consistency"]
)
def label_growth(material: Material) -> Built:
    """Soft labels of growing buffers."""
    scored, _, settings = _single(material)
    display = evolution_example(scored, settings=settings)
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
        display = comparison_example(
            material.scored(example.series),
            example.detectors,
            settings=_settings_on(material, example.series),
            measures=material.consistency.measures,
        )
        values = _values_on(material, example)
        tables.append(values.reset_index().assign(series=example.series))
        heading = f"({letter}) {joined(example.detectors)} on {example.series}"
        parts.append(Part(display, heading))
        said.append(f"{heading}, {example.reason}: {_preferences(values)}")
    table = require("pandas", purpose="tables").concat(tables, ignore_index=True)
    caption = f"{' '.join(said)} {_PANELS_OF_8}"
    return Built(caption, table, tuple(parts))


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

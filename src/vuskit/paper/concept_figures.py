"""Figures 1 to 8: why measures matter, and how the range-aware ones work, on example series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit.datasets import ScoredSeries
from vuskit.measures.settings import EvaluationSettings
from vuskit.paper.examples import Example
from vuskit.paper.exhibits import Built, NotPossibleError, Part, exhibit
from vuskit.paper.material import Material
from vuskit.paper.words import (
    RANGE_AWARE,
    in_order,
    listed,
    number,
    plural,
    series_count,
    title_of,
    titles,
)
from vuskit.report.figures import Panel, PanelsDisplay, soft_label
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

__all__ = ["compare_detectors"]

_ALPHA = 0.1
_SHARE_PRESENT = 0.5  # of the series that a detector must have scored to be ranked


def _frame(columns: Any) -> pd.DataFrame:
    frame: pd.DataFrame = require("pandas", purpose="tables").DataFrame(columns)
    return frame


# -- Figure 1 --------------------------------------------------------------------------------------


def compare_detectors(material: Material, dataset: str, measure: str) -> TableComparison:
    """Rank the detectors of a data set by a measure.

    Detectors without scores of half of the series are left out.

    Raises
    ------
    NotPossibleError
        If fewer than two detectors or series are left.
    """
    rows = material.values
    rows = rows[(rows["dataset"] == dataset) & (rows["measure"] == measure)]
    total = rows["series"].nunique()
    counts = rows.dropna(subset="value").groupby("detector")["series"].nunique()
    kept = counts.index[counts >= _SHARE_PRESENT * total]
    if len(kept) < 2:
        raise NotPossibleError(f"{dataset} has values of {title_of(measure)} of one detector only")
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
    caption = (
        f"Mean ranks of {plural(len(orders['f_score']), 'detector')} on "
        f"{series_count(by_f.pairs.n)} of {dataset}. F puts {by_f.summary.index[0]} first, RF puts "
        f"{by_rf.summary.index[0]} first; {plural(len(moved), 'detector')} change places. "
        f"{_significant(by_f)} of {len(by_f.pairs_frame())} pairs differ significantly by F, "
        f"{_significant(by_rf)} by RF (Wilcoxon, Holm's correction, alpha = {_ALPHA:g}). Bars join "
        "detectors whose ranks do not differ significantly."
    )
    tables = [one.to_frame().assign(measure=name) for name, one in found.items()]
    table = require("pandas", purpose="tables").concat(tables, ignore_index=True)
    return Built(caption, table, (Part(PanelsDisplay(rows)),))


def _significant(comparison: TableComparison) -> int:
    return int(comparison.pairs_frame()["significant"].sum())


def _places(orders: dict[str, list[str]]) -> tuple[list[str], list[int], list[int]]:
    """Detectors, and their places in two orders."""
    first, second = orders.values()
    names = [name for name in first if name in second]
    return names, [first.index(name) for name in names], [second.index(name) for name in names]


# -- Figures 2 to 7: one series --------------------------------------------------------------------


def _single(material: Material) -> tuple[ScoredSeries, str, EvaluationSettings]:
    """Return the series and the detector of Figures 2 to 7, and the settings with its buffer."""
    series, detector = material.examples.single
    scored = material.scored(series)
    if not scored.series.events or scored.series.labels.all():
        raise NotPossibleError(f"{series} has no anomaly beside normal points")
    return scored, detector, _settings_on(material, series)


def _settings_on(material: Material, series: str) -> EvaluationSettings:
    return material.settings.replace(buffer=material.buffer(series))


def _about(scored: ScoredSeries, detector: str, n_points: int, buffer: Any) -> str:
    return f"{detector} on {n_points:,} points of {_name(scored)}, buffer {buffer}."


@exhibit(
    "fig",
    2,
    "limits",
    title="Measures when threshold, lag, noise and ratio change",
    needs=["consistency"],
)
def limits(material: Material) -> Built:
    """Four changes of one score, and what all measures make of them."""
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
            largest.append(f"{vary}: {title_of(names[place])} by {number(change[place])}")
    table = _frame(rows)
    table["difference"] = table["after"] - table["before"]
    changes = table.assign(change=table["difference"].abs())
    steady = in_order(changes.groupby("measure", sort=False)["change"].mean())
    size = next(iter(display.panels.values())).label.size
    caption = (
        f"{_about(scored, detector, size, settings.buffer)} The measure that changes most: "
        f"{'; '.join(largest)}. On average over the changes, {title_of(str(steady.index[0]))} "
        f"changes least ({number(steady.iloc[0])}) and {title_of(str(steady.index[-1]))} most "
        f"({number(steady.iloc[-1])}). {display.caption}"
    )
    return Built(caption, table, (Part(display),))


@exhibit("fig", 3, "labeling", title="One score under several labels", needs=["consistency"])
def labeling(material: Material) -> Built:
    """What the way of labeling does to the value of a score."""
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
        f"{name}: AUC-PR by {number(span['auc_pr'])}, VUS-PR by {number(span['vus_pr'])}"
        for name, span in spans.iterrows()
    )
    caption = (
        f"An anomaly of {example.series}, the scores of {' and '.join(example.detectors)}, and "
        f"{table['labels'].nunique()} ways to label the same anomaly. From label to label the "
        f"values of one score differ ({said})."
    )
    return Built(caption, table, (Part(PanelsDisplay([panels])),))


@exhibit("fig", 4, "volume", title="From AUC over R-AUC to VUS", needs=["consistency"])
def volume(material: Material) -> Built:
    """Labels, curves and the surface of one score."""
    scored, detector, settings = _single(material)
    display = measures_example(scored, detector, settings=settings)
    curve, surface = display.curve, display.surface
    caption = (
        f"{_about(scored, detector, display.label.size, curve.buffer)} AUC-ROC is "
        f"{curve.plain_area:.3f} without a buffer, R-AUC-ROC {curve.buffered_area:.3f} with it; "
        f"VUS-ROC, the mean over all buffers, is {surface.volume:.3f}. {display.caption}"
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
        f"{_about(scored, detector, label.size, display.buffer)} The buffer gives "
        f"{int(np.count_nonzero((soft > 0) & ~label)):,} points beside the {int(label.sum()):,} "
        f"labeled ones a weight between 0 and 1. {int(beside.sum()):,} predicted points are "
        f"outside the label, {int(np.count_nonzero(beside & (soft > 0))):,} of them within the "
        "buffer, where they count in part."
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
    """What changes with the buffer, and what does not."""
    scored, detector, settings = _single(material)
    display = sections_example(scored, detector, settings=settings)
    whole, size = scored.series, display.label.size
    name, _ = material.examples.single
    reached = np.asarray(soft_label(whole.labels, buffer=material.buffer(name)) > 0)
    caption = (
        f"{_about(scored, detector, size, settings.buffer)} {int(display.dynamic.sum()):,} of them "
        f"are in dynamic sections, whose label depends on the buffer. In the whole series "
        f"{int(reached.sum()):,} of {whole.n_points:,} points are ({100 * reached.mean():.1f} %): "
        "the rest is evaluated once for all buffers."
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


@exhibit("fig", 7, "label-growth", title="The label as the buffer grows", needs=["consistency"])
def label_growth(material: Material) -> Built:
    """Soft labels of growing buffers."""
    scored, _, settings = _single(material)
    display = evolution_example(scored, settings=settings)
    sums = [float(soft.sum()) for soft in display.soft]
    caption = (
        f"{display.label.size:,} points of {_name(scored)}. From a buffer of 0 to "
        f"{display.buffers[-1]} points the label grows from {sums[0]:,.0f} to {sums[-1]:,.0f} "
        "points, counted by weight; points outside the dynamic sections stay normal."
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
        heading = f"({letter}) {' and '.join(example.detectors)} on {example.series}"
        parts.append(Part(display, heading))
        said.append(f"{heading}, {example.reason}: {_preferences(values)}")
    table = require("pandas", purpose="tables").concat(tables, ignore_index=True)
    return Built(" ".join(said), table, tuple(parts))


def _values_on(material: Material, example: Example) -> pd.DataFrame:
    """Value of each measure (rows) for the two detectors, as in the studies."""
    rows = material.examples.table.loc[example.series].loc[list(example.detectors)]
    names = list(material.consistency.study.names)
    values: pd.DataFrame = rows[names].T
    return values


def _preferences(values: pd.DataFrame) -> str:
    """Say which measures prefer which of two detectors."""
    first, second = values.columns
    prefers = {
        first: [str(name) for name, row in values.iterrows() if row[first] > row[second]],
        second: [str(name) for name, row in values.iterrows() if row[second] > row[first]],
    }
    told = [
        f"{plural(len(names), 'measure prefers', 'measures prefer')} {detector}"
        + (f" ({titles(names)})" if names else "")
        for detector, names in prefers.items()
    ]
    buffered = [name for name in RANGE_AWARE if name in values.index]
    means = values.loc[buffered].mean()
    if buffered and means[first] != means[second]:
        best = first if means[first] > means[second] else second
        told.append(f"the mean of {titles(buffered)} is higher for {best}")
    return f"{listed(told)}."

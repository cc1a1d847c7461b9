"""Figures of the studies of measures; each is drawn from a result and belongs to no window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.report.common import (
    family_colour,
    family_legend,
    label_measures,
    new_figure,
    titles_of,
)
from vuskit.studies.comparison import TableComparison
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_averages",
    "draw_centred_boxes",
    "draw_critical_difference",
    "draw_dataset_bars",
    "draw_entropies",
    "draw_pairs",
    "draw_rank_lines",
    "draw_scatter",
    "draw_summary",
    "draw_z",
]

_GREEN, _RED = "#009E73", "#D55E00"


def _bars(axis: Axes, values: Any, measures: tuple[Measure, ...], title: str) -> None:
    axis.bar(
        range(len(measures)),
        [float(values[measure.name]) for measure in measures],
        color=[family_colour(measure) for measure in measures],
        edgecolor="black",
        linewidth=0.5,
    )
    axis.set_title(title, fontsize=10)
    label_measures(axis, measures)


def draw_centred_boxes(result: RobustnessResult, series: str) -> Figure:
    """Draw the values of one series less their mean, a box for each measure, by perturbation.

    Raises
    ------
    InvalidInputError
        If there is no such series.
    """
    kinds = result.task.perturbations
    figure, axes = new_figure(1, len(kinds), size=(4.2 * len(kinds), 4), sharey=True)
    for axis, kind in zip(axes.flat, kinds, strict=True):
        centred = result.centred(series, kind)
        columns = [centred[measure.name].dropna().to_numpy() for measure in result.measures]
        boxes = axis.boxplot(
            columns, positions=range(len(columns)), patch_artist=True, showfliers=False, widths=0.7
        )
        _colour_boxes(boxes, [family_colour(measure) for measure in result.measures])
        axis.set_title(f"{kind}, {series}", fontsize=9)
        label_measures(axis, result.measures)
    axes[0, 0].set_ylabel("value less mean of the detector")
    family_legend(figure, result.measures)
    return figure


def _colour_boxes(boxes: Any, colours: list[str]) -> None:
    for patch, colour in zip(boxes["boxes"], colours, strict=True):
        patch.set_facecolor(colour)
    for line in boxes["medians"]:
        line.set_color("black")


def draw_averages(result: RobustnessResult) -> Figure:
    """Draw the mean standard deviation of each measure under each perturbation."""
    averages = result.averages()
    figure, axes = new_figure(1, len(averages.columns), size=(4.2 * len(averages.columns), 3.6))
    for axis, kind in zip(axes.flat, averages.columns, strict=True):
        _bars(axis, averages[kind], result.measures, kind)
    axes[0, 0].set_ylabel("mean standard deviation")
    family_legend(figure, result.measures)
    return figure


def draw_dataset_bars(result: RobustnessResult, *, perturbation: str = "lag") -> Figure:
    """Draw the mean standard deviation of each measure on each data set."""
    by_dataset = result.by_dataset().loc[perturbation]
    columns = min(4, len(by_dataset))
    rows = -(-len(by_dataset) // columns)
    figure, axes = new_figure(rows, columns, size=(3.6 * columns, 2.8 * rows + 0.4), sharey=True)
    for axis, (name, values) in zip(axes.flat, by_dataset.iterrows(), strict=False):
        _bars(axis, values, result.measures, str(name))
    for axis in axes.flat[len(by_dataset) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel(f"deviation, {perturbation}")
    family_legend(figure, result.measures)
    return figure


def draw_critical_difference(
    comparison: TableComparison, *, titles: dict[str, str] | None = None, axis: Axes | None = None
) -> Figure:
    """Draw mean ranks on a line, with bars over those that do not differ significantly.

    Parameters
    ----------
    comparison : TableComparison
        Ranks and p-values; nothing is computed here.
    titles : dict, optional
        Names to show.
    axis : Axes, optional
        Where to draw; a figure of its own by default.
    """
    posthocs = require("scikit_posthocs", purpose="a critical-difference diagram")
    ranks = comparison.summary["mean_rank"].rename(index=titles or {})
    p_values = comparison.pairs.p_values.rename(index=titles or {}, columns=titles or {})
    if axis is None:
        height = 1.6 + 0.2 * len(ranks) + 0.08 * len(comparison.cliques)
        _, axes = new_figure(1, 1, size=(9, height))
        axis = axes[0, 0]
    posthocs.critical_difference_diagram(
        ranks,
        p_values,
        alpha=comparison.pairs.alpha,
        ax=axis,
        label_props={"fontsize": 8},
        elbow_props={"color": "#555555", "linewidth": 0.8},
        crossbar_props={"linewidth": 1.6},
        text_h_margin=0.2,
        label_fmt_left="{label} ({rank:.2f})",
        label_fmt_right="({rank:.2f}) {label}",
    )
    pairs = comparison.pairs
    axis.set_title(
        f"mean rank by {comparison.title}; {pairs.test}, {pairs.correction}, "
        f"alpha = {pairs.alpha:g}, n = {pairs.n}",
        fontsize=9,
    )
    figure: Figure = axis.figure  # type: ignore[assignment]  # never a subfigure here
    return figure


def draw_pairs(result: SeparabilityResult, series: str, *, most: int = 4) -> Figure:
    """Draw two boxes for each measure: the accurate detector's values and the other's.

    Raises
    ------
    InvalidInputError
        If there is no such series, or no pair on it.
    """
    named = [one for one in result.values if series in (one.series, one.name)]
    if len(named) != 1 or not named[0].notes["pairs"]:
        raise InvalidInputError(f"`series` must name one series with pairs, got {series!r}")
    found = named[0]
    pairs = found.notes["pairs"][:most]
    figure, axes = new_figure(
        len(pairs), 1, size=(9, 1.9 * len(pairs) + 1.2), sharex=True, sharey=True
    )
    for axis, (good, bad) in zip(axes.flat, pairs, strict=True):
        values = result.pair_values(found.name, good, bad)
        for name, colour, place in ((good, _GREEN, -0.2), (bad, _RED, 0.2)):
            boxes = axis.boxplot(
                values.loc[name].to_numpy(),
                positions=np.arange(len(result.measures)) + place,
                widths=0.35,
                patch_artist=True,
                showfliers=False,
            )
            _colour_boxes(boxes, [colour] * len(result.measures))
        axis.set_title(f"{found.name}: {good} (accurate, left) and {bad}", fontsize=8)
        label_measures(axis, result.measures)
    return figure


def draw_z(result: SeparabilityResult) -> Figure:
    """Draw the mean and the median z statistic of each measure."""
    averages = result.averages()
    figure, axes = new_figure(1, 2, size=(9, 3.6))
    for axis, column in zip(axes.flat, ("mean", "median"), strict=True):
        _bars(axis, averages[column], result.measures, f"{column} z")
    family_legend(figure, result.measures)
    return figure


def draw_entropies(result: ConsistencyResult) -> Figure:
    """Draw the mean entropy of the ranks by measure, and by family."""
    averages = result.averages()
    families = result.by_family()
    examples = {measure.family: measure for measure in result.measures}
    figure, axes = new_figure(1, 2, size=(9, 3.6), sharey=True, width_ratios=[3, 1])
    _bars(axes[0, 0], averages["entropy"], result.measures, "by measure")
    axes[0, 1].bar(
        range(len(families)),
        families,
        color=[family_colour(examples[name]) for name in families.index],
        edgecolor="black",
        linewidth=0.5,
    )
    axes[0, 1].set_xticks(range(len(families)), families.index, rotation=90, fontsize=8)
    axes[0, 1].set_title("by family", fontsize=10)
    axes[0, 1].grid(visible=True, axis="y", alpha=0.3)
    axes[0, 1].set_axisbelow(True)
    axes[0, 0].set_ylabel("mean entropy of ranks, bits\n(axis does not start at 0)")
    lowest = 0.95 * float(np.nanmin(averages["entropy"]))
    axes[0, 0].set_ylim(bottom=lowest)
    family_legend(figure, result.measures)
    return figure


def draw_rank_lines(result: ConsistencyResult, *, dataset: str | None = None) -> Figure:
    """Draw the mean rank of each detector under each measure, on a data set or on all.

    Raises
    ------
    InvalidInputError
        If there is no such data set.
    """
    table = result.rank_table(dataset)
    figure, axes = new_figure(1, 1, size=(9, 4.2))
    axis = axes[0, 0]
    palette = require("matplotlib", purpose="a figure").colormaps["tab20"]
    for place, (name, ranks) in enumerate(table.iterrows()):
        line = {"color": palette(place % 20), "linestyle": ("-", "--")[place % 2]}
        axis.plot(range(len(ranks)), ranks, marker="o", markersize=3, label=str(name), **line)
    axis.invert_yaxis()
    axis.set_ylabel("mean rank (1 is best)")
    axis.set_title(dataset or "all series", fontsize=10)
    label_measures(axis, result.measures)
    axis.legend(fontsize=7, ncols=1, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure


def draw_scatter(summary: Summary) -> Figure:
    """Draw robustness against separability; the circle grows with the effect of the ratio."""
    points = summary.scatter()
    titles = titles_of(summary.measures)
    figure, axes = new_figure(1, 1, size=(9, 5.5))
    axis = axes[0, 0]
    # Neighbours get their labels on the left and on the right in turn.
    turn = {name: place % 2 for place, name in enumerate(points["deviation"].sort_values().index)}
    for measure in summary.measures:
        x, y, ratio = points.loc[measure.name]
        axis.scatter(x, y, s=4000 * ratio, color=family_colour(measure), alpha=0.6, linewidth=0)
        axis.annotate(
            titles[measure.name],
            (x, y),
            xytext=((-12, 12)[turn[measure.name]], 0),
            textcoords="offset points",
            fontsize=8,
            ha=("right", "left")[turn[measure.name]],
            va="center",
        )
    axis.set_xlabel("mean standard deviation under lag and noise (left is robust)")
    axis.set_ylabel("z (up is separable)")
    axis.set_title("circle: standard deviation under other shares of anomalies", fontsize=9)
    axis.margins(0.18, 0.12)
    axis.grid(visible=True, alpha=0.3)
    axis.set_axisbelow(True)
    family_legend(figure, summary.measures)
    return figure


def draw_summary(summary: Summary) -> Figure:
    """Draw the ranks of all measures in all studies as a table, the best measure on top."""
    ranks = summary.ranks
    titles = titles_of(summary.measures)
    figure, axes = new_figure(1, 1, size=(7, 0.34 * len(ranks) + 1.2))
    axis = axes[0, 0]
    axis.imshow(ranks.to_numpy(), cmap="RdYlGn_r", aspect="auto", alpha=0.75)
    for (row, column), rank in np.ndenumerate(ranks.to_numpy()):
        axis.text(column, row, f"{rank:.3g}", ha="center", va="center", fontsize=9)
    axis.set_xticks(range(ranks.shape[1]), ranks.columns, fontsize=9)
    axis.set_yticks(range(len(ranks)), [titles[name] for name in ranks.index], fontsize=9)
    axis.xaxis.tick_top()
    axis.tick_params(length=0)
    return figure

"""Figures 17 and 18 and Tables 4 to 6: execution time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout
from vuskit.paper.exhibits import Built, NotPossibleError, Part, exhibit
from vuskit.paper.material import Material
from vuskit.paper.words import number, plural, series_count
from vuskit.studies.timing import Setting, TimingResult
from vuskit.studies.timing.cases import PARAMETERS
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.tables import PAPER_RANGES, joint_slopes, rows_of_sweep, single_slopes

if TYPE_CHECKING:
    import pandas as pd

_ALGORITHMS = ("naive", "opt", "opt_mem")
_TITLES = {name: CONTESTANTS[name].title for name in _ALGORITHMS}
_LEGEND = (
    f"{_TITLES['naive']}, {_TITLES['opt']} and {_TITLES['opt_mem']} are the algorithms of the "
    "paper, VUS fast those of vuskit. Processor time of one thread."
)
_RANGE = ("default", "least", "greatest")


class _Laid(TableForms):
    """A table with its own layout."""

    def __init__(self, frame: pd.DataFrame, layout: TableLayout) -> None:
        self._frame, self._own = frame, layout

    @property
    def _layout(self) -> TableLayout:
        return self._own

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers."""
        return self._frame


def speed_on_longest(result: TimingResult) -> tuple[int, dict[str, float]]:
    """Return the longest series measured with all three algorithms, and their median seconds."""
    cells = rows_of_sweep(result.summary(), "n_points")
    wide = cells.pivot_table(index="n_points", columns="contestant", values="median")
    if not set(_ALGORITHMS) <= set(wide.columns):
        raise NotPossibleError("not all three algorithms were measured; raise the budget")
    common = wide[list(_ALGORITHMS)].dropna()
    if common.empty:
        raise NotPossibleError("no length was measured with all algorithms; raise the budget")
    longest = int(common.index.max())
    return longest, {name: float(common.loc[longest, name]) for name in _ALGORITHMS}


def _averages(result: TimingResult) -> str:
    if result.average == "mean":
        runs = result.summary()["runs"]
        return f"Lines: means of {int(runs.max())} runs. Bands: standard deviations. "
    return "Lines: medians. Bands: quartiles. "


def _left_out(result: TimingResult) -> str:
    count = len(result.dropped)
    return f" {plural(count, 'cell')} did not fit into the budget." if count else ""


def _speed_text(result: TimingResult) -> str:
    """Compare the algorithms in a sentence; say so if they cannot be compared."""
    try:
        longest, seconds = speed_on_longest(result)
    except NotPossibleError as error:
        return f"No comparison of the algorithms: {str(error).partition(';')[0]}."
    return (
        f"On {longest:,} points, {_TITLES['opt']} is "
        f"{number(seconds['naive'] / seconds['opt'], 1)} times and {_TITLES['opt_mem']} "
        f"{number(seconds['naive'] / seconds['opt_mem'], 1)} times as fast as {_TITLES['naive']}."
    )


@exhibit("fig", 17, "timing", title="Execution time on generated series", needs=["timing"])
def timing(material: Material) -> Built:
    """Seconds and memory while one parameter varies."""
    found = material.timing
    figures = found.figures()
    cells = len({sample.cell for sample in found.samples})
    caption = (
        "Execution time, and peak memory in the second figure, while one parameter of Table 4 "
        f"varies. {_averages(found)}"
        f"{_speed_text(found)} {plural(cells, 'cell')} (algorithm and setting), "
        f"{plural(len(found.samples), 'timed run')}.{_left_out(found)} {_LEGEND}"
    )
    parts = (Part(figures["seconds"], "time"), Part(figures["memory"], "peak memory"))
    return Built(caption, found.summary(), parts)


@exhibit(
    "fig", 18, "timing-series", title="Execution time on the given series", needs=["timing_series"]
)
def timing_series(material: Material) -> Built:
    """Seconds and memory on the given series."""
    found = material.timing_series
    figures, summary = found.figures(), found.summary()
    wide = summary.pivot_table(index="series", columns="contestant", values="median")
    said = ""
    if {"naive", "opt"} <= set(wide.columns):
        ratios = (wide["naive"] / wide["opt"]).dropna()
        if len(ratios):
            said = (
                f" {_TITLES['naive']} takes {number(float(ratios.median()), 1)} times as long as "
                f"{_TITLES['opt']} (median of {series_count(len(ratios))}; maximum "
                f"{number(float(ratios.max()), 1)})."
            )
    caption = (
        "Execution time, and peak memory in the second figure, on "
        f"{series_count(summary['series'].nunique())} of {int(summary['n_points'].min()):,} to "
        f"{int(summary['n_points'].max()):,} points. Dots: series. Lines and bands: medians and "
        f"quartiles of groups of similar series.{said}{_left_out(found)} {_LEGEND}"
    )
    parts = (Part(figures["seconds"], "time"), Part(figures["memory"], "peak memory"))
    return Built(caption, summary, parts)


@exhibit("table", 4, "parameters", title="Parameters of the timing study")
def parameters(material: Material) -> Built:
    """Default, least and greatest value of each parameter."""
    base = Setting()
    rows: list[dict[str, Any]] = [
        {
            "parameter": one.name,
            "symbol": one.symbol,
            "meaning": one.title,
            "default": float(getattr(base, one.name)),
            "least": float(min(one.values)),
            "greatest": float(max(one.values)),
            "values": len(one.values),
            **{
                f"paper_{name}": float(value)
                for name, value in zip(_RANGE, PAPER_RANGES[one.name], strict=True)
            },
        }
        for one in PARAMETERS.values()
    ]
    frame = require("pandas", purpose="tables").DataFrame(rows)
    header = ["parameter", *_RANGE, "values", *_RANGE]
    cells = [
        [
            row["meaning"],
            *(f"{row[name]:,.0f}" for name in _RANGE),
            str(row["values"]),
            *(f"{row[f'paper_{name}']:,.0f}" for name in _RANGE),
        ]
        for row in rows
    ]
    layout = TableLayout(header, cells, groups=[("", 1), ("here", 4), ("paper", 3)])
    caption = (
        "Parameters of the generated series in Figure 17. One parameter varies at a time while the "
        f"others keep their default: {sum(row['values'] for row in rows)} settings in total."
    )
    return Built(caption, frame, layout=_Laid(frame, layout))


@exhibit("table", 5, "slopes", title="Dependence of time on each parameter", needs=["timing"])
def slopes(material: Material) -> Built:
    """Slope of the median time against each parameter, next to the paper's."""
    frame = single_slopes(material.timing)
    if frame.empty:
        raise NotPossibleError("needs three values of a parameter; raise the budget")
    shown = [row for row in frame.itertuples() if row.contestant in _ALGORITHMS]
    if not shown:
        raise NotPossibleError("no algorithm of VUS was timed at three values; raise the budget")
    cells = [
        [
            CONTESTANTS[row.contestant].title,
            PARAMETERS[row.parameter].title,
            *map(_cell, (row.slope, row.r_squared, row.to_naive)),
            *map(_cell, (row.paper_slope, row.paper_r_squared, row.paper_to_naive)),
        ]
        for row in shown
    ]
    relative = f"of {_TITLES['naive']}"
    header = ["algorithm", "parameter", "slope", "R²", relative, "slope", "R²", relative]
    layout = TableLayout(
        header,
        cells,
        left=2,
        groups=[("", 2), ("here", 3), ("paper", 3)],
        notes=["Slope here: milliseconds per unit. The paper does not state its units."],
    )
    by_key = {(row.contestant, row.parameter): row for row in shown}
    less = [
        f"{PARAMETERS[name].title} ({number(by_key['opt', name].to_naive)})"
        for name in ("n_points", "max_buffer", "n_thresholds")
        if ("opt", name) in by_key and by_key["opt", name].to_naive < 1
    ]
    caption = (
        "Slope of a line fitted to the median times against one parameter, the others at their "
        f'default. Column "{relative}": slope divided by that of {_TITLES["naive"]}.'
        + (f" {_TITLES['opt']} depends less on: {', '.join(less)}." if less else "")
        + _left_out(material.timing)
    )
    return Built(caption, frame, layout=_Laid(frame, layout))


@exhibit(
    "table",
    6,
    "joint-slopes",
    title="Joint dependence of time on the properties of the series",
    needs=["timing_series"],
)
def slopes_together(material: Material) -> Built:
    """Joint regression of the time on number of anomalies, length and anomaly length."""
    frame = joint_slopes(material.timing_series)
    counts = material.timing_series.summary().groupby("contestant")["series"].nunique()
    shown = [row for row in frame.itertuples() if row.contestant in _ALGORITHMS]
    if not shown:
        timed = ", ".join(f"{_TITLES[name]} {int(counts.get(name, 0))}" for name in _ALGORITHMS)
        raise NotPossibleError(
            f"a regression needs at least five series, got {timed}; raise the budget"
        )
    frame["n_series"] = frame["contestant"].map(counts)
    cells = [
        [
            CONTESTANTS[row.contestant].title,
            f"{int(counts[row.contestant]):,}",
            *map(_cell, (row.n_anomalies, row.n_points, row.mean_length, row.r_squared)),
            *map(
                _cell,
                (
                    row.paper_n_anomalies,
                    row.paper_n_points,
                    row.paper_mean_length,
                    row.paper_r_squared,
                ),
            ),
        ]
        for row in shown
    ]
    names = ["anomalies", "length", "anomaly length", "R²"]
    layout = TableLayout(
        ["algorithm", "series", *names, *names],
        cells,
        groups=[("", 1), ("here", 5), ("paper", 4)],
        notes=["Slope here: milliseconds per unit. The paper does not state its units."],
    )
    by_name = {row.contestant: row for row in shown}
    said = ""
    if {"naive", "opt"} <= set(by_name):
        said = (
            f" Each additional point of the series costs {_cell(by_name['naive'].n_points)} ms "
            f"with {_TITLES['naive']} and {_cell(by_name['opt'].n_points)} ms with "
            f"{_TITLES['opt']}."
        )
    caption = (
        "Slopes of a linear regression of the time on number of anomalies, length and mean anomaly "
        f"length, over the series that each algorithm was timed on.{said}"
    )
    return Built(caption, frame, layout=_Laid(frame, layout))


def _cell(value: Any) -> str:
    return "" if value != value else f"{float(value):.3g}"

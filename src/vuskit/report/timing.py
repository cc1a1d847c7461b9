"""Figures, tables and the page of the execution-time study."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.report.common import (
    check_figure_format,
    format_cell,
    markdown_table,
    picture,
    save_figure,
)
from vuskit.studies.saved import save_study_result
from vuskit.studies.timing import CONTESTANTS, PARAMETERS, Job, TimingResult
from vuskit.studies.timing_cases import is_generated
from vuskit.studies.timing_settings import Parameter, Setting
from vuskit.studies.timing_tables import joint_slopes, rows_of_sweep, single_slopes, speed_ratios

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CONTESTANT_STYLES",
    "alike_groups",
    "describe_job",
    "draw_series",
    "draw_sweeps",
    "format_cell",
    "joint_table",
    "ratio_table",
    "slope_table",
    "write_report",
]

# Okabe and Ito's palette: told apart by people with any kind of colour vision.
CONTESTANT_STYLES: dict[str, dict[str, Any]] = {
    "auc": {"color": "#000000", "marker": "x", "linestyle": ":"},
    "r_auc": {"color": "#E69F00", "marker": "+", "linestyle": ":"},
    "naive": {"color": "#D55E00", "marker": "o", "linestyle": "-"},
    "opt": {"color": "#CC79A7", "marker": "s", "linestyle": "-"},
    "opt_mem": {"color": "#0072B2", "marker": "^", "linestyle": "-"},
    "fast_grid": {"color": "#009E73", "marker": "D", "linestyle": "--"},
    "fast_exact": {"color": "#56B4E9", "marker": "v", "linestyle": "--"},
}
_QUANTITIES = {
    "seconds": ("median", ("lower_quartile", "upper_quartile"), "seconds"),
    "memory": ("peak_bytes", ("peak_bytes", "peak_bytes"), "peak memory (bytes)"),
}
_PROPERTIES = ("n_anomalies", "mean_length", "n_points")
_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


def draw_sweeps(
    result: TimingResult, *, quantity: str = "seconds", base: Setting | None = None
) -> Figure:
    """Draw six panels, one for each parameter that varies while the others do not.

    Parameters
    ----------
    result : TimingResult
        Of generated series.
    quantity : {"seconds", "memory"}
        Medians with quartiles as envelopes, or the peak memory.
    base : Setting, optional
        The defaults of the study; the paper's unless given.

    Returns
    -------
    Figure
        Of matplotlib; it belongs to no window.

    Raises
    ------
    InvalidInputError
        If the quantity is unknown.
    MissingDependencyError
        If matplotlib or pandas is not installed.
    """
    column, envelope, label = _quantity(quantity)
    summary = result.summary()
    figure, axes = _panels(2, 3, label)
    for letter, axis, parameter in zip("abcdef", axes, PARAMETERS.values(), strict=True):
        cells = rows_of_sweep(summary, parameter.name, base=base)
        for name in _present(cells):
            curve = cells[cells["contestant"] == name]
            x = curve[parameter.name]
            lower, upper = (curve[side] for side in envelope)
            axis.plot(
                x,
                curve[column],
                label=CONTESTANTS[name].title,
                markersize=4,
                **CONTESTANT_STYLES[name],
            )
            axis.fill_between(
                x, lower, upper, color=CONTESTANT_STYLES[name]["color"], alpha=0.2, linewidth=0
            )
        _label(axis, letter, parameter, parameter.scale)
    _legend(figure, axes)
    return figure


def draw_series(result: TimingResult, *, quantity: str = "seconds") -> Figure:
    """Draw three panels: number of anomalies, their mean length, length of the series.

    Every series is a dot; the lines join the medians of series that are alike, with quartiles
    as envelopes.

    Parameters
    ----------
    result : TimingResult
        Of real series.
    quantity : {"seconds", "memory"}
        What to draw.

    Returns
    -------
    Figure
        Of matplotlib; it belongs to no window.

    Raises
    ------
    InvalidInputError
        If the quantity is unknown.
    MissingDependencyError
        If matplotlib or pandas is not installed.
    """
    column, _, label = _quantity(quantity)
    summary = result.summary()
    figure, axes = _panels(1, 3, label)
    for letter, axis, name in zip("abc", axes, _PROPERTIES, strict=True):
        for contestant in _present(summary):
            cells = summary[summary["contestant"] == contestant]
            style = CONTESTANT_STYLES[contestant]
            axis.scatter(cells[name], cells[column], s=5, alpha=0.25, color=style["color"])
            x, middle, lower, upper = alike_groups(cells[name].to_numpy(), cells[column].to_numpy())
            axis.plot(x, middle, label=CONTESTANTS[contestant].title, markersize=4, **style)
            axis.fill_between(x, lower, upper, color=style["color"], alpha=0.2, linewidth=0)
        _label(axis, letter, PARAMETERS[name], "log")
    _legend(figure, axes)
    return figure


def _quantity(name: str) -> tuple[str, tuple[str, str], str]:
    if name not in _QUANTITIES:
        known = ", ".join(map(repr, _QUANTITIES))
        raise InvalidInputError(f"`quantity` must be one of {known}, got {name!r}")
    return _QUANTITIES[name]


def _panels(rows: int, columns: int, y_label: str) -> tuple[Figure, list[Axes]]:
    # Figure itself instead of pyplot: nothing global is touched, no display is needed.
    matplotlib = require("matplotlib.figure", purpose="a figure")
    figure = matplotlib.Figure(figsize=(4 * columns, 3.2 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for leftmost in axes[:, 0]:
        leftmost.set_ylabel(y_label)
    return figure, list(axes.flat)


def _present(cells: pd.DataFrame) -> list[str]:
    return [name for name in CONTESTANTS if name in set(cells["contestant"])]


def alike_groups(x: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    """Median x, and median and quartiles of y, in at most eight groups of equally many x.

    Examples
    --------
    >>> x, middle, lower, upper = alike_groups(np.array([1, 1, 2, 2]), np.array([3.0, 5, 7, 9]))
    >>> x.tolist(), middle.tolist(), upper.tolist()
    ([1.0, 2.0], [4.0, 8.0], [4.5, 8.5])
    """
    edges = np.unique(np.quantile(x, np.linspace(0, 1, 9)))
    group = np.searchsorted(edges[1:-1], x, side="right")
    columns = [
        (np.median(x[group == k]), *np.quantile(y[group == k], (0.5, 0.25, 0.75)))
        for k in np.unique(group)
    ]
    middle_x, middle, lower, upper = np.array(columns).T
    return middle_x, middle, lower, upper


def _label(axis: Axes, letter: str, parameter: Parameter, scale: str) -> None:
    axis.set_xscale(scale, **({"linthresh": 5} if scale == "symlog" else {}))
    axis.set_yscale("log")
    axis.set_xlabel(f"({letter}) {parameter.title} {parameter.symbol}")
    axis.grid(visible=True, alpha=0.3)


def _legend(figure: Figure, axes: list[Axes]) -> None:
    curves = {
        label: curve
        for axis in axes
        for curve, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    titles = [contestant.title for contestant in CONTESTANTS.values()]
    shown = sorted(curves, key=titles.index)
    figure.legend(
        [curves[label] for label in shown],
        shown,
        loc="outside lower center",
        ncols=len(shown),
        frameon=False,
    )


def ratio_table(result: TimingResult) -> pd.DataFrame:
    """Lay out how many times longer the paper's algorithms take, for reading."""
    frame = speed_ratios(result).to_frame()
    frame["slow"], frame["fast"] = frame["slow"].map(_title), frame["fast"].map(_title)
    return frame.rename(columns={"slow": "algorithm", "fast": "against"})


def slope_table(result: TimingResult) -> pd.DataFrame:
    """Lay out the slope of each parameter by itself beside the paper's, for reading."""
    frame = single_slopes(result).to_frame()
    frame["contestant"] = frame["contestant"].map(_title)
    frame["parameter"] = frame["parameter"].map(lambda name: PARAMETERS[name].title)
    return frame.rename(
        columns={
            "slope": "ms per unit",
            "r_squared": "R2",
            "to_naive": "/ naive",
            "paper_slope": "paper C.",
            "paper_r_squared": "paper R2",
            "paper_to_naive": "paper / naive",
        }
    )


def joint_table(result: TimingResult) -> pd.DataFrame:
    """Lay out the slopes of the series' three properties together beside the paper's."""
    frame = joint_slopes(result).to_frame()
    frame["contestant"] = frame["contestant"].map(_title)
    return frame.rename(columns=_joint_heading)


def _joint_heading(column: str) -> str:
    owner, name = ("paper: ", column[6:]) if column.startswith("paper_") else ("", column)
    titles = {"r_squared": "R2"} | {key: parameter.title for key, parameter in PARAMETERS.items()}
    return owner + titles.get(name, name)


def _title(name: str) -> str:
    return CONTESTANTS[name].title


def describe_job(job: Job) -> str:
    """Name a contestant and its series, or what is unusual about a generated one, in one line.

    Examples
    --------
    >>> from vuskit.studies.timing import Setting, synthetic_cases
    >>> case, = synthetic_cases([Setting(max_buffer=1000)])
    >>> describe_job(Job(case, CONTESTANTS["naive"]))
    'VUS, maximum buffer length 1000'
    """
    if not is_generated(job.case.name):
        return f"{job.contestant.title}, {job.case.name}"
    setting = job.case.setting
    changed = setting.differs_in(Setting())
    details = ", ".join(f"{PARAMETERS[name].title} {getattr(setting, name):g}" for name in changed)
    return f"{job.contestant.title}, {details or 'defaults'}"


def write_report(
    result: TimingResult,
    folder: str | Path,
    *,
    table_format: str = "csv",
    figure_format: str = "png",
) -> list[Path]:
    """Write tables, figures and a page that shows them.

    Parameters
    ----------
    result : TimingResult
        At least one sample.
    folder : str or Path
        Made if it does not exist.
    table_format : {"csv", "parquet"}
        Of the tables.
    figure_format : {"png", "pdf", "svg"}, default="png"
        Of the figures.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If a format is unknown or nothing was measured.
    MissingDependencyError
        If matplotlib, pandas or scipy is not installed.
    """
    if table_format not in _WRITERS:
        known = ", ".join(map(repr, _WRITERS))
        raise InvalidInputError(f"`table_format` must be one of {known}, got {table_format!r}")
    check_figure_format(figure_format)
    if not result.samples:
        raise InvalidInputError("`result` must hold at least one sample, got none")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draw = draw_sweeps if result.generated else draw_series
    figures = {quantity: folder / f"{quantity}.{figure_format}" for quantity in _QUANTITIES}
    for quantity, path in figures.items():
        save_figure(draw(result, quantity=quantity), path)
    tables = {"timings": result.to_frame(), "summary": result.summary()}
    tables["ratios"] = speed_ratios(result).to_frame()
    tables["joint_slopes"] = joint_slopes(result).to_frame()
    if result.generated:
        tables["slopes"] = single_slopes(result).to_frame()
    written = []
    for name, frame in tables.items():
        path = folder / f"{name}.{table_format}"
        _WRITERS[table_format](frame, path)
        written.append(path)
    page = folder / "timing.md"
    page.write_text(_page(result, figure_format), encoding="utf-8")
    return [page, *figures.values(), *written, save_study_result(result, folder)]


def _page(result: TimingResult, figure_format: str) -> str:
    kind = "generated" if result.generated else "real"
    clocks = " and ".join(sorted({sample.clock for sample in result.samples}))
    parts = [f"# Execution time on {kind} series\n\nTimes are {clocks} time; medians."]
    parts += [picture("Time", f"seconds.{figure_format}")]
    parts += [picture("Memory", f"memory.{figure_format}")]
    parts.append("## How many times longer\n\n" + markdown_table(ratio_table(result)))
    if result.generated:
        parts.append(
            "## Each parameter by itself\n\nThe paper's columns are another machine, other code "
            "and units that it does not state; compare the ratios to naive.\n\n"
            + markdown_table(slope_table(result))
        )
    parts.append(
        "## The series' properties together\n\nMilliseconds for each unit; the paper's "
        "columns as above.\n\n" + markdown_table(joint_table(result))
    )
    if result.dropped:
        jobs = "\n".join(f"- {describe_job(job)}" for job in result.dropped)
        parts.append(f"## Left out: more than the budget allowed\n\n{jobs}")
    environment = json.dumps(result.environment, indent=2)
    parts.append(f"## Machine and versions\n\n```json\n{environment}\n```")
    return "\n\n".join(parts) + "\n"

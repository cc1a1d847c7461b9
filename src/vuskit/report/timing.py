"""Tables and the page of the execution-time study."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.errors import InvalidInputError
from vuskit.report.common import (
    PAGE_DPI,
    check_figure_format,
    markdown_table,
    picture,
)
from vuskit.report.figures.timing import QUANTITIES, TimingSeriesDisplay, TimingSweepDisplay
from vuskit.studies.saved import save_study_result
from vuskit.studies.timing import (
    CONTESTANTS,
    PARAMETERS,
    Job,
    Setting,
    TimingResult,
    is_generated,
    joint_slopes,
    single_slopes,
    speed_ratios,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "describe_job",
    "joint_table",
    "ratio_table",
    "slope_table",
    "write_report",
]

_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


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


TABLE_FORMATS = tuple(_WRITERS)


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
    display = TimingSweepDisplay if result.generated else TimingSeriesDisplay
    figures = [
        display.from_result(result, quantity=quantity).save(
            folder / f"{quantity}.{figure_format}", dpi=PAGE_DPI
        )
        for quantity in QUANTITIES
    ]
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
    return [page, *figures, *written, save_study_result(result, folder)]


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

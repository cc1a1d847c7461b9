"""Tables out of a store, as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit.bench.means import AVERAGES
from vuskit.bench.measures import measures_in_order, read_measures
from vuskit.bench.outcomes import read_outcomes_table
from vuskit.bench.results import leaderboard, read_detectors, read_values_table
from vuskit.bench.states import Status
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "SHAPES", "export_run", "run_table"]

FORMATS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


_OF_A_VALUE = [
    "measure",
    "measure_title",
    "higher_is_better",
    "value",
    "measure_identity",
    "evaluate_key",
]

_BUFFER = ["buffer", "buffer_reason"]


def _values(folder: Path, by: str) -> pd.DataFrame:
    """One row per value, also where there is none because something failed."""
    return read_outcomes_table(folder)


def _wide(folder: Path, by: str) -> pd.DataFrame:
    """One row per series, detector, seed and settings; one column per measure.

    The status is that of the first measure that is not OK, if there is one.
    """
    values = read_outcomes_table(folder)
    keys = ["score_key", "settings"]
    table = values.pivot(index=keys, columns="measure", values="value")
    table = table[measures_in_order(table.columns)]
    # Not every measure has a value everywhere: rows of facts, columns of numbers.
    worst = values.sort_values("status", key=lambda status: status == Status.OK, kind="stable")
    facts = worst.drop(columns=_OF_A_VALUE).drop_duplicates(keys).sort_index()
    # A measure that failed has told no buffer, but another one may have.
    buffers = values.groupby(keys, sort=False)[_BUFFER].first().reset_index()
    facts = facts.drop(columns=_BUFFER).merge(buffers, on=keys)
    names = ["dataset", "series", "detector", "seed", "settings"]
    names += ["status", *_BUFFER]
    rest = [name for name in facts if name not in names]
    wide = facts.merge(table.reset_index(), on=keys)
    return wide[[*names, *table.columns, *rest]]


def _leaderboard(folder: Path, by: str) -> pd.DataFrame:
    """One row per detector and settings, also for detectors that always failed."""
    values, detectors = read_values_table(folder), read_detectors(folder)
    return leaderboard(values, by=by, detectors=detectors, measures=read_measures(folder))


SHAPES: dict[str, Callable[[Path, str], Any]] = {
    "values": _values,
    "wide": _wide,
    "leaderboard": _leaderboard,
}


def run_table(folder: Path, *, shape: str = "values", by: str = "series") -> pd.DataFrame:
    """Values of a run as a table.

    What failed or was skipped has its rows too, with its status and without values.

    Parameters
    ----------
    folder : Path
        The run folder.
    shape : {"values", "wide", "leaderboard"}, default="values"
        One row per value; one row per score; or means per detector.
    by : {"series", "dataset"}, default="series"
        What counts once in the means of a leaderboard.

    Raises
    ------
    InvalidInputError
        If the shape is unknown or has no means, or there is no run.

    Examples
    --------
    >>> run_table(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    check_choice("shape", shape, SHAPES)
    check_choice("by", by, AVERAGES)
    if by != "series" and shape != "leaderboard":
        raise InvalidInputError(
            f"`by` must be 'series' for the shape {shape!r}, which has no means, got {by!r}"
        )
    require("pandas", purpose="export")
    frame: pd.DataFrame = SHAPES[shape](folder, by)
    return frame


def export_run(
    folder: Path, target: Path, *, shape: str = "values", by: str = "series"
) -> pd.DataFrame:
    """Write the values of a run into a file.

    Parameters
    ----------
    folder : Path
        The run folder.
    target : Path
        Ends in ``.csv`` or ``.parquet``.
    shape, by : str
        As for `run_table`.

    Returns
    -------
    pandas.DataFrame
        What was written.

    Raises
    ------
    InvalidInputError
        If the ending is unknown, or as for `run_table`.

    Examples
    --------
    >>> export_run(Path("nowhere"), Path("values.csv"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    kind = check_choice("target", target.suffix.removeprefix(".") or target.name, FORMATS)
    frame = run_table(folder, shape=shape, by=by)
    target.parent.mkdir(parents=True, exist_ok=True)
    FORMATS[kind](frame, target)
    return frame

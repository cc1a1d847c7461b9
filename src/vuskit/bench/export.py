"""Tables out of a store, as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.bench.results import (
    leaderboard,
    measures_in_order,
    read_detectors,
    read_values_table,
)
from vuskit.datasets.optional import require
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "SHAPES", "export_run"]

FORMATS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


def _wide(folder: Path) -> pd.DataFrame:
    """One row per series, detector, seed and settings; one column per measure."""
    values = read_values_table(folder)
    keys = ["score_key", "settings"]
    table = values.pivot(index=keys, columns="measure", values="value")
    table = table[measures_in_order(table.columns)]
    # Not every measure has a value everywhere: rows of facts, columns of numbers.
    facts = values.drop(columns=["measure", "value", "evaluate_key"]).drop_duplicates(keys)
    names = ["dataset", "series", "detector", "seed", "settings", "buffer", "buffer_reason"]
    rest = [name for name in facts if name not in names]
    wide = facts.merge(table.reset_index(), on=keys)
    return wide[[*names, *table.columns, *rest]]


def _leaderboard(folder: Path) -> pd.DataFrame:
    """One row per detector and settings, also for detectors that always failed."""
    return leaderboard(read_values_table(folder), detectors=read_detectors(folder))


SHAPES: dict[str, Callable[[Path], Any]] = {
    "values": read_values_table,
    "wide": _wide,
    "leaderboard": _leaderboard,
}


def export_run(folder: Path, target: Path, *, shape: str = "values") -> pd.DataFrame:
    """Write the values of a run into a file.

    Parameters
    ----------
    folder : Path
        The run folder.
    target : Path
        Ends in ``.csv`` or ``.parquet``.
    shape : {"values", "wide", "leaderboard"}, default="values"
        One row per value; one row per score; or means per detector.

    Returns
    -------
    pandas.DataFrame
        What was written.

    Raises
    ------
    InvalidInputError
        If the shape or the ending is unknown, or there is no run.

    Examples
    --------
    >>> export_run(Path("nowhere"), Path("values.csv"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    check_choice("shape", shape, SHAPES)
    kind = check_choice("target", target.suffix.removeprefix(".") or target.name, FORMATS)
    require("pandas", purpose="export")
    frame = SHAPES[shape](folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    FORMATS[kind](frame, target)
    return frame

"""TimeEval: timestamp, one or more values, is_anomaly."""

from __future__ import annotations

from pathlib import Path

from vuskit.datasets.readers.generic import series_from_table
from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.datasets.tables import read_csv

__all__ = ["read_timeeval"]


def _matches(file: Candidate) -> bool:
    columns = file.columns
    return (
        file.suffix == ".csv"
        and columns[:1] == ("timestamp",)
        and columns[-1] == "is_anomaly"
        and len(columns) >= 3
    )


@register_format(
    name="timeeval",
    title="TimeEval",
    layout="*.csv: timestamp, value(s), is_anomaly",
    matches=_matches,
    possible=lambda file: file.columns[-1:] == ("is_anomaly",),
)
def read_timeeval(
    path: Path, *, dataset: str | None = None, train_length: int | None = None
) -> Series:
    """Read one file; every column between the time and the label is a channel."""
    table = read_csv(path)
    return series_from_table(
        table,
        name=stem(path),
        dataset=dataset or parent_name(path),
        label="is_anomaly",
        values=table.names[1:-1],
        train_length=train_length,
    )

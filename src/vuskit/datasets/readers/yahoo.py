"""Yahoo S5 (A3 and A4): value, anomaly, and the components of the synthetic series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vuskit.datasets.readers.generic import series_from_table
from vuskit.datasets.readers.registry import parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.datasets.tables import read_csv

__all__ = ["read_yahoo"]

_FIRST = ("timestamps", "value", "anomaly", "changepoint")


@register_format(
    name="yahoo",
    title="Yahoo S5 (A3, A4)",
    layout="*.csv: timestamps,value,anomaly,changepoint,trend,noise,seasonality1,...",
    matches=lambda file: file.suffix == ".csv" and file.columns[: len(_FIRST)] == _FIRST,
    possible=lambda file: {"value", "anomaly"} <= set(file.columns),
)
def read_yahoo(
    path: Path, *, dataset: str | None = None, values: str | Sequence[str] = "value"
) -> Series:
    """Read value and anomaly; ``left_out`` of the series lists the other columns.

    Files of A1 and A2 have the columns ``timestamp,value,is_anomaly``; use the format
    ``timeeval``.

    Parameters
    ----------
    path : Path
        The file.
    dataset : str, optional
        Name of the data set. Defaults to the folder's name.
    values : str or sequence of str, default="value"
        Columns of the channels.
    """
    table = read_csv(path)
    table.check_columns(("anomaly",))
    return series_from_table(
        table,
        name=stem(path),
        dataset=dataset or parent_name(path),
        label="anomaly",
        values=values,
        list_ignored=True,
    )

"""IOPS (AIOps 2018): many KPIs in one file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vuskit.datasets.long_tables import open_long_table
from vuskit.datasets.readers.generic import series_from_table
from vuskit.datasets.readers.registry import Candidate, register_format, stem
from vuskit.datasets.series import Series

__all__ = ["read_iops"]

_KEY = "KPI ID"
_COLUMNS = {"timestamp", "value", "label", _KEY}
_SPLIT = re.compile(r"(?:^|[_\W])(train|test)(?:$|[_\W])", re.IGNORECASE)


def _matches(file: Candidate) -> bool:
    return file.suffix == ".csv" and set(file.columns) == _COLUMNS


def _parts(path: Path, options: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(key[-1] for key in open_long_table(path, _KEY).keys)


@register_format(
    name="iops",
    title="IOPS (AIOps 2018 KPI)",
    layout="*.csv: timestamp,value,label,KPI ID; many series in one file",
    matches=_matches,
    parts=_parts,
)
def read_iops(path: Path, *, dataset: str | None = None, part: str | None = None) -> Series:
    """Read one KPI; missing timestamps are not filled.

    Names follow TSB-UAD, without ``.out``: ``KPI-<id>``, plus ``.train`` or ``.test`` if the file
    name contains that word.

    Parameters
    ----------
    path : Path
        The file.
    dataset : str, optional
        Name of the data set. Defaults to ``IOPS``.
    part : str, optional
        The KPI ID; required if the file holds several.
    """
    key, table = open_long_table(path, _KEY).select(part)
    split = _SPLIT.search(stem(path))
    return series_from_table(
        table,
        name=f"KPI-{key}.{split[1].lower()}" if split else f"KPI-{key}",
        dataset=dataset or "IOPS",
        label="label",
        values="value",
    )

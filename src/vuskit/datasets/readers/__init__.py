"""Readers: one module per file format; importing this package registers all of them."""

from __future__ import annotations

from vuskit.datasets.readers import (
    dodgers,
    generic,
    iops,
    labels,
    nab,
    scores,
    sensorscope,
    telemanom,
    timeeval,
    tsb_ad,
    tsb_uad,
    ucr,
    wfdb,
    yahoo,
)
from vuskit.datasets.readers._columns import (
    Table,
    doubles_from_texts,
    header_of,
    may_hold_large_integers,
    read_csv,
    read_parquet,
)
from vuskit.datasets.readers.generic import (
    LABEL_NAMES,
    PLACE_NAMES,
    RISING,
    label_column,
    only_rises,
)
from vuskit.datasets.readers.registry import (
    Candidate,
    Format,
    get_format,
    list_formats,
    register_format,
)
from vuskit.datasets.readers.scores import open_scores, read_scores

__all__ = [
    "LABEL_NAMES",
    "PLACE_NAMES",
    "RISING",
    "Candidate",
    "Format",
    "Table",
    "doubles_from_texts",
    "get_format",
    "header_of",
    "label_column",
    "list_formats",
    "may_hold_large_integers",
    "only_rises",
    "open_scores",
    "read_csv",
    "read_parquet",
    "read_scores",
    "register_format",
]

FORMAT_MODULES = (
    dodgers,
    generic,
    iops,
    labels,
    nab,
    scores,
    sensorscope,
    telemanom,
    timeeval,
    tsb_ad,
    tsb_uad,
    ucr,
    wfdb,
    yahoo,
)

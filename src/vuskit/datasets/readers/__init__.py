"""Readers: one module per file format; importing this package registers all of them."""

from __future__ import annotations

from vuskit.datasets.readers import (  # noqa: F401 (registers formats)
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
from vuskit.datasets.readers.registry import (
    Candidate,
    Format,
    get_format,
    list_formats,
    register_format,
)
from vuskit.datasets.readers.scores import read_scores

__all__ = [
    "Candidate",
    "Format",
    "get_format",
    "list_formats",
    "read_scores",
    "register_format",
]

"""Readers: one file per format; importing this package registers them all."""

from __future__ import annotations

from vuskit.datasets.readers import (
    generic,
    nab,
    scores,
    telemanom,
    timeeval,
    tsb_ad,
    tsb_uad,
    ucr,
)
from vuskit.datasets.readers.registry import Format, get_format, list_formats, register_format
from vuskit.datasets.readers.scores import read_scores

__all__ = ["Format", "get_format", "list_formats", "read_scores", "register_format"]

FORMAT_MODULES = (generic, nab, scores, telemanom, timeeval, tsb_ad, tsb_uad, ucr)

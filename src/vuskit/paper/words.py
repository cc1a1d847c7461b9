"""Format numbers and names for captions and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from vuskit._util.text import listed, plural
from vuskit.measures.registry import get_measure, list_measures

__all__ = [
    "RANGE_AWARE",
    "in_order",
    "joined",
    "listed",
    "number",
    "plural",
    "series_count",
    "title_of",
    "titles",
    "with_values",
]

RANGE_AWARE = ("range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr")
"""The four measures that the paper proposes: R-AUC and VUS, each for ROC and PR."""


def title_of(measure: str) -> str:
    """Return the title of a measure, or its name if it is not registered."""
    known = {one.name for one in list_measures()}
    return get_measure(measure).title if measure in known else measure


def joined(names: Iterable[str]) -> str:
    """Join names for a sentence."""
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def titles(measures: Iterable[str]) -> str:
    """Join the titles of measures for a sentence."""
    return joined([title_of(name) for name in measures])


def number(value: float, digits: int = 2) -> str:
    """Format a number briefly; small numbers keep significant digits."""
    if not np.isfinite(value):
        return "undefined" if np.isnan(value) else "infinite"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if value and abs(value) < 0.095:
        return f"{value:#.{digits}g}"
    return f"{value:.{digits}f}"


def with_values(values: Mapping[str, float] | Any, count: int | None = None) -> str:
    """List titles with values, such as ``"VUS-ROC 0.02, AUC-ROC 0.03"``."""
    items = list(values.items())[:count]
    return ", ".join(f"{title_of(str(name))} {number(float(value))}" for name, value in items)


def in_order(values: Any, *, lowest_first: bool = True) -> Any:
    """Sort a pandas Series by value without its NaN; equal values keep their order."""
    return values.dropna().sort_values(ascending=lowest_first, kind="stable")


def series_count(count: int) -> str:
    """Return a number of series as text."""
    return plural(count, "series", "series")

"""Filters of the series of a run: data set, kind and number of anomalies, length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.bench import RunSeries
from vuskit.bench.in_memory import EvaluatedSeries
from vuskit.errors import InvalidInputError

_LENGTHS = (0, 1_000, 10_000, 100_000, 1_000_000)

FILTERS: dict[str, dict[str, str]] = {
    "kind": {
        "point": "points",
        "sequence": "sequences",
        "none": "none",
    },
    "number": {"one": "one", "several": "several", "none": "none"},
    "length": {
        **{
            f"{low}-{high - 1}": f"{low:,} to {high - 1:,} points"
            for low, high in pairwise(_LENGTHS)
        },
        f"{_LENGTHS[-1]}-": f"{_LENGTHS[-1]:,} points or more",
    },
}
"""Classes of each filter, with their titles."""


def series_class(series: RunSeries | EvaluatedSeries, name: str) -> str:
    """Return the class of a series."""
    if name == "length":
        return list(FILTERS[name])[int(np.searchsorted(_LENGTHS, series.n_points, "right")) - 1]
    if not series.n_anomalies:
        return "none"
    if name == "number":
        return "one" if series.n_anomalies == 1 else "several"
    return "point" if series.anomalous_points == series.n_anomalies else "sequence"


def filter_data(series: Sequence[RunSeries | EvaluatedSeries]) -> dict[str, Any]:
    """Return the filters of a page: the classes that occur, and the class of each series.

    ``series`` has one digit per series, the place of its class. It is empty if all series have the
    same class.
    """
    found: dict[str, Any] = {}
    for name, titles in FILTERS.items():
        classes = [series_class(one, name) for one in series]
        used = [key for key in titles if key in classes]
        found[name] = {
            "classes": [[key, titles[key]] for key in used],
            "series": "".join(str(used.index(key)) for key in classes) if len(used) > 1 else "",
        }
    return found


def select_series(
    series: Sequence[RunSeries | EvaluatedSeries], filters: Mapping[str, str]
) -> NDArray[np.intp]:
    """Return the places of the series that pass all filters."""
    chosen = np.ones(len(series), dtype=bool)
    for name, wanted in filters.items():
        if name != "dataset" and name not in FILTERS:
            listed = ", ".join(["dataset", *FILTERS])
            raise InvalidInputError(f"`filters` must be among {listed}, got {name!r}")
        if wanted:
            chosen &= [
                (one.dataset if name == "dataset" else series_class(one, name)) == wanted
                for one in series
            ]
    return np.flatnonzero(chosen)

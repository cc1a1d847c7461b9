"""Unique names for series, even if files in different folders have equal names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

__all__ = ["SeriesName", "unique_names"]

_SHORT = 6  # digits of a digest


class SeriesName(NamedTuple):
    """Name of a series, and what can make it unique."""

    dataset: str
    name: str
    path: PurePath | None = None
    digest: str = ""


def unique_names(series: Sequence[SeriesName]) -> list[tuple[str, str]]:
    """Return a unique pair of data set and name for each series.

    If series share both, parent folders are prepended to the data set until the pairs differ. If
    folders do not suffice, the first digits of the digest are appended to the name.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> places = ["plantA/logs/pump.csv", "plantB/logs/pump.csv", "plantB/logs/fan.csv"]
    >>> paths = [PurePosixPath("/data", place) for place in places]
    >>> unique_names([SeriesName("logs", path.stem, path) for path in paths])
    [('plantA/logs', 'pump'), ('plantB/logs', 'pump'), ('logs', 'fan')]
    >>> unique_names([SeriesName("synthetic", "ecg", None, digest) for digest in ("5e1f", "03ab")])
    [('synthetic', 'ecg-5e1f'), ('synthetic', 'ecg-03ab')]
    """
    names = [(one.dataset, one.name) for one in series]
    for group in _equal(names):
        for place, dataset in zip(group, _datasets([series[i] for i in group]), strict=True):
            names[place] = dataset, names[place][1]
    for group in _equal(names):
        for place in group:
            dataset, name = names[place]
            names[place] = dataset, f"{name}-{series[place].digest[:_SHORT]}".rstrip("-")
    for group in _equal(names):
        for number, place in enumerate(group[1:], start=2):
            dataset, name = names[place]
            names[place] = dataset, f"{name}-{number}"
    return names


def _equal(names: Iterable[tuple[str, str]]) -> list[list[int]]:
    """Positions of each name that occurs several times."""
    groups: dict[str, list[int]] = {}
    for place, (dataset, name) in enumerate(names):
        groups.setdefault(f"{dataset}/{name}", []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _datasets(group: list[SeriesName]) -> list[str]:
    """Prepend the fewest folders that make the most data sets unique."""
    folders = [_folders(one) for one in group]
    depths = range(1 + max(map(len, folders)))
    extended = [
        ["/".join([*own[len(own) - min(depth, len(own)) :], one.dataset])
         for one, own in zip(group, folders, strict=True)]
        for depth in depths
    ]  # fmt: skip
    return max(extended, key=lambda names: sum(n == 1 for n in Counter(names).values()))


def _folders(one: SeriesName) -> tuple[str, ...]:
    """Parent folders of the file, without the one that names the data set."""
    if one.path is None:
        return ()
    above = one.path.parent
    parts = tuple(part for part in above.parts if part != above.anchor)
    return parts[:-1] if parts[-1:] == (one.dataset,) else parts

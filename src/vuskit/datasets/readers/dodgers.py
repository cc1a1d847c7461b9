"""Dodgers loop sensor (UCI): one count per line, and a file of games."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from vuskit.datasets.readers.registry import Candidate, register_format, stem
from vuskit.datasets.series import Series
from vuskit.datasets.tables import read_csv
from vuskit.errors import InvalidInputError

__all__ = ["read_dodgers"]

_MISSING = -1  # count that marks a missing reading


def _matches(file: Candidate) -> bool:
    return (
        file.suffix == ".data"
        and len(file.columns) == 2
        and _events_file(file.path, None).is_file()
    )


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path | None]:
    return [_events_file(path, options.get("events"))]


@register_format(
    name="dodgers",
    title="Dodgers loop sensor (UCI)",
    layout="Dodgers.data: <month/day/year hour:minute>,<count>; Dodgers.events in the same folder",
    matches=_matches,
    possible=lambda file: file.suffix == ".data",
    companions=_companions,
)
def read_dodgers(
    path: Path, *, dataset: str | None = None, events: str | Path | None = None
) -> Series:
    """Read the counts; points during a game and missing counts (-1) are anomalous.

    Both ends of a game are inclusive. The labels equal those of TSB-UAD: 5612 points in 133
    anomalies.

    Parameters
    ----------
    path : Path
        ``Dodgers.data``.
    dataset : str, optional
        Name of the data set. Defaults to ``Dodgers``.
    events : path, optional
        File of the games. Defaults to the file with the same name that ends in ``.events``.
    """
    source = _events_file(path, events)
    if not source.is_file():
        raise InvalidInputError(
            f"{path}: the games must be in {source.name} in the same folder, got no such file; "
            "name another file with events="
        )
    table = read_csv(path, columns=("time", "count"))
    times = table.times("time", "%m/%d/%Y %H:%M")
    counts = table.numbers("count")
    labels = counts == _MISSING
    for first, last in _games(source):
        labels |= (times >= first) & (times <= last)
    return Series(stem(path), dataset or "Dodgers", counts, labels, channels=("count",))


def _events_file(path: Path, given: str | Path | None) -> Path:
    return Path(given) if given is not None else path.with_name(f"{stem(path)}.events")


def _games(source: Path) -> Iterator[tuple[np.datetime64, np.datetime64]]:
    """Yield the start and the end of each game; a game may end after midnight."""
    try:
        lines = source.read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise InvalidInputError(f"{source}: not a readable text file: {error}") from error
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if not any(cells):
            continue
        try:
            day, first, last = cells[:3]
            begin, end = (
                datetime.strptime(f"{day} {time}", "%m/%d/%y %H:%M:%S") for time in (first, last)
            )
            end += timedelta(days=end < begin)
        except (ValueError, OverflowError):
            raise InvalidInputError(
                f"{source}, line {number}: a game must be like 04/12/05,13:10:00,16:23:00,..., "
                f"got {line[:60]!r}"
            ) from None
        yield np.datetime64(begin, "us"), np.datetime64(end, "us")

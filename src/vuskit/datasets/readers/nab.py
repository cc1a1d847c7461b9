"""Numenta anomaly benchmark (NAB): csv files of time and value; anomaly windows in one json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.readers.registry import Candidate, register_format
from vuskit.datasets.series import Series
from vuskit.datasets.tables import read_csv
from vuskit.errors import InvalidInputError

__all__ = ["read_nab"]

_WINDOWS = ("combined_windows.json", "labels/combined_windows.json")


def _matches(file: Candidate) -> bool:
    return (
        file.suffix == ".csv"
        and file.columns == ("timestamp", "value")
        and _find_windows(file.path) is not None
    )


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path | None]:
    return [_windows_file(path, options.get("windows"))]


@register_format(
    name="nab",
    title="NAB",
    layout="<group>/<name>.csv: timestamp,value; combined_windows.json in a parent folder or in "
    "its labels/",
    matches=_matches,
    companions=_companions,
)
def read_nab(
    path: Path, *, dataset: str | None = None, windows: str | Path | None = None
) -> Series:
    """Read one file; both ends of a window are anomalous, as defined by NAB.

    TSB-UAD's copy of NAB drops the first value and the last point of each window, so its
    labels differ by one point at the window borders.
    """
    source = _windows_file(path, windows)
    if source is None:
        raise InvalidInputError(
            f"{path}: {_WINDOWS[0]} must be in a parent folder, got none; name it with windows="
        )
    table = read_csv(path)
    table.check_columns(("timestamp", "value"))
    times = _times(table.texts("timestamp"), f"{path}: column 'timestamp'")
    labels = np.zeros(times.size, dtype=np.bool_)
    for window in _windows_of(path, source):
        first, last = _times(window, f"{source}: windows of {path.name!r}")
        labels |= (times >= first) & (times <= last)
    return Series(path.stem, dataset or "NAB", table.numbers("value"), labels)


def _windows_file(path: Path, given: str | Path | None) -> Path | None:
    return Path(given) if given is not None else _find_windows(path)


def _find_windows(path: Path) -> Path | None:
    folders = path.resolve().parents[:4]
    places = (folder / name for folder in folders for name in _WINDOWS)
    return next((place for place in places if place.is_file()), None)


def _windows_of(path: Path, source: Path) -> list[list[str]]:
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{source}: not a readable json file: {error}") from error
    key = f"{path.resolve().parent.name}/{path.name}"
    windows = content.get(key, content.get(path.name)) if isinstance(content, dict) else None
    if not isinstance(windows, list) or any(
        not isinstance(window, list) or len(window) != 2 for window in windows
    ):
        raise InvalidInputError(f"{source}: must list [first, last] windows for {key!r}")
    return windows


def _times(texts: list[str], where: str) -> NDArray[np.datetime64]:
    try:
        return np.array([_time(text) for text in texts], dtype="datetime64[us]")
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"{where} must hold times: {error}") from None


def _time(text: str) -> datetime:
    """Parse a time; converts times with a zone to UTC and keeps others unchanged."""
    time = datetime.fromisoformat(text.strip())
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time

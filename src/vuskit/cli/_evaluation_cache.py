"""Run folders that ``vuskit evaluate`` keeps in the cache, so that it can resume."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from vuskit._util.text import plural

__all__ = ["KeptRun", "cached_run", "clear_runs", "kept_runs", "kept_text", "prune_runs"]

MOST_DAYS = 30
MOST_BYTES = 2 << 30
_SAFE_SECONDS = 3600  # a recently written run may still be running
_NAME = re.compile(r"[0-9a-f]{16}")
_DAY = 86_400


@dataclass(frozen=True)
class KeptRun:
    """Run folder in the cache.

    Attributes
    ----------
    folder : Path
        The folder.
    size : int
        Total size of its files in bytes.
    used : float
        Time of the last use, in seconds since 1970.
    """

    folder: Path
    size: int
    used: float


def _runs_folder() -> Path:
    from vuskit.datasets import cache_folder

    return cache_folder() / "evaluate"


def cached_run(key: str) -> Path:
    """Return the folder of an evaluation, without creating it."""
    return _runs_folder() / key


def kept_runs() -> list[KeptRun]:
    """Return the run folders in the cache, latest first."""
    place = _runs_folder()
    folders = [
        path for path in (place.iterdir() if place.is_dir() else ()) if _NAME.fullmatch(path.name)
    ]
    return sorted(map(_described, folders), key=lambda run: -run.used)


def _described(folder: Path) -> KeptRun:
    size, used = 0, 0.0
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(OSError):  # another process may be removing it
            state = path.stat()
            size += state.st_size if path.is_file() else 0
            used = max(used, state.st_mtime)
    return KeptRun(folder, size, used)


def prune_runs(current: Path) -> int:
    """Delete old runs from the cache, and the oldest while the cache is too large.

    Parameters
    ----------
    current : Path
        The run in use; it is kept.

    Returns
    -------
    int
        Number of deleted runs.
    """
    with contextlib.suppress(OSError):
        os.utime(current)
    now, total, removed = time.time(), 0, 0
    for run in kept_runs():
        total += run.size
        old = now - run.used > MOST_DAYS * _DAY
        busy = run.folder == current or now - run.used < _SAFE_SECONDS
        if (old or total > MOST_BYTES) and not busy:
            shutil.rmtree(run.folder, ignore_errors=True)
            total -= run.size
            removed += 1
    return removed


def clear_runs() -> list[KeptRun]:
    """Delete all runs from the cache; return them."""
    runs = kept_runs()
    for run in runs:
        shutil.rmtree(run.folder, ignore_errors=True)
    return runs


def kept_text(n_runs: int, size: int) -> str:
    """Describe the number and size of cached runs.

    Examples
    --------
    >>> kept_text(2, 3 << 20)
    '2 runs of vuskit evaluate, 3.0 MB'
    """
    return f"{plural(n_runs, 'run')} of vuskit evaluate, {size / (1 << 20):,.1f} MB"

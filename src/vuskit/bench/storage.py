"""The folder a run writes to: who may write, what went wrong, which machine it was."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import sqlite3
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from vuskit.errors import VuskitError

__all__ = [
    "BenchStorageError",
    "environment",
    "is_gone",
    "now",
    "storage_errors",
    "take_lock",
]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "stumpy", "torch")


class BenchStorageError(VuskitError):
    """The run folder cannot be written: full, read-only, or in use by another run."""


def now() -> str:
    """Time of day in UTC, to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


@contextlib.contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Tell in a sentence why a folder cannot be written."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BenchStorageError(
            f"`folder` must be writable and have space left, got {str(folder)!r}: {reason}. "
            "What was finished before is kept; mend it and start the same command again"
        ) from error


def environment() -> str:
    """Versions of Python and of the libraries that decide scores and values."""
    versions = {"python": platform.python_version()}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return json.dumps(versions)


def is_gone(host: str, pid: int) -> bool:
    """Whether a process is known to have ended; of another machine nobody knows.

    Examples
    --------
    >>> is_gone(platform.node(), os.getpid()), is_gone("another machine", 1)
    (False, False)
    """
    if host != platform.node():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def take_lock(path: Path) -> int:
    """Hold a lock on a file as long as this process lives."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not a POSIX system: SQLite's own locks are left
        pass
    except BlockingIOError:
        owner = os.read(handle, 32).decode(errors="replace").strip()
        os.close(handle)
        raise BenchStorageError(
            f"`folder` must not be in use, got {str(path.parent)!r}: process {owner} writes to it"
        ) from None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle

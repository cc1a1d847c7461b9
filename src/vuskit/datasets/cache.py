"""The folder where fetched data sets are kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["cache_folder", "locked"]


def cache_folder(cache: str | Path | None = None) -> Path:
    r"""Return the cache folder, without making it.

    Parameters
    ----------
    cache : str or Path, optional
        The folder itself. Without it the environment variable ``VUSKIT_CACHE`` decides, and
        without that the platform: ``$XDG_CACHE_HOME/vuskit`` or ``~/.cache/vuskit``,
        ``~/Library/Caches/vuskit`` on macOS, ``%LOCALAPPDATA%\vuskit\Cache`` on Windows.

    Examples
    --------
    >>> cache_folder("here").name
    'here'
    """
    chosen = cache or os.environ.get("VUSKIT_CACHE")
    return Path(chosen).expanduser() if chosen else _platform_folder(sys.platform)


def _platform_folder(platform: str) -> Path:
    home = Path.home()
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData/Local") / "vuskit" / "Cache"
    if platform == "darwin":
        return home / "Library/Caches/vuskit"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else home / ".cache") / "vuskit"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file, waiting for other processes that hold it; it is freed even by a crash.

    Examples
    --------
    >>> import tempfile
    >>> with locked(Path(tempfile.mkdtemp()) / "x.lock"):
    ...     pass
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        _lock(stream)
        yield


if sys.platform == "win32":  # pragma: no cover
    import msvcrt
    import time

    def _lock(stream: IO[bytes]) -> None:
        while True:
            try:
                stream.seek(0)
                return msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.1)

else:
    import fcntl

    def _lock(stream: IO[bytes]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX)

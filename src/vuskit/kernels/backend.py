"""Loading of compiled kernels, and the decision when to use them.

Loading takes half a second if compiled code is on disk, and many seconds otherwise. A process loads
(or compiles) the kernels once it has spent as much time in NumPy as loading (or compiling) takes,
so that this at most doubles the total time. ``warm_up`` loads them immediately. Once loaded, the
compiled kernels process every series that is large enough. Work is counted in steps instead of
seconds, so that the same calls always switch at the same point.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vuskit._util.optional import is_installed, require

__all__ = ["Kernels", "backend_name", "compiled_kernels", "warm_up"]

# Equivalent number of NumPy steps: measured were 80 million steps per second, 11 seconds for
# compiling, and half a second for loading compiled code from disk.
_COMPILING = 1.2e9
_LOADING = 5e7
_CALL = 5e4  # overhead of one call of the NumPy kernels, in steps
_WORTH_A_CALL = 4e3  # number of steps below which NumPy is as fast
_ON_DISK = {"ranking": ("point_levels", "grid_levels"), "sweep": ("sweep",)}


@dataclass(frozen=True)
class Kernels:
    """The compiled functions; see ``ranking._numba`` and ``sweep._numba``."""

    point_levels: Callable[..., Any]
    grid_levels: Callable[..., Any]
    sweep: Callable[..., Any]


@dataclass
class _Work:
    """Number of NumPy steps in this process, which decides whether to load the kernels."""

    steps: float = 0.0
    next_look: float = _LOADING  # number of steps at which to look for compiled code on disk
    lock: threading.Lock = field(default_factory=threading.Lock)

    def pays(self, steps: float) -> bool:
        """Add the steps of a call; return whether loading costs less than all steps so far."""
        with self.lock:
            self.steps += steps + _CALL
            if self.steps < self.next_look:
                return False
            if self.steps >= _COMPILING or _is_compiled_on_disk():
                return True
            # Look again later, because another process may compile the kernels.
            self.next_look = min(2 * self.steps, _COMPILING)
            return False


_loaded: list[Kernels] = []
_loading = threading.Lock()
_work = _Work()


def compiled_kernels(steps: int, *, worth: int | None = None) -> Kernels | None:
    """Return the compiled kernels if they are faster for (widths x points) steps, else None.

    ``worth`` replaces ``steps`` in the decision whether a single call is large enough.
    """
    if (steps if worth is None else worth) < _WORTH_A_CALL or _is_switched_off():
        return None
    if _loaded:
        return _loaded[0]
    if not _work.pays(steps) or not is_installed("numba"):
        return None
    # Other threads do not wait, because NumPy returns the same values.
    if not _loading.acquire(blocking=False):
        return None
    try:
        return _load()
    except Exception as error:  # NumPy works even if numba is broken
        _work.next_look = float("inf")
        warnings.warn(
            f"numba cannot be loaded ({type(error).__name__}: {error}); vuskit uses NumPy instead. "
            "Set VUSKIT_NUMBA=0 to use NumPy without this warning.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    finally:
        _loading.release()


def warm_up() -> None:
    """Load or compile the fast kernels now instead of during a later call.

    Without this call, a process loads them once its evaluations have taken as long as loading
    takes. Requires numba.

    Raises
    ------
    MissingDependencyError
        If numba is not installed.

    Examples
    --------
    >>> import vuskit
    >>> vuskit.warm_up()
    """
    require("numba", purpose="warm_up()", extra="fast")
    with _loading:
        _load()


def backend_name() -> str:
    """Return the kernels that a process uses after ``warm_up``: "numba" or "numpy".

    Examples
    --------
    >>> backend_name() in ("numba", "numpy")
    True
    """
    return "numba" if is_installed("numba") and not _is_switched_off() else "numpy"


def _is_switched_off() -> bool:
    return os.environ.get("VUSKIT_NUMBA") == "0"


def _load() -> Kernels:
    if not _loaded:
        # The import compiles the kernels or loads them from the cache.
        from vuskit.kernels.ranking import _numba as ranking
        from vuskit.kernels.sweep import _numba as sweeping

        _loaded.append(Kernels(ranking.point_levels, ranking.grid_levels, sweeping.sweep))
    return _loaded[0]


def _is_compiled_on_disk() -> bool:
    """Whether numba's cache contains every kernel of the current source."""
    from importlib import metadata

    try:
        version = metadata.version("numba").encode()
        return all(
            _is_stored(Path(__file__).parent / package / "_numba.py", name, version)
            for package, names in _ON_DISK.items()
            for name in names
        )
    except (metadata.PackageNotFoundError, OSError):
        return False


def _is_stored(source: Path, name: str, version: bytes) -> bool:
    """Whether numba's cache has a valid index file for a kernel.

    Index files begin with numba's version and a stamp of the source: its digest, or in older
    versions its modification time. They also name the processor, which only numba can read.
    """
    digest = hashlib.sha256(source.read_bytes()).digest()
    stamps = digest, struct.pack(">d", source.stat().st_mtime)
    python = f"py{sys.version_info[0]}{sys.version_info[1]}"
    for folder in _cache_folders(source):
        for path in folder.glob(f"_numba.{name}-*.{python}*.nbi"):
            index = path.read_bytes()
            if version in index[:64] and any(stamp in index for stamp in stamps):
                return True
    return False


def _cache_folders(source: Path) -> Iterator[Path]:
    """Yield the folders in which numba may have cached the functions of a file."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    if own is None:
        yield source.parent / "__pycache__"
        shared = [
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba",
            Path.home() / "Library" / "Caches" / "numba",
            Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "numba" / "Cache",
        ]
    else:
        shared = [Path(own)]
    for folder in shared:
        yield from folder.glob(f"{source.parent.name}_*")

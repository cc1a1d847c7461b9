"""Memory and threads of a worker process: measured, limited, watched."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

__all__ = [
    "OVER_MEMORY_EXIT",
    "die_with_parent",
    "limit_memory",
    "limit_threads",
    "peak_memory",
    "reset_peak_memory",
    "watch",
]

OVER_MEMORY_EXIT = 75
"""Exit code of a worker that its own watch stopped for taking too much memory."""

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_WATCH_SECONDS = 0.2
_RESET_PEAK = "5"  # what clear_refs wants to hear
_PR_SET_PDEATHSIG = 1


def reset_peak_memory() -> None:
    """Start measuring the peak anew, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)
    except OSError:
        return


def peak_memory() -> int | None:
    """Highest resident memory in bytes since the reset (since the start, where it cannot reset).

    Examples
    --------
    >>> peak_memory() > 1_000_000
    True
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return _peak_of_life()
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return _peak_of_life()


def _peak_of_life() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def limit_memory(limit: int | None) -> None:
    """Let allocations beyond the limit fail with MemoryError.

    RLIMIT_DATA counts what the process can write to. RLIMIT_AS would count reserved addresses
    too, of which torch and numba take a gigabyte that they never touch.
    """
    if limit is None:
        return
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


def limit_threads(threads: int) -> None:
    """Limit the threads of every numerical library, loaded already or later."""
    for variable in _THREAD_VARIABLES:
        os.environ[variable] = str(threads)
    _limit_loaded_libraries(threads)


def _limit_loaded_libraries(threads: int) -> None:
    try:
        import threadpoolctl  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        pass
    else:
        threadpoolctl.threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    if "numba" in sys.modules:
        numba: Any = sys.modules["numba"]
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def die_with_parent() -> None:
    """Ask the system to end this process with its parent, also while it is in compiled code."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def watch(parent: int, limit: int | None) -> None:
    """End this process from a thread when its parent is gone or its memory over the limit.

    The second net: for systems where `die_with_parent` or `limit_memory` do nothing, and for
    memory that RLIMIT_DATA does not count, such as shared maps.
    """
    threading.Thread(target=_watch, args=(parent, limit), daemon=True).start()


def _watch(parent: int, limit: int | None) -> None:
    while True:
        if os.getppid() != parent:
            os._exit(1)
        if limit is not None and _resident() > limit:
            os._exit(OVER_MEMORY_EXIT)
        time.sleep(_WATCH_SECONDS)


def _resident() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")

"""Available memory of this process, without third-party packages."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Return the number of bytes that this process can allocate; ``sys.maxsize`` if unknown.

    This is the minimum of the machine's free memory, the remaining quota of the process's control
    group, and its resource limits.
    """
    return max(min([sys.maxsize, *_left_on_machine(), *_left_in_groups(), *_left_by_limits()]), 0)


def _left_on_machine() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (_PROC / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * 1024
                return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _left_in_groups() -> Iterator[int]:
    """Yield the remaining memory of the control group and its parents."""
    with contextlib.suppress(OSError, ValueError):
        for line in (_PROC / "self" / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                yield from _left_in_tree(
                    _CGROUPS, path, "memory.max", "memory.current", "inactive_file"
                )
            elif "memory" in controllers.split(","):
                names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
                yield from _left_in_tree(_CGROUPS / "memory", path, *names)


def _left_in_tree(root: Path, path: str, limit: str, usage: str, cache: str) -> Iterator[int]:
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        with contextlib.suppress(OSError, ValueError):  # "max" means no limit
            allowed = int((folder / limit).read_text())
            used = int((folder / usage).read_text())
            yield allowed - used + _reclaimable(folder / "memory.stat", cache)
        if folder == root:
            return


def _reclaimable(path: Path, name: str) -> int:
    """Return the size of cached files, which the system can reclaim."""
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0


def _left_by_limits() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = (_PROC / "self" / "statm").read_text().split()
        for kind, place in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
            allowed, _ = resource.getrlimit(kind)
            if allowed != resource.RLIM_INFINITY:
                yield allowed - int(pages[place]) * resource.getpagesize()

"""When the compiled twins of the kernels are used, and their loading.

Compiling takes seconds, so a call only waits for it when its own work in NumPy would take longer.
Once compiled (``warm_up`` does it on purpose), every series large enough to repay a call uses them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vuskit._util.optional import is_installed, require

__all__ = ["LANE", "MOST_WIDTHS", "Kernels", "compiled_kernels", "warm_up"]

MOST_WIDTHS = 128  # that one compiled sweep takes
LANE = 8  # widths that the processor works on together
_START_UP = 1.2e9  # steps of the NumPy sweep done in the time that importing and compiling takes
_WORTH_A_CALL = 4e3  # steps below which NumPy is as fast


@dataclass(frozen=True)
class Kernels:
    """The compiled functions; see ``ranking._numba`` and ``sweep._numba``."""

    point_levels: Callable[..., Any]
    grid_levels: Callable[..., Any]
    sweep: Callable[..., Any]


_loaded: list[Kernels] = []


def compiled_kernels(steps: int) -> Kernels | None:
    """The compiled kernels if they pay for so many (widths x points) steps, else None."""
    if os.environ.get("VUSKIT_NUMBA") == "0" or steps < _WORTH_A_CALL:
        return None
    if not _loaded and (steps < _START_UP or not is_installed("numba")):
        return None
    return _load()


def warm_up() -> None:
    """Compile the kernels now, so that later calls use them at once.

    Worth a call before many evaluations. Needs numba.

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
    _load()


def _load() -> Kernels:
    if not _loaded:
        # Their types are declared, so that importing compiles them or finds them compiled.
        from vuskit.kernels.ranking import _numba as ranking
        from vuskit.kernels.sweep import _numba as sweeping

        _loaded.append(Kernels(ranking.point_levels, ranking.grid_levels, sweeping.sweep))
    return _loaded[0]

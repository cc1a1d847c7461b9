"""When the compiled twin of the exact sweep is used, and its loading.

Compiling takes seconds, so a call only waits for it when its own work in NumPy would take longer.
Once compiled (``warm_up`` does it on purpose), every sweep large enough to repay a call uses it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

from vuskit.errors import MissingDependencyError

__all__ = ["compiled_sweep", "warm_up"]

_START_UP = 6e8  # steps of the NumPy sweep done in the time that importing and compiling takes
_WORTH_A_CALL = 4e3  # steps below which NumPy is as fast

_loaded: dict[str, Callable[..., Any]] = {}


def compiled_sweep(steps: int) -> Callable[..., Any] | None:
    """The compiled sweep if it pays for a sweep of that many (widths x points) steps, else None."""
    if os.environ.get("VUSKIT_NUMBA") == "0" or steps < _WORTH_A_CALL:
        return None
    if not _loaded and (steps < _START_UP or importlib.util.find_spec("numba") is None):
        return None
    return _load()


def warm_up() -> None:
    """Compile the exact sweep now, so that later calls use it at once.

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
    if importlib.util.find_spec("numba") is None:
        raise MissingDependencyError(
            'numba is not installed; it comes with: pip install "vuskit[fast]"'
        )
    _load()


def _load() -> Callable[..., Any]:
    if not _loaded:
        from vuskit.kernels import sweep_numba

        _loaded["sweep"] = sweep_numba.compile_sweep()
    return _loaded["sweep"]

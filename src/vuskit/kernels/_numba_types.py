"""Types and decorator for compiled kernels.

Argument types are declared, so kernels are compiled (or loaded from the cache) on import, not on
the first call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

__all__ = ["FLAG", "FLOAT", "FLOATS", "INT", "INTS", "TABLE", "jit"]

Function = TypeVar("Function", bound=Callable[..., Any])

_numba: Any = numba  # numba's type hints are incomplete


def _read_only(*shape: int, dtype: Any) -> Any:
    """Return the type of read-only arrays; writable arrays are accepted too."""
    array = np.zeros(shape, dtype=dtype)
    array.flags.writeable = False
    return _numba.typeof(array)


INT, FLOAT, FLAG = numba.intp, numba.float64, numba.boolean
INTS = _read_only(1, dtype=np.intp)
FLOATS = _read_only(1, dtype=np.float64)
TABLE = _read_only(1, 1, dtype=np.float64)


def jit(*arguments: Any, inline: str = "never") -> Callable[[Function], Function]:
    """Compile for these argument types; without types, for those of the callers."""
    signature = (arguments,) if arguments else ()
    decorate: Callable[[Function], Function] = _numba.njit(
        *signature, inline=inline, cache=True, error_model="numpy", boundscheck=False
    )
    return decorate

"""How the kernels are compiled: for one type of each argument, declared beforehand.

Importing a kernel compiles it, or loads what an earlier import compiled; no call ever does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

__all__ = ["FLAG", "FLOAT", "FLOATS", "INT", "INTS", "TABLE", "jit"]

Function = TypeVar("Function", bound=Callable[..., Any])

_numba: Any = numba  # its own type hints leave out what is used here


def _read_only(*shape: int, dtype: Any) -> Any:
    """Type of arrays that are only read; writable ones are taken as well."""
    array = np.zeros(shape, dtype=dtype)
    array.flags.writeable = False
    return _numba.typeof(array)


INT, FLOAT, FLAG = numba.intp, numba.float64, numba.boolean
INTS = _read_only(1, dtype=np.intp)
FLOATS = _read_only(1, dtype=np.float64)
TABLE = _read_only(1, 1, dtype=np.float64)


def jit(*arguments: Any, inline: str = "never") -> Callable[[Function], Function]:
    """Compile for these types of arguments; where none are given, for those of its callers."""
    signature = (arguments,) if arguments else ()
    decorate: Callable[[Function], Function] = _numba.njit(
        *signature, inline=inline, cache=True, error_model="numpy", boundscheck=False
    )
    return decorate

"""Work arrays that are kept from call to call.

Memory fresh from the operating system is filled page by page on first touch, which takes longer
than the sums made in it. Each thread keeps a few small arrays instead. Nothing is ever read from
them that the same call has not written.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["scratch"]

_LARGEST = 1 << 20  # bytes kept under one name, of which the system gives what is touched

_kept = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of undefined content, valid until the thread asks for the same name again."""
    kept: dict[str, tuple[NDArray[Any], DTypeLike, NDArray[np.uint8]]] = _kept.__dict__
    last = kept.get(name)
    if last is not None and last[0].shape == shape and last[1] is dtype:
        return last[0]
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    if size > _LARGEST:
        return np.empty(shape, dtype=kind)
    memory = np.empty(_LARGEST, dtype=np.uint8) if last is None else last[2]
    array = memory[:size].view(kind).reshape(shape)
    kept[name] = array, dtype, memory
    return array

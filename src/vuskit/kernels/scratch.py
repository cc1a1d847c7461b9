"""Work arrays that are kept from call to call.

Memory fresh from the operating system is filled page by page on first touch, which takes longer
than the sums made in it. Each thread keeps a few small arrays instead. Nothing is ever read from
them that the same call has not written.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["scratch"]

_LARGEST = 1 << 18  # bytes kept under one name

_kept = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of undefined content, valid until the thread asks for the same name again."""
    kind = np.dtype(dtype)
    size = kind.itemsize
    for length in shape:
        size *= length
    if size > _LARGEST:
        return np.empty(shape, dtype=kind)
    kept: dict[str, NDArray[np.uint8]] = _kept.__dict__
    if name not in kept:
        kept[name] = np.empty(_LARGEST, dtype=np.uint8)
    return kept[name][:size].view(kind).reshape(shape)

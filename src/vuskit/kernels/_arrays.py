"""Work arrays that are kept from call to call, and products that stay on the calling thread.

Memory fresh from the operating system is filled page by page on first touch, which takes longer
than the sums made in it. Each thread keeps a few small arrays instead. Nothing is ever read from
them that the same call has not written.

BLAS libraries spread larger products over threads. Waking those costs more than the products of
this package and stalls when other processes hold the cores (a benchmark runner's do), so products
are made in pieces below the size at which OpenBLAS begins to share the work.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["LANE", "product", "row_dots", "running_sums", "scratch", "whole_lanes"]

Floats = NDArray[np.float64]

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


LANE = 16  # columns summed by one product with a triangle of ones

_ALONE = 1 << 18  # multiplications in one call
_ROWS = 8  # at least in one call, where columns can be fewer
_TRIANGLE = np.triu(np.ones((LANE, LANE)))
_TOTAL = np.ones((LANE, 2))  # two columns: a single one would be a slower kind of product


def product(left: Floats, right: Floats, out: Floats | None = None) -> Floats:
    """``left @ right``."""
    rows, inner = left.shape
    columns = right.shape[1]
    if out is None:
        out = np.empty((rows, columns))
    height = min(rows, max(_ALONE // (inner * columns), _ROWS))
    width = max(1, min(columns, _ALONE // (inner * height)))
    for top in range(0, rows, height):
        for start in range(0, columns, width):
            piece = np.s_[top : top + height, start : start + width]
            np.matmul(left[top : top + height], right[:, start : start + width], out=out[piece])
    return out


def row_dots(matrix: Floats, vector: NDArray[Any]) -> Floats:
    """``matrix @ vector``, a row at a time."""
    dots: Floats = np.vecdot(matrix, vector)
    return dots


def whole_lanes(size: int) -> int:
    """The number of columns, filled up to whole lanes."""
    return size + -size % LANE


def running_sums(terms: Floats, carry: Floats, out: Floats | None = None) -> Floats:
    """Cumulative sums along whole lanes of columns, from ``carry`` on; ``terms`` is overwritten.

    ``np.cumsum`` waits for every addition; products with a triangle of ones do not.
    """
    size, length = terms.shape
    lanes = terms.reshape(size, -1, LANE)
    totals = product(terms.reshape(-1, LANE), _TOTAL)[:, 0].reshape(size, -1)
    totals[:, 0] += carry
    totals.cumsum(axis=1, out=totals)
    lanes[:, 0, 0] += carry
    lanes[:, 1:, 0] += totals[:, :-1]
    if out is not None:
        out = out.reshape(-1, LANE)
    return product(terms.reshape(-1, LANE), _TRIANGLE, out).reshape(size, length)

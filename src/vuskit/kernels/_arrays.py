"""Reusable work arrays, and single-threaded matrix products.

New memory from the operating system is mapped page by page on first access, which takes longer than
the computations in it. Each thread therefore reuses a few small arrays. A call never reads values
that it has not written itself.

BLAS libraries use threads for larger products. Waking the threads costs more than the products of
this package, and stalls if other processes occupy the cores. Products are therefore split into
pieces below the size at which OpenBLAS uses threads.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["LANE", "product", "row_dots", "running_sums", "scratch", "whole_lanes"]

Floats = NDArray[np.float64]

_LARGEST = 1 << 20  # bytes reserved per name; the system maps only pages in use

_kept = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an uninitialized array, valid until this thread requests the same name again."""
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

_ALONE = 1 << 18  # maximum number of multiplications in one call
_ROWS = 8  # minimum number of rows in one call
_TRIANGLE = np.triu(np.ones((LANE, LANE)))
_TOTAL = np.ones((LANE, 2))  # two columns, because products with a vector are slower


def product(left: Floats, right: Floats, out: Floats | None = None) -> Floats:
    """Return ``left @ right`` without BLAS threads."""
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
    """Return ``matrix @ vector``, computed row by row."""
    dots: Floats = np.vecdot(matrix, vector)
    return dots


def whole_lanes(size: int) -> int:
    """Round a number of columns up to a multiple of ``LANE``."""
    return size + -size % LANE


def running_sums(terms: Floats, carry: Floats, out: Floats | None = None) -> Floats:
    """Return cumulative sums along whole lanes, starting at ``carry``; overwrites ``terms``.

    Products with a triangle of ones are faster than ``np.cumsum``, whose additions depend on each
    other.
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

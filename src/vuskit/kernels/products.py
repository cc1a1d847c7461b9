"""Matrix products that stay on the calling thread.

BLAS libraries spread larger products over threads. Waking those costs more than the products of
this package and stalls when other processes hold the cores (a benchmark runner's do), so products
are made in pieces below the size at which OpenBLAS begins to share the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["product", "row_dots"]

Floats = NDArray[np.float64]

_ALONE = 1 << 18  # multiplications in one call


def product(left: Floats, right: Floats) -> Floats:
    """``left @ right``."""
    rows, inner = left.shape
    columns = right.shape[1]
    if rows * inner * columns <= _ALONE:
        result: Floats = left @ right
        return result
    result = np.empty((rows, columns))
    height = max(1, min(rows, _ALONE // (inner * min(columns, 64))))
    width = max(1, _ALONE // (inner * height))
    for top in range(0, rows, height):
        for start in range(0, columns, width):
            piece = np.s_[top : top + height, start : start + width]
            np.matmul(left[top : top + height], right[:, start : start + width], out=result[piece])
    return result


def row_dots(matrix: Floats, vector: NDArray[Any]) -> Floats:
    """``matrix @ vector``, a row at a time."""
    dots: Floats = np.vecdot(matrix, vector)
    return dots

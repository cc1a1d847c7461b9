"""Lines reduced to the screen: the lowest and highest value under each pixel."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError

MOST_PIXELS = 8_192

Floats = NDArray[np.float64]


def envelope(line: Floats, start: int, stop: int, pixels: int) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value under each pixel.

    Pixel ``p`` covers the points from ``start + p * size // pixels`` (included) to
    ``start + (p + 1) * size // pixels`` (excluded), where ``size = stop - start``. NaN is ignored;
    a pixel with only NaN is NaN.
    """
    edges = start + np.arange(pixels, dtype=np.int64) * (stop - start) // pixels
    part = line[:stop]
    return np.fmin.reduceat(part, edges), np.fmax.reduceat(part, edges)


def line_data(line: Floats, start: int, stop: int, pixels: int) -> dict[str, Any]:
    """Return a part of a line for a page: all points, or an envelope if there are too many."""
    if not 0 <= start < stop <= line.size:
        raise InvalidInputError(
            f"`start` and `stop` must be a range within 0 to {line.size}, got {start} to {stop}"
        )
    if not 1 <= pixels <= MOST_PIXELS:
        raise InvalidInputError(f"`pixels` must be from 1 to {MOST_PIXELS}, got {pixels}")
    known = np.isfinite(line)
    if not known.any():
        return {"range": None}
    low, high = float(np.fmin.reduce(line)), float(np.fmax.reduce(line))
    # Relative to the lowest value, single precision is enough even for large numbers.
    found: dict[str, Any] = {"range": [low, high], "base": low}
    if stop - start <= 2 * pixels:
        return {**found, "points": _packed(line[start:stop] - low)}
    lowest, highest = envelope(line, start, stop, pixels)
    return {**found, "low": _packed(lowest - low), "high": _packed(highest - low)}


def _packed(numbers: Floats) -> str:
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")

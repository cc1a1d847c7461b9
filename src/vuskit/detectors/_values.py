"""Read a series as a read-only array of shape (n, d), and treat missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.gaps import bridge_gaps
from vuskit.errors import InvalidInputError

__all__ = ["IMPUTERS", "KEEP", "read_values"]

Floats: TypeAlias = NDArray[np.float64]

KEEP = "keep"  # pass NaN through, for detectors that handle it


def read_values(argument: str, series: Any, *, impute: str | None = None) -> Floats:
    """Convert a series to a read-only array of shape (n, d).

    Examples
    --------
    >>> read_values("series", [1, 2, 3]).shape
    (3, 1)
    >>> read_values("series", [1.0, float("nan"), 3.0])
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `series` must be finite, got nan at index 1;
    impute="linear" or "previous" fills missing values
    """
    values = _as_matrix(argument, series)
    missing = np.isnan(values)
    if impute == KEEP:
        missing = np.zeros_like(missing)
    elif missing.any() and impute is not None:
        values = np.column_stack([_fill(argument, channel, impute) for channel in values.T])
        missing = np.isnan(values)
    bad = missing | np.isinf(values)
    if bad.any():
        row, channel = (int(i) for i in np.argwhere(bad)[0])
        place = f"index {row}" + (f", channel {channel}" if values.shape[1] > 1 else "")
        hint = '; impute="linear" or "previous" fills missing values' if missing.any() else ""
        raise InvalidInputError(
            f"`{argument}` must be finite, got {values[row, channel]} at {place}{hint}"
        )
    view = values.view()
    view.flags.writeable = False
    return view


def _as_matrix(argument: str, series: Any) -> Floats:
    held = getattr(series, "values", series)
    raw = np.asarray(series if callable(held) else held)
    if raw.dtype.kind not in "biuf" and raw.dtype != object:
        raise InvalidInputError(f"`{argument}` must be real numbers, got {raw.dtype}")
    try:
        values = raw.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`{argument}` must be real numbers, got {error}") from None
    if values.ndim not in (1, 2) or values.size == 0:
        raise InvalidInputError(
            f"`{argument}` must be of shape (n,) or (n, d) and not empty, got shape {values.shape}"
        )
    return values[:, None] if values.ndim == 1 else values


def _fill(argument: str, channel: Floats, impute: str) -> Floats:
    known = np.flatnonzero(~np.isnan(channel))
    if known.size == 0:
        raise InvalidInputError(
            f"`{argument}` must have a known value per channel, got only nan; drop the channel"
        )
    return IMPUTERS[impute](channel, known)


def _linear(channel: Floats, known: NDArray[np.intp]) -> Floats:
    return bridge_gaps(channel)


def _previous(channel: Floats, known: NDArray[np.intp]) -> Floats:
    latest = np.searchsorted(known, np.arange(len(channel)), side="right") - 1
    return channel[known[np.maximum(latest, 0)]]


IMPUTERS: dict[str, Callable[[Floats, NDArray[np.intp]], Floats]] = {
    "linear": _linear,
    "previous": _previous,
}

"""Convert one score per window into one score per point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int, check_numbers

__all__ = ["ANCHORS", "FilledEnds", "align_scores", "fill_missing_ends"]

ANCHORS = ("center", "start", "end")


def align_scores(score: ArrayLike, n: int, *, window: int, at: str = "center") -> NDArray[Any]:
    """Return one score per point from one score per window.

    Windows of `window` points move by one point, so a series of n points has n - window + 1
    windows. Points at the ends that have no score get the nearest score.

    Parameters
    ----------
    score : array-like of shape (n - window + 1,)
        Scores of the windows, in time order.
    n : int
        Number of points in the series.
    window : int
        Number of points in a window. For a forecast of the next point from w points, use
        ``window=w + 1`` and ``at="end"``.
    at : {"center", "start", "end"}, default="center"
        Point of the window that receives the score. In windows of even length, the center is the
        first point of the second half, as in TSB-UAD and TSB-AD.

    Returns
    -------
    ndarray of shape (n,)
        Scores of the points, with the dtype of `score`.

    Raises
    ------
    InvalidInputError
        If the number of scores does not match. The error names the window that would match.

    Examples
    --------
    >>> import vuskit
    >>> vuskit.align_scores([0.1, 0.9, 0.2], 5, window=3)
    array([0.1, 0.1, 0.9, 0.2, 0.2])
    >>> vuskit.align_scores([0.1, 0.9, 0.2], 5, window=3, at="end")
    array([0.1, 0.1, 0.1, 0.9, 0.2])
    """
    numbers = check_numbers("score", score)
    points = check_int("n", n, minimum=1)
    length = check_int("window", window, minimum=1)
    check_choice("at", at, ANCHORS)
    if numbers.size != points - length + 1:
        raise InvalidInputError(
            f"`score` must have n - window + 1 = {points - length + 1} entries, got "
            f"{numbers.size}{_fitting_window(numbers.size, points, length)}"
        )
    before = {"center": length // 2, "start": 0, "end": length - 1}[at]
    return np.pad(numbers, (before, length - 1 - before), mode="edge")


def _fitting_window(n_scores: int, n: int, window: int) -> str:
    if n_scores == n:
        return "; there is a score for every point, so no alignment is needed"
    if n_scores > n:
        return "; there are more scores than points"
    return f"; {n - n_scores} fewer scores than points fit `window={n - n_scores + 1}`"


class FilledEnds(NamedTuple):
    """Scores with filled ends, and the number of filled values at each end."""

    scores: NDArray[np.float64]
    leading: int
    trailing: int


def fill_missing_ends(scores: NDArray[np.float64]) -> FilledEnds:
    """Replace leading and trailing NaN by the nearest score; keep NaN between scores.

    Examples
    --------
    >>> fill_missing_ends(np.array([np.nan, np.nan, 0.5, np.nan, 0.7, np.nan]))
    FilledEnds(scores=array([0.5, 0.5, 0.5, nan, 0.7, 0.7]), leading=2, trailing=1)
    """
    known = np.flatnonzero(~np.isnan(scores))
    if known.size == 0 or (known[0] == 0 and known[-1] == scores.size - 1):
        return FilledEnds(scores, 0, 0)
    first, last = int(known[0]), int(known[-1])
    filled = scores.copy()
    filled[:first] = scores[first]
    filled[last + 1 :] = scores[last]
    return FilledEnds(filled, first, scores.size - 1 - last)

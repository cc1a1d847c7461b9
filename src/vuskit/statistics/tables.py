"""Tables of results: missing cells, rounding and ranks. Rows are series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.float64]

_FEWEST_ROWS = 2
_DIGITS = 12
_MOST_DECIMALS = 290  # larger powers of ten overflow


def without_noise(values: Values, *, alone: bool = False) -> Values:
    """Round a table so that values which differ only by rounding errors are tied.

    Values keep twelve significant digits. For values below the scale of the table, the digits are
    counted from that scale, so that rounding errors around zero become zero. The scale is the
    median of the largest absolute values of the rows; ``alone`` scales each row by its own.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    largest = sizes.max(axis=1, initial=0.0, keepdims=True)
    scale: Any = np.where(largest > 0, largest, 1.0)
    if not alone and largest.any():
        # The median ignores rows that are zero or far larger than the others.
        scale = np.quantile(largest[largest > 0], 0.5, method="lower")
    magnitude = np.floor(np.log10(np.maximum(sizes, scale)))
    factor = 10.0 ** np.minimum(_DIGITS - 1 - magnitude, _MOST_DECIMALS)
    rounded: Values = np.rint(values * factor) / factor + 0.0  # turns -0.0 into 0.0
    return rounded


def _as_table(table: ArrayLike | pd.DataFrame) -> pd.DataFrame:
    pandas = require("pandas", purpose="a comparison")
    frame = pandas.DataFrame(table)
    try:
        frame = frame.astype(float)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"`table` must hold numbers only, got {error}") from None
    if frame.shape[1] < 2:
        raise InvalidInputError(f"`table` must have at least 2 columns, got {frame.shape[1]}")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInputError(f"`table` must name each column once, got {twice!r} twice")
    if np.isinf(frame.to_numpy()).any():
        raise InvalidInputError(
            "`table` must be finite or missing, got an infinite cell; replace it by NaN"
        )
    rounded = without_noise(frame.to_numpy())
    checked: pd.DataFrame = pandas.DataFrame(rounded, frame.index, frame.columns)
    return checked


def _drop(frame: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    return frame.dropna()


def _rank_last(frame: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    # Worse than every value of the row, so that missing cells come last and tie.
    extreme = frame.min(axis=1) - 1 if higher_is_better else frame.max(axis=1) + 1
    return frame.T.fillna(extreme).T.dropna()


def _refuse(frame: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    missing = frame.isna().to_numpy()
    if missing.any():
        row, column = (int(axis[0]) for axis in np.nonzero(missing))
        raise InvalidInputError(
            f"`table` must have no missing cell, got one in row {frame.index[row]!r}, "
            f"column {frame.columns[column]!r}; use missing='drop' or missing='worst'"
        )
    return frame


_MISSING: Mapping[str, Callable[[pd.DataFrame, bool], pd.DataFrame]] = {
    "drop": _drop,
    "worst": _rank_last,
    "raise": _refuse,
}


def complete_rows(
    table: ArrayLike | pd.DataFrame, *, missing: str = "drop", higher_is_better: bool = True
) -> tuple[pd.DataFrame, int]:
    """Return the table without missing cells, and the number of dropped rows.

    Cells are rounded to twelve significant digits, so that rounding errors do not break ties.

    See Also
    --------
    without_noise : Details of the rounding.

    Examples
    --------
    >>> frame, dropped = complete_rows([[1.0, 2.0], [3.0, float("nan")], [5.0, 4.0]])
    >>> frame.shape, dropped
    ((2, 2), 1)
    """
    frame = _as_table(table)
    policy = _MISSING[check_choice("missing", missing, _MISSING)]
    complete = policy(frame, higher_is_better)
    if len(complete) < _FEWEST_ROWS:
        raise InvalidInputError(
            f"`table` must have at least {_FEWEST_ROWS} rows without a missing cell, "
            f"got {len(complete)} of {len(frame)}{_values_per_column(frame)}"
        )
    return complete, len(frame) - len(complete)


def _values_per_column(frame: pd.DataFrame) -> str:
    counts = frame.notna().sum()
    if counts.eq(len(frame)).all():
        return ""
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return f"; values per column: {listed}. Leave out a column, or use missing='worst'"


def row_ranks(complete: pd.DataFrame, higher_is_better: bool) -> pd.DataFrame:
    """Rank of each cell within its row; 1 is best, and ties get their mean rank."""
    return complete.rank(axis=1, ascending=not higher_is_better)


def mean_ranks(
    table: ArrayLike | pd.DataFrame, *, higher_is_better: bool = True, missing: str = "drop"
) -> pd.Series:
    """Mean rank of each column over the rows; 1 is best, and ties get their mean rank.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`.

    Examples
    --------
    >>> mean_ranks([[0.9, 0.5, 0.1], [0.8, 0.8, 0.2]]).to_list()
    [1.25, 1.75, 3.0]
    """
    complete, _ = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    ranks: pd.Series = row_ranks(complete, higher_is_better).mean()
    return ranks

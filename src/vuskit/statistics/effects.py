"""Effect sizes of the differences between columns."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.statistics.tables import complete_rows, without_noise

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


def effect_sizes(
    table: ArrayLike | pd.DataFrame, *, missing: str = "drop", higher_is_better: bool = True
) -> pd.DataFrame:
    """Return the effect sizes of all pairs of columns; positive if the first column is higher.

    Returns
    -------
    pandas.DataFrame
        One row for each pair. ``difference``: difference of the means. ``rank_biserial``:
        matched-pairs rank-biserial correlation, the effect size of Wilcoxon's test.
        ``cliffs_delta``: how much more often a value of the first column is higher than one of the
        second. ``cohens_d``: difference of the means in pooled standard deviations; NaN if nothing
        varies. ``wins``, ``ties``, ``losses``: rows in which the first column is better, equal or
        worse.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`.

    Examples
    --------
    >>> effect_sizes([[0.9, 0.5], [0.8, 0.6], [0.7, 0.4]]).round(3).iloc[0].to_list()
    [0.0, 1.0, 0.3, 1.0, 1.0, 3.0, 3.0, 0.0, 0.0]
    """
    complete, _ = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    pandas = require("pandas", purpose="effect sizes")
    sign = 1.0 if higher_is_better else -1.0
    rows = [
        {"first": a, "second": b, **_effects(complete[a].to_numpy(), complete[b].to_numpy(), sign)}
        for a, b in combinations(complete.columns, 2)
    ]
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def _effects(first: Floats, second: Floats, sign: float) -> dict[str, float]:
    pooled = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    difference = float(first.mean() - second.mean())
    moved = without_noise((first - second)[None])[0]
    wins = int((sign * moved > 0).sum())
    ties = int((moved == 0).sum())
    return {
        "difference": difference,
        "rank_biserial": _rank_biserial(moved),
        "cliffs_delta": _cliffs_delta(first, second),
        "cohens_d": difference / float(pooled) if pooled > 0 else float("nan"),
        "wins": wins,
        "ties": ties,
        "losses": len(moved) - wins - ties,
    }


def _rank_biserial(differences: Floats) -> float:
    stats = require("scipy.stats", purpose="effect sizes")
    moved = differences[differences != 0]
    if moved.size == 0:
        return 0.0
    ranks = stats.rankdata(np.abs(moved))
    return float(ranks[moved > 0].sum() - ranks[moved < 0].sum()) / float(ranks.sum())


def _cliffs_delta(first: Floats, second: Floats) -> float:
    ordered = np.sort(second)
    below = np.searchsorted(ordered, first, side="left").sum()
    above = (second.size - np.searchsorted(ordered, first, side="right")).sum()
    return float(below - above) / (first.size * second.size)

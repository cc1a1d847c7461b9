"""Bayesian signed-rank test with a region of practical equivalence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_int
from vuskit.statistics.tests import complete_rows

if TYPE_CHECKING:
    import pandas as pd

ROPE = 0.01
"""Half width of the region of practical equivalence, in units of the measure."""
_SAMPLES = 10_000
_BATCH = 1_000  # samples in memory at a time
_PRIOR = 0.5  # weight of the pseudo-observation of no difference


@dataclass(frozen=True, eq=False)
class BayesianTest:
    """Probabilities that one column is practically better than another, or that they are equal.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per pair: ``first``, ``second``, and the probabilities ``p_first``, ``p_equal`` and
        ``p_second`` that the first is better, that they are practically equal, and that the second
        is better.
    rope : float
        Differences up to it count as practically equal.
    n, n_dropped : int
        Rows used, and rows dropped because a cell is missing.
    n_samples, seed : int
        Samples of the posterior, and their seed.
    """

    frame: pd.DataFrame
    rope: float
    n: int
    n_dropped: int
    n_samples: int
    seed: int

    def to_frame(self) -> pd.DataFrame:
        """One row per pair with its three probabilities."""
        return self.frame.copy()

    def __str__(self) -> str:
        return (
            f"Bayesian signed-rank test: region of practical equivalence ±{self.rope:g}, "
            f"n = {self.n}, {self.n_samples:,} samples, seed {self.seed}"
        )


def bayesian_signed_rank_test(
    table: ArrayLike | pd.DataFrame,
    *,
    rope: float = ROPE,
    n_samples: int = _SAMPLES,
    seed: int = 0,
    missing: str = "drop",
    higher_is_better: bool = True,
) -> BayesianTest:
    """Compare all pairs of columns by the Bayesian signed-rank test of Benavoli et al. (2017).

    The rows' differences and one pseudo-observation of no difference, with weight 0.5, get random
    weights from a Dirichlet distribution. Each sample assigns the weight of all pairs of rows to
    three regions by the mean of their two differences: below, within and above the region of
    practical equivalence. A probability is the share of samples in which its region has the
    largest weight.

    Parameters
    ----------
    table, missing, higher_is_better
        As for :func:`complete_rows`.
    rope : float, default=0.01
        Differences up to it count as practically equal.
    n_samples, seed : int
        Samples of the posterior, and their seed.

    Raises
    ------
    InvalidInputError
        As for :func:`complete_rows`, or if a number is out of range.

    Examples
    --------
    >>> rows = [[0.9, 0.5], [0.8, 0.6], [0.7, 0.4], [0.9, 0.1], [0.6, 0.5], [0.8, 0.3]]
    >>> bayesian_signed_rank_test(rows).to_frame().iloc[0, 2:].round(2).to_list()
    [1.0, 0.0, 0.0]
    """
    if not 0 <= rope < float("inf"):
        raise InvalidInputError(f"`rope` must be a number >= 0, got {rope!r}")
    check_int("n_samples", n_samples, minimum=1)
    complete, dropped = complete_rows(table, missing=missing, higher_is_better=higher_is_better)
    n = len(complete)
    columns = complete.to_numpy().T if higher_is_better else -complete.to_numpy().T
    pairs = list(combinations(range(len(columns)), 2))
    differences = [np.append(columns[one] - columns[other], 0.0) for one, other in pairs]
    wins = np.zeros((len(pairs), 3))
    rng = np.random.default_rng(seed)
    for start in range(0, n_samples, _BATCH):
        size = min(_BATCH, n_samples - start)
        weights = rng.dirichlet([*[1.0] * n, _PRIOR], size=size).T.copy()
        for place, values in enumerate(differences):
            wins[place] += _largest_regions(values, weights, rope)
    pandas = require("pandas", purpose="a Bayesian test")
    names = complete.columns
    rows = [
        (names[one], names[other], *share)
        for (one, other), share in zip(pairs, wins / n_samples, strict=True)
    ]
    header = ["first", "second", "p_first", "p_equal", "p_second"]
    frame = pandas.DataFrame(rows, columns=header)
    return BayesianTest(frame, rope, n, dropped, n_samples, seed)


Floats = NDArray[np.float64]


def _largest_regions(differences: Floats, weights: Floats, rope: float) -> Floats:
    """Count the samples in which the first, equality and the second have the largest weight.

    With sorted differences, the partners of a row in a region form a prefix or suffix, and sums of
    prefixes of the weights give the region's weight without a loop over pairs of rows.
    """
    order = np.argsort(differences, kind="stable")
    z, weights = differences[order], weights[order]
    below = np.zeros((len(weights) + 1, weights.shape[1]))
    np.cumsum(weights, axis=0, out=below[1:])
    first = below[np.searchsorted(z, -2 * rope - z, side="left")]
    last = below[np.searchsorted(z, 2 * rope - z, side="right")]
    worse, others = (weights * first).sum(axis=0), (weights * last).sum(axis=0)
    regions = np.stack([1 - others, others - worse, worse])
    tied = np.isclose(regions, regions.max(axis=0), rtol=0, atol=1e-12)
    counts: Floats = (tied / tied.sum(axis=0)).sum(axis=1)
    return counts

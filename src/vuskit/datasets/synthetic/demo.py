"""A built-in series with three scores to show the measures on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.series import ScoredSeries, Series
from vuskit.datasets.synthetic.make import make_series

__all__ = ["three_scores"]

Floats = NDArray[np.float64]


def three_scores(seed: int = 0) -> ScoredSeries:
    """Make an electrocardiogram with ten premature beats, and score it three ways.

    ``good`` rises over each anomaly and is quiet elsewhere; ``late`` is the same score 60 points
    later, two thirds of an anomaly, so that point-wise measures punish it far more than range-aware
    ones; ``noisy`` sits in the right places under noise as high as itself.

    Parameters
    ----------
    seed : int, default=0
        Seed of series and scores.

    Returns
    -------
    ScoredSeries
        With the scores ``good``, ``late`` and ``noisy``, each in 0..1.

    Examples
    --------
    >>> scored = three_scores()
    >>> scored.series.n_points, scored.series.n_anomalies, scored.detectors
    (10000, 10, ('good', 'late', 'noisy'))
    """
    series = make_series("ecg", n=10_000, n_anomalies=10, difficulty="medium", seed=seed)
    rng = np.random.default_rng([seed, 1])
    response = _bumps(series)
    good = response + 0.05 * np.abs(rng.standard_normal(series.n_points))
    late = np.concatenate((good[-60:], good[:-60]))
    noisy = response + 0.5 * np.abs(rng.standard_normal(series.n_points))
    scores = {"good": good, "late": late, "noisy": noisy}
    return ScoredSeries(series, {name: score / score.max() for name, score in scores.items()})


def _bumps(series: Series) -> Floats:
    """Rise over each anomaly, a little wider than it is, as a detector with a window gives it."""
    time = np.arange(series.n_points)
    centres = [((start + stop - 1) / 2, stop - start) for start, stop in series.events]
    bumps = [np.exp(-0.5 * ((time - centre) / (0.4 * width)) ** 2) for centre, width in centres]
    return np.asarray(np.max(bumps, axis=0))

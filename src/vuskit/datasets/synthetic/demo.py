"""Built-in example series."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.series import ScoredSeries, Series
from vuskit.datasets.synthetic.make import make_series

__all__ = ["demo_series", "three_scores"]

Floats = NDArray[np.float64]


class _Entry(NamedTuple):
    """Specification of a demo series; all have the same length and number of anomalies."""

    family: str
    name: str
    kind: str
    difficulty: float
    anomaly_length: int | None = None


# Difficulties are chosen so that each detector misses some anomalies and finds others.
_SHORT = (
    _Entry("ecg", "tempo", "collective", 0.3),
    _Entry("kpi", "spikes", "point", 0.4, 6),
    _Entry("mackey_glass", "stitches", "native", 0.5),
    _Entry("telemetry", "levels", "native", 0.2, 100),
    _Entry("vibration", "impacts", "native", 0.4),
)
_LONG = (
    *_SHORT,
    _Entry("ecg", "early-beats", "native", 0.6),
    _Entry("kpi", "incidents", "native", 0.3, 120),
    _Entry("kpi", "phase", "contextual", 0.3, 150),
    _Entry("mackey_glass", "pace", "collective", 0.3),
    _Entry("telemetry", "glitches", "point", 0.3, 6),
    _Entry("vibration", "faint-impacts", "native", 0.85),
    _Entry("vibration", "knocks", "point", 0.3, 6),
)


def demo_series(seed: int = 0, *, short: bool = False) -> tuple[Series, ...]:
    """Generate the series of ``vuskit demo``: all families, several kinds of anomalies.

    Examples
    --------
    >>> series = demo_series()
    >>> len(series), series[0]
    (12, Series('ecg/tempo-seed0', 4,000 points, 1 channel, 6 anomalies))
    """
    n, n_anomalies = (1500, 3) if short else (4000, 6)
    made = []
    for entry in _SHORT if short else _LONG:
        series = make_series(
            entry.family,
            n=n,
            n_anomalies=n_anomalies,
            anomaly_length=entry.anomaly_length,
            kind=entry.kind,
            difficulty=entry.difficulty,
            seed=seed,
        )
        size = "-short" if short else ""
        made.append(replace(series, name=f"{entry.name}-seed{seed}{size}", dataset=entry.family))
    return tuple(made)


def three_scores(seed: int = 0) -> ScoredSeries:
    """Generate an electrocardiogram with ten premature beats and three scores.

    ``good`` is high at each anomaly and low elsewhere. ``late`` is the same score 60 points later,
    two thirds of an anomaly; point-wise measures penalize it far more than range-aware measures.
    ``noisy`` is high at the anomalies, with noise of similar height everywhere.

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
    """Return bumps slightly wider than the anomalies, like the scores of a windowed detector."""
    time = np.arange(series.n_points)
    centers = [((start + stop - 1) / 2, stop - start) for start, stop in series.events]
    bumps = [np.exp(-0.5 * ((time - center) / (0.4 * width)) ** 2) for center, width in centers]
    return np.asarray(np.max(bumps, axis=0))

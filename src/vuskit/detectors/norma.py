"""NormA: distance to a weighted set of normal patterns."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors._windows import NORMALIZERS, center_on_points, window_view
from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.detectors.mp import nearest_distances, require_stumpy
from vuskit.detectors.registry import register_detector
from vuskit.parameters import param, whole

__all__ = ["NormA"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@register_detector("norma", title="NormA", reference="doi:10.1007/s00778-021-00655-8")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class NormA(Windowed, ModelDetector):
    """NormA: windows that differ from the recurring patterns of the series are anomalous.

    Long subsequences are clustered by z-normalized distance. The centroid of each cluster is a
    normal pattern. Its weight grows with its frequency and with the part of the series it covers.
    The score of a window is the smoothed, weighted sum of its distances to the patterns.

    Parameters
    ----------
    model_length : int, default=3
        Length of the patterns, in windows.
    n_candidates : int, default=50
        Number of subsequences to cluster, per sample. The series is divided into this many parts of
        equal length, and one subsequence is drawn from each. A shorter series contributes all of
        its subsequences once; the seed then has no effect.
    max_patterns : int, default=30
        Maximum number of clusters per sample. The minimum description length determines the number.
    n_samples : int, default=10
        Number of samples, each with separate patterns. The score is the mean over the samples.

    Notes
    -----
    The publication selects candidates at random or by a self-join. Patterns and scores of a single
    sample depend on the seed, most of all if the series has no clear pattern. The mean over several
    samples depends on it less.

    References
    ----------
    P. Boniol, M. Linardi, F. Roncallo, T. Palpanas, M. Meftah and E. Remy, "Unsupervised and
    scalable subsequence anomaly detection in large data series", The VLDB Journal 30, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 0
    >>> 185 < int(NormA(window=16).fit_score(series).argmax()) < 225
    True
    """

    window: int | str = param("period", whole(3, word="period"))
    model_length: int = param(3, whole(1))
    n_candidates: int = param(50, whole(2))
    max_patterns: int = param(30, whole(1))
    n_samples: int = param(10, whole(1))
    multivariate: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        require_stumpy(self.name)
        length = min(self.model_length * self.window_, len(train) // 2)
        rng = np.random.default_rng(self.seed)
        everything = len(train) - length + 1 <= self.n_candidates
        models = []
        for _ in range(1 if everything else self.n_samples):
            starts, candidates = _sample(train, length, self.n_candidates, rng)
            labels = _cluster(candidates, self.max_patterns, n_independent=len(train) / length)
            models.append(_normal_model(candidates, starts, labels))
        self.patterns_ = np.concatenate([patterns for patterns, _ in models])
        self.weights_ = np.concatenate([weights for _, weights in models]) / len(models)

    def _score(self, values: Floats) -> Floats:
        series = values[:, 0].copy()
        total = np.zeros(len(series) - self.window_ + 1)
        for pattern, weight in zip(self.patterns_, self.weights_, strict=True):
            total += weight * nearest_distances(series, self.window_, pattern)
        return _moving_average(center_on_points(total, len(series)), self.window_)


def _sample(
    train: Floats, length: int, limit: int, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Return starts and z-normalized values of evenly spread subsequences, in time order."""
    view = window_view(train, length)
    count = min(limit, len(view))
    edges = np.linspace(0, len(view), count + 1).astype(np.int64)
    starts = rng.integers(edges[:-1], edges[1:])
    return starts, NORMALIZERS["zscore"](view[starts])[:, 0]


def _cluster(candidates: Floats, max_clusters: int, n_independent: float) -> Ints:
    """Return the cluster of each candidate, for the cut with the minimum description length."""
    hierarchy = require("scipy.cluster.hierarchy", purpose="detector `norma`")
    distance = require("scipy.spatial.distance", purpose="detector `norma`")
    # SciPy takes a square matrix of equal candidates for distances, so compute them here.
    tree = hierarchy.linkage(distance.pdist(candidates), method="complete")
    limit = min(max_clusters, len(candidates))
    cuts = [hierarchy.fcluster(tree, k, criterion="maxclust") for k in range(1, limit + 1)]
    lengths = [_description_length(candidates, labels, n_independent) for labels in cuts]
    best: Ints = cuts[int(np.argmin(lengths))]
    return best


def _description_length(candidates: Floats, labels: Ints, n_independent: float) -> float:
    """Bits to encode the centroids, each candidate's cluster, and its residual."""
    count, length = candidates.shape
    # Overlapping candidates share information: they determine a centroid no more precisely than
    # the non-overlapping subsequences of the series.
    precision = 0.5 * np.log2(max(2.0, min(n_independent, count)))
    bits = 0.0
    for label in np.unique(labels):
        members = candidates[labels == label]
        rest = members - members.mean(axis=0)
        # Values are encoded with a resolution of one hundredth of their standard deviation.
        spread = max(float(rest.std()), 1e-2)
        bits += len(members) * length * np.log2(spread / 1e-2)
        bits += precision * length
        bits += len(members) * np.log2(count / len(members))
    return bits


def _normal_model(candidates: Floats, starts: Ints, labels: Ints) -> tuple[Floats, Floats]:
    """Return centroids and weights: frequency^2 * coverage / distance to the other centroids."""
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    centroids = np.array([candidates[group].mean(axis=0) for group in groups])
    frequency = np.array([len(group) / len(candidates) for group in groups])
    coverage = np.array([np.ptp(starts[group]) for group in groups], dtype=np.float64)
    apart = np.linalg.norm(centroids[:, None] - centroids[None], axis=2).sum(axis=1)
    weights = frequency**2 * coverage / np.where(apart > 0, apart, 1.0)
    if weights.sum() == 0:
        weights = frequency
    return centroids, weights / weights.sum()


def _moving_average(scores: Floats, window: int) -> Floats:
    padded = np.pad(scores, (window // 2, window - 1 - window // 2), mode="edge")
    sums = np.cumsum(np.concatenate([[0.0], padded]))
    return np.asarray((sums[window:] - sums[:-window]) / window)

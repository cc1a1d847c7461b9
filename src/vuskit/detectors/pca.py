"""Principal components of windows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import iterate_windows
from vuskit.detectors.base import Progress, WindowModel
from vuskit.detectors.registry import register_detector
from vuskit.parameters import one_of, param

__all__ = ["PCA"]

Floats: TypeAlias = NDArray[np.float64]


def _mahalanobis(rows: Floats, components: Floats, shares: Floats) -> Floats:
    """Squared distance from the center along each component, in units of its variance."""
    return np.asarray(((rows @ components) ** 2 / shares).sum(axis=1))


def _from_components(rows: Floats, components: Floats, shares: Floats) -> Floats:
    """Sum of distances from each component's unit vector, divided by its variance, as in PyOD."""
    squares = (rows**2).sum(axis=1)[:, None] + 1 - 2 * rows @ components
    return np.asarray((np.sqrt(np.maximum(squares, 0)) / shares).sum(axis=1))


_DISTANCES: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "pyod": _from_components,
    "mahalanobis": _mahalanobis,
}


@register_detector("pca", title="PCA", reference="Shyu et al., ICDM Foundations Workshop 2003")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class PCA(WindowModel):
    """Principal components: windows far from the mean window are anomalous.

    Deviations along components of low variance count more. Each position in the window is
    standardized first, and all components are used.

    Parameters
    ----------
    distance : {"pyod", "mahalanobis"}, default="pyod"
        "pyod" sums the distances from the components' unit vectors, each divided by the variance
        of the component. This is close to the norm of the window; published scores use it.
        "mahalanobis" sums the squared coordinates along the components, divided by their variances.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 3
    >>> 190 < int(PCA(window=16).fit_score(series).argmax()) < 220
    True
    """

    distance: str = param("pyod", one_of(*_DISTANCES))
    stochastic: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        count = len(train) - self.window_ + 1
        chunks = (chunk for _, chunk in iterate_windows(train, self.window_, self.normalize))
        self._mean = sum(chunk.sum(axis=0) for chunk in chunks) / count
        scatter = np.zeros((self._mean.size, self._mean.size))
        for _, chunk in iterate_windows(train, self.window_, self.normalize):
            centered = chunk - self._mean
            scatter += centered.T @ centered
        spread = np.sqrt(np.diag(scatter) / count)
        # A constant position carries no information; ignore its rounding errors.
        still = spread <= 1e-12 * np.maximum(np.abs(self._mean), 1e-300)
        self._scale = np.where(still, 0.0, 1.0 / np.where(still, 1.0, spread))
        correlation = scatter * np.outer(self._scale, self._scale) / count
        variances, components = np.linalg.eigh(correlation)
        kept = variances > variances[-1] * len(variances) * np.finfo(float).eps
        self._components = components[:, kept]
        self._shares = variances[kept] / max(variances[kept].sum(), np.finfo(float).tiny)

    def _score_windows(self, windows: Floats) -> Floats:
        rows = (windows - self._mean) * self._scale
        return _DISTANCES[self.distance](rows, self._components, self._shares)

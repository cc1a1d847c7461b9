"""Matrix profile: distance of z-normalized windows to their nearest neighbor (stumpy)."""

from __future__ import annotations

import dataclasses
import warnings
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors._windows import center_on_points
from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.detectors.registry import register_detector
from vuskit.parameters import param, whole

__all__ = ["MP", "nearest_distances", "require_stumpy"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("mp", title="MP", reference="doi:10.1109/ICDM.2016.0179")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class MP(Windowed, ModelDetector):
    """Matrix profile: z-normalized windows far from their nearest neighbor are anomalous.

    The training series is joined with itself, excluding nearby windows. Another series is joined
    with the training series.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 0
    >>> 190 < int(MP(window=16).fit_score(series).argmax()) < 220
    True
    """

    window: int | str = param("period", whole(3, word="period"))
    multivariate: ClassVar[bool] = False
    stochastic: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        require_stumpy(self.name)
        self._store_train(train)

    def _score(self, values: Floats) -> Floats:
        reference = None if self._is_train(values) else self._train[:, 0].copy()
        distances = nearest_distances(values[:, 0].copy(), self.window_, reference)
        return center_on_points(distances, len(values))


def require_stumpy(name: str) -> None:
    """Raise an error with the install command if stumpy is missing."""
    require("stumpy", purpose=f"detector `{name}`")


def nearest_distances(series: Floats, window: int, reference: Floats | None = None) -> Floats:
    """Return the distance of each z-normalized window to the nearest window of the reference."""
    stumpy = require("stumpy", purpose="matrix profiles")
    with warnings.catch_warnings():
        # Repeated windows have distance zero; stumpy then warns of an unintended self-join.
        warnings.filterwarnings("ignore", message="A large number of values", category=UserWarning)
        if reference is None:
            profile = stumpy.stump(series, window)
        else:
            profile = stumpy.stump(series, window, reference, ignore_trivial=False)
    return np.asarray(profile[:, 0].astype(np.float64))

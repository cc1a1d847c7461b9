"""Matrix profile."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors.base import ModelDetector, Progress, Windowed
from vuskit.detectors.parameters import parameter, window_length
from vuskit.detectors.profile import nearest_distances, require_stumpy
from vuskit.detectors.registry import register_detector
from vuskit.detectors.windows import centre_on_points

__all__ = ["MP"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("mp", title="MP", reference="doi:10.1109/ICDM.2016.0179")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class MP(Windowed, ModelDetector):
    """Windows far from their nearest neighbour, after z-normalisation, are anomalous.

    A series that was fitted is joined with itself, without the windows that overlap; another
    series is joined with the fitted one.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 0
    >>> 190 < int(MP(window=16).fit_score(series).argmax()) < 220
    True
    """

    window: int | str = parameter("period", window_length(3))
    multivariate: ClassVar[bool] = False
    stochastic: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        require_stumpy(self.name)
        self._remember(train)

    def _score(self, values: Floats) -> Floats:
        reference = None if self._remembers(values) else self._train[:, 0].copy()
        distances = nearest_distances(values[:, 0].copy(), self.window_, reference)
        return centre_on_points(distances, len(values))

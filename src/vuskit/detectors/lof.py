"""Local outlier factor on windows."""

from __future__ import annotations

import dataclasses
import warnings
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors.base import Progress, WindowModel
from vuskit.detectors.registry import register_detector
from vuskit.parameters import param, whole

__all__ = ["LOF"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("lof", title="LOF", reference="doi:10.1145/335191.335388")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class LOF(WindowModel):
    """Local outlier factor: windows with a lower density than their neighbors are anomalous.

    Windows of the training series are compared with the other training windows. Windows of
    another series are compared with all training windows. Time is quadratic in the number of
    windows; memory is not.

    Parameters
    ----------
    n_neighbors : int, default=20
        Number of neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 0
    >>> 190 < int(LOF(window=16).fit_score(series).argmax()) < 220
    True
    """

    n_neighbors: int = param(20, whole(1))
    stochastic: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        neighbors = require("sklearn.neighbors", purpose="detector `lof`")
        self._store_train(train)
        windows = self._training_windows(train)
        model = neighbors.LocalOutlierFactor(
            n_neighbors=min(self.n_neighbors, len(windows) - 1), novelty=True
        )
        with warnings.catch_warnings():
            # Flat parts repeat a window more than n_neighbors times; the warning is no help.
            warnings.filterwarnings("ignore", message="Duplicate values", category=UserWarning)
            self._model = model.fit(windows)

    def _score(self, values: Floats) -> Floats:
        if self._is_train(values):
            return self._place(-self._model.negative_outlier_factor_, values)
        return super()._score(values)

    def _score_windows(self, windows: Floats) -> Floats:
        return np.asarray(-self._model.score_samples(windows), dtype=np.float64)

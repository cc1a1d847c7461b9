"""Isolation forest on windows."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors.base import Progress, WindowModel
from vuskit.detectors.registry import register_detector
from vuskit.parameters import param, whole

__all__ = ["IForest"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("iforest", title="IForest", reference="doi:10.1109/ICDM.2008.17")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class IForest(WindowModel):
    """Isolation forest: windows that few random splits isolate are anomalous.

    Parameters
    ----------
    n_trees : int, default=100
        Number of trees.
    max_samples : int, default=256
        Maximum number of windows per tree.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 3
    >>> 190 < int(IForest(window=16).fit_score(series).argmax()) < 220
    True
    """

    n_trees: int = param(100, whole(1))
    max_samples: int = param(256, whole(2))

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        ensemble = require("sklearn.ensemble", purpose="detector `iforest`")
        windows = self._training_windows(train, limit=self.n_trees * self.max_samples)
        self._model = ensemble.IsolationForest(
            n_estimators=self.n_trees,
            max_samples=min(self.max_samples, len(windows)),
            random_state=self.seed,
        ).fit(windows)

    def _score_windows(self, windows: Floats) -> Floats:
        return np.asarray(-self._model.score_samples(windows), dtype=np.float64)

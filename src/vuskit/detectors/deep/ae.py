"""Autoencoder on windows."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit.detectors._windows import NORMALIZERS
from vuskit.detectors.base import Progress, WindowModel
from vuskit.detectors.deep._base import NeuralDetector, require_torch
from vuskit.detectors.registry import register_detector
from vuskit.parameters import one_of, optional, param, whole

__all__ = ["AutoEncoder"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("ae", title="AE", reference="doi:10.1145/2689746.2689747")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class AutoEncoder(NeuralDetector, WindowModel):
    """Autoencoder: windows that a narrow network does not reconstruct are anomalous.

    Each window is scaled to 0..1. Training windows stay in time order in every epoch, as in the
    published experiments.

    Parameters
    ----------
    hidden : int, default=32
        Units of the outer layers.
    code : int, default=16
        Units of the middle layer.
    max_train_windows : int or None, default=50000
        Maximum number of training windows; uses a random sample if there are more.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(600) / 5)
    >>> series[400:410] = 0
    >>> scores = AutoEncoder(window=8, train_share=0.5, epochs=10).fit_score(series)
    >>> 390 < int(scores.argmax()) < 420
    True
    """

    normalize: str | None = param("minmax", optional(one_of(*NORMALIZERS)))
    epochs: int = param(100, whole(1))
    hidden: int = param(32, whole(1))
    code: int = param(16, whole(1))
    max_train_windows: int | None = param(50_000, optional(whole(2)))
    _shuffle: ClassVar[bool] = False

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        require_torch(self.name)
        from vuskit.detectors.deep._torch import autoencoder

        windows = self._training_windows(train, limit=self.max_train_windows)
        rows = windows.astype(np.float32)

        def build() -> object:
            return autoencoder(rows.shape[1], self.hidden, self.code)

        self._network = self._train_network(build, rows, rows, progress)

    def _score_windows(self, windows: Floats) -> Floats:
        from vuskit.detectors.deep._torch import predict

        rebuilt = predict(self._network, windows, device=self.device)
        return np.asarray(np.abs(windows - rebuilt).mean(axis=1), dtype=np.float64)

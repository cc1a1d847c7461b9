"""One-class support vector machine on windows."""

from __future__ import annotations

import dataclasses
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.detectors._windows import NORMALIZERS
from vuskit.detectors.base import Progress, WindowModel
from vuskit.detectors.registry import register_detector
from vuskit.parameters import number, one_of, optional, param, whole

__all__ = ["OCSVM"]

Floats: TypeAlias = NDArray[np.float64]


@register_detector("ocsvm", title="OCSVM", reference="doi:10.1162/089976601750264965")
@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class OCSVM(WindowModel):
    """One-class SVM: windows outside the boundary around the training windows are anomalous.

    Parameters
    ----------
    nu : float, default=0.05
        Maximum share of training windows outside the boundary.
    kernel : {"rbf", "poly", "sigmoid", "linear"}, default="rbf"
        Kernel of the boundary.
    gamma : {"auto", "scale"}, default="auto"
        Coefficient of the kernel. "auto": 1 / number of features. "scale": the same, divided by
        the variance of the windows.
    max_train_windows : int or None, default=10000
        Maximum number of training windows; uses a random sample if there are more.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.sin(np.arange(400) / 5)
    >>> series[200:210] = 0
    >>> 190 < int(OCSVM(window=16).fit_score(series).argmax()) < 220
    True
    """

    normalize: str | None = param("minmax", optional(one_of(*NORMALIZERS)))
    train_share: float | None = param(0.1, optional(number(above=0, maximum=1)))
    nu: float = param(0.05, number(above=0, maximum=1))
    kernel: str = param("rbf", one_of("rbf", "poly", "sigmoid", "linear"))
    gamma: str = param("auto", one_of("auto", "scale"))
    max_train_windows: int | None = param(10_000, optional(whole(2)))

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        svm = require("sklearn.svm", purpose="detector `ocsvm`")
        windows = self._training_windows(train, limit=self.max_train_windows)
        model = svm.OneClassSVM(nu=self.nu, kernel=self.kernel, gamma=self.gamma)
        # The constructor accepts no seed, but without one `fit` uses NumPy's global generator.
        model.random_state = self.seed
        self._model = model.fit(windows)

    def _score_windows(self, windows: Floats) -> Floats:
        return np.asarray(-self._model.decision_function(windows), dtype=np.float64)

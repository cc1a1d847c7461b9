"""Models of other libraries, and plain functions, as detectors."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.detectors._values import IMPUTERS, KEEP
from vuskit.detectors.base import Detector, ModelDetector, Progress, WindowModel
from vuskit.detectors.parameters import at_least, checked, none_or, one_of, parameter
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_numbers, doubles_in_order

__all__ = ["AeonDetector", "FunctionDetector", "PyODDetector", "SklearnDetector"]

Floats: TypeAlias = NDArray[np.float64]


def _having(*methods: str) -> Callable[[str, Any], Any]:
    """Check for an object (not a class) with all of these methods."""

    def check(name: str, value: Any) -> Any:
        missing = [m for m in methods if not callable(getattr(value, m, None))]
        if isinstance(value, type) or missing:
            wanted = " and ".join(f"`{method}`" for method in methods)
            raise InvalidInputError(f"`{name}` must be an object with {wanted}, got {value!r}")
        return value

    return check


def _seeded_copy(estimator: Any, seed: int) -> Any:
    """Copy a model that fitting will change; seed it where it would draw global random numbers."""
    model = copy.deepcopy(estimator)
    if getattr(model, "random_state", 0) is None:
        model.random_state = seed
    return model


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class _WindowEstimator(WindowModel):
    """An estimator of another library, fitted to windows.

    Parameters
    ----------
    max_train_windows : int or None, default=None
        More training windows than this are sampled down.
    """

    estimator: Any = dataclasses.field(kw_only=False, metadata=checked(_having("fit")))
    max_train_windows: int | None = parameter(None, none_or(at_least(2)))

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        windows = self._training_windows(train, limit=self.max_train_windows)
        self._model = _seeded_copy(self.estimator, self.seed)
        self._model.fit(windows)


def _outlier_estimator(name: str, value: Any) -> Any:
    if isinstance(value, type) or not (
        hasattr(value, "fit")
        and (hasattr(value, "score_samples") or hasattr(value, "decision_function"))
    ):
        raise InvalidInputError(
            f"`{name}` must be an estimator with `score_samples` or `decision_function` "
            f"(LocalOutlierFactor: novelty=True), got {value!r}"
        )
    return value


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class SklearnDetector(_WindowEstimator):
    """Any scikit-learn outlier or density estimator, on windows.

    Parameters
    ----------
    estimator : estimator
        With ``score_samples`` or ``decision_function``, higher meaning more normal. It is
        copied; where its ``random_state`` is None, it gets the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.covariance import EllipticEnvelope
    >>> series = np.random.default_rng(0).normal(size=300)
    >>> series[200:204] = 9
    >>> detector = SklearnDetector(EllipticEnvelope(), window=4)
    >>> int(detector.fit_score(series).argmax())
    202
    """

    estimator: Any = dataclasses.field(kw_only=False, metadata=checked(_outlier_estimator))
    name: ClassVar[str] = "sklearn"

    def _score_windows(self, windows: Floats) -> Floats:
        rate = getattr(self._model, "score_samples", None) or self._model.decision_function
        scores = check_numbers("scores of the estimator", rate(windows))
        return -doubles_in_order("scores of the estimator", scores)


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class PyODDetector(_WindowEstimator):
    """Any PyOD detector, on windows.

    A series that was fitted gets the scores that PyOD keeps from fitting, which leave each
    window out of its own neighborhood.

    Parameters
    ----------
    estimator : PyOD detector
        With ``decision_function``, higher meaning more anomalous. It is copied; where its
        ``random_state`` is None, it gets the seed.
    """

    estimator: Any = dataclasses.field(
        kw_only=False, metadata=checked(_having("fit", "decision_function"))
    )
    name: ClassVar[str] = "pyod"

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        super()._fit(train, progress)
        self._remember(train)

    def _score(self, values: Floats) -> NDArray[Any]:
        kept = check_numbers("decision_scores_", self._model.decision_scores_)
        if self._remembers(values) and len(kept) == len(values) - self.window_ + 1:
            return self._place(kept, values)
        return super()._score(values)

    def _score_windows(self, windows: Floats) -> ArrayLike:
        found: ArrayLike = self._model.decision_function(windows)
        return found


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class AeonDetector(ModelDetector):
    """Any aeon anomaly detector for series; it cuts its own windows.

    Parameters
    ----------
    estimator : aeon anomaly detector
        With ``fit`` and ``predict``, one score per point. It is copied; where its
        ``random_state`` is None, it gets the seed.
    """

    estimator: Any = dataclasses.field(kw_only=False, metadata=checked(_having("fit", "predict")))
    name: ClassVar[str] = "aeon"

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        self._model = _seeded_copy(self.estimator, self.seed)
        self._model.fit(_one_or_two_dimensional(train), axis=0)

    def _score(self, values: Floats) -> ArrayLike:
        found: ArrayLike = self._model.predict(_one_or_two_dimensional(values), axis=0)
        return found


def _one_or_two_dimensional(values: Floats) -> Floats:
    return (values[:, 0] if values.shape[1] == 1 else values).copy()


def _function(name: str, value: Any) -> Any:
    if not callable(value):
        raise InvalidInputError(f"`{name}` must be a function, got {value!r}")
    return value


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class FunctionDetector(Detector):
    """A plain function as a detector: values of shape (n,) or (n, d) in, n scores out.

    In its identity the function appears as ``module.name``, so a lambda should get a name first.

    Parameters
    ----------
    function : callable
        Gets its own copy of the values.
    impute : {None, "linear", "previous", "keep"}, default=None
        What to do with NaN: an error, fill from the neighboring values, or let the function see
        it.

    Examples
    --------
    >>> import numpy as np
    >>> def jump(values):
    ...     return np.abs(np.diff(values, prepend=values[0]))
    >>> FunctionDetector(jump).fit_score([1.0, 1.0, 4.0])
    array([0., 0., 3.])
    """

    function: Callable[[Floats], ArrayLike] = dataclasses.field(
        kw_only=False, metadata=checked(_function)
    )
    impute: str | None = parameter(None, none_or(one_of((*IMPUTERS, KEEP))))
    name: ClassVar[str] = "function"

    @property
    def params(self) -> dict[str, Any]:
        """The constructor keywords; the function by its name, not by its address."""
        return {**super().params, "function": _Named(self.function)}

    def warm_up(self) -> bool:
        """Call the function's own attribute ``warm_up``, if it has one."""
        hook = getattr(self.function, "warm_up", None)
        if not callable(hook):
            return False
        hook()
        return True

    def _fit(self, train: Floats, progress: Progress | None) -> None:
        """Nothing is learned: the function sees the series it scores."""

    def _score(self, values: Floats) -> ArrayLike:
        return self.function(_one_or_two_dimensional(values))


class _Named:
    """Shows a function as ``module.name``."""

    def __init__(self, function: Any) -> None:
        owner = function if hasattr(function, "__qualname__") else type(function)
        self._shown = f"{owner.__module__}.{owner.__qualname__}"

    def __repr__(self) -> str:
        return self._shown

"""Base classes of all detectors."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.buffers import estimate_period
from vuskit.detectors._values import IMPUTERS, read_values
from vuskit.detectors._windows import (
    NORMALIZERS,
    center_on_points,
    iterate_windows,
    sample_windows,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_numbers, doubles_in_order, length_advice
from vuskit.parameters import Checked, number, one_of, optional, param, whole

__all__ = [
    "Detector",
    "ModelDetector",
    "Progress",
    "Supervision",
    "TrainingProgress",
    "WindowModel",
    "Windowed",
]

Floats: TypeAlias = NDArray[np.float64]
Supervision: TypeAlias = Literal["unsupervised", "semi-supervised"]

_WARM_UP_POINTS = 400


@dataclasses.dataclass(frozen=True)
class TrainingProgress:
    """Progress report of a detector that trains in epochs, sent after each epoch."""

    epoch: int
    epochs: int
    train_loss: float
    validation_loss: float


Progress: TypeAlias = Callable[[TrainingProgress], None]


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Detector(Checked, abc.ABC):
    """Base class: reads the series, selects the training part and checks the scores.

    A subclass declares its parameters as dataclass fields (see
    `vuskit.parameters`), implements `_fit` and `_score` on values of shape (n, d),
    and is registered with `vuskit.detectors.register_detector`.

    Parameters
    ----------
    seed : int, default=0
        Seed of all random numbers.
    impute : {None, "linear", "previous"}, default=None
        Treatment of NaN: raise an error (None), interpolate linearly, or repeat the previous value.
        A subclass that handles NaN itself may redeclare the field and accept
        `vuskit.detectors.KEEP`.

    Attributes
    ----------
    name, title, reference : str
        Set by the registry.
    multivariate : bool
        Whether series with more than one channel are accepted.
    min_points : int
        Minimum length of a training series.
    stochastic : bool
        Whether the scores can depend on the seed. A benchmark runs other detectors once instead of
        once per seed.
    """

    seed: int = param(0, whole(0))
    impute: str | None = param(None, optional(one_of(*IMPUTERS)))

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    multivariate: ClassVar[bool] = True
    min_points: ClassVar[int] = 1
    stochastic: ClassVar[bool] = True

    # Parameters that `warm_up` overrides to be fast.
    _warm_up_parameters: ClassVar[Mapping[str, Any]] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fitted_channels: int | None = None

    # -- identity ------------------------------------------------------------------------------

    @property
    def params(self) -> dict[str, Any]:
        """Constructor keywords and their values, in alphabetical order."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Names of the constructor keywords, in alphabetical order."""
        return tuple(sorted(field.name for field in dataclasses.fields(cls) if field.init))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        return f"{self.name or type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Detector) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def supervision(self) -> Supervision:
        """Whether `fit_score` fits on the whole series or only on its first part."""
        return "unsupervised"

    # -- public interface ----------------------------------------------------------------------

    def fit(self, train: ArrayLike, *, progress: Progress | None = None) -> Self:
        """Fit the detector to a series.

        Parameters
        ----------
        train : array-like of shape (n,) or (n, d), or an object with such ``values``
            The training series.
        progress : callable, optional
            Called with a `TrainingProgress` after each epoch. Detectors without epochs ignore it.

        Returns
        -------
        Detector
            The detector itself.

        Raises
        ------
        InvalidInputError
            If the series cannot be read, is too short, or has too many channels.
        """
        values = self._read("train", train)
        self._prepare(values)
        return self._learn(values, progress)

    def score(self, series: ArrayLike) -> Floats:
        """Score every point of a series; higher means more anomalous.

        Parameters
        ----------
        series : array-like of shape (n,) or (n, d), or an object with such ``values``
            The series to score, with as many channels as the training series.

        Returns
        -------
        ndarray of shape (n,)
            Finite scores; their scale depends on the detector.

        Raises
        ------
        InvalidInputError
            If the detector is not fitted, or the series cannot be read or is too short.
        """
        return self._scores(self._read("series", series))

    def fit_score(
        self, series: ArrayLike, *, train_on: Any = None, progress: Progress | None = None
    ) -> Floats:
        """Fit on the training part given by `supervision`, then score the whole series.

        Parameters
        ----------
        series : array-like of shape (n,) or (n, d), or an object with such ``values``
            The series to score.
        train_on : int, slice or array-like, optional
            Different training data: a number of leading points, a part of the series, or another
            series.
        progress : callable, optional
            As for `fit`.

        Returns
        -------
        ndarray of shape (n,)
            Scores, as returned by `score`.

        Raises
        ------
        InvalidInputError
            As for `fit` and `score`.
        """
        values = self._read("series", series)
        self._prepare(values)
        train = self._training_part(values, series, train_on)
        return self._learn(train, progress)._scores(values)

    def warm_up(self) -> bool:
        """Load libraries and compile code in advance of the first `fit_score` of a process.

        A benchmark calls it once per process, before it measures time. By default, a copy of the
        detector scores a short series; subclasses may override this.

        Returns
        -------
        bool
            Whether there was anything to prepare.
        """
        small = dataclasses.replace(self, **self._warm_up_parameters)
        small.fit_score(np.sin(np.arange(_WARM_UP_POINTS) / 5))
        return True

    # -- for subclasses ------------------------------------------------------------------------

    @abc.abstractmethod
    def _fit(self, train: Floats, progress: Progress | None) -> None:
        """Fit to values of shape (n, d)."""

    @abc.abstractmethod
    def _score(self, values: Floats) -> ArrayLike:
        """Return n finite scores, not masked, for values of shape (n, d)."""

    def _prepare(self, values: Floats) -> None:
        """Compute what depends on the whole series, before fitting on a part of it."""
        return None

    def _shortest_fit(self) -> int:
        return self.min_points

    def _shortest_score(self) -> int:
        return 1

    def _first_part(self, values: Floats, series: Any) -> Floats:
        """Return the default training part."""
        return values

    # -- steps ---------------------------------------------------------------------------------

    def _read(self, argument: str, series: Any) -> Floats:
        values = read_values(argument, series, impute=self.impute)
        if values.shape[1] > 1 and not self.multivariate:
            raise InvalidInputError(
                f"`{argument}` must have one channel for {self.name}, "
                f"got {values.shape[1]} channels; select a channel"
            )
        return values

    def _training_part(self, values: Floats, series: Any, train_on: Any) -> Floats:
        if train_on is None:
            return self._first_part(values, series)
        if isinstance(train_on, slice):
            return values[train_on]
        if np.ndim(getattr(train_on, "values", train_on)) == 0:
            return values[: whole(1)("train_on", train_on)]
        train = self._read("train_on", train_on)
        self._match_channels("train_on", train, values.shape[1])
        return train

    def _learn(self, train: Floats, progress: Progress | None) -> Self:
        if len(train) < self._shortest_fit():
            raise InvalidInputError(
                f"the training series must have at least {self._shortest_fit()} points for "
                f"{self!r}, got {len(train)}"
            )
        self._fitted_channels = train.shape[1]
        self._fit(train, progress)
        return self

    def _match_channels(self, argument: str, values: Floats, expected: int) -> None:
        if values.shape[1] != expected:
            raise InvalidInputError(
                f"`{argument}` must have {expected} channels, got {values.shape[1]}"
            )

    def _scores(self, values: Floats) -> Floats:
        if self._fitted_channels is None:
            raise InvalidInputError(f"`fit` must be called before `score`, got unfitted {self!r}")
        self._match_channels("series", values, self._fitted_channels)
        if len(values) < self._shortest_score():
            raise InvalidInputError(
                f"`series` must have at least {self._shortest_score()} points to be scored by "
                f"{self!r}, got {len(values)}"
            )
        found = self._score(values)
        expected, shape = (len(values),), getattr(found, "shape", None)
        name = f"scores of {self!r}"
        numbers = None
        if shape is None or tuple(shape) == expected:
            numbers = check_numbers(name, found)
            shape = numbers.shape
        if numbers is None or shape != expected:
            hint = ""
            if shape is not None and len(shape) == 1:
                hint = f": {length_advice(shape[0], len(values), named='points')}"
            raise InvalidInputError(
                f"{self!r} must return {len(values)} scores, got shape {shape}{hint}"
            )
        scores = doubles_in_order(name, numbers)
        self._check_finite(scores)
        return scores

    def _check_finite(self, scores: Floats) -> None:
        if not np.isfinite(scores).all():
            first = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise InvalidInputError(
                f"{self!r} must return finite scores, got {scores[first]} at index {first}"
            )


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class ModelDetector(Detector):
    """A detector that fits a model to the whole series or to its first part.

    Parameters
    ----------
    train_share : float or None, default=None
        None fits on the whole series. A share in (0, 1] fits on the first part, which should be
        free of anomalies. The ``train_length`` of a `Series` takes precedence over this share.
    """

    train_share: float | None = param(None, optional(number(above=0, maximum=1)))

    @property
    def supervision(self) -> Supervision:
        """Semi-supervised when a training share is set."""
        return "unsupervised" if self.train_share is None else "semi-supervised"

    def _store_train(self, train: Floats) -> None:
        """Store the training series, for methods that compare a series with itself."""
        self._train = train.copy()

    def _is_train(self, values: Floats) -> bool:
        """Whether this is the training series."""
        return np.array_equal(values, self._train)

    def _first_part(self, values: Floats, series: Any) -> Floats:
        if self.train_share is None:
            return values
        given = getattr(series, "train_length", None)
        length = int(self.train_share * len(values)) if given is None else int(given)
        # A share of a short series may be shorter than a window: use at least the minimum.
        return values[: max(length, self._shortest_fit())]


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class Windowed(Detector):
    """A detector that uses sliding windows.

    Parameters
    ----------
    window : int or "period", default="period"
        Length of the windows. "period" uses the period of the series (of ``train`` in `fit`, of
        ``series`` in `fit_score`), but at most a quarter of its length.

    Attributes
    ----------
    window_ : int
        Length of the windows, set by fitting.
    """

    window: int | str = param("period", whole(2, word="period"))

    # Four windows of three points are enough for every method to compare windows.
    min_points: ClassVar[int] = 12
    _warm_up_parameters: ClassVar[Mapping[str, Any]] = {"window": 16}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.window_: int = 0

    def _prepare(self, values: Floats) -> None:
        if isinstance(self.window, str):
            period = estimate_period(values, method="authors")
            self.window_ = max(3, min(int(period or 0), len(values) // 4))
        else:
            self.window_ = self.window

    def _shortest_fit(self) -> int:
        return max(self.min_points, 2 * self.window_)

    def _shortest_score(self) -> int:
        return self.window_ + 1


@dataclasses.dataclass(kw_only=True, repr=False, eq=False)
class WindowModel(Windowed, ModelDetector):
    """Base class: scores each window, and assigns the score to the center of the window.

    Parameters
    ----------
    normalize : {None, "zscore", "minmax"}, default=None
        Scaling of each window and channel.
    """

    normalize: str | None = param(None, optional(one_of(*NORMALIZERS)))

    @abc.abstractmethod
    def _score_windows(self, windows: Floats) -> ArrayLike:
        """Score windows of shape (m, d * window)."""

    def _training_windows(self, train: Floats, *, limit: int | None = None) -> Floats:
        """Return windows as rows; a random sample if there are more than ``limit``."""
        rng = np.random.default_rng(self.seed)
        return sample_windows(train, self.window_, self.normalize, limit, rng)

    def _score(self, values: Floats) -> NDArray[Any]:
        # Keep the original dtype, so that large integers of different chunks stay comparable.
        scores = np.concatenate(
            [
                check_numbers(f"window scores of {self!r}", self._score_windows(chunk))
                for _, chunk in iterate_windows(values, self.window_, self.normalize)
            ]
        )
        expected = len(values) - self.window_ + 1
        if len(scores) != expected:
            raise InvalidInputError(
                f"{self!r} must return {expected} window scores, got {len(scores)}"
            )
        return self._place(scores, values)

    def _place(self, window_scores: NDArray[Any], values: Floats) -> NDArray[Any]:
        return center_on_points(window_scores, len(values))

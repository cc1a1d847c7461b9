"""The one door for arrays and parameters: check once, freeze, pass on."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError
from vuskit.intervals import Ints, event_bounds

__all__ = [
    "Labels",
    "check_choice",
    "check_fraction",
    "check_int",
    "check_labels",
    "check_labels_beside",
    "check_pair",
    "check_prediction",
    "check_scores",
    "check_series",
]

_NUMBERS = "biuf"


@dataclass(frozen=True)
class Labels:
    """Checked labels: their length and where the ones are."""

    n: int
    inside: Ints

    @cached_property
    def _bounds(self) -> tuple[Ints, Ints]:
        return event_bounds(self.inside)

    @property
    def starts(self) -> Ints:
        """First point of each event."""
        return self._bounds[0]

    @property
    def stops(self) -> Ints:
        """One past the last point of each event."""
        return self._bounds[1]

    @property
    def n_anomalous(self) -> int:
        """Number of anomalous points."""
        return int(self.inside.size)

    @property
    def has_both_classes(self) -> bool:
        """Whether there are normal and anomalous points."""
        return 0 < self.inside.size < self.n

    def as_array(self) -> NDArray[np.bool_]:
        """Labels as one boolean per point."""
        labels = np.zeros(self.n, dtype=np.bool_)
        labels[self.inside] = True
        return labels


def check_labels(y_true: ArrayLike, name: str = "y_true") -> Labels:
    """Read labels of 0 and 1.

    Raises
    ------
    InvalidInputError
        If they are not 1-D, empty, or hold anything but 0 and 1.

    Examples
    --------
    >>> labels = check_labels([0, 1, 1, 0])
    >>> labels.starts.tolist(), labels.stops.tolist()
    ([1], [3])
    """
    array = _one_dimensional(name, y_true)
    # Comparing first: NumPy searches booleans much faster than numbers.
    inside = np.flatnonzero(array if array.dtype.kind == "b" else array != 0)
    values = array[inside]
    if array.dtype.kind != "b" and not (values == 1).all():
        bad = int(inside[np.flatnonzero(values != 1)[0]])
        raise InvalidInputError(
            f"`{name}` must contain only 0 and 1, got {_show(array[bad])} at index {bad}"
        )
    return Labels(int(array.size), inside)


def check_scores(y_score: ArrayLike, labels: Labels) -> NDArray[Any]:
    """Read scores, one finite number per label, in their own dtype.

    Raises
    ------
    InvalidInputError
        If they are not 1-D, not finite, or not as many as the labels.
    """
    array = _one_dimensional("y_score", y_score)
    if array.size != labels.n:
        raise InvalidInputError(
            f"`y_true` and `y_score` must have equal length, got {labels.n} and {array.size}"
        )
    array = array.view(np.uint8 if array.dtype.kind == "b" else array.dtype)
    _check_finite("y_score", array)
    array.flags.writeable = False  # measures and rules of users see it, too
    return array


def check_series(values: ArrayLike) -> NDArray[np.float64]:
    """Read a series of finite numbers; of several channels, the first.

    Raises
    ------
    InvalidInputError
        If it is neither of shape (n,) nor (n, d), empty, or not finite.
    """
    array = _as_array("values", values)
    if array.ndim not in (1, 2) or array.size == 0:
        raise InvalidInputError(
            f"`values` must be of shape (n,) or (n, d), got shape {array.shape}"
        )
    if array.ndim == 2:
        values = values[:, 0] if isinstance(values, np.ma.MaskedArray) else array[:, 0]
    series = _one_dimensional("values", values)
    _check_finite("values", series)
    with np.errstate(over="ignore"):
        doubles = series.astype(np.float64)
    _check_finite("values", doubles)  # wider floats may leave the range
    return doubles


def _check_finite(name: str, array: NDArray[Any]) -> None:
    # Not math.isfinite, which takes wide floats beyond the range of doubles for infinite.
    if array.dtype.kind == "f" and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InvalidInputError(f"`{name}` must be finite, got {_show(array[bad])} at index {bad}")


def check_pair(y_true: ArrayLike, y_score: ArrayLike) -> tuple[Labels, NDArray[Any]]:
    """Read labels and scores together, so that swapped arguments can be told.

    Raises
    ------
    InvalidInputError
        As for labels and scores by themselves; the text says when the two look swapped.
    """
    labels = check_labels_beside(y_true, y_score=y_score)
    return labels, check_scores(y_score, labels)


def check_labels_beside(y_true: ArrayLike, **others: ArrayLike) -> Labels:
    """Read labels that came with something else, so that swapped arguments can be told.

    Raises
    ------
    InvalidInputError
        As for labels by themselves; the text says with what they look swapped.
    """
    try:
        return check_labels(y_true)
    except InvalidInputError as error:
        for name, other in others.items():
            if _looks_like_labels(other):
                raise InvalidInputError(f"{error}; `y_true` and `{name}` look swapped") from None
        raise


def check_prediction(y_pred: ArrayLike, labels: Labels) -> NDArray[np.bool_]:
    """Read a prediction of 0 and 1 per label.

    Raises
    ------
    InvalidInputError
        If it holds anything but 0 and 1, or is not as long as the labels.
    """
    prediction = check_labels(y_pred, "y_pred")
    if prediction.n != labels.n:
        raise InvalidInputError(
            f"`y_true` and `y_pred` must have equal length, got {labels.n} and {prediction.n}"
        )
    return prediction.as_array()


def check_int(name: str, value: Any, minimum: int) -> int:
    """Read a whole number; 5.0 counts as whole, True does not.

    Raises
    ------
    InvalidInputError
        If it is not whole or below ``minimum``.

    Examples
    --------
    >>> check_int("buffer", 5, minimum=0)
    5
    """
    number = value if type(value) is int else _whole_number(value)
    if number is None or number < minimum:
        raise InvalidInputError(f"`{name}` must be an int >= {minimum}, got {_show(value)}")
    return number


def _whole_number(value: Any) -> int | None:
    if isinstance(value, (bool, np.bool_, str)) or np.ndim(value) != 0:
        return None
    try:
        if hasattr(value, "__index__"):
            return operator.index(value)
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == value else None


def check_fraction(name: str, value: Any) -> float:
    """Read a number in [0, 1].

    Raises
    ------
    InvalidInputError
        If it is outside.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise InvalidInputError(f"`{name}` must be a number from 0 to 1, got {_show(value)}")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Read one of a few names.

    Raises
    ------
    InvalidInputError
        If it is none of them; the text proposes the nearest one.
    """
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    listed = ", ".join(repr(choice) for choice in known)
    raise InvalidInputError(
        f"`{name}` must be one of {listed}, got {_show(value)}{did_you_mean(value, known)}"
    )


def _one_dimensional(name: str, values: ArrayLike) -> NDArray[Any]:
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        bad = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
        raise InvalidInputError(f"`{name}` must not be masked, got a masked value at index {bad}")
    array = _as_array(name, values)
    if array.ndim == 0:
        raise InvalidInputError(f"`{name}` must be 1-D, got {type(values).__name__}")
    if array.ndim != 1:
        raise InvalidInputError(f"`{name}` must be 1-D, got shape {array.shape}")
    if array.size == 0:
        raise InvalidInputError(f"`{name}` must not be empty, got shape (0,)")
    if array.dtype.kind in "USO":
        # Of a list with both numbers and text NumPy makes text; the first bad index is wanted.
        array = np.asarray(values, dtype=object)
        array = _from_objects(name, array)
    if array.dtype.kind not in _NUMBERS:
        raise InvalidInputError(
            f"`{name}` must be numbers, got {_show(array[0])} at index 0 (dtype {array.dtype})"
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _as_array(name: str, values: Any) -> NDArray[Any]:
    """``np.asarray``, also for tensors that carry gradients."""
    detach = getattr(values, "detach", None)
    if callable(detach):
        values = detach()
    device = getattr(values, "device", None)
    if getattr(device, "type", "cpu") not in ("cpu", None):
        raise InvalidInputError(f"`{name}` must be in CPU memory, got a tensor on {device}")
    try:
        if callable(detach) and str(values.dtype) == "torch.bfloat16":
            values = values.float()  # exact; NumPy has no such type
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"`{name}` must be a 1-D array of numbers, got {error}") from error


def _from_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Numbers out of an object array, as pandas gives for columns with missing values."""
    numbers = np.empty(array.size)
    for index, value in enumerate(array):
        if isinstance(value, (str, bytes)):
            raise InvalidInputError(f"`{name}` must be numbers, got {value!r} at index {index}")
        try:
            numbers[index] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            numbers[index] = np.nan
        if np.isnan(numbers[index]):
            raise InvalidInputError(f"`{name}` must be numbers, got {value!r} at index {index}")
        if isinstance(value, Integral) and float(numbers[index]) != value:  # exact in Python
            raise InvalidInputError(
                f"`{name}` must be numbers of at most double precision, got {value!r} "
                f"at index {index}"
            )
    return numbers


def _looks_like_labels(values: ArrayLike) -> bool:
    try:
        check_labels(values)
    except InvalidInputError:
        return False
    return True


def _show(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)

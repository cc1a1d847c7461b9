"""Validation of arrays and parameters. All inputs pass through these functions once."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.text import did_you_mean, plural
from vuskit.errors import InvalidInputError
from vuskit.intervals import Ints, event_bounds

__all__ = [
    "NAN_POLICIES",
    "Labels",
    "align_to_index",
    "align_to_labels",
    "all_finite",
    "as_array",
    "check_choice",
    "check_fraction",
    "check_int",
    "check_labels",
    "check_labels_beside",
    "check_numbers",
    "check_pair",
    "check_prediction",
    "check_scores",
    "check_series",
    "doubles_in_order",
    "find_ones",
    "index_of",
    "is_ordinary",
    "length_advice",
    "missing_note",
    "rank_missing_lowest",
    "read_scores",
]

NAN_POLICIES = ("error", "lowest")
"""What to do with missing scores."""
_NUMBERS = "biuf"
_EXACT = 2**53  # every integer up to this one is exact in double precision
_SIGN = np.int64(np.iinfo(np.int64).min)
_HIGHEST = int(np.float64(np.finfo(np.float64).max).view(np.int64))


@dataclass(frozen=True)
class Labels:
    """Checked labels: their number, and the positions of the ones."""

    n: int
    inside: Ints

    @cached_property
    def bounds(self) -> tuple[Ints, Ints]:
        """Starts and stops of the events."""
        return event_bounds(self.inside)

    @property
    def starts(self) -> Ints:
        """First point of each event."""
        return self.bounds[0]

    @property
    def stops(self) -> Ints:
        """One past the last point of each event."""
        return self.bounds[1]

    @property
    def n_anomalous(self) -> int:
        """Number of anomalous points."""
        return int(self.inside.size)

    @property
    def has_both_classes(self) -> bool:
        """Whether there are normal and anomalous points."""
        return 0 < self.inside.size < self.n

    def as_array(self) -> NDArray[np.bool_]:
        """Return the labels as one boolean per point."""
        labels = np.zeros(self.n, dtype=np.bool_)
        labels[self.inside] = True
        return labels


def check_labels(y_true: ArrayLike, name: str = "y_true") -> Labels:
    """Check labels of 0 and 1.

    Examples
    --------
    >>> labels = check_labels([0, 1, 1, 0])
    >>> labels.starts.tolist(), labels.stops.tolist()
    ([1], [3])
    """
    array = check_numbers(name, y_true)
    return Labels(array.size, find_ones(array, name))


def find_ones(labels: NDArray[Any], name: str = "y_true") -> Ints:
    """Return the positions of the ones among labels of 0 and 1."""
    if labels.dtype.kind == "b":
        return labels.nonzero()[0]
    # Compare first, because NumPy searches booleans much faster than numbers.
    inside: Ints = (labels != 0).nonzero()[0]
    others = labels[inside] != 1
    if np.count_nonzero(others):
        bad = int(inside[others.argmax()])
        raise InvalidInputError(
            f"`{name}` must contain only 0 and 1, got {_show(labels[bad])} at index {bad}"
        )
    return inside


def check_scores(y_score: ArrayLike, labels: Labels) -> NDArray[Any]:
    """Check scores, one finite number per label, and keep their dtype."""
    return read_scores(y_score, labels)[0]


def read_scores(y_score: ArrayLike, labels: Labels, nan: str = "error") -> tuple[NDArray[Any], int]:
    """Check scores as `check_scores`, and return them with the number of missing ones.

    Missing scores (NaN or None) are an error, or rank below all others if `nan` is ``"lowest"``.

    Examples
    --------
    >>> read_scores([0.5, None, 0.25], check_labels([1, 0, 0]), "lowest")
    (array([0.5 , 0.25, 0.25]), 1)
    """
    missing = 0
    if nan == "lowest":
        y_score, missing = rank_missing_lowest(y_score)
    array = check_numbers("y_score", y_score)
    if array.size != labels.n:
        raise InvalidInputError(
            f"`y_true` and `y_score` must have equal length, got {labels.n} and {array.size}; "
            f"{length_advice(array.size, labels.n)}"
        )
    array = array.view(np.uint8) if array.dtype.kind == "b" else array.view()
    _check_finite("y_score", array)
    array.setflags(write=False)  # custom measures and threshold rules receive this array
    return array, missing


def rank_missing_lowest(y_score: Any) -> tuple[Any, int]:
    """Replace missing scores by the next number below all others, and return their number."""
    array = as_array("y_score", y_score)
    if array.ndim != 1 or array.dtype.kind not in "fO":
        return y_score, 0
    if array.dtype.kind == "f":
        is_missing = np.isnan(array)
    else:
        is_missing = np.array([_is_missing(score) for score in array], dtype=np.bool_)
    count = int(np.count_nonzero(is_missing))
    if count == 0:
        return y_score, 0
    if count == array.size:
        raise InvalidInputError("`y_score` must hold at least one number, got only missing scores")
    known = check_numbers("y_score", array[~is_missing])
    if known.dtype.kind != "f":
        known = doubles_in_order("y_score", known)
    scores = np.empty(array.size, dtype=known.dtype)
    scores[~is_missing] = known
    with np.errstate(over="ignore"):
        lowest = np.nextafter(known.min(), known.dtype.type("-inf"))
    scores[is_missing] = max(lowest, np.finfo(known.dtype).min)
    return scores, count


def _is_missing(score: Any) -> bool:
    return score is None or type(score).__name__ == "NAType" or score != score


def missing_note(count: int) -> str:
    """Say how many missing scores rank lowest.

    Examples
    --------
    >>> missing_note(2)
    '2 missing scores rank lowest'
    """
    return f"{plural(count, 'missing score')} rank{'s' * (count == 1)} lowest"


def length_advice(
    n_scores: int, n_labels: int, *, remedy: str | None = None, named: str = "labels"
) -> str:
    """Return the end of an error message: how two lengths differ, and the likely cause.

    Examples
    --------
    >>> length_advice(901, 1000)
    '99 fewer scores than labels; windows of 100? Try align_scores(..., window=100)'
    """
    missing = n_labels - n_scores
    if missing < 0:
        return f"{-missing} more scores than {named}; do they belong to the same series?"
    if missing > n_labels // 2:
        return f"{missing} fewer scores than {named}; do they belong to the same series?"
    window = missing + 1
    remedy = remedy or f"align_scores(..., window={window})"
    return f"{missing} fewer scores than {named}; windows of {window}? Try {remedy}"


def check_series(values: ArrayLike) -> NDArray[np.float64]:
    """Check a series of finite numbers; return its first channel."""
    array = as_array("values", values)
    if array.ndim not in (1, 2) or array.size == 0:
        raise InvalidInputError(
            f"`values` must be of shape (n,) or (n, d), got shape {array.shape}"
        )
    if array.ndim == 2:
        values = values[:, 0] if isinstance(values, np.ma.MaskedArray) else array[:, 0]
    series = check_numbers("values", values)
    _check_finite("values", series)
    with np.errstate(over="ignore"):
        doubles = series.astype(np.float64)
    _check_finite("values", doubles)  # extended-precision floats may exceed the range
    return doubles


def all_finite(numbers: NDArray[Any]) -> bool:
    """Whether no number is infinite or NaN."""
    return numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())


def _check_finite(name: str, array: NDArray[Any]) -> None:
    if not all_finite(array):
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        missing = name == "y_score" and bool(np.isnan(array[bad]))
        advice = "; nan='lowest' ranks missing scores below all others" if missing else ""
        raise InvalidInputError(
            f"`{name}` must be finite, got {_show(array[bad])} at index {bad}{advice}"
        )


def check_pair(
    y_true: ArrayLike, y_score: ArrayLike, nan: str = "error"
) -> tuple[Labels, NDArray[Any]]:
    """Align labels and scores by index and check both."""
    y_true, y_score = align_to_labels(y_true, y_score=y_score)
    labels = check_labels_beside(y_true, y_score=y_score)
    return labels, read_scores(y_score, labels, nan)[0]


def index_of(values: Any) -> Any:
    """Return the index of a pandas object, or None for other objects."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "get_indexer") else None


def align_to_labels(y_true: Any, **others: Any) -> list[Any]:
    """Reorder pandas objects with indexes of times or text to the index of the labels.

    If the labels' index is not ascending, the first ascending index of the other objects is used
    instead. Indexes of numbers are positions.
    """
    index = index_of(y_true)
    if index is None:
        if len(others) > 2 or others.get("values") is not None:
            _check_common_order(others)
        return [y_true, *others.values()]
    for name, other in others.items():
        order = index_of(other)
        if (
            order is not None
            and order is not index
            and order.is_monotonic_increasing
            and not index.is_monotonic_increasing
        ):
            y_true = align_to_index(order, y_true, name, "y_true")
            index = y_true.index
    return [y_true, *(align_to_index(index, one, "y_true", name) for name, one in others.items())]


def _check_common_order(others: dict[str, Any]) -> None:
    """Reject objects in different orders beside labels without an index."""
    indexed = [name for name, other in others.items() if index_of(other) is not None]
    for name in indexed[1:]:
        first, other = indexed[0], others[name]
        if align_to_index(others[first].index, other, first, name) is not other:
            raise InvalidInputError(
                f"`{first}` and `{name}` must be in the same order beside labels without an index, "
                "got the same index entries in another order; pass `y_true` with its index, or "
                "sort both"
            )


def align_to_index(index: Any, values: Any, index_name: str, name: str) -> Any:
    """Reorder a pandas object to an index of times or text; return other objects unchanged.

    Indexes of numbers are positions, as in scikit-learn.
    """
    own = index_of(values)
    if index is None or own is None or own is index or len(own) != len(index):
        return values  # check_scores reports unequal lengths
    if index.equals(own):
        return values
    positional = _holds_numbers(index)
    if positional != _holds_numbers(own):
        return values
    if positional:
        _check_positions(index, own, index_name, name)
        return values
    if index.is_unique and own.is_unique:
        order = own.get_indexer(index)
        lost = np.flatnonzero(order < 0)
        if not lost.size:
            return values.take(order)
        raise InvalidInputError(
            f"`{index_name}` and `{name}` must have the same index entries, got "
            f"{index[lost[0]]!s:.60} in `{index_name}` only; select common entries with "
            f"{name}.reindex, or compare by position with {name}.to_numpy()"
        )
    repeated = index if not index.is_unique else own
    entry = repeated[np.flatnonzero(repeated.duplicated())[0]]
    raise InvalidInputError(
        f"`{index_name}` and `{name}` must have equal indexes or unique entries, got "
        f"{entry!s:.60} more than once and a different order; make the entries unique with "
        f"reset_index, or compare by position with {name}.to_numpy()"
    )


def _holds_numbers(index: Any) -> bool:
    kind = index.dtype.kind
    return kind in _NUMBERS or (kind == "O" and index.inferred_type in ("integer", "floating"))


def _check_positions(index: Any, own: Any, index_name: str, name: str) -> None:
    """Reject two indexes of the same numbers in a different order: rows were sorted."""
    if index.min() != own.min() or index.max() != own.max():
        return  # fast path for different row numbers
    one, other = index.to_numpy(), own.to_numpy()
    if np.array_equal(np.sort(one), np.sort(other)):
        place = int((one != other).argmax())
        raise InvalidInputError(
            f"`{index_name}` and `{name}` must be in the same order, got index entries "
            f"{one[place]} and {other[place]} at position {place}; sort both with sort_index(), "
            "or pass arrays with to_numpy()"
        )


def check_labels_beside(y_true: ArrayLike, **others: ArrayLike) -> Labels:
    """Check labels; detect whether they were swapped with another argument."""
    try:
        return check_labels(y_true)
    except InvalidInputError as error:
        for name, other in others.items():
            if _looks_like_labels(other):
                raise InvalidInputError(f"{error}; `y_true` and `{name}` look swapped") from None
        raise


def check_prediction(y_pred: ArrayLike, labels: Labels) -> NDArray[np.bool_]:
    """Check a prediction, 0 or 1 per label."""
    prediction = check_labels(y_pred, "y_pred")
    if prediction.n != labels.n:
        raise InvalidInputError(
            f"`y_true` and `y_pred` must have equal length, got {labels.n} and {prediction.n}"
        )
    return prediction.as_array()


def check_int(name: str, value: Any, minimum: int) -> int:
    """Check a whole number; 5.0 is accepted, True is not.

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
    """Check a number in [0, 1]."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0.0 <= number <= 1.0:
        raise InvalidInputError(f"`{name}` must be a number from 0 to 1, got {_show(value)}")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Check that a value is one of a few names."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    listed = ", ".join(repr(choice) for choice in known)
    raise InvalidInputError(
        f"`{name}` must be one of {listed}, got {_show(value)}{did_you_mean(value, known)}"
    )


def check_numbers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Convert real numbers to a 1-D array with a dtype that preserves their order.

    Distinct integers of any size stay distinct.

    Examples
    --------
    >>> check_numbers("y_score", [2**53, 2**53 + 1, 0.5]).argsort().tolist()
    [2, 0, 1]
    """
    if type(values) is np.ndarray and is_ordinary(values):
        return values
    if np.ma.isMaskedArray(values) and np.ma.is_masked(values):
        _reject_masked(name, int(np.flatnonzero(np.ma.getmaskarray(values))[0]))
    if isinstance(values, (list, tuple)):
        # NumPy would turn masked elements into NaN and warn.
        masked = [place for place, value in enumerate(values) if value is np.ma.masked]
        if masked:
            _reject_masked(name, masked[0])
    array = as_array(name, values)
    if array.ndim == 0:
        raise InvalidInputError(f"`{name}` must be 1-D, got {type(values).__name__}")
    if array.ndim != 1:
        raise InvalidInputError(f"`{name}` must be 1-D, got shape {array.shape}")
    if array.size == 0:
        raise InvalidInputError(f"`{name}` must not be empty, got shape (0,)")
    if array.dtype.kind in "USO" or _may_be_rounded(values, array):
        # NumPy converts a list of numbers and text to text, which would hide the first bad index.
        array = np.asarray(values, dtype=object)
        array = _from_objects(name, array)
    if array.dtype.kind not in _NUMBERS:
        kind = "real numbers" if array.dtype.kind == "c" else "numbers"
        raise InvalidInputError(
            f"`{name}` must be {kind}, got {_show(array[0])} at index 0 (dtype {array.dtype})"
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def is_ordinary(array: NDArray[Any]) -> bool:
    """Whether an array needs no conversion: 1-D, not empty, real numbers in native byte order."""
    dtype = array.dtype
    return array.ndim == 1 and array.size > 0 and dtype.kind in _NUMBERS and dtype.isnative


def _reject_masked(name: str, index: int) -> None:
    raise InvalidInputError(
        f"`{name}` must not be masked, got a masked value at index {index}; "
        "fill masked values first"
    )


def _may_be_rounded(values: Any, array: NDArray[Any]) -> bool:
    """Whether NumPy may have rounded integers in a list that also holds floats."""
    return (
        array.dtype == np.float64
        and isinstance(values, (list, tuple))
        and bool((np.abs(array) >= _EXACT).any() and np.isfinite(array).all())
    )


def doubles_in_order(name: str, numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Convert numbers to float64 so that distinct numbers stay distinct and in order.

    Integers beyond 2**53 and extended-precision floats can share their nearest double. All but the
    lowest of such numbers get the next free double above.

    Examples
    --------
    >>> doubles_in_order("y_score", np.array([2**53 + 1, 2**53, 7])).astype(int).tolist()
    [9007199254740994, 9007199254740992, 7]
    """
    kind, size = numbers.dtype.kind, numbers.dtype.itemsize
    if kind in "iu" and size == 8 and numbers.size:
        fits = int(numbers.min()) >= -_EXACT and int(numbers.max()) <= _EXACT
    else:
        fits = kind != "f" or size <= 8
    if fits:
        return numbers.astype(np.float64)
    distinct, place = np.unique(numbers, return_inverse=True)
    with np.errstate(over="ignore", under="ignore"):
        doubles = distinct.astype(np.float64)
    if kind == "f":
        lost = np.isinf(doubles) & np.isfinite(distinct)
        if lost.any():
            bad = int(np.flatnonzero(lost[place])[0])
            _reject_range(name, numbers[bad], bad)
        finite = np.isfinite(doubles)
        doubles[finite] = _strictly_rising(doubles[finite])
    else:
        doubles = _strictly_rising(doubles)
    return np.asarray(doubles[place])


def _reject_range(name: str, value: Any, index: int) -> None:
    raise InvalidInputError(
        f"`{name}` must lie within the range of double precision, got {value!s:.40} "
        f"at index {index}"
    )


def _strictly_rising(doubles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Move each double that equals the previous one to the next free double above."""
    # The bits of a double, read as an integer, are its position among the doubles.
    bits = (doubles + 0.0).view(np.int64)
    count = np.where(bits < 0, _SIGN - bits, bits)
    place = np.arange(count.size)
    count = np.maximum.accumulate(count - place) + place
    np.minimum(count, _HIGHEST - place[::-1], out=count)
    moved: NDArray[np.float64] = np.where(count < 0, _SIGN - count, count).view(np.float64)
    return moved


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Return ``np.asarray(values)``; also accept tensors with gradients."""
    detach = getattr(values, "detach", None)
    if callable(detach):
        values = detach()
    device = getattr(values, "device", None)
    if getattr(device, "type", "cpu") not in ("cpu", None):
        raise InvalidInputError(
            f"`{name}` must be in CPU memory, got a tensor on {device}; pass {name}.cpu()"
        )
    try:
        if callable(detach) and str(values.dtype) == "torch.bfloat16":
            values = values.float()  # exact; NumPy has no bfloat16
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInputError(f"`{name}` must be a 1-D array of numbers, got {error}") from error


def _from_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Convert an object array, such as a pandas column with missing values, to numbers."""
    values = list(array)
    doubles = np.array([_as_double(name, index, value) for index, value in enumerate(values)])
    if np.isinf(doubles).any() or all(map(operator.eq, doubles.tolist(), values)):
        return doubles  # exact, or infinite (the caller rejects these)
    if all(isinstance(value, Integral) for value in values):
        for dtype in (np.int64, np.uint64):
            if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
                return np.array(values, dtype=dtype)
    try:
        order = sorted(range(len(values)), key=lambda index: (doubles[index], values[index]))
        rises = [values[one] != values[other] for one, other in itertools.pairwise(order)]
    except (TypeError, ValueError, ArithmeticError) as error:
        raise InvalidInputError(f"`{name}` must be numbers of one kind, got {error}") from None
    place = np.empty(len(values), dtype=np.intp)
    place[order] = np.cumsum([0, *rises])
    distinct = np.empty(int(place.max()) + 1)
    distinct[place] = doubles
    return np.asarray(_strictly_rising(distinct)[place])


def _as_double(name: str, index: int, value: Any) -> float:
    if value is np.ma.masked:
        _reject_masked(name, index)
    if isinstance(value, (str, bytes)):
        raise InvalidInputError(
            f"`{name}` must be numbers, got {value!r} at index {index}; convert text first, for "
            "example labels by labels == 'anomaly'"
        )
    try:
        with np.errstate(over="ignore"):
            number = np.nan if value is None else float(value)
    except (TypeError, ValueError):
        number = np.nan
    except OverflowError:
        _reject_range(name, value, index)
    if np.isnan(number):
        raise InvalidInputError(f"`{name}` must be numbers, got {value!r} at index {index}")
    return number


def _looks_like_labels(values: ArrayLike) -> bool:
    try:
        check_labels(values)
    except InvalidInputError:
        return False
    return True


def _show(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)

"""Threshold rules, which turn a score into a prediction."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import EntryPointGroup
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_fraction
from vuskit.intervals import Ints

__all__ = [
    "Cascade",
    "Quantile",
    "Sigma",
    "Threshold",
    "ThresholdRule",
    "at_or_above",
    "check_rule",
    "is_best",
    "list_threshold_rules",
    "looks_predicted",
    "plain_number",
    "positions_from",
    "rule_description",
    "rule_text",
    "threshold_value",
]

_CHUNK = 8192  # BLAS would use threads for more than 10,000 numbers
_WIDE_CHUNK = 1 << 16
_TINY, _HUGE = 1e-280, 1e280
_EXACT = 2**53  # every integer up to this one is exact in double precision
_FAR = 400  # binary exponent beyond which squares may underflow or overflow


@dataclass(frozen=True)
class Sigma:
    """Mean plus ``factor`` (population) standard deviations of the score.

    Raises
    ------
    InvalidInputError
        If the factor is not a finite number.

    Examples
    --------
    >>> Sigma(2.0)(np.array([0.0, 2.0]))
    3.0
    """

    factor: float = 3.0

    def __post_init__(self) -> None:
        if not isinstance(self.factor, Real) or not math.isfinite(self.factor):
            raise InvalidInputError(f"`factor` must be a finite number, got {self.factor!r}")

    def __call__(self, scores: NDArray[Any]) -> float:
        """Threshold of one score."""
        if _is_wide(scores):
            scores = _in_doubles(scores)
        # Overflow is handled below; users may have configured NumPy to raise an error.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            mean = float(np.add.reduce(scores, dtype=np.float64)) / scores.size
            squares = _sum_of_squares(scores, mean)
            if not _TINY < squares < _HUGE:
                exponent = int(np.frexp(max(abs(float(scores.min())), abs(float(scores.max()))))[1])
                if abs(exponent) > _FAR:  # squares overflow or underflow; powers of two are exact
                    scaled = np.ldexp(scores.astype(np.float64), -exponent)
                    return float(np.ldexp(self(scaled), exponent))
        deviation = float(np.sqrt(squares / scores.size))
        if deviation <= 1e-12 * abs(mean) and scores.min() == scores.max():
            return plain_number(scores[0])  # the mean of equal numbers may be rounded
        return mean + self.factor * deviation


def plain_number(score: Any) -> float:
    """Return a score as a float, or as an integer if a float would round it."""
    number = score.item()
    is_rounded = isinstance(number, int) and int(float(number)) != number
    return number if is_rounded else float(number)


def _is_wide(scores: NDArray[Any]) -> bool:
    return scores.dtype.kind == "f" and scores.dtype.itemsize > np.dtype(np.float64).itemsize


def _in_doubles(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Convert scores to double precision; reject scores outside its range."""
    with np.errstate(over="ignore", under="ignore"):
        doubles = scores.astype(np.float64)
    lost = ~np.isfinite(doubles)
    if not doubles.any():
        lost |= scores != 0
    if lost.any():
        bad = int(lost.argmax())
        raise InvalidInputError(
            "`y_score` must be within the range of double precision for a threshold rule, "
            f"got {scores[bad]!s} at index {bad}; rescale the scores"
        )
    return doubles


def _sum_of_squares(scores: NDArray[Any], mean: float) -> float:
    """Return the sum of squared deviations from the mean, in double precision."""
    # Work in chunks, because np.std would copy the whole score.
    total = 0.0
    for start in range(0, scores.size, _CHUNK):
        part = np.subtract(scores[start : start + _CHUNK], mean, dtype=np.float64)
        total += float(part.dot(part))
    return total


@dataclass(frozen=True)
class Cascade:
    """Above the mean plus three standard deviations; plus two, then one, if no score is.

    This is the rule of the published experiments: points *above* the limit are predicted. If there
    are none, the next factor is tried. The prediction may be empty even with the last factor.

    Parameters
    ----------
    factors : tuple of float, default=(3, 2, 1)
        Numbers of (population) standard deviations, in the order to try.

    Raises
    ------
    InvalidInputError
        If there is no factor, or one is not a finite number.

    Examples
    --------
    >>> scores = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])  # no score is 3 deviations above the mean
    >>> bool(Cascade()(scores) > Sigma(2.0)(scores))
    True
    >>> (scores >= Cascade()(scores)).astype(int)
    array([0, 0, 0, 0, 0, 1])
    """

    factors: tuple[float, ...] = (3.0, 2.0, 1.0)

    def __post_init__(self) -> None:
        rules = tuple(map(Sigma, self.factors))
        if not rules:
            raise InvalidInputError(f"`factors` must hold at least one number, got {self.factors}")
        object.__setattr__(self, "factors", tuple(rule.factor for rule in rules))

    def __call__(self, scores: NDArray[Any]) -> float:
        """Threshold of one score."""
        highest = scores.max()
        limit: Threshold = np.float64(math.inf)
        for factor in self.factors:
            limit = _just_above(_number(Sigma(factor)(scores)), scores)
            if at_or_above(highest, limit):
                break
        return limit


def _just_above(limit: Threshold, scores: NDArray[Any]) -> Threshold:
    """Return the lowest threshold at which only scores above a limit are predicted."""
    if scores.dtype.kind in "iu" and math.isfinite(limit):
        return math.floor(limit) + 1
    return np.float64(math.nextafter(limit, math.inf))


@dataclass(frozen=True)
class Quantile:
    """The score that a share ``q`` of the points does not exceed.

    Examples
    --------
    >>> Quantile(0.5)(np.array([1.0, 2.0, 3.0]))
    2.0
    """

    q: float = 0.99

    def __call__(self, scores: NDArray[Any]) -> float:
        """Threshold of one score."""
        share = check_fraction("q", self.q)
        doubles = _in_doubles(scores)
        with np.errstate(over="ignore", under="ignore"):
            low, high = float(doubles.min()), float(doubles.max())
            is_rounded = scores.dtype.kind in "iu" and max(-low, high) >= _EXACT
            if is_rounded or not math.isfinite(high - low):
                return _exact_quantile(scores if is_rounded else doubles, share)
            return float(np.quantile(doubles, share))


def _exact_quantile(scores: NDArray[Any], share: float) -> float:
    """Compute a quantile with rational numbers, because doubles would round or overflow."""
    place = share * (scores.size - 1)
    first = int(place)
    last = min(first + 1, scores.size - 1)
    parts = np.partition(scores, (first, last))
    low, high = Fraction(parts[first].item()), Fraction(parts[last].item())
    found = low + Fraction(place - first) * (high - low)
    # For integer scores, the quantile and the next integer predict the same points.
    return math.ceil(found) if scores.dtype.kind in "iu" else float(found)


# An integer only if a double would round it.
Threshold = np.float64 | int
ThresholdRule = str | float | Callable[[NDArray[Any]], float]

_RULES: dict[str, Callable[[NDArray[Any]], float]] = {
    "sigma": Sigma(),
    "quantile": Quantile(),
    "cascade": Cascade(),
}
_BEST = "best"
_BUILT_IN = (*_RULES, _BEST)


def _accept_plugin(name: str, loaded: Any) -> bool:
    if name in _BUILT_IN or not callable(loaded) or isinstance(loaded, type):
        return False
    _RULES[name] = loaded
    return True


_PLUGINS = EntryPointGroup(
    "vuskit.thresholds", "a function of scores that returns a number", _accept_plugin
)


def list_threshold_rules() -> tuple[str, ...]:
    """Return the names of the threshold rules: built-in rules, then those of plug-ins.

    Packages can provide rules through the entry point group ``vuskit.thresholds``. Functions passed
    as ``threshold=`` need no name.

    Examples
    --------
    >>> list_threshold_rules()[:4]
    ('sigma', 'quantile', 'cascade', 'best')
    """
    _PLUGINS.load_all(_RULES)
    return (*_BUILT_IN, *(name for name in _RULES if name not in _BUILT_IN))


def rule_description(name: str) -> str:
    """Return the first line of a rule's docstring.

    Examples
    --------
    >>> rule_description("quantile")
    'The score that a share ``q`` of the points does not exceed.'
    """
    if is_best(name):
        return "The threshold at which the F-score is highest; uses the labels."
    return (inspect.getdoc(_RULES[str(check_rule(name))]) or "").partition("\n")[0]


def rule_text(rule: ThresholdRule) -> str:
    """Return a rule as text; for plug-ins, with the distribution and version."""
    if isinstance(rule, str):
        provider = _PLUGINS.provider(rule) if rule not in _BUILT_IN else ""
        return f"{rule} ({provider})" if provider else rule
    return str(getattr(rule, "__name__", rule))


def is_best(rule: ThresholdRule) -> bool:
    """Whether a rule is "best", the threshold chosen with the labels."""
    return isinstance(rule, str) and rule == _BEST


def check_rule(rule: ThresholdRule, *, name: str = "threshold") -> ThresholdRule:
    """Check a threshold: a callable rule, the name of a rule, or a number."""
    if isinstance(rule, str):
        if rule in _RULES or is_best(rule) or _PLUGINS.load(rule):
            return rule
        return check_choice(name, rule, list_threshold_rules())
    if not callable(rule):
        _number(rule, name)
    return rule


def threshold_value(rule: ThresholdRule, scores: NDArray[Any]) -> Threshold:
    """Return the threshold of a rule for some scores, in double precision.

    A comparison with single-precision scores would round a plain float to their precision. Integers
    that doubles would round stay integers.
    """
    if is_best(rule):
        raise InvalidInputError(
            "`threshold` must not use the labels here, got 'best'; use a number or another rule"
        )
    if isinstance(rule, str):
        rule = _RULES[str(check_rule(rule))]
    return _number(rule(scores) if callable(rule) else rule)


def _number(value: Any, name: str = "threshold") -> Threshold:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    except OverflowError:  # of an integer
        number = math.inf if value > 0 else -math.inf
    if isinstance(value, Integral) and math.isfinite(number) and int(number) != int(value):
        return int(value)
    if np.isnan(number):
        raise InvalidInputError(f"`{name}` must be or return a number, got {value!r}")
    return np.float64(number)


def looks_predicted(scores: NDArray[Any], threshold: Threshold) -> bool:
    """Whether scores are only zeros and ones, and the threshold is above both."""
    start = scores[:64]
    if threshold <= 1.0:
        return False
    return bool(((start == 0) | (start == 1)).all() and ((scores == 0) | (scores == 1)).all())


def at_or_above(scores: NDArray[Any], threshold: Threshold) -> NDArray[np.bool_]:
    """Whether each score is at or above a threshold, without rounding large integers."""
    limit: Any = int(threshold) if isinstance(threshold, Integral) else threshold
    # Skip narrow NumPy scalars: they are exact, and may overflow when compared with 2**53.
    if isinstance(limit, (int, float)) and abs(limit) >= _EXACT:
        if scores.dtype.kind in "iu":
            info = np.iinfo(scores.dtype)
            whole = _whole_limit(limit, info)
            limit = np.inf if whole is None else scores.dtype.type(whole)
        elif isinstance(limit, int):
            nearest = np.float64(limit)
            limit = nearest if int(nearest) >= limit else np.nextafter(nearest, np.inf)
    above: NDArray[np.bool_] = np.greater_equal(scores, limit)
    return above


def _whole_limit(threshold: float, info: np.iinfo[Any]) -> int | None:
    """Return the lowest integer of a type at or above a threshold, or None."""
    if threshold > info.max:  # infinity has no nearest integer
        return None
    if threshold <= info.min:
        return int(info.min)
    whole = math.ceil(threshold)
    return whole if whole <= info.max else None


def positions_from(scores: NDArray[Any], threshold: Threshold) -> Ints:
    """Return the positions of the scores at or above a threshold."""
    # Work in chunks, because allocating memory for all points would cost more than comparing.
    found = []
    for start in range(0, scores.size, _WIDE_CHUNK):
        chunk = scores[start : start + _WIDE_CHUNK]
        found.append(at_or_above(chunk, threshold).nonzero()[0])
        found[-1] += start
    return found[0] if len(found) == 1 else np.concatenate(found)

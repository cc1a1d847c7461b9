"""Declare detector parameters: dataclass fields with a check of their values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_fraction, check_int

__all__ = [
    "Check",
    "at_least",
    "checked",
    "none_or",
    "one_of",
    "parameter",
    "positive",
    "run_checks",
    "share",
    "window_length",
]

Check = Callable[[str, Any], Any]
"""Function that takes a parameter's name and value, and returns the checked value or raises."""


def parameter(default: Any, check: Check) -> Any:
    """Declare a constructor keyword with its default and a check.

    Parameters
    ----------
    default : object
        Default value.
    check : callable
        Takes the keyword's name and a value; returns the value to store, or raises
        `InvalidInputError`.

    Returns
    -------
    dataclasses.Field
        Assign it to an annotated name in the body of a dataclass.

    Examples
    --------
    >>> import dataclasses
    >>> @dataclasses.dataclass(kw_only=True)
    ... class Model:
    ...     n_trees: int = parameter(100, at_least(1))
    >>> Model().n_trees
    100
    """
    return dataclasses.field(default=default, metadata=checked(check))


def checked(check: Check) -> dict[str, Check]:
    """Return metadata for ``dataclasses.field``, for parameters without a default.

    Examples
    --------
    >>> import dataclasses
    >>> @dataclasses.dataclass
    ... class Forest:
    ...     n_trees: int = dataclasses.field(metadata=checked(at_least(1)))
    """
    return {"check": check}


def run_checks(instance: Any) -> None:
    """Check every declared parameter of a dataclass instance, in the order of declaration.

    Raises
    ------
    InvalidInputError
        From the first check that fails.
    """
    for field in dataclasses.fields(instance):
        check: Check | None = field.metadata.get("check")
        if check is not None:
            setattr(instance, field.name, check(field.name, getattr(instance, field.name)))


def at_least(minimum: int) -> Check:
    """Return a check for integers that are at least ``minimum``.

    Examples
    --------
    >>> at_least(1)("n_trees", 0)
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `n_trees` must be an int >= 1, got 0
    """
    return lambda name, value: check_int(name, value, minimum)


def one_of(choices: Iterable[str]) -> Check:
    """Return a check for one of several names.

    Examples
    --------
    >>> one_of(["linear", "previous"])("impute", "linear")
    'linear'
    """
    known = tuple(choices)
    return lambda name, value: check_choice(name, value, known)


def share(name: str, value: Any) -> float:
    """Check that a value is a number above 0 and at most 1.

    Examples
    --------
    >>> share("train_share", 0.1)
    0.1
    """
    return _above_zero(name, check_fraction(name, value))


def positive(name: str, value: Any) -> float:
    """Check that a value is a finite number above 0.

    Raises
    ------
    InvalidInputError
        If it is not.

    Examples
    --------
    >>> positive("learning_rate", 1)
    1.0
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not number < float("inf"):
        raise InvalidInputError(f"`{name}` must be a number above 0, got {value!r}")
    return _above_zero(name, number)


def _above_zero(name: str, number: float) -> float:
    if number <= 0:
        raise InvalidInputError(f"`{name}` must be a number above 0, got {number!r}")
    return number


def none_or(check: Check) -> Check:
    """Return a check that accepts None in addition to the values of another check.

    Examples
    --------
    >>> none_or(share)("train_share", None) is None
    True
    """
    return lambda name, value: None if value is None else _or(None, check, name, value)


def window_length(minimum: int) -> Check:
    """Return a check for "period" or an integer that is at least ``minimum``.

    Examples
    --------
    >>> window_length(2)("window", "period")
    'period'
    >>> window_length(2)("window", "week")
    Traceback (most recent call last):
        ...
    vuskit.errors.InvalidInputError: `window` must be 'period' or an int >= 2, got 'week'
    """
    check = at_least(minimum)
    return lambda name, value: (
        value if isinstance(value, str) and value == "period" else _or("period", check, name, value)
    )


def _or(literal: str | None, check: Check, name: str, value: Any) -> Any:
    try:
        return check(name, value)
    except InvalidInputError as error:
        widened = str(error).replace(" must be ", f" must be {literal!r} or ", 1)
        raise InvalidInputError(widened) from None

"""Reading one table of a plan: every key is taken once and checked, the rest are mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_int

__all__ = [
    "TomlTable",
    "boolean",
    "byte_count",
    "list_of",
    "one_or_many",
    "positive_number",
    "text",
    "whole",
]

T = TypeVar("T")
Check = Callable[[str, Any], T]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


class TomlTable:
    """A table whose keys are taken one by one.

    Parameters
    ----------
    where : str
        What to call the table in an error, such as ``detectors[1]``; empty for the whole plan.
    content : mapping
        As TOML gives it.

    Raises
    ------
    InvalidInputError
        If it is not a table.

    Examples
    --------
    >>> table = TomlTable("limits", {"seconds": 5, "memroy": "1 GB"})
    >>> table.take("seconds", positive_number), table.take("memory", byte_count, None)
    (5.0, None)
    >>> table.close()
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `limits` has no key 'memroy'; did you mean 'memory'?
    """

    def __init__(self, where: str, content: Any) -> None:
        if not isinstance(content, Mapping):
            raise InvalidInputError(f"`{where}` must be a table, got {content!r}")
        self.where = where
        self._left = dict(content)
        self._known: list[str] = []

    def name(self, key: str) -> str:
        """Path of a key in the plan."""
        return f"{self.where}.{key}" if self.where else key

    def take(self, key: str, check: Check[T], default: Any = ...) -> T:
        """Take a key; without a default it must be there.

        Raises
        ------
        InvalidInputError
            If it is missing or its value is refused.
        """
        self._known.append(key)
        if key in self._left:
            return check(self.name(key), self._left.pop(key))
        if default is ...:
            raise InvalidInputError(f"`{self.name(key)}` must be given, got nothing")
        return default  # type: ignore[no-any-return]

    def tables(self, key: str) -> list[TomlTable]:
        """Take an array of tables; none if it is missing."""
        entries = self.take(key, _entries, [])
        return [TomlTable(f"{self.name(key)}[{i}]", entry) for i, entry in enumerate(entries)]

    def table(self, key: str) -> TomlTable:
        """Take one table; an empty one if it is missing."""
        return TomlTable(self.name(key), self.take(key, lambda _, value: value, {}))

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def rest(self) -> dict[str, Any]:
        """Take whatever is left."""
        left, self._left = self._left, {}
        return left

    def close(self) -> None:
        """Refuse what nobody took.

        Raises
        ------
        InvalidInputError
            Naming the first such key and the nearest one there is.
        """
        for key in self._left:
            hint = did_you_mean(key, self._known) or f"; there are {', '.join(self._known)}"
            place = f"`{self.where}`" if self.where else "the plan"
            raise InvalidInputError(f"{place} has no key {key!r}{hint}")


def _entries(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInputError(
            f"`{name}` must be written as [[{name}]], once per entry, got {value!r}"
        )
    return value


def text(name: str, value: Any) -> str:
    """Check for text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InvalidInputError(f"`{name}` must be text, got {value!r}")
    return value


def boolean(name: str, value: Any) -> bool:
    """Check for true or false."""
    if not isinstance(value, bool):
        raise InvalidInputError(f"`{name}` must be true or false, got {value!r}")
    return value


def whole(minimum: int) -> Check[int]:
    """Check for whole numbers from ``minimum`` on."""
    return lambda name, value: check_int(name, value, minimum)


def positive_number(name: str, value: Any) -> float:
    """Check for a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e300:
        raise InvalidInputError(f"`{name}` must be a number above 0, got {value!r}")
    return float(value)


def list_of(check: Check[T]) -> Check[tuple[T, ...]]:
    """Check for a list that is not empty, entry by entry."""

    def every(name: str, value: Any) -> tuple[T, ...]:
        if not isinstance(value, list) or not value:
            raise InvalidInputError(f"`{name}` must be a list with at least one entry, got {value}")
        return tuple(check(f"{name}[{i}]", entry) for i, entry in enumerate(value))

    return every


def one_or_many(check: Check[T]) -> Check[tuple[T, ...]]:
    """Check for one value or a list of them."""

    def some(name: str, value: Any) -> tuple[T, ...]:
        return list_of(check)(name, value) if isinstance(value, list) else (check(name, value),)

    return some


def byte_count(name: str, value: Any) -> int:
    """Read an amount of memory: a number of bytes, or text with a unit.

    Raises
    ------
    InvalidInputError
        If it is none.

    Examples
    --------
    >>> byte_count("memory", "1.5 GB"), byte_count("memory", "2GiB"), byte_count("memory", 4096)
    (1500000000, 2147483648, 4096)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", str(value), re.IGNORECASE)
    unit = match[2].upper() if match else ""
    if match is None or unit not in _UNITS or float(match[1]) == 0:
        raise InvalidInputError(f"`{name}` must be an amount such as '4 GB', got {value!r}")
    return round(float(match[1]) * _UNITS[unit])

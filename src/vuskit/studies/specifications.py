"""Options that combine a procedure and its numbers in one text, such as ``normal:-0.1:0.1``.

A specification is a name followed by numbers, separated by colons. Numbers with a default are
optional. One form per option may be written without its name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError


@dataclass(frozen=True)
class Number:
    """A number in a form."""

    name: str  # in capitals, such as "STD"
    default: float | None = None  # None: the number is required
    minimum: float = -math.inf
    maximum: float = math.inf
    whole: bool = False

    def read(self, value: Any) -> float | None:
        """Return the value as a number; None if it is invalid or out of range."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        if not (math.isfinite(number) and self.minimum <= number <= self.maximum):
            return None
        if not self.whole:
            return number
        return int(number) if number.is_integer() else None

    def __str__(self) -> str:
        kind = "an integer" if self.whole else "a number"
        low, high = math.isfinite(self.minimum), math.isfinite(self.maximum)
        limits = f" >= {self.minimum:g}" if low else ""
        if low and high:
            limits = f" from {self.minimum:g} to {self.maximum:g}"
        return f"{self.name} must be {kind}{limits}"


@dataclass(frozen=True)
class Form:
    """A procedure with its numbers."""

    name: str
    numbers: tuple[Number, ...] = ()

    @property
    def metavar(self) -> str:
        """Notation, such as ``normal:MEAN:STD``; optional numbers are in brackets."""
        parts = [
            f"[:{one.name}]" if one.default is not None else f":{one.name}" for one in self.numbers
        ]
        return self.name + "".join(parts)

    def text(self, numbers: Iterable[float]) -> str:
        """Write the form with its numbers."""
        return ":".join([self.name, *(format(number, ".12g") for number in numbers)])


@dataclass(frozen=True)
class Parsed:
    """A parsed specification."""

    name: str
    numbers: tuple[float, ...] = field(default=())


class Specification:
    """The forms that an option allows; `bare` is the form of numbers without a name.

    Examples
    --------
    >>> noise = Specification(
    ...     Form("uniform", (Number("SHARE", minimum=0),)),
    ...     Form("normal", (Number("MEAN"), Number("STD", minimum=0))),
    ...     bare="uniform",
    ... )
    >>> noise.check("noise", 0.05), noise.check("noise", "normal:-0.1:0.1")
    ('uniform:0.05', 'normal:-0.1:0.1')
    >>> noise.parse("noise", "normal:-0.1:0.1").numbers
    (-0.1, 0.1)
    """

    def __init__(self, *forms: Form, bare: str = "") -> None:
        self.forms: Mapping[str, Form] = {one.name: one for one in forms}
        self.bare = bare

    @property
    def metavar(self) -> str:
        """Notation of all forms."""
        return "|".join(one.metavar for one in self.forms.values())

    def check(self, name: str, value: Any) -> str:
        """Return the full text of a specification, including defaults."""
        found = self.parse(name, value)
        return self.forms[found.name].text(found.numbers)

    def parse(self, name: str, value: Any) -> Parsed:
        """Return the name and the numbers of a specification; see `check`."""
        form, parts = self._split(name, value)
        if len(parts) > len(form.numbers):
            raise self._error(name, value, f"write {form.metavar}")
        numbers = []
        for place, one in enumerate(form.numbers):
            number = one.default if place >= len(parts) else one.read(parts[place])
            if number is None:
                raise self._error(name, value, f"{one} in {form.metavar}")
            numbers.append(number)
        return Parsed(form.name, tuple(numbers))

    def _split(self, name: str, value: Any) -> tuple[Form, list[Any]]:
        """Return the form and its unparsed numbers."""
        if isinstance(value, Real) and not isinstance(value, bool):
            parts: list[Any] = [value]
        elif isinstance(value, str):
            parts = value.strip().split(":")
        elif isinstance(value, Iterable):
            parts = list(value)
        else:
            raise self._error(name, value)
        first = parts[0] if parts else ""
        if isinstance(first, str) and first in self.forms:
            return self.forms[first], parts[1:]
        if self.bare and Number("").read(first) is not None:
            return self.forms[self.bare], parts
        raise self._error(name, value, did_you_mean(first, self.forms).removeprefix("; "))

    def _error(self, name: str, value: Any, hint: str = "") -> InvalidInputError:
        allowed = " or ".join(one.metavar for one in self.forms.values())
        return InvalidInputError(
            f"`{name}` must be {allowed}, got {value!r}" + (f"; {hint}" if hint else "")
        )

"""Parameters that combine a procedure and its numbers in one text, such as ``normal:-0.1:0.1``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError
from vuskit.parameters import Check, literal

Numbers = Mapping[str, tuple[float | None, Check]]
"""Numbers of a procedure by name: default (None: required) and check."""


class Specification:
    """A check for procedures, by name; `bare` is the one of numbers without a name.

    Examples
    --------
    >>> from vuskit.parameters import number
    >>> noise = Specification(
    ...     "uniform",
    ...     uniform={"SHARE": (None, number(0))},
    ...     normal={"MEAN": (-0.1, number()), "STD": (0.1, number(0))},
    ... )
    >>> noise.words
    'uniform:SHARE|normal[:MEAN][:STD]'
    >>> noise("noise", 0.05), noise("noise", "normal:-0.2")
    ('uniform:0.05', 'normal:-0.2:0.1')
    >>> noise.parse("noise", "normal:-0.2")
    ('normal', (-0.2, 0.1))
    """

    def __init__(self, bare: str = "", /, **procedures: Numbers) -> None:
        self.bare = bare
        self.procedures = procedures
        self.words = "|".join(map(self._notation, procedures))

    def __call__(self, name: str, value: Any) -> str:
        """Return the full text of a specification, including defaults."""
        procedure, numbers = self.parse(name, value)
        return ":".join([procedure, *(format(one, ".12g") for one in numbers)])

    def parse(self, name: str, value: Any) -> tuple[str, tuple[float, ...]]:
        """Return the name of the procedure and its numbers."""
        if isinstance(value, str):
            parts: list[Any] = [part.strip() for part in value.split(":")]
        elif isinstance(value, Iterable):
            parts = list(value)
        else:
            parts = [value]
        first = parts.pop(0) if parts else ""
        if first not in self.procedures:
            number = literal(first) if isinstance(first, str) else first
            if not self.bare or isinstance(number, bool) or not isinstance(number, Real):
                raise self._error(name, value, did_you_mean(first, self.procedures))
            first, parts = self.bare, [number, *parts]
        known = self.procedures[first]
        if len(parts) > len(known):
            raise self._error(name, value, f"; write {self._notation(first)}")
        parts += [None] * (len(known) - len(parts))
        numbers = []
        for part, (label, (default, check)) in zip(parts, known.items(), strict=True):
            try:
                given = literal(part) if isinstance(part, str) else part
                numbers.append(check(label, default if given is None else given))
            except InvalidInputError as error:
                raise self._error(name, value, f"; {error}") from None
        return first, tuple(numbers)

    def _notation(self, procedure: str) -> str:
        """Return the notation of a procedure; optional numbers are in brackets."""
        return procedure + "".join(
            f":{name}" if default is None else f"[:{name}]"
            for name, (default, _) in self.procedures[procedure].items()
        )

    def _error(self, name: str, value: Any, hint: str) -> InvalidInputError:
        allowed = self.words.replace("|", " or ")
        return InvalidInputError(f"`{name}` must be {allowed}, got {value!r}{hint}")

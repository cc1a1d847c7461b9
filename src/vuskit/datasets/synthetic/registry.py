"""Registry of synthetic families."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

__all__ = ["Event", "Family", "Generate", "get_family", "list_families", "register_family"]

Event = tuple[int, int]


class Generate(Protocol):
    """Function that generates n values with native anomalies in the given events."""

    def __call__(
        self, n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Generate the values; `strength` is 1 for obvious anomalies and 0 for faint ones."""
        ...


@dataclass(frozen=True)
class Family:
    """One kind of synthetic series.

    Attributes
    ----------
    name, title : str
        Name for `make_series`, and what the series imitates.
    anomaly : str
        Description of the native anomalies.
    period : int
        Typical period in points.
    anomaly_length : int
        Default length of an anomaly.
    generate : callable
        Generates the values.
    """

    name: str
    title: str
    anomaly: str
    period: int
    anomaly_length: int
    generate: Generate


_FAMILIES: dict[str, Family] = {}


def register_family(
    *, name: str, title: str, anomaly: str, period: int, anomaly_length: int
) -> Callable[[Generate], Generate]:
    """Register a function that generates a family of series.

    Raises
    ------
    InvalidInputError
        If the name is already registered.

    Examples
    --------
    >>> register_family(name="ecg", title="", anomaly="", period=1, anomaly_length=1)
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `name` must be a new family, got 'ecg'
    """
    if name in _FAMILIES:
        raise InvalidInputError(f"`name` must be a new family, got {name!r}")

    def register(generate: Generate) -> Generate:
        _FAMILIES[name] = Family(name, title, anomaly, period, anomaly_length, generate)
        return generate

    return register


def list_families() -> tuple[Family, ...]:
    """Return all families, sorted by name.

    Examples
    --------
    >>> [family.name for family in list_families()]
    ['ecg', 'kpi', 'mackey_glass', 'telemetry', 'vibration']
    """
    return tuple(_FAMILIES[name] for name in sorted(_FAMILIES))


def get_family(name: str) -> Family:
    """Return the family with the given name.

    Examples
    --------
    >>> get_family("kpi").period
    288
    """
    return _FAMILIES[check_choice("family", name, sorted(_FAMILIES))]

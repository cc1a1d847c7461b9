"""Overall progress of a reproduction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperProgress:
    """State of a reproduction.

    Attributes
    ----------
    share : float
        Finished share of the work, from 0 to 1.
    step : str
        Current step, such as ``"robustness"``.
    done, total : int
        Finished and total parts of this step: series, cells or exhibits.
    name : str
        Part that finished last.
    seconds_left : float or None
        Estimated remaining time; None at the beginning.
    """

    share: float
    step: str
    done: int
    total: int
    name: str = ""
    seconds_left: float | None = None


class Tracker:
    """Sum up the progress of all steps."""

    def __init__(
        self, weights: Mapping[str, float], tell: Callable[[PaperProgress], None] | None
    ) -> None:
        self._weights = dict(weights)
        self._whole = sum(self._weights.values()) or 1.0
        self._tell = tell
        self._finished = 0.0
        self._begin = time.monotonic()

    @contextmanager
    def step(self, name: str) -> Iterator[Callable[..., None]]:
        """Begin a step; yield ``update(done, total, name="", reused=0)``."""
        weight = self._weights[name]

        def update(done: int, total: int, part: str = "", reused: int = 0) -> None:
            share = done / total if total else 0.0
            self._report(name, weight * share, done, total, part, weight * reused / (total or 1))

        update(0, 0)
        yield update
        self._finished += weight
        self._report(name, 0.0, 1, 1, "", 0.0)

    def _report(
        self, step: str, weight: float, done: int, total: int, part: str, reused: float
    ) -> None:
        if self._tell is None:
            return
        reached = self._finished + weight
        worked = reached - reused
        spent = time.monotonic() - self._begin
        left = spent * (self._whole - reached) / worked if worked > 0.01 * self._whole else None
        self._tell(PaperProgress(reached / self._whole, step, done, total, part, left))

"""Repeated timing of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from vuskit.studies.timing.study import CLOCKS, paused_collection


class Sampled(NamedTuple):
    """One sample: seconds per call, return value of the last call, and whether to keep it.

    A sample that only determines the number of calls per sample is not kept.
    """

    seconds: float
    value: Any
    keep: bool


class Timer:
    """Takes samples of one call, each at least `shortest` seconds long: fast calls are repeated."""

    def __init__(
        self, call: Callable[[], Any], *, clock: str = "wall", shortest: float = 0.0
    ) -> None:
        self._call, self._clock, self._shortest = call, CLOCKS[clock], shortest
        self.calls: int | None = None
        """Calls per sample; None before the first call."""
        self.kept = 0
        """Samples kept so far."""

    def warm_up(self, runs: int = 1) -> None:
        """Call the function without recording the time."""
        for _ in range(runs):
            seconds, _ = self._time(1)
            self._calibrate(seconds)

    def sample(self) -> Sampled:
        """Take one sample, without garbage collection."""
        calibrated, calls = self.calls is not None, self.calls or 1
        with paused_collection():
            seconds, value = self._time(calls)
        if not calibrated:
            self._calibrate(seconds)
        keep = calibrated or self.calls == 1
        self.kept += keep
        return Sampled(seconds / calls, value, keep)

    def _time(self, calls: int) -> tuple[float, Any]:
        value = None
        begin = self._clock()
        for _ in range(calls):
            value = self._call()
        return self._clock() - begin, value

    def _calibrate(self, seconds: float) -> None:
        self.calls = max(1, round(self._shortest / max(seconds, 1e-9)))

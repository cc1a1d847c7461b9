"""Which buffers a study used: by which strategy, and how long they came out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from vuskit.periods import buffer_strategy_title
from vuskit.studies.series_values import SeriesValues
from vuskit.studies.task import MeasureSettings

__all__ = ["BufferUse"]


@dataclass(frozen=True)
class BufferUse:
    """The buffers of the series of a study.

    Attributes
    ----------
    strategy : str or int
        What chose them, or the number that was given.
    shortest, typical, longest : int
        Least, median and greatest buffer of R-AUC.
    volume_factor : float
        The longest buffer of VUS, in buffers of R-AUC.
    """

    strategy: str | int
    shortest: int
    typical: int
    longest: int
    volume_factor: float

    @classmethod
    def of(cls, settings: MeasureSettings, values: Iterable[SeriesValues]) -> BufferUse:
        """Buffers that some series were studied with.

        Examples
        --------
        >>> rows = [("a", 20), ("b", 50), ("c", 30)]
        >>> found = [SeriesValues("docs", name, length, {}, None) for name, length in rows]
        >>> print(BufferUse.of(MeasureSettings((), "median_anomaly", volume_factor=1.0), found))
        the median length of the anomalies (median_anomaly): 20 to 50 points, median 30
        >>> print(BufferUse.of(MeasureSettings((), 24), found))
        24 points; VUS up to 2 times that
        """
        lengths = [one.buffer for one in values] or [0]
        return cls(
            settings.buffer,
            min(lengths),
            round(median(lengths)),
            max(lengths),
            settings.volume_factor,
        )

    @classmethod
    def of_one(cls, strategy: str | int, length: int, volume_factor: float) -> BufferUse:
        """Buffer of a single series."""
        return cls(strategy, length, length, length, volume_factor)

    def __str__(self) -> str:
        longer = self.volume_factor != 1
        return self._lengths() + f"; VUS up to {self.volume_factor:g} times that" * longer

    def _lengths(self) -> str:
        if not isinstance(self.strategy, str):
            return f"{self.strategy} points"
        rule = f"{buffer_strategy_title(self.strategy)} ({self.strategy})"
        if self.shortest == self.longest:
            return f"{rule}: {self.longest} points"
        return f"{rule}: {self.shortest} to {self.longest} points, median {self.typical}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "strategy": self.strategy if isinstance(self.strategy, str) else "number",
            "shortest": self.shortest,
            "median": self.typical,
            "longest": self.longest,
            "volume_factor": self.volume_factor,
        }

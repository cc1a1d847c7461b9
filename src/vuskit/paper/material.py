"""Material: the series, scores and results that exhibits and findings use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.errors import InvalidInputError
from vuskit.measures.settings import EvaluationSettings
from vuskit.paper.examples import Choice, Examples
from vuskit.paper.exhibits import NotPossibleError, NotRequestedError
from vuskit.studies import (
    ConsistencyResult,
    RobustnessResult,
    ScenarioResult,
    SeparabilityResult,
    Summary,
    summarize,
)
from vuskit.studies.timing import TimingResult

if TYPE_CHECKING:
    import pandas as pd


Found = TypeVar("Found")


class _Result(Generic[Found]):
    """Attribute with the result of its name, see `Material.result`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, material: Material, owner: type) -> Found:
        found: Found = material.result(self._name)
        return found


@dataclass(eq=False)
class Material:
    """Series, scores and results of a reproduction.

    Results have the names in `vuskit.paper.exhibits.RESULTS`. A string states why the data does not
    allow a result. Results that were not requested are left out.
    """

    sources: Sequence[Source] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    real: bool = True  # findings about means are not judged on synthetic series
    _read: dict[str, ScoredSeries] = field(default_factory=dict, init=False)
    _summaries: dict[str, Summary] = field(default_factory=dict, init=False)

    def result(self, name: str) -> Any:
        """Return a result."""
        if name not in self.results:
            raise NotRequestedError(f"the result of {name} was not requested")
        found = self.results[name]
        if isinstance(found, str):
            raise NotPossibleError(found)
        return found

    consistency = _Result[ConsistencyResult]()
    robustness = _Result[RobustnessResult]()
    separability = _Result[SeparabilityResult]()
    scenarios = _Result[ScenarioResult]()
    timing = _Result[TimingResult]()  # on generated series
    timing_series = _Result[TimingResult]()  # on the given series

    def summary(self, average: str = "mean") -> Summary:
        """Return the ranks in all studies."""
        if average not in self._summaries:
            separability = self.separability.with_options(average=average)
            found = summarize(self.robustness, separability, self.consistency)
            self._summaries[average] = found
        return self._summaries[average]

    @property
    def settings(self) -> EvaluationSettings:
        """How the measures of the studies are computed."""
        settings: EvaluationSettings = self.consistency.study.settings
        return settings

    @cached_property
    def values(self) -> pd.DataFrame:
        """One row for each series, detector and measure: its value and rank."""
        return self.consistency.to_frame()

    @cached_property
    def examples(self) -> Examples:
        """Series, detectors, pairs and data sets shown as examples."""
        return Examples(self.values, self.choice)

    def buffer(self, series: str) -> int:
        """Buffer of a series in the studies."""
        return self.consistency.series_named(series).buffer

    def scored(self, series: str) -> ScoredSeries:
        """Return a series with its scores, read once."""
        if series not in self._read:
            names = [one.name for one in self.consistency.inputs]
            known = dict(zip(names, self.sources_used, strict=True))
            if series not in known:
                raise NotPossibleError(f"{series} is not among the studied series")
            self._read[series] = known[series].read()
        return self._read[series]

    @cached_property
    def sources_used(self) -> Sequence[Source]:
        """Sources of the studied series, in the order of the results."""
        failed = {one.name for one in self.consistency.failures}
        used = tuple(one for one in self.sources if one.name not in failed)
        if len(used) != len(self.consistency.inputs):
            raise InvalidInputError(
                f"`sources` must match the results, got {len(used)} sources and results of "
                f"{len(self.consistency.inputs)} series"
            )
        return used

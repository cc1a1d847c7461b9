"""Results that the exhibits need: studies and timings, computed once and reused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import vuskit
from vuskit._util.optional import describe_environment
from vuskit.datasets.inputs import Source
from vuskit.engine import ExecutorSettings, Limits, Progress
from vuskit.errors import InvalidInputError
from vuskit.figures.base import sampled
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.paper.exhibits import RESULTS
from vuskit.store.identity import code_of, key_of
from vuskit.studies import StudyResult, get_study, load_study_result
from vuskit.studies.result import pack
from vuskit.studies.timing import (
    Case,
    TimingResult,
    synthetic_cases,
    timing_study,
)
from vuskit.studies.timing.cases import scored_cases

STUDIES = ("consistency", "scenarios", "robustness", "separability")
"""Studies in the order in which they run: fast ones, which may reject the data, come first."""

_SECONDS_PER_SERIES = {"consistency": 0.06, "robustness": 0.8, "separability": 1.0}
_GENERATED_SHARE = 0.6  # share of the budget for generated series; the rest is for the given ones
_LONG_BUDGET = 1800.0  # seconds; from here on, each cell is timed ten times
_REPEATS = {True: 10, False: 3}
_CLOCK = "cpu"  # less affected by other processes than wall time; one thread is measured
_MOST_SERIES_TIMED = 100
_TIMINGS = ("timing", "timing_series")


def needed_results(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the results to compute, in the order in which they run."""
    wanted = set(needs)
    return tuple(name for name in (*STUDIES, *_TIMINGS) if name in wanted and name in RESULTS)


@dataclass(frozen=True, eq=False)
class Work:
    """Settings for computing results."""

    folder: Path
    measures: tuple[Measure, ...] = field(default_factory=lambda: resolve_measures("paper"))
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)
    limits: Limits | None = None
    budget: float = 300.0
    seed: int = 0
    quick: bool = False
    ten_runs: bool = False  # time each cell ten times and average, as in the paper
    studies: str = "studies"  # folder of the results, within `folder`

    def seconds(self, name: str, n_series: int) -> float:
        """Estimate how long a result takes."""
        if name in _TIMINGS:
            return self._budget_of(name)
        per_series = _SECONDS_PER_SERIES.get(name, 0.0)
        return 1.0 + per_series * n_series / self.executor.workers

    def _budget_of(self, name: str) -> float:
        share = _GENERATED_SHARE if name == "timing" else 1 - _GENERATED_SHARE
        return self.budget * share

    def run(
        self, name: str, sources: Sequence[Source], progress: Callable[..., None]
    ) -> StudyResult:
        """Compute a result, or read it if an earlier run computed it."""
        if name == "timing":
            cases = synthetic_cases(quick=self.quick, seed=self.seed)
            return self._time(name, cases, progress)
        if name == "timing_series":
            kept = sampled(sources, _MOST_SERIES_TIMED, lambda one: one.name.rpartition("/")[0])
            return self._time(name, scored_cases(kept), progress)
        return self._study(name, sources, progress)

    def _study(
        self, name: str, sources: Sequence[Source], progress: Callable[..., None]
    ) -> StudyResult:
        cls = get_study(name)
        study = cls.create(measures=self.measures, **self.options.get(name, {}))
        alone = cls.input == "none"
        found: StudyResult = study.run(
            None if alone else sources,
            executor=ExecutorSettings() if alone else self.executor,
            limits=None if alone else self.limits,
            folder=None if alone else self.folder / "results",
            progress=_teller(progress),
        )
        found.save(self.folder / self.studies)
        return found

    def _time(
        self, name: str, cases: tuple[Case, ...], progress: Callable[..., None]
    ) -> StudyResult:
        """Time cases within the budget; a result with the same budget and cases is reused."""
        if not cases:
            raise InvalidInputError("no series has both normal and anomalous points")
        repeats = _REPEATS[self.ten_runs or self.budget >= _LONG_BUDGET]
        budget = self._budget_of(name)
        about = {
            "cases": repr([(one.name, one.setting) for one in cases]),
            "environment": describe_environment(),
            "code": code_of(vuskit).parts,
            "budget": budget,
            "repeats": repeats,
        }
        results = self.folder / f"{name.replace('_', '-')}-{key_of(name, about)[:12]}"
        if (finished := results / "timing_result.npz").is_file():
            found: TimingResult = load_study_result(finished)
            return self._averaged(found)
        # Timing runs here, one case at a time, since the workers of a cluster may differ.
        result = timing_study(
            cases,
            repeats=repeats,
            clock=_CLOCK,
            budget=budget,
            folder=self.folder / "results",
            progress=_teller(progress),
        )
        if not result.samples:
            raise InvalidInputError("the budget is too short to time anything; raise the budget")
        result.save(results)
        return self._averaged(result)

    def _averaged(self, result: TimingResult) -> TimingResult:
        return replace(result, average="mean") if self.ten_runs else result


def _teller(progress: Callable[..., None]) -> Callable[[Progress], None]:
    return lambda state: progress(state.done, state.total, state.name, state.before)


def digest_of(result: Any) -> str:
    """Return a digest of a result, or of the reason why it is missing."""
    if isinstance(result, str):
        return hashlib.sha256(result.encode()).hexdigest()
    return hashlib.sha256(pack(result)).hexdigest()

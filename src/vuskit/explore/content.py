"""Content of the server: a benchmark run, possibly still running, or saved scores."""

from __future__ import annotations

import hashlib
import json
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vuskit.bench import Failure, Run, RunStatus, Values
from vuskit.bench.in_memory import EvaluatedSeries, InputEvaluator
from vuskit.bench.run import open_scores
from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import resolve_measures
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.run_report import RunReport, series_report, values_status

_MOST_CAUSES = 50
_MOST_KEPT = 512 * 2**20  # bytes of cached series
_STARTED = "%Y-%m-%dT%H:%M:%S"


class UnknownSeriesError(InvalidInputError):
    """No series has this identity."""


class Content(ABC):
    """A run or saved scores; several threads may call its methods."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._reading = threading.Lock()
        self._kept: OrderedDict[str, ScoredSeries] = OrderedDict()

    @property
    def title(self) -> str:
        """Name of the run, folder or file."""
        return self.place.resolve().name

    def start(self) -> None:
        """Start background work, if any."""
        return

    def stop(self) -> None:
        """Stop background work."""
        return

    @abstractmethod
    def status(self) -> RunStatus:
        """Progress and failures."""

    @abstractmethod
    def report(self) -> RunReport:
        """All values known so far."""

    @abstractmethod
    def _read(self, identity: str) -> ScoredSeries:
        """Read a series and its scores."""

    def read(self, identity: str) -> ScoredSeries:
        """Return a series with its scores; the series read last are kept."""
        with self._reading:
            if identity not in self._kept:
                self._kept[identity] = self._read(identity)
            self._kept.move_to_end(identity)
            while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return self._kept[identity]

    def evaluation(self, identity: str) -> EvaluationReport:
        """Return the evaluation of a series, for its page."""
        scored, report = self.read(identity), self.report()
        place = [one.hash for one in report.series].index(identity)
        settings = report.settings[0] if report.settings else ""
        return series_report(report, place, settings, scored=scored)


def _size(scored: ScoredSeries) -> int:
    return scored.series.values.nbytes + sum(score.nbytes for score in scored.scores.values())


def open_content(target: str | Path) -> Content:
    """Open a run folder, a pack, or a file or folder of saved scores.

    Parameters
    ----------
    target : str or Path
        Run folder, pack, or csv files of saved scores (see `vuskit.datasets.read_scores`). Saved
        scores are evaluated with the settings of ``vuskit evaluate`` when the server starts.

    Raises
    ------
    InvalidInputError
        If the target does not exist or holds no run and no scores.

    Examples
    --------
    >>> open_content("nowhere")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: nowhere: there is no such file or folder
    """
    place = Path(target)
    if not place.exists():
        raise InvalidInputError(f"{place}: there is no such file or folder")
    if Run(place).exists:
        return RunContent(place)
    return ScoresContent(place, open_scores(place))


class RunContent(Content):
    """A benchmark run or a pack, read-only; works during the run."""

    _known: tuple[str, RunReport] | None = None

    def status(self) -> RunStatus:
        """Read progress and failures."""
        return Run(self.place).status(failures=_MOST_CAUSES)

    def report(self) -> RunReport:
        """Read all values; cached until another job finishes."""
        version, known = values_version(self.status()), self._known
        if known is None or known[0] != version:
            known = self._known = version, RunReport.read(self.place)
        return known[1]

    def _read(self, identity: str) -> ScoredSeries:
        """Read a series and its scores, and check that they did not change since the run."""
        run = Run(self.place)
        for source in run.scored_series():
            if source.series.hash == identity:
                return source.read()
        if any(one.hash == identity for one in run.series()):
            raise InvalidInputError("no detector has scored this series yet")
        raise UnknownSeriesError("there is no such series")


def values_version(status: RunStatus) -> str:
    """Return a digest that changes when a job finishes or the run starts again."""
    facts = [status.run.get("started"), status.n_values]
    facts += sorted((str(kind), str(one), n) for (kind, one), n in status.counts.items())
    return content_digest(facts)


def content_digest(facts: Any) -> str:
    """Return a short digest of plain data."""
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:20]


class ScoresContent(Content):
    """Series with saved scores; a thread evaluates them one by one."""

    def __init__(
        self,
        place: Path,
        sources: Sequence[Source],
        *,
        measures: Any = "paper",
        settings: EvaluationSettings | None = None,
    ) -> None:
        super().__init__(place)
        self._sources = list(sources)
        used = settings or EvaluationSettings(buffer="auto")
        self._evaluator = InputEvaluator(resolve_measures(measures), used)
        self._found: list[EvaluatedSeries | Failure] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._evaluate_all, daemon=True)
        self._started = datetime.now(UTC).strftime(_STARTED)

    def start(self) -> None:
        """Start the evaluation."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current series."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _evaluate_all(self) -> None:
        for source in self._sources:
            if self._stopped.is_set():
                return
            self._found.append(self._evaluator.evaluate(source))

    def _values(self) -> tuple[Values, RunStatus]:
        found = list(self._found)
        values = self._evaluator.collect(found)
        left = self._sources[len(found) :]
        status = values_status(
            values,
            done=len(found),
            total=len(self._sources),
            started=self._started,
            running=f"evaluate {left[0].name}" if left else "",
        )
        return values, status

    def status(self) -> RunStatus:
        """Return how many series are evaluated, and which failed."""
        return self._values()[1]

    def report(self) -> RunReport:
        """Return all values known so far."""
        values, status = self._values()
        return RunReport.of_values(values, self.place, status=status)

    def _read(self, identity: str) -> ScoredSeries:
        for one in self._values()[0].series:
            if one.hash == identity:
                return one.read()
        raise UnknownSeriesError("there is no such series")

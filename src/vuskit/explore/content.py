"""Content of the server: a benchmark run, possibly still running, or saved scores."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from vuskit import __version__
from vuskit.bench import Failure, FailureCause, Kind, Run, RunSeries, RunStatus, Status
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.measures.evaluate import evaluate_many
from vuskit.measures.registry import Measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.run import RunReport, first_channel, series_report
from vuskit.studies.sources import Source, open_scores

__all__ = [
    "Content",
    "RunContent",
    "ScoresContent",
    "UnknownSeriesError",
    "content_digest",
    "open_content",
    "values_version",
]

_MOST_CAUSES = 50
_MOST_KEPT = 512 * 2**20  # bytes of cached series
_FILTERS_LOCK = threading.Lock()  # warning filters are global to the process
_STARTED = "%Y-%m-%dT%H:%M:%S"


class UnknownSeriesError(InvalidInputError):
    """No series has this identity."""


class Content(Protocol):
    """A run or saved scores; several threads may call its methods."""

    @property
    def title(self) -> str:
        """Name of the run, folder or file."""

    def status(self) -> RunStatus:
        """Progress and failures."""

    def report(self) -> RunReport:
        """All values known so far."""

    def read(self, identity: str) -> ScoredSeries:
        """Series with its scores, by identity."""

    def evaluation(self, identity: str) -> EvaluationReport:
        """Evaluation of a series, for its evaluation page."""

    def start(self) -> None:
        """Start background work, if any."""

    def stop(self) -> None:
        """Stop background work."""


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


class _SeriesCache:
    """The series read last, limited by their size in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, ScoredSeries] = OrderedDict()

    def get(self, key: str) -> ScoredSeries | None:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def add(self, key: str, scored: ScoredSeries) -> ScoredSeries:
        with self._lock:
            self._found[key] = scored
            while len(self._found) > 1 and sum(map(_size, self._found.values())) > _MOST_KEPT:
                self._found.popitem(last=False)
        return scored


def _size(scored: ScoredSeries) -> int:
    return scored.series.values.nbytes + sum(score.nbytes for score in scored.scores.values())


class RunContent:
    """A benchmark run or a pack, read-only; works during the run.

    Parameters
    ----------
    folder : Path
        The run folder or pack.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cache = _SeriesCache()
        self._report: tuple[str, RunReport] | None = None

    @property
    def title(self) -> str:
        """Name of the folder."""
        return self.folder.resolve().name

    def start(self) -> None:
        """Do nothing: the run is a separate process."""

    def stop(self) -> None:
        """Do nothing."""

    def status(self) -> RunStatus:
        """Read progress and failures."""
        return Run(self.folder).status(failures=_MOST_CAUSES)

    def report(self) -> RunReport:
        """Read all values; cached until another job finishes."""
        version = values_version(self.status())
        if self._report is None or self._report[0] != version:
            self._report = version, RunReport.read(self.folder)
        return self._report[1]

    def read(self, identity: str) -> ScoredSeries:
        """Read a series and its scores, and check that they did not change since the run.

        Raises
        ------
        InvalidInputError
            If there is no such series, or it or its scores cannot be read.
        """
        kept = self._cache.get(identity)
        if kept is not None:
            return kept
        run = Run(self.folder)
        for source in run.scored_series():
            if source.series.hash == identity:
                return self._cache.add(identity, source.read())
        if any(one.hash == identity for one in run.series()):
            raise InvalidInputError("no detector has scored this series yet")
        raise UnknownSeriesError("there is no such series")

    def evaluation(self, identity: str) -> EvaluationReport:
        """Return the stored evaluation of a series.

        Raises
        ------
        InvalidInputError
            If the series was not evaluated or cannot be read.
        """
        scored = self.read(identity)
        report = RunReport.read(self.folder)
        place = [one.hash for one in report.series].index(identity)
        settings = report.settings[0] if report.settings else ""
        return series_report(report, place, settings, scored=scored)


def values_version(status: RunStatus) -> str:
    """Return a digest that changes when a job finishes or the run starts again."""
    facts = [status.run.get("started"), status.n_values]
    facts += sorted((str(kind), str(one), n) for (kind, one), n in status.counts.items())
    return content_digest(facts)


def content_digest(facts: Any) -> str:
    """Return a short digest of plain data."""
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:20]


# -- saved scores ------------------------------------------------------------------------------


@dataclasses.dataclass
class _Evaluated:
    """Values of one series, by detector and measure."""

    series: RunSeries
    values: dict[str, dict[str, float]]


class ScoresContent:
    """Series with saved scores; a thread evaluates them one by one.

    Parameters
    ----------
    place : Path
        File or folder of the scores; its name is the title.
    sources : sequence of Source
        The series with their scores.
    measures : "paper", names, or iterable of these
        Measures to compute.
    settings : EvaluationSettings, optional
        By default those of ``vuskit evaluate``.
    """

    def __init__(
        self,
        place: Path,
        sources: Sequence[Source],
        *,
        measures: Any = "paper",
        settings: EvaluationSettings | None = None,
    ) -> None:
        self.place = place
        self._sources = tuple(sources)
        self._wanted = measures
        self._settings = settings or EvaluationSettings(buffer="auto")
        self._cache = _SeriesCache()
        self._lock = threading.Lock()
        self._evaluated: dict[int, _Evaluated] = {}
        self._failures: dict[int, Failure] = {}
        self._measures: dict[str, Measure] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._evaluate_all, daemon=True)
        self._started = datetime.now(UTC).strftime(_STARTED)

    @property
    def title(self) -> str:
        """Name of the file or folder."""
        return self.place.resolve().name

    def start(self) -> None:
        """Start the evaluation."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current series."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _evaluate_all(self) -> None:
        for place, source in enumerate(self._sources):
            if self._stopped.is_set():
                return
            try:
                found = self._evaluate(source.read(), place)
            except (VuskitError, OSError) as error:
                with self._lock:
                    self._failures[place] = _failure(source, error)
                continue
            with self._lock:
                self._evaluated[place] = found

    def _evaluate(self, scored: ScoredSeries, place: int) -> _Evaluated:
        table = self._table(scored)
        values = {
            name: {
                measure: float(np.mean([table[run][measure] for run in runs]))
                for measure in (one.name for one in table.measures)
            }
            for name, runs in _runs(scored).items()
        }
        with self._lock:
            self._measures = {one.name: one for one in table.measures}
        return _Evaluated(_about(scored, place), values)

    def _table(self, scored: ScoredSeries) -> Any:
        with _FILTERS_LOCK, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows undefined measures as missing values
            return evaluate_many(
                scored.series.labels,
                scored.scores,
                measures=self._wanted,
                settings=self._settings,
                values=scored.series.values,
            )

    def status(self) -> RunStatus:
        """Return how many series are evaluated, and which failed."""
        with self._lock:
            done, failures = dict(self._evaluated), tuple(self._failures.values())
        finished = len(done) + len(failures)
        ended = finished == len(self._sources)
        causes: dict[str, list[Failure]] = {}
        for one in failures:
            causes.setdefault(one.message, []).append(one)
        left = [one for place, one in enumerate(self._sources) if place not in done]
        return RunStatus(
            run={
                "state": "finished" if ended else "running",
                "begun": self._started,
                "started": self._started,
                "last_job": self._started,
                "vuskit": __version__,
            },
            progress={
                "total": len(self._sources),
                "done": finished,
                "running": [] if ended else [f"evaluate {left[0].name}"],
            },
            counts={
                (Kind.EVALUATE, Status.OK): len(done),
                (Kind.EVALUATE, Status.ERROR): len(failures),
            },
            by_detector={},
            n_values=sum(len(one) for found in done.values() for one in found.values.values()),
            failures=failures[::-1],
            causes=tuple(FailureCause(len(same), same[-1]) for same in causes.values()),
            notes=(),
        )

    def report(self) -> RunReport:
        """Return all values known so far."""
        with self._lock:
            found = [self._evaluated[place] for place in sorted(self._evaluated)]
            known = dict(self._measures)
        detectors = tuple(dict.fromkeys(name for one in found for name in one.values))
        values = np.full((1, len(known), len(detectors), len(found)), np.nan)
        outcomes = np.full(values.shape[2:], "", dtype="<U7")
        for s, one in enumerate(found):
            for name, numbers in one.values.items():
                d = detectors.index(name)
                outcomes[d, s] = Status.OK
                values[0, :, d, s] = [numbers[measure] for measure in known]
        return RunReport(
            folder=self.place,
            status=self.status(),
            settings=(str(self._settings),),
            measures=tuple(known),
            detectors=detectors,
            series=tuple(one.series for one in found),
            values=values,
            seconds=np.full(values.shape[2:], np.nan),
            outcomes=outcomes,
            seeds=1,
            known=known,
        )

    def read(self, identity: str) -> ScoredSeries:
        """Read a series and its scores.

        Raises
        ------
        InvalidInputError
            If there is no such series, or it cannot be read.
        """
        kept = self._cache.get(identity)
        if kept is not None:
            return kept
        with self._lock:
            places = [at for at, one in self._evaluated.items() if one.series.hash == identity]
        if not places:
            raise UnknownSeriesError("there is no such series")
        return self._cache.add(identity, self._sources[places[0]].read())

    def evaluation(self, identity: str) -> EvaluationReport:
        """Evaluate a series again."""
        scored = self.read(identity)
        table = self._table(scored)
        return EvaluationReport(
            name=f"{scored.series.dataset}/{scored.series.name}",
            labels=np.asarray(scored.series.labels, dtype=bool),
            values=first_channel(scored.series),
            scores=dict(scored.scores),
            table=table,
            buffer=table._evaluator.buffer,
            threshold=self._settings.threshold,
            draws=0,
        )


def _runs(scored: ScoredSeries) -> dict[str, tuple[str, ...]]:
    return {name: scored.repeats.get(name, (name,)) for name in scored.detectors}


def _about(scored: ScoredSeries, place: int) -> RunSeries:
    series = scored.series
    return RunSeries(
        dataset=series.dataset,
        name=series.name,
        # Files with equal values and labels may hold different scores.
        hash=content_digest([place, series.content_hash]),
        source="{}",
        n_points=series.n_points,
        n_channels=series.n_channels,
        n_anomalies=series.n_anomalies,
        scores=(),
        anomalous_points=series.anomalous_points,
    )


def _failure(source: Source, error: Exception) -> Failure:
    return Failure(
        key="",
        status=Status.ERROR,
        kind=Kind.EVALUATE,
        detector="",
        dataset="",
        series=source.name,
        seed=None,
        title=f"evaluate {source.name}",
        message=str(error),
        command="",
        traceback=None,
    )

"""From a plan to jobs: which there are, and which are done."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vuskit.bench.identity import file_digest
from vuskit.bench.jobs import EvaluateJob, ImportJob, Job, ScoreJob
from vuskit.bench.knowledge import Knowledge
from vuskit.bench.notes import series_notes, unclaimed_files, unfitting_files
from vuskit.bench.plan_parts import Plan, ScoresRequest, SeriesRequest
from vuskit.bench.sources import SeriesRef, SeriesSource, describe_series
from vuskit.bench.specs import DetectorSpec
from vuskit.bench.states import Kind, Status
from vuskit.datasets import read_collection
from vuskit.datasets.readers import Candidate
from vuskit.errors import InvalidInputError

__all__ = ["Agenda", "Catalogue", "draw_up"]

_BATCH = 64


class Catalogue:
    """Series that were read before, by source and stamp; new ones are read and entered.

    Parameters
    ----------
    store : Knowledge
        Where they are kept.
    reread : bool, default=False
        Read every series again, whatever the stamps say.
    """

    def __init__(self, store: Knowledge, *, reread: bool = False) -> None:
        self._store = store
        self._known = {} if reread else store.known_series()
        self._new: list[tuple[SeriesRef, str]] = []

    def describe(self, source: SeriesSource) -> SeriesRef:
        """Describe a series, reading it if it is new or changed.

        Raises
        ------
        InvalidInputError
            If it cannot be read.
        """
        stamp = source.stamp()
        ref = self._known.get((source.spec, stamp))
        if ref is None:
            ref = self._known[source.spec, stamp] = describe_series(source)
            self._new.append((ref, stamp))
            if len(self._new) >= _BATCH:
                self.save()
        return ref

    def save(self) -> None:
        """Enter what was read."""
        self._store.add_series(self._new)
        self._new = []


@dataclass
class Agenda:
    """The jobs of a plan that need no other job, and what comes after each."""

    plan: Plan
    jobs: list[ScoreJob | ImportJob]
    notes: list[str]
    finished: dict[str, sqlite3.Row] = field(default_factory=dict)
    evaluated: dict[tuple[str, str, str], dict[str, int]] = field(default_factory=dict)
    failed_evaluations: dict[str, int] = field(default_factory=dict)
    failed_alone: dict[tuple[str, str, str], dict[str, int]] = field(default_factory=dict)

    def note_evaluated(self, store: Knowledge) -> None:
        """Look up what earlier runs have evaluated."""
        for key, row in store.finished_jobs(Kind.EVALUATE).items():
            subject = row["series_hash"], row["scores_hash"], row["identity"]
            measures = dict.fromkeys(json.loads(row["measures"]), row["id"])
            if row["status"] == Status.OK:
                self.evaluated.setdefault(subject, {}).update(measures)
                continue
            self.failed_evaluations[key] = row["id"]
            if len(measures) == 1:  # whatever else is asked for, this one has failed
                self.failed_alone.setdefault(subject, {}).update(measures)

    def todo(self) -> list[ScoreJob | ImportJob]:
        """Jobs of the first stage that are not finished."""
        return [job for job in self.jobs if job.key not in self.finished]

    def done_ids(self) -> Iterator[int]:
        """Rows of finished jobs that belong to the plan."""
        for job in self.jobs:
            row = self.finished.get(job.key)
            if row is None:
                continue
            yield row["id"]
            if row["scores_hash"] is not None:
                yield from self.evaluation_ids(job, row["scores_hash"])

    def evaluation_ids(self, job: Job, scores_hash: str) -> Iterator[int]:
        """Rows of the evaluations of stored scores that earlier runs finished."""
        for evaluate in self._evaluate_jobs(job, scores_hash):
            ended = {**self._failed_alone(evaluate), **self._known(evaluate)}
            yield from {ended[name] for name in evaluate.measure_identities if name in ended}
        for evaluate in self.followers(job, scores_hash, failed=True):
            if evaluate.key in self.failed_evaluations:
                yield self.failed_evaluations[evaluate.key]

    def followers(self, job: Job, scores_hash: str, *, failed: bool = False) -> list[EvaluateJob]:
        """Evaluations of stored scores that are not finished; of failed ones too, if asked."""
        found = []
        for evaluate in self._evaluate_jobs(job, scores_hash):
            ended = {**self._failed_alone(evaluate), **self._known(evaluate)}
            missing = tuple(m for m in evaluate.measures if m.identity not in ended)
            if not missing:
                continue
            left = EvaluateJob(job.series, scores_hash, evaluate.evaluation, missing, job.label)
            if failed or left.key not in self.failed_evaluations:
                found.append(left)
        return found

    def waiting_evaluations(self) -> list[EvaluateJob]:
        """Evaluations of scores that earlier runs stored."""
        found: dict[str, EvaluateJob] = {}
        for job in self.jobs:
            row = self.finished.get(job.key)
            if row is not None and row["scores_hash"] is not None:
                found.update((one.key, one) for one in self.followers(job, row["scores_hash"]))
        return list(found.values())

    def _evaluate_jobs(self, job: Job, scores_hash: str) -> list[EvaluateJob]:
        return [
            EvaluateJob(job.series, scores_hash, entry.spec, entry.measures, job.label)
            for entry in self.plan.evaluations
        ]

    def _known(self, job: EvaluateJob) -> dict[str, int]:
        return self.evaluated.get((job.series.hash, job.scores_hash, job.identity), {})

    def _failed_alone(self, job: EvaluateJob) -> dict[str, int]:
        return self.failed_alone.get((job.series.hash, job.scores_hash, job.identity), {})


def draw_up(
    plan: Plan,
    store: Knowledge,
    *,
    reread: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Agenda:
    """Expand a plan into jobs, reading series that are new, and look up what is done.

    Parameters
    ----------
    plan : Plan
        What to run.
    store : Knowledge
        Where series and results are kept.
    reread : bool, default=False
        Read every series again.
    progress : callable, optional
        Called with the number of series so far.

    Returns
    -------
    Agenda
        The jobs; its notes tell which series cannot be read or are there twice.

    Raises
    ------
    InvalidInputError
        If nothing is left to run.
    """
    catalogue = Catalogue(store, reread=reread)
    finished = store.finished_jobs(Kind.SCORE, Kind.IMPORT)
    notes: list[str] = []
    told = progress or (lambda _: None)
    try:
        series = _distinct(_all_series(plan, catalogue, notes, told), notes)
        jobs: list[ScoreJob | ImportJob] = [
            job
            for ref in series
            for detector in plan.detectors
            for job in _score_jobs(ref, detector, plan.seeds, finished)
        ]
        notes += series_notes(series, plan.detectors)
        for request in plan.scores:
            jobs.extend(_external(request, series, catalogue, notes))
    finally:
        catalogue.save()
    agenda = Agenda(plan, list({job.key: job for job in jobs}.values()), notes, finished)
    if not agenda.jobs:
        reasons = "; ".join(notes) or "no file fits"
        raise InvalidInputError(f"the plan must select at least one series, got none: {reasons}")
    agenda.note_evaluated(store)
    return agenda


def _score_jobs(
    series: SeriesRef,
    detector: DetectorSpec,
    seeds: tuple[int, ...],
    finished: dict[str, sqlite3.Row],
) -> list[ScoreJob]:
    """One job per seed, or one in all where the seed does not matter."""
    if detector.stochastic:
        return [ScoreJob(series, detector, seed) for seed in seeds]
    # Earlier versions ran it once per seed; what they finished under any of them will do.
    able = [ScoreJob(series, detector, seed) for seed in (None, *filter(None, seeds))]
    known = [job for job in able if job.key in finished]
    scored = [job for job in known if finished[job.key]["status"] == Status.OK]
    return [*scored, *known, *able][:1]


def _all_series(
    plan: Plan, catalogue: Catalogue, notes: list[str], progress: Callable[[int], None]
) -> Iterator[SeriesRef]:
    count = 0
    for request in plan.series:
        for ref in _requested(request, catalogue, notes):
            count += 1
            progress(count)
            yield ref


def _requested(
    request: SeriesRequest, catalogue: Catalogue, notes: list[str]
) -> Iterable[SeriesRef]:
    if request.synthetic:
        return [_synthetic(entry, catalogue) for entry in request.synthetic]
    assert request.folder is not None
    collection = read_collection(request.folder, format=request.format, **request.options)
    kept = collection.filter(name=request.names) if request.names else collection
    files = sorted(kept.files, key=_by_path)
    if not files:
        notes.append(f"{request.folder}: no series found")
    notes += unclaimed_files(request.folder, collection.skipped, request.names)
    found = []
    for file in files:
        try:
            source = SeriesSource.file(file.path, file.format.name, dict(file.options))
            ref = catalogue.describe(source)
        except InvalidInputError as error:
            notes.append(f"cannot be read: {error}")
            continue
        if _fits(ref, request):
            found.append(ref)
    return _sampled(found, request)


def _synthetic(arguments: dict[str, Any], catalogue: Catalogue) -> SeriesRef:
    try:
        return catalogue.describe(SeriesSource.synthetic(arguments))
    except InvalidInputError as error:
        raise InvalidInputError(f"`series` {arguments}: {error}") from error


def _by_path(file: object) -> str:
    return str(getattr(file, "path", ""))


def _fits(ref: SeriesRef, request: SeriesRequest) -> bool:
    return (
        request.min_points <= ref.n_points <= (request.max_points or ref.n_points)
        and ref.n_anomalies >= request.min_anomalies
        and (not request.datasets or ref.dataset in request.datasets)
    )


def _sampled(found: list[SeriesRef], request: SeriesRequest) -> list[SeriesRef]:
    if request.sample is None or request.sample >= len(found):
        return found
    rng = np.random.default_rng(request.sample_seed)
    chosen = rng.choice(len(found), size=request.sample, replace=False)
    return [found[index] for index in sorted(chosen.tolist())]


def _distinct(series: Iterable[SeriesRef], notes: list[str]) -> list[SeriesRef]:
    """One of each content: the same series under two names would count twice in every mean."""
    seen: dict[str, SeriesRef] = {}
    for ref in series:
        first = seen.setdefault(ref.hash, ref)
        if first is not ref and first.source != ref.source:
            notes.append(f"{ref.title} has the content of {first.title}; it is run once")
    return list(seen.values())


# -- scores of others --------------------------------------------------------------------------


def _external(
    request: ScoresRequest, series: list[SeriesRef], catalogue: Catalogue, notes: list[str]
) -> Iterator[ImportJob]:
    found = (
        _tables(request, catalogue, notes)
        if request.pattern is None
        else _named_files(request, request.pattern, series, notes)
    )
    count = 0
    for job in found:
        if not request.detectors or job.label in request.detectors:
            count += 1
            yield job
    if not count:
        notes.append(f"{request.folder}: no scores found")


def _tables(request: ScoresRequest, catalogue: Catalogue, notes: list[str]) -> Iterator[ImportJob]:
    """Files that hold value, label and one column per detector."""
    collection = read_collection(request.folder, format="scores")
    notes += unclaimed_files(
        request.folder, collection.skipped, request.names, wanted="value,label,<detector>,..."
    )
    for file in (collection.filter(name=request.names) if request.names else collection).files:
        try:
            ref = catalogue.describe(SeriesSource.file(file.path, "scores", {}))
            columns = _columns(file.path)
        except InvalidInputError as error:
            notes.append(f"cannot be read: {error}")
            continue
        digest = file_digest(file.path)
        for column in columns:
            yield ImportJob(ref, str(file.path.resolve()), column, column, digest)


def _columns(path: Path) -> tuple[str, ...]:
    return Candidate(path).columns[2:]


def _named_files(
    request: ScoresRequest, pattern: str, series: list[SeriesRef], notes: list[str]
) -> Iterator[ImportJob]:
    """Files named after the series and the detector."""
    paths = sorted(path for path in request.folder.rglob("*") if path.is_file())
    keys = {path.relative_to(request.folder).as_posix(): path for path in paths}
    taken = set()
    for ref in series:
        expression = re.compile(_expression(pattern, ref))
        for key, path in keys.items():
            match = expression.fullmatch(key)
            if match is not None:
                taken.add(key)
                label = match.groupdict().get("detector") or request.folder.name
                yield ImportJob(ref, str(path.resolve()), None, label, file_digest(path))
    notes += unfitting_files(request.folder, [key for key in keys if key not in taken], pattern)


def _expression(pattern: str, ref: SeriesRef) -> str:
    known = {"{series}": re.escape(ref.name), "{dataset}": re.escape(ref.dataset)}
    known["{detector}"] = "(?P<detector>[^/]+?)"
    parts = re.split(r"(\{series\}|\{dataset\}|\{detector\})", pattern)
    return "".join(known.get(part, re.escape(part)) for part in parts)

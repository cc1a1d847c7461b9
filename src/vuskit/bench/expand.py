"""Expand a plan into jobs, look up which are finished, and report anything unusual."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np

from vuskit._util.files import check_file
from vuskit._util.optional import installed_versions
from vuskit._util.text import escape_surrogates, listed, match_names, matches_name, plural, quoted
from vuskit.bench.changes import StaleJobs, find_stale_jobs, note_library_versions
from vuskit.bench.jobs import (
    DetectorSpec,
    EvaluateJob,
    ImportJob,
    Job,
    ScoreJob,
    TrainingPart,
    forget_code,
    training_notes,
)
from vuskit.bench.plan import Plan, ScoresFolder, SeriesFolder, SyntheticSeries
from vuskit.bench.series import SeriesRef, SeriesSource, describe_series
from vuskit.datasets import Collection
from vuskit.datasets.collection import read_collection
from vuskit.datasets.columns import Columns, check_windows, window_of
from vuskit.datasets.inputs import FileSource, TableSource, files_in, open_inputs
from vuskit.datasets.layouts import expression_of, key_column
from vuskit.datasets.readers.labels import read_labeled
from vuskit.datasets.readers.registry import Candidate, stem
from vuskit.datasets.row_times import Decision, summarized
from vuskit.datasets.series import SeriesName, unique_names
from vuskit.datasets.tables import open_table
from vuskit.engine import Status
from vuskit.errors import InvalidInputError
from vuskit.store.identity import canonical, file_digest, import_object
from vuskit.store.store import Store

_BATCH = 64
_WITHOUT_TRAINING_PART = ("labels", "scores")  # formats that take it from the file name only
_SeriesNames: TypeAlias = tuple[str | None, str]  # data set and series


class _SeriesCatalog:
    """Cache of series descriptions; reads only series that are new or whose files changed."""

    def __init__(self, store: Store, *, reread: bool = False) -> None:
        self._store = store
        rows = [] if reread else store.rows("sources")
        self._known = {(row["spec"], row["stamp"]): row["facts"] for row in rows}
        self._refs: dict[str, SeriesRef] = {}
        self._stamps: dict[str | None, str] = {}
        self._new: list[tuple[str, str, str]] = []

    def describe(self, source: SeriesSource) -> SeriesRef:
        """Describe a series, reading it if it is new or changed."""
        if source.spec not in self._refs:
            self._refs[source.spec] = self._described(source)
        return self._refs[source.spec]

    def _described(self, source: SeriesSource) -> SeriesRef:
        if source.format_name not in self._stamps:
            self._stamps[source.format_name] = source.stamp()
        stamp = self._stamps[source.format_name]
        known = self._known.get((source.spec, stamp))
        if known is not None:
            ref = SeriesRef.from_facts(json.loads(known), source)
            if not source.changed_files(ref.files):
                return ref
        ref = describe_series(source)
        self._new.append((source.spec, stamp, canonical(ref.facts())))
        if len(self._new) >= _BATCH:
            self.save()
        return ref

    def save(self) -> None:
        """Store the new descriptions."""
        self._store.add_sources(self._new)
        self._new = []


@dataclass
class ExpandedPlan:
    """Jobs of a plan, and which of them are finished."""

    plan: Plan
    scores: list[ScoreJob | ImportJob]
    notes: list[str]
    statuses: dict[str, Status] = field(default_factory=dict)
    stale: tuple[StaleJobs, ...] = ()

    @cached_property
    def planned(self) -> list[Job]:
        """All jobs, each followed by its evaluations; jobs that differ by name share a key."""
        return [job for score in self.scores for job in (score, *self._evaluations(score))]

    @cached_property
    def jobs_by_key(self) -> dict[str, Job]:
        """Jobs with different keys."""
        return {job.key: job for job in self.planned}

    @property
    def jobs(self) -> Iterable[Job]:
        """Jobs with different keys."""
        return self.jobs_by_key.values()

    def _evaluations(self, score: ScoreJob | ImportJob) -> Iterator[EvaluateJob]:
        """Evaluations of a score: vuskit's measures together, each other measure by itself."""
        for entry in self.plan.evaluations:
            own = tuple(one for one in entry.measures if one.code.is_own)
            others = ((one,) for one in entry.measures if not one.code.is_own)
            for measures in filter(None, (own, *others)):
                yield EvaluateJob(
                    score.series,
                    score.key,
                    entry.settings,
                    measures,
                    score.label,
                    entry.train_length,
                    score.seed,
                )

    @cached_property
    def library_versions(self) -> dict[str, str]:
        """Versions of vuskit, NumPy and the libraries of detectors and measures, and the core."""
        codes = [detector.code for detector in self.plan.detectors]
        codes += [one.code for entry in self.plan.evaluations for one in entry.measures]
        return installed_versions({name for code in codes for name in code.libraries})

    def todo(self) -> list[Job]:
        """Jobs that are not finished, without evaluations of scores that failed."""
        return [
            job
            for job in self.jobs
            if job.key not in self.statuses
            and (
                not isinstance(job, EvaluateJob)
                or self.statuses.get(job.parent, Status.OK) is Status.OK
            )
        ]

    def done(self) -> list[Job]:
        """Jobs that are finished."""
        return [job for job in self.jobs if job.key in self.statuses]


def expand_plan(
    plan: Plan,
    store: Store,
    *,
    reread: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ExpandedPlan:
    """Expand a plan into jobs, read new series, and look up finished jobs."""
    plan = _with_current_code(plan)
    catalog = _SeriesCatalog(store, reread=reread)
    notes: list[str] = []
    report = progress or (lambda _: None)
    try:
        planned = _distinct(_all_series(plan, catalog, notes, report), notes)
        tables = {
            place: list(
                _any_form(request, catalog, notes, report)
                if request.any_form
                else _tables(f"scores[{place}]", request, catalog, notes)
            )
            for place, request in enumerate(plan.scores)
            if request.any_form or request.pattern is None
        }
        named = _with_unique_names([*planned, *(job.series for job in chain(*tables.values()))])
        if plan.detectors and not plan.series:
            planned = _with_values(chain(*tables.values()), notes)
        series = [named[ref.hash] for ref in planned]
        jobs: list[ScoreJob | ImportJob] = [
            ScoreJob(ref, detector, seed)
            for ref in series
            for detector in plan.detectors
            for seed in (plan.seeds if detector.stochastic else (None,))
        ]
        notes += series_notes(series, plan.detectors)
        nan = _policy(plan) if plan.scores else "error"
        for place, request in enumerate(plan.scores):
            where = f"scores[{place}]"
            imported = (
                _named_files(where, request, request.pattern, series, notes)
                if request.pattern is not None and not request.any_form
                else (replace(job, series=named[job.series.hash]) for job in tables[place])
            )
            imported = (replace(job, nan=nan) for job in imported)
            found = _selected(where, request, list(imported), notes)
            _check_labels(f"scores[{place}]", found, plan.detectors)
            jobs.extend(_imported_once(found, jobs, notes))
    except InvalidInputError as error:
        raise InvalidInputError(f"{plan.name}: {error}") from error
    finally:
        catalog.save()
    expanded = ExpandedPlan(plan, jobs, notes, store.statuses())
    if not jobs:
        reasons = "; ".join(notes) or "no file matches"
        raise InvalidInputError(f"the plan must select at least one series, got none: {reasons}")
    known = {job.series.hash: job.series for job in jobs}.values()
    asked = {entry.train_length for entry in plan.evaluations}
    expanded.notes += training_notes(list(map(_training_part, known)), asked)
    expanded.stale = find_stale_jobs(expanded.todo(), store)
    expanded.notes += note_library_versions(
        result for named, result in store.planned() if result and named.key in expanded.jobs_by_key
    )
    return expanded


def _with_values(imported: Iterable[ImportJob], notes: list[str]) -> list[SeriesRef]:
    """Return the series of imported scores on which detectors can run."""
    found = {job.series.hash: job.series for job in imported}.values()
    kept = [ref for ref in found if ref.n_missing < ref.n_points * ref.n_channels]
    if found and not kept:
        raise InvalidInputError(
            "[[detectors]] beside [[scores]] must have the values of the series, got scores and "
            "labels only; name the column with `value`, or add [[series]]"
        )
    if len(kept) < len(found):
        lacking = [ref.title for ref in found if ref not in kept]
        notes.append(f"no detectors run, without values: {listed(lacking, most=_SHOWN)}")
    return kept


def _policy(plan: Plan) -> str:
    """Return what to do with missing scores, which are decided when scores are imported."""
    found = sorted({entry.settings.nan for entry in plan.evaluations})
    if len(found) > 1:
        raise InvalidInputError(
            "`nan` must be the same in all evaluations of imported scores, got "
            f"{' and '.join(found)}; write a plan for each"
        )
    return found[0]


def _training_part(ref: SeriesRef) -> TrainingPart:
    length = ref.source.declared_train_length
    if length is None and ref.source.format_name not in _WITHOUT_TRAINING_PART:
        length = 0  # known when the file is read
    return TrainingPart(ref.title, ref.name, ref.n_points, length)


def _with_current_code(plan: Plan) -> Plan:
    """Refuse modules that changed since the plan was read, and clear cached code digests."""
    for module in plan.imports:
        import_object(module, plan.base)
    forget_code()
    return replace(plan, detectors=tuple(replace(one) for one in plan.detectors))


def _check_labels(
    where: str, imported: Iterable[ImportJob], detectors: Iterable[DetectorSpec]
) -> None:
    """Reject imported scores with the label of a detector, because tables would average both."""
    taken = sorted({job.label for job in imported} & {one.label for one in detectors})
    if taken:
        raise InvalidInputError(
            f"`{where}` must not use labels of [[detectors]], got {taken[0]!r} in both; "
            "give the detector another `label`"
        )


def _all_series(
    plan: Plan, catalog: _SeriesCatalog, notes: list[str], progress: Callable[[int], None]
) -> Iterator[SeriesRef]:
    count = 0
    for place, request in enumerate(plan.series):
        for ref in _requested(f"series[{place}]", request, catalog, notes):
            count += 1
            progress(count)
            yield ref


def _requested(
    where: str, request: SeriesFolder | SyntheticSeries, catalog: _SeriesCatalog, notes: list[str]
) -> Iterable[SeriesRef]:
    if isinstance(request, SyntheticSeries):
        return [_synthetic(entry, catalog) for entry in request.grid]
    folder = Path(request.folder)
    if request.labels is not None:
        sources = _with_intervals(where, request, Path(request.labels), notes)
    else:
        collection = read_collection(folder, format=request.format, **request.options)
        files = _named(where, collection, request.names)
        if not files:
            notes.append(f"{folder}: no file has a known format")
        notes += unclaimed_files(folder, collection.skipped, request.names)
        sources = [SeriesSource.file(one.path, one.format.name, dict(one.options)) for one in files]
    found = []
    for source in sources:
        try:
            ref = catalog.describe(source)
        except InvalidInputError as error:
            notes.append(f"skipped a series that cannot be read: {error}")
            continue
        found.append(ref)
    if request.datasets and found:
        datasets = sorted({ref.dataset for ref in found})
        wanted = match_names(datasets, request.datasets, argument=f"{where}.datasets")
        found = [ref for ref in found if ref.dataset in wanted]
    return _sampled([ref for ref in found if _fits(ref, request)], request)


def _with_intervals(
    where: str, request: SeriesFolder, labels: Path, notes: list[str]
) -> list[SeriesSource]:
    """Return the series of a folder, labeled by intervals in one file."""
    folder, options = Path(request.folder), dict(request.options)
    check_file(labels)
    keys = {path.relative_to(folder).as_posix(): path for path in files_in(folder, labels)}
    for pattern in request.names:
        if not any(_is_called(key, pattern) for key in keys):
            match_names(list(keys), pattern, argument=f"{where}.names")
    columns = Columns(
        start=options.get("start"), end=options.get("end"), labels_by=options.pop("key", None)
    )
    column = key_column(labels, columns, [stem(path) for path in keys.values()], notes)
    sources, decisions = [], list[Decision]()
    for key, path in keys.items():
        if request.names and not any(_is_called(key, one) for one in request.names):
            continue
        given = {"points": str(path.resolve()), "name": stem(path), **options}
        given.setdefault("dataset", path.resolve().parent.name)
        if column is not None:
            given |= {"key": column, "series": stem(path)}
        labeled = read_labeled(labels, open_table, **given)
        if np.isnan(labeled.series.values).all():
            raise InvalidInputError(
                f"{path}: there must be a column of values; name it in `{where}`, for example "
                'options = {value = "flow"}'
            )
        decisions += labeled.decisions
        sources.append(SeriesSource.file(labels, "labels", given))
    notes += summarized(decisions)
    return sources


def _named(where: str, collection: Collection, patterns: Sequence[str]) -> list[Any]:
    """Files of a collection that the patterns select, by path."""
    files = sorted(collection.files, key=lambda file: str(file.path))
    if not patterns:
        return files
    for pattern in patterns:
        if not any(_is_called(file.key, pattern) for file in files):
            match_names([file.key for file in files], pattern, argument=f"{where}.names")
    return [file for file in files if any(_is_called(file.key, one) for one in patterns)]


def _is_called(key: str, pattern: str) -> bool:
    """Whether a pattern matches a file: its path, its name, or the name of its series."""
    plain = key.removesuffix(".gz")
    names = (key, plain, plain.removesuffix(PurePosixPath(plain).suffix))
    return any(matches_name(name, pattern) for name in names)


def _synthetic(arguments: dict[str, Any], catalog: _SeriesCatalog) -> SeriesRef:
    try:
        return catalog.describe(SeriesSource.synthetic(arguments))
    except InvalidInputError as error:
        raise InvalidInputError(f"`series` {arguments}: {error}") from error


def _fits(ref: SeriesRef, request: SeriesFolder) -> bool:
    most = request.max_points or ref.n_points
    enough = request.min_points <= ref.n_points <= most
    return enough and ref.n_anomalies >= request.min_anomalies


def _sampled(found: list[SeriesRef], request: SeriesFolder) -> list[SeriesRef]:
    if request.sample is None or request.sample >= len(found):
        return found
    rng = np.random.default_rng(request.sample_seed)
    chosen = rng.choice(len(found), size=request.sample, replace=False)
    return [found[index] for index in sorted(chosen.tolist())]


def _distinct(series: Iterable[SeriesRef], notes: list[str]) -> list[SeriesRef]:
    """Drop duplicates: the same series under two names would count twice in every mean."""
    seen: dict[str, SeriesRef] = {}
    for ref in series:
        first = seen.setdefault(ref.hash, ref)
        if first is not ref and first.source != ref.source:
            names = (
                (ref.source.path, first.source.path)
                if ref.title == first.title
                else (ref.title, first.title)
            )
            notes.append(f"{names[0]} is identical to {names[1]}; it runs only once")
    return list(seen.values())


def _with_unique_names(series: Iterable[SeriesRef]) -> dict[str, SeriesRef]:
    """Series by content hash, with unique names."""
    first: dict[str, SeriesRef] = {}
    for ref in series:
        first.setdefault(ref.hash, ref)
    names = unique_names(
        [SeriesName(ref.dataset, ref.name, ref.source.path, ref.hash) for ref in first.values()]
    )
    return {
        ref.hash: replace(ref, dataset=dataset, name=name)
        for ref, (dataset, name) in zip(first.values(), names, strict=True)
    }


# -- imported scores ---------------------------------------------------------------------------


def _selected(
    where: str, request: ScoresFolder, found: list[ImportJob], notes: list[str]
) -> list[ImportJob]:
    """Imported scores of the detectors that the plan selects."""
    if not found:
        notes.append(f"{request.folder}: no scores found")
    labels = list(dict.fromkeys(job.label for job in found))
    check_windows(request.window, labels, f"{where}.window")
    if found and request.detectors:
        wanted = match_names(labels, request.detectors, argument=f"{where}.detectors")
        found = [job for job in found if job.label in wanted]
    return found


def _imported_once(
    found: Iterable[ImportJob], earlier: Iterable[Job], notes: list[str]
) -> list[ImportJob]:
    """Keep one set of scores per series and detector, because tables would average several."""
    first = {(job.series.hash, job.label): job for job in earlier if isinstance(job, ImportJob)}
    kept = []
    for job in found:
        known = first.setdefault((job.series.hash, job.label), job)
        if known.key == job.key:
            kept.append(job)
        else:
            notes.append(
                f"{job.path} is ignored: its scores of {job.label} on {job.series.title} differ "
                f"from those in {known.path}, although values and labels are the same"
            )
    return kept


def _tables(
    where: str, request: ScoresFolder, catalog: _SeriesCatalog, notes: list[str]
) -> Iterator[ImportJob]:
    """Files with the columns value, label and one per detector."""
    folder = Path(request.folder)
    collection = read_collection(folder, format="scores")
    notes += unclaimed_files(
        folder, collection.skipped, request.names, wanted="value,label,<detector>,..."
    )
    for file in _named(where, collection, request.names):
        try:
            ref = catalog.describe(SeriesSource.file(file.path, "scores", {}))
            columns = Candidate(file.path).columns[2:]
        except InvalidInputError as error:
            notes.append(f"skipped a series that cannot be read: {error}")
            continue
        digest = file_digest(file.path)
        for column in columns:
            yield ImportJob(
                ref,
                str(file.path.resolve()),
                column,
                column,
                digest,
                request.align,
                window_of(request.window, column),
            )


def _any_form(
    request: ScoresFolder,
    catalog: _SeriesCatalog,
    notes: list[str],
    progress: Callable[[int], None],
) -> Iterator[ImportJob]:
    """Files of any supported form, with labels in the same file or in another one."""
    found = open_inputs(
        [Path(request.folder) / name for name in request.files] or request.folder,
        labels=request.labels,
        pattern=request.pattern,
        columns=request.columns,
        align=(request.align or "center") if request.window is not None else None,
        window=request.window,
    )
    notes += found.notes
    owners: dict[str, _SeriesNames] = {}
    digests: dict[Path, str] = {}
    decisions: list[Decision] = []
    for place, one in enumerate(found):
        assert isinstance(one, FileSource | TableSource)
        labels = one.labels
        source = SeriesSource.file(labels.path, labels.format, dict(labels.options))
        names = one.dataset, one.series
        try:
            ref = _own_content(source, names, catalog, owners)
            loaded = one.load()
        except InvalidInputError as error:
            notes.append(f"skipped a series that cannot be read: {error}")
            continue
        finally:
            progress(place + 1)
        decisions += loaded.decisions
        read = {score.detector: score for score in loaded.scores}
        known = replace(ref, dataset=one.dataset or ref.dataset, name=one.series)
        for score in one.scores:
            if score.path not in digests:
                digests[score.path] = file_digest(score.path)
            window, aligned = score.window, read[score.detector].aligned
            if window == "auto" and not isinstance(read[score.detector].numbers, Exception):
                window = None if aligned is None else aligned[1]
            yield ImportJob(
                known,
                str(score.path.resolve()),
                score.column,
                score.detector,
                digests[score.path],
                request.align,
                window,
                one.part,
                reading=tuple(request.reading().items()),
            )
    notes += summarized(decisions)


def _own_content(
    source: SeriesSource,
    names: _SeriesNames,
    catalog: _SeriesCatalog,
    owners: dict[str, _SeriesNames],
) -> SeriesRef:
    """Describe a series; series without values but with equal labels become variants."""
    for variant in count():
        ref = catalog.describe(source.with_options(variant=variant) if variant else source)
        has_values = ref.n_missing < ref.n_points * ref.n_channels
        if has_values or owners.setdefault(ref.hash, names) == names:
            break
    return ref


def _named_files(
    where: str, request: ScoresFolder, pattern: str, series: list[SeriesRef], notes: list[str]
) -> Iterator[ImportJob]:
    """Files whose names match the pattern of series and detector."""
    folder = Path(request.folder)
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    keys = {path.relative_to(folder).as_posix(): path for path in paths}
    titles = {ref.title for ref in series}
    if request.names:
        titles = set(match_names(sorted(titles), request.names, argument=f"{where}.names"))
    taken: dict[str, list[str]] = {}
    for ref in series:
        if ref.title not in titles:
            continue
        expression = expression_of(pattern, series=ref.name, dataset=ref.dataset)
        for key, path in keys.items():
            match = expression.fullmatch(key)
            if match is not None:
                taken.setdefault(key, []).append(ref.title)
                label = escape_surrogates(match.groupdict().get("detector") or folder.name)
                yield ImportJob(
                    ref,
                    str(path.resolve()),
                    None,
                    label,
                    file_digest(path),
                    request.align,
                    window_of(request.window, label),
                )
    others = [key for key in keys if key not in taken]
    if others:
        verb = "does" if len(others) == 1 else "do"
        reason = f"that {verb} not match {pattern!r} for any series"
        notes.append(_skipped(folder, others, reason))
    notes += [
        f"{folder}: {key!r} matches {pattern!r} for several series and is used for each: "
        f"{listed(titles, most=_SHOWN)}; add {{dataset}} to the pattern to distinguish them"
        for key, titles in taken.items()
        if len(titles) > 1
    ]


# -- notes about files -----------------------------------------------------------------------


_SHOWN = 6


def unclaimed_files(
    folder: Path, paths: Iterable[Path], names: Sequence[str], *, wanted: str | None = None
) -> list[str]:
    """Note the files of a folder that no format can read."""
    keys = [path.relative_to(folder).as_posix() for path in paths]
    kept = [key for key in keys if not names or any(_is_called(key, name) for name in names)]
    if not kept:
        return []
    reason = (
        "of unknown format (a table needs a label column)"
        if wanted is None
        else f"without the header {wanted}"
    )
    return [_skipped(folder, kept, reason)]


def series_notes(series: Iterable[SeriesRef], detectors: Iterable[DetectorSpec]) -> list[str]:
    """Note columns that are not used as channels, and series with missing values."""
    by_reason: dict[str, list[str]] = {}
    missing = []
    for ref in series:
        for column in ref.left_out:
            by_reason.setdefault(column, []).append(ref.title)
        if ref.n_missing:
            missing.append(ref.title)
    notes = [
        f"column not used as a channel: {column}, in {listed(titles, most=_SHOWN)}; "
        "select channels with options = {values = [...]}"
        for column, titles in by_reason.items()
    ]
    unready = [one.label for one in detectors if json.loads(one.params).get("impute") is None]
    if missing and unready:
        labels = listed(list(dict.fromkeys(unready)), most=_SHOWN)
        notes.append(
            f"missing values (NaN) in {listed(missing, most=_SHOWN)}; "
            f"these detectors fail there unless you set `impute`: {labels}"
        )
    return notes


def _skipped(folder: Path, names: Sequence[str], reason: str) -> str:
    return f"{folder}: skipped {plural(len(names), 'file')} {reason}: {quoted(names, most=_SHOWN)}"

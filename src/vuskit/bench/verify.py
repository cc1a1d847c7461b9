"""Check a run folder or a pack: files, keys, names, and values recomputed from the scores."""

from __future__ import annotations

import contextlib
import sqlite3
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from vuskit._util.tables import csv_text
from vuskit._util.text import quoted
from vuskit.bench.jobs import DetectorSpec, EvaluateJob, EvaluateResult, Kind, evaluate_scores
from vuskit.bench.permission import is_known, stored_action, stored_buffer, stored_code
from vuskit.bench.plan import detector_specs, make_plan
from vuskit.bench.run import Run
from vuskit.bench.series import RunSeries
from vuskit.buffers import reads_values
from vuskit.datasets import Series
from vuskit.detectors.registry import detector_class
from vuskit.engine import (
    Status,
)
from vuskit.engine.tasks import NotApplicableError
from vuskit.errors import InvalidInputError, MissingDependencyError, VuskitError
from vuskit.measures.registry import list_measures
from vuskit.measures.settings import EvaluationSettings
from vuskit.store.identity import canonical, import_object, importable, key_of
from vuskit.store.pack import PLAN, VALUES, member_problems
from vuskit.store.store import DamagedStoreError, Named, Result, Store, encoded, value_digest

# The native core, NumPy and different machines agree within this tolerance.
_TOLERANCE = 1e-9
_MOST_LINES = 10
_COLUMNS = (
    "dataset", "series", "detector", "seed", "settings", "measure", "status", "value", "buffer",
    "buffer_reason", "fit_seconds", "score_seconds", "detector_identity", "measure_identity",
    "score_key", "evaluate_key",
)  # fmt: skip
_MEASURE_FACTS = ("title", "family", "bounds", "higher_is_better", "reference")


@dataclass
class Verification:
    """Result of `Run.verify`.

    Attributes
    ----------
    n_files, n_values : int
        Number of score files read, and of values recomputed.
    problems : list of str
        One message per problem; empty if everything is correct.
    broken : list of str
        Keys of jobs whose score files are missing or changed; see `Store.forget`.
    n_results : int
        Number of results compared with their keys and digests.
    n_skipped : int
        Number of evaluations not recomputed, because that would run custom code.
    n_earlier : int
        Number of evaluations from earlier plans that the latest plan does not request. They are
        not recomputed, because their data and code may have changed.
    n_stored_buffers : int
        Number of recomputed evaluations whose buffer depends on values that are not available, so
        that the stored buffer was used.
    code : list of str
        The code that was not run, as ``module`` or ``module:object`` with its file.
    n_members : int
        Number of members of a pack that were compared with their digests.
    without_scores : bool
        Whether this is a pack without scores, so that no value can be recomputed.
    """

    n_files: int = 0
    n_values: int = 0
    problems: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    n_results: int = 0
    n_skipped: int = 0
    n_earlier: int = 0
    n_stored_buffers: int = 0
    code: list[str] = field(default_factory=list)
    n_members: int = 0
    without_scores: bool = False


def packed_values(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of ``values.csv`` in a pack."""
    cells = [[row[name] for name in _COLUMNS] for row in rows]
    cells.sort(key=lambda row: [(cell is not None, str(cell)) for cell in row[:6]])
    return csv_text(_COLUMNS, cells) + "\n"


def verify_run(
    run: Run,
    *,
    sample: int | None,
    seed: int,
    allow_code: bool,
    progress: Callable[[int, int], None] | None,
) -> Verification:
    """Check a run; see `Run.verify`."""
    found = Verification()
    try:
        with Store.read(run.folder) as store:
            _Check(run, store, found, allow_code, progress or (lambda done, total: None)).run_all(
                sample, seed
            )
    except (sqlite3.DatabaseError, DamagedStoreError) as error:
        found.problems.append(f"database: {error}; the rest cannot be checked")
    found.problems = list(dict.fromkeys(found.problems))
    found.code = list(dict.fromkeys(found.code))
    return found


class _Check:
    """Checks of one run; a problem does not stop the remaining checks."""

    def __init__(
        self,
        run: Run,
        store: Store,
        found: Verification,
        allow_code: bool,
        progress: Callable[[int, int], None],
    ) -> None:
        self._run = run
        self._store = store
        self._found = found
        self._allow_code = allow_code
        self._progress = progress
        self._buffers: dict[tuple[str, str], tuple[str, Any]] = {}

    def run_all(self, sample: int | None, seed: int) -> None:
        store, found = self._store, self._found
        found.problems += [f"database: {line}" for line in store.damages()]
        if store.archive is not None:
            found.n_members = len(store.archive.manifest["members"])
            found.problems += member_problems(store.archive)
            found.without_scores = not store.archive.manifest.get("scores")
            self._attempt(self._check_pack)
        self._attempt(self._check_measures)
        planned: list[tuple[Named, Result | None]] = []
        results: list[Result] = []
        self._attempt(lambda: planned.extend(store.planned()))
        self._attempt(lambda: results.extend(store.results()))
        self._series: dict[str, RunSeries] = {}
        self._attempt(self._check_series)
        for result in results:
            self._attempt(lambda one=result: self._check_result(one))  # type: ignore[misc]
        self._attempt(lambda: self._check_plan(planned))
        self._scored = {_place(named) for named, _ in planned if named.kind != Kind.EVALUATE}
        for pair in planned:
            self._attempt(lambda pair=pair: self._check_names(*pair))  # type: ignore[misc]
        requested = {named.key for named, _ in planned}
        evaluated = sorted(
            (one for one in results if one.kind == Kind.EVALUATE and one.status is Status.OK),
            key=lambda one: one.key,
        )
        order = np.random.default_rng(seed).permutation(len(evaluated))[:sample]
        chosen = [evaluated[place] for place in sorted(order.tolist())]
        scored = [one for one in results if one.kind != Kind.EVALUATE and one.status is Status.OK]
        if found.without_scores:
            scored, chosen = [], []
        total = len(scored) + len(chosen)
        for place, result in enumerate(scored):
            self._check_scores(result.key)
            self._progress(place + 1, total)
        if store.archive is None:
            known = {one.key for one in scored}
            found.problems += [
                f"{path}: belongs to no job; a killed run probably left it, and the next run "
                "replaces it"
                for key, path in store.score_files().items()
                if key not in known
            ]
        for place, result in enumerate(chosen):
            if result.key in requested:
                self._attempt(lambda one=result: self._recompute(one))  # type: ignore[misc]
            else:
                found.n_earlier += 1
            self._progress(len(scored) + place + 1, total)

    def _attempt(self, check: Callable[[], object]) -> None:
        try:
            check()
        except VuskitError as error:
            self._found.problems.append(str(error))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            self._found.problems.append(f"database: invalid content: {error!r}")

    # -- stored facts ----------------------------------------------------------------------------

    def _check_pack(self) -> None:
        archive = self._store.archive
        assert archive is not None
        if archive.read(PLAN).decode(errors="replace") != self._store.latest().plan:
            self._found.problems.append(f"{PLAN}: differs from the plan in starts.jsonl")
        packed = archive.read(VALUES).decode(errors="replace").splitlines()
        expected = packed_values(self._run.value_rows()).splitlines()
        differing = [
            f"{VALUES}, line {number}: must be {then!r} according to the tables, got {now!r}"
            for number, (then, now) in enumerate(zip(expected, packed, strict=False), start=1)
            if then != now
        ]
        if len(packed) != len(expected):
            differing.append(f"{VALUES} must have {len(expected):,} lines, got {len(packed):,}")
        self._found.problems += differing[:_MOST_LINES]
        if len(differing) > _MOST_LINES:
            more = len(differing) - _MOST_LINES
            self._found.problems.append(f"{VALUES}: {more:,} more lines differ")

    def _check_measures(self) -> None:
        """Compare titles and directions with the measures of this version."""
        known = {measure.name: measure for measure in list_measures()}
        stored = self._run.measures()
        for row in self._store.rows("measures"):
            measure = stored[row["name"]]
            registered = known.get(row["name"].partition("(")[0])
            if registered is None:
                continue
            for fact in _MEASURE_FACTS:
                expected = getattr(registered, fact)
                same = getattr(measure, fact) == expected or (
                    fact == "title" and "(" in row["name"] and measure.title.startswith(expected)
                )
                if not same:
                    self._found.problems.append(
                        f"measure {row['name']}: its {fact} must be {expected!r}, got "
                        f"{getattr(measure, fact)!r}"
                    )

    def _check_series(self) -> None:
        for row in self._store.rows("series"):
            one = RunSeries.of(row)
            last = -1
            for start, stop in one.events:
                if not last < start < stop <= one.n_points:
                    raise InvalidInputError(
                        f"labels of {one.title} must be intervals within the series, got an "
                        f"anomaly from {start} to {stop}"
                    )
                last = stop
            self._series[one.hash] = one

    def _check_result(self, result: Result) -> None:
        """Compare a result with its key and its digest."""
        self._found.n_results += 1
        where = f"job {result.key}"
        if not result.environment:
            self._found.problems.append(f"{where}: names no versions of libraries")
        if key_of(result.kind, result.about, result.parent) != result.key:
            self._found.problems.append(f"{where}: what it depends on differs from its key")
        if result.status is not Status.OK and result.value is not None:
            self._found.problems.append(f"{where}: failed, but has values")
        if result.kind != Kind.EVALUATE or result.status is not Status.OK:
            return
        if value_digest(encoded(result.value)) != result.digest:
            self._found.problems.append(f"{where}: its values differ from their checksum")
        unknown = result.value["values"].keys() - result.about["measures"].keys()
        if unknown:
            self._found.problems.append(
                f"{where}: has values of {quoted(sorted(unknown))}, which it did not compute"
            )

    def _check_plan(self, planned: list[tuple[Named, Result | None]]) -> None:
        """Compare detectors and settings with the text of the plan, without importing code."""
        try:
            plan = tomllib.loads(self._store.latest().plan)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInputError(f"{PLAN}: must be TOML, got: {error}") from error
        entries = [{**entry, "measures": "paper"} for entry in plan.get("evaluate", [])]
        made = {"detectors": [{"name": "random"}], "series": [{"family": "ecg"}]}
        known = make_plan({**made, "evaluate": entries}, base=Path(), name=PLAN).evaluations
        allowed = {entry.text for entry in known}
        detectors = {
            (named.detector, result.about["detector"], canonical(result.about["params"]))
            for named, result in planned
            if named.kind == Kind.SCORE and result is not None
        }
        for named, _ in planned:
            if named.settings is not None and named.settings not in allowed:
                self._found.problems.append(
                    f"{PLAN}: has no settings {named.settings!r} of job {named.key}"
                )
        given = list(_detectors(plan))
        for label, name, params in sorted(detectors):
            is_given = any(
                (spec.label, spec.name) == (label, name) and _has_params(spec, params)
                for spec in given
            )
            if not is_given and (":" in name or is_known(detector_class, name)):
                self._found.problems.append(
                    f"{PLAN}: has no detector {label!r} that is `{name}` with {params}"
                )

    def _check_names(self, named: Named, result: Result | None) -> None:
        """Compare a result with its names in the plan."""
        where = f"job {named.key}"
        if result is None:
            return
        differing = [
            name for name in ("kind", "parent") if getattr(named, name) != getattr(result, name)
        ]
        one = self._series[named.hash]
        if (named.dataset, named.series) != (one.dataset, one.name):
            differing.append("series")
        if named.kind == Kind.SCORE and (named.seed or 0) != result.about["seed"]:
            differing.append("seed")
        if named.kind == Kind.EVALUATE:
            settings = EvaluationSettings.from_dict(result.about["settings"])
            if (named.settings or "").partition(", train_length=")[0] != str(settings):
                differing.append("settings")
            if named.hash != result.about["series"]:
                differing.append("series")
            if _place(named) not in self._scored:
                differing.append("detector")
        if differing:
            self._found.problems.append(
                f"{where}: its name in the plan does not match its {', '.join(differing)}"
            )
        if named.kind == Kind.EVALUATE and result.status is Status.OK:
            self._check_buffer(where, named, result)

    def _check_buffer(self, where: str, named: Named, result: Result) -> None:
        """All detectors must have the same buffer on a series."""
        if result.value["buffer"] is None:
            return
        place = named.hash, str(named.settings)
        other, buffer = self._buffers.setdefault(place, (named.detector, result.value["buffer"]))
        if buffer != result.value["buffer"]:
            self._found.problems.append(
                f"{where}: its buffer is {result.value['buffer']} for {named.detector}, but "
                f"{buffer} for {other} on the same series"
            )

    def _check_scores(self, key: str) -> None:
        self._found.n_files += 1
        try:
            self._store.scores(key)
        except VuskitError as error:
            self._found.broken.append(key)
            self._found.problems.append(str(error))

    # -- values ----------------------------------------------------------------------------------

    def _recompute(self, result: Result) -> None:
        """Compute an evaluation again from settings, labels and scores."""
        action = stored_action(self._store, result)
        if self._store.archive is not None:  # modules may be next to the pack
            action = replace(action, base=self._store.folder.resolve().parent)
        job = action.job
        assert isinstance(job, EvaluateJob)
        code = stored_code(action)
        if code and not self._allow_code:
            self._found.n_skipped += 1
            self._found.code += code
            return
        where = f"job {result.key} ({job.title})"
        scores = self._store.scores(str(result.parent))
        series, settings = self._inputs(job, result)
        with importable(action.base if code else None):
            for module in action.imports if code else ():
                import_object(module, action.base)
            try:
                again = evaluate_scores(replace(job, evaluation=settings), scores, series)
            except NotApplicableError as error:
                raise InvalidInputError(f"{where}: cannot be recomputed: {error}") from error
            except Exception as error:  # measures can raise anything
                raise InvalidInputError(
                    f"{where}: cannot be recomputed: {type(error).__name__}: {error}"
                ) from error
        self._compare(where, result, again)

    def _inputs(self, job: EvaluateJob, result: Result) -> tuple[Series, EvaluationSettings]:
        """Series and settings; the stored buffer if it depends on values that are missing."""
        one, settings = self._series[job.series.hash], job.evaluation
        has_no_values = job.series.n_missing == one.n_points * one.n_channels
        if has_no_values or not reads_values(settings.buffer):
            return one.without_values(), settings
        if one.has_values:
            series = one.read()
            if series.events != one.events:
                raise InvalidInputError(
                    f"labels of {one.title} must be those of the series, got other anomalies"
                )
            return series, settings
        if result.value["buffer"] is None:
            return one.without_values(), settings
        self._found.n_stored_buffers += 1
        return one.without_values(), settings.replace(buffer=stored_buffer(result.value))

    def _compare(self, where: str, result: Result, again: EvaluateResult) -> None:
        stored = result.value["values"]
        self._found.n_values += len(stored)
        if again.buffer != result.value["buffer"]:
            self._found.problems.append(
                f"{where}: its buffer is stored as {result.value['buffer']}, but its settings give "
                f"{again.buffer}"
            )
        for name in sorted({*stored, *again.values}):
            then, now = stored.get(name), again.values.get(name)
            if then is None or now is None or not abs(then - now) <= _TOLERANCE:
                self._found.problems.append(
                    f"{where}: {name} is stored as {then}, but recomputed as {now}"
                )


def _place(named: Named) -> tuple[object, ...]:
    """Key of the scores of a job, with the names that it shares with its evaluations."""
    scores = named.parent if named.kind == Kind.EVALUATE else named.key
    return scores, named.hash, named.dataset, named.series, named.detector, named.seed


def _detectors(plan: dict[str, Any]) -> Iterator[DetectorSpec]:
    for entry in plan.get("detectors", []):
        given = {key: value for key, value in entry.items() if key not in ("name", "label")}
        with contextlib.suppress(InvalidInputError):  # a plug-in that is not installed
            yield from detector_specs(entry["name"], entry.get("label"), given, Path())


def _has_params(spec: DetectorSpec, params: str) -> bool:
    try:
        return canonical(spec.all_params) == params
    except MissingDependencyError:  # it cannot be created here
        return True

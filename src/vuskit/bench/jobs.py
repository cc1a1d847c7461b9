"""Jobs of a benchmark: what the key of each result is made of, and how a worker runs a job."""

from __future__ import annotations

import contextlib
import enum
import functools
import hashlib
import inspect
import io
import json
import math
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import listed, plural
from vuskit.alignment import fill_missing_ends
from vuskit.bench.series import CHANGED_DURING_RUN, SeriesRef
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import aligned_scores
from vuskit.datasets.long_tables import LongTable
from vuskit.datasets.row_times import in_time_order
from vuskit.datasets.tables import EXACT_RULE, LARGEST_EXACT, Table, open_table
from vuskit.detectors import (
    Detector,
    adapt,
    get_detector,
)
from vuskit.detectors.adapters import Adapted, find_model_class, is_model_name
from vuskit.detectors.registry import detector_class
from vuskit.engine import Action
from vuskit.engine.tasks import NotApplicableError, StaleWorkerError
from vuskit.errors import (
    BufferNotFoundError,
    ChangedInputError,
    InvalidInputError,
    MeasureError,
)
from vuskit.inputs import check_choice, rank_missing_lowest
from vuskit.measures.breakdown import alarms_text
from vuskit.measures.evaluate import NO_BUFFER, Evaluator
from vuskit.measures.registry import Measure, get_measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.store.identity import (
    Code,
    canonical,
    changed_modules,
    code_of,
    code_text,
    import_object,
    importable,
    key_of,
    scores_digest,
)
from vuskit.store.store import Named, read_scores

TrainLength: TypeAlias = int | str | None
AUTO = "auto"  # the training part that the series declares


class Kind(enum.StrEnum):
    """Kind of job."""

    SCORE = "score"
    IMPORT = "import"
    EVALUATE = "evaluate"


# -- detectors and measures ------------------------------------------------------------------------


@dataclass(frozen=True)
class DetectorSpec:
    """A detector by name (or ``module:object``) with its parameters."""

    name: str
    params: str
    label: str
    folder: str | None = None

    @classmethod
    def of(cls, name: str, params: dict[str, Any], label: str, folder: str | None) -> DetectorSpec:
        """Create a spec from a mapping of parameters."""
        return cls(name, canonical(params), label, folder)

    def build(self, seed: int) -> Detector:
        """Create the detector."""
        return self._adapted(seed).detector

    def _adapted(self, seed: int) -> Adapted:
        params = json.loads(self.params)
        if ":" in self.name:
            return adapt(self.thing(), params, seed=seed, name=self.name)
        return Adapted(get_detector(self.name, **params, seed=seed), self.thing().stochastic)

    @cached_property
    def all_params(self) -> dict[str, Any]:
        """Every parameter of a registered detector; the given ones of another object."""
        if ":" in self.name:
            return dict(json.loads(self.params))
        found = self.build(0).params
        return {name: value for name, value in found.items() if name != "seed"}

    @cached_property
    def code(self) -> Code:
        """The code that computes the scores, cached per spec."""
        with importable(Path(self.folder) if self.folder else None):
            return self.loaded_code()

    def loaded_code(self) -> Code:
        """Return the code that this process has imported."""
        own = ":" in self.name and not is_model_name(self.name)
        return code_of(self.thing(), self.name.partition(":")[0] if own else None)

    def thing(self) -> Any:
        """Class, instance or function behind the name."""
        if ":" not in self.name:
            return detector_class(self.name)
        if is_model_name(self.name):
            return find_model_class(self.name)
        return import_object(self.name, Path(self.folder) if self.folder else None)

    @cached_property
    def stochastic(self) -> bool:
        """Whether the scores can depend on a seed: a model or function must accept one."""
        return self._adapted(0).stochastic

    def accepts(self, n_channels: int) -> bool:
        """Whether the detector accepts series with this number of channels."""
        return n_channels == 1 or self._multivariate

    @cached_property
    def _multivariate(self) -> bool:
        declared = getattr(self.thing(), "multivariate", None)
        return declared if isinstance(declared, bool) else self.build(0).multivariate


@dataclass(frozen=True)
class MeasureSpec:
    """A measure by name, with options fixed."""

    name: str
    options: str = "{}"

    def build(self) -> Measure:
        """Return the measure."""
        measure, options = get_measure(self.name), json.loads(self.options)
        accepted = inspect.signature(measure.function).parameters
        for option in options:
            check_choice(f"{self.name}.{option}", option, list(accepted)[2:])
        return measure.with_options(**options) if options else measure

    @property
    def full_name(self) -> str:
        """Name with options."""
        return _described(self)[0]

    @property
    def code(self) -> Code:
        """The code of the measure."""
        return _described(self)[1]

    def loaded_code(self) -> Code:
        """Return the code that this process has imported."""
        return code_of(get_measure(self.name).function)


# Needed once per job, and computing it takes as long as a small evaluation.
@functools.lru_cache(maxsize=1024)
def _described(spec: MeasureSpec) -> tuple[str, Code]:
    return spec.build().name, spec.loaded_code()


def forget_code() -> None:
    """Clear the cached code of measures, which may have changed since the last run."""
    _described.cache_clear()


# -- jobs ------------------------------------------------------------------------------------------


class _Named:
    """What all jobs have: a key, and names in the plan."""

    @cached_property
    def key(self: Any) -> str:
        """Key of the result."""
        return key_of(self.kind, self.about, self.parent)

    @property
    def named(self: Any) -> Named:
        """Names of the job in the plan."""
        ref = self.series
        return Named(
            self.key, self.kind, self.parent, ref.dataset, ref.name, ref.hash, self.label,
            self.seed, self.settings, self.path,
        )  # fmt: skip


@dataclass(frozen=True)
class ScoreJob(_Named):
    """Run one detector on one series; `seed` is None if the scores do not depend on it."""

    kind: ClassVar[Kind] = Kind.SCORE
    parent: ClassVar[None] = None
    settings: ClassVar[None] = None
    path: ClassVar[None] = None

    series: SeriesRef
    detector: DetectorSpec
    seed: int | None

    @property
    def obstacle(self) -> str | None:
        """Reason why the detector cannot score the series; None if it can."""
        if self.detector.accepts(self.series.n_channels):
            return None
        return f"{self.label} accepts one channel, but {self.series.title} has more"

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the key is made of; see `vuskit.store.key_of`."""
        return {
            "values": self.series.values_hash,
            "train_length": self.series.train_length,
            "detector": self.detector.name,
            "params": self.detector.all_params,
            "seed": self.seed or 0,
            "code": self.detector.code.parts,
        }

    @property
    def code(self) -> Code:
        """The code of the detector."""
        return self.detector.code

    @property
    def label(self) -> str:
        """Name of the detector in tables."""
        return self.detector.label

    @property
    def title(self) -> str:
        """One line for progress displays."""
        seed = f" seed {self.seed}" if self.seed else ""
        return f"{self.label}{seed} on {self.series.title}"


@dataclass(frozen=True)
class ImportJob(_Named):
    """Import saved scores: read, validate, store."""

    kind: ClassVar[Kind] = Kind.IMPORT
    parent: ClassVar[None] = None
    seed: ClassVar[None] = None
    settings: ClassVar[None] = None
    code: ClassVar[Code] = Code({}, ())

    series: SeriesRef
    path: str
    column: str | None
    label: str
    digest: str
    align: str | None = None
    window: int | str | None = None
    part: tuple[tuple[str, str], ...] = ()  # key columns of a long table, and their cells
    nan: str = "error"
    reading: tuple[tuple[str, str], ...] = ()  # options of the order of rows

    @property
    def anchor(self) -> str:
        """Point of the window that a score belongs to."""
        return self.align or "center"

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the key is made of; see `vuskit.store.key_of`."""
        about: dict[str, Any] = {
            "sha256": self.digest,
            "column": self.column,
            "n_points": self.series.n_points,
        }
        if self.window is not None:
            about |= {"window": self.window, "align": self.anchor}
        if self.part:
            about["part"] = dict(self.part)
        if self.nan != "error":
            about["nan"] = self.nan
        if self.reading:
            about["reading"] = dict(self.reading)
        return about

    @property
    def title(self) -> str:
        """One line for progress displays."""
        return f"{self.label} (external) on {self.series.title}"


@dataclass(frozen=True)
class EvaluateJob(_Named):
    """Compute measures of stored scores."""

    kind: ClassVar[Kind] = Kind.EVALUATE
    path: ClassVar[None] = None

    series: SeriesRef
    parent: str  # key of the scores
    evaluation: EvaluationSettings
    measures: tuple[MeasureSpec, ...]
    label: str
    train_length: TrainLength = None  # leading points that are not evaluated
    seed: int | None = None

    @property
    def settings(self) -> str:
        """The settings in one line."""
        return settings_text(self.evaluation, self.train_length)

    @cached_property
    def about(self) -> dict[str, Any]:
        """What the key is made of; see `vuskit.store.key_of`."""
        return {
            "series": self.series.hash,
            "train_length": evaluated_from(self.series, self.train_length),
            "settings": self.evaluation.to_dict(),
            "measures": {
                one.full_name: {"measure": one.name, "options": json.loads(one.options)}
                for one in self.measures
            },
            "code": self.code.parts,
        }

    @cached_property
    def code(self) -> Code:
        """The code of the measures."""
        found = [one.code for one in self.measures]
        parts = {name: digest for one in found for name, digest in one.parts.items()}
        return Code(parts, tuple(sorted({name for one in found for name in one.libraries})))

    @property
    def title(self) -> str:
        """One line for progress displays."""
        what = (
            self.measures[0].name if len(self.measures) == 1 else f"{len(self.measures)} measures"
        )
        return f"{what} of {self.label} on {self.series.title}"


Job: TypeAlias = ScoreJob | ImportJob | EvaluateJob


def detector_text(kind: str, about: dict[str, Any]) -> str:
    """Everything that determines scores, except the series, in one line."""
    if kind == Kind.IMPORT:
        aligned = f" window={about['window']} at={about['align']}" if "window" in about else ""
        return f"sha256:{about['sha256'][:16]} column={about['column']}{aligned}"
    name, code = about["detector"], code_text(about["code"])
    if ":" in name:
        return f"{name} {canonical(about['params'])} seed={about['seed']} {code}"
    params = sorted({**about["params"], "seed": about["seed"]}.items())
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in params)}) {code}"


def settings_text(settings: EvaluationSettings, train_length: TrainLength) -> str:
    """Settings and the excluded training part, in one line."""
    return f"{settings}, train_length={train_length}" if train_length else str(settings)


def evaluated_from(series: Series | SeriesRef, train_length: TrainLength) -> int:
    """First point of a series that is evaluated."""
    if train_length == AUTO:
        return series.train_length or 0
    return int(train_length or 0)


class TrainingPart(NamedTuple):
    """A series and the length of the training part that its file name declares."""

    title: str
    name: str
    n_points: int
    length: int | None  # 0: the file declares it


def training_notes(series: Sequence[TrainingPart], asked: Collection[TrainLength]) -> Iterator[str]:
    """Describe training parts that are evaluated, and series without a known training part."""
    excluded = max((length for length in asked if isinstance(length, int)), default=0)
    longest = max((one.n_points for one in series), default=excluded + 1)
    if longest <= excluded:
        raise InvalidInputError(
            f"`train_length` must be less than the {longest:,} points of the longest series, "
            f"got {excluded:,}; choose a smaller number"
        )
    declared = [one for one in series if 0 < (one.length or 0) < one.n_points]
    if declared and None in asked:
        yield (
            f"{plural(len(declared), 'series starts', 'series start')} with training data, "
            f"according to the file name, and this part is evaluated too ({declared[0].title}: "
            f"{declared[0].length:,} points); "
            "`train_length` auto leaves it out, 0 hides this note"
        )
    unknown = [one for one in series if one.length is None] if AUTO in asked else []
    if unknown and len(unknown) == len(series):
        raise InvalidInputError(
            "`train_length` auto needs files with names such as "
            "001_NAB_id_1_Web_tr_500_1st_800.csv, got none "
            f"({unknown[0].name}, ...); give the number of training points"
        )
    if unknown:
        yield (
            f"{plural(len(unknown), 'series has', 'series have')} no known training part and "
            f"{'is' if len(unknown) == 1 else 'are'} evaluated in full: "
            f"{listed([one.title for one in unknown], most=6)}"
        )


Scores = NDArray[np.float64]

_LONG_INTEGER = re.compile(rb"(?<![\d.])\d{16,}(?![\d.eE])")


@dataclass(frozen=True)
class ScoreResult:
    """Scores of a detector, or from a file."""

    scores: Scores
    fit_seconds: float | None = None
    score_seconds: float | None = None
    cold: bool = False
    filled: int = 0
    missing: int = 0  # points without a score, which rank below all others


@dataclass(frozen=True)
class EvaluateResult:
    """Values of measures."""

    values: dict[str, float]
    buffer: int | None
    buffer_reason: str


@dataclass(frozen=True)
class JobAction(Action):
    """A job as an engine action; `load` attaches the arrays for workers without file access."""

    job: Job
    imports: tuple[str, ...] = ()
    base: Path | None = None
    scores_path: Path | None = None
    digest: str | None = None
    series: Series | None = None
    scores: Scores | None = None

    @property
    def group(self) -> str | None:
        """Name shared by jobs that need the same loaded and compiled code."""
        match self.job:
            case ScoreJob(detector=detector, obstacle=None):
                return detector.name
            case EvaluateJob(measures=measures):
                return "\n".join(one.full_name for one in measures)
        return None

    @property
    def code(self) -> str | None:
        """Version of the expected code."""
        return str(self.job.code) if self.job.code.parts else None

    def run(self) -> ScoreResult | EvaluateResult:
        """Run the job."""
        # Functions may import modules when they run.
        with importable(self.base):
            try:
                self._import_modules()
                self._check_code()
            except ChangedInputError as error:  # of a file that this process has imported
                raise StaleWorkerError(f"{error}, or run the same command again") from error
            with _seeded(self.job):
                return self._run()

    def _run(self) -> ScoreResult | EvaluateResult:
        match self.job:
            case ScoreJob(obstacle=obstacle):
                if obstacle is not None:
                    raise NotApplicableError(obstacle)
                return _score(self.job, self._series())
            case ImportJob():
                scores = _external_scores(self.job) if self.scores is None else self.scores
                job = self.job
                return import_scores(
                    scores, self._series(), job.label, job.window, job.anchor, job.nan
                )
            case EvaluateJob(series=ref):
                if not ref.anomalous_points:
                    evaluated = self._stored_scores()[self.job.about["train_length"] :]
                    check_classes(ref, alarms_text(evaluated, self.job.evaluation))
                check_classes(ref)
                return evaluate_scores(self.job, self._stored_scores(), self._series())

    def warm_up(self) -> None:
        """Load and compile what the job needs, before its time is measured."""
        self._import_modules()
        match self.job:
            case ScoreJob(detector=detector, obstacle=None):
                if detector.build(self.job.seed or 0).warm_up():
                    _seen_detectors.add(detector.name)
            case EvaluateJob():
                _warm_measures(self.job)

    def load(self) -> JobAction:
        """Attach the series and the scores."""
        scores = None
        if isinstance(self.job, ImportJob):
            scores = _external_scores(self.job)
        elif isinstance(self.job, EvaluateJob):
            scores = self._stored_scores()
        return replace(self, series=self.job.series.load(), scores=scores)

    def _stored_scores(self) -> Scores:
        if self.scores is None:
            assert self.scores_path is not None
            return read_scores(self.scores_path, self.digest)
        if scores_digest(self.scores) != self.digest:
            raise ChangedInputError("scores must not change on the way to a worker")
        return self.scores

    def _series(self) -> Series:
        ref = self.job.series
        return ref.load() if self.series is None else ref.verified(self.series)

    def _import_modules(self) -> None:
        for module in self.imports:
            import_object(module, self.base)

    def _check_code(self) -> None:
        """Compare the code in this process with the expected code."""
        match self.job:
            case ScoreJob(detector=detector):
                found = {detector.name: detector.loaded_code()}
            case EvaluateJob(measures=measures):
                found = {one.name: one.loaded_code() for one in measures}
            case _:
                return
        parts = {name: digest for one in found.values() for name, digest in one.parts.items()}
        changed = changed_modules(self.job.code.parts, parts)
        if changed:
            raise StaleWorkerError(
                f"`{next(iter(found))}` must not change during a run, got a different version of "
                f"{listed(changed, most=3)}; run the same command again, and update copies of the "
                "module on other machines"
            )


@contextlib.contextmanager
def _seeded(job: Job) -> Iterator[None]:
    """Seed the global generators from data and settings, so that a job can be repeated."""
    about = {name: value for name, value in job.about.items() if name != "code"}
    seed = int(key_of(job.kind, about)[:8], 16)
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


# -- scores ----------------------------------------------------------------------------------------

_seen_detectors: set[str] = set()


def _score(job: ScoreJob, series: Series) -> ScoreResult:
    detector = job.detector.build(job.seed or 0)
    cold = job.detector.name not in _seen_detectors
    _seen_detectors.add(job.detector.name)
    fitting = _Stopwatch(detector._fit)
    # Every detector implements `_fit`. The remaining time of fit_score is preparation and scoring.
    detector._fit = fitting  # type: ignore[method-assign]
    # Scores do not depend on labels, and are kept when labels are edited.
    unlabeled = replace(series, labels=np.zeros(series.n_points, dtype=bool))
    begin = time.perf_counter()
    scores = detector.fit_score(unlabeled)  # type: ignore[arg-type]
    total = time.perf_counter() - begin
    return ScoreResult(scores, fitting.seconds, total - fitting.seconds, cold)


class _Stopwatch:
    """Adds up the seconds spent in a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        begin = time.perf_counter()
        try:
            return self._function(*args, **kwargs)
        finally:
            self.seconds += time.perf_counter() - begin


def import_scores(
    scores: Scores,
    series: Series,
    detector: str,
    window: int | str | None,
    align: str | None,
    nan: str = "error",
) -> ScoreResult:
    """Check imported scores, align those of windows, and fill missing ends or rank all lowest."""
    filled = missing = 0
    if scores.ndim == 1:
        scores = aligned_scores(scores, series.n_points, window, align)
    if scores.ndim == 1 and nan == "lowest":
        scores, missing = rank_missing_lowest(scores)
    elif scores.ndim == 1 and scores.dtype.kind == "f":
        ends = fill_missing_ends(scores)
        scores, filled = ends.scores, ends.leading + ends.trailing
        gaps = np.isnan(scores)
        if gaps.any():
            raise InvalidInputError(
                f"`scores[{detector!r}]` must be finite, got nan at index {int(gaps.argmax())}; "
                "fill or drop these rows, or rank them below all others with --set nan=lowest "
                '(nan = "lowest" in [[evaluate]])'
            )
    checked = ScoredSeries(series, {detector: scores}).scores[detector]
    return ScoreResult(np.array(checked), filled=filled, missing=missing)


def _external_scores(job: ImportJob) -> Scores:
    path = Path(job.path)
    if job.column is not None:
        table = _table(job)
        reading: dict[str, Any] = dict(job.reading)
        columns = Columns(score=job.column, **reading)
        rank = in_time_order(table, columns, job.series.title).rank
        scores = table.scores(job.column)
        return scores if rank is None else scores[rank]
    data = _file_content(job)
    if path.suffix == ".npy":
        numbers = np.load(io.BytesIO(data), allow_pickle=False)
        rounded = numbers.dtype.kind in "iu"
    else:
        numbers = np.loadtxt(io.BytesIO(data), delimiter=",", ndmin=1)
        rounded = _LONG_INTEGER.search(data) is not None
    if rounded and (np.abs(numbers.astype(np.float64)) >= LARGEST_EXACT).any():
        raise InvalidInputError(f"{path}: the scores must hold {EXACT_RULE}")
    return numbers  # type: ignore[no-any-return]


# One file may hold the scores of many detectors, and their jobs follow each other. Each job reads
# only its own column, so that an invalid column does not affect the others.
_recent_table: dict[tuple[str, tuple[str, ...]], Table | LongTable] = {}


def _table(job: ImportJob) -> Table:
    """Table with the content that the job expects, even if the file has changed since."""
    path, by = Path(job.path), tuple(name for name, _ in job.part)
    known = _recent_table.get((job.digest, by))
    if known is None:
        known = open_table(path, texts=by, data=_file_content(job), threads=False)
        if by:
            known = LongTable(path, by, known)
        _recent_table.clear()
        _recent_table[job.digest, by] = known
    if isinstance(known, Table):
        return known
    place = known.keys.index(tuple(cell for _, cell in job.part))
    return known.rows(int(known.bounds[place]), int(known.bounds[place + 1]))


def _file_content(job: ImportJob) -> bytes:
    """Read an imported file and check its digest."""
    try:
        data = Path(job.path).read_bytes()
    except FileNotFoundError as error:
        raise ChangedInputError(
            f"{job.path} must exist, got no such file; {CHANGED_DURING_RUN}"
        ) from error
    if hashlib.sha256(data).hexdigest() != job.digest:
        raise ChangedInputError(
            f"{job.path} must not change during a run, got different content; {CHANGED_DURING_RUN}"
        )
    return data


# -- evaluations -----------------------------------------------------------------------------------

_WARM_UP_POINTS = 200


def _warm_measures(job: EvaluateJob) -> None:
    labels = np.arange(_WARM_UP_POINTS) // 10 % 5 == 1
    buffer = BufferChoice(5, "number", "given")
    measures = tuple(measure.build() for measure in job.measures)
    settings = job.evaluation.replace(buffer=buffer)
    evaluator = Evaluator(labels, measures=measures, settings=settings)
    evaluator(np.sin(np.arange(float(len(labels)))))


def evaluate_scores(job: EvaluateJob, scores: Scores, series: Series) -> EvaluateResult:
    """Compute the measures of a job."""
    first = job.about["train_length"]
    if first:
        series, scores = series.after(first), scores[first:]
        alarms = "" if series.anomalous_points else alarms_text(scores, job.evaluation)
        check_classes(series, f" after the training part{alarms}")
    measures = tuple(measure.build() for measure in job.measures)
    evaluator = make_evaluator(series.labels, series.values, measures, job.evaluation)
    return EvaluateResult(measure_scores(evaluator, scores), *evaluator.buffer_record)


def check_classes(series: Series | SeriesRef, where: str = "") -> None:
    """Refuse a series without anomalous or without normal points."""
    if series.anomalous_points in (0, series.n_points):
        raise NotApplicableError(f"the measures are undefined: only one class in the labels{where}")


def make_evaluator(
    labels: NDArray[np.bool_],
    values: NDArray[np.float64],
    measures: tuple[Measure, ...],
    settings: EvaluationSettings,
) -> Evaluator:
    """Prepare the evaluation of a series; it does not apply if there is no buffer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user chose any coarse grid
            return Evaluator._of_many(labels, measures=measures, settings=settings, values=values)
    except BufferNotFoundError as error:
        raise NotApplicableError(f"{NO_BUFFER}{error}") from error


def measure_scores(evaluator: Evaluator, scores: Scores) -> dict[str, float]:
    """Return values by measure; undefined ones are missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = evaluator(scores)
    except MeasureError as error:
        if isinstance(error.__cause__, MemoryError):
            raise error.__cause__ from None
        raise
    return {name: float(value) for name, value in found.items() if math.isfinite(value)}

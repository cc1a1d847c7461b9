"""Jobs: their inputs, their keys (digests of content), and how a worker runs them."""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import io
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import vuskit
from vuskit._util.code_identity import CodeDigest, changed_modules
from vuskit._util.text import listed
from vuskit.alignment import align_scores, fill_missing_ends
from vuskit.bench.identity import (
    canonical,
    content_key,
    import_object,
    importable,
    scores_digest,
)
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series, get_format, read_series
from vuskit.datasets.input_files import file_state, record_opened_files
from vuskit.datasets.readers import (
    Format,
    doubles_from_texts,
    may_hold_large_integers,
)
from vuskit.datasets.readers.column_roles import Columns, open_columns
from vuskit.datasets.readers.train_lengths import declared_train_length
from vuskit.datasets.synthetic import make_series
from vuskit.detectors import (
    Adapted,
    Detector,
    adapt,
    detector_class,
    find_model_class,
    get_detector,
    is_model_name,
)
from vuskit.engine import Action, NotApplicableError, StaleWorkerError
from vuskit.errors import (
    BufferNotFoundError,
    ChangedInputError,
    InvalidInputError,
    MeasureError,
)
from vuskit.inputs import check_choice, length_advice
from vuskit.measures.evaluate import NO_BUFFER, Evaluator
from vuskit.measures.registry import Measure, get_measure
from vuskit.measures.settings import EvaluationSettings

__all__ = [
    "AUTO",
    "ChangedInputError",
    "DetectorSpec",
    "EvaluateJob",
    "EvaluateResult",
    "ImportJob",
    "Job",
    "JobAction",
    "Kind",
    "MeasureSpec",
    "MeasureVersion",
    "ScoreJob",
    "ScoreResult",
    "SeriesRef",
    "SeriesSource",
    "TrainLength",
    "changed_files",
    "check_memory",
    "describe_series",
    "evaluate_scores",
    "evaluated_from",
    "evaluation_key",
    "forget_code",
    "job_from_spec",
    "settings_text",
    "where_changed",
]

Scores = NDArray[np.float64]
TrainLength: TypeAlias = int | str | None
AUTO = "auto"  # the training part that the series declares


class Kind(enum.StrEnum):
    """Kind of job."""

    SCORE = "score"
    IMPORT = "import"
    EVALUATE = "evaluate"


# -- series ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeriesSource:
    """Where a series comes from: a file with its format, or the arguments of a synthetic series.

    Parameters
    ----------
    spec : str
        Canonical JSON: ``{"file": ..., "format": ..., "options": {...}}`` or
        ``{"synthetic": {...}}``.

    Examples
    --------
    >>> source = SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1})
    >>> source.load().n_points
    4000
    """

    spec: str

    @classmethod
    def file(cls, path: Path, format_name: str, options: dict[str, Any]) -> SeriesSource:
        """Return the source of a file."""
        content = {"file": str(path.resolve()), "format": format_name, "options": options}
        return cls(canonical(content))

    @classmethod
    def synthetic(cls, arguments: dict[str, Any]) -> SeriesSource:
        """Return the source of a synthetic series."""
        return cls(canonical({"synthetic": arguments}))

    def with_options(self, **options: Any) -> SeriesSource:
        """Return a copy with additional options of its format."""
        content = self._content
        return SeriesSource(canonical({**content, "options": {**content["options"], **options}}))

    @functools.cached_property
    def _content(self) -> dict[str, Any]:
        return dict(json.loads(self.spec))

    @property
    def path(self) -> Path | None:
        """Path of the file; None for a synthetic series."""
        return Path(self._content["file"]) if "file" in self._content else None

    @property
    def format_name(self) -> str | None:
        """Name of the format; None for a synthetic series."""
        return self._content.get("format")

    @property
    def format(self) -> Format | None:
        """The format; None for a synthetic series.

        Raises
        ------
        InvalidInputError
            If the format is not registered in this process.
        """
        return get_format(self._content["format"]) if "format" in self._content else None

    @property
    def declared_train_length(self) -> int | None:
        """Number of training points that the file name or the options declare."""
        if self.path is None:
            return None
        given: int | None = self._content["options"].get("train_length")
        return declared_train_length(self.path) if given is None else given

    def stamp(self) -> str:
        """Version of the code that reads or generates the series.

        Raises
        ------
        InvalidInputError
            If the format is unknown.
        """
        form = self.format
        return CodeDigest.of(vuskit if form is None else form.read).version

    def file_states(self, known: Iterable[str] = ()) -> dict[str, str]:
        """State of the file, of its current companion files, and of previously known files.

        Parameters
        ----------
        known : iterable of str
            Paths of files that the series was read from before.

        Raises
        ------
        InvalidInputError
            If the format is unknown or cannot find the companion files.
        """
        form, path = self.format, self.path
        if form is None or path is None:
            return {}
        declared = form.input_files(path, self._content["options"])
        paths = [*(os.path.abspath(one) for one in declared), *known]
        return {one: file_state(one) for one in sorted(set(paths))}

    def load(self) -> Series:
        """Read or generate the series.

        Raises
        ------
        InvalidInputError
            If it cannot be read.
        """
        if self.path is None:
            return make_series(**self._content["synthetic"])
        options = self._content["options"]
        series = read_series(self.path, format=self._content["format"], **options)
        assert isinstance(series, Series)
        return series


@dataclass(frozen=True)
class SeriesRef:
    """Description of a series, without its values.

    Attributes
    ----------
    hash : str
        Digest of its content.
    dataset, name : str
        Data set and name.
    n_points, n_channels, n_anomalies, anomalous_points : int
        Sizes.
    source : SeriesSource
        Where it comes from.
    n_missing : int
        Number of NaN values.
    left_out : tuple of str
        Columns of the file that are not used as channels, each with the reason.
    files : dict
        Files that the series was read from, each with its state at that time; see
        `vuskit.datasets.input_files`.
    """

    hash: str
    dataset: str
    name: str
    n_points: int
    n_channels: int
    n_anomalies: int
    anomalous_points: int
    source: SeriesSource = field(compare=False)
    n_missing: int = 0
    left_out: tuple[str, ...] = field(default=(), compare=False)
    files: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"

    def load(self) -> Series:
        """Read the series and check that it has not changed since the plan was expanded.

        Raises
        ------
        ChangedInputError
            If it has changed.
        InvalidInputError
            If it cannot be read.
        """
        series = _recent_series.get(self.hash)
        if series is None:
            series = self.verified(self._read())
            _remember(_recent_series, self.hash, series, most=_MOST_RECENT)
        return series

    def _read(self) -> Series:
        try:
            return self.source.load()
        except (InvalidInputError, OSError) as error:
            if not self.files or not self.changed_files():
                raise
            raise ChangedInputError(
                f"{self.title} can no longer be read: {error}; {_CHANGED_DURING_RUN}"
            ) from error

    def changed_files(self) -> tuple[str, ...]:
        """Files that changed since the series was read, including new companion files.

        Raises
        ------
        InvalidInputError
            If the format is unknown.
        """
        return changed_files(self.source, self.files)

    def verified(self, series: Series) -> Series:
        """Return the series if its content matches this description.

        Raises
        ------
        ChangedInputError
            If its content differs.
        """
        if series.content_hash != self.hash:
            raise ChangedInputError(
                f"{self.title} must not change during a run, got different values or labels"
                f"{where_changed(self.source, self.files)}; {_CHANGED_DURING_RUN}"
            )
        return series


_CHANGED_DURING_RUN = "a file changed during the run; run the same command again"


def where_changed(source: SeriesSource, files: Mapping[str, str]) -> str:
    """Return " (FILE, ...)" with the changed files of a series, or with its main file."""
    try:
        paths = changed_files(source, files) if files else ()
    except InvalidInputError:
        paths = ()
    shown = paths or tuple(str(one) for one in (source.path,) if one is not None)
    return f" ({listed(shown, most=3)})" if shown else ""


def changed_files(source: SeriesSource, files: Mapping[str, str]) -> tuple[str, ...]:
    """Files of a series that changed, including new companion files.

    Parameters
    ----------
    source : SeriesSource
        The series.
    files : mapping
        Files that the series was read from, each with its state at that time.

    Raises
    ------
    InvalidInputError
        If the format is unknown.
    """
    now = source.file_states(files)
    return tuple(path for path, state in now.items() if files.get(path) != state)


# Jobs on one series follow each other, so a worker reads each series about once. The key is a
# digest of the content, so a worker with an old copy reads the file again.
_MOST_RECENT = 2
_recent_series: dict[str, Series] = {}


def _remember(recent: dict[str, Any], key: str, value: Any, *, most: int) -> None:
    while len(recent) >= most:
        del recent[next(iter(recent))]
    recent[key] = value


def describe_series(source: SeriesSource, before: Iterable[str] = ()) -> SeriesRef:
    """Read a series and return its description.

    Parameters
    ----------
    source : SeriesSource
        The series.
    before : iterable of str
        Files that the series was read from before.

    Raises
    ------
    InvalidInputError
        If it cannot be read.

    Examples
    --------
    >>> describe_series(SeriesSource.synthetic({"family": "kpi", "n": 4000, "seed": 0})).title
    'synthetic/kpi-native-medium-10x40-seed0'
    """
    # Taken before reading, so that an edit during the read is detected the next time.
    files = source.file_states()
    form = source.format
    if form is None or form.read.__module__.startswith("vuskit."):
        series = source.load()
    else:
        with record_opened_files() as opened:
            series = source.load()
        files = _all_files(source, files, opened, before)
    return SeriesRef(
        hash=series.content_hash,
        dataset=series.dataset,
        name=series.name,
        n_points=series.n_points,
        n_channels=series.n_channels,
        n_anomalies=series.n_anomalies,
        anomalous_points=series.anomalous_points,
        source=source,
        n_missing=int(np.isnan(series.values).sum()),
        left_out=series.left_out,
        files=files,
    )


_MOST_SHARED = 8
# Files that user-defined formats opened in this process, by format, each with its state.
_opened_by_format: dict[str, dict[str, str]] = {}


def _all_files(
    source: SeriesSource, declared: dict[str, str], opened: dict[str, str], before: Iterable[str]
) -> dict[str, str]:
    """Files of a series with a user-defined format, with their states when this process read them.

    A format may open a file with the labels of all series once and cache it. Such files count for
    the following series too. If there are many files, each belongs to one series only.
    """
    form, main = source.format, str(source.path)
    assert form is not None
    seen = _opened_by_format.setdefault(form.name, {})
    kept = {path: seen[path] for path in {*declared, *before} & seen.keys()}
    if form.companions is None and len(seen) <= _MOST_SHARED:
        kept |= seen
    seen.update((path, state) for path, state in opened.items() if path != main)
    return {**declared, **kept, **opened}


def check_memory(ref: SeriesRef) -> None:
    """Check that a user-defined format read every changed file again.

    Raises
    ------
    ChangedInputError
        If it returned cached content.
    """
    form = ref.source.format
    if form is None:
        return
    seen = _opened_by_format.get(form.name, {})
    for path in ref.files.keys() & seen.keys():
        if file_state(path) != seen[path]:
            raise ChangedInputError(
                f"format {form.name!r} must read {path} again after it changed, got cached "
                "content; restart Python, or change the format so that it does not cache files"
            )


# -- detectors, measures, settings ----------------------------------------------------------


@dataclass(frozen=True)
class DetectorSpec:
    """A detector by name (or ``module:object``) with its parameters.

    Parameters
    ----------
    name : str
        A registered name, ``library:Class`` of a model (``pyod:KNN``), or ``module:name`` of
        anything that `vuskit.detectors.adapt` accepts.
    params : str
        Canonical JSON of the parameters without the seed.
    label : str
        Its name in tables.
    folder : str, optional
        Folder of the plan; modules in it can be imported.

    Examples
    --------
    >>> spec = DetectorSpec("lof", '{"n_neighbors":5}', "LOF")
    >>> spec.build(seed=3)
    lof(impute=None, n_neighbors=5, normalize=None, seed=3, train_share=None, window='period')
    """

    name: str
    params: str
    label: str
    folder: str | None = None

    @classmethod
    def of(cls, name: str, params: dict[str, Any], label: str, folder: str | None) -> DetectorSpec:
        """Create a spec from a mapping of parameters."""
        return cls(name, canonical(params), label, folder)

    def build(self, seed: int) -> Detector:
        """Create the detector.

        Raises
        ------
        InvalidInputError
            If the name, a parameter or a value is invalid.
        """
        return self._adapted(seed).detector

    def _adapted(self, seed: int) -> Adapted:
        params = json.loads(self.params)
        if ":" in self.name:
            return adapt(self.thing(), params, seed=seed, name=self.name)
        return Adapted(get_detector(self.name, **params, seed=seed), self.thing().stochastic)

    def settings(self, seed: int) -> str:
        """Name, every parameter and the seed."""
        if ":" not in self.name:
            return repr(self.build(seed))
        return f"{self.name} {self.params} seed={seed}"

    @cached_property
    def digest(self) -> CodeDigest:
        """Digest of the code that computes the scores, cached per spec."""
        with importable(Path(self.folder) if self.folder else None):
            return self.loaded_code()

    @property
    def code(self) -> str:
        """Version of the code that computes the scores."""
        return self.digest.version

    def loaded_code(self) -> CodeDigest:
        """Digest of the code that this process has imported."""
        own = ":" in self.name and not is_model_name(self.name)
        return CodeDigest.of(self.thing(), self.name.partition(":")[0] if own else None)

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


class MeasureVersion(NamedTuple):
    """Name of a measure with its options, and the version of its code."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} @ {self.version}"


@dataclass(frozen=True)
class MeasureSpec:
    """A measure by name, with options fixed.

    Examples
    --------
    >>> MeasureSpec("f_score", '{"beta":2}').build().name
    'f_score(beta=2)'
    """

    name: str
    options: str = "{}"

    def build(self) -> Measure:
        """Return the measure.

        Raises
        ------
        InvalidInputError
            If the measure or an option is unknown.
        """
        measure, options = get_measure(self.name), json.loads(self.options)
        accepted = inspect.signature(measure.function).parameters
        for option in options:
            check_choice(f"{self.name}.{option}", option, list(accepted)[2:])
        return measure.with_options(**options) if options else measure

    @property
    def identity(self) -> MeasureVersion:
        """Name with options, and the version of its code."""
        return _measure_identity(self)[0]

    @property
    def digest(self) -> CodeDigest:
        """Digest of its code."""
        return _measure_identity(self)[1]

    @property
    def of_package(self) -> bool:
        """Whether the measure is part of vuskit, not user-defined."""
        return self.identity.version.startswith("vuskit ")


# Needed once per job, and computing it takes as long as a small evaluation.
@functools.lru_cache(maxsize=1024)
def _measure_identity(spec: MeasureSpec) -> tuple[MeasureVersion, CodeDigest]:
    measure = spec.build()
    digest = CodeDigest.of(measure.function)
    return MeasureVersion(measure.name, digest.version), digest


def forget_code() -> None:
    """Clear the cached versions of measures, which may have changed since the last run."""
    _measure_identity.cache_clear()


# -- jobs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreJob:
    """Run one detector on one series; `seed` is None if the scores do not depend on it."""

    kind: ClassVar[Kind] = Kind.SCORE

    series: SeriesRef
    detector: DetectorSpec
    seed: int | None

    @property
    def obstacle(self) -> str | None:
        """Reason why the detector cannot score the series; None if it can."""
        if self.detector.accepts(self.series.n_channels):
            return None
        return f"{self.label} accepts one channel, but {self.series.title} has more"

    @property
    def used_seed(self) -> int:
        """Seed passed to the detector."""
        return self.seed or 0

    @property
    def group(self) -> str:
        """Name shared by jobs that need the same loaded and compiled code."""
        return self.detector.name

    @cached_property
    def settings(self) -> str:
        """The detector with all parameters and the seed."""
        return self.detector.settings(self.used_seed)

    @cached_property
    def code(self) -> str:
        """Version of the detector's code."""
        return self.detector.code

    @property
    def identity(self) -> str:
        """Everything that determines the scores, except the series."""
        return f"{self.settings} {self.code}"

    @cached_property
    def key(self) -> str:
        """Digest of the series' content and the detector's identity."""
        return content_key(self.kind, self.series.hash, self.identity)

    @property
    def label(self) -> str:
        """Name of the detector in tables."""
        return self.detector.label

    @property
    def title(self) -> str:
        """One line for progress displays."""
        seed = f" seed {self.seed}" if self.seed else ""
        return f"{self.label}{seed} on {self.series.title}"

    def code_digests(self) -> dict[str, CodeDigest]:
        """Digest of the detector's code by its name."""
        return {self.detector.name: self.detector.digest}

    def spec(self) -> dict[str, Any]:
        """Everything needed to repeat the job, except the series and names."""
        names = ("name", "params", "folder")
        return {
            "detector": {name: getattr(self.detector, name) for name in names},
            "seed": self.seed,
        }


@dataclass(frozen=True)
class ImportJob:
    """Import saved scores: read, validate, store."""

    kind: ClassVar[Kind] = Kind.IMPORT
    seed: ClassVar[None] = None
    group: ClassVar[None] = None
    code: ClassVar[str] = ""

    series: SeriesRef
    path: str
    column: str | None
    label: str
    digest: str
    align: str | None = None
    window: int | None = None

    @property
    def settings(self) -> str:
        """Digest of the file, the column and the alignment."""
        aligned = "" if self.window is None else f" window={self.window} at={self.anchor}"
        return f"sha256:{self.digest[:16]} column={self.column}{aligned}"

    @property
    def anchor(self) -> str:
        """Point of the window that a score belongs to."""
        return self.align or "center"

    @property
    def identity(self) -> str:
        """Everything that determines the scores, except the series."""
        return self.settings

    @cached_property
    def key(self) -> str:
        """Digest of the contents of series and file, the column and the alignment."""
        aligned = () if self.window is None else (self.window, self.anchor)
        return content_key(self.kind, self.series.hash, self.digest, self.column, *aligned)

    @property
    def title(self) -> str:
        """One line for progress displays."""
        return f"{self.label} (external) on {self.series.title}"

    def code_digests(self) -> dict[str, CodeDigest]:
        """Return nothing: no user code is involved."""
        return {}

    def spec(self) -> dict[str, Any]:
        """Everything needed to repeat the job, except the series and names."""
        names = ("path", "column", "digest", "align", "window")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class EvaluateJob:
    """Compute measures of stored scores."""

    kind: ClassVar[Kind] = Kind.EVALUATE
    seed: ClassVar[None] = None
    code: ClassVar[str] = ""  # each measure has its own version

    series: SeriesRef
    scores_hash: str
    evaluation: EvaluationSettings
    measures: tuple[MeasureSpec, ...]
    label: str
    train_length: TrainLength = None  # leading points that are not evaluated

    @property
    def settings(self) -> str:
        """The settings in one line."""
        return settings_text(self.evaluation, self.train_length)

    @property
    def identity(self) -> str:
        """The settings."""
        return self.settings

    @property
    def group(self) -> str:
        """Name shared by jobs that need the same loaded and compiled code."""
        return "\n".join(map(str, self.measure_identities))

    @cached_property
    def measure_identities(self) -> tuple[MeasureVersion, ...]:
        """Names and versions of the measures."""
        return tuple(measure.identity for measure in self.measures)

    @cached_property
    def key(self) -> str:
        """Digest of the series' content, the scores, the settings and the measures' versions."""
        return evaluation_key(
            self.series.hash, self.scores_hash, self.settings, self.measure_identities
        )

    @property
    def title(self) -> str:
        """One line for progress displays."""
        what = (
            self.measures[0].name if len(self.measures) == 1 else f"{len(self.measures)} measures"
        )
        return f"{what} of {self.label} on {self.series.title}"

    def apart(self) -> tuple[EvaluateJob, ...]:
        """Split the job so that each user-defined measure can fail by itself."""
        package = tuple(measure for measure in self.measures if measure.of_package)
        own = ((measure,) for measure in self.measures if not measure.of_package)
        return tuple(replace(self, measures=part) for part in (package, *own) if part)

    def code_digests(self) -> dict[str, CodeDigest]:
        """Digests of the measures' code by their names."""
        return {measure.name: measure.digest for measure in self.measures}

    def spec(self) -> dict[str, Any]:
        """Everything needed to repeat the job, except the series, the scores and names."""
        spec: dict[str, Any] = {
            "settings": self.evaluation.to_dict(),
            "measures": [asdict(measure) for measure in self.measures],
        }
        if self.train_length:
            spec["train_length"] = self.train_length
        return spec


def settings_text(settings: EvaluationSettings, train_length: TrainLength) -> str:
    """Settings and the excluded training part, in one line.

    Examples
    --------
    >>> settings_text(EvaluationSettings(buffer=5), "auto")
    'buffer=5, thresholds=all, definition=journal, train_length=auto'
    """
    return f"{settings}, train_length={train_length}" if train_length else str(settings)


def evaluated_from(series: Series, train_length: TrainLength) -> int:
    """First point of a series that is evaluated.

    Parameters
    ----------
    series : Series
        The whole series.
    train_length : int, "auto" or None
        Leading points to exclude; "auto": the training part that the series declares.

    Examples
    --------
    >>> series = Series("a", "docs", [1.0, 2.0, 9.0], [0, 0, 1], train_length=1)
    >>> [evaluated_from(series, asked) for asked in (None, "auto", 2)]
    [0, 1, 2]
    """
    if train_length == AUTO:
        return series.train_length or 0
    return int(train_length or 0)


def evaluation_key(
    series_hash: str, scores_hash: str, settings: str, measures: Iterable[MeasureVersion]
) -> str:
    """Key of an evaluation."""
    return content_key(
        Kind.EVALUATE, series_hash, scores_hash, settings, sorted(map(str, measures))
    )


Job: TypeAlias = ScoreJob | ImportJob | EvaluateJob


def job_from_spec(
    kind: str, spec: dict[str, Any], *, series: SeriesRef, label: str, scores_hash: str | None
) -> Job:
    """Undo ``spec()``.

    Parameters
    ----------
    kind : str
        Kind of the job.
    spec : dict
        From ``spec()``.
    series : SeriesRef
        The series of the job.
    label : str
        Name of the detector.
    scores_hash : str or None
        Digest of the scores that are evaluated.

    Examples
    --------
    >>> series = describe_series(SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1}))
    >>> job = ScoreJob(series, DetectorSpec("random", "{}", "Random"), seed=4)
    >>> again = job_from_spec("score", job.spec(), series=series, label="R", scores_hash=None)
    >>> again.key == job.key, again.title
    (True, 'R seed 4 on synthetic/ecg-native-medium-10x90-seed1')
    """
    match Kind(kind):
        case Kind.SCORE:
            detector = DetectorSpec(**spec["detector"], label=label)
            return ScoreJob(series, detector, spec["seed"])
        case Kind.IMPORT:
            return ImportJob(series, **{"column": None, **spec}, label=label)
        case Kind.EVALUATE:
            assert scores_hash is not None
            settings = EvaluationSettings.from_dict(spec["settings"])
            measures = tuple(MeasureSpec(**measure) for measure in spec["measures"])
            train_length = spec.get("train_length")
            return EvaluateJob(series, scores_hash, settings, measures, label, train_length)


# -- running jobs ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreResult:
    """Scores of a detector, or from a file.

    Attributes
    ----------
    scores : array
        One per point.
    fit_seconds, score_seconds : float or None
        Time for fitting and for scoring.
    cold : bool
        Whether this was the first run of the detector in its process, so that the times include
        imports and compilation.
    filled : int
        Number of points at the ends of imported scores that had no score and were filled.
    """

    scores: Scores
    fit_seconds: float | None = None
    score_seconds: float | None = None
    cold: bool = False
    filled: int = 0


@dataclass(frozen=True)
class EvaluateResult:
    """Values of measures.

    Attributes
    ----------
    values : dict
        Numbers by measure; an undefined measure is absent.
    buffer : int or None
        Buffer length; None if none was found.
    buffer_reason : str
        How the buffer was chosen, or why there is none.
    """

    values: dict[str, float]
    buffer: int | None
    buffer_reason: str


@dataclass(frozen=True)
class JobAction(Action):
    """A job as an engine action; `load` attaches the arrays for workers without file access.

    Attributes
    ----------
    job : Job
        The job.
    scores_path : Path or None
        Stored scores of an evaluation.
    imports : tuple of str
        Modules that register detectors and measures.
    base : Path or None
        Folder of the plan, where these modules may be.
    expected : dict
        Expected code digests of the detector and the measures, by name. A process with different
        code refuses to run the job.

    Examples
    --------
    >>> from vuskit.engine import run_action
    >>> series = describe_series(SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1}))
    >>> job = ScoreJob(series, DetectorSpec("random", "{}", "Random"), seed=4)
    >>> outcome = run_action(JobAction(job))
    >>> str(outcome.status), outcome.value.scores.shape
    ('OK', (4000,))
    """

    job: Job
    scores_path: Path | None = None
    imports: tuple[str, ...] = ()
    base: Path | None = None
    expected: dict[str, CodeDigest] = field(default_factory=dict)
    series: Series | None = None
    scores: Scores | None = None

    @property
    def group(self) -> str | None:
        """Name shared by jobs that need the same loaded and compiled code."""
        return self.job.group

    @property
    def code(self) -> str | None:
        """Versions of the expected code."""
        return " ".join(self.expected[name].version for name in sorted(self.expected)) or None

    def run(self) -> ScoreResult | EvaluateResult:
        """Run the job.

        Raises
        ------
        NotApplicableError
            If the detector or the measures do not apply to the series.
        StaleWorkerError
            If the code in this process differs from the expected code.
        Exception
            Whatever the detector raises.
        """
        with importable(self.base):  # functions may import modules when they run
            return self._run()

    def _run(self) -> ScoreResult | EvaluateResult:
        try:
            self._import_modules()
            self._check_code()
        except ChangedInputError as error:  # of a file that this process has imported
            raise StaleWorkerError(f"{error}, or run the same command again") from error
        match self.job:
            case ScoreJob(obstacle=obstacle):
                if obstacle is not None:
                    raise NotApplicableError(obstacle)
                return _score(self.job, self._series())
            case ImportJob():
                scores = _external_scores(self.job) if self.scores is None else self.scores
                return _import(self.job, self._series(), scores)
            case EvaluateJob(series=ref):
                if ref.anomalous_points in (0, ref.n_points):
                    raise NotApplicableError(
                        "the measures are undefined: only one class in the labels"
                    )
                return evaluate_scores(self.job, self.stored_scores(), self._series())

    def warm_up(self) -> None:
        """Load and compile what the job needs, before its time is measured."""
        self._import_modules()
        match self.job:
            case ScoreJob():
                _warm_detector(self.job)
            case EvaluateJob():
                _warm_measures(self.job)

    def load(self) -> JobAction:
        """Attach the series and the scores.

        Raises
        ------
        InvalidInputError
            If a file cannot be read.
        """
        scores = None
        if isinstance(self.job, ImportJob):
            scores = _external_scores(self.job)
        elif isinstance(self.job, EvaluateJob):
            scores = self.stored_scores()
        return replace(self, series=self.job.series.load(), scores=scores)

    def stored_scores(self) -> Scores:
        """Scores of an evaluation, attached to the action or read from the file.

        Raises
        ------
        ChangedInputError
            If they differ from the stored scores.
        """
        assert isinstance(self.job, EvaluateJob)
        scores = self._read_scores() if self.scores is None else self.scores
        if scores_digest(scores) != self.job.scores_hash:
            raise ChangedInputError(self._unusable("got different content"))
        return scores

    def _read_scores(self) -> Scores:
        assert self.scores_path is not None
        try:
            scores: Scores = np.load(self.scores_path, allow_pickle=False)
        except (FileNotFoundError, ValueError, EOFError) as error:
            raise ChangedInputError(self._unusable(f"got: {error}")) from error
        return scores

    def _unusable(self, found: str) -> str:
        return (
            f"{self.scores_path or 'the score file'} must hold the stored scores, {found}; remove "
            "it with `vuskit bench verify --repair`, then run the same command again"
        )

    def _series(self) -> Series:
        ref = self.job.series
        return ref.load() if self.series is None else ref.verified(self.series)

    def _import_modules(self) -> None:
        for module in self.imports:
            import_object(module, self.base)

    def _check_code(self) -> None:
        """Compare the code in this process with the expected code."""
        match self.job:
            case ScoreJob(detector=detector) if detector.name in self.expected:
                _check_digest(detector.name, self.expected[detector.name], detector.loaded_code())
            case EvaluateJob(measures=measures):
                for measure in measures:
                    if measure.name in self.expected:
                        function = get_measure(measure.name).function
                        found = CodeDigest.of(function)
                        _check_digest(measure.name, self.expected[measure.name], found)


def _check_digest(name: str, expected: CodeDigest, found: CodeDigest) -> None:
    changed = changed_modules(expected.parts, found.parts)
    if found.version == expected.version or (found.parts and not changed):
        return
    shown = f"a different version of {listed(changed, most=3)}" if changed else found.version
    raise StaleWorkerError(
        f"`{name}` must not change during a run (expected {expected.version}), got {shown}"
        "; run the same command again, and update copies of the module on other machines"
    )


_WARM_UP_POINTS = 200

_seen_detectors: set[str] = set()


def _warm_detector(job: ScoreJob) -> None:
    if job.detector.build(job.used_seed).warm_up():
        _seen_detectors.add(job.detector.name)


def _warm_measures(job: EvaluateJob) -> None:
    labels = np.arange(_WARM_UP_POINTS) // 10 % 5 == 1
    buffer = BufferChoice(5, "number", "given")
    measures = tuple(measure.build() for measure in job.measures)
    settings = job.evaluation.replace(buffer=buffer)
    evaluator = Evaluator(labels, measures=measures, settings=settings)
    evaluator(np.sin(np.arange(float(len(labels)))))


def _score(job: ScoreJob, series: Series) -> ScoreResult:
    detector = job.detector.build(job.used_seed)
    cold = job.detector.name not in _seen_detectors
    _seen_detectors.add(job.detector.name)
    fitting = _Stopwatch(detector._fit)
    # Every detector implements `_fit`. The remaining time of fit_score is preparation and scoring.
    detector._fit = fitting  # type: ignore[method-assign]
    begin = time.perf_counter()
    scores = detector.fit_score(series)  # type: ignore[arg-type]
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


def _import(job: ImportJob, series: Series, scores: Scores) -> ScoreResult:
    """Check imported scores, and convert window scores to point scores."""
    filled = 0
    if scores.ndim == 1:
        scores = _aligned(job, series, scores)
    if scores.ndim == 1 and scores.dtype.kind == "f":
        ends = fill_missing_ends(scores)
        scores, filled = ends.scores, ends.leading + ends.trailing
    checked = ScoredSeries(series, {job.label: scores}).scores[job.label]
    return ScoreResult(np.array(checked), filled=filled)


def _aligned(job: ImportJob, series: Series, scores: Scores) -> Scores:
    n = series.n_points
    if scores.size == n:
        return scores
    if job.window is not None and scores.size == n - job.window + 1:
        return align_scores(scores, n, window=job.window, at=job.anchor)
    # The message names no file, so that failures with the same cause are grouped.
    remedy = f"--align center (or start, end) --window {n - scores.size + 1}"
    raise InvalidInputError(
        f"there must be one score per label, got {length_advice(scores.size, n, remedy=remedy)}"
    )


def _external_scores(job: ImportJob) -> Scores:
    path = Path(job.path)
    if job.column is not None:
        return _table(job).scores(job.column)
    data = _file_content(job)
    if path.suffix == ".npy":
        return np.load(io.BytesIO(data), allow_pickle=False)  # type: ignore[no-any-return]
    numbers = np.loadtxt(io.BytesIO(data), delimiter=",", ndmin=1)
    if numbers.ndim == 1 and may_hold_large_integers(numbers):
        cells = np.loadtxt(io.BytesIO(data), delimiter=",", ndmin=1, dtype=str)
        return doubles_from_texts(job.label, cells.tolist())
    return numbers


# One file may hold the scores of many detectors, and their jobs follow each other. Each job reads
# only its own column, so that an invalid column does not affect the others.
_recent_tables: dict[str, Columns] = {}


def _table(job: ImportJob) -> Columns:
    """Table with the content that the job expects, even if the file has changed since."""
    table = _recent_tables.get(job.digest)
    if table is None:
        table = open_columns(Path(job.path), data=_file_content(job), threads=False)
        _remember(_recent_tables, job.digest, table, most=1)
    return table


def _file_content(job: ImportJob) -> bytes:
    """Read an imported file and check its digest.

    Raises
    ------
    ChangedInputError
        If the content changed since the plan was expanded.
    """
    todo = _CHANGED_DURING_RUN
    try:
        data = Path(job.path).read_bytes()
    except FileNotFoundError as error:
        raise ChangedInputError(f"{job.path} must exist, got no such file; {todo}") from error
    if hashlib.sha256(data).hexdigest() != job.digest:
        raise ChangedInputError(
            f"{job.path} must not change during a run, got different content; {todo}"
        )
    return data


def evaluate_scores(job: EvaluateJob, scores: Scores, series: Series) -> EvaluateResult:
    """Compute the measures of a job.

    Raises
    ------
    MeasureError
        If a measure fails.
    """
    first = evaluated_from(series, job.train_length)
    if first:
        series, scores = series.after(first), scores[first:]
        if series.anomalous_points in (0, series.n_points):
            raise NotApplicableError(
                "the measures are undefined: only one class in the labels after the training part"
            )
    with warnings.catch_warnings():
        # The plan chose any coarse grid, and undefined values are simply missing.
        warnings.simplefilter("ignore")
        measures = tuple(measure.build() for measure in job.measures)
        try:
            evaluator = Evaluator(
                series.labels, measures=measures, settings=job.evaluation, values=series.values
            )
        except BufferNotFoundError as error:
            raise NotApplicableError(f"{NO_BUFFER}{error}") from error
        try:
            found = evaluator(scores)
        except MeasureError as error:
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            raise
    values = {name: value for name, value in found.items() if np.isfinite(value)}
    return EvaluateResult(values, *evaluator.buffer_record)

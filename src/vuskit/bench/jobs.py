"""Jobs: what is computed from what, under a key made from content, and how a worker does it."""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import io
import json
import os
import sys
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
from vuskit import __version__
from vuskit._util.code_digest import CodeDigest, code_digest
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
from vuskit.kernels.backend import backend_name
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
    "changed_parts",
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
AUTO = "auto"  # the training part that a series knows


class Kind(enum.StrEnum):
    """What a job does."""

    SCORE = "score"
    IMPORT = "import"
    EVALUATE = "evaluate"


# -- series ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeriesSource:
    """A file with its format, or a synthetic series with its arguments.

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
        """Return the source with other options of its format."""
        content = self._content
        return SeriesSource(canonical({**content, "options": {**content["options"], **options}}))

    @functools.cached_property
    def _content(self) -> dict[str, Any]:
        return dict(json.loads(self.spec))

    @property
    def path(self) -> Path | None:
        """The file, if it is one."""
        return Path(self._content["file"]) if "file" in self._content else None

    @property
    def format_name(self) -> str | None:
        """Name of the format, if it is a file."""
        return self._content.get("format")

    @property
    def format(self) -> Format | None:
        """The format, if it is a file.

        Raises
        ------
        InvalidInputError
            If no module has registered it here.
        """
        return get_format(self._content["format"]) if "format" in self._content else None

    @property
    def declared_train_length(self) -> int | None:
        """Training points that the name of the file or its options declare."""
        if self.path is None:
            return None
        given: int | None = self._content["options"].get("train_length")
        return declared_train_length(self.path) if given is None else given

    def stamp(self) -> str:
        """Version of the code that reads or makes the series.

        Raises
        ------
        InvalidInputError
            If the format is unknown.
        """
        form = self.format
        return f"vuskit {__version__}" if form is None else code_digest(form.read).version

    def file_states(self, known: Iterable[str] = ()) -> dict[str, str]:
        """States of the file, its companions that are there now, and files known from before.

        Parameters
        ----------
        known : iterable of str
            Paths of files that the series was read from.

        Raises
        ------
        InvalidInputError
            If the format is unknown or does not find the companions.
        """
        form, path = self.format, self.path
        if form is None or path is None:
            return {}
        declared = form.input_files(path, self._content["options"])
        paths = [*(os.path.abspath(one) for one in declared), *known]
        return {one: file_state(one) for one in sorted(set(paths))}

    def load(self) -> Series:
        """Read or make the series.

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
    """What a plan needs to know about a series without holding it.

    Attributes
    ----------
    hash : str
        Digest of its content.
    dataset, name : str
        What it is called.
    n_points, n_channels, n_anomalies, anomalous_points : int
        Sizes.
    source : SeriesSource
        Where it comes from.
    n_missing : int
        Values that are NaN.
    left_out : tuple of str
        Columns of the file that were taken for no channel, each with the reason.
    files : dict
        Files that it was read from, each with its state then; see `vuskit.datasets.input_files`.
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
        """Read the series and make sure that it is still the one that was planned.

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
                f"{self.title} cannot be read any more: {error}; {_CHANGED_DURING_RUN}"
            ) from error

    def changed_files(self) -> tuple[str, ...]:
        """Files that changed since the series was read, also new companions.

        Raises
        ------
        InvalidInputError
            If the format is unknown.
        """
        return changed_files(self.source, self.files)

    def verified(self, series: Series) -> Series:
        """Return a series that was read if it is the one that was planned.

        Raises
        ------
        ChangedInputError
            If it has another content.
        """
        if series.content_hash != self.hash:
            raise ChangedInputError(
                f"{self.title} must have the values and labels that were planned, got others"
                f"{where_changed(self.source, self.files)}; {_CHANGED_DURING_RUN}"
            )
        return series


_CHANGED_DURING_RUN = "a file changed during the run; start the same command again"


def where_changed(source: SeriesSource, files: Mapping[str, str]) -> str:
    """Name the files of a series that changed, as the end of a sentence, or else its own file."""
    try:
        paths = changed_files(source, files) if files else ()
    except InvalidInputError:
        paths = ()
    shown = paths or tuple(str(one) for one in (source.path,) if one is not None)
    return f" in {listed(shown, most=3)}" if shown else ""


def changed_files(source: SeriesSource, files: Mapping[str, str]) -> tuple[str, ...]:
    """Files of a series that changed, also new companions.

    Parameters
    ----------
    source : SeriesSource
        The series.
    files : mapping
        Files that it was read from, each with its state then.

    Raises
    ------
    InvalidInputError
        If the format is unknown.
    """
    now = source.file_states(files)
    return tuple(path for path, state in now.items() if files.get(path) != state)


# Jobs on one series follow each other, so a worker reads each series about once. Content is the
# key: a worker with an old copy reads the file again.
_MOST_RECENT = 2
_recent_series: dict[str, Series] = {}


def _remember(recent: dict[str, Any], key: str, value: Any, *, most: int) -> None:
    while len(recent) >= most:
        del recent[next(iter(recent))]
    recent[key] = value


def describe_series(source: SeriesSource, before: Iterable[str] = ()) -> SeriesRef:
    """Read a series once and write down what a plan needs.

    Parameters
    ----------
    source : SeriesSource
        The series.
    before : iterable of str
        Files that it was read from before.

    Raises
    ------
    InvalidInputError
        If it cannot be read.

    Examples
    --------
    >>> describe_series(SeriesSource.synthetic({"family": "kpi", "n": 4000, "seed": 0})).title
    'synthetic/kpi-native-medium-10x40-seed0'
    """
    # Before it is read: an edit while it is read is noticed the next time.
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
# Files that users' formats opened in this process, by format, each with its state then.
_opened_by_format: dict[str, dict[str, str]] = {}


def _all_files(
    source: SeriesSource, declared: dict[str, str], opened: dict[str, str], before: Iterable[str]
) -> dict[str, str]:
    """Files of a series of a user's format, each with its state when this process read it.

    A format may keep a file with the labels of all series in memory and open it once. What it
    opened for one series counts for the next ones; many files are one for each series.
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
    """Make sure that a user's format opened every file again that changed in this process.

    Raises
    ------
    ChangedInputError
        If it took the content of one from memory.
    """
    form = ref.source.format
    if form is None:
        return
    seen = _opened_by_format.get(form.name, {})
    for path in ref.files.keys() & seen.keys():
        if file_state(path) != seen[path]:
            raise ChangedInputError(
                f"format {form.name!r} must open {path} again after it changed, got "
                "its content from memory; start Python again, or do not keep files in memory"
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
        Canonical JSON of the parameters, the seed aside.
    label : str
        Its name in tables.
    folder : str, optional
        Where the plan lies; modules beside it can be imported.

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
        """Make one from a mapping of parameters."""
        return cls(name, canonical(params), label, folder)

    def build(self, seed: int) -> Detector:
        """Make the detector.

        Raises
        ------
        InvalidInputError
            If the name, a parameter or a value is not accepted.
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
        """Digest of the code that computes the scores, taken once for each spec."""
        with importable(Path(self.folder) if self.folder else None):
            return code_digest(self.thing())

    @property
    def code(self) -> str:
        """Version of the code that computes the scores."""
        return self.digest.version

    def thing(self) -> Any:
        """Class, instance or function behind the name."""
        if ":" not in self.name:
            return detector_class(self.name)
        if is_model_name(self.name):
            return find_model_class(self.name)
        return import_object(self.name, Path(self.folder) if self.folder else None)

    @cached_property
    def stochastic(self) -> bool:
        """Whether the seed can make a difference; a model or function must take one for that."""
        return self._adapted(0).stochastic

    def accepts(self, n_channels: int) -> bool:
        """Whether series with so many channels are accepted."""
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
            If there is none of that name, or it does not have an option.
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
        """Whether it is one of vuskit's, not the user's own."""
        return self.identity.version.startswith("vuskit ")


# Asked once per job; looking it up takes as long as a small evaluation.
@functools.lru_cache(maxsize=1024)
def _measure_identity(spec: MeasureSpec) -> tuple[MeasureVersion, CodeDigest]:
    measure = spec.build()
    digest = code_digest(measure.function)
    return MeasureVersion(measure.name, digest.version), digest


def forget_code() -> None:
    """Forget the versions of measures, which may have changed since the last run."""
    _measure_identity.cache_clear()


# -- jobs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreJob:
    """One detector with its parameters and seed on one series; None: the seed does not matter."""

    kind: ClassVar[Kind] = Kind.SCORE

    series: SeriesRef
    detector: DetectorSpec
    seed: int | None

    @property
    def obstacle(self) -> str | None:
        """Why the detector cannot score the series, known without running it; None if it can."""
        if self.detector.accepts(self.series.n_channels):
            return None
        return f"{self.label} takes one channel, {self.series.title} has more"

    @property
    def used_seed(self) -> int:
        """The seed that the detector is given."""
        return self.seed or 0

    @property
    def group(self) -> str:
        """What a process must have loaded and compiled for it."""
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
        """Everything besides the series that decides the scores."""
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
        """One line for people."""
        seed = f" seed {self.seed}" if self.seed else ""
        return f"{self.label}{seed} on {self.series.title}"

    def code_digests(self) -> dict[str, CodeDigest]:
        """Digest of the detector's code by its name."""
        return {self.detector.name: self.detector.digest}

    def spec(self) -> dict[str, Any]:
        """All that is needed to do it again, the series and names aside."""
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
        """The file's content, the column and the alignment."""
        aligned = "" if self.window is None else f" window={self.window} at={self.anchor}"
        return f"sha256:{self.digest[:16]} column={self.column}{aligned}"

    @property
    def anchor(self) -> str:
        """Point of its window that a score belongs to."""
        return self.align or "center"

    @property
    def identity(self) -> str:
        """Everything besides the series that decides the scores."""
        return self.settings

    @cached_property
    def key(self) -> str:
        """Digest of the series' content, the file's, the column and the alignment."""
        aligned = () if self.window is None else (self.window, self.anchor)
        return content_key(self.kind, self.series.hash, self.digest, self.column, *aligned)

    @property
    def title(self) -> str:
        """One line for people."""
        return f"{self.label} (external) on {self.series.title}"

    def code_digests(self) -> dict[str, CodeDigest]:
        """Return nothing: no code of the user is involved."""
        return {}

    def spec(self) -> dict[str, Any]:
        """All that is needed to do it again, the series and names aside."""
        names = ("path", "column", "digest", "align", "window")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class EvaluateJob:
    """Measures of stored scores."""

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
        """What a process must have loaded and compiled for it."""
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
        """One line for people."""
        what = (
            self.measures[0].name if len(self.measures) == 1 else f"{len(self.measures)} measures"
        )
        return f"{what} of {self.label} on {self.series.title}"

    def apart(self) -> tuple[EvaluateJob, ...]:
        """Return jobs of which one can fail without the others: users' measures, each alone."""
        package = tuple(measure for measure in self.measures if measure.of_package)
        own = ((measure,) for measure in self.measures if not measure.of_package)
        return tuple(replace(self, measures=part) for part in (package, *own) if part)

    def code_digests(self) -> dict[str, CodeDigest]:
        """Digests of the measures' code by their names."""
        return {measure.name: measure.digest for measure in self.measures}

    def spec(self) -> dict[str, Any]:
        """All that is needed to do it again, the series, the scores and names aside."""
        spec: dict[str, Any] = {
            "settings": self.evaluation.to_dict(),
            "measures": [asdict(measure) for measure in self.measures],
        }
        if self.train_length:
            spec["train_length"] = self.train_length
        return spec


def settings_text(settings: EvaluationSettings, train_length: TrainLength) -> str:
    """Settings and the training part that is left out, in one line.

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
        Leading points to leave out; "auto": those that the series knows as its training part.

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
    """Key of an evaluation, from its parts."""
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


# -- what a worker does -----------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreResult:
    """Scores of a detector, or of a file.

    Attributes
    ----------
    scores : array
        One per point.
    fit_seconds, score_seconds : float or None
        Time of fitting and of scoring.
    cold : bool
        Whether the process had not run this detector before, so that the seconds contain imports
        and compilation.
    filled : int
        Points at the ends of imported scores that had none.
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
        Length of the buffer; None if none was found.
    buffer_reason : str
        How it was chosen, or why there is none.
    """

    values: dict[str, float]
    buffer: int | None
    buffer_reason: str


@dataclass(frozen=True)
class JobAction(Action):
    """A job as the engine runs it; `load` attaches the arrays for workers without our files.

    Attributes
    ----------
    job : Job
        What to do.
    scores_path : Path or None
        Stored scores of an evaluation.
    imports : tuple of str
        Modules that register detectors and measures.
    base : Path or None
        Folder of the plan, where these modules may be.
    expected : dict
        Expected digests of the detector and the measures by name; a process that has other code
        refuses to run the job.

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
        """What a process must have loaded and compiled for it."""
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
            If this process has other code than the job expects.
        Exception
            Whatever the detector raises.
        """
        with importable(self.base):  # for imports inside functions
            return self._run()

    def _run(self) -> ScoreResult | EvaluateResult:
        self._import_modules()
        self._check_code()
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
        """Load and compile what the job needs, before its time begins."""
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
        """Scores of an evaluation, from the file or as they came with the job.

        Raises
        ------
        ChangedInputError
            If they are not those that were stored.
        """
        assert isinstance(self.job, EvaluateJob)
        scores = self._read_scores() if self.scores is None else self.scores
        if scores_digest(scores) != self.job.scores_hash:
            raise ChangedInputError(self._unusable("got another content"))
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
            f"{self.scores_path or 'the file of scores'} must hold the scores that were stored, "
            f"{found}; remove it by `vuskit bench verify --repair`, then start the same command "
            "again"
        )

    def _series(self) -> Series:
        ref = self.job.series
        return ref.load() if self.series is None else ref.verified(self.series)

    def _import_modules(self) -> None:
        for module in self.imports:
            import_object(module, self.base)

    def _check_code(self) -> None:
        """Compare the code of this process with the expected one."""
        match self.job:
            case ScoreJob(detector=detector) if detector.name in self.expected:
                _check_digest(detector.name, detector.thing(), self.expected[detector.name])
            case EvaluateJob(measures=measures):
                for measure in measures:
                    if measure.name in self.expected:
                        function = get_measure(measure.name).function
                        _check_digest(measure.name, function, self.expected[measure.name])


# Digests of what this process has loaded. A module that is reloaded makes new objects.
_loaded_code: dict[str, tuple[Any, CodeDigest]] = {}


def _check_digest(name: str, thing: Any, expected: CodeDigest) -> None:
    known = _loaded_code.get(name)
    if known is None or known[0] is not thing:
        known = _loaded_code[name] = thing, code_digest(thing)
    found = known[1]
    if found.version == expected.version:
        return
    changed = changed_parts(expected.parts, found.parts)
    file = getattr(sys.modules.get(getattr(thing, "__module__", "")), "__file__", None)
    where = f" ({file})" if file else ""
    shown = f"another version of {listed(changed, most=3)}" if changed else found.version
    raise StaleWorkerError(
        f"`{name}` must be the code that was planned ({expected.version}), got {shown}{where}; "
        "start the same command again, and update copies of the module on other machines"
    )


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Names of parts of code that differ, are new or are gone.

    Examples
    --------
    >>> changed_parts({"m.f": "1", "m.g": "2"}, {"m.f": "1", "m.g": "3", "m.h": "4"})
    ['m.g', 'm.h']
    """
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


_WARM_UP_POINTS = 200

_seen_detectors: set[str] = set()


def _warm_detector(job: ScoreJob) -> None:
    if job.detector.build(job.used_seed).warm_up():
        _seen_detectors.add(job.detector.name)


def _warm_measures(job: EvaluateJob) -> None:
    _compile_once()
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
    # The hook that every detector implements: what is left of fit_score is preparing and scoring.
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
    """Check imported scores; those of windows become scores of points."""
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
    # Neither the file nor its length is named, so that equal causes have equal messages.
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


# A file holds the scores of many detectors, and their jobs follow each other. Each looks at its
# own column: what is wrong with one is no concern of the others.
_recent_tables: dict[str, Columns] = {}


def _table(job: ImportJob) -> Columns:
    """Table with the content that the job names, whatever its file holds now."""
    table = _recent_tables.get(job.digest)
    if table is None:
        table = open_columns(Path(job.path), data=_file_content(job), threads=False)
        _remember(_recent_tables, job.digest, table, most=1)
    return table


def _file_content(job: ImportJob) -> bytes:
    """Content of an imported file: it is read once, and what is read is what is checked.

    Raises
    ------
    ChangedInputError
        If it is not the content that was planned.
    """
    todo = _CHANGED_DURING_RUN
    try:
        data = Path(job.path).read_bytes()
    except FileNotFoundError as error:
        raise ChangedInputError(f"{job.path} must exist, got no such file: {todo}") from error
    if hashlib.sha256(data).hexdigest() != job.digest:
        raise ChangedInputError(
            f"{job.path} must hold the scores that were planned, got another content: {todo}"
        )
    return data


def evaluate_scores(job: EvaluateJob, scores: Scores, series: Series) -> EvaluateResult:
    """Compute the measures of a job.

    Raises
    ------
    MeasureError
        If a measure fails.
    """
    _compile_once()
    first = evaluated_from(series, job.train_length)
    if first:
        series, scores = series.after(first), scores[first:]
        if series.anomalous_points in (0, series.n_points):
            raise NotApplicableError(
                "the measures are undefined: only one class in the labels after the training part"
            )
    with warnings.catch_warnings():
        # Coarse grids are the plan's choice, and undefined values stay absent.
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


@functools.cache
def _compile_once() -> None:
    # Compiled and interpreted sweeps differ in the last digits. Always the compiled one where
    # there is one: so a value does not depend on what else its worker has done.
    if backend_name() == "numba":
        vuskit.warm_up()

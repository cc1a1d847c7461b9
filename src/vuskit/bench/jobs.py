"""Jobs of a benchmark: detectors, measures, and what the key of each result is made of."""

from __future__ import annotations

import enum
import functools
import inspect
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from vuskit._util.text import listed, plural
from vuskit.bench.series import SeriesRef
from vuskit.datasets import Series
from vuskit.detectors import (
    Detector,
    adapt,
    get_detector,
)
from vuskit.detectors.adapters import Adapted, find_model_class, is_model_name
from vuskit.detectors.registry import detector_class
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure, get_measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.store.identity import (
    Code,
    canonical,
    code_of,
    code_text,
    import_object,
    importable,
    key_of,
)
from vuskit.store.store import Named

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
    window: int | None = None
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

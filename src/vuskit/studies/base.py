"""Studies: base classes, registry, runner, and saved results.

A study answers one question about measures. `Study.per_series` evaluates one series with its scores
on a worker. `Study.combine` builds the result from the values of all series. The command line, the
pages and the summary take their studies from the registry.
"""

from __future__ import annotations

import abc
import os
import re
import typing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit import __version__
from vuskit._util.entry_points import EntryPointGroup
from vuskit._util.files import write_atomically
from vuskit._util.names import did_you_mean
from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout
from vuskit._util.text import plural
from vuskit.buffers import BufferChoice, buffer_strategy_title
from vuskit.datasets import ScoredSeries
from vuskit.datasets.unique_names import SeriesName, unique_names
from vuskit.engine import (
    Action,
    Executor,
    ExecutorSettings,
    Limits,
    ResultFolder,
    Status,
    Task,
    TaskProgress,
    run_tasks,
)
from vuskit.errors import (
    InvalidInputError,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.inputs import check_choice, check_int
from vuskit.kernels.backend import core_name
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.settings import EvaluationSettings
from vuskit.studies.detector_names import find_detectors
from vuskit.studies.identity import StudyIdentity, check_code, identify_study, short_digest
from vuskit.studies.perturbations import Section, first_section, rare_section, scale_to_unit
from vuskit.studies.saved import UNREADABLE, pack, read_archive, unpack
from vuskit.studies.sources import (
    InMemory,
    SeriesNames,
    Source,
    StudyInput,
    content_of,
    open_scores,
    without_names,
)
from vuskit.studies.specifications import Form, Number, Specification

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BufferUse",
    "DetectorStudy",
    "Failure",
    "Option",
    "SeriesValues",
    "Study",
    "StudyResult",
    "ValuesResult",
    "evaluate_detectors",
    "evaluate_scores",
    "get_study",
    "list_studies",
    "load_study_result",
    "load_study_results",
    "option",
    "run_study",
    "study",
]


# ---- options ----


@dataclass(frozen=True)
class Option:
    """An option of a study, as data: checks, the command line and the docs are generated from it.

    Attributes
    ----------
    name : str
        Name of the study's field.
    default : object
        Default value.
    help : str
        One line of help.
    type : type
        ``int``, ``float``, ``str`` or ``bool``; the type of each item if `many` is set.
    many : bool
        Whether the value is a tuple.
    minimum, maximum : number, optional
        Smallest and largest allowed value.
    choices : tuple of str
        Allowed values; empty if any value is allowed.
    flag : str
        Name on the command line, such as ``"--pair"``.
    metavar : str
        Placeholder for the value in the command-line help.
    parse : callable, optional
        Converts command-line text to the value, or to one item of it.
    specification : Specification, optional
        Allowed forms of a value such as ``normal:-0.1:0.1``; the value is stored as its full text.
    synonym : str
        Alternative name on the command line.
    hidden : bool
        Whether the command line omits the option.
    stage : {"series", "result"}
        ``"series"`` if the values of the series depend on the option, ``"result"`` if only the
        tables and figures computed from these values do.
    """

    name: str
    default: Any
    help: str = ""
    type: type = str
    many: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    flag: str = ""
    metavar: str = ""
    parse: Callable[[str], Any] | None = None
    specification: Specification | None = None
    synonym: str = ""
    hidden: bool = False
    stage: str = "series"

    def check(self, value: Any) -> Any:
        """Return the validated value.

        Raises
        ------
        InvalidInputError
            If the value is invalid.

        Examples
        --------
        >>> Option("count", 10, type=int, minimum=2).check(5.0)
        5
        """
        if value is None and self.default is None:
            return None
        if isinstance(value, Mapping):
            return value
        if self.specification is not None:
            return self.specification.check(self.name, value)
        if not self.many:
            return self._check_one(value)
        if isinstance(value, str) or not isinstance(value, Iterable):
            value = [value]
        return tuple(map(self._check_one, value))

    def _check_one(self, value: Any) -> Any:
        if self.choices:
            return check_choice(self.name, value, self.choices)
        if self.type is int and self.minimum is not None:
            return check_int(self.name, value, minimum=int(self.minimum))
        if self.type is float:
            return self._check_number(value)
        return value

    def text(self, value: Any) -> str:
        """Return a value as text for the notes below a table.

        Examples
        --------
        >>> Option("ratio", (0.01, 0.2), type=float, many=True).text((0.01, 0.2))
        '0.01,0.2'
        """
        if isinstance(value, Mapping):
            return "as given"
        if isinstance(value, (tuple, list)):
            return ",".join(map(self.text, value))
        if isinstance(value, float):
            return format(value, "g")
        return str(getattr(value, "__name__", value))

    def _check_number(self, value: Any) -> float:
        low = -np.inf if self.minimum is None else self.minimum
        high = np.inf if self.maximum is None else self.maximum
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if low <= number <= high:
            return number
        limits = f" from {low:g} to {high:g}" if np.isfinite([low, high]).all() else ""
        if not limits and np.isfinite(low):
            limits = f" >= {low:g}"
        raise InvalidInputError(f"`{self.name}` must be a number{limits}, got {value!r}")


def option(
    default: Any,
    help: str = "",  # noqa: A002 - the usual name
    *,
    type: type | None = None,  # noqa: A002
    **about: Any,
) -> Any:
    """Declare a field of a study as an option with help, limits or choices.

    Parameters
    ----------
    default : object
        Default of the field.
    help : str
        One line of help.
    type : type, optional
        Type of the value or of its items. Default: the type of `default`, or of its first item;
        ``str`` for an empty tuple.
    **about
        Other attributes of :class:`Option`.

    Returns
    -------
    dataclasses.Field
        Assign it in the body of a dataclass: ``count: int = option(10, "Draws.")``.
    """
    many = about.pop("many", isinstance(default, tuple))
    example = next(iter(default), None) if isinstance(default, tuple) else default
    kind = type or (str if example is None else example.__class__)
    declared = Option("", default, help, kind, many, **about)
    return field(default=default, metadata={"option": declared})


# ---- studies ----

Result = TypeVar("Result", bound="StudyResult")
Kind = TypeVar("Kind", bound="type[Study[Any]]")

PUBLISHED = EvaluationSettings(buffer="authors", volume_factor=2.0)
"""Buffers of the published experiments: R-AUC at the period L, VUS over 0..2L."""

PUBLISHED_SETTINGS: Mapping[str, Any] = {
    "thresholds": 250,
    "definition": "pvldb2022",
    "threshold": "cascade",
}
"""Other settings of the published experiments."""

PUBLISHED_MEASURE_OPTIONS = (
    "precision_at_k.points=predicted",
    "range_precision.cardinality=reciprocal",
    "range_recall.alpha=0.2",
    "range_recall.cardinality=reciprocal",
    "range_f_score.alpha=0.2",
    "range_f_score.cardinality=reciprocal",
    "auc_pr.interpolation=trapezoid",
)
"""Measure options of the published experiments."""


@dataclass(frozen=True)
class Study(Generic[Result]):
    """Base class of studies; subclasses are frozen dataclasses whose fields are options.

    A subclass implements `per_series` and `combine` and is registered with :func:`study`.

    Parameters
    ----------
    measures : "paper", "extra", "all", name, measure, or iterable of these, default="paper"
        Measures to study; stored as a tuple of measures.
    settings : EvaluationSettings
        How measures are computed. Default: the buffers of the published experiments.
    measure_options : iterable of str
        Options of measures, such as ``"range_recall.alpha=0.2"``. The measures keep their names.

    Attributes
    ----------
    name, title, question, better : str
        As given to :func:`study`.
    input : str
        ``"scores"``: series with scores; ``"none"``: no input; ``"results"``: results of other
        studies; ``"cases"``: cases to time.
    published : mapping
        Options of the published experiments that differ from the defaults.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    question: ClassVar[str] = ""
    better: ClassVar[str] = "higher"
    input: ClassVar[str] = "scores"
    order: ClassVar[int] = 100
    result: ClassVar[type[StudyResult]]
    known: ClassVar[tuple[Callable[..., Any], ...]] = ()
    published: ClassVar[Mapping[str, Any]] = {}

    measures: Any = "paper"
    settings: EvaluationSettings = PUBLISHED
    measure_options: tuple[str, ...] = option(
        (),
        "Option of a measure, such as range_recall.alpha=0.2. Repeat for several.",
        flag="--measure-option",
        metavar="NAME.OPTION=X",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", resolve_measures(self.measures))
        for one in self.options():
            object.__setattr__(self, one.name, one.check(getattr(self, one.name)))
        changed = with_measure_options(self.measures, self.measure_options)
        object.__setattr__(self, "measures", changed)

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return the options of this study in order, without measures and settings."""
        return tuple(_option_of(cls, one) for one in fields(cls) if one.name not in _COMMON)

    @classmethod
    def create(
        cls,
        *,
        measures: Measures = "paper",
        settings: Any = None,
        as_published: bool = False,
        **options: Any,
    ) -> Self:
        """Create the study; also accepts fields of :class:`vuskit.EvaluationSettings` as keywords.

        Parameters
        ----------
        measures, settings
            As for the class. `settings` overrides the settings of ``as_published``.
        as_published : bool, default=False
            Start from the procedure of the published experiments. Explicit options override it.
        **options
            Options of the study and fields of the settings.

        Raises
        ------
        InvalidInputError
            If an option is unknown or invalid.

        Examples
        --------
        >>> from vuskit.studies import Consistency
        >>> study = Consistency.create(measures=["vus_pr"], buffer=20, min_series=2)
        >>> study.settings.buffer, study.min_series
        (20, 2)
        >>> Consistency.create(as_published=True, thresholds=100).settings.thresholds
        100
        """
        default: Any = next(one.default for one in fields(cls) if one.name == "settings")
        if as_published:
            default = default.replace(**PUBLISHED_SETTINGS)
        chosen: EvaluationSettings = default if settings is None else settings
        own = {one.name for one in cls.options()}
        general = {one.name for one in fields(EvaluationSettings)}
        for name in options:
            if name not in own | general:
                near = did_you_mean(name, own | general)
                raise InvalidInputError(f"{cls.name} has no option {name!r}{near}")
        changed = {name: value for name, value in options.items() if name not in own}
        given = {name: value for name, value in options.items() if name in own}
        if as_published:
            preset = published_measure_options(measures, given.get("measure_options", ()))
            given = {**cls.published, **given, "measure_options": preset}
        return cls(measures=measures, settings=chosen.replace(**changed), **given)

    @classmethod
    def as_published(cls, **options: Any) -> Self:
        """Return the study with the procedure of the published experiments.

        Where the authors' code differs from the paper's text, the preset follows the code.
        Explicit options override the preset.

        Parameters
        ----------
        **options
            As for :meth:`create`.

        Examples
        --------
        >>> from vuskit.studies import Robustness
        >>> study = Robustness.as_published(count=5)
        >>> study.count, study.noise, study.settings.definition
        (5, 'normal:-0.1:0.1', 'pvldb2022')
        """
        return cls.create(as_published=True, **options)

    @property
    def is_as_published(self) -> bool:
        """Whether all options match those of the published experiments."""
        try:
            preset = type(self).as_published(measures=self.measures)
        except (InvalidInputError, TypeError):  # an option has no default
            return False
        return self.options_in_force() == preset.options_in_force()

    def options_in_force(self) -> dict[str, str]:
        """Return all options and settings as text, by name.

        Examples
        --------
        >>> from vuskit.studies import Consistency
        >>> Consistency(min_series=5).options_in_force()["min_series"]
        '5'
        """
        own = {
            one.name: one.text(getattr(self, one.name))
            for one in self.options()
            if one.name != "measure_options" and getattr(self, one.name) not in (None, ())
        }
        fixed = dict(text.split("=", 1) for text in self.measure_options)
        return own | self.settings.texts() | fixed

    def options_line(self) -> str:
        """Return all options and settings in one line, for the notes below a table.

        Examples
        --------
        >>> from vuskit.studies import Consistency
        >>> print(Consistency.as_published(measures=["auc_pr", "vus_pr"]).options_line())
        options (as published): detectors=published, section=all, scale=none, ties=average, ...
        """
        listed = ", ".join(f"{name}={text}" for name, text in self.options_in_force().items())
        return f"options{' (as published)' if self.is_as_published else ''}: {listed}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(measure.name for measure in self.measures)

    @property
    def uses_names(self) -> bool:
        """Whether `per_series` depends on the names of the series or its detectors.

        If not, `per_series` sees placeholders instead of names and returns a `SeriesValues`.
        `with_names` then restores the names, so finished series can be reused after a rename.
        """
        return True

    def resolved(self) -> Self:
        """Return the study as workers receive it, with registered names replaced by objects.

        Override this if an option is the name of something registered, such as a measure. Other
        processes may not know the name, and stored values depend on the code behind it.
        """
        return self

    def sources(self, source: Any) -> tuple[Source, ...]:
        """Return the inputs of the study; by default series with scores."""
        return open_scores(source)

    def per_series(self, scored: ScoredSeries) -> Any:
        """Evaluate one series; runs on a worker.

        Return a value that can be saved: a `SeriesValues`, a pandas table, arrays, or plain data.
        Options of the stage ``"result"`` have their defaults here.
        """
        raise NotImplementedError

    def with_names(self, part: Any, names: SeriesNames) -> Any:
        """Replace the placeholders in the values of a series by its names."""
        axes = dict(part.axes)
        if "detector" in axes:
            known = names.by_placeholder()
            axes["detector"] = tuple(known[one] for one in axes["detector"])
        return replace(part, dataset=names.dataset, series=names.series, axes=axes)

    def combine(self, parts: list[Any]) -> Result:
        """Build the result from the values of all series, in their order."""
        raise NotImplementedError

    def run(self, source: Any = None, **how: Any) -> Result:
        """Run the study; parameters as for :func:`run_study`."""
        return run_study(self, source, **how)

    # Building blocks for `per_series`.

    def choose_buffer(self, scored: ScoredSeries) -> BufferChoice:
        """Choose the buffer of a series by the settings; gaps in its values are interpolated."""
        return self.settings.choose_buffer(y_true=scored.series.labels, values=scored.series.values)

    def evaluator(self, labels: ArrayLike, buffer: int) -> Evaluator:
        """Return an evaluator for these labels: R-AUC at the buffer, VUS up to a multiple of it."""
        return Evaluator(
            labels, measures=self.measures, settings=self.settings.replace(buffer=buffer)
        )


_COMMON = ("measures", "settings")


def with_measure_options(
    measures: Iterable[Measure], options: Iterable[str]
) -> tuple[Measure, ...]:
    """Return the measures with options such as ``"range_recall.alpha=0.2"``; names stay the same.

    Raises
    ------
    InvalidInputError
        If an option has another form, its measure is not under study, or its value is invalid.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> measure, = with_measure_options([get_measure("range_recall")], ["range_recall.alpha=0.2"])
    >>> measure.name, measure.options
    ('range_recall', {'alpha': 0.2})
    """
    changed = {one.name: one for one in measures}
    for text in options:
        name, option, value = _split_measure_option(text)
        if name not in changed:
            raise InvalidInputError(
                f"`measure_options` must name measures under study ({', '.join(changed)}), "
                f"got {text!r}{did_you_mean(name, changed)}"
            )
        fixed = changed[name].with_options(**{option: value}).options
        changed[name] = replace(changed[name], options=fixed)
    return tuple(changed.values())


def published_measure_options(measures: Measures, given: Iterable[str]) -> tuple[str, ...]:
    """Return the published options of the measures; `given` overrides them."""
    names = {one.name for one in resolve_measures(measures)}
    listed = [text for text in PUBLISHED_MEASURE_OPTIONS if _split_measure_option(text)[0] in names]
    found = {_split_measure_option(text)[:2]: text for text in (*listed, *given)}
    return tuple(found.values())


def _split_measure_option(text: str) -> tuple[str, str, Any]:
    """Split the text into measure, option and value; numeric values become numbers."""
    left, equals, value = str(text).partition("=")
    name, dot, option = left.rpartition(".")
    if not (equals and dot and name and option and value):
        raise InvalidInputError(
            "`measure_options` must have the form NAME.OPTION=VALUE, such as "
            f"range_recall.alpha=0.2, got {text!r}"
        )
    for kind in (int, float):
        try:
            return name.strip(), option.strip(), kind(value)
        except ValueError:
            continue
    return name.strip(), option.strip(), value.strip()


def _option_of(cls: type, one: Any) -> Option:
    """Return the option of a field: declared with `option`, or derived from its default."""
    declared: Option | None = one.metadata.get("option")
    if declared is None:
        default = None if one.default is MISSING else one.default
        kind = str if default is None else type(default)
        declared = Option("", default, type=kind, many=isinstance(default, tuple))
    flag = declared.flag or f"--{one.name.replace('_', '-')}"
    return replace(declared, name=one.name, flag=flag)


_POINTS = Number("N", minimum=400, whole=True)


def section_specification(bare: str) -> Specification:
    """Return the allowed forms of a section; a bare number means the form `bare`."""
    forms = Form("all"), Form("rare", (_POINTS,)), Form("first", (_POINTS,))
    return Specification(*forms, bare=bare)


@dataclass(frozen=True)
class DetectorStudy(Study[Result]):
    """A study of detectors' scores, optionally of selected detectors or on part of each series.

    Parameters
    ----------
    measures, settings, measure_options
        As for :class:`Study`.
    detectors : iterable of str
        Detectors to study; ``"published"`` selects those of the published experiments. Default:
        all detectors.
    section : str or int
        Part of each series to study. ``"all"``: all points. ``"first:N"``: the first N points.
        ``"rare:N"``: of the stretches of N points that start 200 points before an anomaly, the one
        with the fewest anomalous points. The buffer is chosen on the section.
    scale : {"none", "unit"}
        ``"unit"`` scales the scores to 0..1 on the section.
    """

    detectors: tuple[str, ...] = option(
        (),
        "Detector to study; published selects those of the paper. Repeat for several.",
        flag="--detector",
    )
    section: str = option(
        "all",
        "Part of each series: all, the first N points, or N points with few anomalies.",
        specification=section_specification("first"),
    )
    scale: str = option(
        "none",
        "Scaling of scores on the section: none, or unit for 0..1.",
        choices=("none", "unit"),
    )

    @property
    def uses_names(self) -> bool:
        """Whether detectors are selected by name."""
        return bool(self.detectors)

    def choose_section(self, labels: NDArray[np.bool_]) -> Section:
        """Return the section of a series to study."""
        option = next(one for one in self.options() if one.name == "section")
        assert option.specification is not None
        chosen = option.specification.parse("section", self.section)
        if chosen.name == "all":
            return first_section(labels, labels.size)
        choose = rare_section if chosen.name == "rare" else first_section
        return choose(labels, int(chosen.numbers[0]))

    def prepare(self, scored: ScoredSeries) -> tuple[ScoredSeries, int]:
        """Return the section with the selected detectors, and the start of its anomaly."""
        if self.detectors:
            scored = scored.select(find_detectors(self.detectors, scored.detectors))
        section = self.choose_section(scored.series.labels)
        if self.section == "all" and self.scale == "none":
            return scored, section.anchor
        part = slice(section.start, section.stop)
        series, scores = scored.series, {run: one[part] for run, one in scored.scores.items()}
        if self.scale == "unit":
            scores = {run: scale_to_unit(one) for run, one in scores.items()}
        values, labels = series.values[part], series.labels[part]
        cut = replace(series, values=values, labels=labels, train_length=None)
        return replace(scored, series=cut, scores=scores), section.anchor


# ---- the registry ----

ENTRY_POINTS = "vuskit.studies"
_STUDIES: dict[str, type[Study[Any]]] = {}
_BETTER = ("lower", "higher")
_INPUTS = ("scores", "none", "results", "cases")


def study(
    *,
    title: str,
    question: str,
    better: str,
    name: str | None = None,
    input: str = "scores",  # noqa: A002
    order: int = 100,
    known: Iterable[Callable[..., Any]] = (),
) -> Callable[[Kind], Kind]:
    """Register a study; a class decorator.

    Parameters
    ----------
    title : str
        Heading of its section and its page.
    question : str
        The question it answers, as a sentence.
    better : {"lower", "higher"}
        Whether low or high values of the result's `score` are better.
    name : str, optional
        Name in commands and files. Default: the class name in snake case.
    input : {"scores", "none", "results", "cases"}, default="scores"
        Kind of input; see :class:`Study`.
    order : int, default=100
        Position in lists; studies with equal numbers keep their order of registration.
    known : iterable of dataclasses and functions
        Those that the result contains, besides its own class; needed to load a saved result.

    Raises
    ------
    InvalidInputError
        If another study has this name, or the declaration is invalid.

    Examples
    --------
    >>> from vuskit.studies import get_study
    >>> get_study("consistency").question
    'Are detectors ranked alike on series of the same kind?'
    """

    def decorate(cls: Kind) -> Kind:
        own = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        if re.fullmatch(r"[a-z][a-z0-9_-]*", own) is None:
            raise InvalidInputError(
                f"`name` must be lower-case letters, digits, - or _, got {own!r}"
            )
        other = _STUDIES.get(own)
        if other is not None and _where(other) != _where(cls):
            raise InvalidInputError(
                f"`name` must be unique, got {own!r}, the name of {_where(other)}; choose another"
            )
        cls.name, cls.title, cls.question = own, title, question
        cls.better = check_choice("better", better, _BETTER)
        cls.input = check_choice("input", input, _INPUTS)
        cls.order, cls.result, cls.known = order, _result_class(cls), tuple(known)
        cls.result.kind = own
        _STUDIES[own] = cls
        return cls

    return decorate


def _where(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _result_class(cls: type) -> type[StudyResult]:
    """Return the class R of ``Study[R]``."""
    for base in getattr(cls, "__orig_bases__", ()):
        (found,) = typing.get_args(base) or (None,)
        if isinstance(found, type) and issubclass(found, StudyResult):
            return found
    raise InvalidInputError(
        f"`{cls.__name__}` must be derived from Study[R], where R is the class of its results, "
        f"got {[base.__name__ for base in cls.__bases__]}"
    )


def list_studies() -> list[type[Study[Any]]]:
    """Return all studies: built-in ones, those of loaded modules and of installed packages.

    Packages register studies through the entry point group ``vuskit.studies``. Studies that cannot
    be imported are not listed; :func:`get_study` reports the reason.

    Examples
    --------
    >>> from vuskit.studies import list_studies
    >>> [study.name for study in list_studies()][:3]
    ['robustness', 'separability', 'consistency']
    """
    _PLUGINS.load_all(_STUDIES)
    return sorted(_STUDIES.values(), key=lambda one: one.order)


def get_study(name: str) -> type[Study[Any]]:
    """Return the study with this name.

    Raises
    ------
    InvalidInputError
        If no study has this name, or its package cannot be imported.
    """
    if name not in _STUDIES and not _PLUGINS.load(name):
        raise InvalidInputError(
            f"`name` must be a registered study, got {name!r}"
            f"{did_you_mean(name, [*_STUDIES, *_PLUGINS.names()])}; load the module that defines it"
        )
    return _STUDIES[name]


_PLUGINS = EntryPointGroup(
    ENTRY_POINTS,
    "a class that @study registers under this name",
    lambda name, loaded: _STUDIES.get(name) is loaded,
)


# ---- results ----


@dataclass(frozen=True)
class Failure:
    """A series that could not be studied.

    Attributes
    ----------
    name : str
        Name of the series or its file.
    reason : str
        Error message.
    """

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class StudyResult(TableForms, abc.ABC):
    """Base class of results; subclasses are frozen dataclasses.

    Fields hold plain data, arrays, pandas tables, measures, `SeriesValues`, or dataclasses that the
    study declares as ``known``. Tables and figures are computed from them. A class with other
    fields defines ``to_saved()``, which returns plain data, and the class method
    ``from_saved(data)``.

    Attributes
    ----------
    study : Study
        The study with its settings and options.
    failures : tuple of Failure
        Series that could not be studied.
    inputs : tuple of StudyInput
        The series that were studied: names, digests of their content, and locations.
    core : str
        Core that computed the values, ``"native"`` or ``"numpy"``; empty if unknown. A summary of
        results from both lists both.
    kind : str
        Name of the study.
    """

    kind: ClassVar[str] = ""

    study: Any = field(default=None, kw_only=True)
    failures: tuple[Failure, ...] = field(default=(), kw_only=True)
    inputs: tuple[StudyInput, ...] = field(default=(), kw_only=True)
    core: str = field(default="", kw_only=True)

    @abc.abstractmethod
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables by name, as they are written to files."""

    def figures(self) -> dict[str, Any]:
        """Return the displays by name, in page order."""
        return {}

    def score(self) -> pd.Series | pd.DataFrame | None:
        """Return one number per measure for the summary.

        A table adds one column of the summary for each of its columns. None excludes the study
        from the summary.
        """
        return None

    def overview(self) -> pd.DataFrame:
        """Return the table to print: one row for each measure, indexed by name."""
        found: Any = self.score()
        if found is None:
            raise InvalidInputError(
                f"`{type(self).__name__}` must define overview() or score(), got neither"
            )
        frame: pd.DataFrame = found if hasattr(found, "columns") else found.to_frame(self.kind)
        return frame

    def to_frame(self) -> pd.DataFrame:
        """Return the overview; studies with a table of all values return that table."""
        return self.overview()

    @property
    def _layout(self) -> TableLayout:
        """Lay out the overview, with the titles of the measures."""
        frame = self.overview().rename(index={one.name: one.title for one in self.measures})
        frame.index.name = "measure"
        caption, lines = self.about(), [] if self.study is None else [self.options_line]
        notes = [f"{note}." for note in (*self.notes(), *lines)]
        return TableLayout.of_frame(frame.reset_index(), notes=notes, caption=caption)

    def about(self) -> str:
        """Describe the study in sentences; the caption of its table."""
        return str(self.study.question)

    def notes(self) -> tuple[str, ...]:
        """Return remarks on the numbers, as phrases without a final period."""
        return ()

    @property
    def options_line(self) -> str:
        """All options and settings of the study in one line."""
        return str(self.study.options_line())

    def facts(self) -> dict[str, Any]:
        """Return the facts behind caption and notes as plain data."""
        return {}

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        measures: tuple[Measure, ...] = self.study.measures
        return measures

    @property
    def buffers(self) -> BufferUse | None:
        """Buffers of the series; None if the study has no series."""
        return None

    @property
    def datasets(self) -> tuple[str, ...]:
        """Data set of each series; empty unless the numbers are means over data sets."""
        return ()

    def with_options(self, **options: Any) -> Self:
        """Return the result with other values of options of the stage ``"result"``.

        Raises
        ------
        InvalidInputError
            If the values of the series depend on an option; run the study again instead.
        """
        free = [one.name for one in self.study.options() if one.stage == "result"]
        for name in options:
            check_choice("options", name, free)
        return replace(self, study=replace(self.study, **options))

    def save(self, folder: str | Path) -> Path:
        """Save the result as ``<study>_result.npz``; replaces an earlier result of the study.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist.

        Returns
        -------
        Path
            The file; :func:`load_study_result` loads it.

        Examples
        --------
        >>> import tempfile
        >>> from vuskit.studies import load_study_result, scenario_study
        >>> path = scenario_study(measures=["vus_pr"]).save(tempfile.mkdtemp())
        >>> path.name, float(load_study_result(path).values.max())
        ('scenarios_result.npz', 1.0)
        """
        data = pack(
            self,
            format=_FORMAT,
            schema=SCHEMA_VERSION,
            kind=self.kind,
            vuskit=__version__,
        )
        path = Path(folder) / f"{self.kind}{_ENDING}"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
        return path


@dataclass(frozen=True, eq=False)
class SeriesValues:
    """Values of measures on one series.

    Attributes
    ----------
    dataset, series : str
        Names of the data set and the series.
    buffer : int
        Buffer of R-AUC.
    axes : mapping from str to tuple of str
        Axes of `values` in order, with the names along each axis.
    values : array
        NaN where a measure is undefined.
    notes : mapping
        Additional facts, as plain data.
    """

    dataset: str
    series: str
    buffer: int
    axes: Mapping[str, tuple[str, ...]]
    values: NDArray[np.float64]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = tuple(map(len, self.axes.values()))
        if np.shape(self.values) != shape:
            raise ValueError(
                f"`values` must have the shape of the axes, {shape}, got {np.shape(self.values)}"
            )

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"


@dataclass(frozen=True, eq=False)
class ValuesResult(StudyResult):
    """A result that stores the values of every series.

    Attributes
    ----------
    values : tuple of SeriesValues
        One for each series.
    """

    values: tuple[SeriesValues, ...]

    @property
    def buffers(self) -> BufferUse:
        """Buffers of the series."""
        return BufferUse.of(self.study.settings, (one.buffer for one in self.values))

    def series_named(self, name: str) -> SeriesValues:
        """Return the values of one series, given its name with or without the data set.

        Raises
        ------
        InvalidInputError
            If no series, or more than one, has this name.
        """
        found = [one for one in self.values if name in (one.series, one.name)]
        if len(found) != 1:
            raise InvalidInputError(
                f"`series` must name one series, got {name!r}, which names {len(found)} series"
                f"{did_you_mean(name, [one.name for one in self.values])}"
            )
        return found[0]

    def _concat(self, frames: list[pd.DataFrame], **options: Any) -> pd.DataFrame:
        """Concatenate the tables of series.

        Raises
        ------
        InvalidInputError
            If there are none.
        """
        if not frames:
            raise InvalidInputError(
                f"`values` must hold at least one series, got none{_failures_hint(self.failures)}"
            )
        frame: pd.DataFrame = require("pandas", purpose="tables").concat(frames, **options)
        return frame


def _failures_hint(failures: tuple[Failure, ...]) -> str:
    """Return how many series failed, and the reason of the first failure."""
    if not failures:
        return ""
    first = failures[0]
    count = plural(len(failures), "series", "series")
    return f"; {count} failed; the first one, {first.name}: {first.reason}"


@dataclass(frozen=True)
class BufferUse:
    """Buffers that a study used.

    Attributes
    ----------
    strategy : str or int
        Strategy that chose the buffers, or the length that was given.
    shortest, typical, longest : int
        Smallest, median and largest buffer of R-AUC.
    volume_factor : float
        Longest buffer of VUS, as a multiple of the buffer of R-AUC.
    """

    strategy: str | int
    shortest: int
    typical: int
    longest: int
    volume_factor: float

    @classmethod
    def of(cls, settings: EvaluationSettings, buffers: Iterable[int]) -> BufferUse:
        """Summarize the buffers of several series.

        Examples
        --------
        >>> settings = EvaluationSettings(buffer="median_anomaly", volume_factor=1.0)
        >>> print(BufferUse.of(settings, [20, 50, 30]))
        the median length of the anomalies (median_anomaly): 20 to 50 points, median 30
        >>> print(BufferUse.of(EvaluationSettings(buffer=24, volume_factor=2.0), [24, 24]))
        24 points; VUS up to 2 times that
        """
        lengths = list(buffers) or [0]
        rule = settings.buffer
        return cls(
            rule if isinstance(rule, str) else int(rule or 0),
            min(lengths),
            round(median(lengths)),
            max(lengths),
            settings.volume_factor,
        )

    def __str__(self) -> str:
        longer = self.volume_factor != 1
        return self._lengths() + f"; VUS up to {self.volume_factor:g} times that" * longer

    def _lengths(self) -> str:
        if not isinstance(self.strategy, str):
            return f"{self.strategy} points"
        rule = f"{buffer_strategy_title(self.strategy)} ({self.strategy})"
        if self.shortest == self.longest:
            return f"{rule}: {self.longest} points"
        return f"{rule}: {self.shortest} to {self.longest} points, median {self.typical}"

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as plain data."""
        return {
            "strategy": self.strategy if isinstance(self.strategy, str) else "number",
            "shortest": self.shortest,
            "median": self.typical,
            "longest": self.longest,
            "volume_factor": self.volume_factor,
        }


# ---- saved results ----

SCHEMA_VERSION = 4
"""Incremented when the saved form changes; results in another schema are refused."""

_FORMAT = "vuskit study result"
_ENDING = "_result.npz"


def load_study_result(path: str | Path) -> Any:
    """Load a result that :meth:`StudyResult.save` wrote.

    Measures keep their names, titles and families. A measure that is not registered here can be
    shown but not computed.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    StudyResult
        A result equal to the one that was saved.

    Raises
    ------
    InvalidInputError
        If the file is not a saved result, is damaged, has another schema, or belongs to a study
        that is not registered.
    """
    place = Path(path)
    try:
        data = place.read_bytes()
        header, _ = read_archive(data)
        if header["format"] != _FORMAT:
            raise ValueError(header["format"])
        schema, kind = int(header["schema"]), str(header["kind"])
    except UNREADABLE as error:
        raise InvalidInputError(
            f"`path` must be a saved result of a study, got {str(place)!r}, which cannot be read "
            f"as one ({type(error).__name__})"
        ) from error
    if schema != SCHEMA_VERSION:
        raise InvalidInputError(
            f"`path` must hold a result in schema {SCHEMA_VERSION}, got {kind!r} in schema "
            f"{schema}, written by vuskit {header.get('vuskit')}: {place}; run the study again"
        )
    cls = get_study(kind)
    try:
        result: Any = unpack(data, (*_KNOWN, cls, cls.result, *cls.known))[1]
        if not isinstance(result, cls.result):
            raise TypeError(type(result).__name__)
    except UNREADABLE as error:
        raise InvalidInputError(
            f"`path` must be a complete result of a study, got {str(place)!r}: something is "
            f"missing or damaged ({type(error).__name__}: {error}); run the study again"
        ) from error
    return result


def load_study_results(folder: str | Path) -> list[Any]:
    """Load every saved result in a folder and its subfolders.

    Parameters
    ----------
    folder : str or Path
        A folder, such as the ``--output`` of ``vuskit study``, or a single file.

    Returns
    -------
    list of StudyResult
        In the order of :func:`list_studies`; results of the same study by path.

    Raises
    ------
    InvalidInputError
        If the folder does not exist or holds no results, or a result cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.studies import scenario_study
    >>> folder = tempfile.mkdtemp()
    >>> _ = scenario_study(measures=["vus_pr"]).save(folder)
    >>> [type(result).__name__ for result in load_study_results(folder)]
    ['ScenarioResult']
    """
    place = Path(folder)
    if place.is_file():
        return [load_study_result(place)]
    order = {f"{one.name}{_ENDING}": number for number, one in enumerate(list_studies())}
    found = sorted(
        place.rglob(f"*{_ENDING}"), key=lambda path: (order.get(path.name, len(order)), path)
    )
    if not found:
        raise InvalidInputError(
            f"`folder` must hold results of studies, such as robustness{_ENDING}, got none in "
            f"{str(place)!r}; `vuskit study all SCORES --output FOLDER` creates them"
        )
    return [load_study_result(path) for path in found]


_KNOWN = (SeriesValues, Failure, StudyInput, EvaluationSettings, BufferChoice)

# ---- values of detectors ----


def evaluate_scores(evaluator: Evaluator, scores: Iterable[ArrayLike]) -> NDArray[np.float64]:
    """Return the values of all measures (columns) for each score (rows)."""
    return np.array([list(evaluator(score).values()) for score in scores], dtype=np.float64)


def evaluate_detectors(
    evaluator: Evaluator,
    scored: ScoredSeries,
    variants: Callable[[str, NDArray[np.float64]], Iterable[ArrayLike]] | None = None,
) -> NDArray[np.float64]:
    """Return the values of all measures for every detector of a series.

    A detector that ran with several seeds counts once: each value is the mean of the defined values
    of its runs.

    Parameters
    ----------
    evaluator : Evaluator
        Evaluator for the labels.
    scored : ScoredSeries
        The series and its scores.
    variants : callable, optional
        ``variants(detector, score)`` returns the scores to evaluate instead of the score itself;
        the same number for every run.

    Returns
    -------
    array of shape (detectors, measures), or (detectors, variants, measures)
        NaN where a measure is undefined.
    """
    if variants is None:
        return evaluate_detectors(evaluator, scored, lambda _, score: [score])[:, 0]
    if not scored.detectors:
        raise InvalidInputError(f"`scored` must hold at least one score, got none in {scored!r}")
    return np.stack(
        [
            _mean_of_defined(
                [evaluate_scores(evaluator, variants(name, score)) for score in scored.runs(name)]
            )
            for name in scored.detectors
        ]
    )


def _mean_of_defined(runs: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the mean over the runs of a detector; NaN where no run is defined."""
    if len(runs) == 1:
        return runs[0]
    values = np.stack(runs)
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=0)
    count = defined.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


# ---- running ----


def run_study(
    study: Study[Result] | type[Study[Result]] | str,
    source: Any = None,
    *,
    processes: int = 1,
    executor: ExecutorSettings | Executor | None = None,
    limits: Limits | None = None,
    folder: str | Path | None = None,
    progress: Callable[[TaskProgress], None] | None = None,
) -> Result:
    """Run a study on every series.

    Parameters
    ----------
    study : Study, its class, or its name
        A class or a name means the study with its default options.
    source : path, ScoredSeries, or iterable of these
        Series with scores, as :func:`vuskit.studies.open_scores` accepts them.
    processes : int, default=1
        Number of local processes. With 1 and without limits, the study runs in this process.
    executor : ExecutorSettings or Executor, optional
        Where to run instead, such as ``ExecutorSettings("dask", address=...)``.
    limits : Limits, optional
        Time and memory limits per series; a series that exceeds them fails. Default: no limits.
    folder : str or Path, optional
        Stores finished series, so that a second run resumes, even after ``kill -9``.
    progress : callable, optional
        Called with a :class:`vuskit.engine.TaskProgress`.

    Returns
    -------
    StudyResult
        Identical, byte for byte, for every executor and number of processes.

    Raises
    ------
    InvalidInputError
        If there are no series or a parameter is invalid. A single series that fails is listed in
        the result's ``failures`` instead.
    """
    chosen = get_study(study) if isinstance(study, str) else study
    task: Study[Result] = chosen() if isinstance(chosen, type) else chosen
    check_int("processes", processes, minimum=1)
    if executor is None:
        executor = ExecutorSettings(workers=processes)
    elif processes != 1:
        raise InvalidInputError(
            f"`processes` must be left out with an executor, got {processes}; set the number of "
            "workers of the executor instead"
        )
    sources = task.sources(source)
    keys: list[_SeriesKey] = []
    # Stored values must not depend on options that are declared to affect the result only.
    sent = _with_default_result_options(task.resolved())
    identity = identify_study(sent)
    outcomes = run_tasks(
        _tasks(sent, sources, identity, keys, by_content=folder is not None),
        total=len(sources),
        executor=executor,
        limits=limits,
        versions=identity.libraries,
        results=None if folder is None else _part_folder(task, Path(folder)),
        progress=progress,
    )
    found: list[tuple[Source, _Part]] = []
    failures: list[Failure] = []
    for one, key in zip(sources, keys, strict=True):
        outcome = outcomes[key.key]
        if outcome.status is Status.OK:
            found.append((one, key.complete(outcome.value)))
        else:
            failures.append(Failure(one.name, outcome.reason or str(outcome.status)))
    if failures and task.input == "none":
        raise InvalidInputError(failures[0].reason)
    if failures and not found:
        raise InvalidInputError(
            f"{task.name} must succeed on at least one series, got none: all {len(failures):,} "
            f"failed; the first one, {failures[0].name}: {failures[0].reason}"
        )
    named = _with_unique_names([part for _, part in found])
    inputs = [
        StudyInput.of(one, part.names, part.digest)
        for (one, _), part in zip(found, named, strict=True)
        if task.input != "none"
    ]
    values = [
        _named_value(task, part, renamed=part.names != before.names)
        for (_, before), part in zip(found, named, strict=True)
    ]
    result = task.combine(values)
    return replace(
        result, study=task, failures=tuple(failures), inputs=tuple(inputs), core=core_name()
    )


@dataclass(frozen=True)
class _Part:
    """Value of a series, its names, and the digest of its content.

    Stored parts have neither names nor digest: the source that requests a part provides both.
    """

    value: Any
    names: Any = None
    digest: str = ""


def _with_unique_names(parts: list[_Part]) -> list[_Part]:
    """Rename series of custom sources that have the name of another series.

    Names of files, runs and series in memory are already unique.
    """
    names = unique_names(
        [SeriesName(one.names.dataset, one.names.series, None, one.digest) for one in parts]
    )
    return [
        replace(part, names=replace(part.names, dataset=dataset, series=series))
        for part, (dataset, series) in zip(parts, names, strict=True)
    ]


def _named_value(study: Study[Any], part: _Part, *, renamed: bool) -> Any:
    if not study.uses_names:
        return study.with_names(part.value, part.names)
    if renamed and isinstance(part.value, SeriesValues):
        return replace(part.value, dataset=part.names.dataset, series=part.names.series)
    return part.value


@dataclass(frozen=True)
class _SeriesKey:
    """Key of the task of a source; names and digest if the source was already read."""

    key: str
    names: SeriesNames | None = None
    digest: str = ""

    def complete(self, part: _Part) -> _Part:
        """Return the part with the names and the digest of this source."""
        return part if self.names is None else _Part(part.value, self.names, self.digest)


@dataclass(frozen=True)
class _SeriesAction(Action):
    """Evaluates a study on one series; runs on a worker."""

    study: Study[Any]
    source: Source
    identity: StudyIdentity
    main_process: int
    digest: str = ""  # expected digest of the content; empty: not checked
    error: str = ""  # why the series could not be read for its key

    @property
    def group(self) -> str:
        """All series share a warm-up, which imports the study before limits apply."""
        return "studies"

    def run(self) -> _Part:
        """Read the series and evaluate the study on it.

        Raises
        ------
        InvalidInputError
            If the series could not be read, or has changed since the task was created.
        StaleWorkerError
            If this process has imported another version of the user's code.
        """
        if self.error:
            raise InvalidInputError(self.error)
        if os.getpid() != self.main_process:
            check_code(self.study, self.identity)
        scored = self.source.read()
        digest = content_of(scored)
        if self.digest not in ("", digest):
            raise InvalidInputError(
                f"{self.source.name} must not change during a study, got different content; "
                "run the same command again"
            )
        names = SeriesNames.of(scored)
        with _without_expected_warnings() as coarse:
            value = self.study.per_series(
                scored if self.study.uses_names else without_names(scored)
            )
        if isinstance(value, SeriesValues):
            value = replace(value, notes={**value.notes, "coarse_grid": bool(coarse)})
        return _Part(value, names, digest)

    def load(self) -> _SeriesAction:
        """Return the action with the series itself instead of its file."""
        return self if self.error else replace(self, source=InMemory(self.source.read()))


def _tasks(
    study: Study[Any],
    sources: Sequence[Source],
    identity: StudyIdentity,
    keys: list[_SeriesKey],
    *,
    by_content: bool,
) -> Iterator[Task]:
    """Yield the tasks of the sources, and append their keys to `keys`.

    Sources are read here only if finished series are looked up by content.
    """
    for number, source in enumerate(sources):
        key = _SeriesKey(f"{study.name}-{number}")
        action = _SeriesAction(study, source, identity, os.getpid())
        if by_content:
            try:
                scored = source.read()
            except (VuskitError, OSError) as error:
                action = replace(action, error=_reason(error))
            else:
                key = _series_key(scored, identity, with_names=study.uses_names)
                action = replace(action, digest=key.digest)
        keys.append(key)
        yield Task(key.key, source.name, action)


def _series_key(scored: ScoredSeries, identity: StudyIdentity, *, with_names: bool) -> _SeriesKey:
    names, digest = SeriesNames.of(scored), content_of(scored)
    parts: list[Any] = [identity.digest, digest]
    if with_names:
        parts.append([names.dataset, names.series, names.runs, names.detectors])
    return _SeriesKey(short_digest(parts), names, digest)


def _reason(error: Exception) -> str:
    """Return the message of an error as outcomes show it."""
    return str(error) if isinstance(error, VuskitError) else f"{type(error).__name__}: {error}"


def _with_default_result_options(study: Study[Any]) -> Study[Any]:
    defaults = {
        one.name: one.default
        for one in fields(study)
        if one.default is not MISSING
        and any(own.name == one.name and own.stage == "result" for own in study.options())
    }
    return replace(study, **defaults)


def _part_folder(study: Study[Any], folder: Path) -> ResultFolder:
    """Return the folder of finished series, which stores values without names."""
    known: tuple[Callable[..., Any], ...] = (*_KNOWN, *study.known)
    return ResultFolder(
        folder,
        encode=lambda part: pack(part.value),
        decode=lambda data: _Part(unpack(data, known)[1]),
    )


@contextmanager
def _without_expected_warnings() -> Iterator[list[str]]:
    """Collect warnings about coarse grids, drop those about undefined values, pass on the rest.

    Studies count coarse grids and undefined values themselves.
    """
    coarse: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ThresholdResolutionWarning)
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        yield coarse
    for warning in caught:
        if issubclass(warning.category, ThresholdResolutionWarning):
            coarse.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )

"""Base classes of studies, and their registry.

A study answers one question about measures. `Study.per_series` evaluates one series with its scores
on a worker. `Study.combine` builds the result from the values of all series.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import EntryPointGroup
from vuskit._util.text import did_you_mean
from vuskit.bench.run import open_scores
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measures, resolve_measures, with_measure_options
from vuskit.measures.settings import EvaluationSettings
from vuskit.parameters import (
    Checked,
    Param,
    Specification,
    one_of,
    param,
    params_of,
    several,
    text,
    texts,
    whole,
)
from vuskit.studies.perturbations import Section, first_section, rare_section, scale_to_unit
from vuskit.studies.result import SeriesNames, StudyResult

if TYPE_CHECKING:
    from vuskit.studies.result import StudyResult

Result = TypeVar("Result", bound="StudyResult")

DEFAULT_SETTINGS = EvaluationSettings(buffer="auto")
"""Settings of all studies of scores; the same as those of ``vuskit evaluate`` and of plans."""

PUBLISHED_SETTINGS: Mapping[str, Any] = {
    "buffer": "authors",
    "volume_factor": 2.0,
    "thresholds": 250,
    "definition": "pvldb2022",
    "threshold": "cascade",
}
"""Settings of the published experiments, where they differ."""

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

SECTION = "all|rare:N|first:N"
SECTION_HELP = "Part of each series: all, the first N points, or N points with few anomalies."
_COMMON = ("measures", "settings")


def section_check(bare: str) -> Specification:
    """Return the check of a section; a bare number means the procedure `bare`."""
    points = {"N": (None, whole(400))}
    return Specification(bare, all={}, rare=points, first=points)


def _published_measure_options(measures: Measures, given: Iterable[str]) -> tuple[str, ...]:
    """Return the published options of the measures; `given` overrides them."""
    names = {one.name for one in resolve_measures(measures)}
    published = [one for one in PUBLISHED_MEASURE_OPTIONS if one.partition(".")[0] in names]
    return tuple({one.partition("=")[0]: one for one in (*published, *given)}.values())


@dataclass(frozen=True)
class Study(Checked, Generic[Result]):
    """Base class of studies; subclasses are frozen dataclasses whose fields are options.

    A subclass implements `per_series` and `combine` and is registered with :func:`study`.

    Parameters
    ----------
    measures : "paper", "extra", "all", name, measure, or iterable of these, default="paper"
        Measures to study; stored as a tuple of measures.
    settings : EvaluationSettings
        How measures are computed. Default: those of ``vuskit evaluate``.
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
    published_settings : mapping
        The same for the settings of the measures.
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
    published_settings: ClassVar[Mapping[str, Any]] = PUBLISHED_SETTINGS

    measures: Any = "paper"
    settings: EvaluationSettings = DEFAULT_SETTINGS
    measure_options: tuple[str, ...] = param(
        (),
        several(text),
        "Options of measures, such as range_recall.alpha=0.2.",
        metavar="NAME.OPTION=X",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", resolve_measures(self.measures))
        super().__post_init__()
        changed = with_measure_options(self.measures, self.measure_options)
        object.__setattr__(self, "measures", changed)

    @classmethod
    def options(cls) -> dict[str, Param]:
        """Return the options of this study by name, without measures and settings."""
        return {name: one for name, one in params_of(cls).items() if name not in _COMMON}

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
        default: Any = params_of(cls)["settings"].default
        if as_published:
            default = default.replace(**cls.published_settings)
        chosen: EvaluationSettings = default if settings is None else settings
        own = cls.options()
        known = {**own, **params_of(EvaluationSettings)}
        for name in options:
            if name not in known:
                near = did_you_mean(name, known)
                raise InvalidInputError(f"{cls.name} has no option {name!r}{near}")
        changed = {name: value for name, value in options.items() if name not in own}
        given = {name: value for name, value in options.items() if name in own}
        if as_published:
            preset = _published_measure_options(measures, given.get("measure_options", ()))
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
        left_out = (*_COMMON, "measure_options")
        listed = texts(self, defaults=True)
        own = {name: text for name, text in listed.items() if name not in left_out}
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

    def sources(self, source: Any) -> Sequence[Source]:
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
        from vuskit.studies.run import run_study  # imports this module

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

    detectors: tuple[str, ...] = param(
        (), several(text), "Detectors to study; published selects those of the paper."
    )
    section: str = param("all", section_check("first"), SECTION_HELP, metavar=SECTION)
    scale: str = param(
        "none", one_of("none", "unit"), "Scaling of scores on the section: none, or unit for 0..1."
    )

    @property
    def uses_names(self) -> bool:
        """Whether detectors are selected by name."""
        return bool(self.detectors)

    def choose_section(self, labels: NDArray[np.bool_]) -> Section:
        """Return the section of a series to study."""
        procedure, numbers = section_check("first").parse("section", self.section)
        if procedure == "all":
            return first_section(labels, labels.size)
        choose = rare_section if procedure == "rare" else first_section
        return choose(labels, int(numbers[0]))

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

    def combine(self, parts: list[Any]) -> Result:
        """Keep the values of all series."""
        kind: Any = self.result
        result: Result = kind(tuple(parts))
        return result


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


ENTRY_POINTS = "vuskit.studies"
_STUDIES: dict[str, type[Study[Any]]] = {}
_BETTER = ("lower", "higher")
_INPUTS = ("scores", "none", "results", "cases")

Kind = TypeVar("Kind", bound="type[Study[Any]]")


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


PUBLISHED = "published"
"""Value of options that selects what the published experiments used."""

PUBLISHED_DETECTORS = (
    "NormA", "POLY", "IForest", "AE", "OCSVM", "MP", "LOF", "LSTM", "CNN",
)  # fmt: skip
"""Detectors of the published experiments."""

_SYNONYMS = {
    "autoencoder": "ae",
    "isolationforest": "iforest",
    "lstmad": "lstm",
    "matrixprofile": "mp",
}


def detector_key(name: str) -> str:
    """Return the same key for all spellings of a detector's name."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return _SYNONYMS.get(plain, plain)


def find_detectors(
    wanted: Iterable[str], available: Sequence[str], *, name: str = "detectors"
) -> tuple[str, ...]:
    """Return the wanted detectors, with their names in `available`.

    ``"published"`` means those of :data:`PUBLISHED_DETECTORS` that are available, or all detectors
    if none of them is.
    """
    by_key = {detector_key(one): one for one in reversed(available)}
    found: dict[str, None] = {}
    for one in wanted:
        if one == PUBLISHED:
            present = [
                by_key[key] for key in map(detector_key, PUBLISHED_DETECTORS) if key in by_key
            ]
            found |= dict.fromkeys(present or available)
            continue
        exact = one if one in available else by_key.get(detector_key(one))
        if exact is None:
            raise InvalidInputError(
                f"`{name}` must name detectors of the series ({', '.join(available)}), "
                f"got {one!r}{did_you_mean(one, available)}"
            )
        found[exact] = None
    return tuple(found)

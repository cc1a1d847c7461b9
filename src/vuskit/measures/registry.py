"""Registry of measures, the single source of all lists of measures.

A built-in measure is declared once, by :func:`measure` on ``compute(workspace, **options)``. The
declaration creates the public function, the registry entry and the documentation. A custom measure
is a plain function ``(y_true, y_score) -> float``, registered with :func:`register_measure`.
"""

from __future__ import annotations

import functools
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from types import CodeType
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from vuskit._util.optional import EntryPointGroup
from vuskit._util.text import did_you_mean
from vuskit.buffers import check_buffer
from vuskit.errors import (
    InvalidInputError,
    LongBufferWarning,
    MeasureError,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
    warn,
)
from vuskit.inputs import (
    NAN_POLICIES,
    align_to_labels,
    check_choice,
    check_labels_beside,
    check_prediction,
    read_scores,
)
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.workspace import Finder, Needs, PreparedLabels, Workspace, check_k
from vuskit.parameters import Check, Param, literal, params_of

__all__ = [
    "GROUPS",
    "Measure",
    "MeasureFunction",
    "MeasureProperties",
    "Measures",
    "check_option",
    "get_measure",
    "list_measures",
    "main_measure",
    "measure",
    "register_measure",
    "resolve_measures",
    "with_measure_options",
]

# Names of groups of measures, with descriptions.
GROUPS = {
    "paper": "the 13 measures of the VUS paper",
    "extra": "measures of other papers",
    "all": "all measures",
}

Function = TypeVar("Function", bound=Callable[..., float])
P = ParamSpec("P")
_MAIN_MEASURES = ("vus_pr", "vus_roc", "auc_pr")

_DEFAULTS = EvaluationSettings()
_SETTINGS = {
    **params_of(EvaluationSettings),
    "buffer": replace(params_of(EvaluationSettings)["buffer"], default=MISSING),
}


# --- measures ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeasureProperties:
    """Four properties of a measure, after Table 1 of the VUS paper; None if not declared.

    Attributes
    ----------
    independent_of_anomalies : bool or None
        Whether repeating the series, and thus its anomalies, leaves the value unchanged at fixed
        options. Precision@k, for example, always uses k points.
    threshold_free : bool or None
        Whether every order-preserving map of the score leaves the value unchanged.
    sequence_adapted : bool or None
        Whether the order of the points matters. Shuffling labels and score together does not
        change a point-wise measure.
    parameter_free : bool or None
        Whether there is no threshold, number of points, buffer, weight or slack to choose. The
        paper calls VUS parameter-free, although its longest buffer has to be chosen.
    """

    independent_of_anomalies: bool | None = None
    threshold_free: bool | None = None
    sequence_adapted: bool | None = None
    parameter_free: bool | None = None


@dataclass(frozen=True)
class Measure:
    """One accuracy measure.

    Attributes
    ----------
    name : str
        Name in code and files.
    title : str
        Name in tables and figures.
    function : callable
        ``function(y_true, y_score, **options) -> float``.
    family : str
        ``"threshold"``, ``"range"``, ``"auc"``, ``"range_auc"``, ``"vus"``, ``"event"``,
        ``"proximity"`` or ``"custom"``.
    bounds : tuple of float
        Lowest and highest value.
    higher_is_better : bool
        Whether higher values are better.
    reference : str
        Publication that defines the measure.
    group : str
        ``"paper"`` (the 13 measures of the VUS paper), ``"extra"`` (other papers) or ``"own"``
        (custom measures).
    misleading_without_chance : bool
        Whether tables show the chance level next to the value.
    properties : MeasureProperties
        What the value depends on.
    options : dict
        Options fixed by :meth:`with_options`.
    """

    name: str
    title: str
    function: Callable[..., float]
    family: str = "custom"
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    reference: str = ""
    group: str = "own"
    misleading_without_chance: bool = False
    properties: MeasureProperties = field(default_factory=MeasureProperties, compare=False)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def declaration(self) -> MeasureFunction[Any] | None:
        """The function of a declared measure; None for custom measures."""
        return self.function if isinstance(self.function, MeasureFunction) else None

    @property
    def parameters(self) -> Mapping[str, Param]:
        """Parameters by name; empty for custom measures."""
        return {} if self.declaration is None else self.declaration.parameters

    @property
    def needs(self) -> str:
        """What the measure needs from a workspace: "levels", "range_auc", "vus" or nothing."""
        return "" if self.declaration is None else self.declaration.needs

    def takes(self, option: str) -> bool:
        """Whether the measure has this option and it is not fixed."""
        declared = self.declaration is not None
        known = self.parameters if declared else inspect.signature(self.function).parameters
        return option in known and option not in self.options

    @property
    def uses_buffer(self) -> bool:
        """Whether the value depends on a buffer, either fixed or from the settings."""
        return "buffer" in self.options or self.takes("buffer")

    def compute(self, workspace: Workspace, **options: Any) -> float:
        """Return the value for a workspace, which shares intermediate results between measures.

        Parameters
        ----------
        workspace : Workspace
            The labels, the score and the settings.
        **options
            Validated options, in addition to the fixed ones.
        """
        options = {**self.options, **options}
        if self.declaration is None:
            return self._call(workspace, options)
        return float(self.declaration.compute(workspace, **options))

    def _call(self, workspace: Workspace, options: dict[str, Any]) -> float:
        """Call a custom function with the settings that it accepts."""
        settings = workspace.settings
        offered = {
            "thresholds": settings.thresholds,
            "definition": settings.definition,
            "step": settings.step,
            "side": settings.side,
            "threshold": settings.threshold,
        }
        known = inspect.signature(self.function).parameters
        given = {name: value for name, value in offered.items() if name in known}
        if "buffer" in known:
            given["buffer"] = workspace.prepared.choose_buffer(settings).length
        y_true = workspace.labels.as_array().astype(np.int8)
        with warnings.catch_warnings():
            # The evaluator has already warned once for all measures.
            if "buffer" in known:
                warnings.simplefilter("ignore", LongBufferWarning)
            if "thresholds" in known:
                warnings.simplefilter("ignore", ThresholdResolutionWarning)
            try:
                value: Any = self.function(y_true, workspace.scores, **{**given, **options})
                return float(value)
            except VuskitError:
                raise
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                raise MeasureError(f"measure {self.name!r} failed: {reason}") from error

    def with_options(self, **options: Any) -> Measure:
        """Return the measure with some options fixed; they become part of its name.

        Raises
        ------
        InvalidInputError
            If an option is unknown or a value is invalid.

        Examples
        --------
        >>> from vuskit import get_measure
        >>> get_measure("f_score").with_options(beta=2).name
        'f_score(beta=2)'
        """
        base = self.name.split("(")[0]
        for option, value in options.items():
            check_option(base, self.function, option)
            if option in self.parameters:
                self.parameters[option].checked(option, value)
        merged = {**self.options, **options}
        listed = ", ".join(f"{key}={_in_words(merged[key])}" for key in sorted(merged))
        title = self.title.split("(")[0]
        return replace(self, name=f"{base}({listed})", title=f"{title}({listed})", options=merged)


# Type of arguments named `measures`; functions must belong to registered measures.
Measures = str | Measure | Callable[..., float] | Iterable[str | Measure | Callable[..., float]]

_MEASURES: dict[str, Measure] = {}
_PLUGINS = EntryPointGroup(
    "vuskit.measures",
    "a function that register_measure registers under this name",
    lambda name, loaded: name in _MEASURES and _MEASURES[name].function is loaded,
)


def check_option(measure: str, function: Callable[..., float], option: str) -> None:
    """Check that a function accepts an option; its first two arguments are not options."""
    parameters = list(inspect.signature(function).parameters.values())
    known = [
        one.name
        for one in parameters[2:]
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name not in _INPUTS
    ]
    if option not in known and not any(one.kind is one.VAR_KEYWORD for one in parameters):
        raise InvalidInputError(f"{measure} has no option {option!r}{did_you_mean(option, known)}")


def _in_words(value: Any) -> str:
    """Return the value of an option as text that is the same in every process."""
    name = getattr(value, "__name__", None)
    return str(name) if name is not None else re.sub(r" at 0x[0-9A-Fa-f]+", "", str(value))


# --- declaring a measure -------------------------------------------------------------------------


_KINDS = {one.name: str(one.type) for one in fields(EvaluationSettings)}
# Keywords of public functions that are not options: arrays and what to do with missing scores, and
# a synonym of the buffer.
_INPUTS = ("y_pred", "values", "nan", "max_buffer")


class MeasureFunction(Generic[P]):
    """Function of a declared measure: ``function(y_true, y_score, **options) -> float``.

    It validates arrays and options, and returns NaN with a warning if only one class is present.
    """

    __name__: str
    __qualname__: str

    def __init__(
        self,
        compute: Callable[Concatenate[Workspace, P], float],
        checks: Mapping[str, Check],
        taken: tuple[str, ...],
        needs: str,
        best_threshold: Finder | None,
        check: Callable[[EvaluationSettings, Mapping[str, Any]], None] | None,
    ) -> None:
        functools.update_wrapper(self, compute)
        compute.__qualname__ = f"{self.__name__}.compute"  # for pickle
        self.compute = compute
        self.needs = needs
        self.best_threshold = best_threshold
        self.measure: Measure  # set by `measure`
        self._check = check
        self._taken = taken
        self._own = {
            name: Param(default, checks.get(name))
            for name, default in (compute.__kwdefaults__ or {}).items()
        }
        listed = {name: _SETTINGS[name] for name in taken if name not in _INPUTS}
        self.parameters: Mapping[str, Param] = {**listed, **self._own}
        self.__doc__ = _documentation(compute.__doc__, self._names)

    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike | None = None,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> float:
        """Return the value of the measure."""
        options: dict[str, Any] = kwargs
        if args:
            raise TypeError(f"{self.__name__}() takes 2 positional arguments, got {2 + len(args)}")
        takes_prediction = "y_pred" in self._taken
        y_pred = options.pop("y_pred", None) if takes_prediction else None
        values = options.pop("values", None) if "values" in self._taken else None
        nan = check_choice("nan", options.pop("nan", NAN_POLICIES[0]), NAN_POLICIES)
        settings, own = self._checked(options)
        if self._check is not None:
            self._check(settings, own)
        prediction = None
        if takes_prediction and (y_score is None) == (y_pred is None):
            given = "neither" if y_score is None else "both"
            raise InvalidInputError(
                f"`y_score` or `y_pred` must be given, got {given}; pass exactly one of them"
            )
        if y_pred is not None:
            y_true, y_pred, values = align_to_labels(y_true, y_pred=y_pred, values=values)
            labels, scores = check_labels_beside(y_true, y_pred=y_pred), None
            prediction = check_prediction(y_pred, labels)
        elif y_score is None:
            raise TypeError(f"{self.__name__}() missing a required argument: 'y_score'")
        else:
            y_true, y_score, values = align_to_labels(y_true, y_score=y_score, values=values)
            labels = check_labels_beside(y_true, y_score=y_score)
            scores, _ = read_scores(y_score, labels, nan)
        if settings.k is not None:
            check_k(settings.k, labels.n)
        if not labels.has_both_classes:
            warn_undefined(self.__name__)
            return float("nan")
        prepared = PreparedLabels(labels, values)
        if "buffer" in self._taken:
            prepared.warn_if_long(settings)
        needs: Needs = {(): frozenset((self.needs,))}
        workspace = Workspace(prepared, scores, settings, needs, prediction)
        workspace.warn_if_coarse()
        compute: Any = self.compute
        value = float(compute(workspace, **own))
        workspace.warn_if_predicted()
        return value

    def _checked(self, options: dict[str, Any]) -> tuple[EvaluationSettings, dict[str, Any]]:
        """Split options into settings and parameters of the measure, and validate both."""
        if "max_buffer" in options and "max_buffer" in self._taken:
            if "buffer" in options:
                raise TypeError("got both 'buffer' and its synonym 'max_buffer'; give one of them")
            options["buffer"] = check_buffer(options.pop("max_buffer"), name="max_buffer")
        known = self.parameters
        for name in options:
            if name not in known:
                hint = did_you_mean(name, [*known, *self._taken])
                raise TypeError(
                    f"{self.__name__}() got an unexpected keyword argument {name!r}{hint}"
                )
        if "buffer" in known and "buffer" not in options:
            raise TypeError(f"{self.__name__}() missing a required keyword argument: 'buffer'")
        own = {
            name: one.checked(name, options.pop(name))
            for name, one in self._own.items()
            if name in options
        }
        return EvaluationSettings(**options) if options else _DEFAULTS, own

    def __reduce__(self) -> str:
        return self.__qualname__  # pickle refers to the function by name

    def __get__(self, instance: Any, owner: Any = None) -> MeasureFunction[P]:
        # Makes the object a routine: help() shows its signature, doctest finds its examples.
        return self

    def __repr__(self) -> str:
        return f"<measure {self.__name__}>"

    @property
    def _names(self) -> list[str]:
        """Names of all parameters of the function, in order."""
        last = [name for name in ("threshold", "y_pred", "nan") if name in self._taken]
        first = [name for name in self._taken if name not in last]
        return ["y_true", "y_score", *first, *self._own, *last]

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        """The signature that users see, without the workspace."""
        kinds = {"y_true": "ArrayLike", "max_buffer": "Buffer | None", **_KINDS}
        kinds |= {name: str(self.compute.__annotations__[name]) for name in self._own}
        required = {"y_true"} if "y_pred" in self._taken else {"y_true", "y_score"}
        made = []
        for name in self._names:
            kind: Any = inspect.Parameter.KEYWORD_ONLY
            if name in ("y_true", "y_score"):
                kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            default = self.parameters[name].default if name in self.parameters else None
            if name == "nan":
                default = NAN_POLICIES[0]
            if name in required or default is MISSING:
                default = inspect.Parameter.empty
            annotation = kinds.get(name, "ArrayLike" + " | None" * (name not in required))
            made.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        return inspect.Signature(made, return_annotation="float")


def measure(
    *,
    title: str,
    family: str,
    reference: str,
    group: str = "extra",
    parameters: Mapping[str, Check] | None = None,
    settings: type | None = None,
    needs: str = "",
    misleading_without_chance: bool = False,
    properties: MeasureProperties,
    best_threshold: Finder | None = None,
    check: Callable[[EvaluationSettings, Mapping[str, Any]], None] | None = None,
) -> Callable[[Callable[Concatenate[Workspace, P], float]], MeasureFunction[P]]:
    """Declare a built-in measure by decorating ``compute(workspace, **options)``.

    The result is the public function ``name(y_true, y_score, **options)``. It validates arrays and
    options, and returns NaN with a warning if only one class is present.

    Parameters
    ----------
    title, family, reference, group, misleading_without_chance, properties
        As for :class:`Measure`.
    parameters : mapping, optional
        Checks of the parameters of this measure, by name.
    settings : type, optional
        A ``TypedDict`` of the settings and arrays that it accepts in addition.
    needs : {"", "levels", "range_auc", "vus"}
        Part of a workspace that the measure uses.
    best_threshold : callable, optional
        ``best_threshold(scores, labels, **options)`` returns the threshold that maximizes the
        measure.
    check : callable, optional
        ``check(settings, options)`` rejects options that exclude each other.
    """

    def declare(compute: Callable[Concatenate[Workspace, P], float]) -> MeasureFunction[P]:
        taken = tuple(() if settings is None else settings.__annotations__)
        function = MeasureFunction(compute, parameters or {}, taken, needs, best_threshold, check)
        function.measure = _MEASURES[function.__name__] = Measure(
            name=function.__name__,
            title=title,
            function=function,
            family=family,
            reference=reference,
            group=group,
            misleading_without_chance=misleading_without_chance,
            properties=properties,
        )
        return function

    return declare


def warn_undefined(names: str) -> None:
    """Warn that measures are undefined because only one class is present."""
    warn(f"{names} needs both normal and anomalous points; returning NaN.", UndefinedMeasureWarning)


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Split a docstring into its beginning and its sections."""
    parts = re.split(r"\n\n(\w+)\n-+\n", "\n\n" + inspect.cleandoc(text))
    return parts[0].strip(), dict(zip(parts[1::2], parts[2::2], strict=True))


def _entries(section: str) -> dict[str, str]:
    """Split a section by parameter; only the first of several names has the text."""
    texts = {}
    for described in re.split(r"\n(?=\S)", section):
        first, *others = described.partition("\n")[0].partition(" : ")[0].split(", ")
        texts.update({first: described, **dict.fromkeys(others, "")})
    return texts


# Documentation that measures share, by parameter and by section.
_PARAMETER_TEXTS = {
    **_entries(_sections(EvaluationSettings.__doc__ or "")[1].get("Parameters", "")),
    "y_true": """\
y_true : array-like of shape (n,)
    1 for anomalous points, 0 for normal ones.""",
    "y_score": """\
y_score : array-like of shape (n,)
    Anomaly scores, finite, higher meaning more anomalous.""",
    "buffer": """\
buffer : int, str or BufferChoice
    Buffer length: a number of points, the name of a strategy of :func:`choose_buffer`, or a
    BufferChoice. Half of it lies before each anomaly, half after it; 0 disables buffers.""",
    "max_buffer": """\
max_buffer
    Synonym of ``buffer``.""",
    "values": """\
values : array-like of shape (n,) or (n, d), optional
    Values of the series, for buffer strategies based on the period.""",
    "step": """\
step : int, default=1
    Distance between buffer lengths: 0, step, 2 step, ..., up to ``buffer``.""",
    "beta": """\
beta : float, default=1
    Weight of recall relative to precision; values above 1 favor recall.""",
    "algorithm": """\
algorithm : {"fast", "naive", "opt", "opt_mem"}, default="fast"
    ``"naive"``, ``"opt"`` and ``"opt_mem"`` are the algorithms of the journal paper. They require
    ``thresholds`` and the journal definition.""",
    "memory_limit": """\
memory_limit : int, optional
    Maximum size in bytes of the predictions of ``"opt_mem"``; 2 GiB by default.""",
    "y_pred": """\
y_pred : array-like of shape (n,), optional
    Prediction of 0 and 1, instead of a score and a threshold.""",
}
_RETURNS = "float\n    In [0, 1]; NaN when only one class is present."
_RAISES = "InvalidInputError\n    If an array or a parameter is invalid."
_WARNS = "UndefinedMeasureWarning\n    If only one class is present."
_WARNS_OF_GRID = """\
ThresholdResolutionWarning
    If the grid of thresholds is too coarse for the number of anomalous points."""
_WARNS_OF_BUFFER = """\
LongBufferWarning
    If the buffer exceeds a quarter of the series, or buffers cover more than half of it."""
_WARNS_OF_PREDICTION = """\
PredictionAsScoreWarning
    If the score holds only 0 and 1, and the threshold is above both."""


def _documentation(text: str | None, parameters: list[str]) -> str | None:
    """Complete a measure's docstring with the shared parameters and sections."""
    if text is None:  # python -OO
        return None
    start, sections = _sections(text)
    texts = _entries(sections.pop("Parameters", ""))
    warns = [_WARNS, *[_WARNS_OF_BUFFER] * ("buffer" in parameters)]
    warns += [_WARNS_OF_GRID] * ("thresholds" in parameters)
    warns += [_WARNS_OF_PREDICTION] * ("y_pred" in parameters)
    made = {
        "Parameters": "\n".join(
            text
            for name in parameters
            if (text := texts[name] if name in texts else _PARAMETER_TEXTS[name])
        ),
        "Returns": sections.pop("Returns", _RETURNS),
        "Raises": _RAISES,
        "Warns": "\n".join(warns),
        **sections,
    }
    body = "".join(f"\n\n{name}\n{'-' * len(name)}\n{made[name]}" for name in made)
    return start + body + "\n"


# --- registering and looking up ------------------------------------------------------------------


_COLUMNS = (
    "buffer", "buffer_reason", "dataset", "datasets", "detector", "evaluate_key",
    "higher_is_better", "measure", "own_series", "score_key", "seed", "series", "settings",
    "status", "value",
)  # fmt: skip


def register_measure(
    *,
    name: str,
    title: str | None = None,
    family: str = "custom",
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    reference: str = "",
    misleading_without_chance: bool = False,
    properties: MeasureProperties | None = None,
) -> Callable[[Function], Function]:
    """Register a function ``(y_true, y_score) -> float`` as a measure; use as a decorator.

    Registered measures work wherever vuskit accepts the name of a measure. If the function has
    keywords named like settings (``buffer``, ``threshold``, ...), it receives the settings of the
    evaluation.

    Parameters
    ----------
    name : str
        Name in code and files.
    title : str, optional
        Name in tables and figures; `name` by default.
    family, bounds, higher_is_better, reference, misleading_without_chance
        As for :class:`Measure`.
    properties : MeasureProperties, optional
        What the value depends on; not declared by default.

    Returns
    -------
    callable
        A decorator that returns its function unchanged.

    Raises
    ------
    InvalidInputError
        If another function or a group of measures already has this name. Registering the same
        function again is allowed, for example in a notebook cell or a reloaded module.

    Examples
    --------
    >>> from vuskit import evaluate, register_measure
    >>> @register_measure(name="top_hit", title="Top hit")
    ... def top_hit(y_true, y_score):
    ...     return float(y_true[y_score.argmax()])
    >>> evaluate([0, 1, 0, 0], [0.1, 0.9, 0.2, 0.3], buffer=2, measures=["top_hit"])["top_hit"]
    1.0
    """
    _check_name(name)

    def decorate(function: Function) -> Function:
        known = _MEASURES.get(name)
        if known is not None and not _is_same_definition(function, known.function):
            raise InvalidInputError(
                f"`name` must be new, got {name!r}, which is registered; choose another name"
            )
        _MEASURES[name] = Measure(
            name,
            title or name,
            function,
            family,
            bounds,
            higher_is_better,
            reference,
            misleading_without_chance=misleading_without_chance,
            properties=properties or MeasureProperties(),
        )
        return function

    return decorate


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or "(" in name:
        raise InvalidInputError(f"`name` must be text without parentheses, got {name!r}")
    if name in GROUPS:
        raise InvalidInputError(
            f"`name` must not be a group of measures, got {name!r}; choose another name"
        )
    if name in _COLUMNS:
        raise InvalidInputError(
            f"`name` must not be a column of result tables, got {name!r}; choose another name"
        )


def _is_same_definition(new: Callable[..., float], old: Callable[..., float]) -> bool:
    """Whether two functions come from the same definition, executed twice."""
    if new is old:
        return True
    code, known = getattr(new, "__code__", None), getattr(old, "__code__", None)
    if not isinstance(code, CodeType) or not isinstance(known, CodeType):
        return False
    if new.__qualname__ != old.__qualname__ or (new.__name__ == "<lambda>" and code != known):
        return False
    # A script that imports itself has one file but two module names.
    return code.co_filename == known.co_filename or new.__module__ == old.__module__


def list_measures() -> list[Measure]:
    """Return all registered measures: VUS paper, other papers, custom.

    Packages can provide measures through the entry point group ``vuskit.measures``.

    Examples
    --------
    >>> from vuskit import list_measures
    >>> [measure.title for measure in list_measures()][:3]
    ['Precision', 'Recall', 'F']
    """
    _PLUGINS.load_all(_MEASURES)
    order = ("paper", "extra", "own")
    return sorted(_MEASURES.values(), key=lambda measure: order.index(measure.group))


def get_measure(name: str) -> Measure:
    """Return the registered measure with this name or title.

    Raises
    ------
    InvalidInputError
        If there is none. The message suggests the closest name.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> get_measure("vus_pr").title
    'VUS-PR'
    >>> get_measure("VUS-PR").name
    'vus_pr'
    """
    return _registered(name, "name", ())


def _registered(name: Any, argument: str, choices: Iterable[str]) -> Measure:
    """Return the measure with a name or title; errors may also suggest ``choices``."""
    if isinstance(name, str):
        if name in _MEASURES:
            return _MEASURES[name]
        for measure in _MEASURES.values():
            if measure.title == name:
                return measure
        if _PLUGINS.load(name):
            return _MEASURES[name]
        for measure in list_measures():  # loads all plug-ins
            if measure.title == name:
                return measure
    hint = did_you_mean(name, [*_MEASURES, *choices])
    raise InvalidInputError(f"`{argument}` must be a registered measure, got {name!r}{hint}")


def main_measure(names: Sequence[str]) -> str:
    """Return the default measure for ordering detectors.

    Examples
    --------
    >>> main_measure(["auc_pr", "vus_pr", "my_own"])
    'vus_pr'
    >>> main_measure(["f_score", "my_own"])
    'my_own'
    """
    return next((name for name in _MAIN_MEASURES if name in names), names[-1])


def resolve_measures(measures: Measures, *, name: str = "measures") -> tuple[Measure, ...]:
    """Return the measures for a group, name, title, function, or list of these, without duplicates.

    Examples
    --------
    >>> [measure.title for measure in resolve_measures(["vus_pr", "paper"])][:3]
    ['VUS-PR', 'Precision', 'Recall']
    >>> from vuskit import vus_pr
    >>> resolve_measures(vus_pr)[0].title
    'VUS-PR'
    """
    if isinstance(measures, (str, Measure)) or callable(measures):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise InvalidInputError(
            f"`{name}` must be a measure, a name, or a list of these, got {measures!r}"
        )
    found: dict[str, Measure] = {}
    for one in measures:
        for measure in _resolve(one, name):
            known = found.setdefault(measure.name, measure)
            if known is not measure and not _are_same(known, measure):
                raise InvalidInputError(
                    f"`{name}` must have unique names, got two measures named {measure.name!r}"
                )
    resolved = tuple(found.values())
    if not resolved:
        raise InvalidInputError(f"`{name}` must name at least one measure, got none")
    return resolved


def _are_same(one: Measure, other: Measure) -> bool:
    # Compare the text of options, because == of arrays does not return a single bool.
    return one.function is other.function and repr(one.options) == repr(other.options)


def _resolve(measure: Any, argument: str) -> list[Measure]:
    if isinstance(measure, Measure):
        return [measure]
    if isinstance(measure, str) and measure in GROUPS:
        if measure == "all":
            return list_measures()
        return [one for one in _MEASURES.values() if one.group == measure]
    if callable(measure):
        return [_measure_of(measure, argument)]
    return [_registered(measure, argument, GROUPS)]


def _measure_of(function: Callable[..., float], argument: str) -> Measure:
    for measure in _MEASURES.values():
        if measure.function is function:
            return measure
    raise InvalidInputError(
        f"`{argument}` must be a registered measure, got the function {_in_words(function)!r}; "
        "register it with register_measure"
    )


def with_measure_options(
    measures: Iterable[Measure], options: Iterable[str], *, rename: bool = False
) -> tuple[Measure, ...]:
    """Return measures with options such as ``"range_recall.alpha=0.2"``.

    Examples
    --------
    >>> with_measure_options(resolve_measures("f_score"), ["f_score.beta=2"])[0].options
    {'beta': 2}
    """
    changed = {one.name: one for one in measures}
    for given in options:
        left, equals, value = str(given).partition("=")
        name, dot, option = left.strip().rpartition(".")
        if not (equals and dot and name and option and value):
            raise InvalidInputError(
                "`measure_options` must have the form NAME.OPTION=VALUE, such as "
                f"range_recall.alpha=0.2, got {given!r}"
            )
        if name not in changed:
            raise InvalidInputError(
                f"`measure_options` must name chosen measures ({', '.join(changed)}), "
                f"got {given!r}{did_you_mean(name, changed)}"
            )
        fixed = changed[name].with_options(**{option: literal(value)})
        changed[name] = fixed if rename else replace(changed[name], options=fixed.options)
    return tuple(changed.values())


def measure_called(name: str) -> Measure:
    """Look up a measure by its name in tables, with or without options.

    An unregistered measure keeps its name, and higher values count as better.

    Examples
    --------
    >>> measure_called("f_score(beta=2)").title
    'F(beta=2)'
    >>> measure_called("mine").title
    'mine'
    """
    base, bracket, options = name.partition("(")
    for measure in list_measures():
        if measure.name == base:
            if not bracket:
                return measure
            title = measure.title.partition("(")[0]
            return replace(measure, name=name, title=f"{title}({options}")
    return Measure(name=name, title=name, function=_unknown)


def _unknown(*_: Any) -> float:
    raise InvalidInputError(
        "the measure must be registered in this process to be computed, got only its name; import "
        "the module that defines it"
    )


def measures_in_order(names: Iterable[str]) -> list[str]:
    """Sort measures by the registry, variants after their measure, user-defined ones last."""
    # User-defined measures go by name: the order must not depend on which modules are imported.
    package = [one.name for one in list_measures() if one.function.__module__.startswith("vuskit.")]
    order = {name: place for place, name in enumerate(package)}
    return sorted(names, key=lambda name: (order.get(name.partition("(")[0], len(order)), name))

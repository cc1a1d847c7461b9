"""Validated settings of an evaluation."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, get_args

from numpy.typing import ArrayLike

from vuskit._util.text import did_you_mean
from vuskit.buffers import BufferChoice, check_buffer, choose_buffer
from vuskit.errors import BufferNotFoundError, InvalidInputError
from vuskit.inputs import NAN_POLICIES
from vuskit.kernels.labels import DEFINITIONS, JOURNAL, Side
from vuskit.measures.thresholds import ThresholdRule, check_rule, rule_text
from vuskit.parameters import Checked, from_mapping, number, one_of, param, texts, whole

if TYPE_CHECKING:
    from vuskit.measures.registry import Measure

__all__ = [
    "Buffer",
    "BufferOptions",
    "EvaluationSettings",
    "RangeAucOptions",
    "ScoreOptions",
    "SettingOptions",
    "ThresholdOptions",
    "TopOptions",
    "VolumeOptions",
    "settings_for",
    "settings_from",
    "with_setting_keywords",
]

Buffer = int | str | BufferChoice
Function = TypeVar("Function", bound=Callable[..., Any])


class SettingOptions(TypedDict, total=False):
    """Keywords for the fields of :class:`EvaluationSettings`."""

    buffer: Buffer
    thresholds: int | None
    definition: str
    step: int
    side: str
    threshold: ThresholdRule
    k: int | None
    buffer_fallback: int | None
    volume_factor: float
    nan: str


# Settings and arrays that measures accept in addition to their own parameters.


class ScoreOptions(TypedDict, total=False):
    """Options of all measures."""

    nan: str


class ThresholdOptions(ScoreOptions, total=False):
    """Options of measures of a prediction."""

    threshold: ThresholdRule
    y_pred: ArrayLike | None


class TopOptions(ScoreOptions, total=False):
    """Options of measures of the highest scores."""

    k: int | None


class BufferOptions(ScoreOptions, total=False):
    """Options of measures with buffers around anomalies."""

    buffer: Buffer
    values: ArrayLike | None
    side: str


class RangeAucOptions(BufferOptions, total=False):
    """Options of R-AUC."""

    thresholds: int | None
    definition: str


class VolumeOptions(RangeAucOptions, total=False):
    """Options of VUS."""

    max_buffer: Buffer
    step: int


def _buffer_text(buffer: Buffer | None) -> str:
    return str(buffer.length if isinstance(buffer, BufferChoice) else buffer)


@dataclass(frozen=True)
class EvaluationSettings(Checked):
    """Settings of an evaluation: everything besides labels, scores and measures.

    They print as one line, which appears below every table.

    Parameters
    ----------
    buffer : int, str or BufferChoice, optional
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        (see :func:`vuskit.list_buffer_strategies`) or a BufferChoice. Without it, measures that
        need a buffer cannot be computed.
    thresholds : int, optional
        Number of thresholds of R-AUC and VUS, placed at evenly spaced ranks of the scores;
        published tables use 250. By default every distinct score is a threshold, and the value is
        exact.
    definition : {"journal", "pvldb2022", "timeeval"}, default="journal"
        Published definition of R-AUC and VUS.
    step : int, default=1
        Distance between the buffer lengths of VUS.
    side : {"both", "before", "after"}, default="both"
        Side of the anomalies that has a buffer; ``"after"`` tolerates only late detections.
    threshold : {"sigma", "quantile", "cascade", "best"}, number or callable, default="sigma"
        Points with a score >= the threshold are predicted. ``"sigma"`` is the mean plus three
        standard deviations of the score. ``Sigma(factor)`` and ``Quantile(q)`` change the parameter
        of a rule. A callable receives the scores and returns the threshold. ``"cascade"`` predicts
        scores *above* the mean plus three standard deviations; if there are none, plus two, then
        plus one, as in the published experiments. ``"best"`` uses the labels: it maximizes the
        corresponding F-score, an upper bound for any rule.
    k : int, optional
        Number of highest scores of Precision@k; by default the number of anomalous points.
    buffer_fallback : int, optional
        Buffer length for series for which the strategy finds none.
    volume_factor : float, default=1
        Longest buffer of VUS as a multiple of R-AUC's buffer. The published studies use 2.
    nan : {"error", "lowest"}, default="error"
        Missing scores (NaN): refuse them, or rank them below all other scores.

    Raises
    ------
    InvalidInputError
        If a value is invalid. The message names the parameter.

    Examples
    --------
    >>> settings = EvaluationSettings(buffer=100, thresholds=250)
    >>> print(settings)
    buffer=100, thresholds=250, definition=journal
    >>> print(settings.replace(side="after"))
    buffer=100, thresholds=250, definition=journal, side=after
    """

    buffer: Buffer | None = param(
        None,
        lambda name, value: check_buffer(value, name=name),
        "Buffer of R-AUC: a number of points, or auto, period, median-anomaly, ...",
        metavar="N|RULE",
        shown=True,
        write=_buffer_text,
    )
    thresholds: int | None = param(
        None,
        whole(2),
        "Number of thresholds of R-AUC and VUS. Default: all scores; published tables: 250.",
        metavar="N",
        shown=True,
        write=lambda value: "all" if value is None else str(value),
    )
    definition: str = param(
        JOURNAL.name, one_of(DEFINITIONS), "Definition of R-AUC and VUS.", shown=True
    )
    step: int = param(1, whole(1), "Step between the buffers of VUS.", metavar="N")
    side: str = param(
        "both", one_of(*get_args(Side)), "Sides of an anomaly that get a buffer.", metavar="SIDE"
    )
    threshold: ThresholdRule = param(
        "sigma",
        lambda name, value: check_rule(value, name=name),
        "Threshold for F-type measures: a number, sigma, quantile, cascade or best.",
        metavar="X|RULE",
        write=rule_text,
    )
    k: int | None = param(
        None, whole(1), "The k of Precision@k. Default: all anomalous points.", metavar="N"
    )
    buffer_fallback: int | None = param(
        None, whole(0), "Buffer of series for which the rule finds none.", metavar="N"
    )
    volume_factor: float = param(
        1.0, number(above=0), "Longest buffer of VUS, as a multiple of the buffer.", metavar="X"
    )
    nan: str = param(
        "error", one_of(*NAN_POLICIES), "Missing scores: an error, or below all others (lowest)."
    )

    def choose_buffer(
        self, *, y_true: ArrayLike | None = None, values: ArrayLike | None = None
    ) -> BufferChoice:
        """Return the buffer of one series, with the strategy and the reason.

        Parameters
        ----------
        y_true : array-like of shape (n,), optional
            The labels, for strategies based on the anomalies.
        values : array-like of shape (n,) or (n, d), optional
            Values of the series, for strategies based on the period.

        Raises
        ------
        BufferNotFoundError
            If the strategy finds no buffer and there is no fallback.
        InvalidInputError
            If the settings have no buffer, or the values or labels are invalid.

        Examples
        --------
        >>> labels = [0, 1, 1, 0, 0, 1, 1, 1, 1, 0]
        >>> EvaluationSettings(buffer="median_anomaly").choose_buffer(y_true=labels).length
        3
        """
        if self.buffer is None:
            raise InvalidInputError(
                "`buffer` must be an int >= 0, the name of a strategy or a BufferChoice, got None"
            )
        try:
            return choose_buffer(self.buffer, values=values, y_true=y_true)
        except BufferNotFoundError as error:
            if self.buffer_fallback is None:
                raise BufferNotFoundError(f"{error}; or set `buffer_fallback`") from error
            return BufferChoice(self.buffer_fallback, "fallback", str(error))

    def replace(self, **changes: Any) -> EvaluationSettings:
        """Return a copy of the settings with some values changed.

        Raises
        ------
        InvalidInputError
            If a value is invalid.
        """
        return type(self)(**{**self.__dict__, **changes}) if changes else self

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON-compatible values; callables by their qualified name.

        Examples
        --------
        >>> EvaluationSettings(buffer="auto", threshold=0.5).to_dict()["threshold"]
        0.5
        """
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        if isinstance(self.buffer, BufferChoice):
            found["buffer"] = _to_dict(self.buffer)
        if callable(self.threshold):
            found["threshold"] = _callable_to_json(self.threshold)
        return found

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> EvaluationSettings:
        """Create settings from the result of :meth:`to_dict`.

        Raises
        ------
        InvalidInputError
            If a key is unknown, a value is invalid, or a callable cannot be imported.

        Examples
        --------
        >>> settings = EvaluationSettings(buffer="auto", threshold=0.5)
        >>> EvaluationSettings.from_dict(settings.to_dict()) == settings
        True
        """
        values = dict(found)
        if isinstance(values.get("buffer"), Mapping):
            values["buffer"] = BufferChoice(**values["buffer"])
        if isinstance(values.get("threshold"), Mapping):
            values["threshold"] = _callable_from_json(values["threshold"])
        return from_mapping(cls, values, where="settings")

    @property
    def threshold_text(self) -> str:
        """The threshold rule as text."""
        return rule_text(self.threshold)

    def texts(self) -> dict[str, str]:
        """Return the settings as text by name, without optional settings at their defaults.

        Examples
        --------
        >>> EvaluationSettings(buffer=100, side="after").texts()
        {'buffer': '100', 'thresholds': 'all', 'definition': 'journal', 'side': 'after'}
        """
        found = texts(self)
        fallback = found.pop("buffer_fallback", None)
        if fallback is not None and isinstance(self.buffer, str):
            found["buffer"] += f" else {fallback}"
        return found

    def __str__(self) -> str:
        return ", ".join(f"{name}={text}" for name, text in self.texts().items())


def settings_from(
    settings: EvaluationSettings | None, options: Mapping[str, Any]
) -> EvaluationSettings:
    """Return settings with keywords applied, or settings from keywords alone."""
    for name in options:
        if name not in SettingOptions.__annotations__:
            known = (*SettingOptions.__annotations__, "measures", "values", "settings", "threads")
            hint = did_you_mean(name, known)
            raise TypeError(f"got an unexpected keyword argument {name!r}{hint}")
    if settings is None:
        if "buffer" not in options:
            raise TypeError("missing a required keyword argument: 'buffer' or 'settings'")
        return EvaluationSettings(**options)
    if not isinstance(settings, EvaluationSettings):
        raise InvalidInputError(
            f"`settings` must be an EvaluationSettings, got {type(settings).__name__}"
        )
    return settings.replace(**options)


def settings_for(
    measures: Iterable[Measure], settings: EvaluationSettings | None, options: Mapping[str, Any]
) -> EvaluationSettings:
    """Return settings from keywords; the buffer is optional if no measure uses one."""
    if settings is None and "buffer" not in options:
        needing = [one.name for one in measures if one.uses_buffer and "buffer" not in one.options]
        if needing:
            raise TypeError(f"missing a required keyword argument: 'buffer', for {needing[0]}")
        options = {"buffer": 0, **options}
    return settings_from(settings, options)


def with_setting_keywords(function: Function) -> Function:
    """Replace ``**options`` in the signature by the fields of the settings."""
    signature = inspect.signature(function)
    own = [entry for entry in signature.parameters.values() if entry.kind != entry.VAR_KEYWORD]
    keywords = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.type,
        )
        for field in fields(EvaluationSettings)
    ]
    arrays = [entry for entry in own if entry.kind != entry.KEYWORD_ONLY]
    parameters = [*arrays, keywords[0], *own[len(arrays) :], *keywords[1:]]
    listed: Any = function
    listed.__signature__ = signature.replace(parameters=parameters)
    listed.__annotations__ = {entry.name: entry.annotation for entry in parameters}
    listed.__annotations__["return"] = signature.return_annotation
    return function


def _to_dict(instance: Any) -> dict[str, Any]:
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def _callable_to_json(function: Any) -> dict[str, Any]:
    """Describe a function as ``module:name``, and a dataclass instance with its values."""
    if is_dataclass(function) and not isinstance(function, type):
        kind = type(function)
        return {"callable": f"{kind.__module__}:{kind.__qualname__}", "values": _to_dict(function)}
    name = getattr(function, "__qualname__", None)
    if name is None:
        return {"callable": repr(function)}
    return {"callable": f"{function.__module__}:{name}"}


def _callable_from_json(described: Mapping[str, Any]) -> Any:
    path = str(described.get("callable"))
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError):
        raise InvalidInputError(
            f"`threshold` must be a callable that can be imported, got {path!r}; define it at the "
            "top level of a module"
        ) from None
    return found(**described["values"]) if "values" in described else found

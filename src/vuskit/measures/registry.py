"""The registry of measures: every list of measures anywhere is made from it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeVar

from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.measures.workspace import Workspace

__all__ = [
    "GROUPS",
    "Measure",
    "Measures",
    "check_option",
    "get_measure",
    "list_measures",
    "register_measure",
    "resolve_measures",
]

# Names for several measures at once, and what is shown of them.
GROUPS = {
    "paper": "the paper's thirteen",
    "extra": "those of other papers",
    "all": "all measures",
}

Function = TypeVar("Function", bound=Callable[..., float])


@dataclass(frozen=True)
class Measure:
    """One accuracy measure.

    Attributes
    ----------
    name : str
        Its name in code, files and stores.
    title : str
        Its name in tables and figures.
    function : callable
        ``function(y_true, y_score, **options) -> float``.
    family : str
        ``"threshold"``, ``"range"``, ``"auc"``, ``"range_auc"``, ``"vus"``, ``"event"``,
        ``"proximity"`` or ``"custom"``.
    bounds : tuple of float
        Lowest and highest value.
    higher_is_better : bool
        Direction of the measure.
    reference : str
        Where it is defined.
    paper : bool
        Whether it is one of the thirteen measures of the VUS paper.
    extra : bool
        Whether it is one of the measures of other papers that the package brings.
    with_chance : bool
        Whether its value misleads without what a random score gets; tables show that beside it.
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
    paper: bool = False
    extra: bool = False
    with_chance: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    # How the measure is computed from work shared with other measures; None: by its function.
    shared: Callable[[Workspace], float] | None = field(default=None, repr=False)
    # What it looks up there: "areas" or "levels"; see Workspace.
    needs: str = field(default="", repr=False)

    @property
    def group(self) -> str:
        """``"paper"``, ``"extra"`` or ``"own"``."""
        return "paper" if self.paper else "extra" if self.extra else "own"

    def takes(self, option: str) -> bool:
        """Whether the measure has an option of that name, and it is not fixed."""
        return option in inspect.signature(self.function).parameters and option not in self.options

    def with_options(self, **options: Any) -> Measure:
        """Return the same measure with some options fixed; they become part of its name.

        Raises
        ------
        InvalidInputError
            If the measure has no such option; the text proposes the nearest one.

        Examples
        --------
        >>> from vuskit import get_measure
        >>> get_measure("f_score").with_options(beta=2).name
        'f_score(beta=2)'
        """
        base = self.name.split("(")[0]
        for option in options:
            check_option(base, self.function, option)
        merged = {**self.options, **options}
        listed = ", ".join(f"{key}={_in_words(merged[key])}" for key in sorted(merged))
        title = self.title.split("(")[0]
        return replace(
            self, name=f"{base}({listed})", title=f"{title}({listed})", options=merged, shared=None
        )


# What is taken wherever measures are asked for; a function must be that of a registered measure.
Measures = str | Measure | Callable[..., float] | Iterable[str | Measure | Callable[..., float]]

_MEASURES: dict[str, Measure] = {}


def check_option(measure: str, function: Callable[..., float], option: str) -> None:
    """Refuse an option that a function does not take; its first two arguments are none.

    Raises
    ------
    InvalidInputError
        If it does not; the text proposes the nearest one.
    """
    parameters = list(inspect.signature(function).parameters.values())
    known = [
        one.name for one in parameters[2:] if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if option not in known and not any(one.kind is one.VAR_KEYWORD for one in parameters):
        raise InvalidInputError(f"{measure} has no option {option!r}{did_you_mean(option, known)}")


def _in_words(value: Any) -> str:
    """The value of an option as it is shown; the same in every process."""
    name = getattr(value, "__name__", None)
    return str(name) if name is not None else re.sub(r" at 0x[0-9A-Fa-f]+", "", str(value))


def register_measure(
    *,
    name: str,
    title: str | None = None,
    family: str = "custom",
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    reference: str = "",
    paper: bool = False,
    extra: bool = False,
    with_chance: bool = False,
    shared: Callable[[Workspace], float] | None = None,
    needs: str = "",
) -> Callable[[Function], Function]:
    """Register ``function(y_true, y_score) -> float`` as a measure, by decoration.

    A registered measure can be named wherever vuskit takes the name of a measure.

    Parameters
    ----------
    name : str
        Its name in code, files and stores.
    title : str, optional
        Its name in tables and figures; the name by default.
    family, bounds, higher_is_better, reference, paper, extra, with_chance
        As for :class:`Measure`.
    shared, needs
        How it is computed from work that the package's own measures share; leave them out.

    Returns
    -------
    callable
        A decorator that returns its function unchanged.

    Raises
    ------
    InvalidInputError
        If the name is taken by another function, or by a group of measures. The same function of
        the same module may come again: a cell that is run twice, a module that is loaded anew.

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
        if known is not None and not _is_again(function, known.function):
            raise InvalidInputError(f"`name` must be new, got {name!r}, which is registered")
        _MEASURES[name] = Measure(
            name,
            title or name,
            function,
            family,
            bounds,
            higher_is_better,
            reference,
            paper,
            extra,
            with_chance,
            shared=shared,
            needs=needs,
        )
        return function

    return decorate


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or "(" in name:
        raise InvalidInputError(f"`name` must be text without brackets, got {name!r}")
    if name in GROUPS:
        raise InvalidInputError(f"`name` must not be that of a group of measures, got {name!r}")


def _is_again(new: Callable[..., float], old: Callable[..., float]) -> bool:
    """Whether two functions come from the same definition, which was executed twice."""
    if new is old:
        return True
    code, known = getattr(new, "__code__", None), getattr(old, "__code__", None)
    if not isinstance(code, CodeType) or not isinstance(known, CodeType):
        return False
    if new.__qualname__ != old.__qualname__ or (new.__name__ == "<lambda>" and code != known):
        return False
    # A script that also imports itself is one file with two names.
    return code.co_filename == known.co_filename or new.__module__ == old.__module__


def list_measures() -> list[Measure]:
    """All registered measures: the paper's thirteen, those of other papers, your own.

    Examples
    --------
    >>> from vuskit import list_measures
    >>> [measure.title for measure in list_measures()][:3]
    ['Precision', 'Recall', 'F']
    """
    return sorted(_MEASURES.values(), key=lambda measure: (not measure.paper, not measure.extra))


def get_measure(name: str) -> Measure:
    """Return the registered measure of that name or title.

    Raises
    ------
    InvalidInputError
        If there is none; the text proposes the nearest name.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> get_measure("vus_pr").title
    'VUS-PR'
    >>> get_measure("VUS-PR").name
    'vus_pr'
    """
    return _registered(name, "name", _MEASURES)


def _registered(name: Any, argument: str, choices: Iterable[str]) -> Measure:
    """The measure of a name or title; ``choices`` are what an error may propose."""
    if isinstance(name, str):
        if name in _MEASURES:
            return _MEASURES[name]
        for measure in _MEASURES.values():
            if measure.title == name:
                return measure
    raise InvalidInputError(
        f"`{argument}` must be a registered measure, got {name!r}{did_you_mean(name, choices)}"
    )


def resolve_measures(measures: Measures, *, name: str = "measures") -> tuple[Measure, ...]:
    """Measures from the name of a group, a name, a measure, or a list of these; each once.

    Parameters
    ----------
    measures : "paper", "extra", "all", name, title, measure, function, or iterable of these
        What is asked for; functions stand for the measures that they compute.
    name : str, default="measures"
        What an error calls it.

    Raises
    ------
    InvalidInputError
        If there is none, one is not registered, or two different ones have the same name.

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
                    f"`{name}` must have names of their own, got two called {measure.name!r}"
                )
    resolved = tuple(found.values())
    if not resolved:
        raise InvalidInputError(f"`{name}` must name at least one measure, got none")
    return resolved


def _are_same(one: Measure, other: Measure) -> bool:
    # By their text: options may be arrays, which have no single answer to ==.
    return one.function is other.function and repr(one.options) == repr(other.options)


def _resolve(measure: Any, argument: str) -> list[Measure]:
    if isinstance(measure, Measure):
        return [measure]
    if isinstance(measure, str) and measure in GROUPS:
        return [one for one in list_measures() if measure in (one.group, "all")]
    if callable(measure):
        return [_measure_of(measure, argument)]
    return [_registered(measure, argument, [*_MEASURES, *GROUPS])]


def _measure_of(function: Callable[..., float], argument: str) -> Measure:
    for measure in _MEASURES.values():
        if measure.function is function:
            return measure
    raise InvalidInputError(
        f"`{argument}` must be a registered measure, got the function {_in_words(function)!r}; "
        "register_measure makes it one"
    )

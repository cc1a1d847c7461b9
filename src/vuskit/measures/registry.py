"""The registry of measures: every list of measures anywhere is made from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from vuskit.errors import InvalidInputError
from vuskit.inputs import did_you_mean

if TYPE_CHECKING:
    from vuskit.measures.workspace import Workspace

__all__ = [
    "GROUPS",
    "Measure",
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

    def with_options(self, **options: Any) -> Measure:
        """Return the same measure with some options fixed; they become part of its name.

        Examples
        --------
        >>> from vuskit import get_measure
        >>> get_measure("f_score").with_options(beta=2).name
        'f_score(beta=2)'
        """
        merged = {**self.options, **options}
        listed = ", ".join(f"{key}={value}" for key, value in sorted(merged.items()))
        base = self.name.split("(")[0]
        title = self.title.split("(")[0]
        return replace(
            self, name=f"{base}({listed})", title=f"{title}({listed})", options=merged, shared=None
        )


_MEASURES: dict[str, Measure] = {}


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
        If the name is taken by another function.

    Examples
    --------
    >>> from vuskit import evaluate, register_measure
    >>> @register_measure(name="top_hit", title="Top hit")
    ... def top_hit(y_true, y_score):
    ...     return float(y_true[y_score.argmax()])
    >>> evaluate([0, 1, 0, 0], [0.1, 0.9, 0.2, 0.3], buffer=2, measures=["top_hit"])["top_hit"]
    1.0
    """

    def decorate(function: Function) -> Function:
        known = _MEASURES.get(name)
        if known is not None and known.function.__qualname__ != function.__qualname__:
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
    """Return the registered measure of that name.

    Raises
    ------
    InvalidInputError
        If there is none; the text proposes the nearest name.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> get_measure("vus_pr").title
    'VUS-PR'
    """
    try:
        return _MEASURES[name]
    except (KeyError, TypeError):
        raise InvalidInputError(
            f"`measure` must be a registered measure, got {name!r}{did_you_mean(name, _MEASURES)}"
        ) from None


def resolve_measures(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures from the name of a group, a name, a measure, or a list of these; each once.

    Examples
    --------
    >>> [measure.title for measure in resolve_measures(["vus_pr", "paper"])][:3]
    ['VUS-PR', 'Precision', 'Recall']
    """
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    found: dict[str, Measure] = {}
    for one in measures:
        found |= {measure.name: measure for measure in _resolve(one)}
    resolved = tuple(found.values())
    if not resolved:
        raise InvalidInputError("`measures` must name at least one measure, got none")
    return resolved


def _resolve(measure: str | Measure) -> list[Measure]:
    if isinstance(measure, Measure):
        return [measure]
    if measure in GROUPS:
        return [one for one in list_measures() if measure in (one.group, "all")]
    return [get_measure(measure)]

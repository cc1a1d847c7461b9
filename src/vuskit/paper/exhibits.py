"""Registry of exhibits: the numbered figures and tables of the paper.

Each exhibit has a builder, which takes a `Material` and returns figures or a table with a caption
about this data. The output files, the page and the command line use the registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vuskit._util.tables import TableForms
from vuskit._util.text import did_you_mean
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.figures import Display
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.paper.material import Material

KINDS = {"fig": "Figure", "table": "Table"}
RESULTS = (
    "consistency",
    "robustness",
    "separability",
    "scenarios",
    "summary",
    "timing",
    "timing_series",
)
"""Results that exhibits can need: studies, and timings of generated and of given series."""

_KEY = re.compile(r"(fig|table)-0*(\d+)(?:-[\w-]+)?")


class NotPossibleError(VuskitError):
    """Raised by a builder or check that cannot work on the given data; the message says why."""


class NotRequestedError(NotPossibleError):
    """Raised where a result is missing because no chosen exhibit needs it."""


@dataclass(frozen=True)
class Part:
    """One figure of an exhibit, written to separate files."""

    display: Display
    heading: str = ""  # distinguishes the parts of an exhibit


@dataclass(frozen=True)
class Built:
    """Result of a builder."""

    caption: str  # defines the terms and states what is visible in this data
    table: pd.DataFrame  # the numbers, written to csv
    parts: tuple[Part, ...] = ()  # the figures; empty for a table
    layout: TableForms | None = None  # for Markdown, LaTeX and the page; default: from `table`


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of the paper.

    Attributes
    ----------
    kind : {"fig", "table"}
        Figure or table.
    number : int
        Number in the paper.
    name : str
        Short name, used in file names.
    title : str
        Heading.
    needs : tuple of str
        Results that it shows, see `RESULTS`.
    build : callable
        Builder; takes a `Material` and returns a `Built`.
    """

    kind: str
    number: int
    name: str
    title: str
    needs: tuple[str, ...]
    build: Callable[[Material], Built]

    @property
    def key(self) -> str:
        """Kind and number, such as ``"fig-08"`` or ``"table-1"``."""
        return f"fig-{self.number:02d}" if self.kind == "fig" else f"table-{self.number}"

    @property
    def stem(self) -> str:
        """File name without extension, such as ``"fig-08-quality"``."""
        return f"{self.key}-{self.name}"

    @property
    def label(self) -> str:
        """Kind and number in words, such as ``"Figure 8"``."""
        return f"{KINDS[self.kind]} {self.number}"


_EXHIBITS: dict[str, Exhibit] = {}
Builder = Callable[["Material"], Built]


def exhibit(
    kind: str, number: int, name: str, *, title: str, needs: Iterable[str] = ()
) -> Callable[[Builder], Builder]:
    """Decorator that registers the builder of a figure or table; parameters as for `Exhibit`."""
    check_choice("kind", kind, KINDS)
    for one in needs:
        check_choice("needs", one, RESULTS)

    def decorate(build: Builder) -> Builder:
        made = Exhibit(kind, number, name, title, tuple(needs), build)
        if made.key in _EXHIBITS:
            raise InvalidInputError(f"`number` must be unique, got {made.key} twice")
        _EXHIBITS[made.key] = made
        return build

    return decorate


def list_exhibits() -> tuple[Exhibit, ...]:
    """Return all exhibits: figures by number, then tables by number.

    Examples
    --------
    >>> from vuskit.paper import list_exhibits
    >>> [one.stem for one in list_exhibits()][7:9]
    ['fig-08-quality', 'fig-09-scenarios']
    """
    order = list(KINDS)
    found = sorted(_EXHIBITS.values(), key=lambda one: (order.index(one.kind), one.number))
    return tuple(found)


def select_exhibits(only: Any = None) -> tuple[Exhibit, ...]:
    """Return the named exhibits, or all of them; "fig-8" and "fig-08-quality" are the same."""
    if only is None:
        return list_exhibits()
    texts = [only] if isinstance(only, str) else list(only)
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    known = {one.key: one for one in list_exhibits()}
    wanted = {_key_of(name, known) for name in names}
    if not wanted:
        raise InvalidInputError("`only` must name at least one exhibit, got none")
    return tuple(one for key, one in known.items() if key in wanted)


def _key_of(name: str, known: dict[str, Exhibit]) -> str:
    match = _KEY.fullmatch(name.lower())
    if match is not None:
        kind, number = match[1], int(match[2])
        key = f"fig-{number:02d}" if kind == "fig" else f"table-{number}"
        if key in known and name.lower() in _spellings(known[key], number):
            return key
    stems = [one.stem for one in known.values()]
    raise InvalidInputError(
        f"`only` must name figures fig-1 to fig-19 and tables table-1 to table-6, got {name!r}"
        f"{did_you_mean(name, [*known, *stems])}"
    )


def _spellings(one: Exhibit, number: int) -> tuple[str, ...]:
    short = f"{one.kind}-{number}"
    padded = f"{one.kind}-{number:02d}"
    return (short, padded, f"{short}-{one.name}", f"{padded}-{one.name}")

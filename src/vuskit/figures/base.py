"""Base classes of displays: one figure, or a choice of several."""

from __future__ import annotations

import abc
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.figures._canvas import Canvas
from vuskit.inputs import check_choice, check_int
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Data = dict[str, Any]
# Pixels per inch for print, as journals require, and for pages.
PRINT_DPI, PAGE_DPI = 300, 200
FIGURE_FORMATS = ("png", "pdf", "svg")
_TEXT_AS_TEXT = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}
# Without dates and random names, the same figure gives the same bytes.
_REPRODUCIBLE = {"svg.hashsalt": "vuskit"}
_NO_DATE: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".svg": {"Date": None},
}


def check_figure_format(figure_format: str) -> str:
    """Return the format if it is ``png``, ``pdf`` or ``svg``."""
    return check_choice("figure_format", figure_format, FIGURE_FORMATS)


def save_figure(figure: Figure, path: Path, *, dpi: int = PRINT_DPI) -> None:
    """Save a figure in the format of the extension; text remains selectable."""
    check_int("dpi", dpi, minimum=1)
    matplotlib = require("matplotlib", purpose="a figure")
    with matplotlib.rc_context({**_TEXT_AS_TEXT, **_REPRODUCIBLE}):
        figure.savefig(path, dpi=dpi, metadata=_NO_DATE.get(path.suffix.lower()))


def json_ready(value: Any) -> Any:
    """Convert data for JSON: lists for arrays, None for NaN, strings for infinite numbers.

    Examples
    --------
    >>> json_ready({"x": np.array([0.5, np.nan]), "n": np.int64(3), "z": float("-inf")})
    {'x': [0.5, None], 'n': 3, 'z': '-inf'}
    """
    if isinstance(value, Mapping):
        return {str(name): json_ready(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return json_ready(value.tolist())
    if isinstance(value, (list, tuple)):
        return [json_ready(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def to_array(values: Iterable[Any]) -> Any:
    """Convert numbers from :func:`json_ready` back into an array of any depth.

    Examples
    --------
    >>> to_array([0.5, None, "inf"])
    array([0.5, nan, inf])
    """
    return np.array(values, dtype=object).astype(np.float64)


@dataclass(eq=False, repr=False)
class Display(abc.ABC):
    """A figure that holds its data and draws it.

    :meth:`to_dict` returns all drawn data. Both matplotlib (:meth:`plot`) and the pages draw from
    it; ``kind`` selects the renderer of the page.

    Attributes
    ----------
    title : str
        Heading on a page; by default the `heading` of the class.
    caption : str
        Definitions of the terms, shown below the heading on a page.
    own_measures : sequence of Measure
        Measures in the data that are not registered.
    ax_ : Axes
        After :meth:`plot`: the given axis, or the first panel.
    axes_ : list of Axes
        After :meth:`plot`: all panels.
    figure_ : Figure
        After :meth:`plot`: the figure of the axis.
    """

    kind: ClassVar[str] = "figure"
    heading: ClassVar[str] = ""
    title: str = field(default="", kw_only=True)
    caption: str = field(default="", kw_only=True)
    own_measures: Sequence[Measure] = field(default=(), kw_only=True)
    ax_: Axes = field(init=False)
    axes_: list[Axes] = field(init=False)
    figure_: Figure | SubFigure = field(init=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all drawn data, ready for JSON.

        Examples
        --------
        >>> from vuskit.figures import SeriesDisplay
        >>> display = SeriesDisplay.from_scores([0, 1, 0], {"LOF": [0.1, 0.9, 0.2]})
        >>> display.to_dict()["kind"], display.to_dict()["events"]
        ('series', [[1, 2]])
        """
        title = self.title or self.heading
        about = {"kind": self.kind, "title": title, "caption": self.caption}
        return {**about, **json_ready(self.data())}

    @abc.abstractmethod
    def data(self) -> dict[str, Any]:
        """Return the drawn data by name; :meth:`to_dict` converts it for JSON."""

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the display and return it.

        Parameters
        ----------
        ax : Axes or as many as there are panels, optional
            Where to draw; one axis is divided. A new figure by default.
        **options
            Of displays with a legend, ``legend``: whether to draw it; that of families only in a
            new figure by default. Of critical differences, matrix and surface, ``title``: another
            title, ``""`` for none. Of bars by measure, ``columns``: panels per row. Of centered
            boxes, ``outliers=True``: axes that include all outliers instead of ending at the
            whiskers. Of curves, ``color``, ``marker`` and ``fill=False``: to draw several on an
            axis.
        """
        canvas = self._draw(ax, self.to_dict(), **options)
        canvas.settle()
        self.ax_, self.axes_, self.figure_ = canvas.ax, canvas.panels, canvas.figure
        return self

    def _draw(self, *arguments: Any, **options: Any) -> Canvas:
        """Draw on `ax` the result of :meth:`to_dict`; subclasses name their options."""
        raise NotImplementedError

    def save(self, path: str | Path, *, dpi: int = PRINT_DPI) -> Path:
        """Save as png, pdf or svg, depending on the extension; text remains selectable.

        Draws a new figure if :meth:`plot` was not called before.

        Parameters
        ----------
        path : str or Path
            File to write; pdf and svg are sharp at any size.
        dpi : int, default=300
            Pixels per inch of a png.

        Raises
        ------
        InvalidInputError
            If the extension is another one, or `dpi` is not a positive integer.
        """
        place = Path(path)
        check_choice("path", place.suffix.lstrip(".").lower(), FIGURE_FORMATS)
        if not hasattr(self, "figure_"):
            self.plot()
        # The axis may belong to a subfigure; save the whole figure.
        save_figure(self.ax_.figure.canvas.figure, place, dpi=dpi)
        return place

    def _about(self) -> str:
        """Describe the display briefly, for ``repr``."""
        return self.title

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._about()})"


Key = tuple[str, ...]
Item = TypeVar("Item")


@dataclass(eq=False, repr=False)
class ChoiceDisplay(Display):
    """Displays of the same kind, chosen by one or more names.

    Displays are created on first use. :meth:`plot` draws the first display or that of a given key;
    pages let the reader choose.

    Attributes
    ----------
    labels : tuple of str
        Names of the parts of a key, such as ``("series", "detector")``.
    keys : sequence of tuple of str
        One key for each display; the first is drawn by default.
    make : callable
        Returns the display of a key.
    total : int
        Number of displays before :meth:`limited` dropped some; 0 if none were dropped.

    Raises
    ------
    InvalidInputError
        If there is nothing to choose from.

    Examples
    --------
    >>> from vuskit.figures import SeriesDisplay
    >>> scores = {"LOF": [0.1, 0.9, 0.2], "PCA": [0.3, 0.4, 0.1]}
    >>> display = ChoiceDisplay(("detector",), [("LOF",), ("PCA",)],
    ...     lambda key: SeriesDisplay.from_scores([0, 1, 0], {key[0]: scores[key[0]]}))
    >>> display
    ChoiceDisplay(2 choices by detector)
    >>> display.display(("PCA",))
    SeriesDisplay(3 points: PCA)
    """

    kind: ClassVar[str] = "choice"
    labels: tuple[str, ...]
    keys: Sequence[Key]
    make: Callable[[Key], Display]
    total: int = 0
    _made: dict[Key, Display] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not self.keys:
            raise InvalidInputError("`keys` must hold at least one key, got none")

    def display(self, key: Key) -> Display:
        """Return the display of a key.

        Raises
        ------
        InvalidInputError
            If there is no such key.
        """
        if key not in self.keys:
            raise InvalidInputError(f"`key` must be one of the {len(self.keys)} keys, got {key!r}")
        if key not in self._made:
            self._made[key] = self.make(key)
        return self._made[key]

    def data(self) -> dict[str, Any]:
        """Return the keys, the data that all displays share, and the rest of each display."""
        held = [self.display(key).to_dict() for key in self.keys]
        first, *others = held
        shared = {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in others)
        }
        return {
            "labels": list(self.labels),
            "total": self.total or len(self.keys),
            "shared": shared,
            "choices": [
                {
                    "key": list(key),
                    "figure": {name: value for name, value in one.items() if name not in shared},
                }
                for key, one in zip(self.keys, held, strict=True)
            ],
        }

    def limited(self, count: int) -> ChoiceDisplay:
        """Keep at most `count` displays, evenly from all data sets of the first label.

        Displays with the same first name are kept or dropped together.
        """
        names = list(dict.fromkeys(key[0] for key in self.keys))
        each = max(len(self.keys) / len(names), 1)
        kept = set(sampled(names, max(int(count / each), 1), lambda name: name.rpartition("/")[0]))
        keys = [key for key in self.keys if key[0] in kept]
        total = 0 if len(keys) == len(self.keys) else len(self.keys)
        return ChoiceDisplay(
            self.labels, keys, self.make, total, title=self.title, caption=self.caption
        )

    def plot(self, ax: Any = None, *, key: Key | None = None, **options: Any) -> Display:
        """Draw one of the displays and return it.

        Parameters
        ----------
        ax : Axes or several, optional
            Where to draw, as for the display.
        key : tuple of str, optional
            Key of the display; the first by default.
        **options
            Options of the display.
        """
        chosen = self.display(self.keys[0] if key is None else key)
        drawn: Display = chosen.plot(ax, **options)
        self.ax_, self.axes_, self.figure_ = drawn.ax_, drawn.axes_, drawn.figure_
        return drawn

    def _about(self) -> str:
        return f"{len(self.keys)} choices by {' and '.join(self.labels)}"


def sampled(
    items: Sequence[Item], count: int, group: Callable[[Item], Hashable] = lambda item: None
) -> list[Item]:
    """Keep at most ``count`` items, evenly from all groups, in their order."""
    if len(items) <= count:
        return list(items)
    groups: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(group(item), []).append(place)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    chosen = itertools.islice((place for place in turns if place is not None), count)
    return [items[place] for place in sorted(chosen)]

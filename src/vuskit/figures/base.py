"""Base classes of displays, the canvas they draw on, and text that fits into it."""

from __future__ import annotations

import abc
import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.gridspec import GridSpecBase

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


COLUMN, PAGE = 3.33, 7.0  # width of one column and of a page with two columns, in inches
SMALL, TEXT = 7.0, 8.0  # points
_LINE = 0.6
HATCH_LINE = 0.3
_LINE_HEIGHT = 1.2  # relative to the font size
_GAP = 4.0  # points between a title and the next panel
_HANDLE = 0.45  # inches of a legend next to its longest name


class Cell(NamedTuple):
    """Position and size of a panel in the grid, in rows and columns."""

    top: int
    left: int
    height: int = 1
    width: int = 1
    projection: str | None = None


def grid_cells(count: int, columns: int) -> list[Cell]:
    """Return the cells of `count` panels, row by row."""
    return [Cell(place // columns, place % columns) for place in range(count)]


@dataclass
class Canvas:
    """Panels to draw on."""

    figure: Figure | SubFigure
    ax: Axes
    panels: list[Axes]
    own: bool
    _titles: list[tuple[Axes, str]] = field(default_factory=list)
    _label: str = ""

    def title(self, panel: Axes, text: str) -> None:
        """Set the title of a panel, left-aligned.

        A title that is too wide is set smaller, wrapped, and finally shortened.
        """
        self._titles.append((panel, text))
        # A placeholder of the right height: the layout must not depend on the width of titles.
        panel.set_title(text[:1], fontsize=TEXT, loc="left", pad=3)

    def label_bottoms(self, text: str) -> None:
        """Label the horizontal axis once, below the middle of the last row of panels."""
        self._label = text
        self._middle_panel().set_xlabel(text, fontsize=TEXT)

    def legend(
        self,
        handles: Sequence[Any],
        *,
        names: Sequence[str] | None = None,
        columns: int | None = None,
        where: str = "best",
        panel: Axes | None = None,
        **options: Any,
    ) -> None:
        """Add a legend: below a new figure, which grows by its height, else within a panel."""
        place: Any = self.figure if self.own else panel or self.panels[0]
        room = place.bbox.width / self.figure.dpi
        known = [str(handle.get_label()) for handle in handles] if names is None else names
        style = {
            "handles": handles,
            "labels": [fit_text(name, room - _HANDLE, sizes=(SMALL,)).text for name in known],
            "loc": "outside lower center" if self.own else where,
            "fontsize": SMALL,
            "handlelength": 1.8,
            "edgecolor": "none",
            **options,
        }
        if not self.own and place.get_legend() is not None:
            place.add_artist(place.get_legend())  # keeps the earlier legend
        height = _widest_legend(place, len(handles), columns or len(handles), style)
        if self.own:
            self.grow(height / self.figure.dpi)

    def grow(self, inches: float) -> None:
        """Increase the height of a new figure, for parts outside of the panels.

        A subfigure keeps its height, which was chosen for its display.
        """
        figure: Any = self.figure
        if figure is not _whole(figure):
            return
        figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + inches)

    def settle(self) -> None:
        """Fit titles and label to the panels, whose widths are known after drawing."""
        if not self._titles and not self._label:
            return
        self.lay_out()
        if self._titles:
            self._fit_titles()
        if self._label:
            self._center_label()

    def lay_out(self) -> None:
        """Lay out the panels of a new figure; given axes stay where they are."""
        if self.own:
            figure: Any = _whole(self.figure)
            figure.get_layout_engine().execute(figure)

    def _fit_titles(self) -> None:
        """Set all titles in the size that the longest one needs."""
        rooms = [self._room(panel) / self.figure.dpi for panel, _ in self._titles]
        smallest = min(
            fit_text(text, room, sizes=(TEXT, SMALL)).size
            for (_, text), room in zip(self._titles, rooms, strict=True)
        )
        more: dict[int, int] = {}
        for (panel, text), room in zip(self._titles, rooms, strict=True):
            fitted = fit_text(text, room, sizes=(smallest,))
            panel.set_title(fitted.text, fontsize=fitted.size, loc="left", pad=3)
            more[_row(panel)] = max(more.get(_row(panel), 0), fitted.lines - 1)
        if self.own and any(more.values()):
            self.grow(sum(more.values()) * _LINE_HEIGHT * smallest / POINTS_PER_INCH)

    def _room(self, panel: Axes) -> float:
        """Return the pixels from the left end of a panel to the next one or the right edge."""
        box = panel.bbox
        ends = [_left_end(other, panel) for other in self.panels if _is_right_of(panel, other)]
        edge = self.figure.bbox.x1 if self.own else box.x1
        end = min(ends) - _GAP * self.figure.dpi / POINTS_PER_INCH if ends else edge
        return float(end - box.x0)

    def _last_row(self) -> list[Axes]:
        last = max(_row(panel) for panel in self.panels)
        return [panel for panel in self.panels if _row(panel) == last]

    def _middle_panel(self) -> Axes:
        row = self._last_row()
        return row[(len(row) - 1) // 2]

    def _center_label(self) -> None:
        row, panel = self._last_row(), self._middle_panel()
        middle = (row[0].bbox.x0 + row[-1].bbox.x1) / 2
        box = self.figure.bbox
        # Names of measures on the left shift the middle; the label must stay within the figure.
        room = 2 * min(middle - box.x0, box.x1 - middle) / self.figure.dpi
        fitted = fit_text(self._label, room, sizes=(TEXT, SMALL))
        # Within a panel, since a label between two panels would push them apart.
        place = min((middle - panel.bbox.x0) / panel.bbox.width, 1 - 1 / panel.bbox.width)
        panel.set_xlabel(fitted.text, fontsize=fitted.size, x=place)


def _whole(figure: Any) -> Any:
    """Return the figure that a subfigure belongs to, or the figure itself."""
    return figure.canvas.figure


def _row(panel: Axes) -> int:
    place = panel.get_subplotspec()
    return 0 if place is None else place.rowspan.start


def _is_right_of(panel: Axes, other: Axes) -> bool:
    """Whether the title of a panel could overlap another panel."""
    level = other.bbox.y0 < panel.bbox.y1 <= other.bbox.y1 + 1
    return bool(level and other.bbox.x0 > panel.bbox.x0)


def _left_end(other: Axes, panel: Axes) -> float:
    """Return the left end of another panel at the height of a title."""
    box = other.bbox
    if box.y1 > panel.bbox.y1 + 1:  # the title is next to the other panel, not to its title
        box = other.get_tightbbox() or box
    return float(box.x0)


def _thin_hatches(legend: Any) -> None:
    """Set the line width of hatches in a legend, which matplotlib does not copy from the bars."""
    for patch in legend.findobj(lambda artist: hasattr(artist, "set_hatch_linewidth")):
        patch.set_hatch_linewidth(HATCH_LINE)


def _widest_legend(place: Any, entries: int, most: int, style: dict[str, Any]) -> float:
    """Make the legend with as many columns as fit; return its height."""
    rows = 0
    for columns in range(min(most, entries), 0, -1):
        if -(-entries // columns) == rows:
            continue  # the same number of rows did not fit
        rows = -(-entries // columns)
        # For the same number of rows, fewer columns leave fewer gaps.
        legend = place.legend(ncols=-(-entries // rows), **style)
        extent = legend.get_window_extent()
        if columns == 1 or extent.width <= place.bbox.width:
            _thin_hatches(legend)
            return float(extent.height)
        legend.remove()
    return 0.0


def open_canvas(
    ax: Any,
    cells: Sequence[Cell] = (Cell(0, 0),),
    *,
    size: tuple[float, float],
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
    share: str = "",
) -> Canvas:
    """Make panels for the cells of a grid."""
    module = require("matplotlib.figure", purpose="a figure")
    if ax is None or isinstance(ax, module.SubFigure):
        # Figure instead of pyplot: no global state, and no display is needed.
        figure = module.Figure(figsize=size, layout="constrained") if ax is None else ax
        ratios = {"width_ratios": widths, "height_ratios": heights}
        grid = figure.add_gridspec(*_extent(cells), **ratios)
        panels = _filled(figure, grid, cells, share)
        return _styled(Canvas(figure, panels[0], panels, own=True))
    given = _given(ax)
    if len(given) == 1 and not _fits(given[0], cells):
        panels = _divided(given[0], cells, widths, heights, share)
        return _styled(Canvas(given[0].figure, given[0], panels, own=False))
    if len(given) != len(cells):
        raise InvalidInputError(f"`ax` must be one axis or {len(cells)} axes, got {len(given)}")
    panels = [
        panel if _fits(panel, [cell]) else _divided(panel, [cell], None, None, "")[0]
        for panel, cell in zip(given, cells, strict=True)
    ]
    return _styled(Canvas(given[0].figure, given[0], panels, own=False))


def _given(ax: Any) -> list[Axes]:
    kind = require("matplotlib.axes", purpose="a figure").Axes
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    for one in given:
        if not isinstance(one, kind):
            raise InvalidInputError(
                f"`ax` must be an axis of matplotlib, several, or None, got {type(one).__name__}"
            )
    if not given:
        raise InvalidInputError("`ax` must be an axis of matplotlib, several, or None, got none")
    return given


def _fits(axis: Axes, cells: Sequence[Cell]) -> bool:
    return len(cells) == 1 and axis.name == (cells[0].projection or "rectilinear")


def _divided(
    axis: Axes,
    cells: Sequence[Cell],
    widths: Sequence[float] | None,
    heights: Sequence[float] | None,
    share: str,
) -> list[Axes]:
    place = axis.get_subplotspec()
    if place is None:
        raise InvalidInputError(
            "`ax` must be part of a grid of subplots to be divided, got an axis placed freely"
        )
    axis.set_axis_off()
    grid = place.subgridspec(*_extent(cells), width_ratios=widths, height_ratios=heights)
    return _filled(axis.figure, grid, cells, share)


def _extent(cells: Sequence[Cell]) -> tuple[int, int]:
    rows = max(cell.top + cell.height for cell in cells)
    return rows, max(cell.left + cell.width for cell in cells)


def _filled(figure: Any, grid: GridSpecBase, cells: Sequence[Cell], share: str) -> list[Axes]:
    panels: list[Axes] = []
    for cell in cells:
        first = panels[0] if panels else None
        panel = figure.add_subplot(
            grid[cell.top : cell.top + cell.height, cell.left : cell.left + cell.width],
            projection=cell.projection,
            sharex=first if "x" in share else None,
            sharey=first if "y" in share else None,
        )
        # Tick labels of a shared axis are only at the outer panels.
        if "y" in share and cell.left > 0:
            panel.tick_params(which="both", labelleft=False)
        if "x" in share and any(
            other.left == cell.left and other.top > cell.top for other in cells
        ):
            panel.tick_params(which="both", labelbottom=False)
        panels.append(panel)
    return panels


def _styled(canvas: Canvas) -> Canvas:
    for panel in canvas.panels:
        panel.tick_params(which="both", labelsize=SMALL, width=_LINE, length=2.5, pad=2)
        if panel.name == "rectilinear":
            for side, spine in panel.spines.items():
                spine.set_linewidth(_LINE)
                spine.set_visible(side in ("left", "bottom"))
        panel.set_axisbelow(True)
    return canvas


POINTS_PER_INCH = 72.0
# Renderers place letters on whole pixels, which makes lines slightly longer than computed.
_SLACK = 1.04
_ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
# Lines break after these characters, since names of data sets and detectors have few spaces.
_PIECES = re.compile(r"[^\s_/|,;:=(-]*[\s_/|,;:=(-]+|[^\s_/|,;:=(-]+")


class Fitted(NamedTuple):
    """A text with line breaks, and its font size."""

    text: str
    size: float

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n") + 1


def text_width(text: str, size: float) -> float:
    """Return the width of a line in inches.

    Examples
    --------
    >>> 0.3 < text_width("VUS-PR", 7) < 0.5
    True
    """
    fonts = require("matplotlib.font_manager", purpose="a figure")
    paths = require("matplotlib.textpath", purpose="a figure")
    width, *_ = paths.text_to_path.get_text_width_height_descent(
        text, fonts.FontProperties(size=size), ismath=False
    )
    return float(width) * _SLACK / POINTS_PER_INCH


def wrapped(text: str, room: float, size: float) -> list[str]:
    """Break a text into lines no wider than `room` inches, within words if necessary.

    Examples
    --------
    >>> wrapped("Bearing_vibration_long_name", 0.8, 7)
    ['Bearing_', 'vibration_long_', 'name']
    """
    lines = [""]
    for piece in _PIECES.findall(text):
        if text_width((lines[-1] + piece).rstrip(), size) <= room:
            lines[-1] += piece
            continue
        if lines[-1]:
            lines.append("")
        for letter in piece:
            if lines[-1] and text_width((lines[-1] + letter).rstrip(), size) > room:
                lines.append("")
            lines[-1] += letter
    return [line.strip() for line in lines]


def fit_text(text: str, room: float, *, sizes: Sequence[float], most: int = 3) -> Fitted:
    """Fit a text into a width.

    Examples
    --------
    >>> fit_text("ECG", 0.8, sizes=(8, 7))
    Fitted(text='ECG', size=8)
    >>> fit_text("LOF(n_neighbors=10, window=100)", 0.8, sizes=(8, 7), most=2).text.splitlines()
    ['LOF(n_neighb…', 'window=100)']
    """
    for size in sizes:
        if text_width(text, size) <= room:
            return Fitted(text, size)
    lines = wrapped(text, room, sizes[-1])
    # Upper bound of the letters that fit, however they are wrapped.
    kept = min(int(1.2 * len(text) * most * room / text_width(text, sizes[-1])), len(text) - 1)
    while len(lines) > most and kept > 0:
        head, tail = text[: (kept + 1) // 2], text[len(text) - kept // 2 :]
        lines = wrapped(f"{head}{_ELLIPSIS}{tail}", room, sizes[-1])
        kept -= 1
    return Fitted("\n".join(lines), sizes[-1])

"""What the reports of the studies share: colours, tables, files."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require
from vuskit.inputs import check_choice, check_int
from vuskit.measures.registry import Measure
from vuskit.report.evaluation import latex_tabular, latex_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = [
    "FAMILY_TITLES",
    "FIGURE_FORMATS",
    "PAGE_DPI",
    "PRINT_DPI",
    "Savable",
    "StudyReport",
    "check_figure_format",
    "family_colour",
    "family_of",
    "format_cell",
    "groups_sentence",
    "latex_frame",
    "markdown_table",
    "picture",
    "save_figure",
    "thinned",
    "titles_of",
]

# Okabe and Ito's palette: told apart by people with any kind of colour vision.
_COLOURS = {
    "threshold": "#999999",
    "range": "#E69F00",
    "auc": "#56B4E9",
    "range_auc": "#009E73",
    "vus": "#D55E00",
    "event": "#0072B2",
    "proximity": "#F0E442",
    "custom": "#CC79A7",
}
FAMILY_TITLES = {
    "threshold": "threshold",
    "range": "range, threshold",
    "auc": "AUC",
    "range_auc": "R-AUC",
    "vus": "VUS",
    "event": "event, threshold",
    "proximity": "proximity",
    "custom": "own",
}
_MOST_LATEX_ROWS = 200  # more are for a computer to read
_MEASURE_COLUMNS = {"measure", "first", "second", "name"}
# Pixels to an inch: what journals ask for, and what is enough to look at on a page.
PRINT_DPI, PAGE_DPI = 300, 200
FIGURE_FORMATS = ("png", "pdf", "svg")
_TEXT_AS_TEXT = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}
# Without dates and random names the same figure is the same bytes.
_REPRODUCIBLE = {"svg.hashsalt": "vuskit"}
_NO_DATE: dict[str, dict[str, Any]] = {
    ".pdf": {"CreationDate": None},
    ".svg": {"Date": None},
}


def family_of(measure: Measure) -> str:
    """Family of the measure, as far as it has a colour; all others are the user's own.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> family_of(get_measure("vus_pr")), family_colour(get_measure("vus_pr"))
    ('vus', '#D55E00')
    """
    return measure.family if measure.family in _COLOURS else "custom"


def family_colour(measure: Measure) -> str:
    """Colour of the measure's family."""
    return _COLOURS[family_of(measure)]


def titles_of(measures: Iterable[Measure]) -> dict[str, str]:
    """Title of each measure by its name."""
    return {measure.name: measure.title for measure in measures}


def groups_sentence(groups: Iterable[Iterable[Hashable]], titles: Mapping[str, str]) -> str:
    """Who is joined by the bars of a diagram, in words.

    Examples
    --------
    >>> groups_sentence([("auc_pr", "own"), ("own", "other")], {"auc_pr": "AUC-PR"})
    'Groups of neighbours without a significant difference: AUC-PR, own; own, other.'
    """
    names = ([titles.get(str(name), str(name)) for name in group] for group in groups)
    listed = "; ".join(map(", ".join, names))
    return f"Groups of neighbours without a significant difference: {listed or 'none'}."


def format_cell(value: object) -> str:
    """Three significant digits for numbers; nothing for what is not there.

    Examples
    --------
    >>> [format_cell(value) for value in (0.0123456, 1234.5, float("nan"), 7, "opt")]
    ['0.0123', '1,230', '', '7', 'opt']
    """
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def thinned(line: NDArray[np.float64], room: int) -> tuple[NDArray[np.float64], int]:
    """Keep the lowest and highest point of every bucket, if there is no room for all.

    Returns
    -------
    tuple
        The numbers, and the points in a bucket: 1 if nothing was thinned, else the numbers are
        pairs.

    Examples
    --------
    >>> thinned(np.array([3.0, 1.0, 2.0, 5.0]), 2)
    (array([1., 5.]), 4)
    """
    if line.size <= room:
        return line, 1
    size = -(-2 * line.size // room)
    padded = np.concatenate([line, np.full(-line.size % size, line[-1])]).reshape(-1, size)
    # A bucket without any number stays a gap.
    low, high = np.fmin.reduce(padded, axis=1), np.fmax.reduce(padded, axis=1)
    return np.stack([low, high], axis=1).ravel(), size


def markdown_table(frame: pd.DataFrame) -> str:
    r"""Lay out a table in Markdown, numbers to three digits; bars within a cell do not end it.

    Examples
    --------
    >>> import pandas as pd
    >>> print(markdown_table(pd.DataFrame({"name": ["a|b"], "value": [0.12345]})))
    | name | value |
    | --- | --- |
    | a\|b | 0.123 |
    """
    texts = [list(map(str, frame.columns))]
    texts += [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
    lines = [[cell.replace("|", "\\|") for cell in row] for row in texts]
    lines.insert(1, ["---"] * frame.shape[1])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def latex_frame(frame: pd.DataFrame, *, notes: Sequence[str] = ()) -> str:
    r"""Lay out a table for LaTeX (package booktabs), numbers to three digits.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"measure": ["R-AUC"], "kind": ["a_b"], "z": [float("inf")]})
    >>> print(latex_frame(frame))
    \begin{tabular}{llr}
    \toprule
    measure & kind & z \\
    \midrule
    R-AUC & a\_b & $\infty$ \\
    \bottomrule
    \end{tabular}
    """
    texts = frame.select_dtypes(exclude="number").columns
    left = next((k for k, name in enumerate(frame.columns) if name not in texts), frame.shape[1])
    rows = [
        [format_cell(first), *map(_latex_cell, rest)]
        for first, *rest in frame.itertuples(index=False)
    ]
    return latex_tabular(list(map(str, frame.columns)), rows, notes=notes, left=max(left, 1))


def _latex_cell(value: object) -> str:
    """A cell as LaTeX; a minus is no hyphen, and powers of ten are raised."""
    text = format_cell(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return latex_text(text)
    digits, _, power = text.replace("inf", r"\infty").partition("e")
    number = rf"{digits} \times 10^{{{int(power)}}}" if power else digits
    return f"${number}$" if number != text or number.startswith("-") else text


def check_figure_format(figure_format: str) -> str:
    """Return the format of the figures.

    Raises
    ------
    InvalidInputError
        If it is none of ``png``, ``pdf`` and ``svg``.
    """
    return check_choice("figure_format", figure_format, FIGURE_FORMATS)


def save_figure(figure: Figure, path: Path, *, dpi: int = PRINT_DPI) -> None:
    """Save a figure in the format that its name ends with; text stays text.

    Raises
    ------
    InvalidInputError
        If `dpi`, the pixels to an inch of a png, is not a positive number.
    """
    check_int("dpi", dpi, minimum=1)
    matplotlib = require("matplotlib", purpose="a figure")
    with matplotlib.rc_context({**_TEXT_AS_TEXT, **_REPRODUCIBLE}):
        figure.savefig(path, dpi=dpi, metadata=_NO_DATE.get(path.suffix.lower()))


def picture(title: str, file: str) -> str:
    r"""Markdown that shows a figure; browsers do not show a pdf within a page, so it is linked.

    Examples
    --------
    >>> picture("values on plant/[1]", "boxes.png")
    '![values on plant/\\[1\\]](boxes.png)'
    """
    said = title.replace("[", r"\[").replace("]", r"\]")
    return f"[{said}]({file})" if file.endswith(".pdf") else f"![{said}]({file})"


class Savable(Protocol):
    """A figure that can be saved."""

    def save(self, path: str | Path, *, dpi: int) -> Path:
        """Save in the format that the name ends with."""


@dataclass
class StudyReport:
    """Page, tables and figures of one study, gathered before anything is written.

    Attributes
    ----------
    name : str
        How the files begin.
    figure_format : {"png", "pdf", "svg"}
        Of the figures.
    latex : bool
        Whether tables of up to 200 rows are written for LaTeX too.
    titles : mapping of str to str
        What measures are called in LaTeX, by name.
    page : list of str
        Paragraphs.
    tables : dict of DataFrame
        By name.
    figures : dict of Savable
        By name.
    """

    name: str
    figure_format: str = "png"
    latex: bool = False
    titles: Mapping[str, str] = field(default_factory=dict)
    page: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    figures: dict[str, Savable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_figure_format(self.figure_format)

    def say(self, *paragraphs: str) -> None:
        """Add paragraphs to the page."""
        self.page.extend(paragraphs)

    def show(self, title: str, name: str, figure: Savable) -> None:
        """Add a figure, and show it on the page."""
        self.figures[name] = figure
        self.page.append(picture(title, f"{self.name}_{name}.{self.figure_format}"))

    def write(self, folder: str | Path) -> list[Path]:
        """Write the page, tables, and figures; the page is the first of the files."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        written = [place / f"{self.name}.md"]
        written[0].write_text("\n\n".join(self.page) + "\n", encoding="utf-8")
        for title, frame in self.tables.items():
            written.append(place / f"{self.name}_{title}.csv")
            frame.to_csv(written[-1], index=False, lineterminator="\n")
            if self.latex and len(frame) <= _MOST_LATEX_ROWS:
                written.append(written[-1].with_suffix(".tex"))
                notes = [f"{self.name}: {title.replace('_', ' ')}"]
                text = latex_frame(self._titled(frame), notes=notes)
                written[-1].write_text(text + "\n", encoding="utf-8")
        for title, figure in self.figures.items():
            file = place / f"{self.name}_{title}.{self.figure_format}"
            written.append(figure.save(file, dpi=PAGE_DPI))
        return written

    def _titled(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table with titles of measures for their names."""
        named = frame.rename(columns=dict(self.titles))
        for column in _MEASURE_COLUMNS & set(named.columns):
            named[column] = [self.titles.get(str(name), name) for name in named[column]]
        return named

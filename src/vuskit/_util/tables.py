"""Tables as CSV, plain text, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import math
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.text import (
    escape_control,
    escape_formula,
    escape_latex,
    escape_markdown,
    format_cell,
)
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd


def plain_data(data: Any) -> Any:
    """Return data as JSON-compatible objects; missing and non-finite values become None.

    Dataclasses become their public fields, data frames one record per row, and mappings with tuples
    as keys become nested mappings.
    """
    if data is None or isinstance(data, str):
        return data
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        names = [one.name for one in dataclasses.fields(data) if not one.name.startswith("_")]
        return {name: plain_data(getattr(data, name)) for name in names}
    if isinstance(data, Mapping):
        if any(isinstance(key, tuple) for key in data):
            return plain_data(_nested(data))
        return {str(key): plain_data(value) for key, value in data.items()}
    if isinstance(data, (list, tuple, Iterator)):
        return [plain_data(value) for value in data]
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, float) and not math.isfinite(data):
        return None
    pandas = sys.modules.get("pandas")  # data contains pandas objects only if it is loaded
    if pandas is not None:
        if data is pandas.NA:
            return None
        if isinstance(data, pandas.DataFrame):
            return frame_records(data)
    return os.fspath(data) if isinstance(data, os.PathLike) else data


def _nested(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a mapping of mappings for one whose keys are tuples."""
    found: dict[Any, Any] = {}
    for (*outer, last), value in data.items():
        place = found
        for key in outer:
            place = place.setdefault(key, {})
        place[last] = value
    return found


def frame_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a data frame as plain data; missing values become None."""
    names = list(map(str, frame.columns))
    rows = zip(*(frame[name].astype(object) for name in frame.columns), strict=True)
    return [dict(zip(names, map(plain_data, row), strict=True)) for row in rows]


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV, without a final line break.

    Missing and non-finite values are empty. Text that a spreadsheet would treat as a formula gets a
    leading quote. Control characters are escaped.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, header))
    writer.writerows(map(_cell, row) for row in rows)
    return text.getvalue().removesuffix("\n")


def _cell(value: Any) -> Any:
    plain = plain_data(value)
    if isinstance(plain, list):
        plain = " ".join(map(str, plain))
    return escape_control(escape_formula(plain)) if isinstance(plain, str) else plain


def frame_csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV in full precision; see `csv_text`."""
    return csv_text(list(map(str, frame.columns)), frame.itertuples(index=False, name=None))


# -- tables for reading ------------------------------------------------------------------------

_BEST, _SECOND = "*", "+"
_LATEX_NORMAL_LINE = 56  # characters per line of an article in normal size, with room for rules
LATEX_LINE = 72  # characters per line in small size
_SOURCE_LINE = 98
_LATEX_SENTENCE = 60  # characters; longer texts are wrapped
_LATEX_ROWS, _LATEX_PAGE = 36, 46  # rows per part, and lines per page
_NUMBER = re.compile(r"(?<![\w.-])(-?)(inf|\d[\d,]*(?:\.\d+)?)(?:e([+-]?\d+))?(?![\w.])")


@dataclass(frozen=True)
class Cell:
    """Cell of a table."""

    text: str
    bold: bool = False
    underline: bool = False
    spread: str = ""


@dataclass(frozen=True)
class TableLayout:
    """Table that can be formatted as plain text, Markdown, LaTeX or HTML.

    Every format escapes its special characters.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    left: int = 1
    notes: Sequence[str] = ()
    caption: str | None = None
    groups: Sequence[tuple[str, int]] = ()
    rules: Sequence[int] = ()
    marks: tuple[str, ...] = ()

    @classmethod
    def of_frame(
        cls, frame: pd.DataFrame, *, notes: Sequence[str] = (), caption: str | None = None
    ) -> TableLayout:
        """Create the layout of a data frame; numbers have three significant digits.

        The columns before the first numeric column, at least one, are left-aligned.
        """
        texts = set(frame.select_dtypes(exclude="number").columns)
        found = (place for place, name in enumerate(frame.columns) if name not in texts)
        left = max(1, next(found, frame.shape[1]))
        rows = [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
        return cls(list(map(str, frame.columns)), rows, left, notes, caption)

    def _cells(self) -> list[list[Cell]]:
        return [[Cell(one) if isinstance(one, str) else one for one in row] for row in self.rows]

    def _has(self, mark: str) -> bool:
        return any(getattr(cell, mark) for row in self._cells() for cell in row)

    def _legend(self, *signs: str) -> str:
        """Return the meaning of the marks that occur in the table."""
        present = zip(signs, ("bold", "underline"), self.marks, strict=False)
        said = [f"{sign}: {meaning}" for sign, mark, meaning in present if self._has(mark)]
        return ". ".join(said) + "." if said else ""

    # -- text ------------------------------------------------------------------------------------

    def to_text(self, width: int | None = None) -> str:
        """Return the table as plain text."""
        fill = _Filler(width)
        head = [fill(self.caption)] if self.caption else []
        legend = self._legend(_BEST, _SECOND)
        notes = [fill(text) for text in (legend, *self.notes) if text]
        columns = self._text_columns()
        parts = [self._lines(columns, *part) for part in self._parts(columns, width)]
        return "\n".join([*head, "\n\n".join(parts), *notes])

    def _parts(self, columns: list[list[str]], width: int | None) -> Iterator[tuple[int, int]]:
        """Yield the first column and the end of each part that fits the width."""
        start = self.left
        while start < len(columns) or start == self.left:
            stop = min(start + 1, len(columns))
            while stop < len(columns) and (
                width is None or self._breadth(columns, start, stop + 1) <= width
            ):
                stop += 1
            yield start, stop
            start = max(stop, start + 1)

    def _breadth(self, columns: list[list[str]], start: int, stop: int) -> int:
        return sum(size + 2 for size in self._widths(columns, start, stop)) - 2

    def _widths(self, columns: list[list[str]], start: int, stop: int) -> list[int]:
        """Return the widths of the first columns and of a part, with room for group headings."""
        shown = [*columns[: self.left], *columns[start:stop]]
        widths = [max(map(len, column)) for column in shown]
        place = self.left
        for label, count in self._labels(start, stop):
            span = sum(widths[place : place + count]) + 2 * (count - 1)
            widths[place] += max(0, len(label) - span)
            place += count
        return widths

    def _text_columns(self) -> list[list[str]]:
        """Return the texts by column, including the header; reserve room for marks."""
        cells = self._cells()
        columns = []
        for place, title in enumerate(self.header):
            column = [row[place] for row in cells]
            marked = any(cell.bold or cell.underline for cell in column)
            small = max((len(cell.spread) for cell in column), default=0)
            texts = []
            for cell in column:
                mark = _BEST if cell.bold else _SECOND if cell.underline else " "
                spread = f" {cell.spread:<{small}}" if small else ""
                texts.append(" ".join(cell.text.splitlines()) + mark * marked + spread)
            columns.append([title, *texts])
        return columns

    def _labels(self, start: int, stop: int) -> list[tuple[str, int]]:
        """Return the group headings of some columns, each with its number of columns."""
        owners = [place for place, (_, count) in enumerate(self.groups) for _ in range(count)]
        found = [(owner, len(list(same))) for owner, same in groupby(owners[start:stop])]
        return [(self.groups[owner][0], count) for owner, count in found]

    def _lines(self, columns: list[list[str]], start: int, stop: int) -> str:
        widths = self._widths(columns, start, stop)
        above = [" " * size for size in widths[: self.left]]
        place = self.left
        for label, count in self._labels(start, stop):
            above.append(label.center(sum(widths[place : place + count]) + 2 * (count - 1)))
            place += count
        lines = ["  ".join(above)] if "".join(above).strip() else []
        sides = [str.ljust] * self.left + [str.rjust] * (stop - start)
        shown = [*columns[: self.left], *columns[start:stop]]
        for number, row in enumerate(zip(*shown, strict=True)):
            if number and number - 1 in self.rules:
                lines.append("-" * self._breadth(columns, start, stop))
            texts = zip(sides, row, widths, strict=True)
            lines.append("  ".join(side(text, size) for side, text, size in texts))
        return "\n".join(line.rstrip() for line in lines)

    # -- Markdown --------------------------------------------------------------------------------

    def to_markdown(self) -> str:
        """Return the table as Markdown; group headings become part of the header."""
        owners = [label for label, count in self.groups for _ in range(count)]
        header = [
            f"{label}: {title}" if label and title else label or title
            for label, title in zip_longest(owners, self.header, fillvalue="")
        ]
        rows = [[_in_markdown(Cell(title)) for title in header]]
        rows.append(["---"] * self.left + ["---:"] * (len(header) - self.left))
        rows += [[_in_markdown(cell) for cell in row] for row in self._cells()]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        notes = [text for text in (self._legend("Bold", "Underlined"), *self.notes) if text]
        texts = [escape_markdown(text) for text in notes]
        head = [escape_markdown(self.caption)] if self.caption else []
        return "\n\n".join([*head, table, *texts])

    # -- LaTeX -----------------------------------------------------------------------------------

    def to_latex(
        self, width: int | None = None, *, caption: str | None = None, label: str | None = None
    ) -> str:
        """Return the table as LaTeX, which requires the package booktabs.

        Without a caption, the notes are comments above a ``tabular``. With a caption, the result is
        a ``table`` with the caption above and the notes below.
        """
        if caption is not None:
            return dataclasses.replace(self, caption=caption).to_latex(width, label=label)
        if label is not None and self.caption is None:
            raise InvalidInputError("`label` needs `caption`, got none; a label names a caption")
        columns = self._text_columns()
        parts = list(self._parts(columns, width))
        if self.caption is None:
            notes = [f"% {' '.join(note.split())}" for note in self.notes]
            tabulars = [self._tabular(*part, range(len(self.rows))) for part in parts]
            return "\n".join([*notes, *_below_each_other(tabulars)])
        wide = max(self._breadth(columns, *part) for part in parts) > _LATEX_NORMAL_LINE
        floats: list[list[list[str]]] = [[]]
        for start in range(0, len(self.rows), _LATEX_ROWS) or [0]:
            rows = range(start, min(start + _LATEX_ROWS, len(self.rows)))
            for part in parts:
                lines = self._tabular(*part, rows)
                if sum(map(len, floats[-1])) + len(lines) > _LATEX_PAGE and floats[-1]:
                    floats.append([])
                floats[-1].append(lines)
        named = rf"\label{{{label}}}" if label else ""
        tables = [
            self._float(tabulars, k, len(floats), wide, named) for k, tabulars in enumerate(floats)
        ]
        return "\n\n".join(tables)

    def _float(
        self, tabulars: list[list[str]], place: int, count: int, wide: bool, label: str
    ) -> str:
        """Return a ``table`` environment; the first has the caption, the last the notes."""
        legend = self._legend("Bold", "Underlined")
        stop = "" if not legend or str(self.caption).endswith(".") else "."
        caption = _latex_paragraph(f"{self.caption}{stop} {legend}")
        notes = _latex_paragraph(" ".join(self.notes))
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                r"\addtocounter{table}{-1}" if place else "",
                rf"\caption{{{'(Continued.)' if place else caption + label}}}\par\smallskip",
                r"\footnotesize\setlength{\tabcolsep}{4pt}" if wide else "",
                *_below_each_other(tabulars),
                rf"\par\smallskip{{\footnotesize {notes}\par}}"
                if notes and place == count - 1
                else "",
                r"\end{table}",
            ]
        ).replace("\n\n", "\n")

    def _tabular(self, start: int, stop: int, rows: range) -> list[str]:
        shown = [*range(self.left), *range(start, stop)]
        lines = [
            rf"\begin{{tabular}}{{{self._latex_left()}{'r' * (stop - start)}}}",
            r"\toprule",
            *self._latex_groups(start, stop),
            _latex_row(escape_latex(self.header[place]) for place in shown),
            r"\midrule",
        ]
        cells = self._cells()
        for number in rows:
            lines += [r"\midrule"] * (number in self.rules and number > rows.start)
            lines.append(
                _latex_row(_in_latex(cells[number][k], numeric=k >= self.left) for k in shown)
            )
        return [*lines, r"\bottomrule", r"\end{tabular}"]

    def _latex_left(self) -> str:
        """Return the column types of the texts; sentences are wrapped and share most of a line."""
        texts = [[row[place].text for row in self._cells()] for place in range(self.left)]
        long = [max(map(len, column), default=0) > _LATEX_SENTENCE for column in texts]
        share = f"{0.7 / max(sum(long), 1):.2f}"
        return "".join(rf"p{{{share}\linewidth}}" if one else "l" for one in long)

    def _latex_groups(self, start: int, stop: int) -> list[str]:
        labels = self._labels(start, stop)
        if not any(label for label, _ in labels):
            return []
        cells, rules, place = [""] * self.left, [], self.left + 1
        for label, count in labels:
            if not label:
                cells += [""] * count
            else:
                cells.append(rf"\multicolumn{{{count}}}{{c}}{{{escape_latex(label)}}}")
                rules.append(rf"\cmidrule(lr){{{place}-{place + count - 1}}}")
            place += count
        return [_latex_row(cells), " ".join(rules)]

    # -- HTML ------------------------------------------------------------------------------------

    def to_html(self) -> str:
        """Return the table as HTML."""
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        above = ""
        if any(label for label, _ in self.groups):
            spans = (
                f'<th colspan="{count}">{html.escape(label)}</th>' for label, count in self.groups
            )
            above = f"<tr>{''.join(spans)}</tr>"
        head = "".join(f"<th>{html.escape(title)}</th>" for title in self.header)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_in_html(cell)}</td>" for cell in row) + "</tr>"
            for row in self._cells()
        )
        notes = [text for text in (self._legend("Bold", "Underlined"), *self.notes) if text]
        foot = "".join(
            f'<tr><td colspan="{len(self.header)}">{html.escape(note)}</td></tr>' for note in notes
        )
        return (
            f"<table>{caption}<thead>{above}<tr>{head}</tr></thead><tbody>{rows}</tbody>"
            + (f"<tfoot>{foot}</tfoot>" if foot else "")
            + "</table>"
        )


class TableForms:
    """Base class of results that can be formatted as a table."""

    @property
    def _layout(self) -> TableLayout:
        raise NotImplementedError

    def to_text(self, width: int | None = None) -> str:
        """Return the table as plain text.

        Parameters
        ----------
        width : int, optional
            Wider tables are split into several.
        """
        return self._layout.to_text(width)

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, width: int | None = None
    ) -> str:
        """Return a LaTeX table; it requires the package booktabs.

        Parameters
        ----------
        caption : str, optional
            Text instead of the table's own caption.
        label : str, optional
            Name to refer to the table.
        width : int, optional
            Characters per line; wider tables are split into parts, one below the other.
        """
        return self._layout.to_latex(width or LATEX_LINE, caption=caption, label=label)

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        return self._layout.to_markdown()

    def to_html(self) -> str:
        """Return an HTML table."""
        return self._layout.to_html()

    def _repr_html_(self) -> str:
        return self.to_html()


class _Filler:
    """Function that wraps text to a width without breaking names and paths."""

    def __init__(self, width: int | None) -> None:
        self.width = width

    def __call__(self, text: str) -> str:
        if self.width is None:
            return text
        return textwrap.fill(
            text,
            self.width,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _in_markdown(cell: Cell) -> str:
    text = escape_markdown(" ".join(cell.text.splitlines())).replace("|", "\\|")
    text = f"<u>{text}</u>" if cell.underline else text
    text = f"**{text}**" if cell.bold else text
    return f"{text} {escape_markdown(cell.spread)}" if cell.spread else text


def _below_each_other(tabulars: Iterable[list[str]]) -> list[str]:
    first, *rest = tabulars
    return [*first, *(line for lines in rest for line in (r"\par\medskip", *lines))]


def _latex_paragraph(text: str) -> str:
    """Return text wrapped for a LaTeX source; the first line follows a command."""
    escaped = escape_latex(" ".join(text.split()))
    return textwrap.fill(
        escaped,
        _SOURCE_LINE,
        initial_indent=" " * 30,  # room for the command
        break_long_words=False,
        break_on_hyphens=False,
    ).lstrip()


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _in_latex(cell: Cell, *, numeric: bool) -> str:
    text = _latex_text(cell.text, numeric=numeric)
    text = rf"\underline{{{text}}}" if cell.underline else text
    text = rf"\textbf{{{text}}}" if cell.bold else text
    if not cell.spread:
        return text
    return rf"{text} {{\scriptsize {_latex_text(cell.spread, numeric=numeric)}}}"


def _latex_text(text: str, *, numeric: bool) -> str:
    """Return text as LaTeX; in numbers, format minus signs and powers of ten."""
    escaped = escape_latex(" ".join(text.splitlines()))
    return _NUMBER.sub(_latex_number, escaped) if numeric else escaped


def _latex_number(found: re.Match[str]) -> str:
    sign, digits, power = found.groups()
    if not sign and not power and digits != "inf":
        return found[0]
    digits = r"\infty" if digits == "inf" else digits.replace(",", "{,}")
    times = rf" \times 10^{{{int(power)}}}" if power else ""
    return f"${sign}{digits}{times}$"


def _in_html(cell: Cell) -> str:
    text = html.escape(cell.text)
    text = f"<u>{text}</u>" if cell.underline else text
    text = f"<b>{text}</b>" if cell.bold else text
    return f"{text} <small>{html.escape(cell.spread)}</small>" if cell.spread else text

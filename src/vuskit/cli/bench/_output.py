"""Output of bench commands as JSON, csv or text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vuskit._util.tables import TableLayout, csv_text
from vuskit.cli._output import document, say, terminal_width, write

if TYPE_CHECKING:
    from vuskit.bench import Run

__all__ = ["Content", "Rows", "emit", "inverted_notes", "number_table", "say_list"]

Content = Mapping[str, Any]
Rows = tuple[list[str], Sequence[Sequence[Any]]]


def emit(
    form: str,
    kind: str,
    content: Content,
    *,
    rows: Callable[[Content], Rows],
    text: Callable[[Content], None],
    forms: Mapping[str, Callable[[], str]] | None = None,
) -> None:
    """Write the content of a command in the chosen form.

    Parameters
    ----------
    form : {"json", "csv", "table"} or a name in `forms`
        Output form.
    kind : str
        Name of the schema, without ``bench-``.
    content : mapping
        All results of the command; the JSON document.
    rows : callable
        Returns header and rows for csv.
    text : callable
        Writes the content as text.
    forms : mapping, optional
        Other forms by name; each returns its text.
    """
    if form == "json":
        write(document(f"bench-{kind}", **content))
    elif form == "csv":
        write(csv_text(*rows(content)))
    elif forms is not None and form in forms:
        write(forms[form]())
    else:
        text(content)


def number_table(header: list[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lay out a table that fits the terminal; integers get thousands separators."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return TableLayout(header, cells).to_text(terminal_width())


def say_list(title: str, lines: Sequence[str]) -> None:
    """Write a titled list to standard error; nothing if it is empty."""
    if lines:
        say(f"{title}:")
        for line in lines:
            say(f"  {line}")


def inverted_notes(run: Run) -> list[str]:
    """Return a note about detectors whose scores look inverted, if there are any."""
    from vuskit.measures.inversion import inverted_text

    found = run.inverted_detectors()
    return [inverted_text(found)] if found else []

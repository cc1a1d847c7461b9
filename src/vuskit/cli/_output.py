"""Output of all commands: data on stdout as table, JSON or csv, messages on stderr."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from vuskit import __version__
from vuskit._util.text import folded_tables, format_cell, wrapped_table
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AsCsv",
    "AsJson",
    "chosen_format",
    "clean_warnings",
    "csv_text",
    "document",
    "emit_table",
    "frame_csv",
    "frame_records",
    "frame_table",
    "json_text",
    "say",
    "terminal_width",
    "wrapped",
    "write",
]

# Without a metavar typer would show a type for what takes no value.
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Write JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", metavar="", help="Write csv.")]

_NARROWEST, _WIDEST = 40, 120
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def say(text: str) -> None:
    """Write a message to standard error."""
    typer.echo(text, err=True)


def write(text: str) -> None:
    """Write data to standard output."""
    typer.echo(text)


@contextmanager
def clean_warnings() -> Iterator[None]:
    """Show each Python warning once, as one line without the path of a source file."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in shown:
            shown.add(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        if not sys.warnoptions:  # -W and PYTHONWARNINGS take precedence
            warnings.simplefilter("always")
            for category in _FOR_DEVELOPERS:
                warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield


def chosen_format(**flags: bool) -> str:
    """Name of the one flag that is set, or "table".

    Raises
    ------
    InvalidInputError
        If several are set.

    Examples
    --------
    >>> chosen_format(json=False, csv=True)
    'csv'
    """
    wanted = [name for name, value in flags.items() if value]
    if len(wanted) > 1:
        listed = " and ".join(f"--{name}" for name in wanted)
        raise InvalidInputError(f"only one form can be written at a time, got {listed}")
    return wanted[0] if wanted else "table"


def terminal_width() -> int:
    """Columns there are, within reason."""
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def wrapped(text: str) -> str:
    """Lay a line out within the terminal's width; words, such as names and paths, stay whole.

    Examples
    --------
    >>> wrapped("  (buffer=20)")
    '  (buffer=20)'
    """
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.fill(
        text.lstrip(),
        terminal_width(),
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def document(kind: str, /, **content: Any) -> str:
    """Lay out as JSON, with the name of the schema that describes it and the version."""
    return json_text({"schema": f"vuskit-{kind}-1", "vuskit": __version__, **content})


def json_text(data: Any) -> str:
    """Lay out as JSON; NaN and infinities, which JSON lacks, become null."""
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, float) and not math.isfinite(data):
        return None
    pandas = sys.modules.get("pandas")  # not loaded means that nothing of it is here
    if pandas is not None and data is pandas.NA:
        return None
    return os.fspath(data) if isinstance(data, os.PathLike) else data


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    r"""Lay out as csv, without a final line break; what is not there or not finite is empty.

    Examples
    --------
    >>> csv_text(["a", "b"], [[1, None], ["x,y", 0.5], [float("nan"), 2]])
    'a,b\n1,\n"x,y",0.5\n,2'
    """
    text = io.StringIO()
    lines = [header, *([_csv_cell(cell) for cell in row] for row in rows)]
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().removesuffix("\n")


def _csv_cell(value: Any) -> Any:
    plain = _plain(value)
    return " ".join(map(str, plain)) if isinstance(plain, list) else plain


def emit_table(
    form: str,
    records: Sequence[Mapping[str, Any]],
    shown: Mapping[str, str],
) -> None:
    """Write records as JSON, csv, or a table of some of their fields.

    Parameters
    ----------
    form : {"json", "csv", "table"}
        What to write.
    records : sequence of mappings
        All with the same keys.
    shown : mapping from str to str
        Fields of the table, and the headings of its columns.
    """
    if form == "json":
        write(json_text(list(records)))
    elif form == "csv":
        header = list(records[0]) if records else list(shown)
        write(csv_text(header, [list(record.values()) for record in records]))
    else:
        rows = [[_cell(record[field]) for field in shown] for record in records]
        write(wrapped_table(list(shown.values()), rows, terminal_width()))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def frame_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as plain data; None for what is not there.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_records(pd.DataFrame({"a": [1, pd.NA], "b": [0.5, float("nan")]}))
    [{'a': 1, 'b': 0.5}, {'a': None, 'b': None}]
    """
    names = list(map(str, frame.columns))
    rows = zip(*(frame[name].astype(object) for name in frame.columns), strict=True)
    return [dict(zip(names, map(_plain, row), strict=True)) for row in rows]


def frame_csv(frame: pd.DataFrame) -> str:
    """Lay out a table as csv, in full precision."""
    rows = frame.itertuples(index=False, name=None)
    return csv_text(list(map(str, frame.columns)), list(rows))


def frame_table(frame: pd.DataFrame) -> str:
    """Lay out a table as text, folded where it is wider than the terminal."""
    header = list(map(str, frame.columns))
    rows = [[format_cell(cell) for cell in row] for row in frame.itertuples(index=False)]
    return "\n\n".join(folded_tables(header, rows, terminal_width()))

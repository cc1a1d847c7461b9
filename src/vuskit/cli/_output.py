"""Output of all commands: data on standard output, messages on standard error."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from vuskit import __version__
from vuskit._util.interrupts import begin_result
from vuskit._util.tables import csv_text, plain_data
from vuskit._util.text import escape_control, wrapped_table
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    pass

_NARROWEST, _WIDEST = 40, 120
_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def say(text: str) -> None:
    """Write a message to standard error; control characters are escaped."""
    typer.echo(escape_control(text), err=True)


def write(text: str) -> None:
    """Write the result to standard output; control characters are escaped.

    From now on, Ctrl-C does not stop the command.
    """
    data = escape_control(text)
    begin_result()
    typer.echo(data)


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
    """Return the name of the flag that is set; "table" if none is.

    Examples
    --------
    >>> chosen_format(json=False, csv=True)
    'csv'
    """
    wanted = [name for name, value in flags.items() if value]
    if len(wanted) > 1:
        listed = " and ".join(f"--{name}" for name in wanted)
        raise InvalidInputError(f"only one output form is possible, got {listed}; choose one")
    return wanted[0] if wanted else "table"


def terminal_width() -> int:
    """Return the width of the terminal in columns, within limits."""
    return min(max(shutil.get_terminal_size().columns, _NARROWEST), _WIDEST)


def wrapped(text: str, indent: str = "  ") -> str:
    """Wrap a line to the width of the terminal, without breaking words such as names and paths.

    Examples
    --------
    >>> wrapped("  (buffer=20)")
    '  (buffer=20)'
    """
    first = " " * (len(text) - len(text.lstrip()))
    return textwrap.fill(
        text.lstrip(),
        terminal_width(),
        initial_indent=first,
        subsequent_indent=first + indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def emit(form: str, result: Any, *, text: Callable[[], str], **forms: Callable[[], str]) -> None:
    """Write a result: its fields as JSON, or the text of another form."""
    if form == "json":
        data = plain_data(result() if callable(result) else result)
        write(json_text({"vuskit": __version__, **data} if isinstance(data, dict) else data))
    else:
        write({"table": text, **forms}[form]())


def table_forms(*tables: Any) -> dict[str, Callable[[], str]]:
    """Return the forms of tables with ``to_text``, ``to_latex`` and ``to_markdown``, for `emit`."""

    def joined(form: str, *arguments: Any) -> str:
        return "\n\n".join(getattr(one, f"to_{form}")(*arguments) for one in tables)

    return {
        "text": lambda: joined("text", terminal_width()),
        "latex": lambda: joined("latex"),
        "markdown": lambda: joined("markdown"),
    }


def json_text(data: Any) -> str:
    r"""Return data as JSON; NaN and infinities become null.

    Examples
    --------
    >>> print(json_text("\x9b2J and \udce9"))
    "\u009b2J and \udce9"
    """
    text = json.dumps(plain_data(data), indent=2, ensure_ascii=False, allow_nan=False)
    # Terminals interpret more control characters than JSON escapes.
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def emit_table(
    form: str,
    records: Sequence[Mapping[str, Any]],
    shown: Mapping[str, str],
) -> None:
    """Write records as JSON, csv, or a table of some of their fields."""
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

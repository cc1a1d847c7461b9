"""Output of all commands: data on standard output, messages on standard error, files.

Messages of the library name parameters; `Command` replaces them by options.
"""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperCommand

from vuskit import __version__
from vuskit._util.files import atomic_files, atomic_path, reason_of
from vuskit._util.interrupts import begin_result
from vuskit._util.tables import TableLayout, csv_text, plain_data
from vuskit._util.text import escape_control, wrapped_table
from vuskit.errors import InvalidInputError, VuskitError

_NARROWEST, _WIDEST = 40, 120
_CONTROL = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKED = re.compile(r"(?<!\S)[+-]?\d[\d.,]*([*+])(?!\S)")
_FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def say(text: str, *, wrap: bool = False) -> None:
    """Write a message to standard error, wrapped on a terminal; control characters are escaped."""
    said = escape_control(text)
    if wrap and sys.stderr.isatty():
        said = wrapped(said)
    if said.startswith("warning:") and _shows_color(sys.stderr):
        said = typer.style(said, fg="yellow")
    typer.echo(said, err=True)


def write(text: str, *, colored: bool = False) -> None:
    """Write the result to standard output; control characters are escaped.

    With `colored`, marked numbers of tables are green on a terminal, and bold if they are best or
    significant. From now on, Ctrl-C does not stop the command.
    """
    data = escape_control(text)
    if colored and _shows_color(sys.stdout):
        data = _MARKED.sub(lambda one: typer.style(one[0], fg="green", bold=one[1] == "*"), data)
    begin_result()
    typer.echo(data)


def _shows_color(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


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


def number_table(header: list[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lay out a table that fits the terminal; integers get thousands separators."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return TableLayout(header, cells).to_text(terminal_width())


def emit(form: str, result: Any, *, text: Callable[[], str], **forms: Callable[[], str]) -> None:
    """Write a result: its fields as JSON, or the text of another form."""
    if form == "json":
        data = plain_data(result() if callable(result) else result)
        write(json_text({"vuskit": __version__, **data} if isinstance(data, dict) else data))
    else:
        write({"table": text, **forms}[form](), colored=form == "table")


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
    r"""Return plain data as JSON.

    Examples
    --------
    >>> print(json_text("\x9b2J and \udce9"))
    "\u009b2J and \udce9"
    """
    text = io.StringIO()  # `dumps` would keep every piece of the text
    json.dump(data, text, indent=2, ensure_ascii=False, allow_nan=False)
    # Terminals interpret more control characters than JSON escapes.
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text.getvalue())


def emit_table(
    form: str,
    records: Sequence[Mapping[str, Any]],
    shown: Mapping[str, str],
) -> None:
    """Write records as JSON, csv, or a table of some of their fields."""
    if form == "json":
        write(json_text(plain_data(records)))
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


# Parameters of the library whose option has another name.
_OTHER_NAMES = {
    "measures": "measure",
    "detectors": "detector",
    "by": "unit",
    "select": "series",
    "path": "output",
    "source": "data",
}
PANELS = ("", "Input", "Measures", "Output", "Execution")
_NAME = re.compile(r"`(\w+)`")
_running: ContextVar[Command] = ContextVar("_running")


class Command(TyperCommand):
    """A command that writes `` `label` `` as `` `--label` `` in texts of the library.

    The panels of its help have one order in all commands.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.params.sort(key=lambda one: PANELS.index(getattr(one, "rich_help_panel", None) or ""))

    def get_help_option(self, ctx: Any) -> Any:
        """Return ``--help``, which is no news to readers of the help."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.hidden = True
        return option

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        _running.set(self)
        try:
            return super().invoke(ctx)
        except InvalidInputError as error:
            error.args = (self.with_options(str(error)),)
            raise

    def with_options(self, text: str) -> str:
        """Replace parameter names by the options of this command."""
        if text.startswith("`--set`"):
            return text  # it names the parameter already
        options = {one.name: _shown(one) for one in self.params}
        settable = "--set" in options.values()

        def option(found: re.Match[str]) -> str:
            name = found[1]
            for known in (name, _OTHER_NAMES.get(name)):
                if known in options:
                    return f"`{options[known]}`"
            return f"`--set {name}`" if settable and name in _settings() else found[0]

        return _NAME.sub(option, text)


def say_notes(notes: Iterable[str]) -> None:
    """Write notes of the library to standard error, with the options of the running command."""
    for note in notes:
        say(f"note: {_running.get().with_options(note)}")


def say_list(title: str, lines: Sequence[str]) -> None:
    """Write a titled list to standard error; nothing if it is empty."""
    for line in (f"{title}:", *(f"  {line}" for line in lines)) if lines else ():
        say(line)


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name).strip("[.]")


def _settings() -> set[str]:
    """Return the names that ``--set`` accepts."""
    from vuskit.measures.settings import EvaluationSettings

    found = {one.name for one in dataclasses.fields(EvaluationSettings)}
    studies = sys.modules.get("vuskit.studies")  # only loaded by commands that run studies
    for study in studies.list_studies() if studies is not None else ():
        found.update(study.options())
    return found


_PAGES = (".html", ".htm")


def check_page(option: str, path: Path | None, *, made: Path | None = None) -> None:
    """Check early that a page can be written; no page is fine.

    Examples
    --------
    >>> check_page("--html", Path("scores.csv"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `--html` must be a file that ends in .html or .htm, got ...
    """
    if path is None:
        return
    if path.suffix.lower() not in _PAGES:
        raise InvalidInputError(
            f"`{option}` must be a file that ends in {' or '.join(_PAGES)}, got {str(path)!r}"
        )
    created = () if made is None else (made.resolve(), *made.resolve().parents)
    if not path.parent.is_dir() and path.parent.resolve() not in created:
        raise InvalidInputError(
            f"`{option}` must be in a folder that exists, got {str(path)!r}; create it first"
        )


@contextmanager
def _written(path: Path, temporary: AbstractContextManager[Path]) -> Iterator[Path]:
    """Yield a temporary path; errors say why `path` cannot be written."""
    try:
        with temporary as found:
            yield found
    except OSError as error:
        missing = error.errno == errno.ENOENT
        reason = f"there is no folder {str(path.parent)!r}" if missing else reason_of(error)
        raise VuskitError(f"{path} cannot be written: {reason}") from error


def atomic_file(path: Path) -> AbstractContextManager[Path]:
    """Yield a temporary path that becomes the file on success and is removed on failure."""
    return _written(path, atomic_path(path))


def atomic_folder(folder: Path) -> AbstractContextManager[Path]:
    """Yield a temporary folder; on success its files move to the folder."""
    return _written(folder, atomic_files(folder))


def write_file(path: Path, text: str) -> None:
    """Write a file atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

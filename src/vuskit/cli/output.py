"""What all commands share: data on stdout in three forms, talk on stderr, errors in a sentence."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import shutil
import sys
import textwrap
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from vuskit.errors import InvalidInputError, VuskitError

__all__ = [
    "AsCsv",
    "AsJson",
    "PatientGroup",
    "chosen_format",
    "csv_text",
    "emit_table",
    "json_text",
    "left_table",
    "reason_of",
    "say",
    "terminal_width",
    "write",
    "write_file",
]

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Write csv.")]

_NARROWEST, _WIDEST = 40, 120
_LEAST_LAST_COLUMN = 20
_DEBUG = "--debug"
_INTERRUPTED = 130

# Why a file could not be read or written, and what to do about it.
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space, or write to another place",
    errno.EDQUOT: "your disk quota is used up; free some space, or write to another place",
    errno.EROFS: "it is on a read-only disk; write to another place",
    errno.EACCES: "you have no permission; look at it with: ls -l",
    errno.EPERM: "you have no permission; look at it with: ls -l",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.ENAMETOOLONG: "its name is too long",
}


class PatientGroup(TyperGroup):
    """Commands whose errors of the operating system become sentences, not tracebacks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let ``--debug`` stand anywhere in the line."""
        if _DEBUG in args:
            args = [_DEBUG, *(word for word in args if word != _DEBUG)]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with ``--debug`` errors show where they come from."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk or a closed pipe shows here, not when Python exits
            return result
        except KeyboardInterrupt:
            say("vuskit: stopped")
            raise typer.Exit(_INTERRUPTED) from None
        except VuskitError:
            _trace(ctx)
            raise
        except (OSError, MemoryError) as error:
            if getattr(error, "errno", None) == errno.EPIPE:
                raise  # the reader has seen enough: click ends the program quietly
            _trace(ctx)
            _forget_stdout(error)
            raise VuskitError(_sentence(error)) from error


def _trace(ctx: Any) -> None:
    if ctx.params.get("debug"):
        traceback.print_exc()


def _forget_stdout(error: BaseException) -> None:
    # What could not be written would be tried, and complained about, once more at exit.
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            return


def _sentence(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; give fewer columns or rows"
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{reason_of(error)}"


def say(text: str) -> None:
    """Tell something that is not data."""
    typer.echo(text, err=True)


def write(text: str) -> None:
    """Write data."""
    typer.echo(text)


def write_file(path: Path, text: str) -> None:
    """Write a file whole, or leave what was there.

    Raises
    ------
    VuskitError
        If it cannot be written; says why and what to do.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        folder = path.parent
        missing = error.errno == errno.ENOENT
        reason = f"there is no folder {str(folder)!r}" if missing else reason_of(error)
        raise VuskitError(f"{path} cannot be written: {reason}") from error


def reason_of(error: OSError) -> str:
    """Why a file cannot be read or written, and what to do.

    Examples
    --------
    >>> reason_of(OSError(errno.EISDIR, "Is a directory"))
    'it is a folder; give the name of a file'
    """
    code = error.errno if error.errno is not None else 0
    return _REASONS.get(code, error.strerror or str(error))


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


def left_table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Columns flush left; the last one is wrapped to the width.

    Examples
    --------
    >>> print(left_table(["name", "what"], [["a", "one two three four five"]], 20))
    name  what
    a     one two three four
          five
    """
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns[:-1]]
    indent = sum(widths) + 2 * len(widths)
    room = max(width - indent, _LEAST_LAST_COLUMN)
    lines = []
    for row in (header, *rows):
        first = "".join(f"{cell:<{size}}  " for cell, size in zip(row[:-1], widths, strict=True))
        wrapped = textwrap.wrap(row[-1], room, break_on_hyphens=False) or [""]
        lines.append(first + wrapped[0])
        lines.extend(" " * indent + rest for rest in wrapped[1:])
    return "\n".join(line.rstrip() for line in lines)


def json_text(data: Any) -> str:
    """Lay out as JSON; NaN and infinities, which JSON lacks, become null."""
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def _plain(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    r"""Lay out as csv, without a final line break.

    Examples
    --------
    >>> csv_text(["a", "b"], [[1, None], ["x,y", 0.5]])
    'a,b\n1,\n"x,y",0.5'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().removesuffix("\n")


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
        write(left_table(list(shown.values()), rows, terminal_width()))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

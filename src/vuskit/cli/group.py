"""The outermost command: errors of the operating system as sentences, Ctrl-C without a trace."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from vuskit.cli.exits import ExitCode
from vuskit.cli.files import reason_of
from vuskit.cli.output import say
from vuskit.errors import VuskitError

__all__ = ["DEBUG", "PatientGroup"]

DEBUG = "--debug"
_PRIMARY_CODE = 0xFF  # the rest of an error code of SQLite says more about it


class PatientGroup(TyperGroup):
    """Commands whose errors of the operating system become sentences, not tracebacks."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let ``--debug`` stand anywhere in the line."""
        if DEBUG in args:
            args = [DEBUG, *(word for word in args if word != DEBUG)]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with ``--debug`` errors show where they come from."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a full disk or a closed pipe shows here, not when Python exits
            return result
        except KeyboardInterrupt:
            say("vuskit: stopped")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except VuskitError:
            _trace(ctx)
            raise
        except Exception as error:
            sentence = _sentence(error)
            if sentence is None:
                raise
            _trace(ctx)
            _forget_stdout(error)
            raise VuskitError(sentence) from error


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


def _sentence(error: Exception) -> str | None:
    """What the machine refused, or None where that is not what went wrong."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; give fewer columns or rows"
    damage = _damage(error)
    if damage is not None:
        return (
            f"the database of the run is damaged: {damage}; "
            "what of it can still be read says: vuskit bench verify RUN"
        )
    if isinstance(error, OSError):
        if error.errno == errno.EPIPE:
            return None  # the reader has seen enough: typer ends the program quietly
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{reason_of(error)}"
    sqlite = sys.modules.get("sqlite3")  # not loaded means that it is not its error
    if sqlite is not None and isinstance(error, sqlite.OperationalError):
        return f"the database of the run cannot be used: {error}"
    return None


def _damage(error: Exception) -> str | None:
    """What SQLite says of a file that it finds damaged."""
    sqlite = sys.modules.get("sqlite3")  # not loaded means that it is not its error
    if sqlite is None or not isinstance(error, sqlite.DatabaseError):
        return None
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    return str(error) if code in (sqlite.SQLITE_CORRUPT, sqlite.SQLITE_NOTADB) else None

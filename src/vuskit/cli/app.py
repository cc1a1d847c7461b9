"""The command line application: its commands and the handling of their errors."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from vuskit import __version__
from vuskit._util.files import reason_of
from vuskit._util.interrupts import begin_result, end_interrupts, raise_interrupts, was_interrupted
from vuskit.cli import bench, conformance, data
from vuskit.cli._exit_codes import ExitCode, exit_codes_text
from vuskit.cli._options import flag
from vuskit.cli._output import Command, clean_warnings, say
from vuskit.cli.compare import compare
from vuskit.cli.demo import demo
from vuskit.cli.doctor import doctor
from vuskit.cli.evaluate import evaluate
from vuskit.cli.explore import explore
from vuskit.cli.list_ import list_
from vuskit.cli.page import page
from vuskit.cli.paper import paper
from vuskit.cli.report import report
from vuskit.cli.study import study
from vuskit.errors import VuskitError

_DEBUG = "--debug"
_PRIMARY_CODE = 0xFF  # the other bits of SQLite's error codes only add details


class CommandGroup(TyperGroup):
    """Commands that report operating system errors in one sentence, without a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Accept ``--debug`` anywhere on the line."""
        if _DEBUG in args:
            args = [_DEBUG, *(word for word in args if word != _DEBUG)]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with ``--debug``, errors show their traceback."""
        try:
            raise_interrupts()  # not earlier: while parsing, typer exits without a message
            return self._invoke(ctx)
        except KeyboardInterrupt:
            raise _stopped() from None
        except Exception as error:
            # Code that was interrupted may fail in another way.
            if was_interrupted() and getattr(error, "exit_code", None) != ExitCode.INTERRUPTED:
                raise _stopped() from None
            raise
        finally:
            end_interrupts()

    def _invoke(self, ctx: Any) -> Any:
        try:
            with clean_warnings():
                result = super().invoke(ctx)
            begin_result()  # of commands that write to no output
            sys.stdout.flush()  # reports a full disk or a closed pipe here, not when Python exits
            return result
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


def _stopped() -> typer.Exit:
    with contextlib.suppress(OSError):  # the terminal may be closed
        say("vuskit: stopped")
    return typer.Exit(ExitCode.INTERRUPTED)


def _trace(ctx: Any) -> None:
    if ctx.params.get("debug"):
        traceback.print_exc()


def _forget_stdout(error: BaseException) -> None:
    # Otherwise Python would try to flush again at exit, and print a second error.
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (OSError, ValueError, AttributeError):
            return


def _sentence(error: Exception) -> str | None:
    """Describe an error of the machine (memory, disk, database); None for other errors."""
    if isinstance(error, MemoryError):
        return "not enough memory; give fewer columns or rows"
    damage = _damage(error)
    if damage is not None:
        return (
            f"the database of the run is damaged: {damage}; "
            "check what is still readable with: vuskit bench verify RUN"
        )
    if isinstance(error, OSError):
        if error.errno == errno.EPIPE:
            return None  # the reader closed the pipe: typer exits quietly
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{reason_of(error)}"
    sqlite = sys.modules.get("sqlite3")  # if not loaded, the error comes from elsewhere
    if sqlite is not None and isinstance(error, sqlite.OperationalError):
        return f"the database of the run cannot be used: {error}"
    return None


def _damage(error: Exception) -> str | None:
    """Return the message of SQLite about a damaged file; None for other errors."""
    sqlite = sys.modules.get("sqlite3")  # if not loaded, the error comes from elsewhere
    if sqlite is None or not isinstance(error, sqlite.DatabaseError):
        return None
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
    return str(error) if code in (sqlite.SQLITE_CORRUPT, sqlite.SQLITE_NOTADB) else None


app = typer.Typer(
    name="vuskit",
    cls=CommandGroup,
    no_args_is_help=True,
    epilog=exit_codes_text(),
    pretty_exceptions_enable=False,
)
for _command in (evaluate, study, paper, compare, report, explore, page, doctor, demo):
    app.command(cls=Command)(_command)
app.command("list", cls=Command)(list_)
for _name, _group in (("bench", bench), ("data", data), ("conformance", conformance)):
    app.add_typer(_group.app, name=_name)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vuskit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    debug: Annotated[
        bool, flag("--debug", "Show the traceback of errors; works anywhere on the line.")
    ] = False,
) -> None:
    """Accuracy measures for time-series anomaly detection.

    Data goes to standard output, messages go to standard error.

    Example: vuskit evaluate scores.csv
    """

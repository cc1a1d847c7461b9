"""Running a plan from the command line: how it is stopped, and what is said at its end."""

from __future__ import annotations

import contextlib
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer

from vuskit.cli.bench_output import emit, run_content
from vuskit.cli.exits import ExitCode
from vuskit.cli.output import say

if TYPE_CHECKING:
    from vuskit.bench import Plan
    from vuskit.bench.runner import RunSummary

__all__ = ["run_here"]

# A polite kill, and the end of the terminal or of its connection.
_STOPS = ("SIGTERM", "SIGHUP")


def run_here(
    plan: Plan,
    form: str,
    *,
    target: Path,
    command: str = "run",
    reread: bool = False,
    plain: bool = False,
) -> None:
    """Run what is left of a plan, and tell how it goes and ended.

    Parameters
    ----------
    plan : Plan
        What to run.
    form : {"table", "json", "csv"}
        How its end is written.
    target : Path
        The plan or the folder that the user named.
    command : {"run", "retry"}
        What goes on with it after a stop.
    reread : bool, default=False
        Read every series again.
    plain : bool, default=False
        Lines instead of a bar.

    Raises
    ------
    typer.Exit
        If the run was stopped, or jobs of it failed, in this run or before.
    """
    from vuskit.bench.runner import run_plan
    from vuskit.cli.bench_progress import Display, talk_console

    console = talk_console()
    try:
        with (
            _stopped_by_signals(),
            Display(console, plain=plain or not console.is_terminal) as display,
        ):
            summary = run_plan(
                plan, observer=display.update, reading=display.reading, reread=reread
            )
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the terminal may be what has gone
            say(f"Stopped. What is finished is in {plan.folder}.")
            say(f"Go on with: {shlex.join(['vuskit', 'bench', command, str(target)])}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    emit(form, "run", run_content(summary))
    failed = _tell_failures(summary, target)
    say(f"Next: vuskit bench leaderboard {shlex.quote(str(plan.folder))}")
    if failed:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _tell_failures(summary: RunSummary, target: Path) -> bool:
    """Say what failed and how to run it again; return whether anything did."""
    from vuskit.bench.results import read_status
    from vuskit.bench.states import Status

    found = read_status(summary.folder, failures=0)
    statuses = [status for status in Status if status.failed and found.count(status)]
    if not statuses:
        return False
    if summary.progress.failed_before:
        say(f"Failed before: {summary.progress.failed_before:,}")
    say(f"See: vuskit bench status {shlex.quote(str(summary.folder))}")
    options = [word for status in statuses for word in ("--status", status.value)]
    again = shlex.join(["vuskit", "bench", "retry", str(target), *options])
    say(f"After a change of code or limits, run them again with: {again}")
    return True


@contextlib.contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let other signals that end a program do what Ctrl-C does."""
    known = [signal.Signals[name] for name in _STOPS if hasattr(signal, name)]
    # What is ignored stays so: nohup wants the run to outlive its terminal.
    heard = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt

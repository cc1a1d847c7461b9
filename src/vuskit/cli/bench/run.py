"""``vuskit bench run`` and ``vuskit bench retry``."""

from __future__ import annotations

import contextlib
import shlex
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.names import match_names
from vuskit._util.text import format_duration, plural
from vuskit.cli._completion import complete_statuses
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import Detectors, series_option
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say, write
from vuskit.cli.bench._arguments import (
    DEFAULT_PLAN,
    AllowCode,
    Plain,
    PlanFile,
    Reread,
    RunFolder,
    plan_of,
)
from vuskit.cli.bench._output import Content, Rows, emit, inverted_notes, say_list

if TYPE_CHECKING:
    from vuskit.bench import Plan, Progress
    from vuskit.bench.expand import ExpandedPlan
    from vuskit.bench.runner import RunSummary

__all__ = ["retry", "run", "stopped_by_signals", "tell_stale"]

# A polite kill, and the end of the terminal or of its connection.
_STOP_SIGNALS = ("SIGTERM", "SIGHUP")
_SHOWN_REASONS = 3


def run(
    path: PlanFile = DEFAULT_PLAN,
    reread: Reread = False,
    plain: Plain = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run a plan, or what is left of it.

    Press Ctrl-C to stop; the same command goes on. The exit code is 3 if
    jobs failed, in this run or before.

    Example: vuskit bench run my-plan.toml
    """
    from vuskit.bench.plan import load_plan

    form = chosen_format(json=as_json, csv=as_csv)
    _run(load_plan(path), form, target=path, reread=reread, plain=plain)


def retry(
    target: RunFolder = DEFAULT_PLAN,
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="ERROR, TIMEOUT, OOM, KILLED or SKIPPED. May be repeated.",
            autocompletion=complete_statuses,
        ),
    ] = None,
    detector: Detectors = None,
    series: Annotated[
        list[str] | None, series_option("only these are run again. May be repeated.")
    ] = None,
    plain: Plain = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run jobs again that failed; those with ERROR unless a status is given.

    The exit code is 3 while failures remain. If you name a run folder instead
    of its plan, detectors and measures of your own need --allow-code.

    Example: vuskit bench retry my-plan.toml --status TIMEOUT --detector LOF
    """
    from vuskit.bench import Run, Status, Store
    from vuskit.inputs import check_choice

    form = chosen_format(json=as_json, csv=as_csv)
    choices = [entry.value for entry in Status if entry is not Status.OK]
    wanted = [Status(check_choice("status", name.upper(), choices)) for name in status or ["ERROR"]]
    loaded = plan_of(target, allow_code=allow_code)
    stored = Run(loaded.folder)
    known = stored.detectors()
    names = [check_choice("--detector", name, known) for name in detector or ()]
    titles = [one.title for one in stored.series()]
    wanted_titles = set(match_names(titles, series, argument="--series") if series else titles)

    def meant(of: str, title: str) -> bool:
        return (not series or title in wanted_titles) and (not names or of in names)

    with Store(loaded.folder) as store:
        count = store.forget(wanted, of=meant)
    say(f"{count} jobs with {', '.join(wanted)} to run again")
    if count:
        command = "run" if target.is_file() else "retry"
        _run(loaded, form, target=target, command=command, plain=plain)
    elif (left := _count_failed(loaded.folder)) > 0:
        say(f"{plural(left, 'job')} failed before; see: vuskit bench status {_quoted(loaded)}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _run(
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
    from vuskit.cli._progress import RunDisplay, stderr_console

    console = stderr_console()
    try:
        with (
            stopped_by_signals() as stop_if_asked,
            RunDisplay(console, plain=plain or not console.is_terminal) as display,
        ):

            def observe(progress: Progress, results: Any) -> None:
                stop_if_asked()
                display.update(progress, results)

            summary = run_plan(
                plan,
                observer=observe,
                reading=display.reading,
                planned=tell_stale,
                reread=reread,
            )
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the terminal may be what has gone
            say(f"Stopped. What is finished is in {plan.folder}.")
            say(f"Go on with: {shlex.join(['vuskit', 'bench', command, str(target)])}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    emit(form, "run", _content(summary), rows=_rows, text=_text)
    tell_changes(summary)
    failed = _tell_failures(summary, target)
    say(f"Next: vuskit bench leaderboard {shlex.quote(str(plan.folder))}")
    for sentence in summary.not_computed:
        say(sentence)
    if failed or summary.not_computed:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def tell_stale(expanded: ExpandedPlan) -> None:
    """Say why finished jobs run again, the most frequent reasons only."""
    for one in expanded.stale[:_SHOWN_REASONS]:
        say(f"Again: {one}")
    more = expanded.stale[_SHOWN_REASONS:]
    if more:
        say(f"Again: {sum(one.jobs for one in more):,} jobs for {len(more)} other reasons")


def tell_changes(summary: RunSummary) -> None:
    """Say how values differ from those before the data or code changed."""
    changes = summary.changes
    if changes is None:
        return
    say(str(changes))
    if changes.n_changed:
        folder, path = shlex.quote(str(summary.folder)), shlex.quote(str(changes.path))
        say(f"Old against new: vuskit compare {folder} {path}")


def _quoted(plan: Plan) -> str:
    return shlex.quote(str(plan.folder))


def _count_failed(folder: Path) -> int:
    from vuskit.bench import Run, Status

    found = Run(folder).status(failures=0)
    return found.count(*(status for status in Status if status.failed))


def _tell_failures(summary: RunSummary, target: Path) -> bool:
    """Say what failed and how to run it again; return whether anything did."""
    from vuskit.bench import Run, Status

    found = Run(summary.folder).status(failures=0)
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
def stopped_by_signals() -> Iterator[Callable[[], None]]:
    """Let other signals that end a program do what Ctrl-C does.

    Yields a function that raises KeyboardInterrupt if a signal arrived. Call it regularly: a
    finalizer that runs when the signal arrives swallows the first exception.
    """
    arrived: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        arrived.append(number)
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):  # may note it: code that turns exceptions into failures must not
            handler(signal.SIGINT, frame)
        raise KeyboardInterrupt

    def stop_if_asked() -> None:
        if arrived:
            raise KeyboardInterrupt

    known = [signal.Signals[name] for name in _STOP_SIGNALS if hasattr(signal, name)]
    # What is ignored stays so: nohup wants the run to outlive its terminal.
    heard = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in heard}
    try:
        yield stop_if_asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _content(summary: RunSummary) -> dict[str, Any]:
    """How a run ended."""
    from vuskit.bench import Run

    progress = summary.progress
    return {
        "folder": summary.folder,
        "total": progress.total,
        "done": progress.done,
        "before": progress.before,
        "failed": progress.failed,
        "failed_before": progress.failed_before,
        "counts": {status.value: count for status, count in progress.counts.items()},
        "seconds": progress.seconds,
        "notes": [*summary.notes, *inverted_notes(Run(summary.folder))],
        "not_computed": list(summary.not_computed),
    }


def _rows(content: Content) -> Rows:
    header = ["folder", "total", "done", "before", "failed", "failed_before", "seconds"]
    return header, [[content[name] for name in header]]


def _text(content: Content) -> None:
    say_list("Notes", content["notes"])
    whole = f"{content['done']:,} of {content['total']:,} jobs done"
    ended = f"{content['failed']:,} failed, {format_duration(content['seconds'])}"
    ran = content["done"] - content["before"]
    if not content["before"]:
        told = f"{whole}, {ended}"
    elif ran:
        told = f"{ran:,} {'job' if ran == 1 else 'jobs'} run, {ended}; the run has {whole}"
    else:
        told = f"nothing left to run; the run has {whole}"
    write(f"{told}: {content['folder']}")

"""``vuskit bench``: many detectors on many series, and nothing lost."""

from __future__ import annotations

import shlex
import signal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from vuskit.cli.durations import format_duration
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Plan

__all__ = ["app"]

app = typer.Typer(help="Benchmarks of detectors on many series.", no_args_is_help=True)

_DEFAULT_PLAN = Path("bench.toml")
_INTERRUPTED = 130
_FAILED_JOBS = 3
_PROBLEMS = 4

PlanFile = Annotated[Path, typer.Argument(help="The plan.", metavar="PLAN")]
RunFolder = Annotated[Path, typer.Argument(help="A run folder, or its plan.", metavar="RUN")]


@app.callback()
def bench() -> None:
    """Run detectors on many series, evaluate them, keep everything."""


@app.command()
def init(
    path: PlanFile = _DEFAULT_PLAN,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing plan.")] = False,
) -> None:
    """Write a commented plan to start from."""
    from vuskit.bench.template import TEMPLATE

    if path.exists() and not force:
        raise InvalidInputError(f"`path` must be a new file (or use --force), got {str(path)!r}")
    path.write_text(TEMPLATE, encoding="utf-8")
    typer.echo(f"Wrote {path}. Next: vuskit bench plan {shlex.quote(str(path))}")


@app.command()
def plan(
    path: PlanFile = _DEFAULT_PLAN,
    reread: Annotated[bool, typer.Option(help="Read every series again.")] = False,
) -> None:
    """Show what would run, and how much of it is done."""
    from vuskit.bench.agenda import draw_up
    from vuskit.bench.plan import load_plan
    from vuskit.bench.store import Store

    console = Console()
    loaded = load_plan(path)
    with Store(loaded.folder) as store, console.status("Reading series"):
        agenda = draw_up(loaded, store, reread=reread)
        first, second = agenda.todo(), agenda.waiting_evaluations()
        done = len(set(agenda.done_ids()))
    table = Table("", "jobs", "to do", title=f"Plan {path}", title_justify="left")
    series = {job.series.hash for job in agenda.jobs}
    table.add_row("scores", f"{len(agenda.jobs):,}", f"{len(first):,}")
    evaluations = len(agenda.jobs) * len(loaded.evaluations)
    left = len(first) * len(loaded.evaluations) + len(second)
    table.add_row("evaluations, at most", f"{evaluations:,}", f"{left:,}")
    console.print(table)
    _list(console, "Detectors", sorted({job.label for job in agenda.jobs}))
    for entry in loaded.evaluations:
        names = ", ".join(measure.build().title for measure in entry.measures)
        console.print(f"Measures: {names} ({entry.spec.identity})", soft_wrap=True, highlight=False)
    console.print(
        f"{len(series):,} series, {done:,} jobs done before; "
        f"{loaded.executor.kind} executor, results in {loaded.folder}",
        soft_wrap=True,
        highlight=False,
    )
    _list(console, "Notes", agenda.notes)


@app.command()
def run(
    path: PlanFile = _DEFAULT_PLAN,
    reread: Annotated[bool, typer.Option(help="Read every series again.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a bar.")] = False,
) -> None:
    """Run a plan, or what is left of it.

    Press Ctrl-C to stop; the same command goes on.
    """
    from vuskit.bench.plan import load_plan

    _run(load_plan(path), again=["vuskit", "bench", "run", str(path)], reread=reread, plain=plain)


@app.command()
def retry(
    target: RunFolder = _DEFAULT_PLAN,
    status: Annotated[
        list[str] | None, typer.Option(help="ERROR, TIMEOUT, OOM or SKIPPED; may be repeated.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a bar.")] = False,
) -> None:
    """Run jobs again that failed; those with ERROR unless a status is given."""
    from vuskit.bench.states import Status
    from vuskit.bench.store import Store
    from vuskit.inputs import check_choice

    choices = [entry.value for entry in Status if entry is not Status.OK]
    wanted = [Status(check_choice("status", name.upper(), choices)) for name in status or ["ERROR"]]
    loaded = _plan_of(target)
    with Store(loaded.folder) as store:
        count = store.forget(wanted)
    typer.echo(f"{count} jobs with {', '.join(wanted)} to run again")
    if count:
        again = ["vuskit", "bench", "run", str(target)] if target.is_file() else None
        _run(loaded, again=again or ["vuskit", "bench", "retry", str(target)], plain=plain)


@app.command()
def status(
    target: RunFolder = _DEFAULT_PLAN,
    failures: Annotated[int, typer.Option(min=0, help="How many failures to list.")] = 10,
) -> None:
    """Show how far a run is; also from another terminal, while it runs."""
    from vuskit.bench.results import read_status
    from vuskit.cli.bench_progress import show_status

    show_status(Console(), read_status(_folder_of(target), failures=failures))


@app.command()
def export(
    target: RunFolder = _DEFAULT_PLAN,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Ends in .csv or .parquet.")
    ] = Path("bench.csv"),
    shape: Annotated[str, typer.Option(help="values, wide or leaderboard.")] = "values",
) -> None:
    """Write the values into a file: csv or parquet, long, wide or as a leaderboard."""
    from vuskit.bench.export import export_run

    frame = export_run(_folder_of(target), output, shape=shape)
    typer.echo(f"{len(frame):,} rows: {output}")


@app.command()
def verify(
    target: RunFolder = _DEFAULT_PLAN,
    sample: Annotated[int, typer.Option(min=0, help="Evaluations to compute again.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Which ones.")] = 0,
    repair: Annotated[
        bool, typer.Option("--repair", help="Let the next run make broken score files again.")
    ] = False,
) -> None:
    """Check every score file against its digest and compute a sample of values again."""
    from vuskit.bench.store import Store
    from vuskit.bench.verify import verify_run

    folder = _folder_of(target)
    found = verify_run(folder, sample=sample, seed=seed)
    for problem in found.problems:
        typer.echo(problem, err=True)
    typer.echo(
        f"{found.n_files:,} score files, {found.n_values:,} values computed again, "
        f"{len(found.problems)} problems"
    )
    if repair and found.broken:
        with Store(folder) as store:
            count = store.forget_scores(found.broken)
        typer.echo(f"{count} jobs to run again")
    if found.problems:
        raise typer.Exit(_PROBLEMS)


@app.command("run-job")
def run_job(
    target: RunFolder,
    key: Annotated[str, typer.Argument(help="Key of the job, or its beginning.")],
) -> None:
    """Do one job again here, without limits and in the open; nothing is stored.

    What the job raises is shown with its whole traceback.
    """
    from vuskit.bench.results import task_maker
    from vuskit.bench.store import open_for_reading, read_job
    from vuskit.bench.work import carry_out

    folder = _folder_of(target)
    connection = open_for_reading(folder)
    try:
        job, row = read_job(connection, key)
    finally:
        connection.close()
    typer.echo(f"{job.kind}: {job.title}\n{job.identity}\nstored as {row['status']}")
    outcome = carry_out(task_maker(folder)(job))
    for name, value in (outcome.values or {}).items():
        typer.echo(f"{name:24} {value:.6f}")
    if outcome.scores is not None:
        low, high = outcome.scores.min(), outcome.scores.max()
        typer.echo(f"{outcome.scores.size:,} scores from {low:.6g} to {high:.6g}")


def _run(loaded: Plan, *, again: list[str], reread: bool = False, plain: bool = False) -> None:
    from vuskit.bench.runner import run_plan
    from vuskit.cli.bench_progress import Display

    console = Console()
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with Display(console, plain=plain or not console.is_terminal) as display:
            summary = run_plan(
                loaded, observer=display.update, reading=display.reading, reread=reread
            )
    except KeyboardInterrupt:
        console.print(
            f"Stopped. What is finished is in {loaded.folder}.", soft_wrap=True, highlight=False
        )
        console.print(f"Go on with: {shlex.join(again)}", soft_wrap=True, highlight=False)
        raise typer.Exit(_INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    _list(console, "Notes", summary.notes)
    progress = summary.progress
    console.print(
        f"{progress.done:,} of {progress.total:,} jobs done, {progress.failed:,} failed, "
        f"{format_duration(progress.seconds)}: {summary.folder}",
        soft_wrap=True,
        highlight=False,
    )
    if progress.failed:
        console.print(
            f"See: vuskit bench status {shlex.quote(str(loaded.folder))}",
            soft_wrap=True,
            highlight=False,
        )
        raise typer.Exit(_FAILED_JOBS)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Let a polite kill end a run as Ctrl-C does."""
    raise KeyboardInterrupt


def _folder_of(target: Path) -> Path:
    """Return the run folder that is meant: itself, or the one of a plan."""
    if target.is_dir():
        return target
    from vuskit.bench.plan import load_plan

    return load_plan(target).folder


def _plan_of(target: Path) -> Plan:
    from vuskit.bench.plan import load_plan
    from vuskit.bench.results import stored_plan

    return stored_plan(target) if target.is_dir() else load_plan(target)


def _list(console: Console, title: str, lines: list[str] | tuple[str, ...]) -> None:
    if lines:
        console.print(f"{title}:")
        for line in lines:
            console.print(f"  {line}", soft_wrap=True, highlight=False, markup=False)

"""``vuskit bench``: many detectors on many series, and nothing lost."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vuskit.cli.bench_output import (
    emit,
    job_content,
    plan_content,
    status_content,
    verify_content,
)
from vuskit.cli.bench_run import run_here
from vuskit.cli.completion import complete_shapes, complete_statuses
from vuskit.cli.exits import ExitCode
from vuskit.cli.files import whole_file, write_file
from vuskit.cli.options import (
    AsLatex,
    By,
    Detectors,
    flag,
    output_option,
    seed_option,
    series_option,
)
from vuskit.cli.output import (
    AsCsv,
    AsJson,
    chosen_format,
    frame_csv,
    frame_records,
    json_text,
    say,
    write,
)
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Plan

__all__ = ["app"]

app = typer.Typer(help="Benchmarks of detectors on many series.", no_args_is_help=True)

_DEFAULT_PLAN = Path("bench.toml")
_DEFAULT_TABLE = Path("bench.csv")

PlanFile = Annotated[Path, typer.Argument(help="The plan.", metavar="PLAN")]
RunFolder = Annotated[Path, typer.Argument(help="A run folder, or its plan.", metavar="RUN")]
Reread = Annotated[bool, flag("--reread", "Read every series again.")]
Plain = Annotated[bool, flag("--plain", "Lines instead of a bar.")]


@app.callback()
def bench() -> None:
    """Run detectors on many series, evaluate them, keep everything."""


@app.command()
def init(
    path: PlanFile = _DEFAULT_PLAN,
    force: Annotated[bool, flag("--force", "Replace what is there.")] = False,
) -> None:
    """Write a commented plan to start from.

    Example: vuskit bench init my-plan.toml
    """
    from vuskit.bench.template import TEMPLATE

    if path.exists() and not force:
        raise InvalidInputError(f"`path` must be a new file (or use --force), got {str(path)!r}")
    write_file(path, TEMPLATE)
    write(str(path))
    say(f"Next: vuskit bench plan {shlex.quote(str(path))}")


@app.command()
def plan(
    path: PlanFile = _DEFAULT_PLAN,
    reread: Reread = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show what would run, and how much of it is done.

    Nothing is written; also while the plan is being run.

    Example: vuskit bench plan my-plan.toml
    """
    from vuskit.bench.agenda import draw_up
    from vuskit.bench.knowledge import read_knowledge
    from vuskit.bench.plan import load_plan

    form = chosen_format(json=as_json, csv=as_csv)
    loaded = load_plan(path)
    with closing(read_knowledge(loaded.folder)) as known:
        content = plan_content(path, draw_up(loaded, known, reread=reread))
    emit(form, "plan", content)


@app.command()
def run(
    path: PlanFile = _DEFAULT_PLAN,
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
    run_here(load_plan(path), form, target=path, reread=reread, plain=plain)


@app.command()
def retry(
    target: RunFolder = _DEFAULT_PLAN,
    status: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="ERROR, TIMEOUT, OOM or SKIPPED. May be repeated.",
            autocompletion=complete_statuses,
        ),
    ] = None,
    detector: Detectors = None,
    series: Annotated[
        list[str] | None, series_option("only these are run again. May be repeated.")
    ] = None,
    plain: Plain = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run jobs again that failed; those with ERROR unless a status is given.

    Example: vuskit bench retry my-plan.toml --status TIMEOUT --detector LOF
    """
    from vuskit.bench.results import read_detectors
    from vuskit.bench.states import Status
    from vuskit.bench.store import Store
    from vuskit.inputs import check_choice
    from vuskit.studies.sources import fits

    form = chosen_format(json=as_json, csv=as_csv)
    choices = [entry.value for entry in Status if entry is not Status.OK]
    wanted = [Status(check_choice("status", name.upper(), choices)) for name in status or ["ERROR"]]
    loaded = _plan_of(target)
    known = read_detectors(loaded.folder)
    names = [check_choice("--detector", name, known) for name in detector or ()]

    def meant(of: str, title: str) -> bool:
        patterns: Sequence[str | None] = series or [None]
        return (not names or of in names) and any(fits(title, one) for one in patterns)

    with Store(loaded.folder) as store:
        count = store.forget(wanted, of=meant)
    say(f"{count} jobs with {', '.join(wanted)} to run again")
    if count:
        command = "run" if target.is_file() else "retry"
        run_here(loaded, form, target=target, command=command, plain=plain)


@app.command()
def status(
    target: RunFolder = _DEFAULT_PLAN,
    failures: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many failures to list.")
    ] = 10,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show how far a run is; also from another terminal, while it runs.

    Example: vuskit bench status my-plan.toml --failures 3
    """
    from vuskit.bench.results import read_status

    form = chosen_format(json=as_json, csv=as_csv)
    emit(form, "status", status_content(read_status(_folder_of(target), failures=failures)))


@app.command()
def leaderboard(
    target: RunFolder = _DEFAULT_PLAN,
    by: By = "series",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
) -> None:
    """Show the means of every detector, the best first.

    Means are over the series that every detector has a value for.

    Example: vuskit bench leaderboard my-plan.toml --by dataset
    """
    from vuskit.bench.means import AVERAGES
    from vuskit.cli.bench_board import board_content
    from vuskit.inputs import check_choice

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_choice("--by", by, AVERAGES)
    emit(form, "leaderboard", board_content(_folder_of(target), by))


@app.command()
def export(
    target: RunFolder = _DEFAULT_PLAN,
    output: Annotated[
        Path | None, output_option("FILE", "ends in .csv or .parquet; bench.csv unless given.")
    ] = None,
    shape: Annotated[
        str,
        typer.Option(
            metavar="SHAPE",
            help="values, wide or leaderboard.",
            autocompletion=complete_shapes,
        ),
    ] = "values",
    by: By = "series",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Write the values into a file, or to standard output with --json or --csv.

    One row per value, one row per score (wide), or means (leaderboard). What
    failed or was skipped has its rows too, with a status and empty cells.

    Example: vuskit bench export my-plan.toml -o board.csv --shape leaderboard
    """
    from vuskit.bench.export import FORMATS, export_run, run_table

    form = chosen_format(json=as_json, csv=as_csv)
    if output is not None and output.suffix.removeprefix(".") not in FORMATS:
        endings = " or ".join(f".{name}" for name in FORMATS)
        raise InvalidInputError(
            f"`--output` must be a file that ends in {endings}, got {str(output)!r}"
        )
    folder = _folder_of(target)
    if form == "table" or output is not None:
        place = output or _DEFAULT_TABLE
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(place) as draft:
            frame = export_run(folder, draft, shape=shape, by=by)
        say(f"{len(frame):,} rows: {place}")
    else:
        frame = run_table(folder, shape=shape, by=by)
    if form == "json":
        write(json_text(frame_records(frame)))
    elif form == "csv":
        write(frame_csv(frame))
    else:
        write(str(place))


@app.command()
def verify(
    target: RunFolder = _DEFAULT_PLAN,
    sample: Annotated[
        int, typer.Option(min=0, metavar="N", help="Evaluations to compute again.")
    ] = 20,
    seed: Annotated[int, seed_option("of the sample.")] = 0,
    repair: Annotated[
        bool, flag("--repair", "Let the next run make broken score files again.")
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check every score file against its digest and compute a sample of values again.

    The exit code is 4 if something is wrong.

    Example: vuskit bench verify my-plan.toml --sample 50
    """
    from vuskit.bench.store import Store
    from vuskit.bench.verify import verify_run
    from vuskit.cli.bench_progress import PatientBar

    form = chosen_format(json=as_json, csv=as_csv)
    folder = _folder_of(target)
    with PatientBar("checking", patience=0) as bar:
        found = verify_run(folder, sample=sample, seed=seed, progress=bar)
    again = 0
    if repair and found.broken:
        with Store(folder) as store:
            again = store.forget_scores(found.broken)
    emit(form, "verify", verify_content(found, again))
    if found.problems:
        raise typer.Exit(ExitCode.PROBLEMS)


@app.command("run-job")
def run_job(
    target: RunFolder,
    key: Annotated[str, typer.Argument(help="Key of the job, or its beginning.")],
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run one job again, here in the terminal and without limits; nothing is stored.

    What the job raises is shown with its whole traceback; the key of a job
    that failed is in: vuskit bench status

    Example: vuskit bench run-job my-run 3f2a91
    """
    from vuskit.bench.reading import open_for_reading, read_job
    from vuskit.bench.stored import task_maker
    from vuskit.bench.work import carry_out

    form = chosen_format(json=as_json, csv=as_csv)
    folder = _folder_of(target)
    with closing(open_for_reading(folder)) as connection:
        job, row = read_job(connection, key)
    task = task_maker(folder)(job)
    try:
        outcome = carry_out(task)
    except Exception:
        say(traceback.format_exc())
        say(f"{job.title}: failed again")
        raise typer.Exit(ExitCode.FAILED_JOBS) from None
    emit(form, "job", job_content(job, row["status"], outcome))


def _folder_of(target: Path) -> Path:
    """Return the run folder that is meant: itself, or the one of a plan."""
    if target.is_dir():
        return target
    if not target.exists() and target.suffix != ".toml":
        raise InvalidInputError(
            f"`RUN` must be a run folder or a plan, got {str(target)!r}, which does not exist"
        )
    from vuskit.bench.plan import load_plan

    return load_plan(target).folder


def _plan_of(target: Path) -> Plan:
    from vuskit.bench.plan import load_plan
    from vuskit.bench.stored import stored_plan

    _folder_of(target)
    return stored_plan(target) if target.is_dir() else load_plan(target)

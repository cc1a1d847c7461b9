"""``vuskit bench run`` and ``vuskit bench retry``: run a plan, or failed jobs again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vuskit._util.text import format_duration, match_names, plural
from vuskit.cli._completion import complete_statuses
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import (
    EXECUTION,
    INPUT,
    AllowCode,
    AsJson,
    Detectors,
    flag,
    option,
    series_option,
)
from vuskit.cli._output import chosen_format, emit, say, say_list
from vuskit.cli._progress import resumable
from vuskit.cli.bench._arguments import (
    DEFAULT_PLAN,
    Plain,
    PlanFile,
    Reread,
    RunFolder,
    plan_of,
)

if TYPE_CHECKING:
    from vuskit.bench import Plan
    from vuskit.bench.expand import ExpandedPlan
    from vuskit.bench.runner import RunSummary

_SHOWN_REASONS = 3


def run(
    path: PlanFile = DEFAULT_PLAN,
    reread: Reread = False,
    new_failures_only: Annotated[
        bool,
        flag("--new-failures-only", "Exit with 0 if jobs failed in earlier runs only.", EXECUTION),
    ] = False,
    plain: Plain = False,
    as_json: AsJson = False,
) -> None:
    """Run a plan, or what is left of it.

    Press Ctrl-C to stop; the same command resumes. The exit code is 3 if jobs
    failed, now or earlier.

    Example: vuskit bench run my-plan.toml
    """
    from vuskit.bench.plan import load_plan

    _run(
        load_plan(path),
        chosen_format(json=as_json),
        target=path,
        reread=reread,
        plain=plain,
        new_failures_only=new_failures_only,
    )


def retry(
    target: RunFolder = DEFAULT_PLAN,
    status: Annotated[
        list[str] | None,
        option(
            INPUT,
            "STATUS",
            "Status to retry: ERROR, TIMEOUT, OOM, KILLED or SKIPPED. Repeat for several.",
            autocompletion=complete_statuses,
        ),
    ] = None,
    detector: Detectors = None,
    series: Annotated[list[str] | None, series_option("retry")] = None,
    plain: Plain = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Run failed jobs again; by default those with status ERROR.

    The exit code is 3 if failures remain. If you give a run folder instead of
    its plan, custom detectors and measures need --allow-code.

    Example: vuskit bench retry my-plan.toml --status TIMEOUT --detector LOF
    """
    from vuskit.bench import (
        Run,
        Status,
    )
    from vuskit.inputs import check_choice
    from vuskit.store.store import Store

    choices = [entry.value for entry in Status if entry is not Status.OK]
    wanted = [Status(check_choice("status", name.upper(), choices)) for name in status or ["ERROR"]]
    loaded = plan_of(target, allow_code=allow_code)
    stored = Run(loaded.folder)
    known = stored.detectors()
    names = [check_choice("--detector", name, known) for name in detector or ()]
    titles = [one.title for one in stored.series()]
    wanted_titles = set(match_names(titles, series, argument="--series") if series else titles)

    def selected(detector: str, title: str) -> bool:
        return (not series or title in wanted_titles) and (not names or detector in names)

    with Store(loaded.folder) as store:
        keys = {
            named.key
            for named, result in store.planned()
            if result is not None
            and result.status in wanted
            and selected(named.detector, f"{named.dataset}/{named.series}")
        }
        count = store.forget(keys)
    say(f"{count} jobs with {', '.join(wanted)} to run again")
    if count:
        command = "run" if target.is_file() else "retry"
        _run(loaded, chosen_format(json=as_json), target=target, command=command, plain=plain)
    elif (left := _count_failed(loaded.folder)) > 0:
        say(f"{plural(left, 'job')} failed earlier; see: vuskit bench status {_quoted(loaded)}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _run(
    plan: Plan,
    form: str,
    *,
    target: Path,
    command: str = "run",
    reread: bool = False,
    plain: bool = False,
    new_failures_only: bool = False,
) -> None:
    """Run the remaining jobs of a plan; show progress and a summary."""
    from vuskit.bench import Run
    from vuskit.bench.runner import run_plan
    from vuskit.cli._progress import RunDisplay

    resume = ["vuskit", "bench", command, str(target)]
    with resumable(plan.folder, resume), RunDisplay(plain=plain) as display:
        summary = run_plan(
            plan,
            observer=display.update,
            on_outcome=display.ended,
            reading=display.reading,
            planned=report_stale_jobs,
            reread=reread,
        )
    if form == "table":
        say_list("Notes", [*summary.notes, *filter(None, [Run(summary.folder).inverted_note()])])
    emit(form, summary, text=lambda: _text(summary))
    report_changes(summary)
    failed = _report_failures(summary, target)
    say(f"Next: vuskit bench leaderboard {shlex.quote(str(plan.folder))}")
    for sentence in summary.not_computed:
        say(sentence)
    if new_failures_only:
        failed = summary.progress.failed > 0
    if failed or summary.not_computed:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def report_stale_jobs(expanded: ExpandedPlan) -> None:
    """Report the most frequent reasons why finished jobs run again."""
    for one in expanded.stale[:_SHOWN_REASONS]:
        say(f"Again: {one}")
    more = expanded.stale[_SHOWN_REASONS:]
    if more:
        say(f"Again: {sum(one.jobs for one in more):,} jobs for {len(more)} other reasons")


def report_changes(summary: RunSummary) -> None:
    """Report how values changed after data or code changed."""
    changes = summary.changes
    if changes is None:
        return
    say(str(changes))
    if changes.n_changed:
        folder, path = shlex.quote(str(summary.folder)), shlex.quote(str(changes.path))
        say(f"Compare old and new values: vuskit compare {folder} {path}")


def _quoted(plan: Plan) -> str:
    return shlex.quote(str(plan.folder))


def _count_failed(folder: Path) -> int:
    from vuskit.bench import Run, Status

    found = Run(folder).status(failures=0)
    return found.count(*(status for status in Status if status.failed))


def _report_failures(summary: RunSummary, target: Path) -> bool:
    """Report failures and how to retry them; return whether there are any."""
    from vuskit.bench import Run, Status

    found = Run(summary.folder).status(failures=0)
    statuses = [status for status in Status if status.failed and found.count(status)]
    if not statuses:
        return False
    if summary.progress.failed_before:
        old, new = summary.progress.failed_before, summary.progress.failed
        say(f"Failed: {old:,} in earlier runs, {new:,} in this run")
    say(f"See: vuskit bench status {shlex.quote(str(summary.folder))}")
    options = [word for status in statuses for word in ("--status", status.value)]
    again = shlex.join(["vuskit", "bench", "retry", str(target), *options])
    say(f"After fixing the code or raising limits, retry with: {again}")
    return True


def _text(summary: RunSummary) -> str:
    progress = summary.progress
    whole = f"{progress.done:,} of {progress.total:,} jobs done"
    ended = f"{progress.failed:,} failed, {format_duration(progress.seconds)}"
    if not progress.before:
        line = f"{whole}, {ended}"
    elif progress.ran:
        line = f"{plural(progress.ran, 'job')} run, {ended}; the run has {whole}"
    else:
        line = f"nothing left to run; the run has {whole}"
    return f"{line}: {summary.folder}"

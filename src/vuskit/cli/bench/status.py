"""``vuskit bench status``: progress and failures of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from vuskit._util.text import format_duration, plural
from vuskit.cli._options import OUTPUT, AsJson, option
from vuskit.cli._output import chosen_format, emit, number_table, say, wrapped
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, open_run

if TYPE_CHECKING:
    from vuskit.bench import RunStatus


def status(
    target: RunFolder = DEFAULT_PLAN,
    failures: Annotated[int, option(OUTPUT, "N", "Number of failure causes to list.", min=0)] = 10,
    as_json: AsJson = False,
) -> None:
    """Show progress and failures of a run, also from another terminal.

    Example: vuskit bench status my-plan.toml --failures 3
    """
    found = open_run(target).status(failures=failures)
    emit(chosen_format(json=as_json), found, text=lambda: "\n".join(_lines(found)))
    if not as_json:
        for note in found.notes:
            say(f"note: {note}")


def _lines(found: RunStatus) -> list[str]:
    from vuskit.bench import Status
    from vuskit.bench.jobs import Kind

    run, progress, statuses = found.run, found.progress, list(Status)
    running = run["state"] == "running"
    started = run["started"][:19].replace("T", " ")
    where = f"on {run['host']} (process {run['pid']}), " if run["host"] else ""  # not in packs
    lines = [
        f"Run {run['id']}: {run['state']}, started {started} UTC",
        f"  {where}vuskit {run['vuskit']}, {run['executor']}",
    ]
    if progress:
        left = progress["seconds_left"]
        rest = "" if not running or left is None else f", {format_duration(left)} left"
        # Jobs may have finished since the run last recorded its progress.
        done = max(found.count(*statuses), progress["done"])
        rate = f"{progress['per_minute']:,.0f} jobs/min"
        lines.append(f"{done:,} of {progress['total']:,} jobs, {rate}{rest}")
    header = [status.value for status in statuses]
    kinds = [[kind.value, *(found.counts.get((kind, s), 0) for s in statuses)] for kind in Kind]
    kinds = [row for row in kinds if any(row[1:])]
    lines += [number_table(["jobs", *header], kinds)] if kinds else []
    lines.append(f"{found.n_values:,} values")
    pairs = dict.fromkeys((name, kind) for name, kind, _ in found.by_detector)
    rows = [
        [name, kind.value, *(found.by_detector.get((name, kind, s), 0) for s in statuses)]
        for name, kind in pairs
    ]
    failed = [row for row in rows if any(row[3:])]
    lines += ["", number_table(["detector", "jobs", *header], failed), ""] if failed else []
    if running:
        lines += [f"running: {title}" for title in progress.get("running", [])]
    for cause in found.causes:
        failure, others = cause.example, cause.n_jobs - 1
        more = f" and {plural(others, 'other job')}" if others else ""
        first = failure.message.partition("\n")[0]
        lines.append(wrapped(f"{failure.status} {failure.title}{more}: {first}"))
        if failure.command:
            lines.append(f"    {failure.command}")  # not wrapped, so that it can be copied
    count = found.count(*(one for one in statuses if one.failed))
    left_out = count - sum(cause.n_jobs for cause in found.causes)
    if left_out > 0:
        lines.append(f"{left_out:,} more failed; list them with --failures {count}")
    return lines

"""``vuskit bench status``: progress and failures of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.text import format_duration, plural
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say, wrapped, write
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, run_folder
from vuskit.cli.bench._output import Content, Rows, emit, number_table

if TYPE_CHECKING:
    from vuskit.bench import RunStatus
    from vuskit.bench.run import Failure

__all__ = ["status"]

_FAILED = ("ERROR", "TIMEOUT", "OOM", "KILLED")


def status(
    target: RunFolder = DEFAULT_PLAN,
    failures: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of failure causes to list.")
    ] = 10,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Show progress and failures of a run, also from another terminal.

    Example: vuskit bench status my-plan.toml --failures 3
    """
    from vuskit.bench import Run

    form = chosen_format(json=as_json, csv=as_csv)
    content = _content(Run(run_folder(target)).status(failures=failures))
    emit(form, "status", content, rows=_rows, text=_text)


def _content(status: RunStatus) -> dict[str, Any]:
    """Return the status of a run as plain data."""
    from vuskit.bench import (
        Status,
    )
    from vuskit.bench.jobs import Kind

    return {
        "run": status.run,
        "progress": status.progress,
        "counts": {
            kind.value: {entry.value: status.counts.get((kind, entry), 0) for entry in Status}
            for kind in Kind
        },
        "detectors": [
            {
                "name": name,
                "kind": kind.value,
                "counts": {
                    entry.value: status.by_detector.get((name, kind, entry), 0) for entry in Status
                },
            }
            for name, kind in dict.fromkeys((name, kind) for name, kind, _ in status.by_detector)
        ],
        "values": status.n_values,
        "failures": [_failure(one) for one in status.failures],
        "causes": [{"jobs": one.n_jobs, "example": _failure(one.example)} for one in status.causes],
        "notes": list(status.notes),
    }


def _failure(one: Failure) -> dict[str, Any]:
    return {
        "key": one.key,
        "status": one.status.value,
        "kind": one.kind.value,
        "detector": one.detector,
        "dataset": one.dataset,
        "series": one.series,
        "seed": one.seed,
        "title": one.title,
        "message": one.message,
        "command": one.command,
    }


def _rows(content: Content) -> Rows:
    """Return one row per detector and kind of job."""
    rows = [[one["name"], one["kind"], *one["counts"].values()] for one in content["detectors"]]
    return ["detector", "jobs", *next(iter(content["counts"].values()))], rows


def _counts_text(content: Content) -> list[str]:
    """Return a table of finished jobs by kind and status."""
    counts = content["counts"]
    rows = [[kind, *by_status.values()] for kind, by_status in counts.items()]
    done = [row for row in rows if any(row[1:])]
    return [number_table(["jobs", *next(iter(counts.values()))], done)] if done else []


def _failed_text(content: Content) -> list[str]:
    """Return a table of detectors with failed or skipped jobs."""
    header, rows = _rows(content)
    failed = [row for row in rows if any(row[header.index("OK") + 1 :])]
    return ["", number_table(header, failed), ""] if failed else []


def _text(content: Content) -> None:
    run, progress = content["run"], content["progress"]
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
        counted = sum(sum(by_status.values()) for by_status in content["counts"].values())
        lines.append(
            f"{max(counted, progress['done']):,} of {progress['total']:,} jobs, "
            f"{progress['per_minute']:,.0f} jobs/min{rest}"
        )
    lines += _counts_text(content)
    lines.append(f"{content['values']:,} values")
    lines += _failed_text(content)
    if running:
        lines += [f"running: {title}" for title in progress.get("running", [])]
    for cause in content["causes"]:
        failure = cause["example"]
        first = failure["message"].partition("\n")[0]
        others = cause["jobs"] - 1
        more = f" and {plural(others, 'other job')}" if others else ""
        lines.append(wrapped(f"{failure['status']} {failure['title']}{more}: {first}"))
        if failure["command"]:
            lines.append(f"    {failure['command']}")  # not wrapped, so that it can be copied
    failed = sum(by[name] for by in content["counts"].values() for name in _FAILED)
    shown = sum(cause["jobs"] for cause in content["causes"])
    if failed > shown:
        lines.append(f"{failed - shown:,} more failed; list them with --failures {failed}")
    write("\n".join(lines))
    for note in content["notes"]:
        say(f"note: {note}")

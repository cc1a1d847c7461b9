"""What the commands of ``vuskit bench`` found, as tables, JSON and csv."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.cli.bench_board import board_latex, board_rows, board_text
from vuskit.cli.durations import format_duration
from vuskit.cli.output import (
    csv_text,
    document,
    say,
    terminal_width,
    wrapped,
    write,
)
from vuskit.report.tables import folded_tables

if TYPE_CHECKING:
    from vuskit.bench.agenda import Agenda
    from vuskit.bench.jobs import Job, Outcome
    from vuskit.bench.results import RunStatus
    from vuskit.bench.runner import RunSummary
    from vuskit.bench.verify import Verification

__all__ = ["emit", "job_content", "plan_content", "run_content", "status_content", "verify_content"]

_FAILED = ("ERROR", "TIMEOUT", "OOM")
_FEW_SERIES = 8  # more are told by data set
_Rows = tuple[list[str], Sequence[Sequence[Any]]]


def emit(form: str, kind: str, content: Mapping[str, Any]) -> None:
    """Write what a command found: everything as JSON, its rows as csv, or for reading.

    The leaderboard is the one that is written for LaTeX.
    """
    if form == "json":
        write(document(f"bench-{kind}", **content))
    elif form == "csv":
        write(csv_text(*_CSV[kind](content)))
    elif form == "latex":
        write(board_latex(content))
    else:
        _TEXTS[kind](content)


def _table(header: list[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return "\n\n".join(folded_tables(header, cells, terminal_width()))


def _listed(title: str, lines: Sequence[str]) -> None:
    if lines:
        say(f"{title}:")
        for line in lines:
            say(f"  {line}")


def plan_content(path: Path, agenda: Agenda) -> dict[str, Any]:
    """What would run, and how much of it is done."""
    plan = agenda.plan
    first, second = agenda.todo(), agenda.waiting_evaluations()
    per_score = len(plan.evaluations)
    series = {job.series.hash: job.series for job in agenda.jobs}
    return {
        "plan": path,
        "folder": plan.folder,
        "executor": plan.executor.kind,
        "series": len(series),
        "data": [
            {
                "dataset": ref.dataset,
                "name": ref.name,
                "points": ref.n_points,
                "channels": ref.n_channels,
                "anomalies": ref.n_anomalies,
                "missing": ref.n_missing,
            }
            for ref in series.values()
        ],
        "detectors": sorted({job.label for job in agenda.jobs}),
        "seeds": list(plan.seeds),
        "without_seed": sorted(spec.label for spec in plan.detectors if not spec.stochastic),
        "evaluations": [
            {
                "settings": entry.spec.identity,
                "measures": [measure.build().title for measure in entry.measures],
            }
            for entry in plan.evaluations
        ],
        "jobs": {
            "scores": {"all": len(agenda.jobs), "to_do": len(first)},
            "evaluations": {
                "all": len(agenda.jobs) * per_score,
                "to_do": len(first) * per_score + len(second),
            },
        },
        "done_before": len(set(agenda.done_ids())),
        "notes": list(agenda.notes),
    }


def _plan_rows(content: Mapping[str, Any]) -> _Rows:
    rows = [[name, jobs["all"], jobs["to_do"]] for name, jobs in content["jobs"].items()]
    return ["jobs", "all", "to_do"], rows


def _plan_text(content: Mapping[str, Any]) -> None:
    _, ((first, *scores), (second, *evaluations)) = _plan_rows(content)
    rows = [[first, *scores], [f"{second}, at most", *evaluations]]
    lines = [f"Plan {content['plan']}", _table(["", "jobs", "to do"], rows), ""]
    lines += [_data_table(content), ""]
    several = len(content["seeds"]) > 1
    once = content["without_seed"] if several else []
    lines.append("Detectors:")
    lines += [f"  {name}" + ", once" * (name in once) for name in content["detectors"]]
    if several:
        rest = "; once: scores that no seed changes" if once else ""
        lines.append(wrapped(f"Seeds: {', '.join(map(str, content['seeds']))}{rest}"))
    for entry in content["evaluations"]:
        lines.append(wrapped(f"Measures: {', '.join(entry['measures'])}"))
        lines.append(wrapped(f"  ({entry['settings']})"))
    lines.append(
        f"{content['series']:,} series, {content['done_before']:,} jobs done before; "
        f"{content['executor']} executor, results in {content['folder']}"
    )
    write("\n".join(lines))
    _listed("Notes", content["notes"])


def _data_table(content: Mapping[str, Any]) -> str:
    """The series, or the data sets if there are many."""
    data = content["data"]
    if len(data) <= _FEW_SERIES:
        titled = [
            [f"{one['dataset']}/{one['name']}", one["points"], one["channels"], one["anomalies"]]
            for one in data
        ]
        return _table(["series", "points", "channels", "anomalies"], titled)
    by_dataset: dict[str, list[Mapping[str, Any]]] = {}
    for one in data:
        by_dataset.setdefault(one["dataset"], []).append(one)
    rows = [
        [name, len(ones), *(_range_of(ones, fact) for fact in ("points", "channels", "anomalies"))]
        for name, ones in sorted(by_dataset.items())
    ]
    return _table(["data set", "series", "points", "channels", "anomalies"], rows)


def _range_of(ones: Sequence[Mapping[str, Any]], fact: str) -> str:
    numbers = [one[fact] for one in ones]
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def run_content(summary: RunSummary) -> dict[str, Any]:
    """How a run ended."""
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
        "notes": list(summary.notes),
    }


def _run_rows(content: Mapping[str, Any]) -> _Rows:
    header = ["folder", "total", "done", "before", "failed", "failed_before", "seconds"]
    return header, [[content[name] for name in header]]


def _run_text(content: Mapping[str, Any]) -> None:
    _listed("Notes", content["notes"])
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


def status_content(status: RunStatus) -> dict[str, Any]:
    """How far a run is."""
    from vuskit.bench.states import Kind, Status

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
        "failures": [
            {
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
            for one in status.failures
        ],
        "notes": list(status.notes),
    }


def _status_rows(content: Mapping[str, Any]) -> _Rows:
    """One row per detector and kind of jobs."""
    rows = [[one["name"], one["kind"], *one["counts"].values()] for one in content["detectors"]]
    return ["detector", "jobs", *next(iter(content["counts"].values()))], rows


def _counts_text(content: Mapping[str, Any]) -> list[str]:
    """How jobs ended, by kind."""
    counts = content["counts"]
    rows = [[kind, *by_status.values()] for kind, by_status in counts.items()]
    done = [row for row in rows if any(row[1:])]
    return [_table(["jobs", *next(iter(counts.values()))], done)] if done else []


def _unwell_text(content: Mapping[str, Any]) -> list[str]:
    """The same by detector, of those that have jobs that did not end well."""
    header, rows = _status_rows(content)
    unwell = [row for row in rows if any(row[header.index("OK") + 1 :])]
    return ["", _table(header, unwell), ""] if unwell else []


def _status_text(content: Mapping[str, Any]) -> None:
    run, progress = content["run"], content["progress"]
    running = run["state"] == "running"
    started = run["started"][:19].replace("T", " ")
    lines = [
        f"Run {run['id']}: {run['state']}, started {started} UTC",
        f"  on {run['host']} (process {run['pid']}), vuskit {run['vuskit']}, {run['executor']}",
    ]
    if progress:
        left = progress["seconds_left"]
        rest = "" if not running or left is None else f", {format_duration(left)} left"
        # Jobs may have ended since the run last spoke of itself.
        counted = sum(sum(by_status.values()) for by_status in content["counts"].values())
        lines.append(
            f"{max(counted, progress['done']):,} of {progress['total']:,} jobs, "
            f"{progress['per_minute']:,.0f} jobs/min{rest}"
        )
    lines += _counts_text(content)
    lines.append(f"{content['values']:,} values")
    lines += _unwell_text(content)
    if running:
        lines += [f"running: {title}" for title in progress.get("running", [])]
    for failure in content["failures"]:
        first = failure["message"].partition("\n")[0]
        lines.append(wrapped(f"{failure['status']} {failure['title']}: {first}"))
        lines.append(f"    {failure['command']}")  # whole, to be copied
    failed = sum(by[name] for by in content["counts"].values() for name in _FAILED)
    if failed > len(content["failures"]):
        lines.append(f"{failed - len(content['failures']):,} more failed: --failures {failed}")
    write("\n".join(lines))
    for note in content["notes"]:
        say(f"note: {note}")


def verify_content(found: Verification, again: int) -> dict[str, Any]:
    """What was checked, what is wrong, and how many jobs will be run again."""
    return {
        "files": found.n_files,
        "values": found.n_values,
        "problems": list(found.problems),
        "broken": list(found.broken),
        "jobs_to_run_again": again,
    }


def _verify_rows(content: Mapping[str, Any]) -> _Rows:
    return ["problem"], [[problem] for problem in content["problems"]]


def _verify_text(content: Mapping[str, Any]) -> None:
    problems = content["problems"]
    lines = [
        *problems,
        f"{content['files']:,} score files, {content['values']:,} values computed again, "
        f"{len(problems)} problems",
    ]
    write("\n".join(lines))
    if content["jobs_to_run_again"]:
        say(f"{content['jobs_to_run_again']} jobs to run again")


def job_content(job: Job, status: str, outcome: Outcome) -> dict[str, Any]:
    """What a job that was done again gave."""
    scores = outcome.scores
    return {
        "kind": job.kind.value,
        "title": job.title,
        "identity": job.identity,
        "stored_as": status,
        "values": outcome.values or {},
        "scores": None
        if scores is None
        else {"points": scores.size, "lowest": scores.min(), "highest": scores.max()},
    }


def _job_rows(content: Mapping[str, Any]) -> _Rows:
    found = {**content["values"], **(content["scores"] or {})}
    return ["name", "value"], list(found.items())


def _job_text(content: Mapping[str, Any]) -> None:
    lines = [
        f"{content['kind']}: {content['title']}",
        content["identity"],
        f"stored as {content['stored_as']}",
    ]
    lines += [f"{name:24} {value:.6f}" for name, value in content["values"].items()]
    scores = content["scores"]
    if scores is not None:
        low, high = scores["lowest"], scores["highest"]
        lines.append(f"{scores['points']:,} scores from {low:.6g} to {high:.6g}")
    write("\n".join(lines))


_TEXTS: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "plan": _plan_text,
    "run": _run_text,
    "status": _status_text,
    "verify": _verify_text,
    "job": _job_text,
    "leaderboard": board_text,
}
_CSV: dict[str, Callable[[Mapping[str, Any]], _Rows]] = {
    "plan": _plan_rows,
    "run": _run_rows,
    "status": _status_rows,
    "verify": _verify_rows,
    "job": _job_rows,
    "leaderboard": board_rows,
}

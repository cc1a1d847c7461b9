"""``vuskit bench init`` and ``vuskit bench plan``: write and check a plan."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from vuskit.cli._options import AllowCode, AsJson
from vuskit.cli._output import (
    chosen_format,
    emit,
    number_table,
    say,
    say_list,
    wrapped,
    write,
    write_file,
)
from vuskit.cli.bench._arguments import (
    DEFAULT_PLAN,
    Force,
    PlanFile,
    Reread,
    RunFolder,
    plan_of,
)
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench.expand import ExpandedPlan
    from vuskit.bench.jobs import Job, ScoreJob

Content = dict[str, Any]
_FEW_SERIES = 8  # more are summarized by data set


def init(
    path: PlanFile = DEFAULT_PLAN,
    force: Force = False,
) -> None:
    """Write a commented plan to start from.

    Example: vuskit bench init my-plan.toml
    """
    from vuskit.bench.plan import TEMPLATE

    if path.exists() and not force:
        raise InvalidInputError(
            f"`PLAN` must be a new file, got {str(path)!r}; replace it with --force"
        )
    write_file(path, TEMPLATE)
    write(str(path))
    say(f"Next: vuskit bench plan {shlex.quote(str(path))}")


def plan(
    target: RunFolder = DEFAULT_PLAN,
    reread: Reread = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Show what would run, what is done, and why finished jobs run again.

    Writes nothing, and works during a run. If you give a run folder, custom
    detectors and measures need --allow-code.

    Example: vuskit bench plan my-plan.toml
    """
    from vuskit.bench.expand import expand_plan
    from vuskit.store.store import Store

    if target.suffix.lower() == ".zip":
        raise InvalidInputError(
            f"`RUN` must be a run folder or a plan, got {str(target)!r}; a pack cannot be run"
        )
    loaded = plan_of(target, allow_code=allow_code)
    with Store.read_or_empty(loaded.folder) as store:
        expanded = expand_plan(loaded, store, reread=reread)
    content = _content(target, expanded)
    emit(chosen_format(json=as_json), content, text=lambda: _text(content, expanded))
    if not as_json:
        say_list("Notes", expanded.notes)


def _content(path: Any, expanded: ExpandedPlan) -> dict[str, Any]:
    """Return what would run and how much of it is done."""
    from vuskit.bench.jobs import Kind, ScoreJob

    plan = expanded.plan
    skipped = [job for job in expanded.todo() if isinstance(job, ScoreJob) and job.obstacle]
    without = {job.key for job in skipped}
    todo = [job for job in expanded.todo() if not without & {job.key, getattr(job, "parent", None)}]
    series = {job.series.hash: job.series for job in expanded.jobs}

    def count(jobs: Iterable[Job], *, evaluations: bool) -> int:
        return sum((job.kind is Kind.EVALUATE) is evaluations for job in jobs)

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
        "detectors": sorted({job.label for job in expanded.scores}),
        "seeds": list(plan.seeds),
        "without_seed": sorted(spec.label for spec in plan.detectors if not spec.stochastic),
        "evaluations": [
            {
                "settings": entry.text,
                "measures": [measure.build().title for measure in entry.measures],
            }
            for entry in plan.evaluations
        ],
        "jobs": {
            name: {
                "all": count(expanded.jobs, evaluations=evaluations),
                "to_do": count(todo, evaluations=evaluations),
            }
            for name, evaluations in (("scores", False), ("evaluations", True))
        },
        "skipped": [
            {"detector": label, "series": len(titles), "reason": "several channels"}
            for label, titles in _by_detector(skipped).items()
        ],
        "done_before": len(expanded.done()),
        "stale": expanded.stale,
        "notes": list(expanded.notes),
    }


def _by_detector(jobs: Iterable[ScoreJob]) -> dict[str, set[str]]:
    """Return the digests of the series of some jobs, by detector."""
    found: dict[str, set[str]] = {}
    for job in jobs:
        found.setdefault(job.label, set()).add(job.series.hash)
    return found


def _text(content: Content, expanded: ExpandedPlan) -> str:
    jobs = content["jobs"]
    titles = {"scores": "scores", "evaluations": "evaluations, at most"}
    rows = [[title, jobs[name]["all"], jobs[name]["to_do"]] for name, title in titles.items()]
    lines = [f"Plan {content['plan']}", number_table(["", "jobs", "to do"], rows), ""]
    lines += [_data_table(content), ""]
    several = len(content["seeds"]) > 1
    once = content["without_seed"] if several else []
    skipped = {one["detector"]: one for one in content["skipped"]}
    lines.append("Detectors:")
    for name in content["detectors"]:
        line = f"  {name}" + ", once" * (name in once)
        if name in skipped:
            one = skipped[name]
            line += f"; skipped: {one['series']:,} series ({one['reason']})"
        lines.append(line)
    if several:
        rest = "; detectors marked once do not depend on the seed" if once else ""
        lines.append(wrapped(f"Seeds: {', '.join(map(str, content['seeds']))}{rest}"))
    for entry in content["evaluations"]:
        lines.append(wrapped(f"Measures: {', '.join(entry['measures'])}"))
        lines.append(wrapped(f"  ({entry['settings']})"))
    lines.append(
        f"{content['series']:,} series, {content['done_before']:,} jobs already done; "
        f"{content['executor']} executor, results in {content['folder']}"
    )
    if expanded.stale:
        lines.append("To run again:")
        lines += [wrapped(f"  {one}") for one in expanded.stale]
    return "\n".join(lines)


def _data_table(content: Content) -> str:
    """Return a table of the series, or of the data sets if there are many series."""
    data = content["data"]
    if len(data) <= _FEW_SERIES:
        titled = [
            [f"{one['dataset']}/{one['name']}", one["points"], one["channels"], one["anomalies"]]
            for one in data
        ]
        return number_table(["series", "points", "channels", "anomalies"], titled)
    by_dataset: dict[str, list[Content]] = {}
    for one in data:
        by_dataset.setdefault(one["dataset"], []).append(one)
    rows = [
        [name, len(ones), *(_range_of(ones, fact) for fact in ("points", "channels", "anomalies"))]
        for name, ones in sorted(by_dataset.items())
    ]
    return number_table(["data set", "series", "points", "channels", "anomalies"], rows)


def _range_of(ones: Sequence[Content], fact: str) -> str:
    numbers = [one[fact] for one in ones]
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"

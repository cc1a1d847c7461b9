"""``vuskit bench run-job``: run one job again for debugging."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import AllowCode, AsJson
from vuskit.cli._output import chosen_format, emit, say
from vuskit.cli.bench._arguments import RunFolder, open_run

if TYPE_CHECKING:
    from vuskit.bench.jobs import EvaluateResult, Job, ScoreResult


def run_job(
    target: RunFolder,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Key of the job, or its beginning.")],
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Run one job again in this terminal, without limits; stores nothing.

    Errors are shown with their full traceback. Keys of failed jobs are in:
    vuskit bench status. Custom detectors and measures need --allow-code;
    without it, the command lists the code that it would run.

    Example: vuskit bench run-job my-run 3f2a91
    """
    action, stored = open_run(target).action(key, allow_code=allow_code)
    try:
        result = action.run()
    except Exception:
        say(traceback.format_exc())
        say(f"{action.job.title}: failed again")
        raise typer.Exit(ExitCode.FAILED_JOBS) from None
    content = _content(action.job, stored, result)
    emit(chosen_format(json=as_json), content, text=lambda: _text(content))


def _content(job: Job, status: str, result: ScoreResult | EvaluateResult) -> dict[str, Any]:
    """Return the result of a job as plain data."""
    from vuskit.bench.jobs import EvaluateJob, detector_text

    scores = getattr(result, "scores", None)
    summary = None
    if scores is not None:
        summary = {"points": scores.size, "lowest": scores.min(), "highest": scores.max()}
    return {
        "kind": job.kind.value,
        "title": job.title,
        "identity": job.settings
        if isinstance(job, EvaluateJob)
        else detector_text(job.kind, job.about),
        "stored_as": status,
        "values": getattr(result, "values", {}),
        "scores": summary,
    }


def _text(content: dict[str, Any]) -> str:
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
    return "\n".join(lines)

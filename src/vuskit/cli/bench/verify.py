"""``vuskit bench verify``: check stored scores and values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.text import plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import flag, seed_option
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say, write
from vuskit.cli.bench._arguments import DEFAULT_PLAN, AllowCode, RunFolder, run_folder
from vuskit.cli.bench._output import Content, Rows, emit, say_list
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Verification

__all__ = ["check_results", "verify"]


def verify(
    target: RunFolder = DEFAULT_PLAN,
    sample: Annotated[
        int, typer.Option(min=0, metavar="N", help="Number of evaluations to check.")
    ] = 20,
    every: Annotated[bool, flag("--all", "Check every evaluation.")] = False,
    seed: Annotated[int, seed_option("the sample")] = 0,
    repair: Annotated[
        bool, flag("--repair", "Let the next run recompute broken score files.")
    ] = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check all score files and a sample of evaluations.

    Results and score files are compared with their digests, and values are
    recomputed from the stored settings, labels and scores; custom measures need
    --allow-code. The exit code is 4 if there are problems.

    Example: vuskit bench verify my-plan.toml --all
    """
    form = chosen_format(json=as_json, csv=as_csv)
    check_results(
        form,
        target,
        sample=None if every else sample,
        seed=seed,
        allow_code=allow_code,
        repair=repair,
    )


def check_results(
    form: str,
    target: Path,
    *,
    sample: int | None,
    seed: int,
    allow_code: bool,
    repair: bool = False,
) -> None:
    """Check a run folder or a pack, and write a report; exit with 4 if there are problems.

    Parameters
    ----------
    form : {"json", "csv", "table"}
        Output form.
    target : Path
        A run folder, its plan, or a pack.
    sample : int or None
        Number of evaluations to check; None: all.
    seed : int
        Seed of the sample.
    allow_code : bool
        Run code that the run or pack names.
    repair : bool, default=False
        Let the next run recompute broken score files.
    """
    from vuskit.bench import (
        Run,
    )
    from vuskit.cli._progress import DelayedProgressBar
    from vuskit.store.store import Store

    run = Run(run_folder(target))
    if repair and run.is_pack:
        raise InvalidInputError("`--repair` must be used with a run folder, got a pack; omit it")
    with DelayedProgressBar("checking", delay=0) as bar:
        found = run.verify(sample=sample, seed=seed, allow_code=allow_code, progress=bar)
    again = 0
    if repair and found.broken:
        with Store(run.folder) as store:
            again = store.forget(found.broken)
    emit(form, "verify", _content(found, again), rows=_rows, text=_text)
    if found.problems:
        raise typer.Exit(ExitCode.PROBLEMS)


def _content(found: Verification, again: int) -> dict[str, Any]:
    """Return counts, problems and the number of jobs to run again."""
    return {
        "files": found.n_files,
        "values": found.n_values,
        "results": found.n_results,
        "skipped": found.n_skipped,
        "earlier": found.n_earlier,
        "stored_buffers": found.n_stored_buffers,
        "members": found.n_members,
        "without_scores": found.without_scores,
        "code": list(found.code),
        "problems": list(found.problems),
        "broken": list(found.broken),
        "jobs_to_run_again": again,
    }


def _rows(content: Content) -> Rows:
    return ["problem"], [[problem] for problem in content["problems"]]


def _text(content: Content) -> None:
    problems = content["problems"]
    members = f"{content['members']:,} members, " if content["members"] else ""
    lines = [
        *problems,
        f"{members}{content['files']:,} score files, {content['results']:,} results, "
        f"{content['values']:,} values recomputed, {len(problems)} problems",
    ]
    write("\n".join(lines))
    if content["without_scores"]:
        say("the pack holds no scores: only keys and digests were checked")
    if content["earlier"]:
        said = plural(content["earlier"], "evaluation belongs", "evaluations belong")
        say(f"{said} to earlier plans: only keys and digests were checked")
    if content["stored_buffers"]:
        said = plural(content["stored_buffers"], "evaluation uses", "evaluations use")
        say(f"{said} the stored buffer: it depends on values, which a pack does not hold")
    if content["skipped"]:
        said = plural(content["skipped"], "evaluation was", "evaluations were")
        say(f"{said} not recomputed: that would run custom code")
        say_list("If you trust this code, add --allow-code", content["code"])
    if content["jobs_to_run_again"]:
        say(f"{content['jobs_to_run_again']} jobs to run again")

"""``vuskit bench verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.text import plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import flag, seed_option
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say, write
from vuskit.cli.bench._arguments import DEFAULT_PLAN, AllowCode, RunFolder, run_folder
from vuskit.cli.bench._output import Content, Rows, emit, say_list

if TYPE_CHECKING:
    from vuskit.bench import Verification

__all__ = ["verify"]


def verify(
    target: RunFolder = DEFAULT_PLAN,
    sample: Annotated[int, typer.Option(min=0, metavar="N", help="Evaluations to check.")] = 20,
    every: Annotated[bool, flag("--all", "Check every evaluation.")] = False,
    seed: Annotated[int, seed_option("of the sample.")] = 0,
    repair: Annotated[
        bool, flag("--repair", "Let the next run make broken score files again.")
    ] = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check every score file against its digest, and a sample of evaluations.

    The values of an evaluation are compared with their checksum and computed
    again. Measures of your own are computed with --allow-code only. The exit
    code is 4 if something is wrong.

    Example: vuskit bench verify my-plan.toml --all
    """
    from vuskit.bench import Run, Store
    from vuskit.cli._progress import DelayedProgressBar

    form = chosen_format(json=as_json, csv=as_csv)
    folder = run_folder(target)
    with DelayedProgressBar("checking", delay=0) as bar:
        found = Run(folder).verify(
            sample=None if every else sample, seed=seed, allow_code=allow_code, progress=bar
        )
    again = 0
    if repair and found.broken:
        with Store(folder) as store:
            again = store.forget_scores(found.broken)
    emit(form, "verify", _content(found, again), rows=_rows, text=_text)
    if found.problems:
        raise typer.Exit(ExitCode.PROBLEMS)


def _content(found: Verification, again: int) -> dict[str, Any]:
    """What was checked, what is wrong, and how many jobs will be run again."""
    return {
        "files": found.n_files,
        "values": found.n_values,
        "checksums": found.n_checksums,
        "without_checksum": found.n_without_checksum,
        "skipped": found.n_skipped,
        "earlier": found.n_earlier,
        "code": list(found.code),
        "problems": list(found.problems),
        "broken": list(found.broken),
        "jobs_to_run_again": again,
    }


def _rows(content: Content) -> Rows:
    return ["problem"], [[problem] for problem in content["problems"]]


def _text(content: Content) -> None:
    problems = content["problems"]
    lines = [
        *problems,
        f"{content['files']:,} score files, {content['checksums']:,} checksums, "
        f"{content['values']:,} values computed again, {len(problems)} problems",
    ]
    write("\n".join(lines))
    if content["without_checksum"]:
        said = plural(content["without_checksum"], "evaluation has", "evaluations have")
        say(f"{said} no checksum: an earlier version stored them")
    if content["earlier"]:
        said = plural(content["earlier"], "evaluation belongs", "evaluations belong")
        say(f"{said} to earlier plans: only checksums were compared")
    if content["skipped"]:
        said = plural(content["skipped"], "evaluation was", "evaluations were")
        say(f"{said} not computed again: that would run code named in the store")
        say_list("If you trust it, add --allow-code", content["code"])
    if content["jobs_to_run_again"]:
        say(f"{content['jobs_to_run_again']} jobs to run again")

"""``vuskit bench verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import flag, seed_option
from vuskit.cli._output import AsCsv, AsJson, chosen_format, say, write
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, run_folder
from vuskit.cli.bench._output import Content, Rows, emit

if TYPE_CHECKING:
    from vuskit.bench import Verification

__all__ = ["verify"]


def verify(
    target: RunFolder = DEFAULT_PLAN,
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
    from vuskit.bench import Run, Store
    from vuskit.cli._progress import DelayedProgressBar

    form = chosen_format(json=as_json, csv=as_csv)
    folder = run_folder(target)
    with DelayedProgressBar("checking", delay=0) as bar:
        found = Run(folder).verify(sample=sample, seed=seed, progress=bar)
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
        f"{content['files']:,} score files, {content['values']:,} values computed again, "
        f"{len(problems)} problems",
    ]
    write("\n".join(lines))
    if content["jobs_to_run_again"]:
        say(f"{content['jobs_to_run_again']} jobs to run again")

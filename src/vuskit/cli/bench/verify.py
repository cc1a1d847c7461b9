"""``vuskit bench verify``: check stored scores and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vuskit._util.text import plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import EXECUTION, AllowCode, AsJson, flag, option, seed_option
from vuskit.cli._output import chosen_format, emit, say, say_list
from vuskit.cli._progress import ProgressBar
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, open_run
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Verification


def verify(
    target: RunFolder = DEFAULT_PLAN,
    sample: Annotated[
        int | None,
        option(EXECUTION, "N", "Number of evaluations to recompute. Default: all.", min=0),
    ] = None,
    seed: Annotated[int, seed_option("the sample")] = 0,
    repair: Annotated[
        bool, flag("--repair", "Let the next run recompute broken score files.", EXECUTION)
    ] = False,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
) -> None:
    """Check all score files and digests, and recompute every value.

    Values are recomputed from the stored settings, labels and scores. Custom
    measures need --allow-code. The exit code is 4 if there are problems.

    Example: vuskit bench verify results.vuskit.zip
    """
    from vuskit.store.store import Store

    run = open_run(target)
    if repair and run.is_pack:
        raise InvalidInputError("`--repair` must be used with a run folder, got a pack; omit it")
    with ProgressBar("checking", delay=0) as bar:
        found = run.verify(sample=sample, seed=seed, allow_code=allow_code, progress=bar)
    emit(chosen_format(json=as_json), found, text=lambda: _text(found))
    if not as_json:
        _report(found)
    if repair and found.broken:
        with Store(run.folder) as store:
            say(f"{store.forget(found.broken)} jobs to run again")
    if found.problems:
        raise typer.Exit(ExitCode.PROBLEMS)


def _text(found: Verification) -> str:
    members = f"{found.n_members:,} members, " if found.n_members else ""
    counts = (
        f"{members}{found.n_files:,} score files, {found.n_results:,} results, "
        f"{found.n_values:,} values recomputed, {len(found.problems)} problems"
    )
    return "\n".join([*found.problems, counts])


def _report(found: Verification) -> None:
    if found.without_scores:
        say("the pack holds no scores: only keys and digests were checked")
    if found.n_earlier:
        said = plural(found.n_earlier, "evaluation belongs", "evaluations belong")
        say(f"{said} to earlier plans: only keys and digests were checked")
    if found.n_stored_buffers:
        said = plural(found.n_stored_buffers, "evaluation uses", "evaluations use")
        say(f"{said} the stored buffer: it depends on values, which a pack does not hold")
    if found.n_skipped:
        said = plural(found.n_skipped, "evaluation was", "evaluations were")
        say(f"{said} not recomputed: that would run custom code")
        say_list("If you trust this code, add --allow-code", found.code)

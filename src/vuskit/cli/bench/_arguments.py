"""Arguments that several bench commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vuskit.cli._options import flag
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Plan

__all__ = [
    "DEFAULT_PLAN",
    "AllowCode",
    "Plain",
    "PlanFile",
    "Reread",
    "RunFolder",
    "plan_of",
    "run_folder",
]

DEFAULT_PLAN = Path("bench.toml")

PlanFile = Annotated[Path, typer.Argument(help="Plan file.", metavar="PLAN")]
RunFolder = Annotated[Path, typer.Argument(help="Run folder or plan.", metavar="RUN")]
Reread = Annotated[bool, flag("--reread", "Read every series again.")]
AllowCode = Annotated[
    bool, flag("--allow-code", "Run custom code that the run names. Use it only if you trust it.")
]
Plain = Annotated[bool, flag("--plain", "Print lines instead of a progress bar.")]


def run_folder(target: Path) -> Path:
    """Return the run folder of a target: a run folder, a plan, or a pack (returned as is).

    Raises
    ------
    InvalidInputError
        If the target does not exist, or is a plan that cannot be read.
    """
    if target.is_dir():
        return target
    if target.suffix.lower() == ".zip" and target.is_file():
        return target
    if not target.exists() and target.suffix != ".toml":
        raise InvalidInputError(
            f"`RUN` must be a run folder or a plan, got {str(target)!r}, which does not exist"
        )
    from vuskit.bench.plan import planned_folder

    return planned_folder(target)


def plan_of(target: Path, *, allow_code: bool) -> Plan:
    """Return the plan of a target: a plan file, or the plan stored in a run folder.

    Raises
    ------
    InvalidInputError
        If a stored plan names code and `allow_code` is false.
    """
    from vuskit.bench import Run, load_plan

    if run_folder(target) == target:  # a run folder or a pack
        return Run(target).plan(allow_code=allow_code)
    return load_plan(target)

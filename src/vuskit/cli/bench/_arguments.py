"""Arguments that several bench commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vuskit.cli._options import flag
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.bench import Plan

__all__ = ["DEFAULT_PLAN", "Plain", "PlanFile", "Reread", "RunFolder", "plan_of", "run_folder"]

DEFAULT_PLAN = Path("bench.toml")

PlanFile = Annotated[Path, typer.Argument(help="The plan.", metavar="PLAN")]
RunFolder = Annotated[Path, typer.Argument(help="A run folder, or its plan.", metavar="RUN")]
Reread = Annotated[bool, flag("--reread", "Read every series again.")]
Plain = Annotated[bool, flag("--plain", "Lines instead of a bar.")]


def run_folder(target: Path) -> Path:
    """Return the run folder: the target itself, or the folder of a plan.

    Raises
    ------
    InvalidInputError
        If the target does not exist, or is a plan that cannot be read.
    """
    if target.is_dir():
        return target
    if not target.exists() and target.suffix != ".toml":
        raise InvalidInputError(
            f"`RUN` must be a run folder or a plan, got {str(target)!r}, which does not exist"
        )
    from vuskit.bench.plan import load_plan

    return load_plan(target).folder


def plan_of(target: Path) -> Plan:
    """Return a plan, or the plan that a run folder stores."""
    from vuskit.bench import Run, load_plan

    run_folder(target)
    return Run(target).plan() if target.is_dir() else load_plan(target)

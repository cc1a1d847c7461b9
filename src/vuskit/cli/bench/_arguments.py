"""Arguments that several bench commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vuskit._util.files import check_exists
from vuskit.cli._options import EXECUTION, flag

if TYPE_CHECKING:
    from vuskit.bench import Plan, Run

DEFAULT_PLAN = Path("bench.toml")

PlanFile = Annotated[Path, typer.Argument(help="Plan file.", metavar="PLAN")]
RunFolder = Annotated[Path, typer.Argument(help="Run folder, plan or pack.", metavar="RUN")]
Reread = Annotated[bool, flag("--reread", "Read every series again.", EXECUTION)]
Plain = Annotated[bool, flag("--plain", "Print lines instead of a progress bar.", EXECUTION)]
Force = Annotated[bool, flag("--force", "Replace existing files.")]


def open_run(target: Path) -> Run:
    """Open a run folder, the folder of a plan, or a pack."""
    from vuskit.bench import Run

    if target.suffix != DEFAULT_PLAN.suffix:  # otherwise the error says how to write a plan
        check_exists(target)
    return Run(target)


def plan_of(target: Path, *, allow_code: bool) -> Plan:
    """Return the plan of a target: a plan file, or the plan stored in a run folder."""
    from vuskit.bench import load_plan

    run = open_run(target)
    is_plan = target.is_file() and not run.is_pack
    return load_plan(target) if is_plan else run.plan(allow_code=allow_code)

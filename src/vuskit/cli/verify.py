"""``vuskit verify``: check a pack or a run folder and recompute its values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vuskit.cli._options import seed_option
from vuskit.cli._output import AsCsv, AsJson, chosen_format
from vuskit.cli.bench._arguments import AllowCode
from vuskit.cli.bench.verify import check_results

__all__ = ["verify"]


def verify(
    target: Annotated[Path, typer.Argument(metavar="PACK", help="Pack, run folder or plan.")],
    sample: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Number of evaluations to check. Default: all."),
    ] = None,
    seed: Annotated[int, seed_option("the sample")] = 0,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check all digests and recompute every value from the stored scores.

    Code of a pack is not executed: custom measures are recomputed only with
    --allow-code. The exit code is 4 if there are problems.

    Example: vuskit verify results.vuskit.zip
    """
    form = chosen_format(json=as_json, csv=as_csv)
    check_results(form, target, sample=sample, seed=seed, allow_code=allow_code)

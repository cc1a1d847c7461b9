"""``vuskit verify``: check a pack, or a run folder, and compute its values again."""

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
    target: Annotated[
        Path, typer.Argument(metavar="PACK", help="A pack, a run folder, or its plan.")
    ],
    sample: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Evaluations to check; all unless given."),
    ] = None,
    seed: Annotated[int, seed_option("of the sample.")] = 0,
    allow_code: AllowCode = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Check all digests and compute every value again from the stored scores.

    Nothing in a pack is executed. Measures of your own are computed with
    --allow-code only. The exit code is 4 if something is wrong.

    Example: vuskit verify results.vuskit.zip
    """
    form = chosen_format(json=as_json, csv=as_csv)
    check_results(form, target, sample=sample, seed=seed, allow_code=allow_code)

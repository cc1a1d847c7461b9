"""``vuskit bench export``: write the values of a run to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from vuskit._util.tables import frame_csv
from vuskit.cli._completion import complete_shapes
from vuskit.cli._options import OUTPUT, AsCsv, AsJson, Unit, option, output_option
from vuskit.cli._output import atomic_file, chosen_format, emit, say
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, open_run
from vuskit.errors import InvalidInputError

_DEFAULT_TABLE = Path("bench.csv")


def export(
    target: RunFolder = DEFAULT_PLAN,
    output: Annotated[
        Path | None, output_option("FILE", "the table (.csv or .parquet). Default: bench.csv.")
    ] = None,
    shape: Annotated[
        str,
        option(
            OUTPUT,
            "SHAPE",
            "Shape of the table: values, wide or leaderboard.",
            autocompletion=complete_shapes,
        ),
    ] = "values",
    unit: Unit = "series",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Write the values to a file, or to standard output with --json or --csv.

    Shapes: one row per value (values), one row per score (wide), or means
    (leaderboard). Failed and skipped jobs have a status and empty cells.

    Example: vuskit bench export my-plan.toml -o board.csv --shape leaderboard
    """
    from vuskit.bench.run import FORMATS

    form = chosen_format(json=as_json, csv=as_csv)
    if output is not None and output.suffix.removeprefix(".") not in FORMATS:
        endings = " or ".join(f".{name}" for name in FORMATS)
        raise InvalidInputError(
            f"`--output` must be a file that ends in {endings}, got {str(output)!r}"
        )
    run = open_run(target)
    place = output or _DEFAULT_TABLE
    if form == "table" or output is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(place) as temporary:
            frame = run.export(temporary, shape=shape, by=unit)
        say(f"{len(frame):,} rows: {place}")
    else:
        frame = run.table(shape=shape, by=unit)
    emit(form, frame, text=lambda: str(place), csv=lambda: frame_csv(frame))

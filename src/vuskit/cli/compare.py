"""``vuskit compare``: which detectors are really better, from a table of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies import TableComparison

__all__ = ["compare"]

_READERS = {".csv": "read_csv", ".gz": "read_csv", ".parquet": "read_parquet"}
_LONG = "detector"
_LISTED = 10


def compare(
    table: Annotated[Path, typer.Argument(help="csv, parquet, or a run folder.", metavar="TABLE")],
    measure: Annotated[
        str | None, typer.Option(help="What to compare by; needed if the table has several.")
    ] = None,
    detector: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only these; may be repeated.")
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Not these columns or detectors; may be repeated."),
    ] = None,
    test: Annotated[str, typer.Option(help="wilcoxon (with Holm's correction) or nemenyi.")] = (
        "wilcoxon"
    ),
    alpha: Annotated[float, typer.Option(min=0, max=1, help="Level of significance.")] = 0.05,
    missing: Annotated[
        str, typer.Option(help="Series that lack a value: drop, worst or raise.")
    ] = "drop",
    lower: Annotated[bool, typer.Option("--lower", help="Lower values are better.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    output: Annotated[
        Path | None, typer.Option(help="Folder for tables, diagram and page; none by default.")
    ] = None,
) -> None:
    """Compare detectors over series: mean ranks with intervals, tests.

    The table has one column for each detector and one row for each series;
    or the columns series, detector, and one for each measure.
    """
    from vuskit.studies import compare as compare_results

    found = compare_results(
        _selected(_read(table), detector, ignore),
        measure=measure,
        higher_is_better=False if lower else None,
        test=test,
        alpha=alpha,
        missing=missing,
        seed=seed,
    )
    _show(Console(), found)
    if output is not None:
        from vuskit.report.studies import write_comparison

        page, *_ = write_comparison(found, output)
        Console().print(f"Page, tables and diagram: {page}", soft_wrap=True)


def _read(path: Path) -> pd.DataFrame:
    from vuskit.bench.results import read_values_table
    from vuskit.studies.bench_scores import is_bench_run

    if is_bench_run(path):
        return read_values_table(path)
    if path.suffix not in _READERS:
        raise InvalidInputError(f"`table` must be a .csv or .parquet file, got {str(path)!r}")
    if not path.is_file():
        raise InvalidInputError(f"`table` must be a file, got {str(path)!r}")
    pandas = require("pandas", purpose="vuskit compare")
    frame: pd.DataFrame = getattr(pandas, _READERS[path.suffix])(path)
    return frame


def _selected(
    frame: pd.DataFrame, detectors: list[str] | None, ignored: list[str] | None
) -> pd.DataFrame:
    """Columns of numbers of a wide table, or rows of a long one, as far as they are wanted."""
    unwanted = set(ignored or ())
    if _LONG in frame.columns:
        known = list(dict.fromkeys(frame[_LONG]))
        kept = _kept(known, detectors, unwanted)
        return frame[frame[_LONG].isin(kept)]
    numbers = frame.select_dtypes("number")
    return numbers[_kept(list(numbers.columns), detectors, unwanted)]


def _kept(known: list[str], wanted: list[str] | None, unwanted: set[str]) -> list[str]:
    for name in [*(wanted or ()), *unwanted]:
        if name not in known:
            raise InvalidInputError(f"`detector` must be one of {known}, got {name!r}")
    return [name for name in (wanted or known) if name not in unwanted]


def _show(console: Console, found: TableComparison) -> None:
    shown = Table("detector", title=f"by {found.title}", title_justify="left")
    for heading in ("mean", "median", "mean rank", "95% interval"):
        shown.add_column(heading, justify="right")
    for row in found.to_frame().itertuples(index=False):
        interval = f"{row.lower:.2f} - {row.upper:.2f}"
        numbers = (f"{row.mean:.3f}", f"{row.median:.3f}", f"{row.mean_rank:.2f}")
        shown.add_row(str(row.name), *numbers, interval)
    console.print(shown)
    for text in found.tests:
        console.print(text, highlight=False, soft_wrap=True)
    console.print("Groups without a significant difference:")
    for group in found.cliques[:_LISTED] or (("none",),):
        console.print("  " + ", ".join(map(str, group)), highlight=False, soft_wrap=True)
    if len(found.cliques) > _LISTED:
        console.print(f"  and {len(found.cliques) - _LISTED} more: see --output")

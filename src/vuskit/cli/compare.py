"""``vuskit compare``: which detectors are really better, from a table of results."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.cli.completion import complete_measures
from vuskit.cli.files import whole_file
from vuskit.cli.options import Alpha, AsLatexFiles, By, Detectors, flag, output_option, seed_option
from vuskit.cli.output import (
    AsCsv,
    AsJson,
    chosen_format,
    document,
    frame_csv,
    frame_records,
    say,
    terminal_width,
    write,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    from vuskit.cli.results_table import Selection
    from vuskit.studies import TableComparison

__all__ = ["compare"]

_FIGURES = (".pdf", ".svg", ".png")


def compare(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A run folder or its plan, csv, or parquet.")
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure; the one to compare by, vus_pr if there are several.",
            autocompletion=complete_measures,
        ),
    ] = None,
    detector: Detectors = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Not this column or detector. May be repeated."),
    ] = None,
    settings: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Which settings, if the run evaluated with several."),
    ] = None,
    by: By = "series",
    test: Annotated[
        str, typer.Option(metavar="NAME", help="wilcoxon (with Holm's correction) or nemenyi.")
    ] = "wilcoxon",
    alpha: Alpha = 0.05,
    missing: Annotated[
        str,
        typer.Option(metavar="RULE", help="Series that lack a value: drop, worst or raise."),
    ] = "drop",
    lower: Annotated[bool, flag("--lower", "Lower values are better.")] = False,
    seed: Annotated[int, seed_option("of the intervals.")] = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
    figure: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the diagram; ends in .pdf, .svg or .png."),
    ] = None,
    output: Annotated[
        Path | None, output_option("FOLDER", "tables, diagram and page; none unless given.")
    ] = None,
) -> None:
    """Compare detectors over series: mean ranks with intervals, tests, diagram.

    The table has one column for each detector and one row for each series;
    or the columns series, detector, and one for each measure.

    Example: vuskit compare results.csv --figure ranks.pdf
    """
    from vuskit.bench.means import AVERAGES
    from vuskit.cli.results_table import chosen_measure, read_results, selected
    from vuskit.studies import compare as compare_results

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_choice("--by", by, AVERAGES)
    if figure is not None and figure.suffix.lower() not in _FIGURES:
        raise InvalidInputError(
            f"`--figure` must be a file that ends in {', '.join(_FIGURES)}, got {str(figure)!r}"
        )
    results = read_results(table)
    measure, why = chosen_measure(results.frame, measure)
    if why:
        say(why)
    if by == "dataset":
        say("rows: data sets, each the mean of its series")
    chosen = selected(
        results.frame,
        measure=measure,
        detectors=detector or (),
        ignored=ignore or (),
        settings=settings,
        by=by,
        missing=missing,
    )
    if chosen.empty and missing == "drop":
        say(f"left out, without any value: {', '.join(chosen.empty)}")
    if chosen.uneven and missing == "worst":
        say(f"mean and median are over each detector's own series; {_fewer(chosen)}")
    if "settings" in results.frame.columns:  # several are refused unless one was asked for
        say(f"settings: {settings or results.frame['settings'].iloc[0]}")
    found = compare_results(
        chosen.table,
        measure=measure,
        higher_is_better=False if lower else results.direction(measure),
        test=test,
        alpha=alpha,
        missing=missing,
        seed=seed,
    )
    write(_WRITERS[form](found))
    if figure is not None:
        _save_figure(found, figure)
    if output is not None:
        _write_page(found, output, latex=as_latex)


def _fewer(chosen: Selection) -> str:
    most = max(chosen.counts.values())
    lacking = [f"{name} {count:,}" for name, count in chosen.counts.items() if count < most]
    return f"fewer than {most:,}: {', '.join(lacking)}"


def _save_figure(found: TableComparison, path: Path) -> None:
    from vuskit.report.figures import CriticalDifferenceDisplay

    with whole_file(path) as draft:
        CriticalDifferenceDisplay.from_comparison(found).save(draft)
    say(f"diagram: {path}")


def _write_page(found: TableComparison, folder: Path, *, latex: bool) -> None:
    from vuskit.cli.studies_output import written
    from vuskit.report.page.studies import write_comparison

    page, *_ = written(write_comparison, found, folder, latex=latex)
    say(f"page, tables and diagram: {page}")


def _text(found: TableComparison) -> str:
    from vuskit.cli.rank_diagram import MOST_GROUPS, rank_diagram
    from vuskit.report.tables import folded_tables

    width = terminal_width()
    groups = [
        f"{number}: {', '.join(map(str, group))}"
        for number, group in enumerate(found.groups[:MOST_GROUPS], start=1)
    ]
    if len(found.groups) > MOST_GROUPS:
        groups.append(f"and {len(found.groups) - MOST_GROUPS} more: see --json")
    return "\n".join(
        [
            f"by {found.title} ({'higher' if found.higher_is_better else 'lower'} is better)",
            *folded_tables(*_rows(found), width),
            "",
            rank_diagram(found, width),
            "",
            *(fill(test, width, subsequent_indent="  ") for test in found.tests),
            "Groups of neighbours without a significant difference:",
            *(
                fill(group, width, initial_indent="  ", subsequent_indent="     ")
                for group in groups or ["none"]
            ),
        ]
    )


def _rows(found: TableComparison) -> tuple[list[str], list[list[str]]]:
    header = ["detector", "mean", "median", "mean rank", "95% interval"]
    rows = [
        [
            str(row.name),
            _number(row.mean),
            _number(row.median),
            f"{row.mean_rank:.2f}",
            f"{row.lower:.2f} - {row.upper:.2f}",
        ]
        for row in found.to_frame().itertuples(index=False)
    ]
    return header, rows


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _json(found: TableComparison) -> str:
    overall, pairs = found.global_test, found.pairs
    friedman: dict[str, Any] | None = None
    if overall is not None:
        friedman = {
            "statistic": overall.statistic,
            "p_value": overall.p_value,
            "effect_size": overall.effect_size,
        }
    return document(
        "comparison",
        measure=found.title,
        higher_is_better=found.higher_is_better,
        rows=pairs.n,
        rows_dropped=pairs.n_dropped,
        alpha=pairs.alpha,
        test=pairs.test,
        correction=pairs.correction,
        critical_difference=pairs.critical_difference,
        smallest_p_value=pairs.smallest_p_value,
        rows_needed=pairs.rows_needed,
        friedman=friedman,
        detectors=frame_records(found.to_frame()),
        pairs=frame_records(found.pairs_frame()),
        groups=[[str(name) for name in group] for group in found.groups],
    )


def _latex(found: TableComparison) -> str:
    from vuskit.report.latex import latex_tabular

    header, rows = _rows(found)
    ranks = [row[3] for row in rows]
    best = min(ranks, key=float)
    for row in rows:
        row[3] = rf"\textbf{{{row[3]}}}" if row[3] == best else row[3]
        row[4] = row[4].replace(" - ", "--")
    return latex_tabular(header, rows, notes=[f"by {found.title}", *found.tests])


_WRITERS: dict[str, Callable[[TableComparison], str]] = {
    "table": _text,
    "json": _json,
    "csv": lambda found: frame_csv(found.to_frame()),
    "latex": _latex,
}

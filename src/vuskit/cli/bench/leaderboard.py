"""``vuskit bench leaderboard``: table of means, the best marked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.cli._files import write_file
from vuskit.cli._options import (
    AsLatex,
    AsMarkdown,
    Html,
    Spread,
    TableColumns,
    TableMeasures,
    Unit,
    split_list,
)
from vuskit.cli._output import (
    AsCsv,
    AsJson,
    chosen_format,
    frame_records,
    say,
    table_cells,
    terminal_width,
    write,
)
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, run_folder
from vuskit.cli.bench._output import Content, Rows, emit, inverted_notes
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.bench import Run
    from vuskit.measures.registry import Measure
    from vuskit.report.publication import PublicationTable

__all__ = ["leaderboard"]

_COUNTS = ("datasets", "series")


def leaderboard(
    target: RunFolder = DEFAULT_PLAN,
    unit: Unit = "dataset",
    measure: TableMeasures = None,
    columns: TableColumns = None,
    spread: Spread = "std",
    chance: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Number of random scores for the chance level. 0: no chance level.",
        ),
    ] = 0,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
    as_markdown: AsMarkdown = False,
    html: Html = None,
) -> None:
    """Show the means of all detectors, best first.

    Means use only series on which all detectors have a value of the measure.

    Example: vuskit bench leaderboard my-plan.toml --measure vus_pr,auc_pr --latex
    """
    from vuskit import bench
    from vuskit.bench._leaderboard import AVERAGES
    from vuskit.inputs import check_choice
    from vuskit.report.publication import COLUMNS, SPREADS, table_page

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    check_choice("--unit", unit, AVERAGES)
    check_choice("--spread", spread, SPREADS)
    if columns is not None:
        check_choice("--columns", columns, COLUMNS)
    elif form in ("json", "csv"):
        columns = "measure"  # these forms always have all columns
    run = bench.Run(run_folder(target))
    options = {"measures": split_list(measure), "columns": columns, "by": unit, "spread": spread}
    tables = _tables(run, chance, options)
    content = {"folder": run.folder, "by": unit, "boards": _boards(run, unit, tables)}
    shown = list(tables.values())
    emit(
        form,
        "leaderboard",
        content,
        rows=_rows,
        text=lambda _: write("\n\n".join(one.to_text(terminal_width()) for one in shown)),
        forms={
            "latex": lambda: "\n\n".join(one.to_latex() for one in shown),
            "markdown": lambda: "\n\n".join(one.to_markdown() for one in shown),
        },
    )
    for note in inverted_notes(run):
        say(f"note: {note}")
    if form not in ("json", "csv") and measure is None and shown[0].columns == "dataset":
        _report_other_measures(run, shown[0])
    if html is not None:
        write_file(html, table_page(shown, title=f"Leaderboard of {run.folder.name}"))
        say(f"page: {html}")


def _report_other_measures(run: Run, table: PublicationTable) -> None:
    others = [one.title for name, one in run.measures().items() if name not in table.measures]
    if others:
        say(f"other measures: {', '.join(others)}; show them with --measure or --columns measure")


def _tables(run: Run, chance: int, options: Mapping[str, Any]) -> dict[str, PublicationTable]:
    """Return one table per setting of the run.

    Raises
    ------
    InvalidInputError
        If there is no run, it has no values yet, or no series has values for all detectors.
    """
    from vuskit.bench._leaderboard import common_values, no_common_series, values_by_series
    from vuskit.report.publication import publication_table

    values = run.outcomes()
    if not values["value"].notna().any():
        raise InvalidInputError(
            f"`RUN` must have values, got none yet in {str(run.folder)!r}; see: vuskit bench status"
        )
    tables = {}
    for settings, rows in values.groupby("settings", sort=False):
        cells = values_by_series(rows)
        names = list(rows["detector"].unique())
        known = cells.index.get_level_values("measure").unique()
        if not any(len(common_values(cells, name, names)) for name in known):
            raise InvalidInputError(no_common_series(rows, str(settings)))
        tables[str(settings)] = publication_table(
            run if chance else rows, settings=str(settings), chance=chance, **options
        )
    return tables


def _boards(run: Run, by: str, tables: Mapping[str, PublicationTable]) -> list[dict[str, Any]]:
    """Return the means of all measures per setting of the run, as plain data."""
    from vuskit import bench

    values, measures, detectors = run.values(), run.measures(), run.detectors()
    asked = run.measures_by_settings()
    make = partial(bench.leaderboard, by=by, detectors=detectors)
    return [
        {
            **_board(make(rows, measures=asked[str(settings)]), rows, str(settings), measures),
            "cells": table_cells(tables[str(settings)]),
            "failures": tables[str(settings)].failures,
        }
        for settings, rows in values.groupby("settings", sort=False)
    ]


def _board(
    table: pd.DataFrame, rows: pd.DataFrame, settings: str, measures: Mapping[str, Measure]
) -> dict[str, Any]:
    from vuskit.measures.registry import main_measure

    names = [name for name in measures if name in table.columns]
    present = table["own_series"] > 0
    first = frame_records(table)[0]
    counts = [name for name in _COUNTS if name in table.columns]
    own = rows.drop_duplicates(["dataset", "series", "detector", "measure"])
    own_counts = own.groupby(["detector", "measure"]).size().to_dict()
    valued = {name for _, name in own_counts}
    return {
        "settings": settings,
        "ordered_by": main_measure([name for name in names if table[name].notna().any()]),
        **{count: first[count] for count in counts},
        "measures": [
            {
                "name": name,
                "title": measures[name].title,
                "family": measures[name].family,
                "higher_is_better": measures[name].higher_is_better,
                **{
                    count: first.get(f"{count}_{name}", first[count] if name in valued else 0)
                    for count in counts
                },
            }
            for name in names
        ],
        "detectors": [
            {
                "name": record["detector"],
                "own_series": record["own_series"],
                "own_series_by_measure": {
                    name: own_counts.get((record["detector"], name), 0) for name in names
                },
                "values": {name: record[name] for name in names},
            }
            for record in frame_records(table[present])
        ],
        "without_values": [str(name) for name in table.loc[~present, "detector"]],
    }


def _rows(content: Content) -> Rows:
    """Return one row per setting, detector, data set and measure; empty data set: all."""
    header = ["settings", "by", "dataset", "series", "detector", "own_series", "measure"]
    header += ["higher_is_better", "mean", "std", "lower", "upper", "mean_rank"]
    rows = []
    for board in content["boards"]:
        own = {entry["name"]: entry["own_series"] for entry in board["detectors"]}
        higher = {entry["name"]: entry["higher_is_better"] for entry in board["measures"]}
        for cell in board["cells"]:
            name = cell["detector"]
            rows.append(
                [board["settings"], content["by"], cell["dataset"], cell["series"],
                 name or "chance", own.get(name, 0), cell["measure"], higher[cell["measure"]],
                 *(cell[field] for field in header[8:])]
            )  # fmt: skip
    return header, rows

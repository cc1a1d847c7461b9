"""``vuskit bench leaderboard``: table of means, the best marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from vuskit._util.tables import csv_text
from vuskit.cli._completion import complete_table_columns
from vuskit.cli._options import (
    OUTPUT,
    AsCsv,
    AsJson,
    AsLatex,
    AsMarkdown,
    Chance,
    Exclude,
    Html,
    Spread,
    TableMeasures,
    Unit,
    option,
    split_list,
)
from vuskit.cli._output import chosen_format, emit, say, table_forms, write_file
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, open_run
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    from vuskit.bench import Run
    from vuskit.report.publication import PublicationTable


def leaderboard(
    target: RunFolder = DEFAULT_PLAN,
    measure: TableMeasures = None,
    exclude: Exclude = None,
    unit: Unit = "series",
    columns: Annotated[
        str | None,
        option(
            OUTPUT,
            "KIND",
            "Columns of the table: dataset or measure. Default: dataset, if there are several.",
            autocompletion=complete_table_columns,
        ),
    ] = None,
    spread: Spread = "std",
    chance: Chance = 0,
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
    from vuskit.report.publication import table_page

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    if columns is None and form in ("json", "csv"):
        columns = "measure"  # these forms always have all columns
    run = open_run(target)
    options = {"measures": split_list(measure), "columns": columns, "by": unit, "spread": spread}
    tables = _tables(run, chance, split_list(exclude) or [], options)
    shown = list(tables.values())
    content = {"folder": run.folder, "tables": tables}
    emit(form, content, csv=lambda: _csv(tables), **table_forms(*shown))
    if note := run.inverted_note():
        say(f"note: {note}")
    if form not in ("json", "csv") and measure is None and shown[0].columns == "dataset":
        known = run.measures().items()
        others = [one.title for name, one in known if name not in shown[0].measures]
        if others:
            listed = ", ".join(others)
            say(f"other measures: {listed}; show them with --measure or --columns measure")
    if html is not None:
        write_file(html, table_page(shown, title=f"Leaderboard of {run.folder.name}"))
        say(f"page: {html}")


def _tables(
    run: Run, chance: int | None, excluded: list[str], options: dict[str, Any]
) -> dict[str, PublicationTable]:
    """Return one table per setting of the run.

    Raises
    ------
    InvalidInputError
        If there is no run, it has no values yet, or no series has values for all detectors.
    """
    from vuskit.report.publication import publication_table

    values = run.outcomes()
    if not values["value"].notna().any():
        raise InvalidInputError(
            f"`RUN` must have values, got none yet in {str(run.folder)!r}; see: vuskit bench status"
        )
    known = list(dict.fromkeys(values["detector"]))
    for name in excluded:
        check_choice("exclude", name, known)
    return {
        str(settings): publication_table(
            run if chance else rows,
            settings=str(settings),
            chance=chance,
            detectors=[name for name in known if name not in excluded],
            **options,
        )
        for settings, rows in values.groupby("settings", sort=False)
    }


def _csv(tables: dict[str, PublicationTable]) -> str:
    """Return one row per setting, detector, data set and measure; empty: chance, all data sets."""
    rows = [{"settings": name, **cell} for name, one in tables.items() for cell in one.cells]
    return csv_text(list(rows[0]), [list(row.values()) for row in rows])

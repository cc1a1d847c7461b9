"""``vuskit data``: list and download public data sets; describe any folder."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.tables import csv_text
from vuskit._util.text import plural, quoted, wrapped_table
from vuskit.cli._completion import complete_datasets
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import INPUT, AsCsv, AsJson, AsLatex, AsMarkdown, flag, option
from vuskit.cli._output import (
    Command,
    chosen_format,
    emit,
    emit_table,
    say,
    table_forms,
    terminal_width,
    write,
)
from vuskit.cli._progress import ProgressBar
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.datasets import Collection, DatasetInfo

_MOST_SHOWN = 10  # files in a message

app = typer.Typer(
    help="List and download public data sets; describe your own.", no_args_is_help=True
)

Name = Annotated[
    str,
    typer.Argument(
        help="Data set, see: vuskit data list.", metavar="NAME", autocompletion=complete_datasets
    ),
]


@app.callback()
def data() -> None:
    """List and download public data sets; describe your own."""


@app.command(name="list", cls=Command)
def list_(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Show details of this data set.",
            autocompletion=complete_datasets,
        ),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List the public data sets, or show one: size, license, citation, origin.

    Works offline.

    Example: vuskit data list NAB
    """
    from vuskit.datasets import get_dataset, list_datasets

    form = chosen_format(json=as_json, csv=as_csv)
    if name is not None:
        info = get_dataset(name)
        row = dataclasses.asdict(info)
        emit(
            form,
            info,
            text=lambda: _details(info),
            csv=lambda: csv_text(list(row), [list(row.values())]),
        )
        return
    records = [dataclasses.asdict(info) for info in list_datasets()]
    if form == "table":
        records = [{**record, "how": _how(record)} for record in records]
    shown = {"name": "name", "n_series": "series", "how": "fetched", "title": "what"}
    emit_table(form, records, shown)


def _how(record: dict[str, Any]) -> str:
    if record["url"]:
        return "yes"
    return f"with {record['part_of']}" if record["part_of"] else "by hand"


def _details(info: DatasetInfo) -> str:
    from vuskit.datasets import cache_folder
    from vuskit.datasets.catalog import archive_sha256

    facts = {name: value for name, value in dataclasses.asdict(info).items() if value is not None}
    rows = [[name.replace("n_", "").replace("_", " "), _number(v)] for name, v in facts.items()]
    folder = cache_folder() / info.name
    rows.append(["here", str(folder) if folder.is_dir() else "no"])
    found = archive_sha256(info.name)
    if found is not None:
        rows.append(["archive", f"SHA-256 {found}"])
    return wrapped_table(rows[0], rows[1:], terminal_width())


def _number(value: Any) -> str:
    return f"{value:,.10g}" if isinstance(value, (int, float)) else str(value)


@app.command(cls=Command)
def describe(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Folder or file with series or saved scores, or a run folder."
        ),
    ],
    format_name: Annotated[
        str | None,
        option(INPUT, "NAME", "File format, see: vuskit list readers.", "--format"),
    ] = None,
    dataset_name: Annotated[
        str | None,
        option(INPUT, "NAME", "Put all files into one data set of this name."),
    ] = None,
    by: Annotated[
        str | None,
        option(INPUT, "COLUMN", "Column of a long table that names the series."),
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Describe the data sets of a folder, like the table in the VUS paper.

    Shows the number of series, and the means of length, anomalies, anomalous
    points and density. The exit code is 3 if files cannot be read.

    Example: vuskit data describe data/series --latex
    """
    from vuskit.bench import Run
    from vuskit.datasets import Collection, read_series
    from vuskit.datasets import describe as describe_series

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    options = {"format": format_name, "dataset": dataset_name, "by": by}
    given = {name: value for name, value in options.items() if value is not None}
    names = {"format": "format", "dataset": "dataset-name", "by": "by"}
    run = Run(source)
    found: Any
    if run.exists:
        if given:
            raise InvalidInputError(
                f"`--{names[next(iter(given))]}` must not be used with a run folder, got "
                f"{str(source)!r}; omit it"
            )
        found = run.series()
    else:
        found = read_series(source, **given)
        found = found if isinstance(found, Collection) else [found]
    with ProgressBar("reading") as bar:
        table = describe_series(found, progress=bar)
    failures = _report_files(found) if isinstance(found, Collection) else 0
    if not table.rows:
        raise InvalidInputError(
            f"`FOLDER` must hold at least one readable series, got none in {str(source)!r}; "
            "vuskit list readers shows the formats"
        )
    if form in ("json", "csv"):
        emit_table(form, [dataclasses.asdict(row) for row in table.rows], {})
    else:
        emit(form, table, **table_forms(table))
    if failures:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _report_files(collection: Collection) -> int:
    """Report ignored files and columns; return the number of unreadable files."""
    if collection.skipped:
        names = quoted([path.name for path in collection.skipped], most=_MOST_SHOWN)
        say(f"no known format, left out: {plural(len(collection.skipped), 'file')}: {names}")
    for note, count in Counter(collection.notes.values()).items():
        say(f"{plural(count, 'series', 'series')}, columns {note}")
    shown = list(collection.failures.values())[:_MOST_SHOWN]
    for error in shown:
        say(f"cannot be read: {error}")
    if len(collection.failures) > len(shown):
        say(f"cannot be read: {len(collection.failures) - len(shown):,} more")
    return len(collection.failures)


@app.command(cls=Command)
def fetch(
    name: Name,
    url: Annotated[
        str | None,
        option(INPUT, "URL", "URL of the archive. Default: as in the catalog."),
    ] = None,
    sha256: Annotated[
        str | None, option(INPUT, "DIGEST", "Expected SHA-256 of the archive.")
    ] = None,
    force: Annotated[bool, flag("--force", "Replace existing files; download again.")] = False,
) -> None:
    """Download, check and unpack a data set; print its folder.

    The command shows the SHA-256 of the archive; pass it to --sha256 to make
    sure that you get the same file. An interrupted download starts again.

    Example: vuskit data fetch NAB
    """
    from vuskit.datasets import fetch as fetch_dataset
    from vuskit.datasets.catalog import archive_sha256

    with ProgressBar(name, delay=0) as bar:
        folder = fetch_dataset(name, url=url, sha256=sha256, force=force, progress=bar)
    say(f"SHA-256 of the archive: {archive_sha256(name)}")
    say(f"Next: run vuskit bench init, and set the folder of {name} in the plan")
    write(str(folder))

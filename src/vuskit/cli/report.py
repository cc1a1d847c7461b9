"""``vuskit report``: a benchmark run and studies on one page."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.files import check_file
from vuskit._util.text import match_names, quoted
from vuskit.cli._options import (
    FILE,
    OUTPUT,
    Load,
    OpenPage,
    StudyFolders,
    load_file,
    option,
    output_option,
    series_option,
)
from vuskit.cli._output import check_page, say, wrapped, write, write_file
from vuskit.cli._progress import ProgressBar
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.report.page import RunReport


_LISTED = 5


def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A run folder, its plan, a pack, or a folder of studies."
        ),
    ],
    output: Annotated[
        Path | None, output_option("FILE", "the page. Default: RUN/page.html.")
    ] = None,
    studies: StudyFolders = None,
    series: Annotated[list[str] | None, series_option("always draw")] = None,
    title: Annotated[
        str | None, option(OUTPUT, "TEXT", "Title of the page. Default: the name of the run.")
    ] = None,
    notes: Annotated[
        Path | None, option(OUTPUT, FILE, "Text file to show below the title.")
    ] = None,
    load: Load = None,
    open_page: OpenPage = False,
) -> None:
    """Write one page about a run: leaderboard, ranks, times, failures, series.

    The page is a single file and needs no network. The run may be unfinished.

    Example: vuskit report bench-run --open
    """
    from vuskit.bench import Run
    from vuskit.report.page import run_page_html, studies_page_html
    from vuskit.studies import load_study_results

    if load is not None:
        load_file(load)
    opened = Run(run)
    folder = opened.folder
    results: list[Any] = []
    only_studies = not opened.exists
    for place in [*([folder] if only_studies else []), *(studies or ())]:
        results += _read_studies(place, load_study_results, alone=place is folder)
    report_inputs(results)
    target = folder / "page.html" if folder.is_dir() else folder.with_suffix(".html")
    target = target if output is None else output
    check_page("--output", target)
    notes_text = "" if notes is None else _read_notes(notes)
    if only_studies:
        _refuse_texts(title, notes)
        page = studies_page_html(results)
    else:
        from vuskit.report.page import RunReport

        found = RunReport.read(folder)
        with ProgressBar("drawing") as bar:
            page = run_page_html(
                found,
                studies=results,
                series=_chosen(found, series or ()),
                title=title or "",
                notes=notes_text,
                progress=bar,
            )
        say(found.state + (f", {found.failures:,} failed" if found.failures else ""))
        if found.changes:
            say(wrapped(f"warning: {found.change_summary}: {quoted(found.changes, most=3)}"))
    write_file(target, page)
    write(str(target))
    if open_page:
        webbrowser.open(target.resolve().as_uri())


def report_inputs(results: Sequence[Any]) -> None:
    """Report the inputs of saved results, and inputs that have changed since."""
    from vuskit.studies import changed_inputs
    from vuskit.studies.result import shared_place

    users: dict[tuple[Any, ...], list[str]] = {}
    for result in results:
        if result.inputs:
            users.setdefault(result.inputs, []).append(result.kind)
    changed = set(changed_inputs(one for inputs in users for one in inputs))
    for inputs, kinds in users.items():
        studies, place = ", ".join(kinds), shared_place(inputs)
        say(f"{studies}: made from {len(inputs):,} series" + (f" in {place}" if place else ""))
        names = [one.name for one in inputs if one in changed]
        if names:
            more = ", ..." if len(names) > _LISTED else ""
            say(
                f"{studies}: warning: {len(names):,} of these series changed since "
                f"({', '.join(names[:_LISTED])}{more}); run the studies again"
            )


def _read_notes(path: Path) -> str:
    check_file(path, holds="notes")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"`--notes` must be a UTF-8 text file, got {path}; convert it"
        ) from error


def _refuse_texts(title: str | None, notes: Path | None) -> None:
    for name, given in (("--title", title), ("--notes", notes)):
        if given is not None:
            raise InvalidInputError(
                f"`{name}` must be used with a run, got a folder of studies; omit it"
            )


def _chosen(found: RunReport, patterns: Sequence[str]) -> list[str]:
    titles = [series.title for series in found.series]
    return match_names(titles, patterns, argument="--series")


def _read_studies(place: Path, read: Any, *, alone: bool) -> list[Any]:
    try:
        return list(read(place))
    except InvalidInputError as error:
        if not alone or list(place.rglob("*_result.npz")):
            raise
        raise InvalidInputError(
            "`RUN` must be a folder written by `vuskit bench run`, `vuskit evaluate` or "
            f"`vuskit study`, got {str(place)!r}; check the path"
        ) from error

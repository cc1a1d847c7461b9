"""``vuskit report``: a benchmark run, and studies, as one page."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from vuskit.cli.bench_progress import PatientBar
from vuskit.cli.files import check_page, write_file
from vuskit.cli.output import say, write
from vuskit.errors import InvalidInputError

__all__ = ["report"]

_PLAN = ".toml"


def report(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run folder, its plan, or a folder of studies.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; RUN/page.html by default.")
    ] = None,
    studies: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Studies to add to the page; may be repeated."),
    ] = None,
    series: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A series that the page must draw; may be repeated."),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Show it in the browser.")
    ] = False,
) -> None:
    """Write a run as one page: leaderboard, ranks, times, failures, series.

    The page is one file that needs no network. A run may still be going on.

    Example: vuskit report bench-run --open
    """
    from vuskit.report.page import run_page_html, studies_page_html
    from vuskit.studies.bench_scores import is_bench_run
    from vuskit.studies.saved import read_study_results

    folder = _folder_of(run)
    results: list[Any] = []
    only_studies = not is_bench_run(folder)
    for place in [*([folder] if only_studies else []), *(studies or ())]:
        results += _read_studies(place, read_study_results, alone=place is folder)
    target = folder / "page.html" if out is None else out
    check_page("--out", target)
    if only_studies:
        page = studies_page_html(results)
    else:
        from vuskit.report.run import RunReport

        found = RunReport.read(folder)
        with PatientBar("drawing") as told:
            page = run_page_html(found, studies=results, series=series or (), progress=told)
        say(found.state + (f", {found.failures:,} failed" if found.failures else ""))
    write_file(target, page)
    write(str(target))
    if open_page:
        webbrowser.open(target.resolve().as_uri())


def _folder_of(target: Path) -> Path:
    """Return the folder that is meant: itself, or the one of a plan."""
    if target.suffix == _PLAN and target.is_file():
        from vuskit.bench.plan import load_plan

        return load_plan(target).folder
    return target


def _read_studies(place: Path, read: Any, *, alone: bool) -> list[Any]:
    try:
        return list(read(place))
    except InvalidInputError as error:
        if not alone or list(place.rglob("*_result.npz")):
            raise
        raise InvalidInputError(
            f"`run` must be a folder that `vuskit bench run` or `vuskit study` wrote, "
            f"got {str(place)!r}"
        ) from error

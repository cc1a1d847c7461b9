"""``vuskit report``: a benchmark run, and studies, as one page."""

from __future__ import annotations

import time
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit.cli.bench_progress import talk_console
from vuskit.cli.files import write_file
from vuskit.cli.output import say, write
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["report"]

_PAGES = (".html", ".htm")
_PLAN = ".toml"
_PATIENCE = 2.0  # seconds


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
    _check_page(target)
    if only_studies:
        page = studies_page_html(results)
    else:
        from vuskit.report.run import RunReport

        found = RunReport.read(folder)
        with _Patience("drawing") as told:
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


def _check_page(path: Path) -> None:
    if path.suffix.lower() not in _PAGES:
        raise InvalidInputError(
            f"`--out` must be a file that ends in {' or '.join(_PAGES)}, got {str(path)!r}"
        )
    if not path.parent.is_dir():
        raise InvalidInputError(f"`--out` must be in a folder that exists, got {str(path)!r}")


class _Patience:
    """A bar on a terminal, once something takes longer than one likes to wait without a word."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._console = talk_console()
        self._begun = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> _Patience:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Tell how far it is."""
        if self._bar is None:
            waited = time.monotonic() - self._begun
            if waited < _PATIENCE or not self._console.is_terminal:
                return
            from rich.progress import Progress

            self._bar = Progress(console=self._console, transient=True)
            self._bar.add_task(self._title)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

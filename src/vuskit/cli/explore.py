"""``vuskit explore``: a local server for a run, a pack, or saved scores."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.interrupts import end_interrupts
from vuskit._util.optional import require
from vuskit.cli._options import (
    EXECUTION,
    SHOWN,
    Load,
    StudyFolders,
    flag,
    input_options,
    load_file,
    option,
    takes,
)
from vuskit.cli._output import say
from vuskit.cli.study import DEFAULT_OUTPUT
from vuskit.datasets.columns import Reading

if TYPE_CHECKING:
    from vuskit.explore.content import Content


@takes(reading=input_options(SHOWN))
def explore(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN|SOURCE",
            help="Run folder, plan, pack, or scores: everything that vuskit evaluate reads, with "
            "the same options of input.",
        ),
    ],
    reading: Reading,
    studies: StudyFolders = None,
    port: Annotated[
        int,
        option(EXECUTION, "N", "Port on this machine. 0: any free port.", min=0, max=65535),
    ] = 0,
    load: Load = None,
    no_browser: Annotated[
        bool, flag("--no-browser", "Print the address without opening the browser.", EXECUTION)
    ] = False,
) -> None:
    """Explore a run or saved scores in the browser, also during the run.

    Starts a read-only server on this machine; press Ctrl-C to stop it. The
    printed address contains a token that every request needs.

    Example: vuskit explore bench-run
    Example: vuskit explore scores/ --labels data/
    """
    for module in ("starlette", "uvicorn"):
        require(module, purpose="vuskit explore", extra="explore")
    from vuskit.bench import Run
    from vuskit.explore import ExploreServer

    if load is not None:
        load_file(load)
    place = Run(targets[0]).folder
    content = _content(place, targets, reading)
    read_studies = StudyReader(place, tuple(studies or ()))
    read_studies()  # report a folder without studies before the server starts
    server = ExploreServer(content, port=port, studies=read_studies)
    typer.echo(server.url)  # not `write`: Ctrl-C stops the server
    say("Press Ctrl-C to stop the server.")
    if not no_browser:
        threading.Timer(0.5, webbrowser.open, [server.url]).start()
    try:
        server.run()
    except KeyboardInterrupt:
        end_interrupts()
    say("stopped")


def _content(place: Path, targets: list[str], reading: Reading) -> Content:
    """Open a run, or find saved scores as `vuskit evaluate` does."""
    from vuskit.bench.run import find_run, open_scores
    from vuskit.explore.content import ScoresContent, open_content

    inputs = open_scores(targets, **reading.options())
    if len(targets) == 1 and find_run(place) is not None:
        return open_content(place)
    for note in inputs.notes:
        say(f"note: {note}")
    return ScoresContent(place, inputs)


class StudyReader:
    """Reader of the studies of a run, from given folders and default folders.

    Default folders are ``studies`` in the run folder and next to it, and the default output of
    `vuskit study`. Outside the run folder, only studies of this run count.
    """

    def __init__(self, place: Path, named: Sequence[Path] = ()) -> None:
        self._place, self._named = place, tuple(named)
        usual = (place / "studies", place.parent / "studies", DEFAULT_OUTPUT)
        known = {folder.resolve() for folder in named}
        self._usual = [folder for folder in usual if folder.resolve() not in known]
        self._state: object = None
        self._results: list[Any] = []

    def __call__(self) -> list[Any]:
        """Return the results; the same list unless files changed."""
        files = [file for folder in (*self._named, *self._usual) for file in _results_in(folder)]
        state = [(str(file), file.stat().st_mtime_ns) for file in files]
        if state != self._state:
            self._results, self._state = self._read(), state
        return self._results

    def _read(self) -> list[Any]:
        from vuskit.studies import load_study_results
        from vuskit.studies.result import shared_place

        found = [result for folder in self._named for result in load_study_results(folder)]
        for folder in filter(_results_in, self._usual):
            inside = folder.parent == self._place
            found += [
                result
                for result in load_study_results(folder)
                if inside or shared_place(result.inputs) == str(self._place.resolve())
            ]
        return found


def _results_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*_result.npz"))

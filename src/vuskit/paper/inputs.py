"""Input of a reproduction: saved scores, a run, or series whose detectors run first."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vuskit._util.files import write_atomically
from vuskit._util.optional import is_installed
from vuskit._util.text import plural
from vuskit.bench import Run, load_plan, run_plan
from vuskit.bench.plan import planned_folder
from vuskit.datasets import read_collection
from vuskit.detectors import detector_class
from vuskit.engine import ExecutorSettings
from vuskit.errors import InvalidInputError
from vuskit.studies import Source, open_scores

__all__ = ["PAPER_DETECTORS", "PaperInput", "open_input", "run_detectors", "usable_detectors"]

PAPER_DETECTORS = (
    "iforest", "lof", "mp", "norma", "pca", "ae", "lstm_ad", "poly", "cnn", "ocsvm",
)  # fmt: skip
"""The ten detectors of the paper."""

_NEEDS = {
    "ae": "torch",
    "cnn": "torch",
    "lstm_ad": "torch",
    "mp": "stumpy",
    "iforest": "sklearn",
    "lof": "sklearn",
    "ocsvm": "sklearn",
    "pca": "sklearn",
    "norma": "sklearn",
}
_PLAN = "plan.toml"
_SECONDS_PER_SCORE = 2.0  # a guess, for the progress only


@dataclass(frozen=True)
class PaperInput:
    """What a reproduction works on.

    Attributes
    ----------
    sources : tuple of Source
        Series with scores; empty before the detectors have run.
    series : Path or None
        Folder of series whose detectors have to run first.
    n_series : int
        Number of series.
    notes : tuple of str
        Sentences for the user.
    """

    sources: tuple[Source, ...]
    series: Path | None = None
    n_series: int = 0
    notes: tuple[str, ...] = ()

    def seconds(self, detectors: Sequence[str], workers: int) -> float:
        """Rough guess of the time that the detectors take."""
        if self.series is None:
            return 0.0
        return _SECONDS_PER_SCORE * self.n_series * len(detectors) / workers


def open_input(source: Any) -> PaperInput:
    """Look at the input of a reproduction; nothing is computed.

    Parameters
    ----------
    source : path, ScoredSeries, or iterable of these
        Folder of saved scores, of a run, or of series; a plan; or series with scores in memory.

    Raises
    ------
    InvalidInputError
        If there is nothing that can be used.
    """
    if not isinstance(source, (str, Path)):
        sources = open_scores(source)
        return PaperInput(sources, None, len(sources))
    path = Path(source)
    if path.suffix == ".toml" and path.is_file():
        path = planned_folder(path)
    if not path.is_dir() or Run(path).exists:
        sources = open_scores(path)
        return PaperInput(sources, None, len(sources))
    files = read_collection(path).files
    scored = sum(file.format.name == "scores" for file in files)
    if not files:
        raise InvalidInputError(f"`source` must hold series or saved scores, got none in {path}")
    if not scored:
        return PaperInput((), path, len(files))
    others = len(files) - scored
    notes = (f"{plural(others, 'series', 'series')} without scores left out",) if others else ()
    sources = open_scores(path)
    return PaperInput(sources, None, len(sources), notes)


def usable_detectors(chosen: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the detectors to run: those chosen, or those of the paper that can run here.

    Raises
    ------
    InvalidInputError
        If a detector is unknown.

    Examples
    --------
    >>> usable_detectors(["lof", "pca"])
    ('lof', 'pca')
    """
    if chosen is not None:
        for name in chosen:
            detector_class(name)
        return tuple(chosen)
    return tuple(
        name for name in PAPER_DETECTORS if name not in _NEEDS or is_installed(_NEEDS[name])
    )


def run_detectors(
    series: Path,
    folder: Path,
    detectors: Sequence[str],
    *,
    executor: ExecutorSettings,
    seed: int,
    progress: Callable[..., None],
) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """Run detectors on a folder of series; finished ones are reused.

    Parameters
    ----------
    series : Path
        The series.
    folder : Path
        Keeps the run.
    detectors : sequence of str
        Names of detectors.
    executor : ExecutorSettings
        Where to run.
    seed : int
        Seed of the detectors.
    progress : callable
        Called with the number done, the total, a name, and how many earlier runs have done.

    Returns
    -------
    tuple
        Series with scores, and sentences about what failed.

    Raises
    ------
    InvalidInputError
        If no detector could score any series.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plan = folder / _PLAN
    write_atomically(plan, _plan_text(series.resolve(), detectors, executor, seed))
    summary = run_plan(
        load_plan(plan),
        observer=lambda state, ended: progress(
            state.done, state.total, ended[-1][0].title if ended else "", state.before
        ),
    )
    status = Run(summary.folder).status(failures=3)
    notes = [*summary.notes, *summary.not_computed]
    notes += [
        f"{plural(cause.n_jobs, 'job')} failed, such as {cause.example.title}: "
        f"{cause.example.message}"
        for cause in status.causes
    ]
    return open_scores(summary.folder), tuple(notes)


def _plan_text(
    series: Path, detectors: Sequence[str], executor: ExecutorSettings, seed: int
) -> str:
    entries = "\n".join(f"[[detectors]]\nname = {json.dumps(name)}\n" for name in detectors)
    address = "" if executor.address is None else f"address = {json.dumps(executor.address)}\n"
    return (
        "# Detectors of `vuskit paper`.\n"
        f'folder = "run"\nseeds = [{seed}]\n\n'
        f"[[series]]\nfolder = {json.dumps(str(series), ensure_ascii=False)}\n\n"
        f"{entries}\n[executor]\nkind = {json.dumps(executor.kind)}\n"
        f"workers = {executor.workers}\n{address}"
    )

"""Input of a reproduction: saved scores, a benchmark run, or series without scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vuskit._util.files import write_atomically
from vuskit._util.optional import is_installed
from vuskit._util.text import plural
from vuskit.bench import Run, run_plan
from vuskit.bench.plan import make_plan
from vuskit.bench.run import find_run, open_scores
from vuskit.datasets.collection import SeriesFile, read_collection
from vuskit.datasets.columns import Columns, roles_of_file
from vuskit.datasets.inputs import Source
from vuskit.detectors.registry import detector_class
from vuskit.engine import ExecutorSettings
from vuskit.errors import InvalidInputError

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
_SECONDS_PER_SCORE = 2.0  # rough, for the progress bar only


@dataclass(frozen=True)
class PaperInput:
    """Data of a reproduction."""

    sources: Sequence[Source]
    series: Path | None = None
    n_series: int = 0
    notes: tuple[str, ...] = ()

    def seconds(self, detectors: Sequence[str], workers: int) -> float:
        """Estimate how long the detectors take."""
        if self.series is None:
            return 0.0
        return _SECONDS_PER_SCORE * self.n_series * len(detectors) / workers


def open_input(source: Any) -> PaperInput:
    """Detect the kind of input; computes nothing."""
    if not isinstance(source, (str, Path)) or not Path(source).is_dir() or find_run(source):
        found = open_scores(source)
        return PaperInput(found, None, len(found), found.notes)
    path = Path(source)
    files = read_collection(path).files
    if files and not any(map(_holds_scores, files)):
        return PaperInput((), path, len(files))
    try:
        found = open_scores(path)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"`source` must hold series or saved scores with labels, got none in {path} ({error}); "
            "if the labels are elsewhere or scores need alignment, first run `vuskit evaluate "
            f"{path} --labels PATH --output RUN`, then `vuskit paper RUN`; `vuskit paper --demo` "
            "runs without data"
        ) from error
    return PaperInput(found, None, len(found), found.notes)


def _holds_scores(file: SeriesFile) -> bool:
    """Whether a table has scores besides the labels and the series itself."""
    if file.format.name != "table":
        return file.format.name == "scores"
    try:
        roles = roles_of_file(file.path, Columns())
    except InvalidInputError:
        return False
    return bool(roles.value and roles.scores)


def usable_detectors(chosen: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the chosen detectors, or those of the paper whose libraries are installed."""
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
) -> tuple[Sequence[Source], tuple[str, ...]]:
    """Run detectors on a folder of series; finished jobs are reused."""
    placed = {"kind": executor.kind, "workers": executor.workers, "address": executor.address}
    document = {
        "folder": "run",
        "seeds": [seed],
        "series": [{"folder": str(series.resolve())}],
        "detectors": [{"name": name} for name in detectors],
        "executor": {name: value for name, value in placed.items() if value is not None},
    }
    plan = make_plan(document, base=folder.resolve(), name="the detectors of the paper")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _PLAN, plan.text)
    summary = run_plan(
        plan,
        observer=lambda state: progress(state.done, state.total, state.name, state.before),
    )
    status = Run(summary.folder).status(failures=3)
    notes = [*summary.notes, *summary.not_computed]
    notes += [
        f"{plural(cause.n_jobs, 'job')} failed, for example {cause.example.title}: "
        f"{cause.example.message}"
        for cause in status.causes
    ]
    return open_scores(summary.folder), tuple(notes)

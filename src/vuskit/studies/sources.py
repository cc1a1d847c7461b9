"""Sources of series and scores: files, folders, benchmark runs, or objects in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vuskit._util.names import match_names
from vuskit.bench import Run, StoredScores
from vuskit.bench.jobs import SeriesSource
from vuskit.buffers import BufferChoice, choose_buffer
from vuskit.datasets import ScoredSeries, read_collection, read_scores
from vuskit.datasets.unique_names import SeriesName, unique_names
from vuskit.errors import InvalidInputError, VuskitError

__all__ = [
    "InMemory",
    "RenamedSource",
    "ScoreFile",
    "SeriesNames",
    "Source",
    "StudyInput",
    "buffer_of",
    "changed_inputs",
    "content_of",
    "open_scores",
    "shared_place",
    "without_names",
]


@runtime_checkable
class Source(Protocol):
    """Reads one series with its scores on demand."""

    @property
    def name(self) -> str:
        """Name for progress and errors."""

    def read(self) -> ScoredSeries:
        """Return the series and its scores."""


@dataclass(frozen=True)
class SeriesNames:
    """Names of a series, its scores and its detectors."""

    dataset: str
    series: str
    runs: tuple[str, ...]
    detectors: tuple[str, ...]

    @classmethod
    def of(cls, scored: ScoredSeries) -> SeriesNames:
        """Return the names of a series with scores."""
        series = scored.series
        return cls(series.dataset, series.name, tuple(scored.scores), scored.detectors)

    @property
    def title(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    def by_placeholder(self) -> dict[str, str]:
        """Return the names of the detectors by the placeholders of `without_names`."""
        return {_placeholder(place): name for place, name in enumerate(self.detectors)}


def _placeholder(place: int) -> str:
    return f"detector {place}"


def without_names(scored: ScoredSeries) -> ScoredSeries:
    """Return the series and its scores with placeholders instead of names."""
    scores: dict[str, NDArray[np.float64]] = {}
    repeats: dict[str, tuple[str, ...]] = {}
    renamed: dict[str, str] = {}
    for place, detector in enumerate(scored.detectors):
        runs = scored.repeats.get(detector, (detector,))
        name = _placeholder(place)
        names = (name,) if len(runs) == 1 else tuple(f"{name} ({run})" for run in range(len(runs)))
        renamed |= dict(zip(runs, names, strict=True))
        if len(runs) > 1:
            repeats[name] = names
    for run, score in scored.scores.items():
        scores[renamed[run]] = score
    series = replace(scored.series, dataset="data set", name="series")
    return ScoredSeries(series, scores, repeats)


@dataclass(frozen=True)
class ScoreFile:
    """A file of saved scores."""

    path: Path

    @property
    def name(self) -> str:
        """Folder and file."""
        return f"{self.path.parent.name}/{self.path.name}"

    @property
    def place(self) -> Path:
        """The file."""
        return self.path

    def read(self) -> ScoredSeries:
        """Read the file."""
        return read_scores(self.path)


@dataclass(frozen=True)
class RenamedSource:
    """A source whose series is renamed because another one has the same name."""

    source: Source
    dataset: str
    series: str

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    @property
    def place(self) -> Path | None:
        """File of scores or folder of a run; None for a series in memory."""
        return getattr(self.source, "place", None)

    def read(self) -> ScoredSeries:
        """Read the series and rename it."""
        scored = self.source.read()
        series = replace(scored.series, dataset=self.dataset, name=self.series)
        return replace(scored, series=series)


@dataclass(frozen=True)
class InMemory:
    """A series with scores that is already in memory."""

    scored: ScoredSeries

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.scored.series.dataset}/{self.scored.series.name}"

    def read(self) -> ScoredSeries:
        """Return the series."""
        return self.scored


@dataclass(frozen=True)
class StudyInput:
    """A series that was studied.

    Attributes
    ----------
    name : str
        Data set and series.
    digest : str
        Digest of its content and its scores.
    place : str
        File of scores or folder of a run; empty for a series in memory.
    """

    name: str
    digest: str
    place: str = ""

    @classmethod
    def of(cls, source: Source, names: SeriesNames, digest: str) -> StudyInput:
        """Record the series that a source returned."""
        place: Path | None = getattr(source, "place", None)
        return cls(names.title, digest, "" if place is None else str(place.resolve()))


def changed_inputs(inputs: Iterable[StudyInput]) -> list[StudyInput]:
    r"""Return the inputs whose file or run still exists but whose content has changed.

    Inputs in memory and deleted inputs cannot be checked.

    Parameters
    ----------
    inputs : iterable of StudyInput
        Inputs of one or several results; each file is read once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from vuskit.studies import consistency_study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b", "c"):
    ...     _ = (folder / f"{name}.csv").write_text("value,label,mine\n1,0,0.1\n9,1,0.8\n")
    >>> found = consistency_study(folder, measures=["auc_pr"], buffer=1)
    >>> _ = (folder / "b.csv").write_text("value,label,mine\n1,1,0.1\n9,0,0.8\n")
    >>> [one.name.rpartition("/")[2] for one in changed_inputs(found.inputs)]
    ['b']
    """
    known: dict[str, set[str] | None] = {}
    changed = []
    for one in dict.fromkeys(inputs):
        if one.place not in known:
            known[one.place] = _digests_at(Path(one.place)) if one.place else None
        digests = known[one.place]
        if digests is not None and one.digest not in digests:
            changed.append(one)
    return changed


def _digests_at(place: Path) -> set[str] | None:
    """Digests of the series that a file or a run holds now; None if it was deleted."""
    if not place.exists():
        return None
    found = set()
    with suppress(VuskitError, OSError):  # files that can no longer be read count as changed
        for source in _from_path(place, None):
            with suppress(VuskitError, OSError):
                found.add(content_of(source.read()))
    return found


def shared_place(inputs: Iterable[StudyInput]) -> str:
    """Return the common file or folder of all inputs; empty if one was in memory."""
    places = {one.place for one in inputs}
    if not places or "" in places:
        return ""
    try:
        return os.path.commonpath(places)
    except ValueError:  # the inputs are on different drives
        return ""


def open_scores(source: Any, *, pattern: str | Iterable[str] | None = None) -> tuple[Source, ...]:
    """Return the sources of series with scores.

    Parameters
    ----------
    source : str, Path, ScoredSeries, Source, or iterable of these
        A folder of saved scores (searched with its subfolders), a file, the folder of a benchmark
        run, or series in memory. A custom source needs a ``name`` and a ``read()`` that returns a
        `ScoredSeries`.
    pattern : str or iterable of str, optional
        Selects series by name, such as ``"ECG/*"``: the path below the folder or its last part.

    Returns
    -------
    tuple of Source
        In the order given; files of a folder by path. Names are unique, see
        `vuskit.datasets.unique_names`.

    Raises
    ------
    InvalidInputError
        If there are no scores, or a pattern matches no series.

    Examples
    --------
    >>> from vuskit.datasets import Series
    >>> scored = ScoredSeries(Series("a", "docs", [1.0, 9.0], [0, 1]), {"mine": [0.1, 0.9]})
    >>> [source.name for source in open_scores([scored])]
    ['docs/a']
    """
    return _with_unique_names(_found(source, pattern))


def _with_unique_names(sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Rename series with the same data set and name, which results could not tell apart."""
    known = [_series_name(one) for one in sources]
    listed = [name for name in known if name is not None]
    new = iter(unique_names(listed))
    renamed = []
    for source, name in zip(sources, known, strict=True):
        if name is not None and (unique := next(new)) != name[:2]:
            source = RenamedSource(source, *unique)
        renamed.append(source)
    return tuple(renamed)


def _series_name(source: Source) -> SeriesName | None:
    """Return the name of a series without reading it; None for custom sources."""
    match source:
        case ScoreFile(path=path):
            name = path.name.removesuffix(".gz")
            return SeriesName(path.resolve().parent.name, Path(name).stem, path.resolve())
        case StoredScores(series=one):
            return SeriesName(one.dataset, one.name, SeriesSource(one.source).path, one.hash)
        case InMemory(scored=scored):
            series = scored.series
            return SeriesName(series.dataset, series.name, None, series.content_hash)
    return None


def _found(source: Any, pattern: str | Iterable[str] | None) -> tuple[Source, ...]:
    if isinstance(source, (str, Path)):
        found = _from_path(Path(source), pattern)
    elif isinstance(source, ScoredSeries):
        found = (InMemory(source),)
    elif isinstance(source, Source):
        found = (source,)
    elif isinstance(source, Iterable):
        found = tuple(one for part in source for one in _found(part, pattern))
    else:
        raise InvalidInputError(
            "`source` must be a folder or file of saved scores, a ScoredSeries, or several of "
            f"these, got {type(source).__name__}"
        )
    if not found:
        raise InvalidInputError(f"`source` must hold saved scores, got none in {source!r}")
    return found


def _from_path(path: Path, pattern: str | Iterable[str] | None) -> tuple[Source, ...]:
    if path.is_file():
        return (ScoreFile(path),)
    if not path.is_dir():
        raise InvalidInputError(f"`source` must be a file or a folder, got {str(path)!r}")
    run = Run(path)
    if run.exists:
        found: list[tuple[str, Source]] = [(one.name, one) for one in run.scored_series()]
    else:
        files = (file for file in read_collection(path).files if file.format.name == "scores")
        found = [(file.key, ScoreFile(file.path)) for file in files]
    if pattern is None:
        return tuple(source for _, source in found)
    names = set(match_names([name for name, _ in found], pattern, argument="pattern"))
    return tuple(source for name, source in found if name in names)


def buffer_of(scored: ScoredSeries, strategy: str | int) -> BufferChoice:
    """Choose the buffer of a series by a strategy or a number."""
    return choose_buffer(strategy, values=scored.series.values, y_true=scored.series.labels)


def content_of(scored: ScoredSeries) -> str:
    """Return a digest of values, labels, scores and their grouping by detector, without names."""
    runs = list(scored.scores)
    together = [
        [runs.index(run) for run in scored.repeats.get(detector, (detector,))]
        for detector in scored.detectors
    ]
    digest = hashlib.sha256(f"vuskit-scored-1 {together}\n".encode())
    digest.update(scored.series.content_hash.encode())
    for score in scored.scores.values():
        digest.update(np.ascontiguousarray(score, dtype="<f8").tobytes())
    return digest.hexdigest()

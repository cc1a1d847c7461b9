"""Where the studies take series and scores from: files, folders, or objects in memory."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from vuskit.datasets import ScoredSeries, read_collection, read_scores
from vuskit.errors import InvalidInputError
from vuskit.periods import BufferChoice, choose_buffer
from vuskit.studies.bench_scores import bench_scores, is_bench_run

__all__ = ["ScoreFile", "Source", "buffer_of", "content_of", "open_scores"]


@runtime_checkable
class Source(Protocol):
    """Gives one series with its scores when asked; must be picklable to be used in parallel."""

    @property
    def name(self) -> str:
        """Name for progress and errors."""

    def read(self) -> ScoredSeries:
        """The series and its scores."""


@dataclass(frozen=True)
class ScoreFile:
    """A file of saved scores."""

    path: Path

    @property
    def name(self) -> str:
        """Folder and file."""
        return f"{self.path.parent.name}/{self.path.name}"

    def read(self) -> ScoredSeries:
        """Read the file.

        Raises
        ------
        InvalidInputError
            If it is broken.
        """
        return read_scores(self.path)


@dataclass(frozen=True)
class _InMemory:
    scored: ScoredSeries

    @property
    def name(self) -> str:
        return f"{self.scored.series.dataset}/{self.scored.series.name}"

    def read(self) -> ScoredSeries:
        return self.scored


def open_scores(source: Any, *, pattern: str | None = None) -> tuple[Source, ...]:
    """Sources of series with scores.

    Parameters
    ----------
    source : str, Path, ScoredSeries, Source, or iterable of these
        A folder of saved scores (searched with its subfolders), a file, the folder of a benchmark
        run, or what was read already.
        Anything with a ``name`` and a ``read()`` that gives a `ScoredSeries` will do.
    pattern : str, optional
        Take only the files of a folder whose path below it, or its last part, fits: ``"ECG/*"``.

    Returns
    -------
    tuple of Source
        In the order given; files of a folder by their path.

    Raises
    ------
    InvalidInputError
        If there is nothing, or something else.

    Examples
    --------
    >>> from vuskit.datasets import Series
    >>> scored = ScoredSeries(Series("a", "docs", [1.0, 9.0], [0, 1]), {"mine": [0.1, 0.9]})
    >>> [source.name for source in open_scores([scored])]
    ['docs/a']
    """
    if isinstance(source, (str, Path)):
        found = _from_path(Path(source), pattern)
    elif isinstance(source, ScoredSeries):
        found = (_InMemory(source),)
    elif isinstance(source, Source):
        found = (source,)
    elif isinstance(source, Iterable):
        found = tuple(one for part in source for one in open_scores(part, pattern=pattern))
    else:
        raise InvalidInputError(
            "`source` must be a folder or file of saved scores, a ScoredSeries, or several of "
            f"these, got {type(source).__name__}"
        )
    if not found:
        raise InvalidInputError(f"`source` must hold saved scores, got none in {source!r}")
    return found


def fits(name: str, pattern: str | None) -> bool:
    """Whether a name, or its last part, fits the pattern; without a pattern all do."""
    names = (name, name.rpartition("/")[2])
    return pattern is None or any(fnmatch.fnmatchcase(text, pattern) for text in names)


def _from_path(path: Path, pattern: str | None) -> tuple[Source, ...]:
    if path.is_file():
        return (ScoreFile(path),)
    if not path.is_dir():
        raise InvalidInputError(f"`source` must be a file or a folder, got {str(path)!r}")
    if is_bench_run(path):
        return tuple(one for one in bench_scores(path) if fits(one.name, pattern))
    files = read_collection(path)
    if pattern is not None:
        files = files.filter(name=pattern)
    return tuple(ScoreFile(file.path) for file in files.files if file.format.name == "scores")


def buffer_of(scored: ScoredSeries, strategy: str | int) -> BufferChoice:
    """Buffer of a series by a named strategy or a number; gaps in the values are bridged by lines.

    Raises
    ------
    InvalidInputError
        As :func:`vuskit.choose_buffer`.

    Examples
    --------
    >>> from vuskit.datasets import Series
    >>> scored = ScoredSeries(Series("a", "docs", [1.0, 9.0], [0, 1]), {"mine": [0.1, 0.9]})
    >>> buffer_of(scored, 25).length
    25
    """
    values = scored.series.values
    if isinstance(strategy, str) and np.isnan(values).any():
        values = _bridged(values if values.ndim == 1 else values[:, 0])
    return choose_buffer(strategy, values=values, y_true=scored.series.labels)


def _bridged(values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    known = np.flatnonzero(~np.isnan(values))
    if known.size == 0:
        return np.zeros(values.size)
    return np.interp(np.arange(values.size), known, values[known])


def content_of(scored: ScoredSeries) -> str:
    """Digest of the series, its names and its scores: changes when any of them does."""
    digest = hashlib.sha256()
    names = (scored.series.dataset, scored.series.name, *scored.detectors)
    digest.update("\0".join(names).encode())
    digest.update(scored.series.content_hash.encode())
    for score in scored.scores.values():
        digest.update(np.ascontiguousarray(score, dtype="<f8").tobytes())
    return digest.hexdigest()

"""Where the studies take series and scores from: files, folders, or objects in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vuskit._util.gaps import bridge_gaps
from vuskit._util.names import match_names
from vuskit.bench import Run
from vuskit.buffers import BufferChoice, choose_buffer
from vuskit.datasets import ScoredSeries, read_collection, read_scores
from vuskit.errors import InvalidInputError

__all__ = [
    "InMemory",
    "ScoreFile",
    "Source",
    "bridged_values",
    "buffer_of",
    "content_of",
    "digest_of",
    "open_scores",
]


@runtime_checkable
class Source(Protocol):
    """Gives one series with its scores when asked; must be picklable to be used in parallel."""

    @property
    def name(self) -> str:
        """Name for progress and errors."""

    def read(self) -> ScoredSeries:
        """The series and its scores."""


def digest_of(source: Source) -> str:
    """Digest of the content of a source; changes when its names, values, labels or scores do.

    Sources with a cheaper way than reading the series have a method ``digest()``.
    """
    digest = getattr(source, "digest", None)
    return content_of(source.read()) if digest is None else str(digest())


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

    def digest(self) -> str:
        """Digest of the name and the bytes of the file."""
        digest = hashlib.sha256(f"{self.name}\0".encode())
        digest.update(self.path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class InMemory:
    """A series with scores that was read before."""

    scored: ScoredSeries

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.scored.series.dataset}/{self.scored.series.name}"

    def read(self) -> ScoredSeries:
        """Return the series."""
        return self.scored


def open_scores(source: Any, *, pattern: str | Iterable[str] | None = None) -> tuple[Source, ...]:
    """Sources of series with scores.

    Parameters
    ----------
    source : str, Path, ScoredSeries, Source, or iterable of these
        A folder of saved scores (searched with its subfolders), a file, the folder of a benchmark
        run, or what was read already.
        Anything with a ``name`` and a ``read()`` that gives a `ScoredSeries` will do.
    pattern : str or iterable of str, optional
        Select series by name, such as ``"ECG/*"``: the path below the folder or its last part.

    Returns
    -------
    tuple of Source
        In the order given; files of a folder by their path.

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
    if isinstance(source, (str, Path)):
        found = _from_path(Path(source), pattern)
    elif isinstance(source, ScoredSeries):
        found = (InMemory(source),)
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


def bridged_values(scored: ScoredSeries) -> NDArray[np.float64]:
    """Values of a series for choosing its buffer; gaps are bridged by lines."""
    values = scored.series.values
    if not np.isnan(values).any():
        return values
    return bridge_gaps(values if values.ndim == 1 else values[:, 0])


def buffer_of(scored: ScoredSeries, strategy: str | int) -> BufferChoice:
    """Buffer of a series by a named strategy or a number; gaps in the values are bridged.

    Raises
    ------
    InvalidInputError
        As :func:`vuskit.choose_buffer`.
    """
    return choose_buffer(strategy, values=bridged_values(scored), y_true=scored.series.labels)


def content_of(scored: ScoredSeries) -> str:
    """Digest of the series, its names and its scores: changes when any of them does."""
    digest = hashlib.sha256()
    names = (scored.series.dataset, scored.series.name, *scored.scores)
    runs = sorted((name, *runs) for name, runs in scored.repeats.items())
    digest.update(json.dumps([names, runs]).encode())
    digest.update(scored.series.content_hash.encode())
    for score in scored.scores.values():
        digest.update(np.ascontiguousarray(score, dtype="<f8").tobytes())
    return digest.hexdigest()

"""Sources of series and scores: files, folders, benchmark runs, or objects in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from vuskit._util.names import match_names
from vuskit.bench import Run, RunSeries, StoredScores
from vuskit.bench.series import SeriesSource
from vuskit.buffers import BufferChoice, choose_buffer
from vuskit.datasets import (
    ScoredSeries,
    read_scores,
)
from vuskit.datasets.collection import read_collection
from vuskit.datasets.unique_names import SeriesName, unique_names
from vuskit.errors import InvalidInputError, VuskitError


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
    repeats: dict[str, tuple[str, ...]] = {}
    renamed: dict[str, str] = {}
    for place, detector in enumerate(scored.detectors):
        runs = scored.repeats.get(detector, (detector,))
        name = _placeholder(place)
        names = (name,) if len(runs) == 1 else tuple(f"{name} ({run})" for run in range(len(runs)))
        renamed |= dict(zip(runs, names, strict=True))
        if len(runs) > 1:
            repeats[name] = names
    scores = {renamed[run]: score for run, score in scored.scores.items()}
    series = replace(scored.series, dataset="data set", name="series")
    return ScoredSeries(series, scores, repeats)


@dataclass(frozen=True)
class ScoredSource:
    """A series in a file, a run or memory; renamed if another series has the same name."""

    name: str
    load: Callable[[], ScoredSeries]
    place: Path | None = None
    renamed: tuple[str, str] | None = None  # data set and series

    def read(self) -> ScoredSeries:
        """Return the series and its scores."""
        scored = self.load()
        if self.renamed is None:
            return scored
        dataset, name = self.renamed
        return replace(scored, series=replace(scored.series, dataset=dataset, name=name))


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
    >>> from vuskit.studies import run_study
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("a", "b", "c"):
    ...     _ = (folder / f"{name}.csv").write_text("value,label,mine\n1,0,0.1\n9,1,0.8\n")
    >>> found = run_study("consistency", folder, measures=["auc_pr"], buffer=1)
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
        for source, _ in _from_path(place, None):
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
    found = _found(source, pattern)
    unique = iter(unique_names([name for _, name in found if name is not None]))
    return tuple(
        one if name is None else _with_name(one, name, next(unique)) for one, name in found
    )


_Named = tuple[Source, SeriesName | None]  # name of the series; None for custom sources


def _with_name(source: Source, name: SeriesName, unique: tuple[str, str]) -> Source:
    """Rename a series if results could not tell it apart from another one."""
    if unique == name[:2]:
        return source
    return ScoredSource("/".join(unique), source.read, getattr(source, "place", None), unique)


def _found(source: Any, pattern: str | Iterable[str] | None) -> list[_Named]:
    if isinstance(source, (str, Path)):
        found = _from_path(Path(source), pattern)
    elif isinstance(source, ScoredSeries):
        one = source.series
        name = SeriesName(one.dataset, one.name, None, one.content_hash)
        found = [(ScoredSource(f"{one.dataset}/{one.name}", partial(_same, source)), name)]
    elif isinstance(source, Source):
        stored = source.series if isinstance(source, StoredScores) else None
        found = [(source, None if stored is None else _name_in_run(stored))]
    elif isinstance(source, Iterable):
        found = [one for part in source for one in _found(part, pattern)]
    else:
        raise InvalidInputError(
            "`source` must be a folder or file of saved scores, a ScoredSeries, or several of "
            f"these, got {type(source).__name__}"
        )
    if not found:
        raise InvalidInputError(f"`source` must hold saved scores, got none in {source!r}")
    return found


def _same(scored: ScoredSeries) -> ScoredSeries:
    return scored


def _from_path(path: Path, pattern: str | Iterable[str] | None) -> list[_Named]:
    if path.is_file():
        return [_from_file(path)]
    if not path.is_dir():
        raise InvalidInputError(f"`source` must be a file or a folder, got {str(path)!r}")
    run = Run(path)
    found: list[tuple[str, _Named]]
    if run.exists:
        found = [(one.name, (one, _name_in_run(one.series))) for one in run.scored_series()]
    else:
        files = (file for file in read_collection(path).files if file.format.name == "scores")
        found = [(file.key, _from_file(file.path)) for file in files]
    if pattern is None:
        return [one for _, one in found]
    names = set(match_names([name for name, _ in found], pattern, argument="pattern"))
    return [one for name, one in found if name in names]


def _from_file(path: Path) -> _Named:
    source = ScoredSource(f"{path.parent.name}/{path.name}", partial(read_scores, path), path)
    full = path.resolve()
    stem = Path(path.name.removesuffix(".gz")).stem
    return source, SeriesName(full.parent.name, stem, full)


def _name_in_run(series: RunSeries) -> SeriesName:
    return SeriesName(series.dataset, series.name, SeriesSource(series.source).path, series.hash)


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

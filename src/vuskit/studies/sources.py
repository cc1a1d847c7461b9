"""Names and content of the series that a study reads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vuskit.bench.sources import open_scores
from vuskit.datasets import ScoredSeries
from vuskit.datasets.inputs import Source
from vuskit.errors import VuskitError


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
        for source in open_scores(place):
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

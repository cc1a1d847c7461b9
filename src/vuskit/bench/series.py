"""Series of plans and runs: where they come from, and their description without values."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import vuskit
from vuskit._util.files import file_state
from vuskit._util.text import listed
from vuskit.datasets import Series, read_series
from vuskit.datasets.readers.registry import Format, declared_train_length, get_format
from vuskit.datasets.synthetic import make_series
from vuskit.errors import ChangedInputError, InvalidInputError
from vuskit.store.identity import canonical, code_of

CHANGED_DURING_RUN = "a file changed during the run; run the same command again"
_SHOWN_FILES = 3


@dataclass(frozen=True)
class SeriesSource:
    """Where a series comes from: a file with its format, or the arguments of a synthetic series."""

    spec: str

    @classmethod
    def file(cls, path: Path, format_name: str, options: dict[str, Any]) -> SeriesSource:
        """Return the source of a file."""
        content = {"file": str(path.resolve()), "format": format_name, "options": options}
        return cls(canonical(content))

    @classmethod
    def synthetic(cls, arguments: dict[str, Any]) -> SeriesSource:
        """Return the source of a synthetic series."""
        return cls(canonical({"synthetic": arguments}))

    def with_options(self, **options: Any) -> SeriesSource:
        """Return a copy with additional options of its format."""
        content = self.content
        return SeriesSource(canonical({**content, "options": {**content["options"], **options}}))

    @functools.cached_property
    def content(self) -> dict[str, Any]:
        """The spec as a dict."""
        return dict(json.loads(self.spec))

    @property
    def path(self) -> Path | None:
        """Path of the file; None for a synthetic series."""
        return Path(self.content["file"]) if "file" in self.content else None

    @property
    def format_name(self) -> str | None:
        """Name of the format; None for a synthetic series."""
        return self.content.get("format")

    @property
    def format(self) -> Format | None:
        """The format; None for a synthetic series."""
        return None if self.format_name is None else get_format(self.format_name)

    @property
    def declared_train_length(self) -> int | None:
        """Number of training points that the file name or the options declare."""
        if self.path is None:
            return None
        given: int | None = self.content["options"].get("train_length")
        return declared_train_length(self.path) if given is None else given

    def stamp(self) -> str:
        """Version of the code that reads or generates the series."""
        form = self.format
        return str(code_of(vuskit if form is None else form.read))

    def file_states(self, known: Iterable[str] = ()) -> dict[str, str]:
        """State of the file, of its companion files, and of previously known files."""
        form, path = self.format, self.path
        if form is None or path is None:
            return {}
        declared = form.input_files(path, self.content["options"])
        paths = [*(os.path.abspath(one) for one in declared), *known]
        return {one: file_state(one) for one in sorted(set(paths))}

    def changed_files(self, files: Mapping[str, str]) -> tuple[str, ...]:
        """Files that changed since they had these states, including new companion files."""
        now = self.file_states(files)
        return tuple(path for path, state in now.items() if files.get(path) != state)

    def where_changed(self, files: Mapping[str, str]) -> str:
        """Return " (FILE, ...)" with the changed files, or with the main file."""
        try:
            paths = self.changed_files(files) if files else ()
        except InvalidInputError:
            paths = ()
        shown = paths or tuple(str(one) for one in (self.path,) if one is not None)
        return f" ({listed(shown, most=_SHOWN_FILES)})" if shown else ""

    def load(self) -> Series:
        """Read or generate the series."""
        if self.path is None:
            return make_series(**self.content["synthetic"])
        options = self.content["options"]
        series = read_series(self.path, format=self.content["format"], **options)
        assert isinstance(series, Series)
        return series


class NamedSeries:
    """What a name and anomalies tell about a series."""

    dataset: str
    name: str
    events: tuple[tuple[int, int], ...]

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"

    @property
    def n_anomalies(self) -> int:
        """Number of anomalies."""
        return len(self.events)

    @property
    def anomalous_points(self) -> int:
        """Number of points in anomalies."""
        return sum(stop - start for start, stop in self.events)


@dataclass(frozen=True)
class SeriesRef(NamedSeries):
    """Description of a series, without its values."""

    hash: str
    values_hash: str
    dataset: str
    name: str
    n_points: int
    n_channels: int
    n_missing: int
    train_length: int | None
    events: tuple[tuple[int, int], ...] = field(repr=False)
    source: SeriesSource = field(compare=False)
    left_out: tuple[str, ...] = field(default=(), compare=False)
    files: dict[str, str] = field(default_factory=dict, compare=False)

    def load(self) -> Series:
        """Read the series and check that it has not changed since the plan was expanded."""
        series = _recent.get(self.hash)
        if series is None:
            series = self.verified(self._read())
            while len(_recent) >= _MOST_RECENT:
                del _recent[next(iter(_recent))]
            _recent[self.hash] = series
        return series

    def _read(self) -> Series:
        try:
            return self.source.load()
        except (InvalidInputError, OSError) as error:
            if not self.files or not self.source.changed_files(self.files):
                raise
            raise ChangedInputError(
                f"{self.title} can no longer be read: {error}; {CHANGED_DURING_RUN}"
            ) from error

    def verified(self, series: Series) -> Series:
        """Return the series if its content matches this description."""
        if series.content_hash != self.hash:
            raise ChangedInputError(
                f"{self.title} must not change during a run, got different values or labels"
                f"{self.source.where_changed(self.files)}; {CHANGED_DURING_RUN}"
            )
        return series

    def facts(self) -> dict[str, Any]:
        """Return everything except the source as plain data; see `from_facts`."""
        names = [name for name in self.__dataclass_fields__ if name != "source"]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], source: SeriesSource) -> SeriesRef:
        """Undo `facts`."""
        events = tuple((start, stop) for start, stop in facts["events"])
        changed = {"events": events, "left_out": tuple(facts["left_out"]), "source": source}
        return cls(**{**facts, **changed})


# Jobs on one series follow each other, so a worker reads each series about once. The key is a
# digest of the content, so a worker with an old copy reads the file again.
_MOST_RECENT = 2
_recent: dict[str, Series] = {}


def describe_series(source: SeriesSource) -> SeriesRef:
    """Read a series and return its description."""
    # Taken before reading, so that an edit during the read is detected the next time.
    files = source.file_states()
    series = source.load()
    values = np.ascontiguousarray(series.values, dtype="<f8")
    digest = hashlib.sha256(f"vuskit-values-1 {values.shape}\n".encode())
    digest.update(values.tobytes())
    return SeriesRef(
        hash=series.content_hash,
        values_hash=digest.hexdigest(),
        dataset=series.dataset,
        name=series.name,
        n_points=series.n_points,
        n_channels=series.n_channels,
        n_missing=int(np.isnan(series.values).sum()),
        train_length=series.train_length,
        events=tuple((int(start), int(stop)) for start, stop in series.events),
        source=source,
        left_out=series.left_out,
        files=files,
    )


@dataclass(frozen=True)
class RunSeries(NamedSeries):
    """A series of a run.

    Attributes
    ----------
    dataset, name : str
        Data set and name.
    hash : str
        Digest of its content.
    source : str
        File or generator, as a spec of `vuskit.bench.series.SeriesSource`.
    n_points, n_channels : int
        Sizes.
    title, n_anomalies, anomalous_points
        Data set and name; number of anomalies, and of points in them.
    scores : tuple
        Detector and key of the stored scores; for several seeds, those of the first.
    events : tuple
        Anomalies as half-open intervals.
    train_length : int or None
        Number of leading training points.
    files : dict
        Files that the series was read from, each with its state at that time; empty in packs.
    """

    dataset: str
    name: str
    hash: str
    source: str
    n_points: int
    n_channels: int
    scores: tuple[tuple[str, str], ...]
    events: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    train_length: int | None = None
    files: dict[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, row: dict[str, Any], scores: tuple[tuple[str, str], ...] = ()) -> RunSeries:
        """Return the series of a row of the table ``series``."""
        return cls(
            dataset=row["dataset"],
            name=row["name"],
            hash=row["hash"],
            source=row["source"],
            n_points=row["n_points"],
            n_channels=row["n_channels"],
            scores=scores,
            events=tuple((start, stop) for start, stop in json.loads(row["events"])),
            train_length=row["train_length"],
            files=json.loads(row["files"]),
        )

    @property
    def has_values(self) -> bool:
        """Whether values can be read: not in a pack, unless the series is synthetic."""
        return self.source != "{}"

    def read(self) -> Series:
        """Read the series and check that it has not changed since the run.

        Raises
        ------
        ChangedInputError
            If its values or labels changed since the run.
        InvalidInputError
            If it cannot be read.
        """
        source = SeriesSource(self.source)
        if not self.has_values:
            raise InvalidInputError(
                f"values of {self.title} must be read from the original file, got a pack, which "
                "holds only labels and scores; use the run folder"
            )
        try:
            found = source.load()
        except (OSError, KeyError) as error:
            raise InvalidInputError(f"{self.title} cannot be read: {error}") from error
        if found.content_hash != self.hash:
            raise ChangedInputError(
                f"values or labels of {self.title} changed since the run"
                f"{source.where_changed(self.files)}; run the command that created the "
                "run (`vuskit bench run` or `vuskit evaluate`) again"
            )
        # The run gives unique names to series with equal file names.
        return replace(found, dataset=self.dataset, name=self.name)

    def without_values(self) -> Series:
        """Return the series with its stored labels; its values are NaN."""
        labels = np.zeros(self.n_points, dtype=bool)
        for start, stop in self.events:
            labels[start:stop] = True
        shape = self.n_points if self.n_channels == 1 else (self.n_points, self.n_channels)
        return Series(self.name, self.dataset, np.full(shape, np.nan), labels, self.train_length)

    def find_change(self) -> str | None:
        """Describe what changed since the run; None if nothing did or the series is unreadable."""
        source = SeriesSource(self.source)
        try:
            if source.path is None or (self.files and not source.changed_files(self.files)):
                return None
            self.read()
        except ChangedInputError as error:
            return str(error)
        except InvalidInputError:
            return None
        return None

"""Packs: the results of a run in one file that others can check.

A pack is a zip file of plain data: the plan, the values, tables of the store as JSON, and
optionally labels and scores. Reading a pack executes nothing and unpacks nothing to disk.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.files import atomic_path
from vuskit._util.tables import csv_text
from vuskit._util.text import quoted
from vuskit.bench.identity import import_object, importable, scores_digest, values_checksum
from vuskit.bench.jobs import (
    EvaluateJob,
    JobAction,
    MeasureSpec,
    Scores,
    evaluate_scores,
    evaluation_key,
)
from vuskit.bench.run import (
    Failure,
    Run,
    RunSeries,
    Verification,
    requested_values,
    value_problems,
)
from vuskit.bench.store import (
    PORTABLE_TABLES,
    SCHEMA_VERSION,
    ScoreFiles,
    StoreReader,
    load_tables,
)
from vuskit.bench.stored_code import stored_code
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.catalog import UnpackLimits, UnsafeArchiveError
from vuskit.engine import Status
from vuskit.errors import ChangedInputError, InvalidInputError
from vuskit.intervals import event_bounds
from vuskit.measures.registry import list_measures

if TYPE_CHECKING:
    from vuskit.bench.plan import Plan

__all__ = [
    "ENDING",
    "SCORES_LIMIT",
    "Pack",
    "PackSummary",
    "PackedScores",
    "is_pack",
    "open_pack",
    "open_run",
    "write_pack",
]

ENDING = ".vuskit.zip"
"""Suffix of pack files."""

SCORES_LIMIT = 256 << 20
"""Largest size of scores, in bytes, that a pack includes by default."""

_SCHEMA = "vuskit-pack-1"
_MANIFEST, _PLAN, _VALUES, _LABELS, _README = (
    "manifest.json",
    "plan.toml",
    "values.csv",
    "labels.json",
    "README.txt",
)
_TABLES = {name: f"tables/{name}.json" for name in PORTABLE_TABLES}
_SCORES = re.compile(r"scores/([0-9a-f]{64})\.npy")
_FIXED = {_MANIFEST, _PLAN, _VALUES, _LABELS, _README, *_TABLES.values()}
_WHEN = (1980, 1, 1, 0, 0, 0)  # constant, so that equal runs give equal packs
_CHUNK = 1 << 20
_LIMITS = UnpackLimits()
_SMALL = 16 << 20  # below this size, a high compression ratio is harmless
_LARGEST_TEXT = 1 << 30
_ENCRYPTED = 0x1  # flag bit of a zip member
_MOST_LINES = 10
_COLUMNS = (
    "dataset",
    "series",
    "detector",
    "seed",
    "settings",
    "measure",
    "status",
    "value",
    "buffer",
    "buffer_reason",
    "fit_seconds",
    "score_seconds",
    "detector_identity",
    "measure_identity",
    "score_key",
    "evaluate_key",
)
_TEXT = """Results of a benchmark of anomaly detectors, packed by vuskit {version}.

values.csv   one row per series, detector, seed, settings and measure
plan.toml    the plan of the run
labels.json  anomalies of each series (start, stop), by the digest of the series
scores/      one .npy file per score, named by its digest
tables/      everything else: names, settings, versions, code digests, failures

Check it:     vuskit verify FILE
Compare it:   vuskit compare FILE other-results.csv
"""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class PackSummary:
    """Summary of a written pack.

    Attributes
    ----------
    path : Path
        The pack.
    n_bytes : int
        Size of the pack.
    n_values, n_series, n_scores : int
        Number of values, series and score files in the pack.
    score_bytes : int
        Size of all scores of the run, whether packed or not.
    with_scores : bool
        Whether the pack includes scores and labels.
    """

    path: Path
    n_bytes: int
    n_values: int
    n_series: int
    n_scores: int
    score_bytes: int
    with_scores: bool


# -- writing -----------------------------------------------------------------------------------


def write_pack(
    run: Run,
    path: str | Path,
    *,
    scores: bool | None = None,
    partial: bool = False,
    progress: Progress | None = None,
) -> PackSummary:
    """Write a run to one file; see `Run.pack`."""
    state = run.status(failures=0).run["state"]
    if state != "finished" and not partial:
        raise InvalidInputError(
            f"`RUN` must be finished, got one that is {state}; run the command that created it "
            "(`vuskit bench run` or `vuskit evaluate`) again, or pack the results so far with "
            "--partial (partial=True)"
        )
    with run._open() as store:
        tables = store.portable_tables()
        values = _values_csv(store)
    sizes = dict(tables["scores"]["rows"])
    score_bytes = 8 * sum(sizes.values())
    with_scores = score_bytes <= SCORES_LIMIT if scores is None else scores
    count = [0, 1 + (len(tables["series"]["rows"]) + len(sizes)) * with_scores]

    def step() -> None:
        count[0] += 1
        if progress is not None:
            progress(*count)

    labels = _read_labels(run, step) if with_scores else {}
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        writer = _Writer(archive)
        (plan_text,) = _column(tables["runs"], "plan")
        writer.add(_README, _TEXT.format(version=__version__))
        writer.add(_PLAN, plan_text)
        writer.add(_VALUES, values)
        for name, member in _TABLES.items():
            writer.add(member, _table_json(tables[name]))
        step()
        if with_scores:
            writer.add(_LABELS, _json(labels))
            files = ScoreFiles(run.folder)
            for digest in sorted(sizes):
                writer.add(f"scores/{digest}.npy", _stored_file(files.path(digest), digest))
                step()
        manifest = {
            "schema": _SCHEMA,
            "vuskit": __version__,
            "tables": SCHEMA_VERSION,
            "partial": state != "finished",
            "scores": with_scores,
            "members": writer.members,
        }
        writer.add(_MANIFEST, json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    return PackSummary(
        path=Path(path),
        n_bytes=Path(path).stat().st_size,
        n_values=len(tables["values"]["rows"]),
        n_series=len(tables["planned_series"]["rows"]),
        n_scores=len(sizes) if with_scores else 0,
        score_bytes=score_bytes,
        with_scores=with_scores,
    )


class _Writer:
    """Adds members with a fixed timestamp and records their digests."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, dict[str, Any]] = {}

    def add(self, name: str, content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        entry = zipfile.ZipInfo(name, _WHEN)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3
        entry.external_attr = 0o644 << 16
        self._archive.writestr(entry, data)
        digest = hashlib.sha256(data).hexdigest()
        self.members[name] = {"bytes": len(data), "sha256": digest}


def _stored_file(path: Path, digest: str) -> bytes:
    """Read a score file and check its digest."""
    try:
        data = path.read_bytes()
        found = scores_digest(np.load(io.BytesIO(data), allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise ChangedInputError(
            f"{path} cannot be packed: {error}; check the run with `vuskit bench verify`, or omit "
            "the scores with --no-scores (scores=False)"
        ) from error
    if found != digest:
        raise ChangedInputError(
            f"{path} must hold the scores of the run, got different content; check the run with "
            "`vuskit bench verify`, or omit the scores with --no-scores (scores=False)"
        )
    return data


def _read_labels(run: Run, step: Callable[[], None]) -> dict[str, Any]:
    """Anomalies as half-open intervals, by the digest of the series."""
    labels = {}
    for one in run.series():
        try:
            series = run.read_series(one)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"labels cannot be packed: {error}; or omit labels and scores with --no-scores "
                "(scores=False)"
            ) from error
        labels[one.hash] = {
            "n_points": series.n_points,
            "train_length": series.train_length,
            "anomalies": [list(bounds) for bounds in series.events],
        }
        step()
    return labels


def _values_csv(store: StoreReader) -> str:
    """All values and missing values of the plan, sorted."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    keys = ("score_key", "detector", "settings", "measure")
    for value in store.value_rows():  # the last one counts if a value was computed twice
        row = {**dict(value), "status": str(Status.OK)}
        found[tuple(row[name] for name in keys)] = row
    for row in requested_values(store):
        found.setdefault(tuple(row[name] for name in keys), row)
    rows = [[row.get(name) for name in _COLUMNS] for row in found.values()]
    rows.sort(key=lambda row: [(cell is not None, str(cell)) for cell in row[:6]])
    return csv_text(_COLUMNS, rows) + "\n"


def _json(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True) + "\n"


def _table_json(table: Mapping[str, Any]) -> str:
    """JSON with one row per line, so that packs can be compared line by line."""
    rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in table["rows"])
    return f'{{"columns":{json.dumps(table["columns"])},"rows":[\n{rows}\n]}}\n'


def _column(table: Mapping[str, Any], name: str) -> list[Any]:
    place = table["columns"].index(name)
    return [row[place] for row in table["rows"]]


# -- reading -----------------------------------------------------------------------------------


class _Archive:
    """Reader of the members of a pack; checks their sizes before reading.

    Raises
    ------
    InvalidInputError
        If the file is not a pack.
    UnsafeArchiveError
        If it is too large, encrypted, or has unexpected members.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise InvalidInputError(
                f"{path} must be a pack written by `vuskit bench pack`, got: {error}; "
                "check the path, or write the pack again"
            ) from error
        try:
            self._check()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def _check(self) -> None:
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if _MANIFEST not in names:
            raise InvalidInputError(
                f"{self.path} must be a pack written by `vuskit bench pack`, got a zip without "
                f"{_MANIFEST}; check the path, or write the pack again"
            )
        if len(entries) > _LIMITS.members:
            most = _LIMITS.members
            raise self.refuse(f"must have at most {most:,} members, got {len(entries):,}")
        total = sum(entry.file_size for entry in entries)
        packed = max(1, self.path.stat().st_size)
        if total > _LIMITS.total_bytes:
            raise self.refuse(f"must unpack to at most {_LIMITS.total_bytes:,} bytes, got more")
        if total > _SMALL and total > _LIMITS.ratio * packed:
            raise self.refuse(f"must unpack to at most {_LIMITS.ratio:g} times its size")
        for entry in entries:
            if entry.filename not in _FIXED and not _SCORES.fullmatch(entry.filename):
                raise self.refuse(
                    f"must have only members of a pack, got {entry.filename!r}; do not use it"
                )
            if entry.flag_bits & _ENCRYPTED:
                raise self.refuse(f"{entry.filename!r} must not be encrypted")
            if not _SCORES.fullmatch(entry.filename) and entry.file_size > _LARGEST_TEXT:
                raise self.refuse(f"{entry.filename!r} must have at most {_LARGEST_TEXT:,} bytes")
        if len(set(names)) != len(names):
            raise self.refuse("must have unique members, got one twice")

    def refuse(self, reason: str) -> UnsafeArchiveError:
        return UnsafeArchiveError(f"{self.path.name}: {reason}")

    @property
    def names(self) -> set[str]:
        return set(self._zip.namelist())

    def size(self, name: str) -> int:
        return self._zip.getinfo(name).file_size

    def read(self, name: str) -> bytes:
        """Read a member, but never more than its declared size."""
        with self._open(name) as stream:
            found: bytes = self._reading(name, lambda: stream.read(self.size(name)))
        return found

    def digest(self, name: str) -> str:
        """SHA-256 of a member."""
        found = hashlib.sha256()
        with self._open(name) as stream:
            while chunk := self._reading(name, lambda: stream.read(_CHUNK)):
                found.update(chunk)
        return found.hexdigest()

    def _open(self, name: str) -> IO[bytes]:
        if name not in self.names:
            raise InvalidInputError(
                f"{self.path} must have a member {name!r}, got none; get a new copy of the pack"
            )
        found: IO[bytes] = self._reading(name, lambda: self._zip.open(name))
        return found

    def _reading(self, name: str, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Exception as error:  # decompressors can raise almost anything on damaged data
            raise InvalidInputError(
                f"{self.path}: {name!r} is damaged: {error}; get a new copy of the pack"
            ) from error

    def json(self, name: str) -> Any:
        try:
            return json.loads(self.read(name))
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(
                f"{self.path}: {name!r} must be JSON, got: {error}; get a new copy of the pack"
            ) from error

    def manifest(self) -> dict[str, Any]:
        """Return the manifest.

        Raises
        ------
        InvalidInputError
            If it has an unknown version or is invalid.
        """
        found = self.json(_MANIFEST)
        schema = found.get("schema") if isinstance(found, dict) else None
        if schema != _SCHEMA:
            raise InvalidInputError(
                f"{self.path} must have the schema {_SCHEMA!r}, got {schema!r}; a newer version "
                "of vuskit may have written it: update vuskit"
            )
        members = found.get("members")
        if not isinstance(members, dict) or not all(isinstance(m, dict) for m in members.values()):
            raise InvalidInputError(
                f"{self.path}: {_MANIFEST!r} must list the members; get a new copy of the pack"
            )
        return dict(found)

    def connection(self) -> sqlite3.Connection:
        """Load the tables into an in-memory store."""
        version = self.manifest().get("tables")
        tables = {name: self.json(member) for name, member in _TABLES.items()}
        try:
            return load_tables(tables, version=version)  # type: ignore[arg-type]
        except InvalidInputError as error:
            raise InvalidInputError(f"{self.path}: {error}") from error

    def scores(self, digest: str, n_points: int) -> Scores:
        """Read scores; memory use does not depend on the header of the file."""
        name = f"scores/{digest}.npy"
        stream = io.BytesIO(self.read(name))
        try:
            version = np.lib.format.read_magic(stream)
            if version != (1, 0):
                raise ValueError(f"version {version}")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        except (ValueError, EOFError) as error:
            raise InvalidInputError(f"{name} must be a .npy file, got: {error}") from error
        data = stream.read()
        if shape != (n_points,) or dtype != np.dtype("<f8") or len(data) != 8 * n_points:
            raise InvalidInputError(
                f"{name} must hold {n_points:,} float64 numbers, got {dtype} of shape {shape}"
            )
        return np.frombuffer(data, dtype="<f8").astype(np.float64)

    def labels(self) -> dict[str, _Labels]:
        """Return the labels by series digest; invalid entries raise errors when they are used."""
        content = self.json(_LABELS) if _LABELS in self.names else {}
        if not isinstance(content, dict):
            raise InvalidInputError(
                f"{self.path}: {_LABELS!r} must be a mapping, got {type(content).__name__}"
            )
        return {digest: _Labels(entry) for digest, entry in content.items()}


@dataclass(frozen=True)
class _Labels:
    """Labels of one series as stored in a pack."""

    entry: Any

    def train_length(self, n_points: int) -> int | None:
        """Return the length of the training part; None if missing or invalid."""
        found = self.entry.get("train_length")  # `array` has checked the entry
        return found if isinstance(found, int) and 0 <= found <= n_points else None

    def array(self, title: str, n_points: int) -> NDArray[np.bool_]:
        """Return the labels.

        Raises
        ------
        InvalidInputError
            If they do not match the series.
        """
        labels = np.zeros(n_points, dtype=bool)
        try:
            if self.entry["n_points"] != n_points:
                raise ValueError(f"{self.entry['n_points']} points, not {n_points}")
            last = -1
            for start, stop in self.entry["anomalies"]:
                if not last < start < stop <= n_points:
                    raise ValueError(f"an anomaly from {start} to {stop}")
                labels[start:stop] = True
                last = stop
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"labels of {title} must be intervals within the series, got {error}"
            ) from error
        return labels


@dataclass(frozen=True)
class PackedScores:
    """A series of a pack with the scores of its detectors; small and picklable.

    Attributes
    ----------
    pack : Path
        The pack.
    series : RunSeries
        The series.
    scores : tuple
        Name and digest of the scores of each run of a detector.
    repeats : tuple
        Detectors that ran with several seeds, each with the names of its runs.
    """

    pack: Path
    series: RunSeries
    scores: tuple[tuple[str, str], ...]
    repeats: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def name(self) -> str:
        """Data set and name of the series."""
        return self.series.title

    def read(self) -> ScoredSeries:
        """Read labels and scores.

        A pack has no values of series: they are NaN, unless the series is synthetic.

        Raises
        ------
        InvalidInputError
            If the pack holds no scores, or they are damaged.
        """
        pack = Pack(self.pack)
        series = pack.read_labels(self.series)
        return ScoredSeries(series, pack.read_scores(self.series, self.scores), dict(self.repeats))


class Pack(Run):
    """Read-only pack with the methods of `Run`.

    Parameters
    ----------
    path : str or Path
        The pack.

    Raises
    ------
    InvalidInputError
        If the file is not a pack.
    UnsafeArchiveError
        If it is too large or has unexpected members.

    Examples
    --------
    >>> open_pack("nowhere.vuskit.zip")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: nowhere.vuskit.zip must be a pack written by ...
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._memory: sqlite3.Connection | None = None
        self._labels: dict[str, _Labels] | None = None
        with _Archive(self.folder) as archive:
            self.manifest = archive.manifest()

    def __repr__(self) -> str:
        return f"Pack({str(self.folder)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Pack, (self.folder,)

    @property
    def exists(self) -> bool:
        """Whether the file exists."""
        return self.folder.is_file()

    @property
    def has_scores(self) -> bool:
        """Whether the pack holds labels and scores."""
        return bool(self.manifest.get("scores"))

    @property
    def plan_text(self) -> str:
        """Text of the plan; reading it imports no code."""
        with _Archive(self.folder) as archive:
            return archive.read(_PLAN).decode(errors="replace")

    def _open(self) -> StoreReader:
        if self._memory is None:
            with _Archive(self.folder) as archive:
                self._memory = archive.connection()
        return _SharedReader(self._memory, self.folder)

    def plan(self, *, allow_code: bool = False) -> Plan:
        """Raise an error: a pack holds only the text of the plan, see `plan_text`."""
        raise self._only_data()

    def action(self, key: str, *, allow_code: bool = False) -> tuple[JobAction, Status]:
        """Raise an error: a pack lacks the series that a job needs."""
        raise self._only_data()

    def _only_data(self) -> InvalidInputError:
        return InvalidInputError(
            f"`RUN` must be a run folder or a plan, got the pack {str(self.folder)!r}, which holds "
            f"only results and cannot run; its plan is in the member {_PLAN}"
        )

    def _failure(self, store: StoreReader, row: sqlite3.Row) -> Failure:
        return replace(super()._failure(store, row), command="")  # there is nothing to run

    # -- scores ----------------------------------------------------------------------------------

    def read_labels(self, series: RunSeries) -> Series:
        """Return a series with its labels; its values are NaN, unless it is synthetic.

        Raises
        ------
        InvalidInputError
            If the pack has no labels for it.
        """
        if "synthetic" in json.loads(series.source):
            return series.read()
        if self._labels is None:
            with _Archive(self.folder) as archive:
                self._labels = archive.labels()
        if series.hash not in self._labels:
            raise self._without_scores()
        entry = self._labels[series.hash]
        labels = entry.array(series.title, series.n_points)
        values = np.full((series.n_points, series.n_channels), np.nan)
        return Series(
            series.name, series.dataset, values, labels, entry.train_length(series.n_points)
        )

    def read_scores(self, series: RunSeries, named: Iterable[tuple[str, str]]) -> dict[str, Scores]:
        """Read scores of a series, by name.

        Parameters
        ----------
        series : RunSeries
            The series.
        named : iterable of tuple
            Names and digests.

        Raises
        ------
        InvalidInputError
            If the pack holds no scores, or they are damaged.
        ChangedInputError
            If the scores differ from those of the run.
        """
        if not self.has_scores:
            raise self._without_scores()
        found = {}
        with _Archive(self.folder) as archive:
            for name, digest in named:
                scores = archive.scores(digest, series.n_points)
                if scores_digest(scores) != digest:
                    raise ChangedInputError(
                        f"scores {digest} in {self.folder} must match their digest, got different "
                        "content; check the pack with `vuskit verify`"
                    )
                found[name] = scores
        return found

    def _without_scores(self) -> InvalidInputError:
        return InvalidInputError(
            f"{self.folder} must hold labels and scores, got a pack without them; ask for a pack "
            "written with: vuskit bench pack RUN --scores"
        )

    def scores(self, series: RunSeries) -> dict[str, Scores]:
        """Read the scores of a series by detector; for several seeds, those of the first.

        Raises
        ------
        InvalidInputError
            If the pack holds no scores, or they are damaged.
        """
        return self.read_scores(series, series.scores)

    def scored_series(self) -> Iterator[PackedScores]:  # type: ignore[override]
        """Iterate over the series with scores, like `Run.scored_series`."""
        if not self.has_scores:
            raise self._without_scores()
        for one in super().scored_series():
            scores = tuple((name, digest) for name, _, digest in one.scores)
            yield PackedScores(self.folder, one.series, scores, one.repeats)

    # -- checks ----------------------------------------------------------------------------------

    def verify(
        self,
        *,
        sample: int | None = None,
        seed: int = 0,
        allow_code: bool = False,
        progress: Progress | None = None,
    ) -> Verification:
        """Check every member against its digest, and recompute values from the scores.

        Parameters
        ----------
        sample : int, optional
            Number of evaluations to recompute. Default: all.
        seed : int, default=0
            Seed for drawing the sample.
        allow_code : bool, default=False
            Import the modules that the plan names, from the folder of the pack or from Python's
            module search path. Without it, user-defined measures are skipped.
        progress : callable, optional
            Called with the number of finished checks and their total.

        Returns
        -------
        Verification
            With a problem for each damaged, missing or unknown member, each evaluation that
            differs from its checksum, and each value that differs when recomputed.
        """
        with _Archive(self.folder) as archive:
            return _Check(archive, allow_code, progress or (lambda done, total: None)).run(
                sample, seed
            )


class _SharedReader(StoreReader):
    """Reader whose connection stays open for the next reader."""

    def close(self) -> None:
        """Keep the connection open."""


def open_pack(path: str | Path) -> Pack:
    """Open a pack. It has the methods of a run: values, leaderboard, series, scores.

    Parameters
    ----------
    path : str or Path
        A file that `Run.pack` or ``vuskit bench pack`` wrote.

    Raises
    ------
    InvalidInputError
        If it is not a pack.

    Examples
    --------
    >>> open_pack("nowhere.vuskit.zip")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: nowhere.vuskit.zip must be a pack written by ...
    """
    return Pack(path)


def is_pack(path: Path) -> bool:
    """Whether a path is an existing zip file.

    Examples
    --------
    >>> is_pack(Path("nowhere.vuskit.zip"))
    False
    """
    return path.suffix.lower() == ".zip" and path.is_file()


def open_run(path: str | Path) -> Run:
    """Open a run folder or a pack.

    Examples
    --------
    >>> open_run("nowhere")
    Run('nowhere')
    """
    place = Path(path)
    return Pack(place) if is_pack(place) else Run(place)


# -- checks ------------------------------------------------------------------------------------


class _Check:
    """Checks of one pack; a problem does not stop the remaining checks."""

    def __init__(self, archive: _Archive, allow_code: bool, progress: Progress) -> None:
        self._archive = archive
        self._allow_code = allow_code
        self._progress = progress
        self._problems: list[str] = []
        self._broken: list[str] = []
        self._skipped = 0
        self._values = 0
        self._checksums = 0
        self._code: dict[str, None] = {}
        self._done = self._total = 0
        self._same_version = False

    def run(self, sample: int | None, seed: int) -> Verification:
        manifest = self._archive.manifest()
        # Other versions may print settings differently.
        self._same_version = manifest.get("vuskit") == __version__
        with_scores = bool(manifest.get("scores"))
        members = manifest["members"]
        self._total = len(members)
        self._check_members(members)
        files = 0
        try:
            connection = self._archive.connection()
        except InvalidInputError as error:
            self._problems.append(f"{error}; the rest cannot be checked")
        else:
            try:
                files = self._check_tables(_SharedReader(connection), with_scores, sample, seed)
            finally:
                connection.close()
        return Verification(
            n_files=files,
            n_values=self._values,
            problems=tuple(dict.fromkeys(self._problems)),
            broken=tuple(self._broken),
            n_checksums=self._checksums,
            n_skipped=self._skipped,
            code=tuple(self._code),
            n_members=len(members),
            without_scores=not with_scores,
        )

    def _step(self) -> None:
        self._done += 1
        self._progress(self._done, self._total)

    def _attempt(self, check: Callable[[], None]) -> None:
        try:
            check()
        except (KeyError, TypeError, ValueError, OverflowError) as error:  # also InvalidInputError
            self._problems.append(str(error))

    def _check_members(self, members: Mapping[str, Mapping[str, Any]]) -> None:
        present = self._archive.names - {_MANIFEST}
        for name in sorted(present - members.keys()):
            self._problems.append(f"{name}: not listed in the manifest")
        for name in sorted(members):
            if name not in present:
                self._problems.append(f"{name}: missing")
            else:
                self._attempt(lambda name=name: self._check_member(name, members[name]))  # type: ignore[misc]
            self._step()

    def _check_member(self, name: str, entry: Mapping[str, Any]) -> None:
        if self._archive.digest(name) != entry.get("sha256"):
            self._problems.append(f"{name}: differs from its digest in the manifest")

    def _check_tables(
        self, store: StoreReader, with_scores: bool, sample: int | None, seed: int
    ) -> int:
        self._attempt(lambda: self._check_values_csv(store))
        for key in store.unexpected_values():
            self._problems.append(f"job {key}: failed, but has values")
        keys = store.successful_evaluations()
        order = np.random.default_rng(seed).permutation(len(keys))[:sample]
        rows = [store.find_job(keys[place]) for place in order.tolist()]
        # Group evaluations of the same scores.
        rows.sort(key=lambda row: (row["series_hash"], row["scores_hash"] or "", row["key"]))
        sizes = store.score_sizes()
        self._total += len(rows) + len(sizes) * with_scores
        for row in rows:
            self._attempt(lambda row=row: self._check_stored(store, row))  # type: ignore[misc]
        if not with_scores:
            for _ in rows:
                self._step()
            return 0
        for digest, n_points in sizes.items():
            self._attempt(lambda d=digest, n=n_points: self._check_scores(d, n))  # type: ignore[misc]
            self._step()
        labels: dict[str, _Labels] = {}
        self._attempt(lambda: labels.update(self._archive.labels()))
        for row in rows:
            self._attempt(lambda row=row: self._compute(store, row, labels))  # type: ignore[misc]
            self._step()
        return len(sizes)

    def _check_values_csv(self, store: StoreReader) -> None:
        packed = self._archive.read(_VALUES).decode(errors="replace").splitlines()
        expected = _values_csv(store).splitlines()
        differing = [
            f"{_VALUES}, line {number}: must be {then!r} according to the tables, got {now!r}"
            for number, (then, now) in enumerate(zip(expected, packed, strict=False), start=1)
            if then != now
        ]
        if len(packed) != len(expected):
            differing.append(f"{_VALUES} must have {len(expected):,} lines, got {len(packed):,}")
        self._problems += differing[:_MOST_LINES]
        if len(differing) > _MOST_LINES:
            self._problems.append(f"{_VALUES}: {len(differing) - _MOST_LINES:,} more lines differ")

    def _check_scores(self, digest: str, n_points: int) -> None:
        name = f"scores/{digest}.npy"
        try:
            wrong = scores_digest(self._archive.scores(digest, n_points)) != digest
        except InvalidInputError:
            self._broken.append(digest)
            raise
        if wrong:
            self._broken.append(digest)
            self._problems.append(f"{name}: does not hold the stored scores")

    def _check_stored(self, store: StoreReader, row: sqlite3.Row) -> None:
        """Check the key and the checksum against the stored content."""
        key = row["key"]
        self._checksums += 1
        if values_checksum(store.values_of(key)) != row["checksum"]:
            self._problems.append(f"job {key}: its values differ from their checksum")
        measures = store.measure_versions_of(row["id"])
        if unknown := store.values_of(key).keys() - {measure.name for measure in measures}:
            self._problems.append(
                f"job {key}: has values of {quoted(sorted(unknown))}, which it did not compute"
            )
        if evaluation_key(row["series_hash"], row["scores_hash"], row["settings"], measures) != key:
            self._problems.append(f"job {key}: its settings or digests differ from its key")

    def _compute(self, store: StoreReader, row: sqlite3.Row, labels: Mapping[str, _Labels]) -> None:
        """Recompute an evaluation from the packed labels and scores."""
        job = store.read_job(row)
        assert isinstance(job, EvaluateJob)
        if self._same_version and job.settings != row["settings"]:
            raise InvalidInputError(f"job {row['key']}: its settings differ from its spec")
        imports = tuple(json.loads(store.latest_run()["imports"]))
        base = self._archive.path.resolve().parent
        code = stored_code(JobAction(job, imports=imports, base=base))
        known = _known_measures(job)
        if len(known) < len(job.measures) and not self._allow_code:
            self._skipped += 1
            self._code.update(dict.fromkeys(code))
            job, code = replace(job, measures=known), ()
            if not known:
                return
        if job.series.hash not in labels:
            raise InvalidInputError(f"labels of {job.series.title} are missing")
        y_true = labels[job.series.hash].array(job.series.title, job.series.n_points)
        facts = len(event_bounds(np.flatnonzero(y_true))[0]), int(y_true.sum())
        if facts != (job.series.n_anomalies, job.series.anomalous_points):
            self._problems.append(
                f"labels of {job.series.title}: {facts[0]} anomalies ({facts[1]} points), but the "
                f"run had {job.series.n_anomalies} ({job.series.anomalous_points} points)"
            )
        if row["buffer"] is not None:
            strategy, _, reason = (row["buffer_reason"] or "number: given").partition(": ")
            chosen = BufferChoice(int(row["buffer"]), strategy, reason)
            job = replace(job, evaluation=job.evaluation.replace(buffer=chosen))
        scores = self._archive.scores(job.scores_hash, job.series.n_points)
        train_length = labels[job.series.hash].train_length(len(y_true))
        series = Series(
            job.series.name, job.series.dataset, np.zeros(len(y_true)), y_true, train_length
        )
        stored = store.values_of(row["key"])

        def compute() -> dict[str, float]:
            with importable(base if code else None):
                return evaluate_scores(job, scores, series).values

        for module in imports if code else ():
            import_object(module, base)
        names = {measure.build().name for measure in job.measures}
        self._values += len(stored.keys() & names)
        self._problems += value_problems(f"job {row['key']} ({job.title})", compute, stored, names)


def _known_measures(job: EvaluateJob) -> tuple[MeasureSpec, ...]:
    """Return the measures of an evaluation that are registered in this process."""
    names = {measure.name for measure in list_measures()}
    return tuple(measure for measure in job.measures if measure.name in names)

"""Packs: the results of a run in one file that others can check.

A pack is a zip file of plain data: the plan, the values, the tables of the store as lines of JSON,
and optionally scores. Reading a pack executes nothing and unpacks nothing to disk.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit._util.files import atomic_path
from vuskit.engine import Status
from vuskit.errors import ChangedInputError, InvalidInputError
from vuskit.store.identity import scores_digest
from vuskit.store.store import SCHEMA_VERSION, Store, memory_store

ENDING = ".vuskit.zip"
"""Suffix of pack files."""

SCORES_LIMIT = 256 << 20
"""Largest size of scores, in bytes, that a pack includes by default."""

MANIFEST, PLAN, VALUES, _README = "manifest.json", "plan.toml", "values.csv", "README.txt"
_TABLES = {name: f"{name}.jsonl" for name in ("starts", "results", "planned", "series", "measures")}
_SCORES = re.compile(r"scores/([0-9a-f]{32})\.npy")
_FIXED = {MANIFEST, PLAN, VALUES, _README, *_TABLES.values()}
_SCHEMA = "vuskit-pack-2"
_WHEN = (1980, 1, 1, 0, 0, 0)  # constant, so that equal runs give equal packs
_CHUNK = 1 << 20
_MOST_MEMBERS, _MOST_BYTES, _MOST_RATIO = 100_000, 20 << 30, 200
_SMALL = 16 << 20  # below this size, a high compression ratio is harmless
_LARGEST_TEXT = 1 << 30
_ENCRYPTED = 0x1  # flag bit of a zip member
_TEXT = """Results of a benchmark of anomaly detectors, packed by vuskit {version}.

values.csv      one row per series, detector, seed, settings and measure
plan.toml       the plan of the run
series.jsonl    series with their anomalies (start, stop)
results.jsonl   finished jobs: what they depend on, values, failures
planned.jsonl   names of the jobs
measures.jsonl  measures of the plan
starts.jsonl    versions and notes
scores/         one .npy file per score, named by the key of its job

Check it:     vuskit bench verify FILE
Compare it:   vuskit compare FILE other-results.csv
"""

Scores = NDArray[np.float64]


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
        Whether the pack includes scores.
    """

    path: Path
    n_bytes: int
    n_values: int
    n_series: int
    n_scores: int
    score_bytes: int
    with_scores: bool


def write_pack(
    store: Store,
    path: Path,
    *,
    values: str,
    scores: bool | None = None,
    state: str = "finished",
    progress: Callable[[int, int], None] | None = None,
) -> PackSummary:
    """Write the results of the latest plan to one file; see `vuskit.bench.Run.pack`."""
    tables = {name: _cleaned(name, store.rows(name)) for name in _TABLES}
    planned = {row["key"] for row in tables["planned"]}
    tables["results"] = [row for row in tables["results"] if row["key"] in planned]
    tables["starts"] = tables["starts"][-1:]
    points = {row["key"]: row["hash"] for row in tables["planned"]}
    sizes = {row["hash"]: row["n_points"] for row in tables["series"]}
    scored = [
        row["key"]
        for row in tables["results"]
        if row["kind"] != "evaluate" and row["status"] == Status.OK
    ]
    score_bytes = 8 * sum(sizes[points[key]] for key in scored)
    with_scores = score_bytes <= SCORES_LIMIT if scores is None else scores
    report = progress or (lambda done, total: None)
    total = 1 + len(scored) * with_scores
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        members: dict[str, dict[str, Any]] = {}

        def add(name: str, data: bytes) -> None:
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
            members[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

        add(_README, _TEXT.format(version=__version__).encode())
        add(PLAN, store.latest().plan.encode())
        add(VALUES, values.encode())
        for name, member in _TABLES.items():
            add(member, _lines(tables[name]))
        report(1, total)
        for count, key in enumerate(sorted(scored) if with_scores else ()):
            add(f"scores/{key}.npy", _score_file(store, key))
            report(count + 2, total)
        manifest = {
            "schema": _SCHEMA,
            "vuskit": __version__,
            "tables": SCHEMA_VERSION,
            "partial": state != "finished",
            "scores": with_scores,
            "members": dict(members),
        }
        add(MANIFEST, (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode())
    return PackSummary(
        path=path,
        n_bytes=path.stat().st_size,
        n_values=sum(
            len(json.loads(row["value"])["values"])
            for row in tables["results"]
            if row["kind"] == "evaluate" and row["value"] is not None
        ),
        n_series=len(tables["series"]),
        n_scores=len(scored) if with_scores else 0,
        score_bytes=score_bytes,
        with_scores=with_scores,
    )


def _cleaned(table: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without details of the machine: hosts, processes, folders, files, tracebacks."""

    def synthetic(source: str) -> str:
        return source if "synthetic" in json.loads(source) else "{}"

    def numbers(progress: str) -> str:
        kept = json.loads(progress).items()
        return json.dumps({k: v for k, v in kept if not isinstance(v, (str, list, dict))})

    cleaned: dict[str, dict[str, Callable[[Any], Any]]] = {
        "starts": {
            "state": lambda state: "interrupted" if state == "running" else state,
            "host": lambda _: "",
            "pid": lambda _: 0,
            "base": lambda _: '""',
            "executor": lambda text: re.split(r"[\s:,]", text)[0],
            "progress": numbers,
        },
        "series": {"source": synthetic, "files": lambda _: "{}"},
        "planned": {"file": lambda _: None},
        "results": {"worker": lambda _: None, "traceback": lambda _: None},
    }
    changes = cleaned.get(table, {})
    return [
        {name: changes[name](cell) if name in changes else cell for name, cell in row.items()}
        for row in rows
    ]


def _lines(rows: list[dict[str, Any]]) -> bytes:
    """One line with the columns, then one line per row, so that packs can be compared."""
    lines = [json.dumps(list(rows[0]))] if rows else []
    lines += [json.dumps(list(row.values()), separators=(",", ":")) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


def _score_file(store: Store, key: str) -> bytes:
    try:
        store.scores(key)  # checks the digest
        return store.score_path(key).read_bytes()
    except (OSError, ChangedInputError) as error:
        raise ChangedInputError(
            f"scores cannot be packed: {error}; check the run with `vuskit bench verify`, or omit "
            "the scores with --no-scores (scores=False)"
        ) from error


class Archive:
    """Reader of the members of a pack; checks their sizes before reading."""

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
            self.manifest = self._read_manifest()
        except BaseException:
            self._zip.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def _check(self) -> None:
        entries = self._zip.infolist()
        names = [entry.filename for entry in entries]
        if MANIFEST not in names:
            raise InvalidInputError(
                f"{self.path} must be a pack written by `vuskit bench pack`, got a zip without "
                f"{MANIFEST}; check the path, or write the pack again"
            )
        if len(entries) > _MOST_MEMBERS:
            raise self._unsafe(f"must have at most {_MOST_MEMBERS:,} members, got {len(entries):,}")
        total = sum(entry.file_size for entry in entries)
        packed = max(1, self.path.stat().st_size)
        if total > _MOST_BYTES:
            raise self._unsafe(f"must unpack to at most {_MOST_BYTES:,} bytes, got more")
        if total > _SMALL and total > _MOST_RATIO * packed:
            raise self._unsafe(f"must unpack to at most {_MOST_RATIO} times its size")
        for entry in entries:
            is_score = _SCORES.fullmatch(entry.filename) is not None
            if entry.filename not in _FIXED and not is_score:
                raise self._unsafe(
                    f"must have only members of a pack, got {entry.filename!r}; do not use it"
                )
            if entry.flag_bits & _ENCRYPTED:
                raise self._unsafe(f"{entry.filename!r} must not be encrypted")
            if not is_score and entry.file_size > _LARGEST_TEXT:
                raise self._unsafe(f"{entry.filename!r} must have at most {_LARGEST_TEXT:,} bytes")
        if len(set(names)) != len(names):
            raise self._unsafe("must have unique members, got one twice")

    def _unsafe(self, reason: str) -> InvalidInputError:
        return InvalidInputError(f"{self.path.name}: {reason}")

    def _read_manifest(self) -> dict[str, Any]:
        found = self._decoded(MANIFEST, json.loads)
        schema, tables = (
            found.get(name) if isinstance(found, dict) else None for name in ("schema", "tables")
        )
        if schema != _SCHEMA or tables != SCHEMA_VERSION:
            raise InvalidInputError(
                f"{self.path} must have the schema {_SCHEMA!r} with tables of version "
                f"{SCHEMA_VERSION}, got {schema!r} with {tables} of another version of vuskit; use "
                "that version, or run the plan again with this one and pack the result"
            )
        members = found.get("members")
        if not isinstance(members, dict) or not all(isinstance(m, dict) for m in members.values()):
            raise InvalidInputError(
                f"{self.path}: {MANIFEST!r} must list the members; get a new copy of the pack"
            )
        return dict(found)

    @property
    def names(self) -> set[str]:
        """Names of the members."""
        return set(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """Read a member, but never more than its declared size."""
        with self._open(name) as stream:
            size = self._zip.getinfo(name).file_size
            found: bytes = self._reading(name, lambda: stream.read(size))
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

    def _decoded(self, name: str, decode: Callable[[bytes], Any]) -> Any:
        data = self.read(name)
        try:
            return decode(data)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(
                f"{self.path}: {name!r} must be JSON, got: {error}; get a new copy of the pack"
            ) from error

    def connection(self) -> sqlite3.Connection:
        """Load the tables into a store in memory."""
        connection = memory_store()
        try:
            for table, member in _TABLES.items():
                lines = self._decoded(member, lambda d: list(map(json.loads, d.splitlines())))
                _load(connection, table, lines)
            connection.commit()
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
        except (sqlite3.Error, TypeError, ValueError, OverflowError) as error:
            connection.close()
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError(
                f"{self.path} must hold valid tables of a run, got {type(error).__name__}: {error}"
            ) from error
        if broken is not None:
            connection.close()
            raise InvalidInputError(
                f"{self.path} must hold consistent tables, got a row of {broken[0]!r} that refers "
                f"to a missing row of {broken[2]!r}"
            )
        return connection

    def check_scores(self) -> None:
        """Check that the pack holds scores."""
        if not self.manifest.get("scores"):
            raise InvalidInputError(
                f"{self.path} must hold scores, got a pack without them; ask for a pack "
                "written with: vuskit bench pack RUN --scores"
            )

    def scores(self, key: str, digest: str | None) -> Scores:
        """Read scores and check their digest; memory use does not depend on the file's header."""
        self.check_scores()
        name = f"scores/{key}.npy"
        stream = io.BytesIO(self.read(name))
        try:
            version = np.lib.format.read_magic(stream)
            if version != (1, 0):
                raise ValueError(f"version {version}")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        except (ValueError, EOFError) as error:
            raise InvalidInputError(f"{name} must be a .npy file, got: {error}") from error
        data = stream.read()
        if shape != (len(data) // 8,) or dtype != np.dtype("<f8") or len(data) % 8:
            raise InvalidInputError(
                f"{name} must hold {len(data) // 8:,} float64 numbers, got {dtype} of shape {shape}"
            )
        scores = np.frombuffer(data, dtype="<f8").astype(np.float64)
        if scores_digest(scores) != digest:
            raise ChangedInputError(
                f"{name} in {self.path} must match its digest, got different content; check the "
                "pack with `vuskit bench verify`"
            )
        return scores


def _load(connection: sqlite3.Connection, table: str, lines: list[Any]) -> None:
    """Insert rows: a list of columns, then one list per row."""
    if not lines:
        return
    columns, *rows = lines
    known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
    if not isinstance(columns, list) or {*columns} != known:  # names become part of the statement
        raise ValueError(f"columns {columns} of {table!r}")
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)


def member_problems(archive: Archive) -> list[str]:
    """Compare every member with its digest in the manifest."""
    members: Mapping[str, Mapping[str, Any]] = archive.manifest["members"]
    present = archive.names - {MANIFEST}
    problems = [f"{name}: not listed in the manifest" for name in sorted(present - members.keys())]
    for name in sorted(members):
        if name not in present:
            problems.append(f"{name}: missing")
            continue
        try:
            if archive.digest(name) != members[name].get("sha256"):
                problems.append(f"{name}: differs from its digest in the manifest")
        except InvalidInputError as error:
            problems.append(str(error))
    return problems

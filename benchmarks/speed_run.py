"""Measure settings in worker processes, and keep what the workers report."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, TextIO

import numpy as np
from speed_peers import python_of
from speed_worker import CONTESTANTS, OWN_ENVIRONMENTS, REFERENCE, environment_variables

from vuskit._util.environment import describe_machine
from vuskit.studies.timing import Setting, synthetic_cases
from vuskit.studies.timing.sampling import OtherWork
from vuskit.studies.timing.storage import LineFile

WORKER = Path(__file__).parent / "speed_worker.py"
STARTUP_SECONDS = 120.0
# Below this, other processes hardly change a ratio.
QUIET_CORES = 0.25

OK, OVER_LIMIT, OVER_MEMORY, FAILED = "ok", "over limit", "over memory", "failed"
IMPLIED, NOT_INSTALLED = "over limit, implied", "not installed"
# Not measured again by a further run; a failure or a missing peer may have been fixed.
FINAL = (OK, OVER_LIMIT, OVER_MEMORY)


# Settings ----------------------------------------------------------------------------------------


def size_text(n: int) -> str:
    """1000000 -> "1e6", 20000 -> "2e4", 12345 -> "12345", 64 -> "64"."""
    mantissa, exponent = f"{n:e}".split("e")
    short = f"{float(mantissa):g}e{int(exponent)}"
    return short if float(short) == n and len(short) < len(str(n)) else str(n)


def events_text(setting: Setting) -> str:
    """Number and length of the anomalies: "10x100"."""
    return f"{setting.n_anomalies}x{setting.mean_length:g}"


def is_within(small: Setting, large: Setting) -> bool:
    """Whether a setting is at most as large as another in every direction."""
    return all(getattr(small, name) <= value for name, value in asdict(large).items())


def save_input(setting: Setting, seed: int, folder: Path) -> Path:
    """Write the generated series where a worker of any environment can load it."""
    (case,) = synthetic_cases([setting], seed=seed)
    labels, scores = case.load()
    path = folder / "input.npz"
    # Some peers give wrong values for labels of type bool.
    np.savez(path, labels=labels.astype(np.int64), scores=scores)
    return path


# Records -----------------------------------------------------------------------------------------


def median_ratio(seconds: list[float], reference: list[float]) -> float:
    """Median of the quotients of samples that were taken in the same round."""
    return median(a / b for a, b in zip(seconds, reference, strict=False))


@dataclass(frozen=True)
class Key:
    """What was measured: a contestant in an environment with a setting.

    A contestant that uses no buffer has the buffer 0.
    """

    contestant: str
    environment: str
    setting: Setting


def key_of(contestant: str, environment: str, setting: Setting) -> Key:
    """Key with the buffer of the setting, or 0 for a contestant that uses none."""
    uses_buffer = CONTESTANTS[contestant].uses_buffer
    return Key(contestant, environment, setting if uses_buffer else replace(setting, max_buffer=0))


@dataclass
class Record:
    """The raw samples of one measurement and of the reference interleaved with it."""

    key: Key
    status: str
    fingerprint: str
    seconds: list[float] = field(default_factory=list)
    reference_seconds: list[float] = field(default_factory=list)
    calls: int = 1
    values: list[float] = field(default_factory=list)
    reason: str = ""
    limit: float = 0.0
    peak_kib: int = 0
    other_cores: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Median over the rounds of contestant / reference; a lower bound if over the limit."""
        if self.status == OK:
            return median_ratio(self.seconds, self.reference_seconds)
        if self.status == OVER_LIMIT and self.reference_seconds:
            return self.limit / median(self.reference_seconds)
        return None

    @property
    def disturbed(self) -> bool:
        """Whether other processes took so much of the machine that the ratio cannot be trusted."""
        return self.other_cores is not None and self.other_cores > QUIET_CORES

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Record:
        fields = json.loads(line)
        key = fields.pop("key")
        return cls(key=Key(setting=Setting(**key.pop("setting")), **key), **fields)


class Records:
    """All records in a file; the newest of a key counts."""

    def __init__(self, path: Path) -> None:
        self._file = LineFile(path)
        self._records: dict[Key, Record] = {}
        for line in self._file:
            try:
                record = Record.from_json(line)
            except (ValueError, TypeError, KeyError):
                continue  # of an earlier version
            self._records[record.key] = record

    @property
    def path(self) -> Path:
        return self._file.path

    def add(self, record: Record) -> None:
        """Append to the file first, so that nothing measured is ever lost."""
        self._file.append([record.to_json()])
        self._records[record.key] = record

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def forget_stale(self, fingerprints: dict[str, str]) -> None:
        """Leave out, here and not on disk, what other code or another machine has measured."""
        self._records = {
            key: record
            for key, record in self._records.items()
            if record.fingerprint == fingerprints.get(key.environment)
        }

    def get(self, key: Key) -> Record | None:
        return self._records.get(key)

    def measured(self, contestant: str, environment: str, setting: Setting) -> Record | None:
        """The record if it holds samples, else None."""
        record = self.get(key_of(contestant, environment, setting))
        return record if record is not None and record.status == OK else None

    def of(self, settings: Iterable[Setting]) -> list[Record]:
        """Records of these settings."""
        wanted = set(settings) | {replace(setting, max_buffer=0) for setting in settings}
        return [record for record in self if record.key.setting in wanted]

    def finished(self, key: Key, fingerprint: str, limit: float) -> bool:
        """Whether the same code was measured on the same machine, with at least this limit."""
        record = self._records.get(key)
        if record is None or record.fingerprint != fingerprint or record.status not in FINAL:
            return False
        return record.status != OVER_LIMIT or record.limit >= limit


def machine() -> dict[str, Any]:
    """The machine as far as it explains a time."""
    # numpy's sort differs several times between instruction sets of one processor.
    features = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")
    return describe_machine() | {"numpy_disabled_features": features}


def fingerprint(*parts: Any) -> str:
    """Short identity of whatever a result depends on besides its key."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


# Jobs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """How long to measure: samples per contestant, seconds per worker, limit of one call."""

    fewest: int
    most: int
    budget: float
    limit: float
    shortest: float = 0.01
    memory: int = 0

    def for_peers(self) -> Effort:
        """A peer that needs minutes is sampled once; the ratio is far from 1 anyway."""
        return Effort(1, min(self.most, 5), self.budget, self.limit, self.shortest, self.memory)


@dataclass(frozen=True)
class Job:
    """What one worker measures: entries (contestant, buffer) on one series in one environment."""

    setting: Setting
    environment: str
    entries: tuple[tuple[str, int], ...]

    @property
    def is_peer(self) -> bool:
        return self.environment not in OWN_ENVIRONMENTS

    @property
    def keys(self) -> list[Key]:
        return [
            Key(name, self.environment, replace(self.setting, max_buffer=buffer))
            for name, buffer in self.entries
        ]

    @property
    def text(self) -> str:
        buffers = ",".join(str(buffer) for buffer in sorted({entry[1] for entry in self.entries}))
        what = self.entries[0][0] if self.is_peer else f"vuskit ({self.environment})"
        return (
            f"{what} n={size_text(self.setting.n_points)} {events_text(self.setting)} L={buffers}"
        )

    def guess_seconds(self, effort: Effort) -> float:
        """Rough cost, only to weigh the jobs against each other in the time left."""
        reference = 6e-7 * self.setting.n_points
        if not self.is_peer:
            return 1.5 + len(self.entries) * reference + max(effort.budget, 3 * reference)
        call = 250 * (self.entries[0][1] + 1) * 2e-9 * (self.setting.n_points + 1e4)
        return 1.5 + 4 * reference + min(effort.limit, max(effort.budget, call))


def implied_by(records: Records, job: Job, fingerprint: str, limit: float) -> Record | None:
    """A smaller case on which this peer already exceeded the limit, if there is one."""
    wanted = job.keys[0]
    for record in records:
        if (
            record.status == OVER_LIMIT
            and record.fingerprint == fingerprint
            and record.limit >= limit
            and record.key.contestant == wanted.contestant
            and is_within(record.key.setting, wanted.setting)
        ):
            return record
    return None


class Runner:
    """Runs jobs one after the other and stores their records."""

    def __init__(
        self,
        records: Records,
        effort: Effort,
        peers_folder: Path,
        machine: dict[str, Any],
        seed: int,
    ) -> None:
        self.records, self.effort = records, effort
        self._peers_folder, self._machine, self._seed = peers_folder, machine, seed

    def run(self, job: Job, fingerprint: str) -> list[Record]:
        """Measure one job; every key of it gets a record, whatever happens."""
        if job.is_peer:
            cause = implied_by(self.records, job, fingerprint, self.effort.limit)
            if cause is not None:
                return self._keep(self._implied(job, cause, fingerprint))
        with tempfile.TemporaryDirectory(prefix="vuskit-bench-") as folder:
            path = save_input(job.setting, self._seed, Path(folder))
            return self._keep(self._measure(job, path, fingerprint))

    def _keep(self, records: list[Record]) -> list[Record]:
        for record in records:
            self.records.add(record)
        return records

    def _implied(self, job: Job, cause: Record, fingerprint: str) -> list[Record]:
        smaller = cause.key.setting
        size = f"n={smaller.n_points} {events_text(smaller)} L={smaller.max_buffer}"
        reason = f"{size} was over the limit"
        return [
            Record(key, IMPLIED, fingerprint, reason=reason, limit=cause.limit) for key in job.keys
        ]

    def _measure(self, job: Job, input_path: Path, fingerprint: str) -> list[Record]:
        effort = self.effort.for_peers() if job.is_peer else self.effort
        records = {
            (key.contestant, key.setting.max_buffer): Record(
                key, FAILED, fingerprint, limit=effort.limit, machine=self._machine,
                reason="the worker ended before it reported",
            )
            for key in job.keys
        }  # fmt: skip
        request = {
            "input": str(input_path),
            "entries": job.entries,
            "n_thresholds": job.setting.n_thresholds,
            "fewest": effort.fewest,
            "most": effort.most,
            "budget": effort.budget,
            "shortest": effort.shortest,
            "memory": effort.memory if job.is_peer else 0,
        }
        other_work = OtherWork()
        collect(
            worker_events(python_of(job.environment, self._peers_folder), job, request, effort),
            records,
        )
        for record in records.values():
            record.other_cores = other_work.cores()
        return list(records.values())


def collect(events: Iterator[dict[str, Any]], records: dict[tuple[str, int], Record]) -> None:
    """Turn the events of a worker into the samples and the status of its records."""
    reference: dict[int, float] = {}
    for event in events:
        kind, name = event["event"], event.get("contestant")
        record = records.get((name, event.get("buffer", 0))) if name else None
        if kind == "ready":
            for one in records.values():
                one.versions = event["versions"]
        elif kind == "sample" and name == REFERENCE:
            reference[event["round"]] = event["seconds"]
        elif kind == "sample" and record is not None and event["keep"]:
            record.seconds.append(event["seconds"])
            record.reference_seconds.append(reference[event["round"]])
            record.calls, record.values = event["calls"], event["values"]
            record.status, record.reason = OK, ""
        elif kind in ("failed", OVER_LIMIT):
            _spoil([record] if record else list(records.values()), event, reference)
        elif kind == "done":
            for one in records.values():
                one.peak_kib = event["peak_kib"]


def _spoil(records: list[Record], event: dict[str, Any], reference: dict[int, float]) -> None:
    for record in records:
        if event["event"] == OVER_LIMIT:
            if record.status == OK:
                continue  # it was within the limit before: one slow sample does not undo that
            record.status = OVER_LIMIT
        else:
            record.status = OVER_MEMORY if event["memory"] else FAILED
        record.reason = event["reason"]
        record.reference_seconds = record.reference_seconds or list(reference.values())


def worker_events(
    python: Path, job: Job, request: dict[str, Any], effort: Effort
) -> Iterator[dict[str, Any]]:
    """Events of a worker process, the last one made up here if it was ended or broke down."""
    variables = environment_variables(job.environment) | {"PYTHONDONTWRITEBYTECODE": "1"}
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        subprocess.Popen(
            [str(python), str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=variables,
        ) as process,
    ):
        lines: queue.Queue[str | None] = queue.Queue()
        pump = threading.Thread(target=_pump, args=(process.stdout, lines))
        pump.start()
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(request))
            process.stdin.close()
            ended = yield from _until_silent(lines, effort.limit)
            if ended and process.wait():
                errors.seek(0)
                yield _breakdown(errors.read(), process.returncode)
        finally:
            process.kill()
            pump.join()


def _breakdown(errors: str, status: int) -> dict[str, Any]:
    reason = (errors.strip().splitlines() or [f"the worker ended with status {status}"])[-1]
    return {"event": "failed", "memory": "MemoryError" in reason, "reason": reason[:200]}


def _until_silent(
    lines: queue.Queue[str | None], limit: float
) -> Generator[dict[str, Any], None, bool]:
    """Pass events on; False after silence for longer than the limit, True at the worker's end."""
    allowed, last = STARTUP_SECONDS, {}
    while True:
        try:
            line = lines.get(timeout=allowed)
        except queue.Empty:
            reason = f"one call took more than {allowed:g} s"
            yield {**last, "event": OVER_LIMIT, "reason": reason}
            return False
        if line is None:
            return True
        last = json.loads(line)
        # The reference opens the round and is never the one under trial.
        trial = last["event"] == "start" and last["contestant"] != REFERENCE
        allowed = limit if trial else STARTUP_SECONDS
        yield last


def _pump(stream: TextIO, lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


class Progress:
    """Where the run is and how long it will still take, on standard error."""

    def __init__(self, total: float) -> None:
        self._total, self._done, self._begin = total, 0.0, time.monotonic()

    def show(self, number: str, text: str) -> None:
        elapsed = time.monotonic() - self._begin
        left = ""
        if self._done > 0:
            seconds = elapsed / self._done * (self._total - self._done)
            left = f", about {duration(seconds)} left"
        message = f"[{number}] {text} ({duration(elapsed)}{left})"
        print(message, file=sys.stderr, flush=True)

    def advance(self, weight: float) -> None:
        self._done += weight


def duration(seconds: float) -> str:
    """75 -> "1 min 15 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"

"""Plan the measurements, run each in a worker process, and keep what it reports."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from speed_cases import Series, save_input, size_text
from speed_contenders import CONTENDERS, OWN_ENVIRONMENTS, REFERENCE, environment_variables
from speed_peers import python_of
from speed_store import (
    FAILED,
    IMPLIED,
    OK,
    OVER_LIMIT,
    OVER_MEMORY,
    Key,
    Record,
    Store,
)

WORKER = Path(__file__).parent / "speed_worker.py"
STARTUP_SECONDS = 120.0


@dataclass(frozen=True)
class Effort:
    """How long to measure: samples per contender, seconds per worker, limit of one call."""

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
    """What one worker measures: entries (contender, buffer) on one series in one environment."""

    series: Series
    environment: str
    entries: tuple[tuple[str, int], ...]

    @property
    def is_peer(self) -> bool:
        return self.environment not in OWN_ENVIRONMENTS

    @property
    def keys(self) -> list[Key]:
        return [Key(name, self.environment, self.series, buffer) for name, buffer in self.entries]

    @property
    def text(self) -> str:
        buffers = ",".join(str(buffer) for buffer in sorted({entry[1] for entry in self.entries}))
        what = self.entries[0][0] if self.is_peer else f"vuskit ({self.environment})"
        return f"{what} n={size_text(self.series.n)} {self.series.events_text} L={buffers}"

    def guess_seconds(self, effort: Effort) -> float:
        """Rough cost, only to weigh the jobs against each other in the time left."""
        reference = 6e-7 * self.series.n
        if not self.is_peer:
            return 1.5 + len(self.entries) * reference + max(effort.budget, 3 * reference)
        call = 250 * (self.entries[0][1] + 1) * 2e-9 * (self.series.n + 1e4)
        return 1.5 + 4 * reference + min(effort.limit, max(effort.budget, call))


def plan(
    series: list[Series], buffers: tuple[int, ...], own: list[str], peers: list[str]
) -> list[Job]:
    """All jobs, smallest first: an interrupted run then leaves the most rows."""
    jobs = []
    for one in series:
        for environment in OWN_ENVIRONMENTS:
            jobs += _own_job(one, environment, buffers, own)
        for buffer in buffers:
            jobs += [Job(one, CONTENDERS[p].environments[0], ((p, buffer),)) for p in peers]
    return jobs


def _own_job(
    series: Series, environment: str, buffers: tuple[int, ...], own: list[str]
) -> list[Job]:
    # All buffer lengths in one process: they share the reference, the dearest part at 1e7 points.
    entries = [
        (name, buffer)
        for name in own
        if environment in CONTENDERS[name].environments
        for buffer in (buffers if CONTENDERS[name].uses_buffer else (0,))
    ]
    return [Job(series, environment, tuple(entries))] if entries else []


def implied_by(store: Store, job: Job, fingerprint: str, limit: float) -> Record | None:
    """A smaller case on which this peer already exceeded the limit, if there is one."""
    (contender, buffer), *_ = job.entries
    for record in store:
        key = record.key
        if (
            record.status == OVER_LIMIT
            and record.fingerprint == fingerprint
            and record.limit >= limit
            and key.contender == contender
            and key.series.is_within(job.series)
            and key.buffer <= buffer
        ):
            return record
    return None


class Runner:
    """Runs jobs one after the other and stores their records."""

    def __init__(
        self, store: Store, effort: Effort, peers_folder: Path, machine: dict[str, Any], seed: int
    ) -> None:
        self.store, self.effort = store, effort
        self._peers_folder, self._machine, self._seed = peers_folder, machine, seed

    def run(self, job: Job, fingerprint: str) -> list[Record]:
        """Measure one job; every key of it gets a record, whatever happens."""
        if job.is_peer:
            cause = implied_by(self.store, job, fingerprint, self.effort.limit)
            if cause is not None:
                return self._keep(self._implied(job, cause, fingerprint))
        with tempfile.TemporaryDirectory(prefix="vuskit-bench-") as folder:
            path = save_input(job.series, self._seed, Path(folder))
            return self._keep(self._measure(job, path, fingerprint))

    def _keep(self, records: list[Record]) -> list[Record]:
        for record in records:
            self.store.add(record)
        return records

    def _implied(self, job: Job, cause: Record, fingerprint: str) -> list[Record]:
        smaller = cause.key.series
        reason = f"n={smaller.n} {smaller.events_text} L={cause.key.buffer} was over the limit"
        return [
            Record(key, IMPLIED, fingerprint, reason=reason, limit=cause.limit) for key in job.keys
        ]

    def _measure(self, job: Job, input_path: Path, fingerprint: str) -> list[Record]:
        effort = self.effort.for_peers() if job.is_peer else self.effort
        records = {
            (key.contender, key.buffer): Record(
                key, FAILED, fingerprint, limit=effort.limit, machine=self._machine,
                load=load_average(), reason="the worker ended before it reported",
            )
            for key in job.keys
        }  # fmt: skip
        request = {
            "input": str(input_path),
            "entries": job.entries,
            "fewest": effort.fewest,
            "most": effort.most,
            "budget": effort.budget,
            "shortest": effort.shortest,
            "memory": effort.memory if job.is_peer else 0,
        }
        collect(
            worker_events(python_of(job.environment, self._peers_folder), job, request, effort),
            records,
        )
        return list(records.values())


def collect(events: Iterator[dict[str, Any]], records: dict[tuple[str, int], Record]) -> None:
    """Turn the events of a worker into the samples and the status of its records."""
    reference: dict[int, float] = {}
    for event in events:
        kind, name = event["event"], event.get("contender")
        record = records.get((name, event.get("buffer", 0))) if name else None
        if kind == "ready":
            for one in records.values():
                one.versions = event["versions"]
        elif kind == "sample" and name == REFERENCE:
            reference[event["round"]] = event["seconds"]
        elif kind == "sample" and record is not None and event["keep"]:
            record.seconds.append(event["seconds"])
            record.reference_seconds.append(reference[event["round"]])
            record.repeats, record.values = event["repeats"], event["values"]
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
        trial = last["event"] == "start" and last["contender"] != REFERENCE
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


def load_average() -> float | None:
    """How busy the machine is beside us: a ratio measured on a busy machine deserves less trust."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None

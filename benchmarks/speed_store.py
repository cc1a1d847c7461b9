"""Raw samples on disk: one JSON line per measurement, appended as soon as it is there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from speed_cases import Series

OK, OVER_LIMIT, OVER_MEMORY, FAILED = "ok", "over limit", "over memory", "failed"
IMPLIED, NOT_INSTALLED = "over limit, implied", "not installed"
# What a further run need not try again; a failure or a missing peer may have been put right.
FINAL = (OK, OVER_LIMIT, OVER_MEMORY)


def median_ratio(seconds: list[float], reference: list[float]) -> float:
    """Median of the quotients of samples that were taken in the same round."""
    return median(a / b for a, b in zip(seconds, reference, strict=False))


@dataclass(frozen=True)
class Key:
    """What was measured: a contender in an environment on a series at a buffer length."""

    contender: str
    environment: str
    series: Series
    buffer: int


@dataclass
class Record:
    """The raw samples of one measurement and of the reference interleaved with it."""

    key: Key
    status: str
    fingerprint: str
    seconds: list[float] = field(default_factory=list)
    reference_seconds: list[float] = field(default_factory=list)
    repeats: int = 1
    values: list[float] = field(default_factory=list)
    reason: str = ""
    limit: float = 0.0
    peak_kib: int = 0
    load: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """Median over the rounds of contender / reference; for one over the limit a lower bound."""
        if self.status == OK:
            return median_ratio(self.seconds, self.reference_seconds)
        if self.status == OVER_LIMIT and self.reference_seconds:
            return self.limit / median(self.reference_seconds)
        return None

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> Record:
        fields = json.loads(line)
        key = fields.pop("key")
        series = Series(**key.pop("series"))
        return cls(key=Key(series=series, **key), **fields)


class Store:
    """Appends records and finds the newest one of a key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._records: dict[Key, Record] = {}
        self._cut_short = False
        if path.exists():
            lines = path.read_text(encoding="utf-8")
            self._cut_short = bool(lines) and not lines.endswith("\n")
            for line in lines.splitlines():
                try:
                    record = Record.from_json(line)
                except (ValueError, TypeError, KeyError):
                    continue  # the line that an interrupted run did not finish
                self._records[record.key] = record

    def add(self, record: Record) -> None:
        """Append to the file first, so that nothing measured is ever lost."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = record.to_json() + "\n"
        if self._cut_short:
            text, self._cut_short = "\n" + text, False
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
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

    def finished(self, key: Key, fingerprint: str, limit: float) -> bool:
        """Whether the same code was measured on the same machine, with at least this limit."""
        record = self._records.get(key)
        if record is None or record.fingerprint != fingerprint or record.status not in FINAL:
            return False
        return record.status != OVER_LIMIT or record.limit >= limit


def machine() -> dict[str, Any]:
    """The machine as far as it explains a time."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        model = names[0] if names else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        # numpy's sort differs several times between instruction sets of one processor.
        "numpy_disabled_features": os.environ.get("NPY_DISABLE_CPU_FEATURES", ""),
    }


def source_hash(root: Path) -> str:
    """Hash of every Python file under ``root``: our results hold for the code that gave them."""
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def fingerprint(*parts: Any) -> str:
    """Short identity of whatever a result depends on besides its key."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

"""Timings in a folder: written as they are made, read again to go on."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any

import vuskit
from vuskit import __version__
from vuskit.errors import InvalidInputError
from vuskit.studies.timing_settings import Setting

__all__ = ["Key", "Sample", "TimingStore", "describe_environment"]

Key = tuple[str, str, Setting, str]
"""Series, contestant, setting and clock."""

SAMPLES = "samples.csv"
ENVIRONMENT = "environment.json"
_MEASURED = ("*.py", "kernels/**/*.py", "measures/**/*.py", "algorithms/**/*.py")
_LIBRARIES = ("numpy", "numba", "scipy", "pandas")


@dataclass(frozen=True)
class Sample:
    """One timed run.

    Attributes
    ----------
    series : str
        Name of the series; ``synthetic-<seed>`` for a generated one.
    contestant : str
        A key of `CONTESTANTS`.
    setting : Setting
        What the series and the measure were like.
    seconds : float
        Time of the run.
    peak_bytes : int
        Peak of the memory taken in a run of its own, which is not timed.
    clock : str
        A key of `CLOCKS`.
    """

    series: str
    contestant: str
    setting: Setting
    seconds: float
    peak_bytes: int
    clock: str = "wall"

    @property
    def key(self) -> Key:
        """What was measured."""
        return self.series, self.contestant, self.setting, self.clock

    def as_row(self) -> dict[str, Any]:
        """One flat row."""
        return {
            "series": self.series,
            "contestant": self.contestant,
            **asdict(self.setting),
            "clock": self.clock,
            "seconds": self.seconds,
            "peak_bytes": self.peak_bytes,
        }

    @classmethod
    def from_row(cls, row: dict[str, str]) -> Sample:
        """Undo `as_row`, from text."""
        values = {entry.name: _number(row[entry.name]) for entry in fields(Setting)}
        return cls(
            series=row["series"],
            contestant=row["contestant"],
            setting=Setting(**values),
            seconds=float(row["seconds"]),
            peak_bytes=int(row["peak_bytes"]),
            clock=row["clock"],
        )


def _number(text: str) -> Any:
    value = float(text)
    return int(value) if value.is_integer() else value


def describe_environment() -> dict[str, Any]:
    """Versions and machine: what a timing depends on besides the code.

    Examples
    --------
    >>> sorted(describe_environment())[:3]
    ['code', 'cpu', 'cpus']
    """
    return {
        "vuskit": __version__,
        "code": _digest_of_measured_code(),
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "system": platform.system(),
        "machine": platform.machine(),
        "cpu": _cpu_name(),
        "cpus": os.cpu_count(),
    }


def _digest_of_measured_code() -> str:
    # A version number stays the same while its code is worked on; timings do not.
    package = Path(vuskit.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for part in _MEASURED for path in package.glob(part)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


class TimingStore:
    """Samples in a folder: a csv file that grows, beside the environment they belong to.

    Parameters
    ----------
    folder : str or Path
        Made if it does not exist.

    Raises
    ------
    InvalidInputError
        If the folder holds timings of another machine or of other versions: the two would not
        compare.

    Examples
    --------
    >>> import tempfile
    >>> store = TimingStore(tempfile.mkdtemp())
    >>> store.add([Sample("a", "opt", Setting(), 0.25, 1000)])
    >>> [sample.seconds for sample in TimingStore(store.folder).read()]
    [0.25]
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._check_environment()
        self._cut_torn_line()

    @property
    def path(self) -> Path:
        """The csv file."""
        return self.folder / SAMPLES

    def read(self) -> list[Sample]:
        """All samples so far."""
        if not self.path.exists():
            return []
        with self.path.open(newline="") as stream:
            return [Sample.from_row(row) for row in csv.DictReader(stream)]

    def add(self, samples: Iterable[Sample]) -> None:
        """Append samples; they are in the file when this returns."""
        rows = [sample.as_row() for sample in samples]
        if not rows:
            return
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        if not self.path.exists() or self.path.stat().st_size == 0:
            writer.writeheader()
        writer.writerows(rows)
        with self.path.open("a", newline="") as stream:
            stream.write(text.getvalue())

    def _check_environment(self) -> None:
        path = self.folder / ENVIRONMENT
        now = describe_environment()
        if not path.exists():
            path.write_text(json.dumps(now, indent=2) + "\n")
            return
        then = json.loads(path.read_text())
        other = [name for name in now if now[name] != then.get(name)]
        if other:
            name = other[0]
            raise InvalidInputError(
                f"`folder` must hold timings of this machine and these versions, got {name} "
                f"{then.get(name)} in {self.folder} where {now[name]} runs now; choose another "
                "folder, or empty this one"
            )

    def _cut_torn_line(self) -> None:
        # A process that is killed while it writes leaves a last line without its end.
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        if data and not data.endswith(b"\n"):
            self.path.write_bytes(data[: data.rfind(b"\n") + 1])

"""Storage of raw samples, which are appended as they are taken."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from vuskit._util.environment import describe_environment
from vuskit.errors import InvalidInputError
from vuskit.studies.timing.cases import Setting

__all__ = ["Key", "LineFile", "Sample", "TimingStore"]

Key = tuple[str, str, Setting, str]
"""Series, contestant, setting and clock."""

SAMPLES = "samples.csv"
ENVIRONMENT = "environment.json"


class LineFile:
    """A text file to which whole lines are appended; survives a process killed while writing.

    Parameters
    ----------
    path : Path
        The file; it need not exist. The first `append` removes an incomplete last line.

    Examples
    --------
    >>> import tempfile
    >>> file = LineFile(Path(tempfile.mkdtemp()) / "lines.txt")
    >>> file.append(["one", "two"])
    >>> with file.path.open("a") as stream:
    ...     _ = stream.write("thr")
    >>> list(LineFile(file.path))
    ['one', 'two']
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checked = False

    def __iter__(self) -> Iterator[str]:
        """Complete lines, without line ends."""
        if self.path.exists():
            yield from self._complete(self.path.read_bytes()).decode().split("\n")[:-1]

    def append(self, lines: Iterable[str]) -> None:
        """Append lines; they are in the file when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self._checked and self.path.exists():
            data = self.path.read_bytes()
            complete = self._complete(data)
            if len(complete) < len(data):
                self.path.write_bytes(complete)
        self._checked = True
        with self.path.open("a", encoding="utf-8", newline="") as stream:
            stream.write("".join(f"{line}\n" for line in lines))

    @staticmethod
    def _complete(data: bytes) -> bytes:
        return data[: data.rfind(b"\n") + 1]


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
        Properties of the series and the measure.
    seconds : float
        Time of the run.
    peak_bytes : int
        Peak memory, measured in a separate run that is not timed.
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
        """Key of the measured cell."""
        return self.series, self.contestant, self.setting, self.clock

    def as_row(self) -> dict[str, Any]:
        """Return the sample as a flat row."""
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
        """Create a sample from a row of `as_row`, read as text."""
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


class TimingStore:
    """Samples in a folder: an append-only CSV file, and a description of the environment.

    Parameters
    ----------
    folder : str or Path
        Created if it does not exist.

    Raises
    ------
    InvalidInputError
        If the folder holds timings of another machine or other versions, which are not comparable.

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
        self._file = LineFile(self.folder / SAMPLES)

    @property
    def path(self) -> Path:
        """The CSV file."""
        return self._file.path

    def read(self) -> list[Sample]:
        """Return all samples so far."""
        lines = (f"{line}\n" for line in self._file)
        return [Sample.from_row(row) for row in csv.DictReader(lines)]

    def add(self, samples: Iterable[Sample]) -> None:
        """Append samples; they are in the file when this returns."""
        rows = [sample.as_row() for sample in samples]
        if not rows:
            return
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
        if not any(self._file):
            writer.writeheader()
        writer.writerows(rows)
        self._file.append(text.getvalue().removesuffix("\n").split("\n"))

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
                f"{then.get(name)} in {self.folder}, now {now[name]}; choose another folder, or "
                "empty this one"
            )

"""Values of measures on one series, and the folder that keeps them between runs."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SeriesStore", "SeriesValues"]

_UNREADABLE = (OSError, ValueError, KeyError, zipfile.BadZipFile)


@dataclass(frozen=True, eq=False)
class SeriesValues:
    """Values of measures on one series.

    Attributes
    ----------
    dataset, series : str
        Names.
    buffer : int
        Buffer of R-AUC and longest buffer of VUS.
    axes : mapping from str to tuple of str
        What the axes of `values` are, in order, and the name of each place on them.
    values : array
        NaN where a measure is undefined.
    notes : mapping
        Further facts, of kinds that JSON knows.
    """

    dataset: str
    series: str
    buffer: int
    axes: Mapping[str, tuple[str, ...]]
    values: NDArray[np.float64]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    def to_bytes(self) -> bytes:
        """Everything in one block of bytes; the same values give the same bytes."""
        header = {
            "dataset": self.dataset,
            "series": self.series,
            "buffer": self.buffer,
            "axes": {axis: list(names) for axis, names in self.axes.items()},
            "notes": dict(self.notes),
        }
        stream = io.BytesIO()
        text = np.frombuffer(json.dumps(header, sort_keys=False).encode(), dtype=np.uint8)
        np.savez(stream, header=text, values=self.values)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> SeriesValues:
        """Undo `to_bytes`.

        Raises
        ------
        ValueError, KeyError, zipfile.BadZipFile
            If the bytes are something else.
        """
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes().decode())
            values = arrays["values"]
        axes = {axis: tuple(names) for axis, names in header["axes"].items()}
        return cls(
            header["dataset"], header["series"], header["buffer"], axes, values, header["notes"]
        )


@dataclass(frozen=True)
class SeriesStore:
    """One file for each finished series of a study, named by what went into it.

    A file is complete or not there: it is written beside its place and moved. Other settings,
    other data or other code give other names, so nothing stale is ever read.

    Examples
    --------
    >>> store = SeriesStore(Path(tempfile.mkdtemp()))
    >>> found = SeriesValues("docs", "a", 10, {"measure": ("vus_pr",)}, np.array([0.5]))
    >>> store.save("0123", found)
    >>> store.load("0123").values.tolist(), store.load("4567")
    ([0.5], None)
    """

    folder: Path

    def load(self, key: str) -> SeriesValues | None:
        """What was saved under the key; None if nothing was, or the file is damaged."""
        try:
            return SeriesValues.from_bytes(self._path(key).read_bytes())
        except _UNREADABLE:
            return None

    def save(self, key: str, values: SeriesValues) -> None:
        """Save under the key."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(values.to_bytes())
            os.replace(temporary, self._path(key))
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

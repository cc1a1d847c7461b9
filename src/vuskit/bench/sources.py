"""Where a series comes from, written down so that any process can read it again."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from vuskit import __version__
from vuskit.bench.identity import canonical
from vuskit.datasets import Series, read_series
from vuskit.datasets.synthetic import make_series
from vuskit.errors import InvalidInputError

__all__ = ["SeriesRef", "SeriesSource", "describe_series"]


@dataclass(frozen=True)
class SeriesSource:
    """A file with its format, or a synthetic series with its arguments.

    Parameters
    ----------
    spec : str
        Canonical JSON: ``{"file": ..., "format": ..., "options": {...}}`` or
        ``{"synthetic": {...}}``.

    Examples
    --------
    >>> source = SeriesSource.synthetic({"family": "ecg", "n": 4000, "seed": 1})
    >>> source.load().n_points
    4000
    """

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

    @functools.cached_property
    def _content(self) -> dict[str, Any]:
        return dict(json.loads(self.spec))

    @property
    def path(self) -> Path | None:
        """The file, if it is one."""
        return Path(self._content["file"]) if "file" in self._content else None

    def stamp(self) -> str:
        """What changes when the series may have changed: size and time of the file.

        Raises
        ------
        InvalidInputError
            If the file is gone.
        """
        if self.path is None:
            return f"vuskit {__version__}"
        try:
            state = self.path.stat()
        except OSError as error:
            raise InvalidInputError(f"{self.path}: {error.strerror}") from error
        return f"{state.st_size} {state.st_mtime_ns}"

    def load(self) -> Series:
        """Read or make the series.

        Raises
        ------
        InvalidInputError
            If it cannot be read.
        """
        if self.path is None:
            return make_series(**self._content["synthetic"])
        options = self._content["options"]
        series = read_series(self.path, format=self._content["format"], **options)
        assert isinstance(series, Series)
        return series


@dataclass(frozen=True)
class SeriesRef:
    """What a plan needs to know about a series without holding it.

    Attributes
    ----------
    hash : str
        Digest of its content.
    dataset, name : str
        What it is called.
    n_points, n_channels, n_anomalies, anomalous_points : int
        Sizes.
    source : SeriesSource
        Where it comes from.
    n_missing : int
        Values that are NaN.
    left_out : tuple of str
        Columns of the file that were taken for no channel, each with the reason.
    """

    hash: str
    dataset: str
    name: str
    n_points: int
    n_channels: int
    n_anomalies: int
    anomalous_points: int
    source: SeriesSource = field(compare=False)
    n_missing: int = 0
    left_out: tuple[str, ...] = field(default=(), compare=False)

    @property
    def title(self) -> str:
        """Data set and name."""
        return f"{self.dataset}/{self.name}"

    def load(self) -> Series:
        """Read the series and make sure that it is still the one that was planned.

        Raises
        ------
        InvalidInputError
            If it has changed.
        """
        series = _recent(self.source)
        if series.content_hash != self.hash:
            raise InvalidInputError(
                f"{self.title} must be the series that was planned, got another content; "
                "plan again with --reread"
            )
        return series


# Jobs on one series follow each other, so a worker reads each series about once.
@functools.lru_cache(maxsize=2)
def _recent(source: SeriesSource) -> Series:
    return source.load()


def describe_series(source: SeriesSource) -> SeriesRef:
    """Read a series once and write down what a plan needs.

    Raises
    ------
    InvalidInputError
        If it cannot be read.

    Examples
    --------
    >>> describe_series(SeriesSource.synthetic({"family": "kpi", "n": 4000, "seed": 0})).title
    'synthetic/kpi-native-medium-10x40-seed0'
    """
    series = source.load()
    return SeriesRef(
        hash=series.content_hash,
        dataset=series.dataset,
        name=series.name,
        n_points=series.n_points,
        n_channels=series.n_channels,
        n_anomalies=series.n_anomalies,
        anomalous_points=int(series.labels.sum()),
        source=source,
        n_missing=int(np.isnan(series.values).sum()),
        left_out=series.left_out,
    )

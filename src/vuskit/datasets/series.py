"""`Series`: a labeled time series; `ScoredSeries`: a series with the scores of detectors."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.gaps import bridge_gaps
from vuskit._util.optional import require
from vuskit._util.text import escape_surrogates, plural
from vuskit.buffers import estimate_period
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_numbers, doubles_in_order
from vuskit.intervals import event_bounds

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Series:
    """One time series with a label per point.

    Parameters
    ----------
    name : str
        Name of the series within its data set, as published tables spell it.
    dataset : str
        Name of the data set.
    values : array-like of shape (n,) or (n, d)
        Stored as a read-only float64 copy. NaN means a missing value; infinity is invalid.
    labels : array-like of shape (n,)
        0 and 1 in any dtype; stored as a read-only bool copy.
    train_length : int, optional
        Number of leading points for training.
    channels : sequence of str, optional
        Names of the columns of `values`. Default to ``value``, or ``value_0``, ``value_1``, ...
    left_out : sequence of str, optional
        Columns of the file that were ignored, each with the reason.
    variant : int, default=0
        Distinguishes series with equal labels and unknown values; part of `content_hash`.

    Raises
    ------
    InvalidInputError
        If the arrays differ in length, values are not finite numbers or NaN, or labels are not
        0 and 1.

    Examples
    --------
    >>> series = Series("tiny", "docs", [1.0, 2.0, 9.0, 8.0, 1.0], [0, 0, 1, 1, 0])
    >>> series
    Series('docs/tiny', 5 points, 1 channel, 1 anomaly)
    >>> series.events
    ((2, 4),)
    """

    name: str
    dataset: str
    values: NDArray[np.float64]
    labels: NDArray[np.bool_]
    train_length: int | None = None
    channels: tuple[str, ...] = field(default=())
    left_out: tuple[str, ...] = field(default=())
    variant: int = 0

    def __post_init__(self) -> None:
        values = _frozen_values(self.values)
        labels = _frozen_labels(self.labels)
        if values.shape[0] != labels.size:
            raise InvalidInputError(
                "`values` and `labels` must have equal length, "
                f"got {values.shape[0]} and {labels.size}"
            )
        train = self.train_length
        if train is not None and not 0 <= train <= labels.size:
            raise InvalidInputError(f"`train_length` must be in 0..{labels.size}, got {train}")
        channels = tuple(self.channels) or _default_channels(values)
        if len(channels) != (1 if values.ndim == 1 else values.shape[1]):
            raise InvalidInputError(
                f"`channels` must name every column of shape {values.shape}, got {channels}"
            )
        for key, value in (("values", values), ("labels", labels), ("channels", channels)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "left_out", tuple(self.left_out))
        for key in ("name", "dataset"):  # file names may not be valid UTF-8
            object.__setattr__(self, key, escape_surrogates(getattr(self, key)))

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.labels.size

    @property
    def n_channels(self) -> int:
        """Number of channels: values per point."""
        return 1 if self.values.ndim == 1 else self.values.shape[1]

    @property
    def n_anomalies(self) -> int:
        """Number of anomalies (maximal runs of anomalous points)."""
        return len(self.events)

    @property
    def anomalous_points(self) -> int:
        """Number of anomalous points."""
        return int(self.labels.sum())

    @cached_property
    def events(self) -> tuple[tuple[int, int], ...]:
        """Anomalies as half-open ``(start, stop)`` pairs."""
        return _events(self.labels)

    @cached_property
    def period(self) -> int | None:
        """Period of the first channel by autocorrelation, or None; interpolates missing values."""
        return _period(self.values if self.values.ndim == 1 else self.values[:, 0])

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of values, labels and train length; independent of the series' name.

        Examples
        --------
        >>> one = Series("a", "docs", [1.0, 2.0], [0, 1])
        >>> one.content_hash == Series("b", "other", [1, 2], [False, True]).content_hash
        True
        """
        return content_hash(self.values, self.labels, self.train_length, self.variant)

    def after(self, length: int) -> Series:
        """Return the series without its first points, such as the training part.

        Parameters
        ----------
        length : int
            Number of leading points to drop.

        Raises
        ------
        InvalidInputError
            If no points remain.

        Examples
        --------
        >>> Series("tiny", "docs", [1.0, 2.0, 9.0], [0, 0, 1]).after(1).values
        array([2., 9.])
        """
        if length >= self.n_points:
            raise InvalidInputError(
                f"`train_length` must be less than the {self.n_points:,} points of the series, "
                f"got {length:,}"
            )
        if length == 0:
            return self
        return replace(
            self, values=self.values[length:], labels=self.labels[length:], train_length=None
        )

    def to_frame(self) -> pd.DataFrame:
        """Return channels and label as a pandas DataFrame.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.

        Examples
        --------
        >>> Series("tiny", "docs", [1.5, 2.5], [0, 1]).to_frame()
           value  label
        0    1.5      0
        1    2.5      1
        """
        columns = dict(zip(self.channels, np.atleast_2d(self.values.T), strict=True))
        pandas = require("pandas", purpose="to_frame()")
        frame: pd.DataFrame = pandas.DataFrame(
            {**columns, "label": self.labels.astype(np.uint8)}, copy=True
        )
        return frame

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Series):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.dataset, self.name, self.channels, self.content_hash

    def __repr__(self) -> str:
        return (
            f"Series({f'{self.dataset}/{self.name}'!r}, {plural(self.n_points, 'point')}, "
            f"{plural(self.n_channels, 'channel')}, "
            f"{plural(self.n_anomalies, 'anomaly', 'anomalies')})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # Use the constructor, because default unpickling makes the arrays writable.
        fields = (self.name, self.dataset, self.values, self.labels)
        return Series, (*fields, self.train_length, self.channels, self.left_out, self.variant)


@dataclass(frozen=True, eq=False)
class ScoredSeries:
    """A series together with the scores of detectors.

    Parameters
    ----------
    series : Series
        The labeled series.
    scores : mapping of str to array-like of shape (n,)
        One finite score per point, by run; stored as read-only float64 copies. Distinct integers
        beyond 2**53 keep their order. A run is named after its detector, unless the detector has
        several runs.
    repeats : mapping of str to tuple of str, optional
        For each detector with several runs (different seeds), the names of its runs.

    Raises
    ------
    InvalidInputError
        If scores do not have the length of the series, or are masked, not finite or not real
        numbers.

    Examples
    --------
    >>> series = Series("tiny", "docs", [1.0, 9.0, 1.0], [0, 1, 0])
    >>> scored = ScoredSeries(series, {"values": [1.0, 9.0, 1.0]})
    >>> scored.detectors, scored.scores["values"]
    (('values',), array([1., 9., 1.]))

    Runs with different seeds belong to one detector:

    >>> runs = {"PCA": [0, 1, 0], "AE (seed 0)": [0, 2, 1], "AE (seed 1)": [1, 2, 0]}
    >>> scored = ScoredSeries(series, runs, {"AE": ("AE (seed 0)", "AE (seed 1)")})
    >>> scored.detectors, len(scored.runs("AE"))
    (('PCA', 'AE'), 2)
    """

    series: Series
    scores: Mapping[str, NDArray[np.float64]]
    repeats: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        frozen = {name: self._checked(name, score) for name, score in self.scores.items()}
        object.__setattr__(self, "scores", MappingProxyType(frozen))
        repeats = {detector: tuple(runs) for detector, runs in self.repeats.items()}
        named = [run for runs in repeats.values() for run in runs]
        if len(set(named)) != len(named) or not frozen.keys() >= set(named):
            raise InvalidInputError(
                f"`repeats` must list runs that are keys of `scores`, each once, got {repeats}"
            )
        if taken := [name for name in repeats if name in frozen and name not in repeats[name]]:
            raise InvalidInputError(
                f"`repeats` must not use the name of another run as a detector, got {taken[0]!r}; "
                "rename the detector"
            )
        object.__setattr__(self, "repeats", MappingProxyType(repeats))

    def _checked(self, name: str, score: ArrayLike) -> NDArray[np.float64]:
        shown = f"scores[{name!r}]"
        numbers = check_numbers(shown, score)
        if numbers.shape != (self.series.n_points,):
            raise InvalidInputError(
                f"`{shown}` must have shape ({self.series.n_points},), got {numbers.shape}"
            )
        array = _freeze(doubles_in_order(shown, numbers))
        _refuse_first(~np.isfinite(array), array, f"`scores[{name!r}]` must be finite")
        return array

    @property
    def detectors(self) -> tuple[str, ...]:
        """Names of the detectors, ordered by their first run."""
        detector_of = {run: name for name, runs in self.repeats.items() for run in runs}
        return tuple(dict.fromkeys(detector_of.get(run, run) for run in self.scores))

    def runs(self, detector: str) -> tuple[NDArray[np.float64], ...]:
        """Return the scores of a detector, one array per run.

        Raises
        ------
        InvalidInputError
            If the detector is unknown.
        """
        check_choice("detector", detector, self.detectors)
        return tuple(self.scores[run] for run in self.repeats.get(detector, (detector,)))

    def select(self, detectors: Iterable[str]) -> ScoredSeries:
        """Return the series with the scores of these detectors, in this order.

        Raises
        ------
        InvalidInputError
            If a detector is unknown.
        """
        chosen = [check_choice("detectors", name, self.detectors) for name in detectors]
        repeats = {name: self.repeats[name] for name in chosen if name in self.repeats}
        runs = [run for name in chosen for run in repeats.get(name, (name,))]
        return ScoredSeries(self.series, {run: self.scores[run] for run in runs}, repeats)

    def to_frame(self) -> pd.DataFrame:
        """Return channels, label and scores as a pandas DataFrame.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.

        Examples
        --------
        >>> series = Series("tiny", "docs", [1.0, 9.0], [0, 1])
        >>> ScoredSeries(series, {"mine": [0.25, 0.5]}).to_frame()
           value  label  mine
        0    1.0      0  0.25
        1    9.0      1  0.50
        """
        return self.series.to_frame().assign(**self.scores)

    def __repr__(self) -> str:
        return f"ScoredSeries({self.series!r}, detectors={list(self.scores)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ScoredSeries, (self.series, dict(self.scores), dict(self.repeats))


def content_hash(
    values: NDArray[np.float64],
    labels: NDArray[np.bool_],
    train_length: int | None = None,
    variant: int = 0,
) -> str:
    """Return the hash of a series."""
    digest = hashlib.sha256()
    digest.update(f"vuskit-series-1 {values.shape} {train_length}\n".encode())
    digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    digest.update(labels.tobytes())
    if variant:
        digest.update(f"variant {variant}".encode())
    return digest.hexdigest()


def _freeze(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _frozen_values(values: ArrayLike) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64, order="C")
    if array.ndim not in (1, 2) or array.size == 0:
        raise InvalidInputError(
            f"`values` must have shape (n,) or (n, d) with n, d >= 1, got {array.shape}"
        )
    _refuse_first(np.isinf(array), array, "`values` must be finite or NaN")
    return _freeze(array)


def _frozen_labels(labels: ArrayLike) -> NDArray[np.bool_]:
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InvalidInputError(f"`labels` must be 1-D, got shape {array.shape}")
    _refuse_first(~np.isin(array, (0, 1)), array, "`labels` must be 0 or 1")
    return _freeze(np.array(array, dtype=np.bool_))


def _refuse_first(bad: NDArray[np.bool_], array: NDArray[Any], rule: str) -> None:
    if bad.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(bad))
        index = where[0] if len(where) == 1 else where
        raise InvalidInputError(f"{rule}, got {array[where]} at index {index}")


def _default_channels(values: NDArray[np.float64]) -> tuple[str, ...]:
    if values.ndim == 1:
        return ("value",)
    return tuple(f"value_{channel}" for channel in range(values.shape[1]))


def _events(labels: NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    starts, stops = event_bounds(np.flatnonzero(labels))
    return tuple(zip(starts.tolist(), stops.tolist(), strict=True))


def _period(values: NDArray[np.float64]) -> int | None:
    return None if np.isnan(values).all() else estimate_period(bridge_gaps(values))


_SHORT = 6  # digits of a digest


class SeriesName(NamedTuple):
    """Name of a series, and what can make it unique."""

    dataset: str
    name: str
    path: PurePath | None = None
    digest: str = ""


def unique_names(series: Sequence[SeriesName]) -> list[tuple[str, str]]:
    """Return a unique pair of data set and name for each series.

    If series share both, parent folders are prepended to the data set until the pairs differ. If
    folders do not suffice, the first digits of the digest are appended to the name.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> places = ["plantA/logs/pump.csv", "plantB/logs/pump.csv", "plantB/logs/fan.csv"]
    >>> paths = [PurePosixPath("/data", place) for place in places]
    >>> unique_names([SeriesName("logs", path.stem, path) for path in paths])
    [('plantA/logs', 'pump'), ('plantB/logs', 'pump'), ('logs', 'fan')]
    >>> unique_names([SeriesName("synthetic", "ecg", None, digest) for digest in ("5e1f", "03ab")])
    [('synthetic', 'ecg-5e1f'), ('synthetic', 'ecg-03ab')]
    """
    names = [(one.dataset, one.name) for one in series]
    for group in _equal(names):
        for place, dataset in zip(group, _datasets([series[i] for i in group]), strict=True):
            names[place] = dataset, names[place][1]
    for group in _equal(names):
        for place in group:
            dataset, name = names[place]
            names[place] = dataset, f"{name}-{series[place].digest[:_SHORT]}".rstrip("-")
    for group in _equal(names):
        for number, place in enumerate(group[1:], start=2):
            dataset, name = names[place]
            names[place] = dataset, f"{name}-{number}"
    return names


def _equal(names: Iterable[tuple[str, str]]) -> list[list[int]]:
    """Positions of each name that occurs several times."""
    groups: dict[str, list[int]] = {}
    for place, (dataset, name) in enumerate(names):
        groups.setdefault(f"{dataset}/{name}", []).append(place)
    return [group for group in groups.values() if len(group) > 1]


def _datasets(group: list[SeriesName]) -> list[str]:
    """Prepend the fewest folders that make the most data sets unique."""
    folders = [_folders(one) for one in group]
    depths = range(1 + max(map(len, folders)))
    extended = [
        ["/".join([*own[len(own) - min(depth, len(own)) :], one.dataset])
         for one, own in zip(group, folders, strict=True)]
        for depth in depths
    ]  # fmt: skip
    return max(extended, key=lambda names: sum(n == 1 for n in Counter(names).values()))


def _folders(one: SeriesName) -> tuple[str, ...]:
    """Parent folders of the file, without the one that names the data set."""
    if one.path is None:
        return ()
    above = one.path.parent
    parts = tuple(part for part in above.parts if part != above.anchor)
    return parts[:-1] if parts[-1:] == (one.dataset,) else parts

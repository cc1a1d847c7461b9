"""Cases of the execution-time study: parameters, and generated or real series."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.buffers import choose_buffer
from vuskit.datasets import ScoredSeries, read_scores
from vuskit.datasets.collection import SeriesFile, read_collection
from vuskit.datasets.inputs import Source
from vuskit.datasets.synthetic import labeled_scores
from vuskit.errors import InvalidInputError
from vuskit.intervals import event_bounds
from vuskit.measures.settings import EvaluationSettings

_GENERATED = "synthetic-"
Arrays = tuple[NDArray[np.bool_], NDArray[Any]]
_Read = tuple[str, Callable[[], ScoredSeries], ScoredSeries]


@dataclass(frozen=True)
class Setting:
    """Properties of a series and of the measure; the defaults are the paper's.

    Attributes
    ----------
    n_anomalies : int
        Number of anomalies.
    mean_length, std_length : float
        Mean and standard deviation of their lengths. With a mean of 0 there are no anomalies.
    n_points : int
        Length of the series.
    max_buffer : int
        Longest buffer of VUS, and the buffer of R-AUC.
    n_thresholds : int
        Number of thresholds on the grid.
    """

    n_anomalies: int = 10
    mean_length: float = 10
    std_length: float = 0
    n_points: int = 100_000
    max_buffer: int = 5
    n_thresholds: int = 250

    @classmethod
    def of(cls, labels: NDArray[np.bool_], *, max_buffer: int, n_thresholds: int) -> Setting:
        """Describe a labeled series.

        Examples
        --------
        >>> labels = np.array([0, 1, 1, 0, 1, 1, 1, 1], dtype=bool)
        >>> setting = Setting.of(labels, max_buffer=5, n_thresholds=250)
        >>> setting.n_anomalies, setting.mean_length, setting.std_length, setting.n_points
        (2, 3.0, 1.0, 8)
        """
        starts, stops = event_bounds(np.flatnonzero(labels))
        lengths = stops - starts
        return cls(
            n_anomalies=lengths.size,
            mean_length=float(lengths.mean()) if lengths.size else 0.0,
            std_length=float(lengths.std()) if lengths.size else 0.0,
            n_points=labels.size,
            max_buffer=max_buffer,
            n_thresholds=n_thresholds,
        )

    @property
    def evaluation(self) -> EvaluationSettings:
        """Evaluation settings for measures on the grid."""
        return EvaluationSettings(buffer=self.max_buffer, thresholds=self.n_thresholds)

    def differs_in(self, other: Setting) -> tuple[str, ...]:
        """Return the names of the parameters in which two settings differ."""
        names = (entry.name for entry in fields(self))
        return tuple(name for name in names if getattr(self, name) != getattr(other, name))


@dataclass(frozen=True)
class Parameter:
    """A parameter that the study varies."""

    name: str
    symbol: str
    title: str
    values: tuple[float, ...]
    quick_values: tuple[float, ...]
    scale: str


PARAMETERS: dict[str, Parameter] = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "n_anomalies",
            r"$\alpha$",
            "number of anomalies",
            (0, 10, 50, 100, 250, 500, 1000, 1500, 2000),
            (0, 10, 500, 2000),
            "symlog",
        ),
        Parameter(
            "mean_length",
            r"$\mu(\ell_a)$",
            "mean anomaly length",
            (0, 1, 10, 50, 100, 250, 500, 750, 1000),
            (0, 1, 10, 1000),
            "symlog",
        ),
        Parameter(
            "n_points",
            r"$|T|$",
            "length of the series",
            (1000, 3000, 10_000, 30_000, 50_000, 75_000, 100_000),
            (1000, 10_000, 100_000),
            "log",
        ),
        Parameter(
            "std_length",
            r"$\sigma(\ell_a)$",
            "standard deviation of the anomaly length",
            (0, 2, 4, 6, 8, 10),
            (0, 5, 10),
            "linear",
        ),
        Parameter(
            "n_thresholds",
            r"$N$",
            "number of thresholds",
            (2, 10, 50, 100, 250, 500, 750, 1000),
            (2, 50, 250, 1000),
            "log",
        ),
        Parameter(
            "max_buffer",
            r"$L$",
            "maximum buffer length",
            (0, 5, 10, 25, 50, 100, 250, 500, 1000),
            (0, 5, 15, 30),
            "symlog",
        ),
    )
}
"""The parameters in the order of the paper's six panels."""


def settings_of(*, quick: bool = False) -> tuple[Setting, ...]:
    """Return the unique settings of the study; each parameter is varied separately."""
    changes: list[dict[str, Any]] = [
        {name: value}
        for name, one in PARAMETERS.items()
        for value in (one.quick_values if quick else one.values)
    ]
    return tuple(dict.fromkeys(replace(Setting(), **change) for change in changes))


@dataclass(frozen=True)
class Case:
    """One series to time.

    Attributes
    ----------
    name : str
        Name in tables.
    setting : Setting
        Properties of the series and the measure.
    load : callable
        Returns labels and scores.
    """

    name: str
    setting: Setting
    load: Callable[[], Arrays] = field(compare=False, repr=False)


def synthetic_cases(
    settings: Iterable[Setting] | None = None, *, quick: bool = False, seed: int = 0
) -> tuple[Case, ...]:
    """Generate a series for each setting of the study.

    Parameters
    ----------
    settings : iterable of Setting, optional
        The settings. Default: those of the full or the quick study.
    quick : bool, default=False
        Use the settings of the quick study.
    seed : int, default=0
        Seed of the generator.

    Returns
    -------
    tuple of Case
        The series are generated when they are loaded.

    Examples
    --------
    >>> case, = synthetic_cases([Setting(n_points=500, n_anomalies=3)])
    >>> labels, scores = case.load()
    >>> labels.size, int(labels.sum()), scores.shape
    (500, 30, (500,))
    """
    chosen = settings_of(quick=quick) if settings is None else settings
    return tuple(
        Case(f"{_GENERATED}{seed}", setting, partial(_generate, setting, seed))
        for setting in chosen
    )


def is_generated(name: str) -> bool:
    """Return whether this is the name of a generated series."""
    return name.startswith(_GENERATED)


def _generate(setting: Setting, seed: int) -> Arrays:
    return labeled_scores(
        setting.n_points,
        n_anomalies=setting.n_anomalies if setting.mean_length else 0,
        mean_length=max(setting.mean_length, 1),
        std_length=setting.std_length,
        seed=seed,
    )


def real_cases(
    folder: str | Path,
    *,
    buffer: int | str = Setting.max_buffer,
    thresholds: int = Setting.n_thresholds,
) -> tuple[Case, ...]:
    """Return the cases of all series below a folder that have anomalous and normal points.

    A file of saved scores contributes the scores of its first detector. A series without scores is
    scored by the distance of its first channel from the median. The quality of the scores hardly
    affects the time.
    """
    files = read_collection(folder).files
    if not (found := _cases(_read_series(files), buffer, thresholds)):
        raise InvalidInputError(
            f"`folder` must hold a series with anomalous and normal points, got none in {folder}"
        )
    return found


def _read_series(files: Iterable[SeriesFile]) -> Iterator[_Read]:
    """Yield the files that hold a series."""
    for file in files:
        with suppress(InvalidInputError):
            yield file.key, partial(_read_file, file), _read_file(file)


def scored_cases(sources: Iterable[Source]) -> tuple[Case, ...]:
    """Return the cases of series with scores: those of the first detector of each."""
    read = ((one.name, one.read, one.read()) for one in sources)
    return _cases(read, Setting.max_buffer, Setting.n_thresholds)


def _cases(series: Iterable[_Read], buffer: int | str, thresholds: int) -> tuple[Case, ...]:
    """Return the cases of series with scores, anomalous and normal points.

    Each series was read to describe it, and is read again when it is measured.
    """
    cases = []
    for name, read, scored in series:
        labels, values = scored.series.labels, scored.series.values
        if scored.scores and 0 < np.count_nonzero(labels) < labels.size:
            try:
                length = choose_buffer(buffer, values=values, y_true=labels).length
            except InvalidInputError as error:
                raise InvalidInputError(f"{name}: {error}") from error
            setting = Setting.of(labels, max_buffer=length, n_thresholds=thresholds)
            cases.append(Case(name, setting, partial(_load, read)))
    return tuple(cases)


def _load(read: Callable[[], ScoredSeries]) -> Arrays:
    scored = read()
    return scored.series.labels, next(iter(scored.scores.values()))


def _read_file(file: SeriesFile) -> ScoredSeries:
    if file.format.name == "scores":
        return read_scores(file.path)
    series = file.read()
    values = np.nan_to_num(series.values if series.values.ndim == 1 else series.values[:, 0])
    return ScoredSeries(series, {"distance": np.abs(values - np.median(values))})

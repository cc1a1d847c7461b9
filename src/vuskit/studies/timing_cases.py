"""The series of the execution-time study, generated or real."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets import ScoredSeries, SeriesFile, read_collection, read_scores
from vuskit.datasets.synthetic import labelled_scores
from vuskit.errors import InvalidInputError
from vuskit.studies.sources import buffer_of
from vuskit.studies.timing_settings import Setting, settings_of

__all__ = ["Case", "is_generated", "real_cases", "synthetic_cases"]

_GENERATED = "synthetic-"
Arrays = tuple[NDArray[np.bool_], NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """One series to be evaluated.

    Attributes
    ----------
    name : str
        Names it in the tables.
    setting : Setting
        What it is like.
    load : callable
        Gives its labels and scores.
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
        The settings; those of the paper's table by default.
    quick : bool, default=False
        Take the shorter table.
    seed : int, default=0
        Seed of the generator.

    Returns
    -------
    tuple of Case
        The series are made when they are needed.

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
    """Whether this is the name of a generated series.

    Examples
    --------
    >>> is_generated("synthetic-0"), is_generated("ECG/803.out")
    (True, False)
    """
    return name.startswith(_GENERATED)


def _generate(setting: Setting, seed: int) -> Arrays:
    return labelled_scores(
        setting.n_points,
        n_anomalies=setting.n_anomalies,
        mean_length=setting.mean_length,
        std_length=setting.std_length,
        seed=seed,
    )


def real_cases(
    folder: str | Path, *, max_buffer: int | str = 5, n_thresholds: int = 250
) -> tuple[Case, ...]:
    """Every series below a folder that holds anomalous and normal points.

    A file of saved scores lends the scores of its first detector. A series without scores is
    scored by the distance of its first channel from the median: the time depends on the order
    of the scores, hardly on how good they are.

    Parameters
    ----------
    folder : str or Path
        Files of any format that `vuskit.datasets.read_collection` knows.
    max_buffer : int or str
        Longest buffer, or a strategy of :func:`vuskit.choose_buffer` that each series is asked.
    n_thresholds : int
        Number of thresholds.

    Returns
    -------
    tuple of Case
        In the order of the files, which are read once here and again when they are measured.

    Raises
    ------
    InvalidInputError
        If it is no folder, no file below it can be used, or the strategy finds no buffer.
    """
    cases = []
    for file in read_collection(folder).files:
        try:
            scored = _read_file(file)
        except InvalidInputError:
            continue
        labels = scored.series.labels
        if 0 < np.count_nonzero(labels) < labels.size:
            buffer = _buffer(file, scored, max_buffer)
            setting = Setting.of(labels, max_buffer=buffer, n_thresholds=n_thresholds)
            cases.append(Case(file.key, setting, partial(_load_file, file)))
    if not cases:
        raise InvalidInputError(
            f"`folder` must hold a series with anomalous and normal points, got {folder}"
        )
    return tuple(cases)


def _buffer(file: SeriesFile, scored: ScoredSeries, strategy: int | str) -> int:
    try:
        return buffer_of(scored, strategy).length
    except InvalidInputError as error:
        raise InvalidInputError(f"{file.key}: {error}") from error


def _load_file(file: SeriesFile) -> Arrays:
    scored = _read_file(file)
    return scored.series.labels, next(iter(scored.scores.values()))


def _read_file(file: SeriesFile) -> ScoredSeries:
    if file.format.name == "scores":
        return read_scores(file.path)
    series = file.read()
    values = np.nan_to_num(series.values if series.values.ndim == 1 else series.values[:, 0])
    return ScoredSeries(series, {"distance": np.abs(values - np.median(values))})

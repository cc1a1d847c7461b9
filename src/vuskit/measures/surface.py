"""The surface of VUS as data, and volumes over arbitrary parameters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.algorithms import (
    ALGORITHMS,
    areas,
    range_rates,
)
from vuskit.algorithms._steps import RangeRates
from vuskit.errors import InvalidInputError
from vuskit.inputs import Labels, align_to_labels, check_choice, check_pair
from vuskit.kernels.ranking import rank_table
from vuskit.kernels.sweep import grid_ranks, grid_rates
from vuskit.measures.areas import AreaSettings, BufferedLabels, rank_score
from vuskit.measures.settings import Buffer, EvaluationSettings
from vuskit.measures.vus import check_algorithm
from vuskit.measures.workspace import PreparedLabels

__all__ = ["Surface", "Volume", "surface", "volume"]

Floats = NDArray[np.float64]

_ALGORITHMS = ("fast", *ALGORITHMS)


@dataclass(frozen=True)
class Surface:
    """Rates by buffer length and threshold.

    Attributes
    ----------
    buffers : ndarray of shape (W,)
        Buffer lengths: the multiples of ``step`` up to the longest, and the longest itself.
    thresholds : ndarray of shape (N,)
        Thresholds, from high to low.
    fpr, tpr, precision : ndarray of shape (W, N)
        False-positive rate, true-positive rate (recall) and precision.
    range_auc_roc, range_auc_pr : ndarray of shape (W,)
        Areas under the curves of each buffer length, on these thresholds.
    definition : str
        Definition of the rates.
    side : str
        Side of the anomalies that has a buffer: ``"both"``, ``"before"`` or ``"after"``.
    step : int
        Distance between buffer lengths. VUS is the mean area over the multiples of ``step``; it
        excludes the longest buffer if that is not a multiple.
    """

    buffers: NDArray[np.intp]
    thresholds: NDArray[Any]
    fpr: Floats
    tpr: Floats
    precision: Floats
    range_auc_roc: Floats
    range_auc_pr: Floats
    definition: str
    side: str = "both"
    step: int = 1

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per buffer and threshold.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        size = self.thresholds.size
        return require("pandas", purpose="to_frame()").DataFrame(
            {
                "buffer": np.repeat(self.buffers, size),
                "threshold": np.tile(self.thresholds, self.buffers.size),
                "fpr": self.fpr.ravel(),
                "tpr": self.tpr.ravel(),
                "precision": self.precision.ravel(),
            }
        )


def surface(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer,
    values: ArrayLike | None = None,
    thresholds: int | None = 250,
    definition: str = EvaluationSettings.definition,
    step: int = EvaluationSettings.step,
    side: str = EvaluationSettings.side,
    algorithm: str = "fast",
    memory_limit: int | None = None,
    nan: str = EvaluationSettings.nan,
) -> Surface:
    """Compute TPR, FPR and precision over all buffer lengths and thresholds.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int, str or BufferChoice
        Longest buffer: a number of points, or the name of a strategy of :func:`choose_buffer`.
    values : array-like of shape (n,) or (n, d), optional
        Values of the series, for strategies based on the period.
    thresholds : int or None, default=250
        Number of thresholds, placed at evenly spaced ranks of the scores; 250 suffice for a plot.
        None uses every distinct score, which creates arrays of size buffers x scores.
    step : int, default=1
        Distance between buffer lengths. The surface contains 0, step, 2 step, ..., and always
        ``buffer``. VUS with the same step excludes ``buffer`` if it is not a multiple of ``step``.
    definition, side, algorithm, memory_limit, nan
        As for :func:`vuskit.vus_roc`.

    Returns
    -------
    Surface

    Raises
    ------
    InvalidInputError
        If an array or a parameter is invalid, only one class is present, or the surface does not
        fit into the available memory.

    Warns
    -----
    ThresholdResolutionWarning
        If the grid of thresholds is too coarse for the number of anomalous points.

    Examples
    --------
    >>> from vuskit import surface
    >>> s = surface([0, 0, 1, 1, 1, 1], [0, 1, 3, 5, 4, 2], buffer=5, step=2, thresholds=6)
    >>> s.thresholds.tolist(), s.tpr.shape
    ([5, 4, 3, 2, 1, 0], (4, 6))
    >>> s.buffers.tolist()
    [0, 2, 4, 5]
    """
    settings = EvaluationSettings(
        buffer=buffer, thresholds=thresholds, definition=definition, step=step, side=side, nan=nan
    )
    check_algorithm(settings, {"algorithm": check_choice("algorithm", algorithm, _ALGORITHMS)})
    y_true, y_score, values = align_to_labels(y_true, y_score=y_score, values=values)
    labels, scores = _checked(y_true, y_score, settings.nan)
    buffered = PreparedLabels(labels, values).buffered(settings, with_volume=True)
    buffered.warn_if_coarse(thresholds)
    if algorithm == "fast":
        return _fast(buffered, scores, settings.thresholds)
    assert settings.thresholds is not None
    buffered.check_surface(settings.thresholds)
    rates: RangeRates = range_rates(
        labels.as_array(),
        scores,
        buffered.settings.widths.tolist(),
        settings.thresholds,
        algorithm=algorithm,
        memory_limit=memory_limit,
    )
    return _surface(buffered.settings, rates, areas(rates))


def surface_to_draw(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer,
    thresholds: int | None,
    **options: Any,
) -> Surface:
    """Compute a surface for plots: like :func:`surface`, but without a warning for coarse grids."""
    settings = EvaluationSettings(buffer=buffer, thresholds=thresholds, **options)
    labels, scores = _checked(y_true, y_score, settings.nan)
    buffered = PreparedLabels(labels).buffered(settings, with_volume=True)
    return _fast(buffered, scores, settings.thresholds)


def _checked(y_true: ArrayLike, y_score: ArrayLike, nan: str) -> tuple[Labels, NDArray[Any]]:
    labels, scores = check_pair(y_true, y_score, nan)
    if not labels.has_both_classes:
        raise InvalidInputError(
            "`y_true` must hold both normal and anomalous points, got one class"
        )
    return labels, scores


def _fast(buffered: BufferedLabels, scores: NDArray[Any], thresholds: int | None) -> Surface:
    if thresholds is None:
        levels = np.unique(scores)[::-1]
        buffered.check_surface(levels.size)
    else:
        buffered.check_surface(thresholds)
        ranks = grid_ranks(buffered.labels.n, thresholds)
        levels, _ = rank_table(scores, scores[:0], ranks).at_rank(ranks)
    table = rank_table(scores, levels, np.zeros(0, dtype=np.intp))
    rates = RangeRates(levels, *grid_rates(scores, buffered.plan, table, levels))
    found = rank_score(buffered.labels, scores, buffered, thresholds, with_levels=False).areas
    return _surface(buffered.settings, rates, (found.roc, found.pr))


def _surface(settings: AreaSettings, rates: RangeRates, found: tuple[Floats, Floats]) -> Surface:
    """Create a surface from rates and areas."""
    levels, fpr, tpr, precision = rates
    roc, pr = found
    about = settings.definition, settings.side, settings.step
    return Surface(settings.widths, levels, fpr, tpr, precision, roc, pr, *about)


@dataclass(frozen=True)
class Volume:
    """Values of a measure over a grid of parameters, and their mean.

    Attributes
    ----------
    grid : dict
        Values of each parameter.
    values : ndarray
        Values of the measure, with one axis per parameter in the order of ``grid``.
    """

    grid: dict[str, list[Any]]
    values: Floats

    @property
    def mean(self) -> float:
        """Volume under the (hyper-)surface: the mean over the grid."""
        return float(self.values.mean())

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per combination of parameters.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        frame = require("pandas", purpose="to_frame()").DataFrame(
            list(itertools.product(*self.grid.values())), columns=list(self.grid)
        )
        frame["value"] = self.values.ravel()
        return frame


def volume(function: Callable[..., float], grid: Mapping[str, Iterable[Any]]) -> Volume:
    """Compute the mean of a measure over a grid of named parameters.

    VUS is the volume over one parameter, the buffer length. With more parameters, such as a
    detector's window, the surface becomes a hyper-surface; this function returns the volume under
    it.

    Parameters
    ----------
    function : callable
        Called with one keyword per parameter; returns a number.
    grid : mapping from str to iterable
        Values of each parameter.

    Returns
    -------
    Volume
        The values, and their mean.

    Raises
    ------
    InvalidInputError
        If the grid is empty, or does not map names to values.

    Examples
    --------
    >>> from vuskit import range_auc_roc, volume, vus_roc
    >>> y_true, y_score = [0, 0, 1, 1, 0, 0], [0, 1, 3, 5, 4, 2]
    >>> over_buffers = volume(
    ...     lambda buffer: range_auc_roc(y_true, y_score, buffer=buffer), {"buffer": range(5)}
    ... )
    >>> round(over_buffers.mean - vus_roc(y_true, y_score, buffer=4), 12)
    0.0
    """
    listed = _listed(grid)
    if not listed or not all(listed.values()):
        raise InvalidInputError("`grid` must have at least one value per parameter, got none")
    names = list(listed)
    values = [
        float(function(**dict(zip(names, combination, strict=True))))
        for combination in itertools.product(*listed.values())
    ]
    return Volume(listed, np.array(values).reshape([len(choices) for choices in listed.values()]))


def _listed(grid: Any) -> dict[str, list[Any]]:
    if not isinstance(grid, Mapping):
        raise InvalidInputError(f"`grid` must map parameter names to lists of values, got {grid!r}")
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidInputError(f"`grid[{name!r}]` must be a list of values, got {values!r}")
    return {name: list(values) for name, values in grid.items()}

"""The surface under which VUS is the volume, as data; and volumes over any parameters."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit.algorithms import ALGORITHMS, RangeRates, areas, range_rates
from vuskit.errors import InvalidInputError
from vuskit.inputs import Labels, align_to_labels, check_choice, check_pair
from vuskit.kernels.ranking import rank_table
from vuskit.kernels.sweep import grid_ranks, grid_rates
from vuskit.measures.settings import Buffer, EvaluationSettings
from vuskit.measures.vus import check_algorithm
from vuskit.measures.workspace import AreaSettings, BufferedLabels, PreparedLabels, RankedScore

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
        Where the buffers are: ``"both"``, ``"before"`` or ``"after"``.
    step : int
        Distance between buffer lengths. VUS is the mean of an area over its multiples: the longest
        buffer, where it is not one, does not count.
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
        """One row per (buffer, threshold), as a pandas frame.

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
        The series, for strategies that look for a period.
    thresholds : int or None, default=250
        Number of thresholds, taken at evenly spaced ranks of the scores; a picture needs no more.
        None takes every distinct score, which makes arrays of (buffers x scores).
    step : int, default=1
        Distance between buffer lengths. The surface has 0, step, 2 step, ..., and ``buffer`` in any
        case; VUS with the same step leaves ``buffer`` out where it is not a multiple.
    definition, side, algorithm, memory_limit
        As for :func:`vuskit.vus_roc`.

    Returns
    -------
    Surface

    Raises
    ------
    InvalidInputError
        If the arrays or a parameter cannot be evaluated, only one class is present, or the surface
        does not fit into the available memory.

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
        buffer=buffer, thresholds=thresholds, definition=definition, step=step, side=side
    )
    check_algorithm(settings, {"algorithm": check_choice("algorithm", algorithm, _ALGORITHMS)})
    y_true, y_score, values = align_to_labels(y_true, y_score=y_score, values=values)
    labels, scores = _checked(y_true, y_score)
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
    """As :func:`surface`, for pictures: whoever looks at one has not asked for its grid.

    Raises
    ------
    InvalidInputError
        As there.
    """
    settings = EvaluationSettings(buffer=buffer, thresholds=thresholds, **options)
    labels, scores = _checked(y_true, y_score)
    buffered = PreparedLabels(labels).buffered(settings, with_volume=True)
    return _fast(buffered, scores, settings.thresholds)


def _checked(y_true: ArrayLike, y_score: ArrayLike) -> tuple[Labels, NDArray[Any]]:
    labels, scores = check_pair(y_true, y_score)
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
    found = RankedScore(buffered.labels, scores, buffered, thresholds, with_levels=False).areas
    return _surface(buffered.settings, rates, (found.roc, found.pr))


def _surface(settings: AreaSettings, rates: RangeRates, found: tuple[Floats, Floats]) -> Surface:
    """Surface of rates and areas."""
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
        One axis per parameter, in the order of ``grid``.
    """

    grid: dict[str, list[Any]]
    values: Floats

    @property
    def mean(self) -> float:
        """The volume under the (hyper-)surface: the mean over the grid."""
        return float(self.values.mean())

    def to_frame(self) -> Any:
        """One row per combination of parameters, as a pandas frame.

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
    """Mean of a measure over any grid of named parameters.

    With more parameters than the buffer (a detector's window, its normal model's length), the
    surface of VUS becomes a hyper-surface; this is the volume under it.

    Parameters
    ----------
    function : callable
        Called with one keyword per parameter; gives a number.
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
        raise InvalidInputError("`grid` must give at least one value per parameter, got none")
    names = list(listed)
    values = [
        float(function(**dict(zip(names, combination, strict=True))))
        for combination in itertools.product(*listed.values())
    ]
    return Volume(listed, np.array(values).reshape([len(choices) for choices in listed.values()]))


def _listed(grid: Any) -> dict[str, list[Any]]:
    if not isinstance(grid, Mapping):
        raise InvalidInputError(f"`grid` must map names of parameters to values, got {grid!r}")
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidInputError(f"`grid[{name!r}]` must be a list of values, got {values!r}")
    return {name: list(values) for name, values in grid.items()}

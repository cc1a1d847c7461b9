"""Common parts of the three algorithms: input, result, and steps of the pseudo-code.

Names follow the paper's pseudo-code (``label_l``, ``Anomaly_Index``, ``SumPred``, ...).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints, event_bounds

__all__ = [
    "BoolArray",
    "Counts",
    "Events",
    "OperationCounter",
    "Problem",
    "RangeRates",
    "Segments",
    "anomaly_index",
    "areas",
    "create_label",
    "dynamic_part",
    "rates",
    "static_part",
    "thresholds_of",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class RangeRates(NamedTuple):
    """Points of the range-aware curves, with thresholds from high to low.

    Attributes
    ----------
    thresholds : ndarray of shape (N,)
        The thresholds, in the dtype of the scores.
    fpr, tpr, precision : ndarray of shape (W, N)
        One row for each buffer length.
    """

    thresholds: NDArray[Any]
    fpr: FloatArray
    tpr: FloatArray
    precision: FloatArray


class OperationCounter:
    """Count the array elements that an algorithm accesses, by kind of operation.

    Tests use these counts because, unlike run times, they do not depend on the machine.

    Examples
    --------
    >>> counter = OperationCounter()
    >>> counter.touch(predict=np.zeros(5), sum=np.zeros(2))
    >>> counter.touch(predict=np.zeros(5))
    >>> counter.elements["predict"], counter.total
    (10, 12)
    """

    def __init__(self) -> None:
        self.elements: Counter[str] = Counter()

    def touch(self, **arrays: NDArray[Any]) -> None:
        """Add the size of each array to the count of the operation given as keyword."""
        for kind, array in arrays.items():
            self.elements[kind] += array.size

    @property
    def total(self) -> int:
        """Total number of accessed elements."""
        return self.elements.total()


@dataclass(frozen=True)
class Problem:
    """Validated input of an algorithm.

    Attributes
    ----------
    labels : ndarray of bool, shape (n,)
        True for anomalous points.
    scores : ndarray of shape (n,)
        Finite anomaly scores.
    thresholds : ndarray of shape (N,)
        Thresholds from high to low.
    buffers : tuple of int
        Buffer lengths.
    memory_limit : int
        Limit in bytes for stored predictions.
    counter : OperationCounter or None
        Counter of accessed elements.
    """

    labels: BoolArray
    scores: NDArray[Any]
    thresholds: NDArray[Any]
    buffers: tuple[int, ...]
    memory_limit: int
    counter: OperationCounter | None = None


def thresholds_of(scores: NDArray[Any], n_thresholds: int) -> NDArray[Any]:
    """Return the scores at evenly spaced ranks, from the highest to the lowest."""
    # Reverse the sorted scores instead of sorting negated ones; unsigned scores would wrap around.
    descending = np.sort(scores)[::-1]
    ranks = np.linspace(0, scores.size - 1, n_thresholds).astype(int)
    return np.take(descending, ranks)


class Segments(NamedTuple):
    """Disjoint sections of the series.

    Attributes
    ----------
    points : ndarray of int
        Indices of all points of the sections, in order.
    starts : ndarray of int
        Position in ``points`` at which each section begins.
    """

    points: Ints
    starts: Ints

    def hit(self, product: FloatArray) -> float:
        """Return the fraction of sections with a nonzero product (``Existence``)."""
        if self.starts.size == 0:
            return float("nan")
        sums = np.add.reduceat(product[self.points], self.starts)
        return np.count_nonzero(sums) / self.starts.size


class Events(NamedTuple):
    """Anomalies of a series as half-open ranges, and the number of points in the series."""

    starts: Ints
    stops: Ints
    size: int

    @classmethod
    def of(cls, labels: BoolArray) -> Events:
        """Find the runs of ones."""
        return cls(*event_bounds(np.flatnonzero(labels)), labels.size)

    def within(self, sections: Segments) -> Events:
        """Return the events with positions relative to the concatenated sections."""
        starts = np.searchsorted(sections.points, self.starts)
        return Events(starts, starts + (self.stops - self.starts), sections.points.size)


def anomaly_index(events: Events, buffer: int) -> Segments:
    """Return ``Anomaly_Index(label_l)``: events with buffers, merged if they overlap."""
    half = buffer // 2
    starts, stops, size = events
    apart = stops[:-1] + half <= starts[1:] - half
    first = np.maximum(starts[np.r_[True, apart][: starts.size]] - half, 0)
    last = np.minimum(stops[np.r_[apart, True][: starts.size]] + half, size)
    lengths = last - first
    offsets = np.cumsum(lengths) - lengths
    points = np.repeat(first - offsets, lengths) + np.arange(lengths.sum())
    return Segments(points, offsets)


def create_label(events: Events, buffer: int) -> FloatArray:
    """Return ``label_l``: 1 inside events, decreasing ramps on both sides, capped at 1."""
    half = buffer // 2
    after = np.sqrt(1 - np.arange(1, half + 1) / max(buffer, 1))
    before = after[::-1]
    label = np.zeros(events.size)
    for start, stop in zip(events.starts, events.stops, strict=True):
        left, right = max(start - half, 0), min(stop + half, events.size)
        label[left:start] += before[half - (start - left) :]
        label[start:stop] = 1.0
        label[stop:right] += after[: right - stop]
    return np.minimum(label, 1.0)


class Counts:
    """``TP_l``, ``SumLabel`` and ``Existence`` for every buffer length and threshold."""

    def __init__(self, problem: Problem) -> None:
        shape = len(problem.buffers), problem.thresholds.size
        self.tp, self.sum_label, self.existence = (np.empty(shape) for _ in range(3))


def static_part(problem: Problem, predict: Callable[[int], BoolArray]) -> NDArray[np.intp]:
    """Return ``SumPred`` of each threshold, which does not depend on the buffer length."""
    sum_pred = np.empty(problem.thresholds.size, dtype=np.intp)
    for column in range(problem.thresholds.size):
        pred = predict(column)
        sum_pred[column] = np.count_nonzero(pred)
        if problem.counter is not None:
            problem.counter.touch(sum_pred=pred)
    return sum_pred


def dynamic_part(problem: Problem, predict: Callable[[int], BoolArray]) -> Counts:
    """Compute the counts that depend on the buffer length, over the dynamic sections only.

    Outside these sections (``seq_L``) all soft labels are 0, so other points do not contribute to
    ``TP_l``, ``SumLabel`` or ``Existence``.
    """
    counter = problem.counter
    events = Events.of(problem.labels)
    seq_max = anomaly_index(events, max(problem.buffers))
    dynamic = seq_max.points
    anomalous = problem.labels[dynamic]
    # Ramps stay within their section, so the sections can be concatenated to a short series.
    events = events.within(seq_max)
    counts = Counts(problem)
    for row, buffer in enumerate(problem.buffers):
        label_l = create_label(events, buffer)
        seq = anomaly_index(events, buffer)
        if counter is not None:
            counter.touch(create_label=label_l)
        for column in range(problem.thresholds.size):
            pred = predict(column)[dynamic]
            label_thres = np.where(anomalous | pred, label_l, 0.0)
            product = label_thres * pred
            counts.sum_label[row, column] = label_thres.sum()
            counts.tp[row, column] = product.sum()
            counts.existence[row, column] = seq.hit(product)
            if counter is not None:
                counter.touch(select=pred, change_label=label_thres, product=product)
                counter.touch(sum_label=label_thres, tp=product, existence=seq.points)
    return counts


def rates(problem: Problem, counts: Counts, sum_pred: NDArray[np.integer[Any]]) -> RangeRates:
    """Compute the rates from the counts."""
    n_anomalous = np.count_nonzero(problem.labels)
    positives = (n_anomalous + counts.sum_label) / 2
    with np.errstate(invalid="ignore"):  # 0 / 0 without anomalies; the rate is undefined
        recall = np.minimum(counts.tp / positives, 1.0) * counts.existence
    return RangeRates(
        thresholds=problem.thresholds,
        fpr=(sum_pred - counts.tp) / (problem.labels.size - positives),
        tpr=recall,
        precision=counts.tp / sum_pred,
    )


def areas(rates: RangeRates) -> tuple[FloatArray, FloatArray]:
    """Return ``AUC_r`` and ``AP_r``: the areas under both curves for every buffer length.

    Parameters
    ----------
    rates : RangeRates
        Result of an algorithm.

    Returns
    -------
    tuple of ndarray, each of shape (W,)
        R-AUC-ROC (trapezoids from (0, 0) to (1, 1)) and R-AUC-PR (steps). Their means over the
        buffer lengths are VUS-ROC and VUS-PR.

    Examples
    --------
    >>> half = np.array([[0.0, 0.5]])
    >>> areas(RangeRates(np.array([2, 1]), fpr=half, tpr=half + 0.5, precision=1 - half))
    (array([0.875]), array([0.75]))
    """
    ends = ((0, 0), (1, 1))
    fpr = np.pad(rates.fpr, ends, constant_values=((0, 0), (0, 1)))
    tpr = np.pad(rates.tpr, ends, constant_values=((0, 0), (0, 1)))
    roc = np.trapezoid(tpr, fpr, axis=1)
    pr = np.sum(rates.precision * np.diff(tpr[:, :-1], axis=1), axis=1)
    return np.asarray(roc), np.asarray(pr)

"""Breakdown by event: detected and missed anomalies, detection delays, false alarms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout
from vuskit._util.text import plural
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_pair
from vuskit.intervals import meets
from vuskit.kernels.ranking import rank_table
from vuskit.measures.point import best_level
from vuskit.measures.settings import Buffer, EvaluationSettings
from vuskit.measures.thresholds import ThresholdRule, at_or_above, is_best
from vuskit.measures.workspace import PreparedLabels, Workspace

__all__ = ["EventTable", "events"]


@dataclass(frozen=True)
class EventTable(TableForms):
    """One entry per anomaly, in time order, and the number of false alarms.

    Attributes
    ----------
    start, stop : ndarray of int
        The event consists of the points ``start, ..., stop - 1``.
    peak : ndarray
        Highest score in the event and its buffer.
    peak_index : ndarray of int
        First point with the highest score.
    peak_rank : ndarray of int
        Number of points with a score at least as high; 1 for the single highest point.
    found_share : ndarray of float
        Fraction of the thresholds (all distinct scores) at which the event is found.
    points_share : ndarray of float
        Fraction of the event's points at or above the threshold, without the buffer.
    found : ndarray of bool
        Whether any point of the event or its buffer reaches the threshold. The event-wise measures,
        such as :func:`event_recall`, count points of the event only (``points_share > 0``).
    delay : ndarray of float
        Number of points from the start of the event to the first point of the event or its buffer
        that reaches the threshold. Negative for early detections, NaN for missed events.
    threshold : float
        The threshold used for ``found``, ``points_share`` and ``delay``.
    buffer : int
        Buffer length; the buffer covers ``buffer // 2`` points on each side of an event.
    side : str
        Side of the buffers: ``"both"``, ``"before"`` or ``"after"``.
    false_alarms : int
        Number of predicted ranges (maximal runs of points that reach the threshold) that do not
        overlap any event or its buffer.
    separate_alarms : int
        Number of false alarms if those at most a buffer apart count once.
    """

    start: NDArray[np.intp]
    stop: NDArray[np.intp]
    peak: NDArray[Any]
    peak_index: NDArray[np.intp]
    peak_rank: NDArray[np.intp]
    found_share: NDArray[np.float64]
    points_share: NDArray[np.float64]
    found: NDArray[np.bool_]
    delay: NDArray[np.float64]
    threshold: float
    buffer: int
    side: str = "both"
    false_alarms: int = 0
    separate_alarms: int = 0

    def __len__(self) -> int:
        return int(self.start.size)

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            "start": self.start,
            "stop": self.stop,
            "peak": self.peak,
            "peak_index": self.peak_index,
            "peak_rank": self.peak_rank,
            "found_share": self.found_share,
            "points_share": self.points_share,
            "found": self.found,
            "delay": self.delay,
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per event.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return require("pandas", purpose="to_frame()").DataFrame(self._columns())

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["start", "stop", "peak", "rank", "found share", "points", "delay"]
        rows = [
            [
                str(self.start[i]),
                str(self.stop[i]),
                f"{float(self.peak[i]):.4g}",
                str(self.peak_rank[i]),
                f"{self.found_share[i]:.3f}",
                f"{self.points_share[i]:.2f}",
                f"{self.delay[i]:.0f}" if self.found[i] else "missed",
            ]
            for i in range(len(self))
        ]
        return header, rows

    @property
    def _summary(self) -> str:
        side = "" if self.side == "both" else f", side={self.side}"
        plural = "" if self.false_alarms == 1 else "s"
        return (
            f"threshold={self.threshold:.4g}, buffer={self.buffer}{side}: "
            f"{int(self.found.sum())} of {len(self)} found{self._without_buffer}, "
            f"{self.false_alarms} false alarm{plural}{self._separate}"
        )

    @property
    def _separate(self) -> str:
        """The number of separate false alarms, if some are fragments of one."""
        fewer = self.separate_alarms < self.false_alarms
        return f" ({self.separate_alarms} separate)" if fewer else ""

    @property
    def _without_buffer(self) -> str:
        """The count of the event-wise measures, which have no buffer, if it differs."""
        inside = int(np.count_nonzero(self.points_share))
        return "" if inside == int(self.found.sum()) else f" ({inside} without the buffer)"

    def __repr__(self) -> str:
        return f"{TableLayout(*self._table()).to_text()}\n({self._summary})"

    @property
    def _layout(self) -> TableLayout:
        return TableLayout(*self._table(), caption=self._summary, left=0)


def events(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    buffer: Buffer = 0,
    side: str = EvaluationSettings.side,
    threshold: ThresholdRule = EvaluationSettings.threshold,
    nan: str = EvaluationSettings.nan,
) -> EventTable:
    """Break an evaluation down by anomaly, and count the false alarms.

    A series without anomalies has no entries, but false alarms are still counted. An anomaly is
    found if a point of it or of its buffer is predicted; without a buffer, the share of found
    anomalies is :func:`event_recall`. The page *Definitions and disagreements* compares both rules.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        1 for anomalous points, 0 for normal ones.
    y_score : array-like of shape (n,)
        Anomaly scores, finite, higher meaning more anomalous.
    buffer : int, str or BufferChoice, default=0
        An alarm within ``buffer // 2`` points of an anomaly counts as a detection of it.
    side : {"both", "before", "after"}, default="both"
        Side of the anomaly that has a buffer.
    threshold : {"sigma", "quantile", "cascade", "best"}, number or callable, default="sigma"
        Points with a score at or above the threshold are predicted; see :func:`precision`.
    nan : {"error", "lowest"}, default="error"
        Missing scores (NaN): refuse them, or rank them below all other scores.

    Returns
    -------
    EventTable

    Raises
    ------
    InvalidInputError
        If an array or a parameter is invalid, or if ``threshold="best"`` and there is no anomaly.

    Warns
    -----
    PredictionAsScoreWarning
        If the score holds only 0 and 1, and the threshold is above both.

    Examples
    --------
    >>> from vuskit import events
    >>> events([0, 1, 1, 0, 0, 1, 0], [0.1, 0.2, 0.9, 0.3, 0.1, 0.2, 0.1], threshold=0.5)
    start  stop  peak  rank  found share  points   delay
    1         3   0.9     1        1.000    0.50       1
    5         6   0.2     4        0.500    0.00  missed
    (threshold=0.5, buffer=0: 1 of 2 found, 0 false alarms)
    >>> events([0, 0, 0, 0, 0], [0.1, 0.7, 0.8, 0.1, 0.6], threshold=0.5).false_alarms
    2
    """
    settings = EvaluationSettings(buffer=buffer, side=side, threshold=threshold, nan=nan)
    labels, scores = check_pair(y_true, y_score, settings.nan)
    prepared = PreparedLabels(labels)
    length = prepared.choose_buffer(settings).length
    half = length // 2
    if is_best(threshold) and labels.n_anomalous == 0:
        raise InvalidInputError(
            "`threshold` must not be 'best' if no point is anomalous, got 'best'; use a number or "
            "another rule"
        )
    workspace = Workspace(prepared, scores, settings)
    prediction = workspace.predict(best_level, {})
    workspace.warn_if_predicted()
    limit = prediction.threshold
    begin = np.maximum(labels.starts - half * (side != "after"), 0)
    end = np.minimum(labels.stops + half * (side != "before"), labels.n)
    pieces = [scores[a:b] for a, b in zip(begin, end, strict=True)]
    own = [scores[a:b] for a, b in zip(labels.starts, labels.stops, strict=True)]
    peak_index = begin + np.array([piece.argmax() for piece in pieces], dtype=np.intp)
    peak = scores[peak_index]
    ranks = rank_table(scores, np.unique(peak), np.zeros(0, dtype=np.intp))
    levels = np.unique(scores)
    predicted, ranges = prediction.positions, prediction.ranges
    # Find the first predicted point at or after the start of each piece.
    place = predicted.searchsorted(begin)
    first = np.append(predicted, labels.n)[place]
    found = first < end
    shares = [np.count_nonzero(at_or_above(piece, limit)) / piece.size for piece in own]
    outside = ~meets(*ranges, begin, end)
    starts, stops = (np.asarray(bounds)[outside] for bounds in ranges)
    return EventTable(
        start=labels.starts,
        stop=labels.stops,
        peak=peak,
        peak_index=peak_index,
        peak_rank=ranks.at_least(peak),
        found_share=np.searchsorted(levels, peak, side="right") / levels.size,
        points_share=np.array(shares, dtype=np.float64),
        found=found,
        delay=np.where(found, first - labels.starts, np.nan),
        threshold=float(limit),
        buffer=length,
        side=side,
        false_alarms=starts.size,
        separate_alarms=int(np.count_nonzero(starts[1:] - stops[:-1] > length)) + bool(starts.size),
    )


def alarms_text(scores: ArrayLike, settings: EvaluationSettings) -> str:
    """Count the false alarms on a series without anomalies; empty if there is no threshold."""
    try:
        table = events(
            np.zeros(np.size(scores)), scores, threshold=settings.threshold, nan=settings.nan
        )
    except VuskitError:  # the scores are invalid, or the threshold needs anomalies
        return ""
    return f"; {plural(table.false_alarms, 'false alarm')} at or above {table.threshold:.4g}"

"""The best threshold of F-scores: counts at every threshold that can be it, and the choice.

Only a score of the series can be the best threshold. For most F-scores it is a score of an
anomalous point, because in between only false alarms are added; then no more than the ranks of
those few points are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints
from vuskit.kernels.ranking import Scores, rank_table

__all__ = [
    "adjusted_scores",
    "best_composite_level",
    "best_event_level",
    "best_point_adjusted_level",
    "best_point_level",
    "event_peaks",
    "false_alarms",
    "points_to_adjust",
]

Floats = NDArray[np.float64]

_NO_RANKS = np.zeros(0, dtype=np.intp)


def best_point_level(scores: Scores, inside: Ints, beta: float) -> Any:
    """The threshold of the highest F-score by points; of several, the highest."""
    levels, predicted, found = _anomalous_levels(scores, inside)
    return levels[_f_of_counts(found, predicted - found, inside.size, beta).argmax()]


def best_composite_level(
    scores: Scores, inside: Ints, starts: Ints, stops: Ints, beta: float
) -> Any:
    """The threshold of the highest F of the points' precision and the events' recall."""
    levels, predicted, found = _anomalous_levels(scores, inside)
    events = _at_least(np.sort(event_peaks(scores[inside], stops - starts)), levels)
    # Multiplied out, so that equal F-scores are equal numbers.
    product = (1 + beta * beta) * found.astype(np.float64) * events
    total = (
        beta * beta * found.astype(np.float64) * starts.size + events.astype(np.float64) * predicted
    )
    return levels[(product / total).argmax()]


def best_point_adjusted_level(
    scores: Scores, inside: Ints, lengths: Ints, share: float, beta: float
) -> Any:
    """The threshold of the highest F-score after point adjustment."""
    levels, predicted, found = _anomalous_levels(scores, inside)
    # A point counts as found as soon as its event is adjusted, or it is reached itself.
    counted = np.sort(adjusted_scores(scores[inside], lengths, share))
    adjusted = _at_least(counted, levels)
    return levels[_f_of_counts(adjusted, predicted - found, inside.size, beta).argmax()]


def best_event_level(
    scores: Scores, inside: Ints, starts: Ints, stops: Ints, by_rate: bool, beta: float
) -> Any:
    """The threshold of the highest F-score by events, precision by the false-alarm rate or not."""
    ranked = np.sort(scores)
    levels = ranked[np.append(True, ranked[1:] != ranked[:-1])][::-1]
    found = _at_least(np.sort(event_peaks(scores[inside], stops - starts)), levels)
    alarms = false_alarms(scores, inside, starts, stops, levels)
    if not by_rate:
        return levels[_f_of_counts(found, alarms, starts.size, beta).argmax()]
    normal = scores.size - inside.size
    false = _at_least(ranked, levels) - _at_least(np.sort(scores[inside]), levels)
    precision = found / np.maximum(found + alarms, 1) * (1 - false / normal)
    recall, weight = found / starts.size, beta * beta
    total = weight * precision + recall
    return levels[((1 + weight) * precision * recall / np.where(total > 0, total, 1)).argmax()]


def event_peaks(inside_scores: Scores, lengths: Ints) -> Scores:
    """Highest score of each event, from the scores of the anomalous points."""
    peaks: Scores = np.maximum.reduceat(inside_scores, _offsets(lengths))
    return peaks


def false_alarms(scores: Scores, inside: Ints, starts: Ints, stops: Ints, levels: Scores) -> Ints:
    """Number of predicted ranges that meet no event, at each of some falling thresholds.

    Ranges are chains of points: points minus links between neighbours. Among the normal points, a
    link to an anomalous point takes a range away as well, for it then meets an event; a gap between
    two events that is predicted from end to end is linked at both ends, and is given back once.
    """
    normal = np.ones(scores.size, dtype=np.bool_)
    normal[inside] = False
    links = np.minimum(scores[:-1], scores[1:])[normal[:-1] | normal[1:]]
    alarms = _at_least(np.sort(scores[normal]), levels) - _at_least(np.sort(links), levels)
    if starts.size > 1:
        bounds = np.column_stack((stops[:-1], starts[1:])).ravel()
        whole = np.minimum.reduceat(scores, bounds)[::2]
        whole = np.minimum(whole, np.minimum(scores[stops[:-1] - 1], scores[starts[1:]]))
        alarms += _at_least(np.sort(whole), levels)
    return alarms


def points_to_adjust(lengths: Ints, share: float) -> Ints:
    """How many points of each event are more than a share of it."""
    count: Ints = np.floor(share * lengths).astype(np.intp) - 1
    # The product may be rounded to either side of a whole number; the quotient decides.
    for _ in range(3):
        count += count / lengths <= share
    return count


def _anomalous_levels(scores: Scores, inside: Ints) -> tuple[Scores, Ints, Ints]:
    """Distinct scores of anomalous points, falling; points and anomalous points from each on."""
    ranked = np.sort(scores[inside])
    levels = ranked[np.append(True, ranked[1:] != ranked[:-1])][::-1]
    predicted = rank_table(scores, levels, _NO_RANKS).at_least(levels)
    return levels, predicted, _at_least(ranked, levels)


def adjusted_scores(inside_scores: Scores, lengths: Ints, share: float) -> Scores:
    """Threshold at which each anomalous point begins to count as found."""
    needed = points_to_adjust(lengths, share)
    event = np.repeat(np.arange(lengths.size), lengths)
    by_event = inside_scores[np.lexsort((inside_scores, event))]
    never = needed > lengths
    last = _offsets(lengths) + lengths
    reached = by_event[np.where(never, last - 1, last - needed)]
    adjusted: Scores = np.maximum(inside_scores, np.repeat(reached, lengths))
    return np.where(np.repeat(never, lengths), inside_scores, adjusted)


def _offsets(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths


def _at_least(ranked: Scores, levels: Scores) -> Ints:
    """Number of rising values at or above each of some falling levels."""
    return ranked.size - ranked.searchsorted(levels[::-1])[::-1]


def _f_of_counts(found: Ints, false: Ints, total: int, beta: float) -> Floats:
    """F-scores from found ones, false ones, and how many there are to find."""
    weight = beta * beta
    values: Floats = (1 + weight) * found / (weight * total + found + false)
    return values

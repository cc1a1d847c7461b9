"""Evaluate many series, stored one after the other, in one call.

Series ``i`` consists of the rows ``offsets[i], ..., offsets[i + 1] - 1`` of each array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit.buffers import LENGTH_RULES, excess_of_buffer
from vuskit.inputs import check_labels, is_ordinary
from vuskit.intervals import Ints
from vuskit.kernels.backend import as_doubles, native_core, rules_of
from vuskit.kernels.labels import DEFINITIONS
from vuskit.measures.areas import COARSE, SMALL_GRID, AreaSettings
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.settings import EvaluationSettings

__all__ = ["BatchResult", "can_batch", "evaluate_batch", "find_valid_series"]

# In the order of the native core.
_AREAS = ("auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr")


class BatchResult(NamedTuple):
    """Values of many series, and the buffer of each.

    ``values`` has the shape (series, scores, measures). ``buffers`` holds the length and the reason
    for each series, as ``Evaluator.buffer_record``, ``excess`` why a buffer is too long.
    """

    values: NDArray[np.float64]
    buffers: list[tuple[int, str]]
    excess: list[str | None]


def can_batch(
    measures: Iterable[Measure], settings: EvaluationSettings, *, has_values: bool
) -> bool:
    """Whether `evaluate_batch` supports these measures and settings."""
    buffer = settings.buffer
    if buffer is None or (isinstance(buffer, str) and buffer not in LENGTH_RULES):
        return False
    if buffer == "auto" and has_values:
        return False
    if settings.thresholds is not None and settings.thresholds > SMALL_GRID:
        return False  # may need too much memory, which is checked for each series
    return all(
        one.name in _AREAS and one.declaration is not None and not one.options for one in measures
    )


def find_valid_series(
    labels: NDArray[Any], scores: Sequence[NDArray[Any]], offsets: Ints
) -> NDArray[np.bool_]:
    """Return whether each series has labels of 0 and 1, both of them, and finite scores."""
    starts = offsets[:-1]
    if not all(map(is_ordinary, (labels, *scores))):
        return np.zeros(starts.size, dtype=np.bool_)
    ones = labels == 1
    valid = ones | (labels == 0)
    for score in scores:
        if score.dtype.kind == "f":
            valid &= np.isfinite(score)
    return np.asarray(
        np.logical_and.reduceat(valid, starts)
        & np.logical_or.reduceat(ones, starts)
        & ~np.logical_and.reduceat(ones, starts)
    )


def evaluate_batch(
    labels: NDArray[np.bool_],
    scores: Sequence[NDArray[Any]],
    offsets: Ints,
    settings: EvaluationSettings,
    measures: Sequence[str],
) -> BatchResult:
    """Evaluate valid series with measures and settings for which `can_batch` holds."""
    buffers = _choose_buffers(labels, offsets, settings)
    excess = _find_excess(labels, offsets, settings, measures, buffers)
    if native_core() is None or _is_coarse(labels, offsets, settings):
        return BatchResult(
            _one_by_one(labels, scores, offsets, settings, measures, buffers), buffers, excess
        )
    lengths = np.array([length for length, _ in buffers], dtype=np.int64)
    _ = AreaSettings.of(settings, int(lengths.max()))  # rejects buffers that need too much memory
    longest = (lengths * settings.volume_factor).round().astype(np.int64)
    if not any(name.startswith("vus") for name in measures):
        longest = np.full(lengths.size, -1)
    if not any(name.startswith("range") for name in measures):
        lengths = np.maximum(longest, 0)  # a buffer that the volume contains
    side: Any = settings.side
    rules = rules_of(DEFINITIONS[settings.definition], side)
    flags, starts = labels.view(np.uint8), np.ascontiguousarray(offsets, dtype=np.int64)
    found = np.empty((lengths.size, len(scores), len(_AREAS)))
    for place, score in enumerate(scores):
        doubles = as_doubles(score)[0].astype(np.float64, copy=False)
        areas = np.empty((lengths.size, len(_AREAS)))
        native_core().fleet(
            rules, flags, doubles, starts, lengths, longest, settings.step,
            settings.thresholds or 0, areas,
        )  # fmt: skip
        found[:, place] = areas
    return BatchResult(found[:, :, [_AREAS.index(name) for name in measures]], buffers, excess)


def _is_coarse(labels: NDArray[np.bool_], offsets: Ints, settings: EvaluationSettings) -> bool:
    """Whether a grid of thresholds may be too coarse for a series, which requires a warning."""
    if settings.thresholds is None:
        return False
    n_anomalous = np.add.reduceat(labels, offsets[:-1], dtype=np.intp)
    return bool((COARSE * np.diff(offsets) > n_anomalous * settings.thresholds).any())


def _one_by_one(
    labels: NDArray[np.bool_],
    scores: Sequence[NDArray[Any]],
    offsets: Ints,
    settings: EvaluationSettings,
    measures: Sequence[str],
    buffers: list[tuple[int, str]],
) -> NDArray[np.float64]:
    resolved = resolve_measures(measures)
    values = np.empty((len(buffers), len(scores), len(measures)))
    for row, (start, stop) in enumerate(pairwise(offsets.tolist())):
        own = settings.replace(buffer=buffers[row][0])
        part = check_labels(labels[start:stop])
        evaluator = Evaluator._of_many(part, measures=resolved, settings=own)
        for place, score in enumerate(scores):
            values[row, place] = list(evaluator(score[start:stop]).values())
    return values


def _choose_buffers(
    labels: NDArray[np.bool_], offsets: Ints, settings: EvaluationSettings
) -> list[tuple[int, str]]:
    """Return the buffer length of each series and the reason."""
    strategy = settings.buffer
    if not isinstance(strategy, str):
        chosen = settings.choose_buffer()
        return [(chosen.length, f"{chosen.strategy}: {chosen.reason}")] * (offsets.size - 1)
    rule = LENGTH_RULES[strategy]
    found = [rule(lengths) for lengths in _event_lengths(labels, offsets)]
    return [(length, f"{strategy}: {reason}") for length, reason in found]


def _event_lengths(labels: NDArray[np.bool_], offsets: Ints) -> list[Ints]:
    """Return the lengths of the events of each series."""
    is_first, is_last = _first_points(labels, offsets), labels.copy()
    is_last[:-1] &= ~labels[1:]
    # An event ends with its series.
    is_last[offsets[1:] - 1] = labels[offsets[1:] - 1]
    starts = is_first.nonzero()[0]
    lengths = is_last.nonzero()[0] + 1 - starts
    places = np.searchsorted(starts, offsets).tolist()
    return [lengths[first:last] for first, last in pairwise(places)]


def _first_points(labels: NDArray[np.bool_], offsets: Ints) -> NDArray[np.bool_]:
    """Mark the first point of each event; an event starts anew with its series."""
    is_first = labels.copy()
    is_first[1:] &= ~labels[:-1]
    is_first[offsets[:-1]] = labels[offsets[:-1]]
    return is_first


def _find_excess(
    labels: NDArray[np.bool_],
    offsets: Ints,
    settings: EvaluationSettings,
    measures: Sequence[str],
    buffers: list[tuple[int, str]],
) -> list[str | None]:
    """Return for each series why its buffer is too long, as `excess_of_buffer`."""
    found: list[str | None] = [None] * len(buffers)
    if not any(name.startswith(("range", "vus")) for name in measures):
        return found
    lengths = np.array([length for length, _ in buffers], dtype=np.float64)
    events = np.add.reduceat(_first_points(labels, offsets), offsets[:-1], dtype=np.intp)
    longest = np.maximum(4 * lengths, 2 * events * lengths)
    for place in np.flatnonzero(longest > np.diff(offsets)).tolist():
        part = check_labels(labels[offsets[place] : offsets[place + 1]])
        found[place] = excess_of_buffer(part, buffers[place][0], settings.side)
    return found

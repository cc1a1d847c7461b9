"""Confidence intervals of the measures of one series, by a block bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import plural
from vuskit.inputs import Labels, check_fraction
from vuskit.measures.settings import EvaluationSettings

if TYPE_CHECKING:
    from vuskit.measures.evaluate import Evaluator

_FEWEST_EVENTS = 8
_MOST_QUIET = 200  # blocks
_RESAMPLES = 500
_GRID = 20_001  # points of the numerical integral of Student's density


@dataclass(frozen=True, repr=False)
class IntervalTable(Mapping[str, tuple[float, float]]):
    """Confidence intervals of the measures of one score, by measure name.

    Events with their buffers are resampled, and so are stretches of the quiet rest. The standard
    deviation over the resamples, on the logit scale, times Student's quantile with one degree of
    freedom less than there are events, gives the interval. It describes how much the value would
    vary over other series of the same process and length.

    Attributes
    ----------
    bounds : dict
        Lower and upper bound by measure name; NaN if there is no interval.
    confidence : float
        Confidence level.
    n_events, n_quiet : int
        Number of resampled events and of quiet stretches.
    resamples, seed : int
        Number of resamples, and seed of the random generator.
    reason : str
        Why there are no intervals; empty if there are.
    """

    bounds: Mapping[str, tuple[float, float]]
    confidence: float
    n_events: int
    n_quiet: int
    resamples: int
    seed: int
    reason: str = ""

    def __getitem__(self, name: str) -> tuple[float, float]:
        return self.bounds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    def __str__(self) -> str:
        if self.reason:
            return f"no interval: {self.reason}"
        return (
            f"{100 * self.confidence:g}% interval: block bootstrap over {self.n_events:,} "
            f"anomalies and {self.n_quiet:,} quiet stretches, {self.resamples:,} resamples, "
            f"seed {self.seed}"
        )

    def __repr__(self) -> str:
        return f"IntervalTable({self})"


def intervals_of(
    evaluator: Evaluator,
    values: Mapping[str, float],
    scores: NDArray[Any],
    *,
    confidence: float = 0.95,
    resamples: int = _RESAMPLES,
    seed: int = 0,
) -> IntervalTable:
    """Return the intervals of an evaluator's measures for one score and its values."""
    check_fraction("interval", confidence)
    labels, settings = evaluator._prepared.labels, evaluator.settings
    chosen = evaluator.buffer
    reach = 0 if chosen is None else chosen.length
    if chosen is not None:
        settings = settings.replace(buffer=reach)
    longest = int(reach * max(settings.volume_factor, 1.0))
    events, quiet = _blocks(labels, longest)
    reason = ""
    if len(events) < _FEWEST_EVENTS:
        count = plural(len(events), "anomaly", "anomalies")
        reason = f"{count}; an interval needs at least {_FEWEST_EVENTS}"
    elif len(quiet) < 2:
        reason = "no quiet stretches: buffers cover the series"
    bounds = dict.fromkeys(values, (float("nan"), float("nan")))
    if not reason:
        logits = _resampled(evaluator, settings, scores, events, quiet, resamples, seed)
        factor = _student_quantile(confidence, len(events) - 1)
        factor *= np.sqrt(len(events) / (len(events) - 1))
        with np.errstate(invalid="ignore"):
            spread = factor * logits.std(axis=0, ddof=1)
        for (name, value), half in zip(values.items(), spread, strict=True):
            if 0 < value < 1 and np.isfinite(half) and half > 0:
                middle = np.log(value / (1 - value))
                low, high = (1 / (1 + np.exp(-(middle + side * half))) for side in (-1, 1))
                bounds[name] = float(low), float(high)
    return IntervalTable(bounds, confidence, len(events), len(quiet), resamples, seed, reason)


Blocks = NDArray[np.int64]


def _blocks(labels: Labels, buffer: int) -> tuple[Blocks, Blocks]:
    """Return the start and stop of each event with its buffer, and of each quiet stretch.

    Neighboring events share the points between them where their buffers overlap.
    """
    starts, stops = labels.bounds
    middles = (stops[:-1] + starts[1:]) // 2
    half = buffer // 2
    first = np.maximum(starts - half, np.concatenate([[0], middles]))
    last = np.minimum(stops + half, np.concatenate([middles, [labels.n]]))
    gaps = list(zip([0, *last.tolist()], [*first.tolist(), labels.n], strict=True))
    total = sum(stop - start for start, stop in gaps)
    length = max(buffer, -(-total // _MOST_QUIET), 1)
    quiet = [
        (int(one), int(other))
        for start, stop in gaps
        if stop > start
        for cuts in [np.linspace(start, stop, max(1, round((stop - start) / length)) + 1)]
        for one, other in pairwise(cuts)
    ]
    return np.stack([first, last], axis=1), np.array(quiet, dtype=np.int64).reshape(-1, 2)


def _resampled(
    evaluator: Evaluator,
    settings: EvaluationSettings,
    scores: NDArray[Any],
    events: Blocks,
    quiet: Blocks,
    resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the logits of all measures on each resample; a row per resample."""
    rng = np.random.default_rng(seed)
    y_true = evaluator._prepared.labels.as_array()
    rows = np.empty((resamples, len(evaluator.measures)))
    for row in rows:
        picked = [blocks[rng.integers(len(blocks), size=len(blocks))] for blocks in (events, quiet)]
        place = np.concatenate([np.arange(*block) for block in np.concatenate(picked)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = type(evaluator)(y_true[place], measures=evaluator.measures, settings=settings)
            row[:] = list(again(scores[place]).values())
    with np.errstate(divide="ignore", invalid="ignore"):
        logits: NDArray[np.float64] = np.log(rows / (1 - rows))
    return logits


def _student_quantile(confidence: float, freedom: int) -> float:
    """Return the two-sided quantile of Student's t distribution.

    With t = sqrt(freedom) tan(a), the density of the angle a is cos(a) ** (freedom - 1).
    """
    angles = np.linspace(0, np.pi / 2, _GRID)
    density = np.cos(angles) ** (freedom - 1)
    area = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    return float(np.sqrt(freedom) * np.tan(np.interp(confidence * area[-1], area, angles)))

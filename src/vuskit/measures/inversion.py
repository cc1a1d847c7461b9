"""Detect inverted scores: so far below chance that the negative would be a good score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vuskit._util.text import listed
from vuskit.errors import InvertedScoreWarning, warn

__all__ = [
    "FAR_BELOW_CHANCE",
    "inverted_note",
    "inverted_text",
    "looks_inverted",
    "warn_if_inverted",
]

FAR_BELOW_CHANCE = 0.2  # AUC-ROC
_FEWEST_POINTS = 100
_RARE = 0.01  # accepted fraction of random scores that look inverted
_MOST_LISTED = 5


def looks_inverted(auc_roc: float, *, n_points: int, n_events: int) -> bool:
    """Whether an AUC-ROC is lower than that of an uninformative score.

    The points of an event are often all found or all missed, so a series with one event can have
    any AUC-ROC by chance. The fewer events, the lower the required AUC-ROC: the mean of one uniform
    rank per event falls below it in at most 1% of cases.

    Examples
    --------
    >>> looks_inverted(0.1, n_points=1000, n_events=5)
    True
    >>> looks_inverted(0.1, n_points=1000, n_events=1)
    False
    """
    if not auc_roc < FAR_BELOW_CHANCE or n_points < _FEWEST_POINTS or n_events == 0:
        return False
    total = n_events * auc_roc
    if total == 0.0 or total > 1.0:  # more than five events
        return True
    # Lower tail of the sum of uniform numbers; logarithms avoid underflow for many events.
    return n_events * math.log(total) - math.lgamma(n_events + 1) <= math.log(_RARE)


def warn_if_inverted(found: Mapping[str, float]) -> None:
    """Warn about scores that look inverted; `found` maps their names to AUC-ROC."""
    if found:
        warn(inverted_text(found), InvertedScoreWarning)


def inverted_text(
    found: Mapping[str, float], below: Mapping[str, tuple[Sequence[str], int]] | None = None
) -> str:
    """Return a warning about scores that look inverted.

    `below` holds the series on which a detector is below chance, and the number of all its series;
    without it, the scores are those of one series.

    Examples
    --------
    >>> inverted_text({"LOF": 0.03})[:34]
    'LOF (AUC-ROC 0.03) looks inverted:'
    >>> inverted_text({"LOF": 0.03}, {"LOF": (["a", "b"], 3)})[35:]
    'far below chance (0.5). LOF: below 0.5 on 2 of 3 series (a, b). High scores must mean ...'
    """
    shown = [f"{name} (AUC-ROC {auc_roc:.2f})" for name, auc_roc in found.items()]
    if len(shown) > _MOST_LISTED:
        shown[_MOST_LISTED:] = [f"{len(shown) - _MOST_LISTED} more"]
    verb, thing = ("looks", "it") if len(found) == 1 else ("look", "them")
    text = f"{', '.join(shown)} {verb} inverted: far below chance (0.5)"
    places = list((below or {}).items())[:_MOST_LISTED]
    counts = [
        f" {name}: below 0.5 on {len(series):,} of {total:,} series ({listed(series, most=3)})."
        for name, (series, total) in places
    ]
    text += "".join([".", *counts]) if counts else " on this series."
    if all(len(series) < 2 for _, (series, _) in places):
        return (
            f"{text} High scores must mean anomalous; do not negate {thing} because of one series."
        )
    return f"{text} High scores must mean anomalous; if low scores mean anomalous, negate {thing}."


def inverted_note(
    values: Mapping[str, Mapping[str, float]], sizes: Mapping[str, tuple[int, int]]
) -> str:
    """Return a warning about detectors whose mean AUC-ROC looks inverted; empty without any.

    `values` holds AUC-ROC by detector and series, `sizes` the points and events of each series.
    """
    found, below = {}, {}
    for detector, by_series in values.items():
        known = {name: value for name, value in by_series.items() if not math.isnan(value)}
        if not known:
            continue
        mean = sum(known.values()) / len(known)
        n_points, n_events = (sum(sizes[name][k] for name in known) for k in range(2))
        if looks_inverted(mean, n_points=n_points, n_events=n_events):
            found[detector] = mean
            below[detector] = [name for name, value in known.items() if value < 0.5], len(known)
    return inverted_text(found, below) if found else ""

"""Series long enough for real blocks, buckets and chunks, against a plain twin in NumPy.

The twin sorts all points, writes out the soft labels of each buffer and visits every threshold.
"""

from __future__ import annotations

import numpy as np
import pytest

import vuskit

MEASURES = ["vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr"]


def runs(labels):
    edges = np.flatnonzero(np.diff(labels, prepend=0, append=0))
    return edges[::2], edges[1::2]


def soft_labels_and_groups(labels, buffer):
    """Soft labels outside events, and the buffered events as (start, stop)."""
    starts, stops = runs(labels)
    half, n = buffer // 2, labels.size
    soft, touched = np.zeros(n), np.zeros(n, dtype=int)
    groups = []
    for start, stop in zip(starts, stops, strict=True):
        for d in range(1, half + 1):
            for i in (start - d, stop - 1 + d):
                if 0 <= i < n and not labels[i]:
                    touched[i] += 1
                    soft[i] += np.sqrt(1 - d / buffer)
        if groups and groups[-1][1] - 1 >= start - half:
            groups[-1][1] = stop + half
        else:
            groups.append([start - half, stop + half])
    soft[touched > 1] = 1.0
    return soft, [(max(a, 0), min(b, n)) for a, b in groups]


def areas(labels, scores, buffer, ranks=None):
    """R-AUC-ROC and R-AUC-PR of the journal definition."""
    soft, groups = soft_labels_and_groups(labels, buffer)
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    last = np.append(ordered[1:] != ordered[:-1], True)  # of each level
    if ranks is None:
        level = np.flatnonzero(last)
    else:
        level = np.searchsorted(-ordered, -ordered[ranks], side="right") - 1
    predicted = level + 1.0
    inside = np.cumsum(labels[order])[level]
    outside = np.cumsum(soft[order])[level]
    peaks = np.sort([scores[a:b].max() for a, b in groups])
    found = len(groups) - np.searchsorted(peaks, ordered[level], side="left")
    positives = labels.sum() + outside / 2
    hits = inside + outside
    tpr = np.minimum(hits / positives, 1) * found / len(groups)
    fpr = (predicted - hits) / (labels.size - positives)
    roc = np.trapezoid([0, *tpr, 1], [0, *fpr, 1])
    return roc, np.sum(np.diff(tpr, prepend=0) * hits / predicted)


def series(n, n_events, longest, kind):
    rng = np.random.default_rng(n + n_events)
    labels = np.zeros(n, dtype=int)
    for start in rng.integers(0, n, n_events):
        labels[start : start + rng.integers(1, longest + 1)] = 1
    noise = {
        "distinct": rng.normal(size=n),
        "tied": rng.random(n).round(2),
        "skewed": rng.standard_cauchy(n) ** 3,
        "bytes": rng.integers(0, 200, n),
    }[kind]
    return labels, noise + labels * rng.random(n).round(1) * (kind != "bytes")


@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
@pytest.mark.usefixtures("each_core")
@pytest.mark.parametrize("kind", ["distinct", "tied", "skewed", "bytes"])
@pytest.mark.parametrize(("n", "n_events", "longest"), [(30_000, 8, 60), (12_000, 400, 9)])
@pytest.mark.parametrize("thresholds", [None, 250])
def test_equals_the_twin(kind, n, n_events, longest, thresholds):
    labels, scores = series(n, n_events, longest, kind)
    if kind == "bytes":
        scores = scores.astype(np.uint8)
    plain = scores.astype(np.float64)
    ranks = None if thresholds is None else np.linspace(0, n - 1, thresholds).astype(int)
    step, buffer = 7, 91
    expected = np.array([areas(labels, plain, w, ranks) for w in range(0, buffer + 1, step)])
    found = vuskit.evaluate(
        labels, scores, buffer=buffer, step=step, thresholds=thresholds, measures=MEASURES
    )
    roc, pr = expected.mean(axis=0)
    last_roc, last_pr = expected[-1]
    assert list(found.values()) == pytest.approx([roc, pr, last_roc, last_pr], abs=1e-11)


@pytest.mark.usefixtures("each_core")
def test_one_tie_longer_than_a_block():
    """A level whose points fill several blocks."""
    rng = np.random.default_rng(0)
    labels = np.zeros(40_000, dtype=int)
    labels[::4] = 1
    scores = np.where(rng.random(40_000) < 0.9, 0.5, rng.random(40_000))
    found = vuskit.evaluate(labels, scores, buffer=3, measures=MEASURES)
    expected = np.array([areas(labels, scores, w) for w in range(4)])
    assert found["vus_roc"] == pytest.approx(expected[:, 0].mean(), abs=1e-11)
    assert found["vus_pr"] == pytest.approx(expected[:, 1].mean(), abs=1e-11)

"""Buffered events as they grow and join, against those that the oracle lists."""

from __future__ import annotations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.runs import events
from oracle.vus import DEFINITIONS as LITERAL
from oracle.vus import Ramps as LiteralRamps
from oracle.vus import soft_labels
from strategies import labels

import vuskit
from vuskit.kernels.labels import DEFINITIONS, Ramps, existence


def literal_peaks(labels, scores, buffer, definition, side):
    soft = soft_labels(labels, buffer, definition=definition, side=side)
    groups = LITERAL[definition].groups(events(labels), LiteralRamps.of(buffer, side), soft)
    return sorted(max(scores[i] for i in group) for group in groups)


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("side", ["both", "before", "after"])
@settings(max_examples=80)
@given(
    # The points around events outrank those inside: a point left out shows.
    labels=labels(min_size=12),
    seed=st.integers(0, 999),
    halves=st.lists(
        st.integers(0, 12) | st.sampled_from([50, 10**12]), min_size=2, max_size=8, unique=True
    ).map(sorted),
    block=st.sampled_from([1, 1, 8, 1 << 18]),
)
def test_peaks_of_buffered_events(labels, seed, halves, definition, side, block):
    """Also when the half-lengths come in stretches that start from the events joined so far."""
    order = np.random.default_rng(seed).permutation(len(labels))
    scores = [int(rank) - 100 * label for rank, label in zip(order, labels, strict=True)]
    inside = np.flatnonzero(labels)
    runs = np.array(events(labels))
    rules = DEFINITIONS[definition]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(existence, "_BLOCK", block)
        plan = existence.plan_existence(
            runs[:, 0], runs[:, 1], len(labels), np.array(halves), rules, Ramps.of(rules, side)
        )
    found = {row: [] for row in range(len(halves))}
    for rows, peaks in plan.peaks(np.array(scores), np.array(scores)[inside]):
        for row, peak in zip(rows.tolist(), peaks.tolist(), strict=True):
            found[row].append(peak)
    for row, half in enumerate(halves):
        expected = literal_peaks(labels, scores, 2 * half, definition, side)
        assert sorted(found[row]) == expected
        assert plan.n_events[row] == len(expected)


def test_widths_share_the_rows_of_their_half_lengths():
    rules = DEFINITIONS["journal"]
    plan = existence.plan_existence(
        np.array([4]), np.array([6]), 20, np.arange(7) // 2, rules, Ramps.of(rules, "both")
    )
    assert plan.row_of_width.tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert plan.n_events.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_a_buffer_beyond_the_series_takes_no_more_steps(definition):
    rules = DEFINITIONS[definition]
    plans = [
        existence.plan_existence(
            np.array([4, 9]),
            np.array([6, 10]),
            20,
            np.array([0, half]),
            rules,
            Ramps.of(rules, "both"),
        )
        for half in (20, 10**12)
    ]
    sizes = [
        [points.size for stretch in plan.stretches for points, _ in stretch.sides] for plan in plans
    ]
    assert sizes[0] == sizes[1]
    assert sum(sizes[1]) <= 2 * 2 * 20


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("side", ["both", "before", "after"])
def test_areas_of_a_buffer_far_beyond_the_series(definition, side):
    labels = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0]
    scores = [3, 9, 1, 4, 8, 0, 2, 6, 7, 5]
    options = {"buffer": 10**12, "definition": definition, "side": side}
    for name in ("range_auc_roc", "range_auc_pr"):
        expected = getattr(oracle, name)(labels, scores, thresholds=None, **options)
        assert getattr(vuskit, name)(labels, scores, **options) == pytest.approx(expected)

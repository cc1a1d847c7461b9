"""The breakdown by anomaly, against a literal reading of its attributes."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import buffers, labeled_scores

import vuskit


def literal(labels, scores, start, stop, half, side, threshold):
    """What one event's row must hold."""
    first = start if side == "after" else max(start - half, 0)
    past = stop if side == "before" else min(stop + half, len(labels))
    near = range(first, past)
    peak = max(scores[i] for i in near)
    hits = [i for i in near if scores[i] >= threshold]
    levels = set(scores)
    return {
        "peak": peak,
        "peak_index": next(i for i in near if scores[i] == peak),
        "peak_rank": sum(s >= peak for s in scores),
        "found_share": sum(peak >= level for level in levels) / len(levels),
        "points_share": sum(scores[i] >= threshold for i in range(start, stop)) / (stop - start),
        "found": bool(hits),
        "delay": hits[0] - start if hits else math.nan,
    }


def runs(labels):
    padded = [0, *labels, 0]
    edges = [i for i in range(len(labels) + 1) if padded[i] != padded[i + 1]]
    return list(zip(edges[::2], edges[1::2], strict=True))


def false_alarms(labels, scores, half, side, threshold):
    """Predicted runs all of whose points are far from every event."""
    n = len(labels)
    before, after = half * (side != "after"), half * (side != "before")
    near = {i for a, b in runs(labels) for i in range(a - before, b + after)}
    predicted = runs([int(scores[i] >= threshold) for i in range(n)])
    return sum(near.isdisjoint(range(*run)) for run in predicted)


@settings(max_examples=200)
@given(
    data=labeled_scores(),
    buffer=buffers(),
    side=st.sampled_from(["both", "before", "after"]),
    quarter=st.integers(-8, 30),
)
def test_every_attribute(data, buffer, side, quarter):
    labels, scores = data
    table = vuskit.events(labels, scores, buffer=buffer, side=side, threshold=quarter / 4)
    found = list(zip(table.start.tolist(), table.stop.tolist(), strict=True))
    assert found == runs(labels)
    assert len(table) == len(found)
    for k, (start, stop) in enumerate(found):
        expected = literal(labels, scores, start, stop, buffer // 2, side, quarter / 4)
        actual = {name: getattr(table, name)[k].item() for name in expected}
        assert actual == pytest.approx(expected, nan_ok=True)
    assert table.delay.dtype == table.points_share.dtype == np.float64
    assert table.false_alarms == false_alarms(labels, scores, buffer // 2, side, quarter / 4)


def test_threshold_rules():
    labels, scores = [0, 0, 0, 1, 0, 0], [0.0, 1.0, 0.0, 5.0, 0.0, 0.0]
    sigma = vuskit.events(labels, scores)
    assert sigma.threshold == pytest.approx(oracle.sigma_threshold(scores))
    assert vuskit.events(labels, scores, threshold=vuskit.Quantile(1.0)).threshold == 5.0
    assert vuskit.events(labels, scores, threshold=np.mean).threshold == 1.0


def test_all_points_anomalous_is_one_event():
    """There is no rate to compute, so one class is no obstacle here."""
    table = vuskit.events([1, 1, 1], [1, 3, 2], threshold=3)
    assert (table.start.tolist(), table.stop.tolist()) == ([0], [3])
    assert table.delay.tolist() == [1]


def test_no_anomaly():
    """Nothing to find, but alarms can be false."""
    table = vuskit.events([0, 0, 0, 0, 0], [1, 2, 2, 1, 2], threshold=2, buffer=4)
    assert len(table) == 0
    assert table.false_alarms == 2
    assert table.delay.dtype == table.points_share.dtype == table.found_share.dtype == np.float64
    assert table.found.dtype == np.bool_
    assert table.separate_alarms == 1
    assert repr(table).endswith(
        "(threshold=2, buffer=4: 0 of 0 found, 2 false alarms (1 separate))"
    )
    text = "`threshold` must not be 'best' if no point is anomalous"
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.events([0, 0], [1, 2], threshold="best")


def test_delays_are_floats_also_where_all_were_found():
    table = vuskit.events([0, 1, 1, 0], [0, 1, 2, 0], threshold=2)
    assert table.delay.dtype == np.float64
    assert table.delay.tolist() == [1.0]


@pytest.mark.parametrize(("buffer", "separate"), [(0, 4), (1, 3), (2, 2), (7, 1)])
def test_fragments_at_most_a_buffer_apart_are_one_alarm(buffer, separate):
    scores = np.zeros(60)
    scores[[30, 32, 35, 43]] = 1.0
    table = vuskit.events(np.arange(60) < 3, scores, threshold=1, buffer=buffer)
    assert (table.false_alarms, table.separate_alarms) == (4, separate)


def test_an_alarm_in_the_buffer_is_not_false():
    labels, scores = [0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1, 1]
    assert vuskit.events(labels, scores, threshold=1).false_alarms == 2
    assert vuskit.events(labels, scores, threshold=1, buffer=2).false_alarms == 1
    assert vuskit.events(labels, scores, threshold=1, buffer=2, side="after").false_alarms == 2
    assert vuskit.events(labels, scores, threshold=1, buffer=6).false_alarms == 0


def test_prints_a_table():
    labels = [0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1]
    scores = [0.1, 0.2, 0.9, 0.3, 0.6, 0.2, 0.1, 0.0, 0.1, 0.2, 0.3]
    lines = repr(vuskit.events(labels, scores, buffer=2, threshold=0.5)).splitlines()
    assert " ".join(lines[0].split()) == "start stop peak rank found share points delay"
    assert lines[1].split() == ["1", "3", "0.9", "1", "1.000", "0.50", "1"]
    assert lines[2].split() == ["5", "6", "0.6", "2", "0.833", "0.00", "-1"]
    assert lines[3].split()[-1] == "missed"
    assert lines[4] == (
        "(threshold=0.5, buffer=2: 2 of 3 found (1 without the buffer), 0 false alarms)"
    )
    assert vuskit.event_recall(labels, scores, threshold=0.5) == 1 / 3


def test_shows_a_table_in_a_notebook():
    page = vuskit.events([0, 1, 1, 0, 1], [4, 5, 1, 0, 2], threshold=3, side="after")._repr_html_()
    assert "<caption>threshold=3, buffer=0, side=after: 1 of 2 found, 0 false alarms</cap" in page
    assert "<td>1</td><td>3</td><td>5</td><td>1</td>" in page
    assert page.count("<tr>") == 3


def test_to_frame():
    pytest.importorskip("pandas")
    frame = vuskit.events([0, 1, 1, 0, 1], [0, 5, 1, 0, 2], threshold=3).to_frame()
    assert frame["start"].tolist() == [1, 4]
    assert frame["found"].tolist() == [True, False]
    assert frame["delay"].isna().tolist() == [False, True]


@given(labeled_scores(), buffers(), st.integers(0, 8))
def test_found_without_a_buffer_is_event_recall(data, buffer, quarter):
    labels, scores = data
    assume(0 < sum(labels) < len(labels))
    threshold = quarter / 4
    table = vuskit.events(labels, scores, buffer=buffer, threshold=threshold)
    share = vuskit.event_recall(labels, scores, threshold=threshold)
    assert np.mean(table.points_share > 0) == share
    assert vuskit.events(labels, scores, threshold=threshold).found.mean() == share
    assert table.found.mean() >= share

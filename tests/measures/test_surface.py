"""Surfaces as data, and volumes over any parameters."""

from __future__ import annotations

import re
import warnings

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import buffers, definitions, labeled_scores, sides, thresholds

import vuskit
from vuskit.measures.surface import surface_to_draw

LABELS = np.zeros(120, dtype=int)
LABELS[30:36] = LABELS[80:90] = 1
SCORE = np.random.default_rng(2).random(120) + 0.5 * LABELS


@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
@settings(max_examples=60)
@given(
    max_buffer=buffers(20),
    thresholds=thresholds(),
    definition=definitions(),
    side=sides(),
    step=st.integers(1, 3),
    data=labeled_scores(),
)
def test_areas_are_those_under_the_curves(data, max_buffer, thresholds, definition, side, step):
    options = {"thresholds": thresholds, "definition": definition, "side": side}
    surface = vuskit.surface(*data, buffer=max_buffer, step=step, **options)
    expected = list(range(0, max_buffer + 1, step))
    if expected[-1] != max_buffer:
        expected.append(max_buffer)
    assert surface.buffers.tolist() == expected
    for row, buffer in enumerate(expected):
        roc = oracle.range_auc_roc(*data, buffer=buffer, **options)
        pr = oracle.range_auc_pr(*data, buffer=buffer, **options)
        assert surface.range_auc_roc[row] == pytest.approx(roc, abs=1e-12)
        assert surface.range_auc_pr[row] == pytest.approx(pr, abs=1e-12)


def test_every_distinct_score():
    score = SCORE.round(1)
    surface = vuskit.surface(LABELS, score, buffer=3, thresholds=None)
    assert surface.thresholds.tolist() == np.unique(score)[::-1].tolist()
    for row, buffer in enumerate(surface.buffers.tolist()):
        fpr, tpr, precision = oracle.curve(LABELS.tolist(), score.tolist(), buffer)
        assert surface.fpr[row] == pytest.approx(fpr, abs=1e-12)
        assert surface.tpr[row] == pytest.approx(tpr, abs=1e-12)
        assert surface.precision[row] == pytest.approx(precision, abs=1e-12)


def test_mean_of_the_areas_is_the_volume():
    surface = vuskit.surface(LABELS, SCORE, buffer=12, thresholds=None)
    volume = vuskit.vus_roc(LABELS, SCORE, max_buffer=12)
    assert surface.range_auc_roc.mean() == pytest.approx(volume, abs=1e-12)
    assert surface.definition == "journal"


def test_the_volume_leaves_out_a_longest_buffer_between_steps():
    surface = vuskit.surface(LABELS, SCORE, buffer=50, step=40, thresholds=None, side="after")
    assert (surface.side, surface.step) == ("after", 40)
    assert surface.buffers.tolist() == [0, 40, 50]
    volume = vuskit.vus_pr(LABELS, SCORE, max_buffer=50, step=40, side="after")
    assert surface.range_auc_pr[:2].mean() == pytest.approx(volume, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["fast", "opt"])
def test_a_coarse_grid_is_told(algorithm):
    labels = np.zeros(1000, dtype=int)
    labels[500:504] = 1
    score = np.random.default_rng(0).random(1000)
    with pytest.warns(vuskit.ThresholdResolutionWarning, match="20 thresholds step over") as caught:
        vuskit.surface(labels, score, buffer=4, thresholds=20, algorithm=algorithm)
    assert caught[0].filename == __file__
    quiet = surface_to_draw(labels, score, buffer=4, thresholds=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        told = vuskit.surface(labels, score, buffer=4, thresholds=20)
    assert quiet.precision.tolist() == told.precision.tolist()
    assert quiet.range_auc_pr.tolist() == told.range_auc_pr.tolist()


@pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning")
def test_to_frame():
    pytest.importorskip("pandas")
    surface = vuskit.surface(LABELS, SCORE, buffer=2, thresholds=5)
    frame = surface.to_frame()
    assert len(frame) == 15
    assert frame["buffer"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert frame["threshold"].tolist() == surface.thresholds.tolist() * 3
    row = frame[(frame["buffer"] == 2) & (frame["threshold"] == surface.thresholds[3])]
    assert row["tpr"].item() == surface.tpr[2, 3]
    assert row["precision"].item() == surface.precision[2, 3]


def test_one_class():
    with pytest.raises(vuskit.InvalidInputError, match="must hold both normal and anomalous"):
        vuskit.surface([1, 1], [1, 2], buffer=1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"thresholds": None}, "`thresholds` must be an int >= 2 for algorithm='opt', got None"),
        (
            {"thresholds": 9, "definition": "timeeval"},
            "`definition` must be 'journal' for algorithm='opt', got 'timeeval'",
        ),
        ({"thresholds": 9, "side": "after"}, "`side` must be 'both' for algorithm='opt', got 'af"),
    ],
)
def test_limits_of_the_papers_algorithms(options, text):
    for function in (vuskit.surface, vuskit.vus_pr):
        with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
            function(LABELS, SCORE, buffer=4, algorithm="opt", **options)


# --- volumes over any parameters -----------------------------------------------------------------


def smoothed(window):
    kernel = np.ones(window) / window
    return np.convolve(SCORE, kernel, mode="same")


def test_volume_over_a_detectors_window_and_the_buffer():
    found = vuskit.volume(
        lambda window, buffer: vuskit.range_auc_pr(LABELS, smoothed(window), buffer=buffer),
        {"window": [1, 3, 9], "buffer": range(5)},
    )
    assert found.values.shape == (3, 5)
    assert found.grid == {"window": [1, 3, 9], "buffer": [0, 1, 2, 3, 4]}
    volumes = [vuskit.vus_pr(LABELS, smoothed(window), max_buffer=4) for window in (1, 3, 9)]
    assert found.values.mean(axis=1) == pytest.approx(volumes, abs=1e-12)
    assert found.mean == pytest.approx(np.mean(volumes), abs=1e-12)


def test_volume_axes_follow_the_grid():
    found = vuskit.volume(
        lambda a, b, c: 100 * a + 10 * b + c, {"c": [1, 2], "a": [3], "b": [4, 5]}
    )
    assert found.values.shape == (2, 1, 2)
    assert found.values[1, 0, 0] == 342


def test_volume_to_frame():
    pytest.importorskip("pandas")
    frame = vuskit.volume(lambda a, b: 10 * a + b, {"a": [1, 2], "b": [3, 4]}).to_frame()
    assert frame.to_dict("list") == {
        "a": [1, 1, 2, 2],
        "b": [3, 4, 3, 4],
        "value": [13, 14, 23, 24],
    }


@pytest.mark.parametrize("grid", [{}, {"a": []}, {"a": [1], "b": iter(())}])
def test_volume_of_nothing(grid):
    with pytest.raises(vuskit.InvalidInputError, match="`grid` must have at least one value per"):
        vuskit.volume(lambda **_: 0.0, grid)


@pytest.mark.parametrize(
    ("grid", "text"),
    [
        ([1], "`grid` must map parameter names to lists of values, got [1]"),
        (None, "`grid` must map parameter names to lists of values, got None"),
        ({"a": 5}, "`grid['a']` must be a list of values, got 5"),
        ({"a": "abc"}, "`grid['a']` must be a list of values, got 'abc'"),
    ],
)
def test_volume_over_no_grid(grid, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.volume(lambda **_: 0.0, grid)

"""Scores of windows as scores of points, against a loop over the points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vuskit
from vuskit.alignment import ANCHORS, fill_missing_ends

numbers = st.floats(-1e6, 1e6)


def literal(score, n, window, at):
    """Give every point the score of the window whose anchor is nearest, one point at a time."""
    anchor = {"center": window // 2, "start": 0, "end": window - 1}[at]
    found = []
    for point in range(n):
        nearest = min(range(len(score)), key=lambda start: abs(start + anchor - point))
        found.append(score[nearest])
    return found


@given(
    score=st.lists(numbers, min_size=1, max_size=30),
    window=st.integers(1, 20),
    at=st.sampled_from(ANCHORS),
)
def test_agrees_with_the_loop(score, window, at):
    n = len(score) + window - 1
    found = vuskit.align_scores(score, n, window=window, at=at)
    assert found.tolist() == literal(score, n, window, at)


@given(n=st.integers(1, 60), data=st.data())
def test_windows_cover_their_own_points(n, data):
    """The position of a window, as its score, is at most a window away from the point."""
    window = data.draw(st.integers(1, n))
    starts = np.arange(n - window + 1)
    for at in ANCHORS:
        found = vuskit.align_scores(starts, n, window=window, at=at)
        assert found.dtype == starts.dtype
        assert np.all((found <= np.arange(n)) & (np.arange(n) < found + window))


def test_centers_of_even_windows_follow_tsb_uad():
    # np.array([s[0]] * ceil((w - 1) / 2) + list(s) + [s[-1]] * ((w - 1) // 2))
    assert vuskit.align_scores([1, 2, 3], 6, window=4).tolist() == [1, 1, 1, 2, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], 9, 3), r"n - window \+ 1 = 7 entries, got 2; .*`window=8`"),
        (([1, 2], 2, 2), "no alignment is needed"),
        (([1, 2, 3], 2, 1), "more scores than points"),
        (([], 2, 1), "must not be empty"),
        (([1, 2], 2, 0), "`window` must be an int >= 1, got 0"),
        (([1, 2], 0, 1), "`n` must be an int >= 1, got 0"),
    ],
)
def test_refuses(arguments, message):
    score, n, window = arguments
    with pytest.raises(vuskit.InvalidInputError, match=message):
        vuskit.align_scores(score, n, window=window)


def test_refuses_other_anchors():
    with pytest.raises(vuskit.InvalidInputError, match="did you mean 'center'"):
        vuskit.align_scores([1, 2], 3, window=2, at="centre")


@given(
    middle=st.lists(numbers, min_size=1, max_size=9),
    leading=st.integers(0, 5),
    trailing=st.integers(0, 5),
)
def test_missing_ends_get_the_nearest_score(middle, leading, trailing):
    gaps = np.array([np.nan] * leading + middle + [np.nan] * trailing)
    found = fill_missing_ends(gaps)
    assert found.scores.tolist() == [middle[0]] * leading + middle + [middle[-1]] * trailing
    assert (found.leading, found.trailing) == (leading, trailing)


def test_inner_gaps_and_empty_scores_stay():
    gaps = np.array([1.0, np.nan, 2.0])
    np.testing.assert_array_equal(fill_missing_ends(gaps).scores, gaps)
    nothing = np.full(3, np.nan)
    assert fill_missing_ends(nothing) == (pytest.approx(nothing, nan_ok=True), 0, 0)


@pytest.mark.parametrize(
    ("n_scores", "advice"),
    [
        (201, "99 fewer scores than labels; windows of 100\\? Try align_scores\\(..., window=100"),
        (302, "2 more scores than labels; do they belong to the same series\\?"),
    ],
)
def test_length_errors_advise(n_scores, advice):
    labels = np.arange(300) // 20 == 3
    with pytest.raises(vuskit.InvalidInputError, match=f"300 and {n_scores}; {advice}"):
        vuskit.auc_pr(labels, np.arange(n_scores))

"""Matching names, and proposing similar ones."""

from __future__ import annotations

import pytest

from vuskit._util.text import did_you_mean, match_names, matches_name
from vuskit.errors import InvalidInputError

NAMES = ["ECG/s0.csv", "ECG/s1.csv", "KPI/deep/s0.csv", "odd[1]"]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("ECG/s0.csv", ["ECG/s0.csv"]),
        ("s0.csv", ["ECG/s0.csv", "KPI/deep/s0.csv"]),
        ("s0", ["ECG/s0.csv", "KPI/deep/s0.csv"]),
        ("KPI/*", ["KPI/deep/s0.csv"]),
        (["s1*", "ECG/s0*"], ["ECG/s0.csv", "ECG/s1.csv"]),
        ("s[12].csv", ["ECG/s1.csv"]),
        ("odd[1]", ["odd[1]"]),
        ([], []),
    ],
)
def test_full_name_last_part_or_without_ending(patterns, expected):
    assert match_names(NAMES, patterns) == expected


@pytest.mark.parametrize("pattern", ["ecg/*", "S0", "ECG", "deep", "s2*", ""])
def test_pattern_without_a_match(pattern):
    assert not any(matches_name(name, pattern) for name in NAMES)
    with pytest.raises(InvalidInputError, match=r"`series` must match .*'ECG/s0.*got") as caught:
        match_names(NAMES, ["s0", pattern], argument="series")
    assert repr(pattern) in str(caught.value)


def test_error_is_short_and_proposes_a_name():
    names = [f"ECG/s{i}" for i in range(100)]
    with pytest.raises(InvalidInputError, match=r"and 88 more.*did you mean 's42'"):
        match_names(names, "s_42")
    with pytest.raises(InvalidInputError, match="there are none"):
        match_names([], "x")


def test_duplicates_and_order_are_kept():
    assert match_names(["b", "a", "b"], ["a", "b"]) == ["b", "a", "b"]


def test_similar_names():
    assert did_you_mean("nothing like it", ["vus_pr"]) == ""
    assert did_you_mean("VUS-PR", ["vus_pr", "auc_pr"]) == "; did you mean 'vus_pr'?"

"""Tables, counts and numbers as text; names, escapes and suggestions."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit._util.text import (
    did_you_mean,
    escape_control,
    escape_formula,
    escape_latex,
    escape_surrogates,
    format_cell,
    listed,
    match_names,
    matches_name,
    plural,
    quoted,
    wrapped_table,
)
from vuskit.errors import InvalidInputError


def test_wrapped_table_keeps_the_first_columns():
    text = wrapped_table(["a", "b", "c"], [["x", "y", "one two " * 10], ["x", "y", ""]], 30)
    assert max(map(len, text.splitlines())) <= 30
    assert text.splitlines()[0] == "a  b  c"
    assert text.splitlines()[-1] == "x  y"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, "0.5"), (999.6, "1,000"), (1e-9, "1e-09"), (np.float64("nan"), ""), (None, "None")],
)
def test_cells(value, expected):
    assert format_cell(value) == expected


def test_counts_and_lists():
    assert plural(1, "series", "series") == "1 series"
    assert plural(1_000_000, "job") == "1,000,000 jobs"
    assert listed(["a", "b"]) == "a, b"
    assert listed([]) == ""
    assert quoted(map(str, range(14))).endswith("'11' and 2 more")


# -- escaping --------------------------------------------------------------------------------------


def test_what_a_terminal_would_obey_is_shown():
    text = "a\x1b[31m\x07\x9b2J\r\x7f\u202e\u2067\udce9\ud800 b\n\tü 漢 🎈"
    assert escape_control(text) == (
        "a\\x1b[31m\\x07\\x9b2J\\x0d\\x7f\\u202e\\u2067\\xe9\\ud800 b\n\tü 漢 🎈"
    )
    escape_control(text).encode()


def test_only_surrogates_are_replaced_for_storing():
    assert escape_surrogates("\x1b caf\udce9 ü") == "\x1b caf\\xe9 ü"


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_formulas_begin_with_a_quote(text):
    assert escape_formula(text) == f"'{text}"


def test_latex():
    assert escape_latex("\\{x}~^& é \u03b1 \u03a9 ±") == (
        r"\textbackslash{}\{x\}\textasciitilde{}\textasciicircum{}\& é $\alpha$ $\Omega$ $\pm$"
    )


# -- names -----------------------------------------------------------------------------------------

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

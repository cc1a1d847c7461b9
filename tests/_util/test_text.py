"""Tables, counts and numbers as text."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit._util.text import (
    escape_control,
    escape_formula,
    escape_latex,
    escape_surrogates,
    format_cell,
    listed,
    plural,
    quoted,
    wrapped_table,
)


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

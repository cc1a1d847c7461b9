"""Tables, counts and numbers as text."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit._util.text import (
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

"""Tables, counts and numbers as text."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit._util.text import (
    escape_latex,
    folded_tables,
    format_cell,
    listed,
    plural,
    quoted,
    text_table,
    wrapped_table,
)

HEADER = ["name", *(f"column {i}" for i in range(7))]
ROWS = [["a", *("1" * i for i in range(1, 8))], ["longer", *"1234567"]]


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_folded_tables_fit_and_hold_every_column(width):
    tables = folded_tables(HEADER, ROWS, width)
    lines = [line for table in tables for line in table.splitlines()]
    assert max(map(len, lines)) <= width
    heads = [table.splitlines()[0] for table in tables]
    assert all(head.startswith("name") for head in heads)
    assert [part for head in heads for part in head[6:].split("  ") if part.strip()] != []
    assert sum(head.count("column") for head in heads) == 7
    assert (len(tables) == 1) == (len(text_table(HEADER, ROWS).splitlines()[0]) <= width)


def test_columns_wider_than_the_line_stand_alone():
    assert len(folded_tables(HEADER, ROWS, 5)) == 7


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


def test_latex():
    assert escape_latex(r"\{x}~^&") == (
        r"\textbackslash{}\{x\}\textasciitilde{}\textasciicircum{}\&"
    )

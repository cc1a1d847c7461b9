"""Tables: csv for programs; text, Markdown, LaTeX and HTML for readers."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from vuskit._util.tables import Cell, TableLayout, csv_text, frame_csv


def test_numbers_keep_their_sign_and_precision():
    frame = pd.DataFrame({"a": [-0.1 - 0.2, np.nan], "b": [-3, 4], "name": ["-x", "y"]})
    text = frame_csv(frame)
    assert text == "a,b,name\n-0.30000000000000004,-3,'-x\n,4,y"
    read = pd.read_csv(io.StringIO(text))
    assert np.array_equal(read["a"], frame["a"], equal_nan=True)


def test_headings_and_lists_are_texts_too():
    assert csv_text(["=a", "b"], [[["+1", 2], True]]) == "'=a,b\n'+1 2,True"


def test_control_characters_do_not_reach_a_terminal():
    assert csv_text(["a"], [["x\x1b[2J\udce9"]]) == "a\nx\\x1b[2J\\xe9"


HEADER = ["name", *(f"column {i}" for i in range(7))]
ROWS = [["a", *("1" * i for i in range(1, 8))], ["longer", *"1234567"]]
NASTY = r"a_b & 50% #1 {x} \ ~ ^ | <i> é"


@pytest.mark.parametrize("width", [20, 40, 60, 120])
def test_text_tables_fit_and_hold_every_column(width):
    layout = TableLayout(HEADER, ROWS)
    text = layout.to_text(width)
    assert max(map(len, text.splitlines())) <= width
    heads = [table.splitlines()[0] for table in text.split("\n\n")]
    assert all(head.startswith("name") for head in heads)
    assert sum(head.count("column") for head in heads) == 7
    assert (len(heads) == 1) == (len(layout.to_text().splitlines()[0]) <= width)


def test_columns_wider_than_the_line_stand_alone():
    assert len(TableLayout(HEADER, ROWS).to_text(5).split("\n\n")) == 7


def marked():
    return TableLayout(
        ["detector", "VUS-PR", "delay", "VUS-PR"],
        [
            ["LOF", Cell("0.512", bold=True, spread="± 0.1"), Cell("3"), Cell("0.40")],
            [NASTY, Cell("0.500", underline=True), Cell("-2.5"), Cell("1e-07")],
            ["chance", "0.02", "", "inf"],
        ],
        caption="Means & more.",
        notes=["Failures: none."],
        groups=[("", 1), ("ECG_1", 2), ("KPI", 1)],
        rules=[2],
        marks=("best in column", "second best"),
    )


def test_marks_groups_and_notes_as_text():
    lines = marked().to_text().splitlines()
    assert lines[0] == "Means & more."
    assert lines[1].split() == ["ECG_1", "KPI"]
    assert lines[3].split() == ["LOF", "0.512*", "±", "0.1", "3", "0.40"]
    assert set(lines[5]) == {"-"}
    assert lines[-2:] == ["*: best in column. +: second best.", "Failures: none."]
    assert len({len(line) for line in (lines[3], lines[5], lines[6])}) == 1


def test_group_headings_follow_folded_columns():
    layout = TableLayout(
        ["d", "a", "b", "c"], [["x", "1", "2", "3"]], groups=[("", 1), ("long name", 2), ("g", 1)]
    )
    assert layout.to_text(14) == ("   long name\nd       a  b\nx       1  2\n\n   g\nd  c\nx  3")


def test_markdown_escapes_and_marks():
    lines = marked().to_markdown().splitlines()
    assert lines[0] == "Means &amp; more."
    assert lines[2] == "| detector | ECG_1: VUS-PR | ECG_1: delay | KPI: VUS-PR |"
    assert lines[3] == "| --- | ---: | ---: | ---: |"
    assert lines[4] == "| LOF | **0.512** ± 0.1 | 3 | 0.40 |"
    assert r" \| &lt;i> é | <u>0.500</u> | -2.5 |" in lines[5]
    assert lines[-3:] == ["Bold: best in column. Underlined: second best.", "", "Failures: none."]


def test_html_escapes_and_marks():
    page = marked().to_html()
    assert "<caption>Means &amp; more.</caption>" in page
    assert '<th colspan="2">ECG_1</th>' in page
    assert "<td><b>0.512</b> <small>± 0.1</small></td>" in page
    assert "&lt;i&gt;" in page
    assert "<td><u>0.500</u></td>" in page
    assert '<tfoot><tr><td colspan="4">Bold: best in column.' in page


def test_latex_escapes_and_marks():
    lines = marked().to_latex().splitlines()
    assert lines[2] == (
        r"\caption{Means \& more. Bold: best in column. Underlined: second best.}\par\smallskip"
    )
    assert lines[6:8] == [
        r" & \multicolumn{2}{c}{ECG\_1} & \multicolumn{1}{c}{KPI} \\",
        r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}",
    ]
    assert lines[10] == r"LOF & \textbf{0.512} {\scriptsize $\pm$ 0.1} & 3 & 0.40 \\"
    assert lines[11].endswith(r"& \underline{0.500} & $-2.5$ & $1 \times 10^{-7}$ \\")
    assert lines[12:14] == [r"\midrule", r"chance & 0.02 &  & $\infty$ \\"]
    assert lines[-2:] == [r"\par\smallskip{\footnotesize Failures: none.\par}", r"\end{table}"]


def test_latex_without_a_caption_has_notes_as_comments():
    text = TableLayout(["a_b", "x"], [["50%", "0.1"]], notes=["made\nup"]).to_latex()
    assert text.splitlines()[:2] == ["% made up", r"\begin{tabular}{lr}"]

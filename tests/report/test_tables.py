"""Tables as Markdown."""

from __future__ import annotations

import pandas as pd

from vuskit.report.tables import markdown_table


def test_bars_in_names_do_not_end_cells():
    frame = pd.DataFrame({"a|b": ["x|y"]})
    assert markdown_table(frame) == "| a\\|b |\n| --- |\n| x\\|y |"


def test_tables_in_markdown():
    frame = pd.DataFrame({"a": ["x"], "b": [0.123456], "c": [float("nan")]})
    assert markdown_table(frame) == "| a | b | c |\n| --- | ---: | ---: |\n| x | 0.123 |  |"

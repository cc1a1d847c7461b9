"""Tables as Markdown."""

from __future__ import annotations

import numpy as np
import pandas as pd
from report.evaluated import report_of

from vuskit.report.tables import markdown_table, plain_table


def test_bars_in_names_do_not_end_cells():
    frame = pd.DataFrame({"a|b": ["x|y"]})
    assert markdown_table(frame) == "| a\\|b |\n| --- |\n| x\\|y |"


def test_tables_in_markdown():
    frame = pd.DataFrame({"a": ["x"], "b": [0.123456], "c": [float("nan")]})
    assert markdown_table(frame) == "| a | b | c |\n| --- | ---: | ---: |\n| x | 0.123 |  |"


def test_many_detectors_become_rows_if_measures_fit_as_columns():
    labels = np.repeat([0, 1, 0], 10)
    scores = {f"detector_{i}": np.roll(labels, i).astype(float) for i in range(9)}
    report = report_of(labels, scores, buffer=2, measures=["auc_pr", "vus_pr"])
    lines = plain_table(report, width=80).splitlines()
    assert lines[0].split() == ["detector", "AUC-PR", "VUS-PR"]
    assert [line.split()[0] for line in lines[1:11]] == [*scores, "chance"]
    assert plain_table(report, width=200).split()[:2] == ["measure", "detector_0"]

"""Measures of other papers on the command line: at a threshold, at the best one, and on a page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vuskit

EXTRA = [measure.name for measure in vuskit.list_measures() if measure.group == "extra"]
PLACE = np.arange(80)
LABELS = ((PLACE // 8) % 4 == 2).astype(int)
SCORE = LABELS + (PLACE * 7 % 11) / 20


@pytest.mark.parametrize("threshold", ["sigma", "best", "1.1"])
def test_evaluate(command, threshold):
    pd.DataFrame({"label": LABELS, "A": SCORE}).to_csv("scores.csv", index=False)
    outcome = command(
        "evaluate", "scores.csv", "--measures", "vus_pr,extra", "--buffer", "8", "--json",
        "--threshold", threshold, "--html", "page.html",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    rule = threshold if threshold.isalpha() else float(threshold)
    expected = vuskit.evaluate(
        LABELS, SCORE, buffer=8, measures=["vus_pr", "extra"], threshold=rule
    )
    assert found["scores"][0]["values"] == pytest.approx(expected.to_dict())
    assert [one["name"] for one in found["measures"]] == ["vus_pr", *EXTRA]
    page = Path("page.html").read_text(encoding="utf-8")
    assert all(vuskit.get_measure(name).title in page for name in EXTRA)


def test_shell_offers_the_groups():
    from vuskit.cli._completion import complete_measures

    assert [name for name, _ in complete_measures()][:3] == ["paper", "extra", "all"]

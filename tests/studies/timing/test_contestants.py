"""Contestants of the execution-time study: the same values by every algorithm."""

from __future__ import annotations

import pytest

from vuskit.studies.timing import (
    Setting,
    synthetic_cases,
)
from vuskit.studies.timing.cases import real_cases
from vuskit.studies.timing.contestants import CONTESTANTS

SMALL = Setting(n_points=400, n_anomalies=3, n_thresholds=20)
PAPERS = ("naive", "opt", "opt_mem")


def test_all_contestants_compute_the_same_volume():
    labels, scores = synthetic_cases([SMALL])[0].load()
    values = {name: CONTESTANTS[name].run(labels, scores, SMALL) for name in CONTESTANTS}
    for name in ("opt", "opt_mem", "fast_grid"):
        assert values[name] == pytest.approx(values["naive"], abs=1e-12)
    every_score = Setting(**{**vars(SMALL), "n_thresholds": SMALL.n_points})
    exact = CONTESTANTS["naive"].run(labels, scores, every_score)
    assert values["fast_exact"] == pytest.approx(exact, abs=1e-12)
    assert values["auc"] != values["r_auc"]


@pytest.mark.parametrize("kind", ["scores", "series"])
def test_published_folder(test_data, kind):
    cases = real_cases(test_data / "data" / kind / "Dodgers", thresholds=10)
    values = {}
    labels, scores = cases[0].load()
    for name in (*PAPERS, "fast_grid"):
        values[name] = CONTESTANTS[name].run(labels, scores, cases[0].setting)
        assert values[name] == pytest.approx(values["naive"], abs=1e-12)

"""Scenarios: what a near miss is worth."""

from __future__ import annotations

import pytest

from vuskit.errors import InvalidInputError
from vuskit.studies import paper_scenarios, scenario_study


@pytest.fixture(scope="module")
def scenarios():
    return scenario_study()


def test_just_missing_is_worth_nothing_to_auc_pr_and_f_but_not_to_vus(scenarios):
    touch = scenarios.at_first_touch()
    prevalence = scenarios.length / scenarios.n_points
    assert touch.loc["f_score", "just_missing"] == 0
    assert touch.loc["auc_pr", "just_missing"] == pytest.approx(prevalence)
    for name in ("f_score", "auc_pr", "precision", "recall", "range_f_score", "auc_roc"):
        assert touch.loc[name, "credit"] == pytest.approx(0, abs=1e-9)
        assert touch.loc[name, "jump"] == pytest.approx(1, abs=1e-9)
    for name in ("vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr"):
        assert touch.loc[name, "credit"] > 0.4
        assert touch.loc[name, "jump"] < 0.15


def test_vus_rises_steadily_towards_the_exact_match(scenarios):
    sweep = scenarios.sweep_frame()
    steps = sweep["vus_pr"].diff().dropna()
    assert (steps >= -1e-12).all()
    assert steps.max() < 0.05
    flat = sweep.loc[sweep["end"] <= 0, "f_score"]
    assert (flat == 0).all()


def test_exact_match_is_the_eighth_and_perfect(scenarios):
    frame = scenarios.to_frame().set_index("scenario")
    assert frame.index.tolist() == [f"S{k}" for k in range(1, 13)]
    assert frame.loc["S8", "prediction"] == "exact match"
    assert (frame.loc["S8", list(scenarios.study.names)].astype(float) >= 1 - 1e-3).all()
    assert sum(scenarios.undefined().values()) == 0
    inside = frame.loc["S9":"S12"]
    assert (inside["start"] >= 0).all()
    assert (inside["stop"] <= scenarios.length).all()


def test_scenarios_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match="`scenarios` must fit a series of 300 points"):
        scenario_study(n_points=300, buffer=200)
    with pytest.raises(InvalidInputError, match="`length` must be"):
        paper_scenarios(5)

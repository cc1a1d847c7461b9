"""Scenarios: what a near miss is worth."""

from __future__ import annotations

import pytest

from vuskit.errors import InvalidInputError
from vuskit.studies import Scenario, paper_scenarios, run_study


@pytest.fixture(scope="module")
def scenarios():
    return run_study("scenarios")


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


def test_scenarios_are_numbered_as_in_the_paper(scenarios):
    frame = scenarios.to_frame().set_index("scenario")
    assert frame.index.tolist() == [f"S{k}" for k in range(1, 15)]
    assert frame.loc["S1", ["start", "stop"]].tolist() == [-20, 0]
    assert frame.loc["S2", "start"] < 0 < frame.loc["S2", "stop"]
    overlaps = frame.loc["S1":"S8", "stop"]
    assert (overlaps.diff().dropna() > 0).all()
    assert frame.loc["S8", ["start", "stop"]].tolist() == [0, scenarios.length]
    assert (frame.loc["S8", list(scenarios.study.names)].astype(float) >= 1 - 1e-3).all()
    assert sum(scenarios.undefined().values()) == 0
    inside = frame.loc["S9":"S12"]
    assert (inside["start"] >= 0).all()
    assert (inside["stop"] <= scenarios.length).all()
    assert (frame.loc["S13":"S14", "stop"] < 0).all()


@pytest.mark.parametrize("length", [10, 11, 20, 37])
def test_scenarios_differ_for_every_length(length):
    found = paper_scenarios(length)
    assert len({(one.start, one.stop) for one in found}) == len(found) == 14


def test_values_of_a_geometry_do_not_depend_on_its_number(scenarios):
    # Values of the predictions that earlier versions called S1, S2, S3, S4 and S6.
    own = [
        Scenario("A", "well before", -120, -100),
        Scenario("B", "near", -45, -25),
        Scenario("C", "just missing", -20, 0),
        Scenario("D", "touching", -18, 2),
        Scenario("E", "50% overlap", -10, 10),
        Scenario("F", "exact match", 0, 20),
    ]
    renamed = run_study("scenarios", scenarios=own)
    by_place = {
        (one.start, one.stop): row
        for one, row in zip(scenarios.scenarios, scenarios.values, strict=True)
    }
    for one, row in zip(own, renamed.values, strict=True):
        assert row.tolist() == by_place[one.start, one.stop].tolist()
    assert renamed.at_first_touch().equals(scenarios.at_first_touch())


def test_problem_region_holds_the_measures_that_ignore_near_misses(scenarios):
    problem = scenarios.figures()["values"].to_dict()["problem"]
    assert problem["scenarios"] == ["S1", "S2"]
    assert {"f_score", "auc_pr", "auc_roc", "range_f_score"} <= set(problem["measures"])
    assert not {"vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr"} & set(problem["measures"])


def test_own_scenarios_without_the_four_landmarks_have_no_touch_table():
    found = run_study("scenarios", measures=["vus_pr"], scenarios=[Scenario("A", "exact", 0, 20)])
    assert list(found.tables()) == ["values", "sweep"]
    assert found.figures()["values"].to_dict()["problem"] == {"scenarios": [], "measures": []}
    with pytest.raises(InvalidInputError, match="`scenarios` must hold a clear miss"):
        found.at_first_touch()


def test_scenarios_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match="`scenarios` must fit a series of 300 points"):
        run_study("scenarios", n_points=300, buffer=200)
    with pytest.raises(InvalidInputError, match="`length` must be"):
        paper_scenarios(5)

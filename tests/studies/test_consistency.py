"""Consistency: ranks, their entropy, averages."""

from __future__ import annotations

import numpy as np
import pytest
from studies.scored import SOME, make_scored, make_several

from vuskit.errors import InvalidInputError
from vuskit.studies import Consistency, SeriesValues, run_study
from vuskit.studies.consistency import ConsistencyResult, rank_entropy


@pytest.fixture(scope="module")
def several():
    return make_several()


def test_entropy_from_its_definition(several):
    found = run_study("consistency", several, **SOME)
    frame = found.to_frame()
    entropies = found.entropies()
    for (dataset, detector, measure), rows in frame.groupby(["dataset", "detector", "measure"]):
        shares = rows["rank"].value_counts(normalize=True)
        expected = -(shares * np.log2(shares)).sum()
        assert entropies.loc[(dataset, detector), measure] == pytest.approx(expected, abs=1e-12)
    assert found.averages()["entropy"].to_dict() == pytest.approx(
        found.entropies().groupby("dataset").mean().mean().to_dict()
    )


def test_ranks_share_ties_and_start_at_the_best(several):
    frame = run_study("consistency", several[0], **SOME).to_frame()
    rows = frame[frame["measure"] == "auc_pr"].set_index("detector")
    assert rows["rank"].idxmin() == rows["value"].idxmax()
    assert rows["rank"].sum() == 4 * 5 / 2


def test_small_datasets_have_no_entropy_and_are_named(several):
    found = run_study("consistency", [*several, make_scored(9, dataset="single")], **SOME)
    assert found.small_datasets == ("single",)
    assert "single" not in found.by_dataset().index
    with pytest.raises(InvalidInputError, match="`min_series` must be at most"):
        run_study("consistency", several[0], **SOME).averages()


def test_random_ranks_have_more_entropy():
    random = np.random.default_rng(0)
    assert rank_entropy(random.integers(1, 9, 1000)) > 2.9
    assert rank_entropy([3.0] * 20 + [np.nan]) == 0.0


def test_rounding_errors_break_no_ties():
    axes = {"detector": ("a", "b", "c"), "measure": ("auc_pr", "vus_pr")}
    values = np.array([[0.1 + 0.2, 1e-9], [0.3, 3e-9], [0.5, 2e-9]])
    series = SeriesValues("made", "s", 24, axes, values)
    study = Consistency(["auc_pr", "vus_pr"])
    ranks = ConsistencyResult((series,), study=study).rank_table()
    assert ranks["auc_pr"].to_list() == [2.5, 2.5, 1.0]
    assert ranks["vus_pr"].to_list() == [3.0, 1.0, 2.0]


def test_mean_ranks_use_the_series_that_all_detectors_have():
    """A detector must not gain from being the only one with a value on a series."""
    axes = {"detector": ("a", "b"), "measure": ("auc_pr", "vus_pr")}
    easy = SeriesValues("made", "easy", 24, axes, np.array([[0.6, 0.9], [0.7, 0.8]]))
    hard = SeriesValues("made", "hard", 24, axes, np.array([[0.5, np.nan], [0.1, 0.8]]))
    found = ConsistencyResult((easy, hard), study=Consistency(["auc_pr", "vus_pr"], min_series=2))
    ranks = found.rank_table()
    assert ranks["auc_pr"].to_list() == [1.5, 1.5]
    assert ranks["vus_pr"].to_list() == [1.0, 2.0]  # not 1.0 and 1.5
    apart = SeriesValues("made", "easy", 24, axes, np.array([[0.6, 0.9], [np.nan, np.nan]]))
    other = SeriesValues("made", "hard", 24, axes, np.array([[np.nan, np.nan], [0.1, 0.8]]))
    found = ConsistencyResult((apart, other), study=Consistency(["auc_pr", "vus_pr"], min_series=2))
    assert found.rank_table().isna().all(axis=None)
    assert found.figures()["ranks"].data()


def test_mean_ranks_tell_what_they_are_taken_over():
    several = [make_scored(seed, dataset="plant" if seed < 3 else "lone") for seed in range(4)]
    found = run_study("consistency", several, **SOME)
    assert found.small_datasets == ("lone",)
    assert set(found.entropies().reset_index()["dataset"]) == {"plant"}
    counts = found.tables()["rank_table"][["n_datasets", "n_series"]]
    assert counts.to_numpy().tolist() == [[2, 4]] * 4
    assert set(found.tables()["rank_table_lone"]["n_series"]) == {1}
    assert "too small for an entropy: lone" in found.figures()["ranks"].caption
    assert "count in mean ranks only: lone" in found.about()


def test_entropy_in_nats():
    ranks = [1, 2, 2, 3, 3, 3, float("nan")]
    assert rank_entropy(ranks, unit="nats") == pytest.approx(rank_entropy(ranks) * np.log(2))
    with pytest.raises(InvalidInputError, match="`unit` must be one of 'bits', 'nats'"):
        rank_entropy(ranks, unit="digits")


def test_only_some_detectors_are_ranked(several):
    found = run_study("consistency", several, detectors=["LATE", "good"], entropy="nats", **SOME)
    assert set(found.to_frame()["detector"]) == {"good", "late"}
    assert found.to_frame()["rank"].max() == 2
    bits = found.with_options(entropy="bits").averages()["entropy"]
    np.testing.assert_allclose(found.averages()["entropy"], bits * np.log(2))
    assert "in nats" in found.about()
    with pytest.raises(InvalidInputError, match="`detectors` must name detectors of the series"):
        run_study("consistency", several, detectors=["missing"], **SOME)

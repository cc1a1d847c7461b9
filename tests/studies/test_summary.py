"""The studies together, also with a measure of one's own."""

from __future__ import annotations

import numpy as np
import pytest
from studies.scored import SOME, make_several

from vuskit import auc_pr, register_measure
from vuskit.errors import InvalidInputError
from vuskit.studies import run_study, summarize


@register_measure(name="hit_at_peak", title="Hit at peak")
def hit_at_peak(y_true, y_score):
    return float(y_true[np.argmax(y_score)])


@register_measure(name="auc_pr_summed_otherwise", title="Twin")
def auc_pr_summed_otherwise(y_true, y_score):
    return (auc_pr(y_true, y_score) + 5.3) - 5.3


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return run_study("robustness", several, **SOME)


def test_a_measure_of_ones_own_appears_in_every_study(several):
    own = {"measures": ["auc_pr", "vus_pr", "hit_at_peak"], "buffer": 24}
    robustness = run_study("robustness", several, processes=2, **own)
    separability = run_study("separability", several, count=8, **own)
    consistency = run_study("consistency", several, **own)
    assert "hit_at_peak" in robustness.averages().index
    assert set(robustness.by_series("noise")["hit_at_peak"].notna()) == {True}
    assert "hit_at_peak" in separability.averages().index
    assert "hit_at_peak" in consistency.averages().index
    assert "custom" in consistency.by_family().index
    found = run_study("scenarios", measures=own["measures"]).to_frame()
    assert found["hit_at_peak"].tolist() == [0] * 7 + [1] * 5 + [0] * 2
    summary = summarize(robustness, separability, consistency)
    assert set(summary.ranks.index) == set(own["measures"])
    assert summary.ranks["mean"].is_monotonic_increasing


def test_summary_ranks_from_the_averages(several, robust):
    separability = run_study("separability", several, count=8, **SOME)
    consistency = run_study("consistency", several, **SOME)
    found = summarize(robust, separability, consistency)
    assert found.ranks.loc[robust.averages()["lag"].idxmin(), "lag"] == 1
    assert found.ranks.loc[separability.averages()["median"].idxmax(), "separability"] == 1
    paper = summarize(robust, separability.with_options(average="mean"), consistency)
    assert paper.scores["separability"].to_dict() == separability.averages()["mean"].to_dict()
    expected = found.ranks[["lag", "noise", "ratio", "separability", "consistency"]].mean(axis=1)
    assert found.ranks["mean"].to_dict() == pytest.approx(expected.to_dict())
    with pytest.raises(InvalidInputError, match="the studies must have equal measures"):
        summarize(robust, separability, run_study("consistency", several, buffer=24))


def test_measures_that_differ_by_rounding_errors_share_their_rank(several):
    own = {"measures": ["auc_pr", "vus_pr", "auc_pr_summed_otherwise"], "buffer": 24}
    robust = run_study("robustness", several[:3], **own)
    of_lag = robust.averages()["lag"]
    assert of_lag["auc_pr"] != of_lag["auc_pr_summed_otherwise"]
    ranks = summarize(
        robust,
        run_study("separability", several[:3], count=4, **own),
        run_study("consistency", several[:3], min_series=2, **own),
    ).ranks
    # Not z: what little varies is divided by as little.
    for study in ("lag", "noise", "ratio", "consistency"):
        assert ranks.loc["auc_pr", study] == ranks.loc["auc_pr_summed_otherwise", study]
    compared = robust.compare("lag").summary["mean_rank"]
    assert compared["auc_pr"] == compared["auc_pr_summed_otherwise"]

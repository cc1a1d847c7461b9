"""Separability: the z statistic, the choice of pairs, what is not averaged."""

from __future__ import annotations

import dataclasses

import numpy as np
import oracle
import pytest
from studies.scored import SOME, make_scored, make_several

from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError
from vuskit.studies import Separability, SeriesValues, compare_with_published, run_study
from vuskit.studies.perturbations import generator_of, scale_to_unit
from vuskit.studies.separability import (
    PUBLISHED_PAIRS,
    SeparabilityResult,
    peak_percentile,
    z_statistic,
)


@pytest.fixture(scope="module")
def several():
    return make_several()


def test_z_from_its_definition():
    random = np.random.default_rng(0)
    first, second = random.normal(0.8, 0.1, 50), random.normal(0.5, 0.2, 50)
    error = np.sqrt(first.var(ddof=1) / 50 + second.var(ddof=1) / 50)
    assert z_statistic(first, second) == pytest.approx((first.mean() - second.mean()) / error)
    assert z_statistic(np.ones(5), np.zeros(5)) == np.inf
    assert z_statistic(np.zeros(5), np.ones(5)) == -np.inf
    assert np.isnan(z_statistic(np.array([np.nan, 1]), np.ones(2)))


def test_pairs_follow_the_rule_and_the_rule_is_said(several):
    found = run_study("separability", several, count=10, **SOME)
    frame = found.to_frame()
    assert "peaks" in found.rule
    assert set(frame["inaccurate"]) <= {"useless", "noisy", "late"}
    assert (frame["criterion_gap"] >= 0.1).all()
    merit = {n: peak_percentile(several[0].series.labels, s) for n, s in several[0].scores.items()}
    assert found.values[0].notes["criterion"] == pytest.approx(merit)
    assert (found.averages()["mean"] > 0).all()


def test_given_pairs_are_taken(several):
    found = run_study("separability", several, pairs=[("good", "useless")], count=8, **SOME)
    frame = found.to_frame()
    assert len(frame) == len(several) * len(SOME["measures"])
    assert found.rule == "pairs as given"
    one = run_study(
        "separability", several, pairs={"plant/s0": [("good", "late")]}, count=8, **SOME
    )
    assert one.to_frame()["series"].unique().tolist() == ["s0"]
    assert len(one.series_without_pairs) == 5


def test_unknown_detectors_of_a_pair_are_named(several):
    with pytest.raises(InvalidInputError, match=r"`pairs` must name detectors .* got 'bad'"):
        run_study("separability", several[0], pairs=[("good", "bad")], count=4, **SOME)


def test_the_criterion_must_not_be_under_study(several):
    with pytest.raises(InvalidInputError, match="must not be a measure under study, got 'vus_pr'"):
        run_study("separability", several, criterion="vus_pr", **SOME)
    other = run_study("separability", several[0], criterion="auc_roc", count=4, **SOME)
    assert "'AUC-ROC'" in other.rule


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
def test_nothing_varies_and_means_are_equal_is_no_separation(value):
    # Thirds and tenths leave a trace of variance.
    assert z_statistic(np.full(7, value), np.full(50, value)) == 0.0


def test_equal_scores_are_pairs_without_separation():
    scored = make_scored(3)
    same = {"good": scored.series.labels * 1.0, "also": scored.series.labels * 2.0}
    scored = ScoredSeries(scored.series, same)
    found = run_study(
        "separability", scored, pairs=[("good", "also")], lag=0.0, noise=0.0, count=4, **SOME
    )
    assert (found.to_frame()["z"] == 0).all()
    averages = found.averages()
    assert (averages[["mean", "median", "right", "infinite", "undefined"]] == 0).all(axis=None)


def made_series(name, pairs):
    """One measure of detectors that are high, low, in between, and not always defined."""
    values = {"high": [1, 1], "low": [0, 0], "between": [0.4, 0.6], "odd": [np.nan, 0.5]}
    axes = {"detector": tuple(values), "repeat": ("0", "1"), "measure": ("auc_pr",)}
    table = np.array(list(values.values()), dtype=float)[:, :, None]
    return SeriesValues("made", name, 24, axes, table, {"pairs": pairs, "criterion": {}})


def test_columns_say_what_they_do_with_infinite_and_undefined_z():
    first = [["high", "low"], ["low", "high"], ["odd", "low"], ["between", "low"], ["low", "low"]]
    values = (
        made_series("a", first),
        made_series("b", [["high", "between"], ["low", "between"], ["low", "between"]]),
        made_series("c", [["high", "low"]]),  # without any finite z: not in the mean
    )
    row = SeparabilityResult(values, study=Separability("auc_pr")).averages().loc["auc_pr"]
    z = 0.5 / np.sqrt(0.02 / 2)  # between and low, by the definition
    assert row["mean"] == pytest.approx(np.mean([(z + 0) / 2, (z - z - z) / 3]))
    assert row["pairs"] == 9
    assert row["median"] == pytest.approx(np.median([np.inf, -np.inf, z, 0, z, -z, -z, np.inf]))
    assert row["right"] == pytest.approx(4 / 9)
    assert (row["infinite"], row["undefined"]) == (3, 1)


def test_infinite_and_undefined_z_are_counted_not_averaged():
    scored = make_scored(3)
    constant = {"good": scored.series.labels * 1.0, "bad": -1.0 * scored.series.labels}
    scored = ScoredSeries(scored.series, constant)
    found = run_study(
        "separability", scored, pairs=[("good", "bad")], lag=0.0, noise=0.0, count=4, **SOME
    )
    averages = found.averages()
    assert averages.loc["auc_pr", "infinite"] == 1
    assert np.isnan(averages.loc["auc_pr", "mean"])
    assert averages.loc["auc_pr", "median"] == np.inf


def test_separability_repeats_over_processes(several):
    runs = [
        run_study("separability", several[:2], count=6, processes=processes, **SOME).to_frame()
        for processes in (1, 2)
    ]
    assert runs[0].to_csv() == runs[1].to_csv()


# ---- as published ----

MBA = {
    ("NormA", "CNN"), ("NormA", "LSTM"), ("NormA", "MP"), ("NormA", "LOF"),
    ("IForest", "CNN"), ("IForest", "LSTM"), ("OCSVM", "CNN"), ("OCSVM", "LSTM"),
    ("AE", "CNN"), ("AE", "LSTM"), ("AE", "MP"), ("AE", "LOF"),
}  # fmt: skip


def named(scored, name, detectors):
    """The same scores under the names of other detectors."""
    scores = dict(zip(detectors, scored.scores.values(), strict=False))
    series = dataclasses.replace(scored.series, name=name)
    return ScoredSeries(series, scores)


def test_published_pairs():
    assert set(PUBLISHED_PAIRS["MBA"]) == MBA
    assert len(PUBLISHED_PAIRS["SED"]) == len(set(PUBLISHED_PAIRS["SED"])) == 12
    assert {good for good, _ in PUBLISHED_PAIRS["SED"]} == {"NormA", "MP", "CNN"}


def test_series_of_the_published_experiments_have_their_pairs():
    scored = make_scored(1)
    sources = [
        named(scored, "MBA_ECG805_data", ("NORMA", "MatrixProfile", "CNN", "PCA")),
        named(scored, "other", ("good", "late", "noisy", "useless")),
    ]
    some = {"measures": ["auc_pr", "recall"], "buffer": 24, "count": 5}
    found = run_study("separability", sources, as_published=True, **some)
    assert found.values[0].notes["pairs"] == [["NORMA", "CNN"], ["NORMA", "MatrixProfile"]]
    assert found.values[1].notes["criterion"]  # by rule
    assert "pairs=published" in found.options_line
    assert "published experiments" in found.rule


def test_labels_move_and_noise_is_normal():
    scored = make_scored(2)
    options = {"measures": ["auc_pr"], "buffer": 24, "count": 3, "pairs": [("good", "useless")]}
    found = run_study(
        "separability",
        scored,
        lag="labels",
        noise="normal:-0.1:0.1",
        section=500,
        scale="unit",
        **options,
    )
    cut = dataclasses.replace(
        scored.series, values=scored.series.values[:500], labels=scored.series.labels[:500]
    )
    part = ScoredSeries(cut, {"good": scale_to_unit(scored.scores["good"][:500])})
    random = generator_of(0, part, "good", "separability")
    for repeat in range(3):
        lag = int(random.integers(-6, 6, endpoint=True))
        noise = random.normal(-0.1, 0.1, 500)
        labels = oracle.shift_labels(cut.labels.tolist(), lag)
        expected = oracle.auc_pr(labels, (part.scores["good"] + noise).tolist())
        assert found.values[0].values[0, repeat, 0] == pytest.approx(expected, abs=1e-12)


def test_raw_z_is_that_of_the_oracle():
    random = np.random.default_rng(3)
    first, second = random.random(9), random.random(9) / 2
    expected = oracle.raw_z(first.tolist(), second.tolist())
    assert z_statistic(first, second, unit="raw") == pytest.approx(expected)


def test_published_z_is_reproduced(test_data):
    folder = test_data / "data"
    sources = [folder / "scores" / "ECG" / f"MBA_ECG{n}_data.out.csv.gz" for n in (805, 820)]
    found = run_study("separability", sources, as_published=True, count=20)
    agreement = compare_with_published(found, folder / "published").agreement
    by_series = agreement[agreement["over"].str.startswith("MBA")]
    assert len(by_series) == 2
    assert (by_series["pearson"] > 0.93).all()

"""Robustness: deviations, averages, tests, undefined values, resuming, the published means."""

from __future__ import annotations

import dataclasses

import numpy as np
import oracle
import pandas as pd
import pytest
from studies.scored import SOME, make_scored, make_several, stored, write_scored

import vuskit
from vuskit import evaluate
from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.studies import Robustness, compare, compare_with_published, open_scores, run_study
from vuskit.studies.perturbations import even_lags, shift


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return run_study("robustness", several, **SOME)


def test_lag_deviation_from_the_definition(several, robust):
    scored = several[0]
    values = [
        evaluate(scored.series.labels, shift(scored.scores["late"], lag), buffer=24)["auc_pr"]
        for lag in even_lags(24)
    ]
    frame = robust.to_frame()
    cell = frame.query(
        "series == 's0' and detector == 'late' and perturbation == 'lag' and measure == 'auc_pr'"
    )
    assert cell["deviation"].item() == pytest.approx(np.std(values), abs=1e-12)
    assert cell["n_values"].item() == 10


def test_volumes_go_to_twice_the_buffer(several):
    scored = several[1]
    found = run_study("robustness", scored, perturbations=["lag"], count=3, min_values=2, **SOME)
    middle = found.values[0].values[0, 0, 1]
    score = scored.scores["good"]
    at = {
        name: evaluate(scored.series.labels, score, buffer=size, measures=[name])[name]
        for name, size in {"f_score": 24, "auc_pr": 24, "range_auc_pr": 24, "vus_pr": 48}.items()
    }
    assert middle == pytest.approx([at[name] for name in SOME["measures"]], abs=1e-12)


def test_averages_step_by_step(robust):
    frame = robust.to_frame()
    rows = frame[(frame["perturbation"] == "noise") & (frame["measure"] == "vus_pr")]
    by_series = rows.groupby(["dataset", "series"])["deviation"].mean()
    by_dataset = by_series.groupby("dataset").mean()
    assert robust.averages().loc["vus_pr", "noise"] == pytest.approx(by_dataset.mean())
    over_series = robust.averages(over="series").loc["vus_pr", "noise"]
    assert over_series == pytest.approx(by_series.mean())
    assert robust.by_dataset().loc[("noise", "mill"), "vus_pr"] == pytest.approx(by_dataset["mill"])


def test_range_aware_measures_are_more_robust_to_lag(robust):
    lag = robust.averages()["lag"]
    assert lag["vus_pr"] < lag["auc_pr"]
    assert lag["range_auc_pr"] < lag["auc_pr"]


def test_tests_are_those_of_the_series_table(robust):
    comparison = robust.compare("lag")
    expected = compare(robust.by_series("lag"), higher_is_better=False, alpha=0.1)
    pd.testing.assert_frame_equal(comparison.summary, expected.summary)
    assert comparison.pairs.alpha == 0.1


def test_undefined_values_are_counted(several):
    dense = make_scored(50, n=300, n_anomalies=6, length=25)
    nothing = ScoredSeries(
        Series("quiet", "plant", np.zeros(200), np.zeros(200)), {"good": np.arange(200.0)}
    )
    found = run_study("robustness", [several[0], dense, nothing], **SOME)
    counts = found.undefined().set_index(["perturbation", "measure"])
    lag = counts.loc[("lag", "auc_pr")]
    assert lag["values"] == (4 + 4 + 1) * 10
    assert lag["undefined"] == 10
    assert lag["series_without"] == 1
    assert counts.loc[("ratio", "auc_pr"), "undefined"] > 10
    assert np.isnan(found.by_series("lag").loc[("plant", "quiet"), "auc_pr"])
    assert found.compare("lag").pairs.n_dropped == 1
    assert not found.failures


def test_a_series_that_fails_is_named(several, tmp_path):
    write_scored(tmp_path, several[0])
    broken = tmp_path / "plant" / "broken.csv"
    broken.write_text("value,label,good\n1,0,0.5\n2,maybe,0.7\n")
    found = run_study("robustness", tmp_path, **SOME)
    assert [failure.name for failure in found.failures] == ["plant/broken"]
    assert "maybe" in found.failures[0].reason
    assert len(found.values) == 1


def test_same_seed_same_bytes_whatever_the_number_of_processes(several):
    runs = [
        run_study("robustness", several[:3], processes=processes, **SOME) for processes in (1, 2)
    ]
    texts = [run.to_frame().to_csv() for run in runs]
    assert texts[0] == texts[1]
    other = run_study("robustness", several[:3], seed=1, **SOME).to_frame()
    first = runs[0].to_frame()
    changed = first["deviation"] != other["deviation"]
    assert set(first.loc[changed, "perturbation"]) == {"noise"}


def test_a_run_goes_on_where_it_stopped(several, tmp_path):
    def stop_after_two(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study("robustness", several, folder=tmp_path, progress=stop_after_two, **SOME)
    kept = stored(tmp_path)
    assert len(kept) == 2
    found = run_study("robustness", several, folder=tmp_path, **SOME)
    assert kept.items() <= stored(tmp_path).items()
    assert len(stored(tmp_path)) == 6
    fresh = run_study("robustness", several, **SOME)
    assert found.to_frame().to_csv() == fresh.to_frame().to_csv()


def test_other_settings_do_not_meet_in_the_folder(several, tmp_path):
    run_study("robustness", several[0], folder=tmp_path, **SOME)
    run_study("robustness", several[0], folder=tmp_path, **{**SOME, "buffer": 10})
    run_study("robustness", several[0], folder=tmp_path, seed=5, **SOME)
    changed = dataclasses.replace(several[0], scores={"good": several[0].scores["late"]})
    run_study("robustness", changed, folder=tmp_path, **SOME)
    assert len(stored(tmp_path)) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"perturbations": ["lags"]}, r"`perturbations\[0\]` must be .* got 'lags'"),
        ({"count": 1}, "`count` must be"),
        ({"noise": -1}, "`noise` must be"),
        ({"volume_factor": 0}, "`volume_factor` must be a number > 0, got 0"),
        ({"processes": 0}, "`processes` must be"),
    ],
)
def test_bad_options_are_refused(several, options, message):
    with pytest.raises(InvalidInputError, match=message):
        run_study("robustness", several[0], **{**SOME, **options})


def test_nothing_to_study_is_refused(tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"must contain files that end in .* got an empty folder"
    ):
        open_scores(tmp_path)
    with pytest.raises(InvalidInputError, match="no such file or folder"):
        open_scores(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match="got int"):
        open_scores(3)


def test_coarse_grids_are_noted(several):
    found = run_study("robustness", several[0], thresholds=5, **SOME)
    assert found.values[0].notes["coarse_grid"]
    assert not run_study("robustness", several[0], **SOME).values[0].notes["coarse_grid"]


def test_published_lag_robustness_is_reproduced(test_data):
    folder = test_data / "data"
    patterns = ("KDD21/*101*", "NAB/*Traffic*", "SensorScope/stb-1?.*")
    sources = [
        source for pattern in patterns for source in open_scores(folder / "scores", select=pattern)
    ]
    found = run_study(
        "robustness", sources, perturbations=["lag"], buffer="authors", volume_factor=2
    )
    agreement = compare_with_published(found, folder / "published").agreement
    row = agreement[agreement["over"] == "series"].iloc[0]
    assert row["quantity"] == "lag"
    assert row["items"] >= 10
    assert row["spearman"] > 0.7


# ---- as published ----

PUBLISHED = {"measures": ["f_score", "range_recall", "vus_roc"], "section": 500, "count": 4}


@pytest.fixture(scope="module")
def published(several):
    return run_study("robustness", several[:2], as_published=True, **PUBLISHED)


def literal_values(scored, published):
    """Values of every detector under lags of the labels, step by step."""
    start, stop, _ = oracle.rare_section(scored.series.labels.tolist(), 500)
    labels = scored.series.labels[start:stop].tolist()
    buffer = published.values[0].buffer
    found = []
    for score in scored.scores.values():
        cut = oracle.unit(score[start:stop].tolist())
        rows = []
        for lag in oracle.label_lags(buffer):
            moved, predicted = oracle.shift_labels(labels, lag), oracle.cascade(cut)
            vus = vuskit.vus_roc(
                moved, cut, buffer=2 * buffer, thresholds=250, definition="pvldb2022"
            )
            rows.append(
                [
                    oracle.f_score(moved, y_pred=predicted),
                    oracle.range_recall(
                        moved, y_pred=predicted, alpha=0.2, cardinality="reciprocal"
                    ),
                    vus,
                ]
            )
        found.append(rows)
    return np.array(found)


def test_the_published_procedure_step_by_step(several, published):
    expected = literal_values(several[0], published)
    repeats = published.values[0].notes["repeats"]
    assert repeats == {"lag": expected.shape[1], "noise": 4, "ratio": 21}
    found = published.values[0].values[0, :, : expected.shape[1]]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    for place, name in enumerate(PUBLISHED["measures"]):
        pooled = oracle.pooled_spread(expected[:, :, place].tolist())
        cell = published.by_series("lag").loc[("plant", "s0"), name]
        assert cell == pytest.approx(pooled, abs=1e-12)
        mean = oracle.mean_spread(expected[:, :, place].tolist())
        cell = published.with_options(spread="mean").by_series("lag").loc[("plant", "s0"), name]
        assert cell == pytest.approx(mean, abs=1e-12)


def test_crops_of_the_published_procedure(several, published):
    scored = several[0]
    start, stop, anchor = oracle.rare_section(scored.series.labels.tolist(), 500)
    labels = scored.series.labels[start:stop]
    score = np.array(oracle.unit(scored.scores["late"][start:stop].tolist()))
    for place, (first, last) in enumerate(oracle.growing_crops(labels.size, anchor)):
        cut = oracle.cascade(score[first:last].tolist())
        expected = oracle.f_score(labels[first:last].tolist(), y_pred=cut)
        assert published.values[0].values[2, 1, place, 0] == pytest.approx(expected, abs=1e-12)


def test_padding_is_neither_undefined_nor_drawn(published):
    facts = published.facts()
    repeats = sum(sum(one.notes["repeats"].values()) for one in published.values)
    assert facts == {"values": repeats * 4 * 3, "undefined": 0}
    lags = published.values[0].notes["repeats"]["lag"]
    assert len(published.centered("s0", "lag")) == 4 * lags
    assert not published.centered("s0", "lag").isna().any().any()
    assert "4 to 21 perturbations of each kind" in published.about()
    assert "options (as published)" not in published.options_line  # section and count differ


def test_options_that_are_given_replace_the_preset():
    study = Robustness.as_published(
        noise=0.1, thresholds=None, measure_options=["auc_pr.interpolation=step"]
    )
    assert (study.noise, study.lag, study.settings.thresholds) == (
        "uniform:0.1",
        "labels:0.25",
        None,
    )
    assert study.settings.threshold == "cascade"
    options = {one.name: one.options for one in study.measures}
    assert options["auc_pr"] == {"interpolation": "step"}
    assert options["range_recall"] == {"alpha": 0.2, "cardinality": "reciprocal"}
    assert Robustness.as_published().is_as_published
    assert not study.is_as_published
    assert not Robustness().is_as_published
    assert Robustness.as_published().options_line().startswith("options (as published): detectors=")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure_options": ["range_recall.alpha"]}, "must have the form NAME.OPTION=VALUE"),
        ({"measure_options": ["range_recal.alpha=1"]}, "did you mean 'range_recall'"),
        ({"measure_options": ["range_recall.alpha=2"]}, "`alpha` must be a number from 0 to 1"),
        ({"section": 100}, "`N` must be an int >= 400, got 100"),
        ({"lag": "label"}, "did you mean 'labels'"),
    ],
)
def test_options_of_the_published_procedure_are_checked(options, message):
    with pytest.raises(InvalidInputError, match=message):
        Robustness(**options)


def test_the_published_procedure_comes_closer(test_data):
    folder = test_data / "data"
    sources = open_scores(folder / "scores", select=["NAB/*CloudWatch_1?.*", "KDD21/*s20101m_*"])
    factors = {}
    for as_published in (False, True):
        found = run_study("robustness", sources, perturbations=["lag"], as_published=as_published)
        agreement = compare_with_published(found, folder / "published").agreement
        factors[as_published] = agreement.set_index("over").loc["series", "factor"]
    assert factors[True] < factors[False]
    assert factors[True] < 1.6

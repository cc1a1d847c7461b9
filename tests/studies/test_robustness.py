"""Robustness: deviations, averages, tests, undefined values, resuming, the published means."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from studies.scored import SOME, make_scored, make_several, write_scored

from vuskit import evaluate
from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.studies import compare, open_scores, robustness_study
from vuskit.studies.perturbations import even_lags, shift


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return robustness_study(several, **SOME)


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
    found = robustness_study(scored, perturbations=["lag"], count=3, min_values=2, **SOME)
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
    found = robustness_study([several[0], dense, nothing], **SOME)
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
    found = robustness_study(tmp_path, **SOME)
    assert [failure.name for failure in found.failures] == ["plant/broken.csv"]
    assert "maybe" in found.failures[0].reason
    assert len(found.values) == 1


def test_same_seed_same_bytes_whatever_the_number_of_processes(several):
    runs = [robustness_study(several[:3], processes=processes, **SOME) for processes in (1, 2)]
    texts = [run.to_frame().to_csv() for run in runs]
    assert texts[0] == texts[1]
    other = robustness_study(several[:3], seed=1, **SOME).to_frame()
    first = runs[0].to_frame()
    changed = first["deviation"] != other["deviation"]
    assert set(first.loc[changed, "perturbation"]) == {"noise"}


def test_a_run_goes_on_where_it_stopped(several, tmp_path):
    def stop_after_two(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        robustness_study(several, folder=tmp_path, progress=stop_after_two, **SOME)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(kept) == 2
    found = robustness_study(several, folder=tmp_path, **SOME)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(list(tmp_path.iterdir())) == 6
    fresh = robustness_study(several, **SOME)
    assert found.to_frame().to_csv() == fresh.to_frame().to_csv()


def test_a_damaged_file_is_computed_again(several, tmp_path):
    first = robustness_study(several[0], folder=tmp_path, **SOME)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    again = robustness_study(several[0], folder=tmp_path, **SOME)
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())


def test_other_settings_do_not_meet_in_the_folder(several, tmp_path):
    robustness_study(several[0], folder=tmp_path, **SOME)
    robustness_study(several[0], folder=tmp_path, **{**SOME, "buffer": 10})
    robustness_study(several[0], folder=tmp_path, seed=5, **SOME)
    changed = dataclasses.replace(several[0], scores={"good": several[0].scores["late"]})
    robustness_study(changed, folder=tmp_path, **SOME)
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"perturbations": ["lags"]}, "`perturbations` must be"),
        ({"count": 1}, "`count` must be"),
        ({"noise": -1}, "`noise` must be"),
        ({"volume_factor": 0}, "`volume_factor` must be a number > 0, got 0"),
        ({"processes": 0}, "`processes` must be"),
    ],
)
def test_bad_options_are_refused(several, options, message):
    with pytest.raises(InvalidInputError, match=message):
        robustness_study(several[0], **{**SOME, **options})


def test_nothing_to_study_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="`source` must hold saved scores, got none"):
        open_scores(tmp_path)
    with pytest.raises(InvalidInputError, match="`source` must be a file or a folder"):
        open_scores(tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match="got int"):
        open_scores(3)


def test_coarse_grids_are_noted(several):
    found = robustness_study(several[0], thresholds=5, **SOME)
    assert found.values[0].notes["coarse_grid"]
    assert not robustness_study(several[0], **SOME).values[0].notes["coarse_grid"]


def test_published_lag_robustness_is_reproduced(test_data):
    published = pd.read_csv(test_data / "data" / "published" / "robustness_lag.csv")
    published = published.set_index("series")
    folder = test_data / "data" / "scores"
    patterns = ("KDD21/*101*", "NAB/*Traffic*", "SensorScope/stb-1?.*")
    sources = [source for pattern in patterns for source in open_scores(folder, pattern=pattern)]
    found = robustness_study(sources, perturbations=["lag"]).by_series("lag")
    ours = found.droplevel("dataset").rename(columns=PUBLISHED)
    common = ours.index.intersection(published.index)
    assert len(common) >= 10
    means = pd.DataFrame(
        {"ours": ours.loc[common].mean(), "theirs": published.loc[common, ours.columns].mean()}
    )
    assert means.corr(method="spearman").loc["ours", "theirs"] > 0.7


PUBLISHED = {
    "vus_roc": "VUS_ROC",
    "vus_pr": "VUS_PR",
    "range_auc_roc": "R_AUC_ROC",
    "range_auc_pr": "R_AUC_PR",
    "auc_roc": "AUC_ROC",
    "auc_pr": "AUC_PR",
    "range_precision": "Rprecision",
    "range_recall": "Rrecall",
    "range_f_score": "RF",
    "precision": "Precision",
    "recall": "Recall",
    "f_score": "F",
    "precision_at_k": "Precision@k",
}

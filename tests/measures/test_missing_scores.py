"""One policy for missing scores, the same in every function."""

from __future__ import annotations

import numpy as np
import pytest

import vuskit
import vuskit.sklearn
from vuskit.inputs import check_labels, read_scores
from vuskit.metric import SeriesMetric

N = 200
RNG = np.random.default_rng(5)
LABELS = np.zeros(N, dtype=int)
LABELS[40:50] = LABELS[120:127] = 1
SCORES = RNG.random(N) + 0.4 * LABELS
GAPS = [3, 45, 46, 199]
MISSING = SCORES.copy()
MISSING[GAPS] = np.nan
LOWEST = SCORES.copy()
LOWEST[GAPS] = np.nextafter(np.delete(SCORES, GAPS).min(), -np.inf)

OPTIONS = {"buffer": 10, "measures": ["vus_pr", "auc_roc", "f_score"]}


def by_metric(score, nan):
    metric = SeriesMetric(buffer=10, nan=nan)
    metric.update(LABELS, score)
    return metric.compute()


CALLS = {
    "vus_pr": lambda score, nan: vuskit.vus_pr(LABELS, score, buffer=10, nan=nan),
    "range_auc_roc": lambda score, nan: vuskit.range_auc_roc(LABELS, score, buffer=10, nan=nan),
    "auc_pr": lambda score, nan: vuskit.auc_pr(LABELS, score, nan=nan),
    "precision_at_k": lambda score, nan: vuskit.precision_at_k(LABELS, score, nan=nan),
    "f_score": lambda score, nan: vuskit.f_score(LABELS, score, nan=nan),
    "pate": lambda score, nan: vuskit.pate(LABELS, score, buffer=10, nan=nan),
    "events": lambda score, nan: vuskit.events(LABELS, score, nan=nan).peak_rank.tolist(),
    "best_threshold": lambda score, nan: vuskit.best_threshold(LABELS, score, nan=nan),
    "surface": lambda score, nan: vuskit.surface(LABELS, score, buffer=5, nan=nan).tpr.tolist(),
    "evaluate": lambda score, nan: dict(vuskit.evaluate(LABELS, score, nan=nan, **OPTIONS)),
    "Evaluator": lambda score, nan: dict(vuskit.Evaluator(LABELS, nan=nan, **OPTIONS)(score)),
    "evaluate_many": lambda score, nan: dict(
        vuskit.evaluate_many(LABELS, {"a": score}, nan=nan, **OPTIONS)["a"]
    ),
    "metric": by_metric,
}


@pytest.mark.parametrize("call", CALLS)
def test_missing_scores_rank_lowest(call):
    assert CALLS[call](MISSING, "lowest") == CALLS[call](LOWEST, "error")
    assert CALLS[call](SCORES, "lowest") == CALLS[call](SCORES, "error")
    with pytest.raises(vuskit.InvalidInputError, match=r"got nan at index 3; nan='lowest' ranks"):
        CALLS[call](MISSING, "error")
    with pytest.raises(vuskit.InvalidInputError, match="`nan` must be one of 'error', 'lowest'"):
        CALLS[call](SCORES, "highest")
    with pytest.raises(vuskit.InvalidInputError, match="got only missing scores"):
        CALLS[call](np.full(N, np.nan), "lowest")
    with pytest.raises(vuskit.InvalidInputError, match=r"got -inf at index 7"):
        CALLS[call](np.where(np.arange(N) == 7, -np.inf, MISSING), "lowest")


def test_results_count_missing_scores():
    result = vuskit.evaluate(LABELS, MISSING, nan="lowest", **OPTIONS)
    assert result.missing == 4
    assert "nan=lowest; 4 missing scores rank lowest)" in repr(result)
    assert "4 missing scores rank lowest" in result.to_latex().replace("\n", " ")
    table = vuskit.evaluate_many(LABELS, {"a": MISSING, "b": SCORES}, nan="lowest", **OPTIONS)
    assert [one.missing for one in table.values()] == [4, 0]
    assert repr(table).endswith("nan=lowest; a: 4 missing scores rank lowest)")
    assert "a: 4 missing scores rank lowest" in table.to_markdown()
    assert vuskit.evaluate(LABELS, SCORES, **OPTIONS).missing == 0


@pytest.mark.parametrize(
    "scores",
    [
        [0.5, None, 0.25],
        np.array([2, float("nan"), 1], dtype="f2"),
        np.array([2, float("nan"), 1], dtype="longdouble"),
        [2**60 + 1, None, 2**60],
        [True, None, False],
        [-np.finfo(float).max, float("nan"), 0],
    ],
    ids=["list", "half", "extended", "integers", "booleans", "limit"],
)
def test_missing_scores_of_any_kind(scores):
    found, missing = read_scores(scores, check_labels([1, 0, 1]), "lowest")
    assert missing == 1
    assert np.isfinite(found).all()
    known = found[[0, 2]]
    assert found[1] < known.min() or known.min() == np.finfo(float).min
    assert (known[0] > known[1]) == (float(scores[0]) > scores[2] or scores[0] > scores[2])


def test_pandas_and_polars():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    wanted = vuskit.vus_pr(LABELS, LOWEST, buffer=10)
    missing = pandas.Series(SCORES).astype("Float64")
    missing[GAPS] = pandas.NA
    none = [None if place in GAPS else score for place, score in enumerate(SCORES.tolist())]
    for score in (missing, polars.Series(none)):
        assert vuskit.vus_pr(LABELS, score, buffer=10, nan="lowest") == wanted


def test_frames():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    rows = pandas.DataFrame({"label": LABELS, "a": MISSING, "b": SCORES})
    options = {"buffer": 10, "measures": "vus_pr"}
    found = vuskit.evaluate_frame(rows, nan="lowest", **options).set_index("detector")
    assert found.loc["a", "value"] == vuskit.vus_pr(LABELS, LOWEST, buffer=10)
    assert found.loc["a", "message"] == "4 missing scores rank lowest"
    assert pandas.isna(found.loc["b", "message"])
    refused = vuskit.evaluate_frame(rows, **options).set_index("detector")
    assert refused["status"].tolist() == ["ERROR", "OK"]
    assert "got nan at index 3; nan='lowest'" in refused.loc["a", "message"]


def test_sql():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    import vuskit.sql

    query = "select auc_pr([0, 1, 0, 1], [NULL, 2.0, 1.0, 3.0])"
    with duckdb.connect() as connection:
        vuskit.sql.register(connection, measures="auc_pr", nan="lowest")
        assert connection.sql(query).fetchall() == [(1.0,)]
        vuskit.sql.register(connection, measures="auc_pr")
        with pytest.raises(duckdb.Error, match="got nan at index 0"):
            connection.sql(query).fetchall()


def test_scorer():
    pytest.importorskip("sklearn")
    from sklearn.base import BaseEstimator

    class Model(BaseEstimator):
        def score_samples(self, X):
            return -MISSING

    found = vuskit.sklearn.scorer("vus_pr", buffer=10, nan="lowest")(Model(), SCORES, LABELS)
    assert found == vuskit.vus_pr(LABELS, LOWEST, buffer=10)

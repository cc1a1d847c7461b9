"""Scorers in scikit-learn's model selection; signs and labels of all kinds of estimators."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_validate
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, OneClassSVM

import vuskit
from vuskit.errors import InvalidInputError
from vuskit.sklearn import anomaly_scores, scorer


@pytest.fixture(scope="module")
def data():
    """Two channels and six anomalies far from the rest."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(600, 2)), np.zeros(600, dtype=int)
    for start in range(60, 600, 100):
        X[start : start + 12] += 7
        y[start : start + 12] = 1
    return X, y


OUTLIER_MODELS = [
    IsolationForest(n_estimators=20, random_state=0),
    OneClassSVM(nu=0.2),
    EllipticEnvelope(random_state=0, contamination=0.2),
    LocalOutlierFactor(novelty=True, n_neighbors=100),
    KernelDensity(),
    make_pipeline(StandardScaler(), IsolationForest(n_estimators=20, random_state=0)),
]
CLASSIFIERS = [
    RandomForestClassifier(n_estimators=20, random_state=0),
    LogisticRegression(),
    SVC(),
    make_pipeline(StandardScaler(), SVC()),
]


@pytest.mark.parametrize("model", [*OUTLIER_MODELS, *CLASSIFIERS], ids=lambda one: str(one)[:24])
def test_anomalies_get_the_high_scores(data, model):
    X, y = data
    model.fit(X[:300], y[:300])
    assert vuskit.auc_roc(y[300:], anomaly_scores(model, X[300:])) > 0.9
    assert scorer("vus_pr", buffer=12)(model, X[300:], y[300:]) > 0.5


@pytest.mark.parametrize("model", CLASSIFIERS[1:3], ids=["predict_proba", "decision_function"])
def test_anomalies_may_be_the_first_class(data, model):
    X, y = data
    outliers = np.where(y == 1, -1, 1)
    model.fit(X[:300], outliers[:300])
    found = scorer("auc_roc", pos_label=-1)(model, X[300:], outliers[300:])
    assert found > 0.9


def test_pyod_scores_are_not_negated(data):
    knn = pytest.importorskip("pyod.models.knn", reason="PyOD is not installed")
    X, y = data
    model = knn.KNN(n_neighbors=100).fit(X[:300])
    assert scorer("auc_roc")(model, X[300:], y[300:]) > 0.9


def test_value_is_that_of_the_function(data):
    X, y = data
    model = OUTLIER_MODELS[0].fit(X[:300])
    expected = vuskit.vus_pr(y[300:], -model.decision_function(X[300:]), buffer=7, side="after")
    assert scorer("VUS-PR", buffer=7, side="after")(model, X[300:], y[300:]) == expected
    samples = scorer("vus_pr", buffer=7, response="score_samples")(model, X[300:], y[300:])
    assert samples == vuskit.vus_pr(y[300:], -model.score_samples(X[300:]), buffer=7)


def test_cross_validate_with_several_measures(data):
    X, y = data
    found = cross_validate(
        OUTLIER_MODELS[0],
        X,
        y,
        scoring=scorer(["vus_pr", "auc_roc"], buffer=12),
        cv=TimeSeriesSplit(4),
        error_score="raise",
    )
    assert found["test_vus_pr"].shape == (4,)
    assert (found["test_auc_roc"] > 0.9).all()


def test_grid_search_in_two_processes(data):
    X, y = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), OneClassSVM()),
        {"oneclasssvm__nu": [0.05, 0.3], "oneclasssvm__gamma": [0.1, 1000.0]},
        scoring=scorer("vus_pr", buffer=12),
        cv=KFold(3),
        n_jobs=2,
        error_score="raise",
    ).fit(X, y)
    assert search.best_params_["oneclasssvm__gamma"] == 0.1
    assert 0 < search.best_score_ <= 1


def test_less_is_better_is_negated(data, monkeypatch):
    from vuskit.measures import registry

    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))

    @vuskit.register_measure(name="first_loss", higher_is_better=False)
    def first_loss(y_true, y_score):
        return 0.25

    X, y = data
    assert scorer("first_loss")(OUTLIER_MODELS[0].fit(X), X, y) == -0.25


def test_strategies_see_the_values():
    t = np.arange(600)
    X = np.sin(2 * np.pi * t / 50)[:, None] + 0.01 * np.random.default_rng(0).normal(size=(600, 1))
    y = ((t > 300) & (t < 320)).astype(int)
    X[y == 1] += 3
    model = IsolationForest(random_state=0).fit(X)
    scores = anomaly_scores(model, X)
    assert scorer("vus_pr", buffer="period")(model, X, y) == vuskit.vus_pr(
        y, scores, buffer="period", values=X
    )


def test_scorers_can_be_copied():
    made = scorer(["vus_pr", "f_score"], buffer=5)
    assert repr(pickle.loads(pickle.dumps(made))) == repr(made)
    assert repr(made).startswith("scorer(vus_pr, f_score; buffer=5")


def test_shuffled_rows_are_refused(data):
    X, y = pd.DataFrame(data[0]), data[1]
    order = np.random.default_rng(0).permutation(600)
    model = OUTLIER_MODELS[0].fit(X.to_numpy())
    with pytest.raises(InvalidInputError, match="rows in time order"):
        scorer("auc_pr")(model, X.iloc[order], y[order])


def test_bad_inputs(data):
    X, y = data
    model = OUTLIER_MODELS[0].fit(X)
    with pytest.raises(TypeError, match="'buffer', for vus_pr"):
        scorer("vus_pr")
    with pytest.raises(InvalidInputError, match="must be a registered measure"):
        scorer("vus_rp", buffer=1)
    with pytest.raises(InvalidInputError, match="`response` must be one of"):
        scorer("auc_pr", response="predict")
    with pytest.raises(InvalidInputError, match="got -1 and 1; pass pos_label=-1"):
        scorer("auc_pr")(model, X, np.where(y, -1, 1))
    with pytest.raises(InvalidInputError, match="must have two classes"):
        scorer("auc_pr")(model, X, np.arange(600) % 3)
    with pytest.raises(InvalidInputError, match="set novelty=True"):
        scorer("auc_pr")(LocalOutlierFactor().fit(X), X, y)
    with pytest.raises(InvalidInputError, match="`pos_label` must be one of two classes"):
        scorer("auc_pr", pos_label=7)(LogisticRegression().fit(X, y), X, y)

"""Logging to experiment trackers: what each kind of target receives."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest

import vuskit
from vuskit.errors import InvalidInputError
from vuskit.metric import SeriesMetric

LABELS, SCORES = [0, 1, 1, 0, 0, 0], [1, 5, 4, 3, 2, 0]


@pytest.fixture(scope="module")
def evaluation():
    measures = ["vus_pr", vuskit.get_measure("f_score").with_options(beta=2)]
    return vuskit.evaluate(LABELS, SCORES, buffer=2, threshold=4, measures=measures)


class Logger:
    """Remembers calls."""

    def __init__(self):
        self.calls = []

    def log_metrics(self, metrics, step=None):
        self.calls.append((metrics, step))

    def log_params(self, parameters):
        self.parameters = parameters


def test_metrics_and_parameters(evaluation):
    logger = Logger()
    logged = evaluation.log_to(logger, prefix="test/", step=3)
    assert logger.calls == [(logged, 3)]
    assert logged == {"test/vus_pr": evaluation["vus_pr"], "test/f_score_beta_2": 1.0}
    assert logger.parameters["test/buffer"] == 2
    assert logger.parameters["test/definition"] == "journal"
    assert "test/thresholds" not in logger.parameters


def test_object_with_log_alone(evaluation):
    calls = []
    target = SimpleNamespace(log=lambda metrics: calls.append(metrics))
    assert evaluation.log_to(target) == calls[0]


def test_several_scores():
    found = vuskit.evaluate_many(
        LABELS, {"a": SCORES, "b": SCORES[::-1]}, buffer=2, measures="auc_pr"
    )
    assert set(found.log_to(Logger())) == {"a/auc_pr", "b/auc_pr"}


def test_missing_values_are_left_out():
    with pytest.warns(vuskit.UndefinedMeasureWarning):
        found = vuskit.evaluate([0, 0], [1, 2], buffer=1, measures="auc_pr")
    assert found.log_to(Logger()) == {}


def test_collecting_metric():
    metric = SeriesMetric("vus_pr", buffer=2)
    metric.update(LABELS, SCORES)
    assert metric.log_to(Logger(), step=1) == {"vus_pr": metric.compute()}


def test_publication_table():
    from vuskit.report.publication import publication_table

    rows = [
        (f"s{k}", detector, 0.1 * k + shift)
        for k in range(3)
        for detector, shift in (("LOF", 0.2), ("PCA", 0.1))
    ]
    values = pd.DataFrame(rows, columns=["series", "detector", "value"])
    values = values.assign(dataset="ECG", measure="vus_pr")
    logged = publication_table(values).log_to(Logger())
    assert {"LOF/vus_pr", "PCA/vus_pr"} <= {name.replace("ECG/", "") for name in logged}
    assert all(map(math.isfinite, logged.values()))


def test_study_result():
    from vuskit.studies import get_study, run_study

    scenarios = get_study("scenarios")
    found = run_study(scenarios.create(measures=["vus_pr", "f_score"], buffer=20, n_points=800))
    logged = found.log_to(Logger())
    assert logged["scenarios/exact/vus_pr"] == 1
    assert all(name.startswith("scenarios/") for name in logged)


def test_targets_without_such_a_method(evaluation):
    with pytest.raises(
        InvalidInputError, match="must have a method log_metrics or log, got object"
    ):
        evaluation.log_to(object())
    client = SimpleNamespace(log_batch=print, log_metric=print)
    with pytest.raises(InvalidInputError, match="`run_id` must be the run of the MLflow client"):
        evaluation.log_to(client)


@pytest.mark.filterwarnings("ignore")
def test_mlflow(evaluation, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment("vuskit", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("vuskit")
    client = mlflow.MlflowClient()
    with mlflow.start_run() as run:
        evaluation.log_to(mlflow, step=2)  # the active run
        evaluation.log_to(run, prefix="run/")
        evaluation.log_to(client, run_id=run.info.run_id, prefix="client/")
    found = client.get_run(run.info.run_id).data
    for prefix in ("", "run/", "client/"):
        assert found.metrics[f"{prefix}vus_pr"] == pytest.approx(evaluation["vus_pr"])
        assert found.params[f"{prefix}buffer"] == "2"
    assert client.get_metric_history(run.info.run_id, "vus_pr")[0].step == 2


@pytest.mark.filterwarnings("ignore")
def test_wandb(evaluation, tmp_path):
    wandb = pytest.importorskip("wandb", reason="wandb is not installed")
    with wandb.init(mode="offline", dir=tmp_path, project="vuskit") as run:
        evaluation.log_to(run)
        assert run.summary["vus_pr"] == pytest.approx(evaluation["vus_pr"])
        assert run.config["buffer"] == 2

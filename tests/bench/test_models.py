"""Models of other libraries in a plan, by name."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.bench import Run, load_plan, run_plan

PLAN = """
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
difficulty = "easy"
[[detectors]]
name = "{name}"
{parameters}
[[evaluate]]
measures = ["auc_roc", "auc_pr"]
[executor]
workers = 1
"""


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("pyod:KNN", "n_neighbors = 3\nwindow = 40"),
        ("sklearn:IsolationForest", "n_estimators = 20\nwindow = 40"),
        ("aeon:KMeansAD", "n_clusters = 5\nwindow_size = 40"),
    ],
)
def test_a_model_runs_by_its_name(tmp_path, name, parameters):
    library = name.partition(":")[0]
    module = {"pyod": "pyod.models.knn", "sklearn": "sklearn.ensemble"}.get(
        library, "aeon.anomaly_detection"
    )
    pytest.importorskip(module, reason=f"{library} is not installed")
    plan = tmp_path / "bench.toml"
    plan.write_text(PLAN.format(name=name, parameters=parameters))
    run = Run(run_plan(load_plan(plan)).folder)
    values = run.values()
    assert len(values) == 2
    assert np.isfinite(values["value"]).all()
    assert values.set_index("measure")["value"]["auc_roc"] > 0.6

"""Libraries that need their own environment: aeon, Lightning and Spark (make test-integrations)."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import vuskit
from vuskit.metric import SeriesMetric

pytestmark = pytest.mark.integration


def spiked(n=300):
    values = np.random.default_rng(0).normal(size=n)
    labels = np.zeros(n, dtype=int)
    values[200:204], labels[200:204] = 9, 1
    return values, labels


def test_aeon_detector():
    from aeon.anomaly_detection.series.distance_based import KMeansAD

    from vuskit.detectors import AeonDetector

    values, _ = spiked()
    detector = AeonDetector(KMeansAD(n_clusters=3, window_size=8), seed=5)
    same = KMeansAD(n_clusters=3, window_size=8, random_state=5)
    np.testing.assert_allclose(detector.fit_score(values), same.fit_predict(values, axis=0))
    assert detector.estimator.random_state is None


def test_aeon_model_named_in_a_plan(tmp_path):
    from vuskit.bench import Run
    from vuskit.detectors import get_detector

    values, labels = spiked()
    (tmp_path / "data").mkdir()
    rows = [f"{value:.5f},{label}" for value, label in zip(values, labels, strict=True)]
    (tmp_path / "data" / "spikes.csv").write_text("\n".join(["value,label", *rows]))
    (tmp_path / "plan.toml").write_text(
        'executor = {workers = 1}\n[[series]]\nfolder = "data"\n'
        '[[detectors]]\nname = "aeon:KMeansAD"\nn_clusters = 3\nwindow_size = 20\n'
        '[[evaluate]]\nmeasures = ["auc_roc"]\n'
    )
    command = [sys.executable, "-m", "vuskit", "bench", "run", "plan.toml", "--plain"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=600)
    (folder,) = (path.parent for path in tmp_path.rglob("results.sqlite"))
    (found,) = Run(folder).results()["value"]
    detector = get_detector("aeon:KMeansAD", n_clusters=3, window_size=20, seed=0)
    assert found == vuskit.auc_roc(labels, detector.fit_score(values.round(5)))


def test_metric_in_lightning(tmp_path):
    import lightning
    import torch

    values, labels = spiked()

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.metric = SeriesMetric("vus_pr", buffer=5)

        def validation_step(self, batch, _):
            self.metric.update(batch[1], batch[0][:, 0])

        def on_validation_epoch_end(self):
            self.log("vus_pr", self.metric.compute())
            self.metric.reset()

    data = torch.utils.data.TensorDataset(
        torch.from_numpy(values).float()[:, None], torch.from_numpy(labels)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Lightning's advice about workers
        trainer = lightning.Trainer(
            logger=False,
            enable_progress_bar=False,
            enable_checkpointing=False,
            accelerator="cpu",
            default_root_dir=tmp_path,
        )
        loader = torch.utils.data.DataLoader(data, batch_size=32)
        (found,) = trainer.validate(Model(), loader, verbose=False)
    expected = vuskit.vus_pr(labels, values.astype(np.float32), buffer=5)
    assert found["vus_pr"] == pytest.approx(expected, abs=1e-6)


def test_spark_recipe(tmp_path):
    """The file of the page about fleets."""
    import pandas as pd

    page = (Path(__file__).parents[1] / "docs" / "fleets.md").read_text(encoding="utf-8")
    recipe = page.partition('```python title="fleet_spark.py"\n')[2].partition("```")[0]
    parts = []
    for name in ("a", "b", "c"):
        values, labels = spiked()
        random = np.random.default_rng(ord(name)).random(values.size)
        columns = {"time": np.arange(values.size), "label": labels, "forest": random}
        parts.append(pd.DataFrame({"site": "x", "machine": name, **columns}))
    rows = pd.concat(parts, ignore_index=True)
    rows.to_parquet(tmp_path / "points.parquet")
    workers = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-c", recipe]
    subprocess.run(command, cwd=tmp_path, env=workers, check=True, timeout=600)
    found = pd.read_parquet(tmp_path / "values.parquet")
    found = found.sort_values(["dataset", "series"], kind="stable", ignore_index=True)
    wanted = vuskit.evaluate_frame(
        rows, by="machine", dataset="site", order="time", scores="forest", buffer=10
    )
    assert found["value"].tolist() == wanted["value"].tolist()
    assert found["measure"].tolist() == wanted["measure"].tolist()
    assert set(found["status"]) == {"OK"}

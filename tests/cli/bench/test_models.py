"""Models of other libraries, named in a plan."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

MODELS = """
from pyod.models.knn import KNN
from pyod.models.hbos import HBOS
from sklearn.ensemble import IsolationForest

def make_knn(n_neighbors=3):
    return KNN(n_neighbors=n_neighbors)

def make_forest(seed=0, n_estimators=5):
    return IsolationForest(n_estimators=n_estimators, random_state=seed)

def make_number():
    return 5

HISTOGRAM = HBOS(n_bins=7)

class Distance:
    # Higher is more anomalous, but nothing says so.

    def fit(self, rows):
        self.mean = rows.mean(axis=0)

    def decision_function(self, rows):
        return ((rows - self.mean) ** 2).sum(axis=1)
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "PYTHONPATH", str(tmp_path))
    (tmp_path / "my_models.py").write_text(MODELS)
    wide = tmp_path / "data" / "wide"
    wide.mkdir(parents=True)
    values = np.random.default_rng(3).normal(size=(300, 2))
    values[100:110] += 6
    rows = [f"{a:.5f},{b:.5f},{int(100 <= i < 110)}" for i, (a, b) in enumerate(values.tolist())]
    (wide / "pair.csv").write_text("\n".join(["a,b,label", *rows]))

    def write(*detectors, seeds="[0]"):
        entries = "\n".join(f"[[detectors]]\n{one}" for one in detectors)
        path = tmp_path / "plan.toml"
        path.write_text(
            f'seeds = {seeds}\nexecutor = {{workers = 1}}\n[[series]]\nfolder = "data"\n'
            f'{entries}\n[[evaluate]]\nmeasures = ["auc_roc", "vus_pr"]\n'
        )
        return path

    return write


def test_models_by_name_run_and_resume(command, plan):
    pytest.importorskip("pyod", reason="PyOD is not installed")
    path = plan(
        'name = "pyod:KNN"\nn_neighbors = 3\nwindow = 20',
        'name = "pyod:IForest"\nn_estimators = 5\nwindow = 20',
        'name = "sklearn:IsolationForest"\nn_estimators = 5\nwindow = 20',
        'name = "norma"\nwindow = 20',
        seeds="[0, 1]",
    )
    planned = command("bench", "plan", path)
    assert planned.code == 0, planned.err
    assert "  NormA; skipped: 1 series (several channels)\n" in planned.out
    assert "  KNN, once\n" in planned.out
    assert "  IForest\n" in planned.out
    ran = command("bench", "run", path, "--plain")
    assert ran.code == 0, ran.err
    table = json.loads(command("bench", "export", path, "--json").out)
    found = {(row["series"], row["detector"]): row for row in table}
    assert {row["status"] for (_, name), row in found.items() if name != "NormA"} == {"OK"}
    assert found["pair", "NormA"]["status"] == "SKIPPED"
    good = [
        row["value"]
        for row in table
        if row["series"] == "pair" and row["measure"] == "auc_roc" and row["value"] is not None
    ]
    assert len(good) == 5
    assert min(good) > 0.9  # all agree on which scores mean anomalous
    assert "nothing left to run" in command("bench", "run", path, "--plain").out


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            'name = "pyod:KNN"\nneighbors = 3',
            "`detectors[0]`: pyod:KNN has no parameter 'neighbors'; did you mean 'n_neighbors'?",
        ),
        (
            'name = "sklearn:IsolationForest"\nbogus_thing = 3',
            "sklearn:IsolationForest has no parameter 'bogus_thing'; choose from bootstrap, ",
        ),
        (
            'name = "sklearn:IsolationForest"\nn_estimators = "many"',
            "`detectors[0]`: sklearn:IsolationForest does not accept its parameters: ",
        ),
        (
            'name = "pyod:KNNN"',
            "`name` must be a class of pyod, got 'pyod:KNNN'; did you mean 'KNN'?",
        ),
        (
            'name = "my_models:Distance"',
            "got <class 'my_models.Distance'>; otherwise set adapter",
        ),
        (
            'name = "my_models:make_number"',
            "`my_models:make_number` must return a detector or a model with `fit`, got 5",
        ),
        ('name = "my_models:make_knn"\nbogus_thing = 1', "make_knn has no parameter 'bogus_thing'"),
    ],
)
def test_plan_reports_models_that_cannot_be_made(command, plan, entry, message):
    pytest.importorskip("pyod", reason="PyOD is not installed")
    found = command("bench", "plan", plan(entry))
    assert found.code == 2
    assert message in " ".join(found.err.split())


def test_a_missing_library_is_reported_with_its_install_command(command, plan, monkeypatch):
    monkeypatch.setattr("vuskit.detectors.adapters.is_installed", lambda name: name != "aeon")
    found = command("bench", "plan", plan('name = "aeon:KMeansAD"'))
    assert found.code == 2
    text = " ".join(found.err.split())
    assert (
        "`detectors[0]`: aeon:KMeansAD needs aeon, which is not installed: pip install aeon" in text
    )

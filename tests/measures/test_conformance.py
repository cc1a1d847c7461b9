"""Values published or computed by others: the reference cases, the tables, the peers."""

from __future__ import annotations

import csv
import functools
import gzip
import inspect
import json
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import vuskit

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "peers.json").read_text(encoding="utf-8")
)
VOLUMES = ("vus_roc", "vus_pr")


def value(name, *data, **options):
    """A measure by its name, with the warning about coarse grids off: others have used them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        return getattr(vuskit, name)(*data, **options)


# --- reference cases -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cases(test_data):
    path = test_data / "conformance" / "vus_cases.json"
    return json.loads(path.read_text(encoding="utf-8"))["cases"]


# The key of a case's values, and the options that compute them.
VARIANTS = {
    "journal": lambda case: {"definition": "journal", "thresholds": case["thresholds"]},
    "journal_all_thresholds": lambda case: {"definition": "journal", "thresholds": None},
    "pvldb2022": lambda case: {"definition": "pvldb2022", "thresholds": case["thresholds"]},
    "timeeval": lambda case: {"definition": "timeeval", "thresholds": case["thresholds"]},
}
ABOUT_THE_CASE = {"name", "y_true", "y_score", "max_buffer", "thresholds"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_reference_volumes(cases, variant):
    checked = 0
    for case in cases:
        for name, expected in case.get(variant, {}).items():
            options = VARIANTS[variant](case)
            found = value(
                name, case["y_true"], case["y_score"], max_buffer=case["max_buffer"], **options
            )
            assert found == pytest.approx(expected, abs=1e-12), (case["name"], name)
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("name", ["auc_roc", "auc_pr"])
def test_reference_areas(cases, name):
    for case in cases:
        found = value(name, case["y_true"], case["y_score"])
        assert found == pytest.approx(case[name], abs=1e-12), case["name"]


def test_no_reference_value_is_left_out(cases):
    keys = set().union(*cases) - ABOUT_THE_CASE
    assert keys == {*VARIANTS, "auc_roc", "auc_pr"}
    assert {name for case in cases for variant in VARIANTS for name in case.get(variant, {})} == {
        *VOLUMES
    }


@pytest.mark.parametrize("name", VOLUMES)
@pytest.mark.parametrize("algorithm", ["naive", "opt", "opt_mem"])
def test_reference_volumes_by_the_papers_algorithms(cases, name, algorithm):
    for case in cases[::4]:
        found = value(
            name,
            case["y_true"],
            case["y_score"],
            max_buffer=case["max_buffer"],
            thresholds=case["thresholds"],
            algorithm=algorithm,
        )
        assert found == pytest.approx(case["journal"][name], abs=1e-12), case["name"]


# --- published tables ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(test_data):
    """Rows of the published table by file of scores."""
    path = test_data / "data" / "published" / "values_for_these_scores.csv"
    rows = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            rows[row["score_file"]].append(row)
    return rows


@functools.cache
def read_columns(path):
    """Columns of a file of saved scores, by their names."""
    with gzip.open(path, "rt", encoding="utf-8") as text:
        names = text.readline().strip().split(",")
        return dict(zip(names, np.loadtxt(text, delimiter=",").T, strict=True))


def scored_rows(published, test_data):
    for file, rows in published.items():
        columns = read_columns(test_data / "data" / file)
        for row in rows:
            labels, score = columns["label"], columns[row["detector"]]
            assert labels.size == int(row["points"])
            yield row, labels, score


def test_published_areas(published, test_data):
    """Two columns of the TSB-UAD tables, printed with nine digits."""
    checked = 0
    for row, labels, score in scored_rows(published, test_data):
        found = (
            vuskit.auc_roc(labels, score),
            vuskit.auc_pr(labels, score, interpolation="trapezoid"),
        )
        expected = float(row["TSBUAD_AUC_ROC"]), float(row["TSBUAD_AUC_PR"])
        assert found == pytest.approx(expected, abs=1e-6), (row["series"], row["detector"])
        checked += 1
    assert checked == sum(map(len, published.values())) > 700


def test_published_volumes(published, test_data):
    """The MSAD table: VUS-PR as of the first paper, buffers up to 10, 250 thresholds."""
    options = {"max_buffer": 10, "definition": "pvldb2022", "thresholds": 250}
    checked = 0
    for row, labels, score in scored_rows(published, test_data):
        if not row["MSAD_VUS_PR_window10"]:
            continue
        found = value("vus_pr", labels, score, **options)
        expected = float(row["MSAD_VUS_PR_window10"])
        assert found == pytest.approx(expected, abs=1e-9), (row["series"], row["detector"])
        checked += 1
    assert checked > 200


# --- values of other packages --------------------------------------------------------------------


def answer(case, call):
    options = dict(call["options"])
    if call["measure"] == "curve":
        buffer = options.pop("buffer")
        # Rows of a surface are the buffers 0, step, 2 * step, ...: the last is the one asked for.
        surface = value(
            "surface",
            case["y_true"],
            case["y_score"],
            buffer=buffer,
            step=max(buffer, 1),
            **options,
        )
        return [*surface.fpr[-1], *surface.tpr[-1], *surface.precision[-1]]
    if "y_pred" in inspect.signature(getattr(vuskit, call["measure"])).parameters:
        if call["measure"] == "range_f_score" and "bias" in options:
            bias = options.pop("bias")
            options |= {"precision_bias": bias, "recall_bias": bias}
        return value(call["measure"], case["y_true"], y_pred=case["y_pred"], **options)
    return value(call["measure"], case["y_true"], case["y_score"], **options)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_equals_other_packages(case):
    for call in case["calls"]:
        expected = call["value"]
        if isinstance(expected, dict):
            expected = [*expected["fpr"], *expected["tpr"], *expected["precision"]]
        assert answer(case, call) == pytest.approx(expected, abs=1e-9), call

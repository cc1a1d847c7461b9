"""Results that were saved before all studies had one saved form."""

from __future__ import annotations

from pathlib import Path

import pytest

from vuskit.errors import InvalidInputError
from vuskit.studies import load_study_result, load_study_results

GOLDEN = Path(__file__).parents[1] / "golden" / "studies_schema_1"


@pytest.fixture(scope="module")
def results():
    return {result.kind: result for result in load_study_results(GOLDEN)}


def test_numbers_are_those_of_the_version_that_saved_them(results):
    lag = results["robustness"].averages()["lag"].to_dict()
    assert lag == pytest.approx({"auc_pr": 0.04243047836916741, "vus_pr": 0.027962660601113604})
    z = results["separability"].averages()["median"].to_dict()
    assert z == pytest.approx({"auc_pr": 42.21861362746746, "vus_pr": 46.94529622026123})
    assert results["consistency"].averages()["entropy"].to_dict() == {"auc_pr": 0, "vus_pr": 0}
    assert results["scenarios"].sweep.sum() == pytest.approx(11.9057432457892)
    assert list(results["summary"].ranks.columns)[-1] == "mean"


def test_settings_and_options_come_back(results):
    robust = results["robustness"].study
    assert (robust.count, robust.min_values, robust.settings.thresholds) == (3, 2, 50)
    assert results["separability"].study.min_gap == 0.01
    assert results["consistency"].study.ties == "min"
    assert (results["scenarios"].buffer, results["scenarios"].length) == (20, 10)


def test_they_are_saved_in_the_current_schema(results, tmp_path):
    for result in results.values():
        again = load_study_result(result.save(tmp_path))
        for name, table in result.tables().items():
            assert again.tables()[name].equals(table), (result.kind, name)


def test_damage_is_noticed(tmp_path):
    data = (GOLDEN / "robustness_result.npz").read_bytes()
    path = tmp_path / "robustness_result.npz"
    path.write_bytes(data[:-200])
    with pytest.raises(InvalidInputError, match="must be a saved result of a study"):
        load_study_result(path)

"""The choice of examples: the paper's where they are, else what the values say."""

from __future__ import annotations

import pytest
from paper import made_results as made

from vuskit.errors import InvalidInputError
from vuskit.paper.examples import Choice, Examples, find_detector
from vuskit.paper.exhibits import NotPossibleError


def examples(values, **choice):
    return Examples(made.consistency(values).to_frame(), Choice(**choice))


def row(point, buffered):
    return {"auc_pr": point, "range_auc_pr": buffered}


VALUES = {
    ("ECG", "quiet"): {"IForest": row(0.8, 0.9), "LOF": row(0.5, 0.6)},
    ("ECG", "torn"): {"IForest": row(0.2, 0.9), "LOF": row(0.7, 0.4)},
    ("KPI", "mild"): {"IForest": row(0.5, 0.6), "LOF": row(0.55, 0.5)},
}


def test_the_clearest_disagreement_comes_first():
    found = examples(VALUES).compared
    assert [one.series for one in found] == ["ECG/torn", "KPI/mild"]
    assert found[0].detectors == ("IForest", "LOF")


def test_without_disagreement_the_two_best():
    only = {("ECG", "quiet"): VALUES["ECG", "quiet"]}
    (found,) = examples(only).compared
    assert found.detectors == ("IForest", "LOF")
    assert "the two best detectors" in found.reason


def test_the_examples_of_the_paper_are_preferred():
    values = {**VALUES, ("ECG", "MBA_ECG805_data.out"): {"ae": row(0.5, 0.5), "OCSVM": {}}}
    first, second = examples(values).compared
    assert first.series == "ECG/MBA_ECG805_data.out"
    assert first.detectors == ("ae", "OCSVM")
    assert second.series == "ECG/torn"


def test_chosen_series_and_pairs():
    found = examples(VALUES, series=("quiet", "KPI/*"), pairs=(("lof", "iforest"),)).compared
    assert [one.series for one in found] == ["ECG/quiet", "KPI/mild"]
    assert {one.detectors for one in found} == {("LOF", "IForest")}


def test_endings_may_be_left_out():
    values = {("ECG", "MBA_ECG805_data.out"): {"A": row(0.1, 0.2), "B": row(0.3, 0.1)}}
    found = examples(values, series=("ECG/MBA_ECG805_data",)).compared
    assert found[0].series == "ECG/MBA_ECG805_data.out"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"series": ("toorn",)}, "`example` must name one of the 3 series.*did you mean"),
        ({"series": ("torn",), "pairs": (("LOF", "AE"),)}, "`pairs` must name detectors"),
        ({"datasets": ("EKG",)}, "`datasets` must name data sets.*did you mean 'ECG'"),
    ],
)
def test_unknown_names(choice, message):
    found = examples(VALUES, **choice)
    with pytest.raises(InvalidInputError, match=message):
        _ = found.datasets(2) if "datasets" in choice else found.compared


def test_one_detector_is_not_enough():
    with pytest.raises(NotPossibleError, match="two detectors"):
        _ = examples({("ECG", "a"): {"LOF": row(0.1, 0.1)}}).compared


def test_single_prefers_the_isolation_forest():
    assert examples(VALUES).single == ("ECG/torn", "IForest")


def test_data_sets():
    values = {(name, f"s{place}"): VALUES["ECG", "torn"]
              for name, count in (("KPI", 5), ("yahoo", 3), ("Tiny", 1)) for place in range(count)
              }  # fmt: skip
    found = examples(values)
    assert found.datasets(3) == ["yahoo", "KPI"]
    assert found.ranked_dataset() == "KPI"
    assert examples(values, datasets=("tiny",)).ranked_dataset() == "Tiny"
    with pytest.raises(NotPossibleError, match="no data set has 3 series"):
        examples(VALUES).ranked_dataset()


def test_names_of_detectors_in_any_spelling():
    assert find_detector("LSTM-AD", ["lstm_ad", "AE"]) == "lstm_ad"
    assert find_detector("PCA", ["AE"]) is None

"""Tables of results: direction and title that they bring along, means over data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vuskit.errors import InvalidInputError
from vuskit.statistics.results import Results, read_results

# B lacks the second series of the first data set, on which A is bad; C ran with two seeds on one.
ROWS = [
    ("one", "a", "A", 0, 0.9), ("one", "b", "A", 0, 0.1), ("two", "c", "A", 0, 0.5),
    ("one", "a", "B", 0, 0.8), ("two", "c", "B", 0, 0.6), ("three", "d", "B", 0, 0.2),
    ("one", "a", "C", 0, 0.3), ("one", "a", "C", 1, 0.5), ("one", "b", "C", 0, 0.8),
    ("two", "c", "C", 0, 0.7), ("three", "d", "C", 0, 0.4), ("three", "d", "A", 0, 0.3),
]  # fmt: skip


@pytest.fixture
def long():
    table = pd.DataFrame(ROWS, columns=["dataset", "series", "detector", "seed", "value"])
    return table.assign(measure="delay", measure_title="Delay", higher_is_better=False)


def by_dataset(results, missing):
    return results.select("delay", by="dataset", missing=missing).table


def test_means_of_data_sets_are_over_the_same_series_for_every_detector(long):
    found = by_dataset(Results(long), "drop").sort_index()
    assert found.index.to_list() == ["one", "three", "two"]
    np.testing.assert_allclose(found["A"], [0.9, 0.3, 0.5])  # not the mean with series b
    np.testing.assert_allclose(found["B"], [0.8, 0.2, 0.6])
    np.testing.assert_allclose(found["C"], [0.4, 0.4, 0.7])  # seeds of a series count as one


def test_a_missing_series_is_refused_or_left_out_of_means(long):
    with pytest.raises(InvalidInputError, match="missing"):
        by_dataset(Results(long), "raise")
    found = by_dataset(Results(long), "worst").sort_index()
    np.testing.assert_allclose(found["A"], [0.9, 0.3, 0.5])
    np.testing.assert_allclose(found["B"], [0.8, 0.2, 0.6])
    np.testing.assert_allclose(found["C"], [0.4, 0.4, 0.7])


def test_a_wide_table_gives_the_same_means(long, tmp_path):
    means = long.groupby(["dataset", "series", "detector"])["value"].mean()
    means.unstack("detector").to_csv(tmp_path / "wide.csv")
    wide = read_results(tmp_path / "wide.csv").of_measure("delay")
    expected = by_dataset(Results(long), "drop").sort_index()
    found = by_dataset(wide, "drop").sort_index()
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy())


def test_an_exported_table_knows_titles_and_directions(long, tmp_path):
    path = tmp_path / "values.csv"
    long.to_csv(path, index=False)
    found = read_results(path).measure("delay")
    assert (found.title, found.higher_is_better) == ("Delay", False)
    found = read_results(path).measure("vus_pr")
    assert (found.title, found.higher_is_better) == ("VUS-PR", True)
    assert Results(long.drop(columns="measure_title")).measure("delay").title == "delay"


@pytest.mark.parametrize("header", ["series,detector,value", "name,detector,value"])
def test_a_table_whose_only_measure_is_called_value(header, tmp_path):
    path = tmp_path / "values.csv"
    path.write_text(f"{header}\na,A,.1\na,B,.2\nb,A,.3\nb,B,.4\n")
    results = read_results(path)
    assert results.chosen_measure() == ("value", "")
    assert results.select("value").table.to_dict("list") == {"A": [0.1, 0.3], "B": [0.2, 0.4]}

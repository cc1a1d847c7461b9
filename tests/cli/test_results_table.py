"""Tables of results: direction and title that they bring along, means over data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vuskit.cli._results_table import Results, read_results, selected
from vuskit.errors import InvalidInputError

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


def by_dataset(frame, missing):
    return selected(
        frame,
        measure="delay",
        detectors=(),
        excluded=(),
        settings=None,
        by="dataset",
        missing=missing,
    ).table


def test_means_of_data_sets_are_over_the_same_series_for_every_detector(long):
    found = by_dataset(long, "drop").sort_index()
    assert found.index.to_list() == ["one", "three", "two"]
    np.testing.assert_allclose(found["A"], [0.9, 0.3, 0.5])  # not the mean with series b
    np.testing.assert_allclose(found["B"], [0.8, 0.2, 0.6])
    np.testing.assert_allclose(found["C"], [0.4, 0.4, 0.7])  # seeds of a series count as one


def test_a_missing_series_is_refused_or_left_out_of_means(long):
    with pytest.raises(InvalidInputError, match="missing"):
        by_dataset(long, "raise")
    found = by_dataset(long, "worst").sort_index()
    np.testing.assert_allclose(found["A"], [0.9, 0.3, 0.5])
    np.testing.assert_allclose(found["B"], [0.8, 0.2, 0.6])
    np.testing.assert_allclose(found["C"], [0.4, 0.4, 0.7])


def test_a_wide_table_gives_the_same_means(long):
    means = long.groupby(["dataset", "series", "detector"])["value"].mean()
    wide = means.unstack("detector").reset_index()
    expected = by_dataset(long, "drop").sort_index()
    found = by_dataset(wide, "drop").sort_index()
    np.testing.assert_allclose(found.to_numpy(), expected.to_numpy())


def test_an_exported_table_knows_titles_and_directions(long, tmp_path, command):
    path = tmp_path / "values.csv"
    long.to_csv(path, index=False)
    found = read_results(path)
    assert (found.title("delay"), found.direction("delay")) == ("Delay", False)
    assert (found.title("vus_pr"), found.direction("vus_pr")) == ("vus_pr", None)
    assert Results(found.frame.drop(columns="higher_is_better")).direction("delay") is None
    told = command("compare", str(path))
    assert "by Delay (lower is better)" in told.out
    assert "rows: data sets" not in told.err
    told = command("compare", str(path), "--unit", "dataset")
    assert "rows: data sets, each the mean of its series" in told.err
    assert "by Delay (lower is better)" in told.out

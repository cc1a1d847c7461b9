"""The table of data sets."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from vuskit.datasets import Series, describe, read_series

MADE = [
    Series("a", "B_x", [1, 9, 8, 1], [0, 1, 1, 0]),
    Series("b", "B_x", [1.0] * 10, [1, 0, 1] + [0] * 7),
    Series("c", "A", [1, 2], [0, 0]),
]


def test_means_over_series():
    first, second = describe(MADE).rows
    assert (first.dataset, first.n_series, first.density) == ("A", 1, 0)
    assert (second.dataset, second.n_series) == ("B_x", 2)
    assert (second.mean_length, second.mean_anomalies, second.mean_anomalous_points) == (7, 1.5, 2)
    assert second.density == pytest.approx((0.5 + 0.2) / 2)  # not 4 of 14 points


def test_forms():
    table = describe(MADE)
    assert table.to_text().splitlines()[2].split() == ["B_x", "2", "7", "1.5", "2.0", "35.00"]
    assert r"B\_x & 2 & 7 & 1.5 & 2.0 & 35.00 \\" in table.to_latex()
    assert "| A | 1 | 2 | 0.0 | 0.0 | 0.00 |" in table.to_markdown()
    assert table.to_html().startswith("<table>")
    frame = pytest.importorskip("pandas") and table.to_frame()
    assert list(frame["dataset"]) == ["A", "B_x"]
    assert frame.loc[1, "density"] == table.rows[1].density


def test_progress_and_failures(tmp_path):
    (tmp_path / "a.out").write_text("1,0\n2,1\n")
    (tmp_path / "b.out").write_text("1,maybe\n")
    collection = read_series(tmp_path)
    seen = []
    table = describe(collection, progress=lambda done, total: seen.append((done, total)))
    assert [row.n_series for row in table.rows] == [1]
    assert seen == [(1, 2)]
    assert [path.name for path in collection.failures] == ["b.out"]


def test_real_series_agree_with_their_list():
    place = os.environ.get("VUSKIT_TEST_DATA")
    if place is None:
        pytest.skip("VUSKIT_TEST_DATA names no folder")
    folder = Path(place) / "data" / "series"
    with (folder / "MANIFEST.csv").open(newline="") as stream:
        listed = [row for row in csv.DictReader(stream) if row["dataset"] in ("NAB", "Occupancy")]
    for dataset in ("NAB", "Occupancy"):
        (row,) = describe(read_series(folder / dataset)).rows
        own = [one for one in listed if one["dataset"] == dataset]

        def mean(column, own=own):
            return sum(float(one[column]) for one in own) / len(own)

        assert row.n_series == len(own)
        assert row.mean_length == pytest.approx(mean("n"))
        assert row.mean_anomalies == pytest.approx(mean("anomalies"))
        assert row.mean_anomalous_points == pytest.approx(mean("abnormal_points"))
        assert row.density == pytest.approx(mean("density"), abs=1e-6)

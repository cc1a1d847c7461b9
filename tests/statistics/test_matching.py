"""``vuskit compare`` of several tables: matching series, names of detectors, settings."""

from __future__ import annotations

import pandas as pd
import pytest

from vuskit.errors import InvalidInputError
from vuskit.statistics.matching import read_sources, series_key

SETTINGS = "buffer=10, thresholds=all, definition=journal"


@pytest.fixture
def ours(tmp_path):
    """A long table of five series of two data sets."""
    rows = [
        (dataset, name, detector, "vus_pr", 0.1 * place + shift, SETTINGS)
        for place, (dataset, name) in enumerate(
            [("ECG", "a.out"), ("ECG", "b.out"), ("IOPS", "a.out"), ("IOPS", "c"), ("IOPS", "d")]
        )
        for detector, shift in (("LOF", 0.3), ("PCA", 0.2))
    ]
    columns = ["dataset", "series", "detector", "measure", "value", "settings"]
    path = tmp_path / "ours.csv"
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


@pytest.fixture
def published(tmp_path):
    """A wide table of four series, with other endings and facts about series."""
    path = tmp_path / "published.csv"
    path.write_text(
        "dataset,filename,data_len,LOF,CNN\n"
        "ECG,a.out.csv.gz,500,.31,.5\nECG,b,500,.41,.6\nIOPS,a.csv,900,.51,.7\nIOPS,x,900,.1,.2\n"
    )
    return path


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (("ECG", "a.out"), ("ecg", "a.csv.gz")),
        (("ECG", "a"), ("", "ECG/a.out")),
        (("ECG", "ECG/a"), ("ECG", "a")),
        (("Daphnet", "S03.test.csv@8.out"), ("Daphnet", "S03.test.csv@8.out.csv.gz")),
    ],
)
def test_names_of_the_same_series(left, right):
    assert series_key(*left) == series_key(*right)


def test_a_long_and_a_published_table(ours, published):
    results, notes = read_sources([ours, published])
    table = results.frame.pivot(index=["dataset", "series"], columns="detector", values="value")
    assert list(table) == ["CNN", "LOF (ours)", "LOF (published)", "PCA"]
    assert list(table.index) == [("ECG", "a.out"), ("ECG", "b.out"), ("IOPS", "a.out")]
    assert table["LOF (published)"].tolist() == [0.31, 0.41, 0.51]
    text = "\n".join(notes)
    assert "published: values are taken as vus_pr, as no measure is named" in text
    assert "3 series in all tables; ours 5, published 4" in text
    assert "from ours: 'IOPS/c', 'IOPS/d'" in text
    assert "from published: 'IOPS/x'" in text
    assert "published: not stated" in text


def test_order_of_the_tables_changes_names_only(ours, published):
    one = read_sources([ours, published])[0].frame
    two = read_sources([published, ours])[0].frame
    assert sorted(one["value"]) == sorted(two["value"])
    assert set(one["detector"]) == set(two["detector"])


def test_a_table_without_data_sets_matches_unique_names(ours, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("series,CNN\nb,.4\nc.out,.5\nd,.6\na,.7\n")  # there are two series "a"
    results, notes = read_sources([ours, path])
    assert sorted(set(results.frame["series"])) == ["b.out", "c", "d"]
    assert set(results.frame["dataset"]) == {"ECG", "IOPS"}
    assert "3 series in all tables" in notes[1]


def test_measures_are_matched_whatever_their_spelling(ours, tmp_path):
    path = tmp_path / "spelled.csv"
    path.write_text("dataset,series,detector,VUS-PR\nECG,a,CNN,.4\nECG,b,CNN,.5\nIOPS,c,CNN,.1\n")
    results, _ = read_sources([ours, path])
    assert set(results.frame["measure"]) == {"vus_pr"}
    assert results.measure("vus_pr").title == "VUS-PR"


def test_different_settings_are_shown(ours, tmp_path):
    table = pd.read_csv(ours)
    other = tmp_path / "other.csv"
    table.assign(settings="buffer=20").to_csv(other, index=False)
    results, notes = read_sources([ours, other])
    text = "\n".join(notes)
    assert "warning: the tables have different settings" in text
    assert f"ours: {SETTINGS}" in text
    assert "other: buffer=20" in text
    assert "settings" not in results.frame
    assert f"settings: {SETTINGS}" in read_sources([ours, _copy(ours, "again.csv")])[1]


def _copy(path, name):
    target = path.with_name(name)
    target.write_text(path.read_text())
    return target


def test_several_settings_in_one_table_need_a_choice(ours, published):
    table = pd.read_csv(ours)
    pd.concat([table, table.assign(settings="buffer=20")]).to_csv(ours, index=False)
    with pytest.raises(InvalidInputError, match="`--settings` must be one of"):
        read_sources([ours, published])
    results, _ = read_sources([ours, published], settings="buffer=20")
    assert len(results.frame) == 12


def test_tables_that_cannot_be_compared(ours, tmp_path):
    (tmp_path / "rows.csv").write_text("A,B\n.1,.2\n.3,.4\n")
    with pytest.raises(InvalidInputError, match="must have a column 'series'"):
        read_sources([ours, tmp_path / "rows.csv"])
    (tmp_path / "apart.csv").write_text("series,A\nx,.1\ny,.2\n")
    with pytest.raises(InvalidInputError, match="must have series in common, got none; ours has 5"):
        read_sources([ours, tmp_path / "apart.csv"])
    with pytest.raises(InvalidInputError, match="must be different tables"):
        read_sources([ours, ours])


def test_names_that_differ_in_case_stay_apart(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("series,A\nx,.1\nX,.9\ny,.5\n")
    two.write_text("series,B\nX,.8\nx,.2\nY,.6\n")
    frame = read_sources([one, two])[0].frame
    table = frame.pivot(index="series", columns="detector", values="value")
    assert table.loc["x"].tolist() == [0.1, 0.2]
    assert table.loc["X"].tolist() == [0.9, 0.8]
    assert table.loc["y"].tolist() == [0.5, 0.6]


@pytest.mark.parametrize(
    ("first", "second"), [("x,.1\nX,.9", "X.csv,.8"), ("X.csv,.8", "x,.1\nX,.9")]
)
def test_names_that_match_several_series_are_refused(first, second, tmp_path):
    (tmp_path / "one.csv").write_text(f"series,A\n{first}\n")
    (tmp_path / "two.csv").write_text(f"series,B\n{second}\n")
    with pytest.raises(InvalidInputError, match="must name each series alike"):
        read_sources([tmp_path / "one.csv", tmp_path / "two.csv"])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("series,A,B\nx,.1,.2\nx,.3,.2\ny,.2,.4\n", "series x"),
        ("series,detector,vus_pr\nx,A,.1\nx,B,.2\nx,A,.3\ny,A,.2\n", "series x, detector A"),
    ],
)
def test_repeated_series_are_refused(text, named, tmp_path):
    (tmp_path / "one.csv").write_text(text)
    (tmp_path / "two.csv").write_text("series,C\nx,.5\ny,.6\n")
    for tables in (["one.csv"], ["one.csv", "two.csv"]):
        with pytest.raises(InvalidInputError, match=f"got 2 with {named}; drop repeated rows"):
            read_sources([tmp_path / name for name in tables])


def test_seeds_are_no_repetitions(tmp_path):
    rows = [f"{s},{d},{k},{v}" for s, v in (("x", 0.1), ("y", 0.3)) for d in "AB" for k in (1, 2)]
    (tmp_path / "one.csv").write_text("\n".join(["series,detector,seed,vus_pr", *rows]))
    (results, _) = read_sources([tmp_path / "one.csv"])
    assert results.select("vus_pr").table["A"].tolist() == [0.1, 0.3]

"""Series files as spreadsheets, loggers and other countries write them."""

from __future__ import annotations

import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from vuskit.datasets import read_scores, read_series
from vuskit.datasets.readers.registry import recognize
from vuskit.datasets.tables import Dialect, column_names, open_table, sniff_start
from vuskit.errors import InvalidInputError

VALUES = [0.5, -1.25, 3e-3, 12.0, 7.75]
LABELS = [0, 0, 1, 1, 0]
BLOCK = 1 << 20  # bytes that the parser takes at once


def text_of(*, separator=",", decimal=".", header=("value", "label"), end="\n"):
    """The five rows in some form of writing."""
    rows = [
        separator.join((repr(value).replace(".", decimal), str(label)))
        for value, label in zip(VALUES, LABELS, strict=True)
    ]
    return end.join([*([separator.join(header)] if header else []), *rows, ""])


def save(path, text, encoding="utf-8"):
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


FORMS = {
    "semicolons and decimal commas": ({"separator": ";", "decimal": ","}, "utf-8"),
    "semicolons": ({"separator": ";"}, "utf-8"),
    "tabs": ({"separator": "\t"}, "utf-8"),
    "tabs and decimal commas": ({"separator": "\t", "decimal": ","}, "utf-8"),
    "bars": ({"separator": "|"}, "utf-8"),
    "spaces": ({"separator": " "}, "utf-8"),
    "comma and space": ({"separator": ", "}, "utf-8"),
    "mark of byte order": ({}, "utf-8-sig"),
    "Windows line ends": ({"end": "\r\n"}, "utf-8"),
    "UTF-16": ({}, "utf-16"),
    "UTF-16, the way of a German Excel": (
        {"separator": "\t", "decimal": ",", "end": "\r\n"},
        "utf-16",
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.out", "a.out.gz"])
def test_every_form_gives_the_same_series(form, name, tmp_path):
    writing, encoding = FORMS[form]
    is_headed = ".csv" in name
    text = text_of(**writing, header=("value", "label") if is_headed else ())
    path = save(tmp_path / name, text, encoding)
    assert recognize(path).name == ("table" if is_headed else "tsb_uad")
    series = read_series(path)
    assert series.values.tolist() == VALUES
    assert series.labels.astype(int).tolist() == LABELS
    assert series.channels == ("value",)


def test_letters_of_windows_in_the_header(tmp_path):
    path = save(tmp_path / "a.csv", text_of(header=("Größe", "label")), "cp1252")
    assert read_series(path).channels == ("Größe",)


def test_formats_with_a_header_are_recognized_with_semicolons(tmp_path):
    scores = "value;label;LOF\n0,5;0;1,5\n1,5;1;2,5\n"
    scored = read_scores(save(tmp_path / "a.csv", scores))
    assert scored.scores["LOF"].tolist() == [1.5, 2.5]
    timed = save(tmp_path / "b.csv", "timestamp;v;is_anomaly\n0;0,5;0\n1;1,5;1\n")
    assert recognize(timed).name == "timeeval"
    name = "001_NAB_id_1_Facility_tr_1_1st_1.csv"
    published = save(tmp_path / name, "Data;Label\n0,5;0\n1,5;1\n")
    assert recognize(published).name == "tsb_ad"


def many(first, last, *, header="", n_bytes=2 * BLOCK):
    """A file whose last row is of another kind than all before it."""
    return header + first * (n_bytes // len(first)) + last


@pytest.mark.parametrize(("name", "header"), [("a.csv", "value,label\n"), ("a.out", "")])
@pytest.mark.parametrize(
    ("first", "last", "value", "label"),
    [
        ("1,0\n", "0.1,1\n", 0.1, True),
        ("1,0\n", "100000000000000000000000000,1\n", 1e26, True),
        (",0\n", "0.1,1\n", 0.1, True),  # nothing but gaps before
        ("1.5,0\n", ",1\n", np.nan, True),
        ("1,0\n", "2,True\n", 2.0, True),
        ("1,False\n", "2,1\n", 2.0, True),
        ("1,0\n", "2,1.0\n", 2.0, True),
    ],
)
def test_last_cell_is_of_another_kind(name, header, first, last, value, label, tmp_path):
    series = read_series(save(tmp_path / name, many(first, last, header=header)))
    assert np.array_equal(series.values[-1], value, equal_nan=True)
    assert series.labels[-1] == label
    assert series.labels.sum() == 1
    assert series.n_points == 2 * BLOCK // len(first) + 1


@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_bad_cell_far_below_is_named_by_its_line(decimal, encoding, tmp_path):
    row = f"1{decimal}5;0\n"
    text = many(row, "\nbad;1\n", header="value;label\n")
    line = 2 * BLOCK // len(row) + 3
    path = save(tmp_path / "a.csv", text, encoding)
    with pytest.raises(InvalidInputError) as caught:
        read_series(path)
    assert str(caught.value) == f"{path}, line {line}: column 'value' must hold a number, got 'bad'"


@pytest.mark.parametrize("name", ["a.csv", "a.out"])
def test_line_with_too_many_cells_is_counted_with_blank_ones(name, tmp_path):
    header = "value;label\n" if name == "a.csv" else ""
    path = save(tmp_path / name, header + "1;0\n\n\n2,5;0\n2,5;1;9\n", "utf-16")
    line = 5 + bool(header)
    with pytest.raises(InvalidInputError) as caught:
        read_series(path)
    assert str(caught.value) == (
        f"{path}, line {line}: every line must have 2 cells, got 3: '2,5;1;9'"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04rest", "not a csv file but an Excel workbook"),
        (b"value,label\n1,\x00\n", "it contains binary data"),
        (gzip.compress(b"1,0\n", mtime=0), "not a csv file but gzipped"),
    ],
)
def test_another_kind_of_file_under_the_name_of_a_series(content, message, tmp_path):
    (tmp_path / "a.out").write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read_series(tmp_path / "a.out")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time stamp,value\n2014-04-01 00:00:00,0.5\n", Dialect()),
        ("value;label\n0,5;1\n", Dialect(";", ",")),
        ("0,5;1\n1,5;0\n", Dialect(";", ",")),
        ("1,5;2,5;0\n1,5;2,5;0\n", Dialect(";", ",")),
        ("1.5, 0\n2.5, 1\n", Dialect()),
        ('"a;b;c",label\n1,0\n', Dialect()),
        ("value\n1\n", Dialect()),
        ("\n", Dialect()),
    ],
)
def test_what_separates_cells(text, expected, tmp_path):
    assert sniff_start(save(tmp_path / "a.csv", text))[0] == expected


@pytest.mark.parametrize("cells", [["1,234", "987", "2,500"], ["-1,234", "12"], ["999,999"]])
def test_commas_that_may_separate_thousands_are_refused(cells, tmp_path):
    path = save(tmp_path / "a.csv", "label;score\n" + "".join(f"0;{cell}\n" for cell in cells))
    with pytest.raises(InvalidInputError, match=rf"clear decimal sign, got {cells[0]}, which is"):
        open_table(path)


def test_points_that_may_separate_thousands_are_refused(tmp_path):
    head, rows = "label;score\n", ["1.234", "987", "2.500"]
    path = save(tmp_path / "a.csv", head + "".join(f"0;{cell}\n" for cell in rows))
    with pytest.raises(InvalidInputError, match=r"got 1\.234, which is 1234 or 1\.234"):
        open_table(path)
    path = save(tmp_path / "b.csv", head + "".join(f"0;{cell}\n" for cell in (*rows, "0.5")))
    assert open_table(path).numbers("score").tolist() == [1.234, 987, 2.5, 0.5]


def test_quoted_decimal_commas(tmp_path):
    table = open_table(save(tmp_path / "a.csv", 'label,score\n0,"0,512"\n1,"7,25"\n'))
    assert table.numbers("score").tolist() == [0.512, 7.25]
    assert table.form == "comma-separated, decimal commas"


def test_decimals_and_columns_of_arrays_are_numbers(tmp_path):
    pd.DataFrame({"a": [Decimal("0.25"), None]}).to_parquet(tmp_path / "a.parquet")
    np.testing.assert_array_equal(open_table(tmp_path / "a.parquet").numbers("a"), [0.25, np.nan])
    np.savez(tmp_path / "a.npz", a=[[1.5], [2]], wide=np.eye(2))
    table = open_table(tmp_path / "a.npz")
    assert (table.numbers("a").tolist(), table.unread) == ([1.5, 2], ("wide (not 1-D)",))


@pytest.mark.parametrize("cells", [["0,512", "1,234"], ["1,234", "21,5"], ["1,234"] * 30 + ["7,1"]])
def test_commas_with_another_form_are_decimal(cells, tmp_path):
    path = save(tmp_path / "a.csv", "label;score\n" + "".join(f"0;{cell}\n" for cell in cells))
    expected = [float(cell.replace(",", ".")) for cell in cells]
    assert open_table(path).numbers("score").tolist() == expected


@pytest.mark.parametrize("sign", ["\u2028", "\x0b", "\x0c", "\x85"])
def test_only_cr_and_lf_end_the_header(sign, tmp_path):
    text = f"LO{sign}F,label\n0.5,0\n0.7,1\n"
    assert column_names(save(tmp_path / "a.csv", text)) == [f"LO{sign}F", "label"]
    assert open_table(tmp_path / "a.csv").names == (f"LO{sign}F", "label")
    assert column_names(save(tmp_path / "b.csv", text.replace("\n", "\r"))) == [
        f"LO{sign}F",
        "label",
    ]


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet.gz", "a.npy.gz"])
@pytest.mark.parametrize("rows", [5, 200_000])
def test_damaged_gzip_files_are_named(name, rows, tmp_path):
    content = b"label,score\n" + np.random.default_rng(0).bytes(rows).hex("\n").encode()
    packed = gzip.compress(content, mtime=0)
    wrong_sum = packed[:-6] + b"??" + packed[-4:]
    for damaged in (packed[:-9], packed[:30] + b"?" + packed[31:], wrong_sum):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(InvalidInputError, match=rf"{name}: .*damaged"):
            open_table(tmp_path / name)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.parquet.gz"])
def test_a_file_that_is_not_gzipped_is_named(name, tmp_path):
    (tmp_path / name).write_bytes(b"label,score\n0,1\n")
    with pytest.raises(InvalidInputError, match=r"is not gzipped; rename it to a\.(csv|parquet)$"):
        open_table(tmp_path / name)

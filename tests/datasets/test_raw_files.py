"""Raw files of the paper's data sets: several series in a file, companions, components."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.test_readers import EXAMPLES, YAHOO, packed_212, write
from vuskit.bench.series import SeriesSource, describe_series
from vuskit.datasets import (
    read_series,
    register_format,
)
from vuskit.datasets.readers import get_format, registry
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

KPIS = "timestamp,value,label,KPI ID\n1,1,0,a\n1,7,0,b\n2,2,1,a\n2,8,0,b\n3,9,1,b\n"


# -- components --------------------------------------------------------------------------------


def test_yahoo_mentions_the_components(tmp_path):
    series = read_series(EXAMPLES["yahoo"][0](tmp_path))
    named = [text.split(" ")[0] for text in series.left_out]
    assert named == YAHOO.strip().split(",")[3:]
    assert "select it with values=" in series.left_out[0]
    with_trend = read_series(tmp_path / "A3/A3Benchmark-TS1.csv", values=["value", "trend"])
    assert with_trend.channels == ("value", "trend")


def test_table_mentions_components_instead_of_reading_them(tmp_path):
    text = (
        "time,flow,trend,Seasonality_1,noise,is_changepoint,label\n0,1,2,3,4,0,0\n1,5,2,3,4,1,1\n"
    )
    path = write(tmp_path / "t.csv", text)
    series = read_series(path)
    assert series.channels == ("flow",)
    assert [one.split(" ")[0] for one in series.left_out] == text.split(",")[2:6]
    assert read_series(path, values=["flow", "trend"]).channels == ("flow", "trend")


def test_components_are_channels_where_there_is_nothing_else(tmp_path):
    path = write(tmp_path / "t.csv", "trend,noise,label\n3,2,0\n1,1,1\n")
    series = read_series(path)
    assert (series.channels, series.left_out) == (("trend", "noise"), ())


# -- several series in a file ------------------------------------------------------------------


def test_file_with_several_series_is_a_collection(tmp_path):
    path = write(tmp_path / "kpis.csv", KPIS)
    collection = read_series(path)
    assert collection.keys == ("kpis.csv/a", "kpis.csv/b")
    assert [series.name for series in collection] == ["KPI-a", "KPI-b"]
    assert collection["b"].values.tolist() == [7, 8, 9]
    assert collection["kpis.csv/a"].labels.tolist() == [False, True]
    assert read_series(path, part="b").n_points == 3
    assert read_series(tmp_path).filter(name="kpis.csv/b").keys == ("kpis.csv/b",)


def test_parts_have_their_own_identity(tmp_path):
    path = write(tmp_path / "kpis.csv", KPIS)
    sources = [
        SeriesSource.file(file.path, file.format.name, dict(file.options))
        for file in read_series(path).files
    ]
    refs = [describe_series(source) for source in sources]
    assert len({ref.hash for ref in refs}) == 2
    assert [ref.load().name for ref in refs] == ["KPI-a", "KPI-b"]
    path.write_text(KPIS.replace("3,9,1,b", "3,9,0,b"))
    again = [describe_series(source) for source in sources]
    assert [one.hash == ref.hash for one, ref in zip(again, refs, strict=True)] == [True, False]


def test_errors_in_a_part_name_the_line_and_leave_the_others_alone(tmp_path):
    path = write(tmp_path / "kpis.csv", KPIS.replace("2,8,0,b", "2,8,maybe,b"))
    collection = read_series(tmp_path)
    assert [series.name for series in collection] == ["KPI-a"]
    assert list(collection.failures) == [path / "b"]
    assert "line 5: column 'label' must hold a label" in str(collection.failures[path / "b"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"part": "c"},
            r"kpis\.csv: `part` must be one of 2 series, got 'c'; choose from 'a', 'b'",
        ),
        ({"part": "a", "format": "table"}, "`part` must come with `by`"),
        (
            {"by": "KPI", "format": "table"},
            "must be a column of .* got 'KPI'; did you mean 'KPI ID'",
        ),
    ],
)
def test_unknown_parts(options, message, tmp_path):
    path = write(tmp_path / "kpis.csv", KPIS)
    with pytest.raises(InvalidInputError, match=message):
        read_series(path, **options)


def test_read_function_needs_a_part_of_several(tmp_path):
    path = write(tmp_path / "kpis.csv", KPIS)
    with pytest.raises(InvalidInputError, match="got none; choose from 'a', 'b'"):
        get_format("iops").load(path, {})


def test_rows_without_a_series_are_an_error(tmp_path):
    write(tmp_path / "kpis.csv", KPIS.replace("2,8,0,b", "2,8,0,"))
    collection = read_series(tmp_path)
    (error,) = collection.check().values()
    assert "line 5: column 'KPI ID' must hold the name of a series, got an empty cell" in str(error)


def test_text_column_suggests_by(tmp_path):
    path = write(tmp_path / "long.csv", "pump,flow,label\nleft,1,0\nright,2,1\n")
    with pytest.raises(InvalidInputError, match=r"line 2: column 'pump' .* by='pump'"):
        read_series(path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_long_table(ending, tmp_path):
    path = write(tmp_path / "long.csv", "pump,flow,label\n7,1,0\n9,2,1\n7,3,1\n9,4,0\n")
    if ending == "parquet":
        arrow_csv = pytest.importorskip("pyarrow.csv")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow_csv.read_csv(path), tmp_path / "long.parquet")
        path = tmp_path / "long.parquet"
    first, second = read_series(path, by="pump")
    assert (first.dataset, first.name, first.channels) == ("long", "7", ("flow",))
    assert first.values.tolist() == [1, 3]
    assert second.labels.tolist() == [True, False]


def test_own_format_with_several_series(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_FORMATS", dict(registry._FORMATS))

    def parts(path, options):
        return [line.split(":")[0] for line in path.read_text().splitlines()]

    @register_format(
        name="lines",
        title="a series per line",
        layout="*.lines",
        matches=lambda file: file.suffix == ".lines",
        parts=parts,
    )
    def read_lines(path, *, part):
        rows = dict(line.split(":") for line in path.read_text().splitlines())
        bits = [int(bit) for bit in rows[part]]
        return Series(part, "mine", bits, bits)

    path = write(tmp_path / "x.lines", "one:010\ntwo:0110\n")
    assert [series.n_points for series in read_series(path)] == [3, 4]
    path.write_bytes(b"\xff")
    with pytest.raises(InvalidInputError, match="`parts` of format 'lines' must return names"):
        get_format("lines").part_names(path, {})


# -- Dodgers and WFDB --------------------------------------------------------------------------


def test_companions_are_tracked_and_not_reported_as_unknown(tmp_path):
    data, header = EXAMPLES["dodgers"][0](tmp_path), EXAMPLES["wfdb"][0](tmp_path)
    collection = read_series(tmp_path)
    assert (collection.keys, collection.skipped) == (("7.hea", "Dodgers.data"), ())
    files = get_format("dodgers").input_files(data, {})
    assert [path.name for path in files] == ["Dodgers.data", "Dodgers.events"]
    files = get_format("wfdb").input_files(header, {})
    assert [path.name for path in files] == ["7.hea", "7.dat", "7.atr"]


def test_dodgers_game_after_midnight_and_errors(tmp_path):
    path = EXAMPLES["dodgers"][0](tmp_path)
    events = write(tmp_path / "late.txt", "04/09/05,22:00:00,00:05:00,1,X,W\n\n")
    assert read_series(path, events=events).events == ((0, 2), (5, 6))
    events.write_text("04/09/05,22:00\n")
    with pytest.raises(InvalidInputError, match=r"late\.txt, line 1: a game must be like"):
        read_series(path, events=events)
    with pytest.raises(InvalidInputError, match="name another file with events="):
        read_series(path, events=tmp_path / "none")
    path.write_text("4/10/2005 0:00,1\nsoon,2\n")
    with pytest.raises(InvalidInputError, match=r"line 2: column 'time' must hold a time such as"):
        read_series(path)


def test_sensorscope_layouts_labels_and_errors(tmp_path):
    path = EXAMPLES["sensorscope"][0](tmp_path)
    series = read_series(path, values="surface_temperature")
    assert series.values.tolist() == [10, 9, 8, 7, 6]
    assert "wind_speed (no values)" in read_series(path).left_out
    positions = write(tmp_path / "events.csv", "start,end\n3,4\n")
    assert read_series(path, labels=positions).events == ((3, 5),)
    exclusive = write(tmp_path / "events.csv", "start,stop\n3,4\n")
    assert read_series(path, labels=exclusive).events == ((3, 4),)
    times = "2008-03-01 12:02,2008-03-01 12:04\n"
    ((start, stop),) = read_series(path, labels=write(exclusive, f"start,end\n{times}")).events
    shorter = read_series(path, labels=write(exclusive, f"start,stop\n{times}"))
    assert shorter.events == ((start, stop - 1),)
    # Other deployments number their packets before the readings.
    cells = [line.split() for line in path.read_text().splitlines()]
    numbered = [" ".join([*row[:8], str(place), *row[8:]]) for place, row in enumerate(cells)]
    path.write_text("\n".join(numbered) + "\n")
    assert np.array_equal(read_series(path, values="surface_temperature").values, series.values)
    with pytest.raises(InvalidInputError, match="`values` must be one of ambient_temperature, "):
        read_series(path, values="pressure")
    (tmp_path / "pass-meteo-7.labels.csv").unlink()
    with pytest.raises(InvalidInputError, match=r"write a csv file start,end there, or name"):
        read_series(path)
    path.write_text("1 2 3\n")
    with pytest.raises(InvalidInputError, match="there must be 17 or 18 columns, got 3"):
        read_series(path, format="sensorscope", labels=positions)


def test_wfdb_values_and_windows(tmp_path):
    path = EXAMPLES["wfdb"][0](tmp_path)
    series = read_series(path)
    samples = np.arange(-12, 12).reshape(12, 2)
    assert np.allclose(series.values[:, 0], (samples[:, 0] - 2) / 10)
    assert np.allclose(series.values[:, 1], samples[:, 1] / 4)
    # The interval to the next beat has 5 points: 2 are labeled before the beat and 3 after it.
    assert series.events == ((3, 9),)
    assert read_series(path, window=3).events == ((4, 7),)
    assert read_series(path, anomalous="N", window=1).events == ((2, 3), (10, 11))
    assert read_series(path, values="ECG").values.shape == (12,)


def test_wfdb_format_16_and_missing_samples(tmp_path):
    path = EXAMPLES["wfdb"][0](tmp_path)
    np.array([1, -(2**15), 3], "<i2").tofile(tmp_path / "7.dat")
    write(path, "7 1 128\n7.dat 16 2 12 1\n")
    assert np.array_equal(read_series(path).values, [0, np.nan, 1], equal_nan=True)
    (tmp_path / "7.dat").write_bytes(packed_212(np.array([5, -(2**11)])))
    write(path, "7 1 128\n7.dat 212 1\n")
    assert np.array_equal(read_series(path).values, [5, np.nan], equal_nan=True)


def test_wfdb_annotations_with_skips_notes_and_another_clock(tmp_path):
    path = EXAMPLES["wfdb"][0](tmp_path)
    note = b"## time resolution: 256"
    words = [22 << 10, 63 << 10 | len(note)]
    data = np.array(words, "<u2").tobytes() + note + b"\0" * (len(note) % 2)
    # A skip of 6 points at 256 Hz, then a beat 2 points later with a subtype: point 4 at 128 Hz.
    rest = [59 << 10, 0, 6, 5 << 10 | 2, 61 << 10 | 1, 28 << 10 | 1, 0]
    (tmp_path / "7.atr").write_bytes(data + np.array(rest, "<u2").tobytes())
    assert read_series(path, window=1).events == ((4, 5),)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("7.hea", b"7/3 2 128 12\n", "one segment"),
        ("7.hea", b"7 2 128 12\n7.dat 212 10\n", "got 1 of 2"),
        ("7.hea", b"7 1 128 12\n7.dat 80 10\n", "format 212 or 16.* got '80'"),
        ("7.hea", b"7 1 128 12\n../7.dat 16 10\n", "must be in the folder of the header"),
        ("7.hea", b"", "must begin with a record name"),
        ("7.dat", b"\0\0\0", "must hold 12 samples of 2 signals, got 2 samples"),
        ("7.atr", b"\1\4", "the annotations must end with a zero"),
        ("7.dat", None, "must be a readable file"),
    ],
)
def test_broken_wfdb_records(name, content, message, tmp_path):
    path = EXAMPLES["wfdb"][0](tmp_path)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read_series(path, format="wfdb")


def test_wfdb_options(tmp_path):
    path = EXAMPLES["wfdb"][0](tmp_path)
    for options, message in (
        ({"values": "V5"}, "`values` must be among the signals 'ECG', 'signal', got 'V5'"),
        ({"window": 0}, "`window` must be at least 1 point, got 0"),
        ({"annotator": "qrs"}, "name another suffix with annotator="),
    ):
        with pytest.raises(InvalidInputError, match=message):
            read_series(path, **options)

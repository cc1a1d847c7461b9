"""Readers: every format, every kind of label, every kind of broken file."""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vuskit.datasets import list_formats, read_scores, read_series
from vuskit.datasets.readers.registry import Candidate, recognize
from vuskit.errors import InvalidInputError, MissingDependencyError

NAB_TIMES = [f"2014-04-01 00:{minute:02d}:00" for minute in range(0, 30, 5)]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def nab_file(folder):
    rows = "".join(f"{time},{k}.5\n" for k, time in enumerate(NAB_TIMES))
    window = ["2014-04-01 00:05:00.000000", "2014-04-01 00:15:00.000000"]
    write(folder / "labels/combined_windows.json", json.dumps({"realX/cpu.csv": [window]}))
    return write(folder / "data/realX/cpu.csv", "timestamp,value\n" + rows)


def test_nab_compares_times_of_different_zones(tmp_path):
    path = nab_file(tmp_path)
    labels = read_series(path).labels.tolist()
    window = ["2014-04-01 02:05:00+02:00", "2014-04-01 00:15:00+00:00"]
    write(tmp_path / "labels/combined_windows.json", json.dumps({"realX/cpu.csv": [window]}))
    assert read_series(path).labels.tolist() == labels


def telemanom_file(folder):
    write(
        folder / "labeled_anomalies.csv",
        "chan_id,spacecraft,anomaly_sequences,class,num_values\n"
        'A-1,SMAP,"[[2, 3]]",[point],6\n'
        'A-1,SMAP,"[[5, 5]]",[point],6\n',
    )
    for part, n in (("train", 4), ("test", 6)):
        (folder / part).mkdir(exist_ok=True)
        np.save(folder / part / "A-1.npy", np.arange(n * 3.0).reshape(n, 3))
    return folder / "test/A-1.npy"


def parquet_file(folder):
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table(
        {"time": [1, 2, 3], "x": [1.0, None, 3.0], "anomaly": [False, True, True]}
    )
    parquet.write_table(table, folder / "p.parquet")
    return folder / "p.parquet"


def dodgers_file(folder):
    write(folder / "Dodgers.events", "04/10/05,00:06:00,00:15:00,55892,San Francisco,W 9-8\n")
    rows = "".join(f"4/10/2005 0:{minute:02d},{minute}\n" for minute in range(0, 25, 5))
    return write(folder / "Dodgers.data", rows + "4/10/2005 0:25,-1\n")


def sensorscope_file(folder):
    """Five rows of a station that measures two temperatures, two minutes apart; a row of labels."""
    rows = [
        f"7 2008 3 1 12 {2 * i:02d} 0 {1204372800 + 120 * i} {i + 0.5} {10 - i} "
        + "NaN " * 6
        + "NaN"
        for i in range(5)
    ]
    write(folder / "pass-meteo-7.labels.csv", "start,end\n2008-03-01 12:02,2008-03-01 12:05\n")
    return write(folder / "pass-meteo-7.txt", "\n".join(rows) + "\n")


def wfdb_file(folder):
    """Record of two signals in format 212; beats at 2 (normal), 5 (ventricular) and 10."""
    samples = np.arange(-12, 12).reshape(12, 2)
    (folder / "7.dat").write_bytes(packed_212(samples.ravel()))
    write(folder / "7.hea", "7 2 128 12\n7.dat 212 10(2)/mV 12 0 0 0 0 ECG\n7.dat 212 4\n# x\n")
    words = [1 << 10 | 2, 5 << 10 | 3, 1 << 10 | 5, 0]
    (folder / "7.atr").write_bytes(np.array(words, "<u2").tobytes())
    return folder / "7.hea"


def packed_212(samples):
    """Pairs of 12-bit numbers in three bytes."""
    data = bytearray()
    for one, other in zip(samples[::2].tolist(), samples[1::2].tolist(), strict=True):
        high = (one >> 8 & 0xF) | (other >> 8 & 0xF) << 4
        data += bytes([one & 0xFF, high, other & 0xFF])
    return bytes(data)


YAHOO = "timestamps,value,anomaly,changepoint,trend,noise,seasonality1,seasonality2,seasonality3\n"
TSB_AD = "001_NAB_id_1_Facility_tr_2_1st_3.csv"
# How a file of the format is made, and what must come out of it.
EXAMPLES = {
    "tsb_uad": (
        lambda folder: write(folder / "MITDB/100.test.csv@1.out", "1.5,0\n2,1\n-3e-2,1\n"),
        {"name": "100.test.csv@1.out", "dataset": "MITDB", "values": [1.5, 2, -0.03]},
        [0, 1, 1],
    ),
    "ucr": (
        lambda folder: write(folder / "KDD/001_UCR_Anomaly_x_1_2_4.txt", " 1\n2\n 3.5\n4\n5\n"),
        {"name": "001_UCR_Anomaly_x_1_2_4", "dataset": "KDD", "train_length": 1},
        [0, 0, 1, 1, 0],
    ),
    "telemanom": (
        telemanom_file,
        {"name": "A-1", "dataset": "NASA-SMAP", "n_channels": 3, "train_length": None},
        [0, 0, 1, 1, 0, 1],
    ),
    "tsb_ad": (
        lambda folder: write(folder / TSB_AD, "Data,Label\n1,0\n2,0\n3,0\n4,1\n"),
        {"name": TSB_AD[:-4], "dataset": "NAB", "train_length": 2, "channels": ("Data",)},
        [0, 0, 0, 1],
    ),
    "timeeval": (
        lambda folder: write(
            folder / "art/cbf.test.csv",
            "timestamp,value-0,value-1,is_anomaly\n0,1,2,0\n1,3,4,1\n2,5,6,0\n",
        ),
        {
            "name": "cbf.test",
            "dataset": "art",
            "channels": ("value-0", "value-1"),
            "values": [[1, 2], [3, 4], [5, 6]],
        },
        [0, 1, 0],
    ),
    "nab": (
        nab_file,
        {"name": "cpu", "dataset": "NAB", "values": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]},
        [0, 1, 1, 1, 0, 0],
    ),
    "dodgers": (
        dodgers_file,
        {"name": "Dodgers", "dataset": "Dodgers", "values": [0, 5, 10, 15, 20, -1]},
        [0, 0, 1, 1, 0, 1],
    ),
    "sensorscope": (
        sensorscope_file,
        {
            "name": "pass-meteo-7",
            "dataset": "SensorScope",
            "channels": ("ambient_temperature", "surface_temperature"),
            "values": [[i + 0.5, 10 - i] for i in range(5)],
        },
        [0, 1, 1, 0, 0],
    ),
    "iops": (
        lambda folder: write(
            folder / "phase2_train.csv", "timestamp,value,label,KPI ID\n1,.5,0,ab\n2,.7,1,ab\n"
        ),
        {"name": "KPI-ab.train", "dataset": "IOPS", "values": [0.5, 0.7], "left_out": ()},
        [0, 1],
    ),
    "wfdb": (
        wfdb_file,
        {"name": "7", "channels": ("ECG", "signal")},
        [0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0],
    ),
    "yahoo": (
        lambda folder: write(
            folder / "A3/A3Benchmark-TS1.csv", YAHOO + "1,5,0,0,1,2,3,4,5\n2,6,1,1,2,2,3,4,5\n"
        ),
        {"name": "A3Benchmark-TS1", "dataset": "A3", "values": [5, 6], "channels": ("value",)},
        [0, 1],
    ),
    "scores": (
        lambda folder: write(folder / "ECG/805.out.csv.gz", "value,label,LOF\n1,0,.1\n2,1,.2\n"),
        {"name": "805.out", "dataset": "ECG", "values": [1, 2], "channels": ("value",)},
        [0, 1],
    ),
    "table": (
        lambda folder: write(folder / "mine/x.csv", ',time,value,is_anomaly\n0,9,1,"1"\n1,9,2,0\n'),
        {"name": "x", "dataset": "mine", "values": [1, 2]},
        [1, 0],
    ),
}


# Labels alone are read on request only: their files look like any others.
RECOGNIZED = [entry.name for entry in list_formats() if entry.name != "labels"]


def test_labels_alone_are_read_on_request(tmp_path):
    series = read_series(write(tmp_path / "x.csv", "label\n0\n1\n"), format="labels")
    assert series.labels.tolist() == [False, True]
    assert np.isnan(series.values).all()
    assert recognize(write(tmp_path / "y.csv", "anything\n0\n1\n")) is None
    other = read_series(tmp_path / "x.csv", format="labels", variant=1)
    assert other.content_hash != series.content_hash


@pytest.mark.parametrize("name", RECOGNIZED)
def test_format_is_recognized_and_read(name, tmp_path):
    make, expected, labels = EXAMPLES[name]
    path = make(tmp_path)
    assert recognize(path).name == name
    for series in (read_series(path), read_series(str(path), format=name)):
        for attribute, value in expected.items():
            actual = getattr(series, attribute)
            assert np.array_equal(actual, value), (attribute, actual)
        assert series.labels.astype(int).tolist() == labels
    assert read_series(path, dataset="renamed").dataset == "renamed"


@pytest.mark.parametrize("name", RECOGNIZED)
def test_at_most_one_narrow_format_claims_a_file(name, tmp_path):
    candidate = Candidate(EXAMPLES[name][0](tmp_path))
    claims = [entry.name for entry in list_formats() if entry.matches(candidate)]
    assert claims[0] == name
    assert claims[1:] in ([], ["table"])


def test_parquet(tmp_path):
    series = read_series(parquet_file(tmp_path))
    assert series.channels == ("x",)
    assert np.array_equal(series.values, [1, np.nan, 3], equal_nan=True)
    assert series.labels.tolist() == [False, True, True]


def test_gzip_is_transparent(tmp_path):
    text = "1.25,0\n2,1\n"
    plain = write(tmp_path / "d/a.out", text)
    packed = write(tmp_path / "d/b.out.gz", text)
    assert read_series(packed).name == "b.out"
    assert read_series(packed).content_hash == read_series(plain).content_hash


@pytest.mark.parametrize(
    "words",
    [
        ("False", "True"),
        ("0", "1"),
        ("0.0", "1.0"),
        ('"0"', '"1"'),
        ("false", "TRUE"),
        ("0", "True"),
    ],
)
def test_ways_to_write_a_label(words, tmp_path):
    no, yes = words
    path = write(tmp_path / "a.csv", f"x,label\n1,{no}\n2,{yes}\n3,{yes}\n4,{no}\n")
    assert read_series(path).labels.tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1,0\n2,2\n", 2, "column 'label' must hold a label .*, got 2"),
        ("1,0\n2,0.5\n", 2, "column 'label' must hold a label .*, got 0.5"),
        ("1,0\n\n\n2,yes\n", 4, "column 'label' must hold a label .*, got 'yes'"),
        ("1,0\n2,\n", 2, "column 'label' must hold a label .*, got an empty cell"),
        ("1,True\n2,\n", 2, "column 'label' must hold a label .*, got an empty cell"),
        ("1,0\nabc,0\n", 2, "column 'value' must hold a number, got 'abc'"),
        ("1,0\n2014-01-01,0\n", 2, "column 'value' must hold a number, got '2014-01-01'"),
        ("1,0\n2,0\n-inf,1\n", 3, "column 'value' must hold a finite number, got -inf"),
        ("1,0\n2,0,7\n", 2, "every line must have 2 cells, got 3: '2,0,7'"),
        ("1,0\n2\n", 2, "every line must have 2 cells, got 1: '2'"),
    ],
)
@pytest.mark.parametrize("name", ["a.out", "a.out.gz"])
def test_bad_cell_is_named_by_file_line_and_value(text, line, message, name, tmp_path):
    path = write(tmp_path / name, text)
    with pytest.raises(InvalidInputError, match=rf"{path.name}, line {line}: {message}"):
        read_series(path)


def test_line_numbers_count_the_header(tmp_path):
    path = write(tmp_path / "a.csv", "x,label\n1,0\n2,maybe\n")
    with pytest.raises(InvalidInputError, match=r"a\.csv, line 3: .* got 'maybe'"):
        read_series(path)


def test_bad_cell_far_into_a_long_file(tmp_path):
    rows = ["1,0"] * 300_000
    rows[271_828] = "1,x"
    path = write(tmp_path / "a.out", "\n".join(rows))
    with pytest.raises(InvalidInputError, match=r"line 271829: .* got 'x'"):
        read_series(path)


def test_integers_may_turn_into_decimals_late(tmp_path):
    path = write(tmp_path / "a.out", "1,0\n" * 600_000 + "0.1,1\n")
    series = read_series(path)
    assert series.values[-1] == 0.1
    assert series.events == ((600_000, 600_001),)


def test_numbers_are_read_to_the_last_bit(tmp_path):
    values = np.random.default_rng(5).normal(size=2000) * 10.0 ** np.arange(-1000, 1000).clip(-9, 9)
    path = write(tmp_path / "a.out", "".join(f"{value!r},0\n" for value in values.tolist()))
    assert np.array_equal(read_series(path).values, values)


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "NA", "null"])
def test_missing_values_are_nan(missing, tmp_path):
    series = read_series(write(tmp_path / "a.out", f"1,0\n{missing},1\n"))
    assert np.isnan(series.values[1])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.out", b"", "not a readable csv file"),
        ("a.out.gz", b"not gzip", r"not gzipped; rename it to a\.out$"),
        ("a.out.gz", gzip.compress(b"1,0\n" * 5000, mtime=0)[:-12], "must be complete"),
        ("a.csv", b"x,label\n", "at least one row"),
        ("a.csv", b"x,x,label\n1,2,0\n", "must be unique"),
        ("a.csv", b"time,label\n1,0\n", "there must be a column of values besides 'label'"),
        ("a.parquet", b"PAR1", "not a readable parquet file"),
        ("a_1_2_3.txt", b"", "at least one value"),
        ("a_1_2_3.txt", b"1\n2\nx\n4\n", r"line 3: values must be numbers, got 'x'"),
        ("a_1_2_9.txt", b"1\n2\n3\n", "train end <= start < stop <= 3 .* got 1, 2, 9"),
        ("1_X_id_1_Y_tr_9_1st_1.csv", b"Data,Label\n1,0\n", r"csv: `train_length` must be in 0..1"),
        ("a.bin", b"1", "no format recognizes the file"),
        ("a.csv", b"x,y\n1,0\n", "no format recognizes the file"),
    ],
)
def test_broken_files(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read_series(path)


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@pytest.mark.parametrize("name", ["tsb_uad", "ucr", "telemanom", "tsb_ad", "nab", "table", "wfdb"])
@given(data=st.data())
def test_damaged_file_is_an_error_of_ours_or_a_series(name, tmp_path, data):
    path = EXAMPLES[name][0](tmp_path)
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
        damaged = damaged or bytearray(b" ")
    path.write_bytes(damaged)
    with contextlib.suppress(InvalidInputError):
        assert read_series(path, format=name).n_points > 0


def test_ucr_file_with_all_values_on_one_line(tmp_path):
    path = write(tmp_path / "204_UCR_Anomaly_x_1_2_3.txt", "  1.5e+00  2.5e+00  3 4 ")
    assert read_series(path).values.tolist() == [1.5, 2.5, 3, 4]


def test_table_with_columns_by_name(tmp_path):
    path = write(tmp_path / "t.csv", "time,a,b,fault\n0,1,x,0\n1,2,y,1\n")
    series = read_series(path, format="table", label="fault", values="a")
    assert (series.channels, series.n_anomalies) == (("a",), 1)
    assert read_series(path, format="table", label="fault", values=["time", "a"]).n_channels == 2
    with pytest.raises(InvalidInputError, match=r"line 2: column 'b' must hold a number, got 'x'"):
        read_series(path, format="table", label="fault")
    with pytest.raises(InvalidInputError, match="there must be a column 'c', got columns"):
        read_series(path, format="table", label="fault", values="c")
    with pytest.raises(InvalidInputError, match=r"the label column must be one of \['label'"):
        read_series(path, format="table")


def table_text(n=20, **columns):
    columns = {**columns, "label": [int(place == 5) for place in range(n)]}
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""])


def test_a_column_that_only_rises_is_no_channel_unless_named(tmp_path):
    flow = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3] * 2
    path = write(tmp_path / "t.csv", table_text(step=range(20), flow=flow))
    series = read_series(path)
    assert series.channels == ("flow",)
    assert series.left_out == ("step (strictly increasing, like a time)",)
    assert pickle.loads(pickle.dumps(series)).left_out == series.left_out
    assert read_series(path, values=["step", "flow"]).channels == ("step", "flow")
    assert read_series(path, values=["step", "flow"]).left_out == ()
    folder = read_series(tmp_path)
    assert folder.check() == {}
    assert folder.notes == {path: "left out: step (strictly increasing, like a time)"}
    assert folder.filter(name="t*").notes == folder.notes


def test_columns_that_rise_are_kept_where_there_is_nothing_else(tmp_path):
    path = write(tmp_path / "t.csv", table_text(step=range(20), grown=range(5, 25)))
    assert read_series(path).channels == ("step", "grown")
    named = write(tmp_path / "001_X_id_1_Y_tr_4_1st_5.csv", table_text(a=range(20), b=[0] * 20))
    named.write_text(named.read_text().replace("label", "Label"))
    assert read_series(named).channels == ("a", "b")  # a benchmark says what its columns are


@pytest.mark.parametrize("name", ["y_true", "Ground_Truth", "truth", "GT"])
@pytest.mark.parametrize(("ending", "between"), [("csv", ","), ("tsv", "\t"), ("tsv.gz", "\t")])
def test_names_and_endings_that_evaluate_takes_are_taken_here(name, ending, between, tmp_path):
    text = f"value,{name}\n1,0\n5,1\n".replace(",", between)
    series = read_series(write(tmp_path / f"t.{ending}", text))
    assert (series.name, series.values.tolist(), series.n_anomalies) == ("t", [1, 5], 1)


def test_telemanom_options(tmp_path):
    path = telemanom_file(tmp_path)
    both = read_series(path, with_train=True, first_channel_only=True)
    assert both.values.shape == (10,)
    assert both.train_length == 4
    assert both.events == ((6, 8), (9, 10))
    assert [series.name for series in read_series(tmp_path)] == ["A-1"]
    write(
        tmp_path / "labeled_anomalies.csv", 'chan_id,spacecraft,anomaly_sequences\nA-1,MSL,"[1"\n'
    )
    with pytest.raises(InvalidInputError, match=r"line 2: anomaly_sequences must be like .* '\[1'"):
        read_series(path)
    write(tmp_path / "labeled_anomalies.csv", "chan_id,spacecraft,anomaly_sequences\n")
    with pytest.raises(InvalidInputError, match="must have a row with chan_id 'A-1'"):
        read_series(path)


def test_telemanom_loads_no_pickles(tmp_path):
    path = telemanom_file(tmp_path)
    np.save(path, np.array([{"code": "runs"}], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidInputError, match="not a readable npy file"):
        read_series(path)


def test_nab_needs_its_windows(tmp_path):
    path = nab_file(tmp_path)
    windows = tmp_path / "labels/combined_windows.json"
    windows.write_text(json.dumps({"realX/other.csv": []}))
    with pytest.raises(InvalidInputError, match=r"must list .* windows for 'realX/cpu.csv'"):
        read_series(path)
    windows.unlink()
    assert recognize(path) is None
    elsewhere = write(tmp_path / "w.json", json.dumps({"realX/cpu.csv": []}))
    assert read_series(path, format="nab", windows=elsewhere).n_anomalies == 0


def test_scores_file(tmp_path):
    path = write(tmp_path / "ECG/805.out.csv.gz", "value,label,LOF,AE\n1,0,.1,5\n2,1,.2,6\n")
    scored = read_scores(path)
    assert scored.detectors == ("LOF", "AE")
    assert scored.scores["AE"].tolist() == [5, 6]
    assert scored.series == read_series(path)
    shouted = write(tmp_path / "ECG/806.csv", "Value,LABEL,LOF,AE\n1,0,.1,5\n2,1,.2,6\n")
    assert read_scores(shouted).scores["AE"].tolist() == [5, 6]
    assert read_series(shouted).channels == ("Value",)  # the scores are no channels
    with pytest.raises(InvalidInputError, match="the header must be value,label,<detector>"):
        read_scores(write(tmp_path / "x.csv", "value,label\n1,0\n"))


def test_wrong_names_are_answered_with_the_right_ones(tmp_path):
    path = write(tmp_path / "a.out", "1,0\n")
    with pytest.raises(
        InvalidInputError, match=r"`format` must be one of 'dodgers', .* got 'tsb'; did you"
    ):
        read_series(path, format="tsb")
    with pytest.raises(InvalidInputError, match=r"'tsb_uad' must be among \['dataset', .* 'label'"):
        read_series(path, label="x")
    with pytest.raises(InvalidInputError, match=r"`path` must be a file or a folder, got '.*none'"):
        read_series(tmp_path / "none")


def test_missing_library_is_named_with_its_install_line(tmp_path, monkeypatch):
    import sys

    path = write(tmp_path / "a.out", "1,0\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "vuskit\[cli\]"'):
        read_series(path)


def plain_counts(path):
    """Points and anomalies of a `value,label` file, without the library."""
    with gzip.open(path, "rt") as stream:
        column = [row[1] for row in csv.reader(stream) if row[1] != "label"]
    pairs = zip(["0", *column], column, strict=False)
    return len(column), sum(before == "0" and now == "1" for before, now in pairs)


def test_every_real_series_agrees_with_the_manifest(shared_data):
    with (shared_data / "series/MANIFEST.csv").open(newline="") as stream:
        manifest = {row["file"]: row for row in csv.DictReader(stream)}
    collection = read_series(shared_data / "series")
    assert set(collection.keys) == set(manifest)
    assert {path.name for path in collection.skipped} == {"MANIFEST.csv", "README.md"}
    for series in collection:
        row = manifest[f"{series.dataset}/{series.name}"]
        counts = series.n_points, series.n_anomalies, int(series.labels.sum())
        assert counts == tuple(int(row[key]) for key in ("n", "anomalies", "abnormal_points"))
    assert not collection.failures


def test_every_real_score_file_is_read_whole(shared_data):
    folder = shared_data / "scores"
    collection = read_series(folder)
    assert len(collection) == len(list(folder.rglob("*.csv.gz"))) == 275
    assert not collection.skipped
    for file in collection.files[::7]:  # the slow count is made for some, the reading for all
        series = file.read()
        assert (series.n_points, series.n_anomalies) == plain_counts(file.path)
    for file in collection.files:
        scored = read_scores(file.path)
        assert file.format.name == "scores"
        assert len(scored.detectors) == 12
        assert scored.series.n_points > 1000


def test_saved_scores_belong_to_the_series_of_the_same_name(shared_data):
    # The authors' scoring dropped the first line of each file, taking it for a header.
    scores, series = (read_series(shared_data / part) for part in ("scores", "series"))
    for name in ("NAB/NAB_data_KnownCause_1.out", "Daphnet/S09R01E4.test.csv@6.out"):
        whole, scored = series[name], scores[f"{name}.csv"]
        assert whole.name == scored.name
        assert np.array_equal(whole.labels[1:], scored.labels)
        assert np.allclose(whole.values[1:], scored.values, rtol=1e-9)  # printed with fewer digits


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_the_named_label_column_makes_a_table(name, tmp_path):
    frame = pd.DataFrame({"flow": [1.0, 2.0, 1.5], "fault": [0, 1, 0]})
    path = tmp_path / name
    frame.to_csv(path, index=False) if name == "a.csv" else frame.to_parquet(path)
    (tmp_path / "notes.csv").write_text("author,text\nme,hello\n")
    (series,) = read_series(tmp_path, label="fault")
    assert series.labels.tolist() == read_series(path, label="fault").labels.tolist() == [0, 1, 0]

"""Rows are sorted by their times, repeated times are refused, and both are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vuskit.bench import evaluate_inputs
from vuskit.datasets import open_inputs
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import load_source
from vuskit.datasets.row_times import Decision, Times, dates_of_epochs, summarized
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import resolve_measures
from vuskit.measures.settings import EvaluationSettings

N = 60


def series(name="a", start="2026-03-21T11:00", seed=0):
    labels = np.zeros(N, dtype=int)
    labels[20:30] = 1
    scores = np.random.default_rng(seed).random(N) + labels
    times = pd.date_range(start, periods=N, freq="min").strftime("%Y-%m-%dT%H:%M:%S")
    return pd.DataFrame({"ts": times, "machine": name, "label": labels, "score": scores})


def save(frame, path, kind="csv"):
    target = path.with_suffix(f".{kind}")
    if kind == "csv":
        frame.to_csv(target, index=False)
    else:
        frame.to_parquet(target)
    return target


def loaded(path, **columns):
    (one,) = open_inputs(path, columns=Columns(**columns))
    return load_source(one)


def lines(path, **columns):
    return summarized(loaded(path, **columns).decisions)


FORMS = {
    "iso": lambda times: times,
    "zoned": lambda times: times + "Z",
    "seconds": lambda times: pd.to_datetime(times).astype("datetime64[s]").astype("int64"),
    "milliseconds": lambda times: pd.to_datetime(times).astype("datetime64[ms]").astype("int64"),
}


@pytest.mark.parametrize("name", ["ts", "time", "Timestamp", "date"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_order_of_rows_does_not_matter(tmp_path, form, kind, name):
    frame = series()
    frame = frame.assign(ts=FORMS[form](frame["ts"])).rename(columns={"ts": name})
    frame = frame.drop(columns="machine")
    mixed = frame.sample(frac=1, random_state=1)
    first = loaded(save(frame, tmp_path / "a", kind))
    second = loaded(save(mixed, tmp_path / "b", kind))
    assert first.decisions == ()
    assert [one.detector for one in second.scores] == ["score"]
    assert second.scores[0].numbers.tolist() == first.scores[0].numbers.tolist()
    assert second.series.labels.tolist() == first.series.labels.tolist()
    assert second.dates.tolist() == first.dates.tolist()
    assert summarized(second.decisions) == [f"series whose rows are sorted by {name!r}: 1 (b)"]


def test_long_tables_are_sorted_by_series(tmp_path):
    frame = pd.concat([series(f"m{k}", seed=k) for k in range(4)])
    mixed = frame.sample(frac=1, random_state=0)
    settings = EvaluationSettings(buffer=5)
    measures = resolve_measures(["vus_pr"])

    def values(path):
        inputs = open_inputs(path, columns=Columns(by="machine"))
        found = evaluate_inputs(inputs, measures=measures, settings=settings)
        return {one.name: one.scores[0].values for one in found.series}, found.notes

    expected, notes = values(save(frame, tmp_path / "sorted"))
    assert notes == ()
    for kind in ("csv", "parquet"):
        found, notes = values(save(mixed, tmp_path / "mixed", kind))
        assert found == expected
        (line,) = notes
        assert line.startswith("series whose rows are sorted by 'ts': 4 (")


def test_rows_keep_their_order_on_request(tmp_path):
    mixed = series().sample(frac=1, random_state=1)
    kept = loaded(save(mixed, tmp_path / "a"), order="none")
    assert kept.scores[0].numbers.tolist() == mixed["score"].tolist()
    assert kept.decisions == ()


def test_a_column_of_another_name_gives_the_order(tmp_path):
    frame = series().rename(columns={"ts": "measured"})
    mixed = frame.sample(frac=1, random_state=1)
    found = loaded(save(mixed, tmp_path / "a"), order="measured")
    assert found.scores[0].numbers.tolist() == frame["score"].tolist()
    with pytest.raises(InvalidInputError, match=r"`order` must be a column .*'measured'"):
        loaded(tmp_path / "a.csv", order="mesured")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["Zeitstempel", "Unnamed: 0", ""])
def test_dates_in_a_column_of_any_name_give_the_order(tmp_path, kind, name):
    frame = series().assign(ts=pd.date_range("2026-03-21", periods=N, freq="min"))
    frame = frame.rename(columns={"ts": name})
    mixed = frame.sample(frac=1, random_state=1)
    wanted = loaded(save(frame.drop(columns="machine"), tmp_path / "a", kind)).scores[0].numbers
    one = loaded(save(mixed.drop(columns="machine"), tmp_path / "b", kind))
    assert one.scores[0].numbers.tolist() == wanted.tolist()
    assert summarized(one.decisions) == [f"series whose rows are sorted by {name!r}: 1 (b)"]
    long = loaded(save(mixed, tmp_path / "c", kind), by="machine")
    assert long.scores[0].numbers.tolist() == wanted.tolist()


@pytest.mark.parametrize("form", ["seconds", "milliseconds"])
@pytest.mark.parametrize("by", [None, "machine"])
def test_epochs_in_a_column_of_any_name_are_no_scores(tmp_path, form, by):
    frame = series().rename(columns={"ts": "zeit"})
    mixed = frame.assign(zeit=FORMS[form](frame["zeit"])).sample(frac=1, random_state=1)
    path = save(mixed, tmp_path / "a")
    with pytest.raises(InvalidInputError, match=r"'zeit' .* times of the rows.*--order zeit, or"):
        loaded(path, by=by)
    found = loaded(path, by=by, order="zeit")
    assert found.scores[0].numbers.tolist() == frame["score"].tolist()
    timed = loaded(save(mixed.assign(ts=frame["zeit"]), tmp_path / "b"), by=by)
    assert [one.detector for one in timed.scores] == ["score"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "__index_level_0__"])
def test_rows_out_of_the_order_of_their_numbers_are_refused(tmp_path, kind, name):
    frame = series().drop(columns="ts").rename_axis(name).reset_index()
    mixed = frame.sample(frac=1, random_state=1)
    plain = mixed.drop(columns="machine")
    for columns, rows in (({}, plain), ({"by": "machine"}, mixed)):
        with pytest.raises(InvalidInputError, match="must be in the order of their numbers"):
            loaded(save(rows, tmp_path / "a", kind), **columns)
    wanted = series()["score"].tolist()
    path = save(plain, tmp_path / "b", kind)
    if name:
        assert loaded(path, order=name).scores[0].numbers.tolist() == wanted
    assert loaded(path, order="none").scores[0].numbers.tolist() == plain["score"].tolist()
    twice = pd.concat([frame, frame]).drop(columns="machine")
    assert loaded(save(twice, tmp_path / "d", kind)).scores[0].numbers.tolist() == 2 * wanted


def test_repeated_times_are_refused_or_dropped(tmp_path):
    frame = series()
    twice = pd.concat([frame, frame.iloc[[3, 7]].assign(score=9.0)])
    path = save(twice, tmp_path / "a")
    with pytest.raises(InvalidInputError, match=r"2 more rows at the same 'ts' in a \(first: 2026"):
        loaded(path)
    mixed = save(pd.concat([series("a"), series("b")]), tmp_path / "long")
    with pytest.raises(
        InvalidInputError, match=r"'machine' seems to name .* use --by machine, --d"
    ):
        loaded(mixed)
    first, last = (loaded(path, duplicates=which) for which in ("first", "last"))
    assert first.scores[0].numbers.tolist() == frame["score"].tolist()
    assert last.scores[0].numbers[[3, 7]].tolist() == [9, 9]
    assert "rows dropped at a time that a later row has: 2" in summarized(last.decisions)[1]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["21.03.2026 11:08", "21.03.2026 11:09"], "numbers or ISO times such as 2026-03-21T11:08"),
        (
            ["2026-03-21T11:08", "2026-03-21T11:09Z"],
            "must have a time zone in all times or in none",
        ),
        (["2026-03-21T11:08", ""], "must not be missing, got a missing value at index 1"),
    ],
)
def test_times_with_two_readings_are_refused(tmp_path, times, message):
    frame = pd.DataFrame({"time": times, "label": [0, 1], "score": [0.1, 0.2]})
    with pytest.raises(InvalidInputError, match=f"a.csv: `time` {message}|{message}"):
        loaded(save(frame, tmp_path / "a"))


def test_several_columns_of_times_are_refused_unless_one_is_in_order(tmp_path):
    frame = series()
    frame["date"] = frame["ts"].str[:10]
    assert loaded(save(frame, tmp_path / "a")).decisions == ()
    with pytest.raises(InvalidInputError, match="name it with --order COLUMN"):
        loaded(save(frame.iloc[::-1], tmp_path / "b"))


def test_labels_without_times_stop_the_sorting_of_scores(tmp_path):
    frame = series()
    (tmp_path / "s").mkdir()
    save(frame[["ts", "score"]].iloc[::-1], tmp_path / "s" / "a")
    save(frame[["label"]], tmp_path / "labels")
    (one,) = open_inputs(tmp_path / "s", labels=tmp_path / "labels.csv")
    with pytest.raises(InvalidInputError, match=r"labels\.csv has no times by which to sort"):
        one.read()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            lambda times: times + pd.Timedelta("10min"),
            r"instead of 2026-03-21T11:10.* and 59 others",
        ),
        (lambda times: times.dt.tz_localize("Europe/Berlin"), "zone everywhere or nowhere"),
        (lambda times: times.astype("datetime64[s]").astype("int64"), "zone everywhere or nowhere"),
    ],
)
def test_labels_and_scores_at_other_times_are_refused(tmp_path, other, message):
    frame = series()
    (tmp_path / "s").mkdir()
    save(frame[["ts", "score"]], tmp_path / "s" / "a")
    save(frame[["ts", "label"]].assign(ts=other(pd.to_datetime(frame["ts"]))), tmp_path / "labels")

    def read(**columns):
        labels = tmp_path / "labels.csv"
        return open_inputs(tmp_path / "s", labels=labels, columns=Columns(**columns))[0].read()

    with pytest.raises(InvalidInputError, match=message):
        read()
    assert read(order="none").series.n_points == N


def test_epochs_of_any_unit():
    for unit in ("s", "ms", "us", "ns"):
        moment = np.datetime64("2026-03-21T11:08", unit)
        times = Times("t", np.array([moment.astype("int64")]))
        assert dates_of_epochs(times).values.tolist() == [moment.astype("M8[us]").item()]


def test_summaries_have_one_line_per_kind():
    found = [Decision("dropped", 9, tuple("abcde")), Decision("kept", 1, ("x",))]
    found.append(Decision("dropped", 1, ("z",)))
    assert summarized(found) == ["dropped: 10 (a, b, c, d, e, …)", "kept: 1 (x)"]

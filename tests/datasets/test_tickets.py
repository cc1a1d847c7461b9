"""Intervals are placed on the points of their own series; what does not fit is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from vuskit.datasets import open_inputs
from vuskit.datasets import tickets as kinds
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import load_source
from vuskit.datasets.row_times import summarized
from vuskit.datasets.tickets import Ticket
from vuskit.errors import InvalidInputError

N = 60
TIMES = pd.date_range("2026-03-21T11:00", periods=N, freq="min")


def save_scores(folder: Path, *names, times=TIMES, **more):
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(names):
        columns = {} if times is None else {"ts": times}
        scores = np.random.default_rng(seed).random(N if times is None else len(times))
        pd.DataFrame({**columns, "score": scores, **more}).to_csv(
            folder / f"{name}.csv", index=False
        )
    return folder


def save_tickets(path: Path, rows, columns=("start", "end", "ticket")):
    pd.DataFrame(rows, columns=list(columns)).to_csv(path, index=False)
    return path


def read(scores, labels, **columns):
    return load_source(open_inputs(scores, labels=labels, columns=Columns(**columns))[0])


@pytest.fixture
def place(tmp_path):
    """Place intervals on one series, whose time column may be given."""

    def placed(rows, columns=("start", "end", "ticket"), times=TIMES, **options):
        scores = save_scores(tmp_path / "scores", "a", times=times)
        tickets = save_tickets(tmp_path / "tickets.csv", rows, columns)
        return read(scores / "a.csv", tickets, **options)

    return placed


def at(minute):
    return f"2026-03-21T11:{minute:02d}:00"


@pytest.mark.parametrize(
    ("row", "events", "kind"),
    [
        ((at(10), at(12), "T"), ((10, 13),), None),
        (("2026-03-20", "2026-03-20T01:00", "T"), (), kinds.OUTSIDE),
        (("2026-03-22", "2026-03-22T01:00", "T"), (), kinds.OUTSIDE),
        (("2026-03-20", at(2), "T"), ((0, 3),), kinds.CLIPPED),
        ((at(58), "2026-03-22", "T"), ((58, 60),), kinds.CLIPPED),
        (("2026-03-21T11:08:10", "2026-03-21T11:08:50", "T"), (), kinds.BETWEEN),
        ((at(57), None, "T"), ((57, 60),), kinds.OPEN),
        ((at(12), at(10), "T"), (), kinds.REVERSED),
        ((10, 12, "T"), ((10, 13),), kinds.POSITIONS),
        ((58, 99, "T"), ((58, 60),), kinds.CLIPPED),
        ((70, 99, "T"), (), kinds.OUTSIDE),
    ],
)
def test_kinds_of_intervals(place, row, events, kind):
    usual = (at(20), at(21), "U") if isinstance(row[0], str) else (20, 21, "U")
    found = place([usual, row])
    assert found.series.events == tuple(sorted([*events, (20, 22)]))
    ids = "U, T" if kind == kinds.POSITIONS else "T"
    count = 2 if kind == kinds.POSITIONS else 1
    told = summarized(found.decisions)
    assert (f"{kind}: {count} ({ids})" in told) if kind else not told


def test_overlapping_intervals_in_any_order(place):
    rows = [(at(30), at(40), "C"), (at(10), at(20), "A"), (at(15), at(25), "B")]
    found = place(rows)
    assert found.series.events == ((10, 26), (30, 41))
    assert found.tickets == (Ticket("A", 10, 21), Ticket("B", 15, 26), Ticket("C", 30, 41))
    assert summarized(found.decisions) == [f"{kinds.OVERLAPPING}: 1 (B)"]


def test_columns_with_other_names(place):
    rows = [(at(30), at(40), "INC7", "high")]
    names = ("opened_at", "closed_at", "number", "severity")
    found = place(rows, names, start="opened_at", end="closed_at", id="number")
    assert found.tickets == (Ticket("INC7", 30, 41),)
    with pytest.raises(InvalidInputError, match=r"`id` must be a column .*'numbr'; did you mean"):
        place(rows, names, start="opened_at", end="closed_at", id="numbr")


def test_a_date_as_end_is_the_whole_day(place):
    times = pd.date_range("2026-03-20T12:00", periods=N, freq="h")
    found = place([("2026-03-21", "2026-03-21", "T")], times=times)
    assert found.series.events == ((12, 36),)
    assert summarized(found.decisions) == [f"{kinds.WHOLE_DAYS}: 1 (T)"]
    found = place([("2026-03-21", "2026-03-22", "T")], ("start", "stop", "id"), times=times)
    assert found.series.events == ((12, 36),)
    days = place(
        [("2026-03-21", "2026-03-21", "T")], times=times.normalize()[0] + 24 * (times - times[0])
    )
    assert (days.series.events, days.decisions) == (((1, 2),), ())


def test_a_stop_is_exclusive(place):
    assert place([(at(30), at(40), "A")], ("start", "stop", "id")).series.events == ((30, 40),)


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_epochs_are_times(place, unit):
    bounds = [int(np.datetime64(at(m), unit).astype("int64")) for m in (30, 40)]
    zoned = TIMES.tz_localize("UTC")
    assert place([(*bounds, "A")], times=zoned).series.events == ((30, 41),)
    epochs = TIMES.astype("datetime64[s]").astype("int64")
    assert place([(*bounds, "A")], times=epochs).series.events == ((30, 41),)
    assert place([(at(30) + "Z", at(40) + "Z", "A")], times=epochs).series.events == ((30, 41),)
    with pytest.raises(InvalidInputError, match="need a column of times"):
        place([(*bounds, "A")], times=None)


@pytest.mark.parametrize("zoned", ["points", "intervals"])
def test_times_with_and_without_zone_are_not_mixed(place, zoned):
    berlin = TIMES.tz_localize("Europe/Berlin")
    times = berlin if zoned == "points" else TIMES
    offset = "" if zoned == "points" else "+01:00"
    rows = [(at(30) + offset, at(40) + offset, "A")]
    with pytest.raises(InvalidInputError, match="--timezone, for example Europe/Berlin"):
        place(rows, times=times)
    found = place(rows, times=times, timezone="Europe/Berlin")
    assert found.series.events == ((30, 41),)


def test_times_when_clocks_change_are_refused(place):
    times = pd.date_range("2026-10-25T00:00", periods=N, freq="10min", tz="UTC")
    rows = [("2026-10-25T02:30", "2026-10-25T03:30", "A")]
    with pytest.raises(InvalidInputError, match="when clocks change in Europe/Berlin"):
        place(rows, times=times, timezone="Europe/Berlin")


def test_times_are_sorted_before_intervals_are_placed(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"ts": TIMES, "score": rng.random(N)})
    frame.sample(frac=1, random_state=1).to_csv(tmp_path / "a.csv", index=False)
    tickets = save_tickets(tmp_path / "t.csv", [(at(10), at(12), "A")])
    found = read(tmp_path / "a.csv", tickets)
    assert found.series.events == ((10, 13),)
    assert found.scores[0].numbers.tolist() == frame["score"].tolist()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("21.03.2026 11:08", "21.03.2026 11:09", "A"), "numbers or ISO times such as 2026-03-21T"),
        ((None, at(3), "A"), "`start` must not be missing"),
        ((1.5, 3, "A"), "positions must be whole numbers"),
    ],
)
def test_intervals_that_cannot_be_read_are_refused(place, row, message):
    with pytest.raises(InvalidInputError, match=message):
        place([row])


# -- whose intervals -----------------------------------------------------------------------------

KEYED = [(at(10), at(12), "m001"), (at(30), at(31), "m002"), (at(40), at(44), "m002")]


def keyed(tmp_path, key="machine", rows=KEYED):
    return save_tickets(tmp_path / "tickets.csv", rows, ("start", "end", key))


@pytest.mark.parametrize("key", ["machine", "aggregat", "series"])
def test_intervals_of_other_series_are_not_applied(tmp_path, key):
    scores = save_scores(tmp_path / "scores", "m001", "m002")
    inputs = open_inputs(scores / "m001.csv", labels=keyed(tmp_path, key))
    assert inputs[0].read().series.events == ((10, 13),)
    assert any(f"{key!r} names the series" in note for note in inputs.notes) == (key != "series")
    by_name = {one.series: one.read().series for one in open_inputs(scores, labels=keyed(tmp_path))}
    assert by_name["m002"].events == ((30, 32), (40, 45))


def test_a_column_that_looks_like_a_key_is_named(tmp_path):
    scores = save_scores(tmp_path / "scores", "today")
    labels = keyed(tmp_path)
    with pytest.raises(InvalidInputError, match=r"got column 'machine' and series 'today'"):
        open_inputs(scores / "today.csv", labels=labels)
    found = read(scores / "today.csv", labels, labels_all=True)
    assert found.series.n_anomalies == 3
    once = keyed(tmp_path, rows=[(at(10), at(12), "m1"), (at(20), at(22), "m2")])
    with pytest.raises(InvalidInputError, match=r"got column 'machine' and series 'today'"):
        open_inputs(scores / "today.csv", labels=once)
    single = keyed(tmp_path, rows=[(at(10), at(12), 7)])
    notes = open_inputs(scores / "today.csv", labels=single).notes
    assert any("'machine' not used, all intervals" in note for note in notes)


def test_files_of_neither_labels_nor_intervals_are_told_both(tmp_path):
    scores = save_scores(tmp_path / "scores", "a")
    rows = [(at(9), at(10)), (at(1), at(2))]
    labels = save_tickets(tmp_path / "x.csv", rows, ("opened_at", "closed_at"))
    with pytest.raises(InvalidInputError, match="use --start opened_at --end closed_at"):
        read(scores / "a.csv", labels)


def test_other_columns_that_repeat_are_named_in_a_note(tmp_path):
    scores = save_scores(tmp_path / "scores", "today")
    rows = [(at(10), at(12), "a"), (at(30), at(31), "b"), (at(40), at(44), "a")]
    labels = keyed(tmp_path, "severity", rows)
    inputs = open_inputs(scores / "today.csv", labels=labels)
    assert any("'severity' not used, all intervals" in note for note in inputs.notes)


def test_the_column_is_declared(tmp_path):
    scores = save_scores(tmp_path / "scores", "m001", "m002", "m003")
    labels = keyed(tmp_path, "severity")
    inputs = open_inputs(scores, labels=labels, columns=Columns(labels_by="severity"))
    found = {one.series: one.read().series.n_anomalies for one in inputs}
    assert found == {"m001": 1, "m002": 2, "m003": 0}
    assert any("all points are normal: 'm003'" in note for note in inputs.notes)


def test_keys_are_text(tmp_path):
    scores = save_scores(tmp_path / "scores", "007", "7")
    rows = [(at(10), at(12), "007"), (at(30), at(31), "7")]
    inputs = open_inputs(scores, labels=keyed(tmp_path, "machine", rows))
    assert {one.series: one.read().series.events for one in inputs} == {
        "007": ((10, 13),),
        "7": ((30, 32),),
    }


def test_series_keep_their_own_values(tmp_path):
    values = np.sin(np.arange(N))
    scores = save_scores(tmp_path / "scores", "m001", value=values)
    found = read(scores / "m001.csv", keyed(tmp_path))
    np.testing.assert_allclose(found.series.values, values)
    assert len(found.scores) == 1
    labels = np.zeros(N, dtype=int)
    labels[3:9] = 1
    pd.DataFrame({"label": labels}).to_csv(tmp_path / "labels.csv", index=False)
    found = read(scores / "m001.csv", tmp_path / "labels.csv")
    np.testing.assert_allclose(found.series.values, values)


def test_exact_names_come_before_names_without_endings(tmp_path):
    scores = save_scores(tmp_path / "scores", "1", "2")
    rows = [(at(10), at(12), "1.0"), (at(30), at(31), "1"), (at(40), at(44), "2.0")]
    inputs = open_inputs(scores, labels=keyed(tmp_path, "series", rows))
    assert {one.series: one.read().series.events for one in inputs}["1"] == ((30, 32),)


def test_intervals_without_a_series_are_refused(tmp_path):
    scores = save_scores(tmp_path / "scores", "m001")
    labels = keyed(tmp_path, "machine", [*KEYED, (at(50), at(51), None)])
    with pytest.raises(InvalidInputError, match="column 'machine' must hold the name of a series"):
        open_inputs(scores, labels=labels)


@pytest.mark.parametrize(
    ("labels", "columns", "message"),
    [
        ("machine,start,end\nm9,1,2\n", {"labels_by": "machine"}, "must name series of .*long.csv"),
        ("machine,opened,closed\nm1,1,2\n", {}, "must be a file of intervals.*--start COLUMN"),
        ("machine,start,end\n,1,2\n", {"labels_by": "machine"}, "name of a series"),
    ],
)
def test_tickets_of_a_long_table_that_do_not_fit_it(tmp_path, labels, columns, message):
    (tmp_path / "long.csv").write_text("machine,LOF\n" + "m1,0.5\nm1,0.7\nm2,0.1\nm2,0.2\n")
    (tmp_path / "tickets.csv").write_text(labels)
    with pytest.raises(InvalidInputError, match=message):
        open_inputs(
            tmp_path / "long.csv",
            labels=tmp_path / "tickets.csv",
            columns=Columns(by="machine", **columns),
        )


def test_tickets_of_a_long_table(tmp_path):
    (tmp_path / "long.csv").write_text("machine,LOF\n" + "m1,0.5\nm2,0.1\nm1,0.7\nm2,0.2\n")
    path = tmp_path / "tickets.csv"
    path.write_text("machine,start,end,id\nm1,1,1,A\nm3,0,1,B\n")
    found = open_inputs(tmp_path / "long.csv", labels=path, columns=Columns(by="machine"))
    first, second = (load_source(one) for one in found)
    assert first.series.labels.tolist() == [False, True]
    assert [ticket.id for ticket in first.tickets] == ["A"]
    assert not second.series.labels.any()
    assert any("all points are normal: 'm2'" in note for note in found.notes)
    assert any("not used: 'm3'" in note for note in found.notes)
    everywhere = Columns(by="machine", labels_all=True)
    for one in open_inputs(tmp_path / "long.csv", labels=path, columns=everywhere):
        assert one.read().series.labels.all()

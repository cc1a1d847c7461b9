"""Thirty machines and their tickets: every way to evaluate them gives the same values."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

import vuskit
import vuskit.sql
from vuskit.bench import Run, parse_plan, run_plan
from vuskit.cli import main
from vuskit.datasets import open_inputs
from vuskit.datasets.columns import Columns

N, MACHINES = 240, 30
BUFFER = 6
OPTIONS = (
    "--labels", "incidents.csv", "--labels-by", "machine", "--start", "opened_at",
    "--end", "closed_at", "--id", "number", "--timezone", "Europe/Berlin", "--duplicates", "last",
    "--buffer", str(BUFFER), "--measure", "vus_pr,auc_pr",
)  # fmt: skip
COLUMNS = Columns(
    labels_by="machine",
    start="opened_at",
    end="closed_at",
    id="number",
    timezone="Europe/Berlin",
    duplicates="last",
)
NIGHT = pd.Timestamp("2026-03-28T23:00", tz="UTC")  # clocks change two hours later in Berlin


def name_of(machine):
    return f"m{machine:03d}"


def local(minute):
    moment = NIGHT + pd.Timedelta(minutes=minute)
    return moment.tz_convert("Europe/Berlin").strftime("%Y-%m-%dT%H:%M:%S")


def tickets():
    """Rows machine, number, opened_at, closed_at, severity; the last five machines have none."""
    rows = []
    for machine in range(MACHINES - 5):
        start = 20 + 3 * machine
        rows.append((start, start + 10, "usual"))
        rows.append((start + 5, start + 14, "overlapping"))
        if machine % 5 == 0:
            rows.append((-90, -60, "before the data"))
            rows.append((230, None, "open"))
        if machine % 5 == 1:
            rows.append((200, 190, "reversed"))
            rows.append((-5, 4, "begins before the data"))
        if machine % 5 == 2:
            rows.append((152, 156, "within missing minutes"))
        rows = [row if len(row) > 3 else (machine, *row) for row in rows]
    named = [
        (
            name_of(machine),
            f"INC{place:04d}",
            local(start),
            None if end is None else local(end),
            kind,
        )
        for place, (machine, start, end, kind) in enumerate(rows)
    ]
    columns = ["machine", "number", "opened_at", "closed_at", "severity"]
    return pd.DataFrame(named, columns=columns).sample(frac=1, random_state=3)


def points(machine):
    """Rows of a machine in UTC, with a gap, one minute sent twice, and in another order."""
    rng = np.random.default_rng(machine)
    times = NIGHT + pd.to_timedelta(np.arange(N), unit="min")
    score = rng.random(N)
    score[20 + 3 * machine : 35 + 3 * machine] += 0.4
    frame = pd.DataFrame({"ts": times, "LOF": score, "PCA": rng.random(N)})
    frame = frame.drop(index=range(150, 160))
    early = frame.iloc[[7]].assign(LOF=5.0)
    frame = pd.concat([early, frame])
    if machine % 3 == 0:
        last = frame.iloc[1:].sample(frac=1, random_state=machine)
        frame = pd.concat([early, last])
    form = "%Y-%m-%dT%H:%M:%SZ" if machine % 2 else "%Y-%m-%d %H:%M:%S+00:00"
    return frame.assign(ts=frame["ts"].dt.strftime(form))


def save(folder):
    scores = folder / "scores"
    scores.mkdir()
    for machine in range(MACHINES):
        points(machine).to_csv(scores / f"{name_of(machine)}.csv", index=False)
    tickets().to_csv(folder / "incidents.csv", index=False)


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story")
    save(folder)
    return folder


@pytest.fixture
def evaluated(story, monkeypatch, capsys, tmp_path):
    """Run ``vuskit evaluate`` in the folder of the story; return values and messages."""
    monkeypatch.chdir(story)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["vuskit", "evaluate", *map(str, arguments), "--json"])
        with pytest.raises(SystemExit) as stop:
            main.run()
        printed = capsys.readouterr()
        assert stop.value.code in (None, 0, 3), printed.err
        rows = json.loads(printed.out)["values"]
        return {
            (row["series"], row["detector"], row["measure"]): row["value"] for row in rows
        }, " ".join(printed.err.split())

    return run


def expected_labels(machine):
    """Labels of the points that remain, written independently of the package."""
    labels = np.zeros(N, dtype=bool)
    if machine < MACHINES - 5:
        start = 20 + 3 * machine
        labels[start : start + 15] = True
        if machine % 5 == 0:
            labels[230:] = True
        if machine % 5 == 1:
            labels[:5] = True
    return np.delete(labels, range(150, 160))


def expected():
    """Values of clean arrays."""
    found = {}
    for machine in range(MACHINES - 5):
        frame = points(machine)
        frame = frame.assign(ts=pd.to_datetime(frame["ts"])).drop_duplicates("ts", keep="last")
        frame = frame.sort_values("ts")
        for detector in ("LOF", "PCA"):
            values = vuskit.evaluate(
                expected_labels(machine),
                frame[detector].to_numpy(),
                buffer=BUFFER,
                measures=["vus_pr", "auc_pr"],
            )
            for measure, value in values.items():
                found[name_of(machine), detector, measure] = value
    return found


def test_the_command_line_and_a_run_say_what_they_did(evaluated, tmp_path):
    found, told = evaluated("scores", *OPTIONS)
    known = {key: value for key, value in found.items() if value is not None}
    assert known == expected()
    without = {series for (series, _, _), value in found.items() if value is None}
    assert without == {name_of(machine) for machine in range(MACHINES - 5, MACHINES)}
    check_told(told)
    again, told = evaluated("scores", *OPTIONS, "--output", tmp_path / "run")
    assert {key: value for key, value in again.items() if value is not None} == known
    check_told(told)
    assert Run(tmp_path / "run").exists


def check_told(told):
    """Each kind of decision is reported once."""
    for line in (
        "intervals without an end, which last to the end of the data: 5 (",
        "intervals outside the data, dropped: 5 (",
        "intervals that end before they start, dropped: 5 (",
        "intervals between two points, dropped: 5 (",
        "intervals partly outside the data, clipped: 5 (",
        "intervals that overlap others, joined: 25 (",
        "series whose rows are sorted by 'ts': ",
        "rows dropped at a time that a later row has: 30 (",
        "no intervals in incidents.csv, all points are normal: 'm025'",
    ):
        assert told.count(line) == 1, (line, told)


PLAN = """
folder = "{folder}"
[[scores]]
folder = "scores"
labels = "incidents.csv"
labels_by = "machine"
start = "opened_at"
end = "closed_at"
id = "number"
timezone = "Europe/Berlin"
duplicates = "last"
[[evaluate]]
measures = ["vus_pr", "auc_pr"]
buffer = {buffer}
"""


def test_a_plan_has_the_same_values(story, tmp_path):
    text = PLAN.format(folder=(tmp_path / "run").as_posix(), buffer=BUFFER)
    summary = run_plan(parse_plan(text, base=story))
    check_told(" ".join(summary.notes))
    table = Run(summary.folder).outcomes().dropna(subset="value")
    keys = zip(table["series"], table["detector"], table["measure"], strict=True)
    assert dict(zip(keys, table["value"], strict=True)) == expected()


def long_frame(story):
    """One row per point, with the labels that the tickets give, and the duplicated rows."""
    parts = []
    for source in open_inputs(story / "scores", labels=story / "incidents.csv", columns=COLUMNS):
        series = source.read().series
        frame = points(int(series.name[1:]))
        moments = pd.to_datetime(frame["ts"])
        labels = pd.Series(series.labels.astype(int), index=sorted(moments.unique()))
        parts.append(
            frame.assign(ts=moments, machine=series.name, label=labels[moments].to_numpy())
        )
    return pd.concat(parts, ignore_index=True)


def close(found):
    return {key: pytest.approx(value, rel=1e-12) for key, value in found.items()}


@pytest.mark.parametrize("kind", ["pandas", "polars", "duckdb", "dask"])
def test_frames_have_the_same_values(story, kind):
    frame = points_of_all = long_frame(story)
    if kind == "polars":
        frame = pytest.importorskip("polars").from_pandas(frame)
    if kind == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
        connection.register("points", points_of_all)
        frame = connection.sql("select * from points")
    if kind == "dask":
        parts = pytest.importorskip("dask.dataframe")
        frame = parts.from_pandas(points_of_all, npartitions=4)
    options = {"by": "machine", "label": "label", "order": "ts", "buffer": BUFFER}
    with pytest.raises(vuskit.errors.InvalidInputError, match="must be unique within a series"):
        getattr(vuskit.evaluate_frame(frame, **options, errors="raise"), "compute", list)()
    found = vuskit.evaluate_frame(
        frame,
        **options,
        scores=["LOF", "PCA"],
        duplicates="last",
        measures=["vus_pr", "auc_pr"],
    )
    convert = {"polars": "to_pandas", "duckdb": "df", "dask": "compute"}
    table = getattr(found, convert[kind])() if kind in convert else found
    assert sorted(set(table["status"])) == ["OK", "SKIPPED"]
    table = table[table["status"] == "OK"]
    assert table["message"].str.contains("dropped 1 rows").all()
    keys = zip(table["series"], table["detector"], table["measure"], strict=True)
    assert dict(zip(keys, table["value"], strict=True)) == close(expected())


def test_sql_has_the_same_values(story):
    connection = pytest.importorskip("duckdb").connect()
    vuskit.sql.register(connection, measures=["vus_pr", "auc_pr"])
    frame = long_frame(story)
    connection.register("points", frame.drop_duplicates(["machine", "ts"], keep="last"))
    rows = connection.sql(
        f"select machine, vus_pr(list(label order by ts), list(LOF order by ts), {BUFFER}),"
        " auc_pr(list(label order by ts), list(LOF order by ts)) from points group by machine"
    ).fetchall()
    found = {
        (machine, "LOF", measure): value
        for machine, *values in rows
        for measure, value in zip(("vus_pr", "auc_pr"), values, strict=True)
        if value is not None
    }
    assert found == close({key: value for key, value in expected().items() if key[1] == "LOF"})


def test_a_long_table_has_the_same_values(story, evaluated):
    frame = long_frame(story).sample(frac=1, random_state=0)
    kept = frame.sort_values("LOF").drop_duplicates(["machine", "ts"])  # 5.0 is the first report
    path = story / "long.parquet"
    kept.sample(frac=1, random_state=1).to_parquet(path)
    try:
        found, told = evaluated(path.name, "--by", "machine", *OPTIONS[-4:])
    finally:
        path.unlink()
    assert {key: value for key, value in found.items() if value is not None} == expected()
    assert "series whose rows are sorted by 'ts': 30 (" in told


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_long_table_with_tickets_has_the_same_values(story, evaluated, tmp_path, suffix):
    table = pd.concat([points(m).assign(machine=name_of(m)) for m in range(MACHINES)])
    path = tmp_path / f"long{suffix}"
    getattr(table, "to_csv" if suffix == ".csv" else "to_parquet")(path, index=False)
    for output in ((), ("--output", tmp_path / "run")):
        found, told = evaluated(path, "--by", "machine", *OPTIONS, *output)
        assert {key: value for key, value in found.items() if value is not None} == expected()
        check_told(told)

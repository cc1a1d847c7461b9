"""Stores of earlier versions: read as they are, converted when they are written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from vuskit.bench import Kind, Run, Status, Store, leaderboard
from vuskit.bench.expand import expand_plan
from vuskit.bench.store import DATABASE, find_damages, open_store, writer
from vuskit.bench.store.schema import SCHEMA_VERSION
from vuskit.datasets.synthetic import make_series
from vuskit.measures import registry
from vuskit.report.page.run import RunReport

DATA = Path(__file__).parents[1] / "data"
# Of the generated series in the stores 3 and 4, by their seeds.
HASHES = {
    1: "e8b330ba24bdab6cf02c9dbc182f684bd7732076fd37fe6810d78e06c74c720b",
    2: "947f6d7234652f36496d14505d4942523ba556a60996efc7ed35dbab6f17d161",
}


def restored(version, folder, place=""):
    """A store as an earlier version wrote it; its plan lies in ``place``."""
    folder.mkdir()
    connection = sqlite3.connect(folder / DATABASE)
    script = (DATA / f"store_{version}.sql").read_text()
    connection.executescript(script.replace("PLACE", str(place)))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return folder


@pytest.fixture
def old(tmp_path):
    """A store that the first version of the schema wrote, with a measure of one's own."""
    return restored(1, tmp_path / "old")


def shape_of(folder):
    connection = sqlite3.connect(folder / DATABASE)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
        columns = {
            name: sorted(row[1:4] for row in connection.execute(f'PRAGMA table_info("{name}")'))
            for name in tables
        }
        return columns, connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def read_everything(folder):
    values = Run(folder).values()
    assert len(values) == 16
    assert list(Run(folder).measures()) == ["auc_pr", "misses"]
    assert Run(folder).status().n_values == len(values)
    assert leaderboard(values)["series"].to_list() == [2, 2]
    run = RunReport.read(folder)
    assert run.measure("auc_pr").title == "AUC-PR"
    assert run.seeds == 2
    return values


def test_an_old_store_is_read_as_it_is(old):
    before = (old / DATABASE).read_bytes()
    values = read_everything(old)
    assert values["warm_up_seconds"].isna().all()
    assert set(values[values["measure"] == "misses"]["measure_title"]) == {"misses"}
    assert (old / DATABASE).read_bytes() == before
    assert shape_of(old)[1] == 1


def test_an_old_store_becomes_a_new_one_when_it_is_written(old, tmp_path):
    before = read_everything(old)
    with Store(old) as store:
        assert store.integrity() == "ok"
    Store(tmp_path / "new").close()
    assert shape_of(old) == shape_of(tmp_path / "new")
    assert shape_of(old)[1] == SCHEMA_VERSION
    assert read_everything(old).equals(before)
    Store(old).close()  # once is enough


def test_a_migration_that_fails_leaves_the_old_store(old, monkeypatch):
    added = {2: {"measures": {"title": "TEXT"}, "nowhere": {"x": "TEXT"}}, 3: {}}
    monkeypatch.setattr("vuskit.bench.store.schema._ADDED", added)
    with pytest.raises(Exception, match="no such table: nowhere"):
        Store(old)
    monkeypatch.undo()
    assert shape_of(old)[1] == 1
    read_everything(old)


def test_a_store_with_an_open_log_is_copied_where_nothing_can_be_written(old, monkeypatch):
    """As on a read-only disk: the log of a killed run holds the last transactions."""
    writer = sqlite3.connect(old / DATABASE)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE runs SET host = 'late'")
    writer.commit()
    from vuskit.bench.store import reader

    real = reader._connected
    refused = []

    def connected(path, options):
        if path.parent == old and options == "mode=ro":
            refused.append(path)
            raise sqlite3.OperationalError("unable to open database file")
        return real(path, options)

    monkeypatch.setattr(reader, "_connected", connected)
    assert Run(old).status().run["host"] == "late"
    writer.close()
    # The log is gone: the file is all there is.
    assert Run(old).status().run["host"] == "late"
    assert len(refused) == 2


# -- version 3: names stored with results, measures as "name @ version" ---------------------------

MEASURES = """\
import numpy as np

from vuskit import register_measure


@register_measure(name="misses", title="Misses", family="own", higher_is_better=False)
def misses(y_true, y_score):
    return float(np.mean(y_score[y_true == 1] < np.median(y_score)))


@register_measure(name="fails")
def fails(y_true, y_score):
    raise ValueError("this measure fails")
"""
DETECTORS = """\
def fails(values):
    raise RuntimeError("this detector fails")
"""


@pytest.fixture(params=[3, 4])
def third(workshop, request):
    """A store of two starts: a renamed detector, a detector and a measure that fail, imports.

    Version 4 is what its version of vuskit made of version 3.
    """
    base = workshop.base
    (base / "my_measures.py").write_text(MEASURES)
    (base / "my_detectors.py").write_text(DETECTORS)
    (base / "external").mkdir()
    rows = [f"{i % 7},{int(20 <= i < 26)},{i * 7 % 11},{i % 5}" for i in range(60)]
    text = "\n".join(["value,label,LOF,Twice", *rows, ""])
    (base / "external" / "plant.csv").write_text(text)
    restored(request.param, workshop.folder, base)
    return workshop


def exported(folder):
    """What the version that wrote the store exported of it, and what is exported now."""
    expected = pd.read_csv(DATA / "store_3.csv")
    table = Run(folder).table()[list(expected)]
    return table.astype({"seed": "float64"}), expected.astype({"seed": "float64"})


def check_third(folder):
    pd.testing.assert_frame_equal(*exported(folder))
    run = Run(folder)
    status = run.status()
    assert status.counts == {
        (Kind.SCORE, Status.OK): 6,
        (Kind.SCORE, Status.ERROR): 2,
        (Kind.IMPORT, Status.OK): 2,
        (Kind.EVALUATE, Status.OK): 8,
        (Kind.EVALUATE, Status.ERROR): 8,
    }
    assert status.n_values == 24
    assert len(status.failures) == 10
    titles = {one.title for one in status.failures}
    assert "evaluate fails of LOF on external/plant" in titles
    assert {name: one.higher_is_better for name, one in run.measures().items()} == {
        "f_score(beta=2)": True,
        "auc_pr": True,
        "fails": True,
        "misses": False,
    }
    assert run.measures()["misses"].title == "Misses"
    assert run.detectors() == ("LOF", "Old name", "Twice", "Values", "my_detectors:fails")
    action, ended = run.action(status.failures[-1].key, allow_code=True)
    assert (action.job.title, ended) == (status.failures[-1].title.partition(" ")[2], Status.ERROR)
    assert RunReport.read(folder).seeds == 2


def test_an_earlier_store_is_read_as_it_is(third):
    before = (third.folder / DATABASE).read_bytes()
    check_third(third.folder)
    assert (third.folder / DATABASE).read_bytes() == before


def test_an_earlier_store_is_converted_once(third, tmp_path):
    with Store(third.folder) as store:
        assert store.integrity() == "ok"
    Store(tmp_path / "new").close()
    assert shape_of(third.folder) == shape_of(tmp_path / "new")
    assert find_damages(third.folder) == []
    check_third(third.folder)
    assert third.query("SELECT DISTINCT name, version FROM measures ORDER BY name LIMIT 2") == [
        ("auc_pr", "vuskit 0.1.0"),
        ("f_score(beta=2)", "vuskit 0.1.0"),
    ]
    (code,) = third.query("SELECT DISTINCT code FROM jobs WHERE settings LIKE 'random%'")
    assert code == ("vuskit 0.1.0",)
    assert not third.query("SELECT 1 FROM jobs WHERE spec LIKE '%Old name%' OR spec LIKE '%ecg%'")


def test_a_conversion_that_fails_leaves_the_store(third, monkeypatch):
    before = (third.folder / DATABASE).read_bytes()

    def fails(*_):
        raise RuntimeError("power failure")

    for name in ("_convert_plan", "_add_columns"):
        monkeypatch.setattr(f"vuskit.bench.store.schema.{name}", fails)
    with pytest.raises(RuntimeError, match="power failure"):
        Store(third.folder)
    monkeypatch.undo()
    assert (third.folder / DATABASE).read_bytes() == before
    check_third(third.folder)


def make_series_as_stored(*, seed, **options):
    """The last digits of generated values, and so their hashes, depend on the processor."""
    series = make_series(seed=seed, **options)
    vars(series)["content_hash"] = HASHES[seed]
    return series


def test_a_run_goes_on_from_an_earlier_store_and_names_follow_its_plan(third, monkeypatch):
    monkeypatch.setattr("vuskit.bench.jobs.make_series", make_series_as_stored)
    for module in ("vuskit", "vuskit.bench.jobs"):
        monkeypatch.setattr(f"{module}.__version__", "0.1.0")
    # The real functions cache versions across tests.
    monkeypatch.setattr("vuskit._util.code_digest._installed_version", lambda name: "0.1.0")
    monkeypatch.setattr(writer, "_versions_of", writer._versions_of.__wrapped__)
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))
    third.path.write_text(Run(third.folder).plan(allow_code=True).text)
    # Code of the user's own was tracked by its file only: that runs again, and nothing else.
    with open_store(third.folder) as store:
        stale = {one.reason: one.jobs for one in expand_plan(third.plan(), store).stale}
    incomplete = "was not fully tracked"
    assert stale == {
        f"code of `my_detectors:fails` {incomplete}": 2,
        f"measure misses {incomplete}; measure fails {incomplete}": 8,
    }
    done = third.run()
    assert {job.label for job, _ in done if job.kind is Kind.SCORE} == {"my_detectors:fails"}
    # The files with scores are not there, so no evaluation is stored.
    assert not [job for job, _ in done if job.kind is Kind.EVALUATE]
    notes = Run(third.folder).status().notes
    assert any("not computed: " in note and "verify --repair" in note for note in notes)
    assert third.run() == []
    assert "Chance" in Run(third.folder).detectors()
    table, expected = exported(third.folder)
    table, expected = (one[~one["measure"].isin(["misses", "fails"])] for one in (table, expected))
    renamed = expected.replace({"detector": {"Old name": "Chance"}})
    order = ["dataset", "series", "detector", "seed", "measure"]
    pd.testing.assert_frame_equal(
        table.sort_values(order, ignore_index=True), renamed.sort_values(order, ignore_index=True)
    )

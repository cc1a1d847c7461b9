"""The store: one writer, whole transactions, folders and packs read alike, errors of disks."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from bench.conftest import Workshop

from vuskit import InvalidInputError
from vuskit.bench import Run
from vuskit.engine import (
    Outcome,
    Status,
    Task,
)
from vuskit.engine.run import LocalExecutor
from vuskit.errors import ChangedInputError, VuskitError
from vuskit.store import Store, StoreError, key_of, store
from vuskit.store.store import SCHEMA_VERSION

TABLES = ("starts", "results", "planned", "series", "measures", "sources")

# -- reading: a folder and a pack of the same run --------------------------------------------------


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A run with several seeds and a failing detector, and its pack."""
    shop = Workshop(tmp_path_factory.mktemp("store"))
    shop.write(detectors=("fine", "raises"), top="seeds = [0, 1]").run()
    shop.pack = shop.base / "run.vuskit.zip"
    Run(shop.folder).pack(shop.pack)
    shop.forget()
    return shop


@pytest.fixture(params=["folder", "pack"])
def reader(request, shop):
    with Store.read(getattr(shop, request.param)) as found:
        yield found


def test_statuses_and_results(reader):
    results = list(reader.results())
    assert reader.statuses() == {result.key: result.status for result in results}
    counts = {}
    for result in results:
        counts[result.kind, str(result.status)] = counts.get((result.kind, result.status), 0) + 1
        assert key_of(result.kind, result.about, result.parent) == result.key
        assert reader.get(result.key) == reader.find(result.key[:12]) == result
        assert {"numpy", "vuskit", "core"} <= result.environment.keys()
    assert counts == {("score", "OK"): 4, ("score", "ERROR"): 2, ("evaluate", "OK"): 4}
    assert reader.get("0" * 32) is None


def test_values_failures_and_times(reader):
    scored, failed, evaluated = (
        next(one for one in reader.results() if (one.kind, str(one.status)) == wanted)
        for wanted in (("score", "OK"), ("score", "ERROR"), ("evaluate", "OK"))
    )
    assert scored.about["detector"] == "misbehaving:fine"
    assert scored.value["score_seconds"] > 0
    assert (failed.value, failed.digest) == (None, None)
    assert failed.message == "RuntimeError: this detector does not like the series"
    assert evaluated.parent in reader.statuses()
    assert evaluated.value["buffer"] == 90
    assert evaluated.value["values"].keys() == {"auc_pr", "vus_pr"}
    assert all(isinstance(value, float) for value in evaluated.value["values"].values())


@pytest.mark.parametrize(("key", "found"), [("", "several jobs"), ("zz", "no job"), ("%", "no")])
def test_unknown_and_ambiguous_keys_are_refused(reader, key, found):
    with pytest.raises(InvalidInputError, match=f"which matches {found}"):
        reader.find(key)


def test_planned_tasks_have_names_and_results(reader):
    planned = list(reader.planned())
    assert [result is None for _, result in planned].count(True) == 2  # of scores that failed
    assert len(planned) == 12
    first, result = planned[0]
    assert (first.kind, first.detector, first.seed) == ("score", "misbehaving:fine", 0)
    assert first.series.startswith("ecg-")
    assert (result.key, result.status) == (first.key, Status.OK)
    assert reader.named(first.key) == first
    assert reader.named("0" * 32) is None
    (series,) = reader.rows("series", hash=first.hash)
    assert series["name"] == first.series
    children = [named for named, _ in planned if named.parent == first.key]
    assert [named.settings.partition(",")[0] for named in children] == ["buffer=median_anomaly"]


def test_rows_of_tables_and_the_latest_start(reader):
    assert {name: bool(reader.rows(name)) for name in TABLES if name != "sources"} == dict.fromkeys(
        (name for name in TABLES if name != "sources"), True
    )
    assert [row["name"] for row in reader.rows("measures")] == ["auc_pr", "vus_pr"]
    assert all(len(json.loads(row["events"])) == 3 for row in reader.rows("series"))
    start = reader.latest()
    assert (start.state, start.notes) == ("finished", ())
    assert "misbehaving:fine" in start.plan
    assert start.progress["done"] == 10
    assert reader.first_start() == start.started


def test_scores_are_read_and_checked(reader, shop):
    scored = [one for one in reader.results() if one.kind == "score" and one.status is Status.OK]
    with Store.read(shop.folder) as folder:
        for result in scored:
            expected = np.load(folder.score_path(result.key))
            np.testing.assert_array_equal(reader.scores(result.key), expected)
    assert reader.damages() == []


def test_a_folder_and_its_pack_read_alike(shop):
    with Store.read(shop.folder) as folder, Store.read(shop.pack) as pack:
        assert list(folder.planned()) == [
            (named, None if result is None else _with_machine(result, folder))
            for named, result in pack.planned()
        ]


def _with_machine(result, folder):
    """Add what packs leave out."""
    known = folder.get(result.key)
    return replace(result, worker=known.worker, traceback=known.traceback)


def test_the_core_of_results_is_recorded(workshop, monkeypatch):
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
    workshop.write().run()
    with Store.read(workshop.folder) as reader:
        assert {one.environment["core"] for one in reader.results()} == {"numpy"}
        assert reader.latest().environment["core"] == "numpy"


def test_reading_goes_on_while_another_process_writes(workshop):
    workshop.write().run()
    with Store(workshop.folder) as writer, writer._transaction():
        writer._execute("DELETE FROM results WHERE kind = 'evaluate'")
        assert Run(workshop.folder).status().count(Status.OK) == 4
        assert len(Run(workshop.folder).values()) == 4
    assert len(Run(workshop.folder).values()) == 0


def test_a_store_with_an_open_log_is_copied_where_nothing_can_be_written(workshop, monkeypatch):
    """As on a read-only disk: the log of a killed run holds the last transactions."""
    folder = workshop.write().folder
    workshop.run()
    writer = sqlite3.connect(folder / "results.sqlite")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE starts SET host = 'late'")
    writer.commit()
    real, refused = store._connected, []

    def connected(path, options):
        if path.parent == folder and options == "mode=ro":
            refused.append(path)
            raise sqlite3.OperationalError("unable to open database file")
        return real(path, options)

    monkeypatch.setattr(store, "_connected", connected)
    assert Run(folder).status().run["host"] == "late"
    writer.close()  # removes the log
    assert Run(folder).status().run["host"] == "late"
    assert len(refused) == 2


def test_damage_anywhere_is_told_in_a_sentence(shop, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(shop.folder, folder)
    good, chance, told = (folder / "results.sqlite").read_bytes(), random.Random(1), []
    for _ in range(60):
        data = bytearray(good)
        for place in chance.sample(range(len(data) - 64), 3):
            data[place : place + 32] = chance.randbytes(32)
        (folder / "results.sqlite").write_bytes(data)
        for read in (Run.status, Run.outcomes):
            try:
                read(Run(folder))
            except VuskitError as error:
                told.append(str(error))
    assert len(told) > 40
    assert not any("\n" in text for text in told)


# -- writing ---------------------------------------------------------------------------------------


def task(name, kind="score", parent=None):
    about = {"name": name}
    return Task(key_of(kind, about, parent), name, None, kind, about, parent)


def scored(*numbers):
    return Outcome(Status.OK, {"scores": np.array(numbers), "cold": False})


def test_there_is_one_writer_and_it_is_named(tmp_path):
    with (
        Store(tmp_path),
        pytest.raises(StoreError, match=f"process {os.getpid()} is writing to it"),
    ):
        Store(tmp_path)
    Store(tmp_path).close()


def test_scores_are_files_named_by_key(tmp_path):
    one = task("a")
    with Store(tmp_path) as writer:
        writer.save([(one, scored(1.0, 2.0))])
        path = tmp_path / "scores" / one.key[:2] / f"{one.key}.npy"
        assert np.load(path).tolist() == [1, 2]
        assert writer.get(one.key).value == {"cold": False}
        np.save(path, [1.0, 3.0])
        with pytest.raises(ChangedInputError, match=r"got different content; .* verify --repair"):
            writer.scores(one.key)
        path.write_bytes(b"rubbish")
        with pytest.raises(ChangedInputError, match="must hold the scores of the run"):
            writer.scores(one.key)
        assert writer.score_files() == {one.key: path}


@pytest.mark.parametrize("key", ["../../secret", "0" * 31, "0" * 33, "0" * 31 + "G", "", "/" * 32])
def test_only_keys_become_paths(tmp_path, key):
    with Store(tmp_path) as writer, pytest.raises(InvalidInputError, match="32 hexadecimal digits"):
        writer.score_path(key)


@pytest.mark.parametrize("again", ["forget", "save"])
def test_new_scores_remove_what_was_computed_from_the_old_ones(tmp_path, again):
    """A detector that is not deterministic: its old evaluations are wrong for the new scores."""
    first, other = task("a"), task("b")
    children = [task(name, "evaluate", first.key) for name in ("x", "y")]
    kept = task("x", "evaluate", other.key)
    value = Outcome(Status.OK, {"values": {"auc_pr": 0.5}})
    with Store(tmp_path) as writer:
        writer.save([(first, scored(1.0)), (other, scored(1.0))])
        writer.save([(one, value) for one in (*children, kept)])
        if again == "forget":
            assert writer.forget([first.key]) == 1
            assert not writer.score_path(first.key).exists()
            assert writer.statuses().keys() == {other.key, kept.key}
        writer.save([(first, scored(2.0))])
        assert writer.scores(first.key).tolist() == [2.0]
        assert writer.statuses().keys() == {first.key, other.key, kept.key}
    with Store.read(tmp_path) as reader:
        assert reader.damages() == []


def test_half_written_scores_leave_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with Store(tmp_path) as writer:
        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(StoreError, match=r"No space left on device\. Finished jobs are kept"):
            writer.save([(task("a"), scored(1.0))])
        assert writer.statuses() == {}
        assert [path for path in tmp_path.rglob("*.npy*") if path.is_file()] == []


def test_a_failed_transaction_saves_nothing(tmp_path):
    with Store(tmp_path) as writer:
        orphan = task("a", "evaluate", "0" * 32)
        with pytest.raises(sqlite3.IntegrityError):
            writer.save([(task("b"), scored(1.0)), (orphan, Outcome(Status.OK, {}))])
        assert writer.statuses() == {}
        writer.save([(task("b"), scored(1.0))])
        assert len(writer.statuses()) == 1


def test_score_files_that_a_stopped_run_did_not_record_are_removed(tmp_path):
    keys = [task(name).key for name in "abc"]
    with Store(tmp_path) as writer:
        writer.begin()
        writer.save([(task("a"), scored(1.0))])
        for key in keys[1:]:  # as if killed before the transaction
            writer._write_scores(key, np.zeros(3))
        os.utime(writer.score_path(keys[2]), (0, 0))  # of an earlier run, with a lost database
    with Store(tmp_path) as writer:
        assert writer.score_files().keys() == {keys[0], keys[2]}


def test_names_that_are_not_text_can_be_stored(tmp_path):
    strange = task("caf\udce9")
    with Store(tmp_path) as writer:
        writer.save([(strange, Outcome(Status.ERROR, message="caf\udce9"))])
        assert writer.get(strange.key).about == {"name": "caf\udce9"}


@pytest.mark.parametrize("where", [".", "data"])
def test_a_folder_with_other_files_is_refused_and_not_changed(workshop, where, environment):
    """Through the command: `folder = "."` is a plausible plan."""
    workshop.write(top=f'folder = "{where}"', tail="[executor]\nworkers = 1")
    folder = workshop.base / where
    for name in ("tmp", "scores"):
        (folder / name).mkdir(parents=True)
        (folder / name / "mine.txt").write_text("mine")
    before = content_of(workshop.base)
    for command in ("plan", "run"):
        done = subprocess.run(
            [sys.executable, "-B", "-c", "from vuskit.cli.main import run; run()", "bench",
             command, str(workshop.path)],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        assert done.returncode == 2, done.stderr
        assert "must be a new or empty folder or hold a benchmark run" in done.stderr
        assert f"{folder}/run" in done.stderr
        assert content_of(workshop.base) == before


def content_of(folder):
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


def test_files_of_users_in_a_run_stay(workshop):
    workshop.write(tail="[executor]\nworkers = 1").run()
    (workshop.folder / ".vuskit-lock").unlink()
    for name in ("tmp", ".vuskit-tmp-1"):
        (workshop.folder / name).mkdir()
        (workshop.folder / name / "file").write_text("x")
    (workshop.base / "mine").mkdir()
    (workshop.base / "mine" / "file").touch()
    (workshop.folder / ".vuskit-tmp-2").symlink_to(workshop.base / "mine")
    workshop.run(executor=LocalExecutor())
    assert (workshop.folder / "tmp" / "file").read_text() == "x"
    assert (workshop.base / "mine" / "file").exists()  # links are not followed
    assert not (workshop.folder / ".vuskit-tmp-1").exists()  # left by a killed run


@pytest.mark.parametrize("names", [[], [".DS_Store", ".gitignore"], [".vuskit-lock", "scores"]])
def test_an_empty_folder_and_one_whose_database_was_removed_are_taken(tmp_path, names):
    for name in names:
        (tmp_path / name).touch()
    Store(tmp_path).close()
    assert {path.name for path in tmp_path.iterdir()} == {*names, "results.sqlite", ".vuskit-lock"}


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".vuskit-lock").symlink_to(tmp_path / "mine")
    with pytest.raises(StoreError, match="must be writable"):
        Store(tmp_path / "run")
    assert (tmp_path / "mine").read_text() == "mine"


# -- disks that do not cooperate: a small file system of our own, in a namespace of our own --------

UNSHARE = ["unshare", "--map-root-user", "--mount"]


def needs_own_mounts():
    probe = "mount -t tmpfs -o size=64k none /mnt"
    if shutil.which("unshare") is None:
        pytest.skip("no unshare: cannot make a small file system")
    if subprocess.run([*UNSHARE, "sh", "-c", probe], check=False, capture_output=True).returncode:
        pytest.skip("no right to mount: cannot make a small file system")


SCRIPT = """
set -u
cd {base}
mkdir -p bench-run
mount -t tmpfs -o size={size} none bench-run
{first}
vuskit() {{ {python} -c 'from vuskit.cli.main import run; run()' "$@"; }}
vuskit bench run --plain bench.toml; echo "first: $?"
{second}
vuskit bench run --plain bench.toml; echo "second: $?"
vuskit bench verify; echo "verify: $?"
{third}
ls -d bench-run/.vuskit-tmp* 2>/dev/null; echo "left: $?"
"""


def run_on_small_disk(workshop, environment, **steps):
    script = SCRIPT.format(base=workshop.base, python=sys.executable, **steps)
    result = subprocess.run(
        [*UNSHARE, "sh", "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    return result.stdout, result.stderr


def test_a_full_disk_is_told_and_the_run_goes_on_later(workshop, environment):
    needs_own_mounts()
    workshop.write(
        series='[[series]]\nfamily = "ecg"\nn = 40000\nn_anomalies = 3\nseed = [1, 2]',
        top="seeds = [0, 1, 2, 3]",
        tail="[executor]\nworkers = 1",
    )
    # Eight files of 320 kB do not fit.
    out, err = run_on_small_disk(
        workshop,
        environment,
        size="1500k",
        first="",
        second="mount -o remount,size=20m bench-run",
        third="",
    )
    assert "first: 2" in out, out + err
    assert "No space left on device" in err or "disk is full" in err
    assert "Finished jobs are kept" in err
    assert "second: 0" in out
    assert "0 failed, " in out
    assert "the run has 16 of 16 jobs done" in out
    assert "8 score files" in out
    assert "0 problems\nverify: 0" in out
    assert out.endswith("left: 2\n")  # no folder of temporary files


def test_a_read_only_folder_is_told_and_the_run_goes_on_later(workshop, environment):
    needs_own_mounts()
    workshop.write(tail="[executor]\nworkers = 1")
    out, err = run_on_small_disk(
        workshop,
        environment,
        size="20m",
        first="mount -o remount,ro bench-run",
        second="mount -o remount,rw bench-run",
        third="mount -o remount,ro bench-run; "
        "vuskit bench export bench-run --csv | wc -l; vuskit bench status bench-run | head -1",
    )
    assert "first: 2" in out, out + err
    assert "`folder` must be writable" in err
    assert "Read-only file system" in err
    assert "4 of 4 jobs done, 0 failed" in out
    assert "0 problems\nverify: 0" in out
    # What is there can be read, although no reader can leave a file beside it.
    assert "\n5\nRun 1: finished" in out, out + err


# -- tables ----------------------------------------------------------------------------------------


def query(folder, sql):
    with contextlib.closing(sqlite3.connect(folder / "results.sqlite")) as connection:
        return connection.execute(sql).fetchall()


def test_a_new_store_has_these_tables_in_wal_mode(tmp_path):
    Store(tmp_path).close()
    found = {name for (name,) in query(tmp_path, "SELECT name FROM sqlite_master "
                                                 "WHERE type = 'table'")}  # fmt: skip
    assert found == set(TABLES)
    assert query(tmp_path, "PRAGMA journal_mode") == [("wal",)]
    assert query(tmp_path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    with Store(tmp_path) as store, pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        store.insert("results", [
            {"key": "a", "kind": "x", "status": "OK", "parent": "b", "about": "{}",
             "environment": "{}", "finished": ""}
        ])  # fmt: skip


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_store_of_another_version_is_refused(tmp_path, version):
    Store(tmp_path).close()
    query(tmp_path, f"PRAGMA user_version = {version}")
    for open_store in (Store, Store.read, Store.read_or_empty):
        with pytest.raises(InvalidInputError, match=f"got {version} .*evaluate the score files"):
            open_store(tmp_path)
    query(tmp_path, f"PRAGMA user_version = {SCHEMA_VERSION}")
    Store(tmp_path).close()  # the refused store kept no lock


def test_something_else_than_a_store_is_refused(tmp_path):
    (tmp_path / "results.sqlite").write_text("not a database, but long enough to look like one" * 9)
    for open_store in (Store, Store.read, Store.read_or_empty):
        with pytest.raises(InvalidInputError, match="must be a store of vuskit, got a damaged fi"):
            open_store(tmp_path)
    with pytest.raises(InvalidInputError, match="must hold a benchmark run"):
        Store.read(tmp_path / "nowhere")

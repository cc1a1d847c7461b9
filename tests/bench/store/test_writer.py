"""The store: one writer, whole transactions, clear words when the disk does not cooperate."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from vuskit import InvalidInputError
from vuskit.bench import StoreError, Status, Store
from vuskit.store.store import Store
from vuskit.bench.store.schema import SCHEMA_VERSION
from vuskit.engine import LocalExecutor


def test_there_is_one_writer_and_it_is_named(tmp_path):
    with (
        Store(tmp_path),
        pytest.raises(StoreError, match=f"process {os.getpid()} is writing to it"),
    ):
        Store(tmp_path)
    Store(tmp_path).close()


def test_the_file_is_in_wal_mode_with_a_version_and_foreign_keys(tmp_path):
    with Store(tmp_path) as store:
        pragma = {
            name: store._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "user_version", "foreign_keys")
        }
        assert pragma == {"journal_mode": "wal", "user_version": SCHEMA_VERSION, "foreign_keys": 1}
        with pytest.raises(sqlite3.IntegrityError), store.transaction() as connection:
            connection.execute('INSERT INTO "values" VALUES (1, 1, 0.5)')


def test_values_are_numbers_and_their_core_is_recorded(workshop, monkeypatch):
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
    workshop.write().run()
    ((environment,),) = workshop.query("SELECT environment FROM starts")
    assert json.loads(environment)["core"] == "numpy"
    versions = workshop.query("SELECT versions FROM environments")
    assert {json.loads(one)["core"] for (one,) in versions} == {"numpy"}
    connection = sqlite3.connect(workshop.folder / "results.sqlite")
    with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
        connection.execute('UPDATE "values" SET value = NULL')
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute("""UPDATE "values" SET value = 'Error'""")
    assert {type(row[0]) for row in connection.execute('SELECT value FROM "values"')} == {float}
    connection.close()


def test_something_else_than_a_store_is_refused(tmp_path):
    (tmp_path / "results.sqlite").write_text("not a database, and long enough to be read as one" * 9)
    with pytest.raises(InvalidInputError, match="must be a vuskit benchmark store"):
        Store(tmp_path)
    with pytest.raises(InvalidInputError, match="must hold a benchmark run"):
        Store.read(tmp_path / "nowhere")


@pytest.mark.parametrize("where", [".", "data"])
def test_a_folder_with_other_files_is_refused_and_not_changed(workshop, where, environment):
    """Through the command: `folder = "."` is a plausible plan."""
    workshop.write(top=f'folder = "{where}"', tail="[executor]\nworkers = 1")
    folder = workshop.base / where
    for name in ("tmp", "scores"):
        (folder / name).mkdir(parents=True)
        (folder / name / "mine.txt").write_text("mine")
    (folder / "lock").write_text("mine")
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


def test_files_of_users_and_earlier_versions_in_a_run_stay(workshop):
    workshop.write(tail="[executor]\nworkers = 1").run()
    (workshop.folder / ".vuskit-lock").unlink()
    for name in ("tmp", ".vuskit-tmp-1"):
        (workshop.folder / name).mkdir()
        (workshop.folder / name / "file").write_text("x")
    (workshop.folder / "lock").write_text("123\n")
    workshop.run(executor=LocalExecutor())
    assert (workshop.folder / "lock").read_text() == "123\n"
    assert (workshop.folder / "tmp" / "file").read_text() == "x"
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


def test_forgotten_jobs_run_again(workshop):
    workshop.write(detectors=["raises", "fine"])
    assert len(workshop.run()) == 6
    assert workshop.run() == []
    with Store(workshop.folder) as store:
        assert store.forget([Status.ERROR]) == 2
    again = workshop.run()
    assert [str(outcome.status) for _, outcome in again] == ["ERROR", "ERROR"]


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

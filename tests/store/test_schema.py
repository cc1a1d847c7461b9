"""Six tables; stores of other versions are refused."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from vuskit import InvalidInputError
from vuskit.store import Store
from vuskit.store.schema import SCHEMA_VERSION, TABLES


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

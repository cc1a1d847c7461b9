"""Stores of other versions are refused."""

from __future__ import annotations

import sqlite3

import pytest

from vuskit import InvalidInputError
from vuskit.bench import Store
from vuskit.store.store import Store
from vuskit.bench.store.schema import SCHEMA_VERSION


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_store_of_another_version_is_refused(tmp_path, version):
    Store(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "results.sqlite")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    for open_it in (Store, open_store):
        with pytest.raises(InvalidInputError, match=f"got {version} .*evaluate the score files"):
            open_it(tmp_path)
    connection = sqlite3.connect(tmp_path / "results.sqlite")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    connection.close()
    Store(tmp_path).close()  # the refused store kept no lock

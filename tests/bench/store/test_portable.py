"""Tables that leave the machine, and stores in memory made from them."""

from __future__ import annotations

import pytest

from vuskit.bench.store import SCHEMA_VERSION, load_tables, open_store_or_empty
from vuskit.errors import InvalidInputError


@pytest.fixture
def tables(tmp_path):
    with Store.read_or_empty(tmp_path) as store:
        return store.portable_tables()


def test_tables_can_be_loaded(tables):
    load_tables(tables, version=SCHEMA_VERSION).close()


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, SCHEMA_VERSION - 1, None, "5"])
def test_other_versions_are_refused(tables, version):
    with pytest.raises(InvalidInputError, match="schema version"):
        load_tables(tables, version=version)


@pytest.mark.parametrize(
    ("table", "content", "reason"),
    [
        ("scores", {"columns": ["hash"], "rows": [["x", 1]]}, "must be valid tables of a run"),
        ("scores", {"columns": ["hash"], "rows": [["x"]]}, "NOT NULL"),
        ("scores", {"columns": ["hash", "n_points"], "rows": [["x", {}]]}, "must be valid"),
        ("scores", [], "must be valid tables of a run"),
        ("scores", {"columns": ["hash) --"], "rows": []}, "unknown columns"),
        (
            "planned_series",
            {"columns": ["hash", "dataset", "name", "source"], "rows": [["x", "d", "n", "{}"]]},
            "missing row of 'series'",
        ),
    ],
)
def test_other_tables_are_refused(tables, table, content, reason):
    with pytest.raises(InvalidInputError, match=reason):
        load_tables({**tables, table: content}, version=SCHEMA_VERSION)


def test_missing_tables_are_refused(tables):
    del tables["jobs"]
    with pytest.raises(InvalidInputError, match="jobs"):
        load_tables(tables, version=SCHEMA_VERSION)

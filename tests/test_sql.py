"""Measures as functions of DuckDB."""

from __future__ import annotations

import numpy as np
import pytest

import vuskit
import vuskit.sql

duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
pytest.importorskip("pyarrow", reason="needs pyarrow")

MEASURES = [measure.name for measure in vuskit.list_measures() if measure.group != "own"]


@pytest.fixture(scope="module")
def connection():
    connection = duckdb.connect()
    connection.execute(
        "create table t as select i // 60 as series, i % 60 as t,"
        " (i % 60 between 20 and 25)::int as label, hash(i) % 17 / 7.0::double as score,"
        " sin(i * 2 * pi() / 12) as value from range(180) r(i) order by hash(i)"
    )
    vuskit.sql.register(connection)
    return connection


def arrays(connection, series):
    rows = connection.execute(
        "select label, score, value from t where series = ? order by t", [series]
    ).fetchall()
    return (np.array(column) for column in zip(*rows, strict=True))


def value_of(connection, call):
    return connection.sql(f"select {call}").fetchall()[0][0]


@pytest.mark.parametrize("name", MEASURES)
def test_values_equal_evaluate(connection, name):
    found = connection.sql(
        f'select series, "{name}"(list(label order by t), list(score order by t), 10)'
        " from t group by series order by series"
    ).fetchall()
    assert [series for series, _ in found] == [0, 1, 2]
    for series, value in found:
        labels, scores, _ = arrays(connection, series)
        assert value == vuskit.evaluate(labels, scores, buffer=10, measures=name)[name]


def test_strategies(connection):
    lists = "list(label order by t), list(score order by t)"
    query = f"select vus_pr({lists}, 'auto', list(value order by t)) from t where series = 1"
    labels, scores, values = arrays(connection, 1)
    wanted = vuskit.vus_pr(labels, scores, buffer="auto", values=values)
    assert connection.sql(query).fetchall() == [(wanted,)]


def test_null(connection):
    for call in (
        "vus_pr(NULL, [1, 2], 2)",
        "vus_pr([0, 1], NULL, 2)",
        "vus_pr([0, 1], [1, 2], NULL)",
        "vus_pr([0, 0], [1, 2], 2)",  # one class
    ):
        assert value_of(connection, call) is None, call


def test_types(connection):
    for lists in (
        "[0, 1, 0], [0.1, 0.9, 0.5]",
        "[false, true, false], [1, 9, 5]",
        "[0, 1, 0]::double[], [1, 9, 5]::float[]",
        "[0, 1, 0]::tinyint[3], [1, 9, 5]::float[3]",
    ):
        assert value_of(connection, f"vus_pr({lists}, 2.0)") == 1.0
        assert value_of(connection, f"auc_pr({lists})") == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("vus_pr([0, 1], [1, 2])", "vus_pr: `buffer` must be the third argument"),
        ("vus_pr([0, 1], [1, 2], 'perod')", "vus_pr: `buffer` .* did you mean 'period'"),
        ("auc_pr([0, 1], [1, 2, 3])", "auc_pr: `y_true` and `y_score` must have equal length"),
        ("auc_pr([0, 1], [1, NULL])", "auc_pr: `y_score` must be finite, got nan at index 1"),
        ("auc_pr([0, 2], [1, 2])", "auc_pr: `y_true` must contain only 0 and 1"),
        ("auc_pr(0, 1)", r"auc_pr: `labels` must be a list, .* list\(column order by time\)"),
        ("auc_pr([0, 1])", "auc_pr must have 2 to 4 arguments, got 1"),
    ],
)
def test_errors_name_the_function(connection, call, message):
    with pytest.raises(duckdb.InvalidInputException, match=message):
        value_of(connection, call)


def test_prefix_and_default_buffer():
    connection = duckdb.connect()
    vuskit.sql.register(connection, measures="vus_pr", prefix="m_", buffer=2)
    assert value_of(connection, "m_vus_pr([0, 1, 0], [1, 9, 5])") == 1.0
    with pytest.raises(duckdb.CatalogException):
        value_of(connection, "vus_pr([0, 1, 0], [1, 9, 5], 2)")


def test_registering_again_replaces():
    connection = duckdb.connect()
    for buffer in (0, 4):
        vuskit.sql.register(connection, measures="vus_pr", buffer=buffer)
    value = value_of(connection, "vus_pr([0, 0, 1, 0, 0, 0], [1, 5, 4, 3, 2, 0])")
    assert value == vuskit.vus_pr([0, 0, 1, 0, 0, 0], [1, 5, 4, 3, 2, 0], buffer=4)


def test_unusable_parameters():
    connection = duckdb.connect()
    with pytest.raises(vuskit.InvalidInputError, match="`measures` must be a registered measure"):
        vuskit.sql.register(connection, measures="vus")
    with pytest.raises(TypeError, match="nonsense"):
        vuskit.sql.register(connection, nonsense=1)

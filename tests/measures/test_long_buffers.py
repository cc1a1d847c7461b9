"""Buffers so long that random scores get high values are reported once per evaluation."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import vuskit
from vuskit.buffers import excess_of_buffer
from vuskit.inputs import check_labels

N = 2000
NOISE = np.random.default_rng(0).random(N)
ONE = np.zeros(N, dtype=int)
ONE[100:120] = 1
MANY = (np.arange(N) % 100 < 5).astype(int)


def messages(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", vuskit.LongBufferWarning)
        call()
    return [str(one.message) for one in caught]


CALLS = {
    "function": lambda y, **rest: vuskit.vus_roc(y, NOISE, **rest),
    "pate": lambda y, **rest: vuskit.pate(y, NOISE, **rest),
    "evaluate": lambda y, **rest: vuskit.evaluate(y, NOISE, **rest),
    "many": lambda y, **rest: vuskit.evaluate_many(y, {"a": NOISE, "b": -NOISE}, **rest),
    "Evaluator": lambda y, **rest: vuskit.Evaluator(y, **rest),
}


@pytest.mark.parametrize("call", CALLS)
def test_one_warning_per_evaluation(call):
    (message,) = messages(lambda: CALLS[call](ONE, buffer=5000))
    assert "a buffer of 5,000 points exceeds a quarter of the 2,000 points" in message
    assert "`result.chance`" in message
    assert len(messages(lambda: CALLS[call](MANY, buffer=60))) == 1
    assert messages(lambda: CALLS[call](ONE, buffer=500)) == []
    assert messages(lambda: CALLS[call](MANY, buffer=50)) == []


def test_no_warning_without_a_measure_that_has_buffers():
    assert messages(lambda: vuskit.evaluate(ONE, NOISE, buffer=5000, measures=["auc_pr"])) == []
    assert messages(lambda: vuskit.chance_level(ONE, buffer=5000, measures="vus_pr")) == []


def test_a_custom_measure_does_not_warn_again():
    def mine(y_true, y_score, *, buffer):
        return vuskit.vus_pr(y_true, y_score, buffer=buffer)

    measure = vuskit.Measure("mine", "Mine", mine, "custom")
    call = lambda: vuskit.evaluate(ONE, NOISE, buffer=5000, measures=measure)  # noqa: E731
    assert len(messages(call)) == 1


@pytest.mark.parametrize("side", ["both", "before", "after"])
def test_coverage_equals_that_of_buffered_points(side):
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(100, 300))
        labels = (rng.random(n) < rng.choice([0.01, 0.1])).astype(int)
        if not 0 < labels.sum() < n:
            continue
        length = int(rng.integers(0, n // 4 + 1))
        covered = 0
        for point in np.flatnonzero(labels == 0):
            before = 0 if side == "before" else length // 2
            after = 0 if side == "after" else length // 2
            covered += labels[max(point - before, 0) : point + after + 1].any()
        found = excess_of_buffer(check_labels(labels), length, side)
        assert (found is not None) == (covered > n / 2), (n, length)


def test_one_warning_for_many_series():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("narwhals")
    parts = {"one": ONE, "other": ONE[::-1], "many": MANY}
    rows = pd.concat(
        [pd.DataFrame({"series": name, "label": y, "score": NOISE}) for name, y in parts.items()]
    )
    for measures in ("vus_pr", ["vus_pr", "f_score"]):  # together, and one by one
        options = {"by": "series", "measures": measures}
        call = lambda buffer: vuskit.evaluate_frame(rows, buffer=buffer, **options)  # noqa: B023, E731
        (message,) = messages(lambda: call(600))  # noqa: B023
        assert message.startswith("one: a buffer of 600 points exceeds a quarter")
        assert "(3 series have such buffers)" in message
        (message,) = messages(lambda: call(60))  # noqa: B023
        assert message.startswith("many: buffers of 60 points cover 58% of the 2,000 points")
        assert messages(lambda: call(50)) == []  # noqa: B023


def test_queries_warn():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    import vuskit.sql

    connection = duckdb.connect()
    vuskit.sql.register(connection, measures="vus_pr")
    query = (
        "select i % 3, vus_pr(list((i between 30 and 40)::int), list(i), {}) "
        "from range(600) as _(i) group by i % 3"
    )
    found = messages(lambda: connection.sql(query.format(90)).fetchall())
    assert "exceeds a quarter of the 200 points" in found[0]
    assert messages(lambda: connection.sql(query.format(50)).fetchall()) == []

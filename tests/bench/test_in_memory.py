"""Values of many series in memory: statuses, notes, failing measures, dying processes."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

import vuskit
from vuskit.bench import evaluate_inputs
from vuskit.datasets import Columns, ScoredSeries, Series, open_inputs
from vuskit.engine import ExecutorSettings
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.measures.settings import EvaluationSettings
from vuskit.report.publication import publication_table
from vuskit.studies import open_scores

SETTINGS = EvaluationSettings(buffer=5)
N = 100


def scored(name, seed=0, *, labels=None):
    rng = np.random.default_rng(seed)
    marked = np.zeros(N, dtype=bool)
    marked[30 + seed : 40 + seed] = True
    series = Series(name, "made", rng.random(N), marked if labels is None else labels)
    return ScoredSeries(series, {"good": rng.random(N) + marked, "poor": rng.random(N)})


def rows_of(values):
    return {
        (row["series"], row["detector"], row["measure"]): (row["value"], row["status"])
        for row in values.records()
    }


def failing(y_true, y_score):
    if y_score[0] > 0.5:
        raise ValueError("too large")
    return 0.25


def test_values_are_those_of_the_library():
    inputs = [scored("b", 1), scored("a", 2)]
    values = evaluate_inputs(open_scores(inputs), measures=["auc_pr", "vus_pr"], settings=SETTINGS)
    expected = {}
    for one in inputs:
        table = vuskit.evaluate_many(
            one.series.labels, one.scores, measures=["auc_pr", "vus_pr"], settings=SETTINGS
        )
        for name, found in table.items():
            expected |= {(one.series.name, name, key): (v, "OK") for key, v in found.items()}
    assert rows_of(values) == expected
    assert [one.name for one in values.series] == ["a", "b"]
    assert values.to_frame()["value"].tolist() == [value for value, _ in rows_of(values).values()]


def test_a_failing_measure_of_the_user_is_left_out_and_the_others_are_shown():
    mine = Measure(name="mine", title="Mine", function=failing)
    values = evaluate_inputs(
        open_scores(scored("a")), measures=["auc_pr", mine, "precision"], settings=SETTINGS
    )
    found = rows_of(values)
    ended = {detector: found["a", detector, "mine"] for detector in ("good", "poor")}
    assert (0.25, "OK") in ended.values() or (None, "ERROR") in ended.values()
    assert all(found["a", name, "auc_pr"][1] == "OK" for name in ended)
    for name, (value, status) in ended.items():
        raised = scored("a").scores[name][0] > 0.5
        assert (value, status) == ((None, "ERROR") if raised else (0.25, "OK"))
    assert {one.title for one in values.failures} == {
        f"evaluate mine of {name} on made/a" for name, (value, _) in ended.items() if value is None
    }


@pytest.mark.parametrize("columns", ["dataset", "measure"])
def test_the_table_of_means_is_that_of_the_data_frame(columns):
    one_class = scored("d", 3, labels=np.zeros(N, dtype=bool))
    apart = scored("e", 5)
    apart = replace(apart, series=replace(apart.series, dataset="apart"))
    inputs = [scored("a", 0), scored("b", 1), scored("c", 2), one_class, apart]
    measures = ["auc_pr", "vus_pr", Measure("own", "Own", failing)]
    values = evaluate_inputs(open_scores(inputs), measures=measures, settings=SETTINGS)
    table = publication_table(values, columns=columns)
    assert {one["status"] for one in values.records()} == {"OK", "ERROR", "SKIPPED"}
    assert table.failures
    assert str(table) == str(publication_table(values.to_frame(), columns=columns))


def test_one_class_is_skipped_and_is_no_failure():
    inputs = open_scores([scored("a"), scored("flat", labels=np.zeros(N, dtype=bool))])
    values = evaluate_inputs(inputs, measures="auc_pr", settings=SETTINGS)
    assert rows_of(values)["flat", "good", "auc_pr"] == (None, "SKIPPED")
    (flat,) = [one for one in values.series if one.name == "flat"]
    score = scored("flat").scores["good"]
    table = vuskit.events(np.zeros(N), score)
    count = f"; {table.false_alarms} false alarm"
    assert any(count in one.messages["auc_pr"] for one in flat.scores if one.detector == "good")
    frame = pd.DataFrame({"machine": "flat", "label": 0, "good": score})
    found = vuskit.evaluate_frame(frame, by="machine", buffer=3, measures="auc_pr")
    assert found["status"].tolist() == ["SKIPPED"]
    assert count in found["message"][0]
    assert values.failures == ()


@dataclass(frozen=True)
class Unreadable:
    name: str = "made/gone"

    def read(self):
        raise InvalidInputError("gone")


@dataclass(frozen=True)
class Deadly:
    name: str = "made/deadly"

    def read(self):
        os._exit(1)


def test_unreadable_series_are_notes():
    values = evaluate_inputs(
        [Unreadable(), *open_scores(scored("a"))], measures="auc_pr", settings=SETTINGS
    )
    assert values.notes == ("skipped a series that cannot be read: gone",)
    assert len(values.series) == 1
    with pytest.raises(InvalidInputError, match="got none: skipped a series"):
        evaluate_inputs([Unreadable()], settings=SETTINGS)


def test_the_death_of_a_process_is_a_failure_of_its_series():
    inputs = open_scores([scored(f"s{seed}", seed) for seed in range(8)])
    told = []
    values = evaluate_inputs(
        [*inputs, Deadly()],
        measures="auc_pr",
        settings=SETTINGS,
        executor=ExecutorSettings("local", 2),
        progress=lambda *progress: told.append(progress),
    )
    assert values.lost[-1].title == "evaluate made/deadly"
    assert values.lost[-1].status.failed
    assert values.failures == values.lost
    assert len(values.series) + len(values.lost) == 9
    assert told[-1][:2] == (9, 9)


def long_table(inputs):
    """Return the series below each other."""
    rows = {one.series.name: one.to_frame() for one in inputs}
    return pd.concat(rows, names=["series", None]).reset_index("series")


@pytest.mark.parametrize("others", [(), ("precision",)])
@pytest.mark.parametrize("long", [False, True])
def test_long_buffers_are_one_note_for_all_series(long, others):
    several = [scored("a"), scored("b", 1), scored("c", 2)]
    inputs = open_scores(several)
    if long:
        inputs = open_inputs(long_table(several), columns=Columns(by="series"))
    settings = EvaluationSettings(buffer=N // 2)
    values = evaluate_inputs(inputs, measures=["vus_pr", *others], settings=settings)
    (note,) = [one for one in values.notes if "random scores" in one]
    assert note.startswith("3 series of 3 with buffers so long")
    assert "a buffer of 50 points exceeds a quarter of the 100 points" in note
    assert not evaluate_inputs(inputs, measures="auc_pr", settings=settings).notes

"""What is saved comes back whole; what is damaged, strange or too new is refused with reasons."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest
from studies.scored import SOME, make_scored, make_several

import vuskit
from vuskit import get_measure, register_measure
from vuskit.datasets import ScoredSeries, Series
from vuskit.errors import InvalidInputError
from vuskit.kernels.backend import core_name
from vuskit.measures import registry
from vuskit.studies import list_studies, load_study_result, load_study_results, run_study, summarize
from vuskit.studies.result import SCHEMA_VERSION, pack, unpack
from vuskit.studies.timing import Setting, synthetic_cases, timing_study

same = pd.testing.assert_frame_equal


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    dull = ScoredSeries(Series("dull", "plant", np.zeros(9), np.zeros(9, bool)), {"a": np.ones(9)})
    broken = tmp_path_factory.mktemp("scores") / "broken.csv"
    broken.write_text("value,label,good\n1,0,0.5\n2,maybe,0.7\n")
    return [*make_several(), dull, broken]


@pytest.fixture(scope="module")
def results(several):
    robust = run_study("robustness", several, count=5, min_values=4, ratio=(0.05, 0.1), **SOME)
    separable = run_study("separability", several, count=6, **SOME)
    consistent = run_study("consistency", several, ties="min", min_series=2, **SOME)
    settings = [Setting(n_points=n, n_anomalies=2) for n in (300, 600)]
    timed = timing_study(synthetic_cases(settings), contestants=["opt", "auc"], repeats=2)
    return {
        "robustness": robust,
        "separability": separable,
        "consistency": consistent,
        "scenarios": run_study("scenarios", measures=SOME["measures"], n_points=2000),
        "summary": summarize(robust, separable, consistent),
        "timing": timed,
    }


@pytest.fixture
def restored(results, tmp_path):
    for result in results.values():
        result.save(tmp_path)
    return {result.kind: result for result in load_study_results(tmp_path)}


def test_every_study_can_be_saved(results):
    assert list(results) == [one.name for one in list_studies()]


def test_results_by_series_come_back(results, restored):
    for kind in ("robustness", "separability", "consistency"):
        before, after = results[kind], restored[kind]
        same(after.to_frame(), before.to_frame(), check_exact=True)
        assert after.failures == before.failures
        assert len(after.failures) == 1
        # As text: an undefined criterion is not equal to itself.
        assert str([one.notes for one in after.values]) == str([one.notes for one in before.values])
        assert after.measures == before.measures


def test_robustness_comes_back_with_its_settings_and_tests(results, restored):
    before, after = results["robustness"], restored["robustness"]
    assert after.study == before.study
    assert after.study.min_values == 4
    same(after.undefined(), before.undefined())
    same(after.centered("plant/s0", "lag"), before.centered("plant/s0", "lag"), check_exact=True)
    assert after.compare("lag").tests == before.compare("lag").tests


def test_separability_and_consistency_come_back_with_their_rules(results, restored):
    before, after = results["separability"], restored["separability"]
    assert after.rule == before.rule
    assert after.series_without_pairs == before.series_without_pairs
    good, bad = before.values[0].notes["pairs"][0]
    name = before.values[0].name
    same(after.pair_values(name, good, bad), before.pair_values(name, good, bad), check_exact=True)
    before, after = results["consistency"], restored["consistency"]
    assert (after.study.ties, after.study.min_series) == ("min", 2)
    same(after.entropies(), before.entropies(), check_exact=True)


def test_scenarios_summary_and_timings_come_back(results, restored):
    before, after = results["scenarios"], restored["scenarios"]
    assert after.scenarios == before.scenarios
    same(after.to_frame(), before.to_frame(), check_exact=True)
    same(after.sweep_frame(), before.sweep_frame(), check_exact=True)
    same(after.at_first_touch(), before.at_first_touch(), check_exact=True)
    same(restored["summary"].to_frame(), results["summary"].to_frame(), check_exact=True)
    same(restored["summary"].scatter(), results["summary"].scatter(), check_exact=True)
    assert restored["timing"] == results["timing"]


def test_what_was_dropped_from_a_timing_is_named(tmp_path):
    cases = synthetic_cases([Setting(n_points=400, n_anomalies=2)])
    before = timing_study(cases, contestants=["opt"], repeats=1, budget=1e-9)
    assert load_study_result(before.save(tmp_path)) == before
    assert len(before.dropped) == 1


def test_the_same_result_gives_the_same_bytes(results, tmp_path):
    for kind, result in results.items():
        first = result.save(tmp_path / "a")
        again = result.save(tmp_path / "b")
        assert first.name == again.name == f"{kind}_result.npz"
        assert first.read_bytes() == again.read_bytes()
        assert load_study_result(first).save(tmp_path / "c").read_bytes() == first.read_bytes()
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_measure_that_is_not_registered_any_more_is_shown_but_not_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))

    @register_measure(name="passing", title="Passing by", family="mine", higher_is_better=False)
    def passing(y_true, y_score):
        return float(y_score.mean())

    sharp = get_measure("f_score").with_options(beta=2)
    study = run_study(
        "consistency",
        [make_scored(1), make_scored(2)],
        measures=["passing", sharp],
        buffer=9,
        min_series=2,
    )
    path = study.save(tmp_path)
    del registry._MEASURES["passing"]
    own, fixed = load_study_result(path).measures
    assert (own.title, own.family, own.higher_is_better) == ("Passing by", "mine", False)
    with pytest.raises(InvalidInputError, match=r"`measure` must be registered.*'passing'"):
        own.function([0, 1], [0, 1])
    assert (fixed.name, fixed.options) == ("f_score(beta=2)", {"beta": 2})
    assert fixed.function is sharp.function


def test_an_infinite_bound_and_numbers_of_numpy_survive(tmp_path):
    measure = get_measure("vus_pr").with_options(step=np.int64(2))
    found = run_study("scenarios", measures=[measure], n_points=1000, buffer=20)
    (back,) = load_study_result(found.save(tmp_path)).measures
    assert back.options == {"step": 2}


@pytest.fixture
def saved(results, tmp_path):
    return results["consistency"].save(tmp_path)


def rewritten(path, change, **arrays):
    with np.load(path) as archive:
        kept = {name: archive[name] for name in archive.files}
    header = json.loads(kept.pop("header").tobytes())
    header = change(header) or header
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **(kept | arrays))
    return path


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_of_another_version_is_refused(saved, change):
    rewritten(saved, lambda header: header.update(schema=SCHEMA_VERSION + change))
    with pytest.raises(InvalidInputError, match=r"got 'consistency' in schema .* study again"):
        load_study_result(saved)


def test_results_name_their_core(results, restored):
    assert {kind: one.core for kind, one in results.items()} == dict.fromkeys(results, core_name())
    assert {kind: one.core for kind, one in restored.items()} == dict.fromkeys(results, core_name())
    robust, consistent = (results[name] for name in ("robustness", "consistency"))
    both = [
        dataclasses.replace(robust, core="numpy"),
        dataclasses.replace(consistent, core="native"),
    ]
    assert summarize(both).core == "native, numpy"


def test_an_unknown_kind_is_refused(saved):
    rewritten(saved, lambda header: header.update(kind="astrology"))
    with pytest.raises(InvalidInputError, match="must be a registered study, got 'astrology'"):
        load_study_result(saved)


@pytest.mark.parametrize("damage", [b"", b"label,score\n0,1\n", None])
def test_other_files_are_refused(saved, damage):
    data = saved.read_bytes()
    saved.write_bytes(data[: len(data) // 2] if damage is None else damage)
    name = re.escape(repr(str(saved)))
    with pytest.raises(InvalidInputError, match=f"must be a saved result of a study, got {name}"):
        load_study_result(saved)


def test_an_archive_of_something_else_is_refused(tmp_path):
    np.savez(tmp_path / "x.npz", header=np.frombuffer(b'{"format": "other"}', np.uint8))
    with pytest.raises(InvalidInputError, match="must be a saved result of a study"):
        load_study_result(tmp_path / "x.npz")


def test_missing_numbers_and_entries_are_noticed(saved):
    rewritten(saved, lambda header: None, f8=np.zeros(5))
    with pytest.raises(InvalidInputError, match="something is missing or damaged"):
        load_study_result(saved)
    rewritten(saved, lambda header: header["value"]["$type"][1].pop("values") and None)
    with pytest.raises(InvalidInputError, match="something is missing or damaged"):
        load_study_result(saved)


@pytest.mark.parametrize("name", ["Popen", "SeriesValue", "__init__"])
def test_reading_makes_only_known_objects(saved, name):
    rewritten(saved, lambda header: header.update(value={"$type": [name, {"args": "ls"}]}))
    with pytest.raises(InvalidInputError, match="something is missing or damaged"):
        load_study_result(saved)


def test_folders_below_are_read_and_single_files_too(results, tmp_path):
    deep = results["timing"].save(tmp_path / "deep" / "timing")
    results["scenarios"].save(tmp_path)
    found = [type(result).__name__ for result in load_study_results(tmp_path)]
    assert found == ["ScenarioResult", "TimingResult"]
    assert load_study_results(deep) == [results["timing"]]


def test_a_folder_without_results_is_refused(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InvalidInputError, match="`folder` must hold results of studies"):
            load_study_results(folder)


def same_value(one, other):
    if isinstance(one, (pd.DataFrame, pd.Series)):
        (same if isinstance(one, pd.DataFrame) else pd.testing.assert_series_equal)(one, other)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, strict=True)
    else:
        assert one == other
        assert type(one) is type(other)


@pytest.mark.parametrize(
    "value",
    [
        None,
        float("inf"),
        ("a", ["b", (1, 2.5)], {"c": {}}),
        {1: "one", ("a", "b"): "pair"},
        {"$array": "a name like a marker"},
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.array([[True], [False]]),
        np.array(["text", "more"]),
        np.empty((0, 3)),
        pd.DataFrame({"x": [1, 2], "y": [0.5, np.nan], "z": ["a", "b"]}),
        pd.DataFrame([[1.0]], index=pd.MultiIndex.from_tuples([("a", 1)], names=["k", "n"])),
        pd.DataFrame({"x": [True, False]}, index=pd.Index(["p", "q"], name="measure")),
        pd.Series([1.5, 2.5], index=["a", "b"], name="values"),
    ],
    ids=str,
)
def test_values_of_every_kind_come_back(value):
    data = pack(value, kind="test")
    facts, back = unpack(data)
    assert facts == {"kind": "test"}
    same_value(value, back)
    assert pack(back, kind="test") == data


def test_what_cannot_be_saved_is_named():
    with pytest.raises(InvalidInputError, match=r"`value` must be plain data.*got object"):
        pack({"a": [object()]})


EXTRA = [measure.name for measure in vuskit.list_measures() if measure.group == "extra"]


def test_a_study_takes_the_group(tmp_path):
    scored = [make_scored(seed) for seed in (0, 1)]
    chosen = ["extra", vuskit.get_measure("point_adjusted_f_score").with_options(k=0.5)]
    result = run_study(
        "separability", scored, count=3, measures=chosen, buffer=24, threshold="best"
    )
    assert [measure.name for measure in result.measures] == [
        *EXTRA,
        "point_adjusted_f_score(k=0.5)",
    ]
    path = result.save(tmp_path)
    read = load_study_result(path)
    assert [(one.name, one.group, one.misleading_without_chance) for one in read.measures] == [
        (one.name, one.group, one.misleading_without_chance) for one in result.measures
    ]
    assert read.to_frame().equals(result.to_frame())

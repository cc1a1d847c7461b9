"""The registry: what may be registered, how measures are named and asked for."""

from __future__ import annotations

import copy
import functools
import pickle
import re
import runpy

import numpy as np
import pytest

import vuskit
from vuskit.inputs import check_pair
from vuskit.kernels.backend import NativePlan
from vuskit.measures import areas, ranges, registry, workspace

LABELS = np.repeat([0, 1, 0], [40, 20, 60])
SCORES = np.random.default_rng(0).random(120) + LABELS


@pytest.fixture(autouse=True)
def measures(monkeypatch):
    """A registry of this test's own."""
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))


def value_of(measure):
    return vuskit.evaluate(LABELS, SCORES, buffer=4, measures=[measure])


# --- registering ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vus_pr", "pate"])
def test_measures_of_the_package_stay(name):
    """Also where a function of the same name comes."""

    def another(y_true, y_score):
        return 0.123

    another.__qualname__ = another.__name__ = name
    text = f"`name` must be new, got {name!r}, which is registered"
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.register_measure(name=name)(another)
    assert vuskit.get_measure(name).function is getattr(vuskit, name)


@pytest.mark.parametrize("name", registry.GROUPS)
def test_groups_keep_their_names(name):
    text = f"`name` must not be a group of measures, got {name!r}"
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.register_measure(name=name)


@pytest.mark.parametrize("name", ["own_series", "series", "value"])
def test_columns_of_tables_keep_their_names(name):
    with pytest.raises(vuskit.InvalidInputError, match="`name` must not be a column of result"):
        vuskit.register_measure(name=name)


@pytest.mark.parametrize("name", ["", None, "f_score(beta=3)"])
def test_names_are_text_without_brackets(name):
    text = f"`name` must be text without parentheses, got {name!r}"
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.register_measure(name=name)


def test_lambdas_do_not_replace_each_other():
    for _ in range(2):  # the same one may come again
        vuskit.register_measure(name="short")(lambda y_true, y_score: 0.25)
    with pytest.raises(vuskit.InvalidInputError, match="`name` must be new, got 'short'"):
        vuskit.register_measure(name="short")(lambda y_true, y_score: 0.75)
    assert value_of("short")["short"] == 0.25


def test_callables_without_code_do_not_replace_each_other():
    first, second = (functools.partial(vuskit.f_score, beta=beta) for beta in (1, 2))
    for _ in range(2):
        vuskit.register_measure(name="partial")(first)
    with pytest.raises(vuskit.InvalidInputError, match="`name` must be new, got 'partial'"):
        vuskit.register_measure(name="partial")(second)


def test_a_file_may_be_run_and_imported(tmp_path):
    """As a script that registers a measure and is imported by the plan that it runs."""
    script = tmp_path / "own_measures.py"
    script.write_text(
        "import vuskit\n"
        "@vuskit.register_measure(name='own')\n"
        "def own(y_true, y_score):\n    return 0.5\n"
    )
    for name in ("__main__", "own_measures"):
        runpy.run_path(str(script), run_name=name)
    assert value_of("own")["own"] == 0.5
    other = tmp_path / "other_measures.py"
    other.write_text(script.read_text())
    with pytest.raises(vuskit.InvalidInputError, match="`name` must be new, got 'own'"):
        runpy.run_path(str(other), run_name="other_measures")


# --- options -------------------------------------------------------------------------------------


class Halfway:
    """A rule without a name or a text of its own."""

    def __call__(self, scores):
        return scores.max() / 2


def above_one(scores):
    return 1.0


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (above_one, "above_one"),
        (lambda scores: 1.0, "<lambda>"),
        (vuskit.Sigma(2.0), "Sigma(factor=2.0)"),
        (functools.partial(np.quantile, q=0.5), "functools.partial(<function quantile>, q=0.5)"),
    ],
)
def test_rules_in_names(rule, shown):
    measure = vuskit.get_measure("f_score").with_options(threshold=rule)
    assert measure.name == f"f_score(threshold={shown})"
    assert list(value_of(measure)) == [measure.name]


def test_no_memory_address_in_a_name():
    measure = vuskit.get_measure("f_score").with_options(threshold=Halfway())
    assert measure.name.endswith("Halfway object>)")
    assert "0x" not in measure.title


def test_two_measures_of_one_name_are_refused():
    both = [
        vuskit.get_measure("f_score").with_options(threshold=rule)
        for rule in (lambda scores: 1.0, lambda scores: 0.5)
    ]
    text = "`measures` must have unique names, got two measures named 'f_score(threshold=<lambda>)'"
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.evaluate(LABELS, SCORES, buffer=4, measures=both)
    assert registry.resolve_measures([both[0], both[0].with_options()]) == (both[0],)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("bogus", "f_score has no option 'bogus'"),
        ("betta", "f_score has no option 'betta'; did you mean 'beta'?"),
        ("y_true", "f_score has no option 'y_true'"),
    ],
)
def test_unknown_options_are_refused_at_once(option, text):
    measure = vuskit.get_measure("f_score").with_options(beta=2)
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        measure.with_options(**{option: 2})


def test_a_measure_may_take_any_option():
    @vuskit.register_measure(name="free")
    def free(y_true, y_score, **options):
        return options["anything"]

    measure = vuskit.get_measure("free").with_options(anything=0.5)
    assert value_of(measure).to_dict() == {"free(anything=0.5)": 0.5}


# --- asking for measures -------------------------------------------------------------------------


def test_functions_stand_for_their_measures():
    expected = vuskit.evaluate(LABELS, SCORES, buffer=4, measures=["vus_pr", "auc_pr"])
    asked = [vuskit.vus_pr, "auc_pr", vuskit.auc_pr]
    assert vuskit.evaluate(LABELS, SCORES, buffer=4, measures=asked) == expected
    assert list(vuskit.evaluate(LABELS, SCORES, buffer=4, measures=vuskit.vus_pr)) == ["vus_pr"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (None, "`measures` must be a measure, a name, or a list of these, got None"),
        (5, "`measures` must be a measure, a name, or a list of these, got 5"),
        ([None], "`measures` must be a registered measure, got None"),
        ("Paper", "`measures` must be a registered measure, got 'Paper'; did you mean 'paper'?"),
        (
            ["extras"],
            "`measures` must be a registered measure, got 'extras'; did you mean 'extra'?",
        ),
        ([above_one], "got the function 'above_one'; register it with register_measure"),
        (np.mean, "`measures` must be a registered measure, got the function 'mean'"),
    ],
)
def test_what_is_no_measure(asked, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.evaluate(LABELS, SCORES, buffer=4, measures=asked)


def test_get_measure_proposes_no_group():
    with pytest.raises(vuskit.InvalidInputError, match=r"`name` must .* got 'extras'$"):
        vuskit.get_measure("extras")


def test_titles_stand_for_their_measures():
    for measure in vuskit.list_measures():
        assert vuskit.get_measure(measure.title) is measure
    asked = ["VUS-PR", "vus_pr", "Precision@k"]
    assert list(vuskit.evaluate(LABELS, SCORES, buffer=4, measures=asked)) == [
        "vus_pr",
        "precision_at_k",
    ]


# --- declared measures ---------------------------------------------------------------------------


def test_every_declared_measure_survives_pickling():
    for measure in vuskit.list_measures():
        if measure.group == "own":
            continue
        again = pickle.loads(pickle.dumps(measure))
        assert again == measure
        assert again.function is measure.function
        assert pickle.loads(pickle.dumps(measure.function)) is measure.function
        assert copy.deepcopy(measure.function) is measure.function
        assert list(again.parameters) == list(measure.parameters)


def test_parameters_are_data():
    slack = vuskit.get_measure("ucr_score").parameters["slack"]
    assert (slack.words, slack.default) == ("an int >= 0", 100)
    assert vuskit.get_measure("vus_pr").parameters["definition"].default == "journal"
    with pytest.raises(vuskit.InvalidInputError, match="`slack` must be an int >= 0, got -1"):
        vuskit.get_measure("ucr_score").with_options(slack=-1)
    with pytest.raises(vuskit.InvalidInputError, match="did you mean 'journal'"):
        vuskit.get_measure("vus_pr").with_options(definition="jurnal")


@pytest.mark.usefixtures("each_core")
def test_work_is_shared_also_with_options(monkeypatch):
    """Measures of equal settings are computed from one sweep, predictions of one rule once."""
    sweeps, cuts = [], []
    sweep, native, value = areas.sweep, NativePlan.sweep, workspace.threshold_value
    monkeypatch.setattr(areas, "sweep", lambda *given: sweeps.append(given) or sweep(*given))
    monkeypatch.setattr(NativePlan, "sweep", lambda *given: sweeps.append(given) or native(*given))
    monkeypatch.setattr(
        workspace, "threshold_value", lambda *given: cuts.append(given) or value(*given)
    )
    names = ["vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr"]
    by_timeeval = [vuskit.get_measure(name).with_options(definition="timeeval") for name in names]
    by_quantile = [
        vuskit.get_measure(name).with_options(threshold="quantile")
        for name in ("f_score", "range_recall", "affiliation_f_score")
    ]
    asked = ["paper", *by_timeeval, *by_quantile]
    found = vuskit.evaluate(LABELS, SCORES, buffer=4, measures=asked)
    assert len(sweeps) == 2
    assert len(cuts) == 2
    for measure in (*by_timeeval, *by_quantile):
        needed = {"buffer": 4} if measure in by_timeeval else {}
        expected = measure.function(LABELS, SCORES, **needed, **measure.options)
        assert found[measure.name] == pytest.approx(expected, abs=1e-12)


def test_best_thresholds_are_found_once(monkeypatch):
    calls = []
    finder = ranges.best_range_level
    monkeypatch.setattr(ranges, "best_range_level", lambda *x: calls.append(x) or finder(*x))
    names = ["range_precision", "range_recall", "range_f_score"]
    vuskit.evaluate(LABELS, SCORES, buffer=4, measures=names, threshold="best")
    assert len(calls) == 1


def test_a_measure_computes_from_a_workspace():
    labels, scores = check_pair(LABELS, SCORES)
    settings = vuskit.EvaluationSettings(buffer=4)
    work = workspace.Workspace(workspace.PreparedLabels(labels), scores, settings)
    expected = vuskit.evaluate(LABELS, SCORES, buffer=4, measures=["paper", "extra"])
    for name, value in expected.items():
        assert vuskit.get_measure(name).compute(work) == pytest.approx(value, abs=1e-12)
    sharp = vuskit.get_measure("f_score").compute(work, beta=0.5)
    assert sharp == vuskit.f_score(LABELS, SCORES, beta=0.5)

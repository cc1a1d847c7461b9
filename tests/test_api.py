"""What every public name has in common."""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import buffers, labeled_scores

import vuskit

PAPER = [measure for measure in vuskit.list_measures() if measure.group == "paper"]
BUILT_IN = [measure for measure in vuskit.list_measures() if measure.group != "own"]
NEEDED = {"range_auc": {"buffer": 6}, "vus": {"max_buffer": 6}, "pate": {"buffer": 6}}
BY_THRESHOLD = [
    measure for measure in BUILT_IN if "y_pred" in inspect.signature(measure.function).parameters
]

LABELS = np.zeros(90, dtype=int)
LABELS[20:26] = LABELS[60:63] = 1
SCORE = np.random.default_rng(8).random(90).round(1)

every_measure = pytest.mark.parametrize("measure", BUILT_IN, ids=lambda measure: measure.name)
public_functions = pytest.mark.parametrize(
    "name", [name for name in vuskit.__all__ if inspect.isroutine(getattr(vuskit, name))]
)


def call(measure, y_true, y_score, **options):
    needed = NEEDED.get(measure.name) or NEEDED.get(measure.family, {})
    return measure.function(y_true, y_score, **needed, **options)


# --- importing -----------------------------------------------------------------------------------


SHOW_MODULES = """
import sys
import numpy
before = set(sys.modules)
import vuskit
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""

SHOW_MODULES_AFTER_USE = """
import sys
import vuskit
y, s = [0, 0, 1, 1, 0, 0, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3, 0.0, 0.1]
result = vuskit.evaluate(y, s, buffer=3)
result.chance, repr(result), result._repr_html_()
repr(vuskit.evaluate_many(y, {"s": s}, buffer=3)), repr(vuskit.events(y, s))
vuskit.surface(y, s, buffer=2), vuskit.choose_buffer("median_anomaly", y_true=y)
heavy = {"pandas", "polars", "torch", "scipy", "sklearn", "numba", "matplotlib", "plotly", "typer"}
print(*sorted(heavy & set(sys.modules)))
"""


def output_of(program):
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_importing_loads_numpy_alone():
    loaded = set(output_of(SHOW_MODULES))
    assert loaded - set(sys.stdlib_module_names) <= {"vuskit", "numpy"}


def test_using_the_core_loads_nothing_heavy():
    assert output_of(SHOW_MODULES_AFTER_USE) == []


def test_names():
    assert sorted(vuskit.__all__) == vuskit.__all__
    assert len(set(vuskit.__all__)) == len(vuskit.__all__)
    for name in vuskit.__all__:
        assert hasattr(vuskit, name)
    assert vuskit.__version__.count(".") == 2


def test_errors_have_one_root():
    assert issubclass(vuskit.InvalidInputError, (vuskit.VuskitError, ValueError))
    assert issubclass(vuskit.InvalidInputError, ValueError)
    assert issubclass(vuskit.MissingDependencyError, vuskit.VuskitError)
    assert issubclass(vuskit.MissingDependencyError, ImportError)
    assert issubclass(vuskit.UndefinedMeasureWarning, UserWarning)
    assert issubclass(vuskit.ThresholdResolutionWarning, UserWarning)


# --- documentation -------------------------------------------------------------------------------


@public_functions
def test_functions_are_documented(name):
    function = getattr(vuskit, name)
    text = inspect.getdoc(function)
    assert text
    assert ">>>" in text
    assert "Examples\n--------" in text
    required = set(inspect.signature(function).parameters) - {"options"}
    assert [parameter for parameter in required if parameter not in text] == []


@public_functions
def test_functions_are_typed(name):
    signature = inspect.signature(getattr(vuskit, name))
    kinds = [entry.annotation for entry in signature.parameters.values()]
    assert signature.empty not in (signature.return_annotation, *kinds)


def test_classes_are_documented():
    for name in vuskit.__all__:
        if inspect.isclass(getattr(vuskit, name)):
            assert getattr(vuskit, name).__doc__


# --- every measure -------------------------------------------------------------------------------


def test_groups():
    assert len(PAPER) == 13
    assert len([measure for measure in BUILT_IN if measure.group == "extra"]) == 13
    assert len(BY_THRESHOLD) == 6 + 10
    names = [measure.name for measure in BUILT_IN]
    both = vuskit.evaluate(LABELS, SCORE, buffer=2, measures=["paper", "extra"])
    assert list(both) == names
    everything = vuskit.evaluate(LABELS, SCORE, buffer=2, measures="all")
    assert list(everything)[: len(names)] == names


@every_measure
def test_signature(measure):
    """`y_true`, then `y_score`, and the rest by name only."""
    parameters = list(inspect.signature(measure.function).parameters.values())
    assert [parameter.name for parameter in parameters[:2]] == ["y_true", "y_score"]
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[2:])
    with pytest.raises(TypeError):
        measure.function(LABELS, SCORE, 5)
    with pytest.raises(TypeError, match="nonsense"):
        call(measure, LABELS, SCORE, nonsense=1)


@pytest.mark.parametrize("name", ["evaluate", "evaluate_many", "surface", "events", "Evaluator"])
def test_options_are_keyword_only(name):
    parameters = list(inspect.signature(getattr(vuskit, name)).parameters.values())
    arrays = [parameter for parameter in parameters if parameter.name.startswith("y_")]
    rest = parameters[len(arrays) :]
    assert parameters[: len(arrays)] == arrays
    assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in rest)


def test_buffers_have_no_default():
    """Nobody quotes a value whose buffer nobody chose."""
    for name in ("vus_roc", "vus_pr", "range_auc_roc", "range_auc_pr", "evaluate", "Evaluator"):
        with pytest.raises(TypeError, match="buffer"):
            getattr(vuskit, name)(LABELS, *([SCORE] if name != "Evaluator" else []))


@every_measure
def test_plain_floats_come_out(measure):
    for dtype in (np.float64, np.float32, np.int64, np.longdouble):
        assert type(call(measure, LABELS, (SCORE * 10).astype(dtype))) is float


@every_measure
@settings(max_examples=50)
@given(data=labeled_scores(), buffer=buffers())
def test_bounds(measure, data, buffer):
    value = vuskit.evaluate(*data, buffer=buffer, measures=measure)[measure.name]
    assert measure.bounds[0] <= value <= measure.bounds[1]


@every_measure
@pytest.mark.parametrize("label", [0, 1])
def test_one_class(measure, label):
    with pytest.warns(vuskit.UndefinedMeasureWarning) as caught:
        value = call(measure, [label] * 4, [1, 2, 3, 4])
    assert type(value) is float
    assert math.isnan(value)
    assert [warning.filename for warning in caught] == [__file__]
    text = f"{measure.name} needs both normal and anomalous points; returning NaN."
    assert str(caught[0].message) == text


@pytest.mark.parametrize("measure", BY_THRESHOLD, ids=lambda measure: measure.name)
def test_predictions_instead_of_scores(measure):
    expected = measure.function(LABELS, SCORE, threshold=0.7)
    assert measure.function(LABELS, y_pred=SCORE >= 0.7) == expected
    assert measure.function(LABELS, y_pred=(SCORE >= 0.7).astype(float).tolist()) == expected
    with pytest.warns(vuskit.UndefinedMeasureWarning) as caught:
        assert math.isnan(measure.function([0, 0], y_pred=[0, 1]))
    assert [warning.filename for warning in caught] == [__file__]


@every_measure
def test_inputs_are_not_changed(measure):
    labels, score = LABELS.copy(), SCORE.copy()
    call(measure, labels, score)
    assert (labels == LABELS).all()
    assert (score == SCORE).all()


@every_measure
def test_same_value_again(measure):
    assert call(measure, LABELS, SCORE) == call(measure, LABELS, SCORE)


@every_measure
def test_two_points(measure):
    """The shortest series that has a value."""
    assert call(measure, [0, 1], [0.0, 1.0], **_everything_above(measure, 0.5)) == 1.0
    # The UCR score forgives a distance as long as the anomaly.
    worst = call(measure, [0, 1], [1.0, 0.0], **_everything_above(measure, 0.5))
    assert 0 <= worst < 1 or measure.name == "ucr_score"


def _everything_above(measure, threshold):
    return {"threshold": threshold} if measure in BY_THRESHOLD else {}


def test_nothing_is_printed(capfd):
    vuskit.evaluate(LABELS, SCORE, buffer=5, chance=True)
    vuskit.events(LABELS, SCORE)
    assert capfd.readouterr() == ("", "")


def test_filters_of_the_user_are_left_alone():
    with warnings.catch_warnings():
        before = list(warnings.filters)
        vuskit.evaluate(
            LABELS,
            SCORE,
            buffer=5,
            measures=[vuskit.get_measure("vus_pr").with_options(thresholds=60)],
        )
        assert list(warnings.filters) == before

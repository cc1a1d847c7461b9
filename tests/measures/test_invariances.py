"""What must not change a value, and what must change it in a known way."""

from __future__ import annotations

import re
import warnings

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import buffers, definitions, labeled_predictions, labeled_scores, labels, sides
from strategies import thresholds as grids_or_all

import vuskit

AREAS = ["range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"]
RANKED = ["precision_at_k", "auc_roc", "auc_pr", *AREAS]


def evaluate(y_true, y_score, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        warnings.simplefilter("ignore", vuskit.PredictionAsScoreWarning)
        return dict(vuskit.evaluate(y_true, y_score, **options))


def close(expected):
    return pytest.approx(expected, abs=1e-12)


def with_events(n, starts, length):
    y_true = np.zeros(n, dtype=int)
    for start in starts:
        y_true[start : start + length] = 1
    return y_true


# --- the scores' scale ---------------------------------------------------------------------------


@given(
    buffer=buffers(),
    thresholds=grids_or_all(),
    definition=definitions(),
    exponent=st.sampled_from([-300, -3, 1, 40, 400]),
    data=labeled_scores(),
)
def test_powers_of_two(data, buffer, thresholds, definition, exponent):
    """All thirteen, to the last bit: the sigma threshold moves with the scores."""
    options = {"buffer": buffer, "thresholds": thresholds, "definition": definition}
    y_true, y_score = data
    scaled = np.ldexp(y_score, exponent)
    assert evaluate(y_true, scaled, **options) == evaluate(y_true, y_score, **options)


INCREASING = {
    "exponential": lambda s: np.exp(s / 4),
    "affine": lambda s: 3 * s + 0.1,
    "ranks": lambda s: np.unique(s, return_inverse=True)[1],
    "narrow ranks": lambda s: np.unique(s, return_inverse=True)[1].astype(np.uint8),
    "cube": lambda s: s**3,
    "huge": lambda s: np.where(s > 0, 1e300, -1e300) * (1 + np.abs(s)),
}


@pytest.mark.parametrize("name", INCREASING)
@settings(max_examples=60)
@given(buffer=buffers(), thresholds=grids_or_all(), definition=definitions(), data=labeled_scores())
def test_increasing_maps(name, data, buffer, thresholds, definition):
    options = {"buffer": buffer, "thresholds": thresholds, "definition": definition}
    y_true, y_score = data[0], np.array(data[1])
    mapped = INCREASING[name](y_score)
    expected = evaluate(y_true, y_score, measures=RANKED, **options)
    assert evaluate(y_true, mapped, measures=RANKED, **options) == close(expected)


@given(buffer=buffers(), thresholds=grids_or_all(), seed=st.integers(0, 99), data=labeled_scores())
def test_order_of_tied_points(data, buffer, thresholds, seed):
    """Every point keeps its label's neighbours; points far from all events may change places."""
    y_true, y_score = data[0], np.array(data[1])
    far = np.arange(len(y_true), len(y_true) + 8) + buffer
    n = far[-1] + 1
    extended = np.full(n, y_score.min())
    extended[: y_score.size] = y_score
    extended[far] = np.random.default_rng(seed).choice(y_score, far.size)
    shuffled = extended.copy()
    shuffled[far] = np.random.default_rng(seed + 1).permutation(extended[far])
    padded = [*y_true, *[0] * (n - len(y_true))]
    options = {"buffer": buffer, "thresholds": thresholds, "measures": RANKED}
    assert evaluate(padded, shuffled, **options) == close(evaluate(padded, extended, **options))


# --- time ----------------------------------------------------------------------------------------


MIRRORED = {"both": "both", "before": "after", "after": "before"}


@settings(max_examples=200)
@given(buffer=buffers(), thresholds=grids_or_all(), side=sides(), data=labeled_scores())
def test_reversed_time_journal(data, buffer, thresholds, side):
    options = {"buffer": buffer, "thresholds": thresholds}
    backwards = [values[::-1] for values in data]
    # A threshold that no score equals but for rounding.
    expected = evaluate(*data, side=side, threshold=3.1, **options)
    found = evaluate(*backwards, side=MIRRORED[side], threshold=3.1, **options)
    assert found == close(expected)


@given(buffer=buffers(), thresholds=grids_or_all(), side=sides(), data=labeled_scores())
def test_reversed_time_timeeval_with_one_event(data, buffer, thresholds, side):
    """With several events it looks one point further to the right than to the left."""
    y_true = data[0]
    assume(sum(b > a for a, b in zip([0, *y_true], y_true, strict=False)) == 1)
    options = {"buffer": buffer, "thresholds": thresholds, "definition": "timeeval"}
    backwards = [values[::-1] for values in data]
    expected = evaluate(*data, side=side, measures=AREAS, **options)
    assert evaluate(*backwards, side=MIRRORED[side], measures=AREAS, **options) == close(expected)


def test_reversed_time_pvldb2022_is_another_series():
    """Its ramp after an event is one point shorter: a late alarm earns less than an early one."""
    y_true = with_events(20, [10], 1)
    early, late = np.eye(20)[8], np.eye(20)[12]
    options = {"buffer": 4, "definition": "pvldb2022"}
    assert vuskit.range_auc_pr(y_true, early, **options) > vuskit.range_auc_pr(
        y_true, late, **options
    )
    options["definition"] = "journal"
    assert vuskit.range_auc_pr(y_true, early, **options) == close(
        vuskit.range_auc_pr(y_true, late, **options)
    )


@given(labeled_predictions(), st.sampled_from(["flat", "middle", "front", "back"]))
def test_reversed_time_range_measures(data, bias):
    mirror = {"front": "back", "back": "front"}.get(bias, bias)
    y_true, y_pred = data
    for measure in (vuskit.range_precision, vuskit.range_recall):
        expected = measure(y_true, y_pred=y_pred, bias=bias)
        assert measure(y_true[::-1], y_pred=y_pred[::-1], bias=mirror) == close(expected)


# --- more normal points --------------------------------------------------------------------------


@settings(max_examples=150)
@given(buffer=buffers(30), definition=definitions(), more=st.integers(1, 50), data=labeled_scores())
def test_more_normal_points_below_everything(data, buffer, definition, more):
    """They are predicted last: no precision or recall changes, false positives weigh less."""
    y_true = [*data[0], *[0] * (buffer + 1)]
    y_score = [*data[1], *[min(data[1])] * (buffer + 1)]
    longer = [*y_true, *[0] * more], [*y_score, *[min(y_score) - 1] * more]
    middle = sorted(y_score)[len(y_score) // 2]
    options = {"buffer": buffer, "definition": definition, "threshold": middle}
    before = evaluate(y_true, y_score, **options)
    after = evaluate(*longer, **options)
    roc = {"auc_roc", "range_auc_roc", "vus_roc"}
    kept = before.keys() - roc
    assert {name: after[name] for name in kept} == close({name: before[name] for name in kept})

    normal = len(y_true) - sum(y_true)
    lost = (1 - before["auc_roc"]) * normal / (normal + more)
    assert after["auc_roc"] == close(1 - lost)
    for name in roc - {"auc_roc"}:
        assert after[name] >= before[name] - 1e-12


@given(
    buffer=buffers(30),
    definition=st.sampled_from(["pvldb2022", "timeeval"]),
    more=st.integers(1, 50),
    data=labeled_scores(),
)
def test_more_normal_points_scale_the_lost_area(data, buffer, definition, more):
    """Where P' is fixed, the area above the range ROC curve shrinks with the normal points."""
    y_true = [*data[0], *[0] * (buffer + 1)]
    y_score = [*data[1], *[min(data[1])] * (buffer + 1)]
    longer = [*y_true, *[0] * more], [*y_score, *[min(y_score) - 1] * more]
    options = {"buffer": buffer, "definition": definition}
    soft = oracle.soft_labels(y_true, buffer, definition=definition)
    normal = len(y_true) - (sum(y_true) + sum(soft)) / 2
    lost = 1 - vuskit.range_auc_roc(y_true, y_score, **options)
    found = 1 - vuskit.range_auc_roc(*longer, **options)
    assert found == close(lost * normal / (normal + more))


# --- buffers -------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(definition=definitions(), data=labeled_scores())
def test_no_buffer_and_one_event_is_the_plain_auc(data, definition):
    y_true, y_score = data
    assume(sum(b > a for a, b in zip([0, *y_true], y_true, strict=False)) == 1)
    options = {"buffer": 0, "definition": definition}
    interpolation = "step" if definition == "journal" else "trapezoid"
    roc, pr = vuskit.auc_roc(*data), vuskit.auc_pr(*data, interpolation=interpolation)
    assert vuskit.range_auc_roc(y_true, y_score, **options) == close(roc)
    assert vuskit.range_auc_pr(y_true, y_score, **options) == close(pr)


@given(thresholds=grids_or_all(), definition=definitions(), side=sides(), data=labeled_scores())
def test_a_buffer_of_one_is_none(data, thresholds, definition, side):
    """Half of it, rounded down, lies on either side."""
    options = {"thresholds": thresholds, "definition": definition, "side": side, "measures": AREAS}
    assert evaluate(*data, buffer=1, **options) == evaluate(*data, buffer=0, **options)


@given(
    data=labeled_scores(), max_buffer=buffers(30), step=st.integers(1, 40), definition=definitions()
)
def test_step_thins_the_buffers(data, max_buffer, step, definition):
    areas = vuskit.surface(*data, buffer=max_buffer, thresholds=None, definition=definition)
    found = vuskit.vus_pr(*data, max_buffer=max_buffer, step=step, definition=definition)
    assert found == close(areas.range_auc_pr[::step].mean())


def test_steps_of_evaluate_end_at_the_buffer():
    """R-AUC is taken at the buffer itself, also where the steps of VUS miss it."""
    rng = np.random.default_rng(5)
    y_true, y_score = with_events(80, [20, 50], 4), rng.random(80)
    found = vuskit.evaluate(y_true, y_score, buffer=10, step=4, measures=AREAS)
    for curve in ("roc", "pr"):
        area, volume = f"range_auc_{curve}", f"vus_{curve}"
        assert found[area] == close(getattr(vuskit, area)(y_true, y_score, buffer=10))
        expected = getattr(vuskit, volume)(y_true, y_score, max_buffer=10, step=4)
        assert found[volume] == close(expected)


# --- the perfect detector ------------------------------------------------------------------------


@given(y_true=labels(), max_buffer=buffers(), side=sides(), seed=st.integers(0, 99))
def test_perfect_detector_gets_one(y_true, max_buffer, side, seed):
    """Whether it puts all anomalous points on one level or each on its own."""
    options = {"max_buffer": max_buffer, "side": side}
    apart = np.array(y_true) + np.random.default_rng(seed).random(len(y_true)) / 2
    assert vuskit.vus_pr(y_true, y_true, **options) == close(1.0)
    assert vuskit.vus_pr(y_true, apart, **options) == close(1.0)


@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("n_events", [1, 10])
@pytest.mark.parametrize("length", [1, 5])
def test_perfect_detector_gets_one_at_any_length_and_rarity(n, n_events, length):
    y_true = with_events(n, range(5, n - 5, n // n_events), length)
    y_score = y_true + np.random.default_rng(n).random(n) / 2
    found = vuskit.evaluate(y_true, y_score, buffer=50)
    for name in ("vus_pr", "range_auc_pr", "auc_pr", "auc_roc", "precision_at_k"):
        assert found[name] == close(1.0)


@pytest.mark.parametrize(
    ("n", "n_events", "length", "expected"),
    [(100_000, 10, 20, 0.498), (1_000_000, 10, 100, 0.249)],
)
def test_a_grid_costs_the_perfect_detector(n, n_events, length, expected):
    """What 250 thresholds make of rare anomalies, and the warning that says so."""
    y_true = with_events(n, range(n // 20, n, n // n_events), length)
    y_score = y_true + np.random.default_rng(0).random(n) / 2
    with pytest.warns(vuskit.ThresholdResolutionWarning):
        found = vuskit.vus_pr(y_true, y_score, max_buffer=10, thresholds=250)
    assert found == pytest.approx(expected, abs=1e-3)
    assert vuskit.vus_pr(y_true, y_score, max_buffer=10) == close(1.0)


def perfect_score(y_true, side):
    """One point of each event first, then the other anomalous ones, then by nearness; no ties."""
    n = y_true.size
    inside = np.flatnonzero(y_true)
    starts = inside[np.diff(inside, prepend=-2) > 1]
    before = np.array([(inside[inside > i] - i).min(initial=n) for i in range(n)])
    after = np.array([(i - inside[inside < i]).min(initial=n) for i in range(n)])
    distance = {"both": np.minimum(before, after), "before": before, "after": after}[side]
    distance[inside] = 0
    distance[starts] = -1
    score = np.empty(n)
    score[np.lexsort((np.arange(n), distance))] = np.arange(n, 0, -1)
    return score


@pytest.mark.parametrize("definition", ["journal", "timeeval"])
@pytest.mark.parametrize("side", ["both", "before", "after"])
@pytest.mark.parametrize(("thresholds", "length", "max_buffer"), [(50, 3, 30), (9, 20, 12)])
def test_warning_says_what_a_perfect_detector_reaches(
    definition, side, thresholds, length, max_buffer
):
    y_true = with_events(2000, [100, 700, 1300, 1900], length)
    options = {
        "max_buffer": max_buffer,
        "thresholds": thresholds,
        "definition": definition,
        "side": side,
    }
    with pytest.warns(vuskit.ThresholdResolutionWarning) as caught:
        found = vuskit.vus_pr(y_true, perfect_score(y_true, side), **options)
    said = re.fullmatch(
        r"(\d+) thresholds step over ([\d.]+) points at a time, but only (\d+) points are "
        r"anomalous: on this grid a perfect detector reaches VUS-PR ([\d.]+); "
        r"thresholds=None uses every score\.",
        str(caught[0].message),
    )
    assert int(said[1]) == thresholds
    assert float(said[2]) == pytest.approx(2000 / thresholds, rel=1e-3)
    assert int(said[3]) == 4 * length
    assert float(said[4]) == pytest.approx(found, abs=5.1e-4)
    assert found < 0.95
    assert caught[0].filename == __file__


def test_warning_names_the_area_of_one_buffer():
    y_true = with_events(2000, [100, 700, 1300, 1900], 3)
    with pytest.warns(vuskit.ThresholdResolutionWarning) as caught:
        found = vuskit.range_auc_pr(y_true, perfect_score(y_true, "both"), buffer=80, thresholds=50)
    assert f"reaches R-AUC-PR {found:.3f};" in str(caught[0].message)


def test_warning_speaks_of_the_buffers_in_steps():
    """Of `evaluate`, VUS leaves out the longest buffer where the steps miss it."""
    y_true = with_events(2000, [100, 700, 1300, 1900], 3)
    score = perfect_score(y_true, "both")
    with pytest.warns(vuskit.ThresholdResolutionWarning) as caught:
        found = vuskit.evaluate(y_true, score, buffer=41, step=40, thresholds=50)
    assert f"reaches VUS-PR {found['vus_pr']:.3f};" in str(caught[0].message)


@pytest.mark.parametrize(("anomalous", "warns"), [(15, True), (16, False)])
def test_warning_begins_at_a_quarter_of_the_anomalous_points(anomalous, warns):
    """1000 points and 250 thresholds: steps of 4."""
    y_true = with_events(1000, [500], anomalous)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        vuskit.vus_roc(y_true, np.arange(1000), max_buffer=4, thresholds=250)
    assert bool(caught) is warns


def test_no_grid_no_warning():
    vuskit.vus_roc(with_events(1000, [500], 1), np.arange(1000), max_buffer=4)

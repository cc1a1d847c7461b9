"""The oracle itself: other packages' values, values worked out by hand, brute force."""

from __future__ import annotations

import itertools
import json
import math
import os
from pathlib import Path

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import buffers, definitions, grids, labeled_predictions, labeled_scores, sides

GOLDEN = json.loads((Path(__file__).parent / "golden" / "peers.json").read_text(encoding="utf-8"))
BY_PREDICTIONS = {
    "precision",
    "recall",
    "f_score",
    "range_precision",
    "range_recall",
    "range_f_score",
    "event_precision",
    "event_recall",
    "event_f_score",
    "composite_f_score",
    "point_adjusted_precision",
    "point_adjusted_recall",
    "point_adjusted_f_score",
    "affiliation_precision",
    "affiliation_recall",
    "affiliation_f_score",
}
ROOT_HALF = math.sqrt(0.5)


# --- other packages ------------------------------------------------------------------------------


def flat(value):
    """One list for the three of a curve; a number as it is."""
    if isinstance(value, dict):
        return [*value["fpr"], *value["tpr"], *value["precision"]]
    return value


def oracle_value(case, call):
    """The oracle's answer to a frozen call."""
    options = call["options"]
    measure = call["measure"]
    if measure in BY_PREDICTIONS:
        return getattr(oracle, measure)(case["y_true"], y_pred=case["y_pred"], **options)
    if measure == "curve":
        fpr, tpr, precision = oracle.curve(case["y_true"], case["y_score"], **options)
        return flat({"fpr": fpr, "tpr": tpr, "precision": precision})
    return getattr(oracle, measure)(case["y_true"], case["y_score"], **options)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_equals_peers(case):
    for call in case["calls"]:
        tolerance = GOLDEN["tolerance"]
        assert oracle_value(case, call) == pytest.approx(flat(call["value"]), abs=tolerance), call


def test_golden_data_covers_every_measure_and_definition():
    asked = {
        (call["measure"], call["options"].get("definition"))
        for case in GOLDEN["cases"]
        for call in case["calls"]
    }
    volumes = itertools.product(["vus_roc", "vus_pr"], ["journal", "pvldb2022", "timeeval"])
    areas = itertools.product(["range_auc_roc", "range_auc_pr"], ["pvldb2022", "timeeval"])
    by_scores = ["auc_roc", "auc_pr", "best_f_score", "ucr_score", "pate"]
    plain = [(name, None) for name in [*BY_PREDICTIONS, *by_scores]]
    assert asked == {*volumes, *areas, *plain, ("curve", "journal")}


@pytest.mark.parametrize("seed", [1, 2])
def test_equals_installed_peers(seed, monkeypatch):
    """Fresh cases, answered now by the peers whose environments VUSKIT_TEST_PEERS holds."""
    folder = os.environ.get("VUSKIT_TEST_PEERS")
    if folder is None:
        pytest.skip("VUSKIT_TEST_PEERS is not set (see benchmarks/freeze_golden.py)")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    import freeze_golden

    cases = list(freeze_golden.draw_cases(seed, 10))
    installed = [
        name
        for name, (environment, _) in freeze_golden.PEERS.items()
        if freeze_golden.python_of(environment, Path(folder)).exists()
    ]
    assert installed
    for name in installed:
        for case, replies in zip(
            cases, freeze_golden.ask(name, Path(folder), cases)["replies"], strict=True
        ):
            for call, value in zip(case["calls"], replies, strict=True):
                if value is not None:
                    expected = pytest.approx(flat(value), abs=1e-9)
                    assert oracle_value(case, call) == expected, (name, call)


CONFORMANCE = {
    "journal": ("journal", True),
    "journal_all_thresholds": ("journal", False),
    "pvldb2022": ("pvldb2022", True),
    "timeeval": ("timeeval", True),
}


@pytest.fixture(scope="module")
def conformance_cases():
    folder = os.environ.get("VUSKIT_TEST_DATA")
    if folder is None:
        pytest.skip("VUSKIT_TEST_DATA is not set")
    path = Path(folder) / "conformance" / "vus_cases.json"
    return json.loads(path.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("key", CONFORMANCE)
def test_conformance_volumes(conformance_cases, key):
    definition, on_grid = CONFORMANCE[key]
    cases = [case for case in conformance_cases if key in case]
    assert cases
    for case in cases:
        options = {
            "max_buffer": case["max_buffer"],
            "thresholds": case["thresholds"] if on_grid else None,
            "definition": definition,
        }
        for measure, expected in case[key].items():
            actual = getattr(oracle, measure)(case["y_true"], case["y_score"], **options)
            assert actual == pytest.approx(expected, abs=1e-12), (case["name"], measure)


def test_conformance_areas(conformance_cases):
    for case in conformance_cases:
        data = case["y_true"], case["y_score"]
        assert oracle.auc_roc(*data) == pytest.approx(case["auc_roc"], abs=1e-12), case["name"]
        assert oracle.auc_pr(*data) == pytest.approx(case["auc_pr"], abs=1e-12), case["name"]


# --- worked out by hand --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 0], []),
        ([1, 1], [(0, 2)]),
        ([1, 0, 1], [(0, 1), (2, 3)]),
        ([0, 1, 1, 0, 0, 1], [(1, 3), (5, 6)]),
    ],
)
def test_events(labels, expected):
    assert oracle.events(labels) == expected


def test_sigma_threshold():
    # Mean 1; squared deviations 1, 1, 1, 9 over 4 points: variance 3.
    assert oracle.sigma_threshold([0, 0, 0, 4]) == 1 + 3 * math.sqrt(12 / 4)
    assert oracle.sigma_threshold([0, 0, 0, 4], factor=1) == 1 + math.sqrt(3)


def test_nothing_reaches_the_sigma_threshold():
    # 1 + 3 * sqrt(3) is above 4, so nothing is predicted: zero, not an error.
    data = [0, 1, 0, 1], [0, 0, 0, 4]
    assert oracle.precision(*data) == oracle.recall(*data) == oracle.f_score(*data) == 0
    assert oracle.range_precision(*data) == oracle.range_f_score(*data) == 0


def test_points_at_a_number():
    # Predicted: indices 1, 2, 3; anomalous: 2, 3, 4. Two hits.
    data = [0, 0, 1, 1, 1, 0], [0.1, 0.7, 0.5, 0.9, 0.2, 0.3]
    assert oracle.precision(*data, threshold=0.5) == 2 / 3
    assert oracle.recall(*data, threshold=0.9) == 1 / 3
    # Precision 1/1, recall 1/3, beta 2: 5 * 1/3 / (4 + 1/3) = 5/13.
    assert oracle.f_score(*data, threshold=0.9, beta=2) == pytest.approx(5 / 13, abs=1e-15)


def test_precision_at_k_shares_ties():
    labels = [1, 0, 1, 0, 0]
    scores = [5, 3, 3, 3, 1]
    # k = P = 2: the 5 is anomalous, one place is left for three tied points, one of them anomalous.
    assert oracle.precision_at_k(labels, scores) == pytest.approx((1 + 1 / 3) / 2, abs=1e-15)
    assert oracle.precision_at_k(labels, scores, k=1) == 1
    assert oracle.precision_at_k(labels, scores, k=4) == 2 / 4


@given(labeled_scores(max_size=6), st.integers(1, 6))
def test_precision_at_k_is_the_mean_over_tie_breaks(data, k):
    labels, scores = data
    k = min(k, len(labels))
    orders = list(itertools.permutations(range(len(labels))))
    ranked = (sorted(order, key=lambda i: -scores[i]) for order in orders)  # stable: order decides
    mean = sum(sum(labels[i] for i in ranking[:k]) / k for ranking in ranked) / len(orders)
    assert oracle.precision_at_k(labels, scores, k=k) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("bias", "expected"),
    [
        # Event [1, 5); its 1st, 2nd and 4th points are predicted, by two ranges.
        ("flat", 3 / 4),
        ("front", (4 + 3 + 1) / 10),
        ("middle", (1 + 2 + 1) / 6),
        ("back", (1 + 2 + 4) / 10),
        (lambda i, length: i * i, (1 + 4 + 16) / 30),
    ],
)
def test_range_recall_bias(bias, expected):
    labels, predicted = [0, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0]
    options = {"y_pred": predicted, "bias": bias}
    assert oracle.range_recall(labels, **options) == pytest.approx(expected, abs=1e-15)
    # Two ranges meet the event.
    reciprocal = oracle.range_recall(labels, cardinality="reciprocal", **options)
    assert reciprocal == pytest.approx(expected / 2, abs=1e-15)
    cubic = oracle.range_recall(labels, cardinality=lambda count: count**-3, **options)
    assert cubic == pytest.approx(expected / 8, abs=1e-15)
    existence = oracle.range_recall(labels, alpha=0.25, **options)
    assert existence == pytest.approx(0.25 + 0.75 * expected, abs=1e-15)


def test_range_precision_and_f_score():
    labels, predicted = [0, 1, 1, 1, 1, 0], [1, 1, 1, 0, 1, 0]
    # Predicted [0, 3) is covered for 2/3, [4, 5) whole: precision 5/6; recall 3/4.
    assert oracle.range_precision(labels, y_pred=predicted) == pytest.approx(5 / 6, abs=1e-15)
    f_score = oracle.range_f_score(labels, y_pred=predicted)
    assert f_score == pytest.approx(2 * (5 / 6) * (3 / 4) / (5 / 6 + 3 / 4), abs=1e-15)


def test_areas():
    labels, scores = [0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]
    # Thresholds 0.8, 0.4, 0.1: recall 1/2, 1, 1; FPR 0, 1/2, 1; precision 1, 2/3, 1/2.
    assert oracle.auc_roc(labels, scores) == pytest.approx(0.375 + 0.5, abs=1e-15)
    assert oracle.auc_pr(labels, scores) == pytest.approx(1 / 2 + 1 / 3, abs=1e-15)
    trapezoid = oracle.auc_pr(labels, scores, interpolation="trapezoid")
    assert trapezoid == pytest.approx(1 / 2 + 5 / 12, abs=1e-15)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        # Event [3, 4), w = 4, h = 2. Before: distances 2 and 1; after: 1 and 2.
        ("journal", [0, ROOT_HALF, math.sqrt(0.75), 1, math.sqrt(0.75), ROOT_HALF, 0]),
        ("pvldb2022", [0, ROOT_HALF, math.sqrt(0.75), 1, math.sqrt(0.75), 0, 0]),
        ("timeeval", [0, ROOT_HALF, (1 + ROOT_HALF) / 2, 1, (1 + ROOT_HALF) / 2, ROOT_HALF, 0]),
    ],
)
def test_soft_labels(definition, expected):
    labels = [0, 0, 0, 1, 0, 0, 0]
    soft = oracle.soft_labels(labels, 4, definition=definition)
    assert soft == pytest.approx(expected, abs=1e-15)
    before = oracle.soft_labels(labels, 4, definition=definition, side="before")
    assert before == pytest.approx([*expected[:4], 0, 0, 0], abs=1e-15)
    after = oracle.soft_labels(labels, 4, definition=definition, side="after")
    assert after == pytest.approx([0, 0, 0, *expected[3:]], abs=1e-15)


def test_soft_labels_where_ramps_meet():
    labels = [1, 0, 0, 1]
    assert oracle.soft_labels(labels, 4) == [1, 1, 1, 1]
    larger = (1 + ROOT_HALF) / 2
    soft = oracle.soft_labels(labels, 4, definition="timeeval")
    assert soft == pytest.approx([1, larger, larger, 1], abs=1e-15)


def test_journal_curve():
    labels, scores = [0, 0, 1, 0], [1, 3, 2, 0]
    # w = 2, h = 1: soft label c = sqrt(1/2) at indices 1 and 3; one buffered event [1, 4).
    c = ROOT_HALF
    fpr, tpr, precision = oracle.curve(labels, scores, 2)
    assert precision == pytest.approx([c, (1 + c) / 2, (1 + c) / 3, (1 + 2 * c) / 4], abs=1e-15)
    # t = 3: TP = c, P' = 1 + c/2. t = 2: TP = 1 + c exceeds P', so TPR is 1 from there on.
    assert tpr == pytest.approx([c / (1 + c / 2), 1, 1, 1], abs=1e-15)
    false_positives = [1 - c, 2 - (1 + c), 3 - (1 + c), 4 - (1 + 2 * c)]
    negatives = [3 - c / 2, 3 - c / 2, 3 - c / 2, 3 - c]
    rates = [fp / n for fp, n in zip(false_positives, negatives, strict=True)]
    assert fpr == pytest.approx(rates, abs=1e-15)
    # Steps: c over the first stretch of recall, (1 + c) / 2 over the rest.
    first = c / (1 + c / 2)
    area = c * first + (1 + c) / 2 * (1 - first)
    assert oracle.range_auc_pr(labels, scores, buffer=2) == pytest.approx(area, abs=1e-15)


def test_pvldb2022_curve():
    labels, scores = [0, 0, 1, 0], [1, 3, 2, 0]
    # w = 2: one point before (c = sqrt(1/2)), none after; P' = 1 + c / 2 at every threshold.
    c = ROOT_HALF
    fpr, tpr, precision = oracle.curve(labels, scores, 2, definition="pvldb2022")
    assert precision == pytest.approx([c, (1 + c) / 2, (1 + c) / 3, (1 + c) / 4], abs=1e-15)
    assert tpr == pytest.approx([c / (1 + c / 2), 1, 1, 1], abs=1e-15)
    negatives = 3 - c / 2
    assert fpr == pytest.approx([(k - c) / negatives for k in (1, 1, 2, 3)], abs=1e-15)


@pytest.mark.parametrize(
    ("definition", "buffer", "side", "found"),
    [
        # Events at 2 and 5; only index 3 is predicted at the highest threshold.
        # h = 1: buffered [1, 4) and [4, 7) touch but share nothing: two, one of them found.
        ("journal", 2, "both", 1 / 2),
        # h = 2: [0, 5) and [3, 8) share points: one.
        ("journal", 4, "both", 1),
        # Ramps before only, h = 2: [0, 3) and [3, 6) touch: two.
        ("journal", 4, "before", 1 / 2),
        ("journal", 4, "after", 1 / 2),
        ("journal", 6, "before", 1),
        # The run of soft labels: 1, 2 | 4, 5 at w = 2, where index 3 has none.
        ("pvldb2022", 2, "both", 0),
        ("pvldb2022", 4, "both", 1),
        # Each event by itself; at w = 4 index 3 lies within reach of both.
        ("timeeval", 2, "both", 1 / 2),
        ("timeeval", 4, "both", 1),
        # Before only: index 3 is the second event's; the first one's window [0, 4) holds it too.
        ("timeeval", 4, "before", 1),
        # After only: index 3 lies in [2, 6), before the second event's window [5, 9).
        ("timeeval", 4, "after", 1 / 2),
    ],
)
def test_existence(definition, buffer, side, found):
    labels, scores = [0, 0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]
    options = {"definition": definition, "side": side}
    soft = oracle.soft_labels(labels, buffer, **options)
    beside = sum(soft) - 2
    positives = 2 + (soft[3] if definition == "journal" else beside) / 2
    _, tpr, _ = oracle.curve(labels, scores, buffer, **options)
    assert tpr[0] == pytest.approx(min(soft[3] / positives, 1) * found, abs=1e-15)


def test_timeeval_looks_one_point_past_the_ramp():
    # Events at 0 and 3, h = 1, ramps at 1 and at 2, 4. Index 2 belongs to the second event's ramp
    # but lies in the first one's window [0, 3) too, so predicting it finds both.
    labels, scores = [1, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]
    _, tpr, _ = oracle.curve(labels, scores, 2, definition="timeeval")
    positives = 2 + 3 * ROOT_HALF / 2
    assert tpr[0] == pytest.approx(ROOT_HALF / positives, abs=1e-15)


def test_grid_takes_truncated_ranks():
    # Ranks linspace(0, 4, 4) = 0, 1.33, 2.67, 4: the scores 9, 7, 5, 1. Precision by hand.
    labels, scores = [1, 0, 1, 0, 0], [9, 7, 5, 3, 1]
    _, _, precision = oracle.curve(labels, scores, 0, thresholds=4)
    assert precision == pytest.approx([1, 1 / 2, 2 / 3, 2 / 5], abs=1e-15)


# --- relations that hold for every input ---------------------------------------------------------


@given(labeled_scores(), buffers(), definitions(), sides())
def test_a_fine_grid_equals_every_distinct_score(data, buffer, definition, side):
    options = {"buffer": buffer, "definition": definition, "side": side}
    grid = len(data[0])
    for measure in (oracle.range_auc_roc, oracle.range_auc_pr):
        exact = measure(*data, **options)
        assert measure(*data, thresholds=grid, **options) == pytest.approx(exact, abs=1e-12)


@given(labeled_scores(), buffers(), grids())
def test_mirrored_sides(data, buffer, grid):
    labels, scores = data
    options = {"buffer": buffer, "thresholds": grid}
    before = oracle.range_auc_pr(labels, scores, side="before", **options)
    after = oracle.range_auc_pr(labels[::-1], scores[::-1], side="after", **options)
    assert before == pytest.approx(after, abs=1e-12)


@given(labeled_scores(max_size=20), st.integers(0, 12), definitions())
def test_volume_is_the_mean_of_the_areas(data, max_buffer, definition):
    areas = [
        oracle.range_auc_roc(*data, buffer=buffer, definition=definition)
        for buffer in range(max_buffer + 1)
    ]
    volume = oracle.vus_roc(*data, max_buffer=max_buffer, definition=definition)
    assert volume == pytest.approx(sum(areas) / len(areas), abs=1e-12)
    thinned = oracle.vus_roc(*data, max_buffer=max_buffer, definition=definition, step=5)
    assert thinned == pytest.approx(sum(areas[::5]) / len(areas[::5]), abs=1e-12)


@given(labeled_predictions())
def test_perfect_predictions_get_one(data):
    labels, _ = data
    for measure in sorted(BY_PREDICTIONS):
        assert getattr(oracle, measure)(labels, y_pred=labels) == 1


@given(labeled_predictions(), st.sampled_from(["flat", "front", "middle", "back"]))
def test_range_precision_mirrors_range_recall(data, bias):
    labels, predicted = data
    if 0 < sum(predicted) < len(predicted):
        mirrored = oracle.range_recall(predicted, y_pred=labels, bias=bias)
        assert oracle.range_precision(labels, y_pred=predicted, bias=bias) == mirrored


@pytest.mark.parametrize("only_class", [0, 1])
def test_one_class_is_undefined(only_class):
    labels, scores = [only_class] * 3, [0.1, 0.2, 0.3]
    for measure in sorted(BY_PREDICTIONS):
        assert math.isnan(getattr(oracle, measure)(labels, scores, threshold=0.2)), measure
    for measure in (oracle.precision_at_k, oracle.auc_roc, oracle.auc_pr):
        assert math.isnan(measure(labels, scores))
    for measure in (oracle.range_auc_roc, oracle.range_auc_pr):
        assert math.isnan(measure(labels, scores, buffer=2))
    for measure in (oracle.vus_roc, oracle.vus_pr):
        assert math.isnan(measure(labels, scores, max_buffer=2))

"""The native core against plain loops and the NumPy kernels."""

from __future__ import annotations

import dataclasses
import itertools
import typing
import warnings

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.native_cases import (
    SHAPES,
    long_series,
    native_areas,
    native_score,
    numpy_areas,
    plain,
    random_cases,
    require_native_core,
    short_series,
    widths,
)
from kernels.ranking.test_numpy import KINDS, shaped
from oracle.vus import threshold_values
from strategies import buffers, labeled_scores, labels, sides, thresholds

import vuskit
from vuskit.kernels.backend import as_doubles, rules_of
from vuskit.kernels.labels import DEFINITIONS, JOURNAL, Definition

require_native_core()

EXACT = 1e-12

# Hypothesis would draw rare combinations too seldom.
each_definition = pytest.mark.parametrize("definition", DEFINITIONS)
each_side = pytest.mark.parametrize("side", ["both", "before", "after"])


@st.composite
def cases(draw, **options):
    """Labels, scores and widths."""
    drawn = draw(widths())
    return *draw(short_series(**options)), drawn


# --- areas of short series -----------------------------------------------------------------------


def check_against_oracle(labels, scores, widths, chosen, **options):
    """Compare all widths with the NumPy kernels and two of them with the oracle."""
    found = native_areas(labels, scores, widths, **options)
    np.testing.assert_allclose(
        found, numpy_areas(labels, scores, widths, **options), rtol=0, atol=EXACT
    )
    for row in {chosen % len(widths), len(widths) - 1}:
        for curve, slow in enumerate((oracle.range_auc_roc, oracle.range_auc_pr)):
            expected = slow(labels, plain(scores), buffer=widths[row], **options)
            assert found[curve, row] == pytest.approx(expected, rel=0, abs=EXACT)


@each_definition
@each_side
@settings(max_examples=100)
@given(thresholds=thresholds(), chosen=st.integers(0, 99), case=cases(max_size=24))
def test_areas(case, definition, side, thresholds, chosen):
    options = {"definition": definition, "side": side, "thresholds": thresholds}
    check_against_oracle(*case, chosen, **options)


@each_definition
@each_side
def test_areas_of_random_series(definition, side):
    for place, (*case, grid) in enumerate(random_cases(300)):
        options = {"definition": definition, "side": side, "thresholds": grid}
        found, expected = native_areas(*case, **options), numpy_areas(*case, **options)
        np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT, err_msg=f"case {place}")


@each_definition
@each_side
@settings(max_examples=80)
@given(
    thresholds=thresholds(),
    chosen=st.integers(0, 99),
    widths=widths(),
    seed=st.integers(0, 999),
    labels=labels(min_size=8),
)
def test_existence_of_buffered_events(labels, seed, widths, definition, side, thresholds, chosen):
    """The points around events outrank those inside: buffers find an event before its points do."""
    order = np.random.default_rng(seed).permutation(len(labels))
    scores = order - 100.0 * np.array(labels)
    options = {"definition": definition, "side": side, "thresholds": thresholds}
    check_against_oracle(labels, scores, widths, chosen, **options)


HINTS = typing.get_type_hints(Definition)
CHOICES = {
    field.name: typing.get_args(HINTS[field.name]) or (0, 1)
    for field in dataclasses.fields(Definition)
    if field.name not in ("name", "title")
}
VARIANTS = [
    dataclasses.replace(JOURNAL, **dict(zip(CHOICES, values, strict=True)))
    for values in itertools.product(*CHOICES.values())
]
SUPPORTED = [variant for variant in VARIANTS if rules_of(variant, "both") is not None]


def test_supported_definitions():
    assert set(DEFINITIONS.values()) <= {
        dataclasses.replace(variant, name=one.name, title=one.title)
        for variant in SUPPORTED
        for one in DEFINITIONS.values()
    }
    for variant in VARIANTS:
        left_out = variant.positives == "predicted" and variant.pr_area == "trapezoid"
        assert (variant in SUPPORTED) is not left_out


@each_side
@settings(max_examples=200)
@given(
    definition=st.sampled_from(SUPPORTED),
    thresholds=thresholds(),
    case=cases(kinds=("many", "quarters", "zeros and others")),
)
def test_every_combination_of_rules(case, definition, side, thresholds):
    options = {"definition": definition, "side": side, "thresholds": thresholds}
    found = native_areas(*case, **options)
    np.testing.assert_allclose(found, numpy_areas(*case, **options), rtol=0, atol=EXACT)


def events_with_a_gap(gap, lead):
    """Two events with high scores between them; points inside events have the lowest scores."""
    labels = [0] * lead + [1, 1] + [0] * gap + [1] + [0] * (lead + 1)
    points = np.arange(len(labels))
    in_gap = (points > lead + 1) & (points < lead + 2 + gap)
    return labels, np.where(labels, -9.0 - points, points * 3 % 7 + 9 * in_gap)


@each_definition
@each_side
def test_every_gap_between_two_events(definition, side):
    """Buffers meet, share a point or stay one point apart."""
    for gap, lead in itertools.product(range(1, 10), (0, 1, 3)):
        labels, scores = events_with_a_gap(gap, lead)
        options = {"definition": definition, "side": side}
        for last, grid in itertools.product((gap, 2 * gap + 6), (None, 5)):
            case = labels, scores, [*range(last)], gap // 2
            check_against_oracle(*case, thresholds=grid, **options)


@each_side
def test_every_gap_with_every_combination_of_rules(side):
    for definition, gap in itertools.product(SUPPORTED, range(1, 8)):
        case = *events_with_a_gap(gap, 2), [*range(2 * gap + 6)], definition, side
        np.testing.assert_allclose(native_areas(*case), numpy_areas(*case), rtol=0, atol=EXACT)


@each_definition
@pytest.mark.parametrize("last", [[22], [22, 23], [19, 22], [22, 25]])
def test_wide_buffers_are_complete_before_the_last_event(definition, last):
    """All points near one event are found before the other event, whose own points are higher."""
    labels, scores = [0] * 30, np.arange(30.0)[::-1]
    for place in (8, *last):
        labels[place] = 1
    scores[last] = 15.5 + np.arange(len(last))
    scores[13:16] = 16.0
    for all_widths in ([6, 7, 8], [8], [7, 9, 10], [0, 3, 8]):
        for grid in (None, 20):
            options = {"definition": definition, "thresholds": grid}
            check_against_oracle(labels, scores, all_widths, 0, **options)


def evaluate_with_both(*data, **options):
    """Values of all measures from the NumPy kernels and from the native core."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about the scores and the grid
        patch.setenv("VUSKIT_CORE", "numpy")
        slow = vuskit.evaluate(*data, **options)
        patch.setenv("VUSKIT_CORE", "native")
        return dict(slow), dict(vuskit.evaluate(*data, **options))


@each_definition
@settings(max_examples=40)
@given(
    buffer=buffers(),
    side=sides(),
    thresholds=thresholds(),
    step=st.sampled_from([1, 1, 2, 7]),
    k=st.none() | st.integers(1, 2),
    data=labeled_scores(),
)
def test_all_measures(data, definition, **options):
    slow, fast = evaluate_with_both(*data, definition=definition, **options)
    assert fast == pytest.approx(slow, rel=0, abs=EXACT)


# --- counts at levels ----------------------------------------------------------------------------


def is_near(i, runs, half, definition, side):
    """Whether a point lies within half a buffer of an event."""
    before = half if side != "after" else 0
    after = half - definition.after_is_shorter if side != "before" else 0
    return any(start - before <= i < stop + max(after, 0) for start, stop in runs)


def literal_levels(labels, scores, half, definition, side, grid):
    """Predicted points at each level, those at the threshold before, and anomalous points."""
    n = len(labels)
    if grid is not None:
        levels = sorted(set(threshold_values(scores, grid)), reverse=True)
    else:
        runs = oracle.events(labels)
        levels = {scores[i] for i in range(n) if is_near(i, runs, half, definition, side)}
        if definition.positives == "predicted":
            # Everything is found at the lowest anomalous score.
            lowest = min(scores[i] for i in range(n) if labels[i])
            levels = {level for level in levels if level >= lowest}
        levels = sorted(levels, reverse=True)
    predicted = [sum(score >= level for score in scores) for level in levels]
    if grid is None:
        before = [sum(score > level for score in scores) for level in levels]
    else:
        before = [0, *predicted[:-1]]
    found = [sum(scores[i] >= level for i in range(n) if labels[i]) for level in levels]
    return predicted, before, found


@each_definition
@each_side
@settings(max_examples=100)
@given(thresholds=thresholds(), case=cases())
def test_levels(case, definition, side, thresholds):
    labels, scores, widths = case
    found = native_score(*case, definition=definition, side=side, thresholds=thresholds).levels
    half = min(widths[-1] // 2, len(labels))
    rules = DEFINITIONS[definition]
    expected = literal_levels(labels, plain(scores), half, rules, side, thresholds)
    counts = found.predicted.tolist(), found.predicted_before.tolist(), found.found.tolist()
    assert counts == expected


@settings(max_examples=150)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 400),
    n_events=st.integers(1, 30),
    width=st.sampled_from([0, 3, 40]),
    grid=st.sampled_from([None, 2, 3, 26, 250]),
    seed=st.integers(0, 2**32 - 1),
)
def test_levels_of_many_kinds_of_scores(kind, n, n_events, width, grid, seed):
    rng = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=int)
    labels[rng.integers(0, n, n_events)] = 1
    scores = shaped(kind, n, rng)
    if labels.all():
        labels[0] = 0
    found = native_score(labels, scores, [width], thresholds=grid).levels
    expected = literal_levels(labels, plain(scores), width // 2, JOURNAL, "both", grid)
    counts = found.predicted.tolist(), found.predicted_before.tolist(), found.found.tolist()
    assert counts == expected


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [4_095, 4_097, 70_000])
def test_levels_of_a_long_series(shape, n):
    """The numbers of points are around that from which skewed scores are recognized."""
    labels, scores = long_series(shape, n, n_events=40)
    ascending, inside = np.sort(scores), np.sort(scores[labels == 1])
    near = np.convolve(labels, np.ones(21), mode="same") > 0
    levels = np.unique(scores[near & (scores >= inside[0])])[::-1]
    ranks = np.linspace(0, n - 1, 250).astype(int)
    on_grid = np.unique(ascending[::-1][ranks])[::-1]
    for grid, expected in ((None, levels), (250, on_grid)):
        found = native_score(labels, scores, [0, 20], thresholds=grid).levels
        at_least = n - ascending.searchsorted(expected)
        before = n - ascending.searchsorted(expected, side="right")
        if grid is not None:
            before = np.append(0, at_least[:-1])
        np.testing.assert_array_equal(found.predicted, at_least)
        np.testing.assert_array_equal(found.predicted_before, before)
        np.testing.assert_array_equal(found.found, inside.size - inside.searchsorted(expected))


@settings(max_examples=200)
@given(case=cases())
def test_plain_areas(case):
    labels, scores, _ = case
    found = native_score(*case).plain_areas
    assert found[0] == pytest.approx(oracle.auc_roc(labels, plain(scores)), rel=0, abs=EXACT)
    assert found[1] == pytest.approx(oracle.auc_pr(labels, plain(scores)), rel=0, abs=EXACT)


# --- longer series: several blocks of widths, and maps for skewed scores -------------------------


@pytest.mark.parametrize("shape", SHAPES)
@each_definition
def test_areas_of_a_long_series(shape, definition):
    case = *long_series(shape, 8_000), np.arange(0, 603, 2)
    for options in ({}, {"thresholds": 250}, {"side": "before"}, {"side": "after"}):
        found = native_areas(*case, definition=definition, **options)
        expected = numpy_areas(*case, definition=definition, **options)
        np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


@each_definition
@pytest.mark.parametrize(("n_events", "longest"), [(3, 900), (600, 3), (2_500, 1)])
def test_few_long_events_and_many_short_ones(definition, n_events, longest):
    case = *long_series("two decimals", 6_000, n_events, longest), np.arange(290)
    for grid in (None, 100):
        found = native_areas(*case, definition, thresholds=grid)
        expected = numpy_areas(*case, definition, thresholds=grid)
        np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


@each_definition
def test_weights_that_are_computed_block_by_block(definition):
    """More widths than fit into one table of weights, in steps so that NumPy is fast."""
    labels, scores = long_series("exponential", 9_000, 8)
    all_widths = np.arange(0, 8_400, 7)
    found = native_areas(labels, scores, all_widths, definition)
    expected = numpy_areas(labels, scores, all_widths, definition)
    np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


@pytest.mark.parametrize("thresholds", [None, 250])
@pytest.mark.parametrize("decimals", [2, 17])
def test_all_measures_of_a_long_series(decimals, thresholds):
    labels, scores = long_series("uniform", 20_000, 60, 80)
    options = {"buffer": 100, "thresholds": thresholds}
    slow, fast = evaluate_with_both(labels, scores.round(decimals), **options)
    assert fast == pytest.approx(slow, rel=0, abs=EXACT)


# --- types and layouts of scores -----------------------------------------------------------------

TYPES = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "longdouble"),
]


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_has_the_areas_of_its_ranks(dtype):
    labels, scores = long_series("bytes", 5_000)
    typed = scores.astype(dtype) if dtype != "bool" else scores > 150
    case = np.arange(0, 60, 7)
    ranks = np.unique(typed, return_inverse=True)[1].astype(float)
    for options in ({}, {"thresholds": 50}):
        expected = native_areas(labels, ranks, case, **options)
        np.testing.assert_array_equal(native_areas(labels, typed, case, **options), expected)


@pytest.mark.parametrize(
    ("scores", "single"),
    [
        (np.array([1.5, -2.0]), False),
        (np.array([1.5, -2.0], dtype=np.float32), True),
        (np.array([1.5, -2.0], dtype=np.float16), False),
        (np.array([200, 100], dtype=np.uint8), False),
        (np.array([2**53, -(2**53)]), False),
    ],
)
def test_scores_that_doubles_represent_are_kept(scores, single):
    doubles, is_single = as_doubles(scores)
    assert is_single is single
    assert doubles.dtype == (np.float32 if single else np.float64)
    assert doubles.tolist() == scores.tolist()


@pytest.mark.parametrize(
    "scores",
    [
        np.array([2**53 + 1, 2**53, 7, 2**53 + 1]),
        np.array([-(2**53), -(2**53) - 1, -(2**62), -(2**53)]),
        np.array([2**64 - 1, 2**64 - 2, 0, 2**64 - 1], dtype=np.uint64),
        1 + np.finfo(np.longdouble).eps * np.array([2, 1, 0, 2], dtype=np.longdouble),
    ],
)
def test_other_scores_are_replaced_by_ranks(scores):
    doubles, single = as_doubles(scores)
    assert not single
    wide = scores.dtype.itemsize > 8 or scores.dtype.kind != "f"  # Windows has no wider type
    assert not wide or doubles.tolist() == [2.0, 1.0, 0.0, 2.0]


def read_only(scores):
    copy = scores.copy()
    copy.flags.writeable = False
    return copy


LAYOUTS = {
    "read-only": read_only,
    "every second": lambda scores: np.repeat(scores, 2)[::2],
    "reversed": lambda scores: scores[::-1].copy()[::-1],
    "column": lambda scores: np.repeat(scores[:, None], 3, axis=1)[:, 1],
    "unaligned": lambda scores: np.frombuffer(b"0" + scores.tobytes(), dtype=np.uint8)[1:].view(
        scores.dtype
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_layouts_of_scores(layout, dtype):
    labels, scores = long_series("normal", 5_000)
    scores = (scores * 100).astype(dtype)
    changed = LAYOUTS[layout](scores)
    before = changed.tobytes()
    case = [0, 1, 2, 9, 50]
    expected = native_areas(labels, scores, case)
    np.testing.assert_array_equal(native_areas(labels, changed, case), expected)
    assert changed.tobytes() == before
    expected = vuskit.evaluate(labels, scores, buffer=20)
    assert dict(vuskit.evaluate(labels, changed, buffer=20)) == dict(expected)


def test_signed_zeros_are_ties():
    labels = [0, 1, 0, 1, 0, 0]
    signs = np.array([0.0, -0.0, -0.0, 0.0, -1.0, 1.0])
    for options in ({}, {"thresholds": 4}):
        found = native_areas(labels, signs, [0, 2, 3], **options)
        np.testing.assert_array_equal(
            found, native_areas(labels, np.abs(signs) * np.sign(signs), [0, 2, 3], **options)
        )

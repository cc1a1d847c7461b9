"""Areas of the native core have the same bits in every way to compute them."""

from __future__ import annotations

import contextlib
import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.native_cases import (
    SHAPES,
    long_series,
    native_areas,
    native_score,
    random_cases,
    require_native_core,
    short_series,
    widths,
)
from strategies import sides, thresholds

import vuskit
from vuskit.kernels.backend import as_doubles, native_core, rules_of
from vuskit.kernels.labels import DEFINITIONS

require_native_core()

pytestmark = [
    pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning"),
    pytest.mark.filterwarnings("ignore::vuskit.InvertedScoreWarning"),
]

AREAS = ("auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr")
DOUBLES = ("many", "quarters", "zeros and others", "heavy tails", "extremes", "int8")
SKEWED = ("uniform", "lognormal", "cauchy", "exponential", "two decimals", "single heavy tails")


each_definition = pytest.mark.parametrize("definition", DEFINITIONS)
each_side = pytest.mark.parametrize("side", ["both", "before", "after"])


@st.composite
def cases(draw):
    """Short series with any scores, widths, and the number of thresholds."""
    grid, drawn = draw(thresholds()), draw(widths())
    return *draw(short_series()), drawn, grid


def same_bits(one, other):
    """Compare every bit, also the signs of zeros."""
    one, other = (np.ascontiguousarray(values, dtype=np.float64) for values in (one, other))
    np.testing.assert_array_equal(one.view(np.int64), other.view(np.int64))


# --- instruction sets ----------------------------------------------------------------------------


@contextlib.contextmanager
def instruction_set(name):
    core = native_core()
    before = core.use(name)
    try:
        assert core.instruction_set() == name
        yield
    finally:
        assert core.use(before) == name


def results(*case, **options):
    """Everything that the core computes for one score."""
    score = native_score(*case, **options)
    levels = score.levels
    counts = levels.predicted, levels.predicted_before, levels.found
    return [*score.areas(), [native_core().mean(score.areas()[1])]], counts, score.plain_areas


def check_instruction_sets(*case, **options):
    found = {}
    for name in native_core().instruction_sets():
        with instruction_set(name):
            found[name] = results(*case, **options)
    areas, counts, plain_areas = found["base"]
    for other in found.values():
        for one, another in zip([*areas, plain_areas], [*other[0], other[2]], strict=True):
            same_bits(one, another)
        for one, another in zip(counts, other[1], strict=True):
            np.testing.assert_array_equal(one, another)


@each_definition
@each_side
@settings(max_examples=20)
@given(case=cases())
def test_instruction_sets(case, definition, side):
    *series, grid = case
    check_instruction_sets(*series, definition=definition, side=side, thresholds=grid)


@each_definition
@pytest.mark.parametrize("shape", SHAPES)
def test_instruction_sets_on_a_long_series(shape, definition):
    labels, scores = long_series(shape, 6_000)
    for grid in (None, 250):
        case = labels, scores, np.arange(600)
        check_instruction_sets(*case, definition=definition, thresholds=grid)


def test_instruction_sets_have_names():
    core = native_core()
    names = core.instruction_sets()
    assert names[0] == "base"
    assert set(names) <= {"base", "v3", "v4"}
    assert core.instruction_set() == names[-1]  # the fastest
    with pytest.raises(ValueError, match="no instruction set v9"):
        core.use("v9")
    assert core.instruction_set() == names[-1]


# --- threads -------------------------------------------------------------------------------------


@each_definition
@pytest.mark.parametrize("shape", SKEWED)
def test_threads(shape, definition):
    labels, scores = long_series(shape, 6_000)
    for grid, last in itertools.product((None, 250), (1, 8, 9, 40, 701)):
        score = native_score(labels, scores, np.arange(last), definition, thresholds=grid)
        expected = score.areas()
        for threads in (2, 3, 7, 64):
            same_bits(score.areas(threads=threads), expected)


# --- widths --------------------------------------------------------------------------------------


@each_definition
@each_side
@settings(max_examples=60)
@given(seed=st.integers(0, 999), case=cases())
def test_widths_do_not_depend_on_others(seed, case, definition, side):
    labels, scores, all_widths, grid = case
    options = {"definition": definition, "side": side, "thresholds": grid}
    expected = native_areas(labels, scores, all_widths, **options)
    rng, rows = np.random.default_rng(seed), np.arange(len(all_widths))
    for size in (1, 1, 1 + rows.size // 2):
        some = np.sort(rng.choice(rows, size, replace=False))
        found = native_areas(labels, scores, [all_widths[row] for row in some], **options)
        same_bits(found, expected[:, some])


@each_definition
@each_side
def test_widths_of_random_series_do_not_depend_on_others(definition, side):
    rng = np.random.default_rng(0)
    for labels, scores, all_widths, grid in random_cases(100):
        options = {"definition": definition, "side": side, "thresholds": grid}
        expected = native_areas(labels, scores, all_widths, **options)
        row = int(rng.integers(len(all_widths)))
        for some in ([row], range(row, len(all_widths)), range(row + 1)):
            found = native_areas(labels, scores, [all_widths[one] for one in some], **options)
            same_bits(found, expected[:, list(some)])


@each_definition
@pytest.mark.parametrize("shape", SKEWED)
def test_widths_of_a_long_series_do_not_depend_on_others(shape, definition):
    labels, scores = long_series(shape, 7_000)
    rng = np.random.default_rng(1)
    for grid in (None, 250):
        options = {"definition": definition, "thresholds": grid}
        expected = native_areas(labels, scores, np.arange(650), **options)
        for size in (1, 1, 1, 3, 20, 300):
            some = np.sort(rng.choice(650, size, replace=False))
            same_bits(native_areas(labels, scores, some, **options), expected[:, some])


@each_definition
def test_ties_near_two_events_of_which_a_short_buffer_reaches_one(definition):
    labels, scores = np.array([1, 0, 0, 0, 0, 1]), np.array([0.0, 0, 1, 1, 1, 1])
    expected = native_areas(labels, scores, np.arange(14), definition)
    for width, longest in itertools.combinations(range(14), 2):
        for some in ([width], [width, longest]):
            same_bits(native_areas(labels, scores, some, definition), expected[:, some])


def test_tables_of_weights_do_not_change_bits():
    """With many widths, weights are computed block by block."""
    labels, scores = long_series("cauchy", 9_000, 8)
    for definition in DEFINITIONS:
        many = native_areas(labels, scores, np.arange(0, 6_000, 3), definition)
        few = native_areas(labels, scores, np.arange(0, 6_000, 300), definition)
        same_bits(many[:, ::100], few)


# --- ways of calling -----------------------------------------------------------------------------


def fleet(series, definition, thresholds=None, step=1, side="both", volume=True):
    """Six values of each series (labels, scores, buffer, longest buffer) in one call."""
    flags = np.concatenate([labels for labels, *_ in series]).astype(np.uint8)
    scores = np.concatenate([as_doubles(scores)[0].astype(float) for _, scores, *_ in series])
    starts = np.cumsum([0, *(len(labels) for labels, *_ in series)], dtype=np.int64)
    buffer = np.array([one[2] for one in series], dtype=np.int64)
    longest = np.array([one[3] if volume else -1 for one in series], dtype=np.int64)
    out = np.full((len(series), 6), -1.0)
    rules = rules_of(DEFINITIONS[definition], side)
    native_core().fleet(rules, flags, scores, starts, buffer, longest, step, thresholds or 0, out)
    return out


def single_values(labels, scores, **options):
    """Six values from single functions."""
    areas = {name: value for name, value in options.items() if name != "step"}
    return [
        vuskit.auc_roc(labels, scores),
        vuskit.auc_pr(labels, scores),
        vuskit.range_auc_roc(labels, scores, **areas),
        vuskit.range_auc_pr(labels, scores, **areas),
        vuskit.vus_roc(labels, scores, **options),
        vuskit.vus_pr(labels, scores, **options),
    ]


def check_ways(labels, scores, *, with_all=False, **options):
    """Compare single functions, `evaluate`, `evaluate_many`, `Evaluator` and the core."""
    expected = single_values(labels, scores, **options)
    buffer = options.pop("buffer")
    together = {"buffer": buffer, "measures": "paper" if with_all else AREAS, **options}
    other = np.random.default_rng(0).permutation(scores)
    evaluator = vuskit.Evaluator(labels, **together)
    many = vuskit.evaluate_many(labels, {"a": other, "b": scores}, **together)
    found = [vuskit.evaluate(labels, scores, **together), many["b"], evaluator(scores)]
    evaluator(other)
    found += [evaluator(scores), vuskit.evaluate(labels, scores, **{**together, "measures": AREAS})]
    for one in found:
        same_bits([one[name] for name in AREAS], expected)
    for name in AREAS:
        same_bits(
            vuskit.evaluate(labels, scores, **{**together, "measures": name})[name],
            expected[AREAS.index(name)],
        )
    same_bits(fleet([(labels, scores, buffer, buffer)], **options)[0], expected)


@each_definition
@each_side
@settings(max_examples=10)
@given(
    buffer=st.integers(0, 12) | st.integers(0, 60),
    step=st.sampled_from([1, 1, 2, 7]),
    case=cases(),
)
def test_ways_of_calling(case, buffer, step, definition, side):
    labels, scores, _, grid = case
    options = {"definition": definition, "side": side, "thresholds": grid}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_ways(np.array(labels), scores, buffer=buffer, step=step, **options)


@each_definition
@pytest.mark.parametrize("grid", [None, 250])
@pytest.mark.parametrize("shape", SKEWED)
def test_ways_of_calling_with_a_long_series(shape, definition, grid):
    labels, scores = long_series(shape, 6_000)
    options = {"definition": definition, "thresholds": grid}
    check_ways(labels, scores, with_all=True, buffer=300, step=1, **options)
    check_ways(labels, scores, buffer=41, step=7, **options)


@each_definition
@pytest.mark.parametrize("grid", [None, 250])
def test_threads_of_measures(definition, grid):
    labels, scores = long_series("cauchy", 6_000)
    options = {"buffer": 700, "definition": definition, "thresholds": grid, "measures": AREAS}
    expected = list(vuskit.evaluate(labels, scores, **options).values())
    for threads in (1, 2, 5):
        many = vuskit.evaluate_many(labels, {"one": scores}, threads=threads, **options)
        same_bits(list(many["one"].values()), expected)
        found = vuskit.evaluate(labels, scores, threads=threads, **options)
        same_bits(list(found.values()), expected)
        found = vuskit.Evaluator(labels, threads=threads, **options)(scores)
        same_bits(list(found.values()), expected)


# --- many series in one call ---------------------------------------------------------------------


@each_definition
@settings(max_examples=80)
@given(
    side=sides(),
    thresholds=thresholds(),
    step=st.sampled_from([1, 2, 7]),
    buffers=st.lists(st.integers(0, 12) | st.integers(0, 70), min_size=2, max_size=2),
    choices=st.lists(st.integers(0, 3), min_size=5, max_size=5),
    drawn=st.lists(short_series(max_size=30, kinds=DOUBLES), min_size=1, max_size=5),
)
def test_series_do_not_depend_on_others(
    definition, side, thresholds, step, buffers, choices, drawn
):
    """Neighbors often share a buffer, the longest buffer or both."""
    series = [
        (*one, buffers[choice % 2], buffers[choice // 2])
        for one, choice in zip(drawn, choices, strict=False)
    ]
    options = {"definition": definition, "side": side, "thresholds": thresholds}
    found = fleet(series, step=step, **options)
    same_bits(found[:, :4], fleet(series, step=step, volume=False, **options)[:, :4])
    for row, one in zip(found, series, strict=True):
        y_true, y_score, buffer, longest = one
        same_bits(row, fleet([one], step=step, **options)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            expected = single_values(y_true, y_score, buffer=buffer, step=step, **options)
            volume = single_values(y_true, y_score, buffer=longest, step=step, **options)
        same_bits(row, expected[:4] + volume[4:])


def test_long_series_do_not_depend_on_others():
    """Series of many lengths: memory of a series is used again for the next one."""
    sizes = [6_000, 40, 20_000, 9, 5_000, 5_000, 12_000]
    names = ["cauchy", "uniform", "lognormal", "normal", "exponential", "two decimals", "bytes"]
    series = [
        (*long_series(name, n, n_events=1 + n // 400, longest=max(n // 90, 1)), buffer, buffer)
        for name, n, buffer in zip(names, sizes, (300, 10, 310, 3, 0, 40, 77), strict=True)
    ]
    for definition, grid in itertools.product(DEFINITIONS, (None, 250)):
        found = fleet(series, definition, grid)
        for row, (y_true, y_score, buffer, _) in zip(found, series, strict=True):
            options = {"definition": definition, "thresholds": grid, "measures": AREAS}
            expected = vuskit.evaluate(y_true, y_score, buffer=buffer, **options)
            same_bits(row, list(expected.values()))


@pytest.mark.parametrize("grid", [2, 3, 26, 60])
def test_ranks_of_a_grid(grid):
    """The lowest score is anomalous, so a last threshold that is not the lowest score shows."""
    rng = np.random.default_rng(grid)
    series = []
    for n in range(2, 260):
        scores = rng.permutation(n).astype(float)
        labels = (scores == 0) | (rng.random(n) < 0.1)
        labels[scores.argmax()] = False
        series.append((labels, scores, 4, 4))
    found = fleet(series, "journal", grid)
    for row, (y_true, y_score, buffer, _) in zip(found, series, strict=True):
        expected = vuskit.evaluate(y_true, y_score, buffer=buffer, thresholds=grid, measures=AREAS)
        same_bits(row, list(expected.values()))

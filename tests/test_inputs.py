"""The one door: whatever holds numbers gives the same values, whatever does not is refused."""

from __future__ import annotations

import array
import decimal
import fractions
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vuskit
from vuskit._util.text import did_you_mean
from vuskit.inputs import (
    check_choice,
    check_fraction,
    check_int,
    check_labels,
    check_numbers,
    doubles_in_order,
)
from vuskit.measures.thresholds import Quantile, Sigma
from vuskit.metric import SeriesMetric
from vuskit.sklearn import scorer

N = 60
LABELS = np.zeros(N, dtype=np.int64)
LABELS[[0, *range(10, 14), *range(40, 45), N - 1]] = 1
SCORES = np.random.default_rng(7).integers(0, 40, N).astype(np.float64)

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "longdouble", "O"]
BIG_ENDIAN = [">i2", ">i4", ">i8", ">u4", ">f2", ">f4", ">f8"]


def values(y_true, y_score):
    """All thirteen measures, with every way of ranking the scores."""
    exact = vuskit.evaluate(y_true, y_score, buffer=7)
    grid = vuskit.evaluate(y_true, y_score, buffer=7, thresholds=40, definition="timeeval")
    cut = vuskit.evaluate(y_true, y_score, buffer=7, threshold="quantile", measures=["recall"])
    return [*exact.values(), *grid.values(), *cut.values()]


# The order in which NumPy sorts equal scores depends on their type, so sums may differ in rounding.
def equal_to(expected):
    return pytest.approx(expected, abs=1e-14, rel=0)


EXPECTED = equal_to(values(LABELS, SCORES))


def refused(y_true, y_score, text):
    """The error of every road into the library has this text."""
    for call in (
        lambda: vuskit.vus_pr(y_true, y_score, max_buffer=4),
        lambda: vuskit.range_auc_roc(y_true, y_score, buffer=4),
        lambda: vuskit.auc_roc(y_true, y_score),
        lambda: vuskit.precision(y_true, y_score),
        lambda: vuskit.range_recall(y_true, y_score),
        lambda: vuskit.precision_at_k(y_true, y_score),
        lambda: vuskit.evaluate(y_true, y_score, buffer=4),
        lambda: vuskit.surface(y_true, y_score, buffer=4),
        lambda: vuskit.events(y_true, y_score),
    ):
        with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)) as caught:
            call()
        assert isinstance(caught.value, ValueError)


# --- what is accepted ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES + BIG_ENDIAN)
def test_scores_of_any_dtype(dtype):
    assert values(LABELS, SCORES.astype(dtype)) == EXPECTED


@pytest.mark.parametrize("dtype", ["bool", *DTYPES, *BIG_ENDIAN])
def test_labels_of_any_dtype(dtype):
    assert values(LABELS.astype(dtype), SCORES) == EXPECTED


def test_bool_scores():
    score = SCORES > 20
    with pytest.warns(vuskit.PredictionAsScoreWarning):
        assert values(LABELS, score) == equal_to(values(LABELS, score.astype(float)))


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_narrow_floats_equal_their_double_copy(dtype):
    """Neither sums nor comparisons take place in the narrow type."""
    score = (np.random.default_rng(1).random(20_000) * 600).astype(dtype)
    labels = np.zeros(20_000, dtype=int)
    labels[500:600] = 1
    for threshold in ("sigma", "quantile", float(score[505]) + 1e-9, 1e30):
        options = {"buffer": 20, "threshold": threshold}
        narrow = vuskit.evaluate(labels, score, **options)
        double = vuskit.evaluate(labels, score.astype(np.float64), **options)
        assert dict(narrow) == equal_to(dict(double))


@pytest.mark.parametrize("make", [list, tuple, np.array, np.ma.array, memoryview])
def test_containers(make):
    assert values(make(LABELS), make(SCORES)) == EXPECTED


def test_other_containers():
    assert values(LABELS, array.array("d", SCORES)) == EXPECTED
    assert values(LABELS, [fractions.Fraction(int(s)) for s in SCORES]) == EXPECTED
    assert values(LABELS, [decimal.Decimal(int(s)) for s in SCORES]) == EXPECTED
    assert values(LABELS, range(N)) == equal_to(values(LABELS, np.arange(N, dtype=float)))


def strided(values):
    wide = np.empty(2 * N)
    wide[::2] = values
    return wide[::2]


def a_column(values):
    return np.asfortranarray(np.column_stack([values, values + 1]))[:, 0]


def a_row_of_columns(values):
    return np.column_stack([values, values + 1])[:, 0]


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def reversed_twice(values):
    return values[::-1].copy()[::-1]


def unaligned(values):
    raw = np.zeros(8 * N + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64)
    view[:] = values
    return view


LAYOUTS = [strided, a_column, a_row_of_columns, read_only, reversed_twice, unaligned]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layouts(layout):
    labels, scores = layout(LABELS.astype(float)), layout(SCORES)
    assert values(labels, scores) == EXPECTED


def test_memory_map(tmp_path):
    mapped = {}
    for name, content in {"labels": LABELS, "scores": SCORES}.items():
        np.save(tmp_path / f"{name}.npy", content)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    assert values(mapped["labels"], mapped["scores"]) == EXPECTED


def indexes(pd):
    """Unique indexes of N entries in ascending order."""
    return {
        "range": pd.RangeIndex(N),
        "numbers": pd.Index(np.arange(N) * 3 + 5),
        "fractions": pd.Index(np.arange(N) / 4),
        "times": pd.date_range("2020-01-01", periods=N, freq="h", tz="UTC"),
        "texts": pd.Index([f"point {place:03}" for place in range(N)]),
        "levels": pd.MultiIndex.from_product([["a", "b"], range(N // 2)]),
    }


@pytest.mark.parametrize("kind", ["times", "texts", "levels"])
@pytest.mark.parametrize("order", ["reversed", "shuffled", "same"])
def test_pandas_objects_of_the_same_entries_are_aligned(kind, order):
    pd = pytest.importorskip("pandas")
    index = indexes(pd)[kind]
    labels, scores = pd.Series(LABELS, index=index), pd.Series(SCORES, index=index.copy())
    places = {
        "reversed": np.arange(N)[::-1],
        "shuffled": np.random.default_rng(0).permutation(N),
        "same": np.arange(N),
    }[order]
    assert values(labels, scores.iloc[places]) == EXPECTED
    # An ascending index is the order of time, whichever object it belongs to.
    assert values(labels.iloc[places], scores) == EXPECTED
    frame = scores.to_frame("one")
    table = vuskit.evaluate_many(labels, frame.iloc[places], buffer=7)
    many = vuskit.evaluate_many(labels.iloc[places], {"one": scores, "two": SCORES}, buffer=7)
    expected = equal_to(dict(vuskit.evaluate(LABELS, SCORES, buffer=7)))
    assert dict(table["one"]) == expected
    assert dict(many["one"]) == expected
    assert dict(vuskit.Evaluator(labels, buffer=7)(scores.iloc[places])) == expected
    predicted = (scores > 30).astype(int)
    assert vuskit.recall(labels, y_pred=predicted.iloc[places]) == vuskit.recall(
        LABELS, y_pred=SCORES > 30
    )


def scored_by_model(y_true, points):
    """The value of a scorer for a model whose score is a column of the points."""
    from sklearn.base import BaseEstimator

    class Model(BaseEstimator):
        def score_samples(self, X):
            return -X["score"].to_numpy()

    return scorer("vus_pr", buffer=7)(Model(), points, y_true)


def paired_calls(y_true, y_score):
    """Every way to pass labels and a score of one series."""
    options = {"buffer": 7, "measures": "vus_pr"}
    metric = SeriesMetric("vus_pr", buffer=7)
    return {
        "function": lambda: vuskit.vus_pr(y_true, y_score, buffer=7),
        "y_pred": lambda: vuskit.recall(y_true, y_pred=(y_score > 30).astype(int)),
        "evaluate": lambda: vuskit.evaluate(y_true, y_score, **options),
        "values": lambda: vuskit.evaluate(y_true, SCORES, values=y_score, **options),
        "evaluate_many": lambda: vuskit.evaluate_many(y_true, {"a": y_score}, **options),
        "frame": lambda: vuskit.evaluate_many(y_true, y_score.to_frame("a"), **options),
        "Evaluator": lambda: vuskit.Evaluator(y_true, **options)(y_score),
        "Evaluator values": lambda: vuskit.Evaluator(y_true, values=y_score, **options),
        "chance_level": lambda: vuskit.chance_level(y_true, values=y_score, **options),
        "events": lambda: vuskit.events(y_true, y_score, threshold=30.0),
        "best_threshold": lambda: vuskit.best_threshold(y_true, y_score),
        "surface": lambda: vuskit.surface(y_true, y_score, buffer=7),
        "metric": lambda: metric.update(y_true, y_score),
        "scorer": lambda: scored_by_model(y_true, y_score.to_frame("score")),
    }


@pytest.mark.parametrize("call", paired_calls(None, None))
@pytest.mark.parametrize("kind", ["range", "numbers", "fractions", "repeated"])
def test_the_same_numbers_in_another_order_are_refused(call, kind):
    pd = pytest.importorskip("pandas")
    index = pd.Index(np.arange(N) // 2) if kind == "repeated" else indexes(pd)[kind]
    shuffled = np.random.default_rng(0).permutation(N)
    labels = pd.Series(LABELS, index=index).iloc[shuffled]
    with pytest.raises(vuskit.InvalidInputError, match=r"in the same order, got index entries"):
        paired_calls(labels, pd.Series(SCORES, index=index))[call]()
    # As positions, because the index says nothing else.
    paired_calls(labels, pd.Series(SCORES, index=np.asarray(index) + 1))[call]()


def test_a_score_computed_after_sorting_is_not_reordered():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"t": np.random.default_rng(0).permutation(N), "label": LABELS})
    ordered = table.sort_values("t")
    perfect = pd.Series(ordered.label.to_numpy() * 1.0)
    with pytest.raises(vuskit.InvalidInputError, match=r"or pass arrays with to_numpy\(\)"):
        vuskit.auc_pr(ordered.label, perfect)
    assert vuskit.auc_pr(ordered.label, perfect.to_numpy()) == 1.0
    as_objects = ordered.label.set_axis(ordered.index.astype(object))
    with pytest.raises(vuskit.InvalidInputError, match="in the same order"):
        vuskit.auc_pr(as_objects, perfect)


@pytest.mark.parametrize("kind", ["range", "times"])
def test_scores_in_different_orders_beside_an_array_are_refused(kind):
    pd = pytest.importorskip("pandas")
    scores = pd.Series(SCORES, index=indexes(pd)[kind])
    with pytest.raises(vuskit.InvalidInputError, match="the same order"):
        vuskit.evaluate_many(LABELS, {"one": scores, "two": scores[::-1]}, buffer=7)
    with pytest.raises(vuskit.InvalidInputError, match="the same order"):
        vuskit.vus_pr(LABELS, scores, values=scores[::-1], buffer="period")


def test_a_scorer_aligns_labels_to_the_points():
    pd = pytest.importorskip("pandas")
    index = indexes(pd)["times"]
    points = pd.DataFrame({"score": SCORES}, index=index)
    labels = pd.Series(LABELS, index=index).sample(frac=1, random_state=0)
    found = paired_calls(labels, points["score"])["scorer"]()
    assert found == vuskit.vus_pr(LABELS, SCORES, buffer=7)


def test_events_choose_the_buffer_from_aligned_labels():
    pd = pytest.importorskip("pandas")
    index = indexes(pd)["times"]
    labels = pd.Series(LABELS, index=index).sample(frac=1, random_state=0)
    found = vuskit.events(labels, pd.Series(SCORES, index=index), buffer="median_anomaly")
    assert found.buffer == vuskit.events(LABELS, SCORES, buffer="median_anomaly").buffer


def test_pandas_values_are_aligned():
    pd = pytest.importorskip("pandas")
    index = pd.date_range("2020-01-01", periods=400, freq="h")
    series = pd.Series(np.sin(np.arange(400) / 25 * 2 * np.pi), index=index)
    labels = pd.Series((np.arange(400) // 10 == 20).astype(int), index=index)
    shuffled = series.sample(frac=1, random_state=1)
    options = {"measures": "vus_pr", "buffer": "period"}
    expected = vuskit.evaluate(labels, series, values=series, **options)
    found = vuskit.evaluate(labels, series, values=shuffled, **options)
    assert (found.buffer, dict(found)) == (expected.buffer, dict(expected))
    assert vuskit.vus_pr(labels, series, buffer="period", values=shuffled) == expected["vus_pr"]


def test_other_indexes_of_numbers_are_positions():
    pd = pytest.importorskip("pandas")
    times = pd.date_range("2020-01-01", periods=N, freq="h")
    assert values(pd.Series(LABELS, index=times), pd.Series(SCORES)) == EXPECTED
    assert values(pd.Series(LABELS, index=range(7, N + 7)), pd.Series(SCORES)) == EXPECTED
    late = pd.Series(SCORES, index=[*range(N - 2), N - 1, N])  # one entry differs
    assert values(pd.Series(LABELS, index=[*range(N - 1), N]), late) == EXPECTED
    parts = [*range(N // 2), *range(N // 2)]
    assert values(pd.Series(LABELS, index=parts), pd.Series(SCORES)) == EXPECTED
    assert values(pd.Series(LABELS, index=parts), pd.Series(SCORES, index=parts)) == EXPECTED
    assert values(pd.Index(LABELS), pd.Index(SCORES)) == EXPECTED


@pytest.mark.parametrize("kind", ["times", "texts", "levels"])
def test_different_times_and_texts_are_rejected(kind):
    pd = pytest.importorskip("pandas")
    index = indexes(pd)[kind]
    labels = pd.Series(LABELS, index=index)
    other = pd.Series(SCORES, index=[*index[:-1], ("z", 1) if kind == "levels" else "z"])
    advice = "select common entries with y_score.reindex"
    text = re.escape(f"got {index[-1]} in `y_true` only; {advice}")
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.evaluate(labels, other, buffer=7)
    with pytest.raises(vuskit.InvalidInputError, match=r"`y_scores\['one'\]` must have the same"):
        vuskit.evaluate_many(labels, {"one": other}, buffer=7)
    assert values(labels, other.to_numpy()) == EXPECTED


def test_duplicates_in_another_order_are_rejected():
    pd = pytest.importorskip("pandas")
    index = [f"row {place // 2}" for place in range(N)]
    labels, scores = pd.Series(LABELS, index=index), pd.Series(SCORES, index=index)
    assert values(labels, scores) == EXPECTED
    with pytest.raises(vuskit.InvalidInputError, match="more than once and a different order"):
        vuskit.auc_roc(labels, scores[::-1])


def test_evaluator_wants_labels_in_the_order_of_time():
    pd = pytest.importorskip("pandas")
    index = indexes(pd)["times"]
    evaluator = vuskit.Evaluator(pd.Series(LABELS, index=index)[::-1], buffer=7)
    with pytest.raises(vuskit.InvalidInputError, match="ascending index"):
        evaluator(pd.Series(SCORES, index=index))


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "Float64", "Float32", "category", "object"])
def test_pandas_dtypes(dtype):
    pd = pytest.importorskip("pandas")
    assert values(pd.Series(LABELS).astype(dtype), pd.Series(SCORES).astype(dtype)) == EXPECTED


def test_pandas_nullable_booleans():
    pd = pytest.importorskip("pandas")
    assert values(pd.Series(LABELS.astype(bool), dtype="boolean"), SCORES) == EXPECTED


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "object"])
def test_pandas_missing_values_are_refused(dtype):
    pd = pytest.importorskip("pandas")
    labels, scores = pd.Series(LABELS).astype(dtype), pd.Series(SCORES).astype(dtype)
    labels.iloc[3] = scores.iloc[5] = pd.NA
    with pytest.raises(vuskit.InvalidInputError, match=r"`y_true` must .* at index 3"):
        vuskit.auc_roc(labels, SCORES)
    with pytest.raises(vuskit.InvalidInputError, match=r"`y_score` must .* at index 5"):
        vuskit.auc_roc(LABELS, scores)


def test_polars():
    pl = pytest.importorskip("polars")
    assert values(pl.Series(LABELS), pl.Series(SCORES)) == EXPECTED
    assert values(pl.Series(LABELS.astype(bool)), pl.Series(SCORES.astype("f4"))) == EXPECTED
    missing = pl.Series([None, *SCORES[1:].tolist()])
    with pytest.raises(vuskit.InvalidInputError, match="`y_score` must be finite, got nan at"):
        vuskit.auc_roc(LABELS, missing)


def test_torch():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int16):
        assert values(torch.tensor(LABELS), torch.tensor(SCORES, dtype=dtype)) == EXPECTED
    with_gradient = torch.tensor(SCORES, requires_grad=True)
    assert values(torch.tensor(LABELS, dtype=torch.bool), with_gradient) == EXPECTED
    assert with_gradient.requires_grad


def test_torch_elsewhere_than_on_the_cpu():
    torch = pytest.importorskip("torch")
    with pytest.raises(vuskit.InvalidInputError, match="`y_score` must be in CPU memory, got a te"):
        vuskit.auc_roc(LABELS, torch.zeros(N, device="meta"))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "O"])
def test_inputs_are_never_changed(dtype):
    labels, scores = LABELS.astype(dtype), SCORES.astype(dtype)
    before = labels.copy(), scores.copy()
    values(labels, scores)
    vuskit.events(labels, scores)
    vuskit.surface(labels, scores, buffer=5, thresholds=N)
    assert (labels == before[0]).all()
    assert (scores == before[1]).all()
    assert labels.flags.writeable


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_scores_of_any_scale(scale):
    """Squares of such scores leave the range of floats; the sigma rule must not."""
    exponent = round(np.log2(scale))
    scaled = np.ldexp(SCORES, exponent)
    assert values(LABELS, scaled) == EXPECTED


def test_scores_that_span_all_floats():
    score = np.where(LABELS, 1.7e308, -1.7e308)
    found = vuskit.evaluate(LABELS, score, buffer=4)
    assert found["auc_roc"] == found["vus_pr"] == 1.0


# --- integers beyond 2**53 -----------------------------------------------------------------------


def slow_doubles(numbers):
    """Distinct numbers, from the lowest up: the nearest double, or the next free one above."""
    found = {}
    last = -math.inf
    for number in sorted(set(numbers)):
        last = found[number] = max(float(number), math.nextafter(last, math.inf))
    return [found[number] for number in numbers]


LARGE = st.builds(
    lambda base, offset: min(max(base + offset, -(2**63)), 2**63 - 1),
    st.sampled_from([0, 2**53, -(2**53), 2**60, 2**63 - 20, -(2**63) + 20]),
    st.integers(-20, 20),
)


@given(st.lists(LARGE, min_size=1, max_size=40))
def test_doubles_keep_the_order_of_integers(numbers):
    found = doubles_in_order("y_score", np.array(numbers, dtype=np.int64))
    assert found.dtype == np.float64
    assert found.tolist() == slow_doubles(numbers)
    shifted = [number + 2**63 for number in numbers]
    unsigned = doubles_in_order("y_score", np.array(shifted, dtype=np.uint64))
    assert unsigned.tolist() == slow_doubles(shifted)


@given(st.lists(st.one_of(LARGE, st.integers(-(2**80), 2**80), st.floats(-1e25, 1e25)), min_size=1))
def test_lists_of_any_numbers_keep_their_order(numbers):
    expected = slow_doubles(numbers)
    found = check_numbers("y_score", numbers)
    assert doubles_in_order("y_score", found).tolist() == expected
    objects = check_numbers("y_score", np.array(numbers, dtype=object))
    assert doubles_in_order("y_score", objects).tolist() == expected


def test_doubles_at_the_end_of_their_range_stay_finite():
    highest = int(np.finfo(np.float64).max)
    found = check_numbers("y_score", [highest, highest - 1, highest - 2, 0])
    assert np.isfinite(found).all()
    assert found.argsort().tolist() == [3, 2, 1, 0]


def test_extended_precision_keeps_its_order():
    wide = np.longdouble(1) + np.array([0, 1, 2, 0]) * np.finfo(np.longdouble).eps
    found = doubles_in_order("y_score", wide)
    assert found[0] == found[3] < found[1]
    assert np.unique(found).size == np.unique(wide).size
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(vuskit.InvalidInputError, match=r"range of double precision.* index 1"):
            doubles_in_order("y_score", np.array([1, np.longdouble(10) ** 400]))


def large_containers(score):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    yield from (score, score.tolist(), score.astype(object), score.astype(">i8"), score[::-1][::-1])
    yield (score.astype(np.uint64) + np.uint64(2**62)).tolist()
    yield [int(one) * 2**200 for one in score]
    yield [*score[:-1].tolist(), float(score[-1])]
    yield pandas.Series(score)
    yield pandas.Series(score, dtype="Int64")
    yield pandas.Series(score, dtype="UInt64")
    if pytest.importorskip("pyarrow"):
        yield pandas.Series(score, dtype="int64[pyarrow]")


def test_large_integers_keep_their_order():
    """Neighbors beyond 2**53 are one number as floats."""
    score = 2**62 + SCORES.astype(np.int64)
    score[-1] = 2**62
    ranks = score - 2**62
    expected = dict(vuskit.evaluate(LABELS, ranks, buffer=7, measures="all", threshold="best"))
    for container in large_containers(score):
        found = vuskit.evaluate(LABELS, container, buffer=7, measures="all", threshold="best")
        assert dict(found) == pytest.approx(expected, abs=1e-14)
        for name in ("vus_pr", "auc_roc", "range_auc_pr"):
            options = {} if name == "auc_roc" else {"buffer": 7}
            assert getattr(vuskit, name)(LABELS, container, **options) == found[name]
    for algorithm in ("naive", "opt", "opt_mem"):
        options = {"buffer": 7, "thresholds": 40, "algorithm": algorithm}
        value = vuskit.vus_roc(LABELS, ranks, **options)
        assert vuskit.vus_roc(LABELS, score, **options) == value
        assert vuskit.vus_roc(LABELS, doubles_in_order("y_score", score), **options) == value


@pytest.mark.parametrize("dtype", ["i8", "u8", "O"])
def test_thresholds_of_large_integers_are_exact(dtype):
    score = np.array([2**60 + 1, 2**60 + 2, 2**60 + 3, 2**60], dtype=dtype)
    labels = [0, 1, 1, 0]

    def predicted(threshold, score=score):
        return vuskit.events(labels, score, threshold=threshold).points_share[0]

    assert predicted(2**60 + 2) == 1.0
    assert predicted(2**60 + 3) == 0.5
    assert predicted(float(2**60)) == predicted(-np.inf) == predicted(-(2**90)) == 1.0
    assert (
        predicted(np.nextafter(2.0**60, np.inf)) == predicted(np.inf) == predicted(10**400) == 0.0
    )
    best = vuskit.best_threshold(labels, score)
    assert best == 2**60 + 2
    assert vuskit.f_score(labels, score, threshold=best) == 1.0
    # In floats: the first float that is not below the integer.
    floats = [2.0**60, 2.0**60 + 256, 2.0**60 + 512, 0.0]
    assert predicted(2**60 + 1, floats) == predicted(2**60 + 256, floats) == 1.0
    assert predicted(2**60 + 257, floats) == 0.5


def test_rules_at_large_integers():
    """Constant scores are at their own threshold, whatever a double would round them to."""
    constant = np.full(4, 2**60 + 129)
    for rule in ("sigma", "quantile"):
        assert vuskit.recall([0, 1, 1, 0], constant, threshold=rule) == 1.0
    rising = np.arange(5) + 2**60
    assert Quantile(0.5)(rising) == 2**60 + 2
    assert Quantile(0.6)(rising) == 2**60 + 3
    assert Sigma()(np.array([3, 3])) == 3.0


# --- what is refused -----------------------------------------------------------------------------


def changed(array, index, value):
    copy = np.array(array, dtype=float)
    copy[index] = value
    return copy


BAD_PAIRS = {
    "lengths": (
        (LABELS, SCORES[1:]),
        "`y_true` and `y_score` must have equal length, got 60 and 59; 1 fewer scores than labels; "
        "windows of 2? Try align_scores(..., window=2)",
    ),
    "2-D labels": ((LABELS[:, None], SCORES), "`y_true` must be 1-D, got shape (60, 1)"),
    "2-D scores": ((LABELS, SCORES[:, None]), "`y_score` must be 1-D, got shape (60, 1)"),
    "one row": ((LABELS, SCORES[None, :]), "`y_score` must be 1-D, got shape (1, 60)"),
    "no labels": ((None, SCORES), "`y_true` must be 1-D, got NoneType"),
    "a number": ((LABELS, 3.0), "`y_score` must be 1-D, got float"),
    "a generator": (((x for x in LABELS), SCORES), "`y_true` must be 1-D, got generator"),
    "a set": ((LABELS, {1.0, 2.0}), "`y_score` must be 1-D, got set"),
    "ragged": (([[1], [1, 2]], SCORES), "`y_true` must be a 1-D array of numbers, got "),
    "empty": (([], []), "`y_true` must not be empty, got shape (0,)"),
    "empty scores": ((LABELS, []), "`y_score` must not be empty, got shape (0,)"),
    "NaN score": (
        (LABELS, changed(SCORES, 3, np.nan)),
        "`y_score` must be finite, got nan at index 3",
    ),
    "infinite score": (
        (LABELS, changed(SCORES, 4, np.inf)),
        "`y_score` must be finite, got inf at index 4",
    ),
    "minus infinity": (
        (LABELS, changed(SCORES, 5, -np.inf)),
        "`y_score` must be finite, got -inf at index 5",
    ),
    "NaN label": (
        (changed(LABELS, 6, np.nan), SCORES),
        "`y_true` must contain only 0 and 1, got nan at index 6",
    ),
    "labels 0 and 2": (
        (2 * LABELS, SCORES),
        "`y_true` must contain only 0 and 1, got 2 at index 0",
    ),
    "labels -1 and 1": (
        (2 * LABELS - 1, SCORES),
        "`y_true` must contain only 0 and 1, got -1 at index 1",
    ),
    "label 0.5": (
        (changed(LABELS, 7, 0.5), SCORES),
        "`y_true` must contain only 0 and 1, got 0.5 at index 7",
    ),
    "words": ((["normal"] * N, SCORES), "convert text first, for example labels by labels =="),
    "text": ((LABELS, ["1"] * N), "`y_score` must be numbers, got '1' at index 0"),
    "one text": (
        (LABELS, [*SCORES[:5].tolist(), "high", *SCORES[6:].tolist()]),
        "`y_score` must be numbers, got 'high' at index 5",
    ),
    "bytes": ((LABELS, np.array([b"1"] * N)), "`y_score` must be numbers, got b'1' at index 0"),
    "an object": (
        (LABELS, [*SCORES[:-1].tolist(), None]),
        "`y_score` must be numbers, got None at index 59",
    ),
    "times": (
        (LABELS, np.arange(N).astype("M8[s]")),
        "`y_score` must be numbers, got datetime.datetime(1970, 1, 1, 0, 0) at index 0",
    ),
    "complex": (
        (LABELS, SCORES + 1j),
        f"`y_score` must be real numbers, got {SCORES[0] + 1j} at index 0 (dtype complex128)",
    ),
    "complex without imaginary parts": (
        (LABELS, SCORES.astype(complex)),
        "`y_score` must be real numbers, got ",
    ),
    "complex object": (
        (LABELS, np.array([*SCORES[1:], 1j]).astype(object)),
        "`y_score` must be numbers, got ",
    ),
    "complex labels": ((LABELS + 0j, SCORES), "`y_true` must be real numbers, got "),
    "a structure": (
        (LABELS, np.zeros(N, dtype=[("score", float)])),
        "`y_score` must be numbers, got (0.0,) at index 0",
    ),
    "a masked element": (
        (LABELS, [*SCORES[1:].tolist(), np.ma.masked]),
        "`y_score` must not be masked, got a masked value at index 59",
    ),
    "a masked object": (
        (LABELS, np.array([np.ma.masked, *SCORES[1:]], dtype=object)),
        "`y_score` must not be masked, got a masked value at index 0",
    ),
    "an integer beyond all floats": (
        (LABELS, [*SCORES[1:].tolist(), 10**400]),
        "`y_score` must lie within the range of double precision, got 1000",
    ),
    "masked score": (
        (LABELS, np.ma.array(SCORES, mask=np.arange(N) == 8)),
        "`y_score` must not be masked, got a masked value at index 8",
    ),
    "masked label": (
        (np.ma.array(LABELS, mask=np.arange(N) == 9), SCORES),
        "`y_true` must not be masked, got a masked value at index 9",
    ),
}


@pytest.mark.parametrize("case", BAD_PAIRS)
def test_bad_pairs(case):
    pair, text = BAD_PAIRS[case]
    refused(*pair, text)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_swapped_arguments(dtype):
    text = f"got {SCORES.astype(dtype)[0]} at index 0; `y_true` and `y_score` look swapped"
    refused(SCORES.astype(dtype), LABELS, text)


def test_bad_labels_beside_a_score_do_not_look_swapped():
    with pytest.raises(vuskit.InvalidInputError) as caught:
        vuskit.auc_roc(2 * LABELS, SCORES)
    assert "swapped" not in str(caught.value)


@pytest.mark.parametrize(
    ("prediction", "text"),
    [
        (SCORES, "`y_pred` must contain only 0 and 1, got "),
        (LABELS[1:], "`y_true` and `y_pred` must have equal length, got 60 and 59"),
        (LABELS[:, None], "`y_pred` must be 1-D, got shape (60, 1)"),
    ],
)
@pytest.mark.parametrize("name", ["precision", "recall", "f_score", "range_precision"])
def test_bad_predictions(name, prediction, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        getattr(vuskit, name)(LABELS, y_pred=prediction)


def test_score_and_prediction_exclude_each_other():
    with pytest.raises(vuskit.InvalidInputError, match="must be given, got both"):
        vuskit.recall(LABELS, SCORES, y_pred=LABELS)
    with pytest.raises(vuskit.InvalidInputError, match="must be given, got neither"):
        vuskit.recall(LABELS)


BAD_OPTIONS = [
    ("vus_pr", {"max_buffer": -1}, "`max_buffer` must be an int >= 0, got -1"),
    ("vus_pr", {"max_buffer": 2.5}, "`max_buffer` must be an int >= 0, got 2.5"),
    ("vus_pr", {"max_buffer": True}, "`max_buffer` must be an int >= 0, got True"),
    ("vus_pr", {"max_buffer": "8"}, "`max_buffer` must be a number of points"),
    ("vus_pr", {"max_buffer": float("nan")}, "`max_buffer` must be an int >= 0, got nan"),
    ("vus_pr", {"max_buffer": float("inf")}, "`max_buffer` must be an int >= 0, got inf"),
    ("vus_pr", {"buffer": "period"}, "`values` must be given"),
    ("evaluate", {"buffer": None}, "`buffer` must be an int >= 0"),
    ("range_auc_pr", {"buffer": -2}, "`buffer` must be an int >= 0, got -2"),
    ("range_auc_pr", {"buffer": [4]}, "`buffer` must be an int >= 0, got [4]"),
    ("evaluate", {"buffer": 0.5}, "`buffer` must be an int >= 0, got 0.5"),
    ("events", {"buffer": -1}, "`buffer` must be an int >= 0, got -1"),
    ("vus_roc", {"max_buffer": 4, "thresholds": 1}, "`thresholds` must be an int >= 2, got 1"),
    ("vus_roc", {"max_buffer": 4, "step": 0}, "`step` must be an int >= 1, got 0"),
    (
        "vus_roc",
        {"max_buffer": 4, "side": "left"},
        "`side` must be one of 'both', 'before', 'after', got 'left'",
    ),
    (
        "vus_roc",
        {"max_buffer": 4, "definition": "pvldb2002"},
        "got 'pvldb2002'; did you mean 'pvldb2022'?",
    ),
    (
        "vus_roc",
        {"max_buffer": 4, "algorithm": "fats"},
        "`algorithm` must be one of 'fast', ",
    ),
    ("auc_pr", {"interpolation": "steps"}, "got 'steps'; did you mean 'step'?"),
    ("f_score", {"beta": 0}, "`beta` must be a number > 0, got 0"),
    ("f_score", {"beta": "2"}, "`beta` must be a number > 0, got '2'"),
    ("range_f_score", {"beta": float("inf")}, "`beta` must be a number > 0, got inf"),
    ("range_recall", {"alpha": 1.5}, "`alpha` must be a number from 0 to 1, got 1.5"),
    ("range_recall", {"alpha": None}, "`alpha` must be a number from 0 to 1, got None"),
    ("range_recall", {"bias": "left"}, "`bias` must be one of 'flat', "),
    ("range_precision", {"cardinality": "two"}, "`cardinality` must be one of 'one', "),
    ("precision_at_k", {"k": 0}, "`k` must be an int >= 1, got 0"),
    ("precision_at_k", {"k": 61}, "`k` must be at most the number of points 60, got 61"),
    ("precision", {"threshold": "sgima"}, "got 'sgima'; did you mean 'sigma'?"),
    ("precision", {"threshold": None}, "`threshold` must be or return a number, got None"),
    ("precision", {"threshold": lambda s: s.max() * np.nan}, "must be or return a number, got"),
    ("precision", {"threshold": vuskit.Quantile(2)}, "`q` must be a number from 0 to 1, got 2"),
]


@pytest.mark.parametrize(("name", "options", "text"), BAD_OPTIONS)
def test_bad_options(name, options, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        getattr(vuskit, name)(LABELS, SCORES, **options)


@pytest.mark.parametrize("buffer", [5, 5.0, np.int8(5), np.float32(5), np.array(5)])
def test_whole_numbers_of_any_type(buffer):
    expected = vuskit.range_auc_pr(LABELS, SCORES, buffer=5)
    assert vuskit.range_auc_pr(LABELS, SCORES, buffer=buffer) == expected


def test_helpers():
    assert check_int("x", 3.0, minimum=3) == 3
    assert check_fraction("x", 1) == 1.0
    assert check_choice("x", "b", ["a", "b"]) == "b"
    assert did_you_mean("nothing like it", ["vus_pr"]) == ""
    labels = check_labels([True, False, True])
    assert labels.n_anomalous == 2
    assert labels.as_array().tolist() == [True, False, True]
    assert check_labels([0, 0]).starts.size == 0


# --- wrong answers of others, one by one ---------------------------------------------------------


def test_buffer_longer_than_the_series_is_legal():
    """Ramps stop at the ends, so the values of all longer buffers exist and stay in bounds."""
    for buffer in (N, 10 * N, 10_000):
        found = vuskit.evaluate(LABELS, SCORES, buffer=buffer)
        assert all(0 <= value <= 1 for value in found.values())


def test_precision_at_k_is_the_textbook_one():
    """Not recall of a thresholded prediction, and not dependent on the scale of the scores."""
    rng = np.random.default_rng(3)
    labels = np.zeros(500, dtype=int)
    labels[200:250] = 1
    score = rng.random(500) + 0.7 * labels
    top = np.argsort(score)[-50:]
    for scale in (1e-3, 1.0, 1e3):
        assert vuskit.precision_at_k(labels, scale * score) == labels[top].mean()
    assert vuskit.precision_at_k(labels, score, k=10) == labels[top[-10:]].mean()
    assert vuskit.precision_at_k(labels, score) != vuskit.recall(labels, score)


def test_uint8_scores_do_not_wrap():
    score = SCORES.astype(np.uint8) * 6
    assert values(LABELS, score) == equal_to(values(LABELS, score.astype(float)))
    assert vuskit.vus_pr(LABELS, np.where(LABELS, 255, 0).astype(np.uint8), max_buffer=8) == 1.0


@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_bool_and_uint8_labels_do_not_wrap(dtype):
    assert values(LABELS.astype(dtype), SCORES) == EXPECTED


def test_constant_score_earns_its_share_of_positives():
    """A trapezoid from precision 1 would pay for nothing at all."""
    score = np.full(N, 0.3)
    share = LABELS.mean()
    assert vuskit.auc_pr(LABELS, score) == pytest.approx(share)
    assert vuskit.range_auc_pr(LABELS, score, buffer=0) == pytest.approx(share)
    assert vuskit.auc_roc(LABELS, score) == 0.5
    assert vuskit.precision_at_k(LABELS, score) == pytest.approx(share)
    # Everything reaches the mean plus no deviation.
    assert vuskit.recall(LABELS, score) == 1.0


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_is_nan_with_a_warning(label):
    with pytest.warns(vuskit.UndefinedMeasureWarning, match="needs both normal and anomalous"):
        found = vuskit.evaluate([label] * 5, range(5), buffer=2)
    assert len(found) == 13
    assert np.isnan(list(found.values())).all()


def test_nothing_predicted_is_zero():
    nothing = np.zeros(N)
    for name in ("precision", "recall", "f_score", "range_precision", "range_recall"):
        assert getattr(vuskit, name)(LABELS, y_pred=nothing) == 0.0
    assert vuskit.range_f_score(LABELS, SCORES, threshold=1e9) == 0.0


def test_positional_bias_counts_from_the_start_of_the_range():
    """The same event and prediction later in the series have the same value."""
    for bias in ("front", "middle", "back"):
        found = set()
        for before in (0, 1, 50):
            labels = [0] * before + [0, 1, 1, 1, 1, 0]
            prediction = [0] * before + [0, 1, 0, 0, 0, 0]
            found.add(vuskit.range_recall(labels, y_pred=prediction, bias=bias))
        assert len(found) == 1
    labels, early, late = [0, 1, 1, 1, 1, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0]
    assert vuskit.range_recall(labels, y_pred=early, bias="front") == 4 / 10
    assert vuskit.range_recall(labels, y_pred=late, bias="front") == 1 / 10
    assert vuskit.range_recall(labels, y_pred=early, bias="back") == 1 / 10


def test_first_and_last_index_count():
    labels = np.zeros(30, dtype=int)
    labels[[0, -1]] = 1
    assert vuskit.range_recall(labels, y_pred=labels) == 1.0
    assert vuskit.vus_pr(labels, labels, max_buffer=6) == 1.0
    first, last = np.eye(30)[0], np.eye(30)[-1]
    for prediction in (first, last):
        assert vuskit.range_recall(labels, y_pred=prediction) == 0.5
        assert vuskit.recall(labels, y_pred=prediction) == 0.5
        found = vuskit.events(labels, prediction, threshold=0.5).found
        assert found.tolist() == [prediction is first, prediction is last]


@pytest.mark.parametrize("definition", ["journal", "pvldb2022", "timeeval"])
@pytest.mark.parametrize("thresholds", [None, 60])
def test_range_auc_equals_the_volumes_slice(definition, thresholds):
    """R-AUC at one buffer is what VUS takes the mean of."""
    options = {"definition": definition, "thresholds": thresholds}
    for volume, area in ((vuskit.vus_roc, "range_auc_roc"), (vuskit.vus_pr, "range_auc_pr")):
        slices = [
            getattr(vuskit, area)(LABELS, SCORES, buffer=buffer, **options) for buffer in range(10)
        ]
        total = volume(LABELS, SCORES, max_buffer=9, **options)
        assert total == pytest.approx(np.mean(slices), abs=1e-12)


def test_nothing_is_remembered_between_series():
    """Neither the buffer of an earlier series nor a long common beginning confuses a later one."""
    labels, score = np.tile(LABELS, 40), np.tile(SCORES, 40)
    before = vuskit.vus_pr(labels, score, max_buffer=20)
    vuskit.vus_pr(LABELS, SCORES, max_buffer=3)
    late = score.copy()
    late[2000:] = late[2000:][::-1]
    assert vuskit.vus_pr(labels, late, max_buffer=20) != before
    assert vuskit.vus_pr(labels, score, max_buffer=20) == before

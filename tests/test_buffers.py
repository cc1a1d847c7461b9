"""Choosing the buffer: periods of series whose period is known, and the authors' rule."""

from __future__ import annotations

import csv
import gzip
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vuskit
from vuskit.buffers import autocorrelation, buffer_summary, prominences
from vuskit.datasets import synthetic

LABELS = [0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 1]


def wave(period, n=3000, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.sin(np.arange(n) * 2 * np.pi / period) + noise * rng.normal(size=n)


def beats(period, n=4000):
    """One narrow beat per period, as a heart gives."""
    return np.exp(-0.5 * ((np.arange(n) % period - period / 2) / 3.0) ** 2)


# --- periods -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["acf", "fft", "authors"])
@pytest.mark.parametrize("period", [10, 25, 60, 125])
def test_a_clean_wave(method, period):
    assert vuskit.estimate_period(wave(period), method=method) == period


@pytest.mark.parametrize("method", ["acf", "authors"])
@pytest.mark.parametrize("period", [20, 100, 288])
def test_beats(method, period):
    assert vuskit.estimate_period(beats(period), method=method) == period


@pytest.mark.parametrize("method", ["acf", "fft"])
@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_wave(method, seed):
    found = vuskit.estimate_period(wave(50, noise=0.3, seed=seed), method=method)
    assert found == pytest.approx(50, abs=2)


@settings(max_examples=30)
@given(
    period=st.integers(8, 150),
    level=st.sampled_from([0.0, 1e6]),
    scale=st.sampled_from([1e-6, 1e6]),
)
def test_level_and_scale_do_not_matter(period, level, scale):
    values = beats(period, 2000)
    expected = vuskit.estimate_period(values)
    assert expected == period
    assert vuskit.estimate_period(scale * values + scale * level) == expected


@pytest.mark.parametrize("method", ["acf", "fft"])
@pytest.mark.parametrize(
    "values", [np.zeros(100), np.full(100, 0.1), [3.0], [1.0, 2.0], [0.0, 1.0, 0.0]]
)
def test_no_period(method, values):
    assert vuskit.estimate_period(values, method=method) is None


def test_a_trend_has_no_prominent_maximum():
    assert vuskit.estimate_period(np.linspace(0, 1, 500)) is None


@pytest.mark.parametrize("method", ["acf", "fft"])
@pytest.mark.parametrize("n", [30, 100, 300, 1000, 3000, 20_000])
def test_noise_has_no_period(method, n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        assert vuskit.estimate_period(rng.normal(size=n), method=method) is None
        assert vuskit.estimate_period(rng.random(n), method=method) is None


def test_noise_on_a_trend_has_no_period():
    """The trend lifts the autocorrelation above what noise reaches, ups and downs included."""
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=300)
        assert vuskit.estimate_period(np.linspace(0, 2, 300) + 0.6 * noise) is None


@pytest.mark.parametrize("method", ["acf", "fft"])
def test_few_points_can_show_a_period(method):
    assert vuskit.estimate_period(wave(5, n=30), method=method) == 5
    assert vuskit.estimate_period(wave(25, n=300, noise=0.5), method=method) == pytest.approx(
        25, abs=1
    )


def test_two_periods_are_enough():
    """Few pairs of points are a long lag apart, which must not count as a low correlation."""
    assert vuskit.estimate_period(wave(25, n=55), max_lag=36) == 25


def test_a_wave_on_a_trend_keeps_its_period():
    values = wave(25, n=1000, noise=0.3) + np.linspace(0, 8, 1000)
    assert vuskit.estimate_period(values) == pytest.approx(25, abs=1)


@pytest.mark.parametrize("method", ["acf", "fft", "authors"])
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1.7e308])
def test_the_ends_of_the_range_of_floats(method, scale):
    assert vuskit.estimate_period(scale * wave(25, n=1000), method=method) == 25


def test_a_mask_of_the_first_channel_counts():
    values = np.ma.masked_array(np.column_stack((wave(30), wave(70))), mask=False)
    values[5, 1] = np.ma.masked
    assert vuskit.estimate_period(values) == 30
    values[7, 0] = np.ma.masked
    with pytest.raises(vuskit.InvalidInputError, match="got a masked value at index 7"):
        vuskit.estimate_period(values)


def test_values_beyond_double_precision():
    values = np.array([1, 10, 1], dtype=np.longdouble) ** np.longdouble(400)
    if not np.isfinite(values).all():
        pytest.skip("long doubles are doubles here")
    with pytest.raises(vuskit.InvalidInputError, match="`values` must be finite, got inf at index"):
        vuskit.estimate_period(values)


def slow_prominence(values, i):
    """Walk down from the point to either side until there is a higher one or the end."""
    valleys = []
    for step in (-1, 1):
        lowest, j = values[i], i
        while 0 <= j < len(values) and values[j] <= values[i]:
            lowest = min(lowest, values[j])
            j += step
        valleys.append(lowest)
    return values[i] - max(valleys)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_prominences_are_those_of_a_walk(values):
    expected = [slow_prominence(values, i) for i in range(len(values))]
    assert prominences(np.array(values, dtype=float)).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_a_drifting_baseline_does_not_hide_the_beat(seed):
    series = synthetic.make_series("ecg", seed=seed)
    assert vuskit.estimate_period(series.values) == pytest.approx(100, abs=4)


def test_max_lag():
    assert vuskit.estimate_period(wave(60), max_lag=59) is None
    assert vuskit.estimate_period(wave(60), max_lag=100) == 60
    assert vuskit.estimate_period(wave(60), method="fft", max_lag=100) == 60
    with pytest.raises(vuskit.InvalidInputError, match="`max_lag` must be an int >= 1, got 0"):
        vuskit.estimate_period(wave(60), max_lag=0)


def test_only_the_beginning_is_looked_at():
    values = np.concatenate((wave(40, 20_000), wave(25, 100_000)))
    for method in ("acf", "fft", "authors"):
        assert vuskit.estimate_period(values, method=method) == 40


def test_of_several_channels_the_first():
    values = np.column_stack((wave(30), wave(70)))
    assert vuskit.estimate_period(values) == 30


def test_autocorrelation_is_the_textbook_one():
    values = np.random.default_rng(1).normal(size=50)
    centered = values - values.mean()
    expected = [centered[: 50 - lag] @ centered[lag:] / (centered @ centered) for lag in range(20)]
    assert autocorrelation(values, 19) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([1.0, np.nan, 2.0], "`values` must be finite, got nan at index 1"),
        ([1.0, 2.0, np.inf], "`values` must be finite, got inf at index 2"),
        ([], "`values` must be of shape (n,) or (n, d), got shape (0,)"),
        (np.zeros((2, 2, 2)), "`values` must be of shape (n,) or (n, d), got shape (2, 2, 2)"),
        (5.0, "`values` must be of shape (n,) or (n, d), got shape ()"),
        (["a", "b"], "`values` must be numbers"),
        (np.zeros((3, 0)), "`values` must be of shape (n,) or (n, d), got shape (3, 0)"),
    ],
)
def test_bad_values(values, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.estimate_period(values)


def test_unknown_method():
    text = "`method` must be one of 'acf', 'fft', 'authors', got 'ftt'; did you mean 'fft'?"
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.estimate_period([1.0, 2.0], method="ftt")


# --- the authors' rule ---------------------------------------------------------------------------


def test_authors_take_the_highest_maximum():
    """Not the first: every second beat is lower, so two beats are more alike than neighbours."""
    values = beats(40, 4000) * np.where(np.arange(4000) // 40 % 2, 1.0, 0.5)
    assert vuskit.estimate_period(values, method="acf") == 40
    assert vuskit.estimate_period(values, method="authors") == 80


@pytest.mark.parametrize(
    "values",
    [
        wave(350, 10_000),  # the only maximum lies beyond 300
        wave(4, 5000),  # the maxima are too near; the highest is lag 4
        np.linspace(0, 1, 1000),
        np.zeros(50),
        [1.0, 2.0, 1.0],
    ],
    ids=["too long", "too short", "trend", "constant", "tiny"],
)
def test_authors_fall_back_on_125(values):
    assert vuskit.estimate_period(values, method="authors") == 125


# The published table holds the length and period of the train part for this test part.
WRONG_IN_THE_TABLE = {"KPI-54350a12-7a9d-3ca8-b81f-f886b9d156fd.test.out"}


def test_authors_rule_gives_the_published_periods(test_data):
    """For whole series that are stored with their first point; one row of them is another's."""
    periods = {}
    for table, name in (
        ("detector_auc_roc.csv", "filename"),
        ("values_for_these_scores.csv", "series"),
    ):
        with (test_data / "data" / "published" / table).open(encoding="utf-8") as rows:
            for row in csv.DictReader(rows):
                periods[row["dataset"], row[name]] = float(row["period_length"])
    agree = []
    for (dataset, name), expected in periods.items():
        path = test_data / "data" / "series" / dataset / f"{name}.gz"
        if name in WRONG_IN_THE_TABLE or not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as text:
            values = np.loadtxt(text, delimiter=",", usecols=0)
        agree.append(vuskit.estimate_period(values, method="authors") == expected)
    assert len(agree) >= 40
    assert sum(agree) >= len(agree) - 1


# --- choosing ------------------------------------------------------------------------------------


def test_by_the_anomalies():
    """Lengths 2, 6 and 1."""
    median = vuskit.choose_buffer("median_anomaly", y_true=LABELS)
    assert (median.length, median.strategy) == (2, "median_anomaly")
    assert median.reason == "median length of 3 anomalies"
    mean = vuskit.choose_buffer("mean_anomaly", y_true=LABELS)
    assert (mean.length, mean.reason) == (3, "mean length of 3 anomalies")


@pytest.mark.parametrize(
    ("strategy", "method"), [("period", "acf"), ("fft", "fft"), ("authors", "authors")]
)
def test_by_the_period(strategy, method):
    choice = vuskit.choose_buffer(strategy, values=wave(30))
    assert choice == vuskit.BufferChoice(30, strategy, f"period of 30 points ({method})")


@pytest.mark.parametrize(
    ("given", "length", "reason"),
    [
        ({"values": wave(30)}, 30, "the values repeat every 30 points"),
        ({}, 2, "median length of 3 anomalies, as there are no values"),
        (
            {"values": np.zeros(50)},
            2,
            "median length of 3 anomalies, as the values show no period within 1,000 points",
        ),
    ],
)
def test_automatically(given, length, reason):
    choice = vuskit.choose_buffer("auto", y_true=LABELS, **given)
    assert choice == vuskit.BufferChoice(length, "auto", reason)


def test_automatically_without_a_period_or_labels():
    noise = np.random.default_rng(0).random(500)
    text = "`y_true` must be given, as the values show no period within 1,000 points, got None"
    with pytest.raises(vuskit.InvalidInputError, match=text):
        vuskit.choose_buffer("auto", values=noise)


def test_by_a_number():
    assert vuskit.choose_buffer(12) == vuskit.BufferChoice(12, "number", "given")
    assert vuskit.choose_buffer(np.int32(0)).length == 0
    with pytest.raises(vuskit.InvalidInputError, match="`strategy` must be an int >= 0, got -1"):
        vuskit.choose_buffer(-1)


def test_a_choice_is_a_number():
    choice = vuskit.choose_buffer("median_anomaly", y_true=LABELS)
    assert int(choice) == 2
    assert list(range(choice)) == [0, 1]
    scores = np.arange(len(LABELS))
    expected = vuskit.vus_pr(LABELS, scores, max_buffer=2)
    assert vuskit.vus_pr(LABELS, scores, max_buffer=choice) == expected


@pytest.mark.parametrize(
    ("strategy", "given", "text"),
    [
        ("period", {}, "`values` must be given for this strategy, got None"),
        ("median_anomaly", {}, "`y_true` must be given for this strategy, got None"),
        ("mean_anomaly", {"y_true": [0, 0]}, "`y_true` must hold at least one anomalous point"),
        (
            "mean_anomaly",
            {"y_true": [0, 2]},
            "`y_true` must contain only 0 and 1, got 2 at index 1",
        ),
        ("period", {"values": np.zeros(50)}, "must show a period for the strategy 'period', got n"),
        ("fft", {"values": np.zeros(50)}, "must show a period for the strategy 'fft', got none"),
        ("periods", {}, "got 'periods'; did you mean 'period'?"),
    ],
)
def test_bad_choices(strategy, given, text):
    with pytest.raises(vuskit.InvalidInputError, match=re.escape(text)):
        vuskit.choose_buffer(strategy, **given)


def test_every_listed_strategy_works():
    for strategy in vuskit.list_buffer_strategies():
        choice = vuskit.choose_buffer(strategy, values=wave(30), y_true=LABELS)
        assert choice.strategy == strategy
        assert choice.length > 0


# --- gaps, and series without a buffer ------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "period", "fft", "authors"])
@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_missing_values_are_bridged(strategy, missing):
    values = np.sin(np.arange(1000) * 2 * np.pi / 25)
    holes = values.copy()
    holes[[0, 400, 401, 999]] = missing
    labels = np.arange(1000) // 10 == 30
    expected = vuskit.choose_buffer(strategy, values=values, y_true=labels).length
    for series in (holes, np.column_stack([holes, np.full(1000, np.nan)])):
        assert vuskit.choose_buffer(strategy, values=series, y_true=labels).length == expected
    found = vuskit.evaluate(labels, values, buffer=strategy, values=holes, measures=["vus_pr"])
    assert found.buffer == expected


def test_values_without_a_finite_one_count_as_none():
    labels = np.arange(100) // 10 == 3
    choice = vuskit.choose_buffer("auto", values=np.full(100, np.nan), y_true=labels)
    assert choice.reason == "median length of 1 anomaly, as there are no values"


@pytest.mark.parametrize(
    ("lengths", "reasons", "expected"),
    [
        ([5, 9], [None, None], "buffer 5 to 9 points"),
        ([100, 100], ["number: given"] * 2, "buffer given; 100 points"),
        (
            [12],
            ["auto: the values repeat every 12 points"],
            "buffer auto: period of the values; 12 points",
        ),
        (
            [12, 1200, 3],
            [
                "auto: the values repeat every 12 points",
                "auto: the values repeat every 1,200 points",
                "auto: median length of 1 anomaly, as the values show no period within "
                "1,000 points",
            ],
            "buffer auto: period of the values (2 series), median anomaly length, values without "
            "period (1 series); 3 to 1,200 points",
        ),
        ([3], ["fallback: `values` must show a period"], "buffer fallback; 3 points"),
    ],
)
def test_summary_of_the_buffers_of_several_series(lengths, reasons, expected):
    assert buffer_summary(lengths, reasons) == expected

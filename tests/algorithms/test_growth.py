"""The paper's findings on execution time, checked by elements touched instead of seconds.

The series are as long as the paper's (100,000 points); few thresholds keep the tests quick,
because every count is linear in their number.
"""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.algorithms import ALGORITHMS, OperationCounter, range_rates

DEFAULTS = {"n": 100_000, "n_anomalies": 10, "length": 10, "max_buffer": 5, "n_thresholds": 4}
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)


def count(algorithm, **changes):
    """Elements touched by kind, one parameter away from the defaults."""
    point = DEFAULTS | changes
    labels = np.zeros(point["n"], dtype=bool)
    for start in np.linspace(50, point["n"] - 1100, point["n_anomalies"]).astype(int):
        labels[start : start + point["length"]] = True
    scores = np.random.default_rng(0).random(point["n"])
    counter = OperationCounter()
    range_rates(
        labels,
        scores,
        range(point["max_buffer"] + 1),
        point["n_thresholds"],
        algorithm=algorithm,
        counter=counter,
    )
    return counter


def totals(algorithm, parameter, values):
    return np.array([count(algorithm, **{parameter: value}).total for value in values])


def exponent(algorithm, parameter, values):
    """k in count ~ value ** k."""
    found = totals(algorithm, parameter, values)
    return np.polyfit(np.log(values), np.log(found), 1)[0]


def slope(algorithm, parameter, values):
    return np.polyfit(values, totals(algorithm, parameter, values), 1)[0]


def test_naive_grows_with_series_length_times_number_of_buffers():
    cells = [
        count("naive", n=n, max_buffer=longest).total / (n * (longest + 1))
        for n in (10_000, 30_000, 100_000)
        for longest in (0, 5, 20)
    ]
    assert max(cells) / min(cells) < 1.03


def test_opt_grows_far_less_with_series_length():
    lengths = [20_000, 50_000, 100_000]
    naive, opt, opt_mem = (slope(name, "n", lengths) for name in ALGORITHMS)
    assert opt < naive / 4
    assert opt_mem < naive / 15


def test_all_that_opt_does_to_the_whole_series_for_each_pair_is_to_compare():
    short, long = (count("opt", n=n).elements for n in (50_000, 100_000))
    grown = {kind for kind in long if long[kind] != short[kind]}
    assert grown == {"predict", "sum_pred"}
    # SumPred does not depend on the buffer length, so it is counted once for each threshold.
    assert long["sum_pred"] == 100_000 * DEFAULTS["n_thresholds"]


def test_opt_mem_predicts_once_for_each_threshold():
    few, many = (count("opt_mem", max_buffer=longest) for longest in (5, 50))
    assert few.elements["predict"] == 100_000 * DEFAULTS["n_thresholds"]
    assert many.elements["predict"] == few.elements["predict"]


def test_buffers_cost_naive_most_and_opt_mem_least():
    buffers = [5, 10, 20, 40]
    naive, opt, opt_mem = (slope(name, "max_buffer", buffers) for name in ALGORITHMS)
    assert naive > 5 * opt > 25 * opt_mem


@pytest.mark.parametrize("algorithm", ["opt", "opt_mem"])
def test_optimized_grow_with_the_number_of_anomalies(algorithm):
    numbers = [10, 500, 1000, 2000]
    found = totals(algorithm, "n_anomalies", numbers)
    assert np.corrcoef(numbers, found)[0, 1] > 0.9999
    assert slope(algorithm, "n_anomalies", numbers) > 3 * slope("naive", "n_anomalies", numbers)


def test_two_thousand_anomalies_hardly_move_naive_but_multiply_opt_mem():
    growth = {name: np.divide(*totals(name, "n_anomalies", [2000, 10])) for name in ALGORITHMS}
    assert growth["naive"] < 1.1
    assert growth["opt"] > 1.5
    assert growth["opt_mem"] > 4


@pytest.mark.parametrize(
    ("algorithm", "largest"), [("naive", 0.01), ("opt", 0.02), ("opt_mem", 0.06)]
)
def test_anomaly_length_hardly_matters(algorithm, largest):
    assert 0 <= exponent(algorithm, "length", [1, 10, 100]) < largest


@every_algorithm
def test_linear_in_the_number_of_thresholds(algorithm):
    assert exponent(algorithm, "n_thresholds", [4, 8, 16, 32]) == pytest.approx(1, abs=0.02)

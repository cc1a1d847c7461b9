"""What the algorithms refuse."""

from __future__ import annotations

import re

import numpy as np
import pytest

from vuskit.algorithms import ALGORITHMS, DEFAULT_MEMORY_LIMIT, range_rates
from vuskit.errors import InvalidInputError

LABELS = np.array([0, 1, 1, 0, 0, 0, 0, 0, 0, 0], dtype=bool)
SCORES = np.arange(10.0)


def test_opt_mem_says_how_many_bytes_it_needs():
    message = (
        "`memory_limit` must be at least 70 bytes for algorithm 'opt_mem', which stores "
        "7 predictions of 10 points, got 69"
    )
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        range_rates(LABELS, SCORES, [4], 7, algorithm="opt_mem", memory_limit=69)


def test_opt_mem_takes_what_it_may():
    rates = range_rates(LABELS, SCORES, [4], 7, algorithm="opt_mem", memory_limit=70)
    assert rates.tpr.shape == (1, 7)


@pytest.mark.parametrize("algorithm", ["naive", "opt"])
def test_the_others_store_no_predictions(algorithm):
    range_rates(LABELS, SCORES, [4], 7, algorithm=algorithm, memory_limit=0)


def test_default_limit_refuses_before_memory_is_taken():
    # A view of one number stands for a series that would need 4 GiB of predictions.
    n = DEFAULT_MEMORY_LIMIT // 1000
    labels = np.broadcast_to(np.True_, n)
    scores = np.broadcast_to(np.int8(0), n)
    needed = n * 2000
    with pytest.raises(InvalidInputError, match=f"at least {needed} bytes"):
        range_rates(labels, scores, [0], 2000, algorithm="opt_mem")


def test_unknown_algorithm_is_named():
    message = "`algorithm` must be one of 'naive', 'opt', 'opt_mem', got 'quick'"
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        range_rates(LABELS, SCORES, [4], 7, algorithm="quick")


def test_registry_holds_the_papers_three():
    assert list(ALGORITHMS) == ["naive", "opt", "opt_mem"]

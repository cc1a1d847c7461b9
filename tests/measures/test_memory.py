"""Grids, volumes and surfaces that do not fit into the available memory."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

import vuskit
from vuskit.measures import areas

LABELS = np.zeros(600, dtype=int)
LABELS[[*range(50, 60), *range(100, 120), 150, *range(400, 430)]] = 1
SCORE = np.random.default_rng(3).random(600)
CALLS = {
    "vus_pr": lambda n: vuskit.vus_pr(LABELS, SCORE, buffer=20, thresholds=n),
    "range_auc_roc": lambda n: vuskit.range_auc_roc(LABELS, SCORE, buffer=20, thresholds=n),
    "timeeval": lambda n: vuskit.vus_roc(
        LABELS, SCORE, buffer=20, thresholds=n, definition="timeeval"
    ),
    "evaluate": lambda n: vuskit.evaluate(LABELS, SCORE, buffer=20, thresholds=n),
    "surface": lambda n: vuskit.surface(LABELS, SCORE, buffer=20, thresholds=n),
    "naive": lambda n: vuskit.vus_pr(LABELS, SCORE, buffer=20, thresholds=n, algorithm="naive"),
    "chance": lambda n: vuskit.chance_level(LABELS, buffer=20, thresholds=n),
}


@pytest.mark.parametrize("call", CALLS)
def test_thresholds_are_capped(call):
    with pytest.raises(vuskit.InvalidInputError, match=r"`thresholds` must be at most \d+ with "):
        CALLS[call](10**12)


@pytest.mark.parametrize("call", ["vus_pr", "range_auc_roc", "timeeval"])
def test_the_largest_grid_fits(call, monkeypatch):
    """The number that the error names is accepted, and stays below the memory it was told.

    NumPy needs more memory than the native core.
    """
    monkeypatch.setenv("VUSKIT_CORE", "numpy")
    memory = 40_000_000
    monkeypatch.setattr(areas, "available_memory", lambda: memory)
    monkeypatch.setattr(areas, "_ALWAYS_THERE", 0)
    with pytest.raises(vuskit.InvalidInputError) as caught:
        CALLS[call](10**9)
    largest = int(re.search(r"at most (\d+)", str(caught.value))[1])
    with pytest.raises(vuskit.InvalidInputError):
        CALLS[call](largest + 1)
    tracemalloc.start()
    value = CALLS[call](largest)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory + 4_000_000  # work that does not grow with the grid
    monkeypatch.delenv("VUSKIT_CORE")
    assert CALLS[call](largest) == pytest.approx(value, abs=1e-12)


def test_buffers_are_capped(monkeypatch):
    monkeypatch.setattr(areas, "available_memory", lambda: 100_000_000)
    with pytest.raises(vuskit.InvalidInputError, match="`buffer` must be at most 390625 with "):
        vuskit.vus_pr(LABELS, SCORE, buffer=10**6)
    vuskit.range_auc_pr(LABELS, SCORE, buffer=10**6)
    vuskit.vus_pr(LABELS, SCORE, buffer=10**6, step=1000)
    with pytest.raises(vuskit.InvalidInputError, match="`thresholds` must be at most 125 "):
        vuskit.surface(LABELS, SCORE, buffer=9999)

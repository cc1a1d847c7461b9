"""Names of a scatter stand apart from each other, from the circles and from the frame."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from figures.layout import is_within, laid_out, overlap
from matplotlib.text import Text

import vuskit
from vuskit import figures

PAPER = [measure.name for measure in vuskit.list_measures() if measure.group == "paper"]


def scattered(deviation, z, ratio):
    table = pd.DataFrame({"deviation": deviation, "z": z, "ratio": ratio}, index=PAPER)
    return figures.ScatterDisplay(table).plot()


def names_and_circles(display):
    figure, renderer = laid_out(display)
    names = {
        text.get_text(): Text.get_window_extent(text, renderer)  # without its line
        for text in display.ax_.texts
    }
    circles = {}
    for circle in display.ax_.collections:
        center = circle.get_offset_transform().transform(circle.get_offsets())[0]
        radius = np.sqrt(circle.get_sizes()[0] / np.pi) * figure.dpi / 72
        circles[circle.get_label()] = (*center, radius)
    return names, circles


def reach(box, circle):
    """How far a circle reaches into a box, in pixels."""
    x, y, radius = circle
    beside = np.hypot(max(box.x0 - x, 0, x - box.x1), max(box.y0 - y, 0, y - box.y1))
    return radius - beside


@pytest.mark.parametrize("seed", range(6))
def test_names_are_apart(seed):
    random = np.random.default_rng(seed)
    deviation, z = 0.05 * random.beta(1, 3, 13), 70 * random.beta(1, 3, 13)
    # As of the threshold measures: several at one place, which is near the frame.
    deviation[1:4], z[1:4] = deviation[0], z.min()
    display = scattered(deviation, z, 0.2 * random.beta(1, 3, 13))
    names, circles = names_and_circles(display)
    assert set(names) == set(circles)
    for (first, box), (second, other) in itertools.combinations(names.items(), 2):
        assert overlap(box, other) == 0, (first, second)
    for name, box in names.items():
        assert is_within(box, display.ax_.bbox), name
        for other, circle in circles.items():
            # Text boxes have some room above and below the letters.
            assert reach(box, circle) < 2, (name, other)

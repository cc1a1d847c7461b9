"""Where things are in a figure that was laid out; used by the tests of the figures."""

from __future__ import annotations

import itertools

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

PIXELS = 1.5  # what may stick out: rounding of text extents


def laid_out(display):
    """The figure of a display that was drawn, and what measures it."""
    display.figure_.draw_without_rendering()
    return display.figure_, FigureCanvasAgg(display.figure_).get_renderer()


def overlap(first, second):
    """Area that two boxes share."""
    width = min(first.x1, second.x1) - max(first.x0, second.x0)
    height = min(first.y1, second.y1) - max(first.y0, second.y0)
    return max(width, 0) * max(height, 0)


def is_within(inner, outer):
    return (
        inner.x0 >= outer.x0 - PIXELS
        and inner.y0 >= outer.y0 - PIXELS
        and inner.x1 <= outer.x1 + PIXELS
        and inner.y1 <= outer.y1 + PIXELS
    )


def titles(display):
    """The title of each panel with its box."""
    _, renderer = laid_out(display)
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for panel in display.axes_
        for text in panel.get_children()
        if isinstance(text, Text) and text.get_text() == panel.get_title(loc="left") != ""
    ]


def touching(boxes):
    """Names of the boxes that share more than a pixel's breadth."""
    pairs = itertools.combinations(boxes, 2)
    return [(first, second) for (first, a), (second, b) in pairs if overlap(a, b) > 1]


def legend_names(legend):
    """As they were before lines were broken."""
    return [text.get_text().replace("\n", "") for text in legend.get_texts()]


def widths(axis):
    return [bar.get_width() for bar in axis.patches]


def tick_texts(axis, which="y"):
    return [text.get_text() for text in getattr(axis, f"get_{which}ticklabels")()]

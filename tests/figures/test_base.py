"""Every display draws where it is told to, and nothing is cut off, covered or too small."""

from __future__ import annotations

import copy
import functools
import itertools
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from report.figure_examples import EXAMPLES

from vuskit import figures
from vuskit.errors import InvalidInputError

DISPLAYS = [getattr(figures, name) for name in figures.__all__ if name.endswith("Display")]
HEADINGS = {display.kind: display.heading for display in DISPLAYS if display.heading}
NAMES = list(HEADINGS)
PIXELS = 1.5  # what may stick out: rounding of text extents


@functools.cache
def held(name):
    return EXAMPLES[name]()


def fresh(name):
    """The data of a figure, not drawn yet."""
    return copy.copy(held(name))


@functools.cache
def drawn(name):
    """A display on a figure of its own, laid out once."""
    display = fresh(name).plot()
    display.figure_.draw_without_rendering()
    display.figure_.set_layout_engine("none")
    return display


every = pytest.mark.parametrize("name", NAMES)


def test_every_figure_has_an_example_and_its_name():
    assert sorted(NAMES) == sorted(EXAMPLES)
    assert all(held(name).kind == name for name in NAMES)
    assert len(set(HEADINGS.values())) == len(NAMES)


GALLERY = Path(__file__).parents[2] / "docs" / "figures"


@pytest.mark.skipif(not GALLERY.is_dir(), reason="the documentation is not here")
def test_gallery_shows_every_figure_and_stays_small():
    page = GALLERY.with_suffix(".md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(figures/gallery_(\w+)\.png\)", page)
    assert sorted(shown) == sorted(NAMES)
    pictures = {path.stem.removeprefix("gallery_"): path for path in GALLERY.glob("gallery_*.png")}
    assert set(pictures) == set(NAMES)
    assert sum(path.stat().st_size for path in pictures.values()) < 1_500_000


def contents(axis):
    parts = (axis.lines, axis.collections, axis.texts, axis.images, axis.patches)
    return [len(part) for part in parts], axis.get_title(), axis.get_legend(), axis.axison


def settings():
    """matplotlib's, but for the backend, which is found out when it is first asked for."""
    return {name: value for name, value in mpl.rcParams.copy().items() if name != "backend"}


@every
def test_draws_on_the_given_axis_only(name):
    display = fresh(name)
    figure = Figure(figsize=(9, 9))
    axes = figure.subplots(2, 2)
    before = [contents(axis) for axis in axes.flat]
    before_settings = settings()
    assert display.plot(axes[0, 1]) is display
    assert settings() == before_settings
    after = [contents(axis) for axis in axes.flat]
    assert after[0] == before[0]
    assert after[2:] == before[2:]
    assert after[1] != before[1]
    assert display.ax_ is axes[0, 1]
    assert display.figure_ is figure
    assert (figure.legends, figure.texts) == ([], [])
    # Panels stay within the place of the axis that was given.
    place = axes[0, 1].get_subplotspec()
    for panel in display.axes_:
        assert panel.get_subplotspec().get_topmost_subplotspec() == place


@every
def test_takes_as_many_axes_as_it_has_panels(name):
    display, count = fresh(name), len(drawn(name).axes_)
    if count == 1:
        return  # as in the test above
    axes = Figure(figsize=(3 * count, 3)).subplots(1, count + 1)
    with pytest.raises(InvalidInputError, match=f"must be one axis or {count} axes, got"):
        display.plot(axes)
    display.plot(axes[:-1])
    assert len(display.axes_) == count
    assert contents(axes[-1]) == contents(Figure().subplots())


def texts_of(figure):
    """Text that is seen: not that of axes switched off, nor of ticks beyond the ends of an axis."""
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    hidden = {label for axes in figure.axes for label in hidden_labels(axes)}
    return [text for text in found if text not in hidden]


def hidden_labels(axes):
    if axes.name == "3d":  # says of itself that it is off
        return
    if not axes.axison:
        yield from axes.findobj(Text, include_self=False)
        return
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-9 * (high - low)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low - slack <= tick.get_loc() <= high + slack:
                yield from (tick.label1, tick.label2)


@every
def test_own_figure_fits_a_column_or_a_page_and_is_easy_to_read(name):
    figure = drawn(name).figure_
    width, height = figure.get_size_inches()
    assert width == pytest.approx(7.0) or width < 5
    assert height < 9
    assert min(text.get_fontsize() for text in texts_of(figure)) >= 7


def overlap(first, second):
    width = min(first.x1, second.x1) - max(first.x0, second.x0)
    height = min(first.y1, second.y1) - max(first.y0, second.y0)
    return max(width, 0) * max(height, 0)


@every
def test_no_text_is_cut_off_or_covers_another(name):
    figure = drawn(name).figure_
    renderer = FigureCanvasAgg(figure).get_renderer()
    # Of the letters: the lines that tie names to circles are not counted.
    boxes = [(text, Text.get_window_extent(text, renderer)) for text in texts_of(figure)]
    for text, box in boxes:
        assert box.x0 >= -PIXELS, text
        assert box.y0 >= -PIXELS, text
        assert box.x1 <= figure.bbox.x1 + PIXELS, text
        assert box.y1 <= figure.bbox.y1 + PIXELS, text
    # The box of slanted text is mostly empty.
    upright = [(text, box) for text, box in boxes if text.get_rotation() % 90 == 0]
    for (text, box), (other, other_box) in itertools.combinations(upright, 2):
        smaller = min(box.width * box.height, other_box.width * other_box.height)
        assert overlap(box, other_box) <= 0.1 * smaller, (text, other)


@every
def test_no_panel_is_empty(name):
    for panel in drawn(name).axes_:
        parts = [*panel.lines, *panel.collections, *panel.images, *panel.patches, *panel.texts]
        assert parts, panel.get_title()


@every
def test_saved_as_vectors_with_text_as_text(name, tmp_path):
    display = drawn(name)
    pdf = display.save(tmp_path / "a.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf  # TrueType, which journals take
    assert b"/Type3" not in pdf
    svg = display.save(tmp_path / "a.svg").read_text()
    assert "<text" in svg
    assert b"CreationDate" not in pdf
    assert "<dc:date>" not in svg


@pytest.mark.parametrize("suffix", ["pdf", "svg", "png"])
def test_saved_again_is_the_same_bytes(suffix, tmp_path):
    first, again = (fresh("robustness_bars").plot() for _ in range(2))
    paths = [first.save(tmp_path / f"1.{suffix}"), again.save(tmp_path / f"2.{suffix}")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("name", ["scatter", "scenarios", "separability_bars", "surface"])
def test_saved_as_pixels(name, tmp_path):
    assert drawn(name).save(tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidInputError, match="`path` must be one of 'png', 'pdf', 'svg'"):
        drawn(name).save(tmp_path / "a.bmp")


@pytest.mark.parametrize(("dpi", "width"), [({}, 2100), ({"dpi": 100}, 700)])
def test_pixels_are_enough_for_print_unless_told_otherwise(dpi, width, tmp_path):
    path = drawn("timing_series").save(tmp_path / "a.png", **dpi)
    assert mpl.image.imread(path).shape[1] == width
    for bad in (0, 2.5, "300"):
        with pytest.raises(InvalidInputError, match="`dpi` must be an int >= 1, got"):
            drawn("timing_series").save(tmp_path / "b.png", dpi=bad)
    assert not (tmp_path / "b.png").exists()


@every
def test_repr_names_the_class_and_what_it_holds(name):
    said = repr(drawn(name))
    assert said.startswith(f"{type(held(name)).__name__}(")
    assert len(said) < 250
    assert "array" not in said


def test_save_draws_first(tmp_path):
    display = fresh("summary")
    assert not hasattr(display, "figure_")
    assert display.save(tmp_path / "a.svg") == tmp_path / "a.svg"
    assert display.figure_ is not None


def test_subfigures_are_drawn_on_and_saved_whole(tmp_path):
    figure = Figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    display = fresh("soft_label").plot(left.subplots())
    fresh("volume").plot(right.subplots())
    assert display.figure_ is left
    assert display.save(tmp_path / "both.png").stat().st_size > 0


def test_what_is_no_axis_is_refused():
    display = fresh("soft_label")
    for bad in ("axis", 3, [Figure().subplots(), 1], []):
        with pytest.raises(InvalidInputError, match="`ax` must be an axis of matplotlib"):
            display.plot(bad)
    free = Figure().add_axes((0, 0, 1, 1))
    display.plot(free)
    with pytest.raises(InvalidInputError, match="`ax` must be part of a grid"):
        fresh("volume").plot(free)


def test_a_flat_axis_is_replaced_by_one_of_three_dimensions():
    figure = Figure()
    flat, deep = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    display = fresh("surface")
    display.plot(flat)
    assert display.axes_[0].name == "3d"
    assert not flat.axison
    display.plot(deep)
    assert display.axes_ == [deep]


def test_pyplot_is_not_needed_and_works():
    code = """
import sys, matplotlib
before = matplotlib.rcParams.copy()
from vuskit.figures import RangeCurveDisplay, VolumeDisplay
labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
VolumeDisplay.from_scores(labels, score, max_buffer=4).plot().figure_.draw_without_rendering()
assert "matplotlib.pyplot" not in sys.modules
assert matplotlib.rcParams == before
import matplotlib.pyplot as plt
figure, axes = plt.subplots(1, 2)
display = RangeCurveDisplay.from_scores(labels, score, buffer=4).plot(axes[1])
assert display.figure_ is figure and plt.gcf() is figure
display.plot()
assert plt.get_fignums() == [1]
"""
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=True,
        env={**os.environ, "MPLBACKEND": "agg"},
    )


def test_long_series_are_drawn_by_their_extremes():
    from vuskit.figures import SeriesDisplay

    line = np.zeros(50_000)
    line[12_345] = 7.0
    labels = line > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panel = SeriesDisplay.from_scores(labels, {"peak": line}).plot().ax_
    drawn = panel.lines[0].get_ydata()
    assert drawn.size < 5000
    assert drawn.max() == 7.0
    at = panel.lines[0].get_xdata()[drawn.argmax()]
    assert abs(at - 12_345) < 50

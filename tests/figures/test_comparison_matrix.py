"""The multi-comparison matrix: data and drawing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from studies.tables import random_table

from vuskit.figures.comparison_matrix import _MARK, MultiComparisonMatrixDisplay
from vuskit.statistics.comparison import compare_columns


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def test_cells_hold_difference_counts_and_p_values():
    found = compare_columns(random_table(0, n=30, k=4), n_resamples=20)
    display = found.matrix().plot()
    cells = display.data()["cells"]
    assert len(texts(display)) == 12
    first = cells[0][1]
    assert texts(display)[0].startswith(f"{first['difference']:+.3f}\n{first['wins']}/")
    assert first["wins"] + first["ties"] + first["losses"] == 30
    bold = [text.get_fontweight() == "bold" for text in display.ax_.texts]
    assert bold == [cell["significant"] for row in cells for cell in row if cell]
    assert any(bold)
    assert not all(bold)


@pytest.mark.parametrize("higher", [True, False])
def test_color_is_in_favor_of_the_row(higher):
    found = compare_columns(random_table(0, n=30, k=3), n_resamples=20, higher_is_better=higher)
    shown = found.matrix().plot().ax_.images[0].get_array()
    differences = np.array(found.matrix().differences)
    np.testing.assert_allclose(shown, differences * (1 if higher else -1))


def test_many_names_show_marks_only():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((40, 16)) + np.linspace(0, 1, 16))
    display = compare_columns(table, n_resamples=20).matrix().plot()
    assert set(texts(display)) == {_MARK}


def test_words_fit_into_their_cells():
    found = compare_columns(random_table(0, n=400, k=8), n_resamples=20)
    display = found.matrix()
    display.plot()
    figure = display.figure_
    figure.canvas.draw()
    box = display.ax_.get_window_extent()
    for text in display.ax_.texts:
        assert text.get_window_extent().width <= box.width / 8 * 1.02


def test_missing_differences_are_zero_on_the_diagonal():
    display = MultiComparisonMatrixDisplay(
        ["a", "b"], [1, 1], np.zeros((2, 2)), np.zeros((2, 2)), np.full((2, 2), 9), np.ones((2, 2)),
        "test", np.zeros((2, 2)),
    )  # fmt: skip
    assert display.plot(title="").data()["cells"][0] == [
        None,
        {"difference": 0, "wins": 0, "ties": 9, "losses": 0, "p": 1, "significant": False},
    ]

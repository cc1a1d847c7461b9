"""The multi-comparison matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vuskit.figures.base import PAGE, SMALL, TEXT, Canvas, Data, Display, open_canvas, to_array

_CELL = 0.52  # inches
_SIDE = 1.1  # inches of the names beside the rows
_MOST_WORDS = 14  # names; beyond it cells hold no text
_LETTER = 0.7  # width of a bold digit relative to its height
_MARK = "\N{BLACK CIRCLE}"  # significant, in cells without text
_COLORS = "RdBu"


@dataclass(eq=False, repr=False)
class MultiComparisonMatrixDisplay(Display):
    """Every pair of detectors: mean difference, wins, ties and losses, adjusted p-value.

    A pair's cell does not depend on the other detectors, apart from the correction of the p-value.
    ``compare(table).matrix()`` makes the display of a table of results.

    Attributes
    ----------
    names : sequence of str
        Names, best first.
    means : sequence of float
        Mean value by name.
    differences : array of shape (k, k)
        Mean of the row minus mean of the column.
    wins, ties : array of shape (k, k)
        Number of series on which the row is better than the column, or equal to it.
    p_values : array of shape (k, k)
        Adjusted p-values.
    test : str
        Description of the test.
    significant : array of shape (k, k)
        Whether the pair differs significantly.
    higher_is_better : bool
        Whether high values are better.

    Examples
    --------
    >>> pair = ([[0, 0.2], [-0.2, 0]], [[0, 9], [1, 0]], [[0, 2], [2, 0]], [[1, 0.01], [0.01, 1]])
    >>> differs = [[False, True], [True, False]]
    >>> display = MultiComparisonMatrixDisplay(["LOF", "PCA"], [0.6, 0.4], *pair, "test", differs)
    >>> display.data()["cells"][0][1]
    {'difference': 0.2, 'wins': 9, 'ties': 2, 'losses': 1, 'p': 0.01, 'significant': True}
    """

    kind = "comparison_matrix"
    heading = "all pairs: mean difference, wins, ties and losses, adjusted p-value"
    names: Sequence[str]
    means: Sequence[float]
    differences: Any
    wins: Any
    ties: Any
    p_values: Any
    test: str
    significant: Any
    higher_is_better: bool = True

    def data(self) -> dict[str, Any]:
        """Return names with means, and the cells, rows against columns; None on the diagonal."""
        places = range(len(self.names))
        return {
            "items": [
                {"title": str(name), "mean": float(mean)}
                for name, mean in zip(self.names, self.means, strict=True)
            ],
            "cells": [
                [None if row == column else self._cell(row, column) for column in places]
                for row in places
            ],
            "test": self.test,
            "higher_is_better": self.higher_is_better,
        }

    def _cell(self, row: int, column: int) -> dict[str, Any]:
        return {
            "difference": float(np.asarray(self.differences)[row, column]),
            "wins": int(np.asarray(self.wins)[row, column]),
            "ties": int(np.asarray(self.ties)[row, column]),
            "losses": int(np.asarray(self.wins)[column, row]),
            "p": float(np.asarray(self.p_values)[row, column]),
            "significant": bool(np.asarray(self.significant)[row, column]),
        }

    def _draw(self, ax: Any, data: Data, *, title: str | None = None) -> Canvas:
        items, cells, count = data["items"], data["cells"], len(data["items"])
        width = min(PAGE, _SIDE + _CELL * count)
        height = (width - _SIDE) / count
        canvas = open_canvas(ax, size=(width, 0.5 + count * height + 0.3))
        axis = canvas.ax
        favors = to_array(
            [[0.0 if cell is None else cell["difference"] for cell in row] for row in cells]
        ) * (1 if data["higher_is_better"] else -1)
        most = float(np.abs(favors).max(initial=0.0)) or 1.0
        axis.imshow(favors, cmap=_COLORS, vmin=-1.6 * most, vmax=1.6 * most, aspect="auto")
        words = [[_words(cell) if cell else "" for cell in line] for line in cells]
        longest = max(len(line) for row in words for cell in row for line in cell.split("\n"))
        size = min(SMALL, 72 * (width - _SIDE) / count / (_LETTER * max(longest, 1)))
        for row, line in enumerate(cells):
            for column, cell in enumerate(line):
                if cell is not None:
                    text = words[row][column] if count <= _MOST_WORDS else _MARK
                    if count <= _MOST_WORDS or cell["significant"]:
                        weight = "bold" if cell["significant"] else "normal"
                        style: dict[str, Any] = {"ha": "center", "va": "center", "weight": weight}
                        axis.text(column, row, text, fontsize=size, linespacing=1.15, **style)
        names: dict[str, Any] = {"fontsize": SMALL, "parse_math": False}
        axis.set_yticks(
            range(count), [f"{one['title']} ({one['mean']:.3f})" for one in items], **names
        )
        axis.set_xticks(
            range(count), [one["title"] for one in items], rotation=35, ha="left", **names
        )
        axis.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        for spine in axis.spines.values():
            spine.set_visible(False)
        shown = self.test if title is None else title
        if shown:
            axis.set_xlabel(shown, fontsize=TEXT)
        return canvas

    def _about(self) -> str:
        return f"{len(self.names)} names, {self.test}"


def _words(cell: dict[str, Any]) -> str:
    difference, p = cell["difference"], cell["p"]
    small = "p<.001" if p < 0.001 else f"p={p:.3f}".replace("0.", ".", 1)
    return f"{difference:+.3f}\n{cell['wins']}/{cell['ties']}/{cell['losses']}\n{small}"

"""All pairs of a comparison as a table: difference, wins, ties and losses, adjusted p-value."""

from __future__ import annotations

from dataclasses import dataclass

from vuskit._util.tables import Cell, TableForms, TableLayout
from vuskit.statistics.bayes import BayesianTest
from vuskit.statistics.comparison import TableComparison

_SMALL_P = 0.001


@dataclass(frozen=True, eq=False)
class PairTable(TableForms):
    """The multi-comparison matrix as a table.

    Attributes
    ----------
    comparison : TableComparison
        Result of :func:`vuskit.studies.compare`.
    bayesian : BayesianTest, optional
        Adds the probabilities that a detector is better, practically equal or worse, in
        :meth:`to_text` and :meth:`leader_layout`.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit.studies import compare
    >>> rows = {"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2], "MP": [0.1, 0.3, 0.1]}
    >>> print(PairTable(compare(pd.DataFrame(rows))).leader_layout().to_text(76))
    LOF compared with each other detector by value: mean difference; series won,
      tied and lost; p-value (Wilcoxon signed-rank, holm).
    LOF against  difference  won/tied/lost      p
    PCA              +0.367          3/0/0  0.750
    MP               +0.633          3/0/0  0.750
    """

    comparison: TableComparison
    bayesian: BayesianTest | None = None

    @property
    def _cells(self) -> list[list[dict[str, float] | None]]:
        found: list[list[dict[str, float] | None]] = self.comparison.matrix().data()["cells"]
        return found

    @property
    def _names(self) -> list[str]:
        return [str(name) for name in self.comparison.summary.index]

    @property
    def _test(self) -> str:
        return f"{self.comparison.pairs.test}, {self.comparison.pairs.correction}"

    @property
    def _marks(self) -> tuple[str, ...]:
        return (f"significant at alpha = {self.comparison.pairs.alpha:g}",)

    @property
    def _layout(self) -> TableLayout:
        rows: list[list[str | Cell]] = []
        for name, cells in zip(self._names, self._cells, strict=True):
            texts = [self._texts(cell) if cell else ("", "", "") for cell in cells]
            bold = [bool(cell and cell["significant"]) for cell in cells]
            differences, counts, p_values = zip(*texts, strict=True)
            rows.append(
                [name, *(Cell(text, mark) for text, mark in zip(differences, bold, strict=True))]
            )
            rows += [["", *counts], ["", *p_values]]
        return TableLayout(
            ["row against", *self._names],
            rows,
            caption=f"All pairs by {self.comparison.title}: mean of the row minus mean of the "
            f"column; series that the row won, tied and lost; p-value ({self._test}).",
            rules=range(3, len(rows), 3),
            marks=self._marks,
        )

    def leader_layout(self) -> TableLayout:
        """Return the row of the leader as a table."""
        leader = str(self.comparison.leader())
        header = [f"{leader} against", "difference", "won/tied/lost", "p"]
        rows: list[list[str | Cell]] = []
        cells = self._cells[self._names.index(leader)]
        for name, cell in zip(self._names, cells, strict=True):
            if cell is not None:
                difference, counts, p = self._texts(cell)
                rows.append([name, Cell(difference, bool(cell["significant"])), counts, p])
        caption = (
            f"{leader} compared with each other detector by {self.comparison.title}: mean "
            f"difference; series won, tied and lost; p-value ({self._test})."
        )
        notes: list[str] = []
        if self.bayesian is not None:
            header.append("better/equal/worse")
            shares = {}
            for row in self.bayesian.to_frame().itertuples(index=False):
                found = row.p_first, row.p_equal, row.p_second
                shares[str(row.first), str(row.second)] = found
                shares[str(row.second), str(row.first)] = found[::-1]
            for row in rows:
                row.append("/".join(f"{share:.3f}" for share in shares[leader, str(row[0])]))
            notes.append(f"better/equal/worse: probabilities. {self.bayesian}.")
        return TableLayout(header, rows, caption=caption, notes=notes, marks=self._marks)

    def to_text(self, width: int | None = None) -> str:
        """Return the matrix if it fits the width, otherwise the pairs with the leader.

        The Bayesian probabilities are only in the table of the pairs with the leader.
        """
        matrix = self._layout
        widest = max(map(len, matrix.to_text(None).splitlines()[1:]))
        fits = width is None or widest <= width
        tables = [matrix] * fits + [self.leader_layout()] * (not fits or self.bayesian is not None)
        return "\n\n".join(one.to_text(width) for one in tables)

    def _texts(self, cell: dict[str, float]) -> tuple[str, str, str]:
        return (
            "–" if self.comparison.is_filled else f"{cell['difference']:+.3f}",  # noqa: RUF001
            f"{cell['wins']}/{cell['ties']}/{cell['losses']}",
            "<0.001" if cell["p"] < _SMALL_P else f"{cell['p']:.3f}",
        )

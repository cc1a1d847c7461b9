"""The critical-difference diagram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vuskit.datasets.optional import require
from vuskit.report.common import titles_of
from vuskit.report.figures.base import Display, register_figure
from vuskit.report.figures.canvas import PAGE, SMALL, TEXT, open_canvas
from vuskit.report.figures.marks import measures_named
from vuskit.studies.comparison import TableComparison, compare

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CriticalDifferenceDisplay"]


@register_figure(
    name="critical_difference",
    title="mean ranks, and which do not differ significantly",
    source="a comparison of detectors or measures, or a table of results",
)
@dataclass(eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
    """Mean ranks on a line; a bar joins those without a significant difference.

    Attributes
    ----------
    ranks : pandas.Series
        Mean rank by name, the best first.
    p_values : pandas.DataFrame
        Of all pairs.
    alpha : float
        Level of significance.
    test : str
        The test in words.
    n_bars : int
        How many groups are joined by a bar.
    """

    ranks: pd.Series
    p_values: pd.DataFrame
    alpha: float
    test: str
    n_bars: int

    @classmethod
    def from_comparison(cls, comparison: TableComparison) -> CriticalDifferenceDisplay:
        """Make it from a comparison; measures are shown under their titles.

        Parameters
        ----------
        comparison : TableComparison
            Of :func:`vuskit.studies.compare`, or of the ``compare`` of a study's result.
        """
        names = [str(name) for name in comparison.summary.index]
        titles = titles_of(measures_named(names))
        pairs = comparison.pairs
        return cls(
            comparison.summary["mean_rank"].rename(index=titles),
            pairs.p_values.rename(index=titles, columns=titles),
            pairs.alpha,
            f"{pairs.test}, {pairs.correction}, alpha = {pairs.alpha:g}, n = {pairs.n}",
            len(comparison.cliques),
        )

    @classmethod
    def from_results(cls, results: Any, **options: Any) -> CriticalDifferenceDisplay:
        """Make it from a table of results.

        Parameters
        ----------
        results : DataFrame, or anything with ``to_frame()``
            One row for each series and detector, or a row for each series and a column for each
            detector.
        **options
            As for :func:`vuskit.studies.compare`: ``measure``, ``alpha``, ``test``, ...

        Raises
        ------
        InvalidInputError
            If the table cannot be compared.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"LOF": [0.9, 0.8, 0.7], "PCA": [0.5, 0.6, 0.2]})
        >>> CriticalDifferenceDisplay.from_results(table)
        CriticalDifferenceDisplay(2 names, Wilcoxon signed-rank, holm, alpha = 0.05, n = 3)
        """
        return cls.from_comparison(compare(results, **options))

    def plot(self, ax: Any = None, *, title: str | None = None) -> CriticalDifferenceDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a figure of its own by default.
        title : str, optional
            Above the diagram; the test in words by default, ``""`` for none.
        """
        height = 0.55 + 0.15 * (len(self.ranks) / 2 + self.n_bars / 2.5)
        canvas = open_canvas(ax, size=(PAGE, max(height, 1.3)))
        posthocs = require("scikit_posthocs", purpose="a critical-difference diagram")
        # By number: bars of equal start are ordered by the hashes of the names, which for strings
        # change from run to run.
        numbers = {name: place for place, name in enumerate(self.ranks.index)}
        drawn = posthocs.critical_difference_diagram(
            self.ranks.rename(index=numbers),
            self.p_values.rename(index=numbers, columns=numbers),
            alpha=self.alpha,
            ax=canvas.ax,
            label_props={"fontsize": SMALL, "va": "center"},
            elbow_props={"color": "black", "linewidth": 0.5},
            marker_props={"color": "black", "s": 6},
            crossbar_props={"linewidth": 1.8, "color": "black"},
            text_h_margin=0.05,
            label_fmt_left="{label}",
            label_fmt_right="{label}",
        )
        for text in drawn["labels"]:
            place = int(text.get_text())
            name, rank = self.ranks.index[place], f"({self.ranks.iloc[place]:.2f})"
            text.set_text(f"{name} {rank}" if text.get_ha() == "right" else f"{rank} {name}")
        canvas.ax.tick_params(labelsize=SMALL)
        canvas.ax.set_title(self.test if title is None else title, fontsize=TEXT)
        self._drawn(canvas)
        return self

    def _about(self) -> str:
        return f"{len(self.ranks)} names, {self.test}"

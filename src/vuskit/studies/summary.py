"""The summary: the rank of every measure in every study, and on average."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.statistics.tables import without_noise

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Summary", "summarise"]


@dataclass(frozen=True, eq=False)
class Summary:
    """What the studies say about each measure.

    Attributes
    ----------
    scores : pandas.DataFrame
        Mean deviation under each perturbation, z, mean entropy; one row for each measure.
    ranks : pandas.DataFrame
        Their ranks, 1 is best, and the mean rank; the best measure first.
    measures : tuple of Measure
        The measures.
    """

    scores: pd.DataFrame
    ranks: pd.DataFrame
    measures: tuple[Measure, ...]

    def to_frame(self) -> pd.DataFrame:
        """Ranks and, behind them, the numbers they come from; the best measure first."""
        return self.ranks.join(self.scores.add_suffix("_value")).reset_index()

    def scatter(self) -> pd.DataFrame:
        """Robustness against separability: the coordinates of the picture.

        ``deviation`` is the mean over lag and noise, ``z`` the separability, ``ratio`` the
        deviation under other shares of anomalous points.
        """
        pandas = require("pandas", purpose="scatter()")
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "deviation": self.scores[["lag", "noise"]].mean(axis=1),
                "z": self.scores["separability"],
                "ratio": self.scores["ratio"],
            }
        )
        return frame


def summarise(
    robustness: RobustnessResult,
    separability: SeparabilityResult,
    consistency: ConsistencyResult,
    *,
    z: str = "median",
) -> Summary:
    """Rank the measures in every study.

    Low is best for deviations and entropies, high for z. The mean rank counts lag, noise, ratio,
    separability and consistency the same.

    Parameters
    ----------
    robustness, separability, consistency
        Results of the studies, of the same measures.
    z : {"median", "mean"}, default="median"
        What stands for separability. The paper takes the mean, but where a measure hardly varies a
        single pair can have a z of thousands, and a few such pairs decide it.

    Raises
    ------
    InvalidInputError
        If the studies are about different measures.

    Examples
    --------
    >>> import numpy as np
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> from vuskit.studies import consistency_study, robustness_study, separability_study
    >>> several = []
    >>> for seed in range(3):
    ...     labels, good = labeled_scores(500, n_anomalies=3, mean_length=8, seed=seed)
    ...     scores = {"good": good, "bad": np.random.default_rng(seed).random(500)}
    ...     several.append(ScoredSeries(Series(f"s{seed}", "docs", good, labels), scores))
    >>> chosen = {"measures": ["precision", "vus_pr"], "buffer": 20}
    >>> found = summarise(
    ...     robustness_study(several, **chosen),
    ...     separability_study(several, min_gap=0.01, **chosen),
    ...     consistency_study(several, **chosen),
    ... )
    >>> list(found.ranks.columns)
    ['lag', 'noise', 'ratio', 'separability', 'consistency', 'mean']
    """
    names = robustness.task.settings.names
    for other in (separability.settings.names, consistency.settings.names):
        if other != names:
            raise InvalidInputError(
                f"the studies must have equal measures, got {names} and {other}"
            )
    pandas = require("pandas", purpose="a summary")
    scores = robustness.averages()
    scores["separability"] = separability.averages()[check_choice("z", z, ("median", "mean"))]
    scores["consistency"] = consistency.averages()["entropy"]
    scores.index.name = "measure"
    lower_is_better = scores.assign(separability=-scores["separability"])
    rounded = without_noise(lower_is_better.to_numpy().T, alone=True).T
    ranks = pandas.DataFrame(rounded, scores.index, scores.columns).rank()
    ranks["mean"] = ranks.mean(axis=1)
    return Summary(scores, ranks.sort_values("mean", kind="stable"), robustness.measures)

"""The summary: the rank of every measure in every study, and its mean rank."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vuskit._util.optional import pd
from vuskit.errors import InvalidInputError
from vuskit.figures import Display, ScatterDisplay, SummaryDisplay
from vuskit.statistics.tests import without_noise
from vuskit.studies.base import Study, study
from vuskit.studies.result import StudyResult


@dataclass(frozen=True, eq=False)
class Summary(StudyResult):
    """Scores and ranks of each measure in all studies.

    Attributes
    ----------
    scores : pd.DataFrame
        Scores of the studies, such as the mean deviation under each perturbation, z and the mean
        entropy; one row for each measure.
    ranks : pd.DataFrame
        Rank of each measure by each score (1 is best), and the mean rank; best measure first.
    """

    scores: pd.DataFrame
    ranks: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Ranks, followed by the scores behind them; best measure first."""
        return self.ranks.join(self.scores.add_suffix("_value")).reset_index()

    def scatter(self) -> pd.DataFrame:
        """Coordinates of the figure of robustness against separability.

        ``deviation`` is the mean over lag and noise, ``z`` the separability, ``ratio`` the
        deviation under changing shares of anomalous points.
        """
        return pd.DataFrame(
            {
                "deviation": self.scores[["lag", "noise"]].mean(axis=1),
                "z": self.scores["separability"],
                "ratio": self.scores["ratio"],
            }
        )

    @property
    def has_scatter(self) -> bool:
        """Whether the studies that the scatter needs are present."""
        return {"lag", "noise", "ratio", "separability"} <= set(self.scores.columns)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Ranks with their scores, and the scatter."""
        tables = {"ranks": self.to_frame()}
        if self.has_scatter:
            tables["scatter"] = self.scatter().reset_index()
        return tables

    def figures(self) -> dict[str, Display]:
        """Ranks, and robustness against separability."""
        figures: dict[str, Display] = {
            "ranks": SummaryDisplay(
                self.ranks,
                own_measures=self.measures,
                title="Ranks",
                caption="1 is best. Mean: mean of the ranks in all columns.",
            )
        }
        if self.has_scatter:
            figures["scatter"] = ScatterDisplay(
                self.scatter(),
                own_measures=self.measures,
                title="Robustness against separability",
                caption="Left is robust, up is separable. The larger the circle, the more the "
                "measure depends on the share of anomalous points.",
            )
        return figures

    def overview(self) -> pd.DataFrame:
        """Ranks, best measure first."""
        return self.ranks

    def about(self) -> str:
        """Describe the study in sentences."""
        return (
            f"Ranks of {len(self.measures)} measures by {', '.join(self.scores.columns)}; "
            "1 is best. Mean: mean of the ranks."
        )


@study(
    title="Summary",
    question="Which measures are good in all studies?",
    better="lower",
    name="summary",
    input="results",
    order=5,
)
@dataclass(frozen=True)
class SummaryStudy(Study[Summary]):
    """Ranks of the measures by the scores of all studies; all scores have the same weight."""

    def run(self, source: Any = None, **how: Any) -> Summary:
        """Rank the measures by the scores of results, as :func:`summarize` does."""
        return summarize(source or ())


def summarize(*results: StudyResult | Iterable[StudyResult]) -> Summary:
    """Rank the measures in every study.

    Low deviations, low entropies and high z are best. All scores have the same weight in the mean
    rank: lag, noise, ratio, separability, consistency, and those of custom studies.

    Parameters
    ----------
    *results : StudyResult, or iterable of these
        Results of studies of the same measures. Those without a score, such as scenarios, are
        ignored.

    Returns
    -------
    Summary
        Scores and ranks.

    Raises
    ------
    InvalidInputError
        If no result has a score, or the studies have different measures.

    Examples
    --------
    >>> import numpy as np
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> from vuskit.studies import run_study
    >>> several = []
    >>> for seed in range(3):
    ...     labels, good = labeled_scores(500, n_anomalies=3, mean_length=8, seed=seed)
    ...     scores = {"good": good, "bad": np.random.default_rng(seed).random(500)}
    ...     several.append(ScoredSeries(Series(f"s{seed}", "docs", good, labels), scores))
    >>> chosen = {"measures": ["precision", "vus_pr"], "buffer": 20}
    >>> found = summarize(
    ...     run_study("robustness", several, **chosen),
    ...     run_study("separability", several, min_gap=0.01, **chosen),
    ...     run_study("consistency", several, **chosen),
    ... )
    >>> list(found.ranks.columns)
    ['lag', 'noise', 'ratio', 'separability', 'consistency', 'mean']

    The paper ranks separability by the mean z. For that, pass
    ``separability.with_options(average="mean")``.
    """
    several = [
        one for part in results for one in ([part] if isinstance(part, StudyResult) else part)
    ]
    scored = [(one, one.score()) for one in several]
    used = [(one, score) for one, score in scored if score is not None]
    if not used:
        raise InvalidInputError("`results` must hold a result with a score, got none")
    first = used[0][0].study
    for one, _ in used:
        if one.study.names != first.names:
            raise InvalidInputError(
                f"the studies must have equal measures, got {first.names} and {one.study.names}; "
                "run them with the same `measures`"
            )
    tables = [
        score if hasattr(score, "columns") else score.to_frame(one.kind) for one, score in used
    ]
    scores = pd.concat(tables, axis=1).rename_axis("measure")
    if not scores.columns.is_unique:
        twice = scores.columns[scores.columns.duplicated()][0]
        raise InvalidInputError(f"`results` must be of different studies, got {twice!r} twice")
    signs = [
        1.0 if one.study.better == "lower" else -1.0
        for (one, _), table in zip(used, tables, strict=True)
        for _ in table.columns
    ]
    rounded = without_noise((scores.to_numpy(float) * signs).T, alone=True).T
    ranks = pd.DataFrame(rounded, scores.index, scores.columns).rank()
    ranks["mean"] = ranks.mean(axis=1)
    common = {
        name: getattr(first, name)
        for name in ("settings", "measure_options")
        if all(getattr(one.study, name) == getattr(first, name) for one, _ in used)
    }
    return Summary(
        scores,
        ranks.sort_values("mean", kind="stable"),
        study=SummaryStudy(measures=first.measures, **common),
        inputs=tuple(dict.fromkeys(one for result, _ in used for one in result.inputs)),
        core=", ".join(sorted({result.core for result, _ in used if result.core})),
    )

"""Tests, effect sizes, ranks and comparisons for tables of results.

Rows are series; columns are the detectors or measures to compare. Every result names its test,
correction, alpha and n.
"""

from __future__ import annotations

from vuskit.statistics.bayes import BayesianTest, bayesian_signed_rank_test
from vuskit.statistics.comparison import effect_sizes
from vuskit.statistics.tests import (
    GlobalTest,
    PairwiseTest,
    RankIntervals,
    friedman_test,
    mean_ranks,
    nemenyi_test,
    rank_groups,
    rank_intervals,
    wilcoxon_test,
)

__all__ = [
    "BayesianTest",
    "GlobalTest",
    "PairwiseTest",
    "RankIntervals",
    "bayesian_signed_rank_test",
    "effect_sizes",
    "friedman_test",
    "mean_ranks",
    "nemenyi_test",
    "rank_groups",
    "rank_intervals",
    "wilcoxon_test",
]

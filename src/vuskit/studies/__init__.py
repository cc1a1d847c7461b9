"""Evidence about the measures: what they cost and how they behave."""

from __future__ import annotations

from vuskit.studies.base import Failure, Progress
from vuskit.studies.consistency import ConsistencyResult, consistency_study
from vuskit.studies.robustness import RobustnessResult, robustness_study
from vuskit.studies.scenarios import Scenario, ScenarioResult, paper_scenarios, scenario_study
from vuskit.studies.separability import SeparabilityResult, separability_study
from vuskit.studies.sources import open_scores
from vuskit.studies.statistics.comparison import TableComparison, compare, list_pairwise_tests
from vuskit.studies.summary import Summary, summarise

__all__ = [
    "ConsistencyResult",
    "Failure",
    "Progress",
    "RobustnessResult",
    "Scenario",
    "ScenarioResult",
    "SeparabilityResult",
    "Summary",
    "TableComparison",
    "compare",
    "consistency_study",
    "list_pairwise_tests",
    "open_scores",
    "paper_scenarios",
    "robustness_study",
    "scenario_study",
    "separability_study",
    "summarise",
]

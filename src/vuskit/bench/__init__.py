"""Benchmarks: expand a plan into jobs, run them, and keep the results in a store."""

from __future__ import annotations

from vuskit.bench.in_memory import Values, evaluate_inputs
from vuskit.bench.means import (
    leaderboard,
)
from vuskit.bench.plan import Plan, load_plan, parse_plan
from vuskit.bench.run import Failure, Run, RunStatus, StoredScores
from vuskit.bench.runner import RunSummary, run_plan
from vuskit.bench.series import RunSeries
from vuskit.bench.verify import Verification
from vuskit.engine import Progress, Status

__all__ = [
    "Failure",
    "Plan",
    "Progress",
    "Run",
    "RunSeries",
    "RunStatus",
    "RunSummary",
    "Status",
    "StoredScores",
    "Values",
    "Verification",
    "evaluate_inputs",
    "leaderboard",
    "load_plan",
    "parse_plan",
    "run_plan",
]

"""Benchmarks: expand a plan into jobs, run them, and keep the results in a store."""

from __future__ import annotations

from vuskit.bench._leaderboard import (
    AVERAGES,
    common_series,
    directions,
    leaderboard,
    measure_called,
    rows_of_mean,
)
from vuskit.bench.in_memory import Values, evaluate_inputs
from vuskit.bench.jobs import Kind
from vuskit.bench.plan import Plan, load_plan, parse_plan
from vuskit.bench.run import (
    Failure,
    FailureCause,
    Run,
    RunSeries,
    RunStatus,
    ScoreRecord,
    StoredScores,
)
from vuskit.bench.runner import RunSummary, run_plan
from vuskit.bench.verify import Verification
from vuskit.engine import Progress, Status
from vuskit.measures.registry import main_measure
from vuskit.store.pack import PackSummary
from vuskit.store.store import Store, StoreError

__all__ = [
    "AVERAGES",
    "Failure",
    "FailureCause",
    "Kind",
    "PackSummary",
    "Plan",
    "Progress",
    "Run",
    "RunSeries",
    "RunStatus",
    "RunSummary",
    "ScoreRecord",
    "Status",
    "Store",
    "StoreError",
    "StoredScores",
    "Values",
    "Verification",
    "common_series",
    "directions",
    "evaluate_inputs",
    "leaderboard",
    "load_plan",
    "main_measure",
    "measure_called",
    "parse_plan",
    "rows_of_mean",
    "run_plan",
]

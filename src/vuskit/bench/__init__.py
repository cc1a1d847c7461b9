"""Benchmarks: expand a plan into jobs, run them, and keep the results in a store."""

from __future__ import annotations

from vuskit.bench._leaderboard import (
    AVERAGES,
    common_series,
    directions,
    leaderboard,
    main_measure,
    measure_called,
    rows_of_mean,
)
from vuskit.bench.in_memory import (
    EvaluatedScore,
    EvaluatedSeries,
    FailedScore,
    InputProgress,
    Values,
    evaluate_inputs,
)
from vuskit.bench.jobs import Kind
from vuskit.bench.pack import Pack, PackedScores, PackSummary, open_pack, open_run
from vuskit.bench.plan import Plan, load_plan, parse_plan
from vuskit.bench.run import (
    Failure,
    FailureCause,
    Run,
    RunSeries,
    RunStatus,
    ScoreRecord,
    StoredScores,
    Verification,
)
from vuskit.bench.runner import Progress, RunSummary, run_plan
from vuskit.bench.store import BenchStorageError, Store
from vuskit.engine import Status

__all__ = [
    "AVERAGES",
    "BenchStorageError",
    "EvaluatedScore",
    "EvaluatedSeries",
    "FailedScore",
    "Failure",
    "FailureCause",
    "InputProgress",
    "Kind",
    "Pack",
    "PackSummary",
    "PackedScores",
    "Plan",
    "Progress",
    "Run",
    "RunSeries",
    "RunStatus",
    "RunSummary",
    "ScoreRecord",
    "Status",
    "Store",
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
    "open_pack",
    "open_run",
    "parse_plan",
    "rows_of_mean",
    "run_plan",
]

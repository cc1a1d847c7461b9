"""Benchmarks: a plan becomes jobs, jobs become rows in a store, and nothing is lost."""

from __future__ import annotations

from vuskit.bench.plan import load_plan
from vuskit.bench.plan_parts import Plan
from vuskit.bench.runner import Progress, RunSummary, run_plan
from vuskit.bench.states import Kind, Status
from vuskit.bench.storage import BenchStorageError
from vuskit.bench.store import Store

__all__ = [
    "BenchStorageError",
    "Kind",
    "Plan",
    "Progress",
    "RunSummary",
    "Status",
    "Store",
    "load_plan",
    "run_plan",
]

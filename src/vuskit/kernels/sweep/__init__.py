"""Areas from ranks, for all buffer widths at once: with NumPy, and compiled by numba."""

from __future__ import annotations

from vuskit.kernels.sweep.areas import Levels, plain_areas
from vuskit.kernels.sweep.compiled import CompiledPlan, CompiledScore
from vuskit.kernels.sweep.exact import DynamicScores, exact_areas
from vuskit.kernels.sweep.grid import grid_areas, grid_ranks, grid_rates, perfect_pr_areas

__all__ = [
    "CompiledPlan",
    "CompiledScore",
    "DynamicScores",
    "Levels",
    "exact_areas",
    "grid_areas",
    "grid_ranks",
    "grid_rates",
    "perfect_pr_areas",
    "plain_areas",
]

"""Areas from ranks, for all buffer widths at once."""

from __future__ import annotations

from vuskit.kernels.sweep.areas import Levels, plain_areas
from vuskit.kernels.sweep.exact import DynamicScores, SweepInput, sweep, sweep_longest
from vuskit.kernels.sweep.grid import (
    ScoreOnGrid,
    grid_of,
    grid_ranks,
    grid_rates,
    perfect_pr_areas,
)

__all__ = [
    "DynamicScores",
    "Levels",
    "ScoreOnGrid",
    "SweepInput",
    "grid_of",
    "grid_ranks",
    "grid_rates",
    "perfect_pr_areas",
    "plain_areas",
    "sweep",
    "sweep_longest",
]

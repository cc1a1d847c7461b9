"""Ranks of a few scores among many."""

from __future__ import annotations

from vuskit.kernels.ranking._numpy import RankTable, Scores, position_among, rank_table

__all__ = ["RankTable", "Scores", "position_among", "rank_table"]

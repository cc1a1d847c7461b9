"""Ranks of a few scores among many, with NumPy and with compiled kernels."""

from __future__ import annotations

from vuskit.kernels.ranking._numpy import RankTable, Scores, position_among, rank_table

__all__ = ["RankTable", "Scores", "position_among", "rank_table"]

"""Preparation of labels: definitions, soft labels, buffered events."""

from __future__ import annotations

from vuskit.kernels.labels.buffers import BufferPlan, plan_buffers
from vuskit.kernels.labels.definitions import DEFINITIONS, JOURNAL, Definition, Ramps, Side

__all__ = [
    "DEFINITIONS",
    "JOURNAL",
    "BufferPlan",
    "Definition",
    "Ramps",
    "Side",
    "plan_buffers",
]

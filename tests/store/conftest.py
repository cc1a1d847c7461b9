"""Runs of small plans, as in the tests of benchmarks."""

from __future__ import annotations

from bench.conftest import environment, start, workshop

__all__ = ["environment", "start", "workshop"]

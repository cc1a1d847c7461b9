"""Execution time and memory of the measures."""

from __future__ import annotations

from vuskit.studies.timing.cases import (
    Case,
    Setting,
    real_cases,
    scored_cases,
    synthetic_cases,
)
from vuskit.studies.timing.results import Sample, TimingResult
from vuskit.studies.timing.study import TimingStudy, timing_study

__all__ = [
    "Case",
    "Sample",
    "Setting",
    "TimingResult",
    "TimingStudy",
    "real_cases",
    "scored_cases",
    "synthetic_cases",
    "timing_study",
]

"""Execution time and memory of the measures."""

from __future__ import annotations

from vuskit.studies.timing.cases import (
    Case,
    Setting,
    synthetic_cases,
)
from vuskit.studies.timing.results import (
    TimingResult,
)
from vuskit.studies.timing.study import TimingStudy, timing_study

__all__ = [
    "Case",
    "Setting",
    "TimingResult",
    "TimingStudy",
    "synthetic_cases",
    "timing_study",
]

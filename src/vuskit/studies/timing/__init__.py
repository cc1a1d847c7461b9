"""Execution time and memory of the measures: cases, contestants, samples, study and tables."""

from __future__ import annotations

from vuskit.studies.timing.cases import (
    PARAMETERS,
    Case,
    Parameter,
    Setting,
    is_generated,
    real_cases,
    scored_cases,
    settings_of,
    sweep,
    synthetic_cases,
)
from vuskit.studies.timing.contestants import CONTESTANTS, Contestant
from vuskit.studies.timing.results import (
    PAPER_RANGES,
    Exponent,
    JointSlopes,
    Ratio,
    Slope,
    Table,
    TimingResult,
    complexity_table,
    exponents,
    joint_slopes,
    parameter_table,
    ratio_table,
    rows_of_sweep,
    single_slopes,
    speed_ratios,
)
from vuskit.studies.timing.sampling import CLOCKS
from vuskit.studies.timing.storage import Sample, TimingStore
from vuskit.studies.timing.study import Job, Progress, TimingStudy, timing_study

__all__ = [
    "CLOCKS",
    "CONTESTANTS",
    "PAPER_RANGES",
    "PARAMETERS",
    "Case",
    "Contestant",
    "Exponent",
    "Job",
    "JointSlopes",
    "Parameter",
    "Progress",
    "Ratio",
    "Sample",
    "Setting",
    "Slope",
    "Table",
    "TimingResult",
    "TimingStore",
    "TimingStudy",
    "complexity_table",
    "exponents",
    "is_generated",
    "joint_slopes",
    "parameter_table",
    "ratio_table",
    "real_cases",
    "rows_of_sweep",
    "scored_cases",
    "settings_of",
    "single_slopes",
    "speed_ratios",
    "sweep",
    "synthetic_cases",
    "timing_study",
]

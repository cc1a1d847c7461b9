"""Reproduce the VUS paper: every figure and table, and a check of its findings."""

from __future__ import annotations

# Importing these modules registers the exhibits, in the order of the paper.
from vuskit.paper import concept_figures as _concept_figures  # noqa: F401 - registers
from vuskit.paper import statements as _statements  # noqa: F401 - registers
from vuskit.paper import study_figures as _study_figures  # noqa: F401 - registers
from vuskit.paper import tables as _tables  # noqa: F401 - registers
from vuskit.paper import timing_exhibits as _timing_exhibits  # noqa: F401 - registers
from vuskit.paper import timing_statements as _timing_statements  # noqa: F401 - registers
from vuskit.paper.exhibits import (
    list_exhibits,
)
from vuskit.paper.findings import (
    list_statements,
)
from vuskit.paper.progress import PaperProgress
from vuskit.paper.reproduce import PaperResult, check_readings, reproduce

__all__ = [
    "PaperProgress",
    "PaperResult",
    "check_readings",
    "list_exhibits",
    "list_statements",
    "reproduce",
]

"""Reproduce the VUS paper: every figure and table, and a check of its findings."""

from __future__ import annotations

# Importing these modules registers the exhibits, in the order of the paper.
from vuskit.paper import concept_figures as _concept_figures  # noqa: F401 - registers
from vuskit.paper import study_figures as _study_figures  # noqa: F401 - registers
from vuskit.paper import tables as _tables  # noqa: F401 - registers
from vuskit.paper import timing_exhibits as _timing_exhibits  # noqa: F401 - registers
from vuskit.paper.examples import Choice
from vuskit.paper.exhibits import Built, Exhibit, Part, exhibit, list_exhibits, select_exhibits
from vuskit.paper.files import MadeExhibit
from vuskit.paper.findings import (
    Finding,
    FindingTable,
    Statement,
    Verdict,
    check_statements,
    list_statements,
    statement,
)
from vuskit.paper.material import Material
from vuskit.paper.progress import PaperProgress
from vuskit.paper.reproduce import PaperResult, reproduce

__all__ = [
    "Built",
    "Choice",
    "Exhibit",
    "Finding",
    "FindingTable",
    "MadeExhibit",
    "Material",
    "PaperProgress",
    "PaperResult",
    "Part",
    "Statement",
    "Verdict",
    "check_statements",
    "exhibit",
    "list_exhibits",
    "list_statements",
    "reproduce",
    "select_exhibits",
    "statement",
]

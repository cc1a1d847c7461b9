"""The pages: of a series, of a run, of studies."""

from __future__ import annotations

from collections.abc import Sequence

from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.document import page_document
from vuskit.report.page.series_section import series_section

__all__ = ["page_html", "studies_page_html"]


def page_html(report: EvaluationReport) -> str:
    """Write the page of one evaluated series.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.
    """
    return page_document(report.name, [series_section(report)])


def studies_page_html(studies: Sequence[object]) -> str:
    """Write the page of some studies.

    Parameters
    ----------
    studies : sequence
        Results of studies, at least one.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.
    """
    from vuskit.report.page.study_sections import study_sections

    return page_document("Studies", study_sections(studies))

"""The pages: of a series, of a run, of studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.document import page_document
from vuskit.report.page.section import Section
from vuskit.report.page.series_section import series_section

if TYPE_CHECKING:
    from vuskit.report.page.run_sections import Progress
    from vuskit.report.run import RunReport

__all__ = ["page_html", "run_page_html", "studies_page_html"]


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


def run_page_html(
    report: RunReport,
    *,
    studies: Sequence[object] = (),
    series: Sequence[str] = (),
    progress: Progress | None = None,
) -> str:
    """Write the page of a benchmark run.

    It holds the leaderboard, critical differences, ranks, times, failures, all values, and the
    drawings of as many series as fit into a page that can be sent.

    Parameters
    ----------
    report : RunReport
        The run, see `RunReport.read`.
    studies : sequence, optional
        Results of studies, as further sections.
    series : sequence of str, optional
        Series whose drawings come first, by data set and name.
    progress : callable, optional
        Called with the steps that are done and how many there are at most.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.

    Raises
    ------
    InvalidInputError
        If a series is not in the run.
    """
    # Runs and studies bring pandas along, which the page of a series does without.
    from vuskit.report.page.run_sections import run_sections

    others = _study_sections(studies) if studies else []
    own = run_sections(report, series=series, others=others, progress=progress)
    return page_document(report.name, own)


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
    return page_document("Studies", _study_sections(studies))


def _study_sections(studies: Sequence[object]) -> list[Section]:
    from vuskit.report.page.study_sections import study_sections

    return study_sections(studies)

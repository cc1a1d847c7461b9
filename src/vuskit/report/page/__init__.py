"""Self-contained HTML pages of a series, a run or studies; folders with results of studies."""

from __future__ import annotations

from vuskit.report.page.run import run_page_html
from vuskit.report.page.series import series_page_html
from vuskit.report.page.studies import studies_page_html, write_study
from vuskit.report.run_report import RunReport

__all__ = [
    "RunReport",
    "run_page_html",
    "series_page_html",
    "studies_page_html",
    "write_study",
]

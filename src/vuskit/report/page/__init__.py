"""Pages: one self-contained HTML file of a series, of a run, or of studies."""

from __future__ import annotations

from vuskit.report.page.run import RunReport, run_page_html
from vuskit.report.page.series import page_html
from vuskit.report.page.studies import studies_page_html

__all__ = ["RunReport", "page_html", "run_page_html", "studies_page_html"]

"""One self-contained HTML file to look at and to send."""

from __future__ import annotations

from vuskit.report.page.page import page_html, run_page_html, studies_page_html

__all__ = ["page_html", "run_page_html", "studies_page_html"]

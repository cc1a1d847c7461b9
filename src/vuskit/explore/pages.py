"""The page of the server: the views of a run page, with data that stays current."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from vuskit.explore.content import Content, values_version
from vuskit.report.page.document import Section, fill, page_document, part
from vuskit.report.page.run import RUN_ASSETS, view_sections
from vuskit.report.page.run_data import run_data
from vuskit.report.run_report import RunReport

_ASSETS = (*RUN_ASSETS, "explore.css", "explore.js")


def explore_data(report: RunReport) -> dict[str, Any]:
    """Return the data of a run page, with the identities of the series and a version."""
    data = run_data(report, {})
    data["series"]["id"] = [one.hash for one in report.series]
    data["embedded"], data["not_drawn"] = {}, {}
    return {**data, "version": values_version(report.status)}


def explore_page(content: Content, studies: Sequence[Section] = ()) -> str:
    """Write the page of the server."""
    report = content.report()
    overview = Section(
        "overview",
        "explore-overview",
        "Overview",
        fill(part("explore_overview.html"), {"name": html.escape(content.title)}),
        {},
        _ASSETS,
    )
    series = Section(
        "series",
        "explore-series",
        "Series",
        part("explore_series.html"),
        {},
        _ASSETS,
        parent="table",
    )
    views = view_sections(report, explore_data(report), series, live=True)
    return page_document(content.title, [overview, *views, *studies], served=True)

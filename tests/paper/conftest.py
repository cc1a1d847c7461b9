"""The browser, for the page of a reproduction."""

from __future__ import annotations

from report.conftest import browser, open_page

__all__ = ["browser", "open_page"]

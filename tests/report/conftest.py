"""The browser that the tests of the pages share."""

from __future__ import annotations

import pytest
from report.browser import Opener, find_chromium


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let one worker run all tests that open a page."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="module")
def browser():
    """Chromium, while the tests of one file run.

    Not longer: playwright holds an event loop, which would be in the way of the tests that follow.
    """
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no chromium is installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """``open_page(html_or_path, *, width=1280, height=900, dark=False)`` gives a playwright page.

    The test fails if the page wrote an error or a warning to its console, let an exception
    escape, or asked for anything but its own file.
    """
    opener = Opener(browser, tmp_path)
    yield opener
    assert opener.close() == []


@pytest.fixture(scope="module")
def interpreted():
    """Small cases need no compiled sweep."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VUSKIT_NUMBA", "0")
        yield

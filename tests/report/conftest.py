"""The browser that the tests of the pages share."""

from __future__ import annotations

import pytest
from report.browser import Opener, running_chromium


@pytest.fixture(scope="module")
def browser():
    """Chromium, while the tests of one file run.

    Not longer: playwright holds an event loop, which would be in the way of the tests that follow.
    """
    with running_chromium() as running:
        if running is None:
            pytest.skip("chromium or playwright is not installed")
        yield running


@pytest.fixture
def open_page(browser, tmp_path):
    """``open_page(html_or_path, *, width=1280, height=900, dark=False)`` gives a playwright page.

    The test fails if the page wrote an error or a warning to its console, let an exception
    escape, or asked for anything but its own file.
    """
    opener = Opener(browser, tmp_path)
    yield opener
    opener.close()
    assert opener.complaints() == []

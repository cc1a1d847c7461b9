"""One run, and one server of it, that the tests of the server share."""

from __future__ import annotations

import pytest
from explore.serving import serving
from report.conftest import browser, open_page
from report.runs import run_inline, write_plan, write_series

from vuskit.explore import open_content

__all__ = ["browser", "open_page"]

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explored")
    write_series(folder)
    return run_inline(write_plan(folder))


@pytest.fixture(scope="module")
def ask(run_folder):
    with serving(open_content(run_folder)) as client:
        yield client

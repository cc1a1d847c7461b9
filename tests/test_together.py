"""Tests that belong together are given to one process."""

from __future__ import annotations

import pytest
from together import group_of, shares_results


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/report/page/test_run_browser.py::test_filters", "browser"),
        ("tests/report/page/test_demo_browser.py::test_phone", "browser"),
        ("tests/report/page/test_studies_browser.py::test_items_are_drawn_evenly", "browser"),
        ("tests/explore/test_pages.py::test_names_run_nothing", "explore"),
        ("tests/explore/test_content.py::test_lines", "explore"),
        ("tests/docs/test_site.py::test_text_can_be_read[index-dark]", "site"),
        ("tests/bench/test_runner.py::test_every_misdeed[local]", "executors"),
        ("tests/engine/test_executors.py::test_dask_starts_a_local_cluster", "executors"),
        ("tests/engine/test_run.py::test_progress", "executors"),
        ("tests/cli/test_paper.py::test_a_dask_cluster_gives_the_same_numbers", "executors"),
        ("tests/detectors/test_contract.py::test_constant_series[mp-0.0]", "stumpy"),
        ("tests/detectors/test_methods.py::test_norma_finds_what_is_rare", "stumpy"),
        ("src/vuskit/detectors/norma.py::vuskit.detectors.norma.NormA", "stumpy"),
    ],
)
def test_groups(nodeid, group):
    assert group_of(nodeid) == group


def test_the_tests_of_a_file_that_share_results_are_a_group():
    assert (
        group_of("tests/report/page/test_run.py::test_nowhere") == "tests/report/page/test_run.py"
    )
    assert shares_results("tests/test_layout.py")
    assert not shares_results("tests/detectors/test_base.py")
    assert not shares_results("README.md")


@pytest.mark.parametrize(
    "nodeid",
    [
        "tests/detectors/test_contract.py::test_constant_series[lof-0.0]",
        "tests/detectors/test_base.py::test_compared",
        "src/vuskit/bench/jobs.py::vuskit.bench.jobs.JobAction",
    ],
)
def test_all_others_are_on_their_own(nodeid):
    assert group_of(nodeid) == nodeid


def test_the_files_are_there(request):
    root = request.config.rootpath
    for name in (
        "report/page/test_studies_browser",
        "docs/test_site",
        "explore/test_pages",
        "bench/test_runner",
        "engine/test_executors",
        "engine/test_run",
    ):
        assert (root / "tests" / f"{name}.py").is_file()
    assert list((root / "tests" / "report" / "page").glob("test_*browser*.py"))


def test_what_is_shared_is_used_in_these_groups_only(request):
    for item in request.session.items:
        used = getattr(item, "fixturenames", ())
        group = group_of(item.nodeid)
        assert "open_page" not in used or group in ("browser", "explore"), item.nodeid
        assert "cluster" not in used or group == "executors", item.nodeid

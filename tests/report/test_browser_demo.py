"""A page as large as the demo's: it is drawn, and every part of it is reached."""

from __future__ import annotations

import pytest
from report.browser import blank_canvases, low_contrast, scrolls_sideways, tab_stops
from report.demo_page import DETECTORS, SERIES, demo_page

from vuskit.datasets.synthetic import demo_series


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VUSKIT_NUMBA", "0")
        return demo_page(tmp_path_factory.mktemp("demo"))


def sections(page):
    return page.locator("#sections a").all_inner_texts()


def test_one_file_of_a_size_to_send(path):
    assert path.stat().st_size < 6_000_000


def test_everything_is_reached_from_the_first_view(open_page, path):
    page = open_page(path)
    assert {*DETECTORS} <= {*page.locator("#board tbody tr th").all_inner_texts()}
    assert sections(page) == ["Leaderboard", "Series", "Robustness", "Scenarios"]
    for name in sections(page):
        page.locator("#sections").get_by_role("link", name=name).click()
        page.locator(f'#sections a[aria-current="page"]:text-is("{name}")').wait_for()
        assert blank_canvases(page) == []
        assert page.locator("#views table, #views svg, #views canvas").count() > 0


def test_every_series_is_drawn(open_page, path):
    page = open_page(path)
    page.get_by_role("link", name="Series", exact=True).click()
    titles = {f"{one.dataset}/{one.name}" for one in demo_series()}
    assert {*page.locator("#table tbody tr th").all_inner_texts()} == titles
    page.get_by_role("link", name=SERIES).click()
    for _ in tuple(titles):
        page.wait_for_selector("#lines canvas")
        titles.discard(page.locator("h1").inner_text())
        assert page.locator("#lines canvas").count() == len(DETECTORS) + 2
        following = page.get_by_role("link", name="next →")
        if not following.count():
            break
        following.click()
    assert titles == set()  # the first one by name leads to all others
    assert blank_canvases(page) == []


@pytest.mark.parametrize("dark", [False, True])
def test_all_views_can_be_read(open_page, path, dark):
    page = open_page(path, dark=dark)
    for name in sections(page):
        page.locator("#sections").get_by_role("link", name=name).click()
        assert low_contrast(page) == []


def test_phone(open_page, path):
    page = open_page(path, width=390, height=844)
    for name in sections(page):
        page.locator("#sections").get_by_role("link", name=name).click()
        assert not scrolls_sideways(page), name
        assert blank_canvases(page) == []


def test_keyboard_shows_where_it_is(open_page, path):
    page = open_page(path)
    stops = tab_stops(page)
    assert len(stops) > 10
    assert [stop["name"] for stop in stops if not stop["visible"]] == []

"""A page as large as the demo's: it is drawn, and every part of it is reached."""

from __future__ import annotations

import pytest
from report.browser import (
    blank_canvases,
    expect,
    follow,
    low_contrast,
    scrolls_sideways,
    tab_stops,
)
from report.demo_page import DETECTORS, SERIES, demo_page

from vuskit.datasets.synthetic.demo import demo_series


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return demo_page(tmp_path_factory.mktemp("demo"))


def each_section(page):
    """Names of the sections, each while it is shown."""
    for link in page.locator("#sections a").all():
        follow(page, link)
        yield link.inner_text()


def test_one_file_of_a_size_to_send(path):
    assert path.stat().st_size < 6_000_000


def test_everything_is_reached_from_the_first_view(open_page, path):
    page = open_page(path)
    assert {*DETECTORS} <= {*page.locator("#board tbody tr th").all_inner_texts()}
    shown = []
    for name in each_section(page):
        expect(page.locator('#sections a[aria-current="page"]')).to_have_text(name)
        assert blank_canvases(page) == []
        assert page.locator("#views table, #views svg, #views canvas").count() > 0
        shown.append(name)
    assert shown == ["Leaderboard", "Detectors", "Series", "Robustness", "Scenarios"]


def test_every_series_is_drawn(open_page, path):
    page = open_page(path)
    follow(page, page.get_by_role("link", name="Series", exact=True))
    titles = {f"{one.dataset}/{one.name}" for one in demo_series()}
    assert {*page.locator("#table tbody tr th").all_inner_texts()} == titles
    follow(page, page.get_by_role("link", name=SERIES))
    for _ in tuple(titles):
        titles.discard(page.locator("h1").inner_text())
        assert page.locator("#lines .track").count() == len(DETECTORS) + 2
        following = page.get_by_role("link", name="next →")
        if not following.count():
            break
        follow(page, following)
    assert titles == set()  # the first one by name leads to all others
    assert blank_canvases(page) == []


@pytest.mark.parametrize("dark", [False, True])
def test_all_views_can_be_read(open_page, path, dark):
    page = open_page(path, dark=dark)
    for name in each_section(page):
        assert low_contrast(page) == [], name


def test_phone(open_page, path):
    page = open_page(path, width=390, height=844)
    for name in each_section(page):
        assert not scrolls_sideways(page), name
        assert blank_canvases(page) == [], name


def test_keyboard_shows_where_it_is(open_page, path):
    page = open_page(path)
    stops = tab_stops(page)
    assert len(stops) > 10
    assert [stop["name"] for stop in stops if not stop["visible"]] == []

"""``vuskit page``: the page without data."""

from __future__ import annotations

from vuskit.report.page.series import empty_page_html


def test_the_empty_page_is_written(command, tmp_path):
    outcome = command("page", "--empty", "try.html")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "page: try.html\n"
    assert (tmp_path / "try.html").read_text(encoding="utf-8") == empty_page_html()


def test_a_page_needs_a_place(command):
    outcome = command("page", "--empty", "missing/try.html")
    assert outcome.code != 0
    assert "missing" in outcome.err
    assert command("page").code != 0

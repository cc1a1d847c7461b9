"""The page of a reproduction in a browser, wide and narrow."""

from __future__ import annotations

import pytest
from paper import made_results as made
from report.browser import await_section, expect, low_contrast, scrolls_sideways

from vuskit.paper.exhibits import select_exhibits
from vuskit.paper.files import MadeExhibit, make_exhibit
from vuskit.paper.findings import Verdict, check_statements
from vuskit.paper.material import Material
from vuskit.paper.page import paper_page_html
from vuskit.paper.settings_text import describe_settings

LONG = "a_series_with_a_very_long_name_that_has_no_place_to_break_" * 3


@pytest.fixture(scope="module")
def material():
    results = {
        "robustness": made.robustness({}),
        "separability": made.separability({}),
        "scenarios": made.scenarios(),
        "timing": made.timing(),
    }
    return Material(results=results)


@pytest.fixture(scope="module")
def page(tmp_path_factory, material):
    """Pictures, drawings, a table and an exhibit that could not be made."""
    folder = tmp_path_factory.mktemp("page")
    chosen = select_exhibits("fig-09,fig-11,fig-12,fig-17,table-1,table-2,table-4,table-5")
    shown = [make_exhibit(one, material, folder, results={}) for one in chosen]
    assert [one.reason for one in shown if not one.made] == []
    (missing,) = select_exhibits("fig-01")
    shown.append(MadeExhibit(missing, "", reason=f"{LONG} <b>is</b> too short"))
    findings = check_statements(material)
    return paper_page_html(
        "The <paper>",
        shown,
        findings,
        about=f"About {LONG}.",
        notes=[f"lag: <b>{LONG}</b> failed"],
        settings=describe_settings(material.results),
    )


@pytest.mark.parametrize("width", [1366, 390])
def test_the_page_fits_and_draws(open_page, page, material, width):
    shown = open_page(page, width=width)
    await_section(shown, "paper")
    assert not scrolls_sideways(shown)
    expect(shown.locator("#fig-11 svg").first).to_be_visible()
    expect(shown.locator("#table-1 table")).to_be_visible()
    expect(shown.locator("#fig-01 .reason")).to_contain_text("<b>is</b> too short")
    assert shown.locator("#findings tbody tr").count() == 31
    unchecked = check_statements(material).count(Verdict.NOT_CHECKED)
    assert shown.locator("#findings td.not-checked").count() == unchecked > 0
    expect(shown.locator("#notes li")).to_contain_text("<b>a_series")
    assert low_contrast(shown) == []


def test_the_contents_lead_to_the_exhibits(open_page, page):
    shown = open_page(page, width=1366)
    await_section(shown, "paper")
    shown.get_by_role("link", name="Table 1: Properties of the measures").click()
    heading = shown.locator("#h-table-1")
    expect(heading).to_be_in_viewport()
    covered = shown.evaluate(
        """() => {
            const { x, y } = document.querySelector("#h-table-1").getBoundingClientRect();
            const top = document.elementFromPoint(x + 2, y + 2);
            return top.closest(".legend") !== null;
        }"""
    )
    assert not covered


def test_settings_are_collapsed_at_the_end(open_page, page):
    shown = open_page(page, width=1366)
    await_section(shown, "paper")
    headings = shown.locator("h2, summary").all_inner_texts()
    assert headings[0] == "Findings"
    assert headings[-1] == "Settings"
    text = shown.locator("#settings li").first
    expect(text).not_to_be_visible()
    shown.get_by_role("link", name="Settings").click()
    shown.locator("#settings summary").click()
    expect(text).to_be_visible()
    assert not scrolls_sideways(shown)
    assert "volume_factor" not in shown.locator("#settings").inner_text()

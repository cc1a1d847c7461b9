"""The page of a comparison: verdict, tables, and the figures that its script draws."""

from __future__ import annotations

import html
import json
import re

from report.browser import expect, scrolls_sideways
from studies.tables import random_table

from vuskit.report.page.comparison import comparison_page_html
from vuskit.report.verdict import verdict_of
from vuskit.statistics.comparison import compare_columns

EVIL = "<img src=x onerror=alert(1)>"


def compared():
    table = random_table(0, n=30, k=4).rename(columns=lambda name: f"{EVIL}{name}")
    return compare_columns(table, title="VUS-PR", n_resamples=20)


def test_page_has_the_verdict_and_the_data_of_the_displays():
    found = compared()
    page = comparison_page_html(found, [found])
    assert all(html.escape(text) in page for text in verdict_of(found).sentences.values())
    assert found.to_html() in page
    text = re.search(r'id="data-comparison">(.*?)</script>', page, re.DOTALL)[1]
    by_name = {one["name"]: one for one in json.loads(text)["figures"]}
    assert by_name["pairs"]["cells"] == found.matrix().to_dict()["cells"]
    assert by_name["forest"]["panels"] == found.forest().to_dict()["panels"]


def test_matrix_in_the_browser(open_page):
    found = compared()
    page = open_page(comparison_page_html(found, [found]), width=400)
    cells = [cell for line in found.matrix().data()["cells"] for cell in line if cell]
    shown = page.locator("#figure-pairs tbody td:not(.own)")
    expect(shown).to_have_count(len(cells))
    bold = page.locator("#figure-pairs td.significant")
    expect(bold).to_have_count(sum(cell["significant"] for cell in cells))
    assert 0 < sum(cell["significant"] for cell in cells) < len(cells)
    first = cells[0]
    expect(shown.first).to_contain_text(f"{first['wins']}/{first['ties']}/{first['losses']}")
    expect(page.locator("#figure-forest circle")).to_have_count(4)
    assert not scrolls_sideways(page)

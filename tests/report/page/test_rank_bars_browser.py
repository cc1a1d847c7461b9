"""Bars of the diagrams of mean ranks in a real browser: they lie over no pair that differs."""

from __future__ import annotations

import pytest
from studies.ranked import ALPHA, crossing_table

from vuskit.report.page import studies_page_html
from vuskit.studies import compare, run_study

# Bars by the places in `ranks` that they cover, with their lines.
COVERED = """([groups, ranks]) => charts.rankBars(groups, ranks).map(({ from, to, line }) => ({
  line, from, to, places: ranks.flatMap((rank, k) => rank >= from && rank <= to ? [k] : []) }))"""
# The diagram of the studies, drawn on so much room: names whose dots each bar covers. A bar is a
# path from one place to another, either across or down.
DRAWN = """([items, groups, width]) => {
  const holder = document.body.appendChild(document.createElement("div"));
  holder.style.width = `${width}px`;
  charts.ranks(charts.plot(holder, "ranks"), items, groups);
  const dots = items.map(({ name, color }) => {
    const dot = holder.querySelector(`circle[fill="${color}"]`);
    return { name, x: dot.cx.baseVal.value, y: dot.cy.baseVal.value };
  });
  const covered = [...holder.querySelectorAll("path.joined")].map((bar) => {
    const [, x, y, way, end] = bar.getAttribute("d").match(/^M(\\S+) ([^HV]+)([HV])(.+)$/);
    const [from, axis] = way === "H" ? [x, "x"] : [y, "y"];
    const under = (dot) => dot[axis] >= Number(from) && dot[axis] <= Number(end);
    return dots.filter(under).map(({ name }) => name);
  });
  holder.remove();
  return covered;
}"""


@pytest.fixture(scope="module")
def comparison():
    return compare(crossing_table(), alpha=ALPHA)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "studies.html"
    place.write_text(studies_page_html([run_study("scenarios")]), encoding="utf-8")
    return place


@pytest.fixture
def items(comparison):
    return [
        {
            "name": row.name,
            "title": row.name,
            "color": f"#0000{place:02x}",
            "rank": row.mean_rank,
            "lower": row.lower,
            "upper": row.upper,
        }
        for place, row in enumerate(comparison.to_frame().itertuples(index=False))
    ]


def test_bars_cover_their_groups_only(open_page, path, comparison):
    ranks = comparison.summary["mean_rank"]
    groups = [[ranks.index.get_loc(name) for name in group] for group in comparison.groups]
    bars = open_page(path).evaluate(COVERED, [groups, ranks.to_list()])
    assert [bar["places"] for bar in bars] == groups
    for line in {bar["line"] for bar in bars}:
        ends = [end for bar in bars if bar["line"] == line for end in (bar["from"], bar["to"])]
        assert ends == sorted(ends)
    equal = open_page(path).evaluate(COVERED, [[[0, 1, 2]], [2.0, 2.0, 2.0]])
    assert [bar["places"] for bar in equal] == [[0, 1, 2]]
    assert equal[0]["from"] < 2 < equal[0]["to"]


@pytest.mark.parametrize("width", [1000, 400])
def test_diagram_of_a_study_draws_the_groups(open_page, path, comparison, items, width):
    page = open_page(path)
    groups = list(map(list, comparison.groups))
    drawn = page.evaluate(DRAWN, [items, groups, width])
    assert sorted(map(sorted, drawn)) == sorted(map(sorted, groups))


@pytest.mark.parametrize("width", [1000, 400])
def test_hidden_names_leave_no_bar_within_another(open_page, path, comparison, items, width):
    # Without the first ones nothing is left of their group that the next one does not hold.
    hidden = set(comparison.groups[0]) - set(comparison.groups[1])
    shown = [item for item in items if item["name"] not in hidden]
    page = open_page(path)
    drawn = page.evaluate(DRAWN, [shown, list(map(list, comparison.groups)), width])
    assert sorted(map(sorted, drawn)) == sorted(map(sorted, comparison.groups[1:]))

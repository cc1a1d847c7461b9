"""The page of a comparison: verdict, means, diagram and all pairs."""

from __future__ import annotations

from collections.abc import Sequence

from vuskit._util.tables import TableForms
from vuskit.figures import ForestDisplay
from vuskit.report.page.document import Section, answers, element, page_document, wrapped
from vuskit.report.page.studies import STUDY_ASSETS, figure_data, figure_place
from vuskit.report.verdict import Verdict, verdict_of
from vuskit.statistics.comparison import TableComparison


def comparison_page_html(
    comparison: TableComparison,
    tables: Sequence[TableForms],
    *,
    verdict: Verdict | None = None,
    forest: ForestDisplay | None = None,
    title: str = "",
) -> str:
    """Return the page of a comparison."""
    heading = title or f"Comparison by {comparison.title}"
    displays = {
        "forest": forest or comparison.forest(),
        "ranks": comparison.figure(),
        "pairs": comparison.matrix(),
    }
    figures = [{"name": name, **figure_data(display)} for name, display in displays.items()]
    verdict = verdict or verdict_of(comparison)
    means, *others = (
        figure_place(f"figure-{one['name']}", one["title"], one["caption"]) for one in figures
    )
    parts = [
        f"<header>\n{element('h1', heading)}\n</header>",
        f'<div class="answers" aria-label="Verdict">{answers(verdict.answers)}</div>',
        '<div class="legend" hidden></div>',
        means,
        *(f"<section>{wrapped(table.to_html(), 'Table')}</section>" for table in tables),
        *others,
    ]
    data = {
        "measures": [],
        "families": {},
        "figures": figures,
        "tables": [],
        "verdict": verdict.to_dict(),
    }
    section = Section("comparison", "study", heading, "\n".join(parts), data, STUDY_ASSETS)
    return page_document(heading, [section])

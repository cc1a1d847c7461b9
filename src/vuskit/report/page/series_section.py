"""The section of one series: its tables as markup, its drawings as data."""

from __future__ import annotations

import html

from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.document import fill, part
from vuskit.report.page.drawing_data import WHOLE, Detail, drawing_data
from vuskit.report.page.markup import element, number_cell, table, wrapped
from vuskit.report.page.section import Section

__all__ = ["SERIES_ASSETS", "series_section"]

SERIES_ASSETS = ("series_lines.js", "series.js")

_REACH = {"both": "to each side of", "before": "to the time before", "after": "to the time after"}
# The signs are minuses, as in print, not hyphens.
_ADJUSTED = "Adjusted: (value − chance) / (1 − chance). "  # noqa: RUF001
_LOWER = "↓: lower is better. "


def series_section(
    report: EvaluationReport,
    *,
    key: str = "series",
    parent: str | None = None,
    detail: Detail = WHOLE,
    note: str = "",
) -> Section:
    """Make the section of one evaluated series.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.
    key, parent : str
        Of the section, see `Section`.
    detail : Detail
        How finely lines and surfaces are kept.
    note : str
        A sentence below the title.
    """
    pieces = {
        "name": html.escape(report.name),
        "summary": html.escape(_summary(report)),
        "settings": html.escape(_settings(report)),
        "reach": _REACH[report.table.side],
        "note": element("p", note, class_="quiet") if note else "",
        "legend": _legend(report),
        "measures": _measures_table(report),
        "events": _events_table(report, detail.events),
    }
    return Section(
        key=key,
        view="series",
        title=report.name,
        html=fill(part("series.html"), pieces),
        data=drawing_data(report, detail),
        assets=SERIES_ASSETS,
        parent=parent,
    )


def _legend(report: EvaluationReport) -> str:
    lower = any(not measure.higher_is_better for measure in report.measures)
    return ("" if report.chance is None else _ADJUSTED) + (_LOWER if lower else "")


def _summary(report: EvaluationReport) -> str:
    n, anomalous = report.labels.size, int(report.labels.sum())
    count = len(report.bounds)
    return (
        f"{n:,} points, {count:,} {'anomaly' if count == 1 else 'anomalies'} "
        f"({anomalous:,} points, {anomalous / n:.2%}), "
        f"{len(report.scores)} {'score' if len(report.scores) == 1 else 'scores'}"
    )


def _settings(report: EvaluationReport) -> str:
    text = f"{report.table.settings}; buffer by {report.buffer.strategy}: {report.buffer.reason}"
    if report.chance is None:
        return text
    return f"{text}; chance: mean of {report.chance.draws} random scores"


def _measures_table(report: EvaluationReport) -> str:
    chance, adjusted = report.chance, report.adjusted
    header = ["measure", *report.table]
    if chance is not None and adjusted is not None:
        header += ["chance", *(f"{name}, adjusted" for name in report.table)]
    rows = []
    for measure in report.measures:
        best = report.best(measure)
        sign = "" if measure.higher_is_better else " ↓"
        cells = [element("th", f"{measure.title}{sign}", scope="row", data_value=measure.title)]
        cells += [
            number_cell(values[measure.name], **({"class_": "best"} if name in best else {}))
            for name, values in report.table.items()
        ]
        if chance is not None and adjusted is not None:
            cells.append(number_cell(chance.mean[measure.name]))
            cells += [number_cell(adjusted[name][measure.name]) for name in report.table]
        rows.append("".join(cells))
    return table("measures", f"Measures of {report.name}", header, rows)


def _events_table(report: EvaluationReport, most: int) -> str:
    shown = report.bounds[:most]
    tables = report.events
    header = ["anomaly", "points", "length"]
    for name in tables:
        header += [name, f"{name}: peak rank"]
    rows = []
    for i, (start, stop) in enumerate(shown):
        go = f'<button type="button" class="go" data-event="{i}">{i + 1}</button>'
        cells = [
            f'<th scope="row" data-value="{i + 1}">{go}</th>',
            element("td", f"{start:,} to {stop - 1:,}", data_value=f"{start}-{stop - 1}"),
            element("td", f"{stop - start:,}", data_value=str(stop - start)),
        ]
        for found_by in tables.values():
            found = bool(found_by.found[i])
            text = f"found, {found_by.delay[i]:+.0f}" if found else "missed"
            cells.append(element("td", text, class_="found" if found else "missed"))
            rank = int(found_by.peak_rank[i])
            cells.append(element("td", f"{rank:,}", data_value=str(rank)))
        rows.append("".join(cells))
    caption = "Points from the start of each anomaly to its alarm; rank of its highest score"
    if len(shown) < len(report.bounds):
        caption += f" (the first {len(shown)} of {len(report.bounds):,})"
    counts = "; ".join(
        f"{name} finds {int(one.found.sum()):,} of {len(one):,} at {one.threshold:.4g}"
        for name, one in tables.items()
    )
    return element("p", counts) + wrapped(table("events", caption, header, rows), "Anomalies")

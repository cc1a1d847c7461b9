"""The section of one series: its tables as markup, its drawings as data."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.document import fill, part
from vuskit.report.page.drawing_data import WHOLE, Detail, drawing_data
from vuskit.report.page.section import Section

__all__ = ["series_section"]

_MOST_EVENTS = 300


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
        "note": _element("p", note, class_="quiet") if note else "",
        "measures": _measures_table(report),
        "events": _events_table(report),
    }
    return Section(
        key=key,
        view="series",
        title=report.name,
        html=fill(part("series.html"), pieces),
        data=drawing_data(report, detail),
        assets=("series.js",),
        parent=parent,
    )


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


def _element(tag: str, text: str, **attributes: str) -> str:
    listed = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{listed}>{html.escape(text)}</{tag}>"


def _number(value: float, **attributes: str) -> str:
    if math.isnan(value):
        return _element("td", "-", data_value="")
    return _element("td", f"{value:.3f}", data_value=repr(value), **attributes)


def _table(identity: str, caption: str, header: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(_element("th", cell, scope="col") for cell in header)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table id="{identity}"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    )


def _measures_table(report: EvaluationReport) -> str:
    chance, adjusted = report.chance, report.adjusted
    header = ["measure", *report.table]
    if chance is not None and adjusted is not None:
        header += ["chance", *(f"{name}, adjusted" for name in report.table)]
    rows = []
    for measure in report.measures:
        best = report.best(measure)
        cells = [_element("th", measure.title, scope="row")]
        cells += [
            _number(values[measure.name], **({"class_": "best"} if name in best else {}))
            for name, values in report.table.items()
        ]
        if chance is not None and adjusted is not None:
            cells.append(_number(chance.mean[measure.name]))
            cells += [_number(adjusted[name][measure.name]) for name in report.table]
        rows.append("".join(cells))
    return _table("measures", f"Measures of {report.name}", header, rows)


def _events_table(report: EvaluationReport) -> str:
    shown = report.bounds[:_MOST_EVENTS]
    tables = report.events
    header = ["anomaly", "points", "length"]
    for name in tables:
        header += [name, f"{name}: rank of its peak"]
    rows = []
    for i, (start, stop) in enumerate(shown):
        go = f'<button type="button" class="go" data-event="{i}">{i + 1}</button>'
        cells = [
            f'<th scope="row" data-value="{i + 1}">{go}</th>',
            _element("td", f"{start:,} to {stop - 1:,}", data_value=f"{start}-{stop - 1}"),
            _element("td", f"{stop - start:,}", data_value=str(stop - start)),
        ]
        for table in tables.values():
            found = bool(table.found[i])
            text = f"found, {table.delay[i]:+.0f}" if found else "missed"
            cells.append(_element("td", text, class_="found" if found else "missed"))
            rank = int(table.peak_rank[i])
            cells.append(_element("td", f"{rank:,}", data_value=str(rank)))
        rows.append("".join(cells))
    caption = "Anomalies, and the points from the start of each to its alarm"
    if len(shown) < len(report.bounds):
        caption += f" (the first {len(shown)} of {len(report.bounds):,})"
    counts = "; ".join(
        f"{name} finds {int(table.found.sum()):,} of {len(table):,} at {table.threshold:.4g}"
        for name, table in tables.items()
    )
    return _element("p", counts) + _wrapped(_table("events", caption, header, rows))


def _wrapped(table: str) -> str:
    return f'<div class="wide" tabindex="0" role="region" aria-label="Anomalies">{table}</div>'

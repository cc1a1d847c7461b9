"""Put the page together: template, style, script, tables and data in one file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from vuskit import __version__
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.drawing_data import drawing_data

__all__ = ["page_html", "safe_json"]

_MOST_EVENTS = 300


def page_html(report: EvaluationReport) -> str:
    """Write the page of one evaluated series.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.
    """
    script = _part("page.js")
    pieces = {
        "title": html.escape(report.name),
        "style": _part("page.css"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "data": safe_json(drawing_data(report)),
        "summary": _summary(report),
        "settings": html.escape(_settings(report)),
        "measures": _measures_table(report),
        "events": _events_table(report),
        "version": html.escape(__version__),
    }
    # One pass: what is put in is not searched for further markers.
    return re.sub(r"\[\[(\w+)\]\]", lambda marker: pieces[marker[1]], _part("page.html"))


def _part(name: str) -> str:
    return (resources.files("vuskit.report.page") / name).read_text(encoding="utf-8")


def safe_json(data: Any) -> str:
    r"""JSON that can stand in a script element: no text in it can end the element.

    Examples
    --------
    >>> safe_json("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


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

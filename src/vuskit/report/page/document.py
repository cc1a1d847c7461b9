"""Sections, and the HTML document that combines them with styles, scripts and data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from vuskit import __version__

CHART_ASSETS = ("charts.css", "charts.js")  # list them before the scripts that use them


@dataclass(frozen=True)
class Section:
    """One view of a page, opened by its address ``#key``."""

    key: str
    view: str
    title: str
    html: str  # text from files must be escaped
    data: Any
    assets: tuple[str, ...] = ()
    parent: str | None = None


# -- markup ----------------------------------------------------------------------------------------


_LONG = 24
_ALONE = "This page is one file; it needs no network."
_SERVED = "Served by vuskit explore on this machine."
_FEWEST_PACKED = 8


def element(tag: str, text: str, **attributes: str) -> str:
    """Return an element that contains a text; ``class_`` is class, ``data_x`` is data-x.

    Examples
    --------
    >>> element("td", "a < b", class_="best", data_value="1")
    '<td class="best" data-value="1">a &lt; b</td>'
    """
    listed = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{listed}>{html.escape(text)}</{tag}>"


def number_cell(value: float, **attributes: str) -> str:
    """Return a cell that shows three decimals and stores all digits; an en dash marks NaN.

    Examples
    --------
    >>> number_cell(0.12345)
    '<td data-value="0.12345">0.123</td>'
    """
    if math.isnan(value):
        return element("td", "\N{EN DASH}", data_value="")
    return element("td", f"{value:.3f}", data_value=repr(value), **attributes)


def table(identity: str, caption: str, header: Sequence[str], rows: Sequence[str]) -> str:
    """Return a table; the rows are markup of cells."""
    head = "".join(element("th", cell, scope="col", **_wrapping(cell)) for cell in header)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table id="{identity}"><caption><span>{html.escape(caption)}</span></caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    )


def _wrapping(name: str) -> dict[str, str]:
    """Let long names wrap: truncated, they may look the same."""
    return {"class_": "wrap"} if len(name) > _LONG else {}


def answers(sentences: Mapping[str, str]) -> str:
    """Return the sentences of a verdict, each beside the title of its question."""
    return "".join(
        f"<p>{element('strong', title)}{element('span', text)}</p>"
        for title, text in sentences.items()
    )


def wrapped(markup: str, label: str) -> str:
    """Wrap wide markup in a box that scrolls sideways."""
    name = html.escape(label)
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{markup}</div>'


# -- document --------------------------------------------------------------------------------------


def content_policy(script: str, *, served: bool = False) -> str:
    """Return the content security policy of a page: only its own script may run.

    Examples
    --------
    >>> content_policy("")[:45]
    "default-src 'none'; style-src 'unsafe-inline'"
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return f"{policy}; script-src 'sha256-{digest}'" + ("; connect-src 'self'" if served else "")


def page_document(title: str, sections: Sequence[Section], *, served: bool = False) -> str:
    """Return a page with some sections; the first one is open."""
    first, *others = sections
    assets = list(dict.fromkeys(asset for section in sections for asset in section.assets))
    scripts = ["core.js", *(asset for asset in assets if asset.endswith(".js"))]
    styles = ["page.css", *(asset for asset in assets if asset.endswith(".css"))]
    script = "\n".join([*map(part, scripts), "vuskit.begin();\n"])
    pieces = {
        "title": html.escape(title),
        "style": "\n".join(map(part, styles)),
        "script": script,
        "policy": html.escape(content_policy(script, served=served), quote=False),
        "navigation": _navigation(sections),
        "first_key": first.key,
        "first": first.html,
        "rest": "\n".join([*map(_template, others), *_data(sections)]),
        "version": html.escape(__version__),
        "network": _SERVED if served else _ALONE,
    }
    return fill(part("document.html"), pieces)


def fill(template: str, pieces: Mapping[str, str]) -> str:
    """Replace the markers of a template; markers in the inserted text stay.

    Examples
    --------
    >>> fill("[[a]] and [[b]]", {"a": "[[b]]", "b": "2"})
    '[[b]] and 2'
    """
    return re.sub(r"\[\[(\w+)\]\]", lambda marker: pieces[marker[1]], template)


def part(name: str) -> str:
    """Return the text of an asset."""
    return (resources.files("vuskit.report.page") / "assets" / name).read_text(encoding="utf-8")


def safe_json(data: Any) -> str:
    r"""Return JSON for a script element: no text in it can close the element.

    Examples
    --------
    >>> safe_json("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def compact(data: Any) -> Any:
    """Pack lists of many numbers in single precision, to be read by ``vuskit.unpacked``.

    Lists of rows of equal length are packed too. Null becomes NaN.
    """
    if isinstance(data, dict):
        return {name: compact(value) for name, value in data.items()}
    if not isinstance(data, list):
        return data
    rows = data if data and all(isinstance(one, list) for one in data) else [data]
    numbers = [_number(one) for row in rows for one in row]
    lengths = {len(row) for row in rows}
    if len(numbers) < _FEWEST_PACKED or None in numbers or len(lengths) > 1:
        return [compact(one) for one in data]
    packed = {"f4": base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode("ascii")}
    return packed if rows[0] is data else {**packed, "columns": lengths.pop()}


def _number(value: Any) -> float | None:
    """Convert a number of a display's dictionary to a float; None for anything else."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or value in ("inf", "-inf"):
        return None if isinstance(value, bool) else float(value)
    return float(value) if isinstance(value, (int, float)) else None


def _navigation(sections: Sequence[Section]) -> str:
    shown = [section for section in sections if section.parent is None]
    if len(shown) < 2:
        return ""
    links = "\n".join(
        f'<a href="#{section.key}" data-key="{section.key}">{html.escape(section.title)}</a>'
        for section in shown
    )
    return f'<nav id="sections" aria-label="Sections">\n{links}\n</nav>'


def _template(section: Section) -> str:
    return f'<template id="html-{section.key}">\n{section.html}\n</template>'


def _data(sections: Sequence[Section]) -> list[str]:
    listed = [
        {"key": one.key, "view": one.view, "title": one.title, "parent": one.parent}
        for one in sections
    ]
    return [
        f'<script type="application/json" id="data-{key}">{safe_json(data)}</script>'
        for key, data in [("sections", listed), *((one.key, one.data) for one in sections)]
    ]

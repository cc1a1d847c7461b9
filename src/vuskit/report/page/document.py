"""Put a page together: sections, style and scripts in one file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from vuskit import __version__
from vuskit.report.page.section import Section

__all__ = ["fill", "page_document", "part", "safe_json"]


def page_document(title: str, sections: Sequence[Section]) -> str:
    """Write a page of some sections; the first one is open.

    Parameters
    ----------
    title : str
        Of the page, as plain text.
    sections : sequence of Section
        At least one, with different keys.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.

    Examples
    --------
    >>> page = page_document("a < b", [Section("one", "text", "One", "<h1>One</h1>", {})])
    >>> "<title>a &lt; b</title>" in page
    True
    """
    first, *others = sections
    assets = list(dict.fromkeys(asset for section in sections for asset in section.assets))
    scripts = ["core.js", *(asset for asset in assets if asset.endswith(".js"))]
    styles = ["page.css", *(asset for asset in assets if asset.endswith(".css"))]
    script = "\n".join([*map(part, scripts), "vuskit.begin();\n"])
    pieces = {
        "title": html.escape(title),
        "style": "\n".join(map(part, styles)),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "navigation": _navigation(sections),
        "first_key": first.key,
        "first": first.html,
        "rest": "\n".join([*map(_template, others), *_data(sections)]),
        "version": html.escape(__version__),
    }
    return fill(part("document.html"), pieces)


def fill(template: str, pieces: Mapping[str, str]) -> str:
    """Replace the markers of a template; what is put in is not searched for further markers.

    Examples
    --------
    >>> fill("[[a]] and [[b]]", {"a": "[[b]]", "b": "2"})
    '[[b]] and 2'
    """
    return re.sub(r"\[\[(\w+)\]\]", lambda marker: pieces[marker[1]], template)


def part(name: str) -> str:
    """Text of a file beside this one."""
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

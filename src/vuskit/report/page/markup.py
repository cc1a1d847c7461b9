"""Small pieces of markup; every text is escaped here."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

__all__ = ["element", "number_cell", "table", "wrapped"]

_LONG = 24


def element(tag: str, text: str, **attributes: str) -> str:
    """Write an element that holds a text; ``class_`` is class, ``data_x`` is data-x.

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
    """Write a cell that shows three digits and holds all of them; NaN is a dash.

    Examples
    --------
    >>> number_cell(0.12345)
    '<td data-value="0.12345">0.123</td>'
    """
    if math.isnan(value):
        return element("td", "-", data_value="")
    return element("td", f"{value:.3f}", data_value=repr(value), **attributes)


def table(identity: str, caption: str, header: Sequence[str], rows: Sequence[str]) -> str:
    """Write a table; the rows are markup of cells."""
    head = "".join(element("th", cell, scope="col", **_wrapping(cell)) for cell in header)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<table id="{identity}"><caption><span>{html.escape(caption)}</span></caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    )


def _wrapping(name: str) -> dict[str, str]:
    """Long names take several lines: cut off, they may look the same."""
    return {"class_": "wrap"} if len(name) > _LONG else {}


def wrapped(markup: str, label: str) -> str:
    """Let something wide scroll by itself."""
    name = html.escape(label)
    return f'<div class="wide" tabindex="0" role="region" aria-label="{name}">{markup}</div>'

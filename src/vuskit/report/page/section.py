"""Parts of a page: what Python hands to the scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Section"]


@dataclass(frozen=True)
class Section:
    """One view of a page, opened by its address ``#key``.

    Attributes
    ----------
    key : str
        Unique on the page; letters, digits, ``-`` and ``_``.
    view : str
        Name of the function that starts it, as a script registered it: ``vuskit.view(name, ...)``.
    title : str
        Its name in the navigation and in the browser's title, as plain text.
    html : str
        Its markup; everything that comes from files must be escaped in it. It should begin with a
        header that holds an ``h1``.
    data : Any
        What its script needs, ready for JSON. Parsed when the section is opened first.
    assets : tuple of str
        Scripts (``.js``) and styles (``.css``) beside this file that it needs, core.js and page.css
        aside.
    parent : str or None
        Key of the section it is reached from; only sections without one are in the navigation.
    """

    key: str
    view: str
    title: str
    html: str
    data: Any
    assets: tuple[str, ...] = ()
    parent: str | None = None

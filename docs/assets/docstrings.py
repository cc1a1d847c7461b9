"""Docstrings as the API reference wants them: plain Markdown, no entry repeated."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|meth|mod|attr):`~?([^`]+)`")
_GROUP = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)+)\n {4}(As for (?:.|\n {4})+)\n?", re.MULTILINE)
_EMPTY = re.compile(r"^Parameters\n-{10}\n+(?=\S+\n-{3,}\n|\Z)", re.MULTILINE)


def to_markdown(text: str) -> str:
    """Write roles as code, and parameters "as for" another function as one sentence.

    Listed one by one, the latter would get the type of the first of them.

    >>> to_markdown("Sum.\\n\\nParameters\\n----------\\na, b\\n    As for :func:`add`.\\n")
    'Sum.\\n\\n`a`, `b`: as for `add`.\\n\\n'
    """
    text = _ROLE.sub(r"`\1`", text)
    head, line, section = text.partition("Parameters\n----------\n")
    sentences = []

    def take(match: re.Match[str]) -> str:
        names = ", ".join(f"`{name.lstrip('*')}`" for name in match[1].split(", "))
        sentences.append(f"{names}: a{match[2][1:]}")
        return ""

    section = _GROUP.sub(take, section)
    said = "".join(f"{sentence}\n\n" for sentence in sentences)
    return head + said + _EMPTY.sub("", line + section)


class Docstrings(griffe.Extension):
    """Rewrites every docstring as it is loaded."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)

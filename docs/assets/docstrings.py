"""Docstrings as the API reference wants them: plain Markdown, no entry repeated."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

_COMPLETING = ("measure(", "with_setting_keywords")  # decorators that add parameters
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
        if isinstance(obj, griffe.Function) and any(
            str(one.value).startswith(_COMPLETING) for one in obj.decorators
        ):
            _complete(obj)
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)


def _complete(function: griffe.Function) -> None:
    """Show a function as users call it: its decorator adds parameters and sections."""
    public: Any = importlib.import_module(function.module.path)
    for name in function.path.removeprefix(f"{function.module.path}.").split("."):
        public = getattr(public, name)
    function.parameters = griffe.Parameters(
        *(
            griffe.Parameter(
                name,
                annotation=entry.annotation,
                kind=griffe.ParameterKind(entry.kind.description),
                default=None if entry.default is entry.empty else repr(entry.default),
            )
            for name, entry in inspect.signature(public).parameters.items()
        )
    )
    if function.docstring is not None:
        function.docstring.value = inspect.cleandoc(public.__doc__ or "")

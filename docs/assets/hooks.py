"""How pages are prepared for the site."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

from vuskit.report.page.series import empty_page_html


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the page that evaluates files in the browser: ``try.html``."""
    files.append(File.generated(config, "try.html", content=empty_page_html()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Call blocks with prompts sessions, so that what is printed is not coloured as code.

    >>> on_page_markdown("```python\\n>>> 1\\n1\\n```")
    '```pycon\\n>>> 1\\n1\\n```'
    """
    return re.sub(r"^```python\n(?=>>> )", "```pycon\n", markdown, flags=re.MULTILINE)


def on_page_content(text: str, **_: Any) -> str:
    """Write formulas as MathML, which browsers show without a script.

    >>> on_page_content(r'<span class="arithmatex">\\(x\\)</span>')[-26:]
    '</mi></mrow></math></span>'
    """

    def formula(match: re.Match[str]) -> str:
        tag, source = match[1], html.unescape(match[2])
        found = convert(source, display="block" if tag == "div" else "inline")
        return f'<{tag} class="formula">{found}</{tag}>'

    pattern = r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>'
    return re.sub(pattern, formula, text, flags=re.DOTALL)

"""The style of all pages and sources: line and paragraph length, standard terms, proselint."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs").rglob("*.ipynb"),
        *(
            ROOT / name
            for name in (
                "README.md",
                "CONTRIBUTING.md",
                "SECURITY.md",
                "CHANGELOG.md",
                "CODE_OF_CONDUCT.md",
            )
        ),
    ]
)
LONGEST_LINE = 160
LONGEST_PARAGRAPH = 5

# Phrases that read like a translation; each has a standard term.
STILTED = re.compile(
    r"""\b(
    another\ \w+(\ \w+)?\ than | than\ somebody\ else | somebody | nobody
    | and\ its\ like | did\ not\ end\ well | found\ out\ and\ told | (is|are|was|were)\ told
    | taken\ for\ nothing | is\ no\ reason | is\ of\ a\ kind\ that | wants?\ to\ hear
    | of\ (its|their|your|one's)\ own\b(?!\ (data|code)) | as\ far\ as\ (it|they)\ (is|are)\ known
    | in\ nobody's\ way | so\ many\ as | goes?\ on\ where | is\ not\ done\ again
    | witness | offspring | agenda | draws?\ up | carr(y|ies)\ out
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
BRITISH = re.compile(
    r"\b(\w*colour\w*|neighbour\w*|labell(ed|ing)|centres?|centred|grey|behaviour\w*|"
    r"(normal|standard|optim|recogn|summar|organ|minim|maxim|initial|visual)is(e|ed|es|ing|ation)"
    r"|learnt)\b",
    re.IGNORECASE,
)


def text_of(page):
    """Text of a page; of a notebook that of its Markdown cells."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".ipynb":
        return text
    cells = [one for one in json.loads(text)["cells"] if one["cell_type"] == "markdown"]
    return "\n\n".join("".join(one["source"]) for one in cells)


def prose_of(page):
    """Lines of a page; those of code, tables and HTML are empty."""
    lines, fenced = [], False
    for line in text_of(page).splitlines():
        if re.match(r"^\s*```", line):
            fenced = not fenced
            lines.append("")
        else:
            skipped = fenced or line.lstrip().startswith(("|", "<", "!["))
            lines.append("" if skipped else line)
    return lines


def plain(line):
    """Text of a line without inline code and addresses."""
    return re.sub(r"`[^`]*`", "`x`", re.sub(r"\]\([^)]*\)", "]", line))


def paragraphs_of(page):
    """Paragraphs and list items as (number of the first line, lines)."""
    found: list[tuple[int, list[str]]] = []
    current: list[str] = []
    for number, line in enumerate([*prose_of(page), ""], 1):
        starts = not line.strip() or re.match(r"^\s*([-*+]|\d+\.|#+)\s", line)
        if starts and current:
            found.append((number - len(current), current))
            current = []
        if line.strip():
            current.append(line)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_and_paragraphs_are_short(page):
    long_lines = [
        f"{number}: {len(line)} characters"
        for number, line in enumerate(prose_of(page), 1)
        if len(line) > LONGEST_LINE and len(plain(line)) > LONGEST_LINE
    ]
    walls = [
        f"{number}: paragraph of {len(lines)} lines"
        for number, lines in paragraphs_of(page)
        if len(lines) > LONGEST_PARAGRAPH
    ]
    assert long_lines + walls == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_use_standard_terms_and_american_spelling(page):
    text = text_of(page)
    # Code shows names of other packages; tables are prose here.
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = [
        f"{match.group(0)!r} in: {line[:90]}"
        for line in map(plain, text.splitlines())
        for pattern in (STILTED, BRITISH)
        for match in pattern.finditer(line)
    ]
    assert found == []


SOURCES = sorted(
    path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".js", ".html")
)


def wording_of(source):
    """Strings and comments of a Python module as (line, text); of other files all lines."""
    text = source.read_text(encoding="utf-8")
    if source.suffix != ".py":
        return list(enumerate(text.splitlines(), 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    names = {"STRING", "COMMENT", "FSTRING_MIDDLE"}
    return [(one.start[0], one.string) for one in tokens if tokenize.tok_name[one.type] in names]


def test_sources_use_standard_terms_and_american_spelling():
    found = [
        f"{source.relative_to(ROOT)}:{line}: {match.group(0)!r}"
        for source in SOURCES
        for line, text in wording_of(source)
        for pattern in (STILTED, BRITISH)
        for match in pattern.finditer(text)
    ]
    assert found == []


def test_proselint_finds_nothing(tmp_path):
    pytest.importorskip("proselint", reason="proselint is not installed")
    config = tmp_path / "proselint.json"
    # Typography is that of code; the others are matters of taste or know no Markdown.
    off = ("typography", "lexical_illusions", "misc.but", "annotations", "industrial_language")
    config.write_text(json.dumps({"checks": dict.fromkeys(off, False)}))
    places = []
    for page in PAGES:
        copy = tmp_path / ("__".join(page.relative_to(ROOT).parts) + ".md")
        copy.write_text("\n".join(map(plain, prose_of(page))), encoding="utf-8")
        places.append(str(copy))
    outcome = subprocess.run(
        [sys.executable, "-m", "proselint", "check", "--config", str(config), *places],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (outcome.stdout + outcome.stderr).splitlines()
    assert [line for line in lines if ".md:" in line] == []


def test_the_patterns_find_what_they_should():
    assert STILTED.search("90 jobs did not end well")
    assert STILTED.search("get another VUS than somebody else")
    assert STILTED.search("must have names of their own")
    assert BRITISH.search("the labelled centre")
    assert not BRITISH.search("labeled, center, normalized")

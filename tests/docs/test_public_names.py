"""Documented examples use public names only, and the reference lists exactly the public names."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^::: (vuskit[\w.]*)$", re.MULTILINE)


@cache
def documented() -> dict[str, set[str]]:
    """Names listed in ``docs/reference``, by module; all public names of a listed module."""
    names: dict[str, set[str]] = {}
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        for entry in ENTRY.findall(page.read_text(encoding="utf-8")):
            module, _, name = entry.rpartition(".")
            if not hasattr(importlib.import_module(module), name):
                importlib.import_module(entry)
            found = getattr(importlib.import_module(module), name)
            if isinstance(found, ModuleType):
                names.setdefault(entry, set()).update(found.__all__)
            else:
                names.setdefault(module, set()).add(name)
    return names


def imports(code: str) -> Iterator[tuple[str, str | None]]:
    """Modules of vuskit that code imports, each with the name taken from it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        yield from (one for one in found if one[0].partition(".")[0] == "vuskit")


def is_public(module: str, name: str | None) -> bool:
    if any(part.startswith("_") for part in [*module.split("."), name or ""]):
        return False
    if name is None:
        return module == "vuskit" or module in documented()
    if f"{module}.{name}" in documented():  # a module
        return True
    return module in documented() and name in ["*", *importlib.import_module(module).__all__]


def examples_of(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for example in doctest.DocTestParser().get_examples(text):
        yield example.source
    # Files and scripts that a page shows.
    yield from (
        block
        for block in re.findall(r"^```python[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        if ">>>" not in block
    )


PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_import_public_names_only(page):
    found = {one for code in examples_of(page) for one in imports(code)}
    assert sorted(one for one in found if not is_public(*one)) == []


@pytest.mark.parametrize("module", sorted(documented()))
def test_docstrings_import_public_names_only(module):
    finder = doctest.DocTestFinder(recurse=True)
    private = []
    for name in sorted(documented()[module]):
        documented_object = getattr(importlib.import_module(module), name)
        if not callable(documented_object):
            continue
        for test in finder.find(documented_object, name):
            code = "".join(example.source for example in test.examples)
            private += [(test.name, *one) for one in imports(code) if not is_public(*one)]
    assert private == []


REFERENCE = [
    (page.name, entry)
    for page in sorted(ROOT.glob("docs/reference/*.md"))
    for entry in ENTRY.findall(page.read_text())
]


@pytest.mark.parametrize(("page", "entry"), REFERENCE)
def test_reference_lists_public_names(page, entry):
    assert not any(part.startswith("_") for part in entry.split(".")), page
    try:
        assert importlib.import_module(entry).__all__  # a module with all its public names
    except ModuleNotFoundError:
        module, _, name = entry.rpartition(".")
        assert name in importlib.import_module(module).__all__, entry

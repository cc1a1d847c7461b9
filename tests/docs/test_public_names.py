"""Documented examples use public names only, and the reference lists exactly the public names."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
EXAMPLE = re.compile(r"^(?:>>> |\.\.\. )?((?:from vuskit|import vuskit)\b.*)$", re.MULTILINE)
ENTRY = re.compile(r"^::: (vuskit[\w.]*)$", re.MULTILINE)


def imports(text):
    """Pairs of module and name that the examples of a page import from vuskit."""
    found = []
    for line in EXAMPLE.findall(text):
        statement = line if line.count("(") == line.count(")") else line.rstrip().rstrip(",") + ")"
        try:
            (node,) = ast.parse(statement).body
        except (SyntaxError, ValueError):  # prose or output that begins like a statement
            continue
        if isinstance(node, ast.ImportFrom):
            found += [(node.module, alias.name) for alias in node.names]
        else:
            found += [(alias.name, None) for alias in node.names]
    return [(module, name) for module, name in found if module.partition(".")[0] == "vuskit"]


EXAMPLES = sorted(
    {
        (page.relative_to(ROOT).as_posix(), *one)
        for page in PAGES
        for one in imports(page.read_text())
    },
    key=str,
)


@pytest.mark.parametrize(("page", "module", "name"), EXAMPLES)
def test_examples_import_public_names(page, module, name):
    assert not any(part.startswith("_") for part in module.split(".")), page
    found = importlib.import_module(module)
    assert name in (None, "*", *found.__all__), f"{page}: {module}.{name} is not public"


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

"""Documented examples use public names only, and the reference lists exactly the public names."""

from __future__ import annotations

import ast
import doctest
import importlib
import json
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import vuskit

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^::: (vuskit[\w.]*)$", re.MULTILINE)
REFERENCE = [
    (str(page.relative_to(ROOT / "docs" / "reference")), entry)
    for page in sorted(ROOT.glob("docs/reference/**/*.md"))
    for entry in ENTRY.findall(page.read_text(encoding="utf-8"))
]
# Their public names are those of ``vuskit``, or they are internal.
PRIVATE = {
    f"vuskit.{name}"
    for name in (
        "alignment",
        "buffers",
        "cli",
        "errors",
        "frames",
        "inputs",
        "times",
        "intervals",
        "kernels",
        "measures",
        "store",
        "times",
    )
}


@cache
def documented() -> dict[str, set[str]]:
    """Names listed in ``docs/reference``, by module."""
    names: dict[str, set[str]] = {}
    for _, entry in REFERENCE:
        module, _, name = entry.rpartition(".")
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
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        yield from ("".join(one["source"]) for one in cells if one["cell_type"] == "code")
        return
    for example in doctest.DocTestParser().get_examples(text):
        yield example.source
    # Files and scripts that a page shows.
    yield from (
        block
        for block in re.findall(r"^```python[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        if ">>>" not in block
    )


PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("docs/**/*.ipynb"),
    ]
)


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


@pytest.mark.parametrize(("page", "entry"), REFERENCE)
def test_reference_lists_public_names(page, entry):
    assert not any(part.startswith("_") for part in entry.split(".")), page
    module, _, name = entry.rpartition(".")
    assert name in importlib.import_module(module).__all__, entry


@pytest.mark.parametrize("module", sorted(documented()))
def test_reference_lists_every_public_name_once(module):
    found = importlib.import_module(module)
    counts = Counter(entry for _, entry in REFERENCE)
    wrong = {
        name: counts[f"{module}.{name}"]
        for name in found.__all__
        if not isinstance(getattr(found, name), ModuleType) and counts[f"{module}.{name}"] != 1
    }
    assert wrong == {}


def test_every_public_package_is_in_the_reference():
    packages = {f"vuskit.{one.name}" for one in pkgutil.iter_modules(vuskit.__path__)}
    public = {one for one in packages if not one.startswith("vuskit._")} - PRIVATE
    assert (
        sorted(
            one for one in public if not any(f"{m}.".startswith(f"{one}.") for m in documented())
        )
        == []
    )

"""Layout of the code base: tests mirror modules, docs use public names, rules hold everywhere."""

from __future__ import annotations

import ast
import doctest
import importlib
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "vuskit"
MODULES = sorted(
    str(path.relative_to(SOURCE))
    for path in SOURCE.rglob("*.py")
    if path.name not in {"__init__.py", "__main__.py"}
)

# Modules without a test file of the same name: what tests them instead, or why nothing does.
TESTED_ELSEWHERE: dict[str, str] = {
    "algorithms/*": "algorithms/test_agreement.py and test_growth.py compare all three algorithms",
    "cli/_exit_codes.py": "Only declares codes; cli/test_interrupt.py and every command's tests",
    "cli/_files.py": "cli/test_evaluate.py: files that are missing, unreadable or not writable",
    "cli/_progress.py": "cli/bench/test_bench.py",
    "cli/_schemas.py": "cli/test_forms.py: every JSON output against its schema",
    "cli/_score_file.py": "cli/test_evaluate.py: forms of score files",
    "cli/app.py": "cli/test_help.py",
    "cli/bench/*": "cli/bench/test_bench.py goes through a run with all commands",
    "cli/demo/*": "cli/demo/test_demo.py checks everything that one demo writes",
    "cli/list_.py": "cli/test_list.py",
    "cli/main.py": "cli/test_interrupt.py and every test of a command",
    "cli/study/_*": "cli/study/test_scores.py and test_command.py",
    "datasets/collection.py": "datasets/test_archive.py",
    "datasets/readers/*": "datasets/test_readers.py: the same tests for every format",
    "datasets/synthetic/*": "datasets/test_synthetic.py: the same tests for every family",
    "detectors/*": "detectors/test_contract.py: the same tests for every detector; test_values.py",
    "detectors/deep/*": "detectors/test_deep.py",
    "errors.py": "Only declares exceptions",
    "kernels/_numba_types.py": "Only declares types; kernels/sweep/test_compiled.py",
    "kernels/affiliation.py": "measures/test_proximity.py",
    "kernels/backend.py": "kernels/sweep/test_compiled.py: when compiled kernels are used",
    "kernels/best_thresholds.py": "measures/test_best.py",
    "kernels/pate.py": "measures/test_proximity.py",
    "kernels/sweep/*": "kernels/sweep/test_compiled.py, measures/test_against_oracle.py",
    "measures/auc.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/point.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/ranges.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/results.py": "measures/test_evaluate.py",
    "measures/ucr.py": "measures/test_event.py",
    "measures/vus.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/workspace.py": "measures/test_registry.py: shared and single computations agree",
    "report/evaluation.py": "cli/test_evaluate.py",
    "report/latex.py": "cli/test_results_table.py",
    "report/tables.py": "cli/test_results_table.py",
    "report/figures/*": "report/test_figures.py and test_figures_data.py: all figures alike",
    "report/page/document.py": "report/test_page.py",
    "report/page/run.py": "report/test_run_page.py and test_run_data.py",
    "report/page/series.py": "report/test_page.py",
    "report/page/studies.py": "report/test_study_sections.py and test_studies.py",
    "studies/sensitivity.py": "studies/test_base.py",
}

BRITISH = re.compile(
    r"colour|centre|grey|behaviour|neighbour|favour|labell(ed|ing)|modell|catalogue|artefact"
    r"|(normal|summar|optim|minim|maxim|standard|general|initial|organ|random|visual|serial)is(e|i)"
    r"|analys(e|ing)",
    re.IGNORECASE,
)
SQL = re.compile(
    r"\s*(SELECT\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\S+\s+SET\s|DELETE\s+FROM\s|PRAGMA\s"
    r"|CREATE\s+(TABLE|INDEX|VIEW|UNIQUE)\s|ALTER\s+TABLE\s|DROP\s+(TABLE|INDEX|VIEW)\s|BEGIN\b)"
)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def mirrored(module: str) -> Path:
    """Test file of a module: ``a/_b.py`` has ``tests/a/test_b.py``."""
    path = Path(module)
    return ROOT / "tests" / path.parent / f"test_{path.stem.removeprefix('_')}.py"


def test_every_module_has_its_test_file():
    assert len(MODULES) > 50
    missing = [name for name in MODULES if not mirrored(name).exists()]
    untested = [name for name in missing if not any(fnmatch(name, one) for one in TESTED_ELSEWHERE)]
    assert untested == []


@pytest.mark.parametrize("pattern", TESTED_ELSEWHERE)
def test_table_of_tests_elsewhere_is_up_to_date(pattern):
    assert [name for name in MODULES if fnmatch(name, pattern) and not mirrored(name).exists()]
    folder = ROOT / "tests" / Path(pattern).parent
    for name in re.findall(r"[\w/]+\.py", TESTED_ELSEWHERE[pattern]):
        places = [ROOT / "tests" / name, folder / name, folder.parent / name]
        assert any(place.exists() for place in places), name


# Documented examples -----------------------------------------------------------------------------


@cache
def documented() -> dict[str, set[str]]:
    """Names listed in ``docs/reference``, by module; all public names of a listed module."""
    names: dict[str, set[str]] = {}
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        for entry in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE):
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


# Rules -------------------------------------------------------------------------------------------


def test_sql_only_in_the_store():
    outside = [name for name in MODULES if not name.startswith("bench/store/")]
    found = []
    for name in outside:
        for node in ast.walk(parsed(SOURCE / name)):
            text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if text and SQL.match(node.value):
                found.append(f"{name}:{node.lineno}")
    assert found == []


def test_default_definition_is_written_once():
    from vuskit import EvaluationSettings

    default = EvaluationSettings(buffer=None).definition
    written = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(parsed(path)):
            values: list[ast.expr | None] = []
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                values = [*node.args.defaults, *node.args.kw_defaults]
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.keyword):
                values = [node.value]
            elif isinstance(node, ast.Call):
                values = [*node.args[1:]]  # get("definition", default)
            elif isinstance(node, ast.Compare):
                values = [*node.comparators]
            written += [
                f"{path.relative_to(SOURCE)}:{value.lineno}"
                for value in values
                if isinstance(value, ast.Constant) and value.value == default
            ]
    assert len(written) == 1, written  # its name; the default refers to it


def identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Attribute):
            yield node.attr


def test_names_are_spelled_the_american_way():
    folders = ("src", "tests", "benchmarks")
    files = [path for folder in folders for path in ROOT.glob(f"{folder}/**/*")]
    british = [str(path.relative_to(ROOT)) for path in files if BRITISH.search(path.name)]
    for path in files:
        if path.suffix == ".py":
            found = {name for name in identifiers(parsed(path)) if BRITISH.search(name)}
            british += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(found)]
    assert british == []


DISTRIBUTIONS = {
    "sklearn": "scikit-learn",
    "dask": "dask[distributed]",
    "distributed": "dask[distributed]",
    "xdist": "pytest-xdist",
    "yaml": "pyyaml",
}
OF_THE_PROJECT = {"vuskit", "conftest"}


def test_every_import_is_declared():
    """Also psutil and others that some dependency happens to bring along."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        *project["dependencies"],
        *itertools.chain.from_iterable(project["optional-dependencies"].values()),
    ]
    declared = {re.split(r"[<>=!~;\s]", line)[0].lower().replace("-", "_") for line in lines}
    local = OF_THE_PROJECT | sys.stdlib_module_names
    local |= {path.stem for path in [*ROOT.glob("tests/*"), *ROOT.glob("benchmarks/*.py")]}
    local |= {path.stem for path in ROOT.glob("tests/**/*.py")} | {"folder_module"}
    undeclared = set()
    for path in [*SOURCE.rglob("*.py"), *ROOT.glob("tests/**/*.py")]:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names = [node.module]
            else:
                continue
            for top in {name.partition(".")[0] for name in names} - local:
                wanted = DISTRIBUTIONS.get(top, top).lower().replace("-", "_")
                if wanted not in declared:
                    undeclared.add(f"{path.relative_to(ROOT)}: {top}")
    assert sorted(undeclared) == []

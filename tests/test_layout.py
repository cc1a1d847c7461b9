"""Layout of the code base: tests mirror modules, and rules that hold everywhere."""

from __future__ import annotations

import ast
import itertools
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

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
    "cli/app.py": "cli/test_help.py",
    "cli/bench/*": "cli/bench/test_bench.py goes through a run with all commands",
    "cli/list_.py": "cli/test_list.py",
    "cli/main.py": "cli/test_interrupt.py and every test of a command",
    "cli/study.py": "cli/study/test_scores.py",
    "datasets/collection.py": "datasets/test_readers.py",
    "datasets/columns.py": "datasets/test_inputs.py and bench/test_sources.py",
    "datasets/layouts.py": "datasets/test_inputs.py",
    "datasets/long_tables.py": "bench/test_sources.py",
    "datasets/readers/*": "datasets/test_readers.py: the same tests for every format",
    "datasets/synthetic/*": "datasets/test_synthetic.py: the same tests for every family",
    "detectors/*": "detectors/test_contract.py: the same tests for every detector; test_values.py",
    "detectors/deep/*": "detectors/test_deep.py",
    "engine/_dask.py": "engine/test_executors.py: the same tests as for local processes",
    "errors.py": "Only declares exceptions",
    "kernels/affiliation.py": "measures/test_proximity.py",
    "kernels/best_thresholds.py": "measures/test_best.py",
    "kernels/pate.py": "measures/test_proximity.py",
    "kernels/sweep/*": "measures/test_against_oracle.py: both cores against slow versions",
    "measures/point.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/ranges.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/results.py": "measures/test_evaluate.py and test_inversion.py",
    "measures/ucr.py": "measures/test_event.py",
    "measures/vus.py": "measures/test_against_oracle.py and test_invariances.py",
    "measures/areas.py": "measures/test_company.py: areas do not depend on what else is computed",
    "measures/workspace.py": "measures/test_registry.py: shared and single computations agree",
    "paper/*": "paper/test_reproduce.py makes every exhibit; test_exhibits.py and test_findings.py",
    "report/comparison.py": "cli/test_compare.py",
    "report/evaluation.py": "cli/test_evaluate.py",
    "report/one_series.py": "cli/test_evaluate.py",
    "report/run_report.py": "report/page/test_run.py",
    "studies/result.py": "studies/test_saved.py: results of every study",
    "studies/timing/tables.py": "studies/timing/test_results.py",
    "studies/sensitivity.py": "figures/test_sensitivity.py draws its results",
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


# Rules -------------------------------------------------------------------------------------------


def test_sql_only_in_the_store():
    outside = [name for name in MODULES if not name.startswith("store/")]
    found = []
    for name in outside:
        for node in ast.walk(parsed(SOURCE / name)):
            text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if text and SQL.match(node.value):
                found.append(f"{name}:{node.lineno}")
    assert found == []


def test_default_definition_is_written_once():
    from vuskit import EvaluationSettings

    default = EvaluationSettings().definition
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
        if path.name == "test_integrations.py":  # its environment is in the Makefile
            continue
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


def test_the_makefile_names_tests_that_exist():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\btests/[\w/]+(?:\.py)?", text))
    assert len(named) > 10
    assert sorted(path for path in named if not (ROOT / path).exists()) == []

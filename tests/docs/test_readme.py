"""The README's comparison table: the cells about vuskit, and those that files tell."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cells():
    """Cells of the row vuskit, by the first words of their column."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("## Comparison with other packages")[1].split("<details>")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    rows = [re.split(r"\s*\|\s*", line.strip("| \n")) for line in lines]
    header = [title.split(" [")[0] for title in rows[0]]
    ours = next(row for row in rows if row[0] == "**vuskit**")
    return dict(zip(header, ours, strict=True))


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150


def answers_of(name):
    command = [sys.executable, str(ROOT / "benchmarks" / "peer_answers.py"), "--inside", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_answers_of_vuskit(cells):
    answers = answers_of("vuskit")
    on_grid = answers_of("vuskit at 250")["perfect"]
    title = "VUS-PR of a perfect detector, 0.2 % anomalous, at these thresholds"
    assert cells[title] == f"{answers['perfect']}; with 250: {on_grid}"
    assert cells["one NaN in the score"] == "error with the index"
    assert answers["nan"].startswith("InvalidInputError: `y_score` must be finite, got nan at ind")
    assert answers["bool_labels"] == answers["byte_labels"] == answers["plain"]
    for question in ("column", "lengths", "two"):
        assert answers[question].startswith("InvalidInputError")


def test_counts(cells):
    from vuskit.detectors import list_detectors
    from vuskit.kernels.labels import DEFINITIONS
    from vuskit.measures.registry import resolve_measures

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cells["required packages"] == str(len(project["dependencies"]))
    assert cells["console command"] == "yes"
    assert project["scripts"]
    assert cells["definitions of VUS"].startswith(str(len(DEFINITIONS)))
    assert cells["other measures"] == str(len(resolve_measures("extra")))
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/detectors.md").read_text(), re.MULTILINE)
    documented = {name for name in rows if name in list_detectors()}  # others are parameters
    assert len(documented) == 14  # ten of the paper and four baselines


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    wanted = list(chain(project["dependencies"], *project["optional-dependencies"].values()))
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in wanted} - {"vuskit"}
    assert names
    assert sorted(name for name in names if name not in page) == []


def test_contributing_names_places_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    places = re.findall(r"^(  )?([\w/.]+)", tree, re.MULTILINE)
    assert len(places) > 10
    for indented, place in places:
        assert (ROOT / ("src/vuskit" if indented else ".") / place).exists(), place


def test_the_citation_names_this_version():
    import vuskit

    assert f"\nversion: {vuskit.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"vuskit {vuskit.__version__} (" in (ROOT / "docs" / "citing.md").read_text()

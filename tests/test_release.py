"""Metadata of releases, and the workflows that publish them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import release_version
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


def steps(path):
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = [step["run"] for step in steps(path) if "run" in step]
    makes = [line.split()[1] for line in lines if line.startswith("make ")]
    assert set(makes) <= targets
    tools = r"choco install make .*|python -m pip install cibuildwheel==[\d.]+"
    wheels = r"(.*\n)*python -m cibuildwheel --output-dir dist\n?"
    assert all(re.fullmatch(rf"make .*|{tools}|{wheels}", line) for line in lines)
    assert makes


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned(path):
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])


def test_tests_run_on_three_systems_and_every_python():
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())["jobs"]
    matrix = jobs["core"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    listed = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    assert matrix["python"] == listed == ["3.11", "3.12", "3.13", "3.14"]


def test_release_has_a_wheel_per_platform_and_a_pure_one():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]
    systems = jobs["wheels"]["strategy"]["matrix"]["os"]
    kinds = [name.partition("-")[0] for name in systems]
    assert kinds == ["ubuntu", "ubuntu", "macos", "macos", "windows"]
    assert jobs["publish"]["needs"] == ["build", "wheels"]
    uploads = [step["with"] for step in jobs["build"]["steps"] if "upload" in step.get("uses", "")]
    assert [one["path"].split() for one in uploads] == [["dist/*.tar.gz", "dist/*-none-any.whl"]]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    assert all(one.startswith("cp311-") for one in settings["build"])
    assert settings["environment"] == {"VUSKIT_CORE": "native"}


def test_versions_agree():
    assert release_version.problems(None) == []
    (tag,) = set(release_version.stated().values())
    assert f"the tag must be v{tag}, got v9" in release_version.problems("v9")


def test_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    requirements = recipe["requirements"]
    project = (ROOT / "pyproject.toml").read_text()
    assert [one for one in requirements["run"] if not one.startswith("python ")] == ["numpy >=2"]
    assert 'dependencies = ["numpy>=2"]' in project
    assert requirements["build"] == ["${{ compiler('c') }}", "${{ stdlib('c') }}"]
    assert "noarch" not in recipe["build"]
    for line in requirements["run_constraints"]:
        assert f'"{line.replace(" ", "")}"' in project, line


def test_zenodo_metadata():
    found = json.loads((ROOT / ".zenodo.json").read_text())
    assert found["license"] == "Apache-2.0"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert found["creators"] == citation["authors"]
    dois = {one.get("doi") for one in citation["references"]}
    known = [one["identifier"] for one in found["related_identifiers"] if one["scheme"] == "doi"]
    assert set(known) <= dois

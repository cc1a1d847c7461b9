"""What is released: wheel and sdist, their metadata, and the workflows that publish them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import release_version
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder with the wheel and the sdist."""
    pytest.importorskip("build", reason="build is not installed")
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def test_files_pass_the_checks_of_the_index(built, wheel):
    pytest.importorskip("twine", reason="twine is not installed")
    pytest.importorskip("check_wheel_contents", reason="check-wheel-contents is not installed")
    run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir())
    run(sys.executable, "-m", "check_wheel_contents", wheel)


def test_wheel_holds_the_package_and_nothing_else(wheel):
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    tracked = run("git", "ls-files", "src", cwd=ROOT).split() if (ROOT / ".git").exists() else []
    assert {path.removeprefix("src/") for path in tracked} <= packed
    assert {name.partition("/")[0] for name in packed} == {
        "vuskit",
        wheel.name.replace("-py3-none-any.whl", ".dist-info"),
    }
    assert (source / "vuskit" / "py.typed").exists()
    assert {"vuskit/py.typed", "vuskit/conformance.json", "vuskit/cli/golden.json"} <= packed


def test_sdist_can_be_tested(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "tests/conftest.py", "docs/index.md"} <= names
    assert "examples/conformance_reader.py" in names


def needed(names, extra=""):
    """Distributions that some distributions need, by their own metadata."""
    packaging = pytest.importorskip("packaging.requirements", reason="packaging is not installed")
    found: set[str] = set()
    waiting = [(name, extra) for name in names]
    while waiting:
        name, wanted = waiting.pop()
        for line in metadata.requires(name) or ():
            requirement = packaging.Requirement(line)
            inner = requirement.name.lower().replace("_", "-")
            holds = requirement.marker is None or requirement.marker.evaluate({"extra": wanted})
            if holds and inner == "vuskit":
                waiting += [("vuskit", one) for one in requirement.extras]
            elif holds and inner not in found:
                found.add(inner)
                waiting.append((inner, ""))
    return found


class Environment:
    """Empty environment with the wheel; libraries are links to those of this Python."""

    def __init__(self, folder, wheel):
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        (self.packages,) = folder.glob("lib/python*/site-packages")
        self.python = folder / "bin" / "python"
        self.folder = folder
        zipfile.ZipFile(wheel).extractall(self.packages)

    def add(self, distribution):
        found = metadata.distribution(distribution)
        tops = {file.parts[0] for file in found.files if file.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            target = self.packages / top
            if not target.exists():
                target.symlink_to(found.locate_file(top))

    def run(self, *arguments, folder=None):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        # Compiled kernels have other tests; here each process would compile them anew.
        environment["VUSKIT_NUMBA"] = "0"
        return run(self.python, *arguments, cwd=folder or self.folder, env=environment)


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    if os.name == "nt":
        pytest.skip("links need rights on Windows; `make release-check` installs with pip")
    return Environment(tmp_path_factory.mktemp("empty") / "venv", wheel)


def test_core_of_the_wheel_works_with_numpy_alone(environment):
    environment.add("numpy")
    environment.run(ROOT / "tests" / "only_numpy.py")
    code = "import vuskit, vuskit.conformance as c; print(vuskit.__file__, c.SCHEMA)"
    place, schema = environment.run("-c", code).split()
    assert Path(place).is_relative_to(environment.packages)
    assert schema == "vuskit-conformance-1"


def test_commands_of_the_wheel_work_with_their_extra(environment):
    environment.add("numpy")
    for name in sorted(needed(["vuskit"], "cli")):
        environment.add(name)
    (environment.folder / "scores.csv").write_text(
        "label,score\n" + "".join(f"{int(20 <= i < 30)},{i % 7}\n" for i in range(60))
    )
    text = environment.run("-m", "vuskit", "evaluate", "scores.csv", "--buffer", "4", "--json")
    assert json.loads(text)["settings"]["buffer"] == 4
    doctor = json.loads(environment.run("-m", "vuskit", "doctor", "--json"))
    assert all(check["passed"] for check in doctor["self_test"])


# Short forms of commands that would take minutes or wait for the reader.
SHORTER = {"paper": ["--only", "fig-11", "--processes", "1"], "explore": ["--help"]}


def readme_commands():
    """Commands of the README's table for users, one list of words each."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| you have | run |")[2].partition("\n\n")[0]
    found = [shlex.split(line)[1:] for line in re.findall(r"`(vuskit [^`]+)`", table)]
    assert len(found) >= 7
    return found


def test_commands_of_the_readme_work_in_their_order(environment):
    for name in sorted(needed(["vuskit"], "explore") | {"numpy"}):
        environment.add(name)
    place = environment.folder / "readme"
    for series in ("one", "two", "three"):
        path = place / "scores" / "plant" / f"{series}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = (f"{i % 9},{int(20 <= i < 30)},{i % 7},{i % 25}\n" for i in range(120))
        path.write_text("value,label,A,B\n" + "".join(rows))
    shutil.copy(place / "scores" / "plant" / "one.csv", place / "scores.csv")
    names = {"RUN": "bench-run", "SCORES": "scores"}
    for words in readme_commands():
        words = [names.get(word, word) for word in words]
        environment.run("-m", "vuskit", *words, *SHORTER.get(words[0], []), folder=place)
    assert (place / "page.html").stat().st_size > 100_000
    assert (place / "bench-run" / "page.html").is_file()


# --- workflows and metadata ----------------------------------------------------------------------


def steps(path):
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = [step["run"] for step in steps(path) if "run" in step]
    makes = [line.split()[1] for line in lines if line.startswith("make ")]
    assert set(makes) <= targets
    assert all(line.startswith(("make ", "choco install make")) for line in lines)
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


def test_workflows_pass_their_linters():
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    zizmor = Path(sys.executable).with_name("zizmor")
    if not zizmor.exists():
        pytest.skip("zizmor is not installed")
    run(zizmor, "--offline", "--no-progress", "--quiet", ROOT / ".github")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    run(*check, "vendor.github-workflows", *WORKFLOWS)


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

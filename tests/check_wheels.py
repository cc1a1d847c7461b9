"""What is released: wheels and sdist. `make release-check` runs these tests; they take minutes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = "vuskit/kernels/" + ("_core.pyd" if os.name == "nt" else "_core.abi3.so")
MOST_BYTES = 1_500_000


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# A developer's settings must not change what is built here.
BUILD_VARIABLES = {"CC", "CFLAGS", "LDFLAGS", "ARCHFLAGS", "VUSKIT_CORE"}


def build(folder, *options, **variables):
    pytest.importorskip("build", reason="build is not installed")
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    usual = {name: value for name, value in os.environ.items() if name not in BUILD_VARIABLES}
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", folder, ROOT]
    return run(*command, env={**usual, **variables})


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder with the sdist and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def pure_wheel(tmp_path_factory):
    """Wheel of a build that finds no compiler; PATH is an empty folder."""
    folder = tmp_path_factory.mktemp("pure")
    said = build(folder, "--wheel", PATH=str(tmp_path_factory.mktemp("path")))
    assert "vuskit: NumPy core only: no C compiler found\n" in said
    (path,) = folder.glob("*.whl")
    return path


def test_files_pass_the_checks_of_the_index(built, wheel, pure_wheel):
    pytest.importorskip("twine", reason="twine is not installed")
    pytest.importorskip("check_wheel_contents", reason="check-wheel-contents is not installed")
    run(sys.executable, "-m", "twine", "check", "--strict", *built.iterdir(), pure_wheel)
    run(sys.executable, "-m", "check_wheel_contents", wheel, pure_wheel)


def contents(wheel):
    """Names of the files in a wheel, and the fields of its file ``WHEEL``."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (place,) = (name for name in names if name.endswith(".dist-info/WHEEL"))
        lines = archive.read(place).decode().splitlines()
    assert len(set(names)) == len(names)
    return set(names), dict(line.split(": ") for line in lines if line)


def test_wheel_without_a_compiler_is_pure(pure_wheel):
    names, fields = contents(pure_wheel)
    assert pure_wheel.name.endswith("-py3-none-any.whl")
    assert fields["Tag"] == "py3-none-any"
    assert fields["Root-Is-Purelib"] == "true"
    assert not [name for name in names if name.endswith((".so", ".pyd", ".c", ".h"))]
    assert pure_wheel.stat().st_size < MOST_BYTES


def test_wheel_with_a_compiler_has_the_native_core(wheel, pure_wheel):
    if not shutil.which("cc") or sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("needs a C compiler and the stable ABI")
    names, fields = contents(wheel)
    assert re.fullmatch(r"vuskit-[\w.]+-cp311-abi3-\w+\.whl", wheel.name)
    assert wheel.stem.endswith(f"-{fields['Tag']}")
    assert fields["Root-Is-Purelib"] == "false"
    assert names - contents(pure_wheel)[0] == {LIBRARY}
    assert wheel.stat().st_size < MOST_BYTES


def test_wheel_holds_the_package_and_nothing_else(pure_wheel):
    packed = contents(pure_wheel)[0]
    source = ROOT / "src"
    tracked = run("git", "ls-files", "src", cwd=ROOT).split() if (ROOT / ".git").exists() else []
    compiled = "src/vuskit/kernels/core/"
    expected = {path.removeprefix("src/") for path in tracked if not path.startswith(compiled)}
    assert expected <= packed
    assert {name.partition("/")[0] for name in packed} == {
        "vuskit",
        pure_wheel.name.replace("-py3-none-any.whl", ".dist-info"),
    }
    assert (source / "vuskit" / "py.typed").exists()
    assert {"vuskit/py.typed", "vuskit/conformance.json", "vuskit/cli/golden.json"} <= packed


def test_sdist_can_be_built_and_tested(built):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "tests/conftest.py", "docs/index.md"} <= names
    assert "examples/conformance_reader.py" in names
    sources = {str(path.relative_to(ROOT)) for path in ROOT.glob("src/vuskit/kernels/core/*.[ch]")}
    assert {"hatch_build.py", "src/vuskit/kernels/core/module.c"} <= names
    assert sources <= names
    assert f"src/{LIBRARY}" not in names


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

"""Every block of code in the documentation is executed, or checked and marked with a reason.

Blocks of Python with prompts are doctests and run elsewhere. Of the others, those with a
``title`` are files, written to a fresh folder; scripts and ``console`` blocks run there in the
order of the page; ``toml`` blocks are read as plans. A line ``<!-- not executed: why -->`` before
a block spares it, but its commands and options must exist; so must those of shell lines.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
import typer
from fresh import forgotten_modules, forgotten_names

from vuskit.cli import main

ROOT = Path(__file__).parents[2]
BINARIES = Path(sys.executable).parent
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    key=lambda page: page.name,
)
# tests/cli runs the examples of this page and compares every line.
ELSEWHERE = {"cli.md"}
ILLUSTRATIONS = {"", "text", "bibtex"}

FENCE = re.compile(
    r"^(?:<!-- not executed: (?P<reason>[^\n]+?) -->\n)?"
    r"```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    body: str
    title: str | None
    reason: str | None

    @property
    def is_doctest(self):
        return self.language == "python" and ">>> " in self.body

    @property
    def commands(self):
        """Command lines and what the page says they print."""
        if self.language == "bash":
            lines = self.body.replace("\\\n", " ").splitlines()
            yield from ((shlex.split(line, comments=True), "") for line in lines)
            return
        for part in re.split(r"^\$ ", self.body, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield shlex.split(line, comments=True), output

    @property
    def is_only_looked_at(self):
        """Whether its commands are not run: marked ones, and shell lines without prompts."""
        if self.language == "bash":
            return not self.body.startswith("#!")
        return self.language == "console" and self.reason is not None


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("\n```") % 2 == (1 if text.startswith("```") else 0), "a fence is open"
    return [Block(m["language"], m["body"], m["title"], m["reason"]) for m in FENCE.finditer(text)]


def pages_with(wanted):
    chosen = [
        page
        for page in PAGES
        if page.name not in ELSEWHERE and any(wanted(block) for block in blocks_of(page))
    ]
    return pytest.mark.parametrize("page", chosen, ids=lambda page: page.name)


def runs(block):
    return block.language == "console" or (block.language == "python" and not block.is_doctest)


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str  # with what goes to standard error, in the order of the terminal


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder of a reader."""
    monkeypatch.chdir(tmp_path)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def environment(folder):
    return {
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PATH": f"{BINARIES}{os.pathsep}{os.environ['PATH']}",
        "VUSKIT_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
    }


def run(command, folder):
    """Run a command; `vuskit` without the time that a process takes to start."""
    if command[0] != "vuskit":
        return run_process(command, folder)
    printed = io.StringIO()
    with (
        forgotten_modules(folder),
        forgotten_names(),
        mock.patch.object(sys, "argv", command),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main.run()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
    return Done(code, printed.getvalue())


def run_process(command, folder):
    """Run a command as a reader would, in a process of its own."""
    program, *arguments = command
    if program == "python":
        command = [sys.executable, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout)


def matches(wanted, shown):
    """Whether lines agree; a line ``...`` stands for any lines."""
    parts = [re.escape(line.rstrip()) + "\n" if line != "..." else "(?s:.*)" for line in wanted]
    return re.fullmatch("".join(parts), "".join(line.rstrip() + "\n" for line in shown))


@pages_with(runs)
def test_commands_do_what_the_page_says(page, folder):
    for block in blocks_of(page):
        if block.reason is not None or block.is_doctest:
            continue
        if block.title is not None:
            (folder / block.title).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            outcome = run(["python", "-c", block.body], folder)
            assert outcome.returncode == 0, outcome.stdout
        elif block.language == "console":
            for command, expected in block.commands:
                outcome = run(command, folder)
                assert outcome.returncode == 0, (command, outcome.stdout)
                shown = outcome.stdout.splitlines()
                assert matches(expected.splitlines(), shown), (command, outcome.stdout)


def test_a_command_is_a_process(folder):
    """The others run in the process of the tests."""
    done = run_process(["vuskit", "evaluate", "missing.csv"], folder)
    assert done == run(["vuskit", "evaluate", "missing.csv"], folder)
    assert done.returncode == 2
    assert "missing.csv" in done.stdout


@pytest.mark.parametrize(
    ("wanted", "shown", "same"),
    [
        ("a\nb", "a\nb", True),
        ("a\n...", "a\nb\nc", True),
        ("...", "", True),
        ("a\n...\nd", "a\nd", True),
        ("a", "a\nb", False),
        ("a\n...\nd", "a\nb", False),
        ("a.c", "abc", False),
    ],
)
def test_dots_stand_for_any_lines(wanted, shown, same):
    assert bool(matches(wanted.splitlines(), shown.splitlines())) == same


@cache
def vuskit_command():
    from vuskit.cli.app import app

    return typer.main.get_command(app)


@cache
def help_of(script):
    outcome = run(["python", script, "--help"], ROOT)
    assert outcome.returncode == 0, outcome.stdout
    return outcome.stdout


@cache
def help_of_dask(subcommand):
    from importlib.metadata import entry_points

    (point,) = (p for p in entry_points(group="dask_cli") if p.name == subcommand)
    return {option for parameter in point.load().params for option in parameter.opts}


def check_vuskit(arguments):
    command = vuskit_command()
    while arguments and hasattr(command, "commands"):
        word, *arguments = arguments
        assert word in command.commands, word
        command = command.commands[word]
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    unknown = {word.split("=")[0] for word in arguments if word.startswith("-")} - known
    assert not unknown - {"--debug", "--help"}


def check_make(arguments):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {word for word in arguments if "=" not in word} <= targets


def check_python(arguments):
    script, *options = arguments
    assert (ROOT / script).is_file(), script
    for option in options:
        if option.startswith("--"):
            assert option in help_of(script), option


def check_dask(arguments):
    known = help_of_dask(arguments[0])
    assert {word for word in arguments if word.startswith("--")} <= known


def check_pip(arguments):
    assert arguments[0] == "install"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra in re.findall(r"\[(\w+)\]", " ".join(arguments)):
        assert extra in project["optional-dependencies"]


def check_ssh(arguments):
    option, ports, _, program, *rest = arguments
    assert (option, ports.count(":")) == ("-L", 2)
    CHECKS[program](rest)


CHECKS = {
    "vuskit": check_vuskit,
    "make": check_make,
    "python": check_python,
    "dask": check_dask,
    "pip": check_pip,
    "ssh": check_ssh,
}


@pages_with(lambda block: block.is_only_looked_at)
def test_commands_that_are_not_run_exist(page):
    for block in blocks_of(page):
        if block.is_only_looked_at:
            for (program, *arguments), expected in block.commands:
                assert not expected.strip(), "output that nothing verifies"
                CHECKS[program](arguments)


def test_commands_of_the_readme_exist():
    """`make release-check` runs them."""
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| you have | run |")[2]
    lines = re.findall(r"`vuskit ([^`]+)`", table.partition("\n\n")[0])
    assert len(lines) >= 7
    for line in lines:
        check_vuskit(shlex.split(line))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_is_of_a_kind_that_is_checked(page):
    for block in blocks_of(page):
        known = block.is_only_looked_at or block.language in {"console", "toml", "python"}
        assert known or block.reason or block.language in ILLUSTRATIONS, block.body


def is_part_of_plan(block):
    return block.language == "toml" and block.title is None and not block.reason


@pages_with(is_part_of_plan)
def test_plans_can_be_read(page, folder):
    """Those that no command of the page runs."""
    (folder / "my_module.py").write_text("def my_function(values):\n    return abs(values)\n")
    (folder / "my_models.py").write_text(
        "from sklearn.ensemble import IsolationForest\n\ndef make_model():\n"
        "    return IsolationForest()\n"
    )
    for block in filter(is_part_of_plan, blocks_of(page)):
        check_plan(block.body, folder)


def check_plan(text, folder):
    """Read a plan; where it shows one table only, with the least that makes it whole."""
    from vuskit.bench.plan import parse_plan

    given = tomllib.loads(text)
    for table in [*given.get("series", []), *given.get("scores", [])]:
        (folder / table.get("folder", ".")).mkdir(parents=True, exist_ok=True)
    if "series" not in given and "scores" not in given:
        text += '\n[[series]]\nfamily = "ecg"\n'
    if "detectors" not in given and "scores" not in given:
        text += '\n[[detectors]]\nname = "random"\n'
    plan = parse_plan(text, base=folder)
    assert plan.folder.is_relative_to(folder)


@pages_with(lambda block: block.language == "bash")
def test_shell_scripts_can_be_parsed(page):
    for block in blocks_of(page):
        if block.language == "bash":
            subprocess.run(["bash", "-n"], input=block.body, text=True, check=True)
            joined = block.body.replace("\\\n", " ")
            for line in re.findall(r"dask (?:ssh|worker|scheduler) [^\n]*", joined):
                check_dask(shlex.split(line.rstrip("& "))[1:])


@pages_with(lambda block: block.language == "yaml")
def test_manifests_can_be_parsed(page):
    import yaml

    for block in blocks_of(page):
        if block.language == "yaml":
            assert yaml.safe_load(block.body)["kind"]

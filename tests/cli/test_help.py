"""The help of every command: it fits, it shows an example, and the example is one."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from cli.tree import LEAVES
from waiting import PATIENCE

from vuskit.cli._exit_codes import ExitCode
from vuskit.cli.app import app

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def test_all_commands_are_there():
    groups = {line.split()[0] for line in LEAVES}
    assert groups >= {"evaluate", "compare", "bench", "study", "data", "list", "demo", "doctor"}


def test_options_that_pages_name_exist():
    known = {"--help", "--nthreads"}  # the latter is Dask's
    for command in (*LEAVES.values(), typer.main.get_command(app)):
        known.update(name for one in command.params for name in (*one.opts, *one.secondary_opts))
    for page in (DOCS.parents[1] / "README.md", *DOCS.parent.glob("*.md")):
        named = re.findall(r"`(?:vuskit [\w ]+)?(--[a-z][a-z0-9-]+)", page.read_text("utf-8"))
        assert not set(named) - known, page.name


@pytest.mark.parametrize("line", LEAVES)
def test_help_fits_and_has_an_example(command, line):
    outcome = command(*line.split(), "--help")
    assert outcome.code == 0
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert "\x1b" not in outcome.out
    assert "Example" in outcome.out


@pytest.mark.parametrize("line", LEAVES)
def test_the_example_is_a_line_that_the_command_takes(line):
    command = LEAVES[line]
    found = re.search(rf"Example: vuskit ({line}\b.*)", command.help or "")
    assert found, command.help
    words = shlex.split(found[1])[len(line.split()) :]
    context = command.make_context(line, words)  # ends with an error where it does not fit
    assert context.params


def test_exit_codes_are_said_in_help_and_documentation(command):
    text = " ".join(command("--help").out.split())
    docs = DOCS.read_text(encoding="utf-8")
    for code in ExitCode:
        assert f"{code:d} {code.meaning}" in text
        assert f"| {code:d} | {code.meaning} |" in docs


@pytest.mark.parametrize("line", ["evaluat", "bench stats", "evaluate x.csv --lable y"])
def test_mistyped_words_get_the_right_ones(command, line):
    outcome = command(*line.split())
    assert outcome.code == 2
    text = re.sub(r"[\s│]+", " ", outcome.err)
    assert re.search(r"[Dd]id you mean|[Pp]ossible options", text)


def test_no_colors_where_they_are_not_wanted(tmp_path):
    reader, writer = pty.openpty()
    code = "import sys; sys.argv[0] = 'vuskit'; from vuskit.cli.main import run; run()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "evaluate", "--help"],
        stdout=writer,
        stderr=writer,
        env={**os.environ, "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(writer)
    shown = b""
    try:
        while part := os.read(reader, 4096):
            shown += part
    except OSError:  # Linux says so when the other side closes
        pass
    os.close(reader)
    assert process.wait(timeout=PATIENCE) == 0
    assert b"Evaluate the anomaly scores" in shown
    # Bold and dim are no colors; 30 to 37 and 90 to 97 would be.
    assert not re.search(rb"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])(?:;\d+)*m", shown)


def test_unexpected_errors_are_a_sentence_too(command, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr("vuskit.datasets.list_datasets", broken)
    outcome = command("data", "list")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        "vuskit: internal error (RuntimeError: a bug); add --debug to see the traceback, "
        "and please report it\n"
    )
    with pytest.raises(RuntimeError, match="a bug"):
        command("data", "list", "--debug")

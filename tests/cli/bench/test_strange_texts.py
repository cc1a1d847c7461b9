"""File names and error texts that cannot be stored or shown as they are never stop a run."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest
from cli.terminal import COMMAND

PLAN = """
[[series]]
folder = "data"
[[detectors]]
name = "values"
[[detectors]]
name = "hostile:surrogates"
label = "=HYPERLINK(x)"
[[detectors]]
name = "hostile:long"
[[detectors]]
name = "hostile:control"
label = "<b>bold</b>"
[[detectors]]
name = "hostile:interrupts"
[[detectors]]
name = "hostile:exits"
[[evaluate]]
measures = ["auc_pr"]
buffer = 5
[executor]
workers = 1
"""
HOSTILE = r"""
def surrogates(values):
    raise RuntimeError("caf\udce9 \ud800 \x00")

def long(values):
    raise RuntimeError("x" * 50_000_000)

def interrupts(values):
    raise KeyboardInterrupt

def exits(values):
    raise SystemExit(0)

def control(values):
    raise RuntimeError("\x1b[2J\x9b31m\u202e[bold]rich[/bold]\x07")
"""
ROWS = "value,label\n" + "".join(f"{i % 7},{int(20 <= i < 25)}\n" for i in range(60))


@pytest.fixture
def folder(tmp_path):
    """A plan in a folder whose name is not UTF-8, with data in such a file."""
    base = os.path.join(os.fsencode(tmp_path), b"pl\xe4ne")
    os.makedirs(os.path.join(base, b"data"))
    for name, content in (
        (b"bench.toml", PLAN), (b"hostile.py", HOSTILE), (b"data/caf\xe9.csv", ROWS)
    ):  # fmt: skip
        with open(os.path.join(base, name), "w") as stream:
            stream.write(content)
    return base


def run(folder, *arguments, code=0):
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        env={**os.environ, "COLUMNS": "120"},
    )
    err = done.stderr.decode()  # valid UTF-8
    assert done.returncode == code, err
    assert "Traceback" not in err
    for text in (done.stdout.decode(), err):
        assert not set("\x1b\x07\x9b\u202e\x00").intersection(text)
        assert len(text) < 100_000
    return done.stdout.decode(), err


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such file names")
def test_strange_names_and_errors(folder):
    assert "caf\\xe9" in run(folder, "bench", "plan")[0]
    err = run(folder, "bench", "run", "--plain", code=3)[1]
    assert "hostile:surrogates" not in err  # by label
    assert r"\x1b[2J\x9b31m\u202e[bold]rich[/bold]\x07" in err
    assert "0/12 jobs, 0 failed\n" in err  # no remaining time before it is known
    again, err = run(folder, "bench", "run", "--plain", code=3)  # nothing blocks a restart
    assert "nothing left to run; the run has 7 of 7 jobs done" in again
    assert "7/7 jobs, 0 failed\n" in err  # neither a rate nor a remaining time
    status, _ = run(folder, "bench", "status")
    assert "RuntimeError: caf" in status
    failures = json.loads(run(folder, "bench", "status", "--json")[0])["failures"]
    assert {one["series"] for one in failures} == {"caf\\xe9"}
    assert {one["status"] for one in failures} == {"ERROR"}
    assert len(failures) == 5
    run(folder, "bench", "verify", "--sample", "5")
    run(folder, "bench", "leaderboard")
    run(folder, "bench", "export", "-o", "all.csv")
    run(folder, "report", "bench-run", "-o", "page.html")
    with open(os.path.join(folder, b"all.csv"), encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["detector"] for row in rows} == {
        "Values", "'=HYPERLINK(x)", "hostile:long", "<b>bold</b>",
        "hostile:interrupts", "hostile:exits"
    }  # fmt: skip
    assert {row["series"] for row in rows} == {"caf\\xe9"}
    shown = run(folder, "bench", "export", "--csv")[0]
    with open(os.path.join(folder, b"all.csv"), encoding="utf-8") as stream:
        assert stream.read() == shown  # files and standard output agree

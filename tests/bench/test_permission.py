"""Code named in a store runs with permission only, and is listed otherwise; real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vuskit.bench import Run
from vuskit.bench.permission import plan_code
from vuskit.errors import InvalidInputError

COMMAND = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
# Whoever imports it leaves a trace.
MODULE = """
import pathlib
import vuskit

(pathlib.Path(__file__).parent / "imported").touch()

@vuskit.register_measure(name="half", title="Half")
def half(y_true, y_score):
    return 0.5

def detect(values):
    return values
"""


@pytest.fixture
def packed(workshop, environment):
    """A run that was made elsewhere, and a way to run commands on it."""
    desk = workshop.base / "desk"  # python -c imports from where it is started
    desk.mkdir()
    code = workshop.base / "package"
    code.mkdir()
    (code / "__init__.py").write_text("")
    (code / "mine.py").write_text(MODULE)
    workshop.write(
        detectors=['name = "values"', 'name = "package.mine:detect"'],
        top='imports = ["package.mine"]',
        evaluate='[[evaluate]]\nmeasures = ["auc_pr"]\nbuffer = 5\n'
        '[[evaluate]]\nmeasures = ["half"]\nbuffer = 9',
        tail="[executor]\nworkers = 1",
    )

    def command(*arguments, code=0):
        done = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            capture_output=True, text=True, check=False, env=environment, cwd=desk,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout, done.stderr

    command("bench", "run", "--plain", workshop.path)
    workshop.imported = code / "imported"
    workshop.imported.unlink()
    # A module of the plan's folder must not take the place of a library either.
    (workshop.base / "pandas.py").write_text(MODULE)
    return workshop, command


def test_only_permitted_code_runs(packed):
    workshop, command = packed
    folder = workshop.folder
    listed = f"package.mine ({workshop.base / 'package' / 'mine.py'})"
    score, own, package = (
        workshop.query(f"SELECT key FROM planned WHERE {where}")[0][0]
        for where in (
            "kind = 'score' AND detector LIKE 'package.mine:%'",
            "settings LIKE 'buffer=9%'",
            "settings LIKE 'buffer=5%'",
        )
    )

    out, err = command("bench", "verify", folder)
    assert "4 score files, 12 results, 4 values recomputed, 0 problems" in out
    assert "4 evaluations were not recomputed: that would run custom code" in err
    assert listed in err
    for key in (score, own):
        _, err = command("bench", "run-job", folder, key, code=2)
        assert "would run custom code" in err
        assert listed in err
        assert "--allow-code" in err
    assert (
        f"package.mine:detect ({workshop.base}"
        in command("bench", "run-job", folder, score, code=2)[1]
    )
    command("bench", "run-job", folder, package)
    assert listed in command("bench", "retry", folder, code=2)[1]
    # Commands that only read import nothing, whether they get the folder or the plan.
    for target in (folder, workshop.path):
        command("bench", "status", target)
        command("bench", "leaderboard", target)
        command("bench", "export", target, "-o", workshop.base / "x.csv")
        command("report", target, "-o", workshop.base / "x.html")
    assert not workshop.imported.exists()
    assert not (workshop.base / "imported").exists()

    (workshop.base / "pandas.py").unlink()
    out, err = command("bench", "verify", folder, "--allow-code")
    assert "12 results, 8 values recomputed, 0 problems" in out
    assert "not recomputed" not in err
    assert workshop.imported.exists()
    assert "half " in command("bench", "run-job", folder, own, "--allow-code")[0]
    assert "scores from" in command("bench", "run-job", folder, score, "--allow-code")[0]


def test_a_damaged_score_file_is_repaired_and_evaluated_again(packed):
    workshop, command = packed
    (workshop.base / "pandas.py").unlink()
    values = workshop.values()
    for path in sorted(workshop.folder.rglob("*.npy")):
        path.write_bytes(b"broken")
    # A new measure needs the broken files.
    text = workshop.path.read_text().replace('["auc_pr"]', '["auc_pr", "auc_roc"]')
    workshop.path.write_text(text)
    err = command("bench", "run", "--plain", workshop.path, code=3)[1]
    assert "not computed" in err
    command("bench", "verify", workshop.folder, "--repair", code=4)
    command("bench", "run", "--plain", workshop.path)
    assert len(workshop.values()) == len(values) + 4
    now = {value for (_, name), value in workshop.values().items() if name != "auc_roc"}
    assert set(values.values()) == now
    assert workshop.query("SELECT DISTINCT status FROM results") == [("OK",)]
    command("bench", "verify", workshop.folder, "--allow-code")


def test_the_code_of_a_plan():
    text = 'imports = ["a.b"]\n[[detectors]]\nname = "lof"\n[[detectors]]\nname = "json:dumps"'
    found = plan_code(text, Path())
    assert [one.partition(" ")[0] for one in found] == ["a.b", "json:dumps"]
    assert "json/__init__.py" in found[1]
    assert plan_code("not toml =", Path()) == ()
    assert plan_code("imports = 3\ndetectors = 4", Path()) == ()


def test_a_stored_plan_needs_permission(workshop):
    workshop.write().run()
    with pytest.raises(InvalidInputError, match=r"misbehaving:fine \(.*misbehaving.py\)"):
        Run(workshop.folder).plan()
    assert Run(workshop.folder).plan(allow_code=True).folder == workshop.folder

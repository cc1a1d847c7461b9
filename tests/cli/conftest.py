"""The command ``vuskit`` as a user meets it, without the cost of a process."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli.json_keys import key_paths
from fresh import forgotten_names

from vuskit.cli import main
from vuskit.datasets.synthetic import three_scores

SNAPSHOTS = Path(__file__).parent / "snapshots"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def own_registries():
    """Forget what a test registers."""
    with forgotten_names():
        yield


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run a command line in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("VUSKIT_CACHE", str(tmp_path / "cache"))

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["vuskit", *map(str, arguments)])
        capsys.readouterr()
        try:
            main.run()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return run


@pytest.fixture
def snapshot():
    """Compare a text with the one that is kept, line by line.

    With VUSKIT_SNAPSHOTS=write in the environment it is kept from now on; look at the difference.
    """

    def check(name, text, width=80):
        path = SNAPSHOTS / f"{name}.txt"
        if os.environ.get("VUSKIT_SNAPSHOTS") == "write":
            path.write_text(text, encoding="utf-8")
        assert text.splitlines() == path.read_text(encoding="utf-8").splitlines()
        assert max(map(len, text.splitlines())) <= width

    return check


@pytest.fixture
def same_keys():
    """Compare the keys of a JSON document with those that are kept, as `snapshot` does."""

    def check(name, found):
        path = SNAPSHOTS / "keys.json"
        kept = json.loads(path.read_text(encoding="utf-8"))
        keys = sorted(key_paths(found))
        if os.environ.get("VUSKIT_SNAPSHOTS") == "write":
            kept[name] = keys
            path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        assert keys == kept[name]

    return check


@pytest.fixture
def scores_csv(tmp_path):
    """The built-in series with three scores, saved."""
    path = tmp_path / "scores.csv"
    three_scores().to_frame().round(6).to_csv(path, index=False)
    return path

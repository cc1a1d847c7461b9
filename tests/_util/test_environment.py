"""Versions, machine and digest of the measured code."""

from __future__ import annotations

from pathlib import Path

import vuskit
from vuskit._util import environment


def test_environment_names_versions_and_machine():
    found = environment.describe_environment()
    assert found["vuskit"] == vuskit.__version__
    assert found["libraries"]["numpy"]
    assert environment.describe_machine().items() <= found.items()


def test_digest_covers_kernels_and_measures_only(monkeypatch, tmp_path):
    for name in ("kernels/sweep/a.py", "measures/b.py", "algorithms/c.py", "inputs.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    monkeypatch.setattr(vuskit, "__file__", str(tmp_path / "__init__.py"))
    seen = {environment.digest_of_measured_code()}
    for name in ("kernels/sweep/a.py", "measures/b.py", "algorithms/c.py", "inputs.py"):
        (tmp_path / name).write_text("2")
        seen.add(environment.digest_of_measured_code())
    assert len(seen) == 5
    (tmp_path / "report").mkdir()
    Path(tmp_path / "report" / "d.py").write_text("3")
    assert environment.digest_of_measured_code() in seen

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


def test_digest_covers_kernels_and_measures_only(tmp_path):
    for name in ("kernels/sweep/a.py", "measures/b.py", "algorithms/c.py", "inputs.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    seen = {environment.digest_of_measured_code(tmp_path)}
    for name in ("kernels/sweep/a.py", "measures/b.py", "algorithms/c.py", "inputs.py"):
        (tmp_path / name).write_text("2")
        seen.add(environment.digest_of_measured_code(tmp_path))
    assert len(seen) == 5
    (tmp_path / "report").mkdir()
    Path(tmp_path / "report" / "d.py").write_text("3")
    assert environment.digest_of_measured_code(tmp_path) in seen

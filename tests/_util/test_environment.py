"""Versions, machine and digest of the measured code."""

from __future__ import annotations

from pathlib import Path

import vuskit
from vuskit._util import environment
from vuskit.kernels.backend import core_name


def test_environment_names_versions_and_machine():
    found = environment.describe_environment()
    assert found["vuskit"] == vuskit.__version__
    assert found["libraries"]["numpy"]
    assert found["core"] == core_name()
    assert environment.installed_versions()["core"] == core_name()
    assert environment.describe_machine().items() <= found.items()


def test_digest_covers_kernels_and_measures_only(tmp_path):
    modules = ("kernels/sweep/a.py", "measures/b.py", "algorithms/c.py", "inputs.py")
    native = ("kernels/core/d.c", "kernels/core/d.h", "kernels/_core.so", "kernels/_core.pyd")
    for name in (*modules, *native):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    seen = {environment.digest_of_measured_code(tmp_path)}
    for name in (*modules, *native):
        (tmp_path / name).write_text("2")
        seen.add(environment.digest_of_measured_code(tmp_path))
    assert len(seen) == 9
    (tmp_path / "report").mkdir()
    Path(tmp_path / "report" / "d.py").write_text("3")
    assert environment.digest_of_measured_code(tmp_path) in seen

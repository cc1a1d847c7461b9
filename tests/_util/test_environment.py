"""Versions and machine."""

from __future__ import annotations

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

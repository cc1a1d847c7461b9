"""Optional libraries, versions and machine."""

from __future__ import annotations

import pytest

import vuskit
from vuskit._util.optional import describe_environment, installed_versions, is_installed, require
from vuskit.errors import MissingDependencyError
from vuskit.kernels.backend import core_name


def test_missing_library_names_the_install_command():
    assert not is_installed("no_such_library")
    with pytest.raises(MissingDependencyError, match=r'drawing needs no_such.*"vuskit\[x\]'):
        require("no_such_library.part", purpose="drawing", extra="x")


def test_installed_library():
    assert is_installed("json")
    assert require("os.path", purpose="paths").join("a", "b") == "a/b"


def test_environment_names_versions_and_machine():
    found = describe_environment()
    assert found["vuskit"] == vuskit.__version__
    assert found["libraries"]["numpy"]
    assert found["core"] == core_name() == installed_versions()["core"]
    assert found["cpus"] >= 1

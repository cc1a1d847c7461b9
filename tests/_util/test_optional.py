"""Optional libraries."""

from __future__ import annotations

import pytest

from vuskit._util.optional import is_installed, require
from vuskit.errors import MissingDependencyError


def test_missing_library_names_the_install_command():
    assert not is_installed("no_such_library")
    with pytest.raises(MissingDependencyError, match=r'drawing needs no_such.*"vuskit\[x\]'):
        require("no_such_library.part", purpose="drawing", extra="x")


def test_installed_library():
    assert is_installed("json")
    assert require("os.path", purpose="paths").join("a", "b") == "a/b"

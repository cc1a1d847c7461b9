"""Which tests of detectors stay together."""

from __future__ import annotations

import pytest

_COMPILED = ("mp", "norma")


def pytest_collection_modifyitems(items):
    """Give the detectors on stumpy to one process: each would compile it anew."""
    for item in items:
        if "tests/detectors" in item.path.as_posix() and _uses_stumpy(item.name):
            item.add_marker(pytest.mark.xdist_group("stumpy"))


def _uses_stumpy(name):
    function, _, parameters = name.partition("[")
    words = {*function.split("_"), *parameters.rstrip("]").split("-")}
    return not words.isdisjoint(_COMPILED)

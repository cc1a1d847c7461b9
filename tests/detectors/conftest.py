"""Which tests of detectors stay together."""

from __future__ import annotations

import pytest

_COMPILED = ("mp", "norma")


def pytest_collection_modifyitems(items):
    """Give the detectors on stumpy to one process: each would compile it anew."""
    for item in items:
        if _uses_stumpy(item.path, item.name):
            item.add_marker(pytest.mark.xdist_group("stumpy"))


def _uses_stumpy(path, name):
    if path.parent.name != "detectors":
        return False
    if path.stem in _COMPILED:
        return True  # an example in a docstring
    function, _, parameters = name.partition("[")
    words = {*function.split("_"), *parameters.rstrip("]").split("-")}
    return not words.isdisjoint(_COMPILED)

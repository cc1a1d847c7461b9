"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("default")


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Folder of conformance cases, real series and published numbers."""
    folder = os.environ.get("VUSKIT_TEST_DATA")
    if not folder:
        pytest.skip("VUSKIT_TEST_DATA is not set: no reference data to compare with")
    return Path(folder)

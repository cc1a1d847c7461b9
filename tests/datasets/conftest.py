"""Where the real series are, if they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    root = os.environ.get("VUSKIT_TEST_DATA")
    if not root:
        pytest.skip("VUSKIT_TEST_DATA is not set: no real series to read")
    return Path(root) / "data"

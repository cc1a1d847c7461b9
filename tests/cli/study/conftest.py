"""Studies without their figures, where a test looks at tables and messages only."""

from __future__ import annotations

import pytest

from vuskit.studies import list_studies


@pytest.fixture
def illustrated():
    """For tests that need the figures."""


@pytest.fixture(autouse=True)
def _unillustrated(request, monkeypatch):
    """Draw no figures: they take most of the time, and have tests of their own."""
    if "illustrated" not in request.fixturenames:
        for study in list_studies():
            monkeypatch.setattr(study.result, "figures", lambda _: {})

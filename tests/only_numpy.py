"""Check that an environment holds vuskit, NumPy and the installer only. Run it with that Python."""

from __future__ import annotations

import sys
from importlib.metadata import distributions

ALLOWED = {"vuskit", "numpy", "pip", "setuptools", "wheel"}

extra = sorted({found.metadata["Name"] for found in distributions()} - ALLOWED)
if extra:
    sys.exit(f"the core install must bring NumPy alone, got also: {', '.join(extra)}")

import vuskit  # noqa: E402  # the check of the environment comes first

labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
assert len(vuskit.evaluate(labels, score, buffer=2)) == 13

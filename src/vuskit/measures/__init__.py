"""Accuracy measures, their registry, and their evaluation.

Importing this package registers the measures. The order of the imports is that of the registry:
first the measures of the VUS paper, then the others.
"""

from __future__ import annotations

# isort: off
from vuskit.measures import point, ranges, vus, best, event, proximity, ucr  # noqa: F401

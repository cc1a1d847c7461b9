"""Synthetic series, labels and scores, generated from a seed with NumPy only."""

from __future__ import annotations

from vuskit.datasets.synthetic import ecg, kpi, mackey_glass, telemetry, vibration
from vuskit.datasets.synthetic.demo import (
    three_scores,
)
from vuskit.datasets.synthetic.make import (
    Family,
    labeled_scores,
    labels_with_events,
    list_families,
    make_series,
    register_family,
)

__all__ = [
    "Family",
    "labeled_scores",
    "labels_with_events",
    "list_families",
    "make_series",
    "register_family",
    "three_scores",
]

FAMILY_MODULES = (ecg, kpi, mackey_glass, telemetry, vibration)

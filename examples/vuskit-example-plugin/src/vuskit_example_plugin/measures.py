"""A measure."""

from __future__ import annotations

from typing import Any

import numpy as np

from vuskit import register_measure


@register_measure(name="top_hit", title="Top hit")
def top_hit(y_true: Any, y_score: Any) -> float:
    """Return 1 if the highest score lies in an anomaly, else 0."""
    return float(y_true[np.argmax(y_score)])

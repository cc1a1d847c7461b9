"""A user's measure; the storm edits its constant."""

from __future__ import annotations

import numpy as np

from vuskit import register_measure

TOP = 10


@register_measure(name="storm_top", title="Top share")
def storm_top(y_true, y_score):
    """Share of anomalous points among the highest scores."""
    return float(np.mean(y_true[np.argsort(-y_score, kind="stable")[:TOP]]))

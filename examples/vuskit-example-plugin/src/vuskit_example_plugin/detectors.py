"""A detector."""

from __future__ import annotations

from typing import Any

import numpy as np

from vuskit.detectors import Detector, register_detector


@register_detector("median_distance", title="Median distance")
class MedianDistance(Detector):
    """Distance of each point from the median of the training part."""

    stochastic = False

    def _fit(self, train: Any, progress: Any) -> None:
        self.median_ = np.median(train, axis=0)

    def _score(self, values: Any) -> Any:
        return np.abs(values - self.median_).max(axis=1)

"""Every error and warning of vuskit, in one place."""

from __future__ import annotations

import os
import sys
import warnings

__all__ = [
    "BufferNotFoundError",
    "ChangedInputError",
    "InvalidInputError",
    "InvertedScoreWarning",
    "MeasureError",
    "MissingDependencyError",
    "PluginWarning",
    "PredictionAsScoreWarning",
    "ThresholdResolutionWarning",
    "UndefinedMeasureWarning",
    "VuskitError",
    "warn",
]


class VuskitError(Exception):
    """Base class of the errors that vuskit raises on purpose."""


class InvalidInputError(VuskitError, ValueError):
    """An array or a parameter cannot be evaluated; the text names it and the first bad index."""


class BufferNotFoundError(InvalidInputError):
    """A strategy finds no buffer for a series, or lacks the values or labels that it looks at."""


class ChangedInputError(InvalidInputError):
    """A file differs from what was read before; the text names it and what to do."""


class MeasureError(VuskitError, RuntimeError):
    """A measure of the user's own failed; the text names it, the cause is the error it raised."""


class MissingDependencyError(VuskitError, ImportError):
    """An optional library is needed; the text holds the ``pip install`` line that brings it."""


class PluginWarning(UserWarning):
    """An installed plug-in cannot be loaded; the text names its distribution."""


class UndefinedMeasureWarning(UserWarning):
    """The measure has no value (only one class, or no buffer was found); NaN is returned."""


class InvertedScoreWarning(UserWarning):
    """A score is so far below chance that its negative is a good score."""


class PredictionAsScoreWarning(UserWarning):
    """A score of zeros and ones was cut again, by a threshold that none of them reaches."""


class ThresholdResolutionWarning(UserWarning):
    """The grid of thresholds is too coarse to see the anomalies."""


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Warn, and name the line outside this package from which the call came."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)

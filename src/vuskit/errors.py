"""Errors and warnings of vuskit."""

from __future__ import annotations

import os
import sys
import warnings

__all__ = [
    "BufferNotFoundError",
    "ChangedInputError",
    "ClusterError",
    "InvalidInputError",
    "InvertedScoreWarning",
    "LongBufferWarning",
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
    """Base class of all vuskit errors."""


class InvalidInputError(VuskitError, ValueError):
    """An array or parameter is invalid; the message names it and the first invalid index."""


class BufferNotFoundError(InvalidInputError):
    """A strategy finds no buffer for a series, or its values or labels are missing."""


class ChangedInputError(InvalidInputError):
    """A file changed since it was read; the message names it and says what to do."""


class ClusterError(InvalidInputError):
    """A Dask cluster cannot run tasks: no connection, or no worker with the same versions."""


class MeasureError(VuskitError, RuntimeError):
    """A custom measure failed; the message names it and the cause is its exception."""


class MissingDependencyError(VuskitError, ImportError):
    """An optional library is missing; the message gives the ``pip install`` command."""


class PluginWarning(UserWarning):
    """An installed plug-in cannot be loaded; the message names its distribution."""


class UndefinedMeasureWarning(UserWarning):
    """The measure is undefined (only one class, or no buffer was found) and returns NaN."""


class InvertedScoreWarning(UserWarning):
    """A score is so far below chance that its negative would be a good score."""


class LongBufferWarning(UserWarning):
    """The buffers are so long for a series that random scores reach high values."""


class PredictionAsScoreWarning(UserWarning):
    """A score holds only zeros and ones, and the threshold is above both."""


class ThresholdResolutionWarning(UserWarning):
    """The grid of thresholds is too coarse for the anomalies."""


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points to the caller's line outside this package."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)

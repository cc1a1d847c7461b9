"""Numbers behind the page's drawings: few enough to send, enough to look at."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.inputs import check_labels
from vuskit.kernels.definitions import DEFINITIONS
from vuskit.measures.surface import surface
from vuskit.measures.workspace import BufferOptions, PreparedLabels, Workspace
from vuskit.report.evaluation import EvaluationReport

__all__ = ["drawing_data", "thinned"]

Floats = NDArray[np.float64]

_BYTES = 2_500_000  # of all lines together, encoded
_BYTES_PER_NUMBER = 16 / 3  # single precision in base64
_BUFFERS = 40
_GRID = 61
_ALL_SCORES = 20_000  # up to here a surface takes every distinct score as a threshold
_THRESHOLDS = 5_000
_AREAS = 200


def drawing_data(report: EvaluationReport) -> dict[str, Any]:
    """Everything that the page draws, ready for JSON."""
    n = int(report.labels.size)
    lines = len(report.scores) + (report.values is not None)
    room = int(_BYTES / _BYTES_PER_NUMBER / lines)
    definition = DEFINITIONS[report.table.definition]
    longest = report.table.buffer
    return {
        "n": n,
        "events": report.bounds,
        "buffer": longest,
        "ramp": {
            "slope": definition.slope,
            "shorter": definition.after_is_shorter,
            "overlap": definition.overlap,
        },
        "values": None if report.values is None else _line(report.values, room),
        "scores": [
            {
                "name": name,
                "line": _line(score, room),
                "threshold": report.events[name].threshold,
                **_surfaces(report, score),
                **_areas(report, score),
            }
            for name, score in report.scores.items()
        ],
        "grid": _GRID,
        "widths": _widths(longest, _BUFFERS),
        "area_widths": _widths(longest, _AREAS),
    }


def _widths(longest: int, most: int) -> list[int]:
    return list(range(0, longest + 1, _step(longest, most)))


def _step(longest: int, most: int) -> int:
    return max(-(-longest // most), 1)


def thinned(line: Floats, room: int) -> tuple[Floats, int]:
    """Keep the lowest and highest point of every bucket, if there is no room for all.

    Returns
    -------
    tuple
        The numbers, and the points in a bucket: 1 if nothing was thinned, else the numbers are
        pairs.

    Examples
    --------
    >>> thinned(np.array([3.0, 1.0, 2.0, 5.0]), 2)
    (array([1., 5.]), 4)
    """
    if line.size <= room:
        return line, 1
    size = -(-2 * line.size // room)
    padded = np.concatenate([line, np.full(-line.size % size, line[-1])]).reshape(-1, size)
    # A bucket without any number stays a gap.
    low, high = np.fmin.reduce(padded, axis=1), np.fmax.reduce(padded, axis=1)
    return np.stack([low, high], axis=1).ravel(), size


def _line(line: Floats, room: int) -> dict[str, Any]:
    numbers, size = thinned(line, room)
    # Floats of half the size lose what no picture shows; a far offset would lose what it does.
    there = numbers[np.isfinite(numbers)]
    low, high = (float(there.min()), float(there.max())) if there.size else (0.0, 1.0)
    scale = high - low or 1.0
    return {"data": _encoded((numbers - low) / scale), "bucket": size, "low": low, "high": high}


def _encoded(numbers: Floats) -> str:
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")


def _surfaces(report: EvaluationReport, score: Floats) -> dict[str, str]:
    """ROC and PR surface, each curve read off at evenly spaced places of its axis."""
    found = surface(
        report.labels,
        score,
        max_buffer=report.table.buffer,
        thresholds=None if score.size <= _ALL_SCORES else _THRESHOLDS,
        definition=report.table.definition,
        step=_step(report.table.buffer, _BUFFERS),
    )
    places = np.linspace(0.0, 1.0, _GRID)
    roc = [
        np.interp(places, np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr, [1.0]]))
        for fpr, tpr in zip(found.fpr, found.tpr, strict=True)
    ]
    pr = [
        precision[np.minimum(np.searchsorted(tpr, places), tpr.size - 1)]
        for tpr, precision in zip(found.tpr, found.precision, strict=True)
    ]
    return {"roc": _encoded(np.array(roc)), "pr": _encoded(np.array(pr))}


def _areas(report: EvaluationReport, score: Floats) -> dict[str, list[float]]:
    """R-AUC by buffer, with the thresholds of the evaluation."""
    options = BufferOptions.of(
        "buffer",
        report.table.buffer,
        report.table.thresholds,
        definition=report.table.definition,
        step=_step(report.table.buffer, _AREAS),
    )
    prepared = PreparedLabels(check_labels(report.labels), options)
    roc, pr = Workspace(prepared, score, needs={"areas"}).areas
    count = len(_widths(report.table.buffer, _AREAS))
    return {"area_roc": _rounded(roc[:count]), "area_pr": _rounded(pr[:count])}


def _rounded(numbers: Floats) -> list[float]:
    return [round(float(number), 6) for number in np.clip(numbers, 0.0, 1.0)]

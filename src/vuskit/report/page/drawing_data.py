"""Numbers behind the page's drawings: few enough to send, enough to look at."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.inputs import check_labels
from vuskit.kernels.definitions import DEFINITIONS
from vuskit.measures.surface import surface_to_draw
from vuskit.measures.workspace import BufferOptions, PreparedLabels, Workspace
from vuskit.report.common import thinned
from vuskit.report.evaluation import EvaluationReport

__all__ = ["WHOLE", "Detail", "drawing_data", "encoded_floats", "encoded_shares"]

Floats = NDArray[np.float64]

_GAP = 65535  # of two bytes
_BYTES_PER_NUMBER = 8 / 3  # two bytes in base64


@dataclass(frozen=True)
class Detail:
    """How much of a series is kept for drawing.

    Attributes
    ----------
    line_bytes : int
        Of all lines together, encoded.
    buffers, grid : int
        Most buffers and places of a surface.
    all_scores : int
        Up to so many points a surface takes every distinct score as a threshold.
    thresholds : int
        Thresholds of the surface of a longer series.
    areas : int
        Most buffers of R-AUC against buffer.
    events : int
        Most rows of the table of anomalies.
    """

    line_bytes: int
    buffers: int
    grid: int
    all_scores: int
    thresholds: int
    areas: int
    events: int


WHOLE = Detail(
    line_bytes=2_500_000,
    buffers=40,
    grid=61,
    all_scores=20_000,
    thresholds=5_000,
    areas=200,
    events=300,
)


def drawing_data(report: EvaluationReport, detail: Detail = WHOLE) -> dict[str, Any]:
    """Everything that the page draws, ready for JSON."""
    n = int(report.labels.size)
    lines = len(report.scores) + (report.values is not None)
    room = max(int(detail.line_bytes / _BYTES_PER_NUMBER / lines), 2)
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
            "before": report.table.side != "after",
            "after": report.table.side != "before",
        },
        "values": None if report.values is None else _line(report.values, room),
        "scores": [
            {
                "name": name,
                "line": _line(score, room),
                "threshold": report.events[name].threshold,
                **_surfaces(report, score, detail),
                **_areas(report, score, detail),
            }
            for name, score in report.scores.items()
        ],
        "grid": detail.grid,
        "widths": _widths(longest, detail.buffers),
        "area_widths": _widths(longest, detail.areas),
    }


def _widths(longest: int, most: int) -> list[int]:
    """Evenly spaced buffers and the longest, whose areas the table shows."""
    return sorted({*range(0, longest + 1, _step(longest, most)), longest})


def _step(longest: int, most: int) -> int:
    return max(-(-longest // most), 1)


def _line(line: Floats, room: int) -> dict[str, Any]:
    numbers, size = thinned(line, room)
    # Two bytes lose what no picture shows.
    there = numbers[np.isfinite(numbers)]
    low, high = (float(there.min()), float(there.max())) if there.size else (0.0, 1.0)
    scale = high - low or 1.0
    return {
        "data": encoded_shares((numbers - low) / scale),
        "bucket": size,
        "low": low,
        "high": high,
    }


def encoded_floats(numbers: Floats) -> str:
    """Single precision in base64; NaN stays NaN."""
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")


def encoded_shares(numbers: Floats) -> str:
    """Numbers from 0 to 1 in two bytes each, in base64; NaN is a gap.

    Examples
    --------
    >>> list(base64.b64decode(encoded_shares(np.array([0.0, 1.0, np.nan]))))
    [0, 0, 254, 255, 255, 255]
    """
    there = np.isfinite(numbers)
    scaled = np.rint(np.clip(np.where(there, numbers, 0.0), 0.0, 1.0) * (_GAP - 1))
    return base64.b64encode(np.where(there, scaled, _GAP).astype("<u2").tobytes()).decode("ascii")


def _surfaces(report: EvaluationReport, score: Floats, detail: Detail) -> dict[str, str]:
    """ROC and PR surface, each curve read off at evenly spaced places of its axis."""
    found = surface_to_draw(
        report.labels,
        score,
        max_buffer=report.table.buffer,
        thresholds=None if score.size <= detail.all_scores else detail.thresholds,
        definition=report.table.definition,
        step=_step(report.table.buffer, detail.buffers),
        side=report.table.side,
    )
    places = np.linspace(0.0, 1.0, detail.grid)
    roc = [
        np.interp(places, np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr, [1.0]]))
        for fpr, tpr in zip(found.fpr, found.tpr, strict=True)
    ]
    pr = [
        precision[np.minimum(np.searchsorted(tpr, places), tpr.size - 1)]
        for tpr, precision in zip(found.tpr, found.precision, strict=True)
    ]
    return {"roc": encoded_shares(np.array(roc)), "pr": encoded_shares(np.array(pr))}


def _areas(report: EvaluationReport, score: Floats, detail: Detail) -> dict[str, list[float]]:
    """R-AUC by buffer, with the thresholds of the evaluation."""
    options = BufferOptions.of(
        "buffer",
        report.table.buffer,
        report.table.thresholds,
        definition=report.table.definition,
        step=_step(report.table.buffer, detail.areas),
        side=report.table.side,
    )
    prepared = PreparedLabels(check_labels(report.labels), options)
    roc, pr = Workspace(prepared, score, needs={"areas"}).areas
    return {"area_roc": _rounded(roc), "area_pr": _rounded(pr)}


def _rounded(numbers: Floats) -> list[float]:
    return [round(float(number), 6) for number in np.clip(numbers, 0.0, 1.0)]

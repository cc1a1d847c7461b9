"""The page of one evaluated series: its tables as markup, its drawings as data."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.inputs import check_labels
from vuskit.kernels.labels import DEFINITIONS
from vuskit.measures.surface import surface_to_draw
from vuskit.measures.workspace import PreparedLabels, RankedScore
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.figures._drawing import thinned
from vuskit.report.figures.curves import surface_heights
from vuskit.report.page.document import (
    Section,
    element,
    fill,
    number_cell,
    page_document,
    part,
    table,
    wrapped,
)

__all__ = [
    "SERIES_ASSETS",
    "WHOLE",
    "Detail",
    "drawing_data",
    "encoded_floats",
    "encoded_shares",
    "series_page_html",
    "series_section",
]

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
    longest = report.length
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
        buffer=report.length,
        thresholds=None if score.size <= detail.all_scores else detail.thresholds,
        definition=report.table.definition,
        step=_step(report.length, detail.buffers),
        side=report.table.side,
    )
    places = np.linspace(0.0, 1.0, detail.grid)
    return {curve: encoded_shares(surface_heights(found, curve, places)) for curve in ("roc", "pr")}


def _areas(report: EvaluationReport, score: Floats, detail: Detail) -> dict[str, list[float]]:
    """R-AUC by buffer, with the thresholds of the evaluation."""
    step = _step(report.length, detail.areas)
    settings = report.table.settings.replace(step=step, buffer=report.length)
    labels = check_labels(report.labels)
    buffered = PreparedLabels(labels).buffered(settings, with_volume=True)
    areas = RankedScore(labels, score, buffered, settings.thresholds, with_levels=False).areas
    return {"area_roc": _rounded(areas.roc), "area_pr": _rounded(areas.pr)}


def _rounded(numbers: Floats) -> list[float]:
    return [round(float(number), 6) for number in np.clip(numbers, 0.0, 1.0)]


# -- section ---------------------------------------------------------------------------------------

SERIES_ASSETS = ("series.js",)

_REACH = {"both": "to each side of", "before": "to the time before", "after": "to the time after"}
# The signs are minuses, as in print, not hyphens.
_ADJUSTED = "Adjusted: (value − chance) / (1 − chance). "  # noqa: RUF001
_LOWER = "↓: lower is better. "


def series_section(
    report: EvaluationReport,
    *,
    key: str = "series",
    parent: str | None = None,
    detail: Detail = WHOLE,
    note: str = "",
) -> Section:
    """Make the section of one evaluated series.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.
    key, parent : str
        Of the section, see `Section`.
    detail : Detail
        How finely lines and surfaces are kept.
    note : str
        A sentence below the title.
    """
    pieces = {
        "name": html.escape(report.name),
        "summary": html.escape(_summary(report)),
        "settings": html.escape(_settings(report)),
        "reach": _REACH[report.table.side],
        "note": element("p", note, class_="quiet") if note else "",
        "legend": _legend(report),
        "measures": _measures_table(report),
        "events": _events_table(report, detail.events),
    }
    return Section(
        key=key,
        view="series",
        title=report.name,
        html=fill(part("series.html"), pieces),
        data=drawing_data(report, detail),
        assets=SERIES_ASSETS,
        parent=parent,
    )


def _legend(report: EvaluationReport) -> str:
    lower = any(not measure.higher_is_better for measure in report.measures)
    return ("" if report.chance is None else _ADJUSTED) + (_LOWER if lower else "")


def _summary(report: EvaluationReport) -> str:
    n, anomalous = report.labels.size, int(report.labels.sum())
    count = len(report.bounds)
    return (
        f"{n:,} points, {count:,} {'anomaly' if count == 1 else 'anomalies'} "
        f"({anomalous:,} points, {anomalous / n:.2%}), "
        f"{len(report.scores)} {'score' if len(report.scores) == 1 else 'scores'}"
    )


def _settings(report: EvaluationReport) -> str:
    text = f"{report.table.settings}; buffer by {': '.join(report.buffer_reason)}"
    if report.chance is None:
        return text
    return f"{text}; chance: mean of {report.chance.draws} random scores"


def _measures_table(report: EvaluationReport) -> str:
    chance, adjusted = report.chance, report.adjusted
    header = ["measure", *report.table]
    if chance is not None and adjusted is not None:
        header += ["chance", *(f"{name}, adjusted" for name in report.table)]
    rows = []
    for measure in report.measures:
        best = report.best(measure)
        sign = "" if measure.higher_is_better else " ↓"
        cells = [element("th", f"{measure.title}{sign}", scope="row", data_value=measure.title)]
        cells += [
            number_cell(values[measure.name], **({"class_": "best"} if name in best else {}))
            for name, values in report.table.items()
        ]
        if chance is not None and adjusted is not None:
            cells.append(number_cell(chance.mean[measure.name]))
            cells += [number_cell(adjusted[name][measure.name]) for name in report.table]
        rows.append("".join(cells))
    return table("measures", f"Measures of {report.name}", header, rows)


def _events_table(report: EvaluationReport, most: int) -> str:
    shown = report.bounds[:most]
    tables = report.events
    header = ["anomaly", "points", "length"]
    for name in tables:
        header += [name, f"{name}: peak rank"]
    rows = []
    for i, (start, stop) in enumerate(shown):
        go = f'<button type="button" class="go" data-event="{i}">{i + 1}</button>'
        cells = [
            f'<th scope="row" data-value="{i + 1}">{go}</th>',
            element("td", f"{start:,} to {stop - 1:,}", data_value=f"{start}-{stop - 1}"),
            element("td", f"{stop - start:,}", data_value=str(stop - start)),
        ]
        for found_by in tables.values():
            found = bool(found_by.found[i])
            text = f"found, {found_by.delay[i]:+.0f}" if found else "missed"
            cells.append(element("td", text, class_="found" if found else "missed"))
            rank = int(found_by.peak_rank[i])
            cells.append(element("td", f"{rank:,}", data_value=str(rank)))
        rows.append("".join(cells))
    caption = "Points from the start of each anomaly to its alarm; rank of its highest score"
    if len(shown) < len(report.bounds):
        caption += f" (the first {len(shown)} of {len(report.bounds):,})"
    counts = "; ".join(
        f"{name} finds {int(one.found.sum()):,} of {len(one):,} at {one.threshold:.4g}"
        for name, one in tables.items()
    )
    return element("p", counts) + wrapped(table("events", caption, header, rows), "Anomalies")


def series_page_html(report: EvaluationReport) -> str:
    """Write the page of one evaluated series.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.
    """
    return page_document(report.name, [series_section(report)])

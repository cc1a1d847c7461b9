"""The page of one evaluated series: a table of its values, and its scores for the scripts."""

from __future__ import annotations

import base64
import dataclasses
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit.datasets.columns import LABEL_NAMES, VALUE_NAMES
from vuskit.figures._drawing import thinned
from vuskit.kernels.labels import DEFINITIONS
from vuskit.measures.breakdown import events
from vuskit.measures.registry import Measure, resolve_measures
from vuskit.measures.thresholds import Quantile, Sigma
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.page.document import (
    CHART_ASSETS,
    Section,
    answers,
    element,
    fill,
    number_cell,
    page_document,
    part,
    table,
)
from vuskit.report.verdict import verdict_of_evaluation
from vuskit.times import TIME_NAMES

Floats = NDArray[np.float64]

_GAP = 65535  # two-byte code of a gap
_BASE64 = 4 / 3  # letters per byte
_MOST_LEVELS = 1 << 16  # distinct values that two bytes can encode
_MOST_KNOTS = 20_000  # changes of the step between times
_MOST_STEPS = 75_000  # points whose steps are listed
_KNOTS = 400  # times of longer series, which are marked as approximate
_GAP_STEPS = 1.5  # medians of the step, above which a step is a gap
_MOST_GAPS = 500


@dataclass(frozen=True)
class Detail:
    """How many bytes of a series a page may hold."""

    score_bytes: int
    line_bytes: int


WHOLE = Detail(score_bytes=4_600_000, line_bytes=1_000_000)


def drawing_data(
    report: EvaluationReport, detail: Detail = WHOLE, detectors: Sequence[str] = ()
) -> dict[str, Any]:
    """Return everything the scripts need, ready for JSON."""
    order = list(dict.fromkeys([*detectors, *report.scores]))
    settings = report.table.settings
    measures = _ordered(report.measures)
    chance = report.chance
    rule = report.threshold
    channels = report.channels or ({} if report.values is None else {"values": report.values})
    return {
        "name": report.name,
        "version": __version__,
        "n": int(report.labels.size),
        "events": report.bounds,
        "settings": {
            "definition": dataclasses.asdict(DEFINITIONS[report.table.definition]),
            "buffer": report.length,
            "step": report.table.step,
            "side": report.table.side,
            "volume_factor": settings.volume_factor,
            "thresholds": report.table.thresholds,
            "threshold": rule if isinstance(rule, str) else "given",
            "k": report.table.k,
        },
        "definitions": [dataclasses.asdict(one) for one in DEFINITIONS.values()],
        "measures": [_measure(one) for one in measures],
        "chance": None
        if chance is None
        else {"draws": chance.draws, "mean": {n: _number(v) for n, v in chance.mean.items()}},
        "channels": _channels(channels, detail.line_bytes),
        "channel": _most_deviating(list(channels.values()), report.labels),
        "times": _times(report.dates),
        "scores": [
            {
                "name": name,
                "place": order.index(name),
                "data": encoded,
                "threshold": _number(report.events[name].threshold),
                "rules": _rule_thresholds(report.scores[name]),
                **({"counts": _counts(report, name)} if _is_thinned(encoded) else {}),
                "values": {one.name: _number(report.table[name][one.name]) for one in measures},
            }
            for name, encoded in _scores(report, detail.score_bytes)
        ],
    }


def _ordered(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures in the order of columns: VUS-PR and VUS-ROC first."""
    paper = [measure.name for measure in resolve_measures("paper")]
    order = {name: place for place, name in enumerate(reversed(paper))}
    return sorted(measures, key=lambda one: order.get(one.name, len(order)))


def _measure(measure: Measure) -> dict[str, Any]:
    live = measure.name in {one.name for one in resolve_measures("paper")}
    return {
        "name": measure.name,
        "title": measure.title,
        "higher": measure.higher_is_better,
        "live": live,
    }


def _rule_thresholds(score: Floats) -> dict[str, float | None]:
    """Compute the thresholds that depend on all scores; thinned scores would change them."""
    return {"sigma": _number(Sigma()(score)), "quantile": _number(Quantile()(score))}


def _counts(report: EvaluationReport, name: str) -> dict[str, list[int]]:
    """Count found anomalies, false alarms and separate ones at each rule of the page.

    Thinned scores would give other counts.
    """
    rule = report.threshold
    tables = {rule if isinstance(rule, str) else "given": report.events[name]}
    both = 0 < np.count_nonzero(report.labels) < report.labels.size
    for other in ("sigma", "quantile", *(("best",) if both else ())):
        tables.setdefault(
            other,
            events(
                report.labels,
                report.scores[name],
                buffer=report.length,
                side=report.table.side,
                threshold=other,
            ),
        )
    return {
        rule: [int(one.found.sum()), one.false_alarms, one.separate_alarms]
        for rule, one in tables.items()
    }


def _is_thinned(encoded: Mapping[str, Any]) -> bool:
    return "bucket" in encoded or "tied" in encoded


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


# -- times and channels ----------------------------------------------------------------------------


def _times(dates: NDArray[np.datetime64] | None) -> dict[str, Any] | None:
    """Return times in milliseconds, and the points before a gap.

    Even times are a first one and a step; otherwise times are listed where the step changes, or all
    steps if it changes often. Only long series with irregular times have a sample, which is marked.
    """
    if dates is None or dates.size < 2 or np.isnat(dates).any():
        return None
    ms = dates.astype("datetime64[ms]").astype(np.int64)
    steps = np.diff(ms)
    if (steps <= 0).any():
        return None  # the axis would run backwards
    if steps.max() - steps.min() <= 1:
        return {"first": int(ms[0]), "step": float((ms[-1] - ms[0]) / (ms.size - 1))}
    gaps = np.flatnonzero(steps > _GAP_STEPS * np.median(steps))
    shown = gaps.tolist() if gaps.size <= min(ms.size // 20, _MOST_GAPS) else []
    index = np.unique([0, *(np.flatnonzero(np.diff(steps)) + 1), ms.size - 1])
    if index.size > _MOST_KNOTS and ms.size <= _MOST_STEPS and steps.max() < 2**32:
        return {"first": int(ms[0]), "steps": _base64(steps, "<u4"), "gaps": shown}
    exact = index.size <= _MOST_KNOTS
    if not exact:
        index = np.unique(np.linspace(0, ms.size - 1, _KNOTS).astype(np.intp))
    times = {"index": index.tolist(), "ms": ms[index].tolist(), "gaps": shown}
    return times if exact else {**times, "approximate": True}


def _channels(channels: Mapping[str, Floats], most: int) -> list[dict[str, Any]]:
    room = max(int(most / (2 * _BASE64) / max(len(channels), 1)), 2)
    return [{"name": name, "line": _line(values, room)} for name, values in channels.items()]


def _most_deviating(channels: Sequence[Floats], labels: NDArray[np.bool_]) -> int:
    """Return the place of the channel that deviates most during anomalies, in standard deviations.

    Examples
    --------
    >>> flat, high = np.array([1.0, 2.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0, 9.0])
    >>> _most_deviating([flat, high], np.array([False, False, False, True]))
    1
    """
    if len(channels) < 2 or labels.all() or not labels.any():
        return 0

    def deviation(values: Floats) -> float:
        there = np.isfinite(values)
        normal, anomalous = values[there & ~labels], values[there & labels]
        if not normal.size or not anomalous.size:
            return 0.0
        spread = float(normal.std()) or float(values[there].std())
        return float(np.abs(anomalous - normal.mean()).mean()) / spread if spread else 0.0

    return int(np.argmax([deviation(values) for values in channels]))


def _line(line: Floats, room: int) -> dict[str, Any]:
    numbers, size = thinned(line, room)
    # Two bytes are more precise than any screen.
    there = numbers[np.isfinite(numbers)]
    low, high = (float(there.min()), float(there.max())) if there.size else (0.0, 1.0)
    scale = high - low or 1.0
    return {
        "data": encoded_shares((numbers - low) / scale),
        "bucket": size,
        "low": low,
        "high": high,
    }


# -- scores ----------------------------------------------------------------------------------------


def _base64(numbers: NDArray[Any], kind: str) -> str:
    return base64.b64encode(numbers.astype(kind).tobytes()).decode("ascii")


def encoded_scores(score: Floats) -> dict[str, str]:
    """Encode a score without loss, in the form that needs the fewest bytes."""
    levels, codes = np.unique(score, return_inverse=True)
    sizes = {"f8": 8 * score.size}
    with np.errstate(over="ignore"):
        if np.array_equal(score.astype(np.float32).astype(np.float64), score):
            sizes["f4"] = 4 * score.size
    if levels.size <= _MOST_LEVELS:
        sizes["codes"] = 2 * score.size + 8 * levels.size
    kind = min(sizes, key=lambda name: sizes[name])
    if kind == "codes":
        return {"codes": _base64(codes, "<u2"), "levels": _base64(levels, "<f8")}
    return {kind: _base64(score, f"<{kind}")}


def _rounded_scores(score: Floats) -> dict[str, Any]:
    """Encode a score in single precision; ``tied`` if distinct scores become equal."""
    with np.errstate(over="ignore"):
        rounded = score.astype(np.float32)
    encoded: dict[str, Any] = {"f4": _base64(np.nan_to_num(rounded), "<f4")}
    if not np.isfinite(rounded).all() or np.unique(rounded).size < np.unique(score).size:
        encoded["tied"] = True
    return encoded


def _thinned_scores(score: Floats, regions: list[tuple[int, int]], room: int) -> dict[str, Any]:
    """Keep the extremes of each bucket, and all scores near anomalies if they fit."""
    near = sum(stop - start for start, stop in regions)
    if near > room // 2:
        regions, near = [], 0
    pairs, bucket = thinned(score, max(min(room - near, score.size - 1), 4))
    kept = [score[start:stop] for start, stop in regions]
    return {
        "bucket": bucket,
        "pairs": _base64(pairs, "<f4"),
        "regions": regions,
        "near": _base64(np.concatenate(kept) if kept else score[:0], "<f4"),
    }


def _letters(encoded: Mapping[str, Any]) -> int:
    return sum(len(text) for text in encoded.values() if isinstance(text, str))


def _scores(report: EvaluationReport, most: int) -> list[tuple[str, dict[str, Any]]]:
    """Return names and encoded scores: exact, in single precision, or thinned, as space permits."""
    whole = {name: encoded_scores(score) for name, score in report.scores.items()}
    if sum(map(_letters, whole.values())) <= most:
        return list(whole.items())
    rounded = {
        name: min(whole[name], _rounded_scores(score), key=_letters)
        for name, score in report.scores.items()
    }
    if sum(map(_letters, rounded.values())) <= most:
        return list(rounded.items())
    room = max(int(most / (4 * _BASE64) / max(len(whole), 1)), 4)
    regions = _regions(report)
    return [(name, _thinned_scores(score, regions, room)) for name, score in report.scores.items()]


def whole_scores(report: EvaluationReport, detail: Detail = WHOLE) -> bool:
    """Return whether a page would hold every score, so that live values are exact."""
    encoded = [one for _, one in _scores(report, detail.score_bytes)]
    return not any(map(_is_thinned, encoded))


def _regions(report: EvaluationReport) -> list[tuple[int, int]]:
    """Return the points within a buffer of an anomaly, as ranges."""
    margin, n = max(report.length, 50), int(report.labels.size)
    found: list[tuple[int, int]] = []
    for start, stop in report.bounds:
        begin, end = max(start - margin, 0), min(stop + margin, n)
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], end
        else:
            found.append((begin, end))
    return found


def encoded_floats(numbers: Floats) -> str:
    """Encode numbers in single precision and base64; NaN stays NaN."""
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")


def encoded_shares(numbers: Floats) -> str:
    """Encode numbers from 0 to 1 in two bytes each and base64; NaN is a gap.

    Examples
    --------
    >>> list(base64.b64decode(encoded_shares(np.array([0.0, 1.0, np.nan]))))
    [0, 0, 254, 255, 255, 255]
    """
    there = np.isfinite(numbers)
    scaled = np.rint(np.clip(np.where(there, numbers, 0.0), 0.0, 1.0) * (_GAP - 1))
    return base64.b64encode(np.where(there, scaled, _GAP).astype("<u2").tobytes()).decode("ascii")


# -- section ---------------------------------------------------------------------------------------

SERIES_ASSETS = (*CHART_ASSETS, "series.css", "measures.js", "series.js")

_LOWER = "↓: lower is better. "
_FORMS = {"csv": "csv", "latex": "LaTeX", "markdown": "Markdown"}


def _copy(name: str, label: str, forms: Sequence[str] = tuple(_FORMS)) -> str:
    """Return buttons that copy a table in several formats."""
    buttons = "".join(
        f'<button type="button" data-copy="{name}" data-form="{form}" '
        f'aria-label="Copy {html.escape(label)} as {_FORMS[form]}">{_FORMS[form]}</button>'
        for form in forms
    )
    return f'<div class="copy" role="group" aria-label="Copy {html.escape(label)}">{buttons}</div>'


def series_section(
    report: EvaluationReport,
    *,
    key: str = "series",
    parent: str | None = None,
    detail: Detail = WHOLE,
    note: str = "",
    detectors: Sequence[str] = (),
) -> Section:
    """Create the section of one evaluated series."""
    verdict = verdict_of_evaluation(report, interval=parent is None)
    data = {**drawing_data(report, detail, detectors), "verdict": verdict.to_dict()}
    pieces = {
        "verdict": answers(verdict.answers),
        "name": html.escape(report.name),
        "summary": html.escape(_summary(report)),
        "settings": html.escape(_settings(report)),
        "note": element("p", note, class_="quiet") if note else "",
        "legend": _LOWER if any(not one.higher_is_better for one in report.measures) else "",
        "measures": _measures_table(report),
    }
    return _section(report.name, key, parent, pieces, data)


def _section(
    title: str, key: str, parent: str | None, pieces: Mapping[str, str], data: Any
) -> Section:
    copies = {
        "copy_measures": _copy("measures", "measures"),
        "copy_areas": _copy("areas", "R-AUC by buffer"),
        "copy_surface": _copy("surface", "surface", ("csv",)),
        "copy_events": _copy("events", "anomalies"),
    }
    return Section(
        key=key,
        view="series",
        title=title,
        html=fill(part("series.html"), {**pieces, **copies}),
        data=data,
        assets=SERIES_ASSETS,
        parent=parent,
    )


def _summary(report: EvaluationReport) -> str:
    n, anomalous = report.labels.size, int(report.labels.sum())
    count = len(report.bounds)
    times = "" if report.times is None else f", {report.times[0]} to {report.times[1]}"
    return (
        f"{n:,} points{times}, {count:,} {'anomaly' if count == 1 else 'anomalies'} "
        f"({anomalous:,} points, {anomalous / n:.2%}), "
        f"{len(report.scores)} {'detector' if len(report.scores) == 1 else 'detectors'}"
    )


def _settings(report: EvaluationReport) -> str:
    reason = f"by {': '.join(report.buffer_reason)}".replace("by number: given", "given")
    text = f"{report.table.settings}; buffer {reason}"
    if report.chance is None:
        return text
    return f"{text}; chance: mean of {report.chance.draws} random scores"


def _measures_table(report: EvaluationReport) -> str:
    """Return one row per detector; the scripts replace it by a live table."""
    measures = _ordered(report.measures)
    arrows = ["" if measure.higher_is_better else " ↓" for measure in measures]
    titles = [measure.title + arrow for measure, arrow in zip(measures, arrows, strict=True)]
    best = {measure.name: report.best(measure) for measure in measures}
    rows = [
        element("th", name, scope="row")
        + "".join(
            number_cell(
                values[measure.name],
                **({"class_": "best"} if name in best[measure.name] else {}),
            )
            for measure in measures
        )
        for name, values in report.table.items()
    ]
    if report.chance is not None:
        chance = report.chance.mean
        rows.append(
            element("th", "chance", scope="row")
            + "".join(number_cell(chance[measure.name]) for measure in measures)
        )
    return table("measures", f"Measures of {report.name}", ["detector", *titles], rows)


def series_page_html(report: EvaluationReport, *, detectors: Sequence[str] = ()) -> str:
    """Return the page of one evaluated series.

    Parameters
    ----------
    report : EvaluationReport
        The series, its scores and their measures.
    detectors : sequence of str, optional
        Detectors of the run in order, which determines their colors. By default the scores.

    Returns
    -------
    str
        One self-contained HTML document; it uses no network.
    """
    return page_document(report.name, [series_section(report, detectors=detectors)])


def empty_page_html() -> str:
    """Return the page without data, which evaluates the files dropped on it.

    Examples
    --------
    >>> len(empty_page_html()) < 500_000
    True
    """
    names = ("name", "summary", "settings", "note", "legend", "measures", "verdict")
    living = _section("", "try", None, dict.fromkeys(names, ""), {})
    section = Section(
        key="try",
        view="series",
        title="vuskit",
        html=f'{part("try.html")}<template id="page">\n{living.html}\n</template>',
        data={
            "empty": True,
            "version": __version__,
            "definitions": [dataclasses.asdict(one) for one in DEFINITIONS.values()],
            "measures": [_measure(one) for one in _ordered(resolve_measures("paper"))],
            "names": {"labels": LABEL_NAMES, "values": VALUE_NAMES, "times": TIME_NAMES},
        },
        assets=(*SERIES_ASSETS, "buffers.js", "try.js"),
    )
    return page_document("vuskit", [section])

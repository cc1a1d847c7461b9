"""Studies as sections of a page."""

from __future__ import annotations

import base64
import html
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vuskit.errors import InvalidInputError
from vuskit.figures import ChoiceDisplay, Display
from vuskit.figures.base import json_ready
from vuskit.report.page.document import (
    CHART_ASSETS,
    Section,
    answers,
    compact,
    element,
    page_document,
    safe_json,
)
from vuskit.report.verdict import Verdict, verdict_of
from vuskit.statistics.comparison import compare_columns
from vuskit.studies import get_study
from vuskit.studies.result import StudyResult

ROOM = 1_200_000
"""Bytes, encoded, that the choices of one figure may take in a page."""

DRAWN_KINDS = frozenset(
    {
        "centered_boxes",
        "choice",
        "comparison_matrix",
        "critical_difference",
        "entropy",
        "forest",
        "rank_lines",
        "robustness_bars",
        "scatter",
        "scenario_sweep",
        "scenarios",
        "sensitivity",
        "separability_bars",
        "separability_boxes",
        "summary",
        "timing_series",
        "timing_sweeps",
    }
)
"""Kinds of displays that studies.js draws; others are embedded as pictures by matplotlib."""

STUDY_ASSETS = (*CHART_ASSETS, "studies.css", "studies.js")
_PICTURE_DPI = 110
_SHARED = ("measures", "families")  # stored once for all displays of a choice
_MOST_ROWS = 400  # longer tables are not part of a page
_MOST_FAILURES = 50


def studies_page_html(results: Sequence[Any]) -> str:
    """Return the page of some studies.

    Parameters
    ----------
    results : sequence
        Results of studies, at least one.

    Returns
    -------
    str
        One self-contained HTML document; it uses no network.
    """
    return page_document("Studies", study_sections(results))


def study_sections(results: Iterable[Any]) -> list[Section]:
    """Create one section for each result of a study."""
    seen: Counter[str] = Counter()
    sections = []
    for result in map(checked, results):
        key, title = result.kind, get_study(result.kind).title
        seen[key] += 1
        again = seen[key]
        data = _section_data(result)
        sections.append(
            Section(
                key=key if again == 1 else f"{key}-{again}",
                view="study",
                title=title if again == 1 else f"{title} ({again})",
                html=_section_html(result, data),
                data=data,
                assets=STUDY_ASSETS,
            )
        )
    if not sections:
        raise InvalidInputError("`results` must hold at least one result of a study, got none")
    return sections


def _section_data(result: StudyResult) -> dict[str, Any]:
    """Return the data of all displays and tables, and the measures they show."""
    displays, frames = result.figures(), result.tables()
    named = slugs(displays)
    figures = [{"name": named[name], **figure_data(display)} for name, display in displays.items()]
    named = slugs(frames)
    tables = [
        {
            "name": named[name],
            "title": spoken(name),
            "columns": list(map(str, frame.columns)),
            "rows": [json_ready(list(row)) for row in frame.itertuples(index=False, name=None)],
        }
        for name, frame in frames.items()
        if len(frame) <= _MOST_ROWS
    ]
    verdicts = {name: one.to_dict() for name, one in _verdicts(result).items()}
    return {**measures_of(figures), "figures": figures, "tables": tables, "verdicts": verdicts}


def _verdicts(result: StudyResult) -> dict[str, Verdict]:
    """Return the verdict of each comparison of measures of a study."""
    if not hasattr(result, "comparisons"):
        return {}
    titles = {one.name: one.title for one in result.measures}
    found = {}
    for name, one in result.comparisons().items():
        renamed = compare_columns(
            one.table.rename(columns=titles),
            title=one.title,
            higher_is_better=one.higher_is_better,
            alpha=one.pairs.alpha,
            n_resamples=2,  # the minimum: verdicts use no intervals of ranks
        )
        found[name] = verdict_of(renamed, compared="measures")
    return found


def measures_of(figures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the measures and families that figures show, for the legend."""
    measures: dict[str, Any] = {}
    families: dict[str, Any] = {}
    for figure in figures:
        shown = figure.get("shared", figure)
        families |= shown.get("families", {})
        for item in (*shown.get("measures", ()), *shown.get("items", ())):
            if "family" in item:
                kept = {name: item[name] for name in ("name", "title", "family", "color")}
                measures.setdefault(item["name"], kept)
    return {"measures": list(measures.values()), "families": families}


def figure_data(display: Display) -> dict[str, Any]:
    """Return the data of a display, limited in size; a picture if the page cannot draw it."""
    if isinstance(display, ChoiceDisplay):
        first = display.display(display.keys[0])
        if first.kind not in DRAWN_KINDS:
            return _picture(display)
        own = {name: one for name, one in first.to_dict().items() if name not in _SHARED}
        data = display.limited(max(int(ROOM / len(safe_json(compact(own)))), 1)).to_dict()
        return {
            **data,
            "choices": [{**one, "figure": compact(one["figure"])} for one in data["choices"]],
        }
    return display.to_dict() if display.kind in DRAWN_KINDS else _picture(display)


def _picture(display: Display) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = display.save(Path(folder) / "figure.png", dpi=_PICTURE_DPI)
        encoded = base64.b64encode(file.read_bytes()).decode("ascii")
    return {
        "kind": "picture",
        "title": display.title or display.heading,
        "caption": display.caption,
        "picture": f"data:image/png;base64,{encoded}",
    }


def _section_html(result: StudyResult, data: Mapping[str, Any]) -> str:
    """Return headings, captions and placeholders of figures and tables; names are escaped."""
    study = get_study(result.kind)
    header = [element("h1", study.title), element("p", study.question)]
    about = " ".join([result.about(), *remarks(result)])
    header += [element("p", text, class_="quiet") for text in (about, *options_text(result))]
    verdicts = {name: one["sentences"].values() for name, one in data["verdicts"].items()}
    said = answers({spoken(name): " ".join(texts) for name, texts in verdicts.items()})
    parts = [
        f"<header>\n{''.join(header)}\n</header>",
        f'<div class="answers" aria-label="Verdict">{said}</div>' if said else "",
        '<div class="legend"></div>',
    ]
    for figure in data["figures"]:
        labels = figure.get("labels", [])
        parts.append(
            figure_place(f"figure-{figure['name']}", figure["title"], figure["caption"], labels)
        )
    parts += [
        figure_place(f"table-{table['name']}", table["title"], "") for table in data["tables"]
    ]
    long = {
        spoken(name): len(frame)
        for name, frame in result.tables().items()
        if len(frame) > _MOST_ROWS
    }
    if long:
        listed = ", ".join(f"{name} ({count:,} rows)" for name, count in long.items())
        parts.append(element("p", f"Too long for this page: {listed}.", class_="quiet"))
    return "\n".join([*parts, _failures_html(result.failures)])


def figure_place(identity: str, title: str, caption: str, labels: Sequence[str] = ()) -> str:
    """Return heading, controls, caption and placeholder of a figure or table."""
    choices = "".join(
        f'<label>{html.escape(label)} <select id="{identity}-{label.replace(" ", "-")}"></select>'
        "</label>"
        for label in labels
    )
    heading = element("h2", title[:1].upper() + title[1:], id=f"h-{identity}")
    return (
        f'<section aria-labelledby="h-{identity}">\n<div class="head">{heading}{choices}'
        f'<button type="button" data-copy="{identity}">Copy csv</button></div>\n'
        + (element("p", caption, class_="quiet") + "\n" if caption else "")
        + f'<div id="{identity}" class="panels"></div>\n</section>'
    )


def _failures_html(failures: Sequence[Any]) -> str:
    if not failures:
        return ""
    more = f" The first {_MOST_FAILURES} are shown." if len(failures) > _MOST_FAILURES else ""
    listed = "".join(
        element("li", f"{one.name}: {one.reason}") for one in failures[:_MOST_FAILURES]
    )
    return (
        f'<section id="failures"><div class="head"><h2>Failures</h2></div>'
        f"<p>{len(failures):,} series failed.{more}</p><ul>{listed}</ul></section>"
    )


def remarks(result: StudyResult) -> list[str]:
    """Return the buffer and the notes of a result as sentences."""
    buffer = [] if result.buffers is None else [f"Buffer: {result.buffers}."]
    return buffer + [f"{note[:1].upper()}{note[1:]}." for note in result.notes()]


def options_text(result: StudyResult) -> list[str]:
    """Return the options of a result as a sentence; nothing for a result without a study."""
    return [] if result.study is None else [f"O{result.options_line[1:]}."]


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return unique names that are valid in addresses and file names.

    Examples
    --------
    >>> slugs(["ranks_plant/logs", "ranks_plant-logs", "averages"])
    {'ranks_plant/logs': 'ranks_plant-logs', 'ranks_plant-logs': 'ranks_plant-logs-2', ...}
    """
    found: dict[str, str] = {}
    for name in names:
        slug = first = re.sub(r"[^\w-]+", "-", name)
        count = 1
        while slug in found.values():
            count += 1
            slug = f"{first}-{count}"
        found[name] = slug
    return found


def spoken(name: str) -> str:
    """Return the name of a table in words."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def checked(result: Any) -> StudyResult:
    """Return the result if it is one of a study."""
    if not isinstance(result, StudyResult):
        raise InvalidInputError(
            f"`results` must be results of studies, got {type(result).__name__}"
        )
    return result

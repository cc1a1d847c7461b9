"""Sections and markup of the page of a run."""

from __future__ import annotations

import dataclasses
import html
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import plural
from vuskit.bench import Status
from vuskit.bench.run import FailureCause
from vuskit.errors import InvalidInputError
from vuskit.report.page.document import (
    CHART_ASSETS,
    Section,
    element,
    fill,
    page_document,
    part,
    safe_json,
    table,
)
from vuskit.report.page.run_data import (
    MOST_BYTES,
    PAGE_BYTES,
    fits_exactly,
    run_comparisons,
    run_data,
    run_that_fits,
)
from vuskit.report.page.series import (
    SERIES_ASSETS,
    Detail,
    series_section,
    whole_scores,
)
from vuskit.report.page.studies import study_sections
from vuskit.report.run_report import FAILED, RunReport, series_report

if TYPE_CHECKING:
    pass

Floats = NDArray[np.float64]

_MOST_CHANGES = 20

# -- sections --------------------------------------------------------------------------------------


Progress = Callable[[int, int], None]

RUN_ASSETS = (
    *CHART_ASSETS,
    "run.js",
    "detectors.js",
    "run.css",
    *SERIES_ASSETS,
)

_PAGE_BYTES = PAGE_BYTES
_LINE_BYTES = 16_000  # of all channels of a series: 6,000 numbers
_SCORE_BYTES = 16_000  # of one score: 6,000 codes, or 3,000 numbers
_OTHER_BYTES = 320_000  # of scripts, styles and markup


def run_sections(
    run: RunReport,
    *,
    series: Sequence[str] = (),
    others: Sequence[Section] = (),
    progress: Progress | None = None,
) -> list[Section]:
    """Create the sections of a run."""
    wanted = [run.find_series(name) for name in series]
    fixed = [*([_failures(run)] if run.failures else []), *others]
    room = _room_for_values(run, fixed)
    held, left_out = run_that_fits(run, room)
    held = held.with_chance()
    steps = len(run.settings) * len(held.measures)
    told = progress or (lambda done, total: None)
    total = steps + len(run.series)
    comparisons = run_comparisons(held, lambda done, _: told(done, total))
    data = run_data(held, comparisons, exact=fits_exactly(held, room))
    room = _PAGE_BYTES - len(safe_json(data)) - sum(map(_size, fixed))
    embedded: dict[str, str] = {}
    reasons: dict[str, str] = {}
    drawn: list[Section] = []
    for count, section in enumerate(_drawn(run, wanted, room, reasons)):
        told(steps + count, total)
        embedded[section.key.removeprefix("series-")] = section.key
        drawn.append(section)
    told(total, total)
    drawn.sort(key=lambda section: int(section.key.removeprefix("series-")))
    data["embedded"] = embedded
    data["not_drawn"] = reasons
    series_view = Section(
        "series",
        "series-values",
        "Series",
        part("run_series_values.html"),
        {},
        RUN_ASSETS,
        parent="table",
    )
    views = view_sections(run, data, series_view, left_out=left_out, drawn=len(drawn))
    return [*views, *fixed, *drawn]


def view_sections(
    run: RunReport,
    data: dict[str, Any],
    series_view: Section,
    *,
    left_out: Sequence[str] = (),
    drawn: int | None = None,
    live: bool = False,
) -> list[Section]:
    """Create the sections that show the values of a run, for its page and for a server."""
    board = _run_html(run, data, left_out, live)
    return [
        Section("run", "run", "Leaderboard", board, data, RUN_ASSETS),
        Section("detectors", "detectors", "Detectors", part("run_detectors.html"), {}, RUN_ASSETS),
        Section("table", "table", "Series", _table_html(run, drawn), {}, RUN_ASSETS),
        series_view,
    ]


def _size(section: Section) -> int:
    return len(section.html.encode()) + len(safe_json(section.data))


def _room_for_values(run: RunReport, fixed: Sequence[Section]) -> int:
    """Return the bytes of a page that remain for values."""
    no_values = dataclasses.replace(run, values=run.values[:, :0], measures=())
    listed = len(safe_json(run_data(no_values, {}, exact=False))) + MOST_BYTES
    return PAGE_BYTES - _OTHER_BYTES - listed - sum(map(_size, fixed))


# -- drawings of series ------------------------------------------------------------------------


def _drawn(
    run: RunReport, wanted: list[int], room: int, reasons: dict[str, str]
) -> Iterator[Section]:
    """Yield sections of series while they fit, the requested ones first.

    Series that cannot be drawn are skipped, with the reason in `reasons`.
    """
    for place in dict.fromkeys([*wanted, *_in_turn(run)]):
        try:
            with warnings.catch_warnings():
                # Warnings about coarse grids concern the plan, not the drawings.
                warnings.simplefilter("ignore")
                section = _series(run, place)
        except InvalidInputError as error:
            if place in wanted:
                raise
            reasons[str(place)] = str(error)
            continue  # the table of series still shows its values
        room -= _size(section)
        if room < 0 and place in wanted:
            raise InvalidInputError(
                f"`series` must fit into a page of {_PAGE_BYTES / 1e6:.1f} MB, got "
                f"{len(wanted)}, of which {wanted.index(place)} fit; write several pages"
            )
        if room < 0:
            return
        yield section


def _in_turn(run: RunReport) -> Iterator[int]:
    """Yield places of series: the first of each data set, then the second of each, and so on."""
    by_dataset: dict[str, list[int]] = {}
    for place, one in enumerate(run.series):
        by_dataset.setdefault(one.dataset, []).append(place)
    for turn in zip_longest(*by_dataset.values()):
        yield from (place for place in turn if place is not None)


def _series(run: RunReport, place: int) -> Section:
    report = series_report(run, place, run.settings[0] if run.settings else "")
    detail = Detail(score_bytes=_SCORE_BYTES * len(report.scores), line_bytes=_LINE_BYTES)
    notes = [f"Series of the run {run.name}."]
    if not whole_scores(report, detail):
        notes.append("Scores are thinned to fit into the file; original values are exact.")
    if run.seeds > 1:
        notes.append("Values are means over the seeds; drawn scores are those of the first seed.")
    return series_section(
        report,
        key=f"series-{place}",
        parent="table",
        detail=detail,
        note=" ".join(notes),
        detectors=run.detectors,
    )


# -- markup ------------------------------------------------------------------------------------


_OVERVIEW = 'Progress and failures: <a href="#overview">Overview</a>.'


def _run_html(run: RunReport, data: dict[str, Any], left_out: Sequence[str], live: bool) -> str:
    failed = plural(run.failures, "failed job")
    summary = [
        html.escape(run.state[:1].upper() + run.state[1:]),
        f'<a href="#failures">{failed}</a>' if run.failures else "none failed",
        plural(len(run.series), "series", "series"),
        plural(len(run.datasets), "data set"),
        plural(len(run.detectors), "detector"),
        plural(len(run.measures), "measure"),
    ]
    details = [f"Settings: {text}." for text in run.settings]
    if run.seeds > 1:
        details.append(f"Values are means over up to {run.seeds} seeds per detector.")
    details.append(f"{_started(run.status.run)} with vuskit {run.status.run['vuskit']}.")
    if isinstance(data["values"], dict):
        details.append(
            "Values are rounded to 1/65,534 of each measure's range, to fit into the page."
        )
    blank = [one.title for name, one in run.known.items() if name not in run.measures]
    if blank and run.measures:
        details.append(f"No value on any series: {', '.join(blank)}.")
    if left_out:
        details.append(
            f"{plural(len(left_out), 'measure')} did not fit into the page: "
            f"{', '.join(left_out)}; `vuskit bench export` writes all values as a table."
        )
    if run.changes:
        details.append(f"{run.change_summary}.")
    told = [*islice(run.changes.values(), _MOST_CHANGES), *run.status.notes]
    notes = "".join(element("li", note) for note in told)
    listed = plural(len(told), "note")
    return fill(
        part("run.html"),
        {
            "name": html.escape(run.title or run.name),
            "text": "".join(element("p", one) for one in _paragraphs(run.notes)),
            "summary": _OVERVIEW if live else ", ".join(summary) + ".",
            "details": html.escape(" ".join(details)),
            "notes": f"<details><summary>{listed}</summary><ul>{notes}</ul></details>"
            if notes
            else "",
        },
    )


def _paragraphs(text: str) -> list[str]:
    """Split a text into paragraphs at empty lines."""
    return [one for part in re.split(r"\n\s*\n", text) if (one := part.strip())]


def _started(facts: Mapping[str, Any]) -> str:
    """Return when the run started and when it was resumed, if that ran any job."""
    first, latest = (str(facts[name])[:16].replace("T", " ") for name in ("begun", "started"))
    if str(facts["last_job"] or "") <= str(facts["started"]) or first == latest:
        return f"Started {first} UTC"
    return f"Started {first} UTC, resumed {latest} UTC"


def _table_html(run: RunReport, drawn: int | None) -> str:
    if drawn is None:
        text = "Click a name to open the series."
    elif drawn == len(run.series):
        text = "This page draws all series. Click a name to open the series."
    else:
        text = (
            f"This page draws {drawn:,} of {len(run.series):,} series. The others show their "
            "values and the commands that draw them."
        )
    return fill(part("run_table.html"), {"embedded": html.escape(text)})


def _failures(run: RunReport) -> Section:
    """Create the section of failures by cause; the copied table has one row per job."""
    listed, causes = run.status.failures, run.status.causes
    shown = sum(one.n_jobs for one in causes)
    told = f"{plural(len(causes), 'cause')}, the most frequent first, each with its latest job."
    if shown < run.failures:
        rest = plural(run.failures - shown, "job")
        told += f" {rest} failed for other causes; see `vuskit bench status`."
    pieces = {
        "summary": html.escape(f"{plural(run.failures, 'job')} of {run.name} failed."),
        "counts": _failure_counts(run),
        "listed": html.escape(told),
        "failures": "\n".join(map(_cause, causes)),
    }
    return Section(
        key="failures",
        view="failures",
        title="Failures",
        html=fill(part("run_failures.html"), pieces),
        data=[[one.status.value, one.title, one.message, one.command] for one in listed],
        assets=RUN_ASSETS,
    )


def _failure_counts(run: RunReport) -> str:
    """Return the table of series by detector and outcome (of scores or evaluation)."""
    shown = [Status.OK, *FAILED, Status.SKIPPED]
    rows = []
    for name, outcomes in zip(run.detectors, run.outcomes, strict=True):
        counts = [int(np.sum(outcomes == status.value)) for status in shown]
        cells = [element("td", f"{count:,}", data_value=str(count)) for count in counts]
        rows.append(element("th", name, scope="row") + "".join(cells))
    return table("counts", "Series by outcome", ["detector", *(s.value for s in shown)], rows)


def _cause(cause: FailureCause) -> str:
    failure, others = cause.example, cause.n_jobs - 1
    trace = element("pre", failure.traceback) if failure.traceback else ""
    command = element("p", "Run it again: ") + element("pre", failure.command)
    more = f" and {plural(others, 'other job')}" if others else ""
    return (
        f'<details class="failure"><summary><strong class="missed">{failure.status.value}</strong> '
        f"{html.escape(failure.title)}{more}<br>{html.escape(failure.message)}</summary>"
        f"{command if failure.command else ''}{trace}</details>"
    )


def run_page_html(
    report: RunReport,
    *,
    studies: Sequence[object] = (),
    series: Sequence[str] = (),
    title: str = "",
    notes: str = "",
    progress: Progress | None = None,
) -> str:
    """Return the page of a benchmark run.

    It contains the leaderboard, critical differences, ranks, times, failures, all values, and
    drawings of as many series as fit into a file that can be sent by mail.

    Parameters
    ----------
    report : RunReport
        The run, see `RunReport.read`.
    studies : sequence, optional
        Results of studies to show as further sections.
    series : sequence of str, optional
        Series that the page must draw, by data set and name.
    title : str, optional
        Title of the page; the name of the run by default.
    notes : str, optional
        Plain text below the title; empty lines separate paragraphs.
    progress : callable, optional
        Called with the number of finished steps and their maximum.

    Returns
    -------
    str
        One self-contained HTML document; it uses no network.

    Raises
    ------
    InvalidInputError
        If a series is not in the run.
    """
    others = study_sections(studies) if studies else []
    shown = dataclasses.replace(report, title=title or report.title, notes=notes or report.notes)
    own = run_sections(shown, series=series, others=others, progress=progress)
    return page_document(shown.title or shown.name, own)

"""The sections of a benchmark run: leaderboard and figures, table of series, failures, series."""

from __future__ import annotations

import dataclasses
import html
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from vuskit.bench.results import Failure
from vuskit.bench.states import Status
from vuskit.errors import InvalidInputError
from vuskit.report.page.document import fill, part, safe_json
from vuskit.report.page.drawing_data import Detail
from vuskit.report.page.markup import element, table
from vuskit.report.page.run_comparisons import MOST_BYTES, run_comparisons
from vuskit.report.page.run_data import PAGE_BYTES, fits_exactly, run_data, run_that_fits
from vuskit.report.page.section import Section
from vuskit.report.page.series_section import SERIES_ASSETS, series_section
from vuskit.report.run import FAILED, RunReport
from vuskit.report.run_series import series_report

__all__ = ["Progress", "run_sections"]

Progress = Callable[[int, int], None]

_ASSETS = (
    "run.js",
    "run_board.js",
    "run_figures.js",
    "run_table.js",
    "run.css",
    *SERIES_ASSETS,
)
_PAGE_BYTES = PAGE_BYTES
_LINE_BYTES = 8_000  # of one line of a series: 3,000 numbers
_OTHER_BYTES = 200_000  # of scripts, styles and markup


def run_sections(
    run: RunReport,
    *,
    series: Sequence[str] = (),
    others: Sequence[Section] = (),
    progress: Progress | None = None,
) -> list[Section]:
    """Make the sections of a run.

    Parameters
    ----------
    run : RunReport
        The run.
    series : sequence of str, optional
        Series whose drawings the page holds in any case; others follow as far as there is room.
    others : sequence of Section, optional
        Sections that belong on the same page.
    progress : callable, optional
        Called with the steps that are done and how many there are at most.

    Raises
    ------
    InvalidInputError
        If a series is not in the run or cannot be read any more, or they do not all fit.
    """
    wanted = [run.find_series(name) for name in series]
    fixed = [*([_failures(run)] if run.failures else []), *others]
    room = _room_for_values(run, fixed)
    held, left_out = run_that_fits(run, room)
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
    return [
        Section("run", "run", "Leaderboard", _run_html(run, data, left_out), data, _ASSETS),
        Section("table", "table", "Series", _table_html(run, len(drawn)), {}, _ASSETS),
        Section("lean", "lean", "Series", part("run_lean.html"), {}, _ASSETS, parent="table"),
        *fixed,
        *drawn,
    ]


def _size(section: Section) -> int:
    return len(section.html.encode()) + len(safe_json(section.data))


def _room_for_values(run: RunReport, fixed: Sequence[Section]) -> int:
    """Bytes of a page that other sections, comparisons and all that is listed once leave."""
    no_values = dataclasses.replace(run, values=run.values[:, :0], measures=())
    listed = len(safe_json(run_data(no_values, {}, exact=False))) + MOST_BYTES
    return PAGE_BYTES - _OTHER_BYTES - listed - sum(map(_size, fixed))


# -- drawings of series ------------------------------------------------------------------------


def _drawn(
    run: RunReport, wanted: list[int], room: int, reasons: dict[str, str]
) -> Iterator[Section]:
    """Sections of series, those that are wanted first, as far as there is room.

    Those that cannot be drawn are left out, and why is noted.
    """
    for place in dict.fromkeys([*wanted, *_in_turn(run)]):
        try:
            with warnings.catch_warnings():
                # Coarse grids are the plan's choice, and drawings have their own.
                warnings.simplefilter("ignore")
                section = _series(run, place)
        except InvalidInputError as error:
            if place in wanted:
                raise
            reasons[str(place)] = str(error)
            continue  # the table of series still has its values
        room -= _size(section)
        if room < 0 and place in wanted:
            raise InvalidInputError(
                f"`series` must fit into a page of {_PAGE_BYTES / 1e6:.1f} MB, got "
                f"{len(wanted)}, of which {wanted.index(place)} fit; make several pages"
            )
        if room < 0:
            return
        yield section


def _in_turn(run: RunReport) -> Iterator[int]:
    """Places of the series, one of each data set, then the second of each, and so on."""
    by_dataset: dict[str, list[int]] = {}
    for place, one in enumerate(run.series):
        by_dataset.setdefault(one.dataset, []).append(place)
    for turn in zip_longest(*by_dataset.values()):
        yield from (place for place in turn if place is not None)


def _series(run: RunReport, place: int) -> Section:
    report = series_report(run, place, run.settings[0] if run.settings else "")
    detail = Detail(
        line_bytes=_LINE_BYTES * (1 + len(report.scores)),
        buffers=16,
        grid=33,
        all_scores=5_000,
        thresholds=500,
        areas=50,
        events=60,
    )
    notes = [f"Of the run {run.name}; thinned: at most 3,000 numbers to a line."]
    if run.seeds > 1:
        notes.append("Values are means over the seeds; the scores drawn are those of the first.")
    if run.series[place].n_channels > 1:
        notes.append(f"The first of {run.series[place].n_channels} channels is drawn.")
    return series_section(
        report, key=f"series-{place}", parent="table", detail=detail, note=" ".join(notes)
    )


# -- markup ------------------------------------------------------------------------------------


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _run_html(run: RunReport, data: dict[str, Any], left_out: Sequence[str]) -> str:
    failed = _counted(run.failures, "failed job")
    summary = [
        html.escape(run.state[:1].upper() + run.state[1:]),
        f'<a href="#failures">{failed}</a>' if run.failures else "none failed",
        _counted(len(run.series), "series", "series"),
        _counted(len(run.datasets), "data set"),
        _counted(len(run.detectors), "detector"),
        _counted(len(run.measures), "measure"),
    ]
    details = [f"Settings: {text}." for text in run.settings]
    if run.seeds > 1:
        details.append(f"Values of up to {run.seeds} seeds of a detector are averaged.")
    details.append(f"{_started(run.status.run)} with vuskit {run.status.run['vuskit']}.")
    if isinstance(data["values"], dict):
        details.append(
            "Values are rounded to the 65,534th part of each measure's range, to fit into a page."
        )
    blank = [one.title for name, one in run.known.items() if name not in run.measures]
    if blank and run.measures:
        details.append(f"No value on any series: {', '.join(blank)}.")
    if left_out:
        details.append(
            f"There is no room for {_counted(len(left_out), 'measure')}: {', '.join(left_out)}; "
            "`vuskit bench export` writes all values as a table."
        )
    notes = "".join(element("li", note) for note in run.status.notes)
    listed = _counted(len(run.status.notes), "note")
    return fill(
        part("run.html"),
        {
            "name": html.escape(run.name),
            "summary": ", ".join(summary) + ".",
            "details": html.escape(" ".join(details)),
            "notes": f"<details><summary>{listed}</summary><ul>{notes}</ul></details>"
            if notes
            else "",
        },
    )


def _started(facts: Mapping[str, Any]) -> str:
    """When the run began, and when it was continued; a start that had nothing to do is none."""
    first, latest = (str(facts[name])[:16].replace("T", " ") for name in ("begun", "started"))
    if str(facts["last_job"] or "") <= str(facts["started"]) or first == latest:
        return f"Started {first} UTC"
    return f"Started {first} UTC, continued {latest} UTC"


def _table_html(run: RunReport, drawn: int) -> str:
    left_out = len(run.series) - drawn
    if not left_out:
        text = "Drawings of all series are in this file."
    else:
        text = (
            f"Drawings of {drawn:,} of {len(run.series):,} series are in this file; "
            "the others show their values and the command that draws them."
        )
    return fill(part("run_table.html"), {"embedded": html.escape(text)})


def _failures(run: RunReport) -> Section:
    listed = run.status.failures
    told = f"The latest {len(listed):,} of {run.failures:,}, the latest first."
    pieces = {
        "summary": html.escape(f"{_counted(run.failures, 'job')} of {run.name} did not end well."),
        "counts": _failure_counts(run),
        "listed": html.escape(told if len(listed) < run.failures else "The latest first."),
        "failures": "\n".join(map(_failure, listed)),
    }
    return Section(
        key="failures",
        view="failures",
        title="Failures",
        html=fill(part("run_failures.html"), pieces),
        data=[[one.status.value, one.title, one.message, one.command] for one in listed],
        assets=_ASSETS,
    )


def _failure_counts(run: RunReport) -> str:
    """Series of each detector by outcome: of its scores, or of their evaluation."""
    shown = [Status.OK, *FAILED, Status.SKIPPED]
    rows = []
    for name, outcomes in zip(run.detectors, run.outcomes, strict=True):
        counts = [int(np.sum(outcomes == status.value)) for status in shown]
        cells = [element("td", f"{count:,}", data_value=str(count)) for count in counts]
        rows.append(element("th", name, scope="row") + "".join(cells))
    return table("counts", "Series by outcome", ["detector", *(s.value for s in shown)], rows)


def _failure(failure: Failure) -> str:
    trace = element("pre", failure.traceback) if failure.traceback else ""
    command = element("p", "Do it again: ") + element("pre", failure.command)
    return (
        f'<details class="failure"><summary><strong class="missed">{failure.status.value}</strong> '
        f"{html.escape(failure.title)}<br>{html.escape(failure.message)}</summary>"
        f"{command if failure.command else ''}{trace}</details>"
    )

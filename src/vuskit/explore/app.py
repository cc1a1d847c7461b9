"""ASGI application of the server: one page, the data and the thinned lines it requests."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.bench import RunStatus
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.explore.content import Content, UnknownSeriesError, content_digest, values_version
from vuskit.report.page import series_page_html
from vuskit.report.page.document import Section, fill, page_document, part
from vuskit.report.page.run import RUN_ASSETS, view_sections
from vuskit.report.page.run_data import compare_series, run_data
from vuskit.report.page.series_filters import FILTERS, select_series
from vuskit.report.page.studies import study_sections
from vuskit.report.run_report import FAILED, RunReport

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_MORE_POLICY = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def create_app(content: Content, studies: Callable[[], list[Any]] = list) -> Starlette:
    """Create the application, without access control; see `vuskit.explore.access.AccessControl`."""
    routing = require("starlette.routing", purpose="vuskit explore", extra="explore")
    applications = require("starlette.applications", purpose="vuskit explore", extra="explore")
    views = _Views(content, studies)
    # SQLite connections belong to the thread that opened them, so one thread reads the store.
    # Evaluation pages take seconds and get their own thread.
    reader = ThreadPoolExecutor(1, thread_name_prefix="vuskit-explore")
    slow = ThreadPoolExecutor(1, thread_name_prefix="vuskit-explore-page")
    routes = {
        "/": _html(reader, views.page),
        "/data/status": _json(reader, views.status),
        "/data/run": _json(reader, views.run),
        "/data/comparison": _json(reader, views.comparison),
        "/data/series/{identity:str}": _json(reader, views.series),
        "/data/series/{identity:str}/lines": _json(reader, views.lines),
        "/series/{identity:str}": _html(slow, views.evaluation),
    }
    app: Starlette = applications.Starlette(
        routes=[routing.Route(path, view, methods=["GET"]) for path, view in routes.items()]
    )
    return app


class _Views:
    """One method per route; each runs in a thread that reads the content."""

    def __init__(self, content: Content, studies: Callable[[], list[Any]]) -> None:
        self._content = content
        self._studies = studies
        self._kept: tuple[list[Any], list[Section]] | None = None

    def page(self, request: Request) -> str:
        return explore_page(self._content, self._study_sections())

    def _study_sections(self) -> list[Section]:
        """Return the sections of the studies, cached because creating them takes seconds."""
        results = self._studies()
        if self._kept is None or self._kept[0] is not results:
            self._kept = results, study_sections(results) if results else []
        return self._kept[1]

    def status(self, request: Request) -> dict[str, Any]:
        return status_data(self._content.status())

    def run(self, request: Request) -> dict[str, Any]:
        return explore_data(self._content.report())

    def comparison(self, request: Request) -> dict[str, Any]:
        asked, report = request.query_params, self._content.report()
        settings = _place(asked, "settings", len(report.settings))
        measure = _place(asked, "measure", len(report.measures))
        filters = {name: asked.get(name, "") for name in ("dataset", *FILTERS)}
        return compare_series(report, settings, measure, select_series(report.series, filters))

    def series(self, request: Request) -> dict[str, Any]:
        scored = self._content.read(request.path_params["identity"])
        series = scored.series
        detectors = {
            run: name for name in scored.detectors for run in scored.repeats.get(name, (name,))
        }
        return {
            "n": series.n_points,
            "channels": list(series.channels) if series.n_channels > 1 else ["value"],
            "has_values": not np.isnan(series.values).all(),
            "scores": list(scored.scores),
            "detectors": detectors,
            "events": [[int(start), int(stop)] for start, stop in series.events],
        }

    def lines(self, request: Request) -> dict[str, Any]:
        asked, scored = request.query_params, self._content.read(request.path_params["identity"])
        n = scored.series.n_points
        start, stop = _number(asked, "start", 0), _number(asked, "stop", n)
        pixels = _number(asked, "pixels", 1_000)
        values = np.asarray(scored.series.values).reshape(n, -1)
        channel = _place(asked, "channel", values.shape[1])
        scores = list(scored.scores.values())
        wanted = asked.get("scores", ",".join(map(str, range(len(scores)))))
        places = [_place({"scores": o}, "scores", len(scores)) for o in wanted.split(",") if o]
        return {
            "start": start,
            "stop": stop,
            "values": line_data(np.ascontiguousarray(values[:, channel]), start, stop, pixels),
            "scores": {place: line_data(scores[place], start, stop, pixels) for place in places},
        }

    def evaluation(self, request: Request) -> str:
        report = self._content.evaluation(request.path_params["identity"])
        return series_page_html(report, detectors=self._content.report().detectors)


# -- answers -----------------------------------------------------------------------------------


_View = Callable[["Request"], Awaitable["Response"]]


def _json(executor: ThreadPoolExecutor, read: Callable[[Request], dict[str, Any]]) -> _View:
    async def answer(request: Request) -> Response:
        from starlette.responses import Response

        status, found = await _attempt(executor, lambda: read(request))
        body = json.dumps(found, allow_nan=False, separators=(",", ":"))
        version = found.get("version")
        headers = {} if version is None else {"etag": f'"{version}"'}
        if version is not None and request.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(body, status, headers, media_type="application/json")

    return answer


def _html(executor: ThreadPoolExecutor, make: Callable[[Request], str]) -> _View:
    async def answer(request: Request) -> Response:
        from starlette.responses import HTMLResponse, PlainTextResponse

        status, found = await _attempt(executor, lambda: {"page": make(request)})
        if "page" not in found:
            return PlainTextResponse(f"{found['error']}\n", status)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', found["page"])
        assert policy is not None  # every page has one
        headers = {"content-security-policy": f"{policy[1]}; {_MORE_POLICY}"}
        return HTMLResponse(found["page"], status, headers)

    return answer


async def _attempt(
    executor: ThreadPoolExecutor, read: Callable[[], dict[str, Any]]
) -> tuple[int, dict[str, Any]]:
    """Return status and data; expected errors become data with a message."""
    try:
        return 200, await asyncio.get_running_loop().run_in_executor(executor, read)
    except UnknownSeriesError as error:
        return 404, {"error": str(error)}
    except (VuskitError, OSError) as error:
        return 422, {"error": str(error)}


def _number(asked: Mapping[str, str], name: str, default: int) -> int:
    text = asked.get(name, str(default))
    if not re.fullmatch(r"\d{1,12}", text, re.ASCII):
        raise InvalidInputError(f"`{name}` must be a whole number, got {text[:40]!r}")
    return int(text)


def _place(asked: Mapping[str, str], name: str, size: int) -> int:
    found = _number(asked, name, 0)
    if found >= size:
        raise InvalidInputError(f"`{name}` must be below {size}, got {found}")
    return found


# -- data --------------------------------------------------------------------------------------


def status_data(status: RunStatus) -> dict[str, Any]:
    """Return progress and failures, ready for JSON."""
    progress = status.progress
    version = values_version(status)
    found = {
        "state": status.run["state"],
        "done": progress.get("done", 0),
        "total": progress.get("total", 0),
        "per_minute": _finite(progress.get("per_minute")),
        "seconds_left": _finite(progress.get("seconds_left")),
        "running": list(progress.get("running", ())),
        "failed": status.count(*FAILED),
        "values": status.n_values,
        "detectors": _by_detector(status),
        "causes": [
            {
                "jobs": cause.n_jobs,
                "status": cause.example.status.value,
                "title": cause.example.title,
                "message": cause.example.message,
                "command": cause.example.command,
                "traceback": cause.example.traceback or "",
            }
            for cause in status.causes
        ],
        "notes": list(status.notes),
        "run": version,
    }
    return {**found, "version": content_digest(found)}


def _by_detector(status: RunStatus) -> list[dict[str, Any]]:
    """Count the finished jobs of each detector: successful, failed and skipped."""
    found: dict[str, dict[str, int]] = {}
    for (name, _, ended), count in status.by_detector.items():
        row = found.setdefault(name, {"ok": 0, "failed": 0, "skipped": 0})
        row["failed" if ended.failed else "ok" if ended == "OK" else "skipped"] += count
    return [{"name": name, **row} for name, row in found.items()]


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)


_ASSETS = (*RUN_ASSETS, "explore.css", "explore.js")


def explore_data(report: RunReport) -> dict[str, Any]:
    """Return the data of a run page, with the identities of the series and a version."""
    data = run_data(report, {})
    data["series"]["id"] = [one.hash for one in report.series]
    data["embedded"], data["not_drawn"] = {}, {}
    return {**data, "version": values_version(report.status)}


def explore_page(content: Content, studies: Sequence[Section] = ()) -> str:
    """Write the page of the server."""
    report = content.report()
    overview = Section(
        "overview",
        "explore-overview",
        "Overview",
        fill(part("explore_overview.html"), {"name": html.escape(content.title)}),
        {},
        _ASSETS,
    )
    series = Section(
        "series",
        "explore-series",
        "Series",
        part("explore_series.html"),
        {},
        _ASSETS,
        parent="table",
    )
    views = view_sections(report, explore_data(report), series, live=True)
    return page_document(content.title, [overview, *views, *studies], served=True)


MOST_PIXELS = 8_192

Floats = NDArray[np.float64]


def envelope(line: Floats, start: int, stop: int, pixels: int) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value under each pixel.

    Pixel ``p`` covers the points from ``start + p * size // pixels`` (included) to
    ``start + (p + 1) * size // pixels`` (excluded), where ``size = stop - start``. NaN is ignored;
    a pixel with only NaN is NaN.
    """
    edges = start + np.arange(pixels, dtype=np.int64) * (stop - start) // pixels
    part = line[:stop]
    return np.fmin.reduceat(part, edges), np.fmax.reduceat(part, edges)


def line_data(line: Floats, start: int, stop: int, pixels: int) -> dict[str, Any]:
    """Return a part of a line for a page: all points, or an envelope if there are too many."""
    if not 0 <= start < stop <= line.size:
        raise InvalidInputError(
            f"`start` and `stop` must be a range within 0 to {line.size}, got {start} to {stop}"
        )
    if not 1 <= pixels <= MOST_PIXELS:
        raise InvalidInputError(f"`pixels` must be from 1 to {MOST_PIXELS}, got {pixels}")
    known = np.isfinite(line)
    if not known.any():
        return {"range": None}
    low, high = float(np.fmin.reduce(line)), float(np.fmax.reduce(line))
    # Relative to the lowest value, single precision is enough even for large numbers.
    found: dict[str, Any] = {"range": [low, high], "base": low}
    if stop - start <= 2 * pixels:
        return {**found, "points": _packed(line[start:stop] - low)}
    lowest, highest = envelope(line, start, stop, pixels)
    return {**found, "low": _packed(lowest - low), "high": _packed(highest - low)}


def _packed(numbers: Floats) -> str:
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")

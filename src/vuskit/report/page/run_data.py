"""Data of the page of a run: tests, and numbers that fit into a file."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit.bench import Status
from vuskit.errors import InvalidInputError
from vuskit.figures._drawing import FAMILY_TITLES, family_of
from vuskit.measures.registry import main_measure
from vuskit.report.page.series import (
    encoded_floats,
    encoded_shares,
)
from vuskit.report.page.series_filters import filter_data
from vuskit.report.run_report import RunReport
from vuskit.report.verdict import QUESTIONS, Verdict, verdict_of

if TYPE_CHECKING:
    from vuskit.statistics.comparison import TableComparison

Floats = NDArray[np.float64]


MOST_BYTES = 600_000
_MOST_PAIRED = 30  # detectors of a matrix
_RESAMPLES = 2  # the minimum, because the page shows no intervals of ranks


def run_comparisons(
    run: RunReport, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Compare the detectors by every measure, under every settings.

    The page holds values in single precision, where distinct differences may tie. Therefore the
    tests are computed here, and the page selects among them.
    """
    told = progress or (lambda done, total: None)
    total = len(run.settings) * len(run.measures)
    found: dict[str, Any] = {}

    def all_measures(series: NDArray[np.intp], suffix: str = "") -> dict[str, Any]:
        own: dict[str, Any] = {}
        for s in range(len(run.settings)):
            told(min(len(found) + len(own), total), total)
            compared = [_compared(run, s, m, series) for m in range(len(run.measures))]
            own |= {
                f"{s},{m}{suffix}": _comparison_data(run, s, m, compared)
                for m in range(len(compared))
            }
        return own

    found |= all_measures(np.arange(len(run.series)))
    places = {name: place for place, name in enumerate(run.datasets)}
    if len(places) < 2:
        return {**found, **{f"{key},0": one for key, one in found.items()}}
    owner = np.array([places[one.dataset] for one in run.series])
    room = MOST_BYTES
    for dataset, _ in Counter(owner.tolist()).most_common():
        own = all_measures(np.flatnonzero(owner == dataset), f",{dataset}")
        room -= len(json.dumps(own))
        if room < 0:
            break
        found |= own
    return found


def compare_series(
    run: RunReport, settings: int, measure: int, series: NDArray[np.intp]
) -> dict[str, Any]:
    """Compare the detectors by a measure on some series; return ranks and tests, or an error."""
    compared = [
        _compared(run, settings, place, series) if place == measure else ""
        for place in range(len(run.measures))
    ]
    return _comparison_data(run, settings, measure, compared)


def _compared(
    run: RunReport, settings: int, measure: int, series: NDArray[np.intp]
) -> TableComparison | str:
    """Return a comparison, or why there is none."""
    names = run.settings[settings], run.measures[measure]
    try:
        return run.comparison(*names, series=series, n_resamples=_RESAMPLES)
    except InvalidInputError as error:
        return str(error)


def _comparison_data(
    run: RunReport, settings: int, measure: int, compared: Sequence[TableComparison | str]
) -> dict[str, Any]:
    """Return what the page shows of a comparison by one of the measures, or an error."""
    found = compared[measure]
    if isinstance(found, str):
        return {"error": found}
    places = {name: place for place, name in enumerate(run.detectors)}
    names = run.settings[settings], run.measures[measure]
    chance = run.chance_of(*names, found.table.index.to_numpy())
    return {
        "detectors": [places[str(name)] for name in found.summary.index],
        "ranks": [round(float(rank), 4) for rank in found.summary["mean_rank"]],
        "groups": [[places[str(name)] for name in group] for group in found.groups],
        "unjoined": found.unjoined_text,
        "tests": " ".join(f"{text}." for text in found.tests),
        "n": found.pairs.n,
        "verdict": _verdict(run, measure, compared, found, chance).to_dict(),
        "matrix": _packed_matrix(found) if len(found.summary) <= _MOST_PAIRED else None,
        "forest": _packed_forest(found, places, chance),
    }


def _packed_matrix(found: TableComparison) -> dict[str, Any]:
    """Return the multi-comparison matrix: means, and the cells of each pair once, row by row."""
    data = found.matrix().data()
    above = [cell for row, line in enumerate(data["cells"]) for cell in line[row + 1 :]]
    return {
        "means": [_short(item["mean"]) for item in data["items"]],
        "cells": [
            [
                _short(cell["difference"]),
                *(cell[name] for name in ("wins", "ties", "losses")),
                _short(cell["p"]),
                int(cell["significant"]),
            ]
            for cell in above
        ],
    }


def _packed_forest(
    found: TableComparison, places: Mapping[str, int], chance: float | None
) -> dict[str, Any]:
    """Return the means with their intervals by place of the detector, best first."""
    (panel,) = found.forest().data()["panels"]
    return {
        "items": [
            [places[item["title"]], *(_short(item[name]) for name in ("value", "lower", "upper"))]
            for item in panel["items"]
        ],
        "chance": None if chance is None else _short(chance),
    }


def _short(number: float) -> float:
    return float(f"{number:.5g}")


def _verdict(
    run: RunReport,
    measure: int,
    compared: Sequence[TableComparison | str],
    found: TableComparison,
    chance: float | None,
) -> Verdict:
    """Return the verdict on the series that were compared by a measure."""
    others = {
        one.title: one
        for place, one in enumerate(compared)
        if place != measure and not isinstance(one, str)
    }
    return verdict_of(
        found,
        chance=chance,
        datasets={place: run.series[place].dataset for place in found.table.index},
        rows={place: run.series[place].name for place in found.table.index},
        by_measure=others,
    )


PAGE_BYTES = 5_500_000  # of the whole page, so that it can be sent by mail
_EXACT_BYTES = 2_000_000  # of values in single precision; beyond, values are rounded
_BASE64 = 4 / 3
_OUTCOMES = ("", *(status.value for status in Status))


def run_that_fits(run: RunReport, room: int) -> tuple[RunReport, tuple[str, ...]]:
    """Omit measures until the values of the others fit into a page."""
    if not run.values.size:
        return run, ()
    each = run.values.size / len(run.measures) * 2 * _BASE64
    most = int(room / each)
    if most < 1:
        fitting = max(int(room / 2 / _BASE64), 0)
        raise InvalidInputError(
            f"the run must have fewer than {fitting:,} values of a measure to fit into a page, "
            f"got {len(run.detectors):,} detectors on {len(run.series):,} series; "
            "`vuskit bench export` writes them as a table"
        )
    main = main_measure(run.measures)
    ranked = sorted(run.measures, key=lambda name: name != main)
    kept = [place for place, name in enumerate(run.measures) if name in ranked[:most]]
    smaller = dataclasses.replace(
        run, measures=tuple(run.measures[place] for place in kept), values=run.values[:, kept]
    )
    return smaller, tuple(ranked[most:])


def fits_exactly(run: RunReport, room: int) -> bool:
    """Return whether values and seconds fit in single precision."""
    return (run.values.size + run.seconds.size) * 4 * _BASE64 <= min(_EXACT_BYTES, room)


def run_data(
    run: RunReport, comparisons: Mapping[str, Any], *, exact: bool = True
) -> dict[str, Any]:
    """Return everything that the views of a run show, ready for JSON."""
    measures = [run.measure(name) for name in run.measures]
    families = dict.fromkeys(map(family_of, measures))
    datasets = run.datasets
    return {
        "settings": run.settings,
        "measures": [
            {
                "name": measure.name,
                "title": measure.title,
                "family": family_of(measure),
                "higher": measure.higher_is_better,
            }
            for measure in measures
        ],
        "favorite": main_measure(run.measures) if run.measures else "",
        "families": {family: FAMILY_TITLES[family] for family in families},
        "detectors": run.detectors,
        "detector_families": run.families,
        "datasets": datasets,
        "series": {
            "dataset": [datasets.index(one.dataset) for one in run.series],
            "name": [one.name for one in run.series],
            "points": [one.n_points for one in run.series],
            "anomalies": [one.n_anomalies for one in run.series],
            "anomalous": [one.anomalous_points for one in run.series],
        },
        "filters": filter_data(run.series),
        "values": encoded_floats(run.values) if exact else packed_rows(_by_measure(run)),
        "seconds": encoded_floats(run.seconds) if exact else packed_rows(run.seconds, log=True),
        "digits": 7 if exact else 5,
        "outcomes": _outcomes(run),
        "outcome_names": _OUTCOMES,
        "comparisons": comparisons,
        "questions": QUESTIONS,
        "command": "" if run.memory else f"vuskit report {shlex.quote(str(run.folder))} --series",
        "explore": f"vuskit explore {shlex.quote(str(run.folder))}",
    }


def packed_rows(rows: Floats, *, log: bool = False) -> dict[str, Any]:
    """Encode numbers in two bytes each, evenly between the minimum and maximum of their row."""
    taken = np.full(rows.shape, np.nan)
    np.log10(rows, out=taken, where=rows > 0) if log else np.copyto(taken, rows)
    there = np.isfinite(taken)
    low = np.where(there, taken, np.inf).min(axis=1, initial=np.inf)
    high = np.where(there, taken, -np.inf).max(axis=1, initial=-np.inf)
    low, high = np.where(low > high, 0.0, low), np.where(low > high, 0.0, high)
    span = np.where(high > low, high - low, 1.0)
    shares = (taken - low[:, None]) / span[:, None]
    return {
        "data": encoded_shares(shares),
        "low": low.tolist(),
        "high": high.tolist(),
        "log": log,
    }


def _by_measure(run: RunReport) -> Floats:
    rows, columns = len(run.settings) * len(run.measures), len(run.detectors) * len(run.series)
    return run.values.reshape(rows, columns)


def _outcomes(run: RunReport) -> str:
    """Encode the outcomes: one digit per detector and series."""
    letters = {name: str(place) for place, name in enumerate(_OUTCOMES)}
    return "".join(letters[str(outcome)] for outcome in run.outcomes.ravel())

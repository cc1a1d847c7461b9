"""Tests of a run's detectors, over all its series and over those of each data set."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.optional import require
from vuskit.errors import InvalidInputError
from vuskit.report.run import RunReport

__all__ = ["MOST_BYTES", "run_comparisons"]

MOST_BYTES = 600_000
_RESAMPLES = 2  # the fewest there are: the page shows no intervals


def run_comparisons(
    run: RunReport, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Compare the detectors by every measure, under every settings.

    Browsers hold the values in single precision, in which differences tie that are not equal; so
    the tests are made here, and the page chooses among them.

    Parameters
    ----------
    run : RunReport
        The run.
    progress : callable, optional
        Called with the measures that are done and how many there are.

    Returns
    -------
    dict
        By ``"settings,measure"`` for all series and ``"settings,measure,dataset"`` for those of one
        data set, all of them places. Data sets with many series come first; those of which there
        is no room for every measure are not there.
    """
    pairs = [(s, m) for s in range(len(run.settings)) for m in range(len(run.measures))]
    found: dict[str, Any] = {}
    for done, (s, m) in enumerate(pairs):
        if progress is not None:
            progress(done, len(pairs))
        found[f"{s},{m}"] = _comparison(run, s, m, np.arange(len(run.series)))
    places = {name: place for place, name in enumerate(run.datasets)}
    if len(places) < 2:
        return {**found, **{f"{key},0": one for key, one in found.items()}}
    owner = np.array([places[one.dataset] for one in run.series])
    room = MOST_BYTES
    for dataset, _ in Counter(owner.tolist()).most_common():
        series = np.flatnonzero(owner == dataset)
        own = {f"{s},{m},{dataset}": _comparison(run, s, m, series) for s, m in pairs}
        room -= len(json.dumps(own))
        if room < 0:
            break
        found |= own
    return found


def _comparison(
    run: RunReport, settings: int, measure: int, series: NDArray[np.intp]
) -> dict[str, Any]:
    from vuskit.studies.statistics.comparison import compare_columns

    values = run.values[settings, measure][:, series]
    present = np.flatnonzero(np.isfinite(values).any(axis=1))
    pandas = require("pandas", purpose="a comparison")
    table = pandas.DataFrame(values[present].T, columns=present)
    complete = len(table.dropna())
    if present.size < 2 or complete < 2:
        return {"error": _too_few(present.size, complete, series.size)}
    try:
        compared = compare_columns(
            table,
            title=run.measures[measure],
            higher_is_better=run.measure(run.measures[measure]).higher_is_better,
            n_resamples=_RESAMPLES,
        )
    except InvalidInputError as error:
        return {"error": str(error)}
    return {
        "detectors": [int(place) for place in compared.summary.index],
        "ranks": [round(float(rank), 4) for rank in compared.summary["mean_rank"]],
        "groups": [[int(str(place)) for place in group] for group in compared.groups],
        "tests": " ".join(f"{text}." for text in compared.tests),
        "n": complete,
    }


def _too_few(detectors: int, complete: int, series: int) -> str:
    if detectors < 2:
        return f"tests compare two detectors or more, and {detectors or 'none'} has values here."
    return (
        f"tests need two series or more with a value of every detector, and {complete} of "
        f"{series} {'has' if complete == 1 else 'have'} that here."
    )

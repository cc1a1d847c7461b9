"""Numbers of a run for its page: as exact as there is room for."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.bench.results import main_measure
from vuskit.bench.states import Status
from vuskit.errors import InvalidInputError
from vuskit.report.common import FAMILY_TITLES, family_of
from vuskit.report.page.drawing_data import encoded_floats, encoded_shares
from vuskit.report.run import RunReport

__all__ = ["PAGE_BYTES", "fits_exactly", "packed_rows", "run_data", "run_that_fits"]

Floats = NDArray[np.float64]

PAGE_BYTES = 5_500_000  # of the whole page; six million is what mail and browsers like
_EXACT_BYTES = 2_000_000  # of numbers in single precision; more of them are rounded
_BASE64 = 4 / 3
_OUTCOMES = ("", *(status.value for status in Status))


def run_that_fits(run: RunReport, room: int) -> tuple[RunReport, tuple[str, ...]]:
    """Leave out measures until the values of the others fit.

    Parameters
    ----------
    run : RunReport
        The run.
    room : int
        Bytes that the values may take, at two bytes each before they are encoded.

    Returns
    -------
    RunReport
        The run, maybe with fewer measures; the main one stays longest, then the first.
    tuple of str
        Measures that were left out.

    Raises
    ------
    InvalidInputError
        If not even one measure fits.
    """
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
    """Whether values and seconds may be kept in single precision."""
    return (run.values.size + run.seconds.size) * 4 * _BASE64 <= min(_EXACT_BYTES, room)


def run_data(
    run: RunReport, comparisons: Mapping[str, Any], *, exact: bool = True
) -> dict[str, Any]:
    """Everything that the views of a run show, ready for JSON.

    Parameters
    ----------
    run : RunReport
        The run.
    comparisons : mapping
        See `run_comparisons`.
    exact : bool, default=True
        Keep values and seconds in single precision; otherwise two bytes each.
    """
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
        "favourite": main_measure(run.measures) if run.measures else "",
        "families": {family: FAMILY_TITLES[family] for family in families},
        "detectors": run.detectors,
        "datasets": datasets,
        "series": {
            "dataset": [datasets.index(one.dataset) for one in run.series],
            "name": [one.name for one in run.series],
            "points": [one.n_points for one in run.series],
            "anomalies": [one.n_anomalies for one in run.series],
        },
        "values": encoded_floats(run.values) if exact else packed_rows(_by_measure(run)),
        "seconds": encoded_floats(run.seconds) if exact else packed_rows(run.seconds, log=True),
        "digits": 7 if exact else 5,
        "outcomes": _outcomes(run),
        "outcome_names": _OUTCOMES,
        "comparisons": comparisons,
        "command": f"vuskit report {shlex.quote(str(run.folder))} --series",
    }


def packed_rows(rows: Floats, *, log: bool = False) -> dict[str, Any]:
    """Two bytes for each number, spread evenly between the least and the largest of its row.

    Parameters
    ----------
    rows : ndarray of shape (n, size)
        NaN is a gap; so is what has no logarithm, if those are taken.
    log : bool, default=False
        Spread the logarithms, for numbers of very different sizes.

    Examples
    --------
    >>> packed = packed_rows(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, np.nan]]))
    >>> packed["low"], packed["high"]
    ([1.0, 5.0], [3.0, 5.0])
    """
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
    """One letter for each detector and series: its place in the list of outcomes."""
    letters = {name: str(place) for place, name in enumerate(_OUTCOMES)}
    return "".join(letters[str(outcome)] for outcome in run.outcomes.ravel())

"""Runs whose numbers are made up, of any size: nothing is detected, measured or stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vuskit.bench import RunSeries, RunStatus
from vuskit.measures.registry import Measure
from vuskit.report.run_report import RunReport

# Series of each data set: tests are exact on the first, approximate on the second, and the last
# has too few of them.
SIZES = {"middle": 9, "large": 60, "lonely": 1}
# A measure of one's own, of which less is better.
LATE = Measure(name="late_points", title="Late points", function=len, higher_is_better=False)


def made_run(*, sizes=None, detectors=("one", "two", "three", "none"), measures=("vus_pr",)):
    """Make a run of which the last detector has no value; the others differ a little."""
    sizes = sizes or SIZES
    rng = np.random.default_rng(5)
    series = tuple(
        RunSeries(dataset, f"s{number}", "", "{}", 500, 1, 3, ())
        for dataset, count in sizes.items()
        for number in range(count)
    )
    shape = len(measures), len(detectors), len(series)
    better = np.linspace(0.3, 0.0, len(detectors))[:, None]
    values = 0.6 * rng.random((1, *shape)) + better
    values[:, :, 0, 4:7] = values[:, :, 1, 4:7]  # ties
    values[:, :, -1] = np.nan
    return RunReport(
        folder=Path("nowhere"),
        status=RunStatus(
            run={
                "state": "finished",
                "begun": "2026-01-01T00:00:00",
                "started": "2026-01-01T00:00:00",
                "last_job": "2026-01-01T00:01:00",
                "vuskit": "0",
            },
            progress={"done": 1, "total": 1},
            counts={},
            by_detector={},
            n_values=int(values.size),
            failures=(),
            causes=(),
            notes=(),
        ),
        settings=("buffer=10",),
        measures=tuple(measures),
        detectors=tuple(detectors),
        series=series,
        values=values,
        seconds=10 ** rng.normal(size=shape[1:]),
        outcomes=np.full(shape[1:], "OK"),
        seeds=1,
        known={LATE.name: LATE},
    )

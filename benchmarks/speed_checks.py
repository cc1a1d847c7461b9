"""Claims about our own speed, each measured and compared with its limit."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

from speed_cases import TARGET_BUFFER, TARGET_SERIES, Series, size_text
from speed_contenders import CONTENDERS, OWN_ENVIRONMENTS, SHARING, environment_variables
from speed_run import Job
from speed_store import OK, Key, Record, Store, median_ratio

HUGE_WORKER = Path(__file__).parent / "speed_huge.py"

# Share of scikit-learn's two AUCs. The grid has one target, whether numba is installed or not.
TARGET_COLUMNS = {
    "grid np": ("vus-grid", "numpy"),
    "grid nb": ("vus-grid", "numba"),
    "exact np": ("vus-exact", "numpy"),
    "exact nb": ("vus-exact", "numba"),
}
TARGETS = dict(
    zip(
        TARGET_SERIES,
        (
            (0.15, 0.15, 0.4, 0.15),
            (0.03, 0.03, 0.06, 0.04),
            (0.023, 0.023, 0.03, 0.03),
            (0.05, 0.05, 0.6, 0.2),
        ),
        strict=True,
    )
)
EVALUATE_LIMIT = 1.5
SHARING_SERIES = Series(20_000, 10, 10), Series(20_000, 20, 50)
SHARING_LIMIT = 0.5
IMPORT_LIMIT, IMPORT_SAMPLES = 0.2, 9
HUGE_LIMIT = 3.0
# A doubling may cost 10 % more than double, because caches fill.
GROWTH_LIMIT = 1.15


@dataclass(frozen=True)
class Growth:
    """Points along one direction in which the cost must grow at most linearly.

    Growth with the points of the series is judged ``beside_sort``: the sort is n log n and meets
    every cache on its way, so its own excess over linear is taken off.
    """

    name: str
    cases: tuple[tuple[Series, int], ...]
    size: Callable[[Series, int], int]
    beside_sort: bool = False

    def only_small(self) -> Growth:
        """The same with what a quick run can afford."""
        cases = tuple((s, b) for s, b in self.cases if s.n <= 1_000_000)
        return replace(self, cases=cases)


GROWTHS = (
    Growth(
        "points of the series",
        tuple(
            (Series(n, 10, 10), TARGET_BUFFER)
            for n in (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
        ),
        lambda series, _: series.n,
        beside_sort=True,
    ),
    # Long events, so that the number of points near anomalies hardly changes with L.
    Growth(
        "buffer length",
        tuple((Series(1_000_000, 20, 10_000), buffer) for buffer in (64, 128, 256, 512, 1024)),
        lambda _, buffer: buffer,
    ),
    Growth(
        "points near anomalies",
        tuple((Series(1_000_000, k, 100), TARGET_BUFFER) for k in (125, 250, 500, 1000, 2000)),
        lambda series, buffer: series.anomalies * (series.length + buffer),
    ),
)


@dataclass(frozen=True)
class Outcome:
    """One claim: what was measured, its limit, and whether it holds (None: not measured)."""

    claim: str
    measured: float | None
    limit: float
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.measured is None:
            return "not measured"
        return "pass" if self.measured <= self.limit else "miss"


def sharing_jobs() -> list[Job]:
    entries = tuple((name, TARGET_BUFFER) for name in SHARING)
    return [
        Job(series, environment, entries)
        for environment in OWN_ENVIRONMENTS
        for series in SHARING_SERIES
    ]


def growth_jobs(growths: tuple[Growth, ...]) -> list[Job]:
    """One worker per series and environment; buffer lengths of the same series share it."""
    buffers: dict[Series, set[int]] = {}
    for growth in growths:
        for series, buffer in growth.cases:
            buffers.setdefault(series, set()).add(buffer)
    return [
        Job(series, environment, (("sort", 0), *(("vus-exact", b) for b in sorted(lengths))))
        for environment in OWN_ENVIRONMENTS
        for series, lengths in buffers.items()
    ]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of log(time) over log(size): 1 is linear, 2 quadratic."""
    slope, _ = linear_regression([math.log(x) for x in sizes], [math.log(t) for t in seconds])
    return slope


def measured(store: Store, name: str, environment: str, series: Series, buffer: int) -> Any:
    """The record if it holds samples, else None."""
    record = store.get(Key(name, environment, series, buffer))
    return record if record is not None and record.status == OK else None


def _quotient(above: Record | None, below: Record | None) -> float | None:
    return median_ratio(above.seconds, below.seconds) if above and below else None


def evaluate_outcomes(store: Store) -> list[Outcome]:
    """All thirteen measures against the exact VUS alone, by the rows of the targets."""
    outcomes = []
    for environment in OWN_ENVIRONMENTS:
        for series in TARGET_SERIES:
            whole = measured(store, "evaluate", environment, series, TARGET_BUFFER)
            part = measured(store, "vus-exact", environment, series, TARGET_BUFFER)
            claim = f"evaluate / exact VUS, {size_text(series.n)} {series.events_text}, "
            outcomes.append(Outcome(claim + environment, _quotient(whole, part), EVALUATE_LIMIT))
    return outcomes


def sharing_outcomes(store: Store) -> list[Outcome]:
    """Thirty scores with shared labels against thirty single calls."""
    outcomes = []
    for environment, series in itertools.product(OWN_ENVIRONMENTS, SHARING_SERIES):
        single, *shared = (
            measured(store, name, environment, series, TARGET_BUFFER) for name in SHARING
        )
        for name, record in zip(("Evaluator", "evaluate_many"), shared, strict=True):
            claim = f"30 scores, {name} / single calls, {series.events_text}, {environment}"
            outcomes.append(Outcome(claim, _quotient(record, single), SHARING_LIMIT))
    return outcomes


def growth_outcomes(store: Store, growths: tuple[Growth, ...]) -> list[Outcome]:
    """Fitted exponents of the exact VUS."""
    return [
        _growth_outcome(store, growth, environment)
        for environment in OWN_ENVIRONMENTS
        for growth in growths
    ]


def _growth_outcome(store: Store, growth: Growth, environment: str) -> Outcome:
    claim = f"growth with {growth.name}, exponent, {environment}"
    sizes = [growth.size(series, buffer) for series, buffer in growth.cases]

    def slope_of(name: str) -> float | None:
        uses_buffer = CONTENDERS[name].uses_buffer
        records = [
            measured(store, name, environment, series, buffer if uses_buffer else 0)
            for series, buffer in growth.cases
        ]
        if None in records or len(records) < 2:
            return None
        return exponent(sizes, [median(record.seconds) for record in records])

    slope, floor = slope_of("vus-exact"), slope_of("sort") if growth.beside_sort else 1.0
    if slope is None or floor is None:
        return Outcome(claim, None, GROWTH_LIMIT)
    note = f"{size_text(sizes[0])} to {size_text(sizes[-1])}"
    if growth.beside_sort:
        note += f"; np.sort {floor:.2f}"
    return Outcome(claim, slope, GROWTH_LIMIT + max(floor - 1.0, 0.0), note)


IMPORT_SCRIPT = """
import json, sys, time
before = set(sys.modules)
begin = time.perf_counter()
import vuskit
seconds = time.perf_counter() - begin
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
print(json.dumps([seconds, sorted(tops - {"vuskit", "numpy"} - set(sys.stdlib_module_names))]))
"""


def import_outcome() -> tuple[Outcome, dict[str, Any]]:
    """Time of ``import vuskit`` (numpy included) in fresh processes, and what it drags in."""
    samples, strangers = [], []
    for number in range(IMPORT_SAMPLES + 1):
        done = subprocess.run(
            # -I -S would hide an editable install; -P only keeps this folder out of the path.
            [sys.executable, "-P", "-c", IMPORT_SCRIPT],
            capture_output=True, text=True, check=False, env=environment_variables("numba"),
        )  # fmt: skip
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return Outcome("import vuskit, seconds", None, IMPORT_LIMIT, reason), {}
        seconds, strangers = json.loads(done.stdout)
        samples += [seconds] if number else []  # the first run fills the disk cache
    note = "loads numpy only" if not strangers else f"also loads {', '.join(strangers)}"
    outcome = Outcome("import vuskit, seconds", median(samples), IMPORT_LIMIT, note)
    return outcome, {"import_seconds": samples, "import_strangers": strangers}


def huge_outcome(n: int) -> tuple[Outcome, dict[str, Any]]:
    """Peak memory of one ``evaluate`` on memory maps of ``n`` points, in sizes of the scores."""
    claim = f"memory map of {size_text(n)} points, peak memory / size of the scores"
    done = subprocess.run(
        [sys.executable, str(HUGE_WORKER), str(n)],
        stdout=subprocess.PIPE, text=True, check=False, env=environment_variables("numba"),
    )  # fmt: skip
    if done.returncode:
        return Outcome(claim, None, HUGE_LIMIT, "the process failed"), {}
    raw = json.loads(done.stdout)
    share = raw["peak_bytes"] / raw["score_bytes"]
    return Outcome(claim, share, HUGE_LIMIT, f"{raw['seconds']:.0f} s"), {"huge": raw}

"""Claims about speed with their limits, and the tables, at most 100 columns wide."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import linear_regression, median
from typing import Any

from speed_run import (
    FAILED,
    IMPLIED,
    NOT_INSTALLED,
    OK,
    OVER_LIMIT,
    OVER_MEMORY,
    WORKER,
    Job,
    Record,
    Records,
    events_text,
    key_of,
    median_ratio,
    size_text,
)
from speed_worker import (
    CONTESTANTS,
    OWN_ENVIRONMENTS,
    PEERS,
    SHARING,
    environment_variables,
)

from vuskit.studies.timing import Setting, sweep

TARGET_BUFFER = 100
# Share of scikit-learn's two AUCs. The grid has one target, whether numba is installed or not.
TARGET_COLUMNS = {
    "grid np": ("fast_grid", "numpy"),
    "grid nb": ("fast_grid", "numba"),
    "exact np": ("fast_exact", "numpy"),
    "exact nb": ("fast_exact", "numba"),
}
TARGETS = {
    Setting(10, 10, 0, 10_000, TARGET_BUFFER): (0.15, 0.15, 0.4, 0.15),
    Setting(10, 10, 0, 100_000, TARGET_BUFFER): (0.03, 0.03, 0.06, 0.04),
    Setting(10, 10, 0, 1_000_000, TARGET_BUFFER): (0.023, 0.023, 0.03, 0.03),
    Setting(1000, 100, 0, 1_000_000, TARGET_BUFFER): (0.05, 0.05, 0.6, 0.2),
}
EVALUATE_LIMIT = 1.5
SHARING_SETTINGS = (
    Setting(10, 10, 0, 20_000, TARGET_BUFFER),
    Setting(20, 50, 0, 20_000, TARGET_BUFFER),
)
SHARING_LIMIT = 0.5
IMPORT_LIMIT, IMPORT_SAMPLES = 0.2, 9
HUGE_LIMIT = 3.0
# A doubling may cost 10 % more than double, because caches fill.
GROWTH_LIMIT = 1.15


# Claims ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """Settings along one direction in which the cost must grow at most linearly.

    Growth with the points of the series is judged ``beside_sort``: the sort is n log n and meets
    every cache on its way, so its own excess over linear is taken off.
    """

    name: str
    settings: tuple[Setting, ...]
    size: Callable[[Setting], float]
    beside_sort: bool = False

    def only_small(self) -> Growth:
        """The same with what a quick run can afford."""
        return replace(
            self, settings=tuple(one for one in self.settings if one.n_points <= 1_000_000)
        )


_MILLION = Setting(n_points=1_000_000, max_buffer=TARGET_BUFFER)
GROWTHS = (
    Growth(
        "points of the series",
        tuple(
            sweep("n_points", (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000), base=_MILLION)
        ),
        lambda setting: setting.n_points,
        beside_sort=True,
    ),
    # Long events, so that the number of points near anomalies hardly changes with L.
    Growth(
        "buffer length",
        tuple(
            sweep(
                "max_buffer",
                (64, 128, 256, 512, 1024),
                base=replace(_MILLION, n_anomalies=20, mean_length=10_000),
            )
        ),
        lambda setting: setting.max_buffer,
    ),
    Growth(
        "points near anomalies",
        tuple(
            sweep(
                "n_anomalies",
                (125, 250, 500, 1000, 2000),
                base=replace(_MILLION, mean_length=100),
            )
        ),
        lambda setting: setting.n_anomalies * (setting.mean_length + setting.max_buffer),
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
        Job(setting, environment, entries)
        for environment in OWN_ENVIRONMENTS
        for setting in SHARING_SETTINGS
    ]


def growth_jobs(growths: tuple[Growth, ...]) -> list[Job]:
    """One worker per series and environment; buffer lengths of the same series share it."""
    buffers: dict[Setting, set[int]] = {}
    for setting in itertools.chain.from_iterable(growth.settings for growth in growths):
        buffers.setdefault(replace(setting, max_buffer=0), set()).add(setting.max_buffer)
    return [
        Job(setting, environment, (("sort", 0), *(("fast_exact", b) for b in sorted(lengths))))
        for environment in OWN_ENVIRONMENTS
        for setting, lengths in buffers.items()
    ]


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Slope of log(time) over log(size): 1 is linear, 2 quadratic."""
    slope, _ = linear_regression([math.log(x) for x in sizes], [math.log(t) for t in seconds])
    return slope


def _quotient(above: Record | None, below: Record | None) -> float | None:
    return median_ratio(above.seconds, below.seconds) if above and below else None


def evaluate_outcomes(records: Records) -> list[Outcome]:
    """All thirteen measures against the exact VUS alone, by the rows of the targets."""
    outcomes = []
    for environment, setting in itertools.product(OWN_ENVIRONMENTS, TARGETS):
        whole = records.measured("evaluate", environment, setting)
        part = records.measured("fast_exact", environment, setting)
        series = f"{size_text(setting.n_points)} {events_text(setting)}"
        claim = f"evaluate / exact VUS, {series}, {environment}"
        outcomes.append(Outcome(claim, _quotient(whole, part), EVALUATE_LIMIT))
    return outcomes


def sharing_outcomes(records: Records) -> list[Outcome]:
    """Thirty scores with shared labels against thirty single calls."""
    outcomes = []
    for environment, setting in itertools.product(OWN_ENVIRONMENTS, SHARING_SETTINGS):
        single, *shared = (records.measured(name, environment, setting) for name in SHARING)
        for name, record in zip(("Evaluator", "evaluate_many"), shared, strict=True):
            claim = f"30 scores, {name} / single calls, {events_text(setting)}, {environment}"
            outcomes.append(Outcome(claim, _quotient(record, single), SHARING_LIMIT))
    return outcomes


def growth_outcomes(records: Records, growths: tuple[Growth, ...]) -> list[Outcome]:
    """Fitted exponents of the exact VUS."""
    return [
        _growth_outcome(records, growth, environment)
        for environment in OWN_ENVIRONMENTS
        for growth in growths
    ]


def _growth_outcome(records: Records, growth: Growth, environment: str) -> Outcome:
    claim = f"growth with {growth.name}, exponent, {environment}"
    sizes = [growth.size(setting) for setting in growth.settings]

    def slope_of(name: str) -> float | None:
        found = [records.measured(name, environment, setting) for setting in growth.settings]
        seconds = [median(record.seconds) for record in found if record is not None]
        return exponent(sizes, seconds) if len(seconds) == len(sizes) >= 2 else None

    slope, floor = slope_of("fast_exact"), slope_of("sort") if growth.beside_sort else 1.0
    if slope is None or floor is None:
        return Outcome(claim, None, GROWTH_LIMIT)
    note = f"{size_text(round(sizes[0]))} to {size_text(round(sizes[-1]))}"
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
    """Time of ``import vuskit`` (numpy included) in fresh processes, and what else it imports."""
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
        [sys.executable, str(WORKER)], input=json.dumps({"memory_map": n}),
        stdout=subprocess.PIPE, text=True, check=False, env=environment_variables("numba"),
    )  # fmt: skip
    if done.returncode:
        return Outcome(claim, None, HUGE_LIMIT, "the process failed"), {}
    raw = json.loads(done.stdout)
    share = raw["peak_bytes"] / raw["score_bytes"]
    return Outcome(claim, share, HUGE_LIMIT, f"{raw['seconds']:.0f} s"), {"huge": raw}


# Tables ------------------------------------------------------------------------------------------

OWN_COLUMNS = (
    ("np.sort", "sort", "numpy"),
    *((title, *where) for title, where in TARGET_COLUMNS.items()),
    ("all13 np", "evaluate", "numpy"),
    ("all13 nb", "evaluate", "numba"),
)
PEER_COLUMNS = tuple((CONTESTANTS[p].title, p, CONTESTANTS[p].environments[0]) for p in PEERS)
STATUS_TEXT = {
    OVER_LIMIT: "over",
    IMPLIED: "over*",
    OVER_MEMORY: "memory",
    FAILED: "failed",
    NOT_INSTALLED: "absent",
}
Column = tuple[str, str, str]
LEGEND = (
    "Shares of the time of scikit-learn's roc_auc_score + average_precision_score on the same input"
    "\nin the same process (medians). np: NumPy only; nb: with numba; all13: evaluate, exact."
)
PEER_LEGEND = (
    "Peers compute both VUS measures on 250 thresholds. >x: stopped at the time limit, x is a lower"
    "\nbound; over*: not tried, a smaller case was over the limit; memory: over the memory limit."
)


def number_text(value: float) -> str:
    """Three figures, or two decimals less than that for small shares: 0.023, 1.24, 35.6, 606."""
    if value < 0.995:
        return f"{value:.3f}"
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def ratio_text(record: Record | None) -> str:
    """The cell of a record: a ratio, a lower bound, or why there is none."""
    if record is None:
        return "-"
    if record.ratio is None:
        return STATUS_TEXT[record.status]
    return number_text(record.ratio) if record.status == OK else f">{number_text(record.ratio)}"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as they need to be, numbers to the right."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    texts = ["  ".join(c.rjust(w) for c, w in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([texts[0], "  ".join("-" * width for width in widths), *texts[1:]])


def _reference_text(found: list[Record | None]) -> str:
    seconds = [t for record in found if record for t in record.reference_seconds]
    return number_text(1000 * median(seconds)) if seconds else "-"


def ratio_table(records: Records, columns: tuple[Column, ...], settings: list[Setting]) -> str:
    """Cost as a share of scikit-learn's two AUCs, a row per setting that has anything to show."""
    rows = []
    for setting in settings:
        found = [records.get(key_of(name, where, setting)) for _, name, where in columns]
        if any(found):
            series = [size_text(setting.n_points), events_text(setting), str(setting.max_buffer)]
            rows.append([*series, _reference_text(found), *map(ratio_text, found)])
    header = ["n", "events", "L", "sklearn ms", *(title for title, *_ in columns)]
    return table(header, rows)


def target_table(records: Records) -> str:
    """Measured share against the target, for each row and column of the targets."""
    rows = []
    for setting, limits in TARGETS.items():
        row = [size_text(setting.n_points), events_text(setting)]
        for (name, environment), limit in zip(TARGET_COLUMNS.values(), limits, strict=True):
            record = records.get(key_of(name, environment, setting))
            value = record.ratio if record and record.status == OK else None
            verdict = "" if value is None else Outcome(name, value, limit).verdict
            row += [ratio_text(record), f"{limit:g} {verdict}".strip()]
        rows.append(row)
    header = ["n", "events"]
    for title in TARGET_COLUMNS:
        header += [title, "target"]
    return table(header, rows)


def growth_table(records: Records, growth: Growth) -> str:
    """Milliseconds of the exact VUS along one direction; nothing where none were measured."""
    rows = []
    for setting in growth.settings:
        found = [records.measured("fast_exact", where, setting) for where in OWN_ENVIRONMENTS]
        found.append(records.measured("sort", "numpy", setting))
        cells = [f"{1e3 * median(one.seconds):.1f}" if one else "-" for one in found]
        if set(cells[:-1]) != {"-"}:
            size = size_text(round(growth.size(setting)))
            series = [size_text(setting.n_points), events_text(setting), str(setting.max_buffer)]
            rows.append([size, *series, *cells])
    header = [growth.name, "n", "events", "L", "exact np ms", "exact nb ms", "np.sort ms"]
    return table(header, rows) if rows else ""


def outcome_table(outcomes: list[Outcome]) -> str:
    """Every other claim with its limit."""
    rows = []
    for one in outcomes:
        value = "-" if one.measured is None else number_text(one.measured)
        rows.append([one.claim, value, f"{one.limit:.3g}", one.verdict, one.note])
    width = max((len(row[0]) for row in rows), default=0)
    lines = [
        f"{claim.ljust(width)}  {value:>7}  limit {limit:<4} {verdict}{note and f' ({note})'}"
        for claim, value, limit, verdict, note in rows
    ]
    return "\n".join(lines)


def agreement(records: Records, definition: str = "journal") -> str:
    """Largest difference between our grid values and the peers' of the same definition."""
    parts = []
    for peer in (p for p in PEERS if CONTESTANTS[p].definition == definition):
        gaps = [
            abs(a - b)
            for record in records
            if record.key.contestant == peer and record.status == OK
            for ours in [records.measured("fast_grid", "numpy", record.key.setting)]
            if ours is not None
            for a, b in zip(record.values, ours.values, strict=True)
        ]
        if gaps:
            title = CONTESTANTS[peer].title
            parts.append(f"  {title}: {max(gaps):.0e} over {len(gaps) // 2} inputs")
    return "\n".join(["Largest difference from our grid values:", *parts]) if parts else ""


def troubles(records: Records, settings: list[Setting]) -> str:
    """One line for each distinct reason why a cell holds no ratio."""
    shown = {}
    for record in records.of(settings):
        if record.status in (FAILED, NOT_INSTALLED, OVER_MEMORY):
            where = f"{record.key.contestant} ({record.key.environment})"
            shown[where, record.status] = f"{where}: {record.status}: {record.reason}"
    return "\n".join(text[:100] for text in shown.values())


def disturbances(records: Records, settings: list[Setting]) -> str:
    """What to measure again, because other processes used the machine meanwhile."""
    busy: dict[str, float] = {}
    for record in records.of(settings):
        if record.disturbed and record.other_cores is not None:
            name = record.key.contestant
            busy[name] = max(busy.get(name, 0.0), record.other_cores)
    if not busy:
        return ""
    names = ", ".join(f"{name} ({cores:.1f})" for name, cores in busy.items())
    text = (
        "Not to be trusted, because other processes kept this many cores busy: "
        f"{names}. On an idle machine, measure them again with --fresh --only {','.join(busy)}."
    )
    return textwrap.fill(text, 100)

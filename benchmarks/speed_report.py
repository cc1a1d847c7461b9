"""Tables of `speed.py` in Markdown, with targets and verdicts."""

from __future__ import annotations

import math
from statistics import linear_regression, median
from typing import Any

from speed_run import DENSE, FLEET, GROWTHS, HEADLINE, ROWS, SPARSE, WIDE, Series, ratio
from speed_worker import PEERS

Rows = list[dict[str, Any]]

# Cost of both VUS / cost of scikit-learn's two AUCs, for uniform scores, by instruction set.
V4 = dict(zip(ROWS, (0.008, 0.018, 0.007, 0.005, 0.065, 0.4, 0.15), strict=True))
TARGETS = {"v3": V4 | {WIDE: 0.5}, "v4": V4}
PUBLIC_FROM = 100_000  # points; targets of shorter series are for the kernel
SORT_SECONDS = 2.4e-6  # np.sort of 1,000 numbers on the machine that targets in seconds refer to
EVALUATE_TARGET, AROUND_TARGET, FRAME_TARGET = 80e-6, 40e-6, 20e-6
THIRTEEN_TARGET, IMPORT_TARGET, HUGE_TARGET = 1.3, 0.2, 3.0
GROWTH_TARGET = 1.15  # exponent; above 1, because caches fill
QUIET_CORES = 0.25  # below this, other processes hardly change a ratio

NO_VALUE = "-"
TITLES = {"sort": "np.sort", "kernel": "kernel", "public": "evaluate", "numpy": "NumPy core"}


def number_text(value: float) -> str:
    """Return two or three significant digits: 0.0042, 0.065, 1.24, 35.6, 606."""
    if value >= 99.95:
        return f"{value:.0f}"
    digits = 2 if value < 0.995 else 3
    decimals = max(digits - 1 - math.floor(math.log10(value)), 0) if value > 0 else 0
    return f"{value:.{decimals}f}"


def size_text(n: int) -> str:
    """1000000 -> "1e6", 20000 -> "2e4", 12345 -> "12345", 64 -> "64"."""
    mantissa, exponent = f"{n:e}".split("e")
    short = f"{float(mantissa):g}e{int(exponent)}"
    return short if float(short) == n and len(short) < len(str(n)) else str(n)


def verdict(value: float, target: float | None) -> str:
    if target is None:
        return NO_VALUE
    if value <= target:
        return "met"
    return f"missed: {100 * (value / target - 1):.0f} % above"


def table(header: list[str], rows: list[list[str]]) -> str:
    """Aligned Markdown table."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    padded = ([cell.ljust(w) for cell, w in zip(line, widths, strict=True)] for line in lines)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def _series_cells(series: Series) -> list[str]:
    events = f"{series.anomalies} x {series.length}"
    return [size_text(series.n), events, size_text(series.buffer)]


SERIES_HEADER = ["n", "anomalies", "L"]


def _milliseconds(samples: list[float]) -> str:
    return number_text(1000 * median(samples)) if samples else NO_VALUE


def _time_text(seconds: float) -> str:
    return (
        f"{number_text(1e6 * seconds)} µs" if seconds < 1e-3 else f"{number_text(1e3 * seconds)} ms"
    )


# One table per topic -----------------------------------------------------------------------------


def headline_table(rows: Rows) -> str:
    """Both VUS against scikit-learn's two AUCs on three series."""
    cells = []
    for row in rows:
        series, seconds = row["series"], row["seconds"]
        if series in (HEADLINE, SPARSE, DENSE):
            times = [_time_text(median(seconds[name])) for name in ("public", "sk")]
            points = [f"{series.n:,}", f"{series.anomalies} of {series.length}", str(series.buffer)]
            cells.append([*points, *times, number_text(ratio(seconds, "public", "sk"))])
    header = ["points", "anomalies", "L", "both VUS, exact", "scikit-learn's two AUCs", "ratio"]
    return table(header, cells)


def rows_table(rows: Rows) -> str:
    """Shares of scikit-learn's time, with targets."""
    cells = []
    for row in rows:
        series, seconds = row["series"], row["seconds"]
        shares = [number_text(ratio(seconds, name, "sk")) for name in TITLES if name in seconds]
        target = TARGETS.get(row["set"], {}).get(series)
        judged = "public" if series.n >= PUBLIC_FROM else "kernel"
        cells.append(
            [
                *_series_cells(series), series.scores, _milliseconds(seconds["sk"]), *shares,
                number_text(ratio(seconds, "public", "sort")),
                f"{target:g} ({TITLES[judged]})" if target else NO_VALUE,
                verdict(ratio(seconds, judged, "sk"), target),
            ]
        )  # fmt: skip
    titles = [title for name, title in TITLES.items() if name in rows[0]["seconds"]]
    header = [*SERIES_HEADER, "scores", "sk ms", *titles, "evaluate / np.sort"]
    if all(line[-1] == NO_VALUE for line in cells):
        return table(header, [line[:-2] for line in cells])
    return table([*header, "target", "verdict"], cells)


def sets_table(rows: Rows) -> str:
    """Every instruction set on the series with the widest buffers."""
    cells = []
    for row in rows:
        for name in [one for one in row["seconds"] if one not in ("sk", "sort")]:
            shares = [ratio(row["seconds"], name, reference) for reference in ("sk", "sort")]
            target = TARGETS.get(name, {}).get(WIDE)
            milliseconds = _milliseconds(row["seconds"][name])
            cells.append(
                [
                    name, milliseconds, *map(number_text, shares),
                    f"{target:g}" if target else NO_VALUE, verdict(shares[0], target),
                ]
            )  # fmt: skip
    return table(["instruction set", "ms", "/ sk", "/ np.sort", "target", "verdict"], cells)


def calls_table(rows: Rows) -> str:
    """Claims about short calls and about several series, measures or scores at once."""
    by_claim = {row["claim"]: row["seconds"] for row in rows}
    short, frame = by_claim["short"], by_claim["frame"]
    sort = median(short["sort"])
    scale = sort / SORT_SECONDS
    around = median(a - b for a, b in zip(short["vus_pr"], short["kernel"], strict=True))
    whole = median(frame["frame"]) / FLEET
    beyond = median(a - b for a, b in zip(frame["frame"], frame["read"], strict=True)) / FLEET
    in_seconds = (
        ("`evaluate`, both VUS, 1,000 points", median(short["evaluate"]), EVALUATE_TARGET),
        ("`vus_pr`, 1,000 points: Python around the kernel", around, AROUND_TARGET),
        ("`evaluate_frame`, both VUS, per series of 1,000 points", whole, None),
        ("the same beyond reading the frame", beyond, FRAME_TARGET),
    )
    ratios = (
        ("all thirteen measures / both VUS", "thirteen", "thirteen", "both", THIRTEEN_TARGET),
        ("`evaluate_many` of 10 scores / 10 calls", "many", "many", "single", None),
        ("sweep with two threads / one, wall time", "threads", "2", "1", None),
    )
    cells = []
    for claim, value, target in in_seconds:
        scaled = target and target * scale
        limit = _time_text(scaled) if scaled else NO_VALUE
        cells.append([claim, _time_text(value), limit, verdict(value, scaled)])
    for text, claim, name, reference, target in ratios:
        value = ratio(by_claim[claim], name, reference)
        limit = f"{target:g}" if target else NO_VALUE
        cells.append([text, number_text(value), limit, verdict(value, target)])
    note = (
        f"`np.sort` of 1,000 numbers took {_time_text(sort)}, so targets in µs are "
        f"{scale:.2f} times those for {_time_text(SORT_SECONDS)}."
    )
    return f"{table(['claim', 'measured', 'target', 'verdict'], cells)}\n\n{note}"


def exponent(sizes: list[float], seconds: list[float]) -> float:
    """Slope of log(time) over log(size): 1 is linear, 2 quadratic."""
    slope, _ = linear_regression([math.log(x) for x in sizes], [math.log(t) for t in seconds])
    return slope


def growth_table(rows: Rows) -> str:
    """Milliseconds and exponent along each direction, for both cores."""
    sizes_of = {
        "points": lambda series: series.n,
        "buffer length": lambda series: series.buffer,
        "anomalies": lambda series: series.anomalies,
    }
    cells = []
    for direction in GROWTHS:
        here = [row for row in rows if row["direction"] == direction]
        sizes = [sizes_of[direction](row["series"]) for row in here]
        times = {
            name: [median(row["seconds"][name]) for row in here]
            for name in ("public", "numpy", "sort")
        }
        target = GROWTH_TARGET
        if direction == "points":  # the sort itself grows faster than linearly
            target += max(exponent(sizes, times["sort"]) - 1.0, 0.0)
        for name, core in (("public", "native"), ("numpy", "NumPy")):
            slope = exponent(sizes, times[name])
            cells.append(
                [
                    direction, core, ", ".join(map(size_text, sizes)),
                    ", ".join(number_text(1000 * time) for time in times[name]),
                    number_text(slope), number_text(target), verdict(slope, target),
                ]
            )  # fmt: skip
    return table(["direction", "core", "sizes", "ms", "exponent", "target", "verdict"], cells)


def import_table(rows: Rows) -> str:
    value = median(rows[0]["seconds"]["import"])
    cells = ["`import vuskit`, NumPy included", f"{value:.3f} s", f"{IMPORT_TARGET:g} s"]
    return table(
        ["claim", "measured", "target", "verdict"], [[*cells, verdict(value, IMPORT_TARGET)]]
    )


def huge_table(rows: Rows) -> str:
    value = rows[0]["peak"] / rows[0]["scores"]
    claim = f"memory map of {size_text(rows[0]['n'])} points: peak memory / size of the scores"
    cells = [claim, number_text(value), f"{HUGE_TARGET:g}", verdict(value, HUGE_TARGET)]
    return table(["claim", "measured", "target", "verdict"], [cells])


STATUS = {"implied": "over*", "memory": "memory", "failed": "failed", "absent": "absent"}


def peers_table(rows: Rows) -> str:
    """Shares of scikit-learn's time, and the differences of values."""
    by_series: dict[Series, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_series.setdefault(row["series"], {})[row["peer"]] = row
    cells = []
    for series, found in by_series.items():
        own = found["vuskit"]["seconds"]
        shares = [number_text(ratio(own, "public", "sk"))]
        shares += [_peer_text(found[name]) if name in found else NO_VALUE for name in PEERS]
        cells.append([*_series_cells(series), _milliseconds(own["sk"]), *shares])
    header = [*SERIES_HEADER, "sk ms", "vuskit", *(peer.title for peer in PEERS.values())]
    gaps: dict[str, float] = {}
    for row in rows:
        if "difference" in row:
            title = PEERS[row["peer"]].title
            gaps[title] = max(gaps.get(title, 0.0), row["difference"])
    text = ", ".join(f"{title} {gap:.0e}" for title, gap in gaps.items())
    notes = [f"Largest difference from vuskit with the same definition and thresholds: {text}."]
    notes += sorted({f"{one['peer']}: {one['reason']}" for one in rows if one.get("reason")})
    return "\n\n".join([table(header, cells), *notes])


def _peer_text(row: dict[str, Any]) -> str:
    seconds = row["seconds"]
    if row["status"] == "ok":
        return number_text(ratio(seconds, row["peer"], "sk"))
    if row["status"] in STATUS:
        return STATUS[row["status"]]
    return f">{number_text(row['limit'] / median(seconds['sk']))}" if seconds["sk"] else "over"


def load_text(rows: Rows) -> str:
    """How busy other processes were, and what to do about it."""
    cores = [row["other_cores"] for row in rows if row.get("other_cores") is not None]
    if not cores:
        return ""
    busy = " Measure again on an idle machine." if max(cores) > QUIET_CORES else ""
    return f"Other processes used at most {max(cores):.2f} cores.{busy}"

"""The series, calls and samples of `speed.py`."""

from __future__ import annotations

import functools
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from timer import Timer

import vuskit
from vuskit import frames
from vuskit.datasets.synthetic import labels_with_events
from vuskit.intervals import event_bounds
from vuskit.kernels.backend import NativePlan, NativeWidths, native_core, rules_of
from vuskit.kernels.labels import DEFINITIONS

SEED = 20
BOTH = ["vus_roc", "vus_pr"]
SHORTEST = 0.01  # seconds of a sample; faster calls are repeated
CORES = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()

Arrays = tuple[NDArray[np.int64], NDArray[np.float64]]
Calls = dict[str, Callable[[], Any]]
Samples = dict[str, list[float]]
Row = dict[str, Any]


# Series ------------------------------------------------------------------------------------------


class OtherWork:
    """Measures how many cores other processes use, starting when this object is created.

    This process and its finished children are excluded. The load average is no substitute: it
    includes the measurement itself and lags by a minute.
    """

    def __init__(self) -> None:
        self._begin = self._now()

    def cores(self) -> float | None:
        """Return the mean number of cores used by others so far; None if unknown."""
        now = self._now()
        if self._begin is None or now is None or now[0] <= self._begin[0]:
            return None
        elapsed, busy, own = (b - a for a, b in zip(self._begin, now, strict=True))
        return max(busy - own, 0.0) / elapsed

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        """Wall time, busy time of all cores, and CPU time of this process, in seconds."""
        stat = Path("/proc/stat")
        if not stat.exists():
            return None
        user, nice, system, _idle, _wait, interrupt, soft, steal, *_ = map(
            int, stat.read_text().split(maxsplit=9)[1:9]
        )
        ticks = user + nice + system + interrupt + soft + steal
        return time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])


class Series(NamedTuple):
    """A generated series: points, number and length of anomalies, longest buffer, scores."""

    n: int
    anomalies: int
    length: int
    buffer: int
    scores: str = "uniform"

    def load(self) -> Arrays:
        """Return labels and scores."""
        labels = labels_with_events(
            self.n, n_anomalies=self.anomalies, mean_length=self.length, seed=SEED
        ).astype(np.int64)
        return labels, SCORES[self.scores](np.random.default_rng([SEED, 1]), labels)


def _missed_event(rng: np.random.Generator, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    scores = rng.random(labels.size)
    starts, stops = event_bounds(np.flatnonzero(labels))
    scores[starts[0] : stops[0]] -= 1.0
    return scores


SCORES: dict[str, Callable[..., NDArray[np.float64]]] = {
    "uniform": lambda rng, labels: rng.random(labels.size),
    "rounded": lambda rng, labels: rng.random(labels.size).round(2),
    "normal": lambda rng, labels: rng.standard_normal(labels.size) + 2.0 * labels,
    "Cauchy": lambda rng, labels: rng.standard_cauchy(labels.size),
    "lognormal": lambda rng, labels: rng.lognormal(sigma=2.0, size=labels.size),
    "missed event": _missed_event,
    "all missed": lambda rng, labels: rng.random(labels.size) - labels,
}
ROWS = (
    Series(1_000, 3, 20, 50),
    Series(10_000, 10, 10, 100),
    Series(100_000, 10, 10, 100),
    Series(1_000_000, 10, 10, 100),
    Series(1_000_000, 1000, 100, 100),
    Series(1_000_000, 1000, 100, 1000),
    Series(1_000_000, 100, 1000, 1000),
)
HEADLINE = Series(20_000, 10, 100, 100)
SHORT, SPARSE, DENSE, WIDE = ROWS[0], ROWS[3], ROWS[4], ROWS[5]
OTHER_ROWS = (
    *(shape._replace(scores=name) for name in list(SCORES)[2:] for shape in (SPARSE, DENSE)),
    Series(1_000_000, 500_000, 1, 100),
    Series(1_000_000, 10, 10, 20_000),
)

# Every point is near an anomaly, and TPR stays below its cap until the last thresholds.
WORST_ROWS = tuple(
    Series(1_000_000, 500_000 // length, length, length, "all missed")
    for length in (100, 200, 400, 800, 1600)
)


# Calls -------------------------------------------------------------------------------------------


def calls_of(series: Series) -> Calls:
    """Every way to compute both VUS, the reference ``sk`` and the sort."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    labels, scores = series.load()
    public = functools.partial(vuskit.evaluate, labels, scores, buffer=series.buffer, measures=BOTH)
    return {
        "sk": lambda: (roc_auc_score(labels, scores), average_precision_score(labels, scores)),
        "sort": functools.partial(np.sort, scores),
        "kernel": kernel_call(labels, scores, series.buffer),
        "public": public,
        "numpy": functools.partial(_with_numpy_core, public),
        **{name: functools.partial(_with_set, name, public) for name in instruction_sets()},
    }


def kernel_call(labels: NDArray[Any], scores: NDArray[Any], buffer: int) -> Callable[[], Any]:
    """Both VUS by the native core alone, without any Python around it."""
    core, rules = native_core(), rules_of(DEFINITIONS["journal"], "both")
    flags, areas = labels.astype(np.uint8), np.empty(6)
    offsets, lengths = np.array([0, labels.size]), np.array([buffer])

    def call() -> Any:
        core.fleet(rules, flags, scores, offsets, lengths, lengths, 1, 0, areas)
        return areas[4], areas[5]

    return call


def instruction_sets() -> list[str]:
    return native_core().instruction_sets() if native_core() else []


def _with_numpy_core(call: Callable[[], Any]) -> Any:
    os.environ["VUSKIT_CORE"] = "numpy"
    try:
        return call()
    finally:
        del os.environ["VUSKIT_CORE"]


def _with_set(name: str, call: Callable[[], Any]) -> Any:
    previous = native_core().use(name)
    try:
        return call()
    finally:
        native_core().use(previous)


# Samples -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """Number of rounds: at least ``fewest``, then until the first call has taken ``budget``."""

    fewest: int = 3
    most: int = 25
    budget: float = 6.0


def interleave(calls: Calls, effort: Effort, clock: str = "cpu") -> Samples:
    """Return seconds of each call, sampled in turn; the NumPy core only in the first rounds."""
    timers = {name: Timer(call, clock=clock, shortest=SHORTEST) for name, call in calls.items()}
    samples: Samples = {name: [] for name in calls}
    for timer in timers.values():
        timer.warm_up()  # determines the calls per sample
    first = samples[next(iter(calls))]
    while len(first) < effort.fewest or (len(first) < effort.most and sum(first) < effort.budget):
        for name, timer in timers.items():
            if name != "numpy" or len(samples[name]) < effort.fewest:
                samples[name].append(timer.sample().seconds)
    return samples


def ratio(samples: Samples, name: str, reference: str) -> float:
    """Median of the quotients of samples from the same round."""
    return median(a / b for a, b in zip(samples[name], samples[reference], strict=False))


def measured(calls: Calls, effort: Effort, clock: str = "cpu") -> Row:
    """Samples on one core, and the cores that other processes used meanwhile."""
    other_work = OtherWork()
    pin(1 if clock == "cpu" else len(CORES))
    samples = interleave(calls, effort, clock)
    pin(len(CORES))
    return {"seconds": samples, "other_cores": other_work.cores()}


def pin(cores: int) -> None:
    """Use only this many cores, where the system supports it."""
    if CORES:
        os.sched_setaffinity(0, sorted(CORES)[-cores:])


def measure_series(series: Series, effort: Effort, names: Sequence[str]) -> Row:
    """Time these calls on one series, after checking that they agree."""
    calls = calls_of(series)
    expected = list(calls["public"]().values())
    for name in set(names) - {"sk", "sort", "public"}:
        found = calls[name]()
        values = list(found.values()) if hasattr(found, "values") else found
        if np.abs(np.subtract(values, expected)).max() > 1e-9:
            raise SystemExit(f"{name} must give {expected} for {series}, got {values}")
    row = {"series": series, "set": native_core().instruction_set()}
    return row | measured({name: calls[name] for name in names}, effort)


# Topics: rows with raw samples -------------------------------------------------------------------


def measure_rows(effort: Effort) -> Iterator[Row]:
    """The series that have targets, with uniform and with rounded scores."""
    for series, scores in itertools.product((HEADLINE, *ROWS), ("uniform", "rounded")):
        names = ("sk", "sort", "kernel", "public", "numpy")
        yield measure_series(series._replace(scores=scores), effort, names)


def measure_sets(effort: Effort) -> Iterator[Row]:
    """Every instruction set on the widest buffers."""
    yield measure_series(WIDE, effort, ("sk", "sort", *instruction_sets()))


def measure_other(effort: Effort) -> Iterator[Row]:
    """Series and scores that are unusual or difficult."""
    for series in OTHER_ROWS:
        yield measure_series(series, effort, ("sk", "sort", "kernel", "public"))


def measure_worst(effort: Effort) -> Iterator[Row]:
    """Series on which the sweep has to visit every point for every width that reaches it."""
    for series in WORST_ROWS:
        yield measure_series(series, effort, ("sk", "sort", "kernel", "public"))


def measure_calls(effort: Effort) -> Iterator[Row]:
    """Claims about short calls, many series, and several measures or scores at once."""
    yield {"claim": "short", **measured(_short_calls(), effort)}
    yield {"claim": "frame", **measured(_frame_calls(FLEET), effort)}
    labels, scores = DENSE.load()
    public = functools.partial(vuskit.evaluate, labels, scores, buffer=DENSE.buffer)
    calls = {"both": functools.partial(public, measures=BOTH), "thirteen": public}
    yield {"claim": "thirteen", **measured(calls, effort)}
    yield {"claim": "many", **measured(_many_calls(), effort)}
    yield {"claim": "threads", **measured(_thread_calls(), effort, "wall")}


FLEET = 2000  # series of 1,000 points


def _short_calls() -> Calls:
    calls, (labels, scores) = calls_of(SHORT), SHORT.load()
    return {
        "sort": calls["sort"],
        "kernel": calls["kernel"],
        "evaluate": calls["public"],
        "vus_pr": functools.partial(vuskit.vus_pr, labels, scores, buffer=SHORT.buffer),
    }


def _frame_calls(series: int) -> Calls:
    import polars

    labels, scores = SHORT.load()
    rng = np.random.default_rng(SEED)
    frame = polars.DataFrame(
        {
            "series": np.repeat([f"series {number}" for number in range(series)], SHORT.n),
            "t": np.tile(np.arange(SHORT.n), series),
            "label": np.tile(labels.astype(np.int8), series),
            "score": rng.random(SHORT.n * series),
        }
    )
    roles = {"by": "series", "order": "t", "scores": "score"}
    options = {"buffer": SHORT.buffer, "measures": BOTH}
    return {
        "sort": functools.partial(np.sort, scores),
        "frame": functools.partial(vuskit.evaluate_frame, frame, **roles, **options),
        "read": functools.partial(_read_frame, frame, roles),
    }


def _read_frame(frame: Any, columns: dict[str, str]) -> None:
    """Do what ``evaluate_frame`` does before it evaluates: read arrays and find the series."""
    source = frames._source_of(frame, columns["by"], None)
    others = {"label": "label", "dataset": None, "value": None}
    roles = frames._Roles.of(source.numeric, **columns, **others)
    for _ in frames._groups(source.batches(roles, is_sorted=False), roles):
        pass


def _many_calls(number: int = 10) -> Calls:
    labels, scores = HEADLINE.load()
    rng = np.random.default_rng(SEED)
    many = {f"score {i}": rng.permutation(scores) for i in range(number)}
    options = {"buffer": HEADLINE.buffer, "measures": BOTH}
    return {
        "single": lambda: [vuskit.evaluate(labels, one, **options) for one in many.values()],
        "many": functools.partial(vuskit.evaluate_many, labels, many, **options),
    }


def _thread_calls() -> Calls:
    labels, scores = WIDE.load()
    rules = rules_of(DEFINITIONS["journal"], "both")
    assert rules is not None
    widths = NativeWidths(rules, np.arange(WIDE.buffer + 1))
    plan = NativePlan(native_core(), event_bounds(np.flatnonzero(labels)), WIDE.n, widths)
    score = plan.rank(scores)
    return {str(threads): functools.partial(score.areas, threads) for threads in (1, 2)}


GROWTHS = {
    "points": [
        Series(n, 10, 10, 100) for n in (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
    ],
    # Long events, so that the number of points near anomalies hardly changes with L.
    "buffer length": [
        Series(1_000_000, 20, 10_000, buffer) for buffer in (64, 128, 256, 512, 1024)
    ],
    "anomalies": [Series(1_000_000, k, 100, 100) for k in (125, 250, 500, 1000, 2000)],
}


def measure_growth(effort: Effort) -> Iterator[Row]:
    """Series along three directions."""
    for direction, all_series in GROWTHS.items():
        for series in all_series:
            yield {
                "direction": direction,
                **measure_series(series, effort, ("sort", "public", "numpy")),
            }


# Processes ---------------------------------------------------------------------------------------

IMPORT = "import time; t = time.perf_counter(); import vuskit; print(time.perf_counter() - t)"
HUGE = 100_000_000


def measure_import(effort: Effort) -> Iterator[Row]:
    """Wall time of ``import vuskit``, NumPy included, in fresh processes."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    other_work = OtherWork()
    command = [sys.executable, "-P", "-c", IMPORT]
    samples = [
        float(subprocess.run(command, env=variables, capture_output=True, check=True).stdout)
        for _ in range(effort.most)
    ]
    yield {"seconds": {"import": samples}, "other_cores": other_work.cores()}


def measure_huge(n: int = HUGE) -> Iterator[Row]:
    """Peak memory of one ``evaluate`` on memory maps."""
    script = f"import speed_run; speed_run.report_peak({n})"
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, text=True, check=True, cwd=Path(__file__).parent,
    )  # fmt: skip
    yield json.loads(done.stdout)


def report_peak(n: int) -> None:
    """Print the peak memory of this process, mapped pages included, and the size of the scores."""
    rng, chunk = np.random.default_rng(SEED), 1_000_000
    with tempfile.TemporaryDirectory(prefix="vuskit-huge-") as folder:
        scores = np.memmap(Path(folder) / "scores", dtype=np.float64, mode="w+", shape=n)
        labels = np.memmap(Path(folder) / "labels", dtype=np.uint8, mode="w+", shape=n)
        for start in range(0, n, chunk):
            scores[start : start + chunk] = rng.random(min(chunk, n - start))
            labels[start : start + 100] = 1
        vuskit.evaluate(labels, scores, buffer=100)
        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        print(json.dumps({"n": n, "peak": peak, "scores": scores.nbytes}))

"""Everything that `speed.py` times, and the process that times it.

A worker reads one job (JSON) from standard input, times contestants on one input, and reports
every raw sample as a JSON line. Lines it writes: ``ready`` (versions), ``warm-up``, ``start``
before each timed call, ``sample`` after it, ``failed``, ``done``. The parent takes silence after a
``start`` for a contestant over its time limit.

Workers also run in environments that hold a peer but not vuskit. So this file needs only the
standard library and numpy, and each contestant imports what it measures when it is loaded.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, TextIO

Values = tuple[float, ...]
Call = Callable[[Any, Any, Any], Values]
Report = Callable[..., None]

OWN_ENVIRONMENTS = {"numpy": {"VUSKIT_NUMBA": "0"}, "numba": {}}
REFERENCE = "sklearn"
SAMPLING = Path(__file__).parents[1] / "src" / "vuskit" / "studies" / "timing" / "sampling.py"
FULL_WARM_UPS = 2
REPORTED_PACKAGES = (
    "numpy", "scikit-learn", "numba", "vuskit", "vus", "aeon", "TSB-AD", "dtaianomaly",
)  # fmt: skip


@dataclass(frozen=True)
class Contestant:
    """A computation to time.

    ``load`` imports the library and returns ``call(labels, scores, setting)``, as the contestants
    of the timing study are called. ``full_warm_up`` asks for untimed calls on the input itself;
    slow peers are warmed up on a tiny input instead.
    """

    name: str
    title: str
    environments: tuple[str, ...]
    load: Callable[[], Call]
    uses_buffer: bool = True
    full_warm_up: bool = False
    definition: str | None = None

    @property
    def is_peer(self) -> bool:
        return not set(self.environments) & set(OWN_ENVIRONMENTS)


CONTESTANTS: dict[str, Contestant] = {}


def contestant(name: str, title: str, *environments: str, **options: Any) -> Callable[..., Any]:
    """Register the decorated loader under ``name``."""

    def register(load: Callable[[], Call]) -> Callable[[], Call]:
        CONTESTANTS[name] = Contestant(name, title, environments, load, **options)
        return load

    return register


def own_contestant(name: str, title: str, **options: Any) -> Callable[..., Any]:
    """Register a loader that runs in both of our environments, warmed up on the input itself."""
    return contestant(name, title, *OWN_ENVIRONMENTS, full_warm_up=True, **options)


# Reference and lower bound -----------------------------------------------------------------------


@own_contestant(REFERENCE, "scikit-learn", uses_buffer=False)
def _sklearn() -> Call:
    from sklearn.metrics import average_precision_score, roc_auc_score

    return lambda y, s, _: (float(roc_auc_score(y, s)), float(average_precision_score(y, s)))


@own_contestant("sort", "np.sort", uses_buffer=False)
def _sort() -> Call:
    import numpy as np

    return lambda _, s, __: (float(np.sort(s)[0]),)


# Ours --------------------------------------------------------------------------------------------


def _vuskit() -> Any:
    import vuskit

    # Without this no call would wait for the compiler, and "with numba" would measure NumPy.
    if os.environ.get("VUSKIT_NUMBA") != "0":
        vuskit.warm_up()
    return vuskit


def _studied(name: str) -> Call:
    """Contestant of the timing study."""
    _vuskit()
    from vuskit.studies.timing import CONTESTANTS as STUDIED
    from vuskit.studies.timing import Setting

    def call(y: Any, s: Any, setting: Any) -> Values:
        return STUDIED[name].run(y, s, Setting(**vars(setting)))

    return call


@own_contestant("fast_grid", "VUS, grid 250", definition="journal")
def _fast_grid() -> Call:
    return _studied("fast_grid")


@own_contestant("fast_exact", "VUS, exact")
def _fast_exact() -> Call:
    return _studied("fast_exact")


@own_contestant("evaluate", "all thirteen, exact")
def _evaluate() -> Call:
    evaluate = _vuskit().evaluate

    def call(y: Any, s: Any, setting: Any) -> Values:
        return tuple(map(float, evaluate(y, s, buffer=setting.max_buffer).values()))

    return call


OWN = ("sort", "fast_grid", "fast_exact", "evaluate")


# Thirty scores of one series: one by one, and with the labels' work shared ------------------------

SHARED_SCORES = 30


def _thirty(run: Callable[[Any, dict[str, Any], int], Values]) -> Call:
    import numpy as np

    prepared: dict[str, Any] = {}

    def call(y: Any, s: Any, setting: Any) -> Values:
        if not prepared:  # filled by the warm-up, so never timed
            rng = np.random.default_rng(0)
            prepared.update({f"score {i}": rng.permutation(s) for i in range(SHARED_SCORES)})
        return run(y, prepared, setting.max_buffer)

    return call


@own_contestant("thirty-single", "30 x evaluate")
def _thirty_single() -> Call:
    evaluate = _vuskit().evaluate

    return _thirty(
        lambda y, scores, buffer: tuple(
            float(evaluate(y, s, buffer=buffer)["vus_pr"]) for s in scores.values()
        )
    )


@own_contestant("thirty-evaluator", "Evaluator")
def _thirty_evaluator() -> Call:
    vuskit = _vuskit()

    def run(y: Any, scores: dict[str, Any], buffer: int) -> Values:
        evaluator = vuskit.Evaluator(y, buffer=buffer)
        return tuple(float(evaluator(s)["vus_pr"]) for s in scores.values())

    return _thirty(run)


@own_contestant("thirty-many", "evaluate_many")
def _thirty_many() -> Call:
    vuskit = _vuskit()

    def run(y: Any, scores: dict[str, Any], buffer: int) -> Values:
        table = vuskit.evaluate_many(y, scores, buffer=buffer)
        return tuple(float(table[name]["vus_pr"]) for name in scores)

    return _thirty(run)


SHARING = ("thirty-single", "thirty-evaluator", "thirty-many")


# Peers -------------------------------------------------------------------------------------------


def _vus_package(method: str) -> Call:
    from vus.utils.metrics import metricor

    def call(y: Any, s: Any, setting: Any) -> Values:
        compute = getattr(metricor(), method)
        *_, roc, pr = compute(y, s, setting.max_buffer, setting.n_thresholds)
        return float(roc), float(pr)

    return call


@contestant("vus-opt", "vus opt", "vus", definition="journal")
def _vus_opt() -> Call:
    return _vus_package("RangeAUC_volume_opt")


@contestant("vus-opt-mem", "vus opt_mem", "vus", definition="journal")
def _vus_opt_mem() -> Call:
    return _vus_package("RangeAUC_volume_opt_mem")


@contestant("tsb-ad", "TSB-AD", "tsb-ad", definition="journal")
def _tsb_ad() -> Call:
    from TSB_AD.evaluation.basic_metrics import generate_curve

    def call(y: Any, s: Any, setting: Any) -> Values:
        *_, roc, pr = generate_curve(y, s, setting.max_buffer, "opt", setting.n_thresholds)
        return float(roc), float(pr)

    return call


@contestant("aeon", "aeon", "aeon", definition="pvldb2022")
def _aeon() -> Call:
    from aeon.benchmarking.metrics.anomaly_detection import range_pr_vus_score, range_roc_vus_score

    # aeon has no call for both, so its users pay for two; it knows no number but 250.
    return lambda y, s, setting: (
        float(range_roc_vus_score(y, s, max_buffer_size=setting.max_buffer)),
        float(range_pr_vus_score(y, s, max_buffer_size=setting.max_buffer)),
    )


@contestant("dtaianomaly", "dtaianomaly", "dtaianomaly", definition="timeeval")
def _dtaianomaly() -> Call:
    from dtaianomaly.evaluation import VolumeUnderPR, VolumeUnderROC

    def call(y: Any, s: Any, setting: Any) -> Values:
        options = {"max_buffer_size": setting.max_buffer, "max_samples": setting.n_thresholds}
        return (
            float(VolumeUnderROC(**options).compute(y, s)),
            float(VolumeUnderPR(**options).compute(y, s)),
        )

    return call


PEERS = tuple(one.name for one in CONTESTANTS.values() if one.is_peer)


def environment_variables(environment: str) -> dict[str, str]:
    """The process environment in which a worker of ``environment`` runs."""
    variables = {key: value for key, value in os.environ.items() if key != "VUSKIT_NUMBA"}
    return variables | OWN_ENVIRONMENTS.get(environment, {})


# The worker --------------------------------------------------------------------------------------


def load_sampling() -> ModuleType:
    """The sampling of the timing study, without importing the package around it."""
    spec = importlib.util.spec_from_file_location("sampling", SAMPLING)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def versions() -> dict[str, str]:
    """Installed versions of the packages that matter here."""
    found = {"python": sys.version.split()[0]}
    for package in REPORTED_PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def describe(error: Exception) -> dict[str, Any]:
    """What the parent needs to know about a failure."""
    text = f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]
    return {"memory": isinstance(error, MemoryError), "reason": text}


def tiny_input() -> tuple[Any, Any, SimpleNamespace]:
    """Three anomalies in 2000 points: enough to make a peer compile and fill its caches."""
    import numpy as np

    labels = np.zeros(2000, dtype=np.int64)
    for start in (300, 900, 1500):
        labels[start : start + 10] = 1
    scores = np.random.default_rng(0).random(labels.size)
    return labels, scores, SimpleNamespace(max_buffer=10, n_thresholds=250)


@dataclass
class Entry:
    """One contestant at one buffer length, ready to be timed."""

    name: str
    buffer: int
    timer: Any


def warm_up_all(job: dict[str, Any], report: Report) -> list[Entry]:
    """Load and warm up each ``[contestant, buffer]``; report and leave out what fails."""
    import numpy as np

    timer_class = load_sampling().Timer
    with np.load(job["input"]) as arrays:
        labels, scores = arrays["labels"], arrays["scores"]
    ready = []
    for name, buffer in [[REFERENCE, 0], *job["entries"]]:
        report("warm-up", contestant=name, buffer=buffer)
        try:
            call = CONTESTANTS[name].load()
            setting = SimpleNamespace(max_buffer=buffer, n_thresholds=job["n_thresholds"])
            timer = timer_class(partial(call, labels, scores, setting), shortest=job["shortest"])
            if CONTESTANTS[name].full_warm_up:
                timer.warm_up(FULL_WARM_UPS)
            else:
                call(*tiny_input())
        except Exception as error:
            report("failed", contestant=name, buffer=buffer, **describe(error))
        else:
            ready.append(Entry(name, buffer, timer))
    return ready


def run_rounds(entries: list[Entry], job: dict[str, Any], report: Report) -> None:
    """Time the reference and then each contestant, round after round, until there is enough."""
    begin, number = time.perf_counter(), 0
    while len(entries) > 1:
        fewest_samples = min(one.timer.kept for one in entries)
        out_of_time = time.perf_counter() - begin > job["budget"]
        if fewest_samples >= job["most"] or (fewest_samples >= job["fewest"] and out_of_time):
            return
        for one in list(entries):
            report("start", contestant=one.name, buffer=one.buffer)
            try:
                seconds, values, keep = one.timer.sample()
            except Exception as error:
                report("failed", contestant=one.name, buffer=one.buffer, **describe(error))
                entries.remove(one)
            else:
                report(
                    "sample", contestant=one.name, buffer=one.buffer, round=number, keep=keep,
                    seconds=seconds, calls=one.timer.calls, values=values,
                )  # fmt: skip
        number += 1


def measure(job: dict[str, Any], channel: TextIO) -> None:
    """Interleave the reference and the job's contestants, round after round."""

    def report(event: str, **fields: Any) -> None:
        channel.write(json.dumps({"event": event, **fields}) + "\n")
        channel.flush()

    report("ready", versions=versions())
    entries = warm_up_all(job, report)
    if entries and entries[0].name == REFERENCE:
        run_rounds(entries, job, report)
    report("done", peak_kib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


# Memory of one evaluation on memory maps ---------------------------------------------------------

MAP_ANOMALIES, MAP_LENGTH, MAP_BUFFER, MAP_CHUNK = 100, 100, 100, 1_000_000


def write_maps(n: int, folder: Path) -> tuple[Path, Path]:
    """Random scores (float64) and labels (uint8), written piece by piece."""
    import numpy as np

    rng = np.random.default_rng(0)
    scores_path, labels_path = folder / "scores.f8", folder / "labels.u1"
    with scores_path.open("wb") as scores, labels_path.open("wb") as labels:
        for start in range(0, n, MAP_CHUNK):
            size = min(MAP_CHUNK, n - start)
            scores.write(rng.random(size).tobytes())
            labels.write(bytes(size))
    labels_map = np.memmap(labels_path, dtype=np.uint8, mode="r+")
    for start in np.linspace(0, n - MAP_LENGTH, MAP_ANOMALIES).astype(int):
        labels_map[start : start + MAP_LENGTH] = 1
    labels_map.flush()
    return scores_path, labels_path


def peak_bytes() -> int:
    """Highest resident size of this process so far, mapped pages included."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measure_memory_map(n: int, channel: TextIO) -> None:
    """Report the peak memory of one ``evaluate`` on memory maps of ``n`` points."""
    import numpy as np

    from vuskit import evaluate

    with tempfile.TemporaryDirectory(prefix="vuskit-huge-") as folder:
        scores_path, labels_path = write_maps(n, Path(folder))
        scores = np.memmap(scores_path, dtype=np.float64, mode="r")
        labels = np.memmap(labels_path, dtype=np.uint8, mode="r")
        before, begin = peak_bytes(), time.perf_counter()
        result = evaluate(labels, scores, buffer=MAP_BUFFER)
        report = {
            "n": n,
            "score_bytes": scores.nbytes,
            "before_bytes": before,
            "peak_bytes": peak_bytes(),
            "seconds": time.perf_counter() - begin,
            "vus_pr": float(result["vus_pr"]),
        }
    channel.write(json.dumps(report))
    channel.flush()


def main() -> None:
    """Run one job. What a library prints goes to standard error, not into the report."""
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    if "memory_map" in job:
        measure_memory_map(job["memory_map"], channel)
        return
    if job["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    measure(job, channel)


if __name__ == "__main__":
    main()

"""A process that times contenders on one input and reports every raw sample as a JSON line.

Reads one job (JSON) from standard input. Lines it writes: ``ready`` (versions), ``warm-up``,
``start`` before each timed call, ``sample`` after it, ``failed``, ``done``. The parent takes
silence after a ``start`` for a contender over its time limit. Runs wherever numpy is.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import Any, TextIO

import numpy as np
from speed_cases import Series, make_input
from speed_contenders import CONTENDERS, REFERENCE, Call

Report = Callable[..., None]
WARM_UP_SERIES = Series(2_000, 3, 10)
WARM_UP_BUFFER = 10
FULL_WARM_UPS = 2
REPORTED_PACKAGES = (
    "numpy", "scikit-learn", "numba", "vuskit", "vus", "aeon", "TSB-AD", "dtaianomaly",
)  # fmt: skip


class Timed:
    """One contender at one buffer length on the job's input."""

    def __init__(self, name: str, buffer: int, call: Call, labels: Any, scores: Any) -> None:
        self.name, self.buffer = name, buffer
        self._call, self._labels, self._scores = call, labels, scores
        self.repeats = 0
        self.samples = 0

    def run_once(self) -> tuple[float, ...]:
        return self._call(self._labels, self._scores, self.buffer)

    def warm_up(self, shortest: float) -> None:
        if not CONTENDERS[self.name].full_warm_up:
            self._call(*make_input(WARM_UP_SERIES, 0), WARM_UP_BUFFER)
            return
        for _ in range(FULL_WARM_UPS):
            begin = time.perf_counter()
            self.run_once()
            self._calibrate(time.perf_counter() - begin, shortest)

    def _calibrate(self, elapsed: float, shortest: float) -> None:
        self.repeats = max(1, round(shortest / max(elapsed, 1e-9)))

    def sample(self, shortest: float) -> tuple[float, tuple[float, ...], bool]:
        """Seconds per call, the values, and whether the sample is long enough to keep."""
        gc.collect()
        gc.disable()
        try:
            repeats = max(self.repeats, 1)
            begin = time.perf_counter()
            for _ in range(repeats):
                values = self.run_once()
            elapsed = time.perf_counter() - begin
        finally:
            gc.enable()
        calibrating = self.repeats == 0
        if calibrating:
            self._calibrate(elapsed, shortest)
        keep = not calibrating or self.repeats == 1
        self.samples += keep
        return elapsed / repeats, values, keep


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


def warm_up_all(
    entries: list[list[Any]], labels: Any, scores: Any, job: dict[str, Any], report: Report
) -> list[Timed]:
    """Load and warm up each ``[contender, buffer]``; report and leave out what fails."""
    timed = []
    for name, buffer in entries:
        report("warm-up", contender=name, buffer=buffer)
        try:
            one = Timed(name, buffer, CONTENDERS[name].load(), labels, scores)
            one.warm_up(job["shortest"])
        except Exception as error:
            report("failed", contender=name, buffer=buffer, **describe(error))
        else:
            timed.append(one)
    return timed


def run_rounds(timed: list[Timed], job: dict[str, Any], report: Report) -> None:
    """Time the reference and then each contender, round after round, until there is enough."""
    begin, number = time.perf_counter(), 0
    while len(timed) > 1:
        fewest_samples = min(one.samples for one in timed)
        out_of_time = time.perf_counter() - begin > job["budget"]
        if fewest_samples >= job["most"] or (fewest_samples >= job["fewest"] and out_of_time):
            return
        for one in list(timed):
            report("start", contender=one.name, buffer=one.buffer)
            try:
                seconds, values, keep = one.sample(job["shortest"])
            except Exception as error:
                report("failed", contender=one.name, buffer=one.buffer, **describe(error))
                timed.remove(one)
            else:
                report(
                    "sample", contender=one.name, buffer=one.buffer, round=number, keep=keep,
                    seconds=seconds, repeats=one.repeats, values=values,
                )  # fmt: skip
        number += 1


def measure(job: dict[str, Any], channel: TextIO) -> None:
    """Interleave the reference and the job's contenders, round after round."""

    def report(event: str, **fields: Any) -> None:
        channel.write(json.dumps({"event": event, **fields}) + "\n")
        channel.flush()

    with np.load(job["input"]) as arrays:
        labels, scores = arrays["labels"], arrays["scores"]
    report("ready", versions=versions())
    timed = warm_up_all([[REFERENCE, 0], *job["entries"]], labels, scores, job, report)
    if timed and timed[0].name == REFERENCE:
        run_rounds(timed, job, report)
    report("done", peak_kib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main() -> None:
    """Run one job. Whatever a library prints goes to standard error, not into the report."""
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if job["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    warnings.simplefilter("ignore")
    measure(job, channel)


if __name__ == "__main__":
    main()

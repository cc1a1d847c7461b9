"""The calls of the peers, and the process that times one of them beside scikit-learn.

A worker reads one job (JSON) from standard input and writes every sample as a JSON line. A call
over the limit of processor time ends the process with SIGPROF. The environment of a peer has no
vuskit, so this file needs only the standard library and NumPy.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

THRESHOLDS = 250
REFERENCE_LIMIT = 120  # processor seconds of scikit-learn, or of loading a peer
Values = tuple[float, float]
Call = Callable[[Any, Any, int], Values]  # labels, scores, longest buffer


@dataclass(frozen=True)
class Peer:
    """Another implementation of both VUS; ``load`` imports it and returns its call."""

    title: str
    environment: str
    definition: str
    load: Callable[[], Call]


def load_sklearn() -> Call:
    from sklearn.metrics import average_precision_score, roc_auc_score

    return lambda y, s, _: (float(roc_auc_score(y, s)), float(average_precision_score(y, s)))


def _load_vus(method: str) -> Call:
    from vus.utils.metrics import metricor

    return lambda y, s, buffer: getattr(metricor(), method)(y, s, buffer, THRESHOLDS)[-2:]


def _load_tsb_ad() -> Call:
    from TSB_AD.evaluation.basic_metrics import generate_curve

    return lambda y, s, buffer: generate_curve(y, s, buffer, "opt", THRESHOLDS)[-2:]


def _load_aeon() -> Call:
    from aeon.benchmarking.metrics.anomaly_detection import range_pr_vus_score, range_roc_vus_score

    # aeon has no call for both, and always uses 250 thresholds.
    return lambda y, s, buffer: (
        range_roc_vus_score(y, s, max_buffer_size=buffer),
        range_pr_vus_score(y, s, max_buffer_size=buffer),
    )


def _load_dtaianomaly() -> Call:
    from dtaianomaly.evaluation import VolumeUnderPR, VolumeUnderROC

    def call(y: Any, s: Any, buffer: int) -> Values:
        options = {"max_buffer_size": buffer, "max_samples": THRESHOLDS}
        return VolumeUnderROC(**options).compute(y, s), VolumeUnderPR(**options).compute(y, s)

    return call


PEERS = {
    "vus-opt": Peer("vus opt", "vus", "journal", lambda: _load_vus("RangeAUC_volume_opt")),
    "vus-opt-mem": Peer(
        "vus opt_mem", "vus", "journal", lambda: _load_vus("RangeAUC_volume_opt_mem")
    ),
    "tsb-ad": Peer("TSB-AD", "tsb-ad", "journal", _load_tsb_ad),
    "aeon": Peer("aeon", "aeon", "pvldb2022", _load_aeon),
    "dtaianomaly": Peer("dtaianomaly", "dtaianomaly", "timeeval", _load_dtaianomaly),
}


def measure(job: dict[str, Any], report: Callable[..., None]) -> None:
    """Time scikit-learn and the peer in turn, until there are enough samples."""
    signal.setitimer(signal.ITIMER_PROF, REFERENCE_LIMIT)
    with np.load(job["input"]) as arrays:
        labels, scores = arrays["labels"], arrays["scores"]
    calls = {"sk": load_sklearn(), job["peer"]: PEERS[job["peer"]].load()}
    tiny = np.arange(2000)
    for call in calls.values():  # some peers compile on first use
        call((tiny % 500 < 10).astype(np.int64), np.sin(tiny), 10)
    begin = time.process_time()
    for _ in range(job["rounds"]):
        for name, call in calls.items():
            limit = REFERENCE_LIMIT if name == "sk" else job["limit"]
            signal.setitimer(signal.ITIMER_PROF, limit)
            start = time.process_time()
            values = call(labels, scores, job["buffer"])
            report(name=name, seconds=time.process_time() - start, values=list(map(float, values)))
        if time.process_time() - begin > job["budget"]:
            return


def main() -> None:
    """Run one job. What a library prints goes to standard error, not into the report."""
    job = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def report(**fields: Any) -> None:
        print(json.dumps(fields), file=channel, flush=True)

    resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    try:
        measure(job, report)
    except Exception as error:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        report(status="memory" if isinstance(error, MemoryError) else "failed", reason=text)


if __name__ == "__main__":
    main()

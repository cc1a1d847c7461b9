"""Everything that is timed, by name.

Imported by workers inside environments that hold nothing but a peer, so the module itself needs
only the standard library; each contender imports what it measures when it is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Values = tuple[float, ...]
Call = Callable[[Any, Any, int], Values]

OWN_ENVIRONMENTS = {"numpy": {"VUSKIT_NUMBA": "0"}, "numba": {}}
REFERENCE = "sklearn"


@dataclass(frozen=True)
class Contender:
    """A computation to time.

    ``load`` imports the library and returns ``call(labels, scores, buffer)``. ``full_warm_up`` asks
    for untimed calls on the input itself; slow peers are warmed up on a tiny input instead.
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


CONTENDERS: dict[str, Contender] = {}


def contender(name: str, title: str, *environments: str, **options: Any) -> Callable[..., Any]:
    """Register the decorated loader under ``name``."""

    def register(load: Callable[[], Call]) -> Callable[[], Call]:
        CONTENDERS[name] = Contender(name, title, environments, load, **options)
        return load

    return register


# Reference and floor -----------------------------------------------------------------------------


@contender(REFERENCE, "scikit-learn", "numpy", "numba", uses_buffer=False, full_warm_up=True)
def _sklearn() -> Call:
    from sklearn.metrics import average_precision_score, roc_auc_score

    return lambda y, s, _: (float(roc_auc_score(y, s)), float(average_precision_score(y, s)))


@contender("sort", "np.sort", "numpy", "numba", uses_buffer=False, full_warm_up=True)
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


def _volumes(thresholds: int | None) -> Call:
    evaluate = _vuskit().evaluate
    both = ["vus_roc", "vus_pr"]

    def call(y: Any, s: Any, buffer: int) -> Values:
        result = evaluate(y, s, buffer=buffer, measures=both, thresholds=thresholds)
        return float(result["vus_roc"]), float(result["vus_pr"])

    return call


@contender("vus-grid", "VUS, grid 250", "numpy", "numba", full_warm_up=True, definition="journal")
def _vus_grid() -> Call:
    return _volumes(250)


@contender("vus-exact", "VUS, exact", "numpy", "numba", full_warm_up=True)
def _vus_exact() -> Call:
    return _volumes(None)


@contender("evaluate", "all thirteen, exact", "numpy", "numba", full_warm_up=True)
def _evaluate() -> Call:
    evaluate = _vuskit().evaluate

    def call(y: Any, s: Any, buffer: int) -> Values:
        result = evaluate(y, s, buffer=buffer)
        return tuple(float(value) for value in result.values())

    return call


# Thirty scores of one series: one by one, and with the labels' work shared ------------------------

SHARED_SCORES = 30


def _thirty(run: Callable[[Any, dict[str, Any], int], Values]) -> Call:
    import numpy as np

    prepared: dict[str, Any] = {}

    def call(y: Any, s: Any, buffer: int) -> Values:
        if not prepared:  # filled by the warm-up, so never timed
            rng = np.random.default_rng(0)
            prepared.update({f"score {i}": rng.permutation(s) for i in range(SHARED_SCORES)})
        return run(y, prepared, buffer)

    return call


@contender("thirty-single", "30 x evaluate", "numpy", "numba", full_warm_up=True)
def _thirty_single() -> Call:
    evaluate = _vuskit().evaluate

    return _thirty(
        lambda y, scores, buffer: tuple(
            float(evaluate(y, s, buffer=buffer)["vus_pr"]) for s in scores.values()
        )
    )


@contender("thirty-evaluator", "Evaluator", "numpy", "numba", full_warm_up=True)
def _thirty_evaluator() -> Call:
    vuskit = _vuskit()

    def run(y: Any, scores: dict[str, Any], buffer: int) -> Values:
        evaluator = vuskit.Evaluator(y, buffer=buffer)
        return tuple(float(evaluator(s)["vus_pr"]) for s in scores.values())

    return _thirty(run)


@contender("thirty-many", "evaluate_many", "numpy", "numba", full_warm_up=True)
def _thirty_many() -> Call:
    vuskit = _vuskit()

    def run(y: Any, scores: dict[str, Any], buffer: int) -> Values:
        table = vuskit.evaluate_many(y, scores, buffer=buffer)
        return tuple(float(table[name]["vus_pr"]) for name in scores)

    return _thirty(run)


SHARING = ("thirty-single", "thirty-evaluator", "thirty-many")


# Peers (all of them on 250 thresholds) -----------------------------------------------------------


def _vus_package(method: str) -> Call:
    from vus.utils.metrics import metricor

    def call(y: Any, s: Any, buffer: int) -> Values:
        *_, roc, pr = getattr(metricor(), method)(y, s, buffer, 250)
        return float(roc), float(pr)

    return call


@contender("vus-opt", "vus opt", "vus", definition="journal")
def _vus_opt() -> Call:
    return _vus_package("RangeAUC_volume_opt")


@contender("vus-opt-mem", "vus opt_mem", "vus", definition="journal")
def _vus_opt_mem() -> Call:
    return _vus_package("RangeAUC_volume_opt_mem")


@contender("tsb-ad", "TSB-AD", "tsb-ad", definition="journal")
def _tsb_ad() -> Call:
    from TSB_AD.evaluation.basic_metrics import generate_curve

    def call(y: Any, s: Any, buffer: int) -> Values:
        *_, roc, pr = generate_curve(y, s, buffer, "opt", 250)
        return float(roc), float(pr)

    return call


@contender("aeon", "aeon", "aeon", definition="pvldb2022")
def _aeon() -> Call:
    from aeon.benchmarking.metrics.anomaly_detection import range_pr_vus_score, range_roc_vus_score

    # aeon has no call for both, so its users pay for two.
    return lambda y, s, buffer: (
        float(range_roc_vus_score(y, s, max_buffer_size=buffer)),
        float(range_pr_vus_score(y, s, max_buffer_size=buffer)),
    )


@contender("dtaianomaly", "dtaianomaly", "dtaianomaly", definition="timeeval")
def _dtaianomaly() -> Call:
    from dtaianomaly.evaluation import VolumeUnderPR, VolumeUnderROC

    return lambda y, s, buffer: (
        float(VolumeUnderROC(max_buffer_size=buffer).compute(y, s)),
        float(VolumeUnderPR(max_buffer_size=buffer).compute(y, s)),
    )


PEERS = tuple(one.name for one in CONTENDERS.values() if one.is_peer)
OWN = ("sort", "vus-grid", "vus-exact", "evaluate")


def environment_variables(environment: str) -> dict[str, str]:
    """The process environment in which a worker of ``environment`` runs."""
    variables = {key: value for key, value in os.environ.items() if key != "VUSKIT_NUMBA"}
    return variables | OWN_ENVIRONMENTS.get(environment, {})

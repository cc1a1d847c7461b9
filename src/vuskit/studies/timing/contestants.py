"""The algorithms and measures that the execution-time study compares."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit import EvaluationSettings, evaluate
from vuskit.algorithms import areas, range_rates
from vuskit.errors import InvalidInputError, ThresholdResolutionWarning
from vuskit.studies.timing.cases import Setting

Areas = tuple[float, float]
Run = Callable[[NDArray[np.bool_], NDArray[Any], Setting], Areas]


@dataclass(frozen=True)
class Contestant:
    """One way to compute a pair of measures, one for ROC and one for PR."""

    name: str
    title: str
    run: Run
    expected_ns: Callable[[Setting], float]  # rough; corrected by the measurements of a study
    defined_without_anomalies: bool = False  # measures return NaN at once
    time: str = ""  # complexity of VUS, for its algorithms
    space: str = ""

    def takes(self, setting: Setting) -> bool:
        """Whether a run on this setting is informative about the cost."""
        has_anomalies = setting.n_anomalies > 0 and setting.mean_length > 0
        return has_anomalies or self.defined_without_anomalies


def _paper_algorithm(
    algorithm: str, labels: NDArray[np.bool_], scores: NDArray[Any], setting: Setting
) -> Areas:
    buffers = range(setting.max_buffer + 1)
    roc, pr = areas(range_rates(labels, scores, buffers, setting.n_thresholds, algorithm=algorithm))
    return float(roc.mean()), float(pr.mean())


def _measures(
    names: tuple[str, str],
    labels: NDArray[np.bool_],
    scores: NDArray[Any],
    settings: EvaluationSettings,
) -> Areas:
    """Evaluate two public measures in one call, as in the paper's timings."""
    with warnings.catch_warnings():
        # The paper's grid is too coarse for the paper's default series.
        warnings.simplefilter("ignore", ThresholdResolutionWarning)
        values = evaluate(labels, scores, measures=names, settings=settings)
    roc, pr = (values[name] for name in names)
    return roc, pr


def _auc(labels: NDArray[np.bool_], scores: NDArray[Any], setting: Setting) -> Areas:
    return _measures(("auc_roc", "auc_pr"), labels, scores, setting.evaluation)


def _range_auc(labels: NDArray[np.bool_], scores: NDArray[Any], setting: Setting) -> Areas:
    # With a step as long as the buffer, the only buffer lengths are 0 and the buffer itself.
    settings = setting.evaluation.replace(step=max(setting.max_buffer, 1))
    return _measures(("range_auc_roc", "range_auc_pr"), labels, scores, settings)


def _fast_grid(labels: NDArray[np.bool_], scores: NDArray[Any], setting: Setting) -> Areas:
    return _measures(("vus_roc", "vus_pr"), labels, scores, setting.evaluation)


def _fast_exact(labels: NDArray[np.bool_], scores: NDArray[Any], setting: Setting) -> Areas:
    settings = EvaluationSettings(buffer=setting.max_buffer)
    return _measures(("vus_roc", "vus_pr"), labels, scores, settings)


def _pairs(setting: Setting) -> float:
    return (setting.max_buffer + 1) * setting.n_thresholds


def _dynamic(setting: Setting) -> float:
    """Number of points that a buffer can reach, if anomalies are far apart."""
    reach = setting.mean_length + setting.max_buffer
    return min(setting.n_anomalies * reach, setting.n_points)


def _naive_ns(setting: Setting) -> float:
    return _pairs(setting) * (30_000 + 3.5 * setting.n_points + 5 * _dynamic(setting))


def _opt_ns(setting: Setting) -> float:
    return _pairs(setting) * (25_000 + 0.1 * setting.n_points + 10 * _dynamic(setting))


def _opt_mem_ns(setting: Setting) -> float:
    stored = setting.n_thresholds * setting.n_points
    return stored + _pairs(setting) * (25_000 + 10 * _dynamic(setting))


def _sort_ns(setting: Setting) -> float:
    return 100_000 + 50 * setting.n_points


def _exact_ns(setting: Setting) -> float:
    return _sort_ns(setting) + 5 * (setting.max_buffer + 1) * _dynamic(setting)


CONTESTANTS: dict[str, Contestant] = {
    contestant.name: contestant
    for contestant in (
        Contestant("auc", "AUC", _auc, _sort_ns),
        Contestant("r_auc", "R-AUC", _range_auc, _sort_ns),
        Contestant(
            "naive",
            "VUS",
            partial(_paper_algorithm, "naive"),
            _naive_ns,
            True,
            "O(N L (a l + T1 + T2))",
            "O(N L)",
        ),
        Contestant(
            "opt",
            "VUS opt",
            partial(_paper_algorithm, "opt"),
            _opt_ns,
            True,
            "O(N (T1 + T2 + L (a l + T2)))",
            "O(N L)",
        ),
        Contestant(
            "opt_mem",
            "VUS opt mem",
            partial(_paper_algorithm, "opt_mem"),
            _opt_mem_ns,
            True,
            "O(N (T1 + T2 + L a l))",
            "O(N (L + T))",
        ),
        Contestant(
            "fast_grid",
            "VUS fast (grid)",
            _fast_grid,
            _sort_ns,
            time="O(T + L (D + N))",
            space="O(T + D + N L)",
        ),
        Contestant(
            "fast_exact",
            "VUS fast (exact)",
            _fast_exact,
            _exact_ns,
            time="O(T + D (log T + L))",
            space="O(T + D)",
        ),
    )
}
"""The seven curves of the study's figures."""


def choose(names: Iterable[str] | None) -> tuple[Contestant, ...]:
    """Return the contestants with these names; all if None."""
    if names is None:
        return tuple(CONTESTANTS.values())
    chosen = []
    for name in names:
        if name not in CONTESTANTS:
            known = ", ".join(CONTESTANTS)
            raise InvalidInputError(f"`contestants` must be among {known}, got {name!r}")
        chosen.append(CONTESTANTS[name])
    return tuple(chosen)

"""Answers of other packages to the calls of ``freeze_golden.py``.

Run by it with the Python of the peer's own virtual environment: the cases come in on standard
input, the name of the peer as the only argument, the answers go out on standard output. ::

    python golden_peers.py "vus opt" < cases.json
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Call = dict[str, Any]  # {"measure": ..., "options": {...}}
Answer = Callable[..., Any]
Answers = dict[str, Answer]  # "measure" or "measure/definition" -> function of arrays and options


def without_init(package: str, *inner: str) -> None:
    """Make submodules importable though what the packages themselves import is missing."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    places = list(spec.submodule_search_locations)
    for depth in range(len(inner) + 1):
        name = ".".join([package, *inner[:depth]])
        module = types.ModuleType(name)
        module.__path__ = [str(Path(place, *inner[:depth])) for place in places]
        sys.modules[name] = module


def volume_answers(volume: Answer) -> Answers:
    """Answers of an authors' `RangeAUC_volume_*`, which returns curves and both volumes."""

    def volumes(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> Any:
        return volume(y_true, y_score, options["max_buffer"], options["thresholds"])[-2:]

    def curve(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> dict[str, list[float]]:
        found = volume(y_true, y_score, options["buffer"], options["thresholds"])
        tpr, fpr, precision = (surface[-1] for surface in found[:3])
        # Its rows begin with an added end point, and (1, 1) is appended to the two rates.
        return {
            "fpr": [float(value) for value in fpr[1:-1]],
            "tpr": [float(value) for value in tpr[1:-1]],
            "precision": [float(value) for value in precision[1:]],
        }

    return {
        "vus_roc/journal": lambda *arguments: volumes(*arguments)[0],
        "vus_pr/journal": lambda *arguments: volumes(*arguments)[1],
        "curve/journal": curve,
    }


def vus_opt() -> Answers:
    from vus.utils.metrics import metricor

    return volume_answers(metricor().RangeAUC_volume_opt)


def vus_opt_mem() -> Answers:
    from vus.utils.metrics import metricor

    return volume_answers(metricor().RangeAUC_volume_opt_mem)


def tsb_ad() -> Answers:
    from TSB_AD.evaluation.affiliation.generics import convert_vector_to_events
    from TSB_AD.evaluation.affiliation.metrics import pr_from_events
    from TSB_AD.evaluation.basic_metrics import basic_metricor

    grader = basic_metricor()

    def affiliation(y_true: Any, y_pred: Any, part: str) -> float:
        events = (convert_vector_to_events(labels) for labels in (y_pred, y_true))
        return pr_from_events(*events, (0, len(y_true)))[part]

    def point_adjusted(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float | None:
        if y_true[0]:  # it never adjusts the first point
            return None
        return grader.metric_PointF1PA(y_true, y_score, preds=y_pred)

    def composite(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float | None:
        if y_true[-1]:  # it drops the last point of an event that ends the series
            return None
        return grader.metric_EventF1PA(y_true, y_score, preds=y_pred)

    return {
        **volume_answers(grader.RangeAUC_volume_opt),
        "affiliation_precision": lambda y, _, p, o: affiliation(y, p, "Affiliation_Precision"),
        "affiliation_recall": lambda y, _, p, o: affiliation(y, p, "Affiliation_Recall"),
        "point_adjusted_f_score": point_adjusted,
        "composite_f_score": composite,
    }


def vus_first_release() -> Answers:
    from vus.basic_metrics import basic_metricor

    grader = basic_metricor()

    def areas(y_true: Any, y_score: Any, options: Call) -> Any:
        return grader.RangeAUC(y_true, y_score, window=options["buffer"], plot_ROC=True)[:2]

    def volumes(y_true: Any, y_score: Any, options: Call) -> Any:
        return grader.RangeAUC_volume(y_true, y_score, options["max_buffer"])[-2:]

    return {
        "range_auc_roc/pvldb2022": lambda y, s, _, options: areas(y, s, options)[0],
        "range_auc_pr/pvldb2022": lambda y, s, _, options: areas(y, s, options)[1],
        "vus_roc/pvldb2022": lambda y, s, _, options: volumes(y, s, options)[0],
        "vus_pr/pvldb2022": lambda y, s, _, options: volumes(y, s, options)[1],
    }


def aeon() -> Answers:
    from aeon.benchmarking.metrics import anomaly_detection as peer

    return {
        "range_auc_roc/pvldb2022": lambda y, s, _, o: peer.range_roc_auc_score(y, s, o["buffer"]),
        "range_auc_pr/pvldb2022": lambda y, s, _, o: peer.range_pr_auc_score(y, s, o["buffer"]),
        "vus_roc/pvldb2022": lambda y, s, _, o: peer.range_roc_vus_score(y, s, o["max_buffer"]),
        "vus_pr/pvldb2022": lambda y, s, _, o: peer.range_pr_vus_score(y, s, o["max_buffer"]),
    }


def class_answers(
    classes: dict[str, Any], sizes: dict[str, str], compute: Callable[[Any], Answer], least: int
) -> Answers:
    """Answers of metric classes that know both later definitions by a compatibility switch."""

    def answer(measure: str, compatible: bool) -> Answer:
        def value(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float | None:
            keyword = sizes[measure]
            size = options["max_buffer" if measure.startswith("vus") else "buffer"]
            if size < least:
                return None
            metric = classes[measure](
                **{keyword: size},
                compatibility_mode=compatible,
                max_samples=options["thresholds"],
            )
            return compute(metric)(y_true, y_score)

        return value

    switch = {"pvldb2022": True, "timeeval": False}
    return {
        f"{measure}/{definition}": answer(measure, compatible)
        for measure in classes
        for definition, compatible in switch.items()
    }


SIZE_KEYWORDS = {
    "range_auc_roc": "buffer_size",
    "range_auc_pr": "buffer_size",
    "vus_roc": "max_buffer_size",
    "vus_pr": "max_buffer_size",
}


def timeeval() -> Answers:
    without_init("timeeval", "metrics")
    from timeeval.metrics import vus_metrics as peer

    classes = {
        "range_auc_roc": peer.RangeRocAUC,
        "range_auc_pr": peer.RangePrAUC,
        "vus_roc": peer.RangeRocVUS,
        "vus_pr": peer.RangePrVUS,
    }
    return class_answers(classes, SIZE_KEYWORDS, lambda metric: metric, least=0)


def dtaianomaly() -> Answers:
    from dtaianomaly import evaluation as peer

    classes = {
        "range_auc_roc": peer.RangeAreaUnderROC,
        "range_auc_pr": peer.RangeAreaUnderPR,
        "vus_roc": peer.VolumeUnderROC,
        "vus_pr": peer.VolumeUnderPR,
    }

    def named(options: Call) -> Call:
        """Rename our options to the package's, which takes floats for alpha and beta."""
        names = {"cardinality": "gamma", "bias": "delta", "alpha": "alpha", "beta": "beta"}
        return {
            names[key]: value if isinstance(value, str) else float(value)
            for key, value in options.items()
        }

    return {
        **class_answers(classes, SIZE_KEYWORDS, lambda metric: metric.compute, least=1),
        "range_precision": lambda y, _, p, o: peer.RangeBasedPrecision(**named(o)).compute(y, p),
        "range_recall": lambda y, _, p, o: peer.RangeBasedRecall(**named(o)).compute(y, p),
        "range_f_score": lambda y, _, p, o: peer.RangeBasedFBeta(**named(o)).compute(y, p),
        **binary_answers(peer),
        "ucr_score": lambda y, s, _, o: peer.UCRScore(tolerance=o["slack"]).compute(y, s),
    }


def binary_answers(peer: Any) -> Answers:
    """Answers of dtaianomaly's classes without parameters to a prediction."""
    classes = {
        "event_precision": peer.EventWisePrecision,
        "event_recall": peer.EventWiseRecall,
        "event_f_score": peer.EventWiseFBeta,
        "point_adjusted_precision": peer.PointAdjustedPrecision,
        "point_adjusted_recall": peer.PointAdjustedRecall,
        "point_adjusted_f_score": peer.PointAdjustedFBeta,
        "affiliation_precision": peer.AffiliationPrecision,
        "affiliation_recall": peer.AffiliationRecall,
        "affiliation_f_score": peer.AffiliationFBeta,
    }

    def answer(metric: Any) -> Answer:
        return lambda y_true, y_score, y_pred, options: metric().compute(y_true, y_pred)

    return {measure: answer(metric) for measure, metric in classes.items()}


def pate() -> Answers:
    from pate.PATE_metric import PATE

    def value(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float:
        reach = options["buffer"] // 2
        # Every score is a threshold.
        every = {"drop_intermediate": False, "Big_Data": False}
        return PATE(y_true, y_score, e_buffer=reach, d_buffer=reach, **every)

    return {"pate": value}


def prts() -> Answers:
    import prts as peer

    def f_score(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float:
        return peer.ts_fscore(
            y_true,
            y_pred,
            beta=options["beta"],
            p_alpha=0,
            r_alpha=options["alpha"],
            cardinality=options["cardinality"],
            p_bias=options["bias"],
            r_bias=options["bias"],
        )

    return {
        "range_precision": lambda y, _, p, options: peer.ts_precision(y, p, alpha=0, **options),
        "range_recall": lambda y, _, p, options: peer.ts_recall(y, p, **options),
        "range_f_score": f_score,
    }


def scikit_learn() -> Answers:
    from sklearn import metrics as peer

    def area_pr(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float:
        if options["interpolation"] == "step":
            return peer.average_precision_score(y_true, y_score)
        precision, recall, _ = peer.precision_recall_curve(y_true, y_score)
        return peer.auc(recall, precision)

    def best_f(y_true: Any, y_score: Any, y_pred: Any, options: Call) -> float:
        precision, recall, _ = peer.precision_recall_curve(y_true, y_score)
        return max(2 * p * r / (p + r) for p, r in zip(precision, recall, strict=True) if p + r)

    return {
        "best_f_score": best_f,
        "auc_roc": lambda y, s, _, o: peer.roc_auc_score(y, s),
        "auc_pr": area_pr,
        "precision": lambda y, _, p, o: peer.precision_score(y, p, zero_division=0),
        "recall": lambda y, _, p, o: peer.recall_score(y, p),
        "f_score": lambda y, _, p, o: peer.fbeta_score(y, p, beta=o["beta"], zero_division=0),
    }


# Name in the file -> (distribution = name of its environment, its answers).
def tsadmetrics() -> Answers:
    from tsadmetrics.metrics.tem.tstm import VusPr, VusRoc

    def answer(metric: Any) -> Callable[[Any, Any, Any, Call], Any]:
        return lambda y, s, _, o: metric(window=o["max_buffer"]).compute(y, s)

    return {"vus_roc/journal": answer(VusRoc), "vus_pr/journal": answer(VusPr)}


PEERS: dict[str, tuple[str, Callable[[], Answers]]] = {
    "vus opt": ("vus", vus_opt),
    "vus opt_mem": ("vus", vus_opt_mem),
    "vus basic_metrics": ("vus", vus_first_release),
    "TSB-AD": ("tsb-ad", tsb_ad),
    "TimeEval": ("timeeval", timeeval),
    "dtaianomaly": ("dtaianomaly", dtaianomaly),
    "aeon": ("aeon", aeon),
    "PATE": ("pate", pate),
    "prts": ("prts", prts),
    "scikit-learn": ("scikit-learn", scikit_learn),
    "tsadmetrics": ("tsadmetrics", tsadmetrics),
}


def value_of(answers: Answers, call: Call, arrays: tuple[Any, Any, Any]) -> Any:
    """Answer one call, or None where the peer does not know it."""
    definition = call["options"].get("definition")
    key = f"{call['measure']}/{definition}" if definition else call["measure"]
    value = answers[key](*arrays, call["options"]) if key in answers else None
    return value if value is None or isinstance(value, dict) else float(value)


def main(name: str) -> None:
    """Answer the cases on standard input with one peer, on standard output."""
    import numpy as np

    distribution, make_answers = PEERS[name]
    answers = make_answers()
    replies = []
    for case in json.load(sys.stdin):
        arrays = (
            np.array(case["y_true"], dtype=np.int64),
            np.array(case["y_score"], dtype=np.float64),
            np.array(case["y_pred"], dtype=np.int64),
        )
        replies.append([value_of(answers, call, arrays) for call in case["calls"]])
    json.dump({"version": importlib.metadata.version(distribution), "replies": replies}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])

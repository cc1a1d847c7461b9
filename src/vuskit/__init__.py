"""Accuracy measures for time-series anomaly detection.

>>> import vuskit
>>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
>>> round(vuskit.vus_pr(labels, score, buffer=4), 3)
0.908
"""

from __future__ import annotations

# The measures register themselves: those of the paper in the order of its list, then the others.
from vuskit.measures.point import f_score, precision, precision_at_k, recall  # isort: skip
from vuskit.measures.ranges import range_f_score, range_precision, range_recall  # isort: skip
from vuskit.measures.auc import auc_pr, auc_roc  # isort: skip
from vuskit.measures.range_auc import range_auc_pr, range_auc_roc  # isort: skip
from vuskit.measures.volume import vus_pr, vus_roc  # isort: skip
from vuskit.measures.best import best_f_score, best_threshold  # isort: skip
from vuskit.measures.event_wise import (  # isort: skip
    composite_f_score,
    event_f_score,
    event_precision,
    event_recall,
)
from vuskit.measures.point_adjusted import (  # isort: skip
    point_adjusted_f_score,
    point_adjusted_precision,
    point_adjusted_recall,
)
from vuskit.measures.affiliation import (  # isort: skip
    affiliation_f_score,
    affiliation_precision,
    affiliation_recall,
)
from vuskit.measures.pate import pate  # isort: skip
from vuskit.measures.ucr import ucr_score  # isort: skip
from vuskit.buffers import BufferChoice, choose_buffer, estimate_period, list_buffer_strategies
from vuskit.errors import (
    InvalidInputError,
    MeasureError,
    MissingDependencyError,
    PredictionAsScoreWarning,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.kernels.compiled import warm_up
from vuskit.measures.breakdown import EventTable, events
from vuskit.measures.chance import ChanceLevel, chance_level
from vuskit.measures.evaluate import Evaluator, evaluate, evaluate_many
from vuskit.measures.registry import Measure, get_measure, list_measures, register_measure
from vuskit.measures.results import Comparison, Evaluation
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.surface import Surface, Volume, surface, volume
from vuskit.measures.thresholds import Quantile, Sigma

__version__ = "0.1.0"

__all__ = [
    "BufferChoice",
    "ChanceLevel",
    "Comparison",
    "Evaluation",
    "EvaluationSettings",
    "Evaluator",
    "EventTable",
    "InvalidInputError",
    "Measure",
    "MeasureError",
    "MissingDependencyError",
    "PredictionAsScoreWarning",
    "Quantile",
    "Sigma",
    "Surface",
    "ThresholdResolutionWarning",
    "UndefinedMeasureWarning",
    "Volume",
    "VuskitError",
    "affiliation_f_score",
    "affiliation_precision",
    "affiliation_recall",
    "auc_pr",
    "auc_roc",
    "best_f_score",
    "best_threshold",
    "chance_level",
    "choose_buffer",
    "composite_f_score",
    "estimate_period",
    "evaluate",
    "evaluate_many",
    "event_f_score",
    "event_precision",
    "event_recall",
    "events",
    "f_score",
    "get_measure",
    "list_buffer_strategies",
    "list_measures",
    "pate",
    "point_adjusted_f_score",
    "point_adjusted_precision",
    "point_adjusted_recall",
    "precision",
    "precision_at_k",
    "range_auc_pr",
    "range_auc_roc",
    "range_f_score",
    "range_precision",
    "range_recall",
    "recall",
    "register_measure",
    "surface",
    "ucr_score",
    "volume",
    "vus_pr",
    "vus_roc",
    "warm_up",
]

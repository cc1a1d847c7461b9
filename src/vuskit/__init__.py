"""Accuracy measures for time-series anomaly detection.

>>> import vuskit
>>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
>>> round(vuskit.vus_pr(labels, score, max_buffer=4), 3)
0.908
"""

from __future__ import annotations

# The measures register themselves in the order of the paper's list.
from vuskit.measures.point import f_score, precision, precision_at_k, recall  # isort: skip
from vuskit.measures.ranges import range_f_score, range_precision, range_recall  # isort: skip
from vuskit.measures.auc import auc_pr, auc_roc  # isort: skip
from vuskit.measures.range_auc import range_auc_pr, range_auc_roc  # isort: skip
from vuskit.measures.volume import vus_pr, vus_roc  # isort: skip
from vuskit.errors import (
    InvalidInputError,
    MissingDependencyError,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.kernels.compiled import warm_up
from vuskit.measures.breakdown import EventTable, events
from vuskit.measures.chance import ChanceLevel, chance_level
from vuskit.measures.registry import Measure, get_measure, list_measures, register_measure
from vuskit.measures.results import Comparison, Evaluation
from vuskit.measures.suite import Evaluator, evaluate, evaluate_many
from vuskit.measures.surface import Surface, Volume, surface, volume
from vuskit.measures.thresholds import Quantile, Sigma
from vuskit.periods import BufferChoice, choose_buffer, estimate_period, list_buffer_strategies

__version__ = "0.1.0"

__all__ = [
    "BufferChoice",
    "ChanceLevel",
    "Comparison",
    "Evaluation",
    "Evaluator",
    "EventTable",
    "InvalidInputError",
    "Measure",
    "MissingDependencyError",
    "Quantile",
    "Sigma",
    "Surface",
    "ThresholdResolutionWarning",
    "UndefinedMeasureWarning",
    "Volume",
    "VuskitError",
    "auc_pr",
    "auc_roc",
    "chance_level",
    "choose_buffer",
    "estimate_period",
    "evaluate",
    "evaluate_many",
    "events",
    "f_score",
    "get_measure",
    "list_buffer_strategies",
    "list_measures",
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
    "volume",
    "vus_pr",
    "vus_roc",
    "warm_up",
]

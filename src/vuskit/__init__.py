"""Accuracy measures for time-series anomaly detection.

>>> import vuskit
>>> labels, score = [0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.6, 0.9, 0.8, 0.3]
>>> round(vuskit.vus_pr(labels, score, buffer=4), 3)
0.908
"""

from __future__ import annotations

from vuskit._util import interrupts as _interrupts  # noqa: F401 (before slow imports)
from vuskit.alignment import align_scores
from vuskit.buffers import BufferChoice, choose_buffer, estimate_period, list_buffer_strategies
from vuskit.errors import (
    BufferNotFoundError,
    InvalidInputError,
    InvertedScoreWarning,
    LongBufferWarning,
    MeasureError,
    MissingDependencyError,
    PluginWarning,
    PredictionAsScoreWarning,
    ThresholdResolutionWarning,
    UndefinedMeasureWarning,
    VuskitError,
)
from vuskit.frames import evaluate_frame
from vuskit.measures.best import best_f_score, best_threshold
from vuskit.measures.breakdown import EventTable, events
from vuskit.measures.chance import ChanceLevel, chance_level
from vuskit.measures.evaluate import Evaluator, evaluate, evaluate_many
from vuskit.measures.event import (
    composite_f_score,
    event_f_score,
    event_precision,
    event_recall,
    point_adjusted_f_score,
    point_adjusted_precision,
    point_adjusted_recall,
)
from vuskit.measures.point import f_score, precision, precision_at_k, recall
from vuskit.measures.properties import PropertyTable, list_properties
from vuskit.measures.proximity import (
    affiliation_f_score,
    affiliation_precision,
    affiliation_recall,
    pate,
)
from vuskit.measures.ranges import range_f_score, range_precision, range_recall
from vuskit.measures.registry import (
    Measure,
    MeasureProperties,
    get_measure,
    list_measures,
    register_measure,
)
from vuskit.measures.results import Comparison, Evaluation
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.surface import Surface, Volume, surface, volume
from vuskit.measures.thresholds import Cascade, Quantile, Sigma, list_threshold_rules
from vuskit.measures.ucr import ucr_score
from vuskit.measures.uncertainty import IntervalTable
from vuskit.measures.vus import auc_pr, auc_roc, range_auc_pr, range_auc_roc, vus_pr, vus_roc

from vuskit import sql  # isort: skip

__version__ = "0.2.0"

__all__ = [
    "BufferChoice",
    "BufferNotFoundError",
    "Cascade",
    "ChanceLevel",
    "Comparison",
    "Evaluation",
    "EvaluationSettings",
    "Evaluator",
    "EventTable",
    "IntervalTable",
    "InvalidInputError",
    "InvertedScoreWarning",
    "LongBufferWarning",
    "Measure",
    "MeasureError",
    "MeasureProperties",
    "MissingDependencyError",
    "PluginWarning",
    "PredictionAsScoreWarning",
    "PropertyTable",
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
    "align_scores",
    "auc_pr",
    "auc_roc",
    "best_f_score",
    "best_threshold",
    "chance_level",
    "choose_buffer",
    "composite_f_score",
    "estimate_period",
    "evaluate",
    "evaluate_frame",
    "evaluate_many",
    "event_f_score",
    "event_precision",
    "event_recall",
    "events",
    "f_score",
    "get_measure",
    "list_buffer_strategies",
    "list_measures",
    "list_properties",
    "list_threshold_rules",
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
    "sql",
    "surface",
    "ucr_score",
    "volume",
    "vus_pr",
    "vus_roc",
]

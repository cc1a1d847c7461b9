"""Accuracy measures, their registry, and their evaluation.

Each module registers its measures on import. The import order below is the order of the registry:
first the measures of the VUS paper, then the others.
"""

from __future__ import annotations

from vuskit.measures.point import f_score, precision, precision_at_k, recall  # isort: skip
from vuskit.measures.ranges import range_f_score, range_precision, range_recall  # isort: skip
from vuskit.measures.auc import auc_pr, auc_roc  # isort: skip
from vuskit.measures.vus import range_auc_pr, range_auc_roc, vus_pr, vus_roc  # isort: skip
from vuskit.measures.best import best_f_score, best_threshold  # isort: skip
from vuskit.measures.event import (  # isort: skip
    composite_f_score,
    event_f_score,
    event_precision,
    event_recall,
    point_adjusted_f_score,
    point_adjusted_precision,
    point_adjusted_recall,
)
from vuskit.measures.proximity import (  # isort: skip
    affiliation_f_score,
    affiliation_precision,
    affiliation_recall,
    pate,
)
from vuskit.measures.ucr import ucr_score  # isort: skip
from vuskit.measures.breakdown import EventTable, events
from vuskit.measures.chance import ChanceLevel, chance_level
from vuskit.measures.evaluate import Evaluator, evaluate, evaluate_many
from vuskit.measures.properties import PropertyTable, list_properties
from vuskit.measures.registry import (
    Measure,
    MeasureProperties,
    Measures,
    get_measure,
    list_measures,
    register_measure,
    resolve_measures,
)
from vuskit.measures.results import Comparison, Evaluation
from vuskit.measures.settings import EvaluationSettings
from vuskit.measures.surface import Surface, Volume, surface, volume
from vuskit.measures.thresholds import (
    Cascade,
    Quantile,
    Sigma,
    ThresholdRule,
    list_threshold_rules,
)
from vuskit.measures.uncertainty import IntervalTable

__all__ = [
    "Cascade",
    "ChanceLevel",
    "Comparison",
    "Evaluation",
    "EvaluationSettings",
    "Evaluator",
    "EventTable",
    "IntervalTable",
    "Measure",
    "MeasureProperties",
    "Measures",
    "PropertyTable",
    "Quantile",
    "Sigma",
    "Surface",
    "ThresholdRule",
    "Volume",
    "affiliation_f_score",
    "affiliation_precision",
    "affiliation_recall",
    "auc_pr",
    "auc_roc",
    "best_f_score",
    "best_threshold",
    "chance_level",
    "composite_f_score",
    "evaluate",
    "evaluate_many",
    "event_f_score",
    "event_precision",
    "event_recall",
    "events",
    "f_score",
    "get_measure",
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
    "resolve_measures",
    "surface",
    "ucr_score",
    "volume",
    "vus_pr",
    "vus_roc",
]

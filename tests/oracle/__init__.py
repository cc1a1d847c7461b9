"""Slow, literal versions of every measure and of POLY: lists, loops and `math`, nothing else.

They are what the package is tested against, so they share no line with it. Each function has the
name and the keywords of its fast counterpart; inputs are plain lists and are not checked.
"""

from oracle.affiliation import affiliation_f_score, affiliation_precision, affiliation_recall
from oracle.areas import auc_pr, auc_roc
from oracle.event_wise import (
    best,
    best_f_score,
    composite_f_score,
    event_f_score,
    event_precision,
    event_recall,
    point_adjusted_f_score,
    point_adjusted_precision,
    point_adjusted_recall,
    ucr_score,
)
from oracle.pate import pate
from oracle.perturbations import (
    cascade,
    growing_crops,
    label_lags,
    mean_spread,
    pooled_spread,
    rare_section,
    raw_z,
    shift_labels,
    unit,
)
from oracle.points import f_score, precision, precision_at_k, recall, sigma_threshold
from oracle.ranges import range_f_score, range_precision, range_recall
from oracle.runs import events
from oracle.vus import curve, range_auc_pr, range_auc_roc, soft_labels, vus_pr, vus_roc

__all__ = [
    "affiliation_f_score",
    "affiliation_precision",
    "affiliation_recall",
    "auc_pr",
    "auc_roc",
    "best",
    "best_f_score",
    "cascade",
    "composite_f_score",
    "curve",
    "event_f_score",
    "event_precision",
    "event_recall",
    "events",
    "f_score",
    "growing_crops",
    "label_lags",
    "mean_spread",
    "pate",
    "point_adjusted_f_score",
    "point_adjusted_precision",
    "point_adjusted_recall",
    "pooled_spread",
    "precision",
    "precision_at_k",
    "range_auc_pr",
    "range_auc_roc",
    "range_f_score",
    "range_precision",
    "range_recall",
    "rare_section",
    "raw_z",
    "recall",
    "shift_labels",
    "sigma_threshold",
    "soft_labels",
    "ucr_score",
    "unit",
    "vus_pr",
    "vus_roc",
]

"""Slow, literal versions of every measure: lists, loops and `math`, nothing else.

They are what the package is tested against, so they share no line with it. Each function has the
name and the keywords of its fast counterpart; inputs are plain lists and are not checked.
"""

from oracle.areas import auc_pr, auc_roc
from oracle.points import f_score, precision, precision_at_k, recall, sigma_threshold
from oracle.ranges import range_f_score, range_precision, range_recall
from oracle.runs import events
from oracle.vus import curve, range_auc_pr, range_auc_roc, soft_labels, vus_pr, vus_roc

__all__ = [
    "auc_pr",
    "auc_roc",
    "curve",
    "events",
    "f_score",
    "precision",
    "precision_at_k",
    "range_auc_pr",
    "range_auc_roc",
    "range_f_score",
    "range_precision",
    "range_recall",
    "recall",
    "sigma_threshold",
    "soft_labels",
    "vus_pr",
    "vus_roc",
]

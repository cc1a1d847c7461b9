"""Time the authors' code on saved scores: one evaluation of all thirteen measures each.

Run by ``studies_run.py`` with the Python of an environment that holds the package vus (made from
``peers/recipes.toml``). Reads ``[[path, detector, buffer], ...]`` as JSON from standard input and
writes the processor seconds of each as JSON. The calls are those of the authors' robustness
experiment: R-AUC with the buffer, VUS with twice the buffer and 250 thresholds (``opt``), AUC-PR,
and their function of all the others.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings

import numpy as np
import pandas as pd
from vus.utils.metrics import metricor


def one_evaluation(labels: np.ndarray, score: np.ndarray, buffer: int) -> float:
    grader = metricor()
    begin = time.process_time()
    grader.RangeAUC(labels=labels, score=score, window=buffer, plot_ROC=True)
    grader.metric_new(labels, score)  # without drawing curves
    grader.metric_PR(labels, score)
    grader.RangeAUC_volume_opt(labels_original=labels, score=score, windowSize=2 * buffer, thre=250)
    return time.process_time() - begin


def main() -> None:
    warnings.simplefilter("ignore")
    seconds = []
    for path, detector, buffer in json.load(sys.stdin):
        table = pd.read_csv(path)
        labels, score = table["label"].to_numpy(dtype=float), table[detector].to_numpy(dtype=float)
        with contextlib.redirect_stdout(sys.stderr):
            seconds.append(one_evaluation(labels, score, buffer))
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    main()

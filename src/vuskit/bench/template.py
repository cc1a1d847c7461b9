"""The plan that ``vuskit bench init`` writes."""

from __future__ import annotations

__all__ = ["TEMPLATE"]

TEMPLATE = """\
# A benchmark: series x detectors x seeds -> scores -> measures.
#   vuskit bench plan   shows what would run
#   vuskit bench run    runs it; the same command goes on after an interruption

folder = "bench-run"            # results; relative to this file
seeds = [0]                     # a detector runs once per seed, if a seed can change its scores
# imports = ["my_measures"]     # modules that register measures; also beside this file

# -- series: folders of files, or synthetic families; as many entries as needed ----------------

[[series]]
family = ["ecg", "kpi"]         # lists expand to a grid
n = 5000
n_anomalies = 8
difficulty = ["easy", "hard"]
seed = [1, 2]

# [[series]]
# folder = "data/series"        # searched with all subfolders
# names = ["ECG/*", "MGAB/*"]   # patterns for paths or file names
# datasets = ["ECG"]
# format = "tsb_uad"            # recognised by itself unless given
# options = {}                  # keywords of the format
# min_points = 1000
# max_points = 200_000
# min_anomalies = 1
# sample = 20                   # so many of those that are left, the same ones every time
# sample_seed = 0

# -- detectors: keys after the name are parameters; lists expand to a grid ----------------------

[[detectors]]
name = "moving_zscore"
window = [25, 100]

[[detectors]]
name = "iforest"

[[detectors]]
name = "random"

# [[detectors]]
# name = "my_module:my_function"  # function(values) -> scores, or a Detector class
# label = "mine"

# -- scores that were computed elsewhere --------------------------------------------------------

# [[scores]]
# folder = "data/scores"        # csv files: value,label,<detector>,...
# detectors = ["LOF"]           # columns; all unless given

# [[scores]]
# folder = "my_scores"          # one file per series of this plan and detector, .npy or .csv
# pattern = "{detector}/{dataset}/{series}.npy"

# -- measures: of every score; as many entries as needed ----------------------------------------

[[evaluate]]
measures = "paper"              # or "extra", "all", or ["paper", {name = "f_score", beta = 2}]
buffer = "authors"              # a number, or: period, fft, authors, median_anomaly, mean_anomaly
# buffer_fallback = 100         # where the strategy finds nothing
# thresholds = 250              # as in published tables; every distinct score unless given
# definition = "journal"        # or pvldb2022, timeeval

[limits]                        # of each job
seconds = 3600                  # loading and compiling a detector's libraries does not count
# warm_up_seconds = 300         # for those
memory = "4 GB"
threads = 1

[executor]
kind = "local"                  # or "dask"
# workers = 2                   # processes; one per core unless given
# address = "tcp://head:8786"   # a Dask scheduler, or its .json file; else dask starts one here
"""

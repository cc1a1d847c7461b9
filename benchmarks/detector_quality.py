"""Scores of the detectors compared with the saved scores of the published experiments.

    python benchmarks/detector_quality.py --series 20 --seeds 3 --docs docs/detectors.md

DATA (default: the folder ``data`` in $VUSKIT_TEST_DATA) holds ``series/<data set>/<name>.gz`` and
``scores/<data set>/<name>.csv.gz``. For each detector and series the script reports

- the Pearson correlation with the saved scores, mean over seeds. The detector runs without the
  first point of the series and with the window of the saved scores, as the published runs did;
- the Pearson correlation between the scores of two seeds, mean over pairs: the ceiling of a
  detector that depends on its seed;
- the difference in AUC-ROC from the saved scores, and its standard deviation over seeds.

Each result is saved at once as one line of JSON, and a second run computes only what is missing. A
result belongs to the detector's parameters and the number of seeds; delete the lines of a detector
whose method changed. Exit status 1: a detector misses its required correlation or spread.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from docs_block import replace_block
from numpy.typing import NDArray

from vuskit import auc_roc
from vuskit.datasets import read_series
from vuskit.detectors import (
    Detector,
    get_detector,
)
from vuskit.detectors.registry import detector_class

Floats = NDArray[np.float64]

COLUMNS = {
    "iforest": "IFOREST",
    "lof": "LOF",
    "mp": "MP",
    "norma": "NORMA",
    "pca": "PCA",
    "ae": "AE",
    "lstm_ad": "LSTM",
    "poly": "POLY",
    "cnn": "CNN",
    "ocsvm": "OCSVM",
}
# Saved scores that stand at the center of their window, and those on the point after it.
CENTERED = ("IFOREST", "LOF", "MP", "PCA", "AE", "OCSVM")
PREDICTED = ("CNN", "LSTM")
# Median over series that the correlation must reach, and that the spread must not exceed.
REQUIRED_PEARSON = {
    "poly": 0.999,
    "pca": 0.999,
    "ocsvm": 0.99,
    "lof": 0.99,
    "mp": 0.99,
    "iforest": 0.93,
}
LARGEST_SPREAD = {"norma": 0.03}


class SavedSeries:
    """A series with saved scores: its values without the first point, and the stretch scored."""

    def __init__(self, series_file: Path, scores_file: Path) -> None:
        series = read_series(series_file)
        self.name = series_file.name.removesuffix(".gz")
        self.dataset = series_file.parent.name
        self.values: Floats = np.asarray(series.values, dtype=np.float64).reshape(-1)[1:]
        labels = np.asarray(series.labels)[1:]
        with gzip.open(scores_file, "rt", newline="") as file:
            header = next(csv.reader(file))
            table = np.loadtxt(file, delimiter=",", ndmin=2)
        columns = dict(zip(header, table.T, strict=True))
        start = find_stretch(self.values, labels, columns["value"], columns["label"])
        self.stretch = slice(start, start + len(table))
        self.labels = labels[self.stretch]
        self.scores = {name: columns[name] for name in COLUMNS.values() if name in columns}
        self.window = infer_window(self.scores)


def find_stretch(values: Floats, labels: Floats, cut: Floats, cut_labels: Floats) -> int:
    """Start of the stretch whose labels equal the cut's and whose values fit them best."""
    size = len(cut)
    starts = np.flatnonzero(np.diff(labels, prepend=0) == 1)
    in_cut = np.flatnonzero(np.diff(cut_labels, prepend=0) == 1)
    candidates = {0, len(values) - size, *(int(s - in_cut[0]) for s in starts if len(in_cut))}
    fits = {
        start: float(np.corrcoef(values[start : start + size], cut)[0, 1])
        for start in sorted(candidates)
        if 0 <= start <= len(values) - size
        and np.array_equal(labels[start : start + size], cut_labels)
    }
    if not fits:
        raise SystemExit(
            "the saved scores must belong to a stretch of the series, got other labels"
        )
    return max(fits, key=lambda start: fits[start])


def infer_window(scores: dict[str, Floats]) -> int:
    """Window of the saved scores, from the repeated scores at both ends.

    A centered score repeats ceil((w - 1) / 2) times at the start and floor((w - 1) / 2) times at
    the end; a forecaster repeats its first error w times. Rounded scores can repeat more often, so
    the shortest repetition counts.
    """
    ends = {name: _repetitions(scores[name]) for name in (*CENTERED, *PREDICTED) if name in scores}
    centered = [ends[name] for name in CENTERED if name in ends]
    bounds = [ends[name][0] for name in PREDICTED if name in ends]
    if centered:
        bounds.append(1 + min(first for first, _ in centered) + min(last for _, last in centered))
    return min(bounds)


def _repetitions(scores: Floats) -> tuple[int, int]:
    """How often the first and the last score are repeated."""
    changes = np.flatnonzero(np.diff(scores) != 0)
    if not len(changes):
        return len(scores), len(scores)
    return int(changes[0]), len(scores) - 2 - int(changes[-1])


def choose_series(data: Path, count: int, max_points: int) -> list[tuple[Path, Path]]:
    """Whole series with saved scores, the shortest of each data set first, data sets in turn."""
    with open(data / "series" / "MANIFEST.csv", newline="") as file:
        rows = [
            (row["dataset"], int(row["n"]), row["file"])
            for row in csv.DictReader(file)
            if row["whole_or_snippet"] == "whole" and int(row["n"]) <= max_points
        ]
    by_dataset: dict[str, list[tuple[Path, Path]]] = {}
    for dataset, _, file_name in sorted(rows):
        pair = data / "series" / f"{file_name}.gz", data / "scores" / f"{file_name}.csv.gz"
        if pair[1].exists():
            by_dataset.setdefault(dataset, []).append(pair)
    turns = itertools.zip_longest(*by_dataset.values())
    return [pair for turn in turns for pair in turn if pair is not None][:count]


def make_detector(name: str, window: int, seed: int) -> Detector:
    """Detector with its defaults and the window of the saved scores; POLY keeps its own."""
    return get_detector(name, seed=seed, **({} if name == "poly" else {"window": window}))


def measure(detectors: list[Detector], series: SavedSeries) -> dict[str, Any]:
    """Compare the scores of one detector, one instance per seed, with the saved ones."""
    began = time.perf_counter()
    scores = [detector.fit_score(series.values)[series.stretch] for detector in detectors]
    seconds = time.perf_counter() - began
    saved = series.scores[COLUMNS[detectors[0].name]]
    return {
        "detector": repr(detectors[0]),
        "name": detectors[0].name,
        "dataset": series.dataset,
        "series": series.name,
        "points": len(series.values),
        "window": series.window,
        "seeds": len(detectors),
        "pearson": [pearson(one, saved) for one in scores],
        "pearson_of_seeds": [pearson(*pair) for pair in itertools.combinations(scores, 2)],
        "auc_roc": [round(auc_roc(series.labels, one), 6) for one in scores],
        "saved_auc_roc": round(auc_roc(series.labels, saved), 6),
        "seconds": round(seconds, 2),
    }


def pearson(one: Floats, other: Floats) -> float | None:
    """Correlation of two scores; None if one of them is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    return round(float(np.corrcoef(one, other)[0, 1]), 6)


def mean(values: list[float | None]) -> float | None:
    """Mean of the values that exist."""
    found = _existing(values)
    return float(np.mean(found)) if found else None


def finished(results: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    if not results.exists():
        return {}
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    return {(row["detector"], row["series"], row["seeds"]): row for row in rows}


def jobs(
    chosen: list[tuple[Path, Path]], names: Iterable[str], seeds: int
) -> Iterator[tuple[SavedSeries, list[Detector]]]:
    for files in chosen:
        series = SavedSeries(*files)
        for name in names:
            if COLUMNS[name] in series.scores:
                count = seeds if detector_class(name).stochastic else 1
                yield series, [make_detector(name, series.window, seed) for seed in range(count)]


def run(
    chosen: list[tuple[Path, Path]], results: Path, names: list[str], seeds: int, *, compute: bool
) -> list[dict[str, Any]]:
    """Rows of all jobs, or of the finished ones only; new rows are saved as they come."""
    done = finished(results)
    rows = []
    for series, detectors in jobs(chosen, names, seeds):
        row = done.get((repr(detectors[0]), series.name, len(detectors)))
        if row is None:
            if not compute:
                continue
            row = measure(detectors, series)
            with open(results, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(
                f"{row['name']:8} {row['series'][:40]:40} window {row['window']:3} "
                f"pearson {row['pearson']} of seeds {row['pearson_of_seeds']} "
                f"auc {row['auc_roc']} saved {row['saved_auc_roc']:.3f} {row['seconds']} s",
                file=sys.stderr,
                flush=True,
            )
        rows.append(row)
    return rows


def summarize(rows: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """Numbers of one detector over series; None without results."""
    found = [row for row in rows if row["name"] == name]
    if not found:
        return None
    agreements = _existing(mean(row["pearson"]) for row in found)
    ceilings = _existing(mean(row["pearson_of_seeds"]) for row in found)
    aucs = np.array([np.mean(row["auc_roc"]) for row in found])
    saved = np.array([row["saved_auc_roc"] for row in found])
    spreads = [np.std(row["auc_roc"], ddof=1) for row in found if row["seeds"] > 1]
    summary = {
        "detector": name,
        "series": len(found),
        "seeds": max(row["seeds"] for row in found),
        "median_pearson": float(np.median(agreements)) if agreements else None,
        "lower_decile_pearson": float(np.quantile(agreements, 0.1)) if agreements else None,
        "median_pearson_of_seeds": float(np.median(ceilings)) if ceilings else None,
        "lower_decile_pearson_of_seeds": float(np.quantile(ceilings, 0.1)) if ceilings else None,
        "mean_auc_roc": float(aucs.mean()),
        "mean_saved_auc_roc": float(saved.mean()),
        "median_auc_difference": float(np.median(np.abs(aucs - saved))),
        "median_spread": float(np.median(spreads)) if spreads else None,
    }
    pearson_found, spread_found = summary["median_pearson"], summary["median_spread"]
    summary["good"] = not (
        (pearson_found is not None and pearson_found < REQUIRED_PEARSON.get(name, -1.0))
        or (spread_found is not None and spread_found >= LARGEST_SPREAD.get(name, np.inf))
    )
    return summary


def _existing(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def table(summaries: list[dict[str, Any]]) -> str:
    """Markdown table, one row per detector."""

    def shown(value: float | None, digits: int = 3) -> str:
        return "-" if value is None else f"{value:.{digits}f}"

    columns = {
        "agreement, median": "median_pearson",
        "lowest tenth": "lower_decile_pearson",
        "seeds' agreement, median": "median_pearson_of_seeds",
        "lowest tenth of seeds'": "lower_decile_pearson_of_seeds",
        "mean AUC-ROC": "mean_auc_roc",
        "saved": "mean_saved_auc_roc",
        "difference, median": "median_auc_difference",
        "std over seeds, median": "median_spread",
    }
    lines = [
        f"| detector | series | {' | '.join(columns)} |",
        f"|---|--:|{'--:|' * len(columns)}",
    ]
    for row in summaries:
        cells = [shown(row[key], 4 if "pearson" in key else 3) for key in columns.values()]
        lines.append(f"| `{row['detector']}` | {row['series']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("VUSKIT_TEST_DATA")
    parser.add_argument("--data", type=Path, default=Path(home, "data") if home else None)
    parser.add_argument("--results", type=Path, default=Path("detector_quality.jsonl"))
    parser.add_argument("--summary", type=Path, help="write the numbers per detector as JSON")
    parser.add_argument("--detectors", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    parser.add_argument("--series", type=int, default=20, help="number of series")
    parser.add_argument("--seeds", type=int, default=1, help="seeds of the stochastic detectors")
    parser.add_argument("--max-points", type=int, default=20_000)
    parser.add_argument("--table-only", action="store_true", help="compute nothing")
    parser.add_argument("--docs", type=Path, help="page whose quality table is rewritten")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or $VUSKIT_TEST_DATA must name the data")
    chosen = choose_series(options.data, options.series, options.max_points)
    rows = run(
        chosen, options.results, options.detectors, options.seeds, compute=not options.table_only
    )
    found = [summarize(rows, name) for name in options.detectors]
    summaries = [summary for summary in found if summary is not None]
    print(table(summaries))
    if options.summary:
        options.summary.write_text(json.dumps(summaries, indent=2) + "\n")
    if options.docs:
        replace_block(options.docs, "quality", table(summaries))
    return 0 if all(summary["good"] for summary in summaries) else 1


if __name__ == "__main__":
    sys.exit(main())

"""AUC-ROC of the detectors on whole series, beside the published values.

    python benchmarks/detector_quality.py --data DATA --results quality.csv --docs docs/detectors.md

DATA holds ``published/detector_auc_roc.csv`` and ``series/<data set>/<name>.gz``; the default is
the folder ``data`` in $VUSKIT_TEST_DATA. Every result is saved as soon as it is there, and a
second run computes only what is missing: a result belongs to a detector's full identity, so
a changed default is computed again. Exit status 1: a detector's mean is too far below its
published mean.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from docs_block import replace_block

from vuskit import auc_roc
from vuskit.datasets import read_series
from vuskit.detectors import Detector, get_detector

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
FIELDS = ["detector", "series", "points", "window", "auc_roc", "seconds"]
TOLERANCE = 0.03


def published(data: Path) -> list[dict[str, str]]:
    with open(data / "published" / "detector_auc_roc.csv", newline="") as file:
        return sorted(csv.DictReader(file), key=lambda row: int(row["data_len"]))


def finished(results: Path) -> dict[tuple[str, str], float]:
    if not results.exists():
        return {}
    with open(results, newline="") as file:
        return {(r["detector"], r["series"]): float(r["auc_roc"]) for r in csv.DictReader(file)}


def save(results: Path, row: dict[str, object]) -> None:
    is_new = not results.exists()
    with open(results, "a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def measure(detector: Detector, path: Path) -> dict[str, object]:
    series = read_series(path)
    began = time.perf_counter()
    scores = detector.fit_score(series)
    return {
        "detector": repr(detector),
        "series": path.name.removesuffix(".gz"),
        "points": len(scores),
        "window": getattr(detector, "window_", ""),
        "auc_roc": f"{auc_roc(series.labels, scores):.6f}",
        "seconds": f"{time.perf_counter() - began:.1f}",
    }


def run(data: Path, results: Path, names: Iterable[str], max_points: int) -> None:
    done = finished(results)
    for row in published(data):
        if int(row["data_len"]) > max_points:
            continue
        for name in names:
            detector = get_detector(name)
            if (repr(detector), row["filename"]) in done:
                continue
            path = data / "series" / row["dataset"] / f"{row['filename']}.gz"
            result = measure(detector, path)
            save(results, result)
            print(name, row["filename"], result["auc_roc"], row[COLUMNS[name]], flush=True)


def table(data: Path, results: Path, names: Iterable[str]) -> tuple[str, bool]:
    """Markdown table of the means over the finished series, and whether all are good enough."""
    done = finished(results)
    lines = [
        "| detector | series | mean AUC-ROC | published | difference |",
        "|---|---|---|---|---|",
    ]
    good = True
    for name in names:
        identity = repr(get_detector(name))
        pairs = [
            (done[identity, row["filename"]], float(row[COLUMNS[name]]))
            for row in published(data)
            if (identity, row["filename"]) in done
        ]
        if not pairs:
            continue
        ours, theirs = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        good = good and ours >= theirs - TOLERANCE
        lines.append(
            f"| {name} | {len(pairs)} | {ours:.3f} | {theirs:.3f} | {ours - theirs:+.3f} |"
        )
    return "\n".join(lines), good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("VUSKIT_TEST_DATA")
    parser.add_argument("--data", type=Path, default=Path(home, "data") if home else None)
    parser.add_argument("--results", type=Path, default=Path("detector_quality.csv"))
    parser.add_argument("--detectors", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    parser.add_argument("--max-points", type=int, default=10**9)
    parser.add_argument("--table-only", action="store_true", help="compute nothing")
    parser.add_argument("--docs", type=Path, help="page whose quality table is rewritten")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or $VUSKIT_TEST_DATA must name the data")
    if not options.table_only:
        run(options.data, options.results, options.detectors, options.max_points)
    text, good = table(options.data, options.results, options.detectors)
    print(text)
    if options.docs:
        replace_block(options.docs, "quality", text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

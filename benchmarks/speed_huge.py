"""Peak memory of one evaluation on memory maps: ``python speed_huge.py N``, JSON on stdout."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ANOMALIES, LENGTH, BUFFER = 100, 100, 100
CHUNK = 1_000_000


def write_input(n: int, folder: Path) -> tuple[Path, Path]:
    """Random scores (float64) and labels (uint8), written piece by piece."""
    rng = np.random.default_rng(0)
    scores_path, labels_path = folder / "scores.f8", folder / "labels.u1"
    with scores_path.open("wb") as scores, labels_path.open("wb") as labels:
        for start in range(0, n, CHUNK):
            size = min(CHUNK, n - start)
            scores.write(rng.random(size).tobytes())
            labels.write(bytes(size))
    labels_map = np.memmap(labels_path, dtype=np.uint8, mode="r+")
    for start in np.linspace(0, n - LENGTH, ANOMALIES).astype(int):
        labels_map[start : start + LENGTH] = 1
    labels_map.flush()
    return scores_path, labels_path


def peak_bytes() -> int:
    """Highest resident size of this process so far, mapped pages included."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    from vuskit import evaluate

    n = int(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vuskit-huge-") as folder:
        scores_path, labels_path = write_input(n, Path(folder))
        scores = np.memmap(scores_path, dtype=np.float64, mode="r")
        labels = np.memmap(labels_path, dtype=np.uint8, mode="r")
        before, begin = peak_bytes(), time.perf_counter()
        result = evaluate(labels, scores, buffer=BUFFER)
        report = {
            "n": n,
            "score_bytes": scores.nbytes,
            "before_bytes": before,
            "peak_bytes": peak_bytes(),
            "seconds": time.perf_counter() - begin,
            "vus_pr": float(result["vus_pr"]),
        }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

"""Synthetic series for a reproduction without data."""

from __future__ import annotations

from pathlib import Path

from vuskit._util.files import write_atomically
from vuskit._util.tables import frame_csv
from vuskit.datasets.synthetic import make_series

DEMO_DETECTORS = ("iforest", "lof", "ocsvm", "pca", "poly", "random")
"""Fast detectors of the paper, and random scores as an inaccurate detector."""

DEMO_OPTIONS = {"separability": {"count": 20}}
"""Fewer perturbations than in the paper."""

_FAMILIES = ("ecg", "kpi", "telemetry", "vibration")
_DIFFICULTIES = (0.2, 0.35, 0.5, 0.65)
# Anomalies are rare, so that crops differ in their share of anomalous points.
_N_POINTS, _N_ANOMALIES, _ANOMALY_LENGTH = 3000, 3, 30


def write_demo_series(folder: str | Path, *, seed: int = 0) -> Path:
    """Write four synthetic series of each of four families; existing files are kept."""
    place = Path(folder)
    for family in _FAMILIES:
        for number, difficulty in enumerate(_DIFFICULTIES):
            path = place / family / f"{family}-{number}.csv"
            if path.is_file():
                continue
            series = make_series(
                family,
                n=_N_POINTS,
                n_anomalies=_N_ANOMALIES,
                anomaly_length=_ANOMALY_LENGTH,
                difficulty=difficulty,
                seed=seed + number,
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, frame_csv(series.to_frame().round(6)) + "\n")
    return place

"""Variants of CNN compared with the saved scores of the published experiments.

    python benchmarks/cnn_search.py --docs docs/detectors.md

Each variant changes one setting of the detector. The script prints the median over series of the
agreement with the saved scores (Pearson, mean over seeds), and of the agreement between seeds. The
series are the shortest ones with saved scores; DATA is that of ``detector_quality.py``.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from detector_quality import SavedSeries, choose_series, measure
from docs_block import replace_block

from vuskit.detectors import CNN


class TimeOrder(CNN):
    """Batches in time order, as for AE."""

    name = "cnn"
    _shuffle = False


class NoPooling(CNN):
    """Convolutions only, without pooling."""

    name = "cnn"

    def _build(self, n_channels: int) -> Any:
        from torch import nn

        layers = super()._build(n_channels)
        kept = [layer for layer in layers if not isinstance(layer, nn.MaxPool1d)]
        flat = next(i for i, layer in enumerate(kept) if isinstance(layer, nn.Linear))
        kept[flat] = nn.Linear(32 * (self.window_ - 2), kept[flat].out_features)
        return nn.Sequential(*kept)


@dataclasses.dataclass
class Variant:
    """A change of the default: parameters, another class, or a factor on the window."""

    changes: dict[str, Any] = dataclasses.field(default_factory=dict)
    kind: type[CNN] = CNN
    window_factor: float = 1.0


VARIANTS = {
    "default": Variant(),
    "10 epochs": Variant({"epochs": 10}),
    "patience 10": Variant({"patience": 10}),
    "patience 100": Variant({"patience": 100}),
    "learning rate 0.01": Variant({"learning_rate": 0.01}),
    "learning rate 0.0001": Variant({"learning_rate": 0.0001}),
    "batch of 16": Variant({"batch_size": 16}),
    "no dropout": Variant({"dropout": 0.0}),
    "best epoch": Variant({"keep": "best"}),
    "batches in time order": Variant(kind=TimeOrder),
    "no pooling": Variant(kind=NoPooling),
    "scaled by the training part": Variant({"scale": "training"}),
    "error at the center": Variant({"placement": "center"}),
    "half the window": Variant(window_factor=0.5),
    "trained on the first 5 %": Variant({"train_share": 0.05}),
    "trained on the first 20 %": Variant({"train_share": 0.2}),
    "trained on all": Variant({"train_share": 1.0}),
}


def agreement(variant: Variant, series: SavedSeries, seeds: int) -> tuple[float, float]:
    """Mean Pearson with the saved scores, and between seeds."""
    window = max(2, round(series.window * variant.window_factor))
    detectors = [variant.kind(window=window, seed=seed, **variant.changes) for seed in range(seeds)]
    row = measure(detectors, series)
    return float(np.mean(row["pearson"])), float(np.mean(row["pearson_of_seeds"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    home = os.environ.get("VUSKIT_TEST_DATA")
    parser.add_argument("--data", type=Path, default=Path(home, "data") if home else None)
    parser.add_argument("--series", type=int, default=10)
    parser.add_argument("--max-points", type=int, default=2700)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--docs", type=Path, help="page whose table `cnn-search` is rewritten")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or $VUSKIT_TEST_DATA must name the data")
    chosen = choose_series(options.data, options.series, options.max_points)
    series = [SavedSeries(*files) for files in chosen]
    lines = ["| variant | agreement, median | mean | of seeds, median |", "|---|--:|--:|--:|"]
    for name in options.variants:
        found = np.array([agreement(VARIANTS[name], one, options.seeds) for one in series])
        saved, seeds = found.T
        numbers = (np.median(saved), np.mean(saved), np.median(seeds))
        lines.append(f"| {name} | {' | '.join(f'{number:.3f}' for number in numbers)} |")
        print(lines[-1], np.round(saved, 2).tolist(), file=sys.stderr, flush=True)
    print("\n".join(lines))
    if options.docs:
        replace_block(options.docs, "cnn-search", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

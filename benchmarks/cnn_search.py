"""Variants of CNN compared with the saved scores of the published experiments.

    python benchmarks/cnn_search.py --docs docs/detectors.md

Each variant changes one setting of the detector. The script prints the mean over series of the
agreement with the saved scores (Pearson, mean over seeds), and of the agreement between seeds. The
series are short ones on which the two differ most; DATA is that of ``detector_quality.py``.
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
    "patience 50": Variant({"patience": 50}),
    "learning rate 0.01": Variant({"learning_rate": 0.01}),
    "no dropout": Variant({"dropout": 0.0}),
    "best epoch": Variant({"keep": "best"}),
    "batches in time order": Variant(kind=TimeOrder),
    "no pooling": Variant(kind=NoPooling),
    "scaled by the training part": Variant({"scale": "training"}),
    "half the window": Variant(window_factor=0.5),
    "trained on the first 5 %": Variant({"train_share": 0.05}),
    "trained on the first 20 %": Variant({"train_share": 0.2}),
    "trained on all": Variant({"train_share": 1.0}),
}
SERIES = (
    "NAB_data_Exchange_2",
    "NAB_data_Exchange_6",
    "NAB_data_KnownCause_6",
    "NAB_data_Traffic_1",
)


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
    parser.add_argument("--series", nargs="+", default=SERIES)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--docs", type=Path, help="page whose table `cnn-search` is rewritten")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or $VUSKIT_TEST_DATA must name the data")
    series = [
        SavedSeries(*files)
        for files in choose_series(options.data, sys.maxsize, 20_000)
        if files[0].name.removesuffix(".out.gz") in options.series
    ]
    lines = ["| variant | agreement | of seeds |", "|---|--:|--:|"]
    for name in options.variants:
        found = np.array([agreement(VARIANTS[name], one, options.seeds) for one in series])
        saved, seeds = found.T
        lines.append(f"| {name} | {saved.mean():.2f} | {seeds.mean():.2f} |")
        print(lines[-1], np.round(saved, 2).tolist(), file=sys.stderr, flush=True)
    print("\n".join(lines))
    if options.docs:
        replace_block(options.docs, "cnn-search", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A reader of text files with one ``value;label`` pair per line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vuskit.datasets import Series, register_format


@register_format(
    name="pairs",
    title="Value-label pairs",
    layout="*.pairs: one <value>;<label> per line",
    matches=lambda file: file.suffix == ".pairs",
)
def read_pairs(path: Path) -> Series:
    """Read a file of pairs."""
    values, labels = np.loadtxt(path, delimiter=";", unpack=True)
    return Series(path.stem, path.resolve().parent.name, values, labels.astype(int))

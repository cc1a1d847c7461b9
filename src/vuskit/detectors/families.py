"""Families of detectors, by method."""

from __future__ import annotations

import re

__all__ = ["FAMILIES", "detector_family"]

# Kept outside the classes, because a detector's code is part of the identity of its results.
FAMILIES: dict[str, tuple[str, ...]] = {
    "distance": ("lof", "mp", "norma"),
    "density": ("iforest", "ocsvm", "pca"),
    "prediction": ("ae", "cnn", "lstm_ad", "poly"),
    "baseline": ("constant", "moving_zscore", "random", "values"),
}
"""Names of the registered detectors by family."""

_OTHER_NAMES = {"lstm": "lstm_ad", "deepant": "cnn", "autoencoder": "ae", "matrixprofile": "mp"}


def detector_family(name: str) -> str:
    """Return the family of a detector; empty if unknown.

    Examples
    --------
    >>> detector_family("lof"), detector_family("LSTM-AD"), detector_family("mine")
    ('distance', 'prediction', '')
    """
    plain = _plain(name)
    plain = _plain(_OTHER_NAMES.get(plain, plain))
    return next((family for family, names in FAMILIES.items() if plain in map(_plain, names)), "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

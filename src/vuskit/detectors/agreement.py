"""Agreement of the detectors' scores with the saved scores of the published experiments."""

from __future__ import annotations

__all__ = ["AGREEMENT", "describe_agreement"]

# Kept outside the classes, because a detector's code is part of the identity of its results.
AGREEMENT: dict[str, tuple[float, float]] = {
    "ae": (0.90, 0.90),
    "cnn": (0.93, 0.97),
    "iforest": (0.97, 0.96),
    "lof": (0.99, 1.00),
    "lstm_ad": (0.93, 0.99),
    "mp": (1.00, 1.00),
    "norma": (0.66, 0.99),
    "ocsvm": (1.00, 1.00),
    "pca": (1.00, 1.00),
    "poly": (1.00, 1.00),
}
"""Median Pearson correlation with the saved scores, and between two seeds, on ten short series."""

_TOLERANCE = 0.02


def describe_agreement(name: str) -> str:
    """Say whether a detector's scores are as published; empty for other detectors.

    Scores are as published if they agree with the saved scores as well as two seeds agree with each
    other, up to 0.02.

    Examples
    --------
    >>> describe_agreement("pca"), describe_agreement("random")
    ('as published 1.00 of 1.00', '')
    """
    if name not in AGREEMENT:
        return ""
    saved, ceiling = AGREEMENT[name]
    word = "as published" if saved >= ceiling - _TOLERANCE else "differs"
    return f"{word} {saved:.2f} of {ceiling:.2f}"

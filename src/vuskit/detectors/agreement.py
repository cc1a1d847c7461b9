"""Agreement of the detectors' scores with the saved scores of the published experiments."""

from __future__ import annotations

__all__ = ["AGREEMENT", "mark_of"]

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


def mark_of(name: str) -> str:
    """Return "as published" or "differs"; empty for detectors that are not in `AGREEMENT`.

    Scores are as published if they agree with the saved scores as well as two seeds agree with each
    other, up to 0.02.

    Examples
    --------
    >>> mark_of("pca"), mark_of("norma"), mark_of("random")
    ('as published', 'differs', '')
    """
    if name not in AGREEMENT:
        return ""
    saved, ceiling = AGREEMENT[name]
    return "as published" if saved >= ceiling - _TOLERANCE else "differs"

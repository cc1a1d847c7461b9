"""Families of measures: titles and colors, the same in every figure and on every page."""

from __future__ import annotations

from collections.abc import Iterable

from vuskit.measures.registry import Measure

__all__ = ["FAMILY_TITLES", "family_color", "family_of", "titles_of"]

# Okabe and Ito's palette: told apart by people with any kind of color vision.
_COLORS = {
    "threshold": "#999999",
    "range": "#E69F00",
    "auc": "#56B4E9",
    "range_auc": "#009E73",
    "vus": "#D55E00",
    "event": "#0072B2",
    "proximity": "#F0E442",
    "custom": "#CC79A7",
}
FAMILY_TITLES = {
    "threshold": "threshold",
    "range": "range, threshold",
    "auc": "AUC",
    "range_auc": "R-AUC",
    "vus": "VUS",
    "event": "event, threshold",
    "proximity": "proximity",
    "custom": "own",
}


def family_of(measure: Measure) -> str:
    """Family of the measure, as far as it has a color; all others are the user's own.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> family_of(get_measure("vus_pr")), family_color(get_measure("vus_pr"))
    ('vus', '#D55E00')
    """
    return measure.family if measure.family in _COLORS else "custom"


def family_color(measure: Measure) -> str:
    """Color of the measure's family."""
    return _COLORS[family_of(measure)]


def titles_of(measures: Iterable[Measure]) -> dict[str, str]:
    """Title of each measure by its name."""
    return {measure.name: measure.title for measure in measures}

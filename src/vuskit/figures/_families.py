"""Titles, families and colors of measures, the same in all figures and pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures

# Okabe and Ito's palette, distinguishable with any kind of color vision.
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
    """Return the family of a measure; families without a color are ``"custom"``.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> family_of(get_measure("vus_pr")), family_color(get_measure("vus_pr"))
    ('vus', '#D55E00')
    """
    return measure.family if measure.family in _COLORS else "custom"


def family_color(measure: Measure) -> str:
    """Return the color of the measure's family."""
    return _COLORS[family_of(measure)]


def titles_of(measures: Iterable[Measure]) -> dict[str, str]:
    """Return the titles of measures by name."""
    return {measure.name: measure.title for measure in measures}


def describe_measures(measures: Iterable[Measure]) -> dict[str, Any]:
    """Return names, titles and families of measures, with titles and colors of the families.

    Examples
    --------
    >>> from vuskit import get_measure
    >>> describe_measures([get_measure("vus_pr")])["families"]
    {'vus': {'title': 'VUS', 'color': '#D55E00'}}
    """
    listed = list(measures)
    return {
        "measures": [
            {
                "name": one.name,
                "title": one.title,
                "family": family_of(one),
                "color": family_color(one),
            }
            for one in listed
        ],
        "families": {
            family_of(one): {"title": FAMILY_TITLES[family_of(one)], "color": family_color(one)}
            for one in listed
        },
    }


def describe_names(names: Iterable[str], own: Iterable[Measure] = ()) -> dict[str, Any]:
    """Describe measures by name; other names have neither family nor color.

    Examples
    --------
    >>> describe_names(["LOF"])
    {'measures': [{'name': 'LOF', 'title': 'LOF'}], 'families': {}}
    """
    found = measures_named(names, own)
    if all(measure.function is _unknown for measure in found):
        items = [{"name": one.name, "title": one.title} for one in found]
        return {"measures": items, "families": {}}
    return describe_measures(found)


def measures_named(names: Iterable[str], own: Iterable[Measure] = ()) -> tuple[Measure, ...]:
    """Return own or registered measures by name; unknown names get a placeholder."""
    known = {entry.name: entry for entry in (*list_measures(), *own)}
    known |= {entry.title: entry for entry in known.values()}
    return tuple(known.get(name, Measure(name, name, _unknown)) for name in names)


def _unknown(y_true: ArrayLike, y_score: ArrayLike) -> float:
    raise InvalidInputError("`measure` must be registered to be computed, got only a name")

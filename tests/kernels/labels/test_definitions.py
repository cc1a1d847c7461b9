"""Definitions as data: the kernels read every field."""

from __future__ import annotations

import dataclasses
import typing
import warnings

import numpy as np
import pytest

import vuskit
from vuskit.kernels.labels import DEFINITIONS, Definition

MEASURES = ("range_auc_roc", "range_auc_pr")
NAMES = ("name", "title")  # say what it is called, not what is computed
HINTS = typing.get_type_hints(Definition)
VALUES = {
    field.name: typing.get_args(HINTS[field.name]) or (0, 1)
    for field in dataclasses.fields(Definition)
    if field.name not in NAMES
}
CHANGES = [
    (name, field, value)
    for name, definition in DEFINITIONS.items()
    for field, values in VALUES.items()
    for value in values
    if value != getattr(definition, field)
]

changed_fields = pytest.mark.parametrize(("name", "field", "value"), CHANGES)


def cases():
    """Short series with events that are near each other, some with ties."""
    rng = np.random.default_rng(5)
    for _ in range(12):
        labels = np.zeros(40, dtype=int)
        for start in rng.integers(2, 36, 4):
            labels[start : start + rng.integers(1, 4)] = 1
        yield labels, rng.random(40).round(int(rng.integers(1, 4))) + 0.3 * labels


@pytest.fixture
def variant(monkeypatch):
    """Register a changed definition under a new name, which caches do not know; return the name."""

    def register(name, field, value):
        new_name = f"{name} with {field} {value}"
        changed = dataclasses.replace(DEFINITIONS[name], name=new_name, **{field: value})
        monkeypatch.setitem(DEFINITIONS, new_name, changed)
        return new_name

    return register


def values(definition, thresholds):
    options = {"definition": definition, "thresholds": thresholds, "measures": MEASURES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vuskit.ThresholdResolutionWarning)
        return np.array(
            [
                list(vuskit.evaluate(*case, buffer=buffer, **options).values())
                for case in cases()
                for buffer in (3, 8)
            ]
        )


@changed_fields
@pytest.mark.parametrize("thresholds", [None, 12])
def test_every_field_is_read(variant, name, field, value, thresholds):
    changed = values(variant(name, field, value), thresholds)
    assert np.abs(changed - values(name, thresholds)).max() > 1e-6


@changed_fields
@pytest.mark.usefixtures("each_core")
def test_areas_are_those_under_the_curves(variant, name, field, value):
    """Exact areas and areas on a grid follow from the rates at the thresholds."""
    definition = variant(name, field, value)
    with_trapezoids = DEFINITIONS[definition].pr_area == "trapezoid"
    for labels, scores in list(cases())[:4]:
        for thresholds in (None, 40):
            found = vuskit.surface(
                labels, scores, buffer=9, thresholds=thresholds, definition=definition
            )
            for row in range(found.buffers.size):
                fpr, tpr = ([0.0, *rate[row], 1.0] for rate in (found.fpr, found.tpr))
                roc = np.trapezoid(tpr, fpr)
                precision = found.precision[row]
                if with_trapezoids:
                    precision = (np.array([1.0, *precision[:-1]]) + precision) / 2
                pr = np.diff(tpr[:-1]) @ precision
                assert found.range_auc_roc[row] == pytest.approx(roc, abs=1e-12)
                assert found.range_auc_pr[row] == pytest.approx(pr, abs=1e-12)


def test_rates_never_exceed_one():
    """A cap of the false-positive rate could not matter; see `Definition`."""
    for definition in DEFINITIONS:
        for labels, scores in cases():
            for buffer in (1, 8, 90):
                found = vuskit.surface(
                    labels, scores, buffer=buffer, thresholds=None, definition=definition
                )
                assert found.fpr.max() <= 1 + 1e-12

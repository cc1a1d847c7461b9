"""Rankings with several multiples of the buffer."""

from __future__ import annotations

import numpy as np
import pytest

import vuskit
from vuskit.datasets import ScoredSeries, Series
from vuskit.studies import buffer_dependence


def scored(place):
    """A late detector that a long buffer forgives, and an exact one with false alarms."""
    rng = np.random.default_rng(place)
    labels = np.isin(np.arange(600) // 12, [9, 25, 40])
    late = np.roll(labels, 16).astype(float)
    noisy = labels * 0.7 + (rng.random(600) < 0.06)
    series = Series(f"s{place}", "docs", np.arange(600.0), labels)
    return ScoredSeries(series, {"late": late, "noisy": noisy})


SERIES = [scored(place) for place in range(8)]


def test_a_ranking_that_depends_on_the_buffer_is_reported():
    found = buffer_dependence(SERIES, factors=(0.5, 1, 16))
    assert found.reference == 1.0
    assert found.mean_ranks[0.5].idxmin() == "noisy"
    assert found.mean_ranks[16.0].idxmin() == "late"
    assert found.taus[1.0] == 1.0
    assert found.taus[16.0] == -1.0
    best, swapped = found.warnings
    assert best == "the best detector depends on the buffer: noisy at 0.5, noisy at 1, late at 16"
    assert swapped == "detectors that differ significantly change places: noisy and late"
    assert "Kendall's tau" in found.to_text(80)
    assert found.to_frame().shape == (6, 3)


def test_values_are_those_of_the_multiplied_buffer():
    found = buffer_dependence(SERIES, factors=(1, 2), detectors=["late", "noisy"])
    expected = [vuskit.vus_pr(one.series.labels, one.scores["late"], buffer=24) for one in SERIES]
    np.testing.assert_allclose(found.comparisons[2.0].table["late"], expected, atol=1e-12)
    assert found.warnings == ()


def series_of(values):
    """One series per row, on which detectors reach about these values of AUC-PR with any buffer."""
    found = []
    for place, row in enumerate(values):
        labels = np.isin(np.arange(400) // 20, [5, 12])
        scores = {}
        for name, hits in row.items():
            score = np.zeros(400)
            score[np.flatnonzero(labels)[:hits]] = 1.0
            scores[name] = score
        found.append(ScoredSeries(Series(f"s{place}", "docs", np.arange(400.0), labels), scores))
    return found


def test_tied_detectors_are_all_best():
    equal = buffer_dependence(series_of([{"a": 30, "b": 30, "c": 10}] * 3), factors=(1, 2))
    assert equal.warnings == ()
    assert equal.verdict == "the ranking does not depend on the buffer"


def test_the_best_mean_counts_beside_the_best_rank(monkeypatch):
    found = buffer_dependence(SERIES, factors=(1, 2))
    ranks, means = found.mean_ranks, found.means
    assert list(means.index) == list(ranks.index)
    swapped = means.copy()
    swapped[2.0] = means[2.0].to_numpy()[::-1]
    monkeypatch.setattr(type(found), "means", property(lambda self: swapped))
    (warning,) = found.warnings
    assert warning == (
        "the detector with the best mean VUS-PR depends on the buffer: noisy at 1, late at 2"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factors": [1]}, "`factors` must be two or more numbers >= 0, such as 0.5, 1 and 2"),
        ({"factors": [1, -2]}, "`factors` must be two or more numbers >= 0"),
        ({"measure": "auc_pr"}, "`measure` must depend on the buffer, got 'auc_pr'; try 'vus_pr'"),
    ],
)
def test_mistakes_are_reported(options, message):
    with pytest.raises(vuskit.InvalidInputError, match=message):
        buffer_dependence(SERIES, **options)

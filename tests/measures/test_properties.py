"""Properties: each declared value is tested on series on which the measures are not trivial."""

from __future__ import annotations

import numpy as np
import pytest

import vuskit
from vuskit.measures.properties import list_properties
from vuskit.measures.registry import Measure, MeasureProperties, register_measure

MEASURES = {measure.name: measure for measure in vuskit.list_measures() if measure.group != "own"}
BUFFER = 8
# A test contradicts the paper: the longest buffer changes the value of VUS.
DEBATABLE = {("vus_roc", "parameter_free"), ("vus_pr", "parameter_free")}
# Another value of each parameter that is a choice. The others select how a value is computed, or
# which of several published definitions: interpolation, definition, thresholds, step, ...
CHOICES = {
    "threshold": 1.6,  # above all but the false alarm
    "k": None,  # by measure
    "buffer": 3 * BUFFER,
    "beta": 3.0,
    "slack": 0,
    "alpha": 0.9,
}
OTHER_K = {"precision_at_k": 7}


def series(seed):
    """Two anomalies in symmetric gaps; one found late, one in part, and two false alarms."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(240, dtype=int)
    labels[50:62] = labels[170:190] = 1
    score = 0.2 * rng.random(240)
    score[56:68] += 1.0 + 0.3 * rng.random(12)
    score[175:181] += 1.2 + 0.3 * rng.random(6)
    score[110:114] += 0.9 + 0.2 * rng.random(4)
    score[225] += 1.6
    return labels, score


def value(measure, labels, score, **options):
    settings = {"buffer": BUFFER} if "buffer" in measure.parameters else {}
    return measure.function(labels, score, **{**settings, **options})


def changes(measure, variants):
    """Whether the value differs between a series and any of its variants."""
    found = False
    for seed in range(3):
        labels, score = series(seed)
        first = value(measure, labels, score, **fixed(measure))
        for other_labels, other_score in variants(labels, score, np.random.default_rng(seed)):
            second = value(measure, other_labels, other_score, **fixed(measure))
            found |= not np.isclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)
    return found


def fixed(measure):
    """Options that by default follow the labels or are as long as the series."""
    return {"precision_at_k": {"k": 32}, "ucr_score": {"slack": 5}}.get(measure.name, {})


def declared(name, key):
    found = getattr(MEASURES[name].properties, key)
    assert found is not None, f"{name} does not declare {key}"
    return found


@pytest.mark.parametrize("name", MEASURES)
def test_threshold_free_measures_are_invariant_under_order_preserving_maps(name):
    def maps(labels, score, _):
        ranks = np.unique(score, return_inverse=True)[1].astype(float)
        return [(labels, np.exp(8 * score)), (labels, score**5), (labels, np.sqrt(ranks))]

    assert changes(MEASURES[name], maps) is not declared(name, "threshold_free")


@pytest.mark.parametrize("name", MEASURES)
def test_sequence_adapted_measures_notice_the_order_of_the_points(name):
    def shuffled(labels, score, rng):
        orders = [rng.permutation(labels.size) for _ in range(2)]
        return [(labels[order], score[order]) for order in orders]

    assert changes(MEASURES[name], shuffled) is declared(name, "sequence_adapted")


@pytest.mark.parametrize("name", MEASURES)
def test_measures_independent_of_anomalies_are_invariant_under_repetition(name):
    def repeated(labels, score, _):
        return [(np.tile(labels, times), np.tile(score, times)) for times in (2, 5)]

    assert changes(MEASURES[name], repeated) is not declared(name, "independent_of_anomalies")


@pytest.mark.parametrize("name", MEASURES)
def test_parameter_free_measures_have_nothing_to_choose(name):
    measure = MEASURES[name]
    labels, score = series(0)
    first = value(measure, labels, score)
    chosen = {}
    for option in CHOICES.keys() & measure.parameters.keys():
        other = OTHER_K.get(name, 0.9) if option == "k" else CHOICES[option]
        chosen[option] = value(measure, labels, score, **{option: other})
    depends = any(not np.isclose(first, other) for other in chosen.values())
    expected = not declared(name, "parameter_free")
    assert depends is (expected or (name, "parameter_free") in DEBATABLE)


def test_paper_values_are_those_of_its_table():
    def row(*marks):
        return MeasureProperties(*(mark == "y" for mark in marks))

    expected = {
        "precision_at_k": row("n", "y", "n", "n"),
        **dict.fromkeys(["precision", "recall", "f_score"], row("y", "n", "n", "n")),
        **dict.fromkeys(
            ["range_precision", "range_recall", "range_f_score"], row("y", "n", "y", "n")
        ),
        **dict.fromkeys(["auc_pr", "auc_roc"], row("y", "y", "n", "y")),
        **dict.fromkeys(["range_auc_pr", "range_auc_roc"], row("y", "y", "y", "n")),
        **dict.fromkeys(["vus_pr", "vus_roc"], row("y", "y", "y", "y")),
    }
    found = {m.name: m.properties for m in MEASURES.values() if m.group == "paper"}
    assert found == expected


def test_own_measures_declare_nothing_or_what_they_say(monkeypatch):
    monkeypatch.setattr("vuskit.measures.registry._MEASURES", dict(MEASURES))

    @register_measure(name="plain")
    def plain(y_true, y_score):
        return 0.0

    @register_measure(name="told", properties=MeasureProperties(threshold_free=True))
    def told(y_true, y_score):
        return 0.0

    table = list_properties(["plain", "told", "vus_pr"])
    assert table.measures[0].properties == MeasureProperties()
    text = table.to_text()
    assert '"-": not declared.' in text
    assert [line.split()[1:] for line in text.splitlines()[2:4]] == [
        ["-"] * 4,
        ["-", "yes", "-", "-"],
    ]
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = table.to_frame()
    assert frame["threshold_free"].tolist()[1:] == [True, True]
    assert frame["threshold_free"].isna().tolist() == [True, False, False]


def test_table_in_every_form():
    table = list_properties("paper")
    assert len(table.measures) == 13
    assert table.to_latex().count("tabular") == 2
    assert r"\multicolumn{2}{c}{independent of}" in table.to_latex()
    assert "| Precision@k | no | yes | no | no |" in table.to_markdown()
    assert "<td>VUS-PR</td>" in table.to_html()
    assert str(table) == table.to_text()


def test_restored_measures_keep_their_properties():
    pytest.importorskip("pandas", reason="pandas is not installed")
    from vuskit.studies.result import pack, unpack

    measure = MEASURES["vus_pr"]
    found = unpack(pack({"measure": measure}))[1]["measure"]
    assert isinstance(found, Measure)
    assert found.properties == measure.properties

"""Numbers in figures are those of the table of the same run, in all settings."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.legend import Legend
from studies.scored import make_several

import vuskit
from vuskit.datasets import ScoredSeries
from vuskit.paper import list_exhibits
from vuskit.paper.concept_figures import part_around_anomaly
from vuskit.paper.material import Material
from vuskit.paper.reproduce import READINGS
from vuskit.studies import open_scores, run_study

PUBLISHED = {"good": "NORMA", "late": "AE", "noisy": "OCSVM", "useless": "LSTM"}
STUDIES = ("consistency", "scenarios", "robustness", "separability")
NAMES = ("vus_pr", "vus_roc", "range_auc_pr", "range_auc_roc", "auc_pr", "auc_roc", "f_score")
STATED = {0.05, 0.1, 0.2, 0.6}  # conditions that a heading or test states
KEYS = [
    one.key
    for one in list_exhibits()
    if one.kind == "fig" and set(one.needs) <= {*STUDIES, "summary"}
]


@pytest.fixture(scope="module", params=list(READINGS))
def material(request):
    """Results of all studies under a reading of the paper."""
    several = [
        ScoredSeries(one.series, {PUBLISHED[name]: one.scores[name] for name in one.detectors})
        for one in make_several()
    ]
    sources = open_scores(several)
    results = {}
    for name in STUDIES:
        options = dict(READINGS[request.param])
        if name in ("robustness", "separability"):
            options |= {"count": 4}
        if name == "robustness":
            options |= {"min_values": 2}
        alone = name == "scenarios"
        results[name] = run_study(name, None if alone else sources, **options)
    return Material(sources, results)


@pytest.fixture(scope="module")
def built(material):
    return {one.key: one.build(material) for one in list_exhibits() if one.key in KEYS}


def printed(display):
    """Decimal numbers in the text of a figure, without those of ticks and legends."""
    figure = display.plot().figure_
    ticks = {
        id(label)
        for axis in figure.axes
        for one in (axis.xaxis, axis.yaxis, getattr(axis, "zaxis", axis.xaxis))
        for label in one.get_ticklabels(which="both")
    }
    ticks |= {id(text) for legend in figure.findobj(Legend) for text in legend.findobj(plt.Text)}
    texts = [one for one in figure.findobj(plt.Text) if id(one) not in ticks]
    texts = [one.get_text() for one in texts if one.get_visible()]
    plt.close(figure)
    return [
        number
        for text in texts
        if not text.startswith(("Friedman", "Wilcoxon"))
        for number in re.findall(r"-?\d+\.\d+", text.replace("\N{MINUS SIGN}", "-"))
    ]


@pytest.mark.parametrize("key", KEYS)
def test_numbers_printed_in_a_figure_are_in_its_table(built, key):
    exhibit = built[key]
    known = exhibit.table.select_dtypes("number").to_numpy(float).ravel()
    known = known[np.isfinite(known)]
    for part in exhibit.parts:
        for number in printed(part.display):
            digits = len(number.partition(".")[2])
            near = np.abs(known - float(number)) <= 0.500001 * 10.0**-digits
            assert near.any() or float(number) in STATED, f"{part.heading}: {number}"


def evaluated(material, labels, score, buffer):
    settings = material.settings.replace(buffer=buffer)
    return vuskit.evaluate(labels, score, measures=material.consistency.measures, settings=settings)


def test_values_before_a_change_are_those_of_the_settings(built, material):
    display = built["fig-02"].parts[0].display
    series, _ = material.examples.single
    for vary in ("lag", "noise"):
        first = display.panels[vary].cases[0]
        expected = evaluated(material, first.y_true, first.y_score, material.buffer(series))
        rows = built["fig-02"].table.query("varied == @vary").set_index("measure")
        for name in NAMES[:-1]:
            assert rows.loc[name, "before"] == pytest.approx(expected[name]), name


def test_values_of_labelings_are_those_of_the_settings(built, material):
    example = material.examples.compared[0]
    part = part_around_anomaly(material.scored(example.series), 3 * material.buffer(example.series))
    table = built["fig-03"].table.set_index(["detector", "labels"])
    for name in example.detectors:
        expected = evaluated(
            material, part.series.labels, part.scores[name], material.buffer(example.series)
        )
        own = table.loc[(name, "as labeled")]
        assert own["vus_pr"] == pytest.approx(expected["vus_pr"])
        assert own["auc_pr"] == pytest.approx(expected["auc_pr"])


def test_labels_of_data_sets_are_their_own(built, material):
    (first,), (second,) = built["fig-03"].parts[1].display.rows
    table = built["fig-03"].table.dropna(subset="periods").set_index("labels")
    for panel, name in ((first, "mill/s1"), (second, "plant/s0")):
        series = material.scored(name).series
        line, shown = panel.display.lines["series"], panel.display.label
        parts = np.lib.stride_tricks.sliding_window_view(series.values, line.size)
        (at,) = np.flatnonzero((parts == line).all(axis=1))
        np.testing.assert_array_equal(shown, series.labels[at : at + shown.size])
        assert table.loc[name, "periods"] == pytest.approx(12 / 25)


def test_areas_and_volumes_are_those_of_the_settings(built, material):
    series, detector = material.examples.single
    part = part_around_anomaly(material.scored(series), 3 * material.buffer(series))
    expected = evaluated(
        material, part.series.labels, part.scores[detector], material.buffer(series)
    )
    display = built["fig-04"].parts[0].display
    assert display.curve.plain_area == pytest.approx(expected["auc_roc"])
    assert display.curve.buffered_area == pytest.approx(expected["range_auc_roc"])
    assert display.surface.volume == pytest.approx(expected["vus_roc"])


def test_two_detectors_have_the_values_of_the_study(built, material):
    for part, example in zip(built["fig-08"].parts, material.examples.compared, strict=False):
        display = part.display
        own = built["fig-08"].table.query("series == @example.series").set_index("measure")
        for name in example.detectors:
            study = material.examples.table.loc[(example.series, name)]
            for measure in NAMES:
                value = display.bars.values[name][measure]
                assert value == own.loc[measure, name] == study[measure], measure
            for kind, curves, surfaces in (
                ("roc", display.roc, display.roc_surface),
                ("pr", display.pr, display.pr_surface),
            ):
                assert curves[name].plain_area == study[f"auc_{kind}"]
                assert curves[name].buffered_area == study[f"range_auc_{kind}"]
                assert surfaces[name].volume == study[f"vus_{kind}"]


def drawn(data):
    """Values that a figure draws, from its data."""
    if isinstance(data, dict):
        for name, one in data.items():
            if name in ("values", "marks", "differences"):
                rows = [row["value"] if isinstance(row, dict) else row for row in one]
                yield from np.ravel(np.array(rows, dtype=float))
            else:
                yield from drawn(one)
    elif isinstance(data, (list, tuple)):
        for one in data:
            yield from drawn(one)


# Figure 13 draws the perturbed values; its table has their z. Figures 4 to 7 have no values.
@pytest.mark.parametrize("key", [key for key in KEYS if key not in ("fig-13", "fig-08")])
def test_drawn_values_are_in_the_table(built, key):
    exhibit = built[key]
    known = np.sort(exhibit.table.select_dtypes("number").to_numpy(float).ravel())
    values = np.array([one for part in exhibit.parts for one in drawn(part.display.to_dict())])
    values = values[np.isfinite(values)]
    assert values.size or key in ("fig-01", "fig-03", "fig-04", "fig-05", "fig-06", "fig-07",
                                  "fig-12", "fig-15")  # fmt: skip
    places = np.clip(np.searchsorted(known, values), 1, len(known) - 1)
    nearest = np.minimum(np.abs(known[places] - values), np.abs(known[places - 1] - values))
    assert nearest.max(initial=0) < 1e-9

"""Figures hold what the results hold; pages show every file that is written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from studies.scored import SOME, make_several

from vuskit.errors import InvalidInputError
from vuskit.report import figures_measures as figures
from vuskit.report.common import markdown_table
from vuskit.report.figures_scenarios import draw_scenarios, draw_sweep
from vuskit.report.studies import write_comparison, write_consistency, write_robustness
from vuskit.studies import (
    compare,
    consistency_study,
    robustness_study,
    scenario_study,
    separability_study,
    summarise,
)


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return robustness_study(several, **SOME)


@pytest.fixture(scope="module")
def separable(several):
    return separability_study(several, count=6, **SOME)


@pytest.fixture(scope="module")
def consistent(several):
    return consistency_study(several, **SOME)


def heights(axis):
    return [bar.get_height() for bar in axis.patches]


def test_bars_are_the_averages(robust):
    axes = draw_axes(figures.draw_averages(robust))
    for axis, kind in zip(axes, ("lag", "noise", "ratio"), strict=True):
        assert heights(axis) == pytest.approx(robust.averages()[kind].to_list())
        assert [label.get_text() for label in axis.get_xticklabels()] == [
            "F", "AUC-PR", "R-AUC-PR", "VUS-PR",
        ]  # fmt: skip


def draw_axes(figure):
    figure.draw_without_rendering()
    return figure.axes


def test_every_data_set_has_its_bars(robust):
    axes = draw_axes(figures.draw_dataset_bars(robust, perturbation="noise"))
    shown = {axis.get_title(): heights(axis) for axis in axes if axis.get_visible()}
    table = robust.by_dataset().loc["noise"]
    assert set(shown) == set(table.index)
    assert shown["mill"] == pytest.approx(table.loc["mill"].to_list())


def test_boxes_are_centred_on_the_mean_of_the_detector(robust):
    centred = robust.centred("plant/s0", "lag")
    assert centred.groupby("detector").mean().to_numpy() == pytest.approx(0, abs=1e-12)
    axes = draw_axes(figures.draw_centred_boxes(robust, "plant/s0"))
    assert len(axes) == 3
    with pytest.raises(InvalidInputError, match="`series` must name one series, got 'nowhere'"):
        figures.draw_centred_boxes(robust, "nowhere")


def test_the_diagram_shows_the_ranks_and_the_bars(robust):
    comparison = robust.compare("lag")
    (axis,) = draw_axes(figures.draw_critical_difference(comparison))
    texts = " ".join(text.get_text() for text in axis.texts)
    for name, rank in comparison.summary["mean_rank"].items():
        assert name in texts
        assert f"({rank:.2f})" in texts
    bars = [line for line in axis.lines if line.get_linewidth() == 1.6]
    assert len(bars) == len(comparison.cliques)
    assert f"n = {comparison.pairs.n}" in axis.get_title()


def test_pairs_z_and_entropies_are_drawn(separable, consistent):
    z, median = draw_axes(figures.draw_z(separable))
    assert heights(z) == pytest.approx(separable.averages()["mean"].to_list())
    assert heights(median) == pytest.approx(separable.averages()["median"].to_list())
    pairs = separable.values[0].notes["pairs"]
    assert len(draw_axes(figures.draw_pairs(separable, "plant/s0"))) == min(len(pairs), 4)
    with pytest.raises(InvalidInputError, match="`series` must name one series with pairs"):
        figures.draw_pairs(separable, "nowhere")
    measures, families = draw_axes(figures.draw_entropies(consistent))
    assert heights(measures) == pytest.approx(consistent.averages()["entropy"].to_list())
    assert heights(families) == pytest.approx(consistent.by_family().to_list())
    (ranks,) = draw_axes(figures.draw_rank_lines(consistent, dataset="mill"))
    assert [line.get_label() for line in ranks.lines] == ["good", "late", "noisy", "useless"]


def test_scenario_figures_hold_all_values():
    result = scenario_study(measures=["f_score", "vus_pr"])
    _, values = draw_axes(draw_scenarios(result))
    np.testing.assert_array_equal(values.images[0].get_array(), result.values)
    curves = [line for axis in draw_axes(draw_sweep(result)) for line in axis.lines]
    drawn = [line.get_ydata() for line in curves if len(line.get_ydata()) > 2]
    np.testing.assert_array_equal(np.column_stack(drawn), result.sweep)


def test_the_scatter_has_a_circle_for_each_measure(robust, separable, consistent):
    summary = summarise(robust, separable, consistent)
    (axis,) = draw_axes(figures.draw_scatter(summary))
    points = np.array([circle.get_offsets()[0] for circle in axis.collections])
    np.testing.assert_allclose(points, summary.scatter()[["deviation", "z"]])
    (table,) = draw_axes(figures.draw_summary(summary))
    np.testing.assert_array_equal(table.images[0].get_array(), summary.ranks)


def test_pages_name_every_picture_and_count_the_undefined(robust, consistent, tmp_path):
    page, *files = write_robustness(robust, tmp_path)
    text = page.read_text()
    for path in files:
        assert path.stat().st_size > 0
        if path.suffix == ".png":
            assert f"({path.name})" in text
    assert "| lag | 960 | 0 |" in text
    assert "No series failed." in text
    page, *files = write_consistency(consistent, tmp_path)
    assert "consistency_rank_table_mill.csv" in {path.name for path in files}


def test_comparison_page_has_effect_sizes(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).random((20, 4)), columns=list("abcd"))
    write_comparison(compare(table), tmp_path)
    pairs = pd.read_csv(tmp_path / "comparison_pairs.csv")
    assert len(pairs) == 6
    assert {"p_value", "rank_biserial", "cliffs_delta", "cohens_d"} <= set(pairs.columns)


def test_tables_in_markdown():
    frame = pd.DataFrame({"a": ["x"], "b": [0.123456], "c": [float("nan")]})
    assert markdown_table(frame) == "| a | b | c |\n| --- | --- | --- |\n| x | 0.123 |  |"

"""The forest plot: data and drawing."""

from __future__ import annotations

import numpy as np
import pytest
from studies.tables import random_table

from vuskit.figures import ForestDisplay, ForestPanel
from vuskit.statistics.comparison import compare_columns


@pytest.mark.parametrize("higher", [True, False])
def test_means_with_their_intervals_best_first(higher):
    table = random_table(0, n=60, k=4)
    found = compare_columns(table, title="VUS-PR", n_resamples=20, higher_is_better=higher)
    (panel,) = found.forest(chance={"VUS-PR": 0.25}).data()["panels"]
    means = table.mean().sort_values(ascending=not higher)
    assert [item["title"] for item in panel["items"]] == [str(name) for name in means.index]
    assert [item["value"] for item in panel["items"]] == pytest.approx(list(means))
    errors = 1.96 * table.std() / np.sqrt(60)
    for item, name in zip(panel["items"], means.index, strict=True):
        assert item["lower"] == pytest.approx(means[name] - errors[name], abs=0.15 * errors[name])
        assert item["upper"] == pytest.approx(means[name] + errors[name], abs=0.15 * errors[name])
    assert (panel["chance"], panel["n"]) == (0.25, 60)


def test_panels_share_the_order_of_the_first():
    values = {"a": 0.5, "b": 0.7, "c": 0.6}
    other = {"b": 0.1, "a": 0.2}
    panels = [
        ForestPanel("VUS-PR", values, values, values, 9, 0.1),
        ForestPanel("delay", other, other, other, 9, higher_is_better=False),
    ]
    display = ForestDisplay(panels).plot()
    second = display.data()["panels"][1]["items"]
    assert [item["title"] for item in second] == ["b", "c", "a"]
    assert np.isnan(second[1]["value"])
    first, last = display.axes_
    assert [text.get_text() for text in first.get_yticklabels()] == ["b", "c", "a"]
    assert len([line for line in first.lines if list(line.get_xdata()) == [0.1, 0.1]]) == 1
    assert len(last.lines) == 1

"""Measures of other papers in a study: computed, saved, and read again."""

from __future__ import annotations

from studies.scored import make_scored

import vuskit
from vuskit.studies import load_study_result, separability_study

EXTRA = [measure.name for measure in vuskit.list_measures() if measure.group == "extra"]


def test_a_study_takes_the_group(tmp_path):
    scored = [make_scored(seed) for seed in (0, 1)]
    chosen = ["extra", vuskit.get_measure("point_adjusted_f_score").with_options(k=0.5)]
    result = separability_study(scored, count=3, measures=chosen, buffer=24, threshold="best")
    assert [measure.name for measure in result.measures] == [
        *EXTRA,
        "point_adjusted_f_score(k=0.5)",
    ]
    path = result.save(tmp_path)
    read = load_study_result(path)
    assert [(one.name, one.group, one.misleading_without_chance) for one in read.measures] == [
        (one.name, one.group, one.misleading_without_chance) for one in result.measures
    ]
    assert read.to_frame().equals(result.to_frame())

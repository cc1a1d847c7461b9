"""Keys: equal work has an equal key, changed work another one."""

from __future__ import annotations

import pytest

from vuskit.bench import Store
from vuskit.bench.expand import expand_plan


def test_an_edited_detector_runs_again(workshop):
    (workshop.base / "mine_edited.py").write_text("def f(values):\n    return values\n")
    workshop.write(detectors=['name = "mine_edited:f"'])
    first = workshop.plan()
    with Store(workshop.folder) as store:
        before = {job.key for job in expand_plan(first, store).jobs}
    (workshop.base / "mine_edited.py").write_text("def f(values):\n    return -values\n")
    from vuskit.bench.identity import _module_version

    _module_version.cache_clear()  # a new process reads the file anew
    with Store(workshop.folder) as store:
        after = {job.key for job in expand_plan(first, store).jobs}
    assert len(before) == len(after) == 2
    assert not before & after


@pytest.mark.parametrize(
    "change",
    [
        {"top": "seeds = [1]"},
        {"detectors": ['name = "misbehaving:fine"\nfactor = 2.0']},
        {"series": '[[series]]\nfamily = "ecg"\nn = 1501\nn_anomalies = 3\nseed = [1, 2]'},
    ],
)
def test_what_decides_the_scores_is_in_the_key(workshop, change):
    with Store(workshop.folder) as store:
        before = {job.key for job in expand_plan(workshop.write().plan(), store).jobs}
        after = {job.key for job in expand_plan(workshop.write(**change).plan(), store).jobs}
    assert len(before) == len(after) == 2
    assert not before & after


def test_labels_are_not_in_the_key(workshop):
    with Store(workshop.folder) as store:
        before = {job.key for job in expand_plan(workshop.write().plan(), store).jobs}
        named = workshop.write(detectors=['name = "misbehaving:fine"\nlabel = "other"'])
        assert {job.key for job in expand_plan(named.plan(), store).jobs} == before

"""Cases of the execution-time study: parameters, generated and real series."""

from __future__ import annotations

import numpy as np
import pytest

from vuskit.errors import InvalidInputError
from vuskit.studies.timing import (
    Setting,
    synthetic_cases,
    timing_study,
)
from vuskit.studies.timing.cases import PARAMETERS, real_cases, settings_of

SMALL = Setting(n_points=400, n_anomalies=3, n_thresholds=20)
PAPERS = ("naive", "opt", "opt_mem")


def test_defaults_and_ranges_are_the_papers():
    assert Setting() == Setting(10, 10, 0, 100_000, 5, 250)
    ranges = {name: (min(p.values), max(p.values)) for name, p in PARAMETERS.items()}
    assert ranges == {
        "n_anomalies": (0, 2000),
        "mean_length": (0, 1000),
        "n_points": (1000, 100_000),
        "std_length": (0, 10),
        "n_thresholds": (2, 1000),
        "max_buffer": (0, 1000),
    }


@pytest.mark.parametrize("quick", [False, True])
def test_one_parameter_varies_at_a_time(quick):
    settings = settings_of(quick=quick)
    assert len(set(settings)) == len(settings)
    assert Setting() in settings
    changed = [setting.differs_in(Setting()) for setting in settings]
    assert all(len(names) <= 1 for names in changed)
    assert {name for names in changed for name in names} == set(PARAMETERS)


def test_every_setting_can_be_generated():
    for case in synthetic_cases(quick=True):
        labels, scores = case.load()
        found = Setting.of(labels, max_buffer=5, n_thresholds=250)
        expected = case.setting.n_anomalies if case.setting.mean_length else 0
        assert (found.n_anomalies, found.n_points) == (expected, case.setting.n_points)
        assert scores.shape == labels.shape


def write_scores(folder, name, labels, scores):
    lines = [f"0.0,{int(label)},{score}" for label, score in zip(labels, scores, strict=True)]
    (folder / name).write_text("\n".join(["value,label,MINE", *lines]) + "\n")


def write_values(folder, name, labels, values):
    lines = [f"{value},{int(label)}" for label, value in zip(labels, values, strict=True)]
    (folder / name).write_text("\n".join(lines) + "\n")


def test_real_cases_read_scores_and_plain_series(tmp_path):
    labels = np.array([0, 1, 1, 0, 0, 1, 0, 0])
    write_scores(tmp_path, "a.csv", labels, np.arange(8) / 10)
    write_values(tmp_path, "b.out", labels, [5.0, 1.0, 9.0, 5.0, 5.0, 4.0, 5.0, 5.0])
    write_values(tmp_path, "c.out", np.zeros(8), np.arange(8))  # nothing to find
    (tmp_path / "broken.out").write_text("1,maybe\n")
    cases = real_cases(tmp_path, buffer=4, thresholds=6)
    assert [case.name for case in cases] == ["a.csv", "b.out"]
    assert cases[0].setting == Setting(2, 1.5, 0.5, 8, 4, 6)
    assert cases[0].load()[1].tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert cases[1].load()[1].tolist() == [0, 4, 4, 0, 0, 1, 0, 0]  # distance from the median
    result = timing_study(cases, contestants=PAPERS, repeats=1)
    assert not result.generated
    assert len(result.samples) == 6


def test_folder_without_a_usable_series(tmp_path):
    write_values(tmp_path, "c.out", np.zeros(8), np.arange(8))
    with pytest.raises(InvalidInputError, match="must hold a series with anomalous and normal"):
        real_cases(tmp_path)

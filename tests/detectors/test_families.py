from __future__ import annotations

import pytest
from detectors.built_in import built_in_detectors

from vuskit.detectors.families import FAMILIES, detector_family


def test_every_detector_of_the_package_has_one_family():
    listed = [name for names in FAMILIES.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(built_in_detectors()) <= set(listed)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("IForest", "density"),
        ("LSTM-AD", "prediction"),
        ("LSTM", "prediction"),
        ("NORMA", "distance"),
        ("Moving z-score", "baseline"),
        ("AE", "prediction"),
        ("aeon", ""),
        ("", ""),
    ],
)
def test_names_of_tables_are_known(name, family):
    assert detector_family(name) == family

"""Detectors are found under any of their names."""

from __future__ import annotations

import pytest

from vuskit.errors import InvalidInputError
from vuskit.studies.base import PUBLISHED_DETECTORS, detector_key, find_detectors

SAVED = ("IFOREST", "IFOREST1", "LOF", "HBOS", "OCSVM", "PCA", "NORMA", "MP", "POLY", "AE", "CNN")


def test_published_detectors_are_those_that_are_there():
    found = find_detectors(["published"], SAVED)
    assert found == ("NORMA", "POLY", "IFOREST", "AE", "OCSVM", "MP", "LOF", "CNN")
    assert find_detectors(["published"], ("mine", "yours")) == ("mine", "yours")
    own = ("norma", "poly", "iforest", "ae", "ocsvm", "mp", "lof", "lstm_ad", "cnn", "pca")
    assert find_detectors(["published"], own) == own[:-1]
    assert len({detector_key(name) for name in PUBLISHED_DETECTORS}) == 9


def test_an_exact_name_wins():
    assert find_detectors(["a-e"], ("AE", "a-e")) == ("a-e",)
    assert find_detectors(["LOF", "lof"], SAVED) == ("LOF",)


def test_a_missing_detector_is_named():
    with pytest.raises(InvalidInputError, match=r"`pairs` must name detectors.*got 'LOFF'.*'LOF'"):
        find_detectors(["LOFF"], SAVED, name="pairs")

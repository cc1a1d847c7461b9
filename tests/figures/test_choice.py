"""Choices of displays: made once, sampled evenly, drawn one at a time."""

from __future__ import annotations

import pytest

from vuskit.errors import InvalidInputError
from vuskit.figures import ChoiceDisplay, SeriesDisplay
from vuskit.figures.base import sampled


def choice(datasets="ab", series=5, detectors=2):
    keys = [
        (f"{dataset}/{number}", f"d{detector}")
        for dataset in datasets
        for number in range(series)
        for detector in range(detectors)
    ]
    scores = [0.1, 0.9, 0.2]
    return ChoiceDisplay(
        ("series", "detector"),
        keys,
        lambda key: SeriesDisplay.from_scores([0, 1, 0], {" ".join(key): scores}),
        title="Many",
    )


def test_items_are_drawn_evenly_from_groups():
    names = [f"{letter}{k}" for letter in "ab" for k in range(5)] + ["c0"]
    found = sampled(names, 6, group=lambda name: name[0])
    assert found == ["a0", "a1", "a2", "b0", "b1", "c0"]
    assert sampled(names, 50) == names


def test_limited_choices_keep_all_detectors_of_a_series():
    few = choice().limited(5)
    assert few.keys == [("a/0", "d0"), ("a/0", "d1"), ("b/0", "d0"), ("b/0", "d1")]
    assert (few.total, few.to_dict()["total"], few.title) == (20, 20, "Many")
    assert choice().limited(100).to_dict()["total"] == 20
    assert len(choice().limited(0).keys) == 2  # never none


def test_what_all_displays_share_is_held_once():
    data = choice(datasets="a", series=1).to_dict()
    assert data["kind"] == "choice"
    assert data["shared"]["events"] == [[1, 2]]
    assert [one["key"] for one in data["choices"]] == [["a/0", "d0"], ["a/0", "d1"]]
    whole = {**data["shared"], **data["choices"][1]["figure"]}
    assert whole == choice().display(("a/0", "d1")).to_dict()


def test_there_must_be_something_to_choose():
    with pytest.raises(InvalidInputError, match="`keys` must hold at least one key, got none"):
        ChoiceDisplay(("series",), [], lambda key: None)

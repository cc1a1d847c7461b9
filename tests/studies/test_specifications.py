"""Specifications: every form, defaults, bare numbers, and errors that say what to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit.errors import InvalidInputError
from vuskit.parameters import Specification, number, whole
from vuskit.studies.perturbations import LAG, NOISE

CROPS = Specification(
    "shares",
    shares={"LOW": (0.01, number(0)), "HIGH": (0.2, number(maximum=1))},
    crops={"N": (None, whole(2))},
    none={},
)


@pytest.mark.parametrize(
    ("given_value", "text"),
    [
        ("crops:21", "crops:21"),
        ("crops:21.0", "crops:21"),
        ("0.05:0.1", "shares:0.05:0.1"),
        ((0.05, 0.1), "shares:0.05:0.1"),
        (0.05, "shares:0.05:0.2"),
        ("shares", "shares:0.01:0.2"),
        (" none ", "none"),
    ],
)
def test_forms_are_written_in_full(given_value, text):
    assert CROPS("ratio", given_value) == text
    assert CROPS("ratio", text) == text


@given(st.floats(-10, 10), st.floats(0, 10))
def test_texts_keep_their_numbers(mean, std):
    mean, std = round(mean, 6), round(std, 6)
    found = NOISE.parse("noise", NOISE("noise", f"normal:{mean!r}:{std!r}"))
    assert found == ("normal", (mean, std))


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("crop:21", "did you mean 'crops'"),
        ("crops", "`N` must be an int >= 2"),
        ("crops:1", "`N` must be an int >= 2"),
        ("crops:2.5", "`N` must be an int >= 2"),
        ("crops:2:3", "write crops:N"),
        ("0.1:x", "`HIGH` must be a number"),
        ("nan", "`ratio` must be shares"),
        ("", "`ratio` must be shares"),
        ((), "`ratio` must be shares"),
        (None, "`ratio` must be shares"),
        (True, "`ratio` must be shares"),
    ],
)
def test_errors_say_what_to_write(wrong, hint):
    with pytest.raises(InvalidInputError, match=r"`ratio` must be .*, got") as caught:
        CROPS("ratio", wrong)
    assert hint in str(caught.value)


def test_a_form_without_bare_numbers_needs_its_name():
    with pytest.raises(InvalidInputError, match="`x` must be a:N"):
        Specification(a={"N": (None, number())})("x", 3)


def test_words_show_what_may_be_left_out():
    assert CROPS.words == "shares[:LOW][:HIGH]|crops:N|none"
    assert LAG.words == "score[:X]|labels[:X]"

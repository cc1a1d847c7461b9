"""Declared parameters: checks, tables, texts, and specifications in short form."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vuskit import InvalidInputError
from vuskit.parameters import (
    Checked,
    Specification,
    flag,
    from_mapping,
    from_texts,
    number,
    one_of,
    optional,
    param,
    params_of,
    several,
    text,
    texts,
    whole,
)
from vuskit.studies.perturbations import LAG, NOISE


@dataclass(frozen=True)
class Walk(Checked):
    folder: str = param(MISSING, text, "Where to walk.")
    steps: int = param(10, whole(1), "Number of steps.", metavar="N", shown=True)
    kinds: tuple[str, ...] = param((), several(one_of("lag", "noise")), "Kinds.")
    share: float | None = param(0.1, optional(number(above=0, maximum=1)))
    scale: str = param("unit", one_of("none", "unit"))
    until: int | str = param("end", whole(0, word="end"))
    loud: bool = param(False, flag)
    other: object = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loud and self.steps > 100:
            raise InvalidInputError("`loud` must be false for more than 100 steps, got true")


@pytest.mark.parametrize(
    ("check", "given", "kept"),
    [
        (whole(1), np.int64(3), 3),
        (whole(0, word="end"), "end", "end"),
        (number(0, 1), np.float32(0.5), 0.5),
        (number(above=0), 2, 2.0),
        (optional(number(0, 1)), None, None),
        (flag, np.bool_(True), True),
        (several(one_of("lag", "noise")), ["noise", "lag"], ("noise", "lag")),
        (several(whole(0)), 5, (5,)),
    ],
)
def test_checks_convert(check, given, kept):
    found = check("x", given)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(
    ("check", "given", "message"),
    [
        (whole(1), 0, "an int >= 1, got 0"),
        (whole(1), True, "an int >= 1, got True"),
        (whole(0, word="end"), "start", "'end' or an int >= 0, got 'start'"),
        (number(0, 1), 1.5, "a number from 0 to 1, got 1.5"),
        (number(0), -1, "a number >= 0, got -1"),
        (number(), "1", "a number, got '1'"),
        (number(above=0), float("inf"), "a number > 0, got inf"),
        (number(above=0, maximum=1), 2, "a number > 0 and <= 1, got 2"),
        (number(0, 1), True, "a number from 0 to 1, got True"),
        (one_of("lag", "noise"), "niose", "one of 'lag', 'noise', got 'niose'; did you mean"),
        (several(whole(0)), -1, "an int >= 0, got -1"),
        (several(text, minimum=1), [], "a list with at least one entry, got []"),
        (optional(whole(2)), 1, "an int >= 2, got 1"),
        (flag, 1, "true or false, got 1"),
        (text, "", "a text that is not empty, got ''"),
    ],
)
def test_checks_name_the_parameter(check, given, message):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(f'`x` must be {message}')}"):
        check("x", given)


def test_an_entry_of_a_list_is_named_by_its_place():
    with pytest.raises(InvalidInputError, match=r"^`x\[1\]` must be one of 'lag', 'noise', got"):
        several(one_of("lag", "noise"))("x", ["lag", "y"])


def test_fields_are_checked_but_not_defaults():
    assert Walk("a", steps=5.0, kinds="lag", share=None) == Walk("a", 5, ("lag",), None)
    with pytest.raises(InvalidInputError, match=r"`steps` must be an int >= 1, got 0"):
        Walk("a", 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"folder": "a", "stesp": 1}, "`walk[0]` has no key 'stesp'; did you mean 'steps'?"),
        ({"folder": "a", "x": 1}, "`walk[0]` has no key 'x'; known keys: folder, steps, kinds"),
        ({"steps": 1}, "`walk[0].folder` must be given, got nothing"),
        ({"folder": "a", "steps": "1"}, "`walk[0].steps` must be an int >= 1, got '1'"),
        ({"folder": "a", "loud": True, "steps": 101}, "`walk[0].loud` must be false for more"),
        (["a"], "`walk[0]` must be a table, got ['a']"),
    ],
)
def test_a_table_names_the_place_of_an_error(given, message):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(message)}"):
        from_mapping(Walk, given, where="walk[0]")


def test_a_table():
    assert from_mapping(Walk, {"folder": "a", "kinds": ["lag"]}) == Walk("a", kinds=("lag",))


def test_texts_of_a_command_line():
    given = ["steps=7", "kinds=lag,noise", "kinds=lag", "share=none", "loud=TRUE", "scale=none"]
    given.append("Other = 5e-1")
    assert from_texts(params_of(Walk), given) == {
        "steps": 7,
        "kinds": ("lag", "noise", "lag"),
        "share": None,
        "loud": True,
        "scale": "none",
        "other": 0.5,
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("steps", "must have the form NAME=VALUE, got 'steps'"),
        ("step=1", "got 'step=1'; did you mean 'steps'?"),
        ("steps=0", "`steps` must be an int >= 1, got 0"),
    ],
)
def test_texts_that_cannot_be_read(given, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        from_texts(params_of(Walk), [given])


def test_notes_show_what_differs():
    assert texts(Walk("a")) == {"folder": "a", "steps": "10"}
    changed = Walk("a", kinds=["lag", "noise"], share=0.25, other=len)
    assert texts(changed) == {
        "folder": "a", "steps": "10", "kinds": "lag,noise", "share": "0.25", "other": "len",
    }  # fmt: skip
    assert texts(Walk("a"), defaults=True) == {
        "folder": "a", "steps": "10", "share": "0.1", "scale": "unit", "until": "end",
        "loud": "False",
    }  # fmt: skip


# -- specifications --------------------------------------------------------------------------------

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

"""The registry of exhibits: numbers, names, and how they are selected."""

from __future__ import annotations

import pytest

from vuskit.errors import InvalidInputError
from vuskit.paper import (
    exhibits,
    list_exhibits,
)
from vuskit.paper.exhibits import select_exhibits


def test_all_exhibits_of_the_paper_are_there():
    keys = [one.key for one in list_exhibits()]
    assert keys == [f"fig-{n:02d}" for n in range(1, 20)] + [f"table-{n}" for n in range(1, 7)]


def test_file_names_are_unique_and_plain():
    stems = [one.stem for one in list_exhibits()]
    assert len(set(stems)) == len(stems)
    assert {"fig-08-quality", "table-3-datasets"} <= set(stems)
    assert all(stem == stem.lower() and " " not in stem for stem in stems)


@pytest.mark.parametrize(
    ("only", "keys"),
    [
        ("fig-8", ["fig-08"]),
        ("fig-08-quality", ["fig-08"]),
        (["table-1", "fig-11, FIG-2"], ["fig-02", "fig-11", "table-1"]),
    ],
)
def test_selection(only, keys):
    assert [one.key for one in select_exhibits(only)] == keys


@pytest.mark.parametrize("only", ["fig-20", "table-0", "fig-08-qualty", "figure 8", " , "])
def test_unknown_names(only):
    with pytest.raises(InvalidInputError, match="`only` must name"):
        select_exhibits(only)


def test_a_number_is_taken_once():
    with pytest.raises(InvalidInputError, match="got fig-01 twice"):
        exhibits.exhibit("fig", 1, "again", title="Again")(lambda material: None)

"""Which neighbours on the scale of mean ranks do not differ: the bars of a diagram."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rank_groups"]


def rank_groups(
    ranks: Mapping[Hashable, float] | pd.Series, p_values: pd.DataFrame, *, alpha: float = 0.05
) -> tuple[tuple[Hashable, ...], ...]:
    """Longest stretches of the scale of mean ranks within which no pair differs significantly.

    A group holds everything between its first and its last member, so that a bar from one to the
    other says nothing wrong. Two names that do not differ are in no common group where something
    between them differs from one of them, or from something else between them: the p-values tell
    about every pair. Names of the same mean rank are together in a group or not in it.

    Parameters
    ----------
    ranks : mapping or pandas.Series
        Mean rank by name.
    p_values : pandas.DataFrame
        Names against names.
    alpha : float, default=0.05
        Pairs with a p-value below it differ.

    Returns
    -------
    tuple of tuples
        Groups of two or more, each in the order of the ranks, the best group first; none is part
        of another.

    Examples
    --------
    >>> import pandas as pd
    >>> p = pd.DataFrame([[1, 0.5, 0.01], [0.5, 1, 0.3], [0.01, 0.3, 1]], list("abc"), list("abc"))
    >>> rank_groups({"a": 1.2, "b": 1.9, "c": 2.9}, p)
    (('a', 'b'), ('b', 'c'))

    Here a and c do not differ, but b lies between them and differs from c:

    >>> p = pd.DataFrame([[1, 0.5, 0.2], [0.5, 1, 0.01], [0.2, 0.01, 1]], list("abc"), list("abc"))
    >>> rank_groups({"a": 1.2, "b": 1.9, "c": 2.9}, p)
    (('a', 'b'),)
    """
    place = {name: float(rank) for name, rank in dict(ranks).items()}
    order = sorted(place, key=lambda name: place[name])
    levels = [list(names) for _, names in groupby(order, key=lambda name: place[name])]
    cells = p_values.T.to_dict()
    groups: list[tuple[Hashable, ...]] = []
    furthest = 0
    for start in range(len(levels)):
        group: list[Hashable] = []
        stop = start
        while stop < len(levels) and _none_differs(cells, group, levels[stop], alpha):
            group += levels[stop]
            stop += 1
        # One that ends where an earlier one does is part of it.
        if stop > furthest and len(group) > 1:
            groups.append(tuple(group))
        furthest = max(furthest, stop)
    return tuple(groups)


def _none_differs(
    cells: Mapping[Hashable, Mapping[Hashable, float]],
    group: list[Hashable],
    more: list[Hashable],
    alpha: float,
) -> bool:
    """Whether names that join a group differ neither from it nor from each other."""
    return not any(
        cells[name][other] < alpha
        for place, name in enumerate(more)
        for other in [*group, *more[:place]]
    )

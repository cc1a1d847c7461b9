"""The critical-difference diagram in text."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vuskit.studies import TableComparison

__all__ = ["MOST_GROUPS", "rank_diagram"]

_NAME_ROOM = 24
MOST_GROUPS = 12


def rank_diagram(comparison: TableComparison, width: int) -> str:
    """Mean ranks with their intervals on a scale, and a bar for each group of the comparison.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit.studies import compare
    >>> rows = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.7, 0.5, 0.3], [0.9, 0.4, 0.4]]
    >>> print(rank_diagram(compare(pd.DataFrame(rows, columns=list("abc"))), 40))
    mean rank  1             2             3
               |-------------|-------------|
    a    1.00  o
    b    2.12                (-o--)
    c    2.88                         (--o-)
    group 1    ===========================
    """
    ranks = comparison.to_frame()
    names = [_shortened(name) for name in ranks["name"]]
    label = max(len("mean rank"), max(map(len, names)) + 6)
    scale = _Scale(len(ranks), width - label - 2)
    lines = [f"{'mean rank':<{label}}  {scale.numbers()}", f"{'':<{label}}  {scale.axis()}"]
    for name, row in zip(names, ranks.itertuples(index=False), strict=True):
        drawn = scale.interval(row.lower, row.mean_rank, row.upper)
        lines.append(f"{name:<{label - 5}}{row.mean_rank:5.2f}  {drawn}")
    by_name = dict(zip(ranks["name"], ranks["mean_rank"], strict=True))
    for number, group in enumerate(comparison.groups[:MOST_GROUPS], start=1):
        places = [by_name[name] for name in group]
        lines.append(f"{f'group {number}':<{label}}  {scale.bar(min(places), max(places))}")
    return "\n".join(line.rstrip() for line in lines)


def _shortened(name: Hashable) -> str:
    text = str(name)
    return text if len(text) <= _NAME_ROOM else text[: _NAME_ROOM - 1] + "~"


class _Scale:
    """Ranks from 1 to the number of names, over some columns of text."""

    def __init__(self, highest: int, width: int) -> None:
        self.highest = highest
        self.width = max(width, 12)

    def place(self, rank: float) -> int:
        return round((rank - 1) / max(self.highest - 1, 1) * (self.width - 1))

    def ticks(self) -> list[int]:
        step = math.ceil(self.highest / (self.width / 5))
        return list(range(1, self.highest + 1, step))

    def numbers(self) -> str:
        line = ""
        for rank in self.ticks():
            line = line.ljust(self.place(rank)) + str(rank)
        return line

    def axis(self) -> str:
        marks = {self.place(rank) for rank in self.ticks()}
        return "".join("|" if column in marks else "-" for column in range(self.width))

    def interval(self, lower: float, middle: float, upper: float) -> str:
        line = [" "] * self.width
        first, last = self.place(lower), self.place(upper)
        line[first : last + 1] = "-" * (last - first + 1)
        line[first], line[last] = "(", ")"
        line[self.place(middle)] = "o"
        return "".join(line)

    def bar(self, first: float, last: float) -> str:
        start, stop = self.place(first), self.place(last)
        return " " * start + "=" * (stop - start + 1)

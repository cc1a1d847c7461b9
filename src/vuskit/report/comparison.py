"""Comparison of detectors as text, LaTeX and plain data: verdict, means, ranks, all pairs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vuskit._util.tables import TableLayout
from vuskit.bench import Run
from vuskit.figures import ForestDisplay
from vuskit.measures.registry import Measure
from vuskit.report.measure_ranks import MeasureRanks
from vuskit.report.pairs import PairTable
from vuskit.report.publication import PublicationTable, chance_by_series, publication_table
from vuskit.report.verdict import Verdict, statement, verdict_of
from vuskit.statistics.bayes import BayesianTest
from vuskit.statistics.comparison import TableComparison
from vuskit.statistics.results import Results
from vuskit.studies import BufferDependence

if TYPE_CHECKING:
    import pandas as pd

UNITS = {"series": "series", "dataset": "data sets"}
"""What a row of a comparison is, in the plural."""

_NAME_ROOM = 24
_MOST_GROUPS = 12
_DRAWS = 20  # random scores of a series
_RANDOM_POINTS = 2_000_000  # of all random scores, unless one of each series has more
_MOST_POINTS = 20_000_000  # of all series
_PANELS = 2  # measures of the forest plot


@dataclass(frozen=True, eq=False)
class ComparisonReport:
    """Everything that ``vuskit compare`` shows.

    Attributes
    ----------
    comparisons : dict
        Comparisons by name of the measure; the verdict is about the first.
    means : PublicationTable or None
        Means by measure.
    by_buffer : BufferDependence or None
        Ranks with other buffers.
    bayesian : BayesianTest or None
        Bayesian test of all pairs.
    chance : dict
        Means of random scores by title of the measure.
    unit : {"series", "dataset"}
        What a row is.
    """

    comparisons: Mapping[str, TableComparison]
    means: PublicationTable | None = None
    by_buffer: BufferDependence | None = None
    bayesian: BayesianTest | None = None
    chance: Mapping[str, float] = field(default_factory=dict)
    unit: str = "series"

    @property
    def found(self) -> TableComparison:
        """Comparison by the first measure."""
        return next(iter(self.comparisons.values()))

    @cached_property
    def by_measure(self) -> MeasureRanks | None:
        """Ranks by measure, if there are several."""
        return MeasureRanks(self.comparisons) if len(self.comparisons) > 1 else None

    @property
    def forest(self) -> ForestDisplay:
        """Means by the first measures, with intervals."""
        others = list(self.comparisons.values())[1:_PANELS]
        return self.found.forest(*others, chance=self.chance)

    @cached_property
    def verdict(self) -> Verdict:
        """What the comparison shows, in sentences."""
        index = self.found.table.index
        datasets = None
        if "dataset" in index.names:
            names = map(str, index.get_level_values("dataset"))
            datasets = dict(zip(index, names, strict=True))
        return verdict_of(
            self.found,
            chance=self.chance.get(self.found.title),
            datasets=datasets,
            by_measure=None if self.by_measure is None else self.by_measure.by_title,
            by_buffer=None if self.by_buffer is None else self.by_buffer.by_buffer,
            unit=UNITS[self.unit],
        )

    @property
    def pairs(self) -> PairTable:
        """All pairs as a table."""
        return PairTable(self.found, self.bayesian)

    @property
    def tables(self) -> list[Any]:
        """All tables."""
        several = (self.means, self.found, self.pairs, self.by_measure, self.by_buffer)
        return [one for one in several if one is not None]

    @property
    def page_tables(self) -> list[Any]:
        """Return the tables of the page, which draws the matrix of all pairs itself."""
        leader = self.pairs.leader_layout()
        several = (self.means, self.found, leader, self.by_measure, self.by_buffer)
        return [one for one in several if one is not None]

    @property
    def statement(self) -> str:
        """Return a paragraph for a paper."""
        notes = () if self.means is None else self.means.notes
        details = " ".join(note for note in notes if note.startswith(("Settings", "Buffer")))
        return statement(self.verdict, self.found, unit=UNITS[self.unit], details=details)

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, width: int | None = None
    ) -> str:
        """Return the tables; caption and label belong to the first."""
        first, *others = self.tables
        parts = [first.to_latex(caption=caption, label=label, width=width)]
        return "\n\n".join([*parts, *(one.to_latex(width=width) for one in others)])

    def to_text(self, width: int) -> str:
        """Return verdict, tables, ranks and tests as text."""
        found = self.found
        groups = ["Groups of neighbors without a significant difference:"]
        groups += [
            _filled(f"{number}: {', '.join(map(str, group))}", width, "  ")
            for number, group in enumerate(found.groups[:_MOST_GROUPS], start=1)
        ]
        if len(found.groups) > _MOST_GROUPS:
            groups.append(f"  and {len(found.groups) - _MOST_GROUPS} more: see --json")
        if not found.groups:
            groups = ["No groups: all neighbors differ significantly."]
        if found.global_test is not None and not found.global_test.significant:
            groups = ["No groups: Friedman's test finds no difference, so no pair differs."]
        unjoined = found.unjoined_text.strip()
        others = [one.to_text(width) for one in (self.by_measure, self.by_buffer) if one]
        return "\n".join(
            [
                *(_filled(text, width) for text in self.verdict.sentences.values()),
                "",
                *([] if self.means is None else [self.means.to_text(width), ""]),
                f"Ranks by {found.title} ({'higher' if found.higher_is_better else 'lower'} is "
                f"better), {found.rows_used}",
                TableLayout(*_rows(found)).to_text(width),
                "",
                rank_diagram(found, width),
                "",
                *(_filled(text, width) for text in found.tests),
                *groups,
                *(
                    [_filled(unjoined.replace("No bar joins", "No group contains"), width)]
                    * bool(unjoined)
                ),
                "",
                "\n\n".join([self.pairs.to_text(width), *others]),
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        found, pairs = self.found, self.found.pairs
        return {
            "measure": found.title,
            "higher_is_better": found.higher_is_better,
            "verdict": self.verdict.to_dict(),
            "statement": self.statement,
            "rows": pairs.n,
            "rows_dropped": pairs.n_dropped,
            "rows_in_means": found.n_means,
            "alpha": pairs.alpha,
            "test": pairs.test,
            "correction": pairs.correction,
            "critical_difference": pairs.critical_difference,
            "smallest_p_value": pairs.smallest_p_value,
            "rows_needed": pairs.rows_needed,
            "friedman": found.global_test,
            "detectors": found.to_frame(),
            "pairs": found.pairs_frame(),
            "groups": found.groups,
            "unjoined": found.unjoined,
            "bayesian": self.bayesian,
            "measures": [] if self.by_measure is None else self.by_measure.to_records(),
            "cells": [] if self.means is None else self.means.cells,
            "buffers": None if self.by_buffer is None else self.by_buffer.to_frame(),
        }


def means_of(
    results: Results, measures: Mapping[str, Measure], detectors: Iterable[str], **options: Any
) -> PublicationTable:
    """Return the table of means of some measures and detectors."""
    rows: pd.DataFrame = results.frame[results.frame["measure"].isin(list(measures))]
    titles = {name: one.title for name, one in measures.items()}
    higher = {name: one.higher_is_better for name, one in measures.items()}
    return publication_table(
        rows.assign(
            measure_title=rows["measure"].map(titles),
            higher_is_better=rows["measure"].map(higher),
        ),
        measures=list(measures),
        detectors=list(detectors),
        columns="measure" if len(measures) > 1 else None,
        **options,
    )


def chance_levels(
    run: Run, settings: str, comparisons: Mapping[str, TableComparison], draws: int | None = None
) -> tuple[dict[str, float], list[str]]:
    """Return means of random scores on the rows of the first comparisons, by title.

    Without `draws`, very long runs have none. The list says why measures have no level.
    """
    compared = dict(list(comparisons.items())[:_PANELS])
    points = sum(one.n_points for one in run.series())
    if draws is None and points > _MOST_POINTS:
        return {}, []
    draws = draws or max(1, min(_DRAWS, _RANDOM_POINTS // max(points, 1)))
    levels, reasons = chance_by_series(run, settings, list(compared), draws)
    means = {}
    for measure, one in compared.items():
        rows: dict[Hashable, list[float]] = {}
        for (dataset, series, of), level in levels.items():
            if of == measure:
                row = dataset if one.table.index.nlevels == 1 else (dataset, series)
                rows.setdefault(row, []).append(level)
        known = [sum(rows[row]) / len(rows[row]) for row in one.table.index if row in rows]
        if known:
            means[one.title] = sum(known) / len(known)
    return means, list(reasons.values())


def _filled(text: str, width: int, indent: str = "") -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _rows(found: TableComparison) -> tuple[list[str], list[list[str]]]:
    header = ["detector", "median", "mean rank", "95% interval"]
    rows = [
        [
            str(row.name),
            "" if math.isnan(row.median) else f"{row.median:.3f}",
            f"{row.mean_rank:.2f}",
            f"{row.lower:.2f} - {row.upper:.2f}",
        ]
        for row in found.to_frame().itertuples(index=False)
    ]
    return header, rows


def rank_diagram(comparison: TableComparison, width: int) -> str:
    """Draw mean ranks with intervals on a scale, and a bar for each group.

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
    for number, group in enumerate(comparison.groups[:_MOST_GROUPS], start=1):
        places = [by_name[name] for name in group]
        lines.append(f"{f'group {number}':<{label}}  {scale.bar(min(places), max(places))}")
    return "\n".join(line.rstrip() for line in lines)


def _shortened(name: Hashable) -> str:
    text = str(name)
    return text if len(text) <= _NAME_ROOM else text[: _NAME_ROOM - 1] + "~"


class _Scale:
    """Scale of ranks from 1 to the number of detectors, over some columns of text."""

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

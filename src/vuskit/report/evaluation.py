"""One series, some scores, all their measures: what tables and the page are made from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit import __version__
from vuskit.inputs import check_labels
from vuskit.measures.breakdown import EventTable, events
from vuskit.measures.chance import ChanceLevel, chance_of
from vuskit.measures.registry import Measure
from vuskit.measures.results import Comparison, text_table
from vuskit.measures.thresholds import ThresholdRule
from vuskit.periods import BufferChoice

__all__ = [
    "RECORD_FIELDS",
    "EvaluationReport",
    "folded_tables",
    "latex_table",
    "latex_tabular",
    "latex_text",
    "plain_table",
]

SCHEMA = "vuskit-evaluation-1"
RECORD_FIELDS = (
    "score",
    "measure",
    "title",
    "value",
    "chance",
    "adjusted",
    "buffer",
    "thresholds",
    "definition",
    "step",
    "side",
)


@dataclass(frozen=True)
class EvaluationReport:
    """Scores of one series, evaluated.

    Attributes
    ----------
    name : str
        Of the series; mostly its file.
    labels : ndarray of bool
        One per point.
    values : ndarray or None
        The series itself.
    scores : dict of str to ndarray
        By name.
    table : Comparison
        The measures.
    buffer : BufferChoice
        The buffer and why.
    threshold : str, number or callable
        Rule of the threshold-based measures.
    draws : int
        Random scores behind the chance level; 0 leaves it out.
    """

    name: str
    labels: NDArray[np.bool_]
    values: NDArray[np.float64] | None
    scores: dict[str, NDArray[np.float64]]
    table: Comparison
    buffer: BufferChoice
    threshold: ThresholdRule = "sigma"
    draws: int = 20

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What was computed."""
        return self.table.measures

    @cached_property
    def chance(self) -> ChanceLevel | None:
        """Values of random scores; None if they were not wanted."""
        if not self.draws:
            return None
        return chance_of(self.table._evaluator, self.draws, n_predicted=self.table.n_predicted)

    @cached_property
    def adjusted(self) -> dict[str, dict[str, float]] | None:
        """Values set against chance, by score and measure."""
        if self.chance is None:
            return None
        return {name: self.chance.adjust(values) for name, values in self.table.items()}

    @cached_property
    def events(self) -> dict[str, EventTable]:
        """Which anomaly each score found, with the buffer of the evaluation."""
        return {
            name: events(
                self.labels,
                score,
                buffer=self.table.buffer,
                side=self.table.side,
                threshold=self.threshold,
            )
            for name, score in self.scores.items()
        }

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """First point of each anomaly, and one past its last."""
        checked = check_labels(self.labels)
        return list(zip(checked.starts.tolist(), checked.stops.tolist(), strict=True))

    def best(self, measure: Measure) -> set[str]:
        """Scores with the best value of a measure; none if all values are alike."""
        values = {name: self.table[name][measure.name] for name in self.table}
        defined = {value for value in values.values() if not math.isnan(value)}
        if len(defined) < 2:
            return set()
        top = max(defined) if measure.higher_is_better else min(defined)
        return {name for name, value in values.items() if value == top}

    def records(self) -> Iterator[tuple[Any, ...]]:
        """One row per score and measure, see ``RECORD_FIELDS``; None where there is no value."""
        for name, values in self.table.items():
            for measure in self.measures:
                yield (
                    name,
                    measure.name,
                    measure.title,
                    values[measure.name],
                    None if self.chance is None else self.chance.mean[measure.name],
                    None if self.adjusted is None else self.adjusted[name][measure.name],
                    self.table.buffer,
                    self.table.thresholds,
                    self.table.definition,
                    self.table.step,
                    self.table.side,
                )

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found, as plain data; ``schemas/evaluation.json`` describes it."""
        chance = self.chance
        return {
            "schema": SCHEMA,
            "vuskit": __version__,
            "series": {
                "name": self.name,
                "points": int(self.labels.size),
                "anomalies": len(self.bounds),
                "anomalous_points": int(self.labels.sum()),
            },
            "settings": {
                "buffer": self.table.buffer,
                "buffer_strategy": self.buffer.strategy,
                "buffer_reason": self.buffer.reason,
                "thresholds": self.table.thresholds,
                "definition": self.table.definition,
                "step": self.table.step,
                "side": self.table.side,
                "threshold": self.threshold
                if isinstance(self.threshold, (str, float, int))
                else repr(self.threshold),
                "k": self.table.k,
            },
            "chance": None if chance is None else {"draws": chance.draws, "seed": chance.seed},
            "measures": [
                {
                    "name": measure.name,
                    "title": measure.title,
                    "family": measure.family,
                    "chance": None if chance is None else chance.mean[measure.name],
                    "chance_std": None if chance is None else chance.std[measure.name],
                }
                for measure in self.measures
            ],
            "scores": [
                {
                    "name": name,
                    "values": values.to_dict(),
                    "adjusted": None if self.adjusted is None else self.adjusted[name],
                }
                for name, values in self.table.items()
            ],
        }


def plain_table(report: EvaluationReport, *, width: int = 80) -> str:
    """Lay the measures out as text: values and chance, then values set against chance."""
    names = list(report.table)
    if len(names) == 1:
        return "\n".join([_single(report, names[0]), *_footnotes(report)])
    chance, adjusted = report.chance, report.adjusted
    rows = []
    for measure in report.measures:
        values = [f"{report.table[name][measure.name]:.3f}" for name in names]
        extra = [] if chance is None else [f"{chance.mean[measure.name]:.3f}"]
        rows.append([measure.title, *values, *extra])
    parts = folded_tables(["measure", *names] + ["chance"] * (chance is not None), rows, width)
    if adjusted is not None:
        rows = [[m.title, *(f"{adjusted[n][m.name]:.3f}" for n in names)] for m in report.measures]
        parts += folded_tables(["adjusted", *names], rows, width)
    return "\n".join(["\n\n".join(parts), *_footnotes(report)])


def _single(report: EvaluationReport, name: str) -> str:
    header, columns = ["measure", name], [report.table[name].to_dict()]
    if report.chance is not None and report.adjusted is not None:
        header += ["chance", "adjusted"]
        columns += [report.chance.mean, report.adjusted[name]]
    return text_table(
        header,
        [[m.title, *(f"{column[m.name]:.4f}" for column in columns)] for m in report.measures],
    )


def _footnotes(report: EvaluationReport) -> list[str]:
    notes = [f"({report.table.settings})"]
    if report.chance is not None:
        notes.append(f"(chance: mean of {report.chance.draws} random scores)")
    return notes


def folded_tables(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    r"""Tables of as many columns as the width holds, each with the first column.

    Examples
    --------
    >>> print(*folded_tables(["name", "a", "b"], [["x", "1", "2"]], width=8), sep="\n")
    name  a
    x     1
    name  b
    x     2
    """
    sizes = [2 + max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    first = sizes[0] - 2
    tables, start = [], 1
    while start < len(sizes):
        stop = start + 1
        while stop < len(sizes) and first + sum(sizes[start : stop + 1]) <= width:
            stop += 1
        body = [[row[0], *row[start:stop]] for row in rows]
        tables.append(text_table([header[0], *header[start:stop]], body))
        start = stop
    return tables


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{letter: "\\" + letter for letter in "&%$#_{}"},
    }
)


def latex_text(text: str) -> str:
    r"""Write a text so that LaTeX shows it as it is.

    Examples
    --------
    >>> print(latex_text("a_b < 50% | c"))
    a\_b \textless{} 50\% \textbar{} c
    """
    return text.translate(_LATEX)


def latex_tabular(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    notes: Sequence[str] = (),
    left: int = 1,
) -> str:
    r"""Lay out a LaTeX table (package booktabs); the first column is text, the others LaTeX.

    As many columns as `left` says are flush left, the others flush right.

    Examples
    --------
    >>> print(latex_tabular(["a_b", "x"], [["50%", "0.1"]], notes=["made up"]))
    % made up
    \begin{tabular}{lr}
    \toprule
    a\_b & x \\
    \midrule
    50\% & 0.1 \\
    \bottomrule
    \end{tabular}
    """
    lines = [[latex_text(cell) for cell in header]]
    lines += [[latex_text(row[0]), *row[1:]] for row in rows]
    first, *rest = [" & ".join(line) + r" \\" for line in lines]
    return "\n".join(
        [
            *(f"% {' '.join(note.split())}" for note in notes),
            rf"\begin{{tabular}}{{{'l' * left}{'r' * (len(header) - left)}}}",
            r"\toprule",
            first,
            r"\midrule",
            *rest,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def latex_table(report: EvaluationReport) -> str:
    """Lay the measures out as a LaTeX table (package booktabs), the best value of each bold."""
    names = list(report.table)
    chance = report.chance
    rows = []
    for measure in report.measures:
        best = report.best(measure)
        texts = {name: f"{report.table[name][measure.name]:.3f}" for name in names}
        cells = [rf"\textbf{{{text}}}" if name in best else text for name, text in texts.items()]
        extra = [] if chance is None else [f"{chance.mean[measure.name]:.3f}"]
        rows.append([measure.title, *cells, *extra])
    header = ["measure", *names] + ["chance"] * (chance is not None)
    return latex_tabular(header, rows, notes=[report.name, *_footnotes(report)])

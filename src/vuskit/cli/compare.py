"""``vuskit compare``: which detectors differ significantly, from tables of results."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.tables import TableLayout, frame_csv
from vuskit._util.text import escape_latex
from vuskit.cli._options import (
    FILE,
    MEASURES,
    OUTPUT,
    AsCsv,
    AsJson,
    AsLatexFiles,
    AsMarkdown,
    Caption,
    Chance,
    Detectors,
    Exclude,
    Html,
    LatexWidth,
    Spread,
    TableLabel,
    TableMeasures,
    Unit,
    flag,
    option,
    output_option,
    split_list,
)
from vuskit.cli._output import (
    atomic_file,
    atomic_folder,
    chosen_format,
    emit,
    say,
    table_forms,
    terminal_width,
    wrapped,
    write,
    write_file,
)
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    from vuskit.report.measure_ranks import MeasureRanks
    from vuskit.report.pairs import PairTable
    from vuskit.report.publication import PublicationTable
    from vuskit.report.verdict import Verdict
    from vuskit.statistics.bayes import BayesianTest
    from vuskit.studies import BufferDependence, TableComparison

_FIGURES = (".pdf", ".svg", ".png")
_NAME_ROOM = 24
_MOST_GROUPS = 12
_UNITS = {"series": "series", "dataset": "data sets"}
_DRAWS = 20  # random scores of a series
_RANDOM_POINTS = 2_000_000  # of all random scores, unless one of each series has more
_MOST_POINTS = 20_000_000  # of all series


def compare(
    table: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE...", help="Run folders, plans, packs, csv or parquet files."),
    ],
    measure: TableMeasures = None,
    detector: Detectors = None,
    exclude: Exclude = None,
    settings: Annotated[
        str | None, option(MEASURES, "TEXT", "Settings to compare, if the run has several.")
    ] = None,
    unit: Unit = "series",
    test: Annotated[
        str,
        option(MEASURES, "NAME", "Test of pairs: wilcoxon (Holm-corrected) or nemenyi."),
    ] = "wilcoxon",
    alpha: Annotated[float, option(MEASURES, "X", "Significance level.", min=0, max=1)] = 0.05,
    missing: Annotated[
        str,
        option(MEASURES, "RULE", "Series without some values: drop, worst (rank last) or raise."),
    ] = "drop",
    lower: Annotated[bool, flag("--lower", "Lower values are better.", MEASURES)] = False,
    buffers: Annotated[
        str | None,
        option(
            MEASURES,
            "X,X,...",
            "Also rank with multiples of each buffer, such as 0.5,1,2. Needs a run or a pack.",
        ),
    ] = None,
    rope: Annotated[
        float | None,
        option(
            MEASURES,
            "X",
            "Also run the Bayesian signed-rank test; differences up to X count as equal.",
            min=0,
        ),
    ] = None,
    chance: Chance = None,
    spread: Spread = "std",
    statement: Annotated[
        bool,
        flag("--statement", "Write only a paragraph for a paper; with --latex, in LaTeX.", OUTPUT),
    ] = False,
    caption: Caption = None,
    table_label: TableLabel = None,
    width: LatexWidth = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatexFiles = False,
    as_markdown: AsMarkdown = False,
    html: Html = None,
    figure: Annotated[
        Path | None,
        option(OUTPUT, FILE, "Save the figures to .pdf, .svg or .png files of this name."),
    ] = None,
    output: Annotated[
        Path | None, output_option("FOLDER", "tables, diagram and page. Default: nowhere.")
    ] = None,
) -> None:
    """Compare detectors over series: verdict, means, ranks, tests, all pairs.

    A table has one row per series and one column per detector; or the columns
    series, detector, and one per measure. Several tables are compared on their
    common series.

    Example: vuskit compare results.csv --figure ranks.pdf
    """
    from vuskit.bench._leaderboard import AVERAGES
    from vuskit.report.measure_ranks import MeasureRanks
    from vuskit.report.publication import SPREADS, publication_table
    from vuskit.report.verdict import verdict_of
    from vuskit.statistics.comparison import compare_columns
    from vuskit.statistics.matching import read_sources

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    check_choice("unit", unit, AVERAGES)
    check_choice("spread", spread, SPREADS)
    if figure is not None and figure.suffix.lower() not in _FIGURES:
        raise InvalidInputError(
            f"`figure` must be a file that ends in {', '.join(_FIGURES)}, got {str(figure)!r}"
        )
    factors = None if buffers is None else _factors(table, buffers)
    named = split_list(measure) or []
    results, notes = read_sources(table, measure=named[0] if named else None, settings=settings)
    for note in notes:
        say(note)
    main, why = results.chosen_measure(named[0] if named else None)
    shown = [main, *(results.chosen_measure(name)[0] for name in named[1:])]
    if not named and main == "vus_pr" and results.has_values("vus_roc"):
        shown.append("vus_roc")
    if why:
        say(why)
    if unit == "dataset":
        say("rows: data sets, each the mean of its series")
    selecting: dict[str, Any] = {
        "detectors": detector or (),
        "excluded": exclude or (),
        "by": unit,
        "missing": missing,
    }
    chosen = results.select(main, **selecting)
    if chosen.series < 2:
        raise InvalidInputError(
            f"`TABLE` must hold at least 2 {_UNITS[unit]} to compare, got {chosen.series}; for one "
            "series, vuskit evaluate gives values and --interval 0.95, but no test"
        )
    if chosen.left_out:
        say(chosen.left_out_text)
    if chosen.empty and missing == "drop":
        say(f"left out, without any value: {', '.join(chosen.empty)}")
    if chosen.common < chosen.series:
        say(chosen.series_used(missing))
    if "settings" in results.frame.columns:  # several are an error unless one was chosen
        settings = str(results.frame["settings"].iloc[0])
        say(f"settings: {settings}")
    measures = {name: results.measure(name) for name in shown}
    if lower:
        measures = {name: replace(one, higher_is_better=False) for name, one in measures.items()}
    compared = {
        name: compare_columns(
            (chosen if name == main else results.select(name, **selecting)).table,
            title=one.title,
            higher_is_better=one.higher_is_better,
            test=test,
            alpha=alpha,
            missing=missing,
        )
        for name, one in measures.items()
    }
    found = compared[main]
    by_measure = MeasureRanks(compared) if len(compared) > 1 else None
    means = None
    if chosen.common:
        rows = results.frame[results.frame["measure"].isin(shown)]
        means = publication_table(
            rows.assign(
                measure_title=rows["measure"].map({k: one.title for k, one in measures.items()}),
                higher_is_better=rows["measure"].map(
                    {name: one.higher_is_better for name, one in measures.items()}
                ),
            ),
            measures=shown,
            detectors=list(chosen.counts),
            spread=spread,
            rank=unit,
            by=unit,
            columns="measure" if len(shown) > 1 else None,
        )
    ranks = None
    if factors is not None:
        ranks = _ranks_by_buffer(table[0], factors, main, found, settings, alpha=alpha, test=test)
    drawn = dict(list(compared.items())[:2])  # the measures of the forest plot
    levels = {} if chance == 0 else _chance(table, settings or "", drawn, chance)
    verdict = verdict_of(
        found,
        chance=levels.get(found.title),
        datasets=_datasets(found),
        by_measure=None if by_measure is None else by_measure.by_title,
        by_buffer=None if ranks is None else ranks.by_buffer,
        unit=_UNITS[unit],
    )
    bayesian = None if rope is None else found.bayesian(rope=rope)
    answer = _Answer(found, verdict, means, by_measure, ranks, bayesian, unit)
    if statement:
        if form not in ("table", "latex"):
            raise InvalidInputError(
                f"`--statement` must be used alone or with --latex, got --{form}"
            )
        write(
            wrapped(answer.statement, indent="")
            if form == "table"
            else escape_latex(answer.statement)
        )
        return
    emit(
        form,
        answer.content(),
        text=answer.to_text,
        csv=lambda: frame_csv(found.to_frame()),
        latex=lambda: answer.to_latex(caption=caption, label=table_label, width=width),
        markdown=table_forms(*answer.tables)["markdown"],
    )
    if ranks is not None:
        for line in [f"warning: {one}" for one in ranks.warnings] or [ranks.verdict]:
            say(line)
    forest = found.forest(*list(drawn.values())[1:], chance=levels)
    if html is not None:
        from vuskit.report.page.comparison import comparison_page_html

        page = comparison_page_html(found, answer.page_tables, verdict=verdict, forest=forest)
        write_file(html, page)
        say(f"page: {html}")
    if figure is not None:
        displays: dict[str, Any] = {
            "": found.figure(),
            "_means": forest,
            "_pairs": found.matrix(),
        }
        if by_measure is not None:
            displays["_measures"] = by_measure.figure()
        for suffix, display in displays.items():
            place = figure.with_stem(figure.stem + suffix)
            with atomic_file(place) as temporary:
                display.save(temporary)
            say(f"figure: {place}")
    if output is not None:
        _write_folder(found, verdict, ranks, output, latex=as_latex)


def _factors(tables: list[Path], text: str) -> list[float]:
    """Return the multiples of the buffer; only runs have the scores that they need."""
    from vuskit.bench import Run

    if len(tables) > 1 or not Run(tables[0]).exists:
        raise InvalidInputError(
            "`buffers` needs scores: give one run folder, plan or pack, got "
            f"{', '.join(repr(str(one)) for one in tables)}; saved scores become a run with: "
            "vuskit evaluate FOLDER --output RUN"
        )
    try:
        return [float(one) for one in text.split(",")]
    except ValueError:
        raise InvalidInputError(
            f"`buffers` must be numbers separated by commas, such as 0.5,1,2, got {text!r}"
        ) from None


def _ranks_by_buffer(
    source: Path,
    factors: list[float],
    measure: str,
    found: TableComparison,
    settings: str | None,
    **options: Any,
) -> BufferDependence:
    from vuskit.bench import Run
    from vuskit.studies import buffer_dependence

    return buffer_dependence(
        Run(source).folder,
        factors=factors,
        measure=measure,
        settings=settings,
        detectors=[str(name) for name in found.summary.index],
        **options,
    )


def _write_folder(
    found: TableComparison,
    verdict: Verdict,
    ranks: BufferDependence | None,
    folder: Path,
    *,
    latex: bool,
) -> None:
    from vuskit.report.page.studies import write_comparison

    with atomic_folder(folder) as temporary:
        page = write_comparison(found, temporary, verdict=verdict, latex=latex)[0].name
        if ranks is not None:
            (temporary / "buffers.csv").write_text(frame_csv(ranks.to_frame()), encoding="utf-8")
            if latex:
                (temporary / "buffers.tex").write_text(ranks.to_latex() + "\n", encoding="utf-8")
    say(f"page, tables and diagram: {folder / page}")


@dataclass(frozen=True, eq=False)
class _Answer:
    """Everything that the command prints."""

    found: TableComparison
    verdict: Verdict
    means: PublicationTable | None
    by_measure: MeasureRanks | None
    by_buffer: BufferDependence | None
    bayesian: BayesianTest | None
    unit: str

    @property
    def pairs(self) -> PairTable:
        from vuskit.report.pairs import PairTable

        return PairTable(self.found, self.bayesian)

    @property
    def tables(self) -> list[Any]:
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
        from vuskit.report.verdict import statement as statement_of

        notes = () if self.means is None else self.means.notes
        details = " ".join(note for note in notes if note.startswith(("Settings", "Buffer")))
        return statement_of(self.verdict, self.found, unit=_UNITS[self.unit], details=details)

    def to_latex(self, *, caption: str | None, label: str | None, width: int | None) -> str:
        """Return the tables; caption and label belong to the first."""
        first, *others = self.tables
        parts = [first.to_latex(caption=caption, label=label, width=width)]
        return "\n\n".join([*parts, *(one.to_latex(width=width) for one in others)])

    def to_text(self) -> str:
        width = terminal_width()
        found = self.found
        groups = ["Groups of neighbors without a significant difference:"]
        groups += [
            wrapped(f"  {number}: {', '.join(map(str, group))}")
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
                *(wrapped(text) for text in self.verdict.sentences.values()),
                "",
                *([] if self.means is None else [self.means.to_text(width), ""]),
                f"Ranks by {found.title} ({'higher' if found.higher_is_better else 'lower'} is "
                f"better), {found.rows_used}",
                TableLayout(*_rows(found)).to_text(width),
                "",
                rank_diagram(found, width),
                "",
                *map(wrapped, found.tests),
                *groups,
                *(
                    [wrapped(unjoined.replace("No bar joins", "No group contains"))]
                    * bool(unjoined)
                ),
                "",
                "\n\n".join([self.pairs.to_text(width), *others]),
            ]
        )

    def content(self) -> dict[str, Any]:
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


def _datasets(found: TableComparison) -> dict[Hashable, str] | None:
    """Return the data set of each row, if the table names them."""
    index = found.table.index
    if "dataset" not in index.names:
        return None
    return dict(zip(index, map(str, index.get_level_values("dataset")), strict=True))


def _chance(
    tables: list[Path],
    settings: str,
    compared: dict[str, TableComparison],
    draws: int | None,
) -> dict[str, float]:
    """Return means of random scores on the rows of comparisons, by title; empty without a run.

    Without `draws`, very long runs have none.
    """
    from vuskit.bench import Run
    from vuskit.report.publication import chance_by_series

    run = Run(tables[0])
    if len(tables) > 1 or not run.exists:
        return {}
    points = sum(one.n_points for one in run.series())
    if draws is None and points > _MOST_POINTS:
        return {}
    draws = draws or max(1, min(_DRAWS, _RANDOM_POINTS // max(points, 1)))
    levels, reasons = chance_by_series(run, settings, list(compared), draws)
    for why in reasons.values():
        say(f"note: no chance level: {why}")
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
    return means


def _rows(found: TableComparison) -> tuple[list[str], list[list[str]]]:
    header = ["detector", "median", "mean rank", "95% interval"]
    rows = [
        [
            str(row.name),
            _number(row.median),
            f"{row.mean_rank:.2f}",
            f"{row.lower:.2f} - {row.upper:.2f}",
        ]
        for row in found.to_frame().itertuples(index=False)
    ]
    return header, rows


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


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

"""``vuskit compare``: which detectors differ significantly, from tables of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.tables import frame_csv
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
    from vuskit.report.comparison import ComparisonReport

_FIGURES = (".pdf", ".svg", ".png")


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
    from vuskit.bench import Run
    from vuskit.bench.means import AVERAGES
    from vuskit.report.comparison import UNITS, ComparisonReport, chance_levels, means_of
    from vuskit.report.publication import SPREADS
    from vuskit.statistics.comparison import compare_columns
    from vuskit.statistics.matching import read_sources
    from vuskit.studies import buffer_dependence

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
            f"`TABLE` must hold at least 2 {UNITS[unit]} to compare, got {chosen.series}; for one "
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
    means = None
    if chosen.common:
        means = means_of(results, measures, chosen.counts, spread=spread, rank=unit, by=unit)
    ranks = None
    if factors is not None:
        ranks = buffer_dependence(
            Run(table[0]).folder,
            factors=factors,
            measure=main,
            settings=settings,
            detectors=[str(name) for name in found.summary.index],
            alpha=alpha,
            test=test,
        )
    levels: dict[str, float] = {}
    if chance != 0 and len(table) == 1 and (run := Run(table[0])).exists:
        levels, reasons = chance_levels(run, str(settings), compared, chance)
        for reason in reasons:
            say(f"note: no chance level: {reason}")
    bayesian = None if rope is None else found.bayesian(rope=rope)
    answer = ComparisonReport(compared, means, ranks, bayesian, levels, unit)
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
        answer.to_dict(),
        text=lambda: answer.to_text(terminal_width()),
        csv=lambda: frame_csv(found.to_frame()),
        latex=lambda: answer.to_latex(caption=caption, label=table_label, width=width),
        markdown=table_forms(*answer.tables)["markdown"],
    )
    if ranks is not None:
        for line in [f"warning: {one}" for one in ranks.warnings] or [ranks.verdict]:
            say(line)
    if html is not None:
        from vuskit.report.page.comparison import comparison_page_html

        page = comparison_page_html(
            found, answer.page_tables, verdict=answer.verdict, forest=answer.forest
        )
        write_file(html, page)
        say(f"page: {html}")
    if figure is not None:
        displays: dict[str, Any] = {
            "": found.figure(),
            "_means": answer.forest,
            "_pairs": found.matrix(),
        }
        if answer.by_measure is not None:
            displays["_measures"] = answer.by_measure.figure()
        for suffix, display in displays.items():
            place = figure.with_stem(figure.stem + suffix)
            with atomic_file(place) as temporary:
                display.save(temporary)
            say(f"figure: {place}")
    if output is not None:
        _write_folder(answer, output, latex=as_latex)


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


def _write_folder(answer: ComparisonReport, folder: Path, *, latex: bool) -> None:
    from vuskit.report.page.studies import write_comparison

    ranks = answer.by_buffer
    with atomic_folder(folder) as temporary:
        written = write_comparison(answer.found, temporary, verdict=answer.verdict, latex=latex)
        page = written[0].name
        if ranks is not None:
            (temporary / "buffers.csv").write_text(frame_csv(ranks.to_frame()), encoding="utf-8")
            if latex:
                (temporary / "buffers.tex").write_text(ranks.to_latex() + "\n", encoding="utf-8")
    say(f"page, tables and diagram: {folder / page}")

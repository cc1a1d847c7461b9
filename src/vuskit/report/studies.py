"""Results of studies for reading, as rows and as plain data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from vuskit._util.tables import TableLayout, csv_text, frame_csv, frame_records
from vuskit.report.latex import latex_frame
from vuskit.report.tables import titled_table
from vuskit.studies import PublishedComparison, StudyResult
from vuskit.studies.timing import TimingResult
from vuskit.studies.timing.tables import complexity_table, ratio_table, speed_ratios

if TYPE_CHECKING:
    import pandas as pd

_FIELDS = ("study", "measure", "title", "quantity", "value", "options")
_WIDTH = 80
_COMPLEXITY = (
    "Complexity, and exponents fitted to the measurements (R^2 in brackets)\n"
    "T: points, a: anomalies, l: their mean length, L: longest buffer, N: thresholds,\n"
    "D: points that a buffer can reach"
)


def printed_tables(result: StudyResult) -> dict[str, pd.DataFrame]:
    """Return the non-empty tables to print, by title."""
    if not isinstance(result, TimingResult):
        return {result.kind: titled_table(result.overview(), result.measures)}
    tables = {"How many times longer the paper's algorithms take": ratio_table(result)}
    if result.generated:
        tables[_COMPLEXITY] = complexity_table(result)
    return {title: table for title, table in tables.items() if len(table)}


def studies_text(results: Sequence[StudyResult]) -> str:
    """Return the printed tables with their options."""
    parts = []
    for result in results:
        for title, frame in printed_tables(result).items():
            lines = [TableLayout.of_frame(frame).to_text(_WIDTH)]
            if len(results) > 1 or isinstance(result, TimingResult):
                lines.insert(0, title)
            lines += (
                textwrap.fill(line, _WIDTH, break_on_hyphens=False, break_long_words=False)
                for line in _options(result)
            )
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def studies_latex(results: Sequence[StudyResult]) -> str:
    """Return the printed tables in LaTeX."""
    return "\n\n".join(
        latex_frame(frame, notes=[title, *(f"{line}." for line in _options(result))])
        for result in results
        for title, frame in printed_tables(result).items()
    )


def _options(result: StudyResult) -> list[str]:
    return [] if isinstance(result, TimingResult) else [result.options_line]


def studies_csv(results: Sequence[StudyResult], more: Iterable[Sequence[Any]] = ()) -> str:
    """Return one row per study, measure and quantity, or the ratios of the timing study."""
    if isinstance(results[0], TimingResult):
        return frame_csv(speed_ratios(results[0]))
    rows = [
        (result.kind, one["name"], one["title"], quantity, value, result.options_line)
        for result in results
        for one in _measures(result)
        for quantity, value in one["values"].items()
    ]
    return csv_text(_FIELDS, [*rows, *more])


def study_record(result: StudyResult) -> dict[str, Any]:
    """Return everything that a study found as plain data."""
    buffers = result.buffers
    facts = result.facts() | ({"buffers": buffers.to_dict()} if buffers else {})
    record: dict[str, Any] = {"study": result.kind, "failures": result.failures, "facts": facts}
    if isinstance(result, TimingResult):
        shown = ("summary", "parameters", "ratios", "joint_slopes", "slopes", "exponents")
        tables = {name: one for name, one in result.tables().items() if name in shown}
        more = {name: getattr(result, name) for name in ("generated", "dropped", "environment")}
        return {**record, **tables, **more}
    return {**record, "measures": _measures(result), "options": result.study.options_in_force()}


def _measures(result: StudyResult) -> list[dict[str, Any]]:
    titles = {one.name: one.title for one in result.measures}
    numbers = result.overview().select_dtypes("number")
    return [
        {"name": name, "title": titles[str(name)], "values": values}
        for name, values in zip(numbers.index, frame_records(numbers), strict=True)
    ]


def published_rows(found: PublishedComparison) -> list[tuple[Any, ...]]:
    """Return rows for `studies_csv`: our mean, the published one and their factor."""
    return [
        ("published", row.name, row.name, f"{row.quantity}_{kind}", getattr(row, kind), "")
        for row in found.means().itertuples(index=False)
        for kind in ("here", "published", "factor")
    ]


def published_files(found: PublishedComparison, *, latex: bool) -> dict[str, str]:
    """Return the tables of a comparison as texts of files, by name."""
    files = {f"published_{name}.csv": frame_csv(one) + "\n" for name, one in found.tables().items()}
    return files | ({"published_means.tex": found.to_latex() + "\n"} if latex else {})

"""Output of studies: tables, JSON, csv or LaTeX on standard output, and files in a folder."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.tables import csv_text, frame_csv
from vuskit.cli._files import atomic_folder, write_file
from vuskit.cli._output import document, frame_records, frame_table, say, write

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies import PublishedComparison, StudyResult

__all__ = [
    "PublishedOutcome",
    "StudyOutcome",
    "emit_studies",
    "report_inputs",
    "write_study_page",
    "written",
]

_LISTED = 5
_WIDTH = 80


@dataclass(frozen=True, eq=False)
class StudyOutcome:
    """Result of a study and its files, the page first."""

    result: StudyResult
    files: list[Path]

    @classmethod
    def write(cls, result: StudyResult, folder: Path, *, figures: str, latex: bool) -> StudyOutcome:
        """Write the files of a result into a folder, atomically."""
        from vuskit.report.page import write_study

        return cls(result, written(write_study, result, folder, figures=figures, latex=latex))

    @property
    def study(self) -> str:
        """Name of the study."""
        return self.result.kind

    @property
    def options_line(self) -> str:
        """Options in force, wrapped."""
        line = self.result.options_line
        return textwrap.fill(line, _WIDTH, break_on_hyphens=False, break_long_words=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the overview with the titles of the measures."""
        titles = {measure.name: measure.title for measure in self.result.measures}
        titled = self.result.overview().rename(index=titles)
        titled.index.name = "measure"
        return titled.reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        result = self.result
        titles = {measure.name: measure.title for measure in result.measures}
        numbers = result.overview()
        rows = frame_records(numbers.select_dtypes("number"))
        buffers = result.buffers
        return {
            "study": self.study,
            "measures": [
                {"name": name, "title": titles[str(name)], "values": values}
                for name, values in zip(numbers.index, rows, strict=True)
            ],
            "failures": [{"name": one.name, "reason": one.reason} for one in result.failures],
            "facts": result.facts() | ({"buffers": buffers.to_dict()} if buffers else {}),
            "options": result.study.options_in_force(),
            "files": self.files,
        }


@dataclass(frozen=True, eq=False)
class PublishedOutcome:
    """Comparison with published values and its files."""

    comparison: PublishedComparison
    files: list[Path]

    @classmethod
    def write(
        cls, comparison: PublishedComparison, folder: Path, *, latex: bool
    ) -> PublishedOutcome:
        """Write the tables of a comparison into a folder, atomically."""
        tables = {
            f"published_{name}.csv": frame_csv(frame) for name, frame in comparison.tables().items()
        }
        if latex:
            tables["published_means.tex"] = comparison.to_latex()
        with atomic_folder(folder) as temporary:
            for name, text in tables.items():
                (temporary / name).write_text(text + "\n", encoding="utf-8")
        return cls(comparison, [folder / name for name in tables])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {**self.comparison.to_dict(), "files": self.files}


def written(
    write_study: Callable[..., list[Path]],
    result: Any,
    folder: Path,
    *,
    figures: str = "png",
    **own: Any,
) -> list[Path]:
    """Write files into a folder, atomically; return their paths, the page first."""
    with atomic_folder(folder) as temporary:
        names = [path.name for path in write_study(result, temporary, figure_format=figures, **own)]
    return [folder / name for name in names]


def emit_studies(
    form: str, outcomes: Sequence[StudyOutcome], published: PublishedOutcome | None = None
) -> None:
    """Write results to standard output, and notes and paths to standard error."""
    _WRITERS[form](outcomes, published)
    _report_buffers(outcomes)
    _report_datasets(outcomes)
    for outcome in outcomes:
        for note in outcome.result.notes():
            say(f"{outcome.study}: {note}")
        failures = outcome.result.failures
        if failures:
            say(f"{outcome.study}: {len(failures):,} series failed:")
            for failure in failures[:_LISTED]:
                say(f"  {failure.name}: {failure.reason}")
        say(f"{outcome.study}: page, tables and figures: {outcome.files[0]}")
    if published is not None:
        say(f"comparison with published values: {published.files[0]}")


def report_inputs(results: Sequence[StudyResult]) -> None:
    """Report the inputs of saved results, and inputs that have changed since."""
    from vuskit.studies import changed_inputs
    from vuskit.studies.sources import shared_place

    users: dict[tuple[Any, ...], list[str]] = {}
    for result in results:
        if result.inputs:
            users.setdefault(result.inputs, []).append(result.kind)
    changed = set(changed_inputs(one for inputs in users for one in inputs))
    for inputs, kinds in users.items():
        studies, place = ", ".join(kinds), shared_place(inputs)
        say(f"{studies}: made from {len(inputs):,} series" + (f" in {place}" if place else ""))
        names = [one.name for one in inputs if one in changed]
        if names:
            more = ", ..." if len(names) > _LISTED else ""
            say(
                f"{studies}: warning: {len(names):,} of these series changed since "
                f"({', '.join(names[:_LISTED])}{more}); run the studies again"
            )


def _report_buffers(outcomes: Sequence[StudyOutcome]) -> None:
    """Report the buffers, once for all studies with the same buffers."""
    users: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.result.buffers is not None:
            users.setdefault(str(outcome.result.buffers), []).append(outcome.study)
    for text, studies in users.items():
        say(f"{', '.join(studies)}: buffer: {text}")


def _report_datasets(outcomes: Sequence[StudyOutcome]) -> None:
    """Report once if all series are in one data set, so that means over data sets are trivial."""
    users = [
        one
        for one in outcomes
        if len(one.result.datasets) > 1 and len(set(one.result.datasets)) == 1
    ]
    if users:
        names, datasets = ", ".join(one.study for one in users), users[0].result.datasets
        say(
            f"{names}: all {len(datasets)} series are in one data set ({datasets[0]}), so means "
            "over data sets are trivial; to separate data sets, use one folder each in SCORES"
        )


def _write_tables(outcomes: Sequence[StudyOutcome], published: PublishedOutcome | None) -> None:
    parts = []
    for outcome in outcomes:
        title = [outcome.study] if len(outcomes) > 1 else []
        parts.append("\n".join([*title, frame_table(outcome.to_frame()), outcome.options_line]))
    if published is not None:
        # The options are already below the tables above.
        parts.append(replace(published.comparison, options={}).to_text(_WIDTH))
    write("\n\n".join(parts))


def _write_latex(outcomes: Sequence[StudyOutcome], published: PublishedOutcome | None) -> None:
    from vuskit.report.latex import latex_frame

    tables = [
        latex_frame(one.to_frame(), notes=[one.study, f"{one.result.options_line}."])
        for one in outcomes
    ]
    if published is not None:
        tables.append(published.comparison.to_latex())
    write("\n\n".join(tables))


def _write_json(outcomes: Sequence[StudyOutcome], published: PublishedOutcome | None) -> None:
    studies = [outcome.to_dict() for outcome in outcomes]
    more = {} if published is None else {"published": published.to_dict()}
    write(document("studies", studies=studies, **more))


def _write_csv(outcomes: Sequence[StudyOutcome], published: PublishedOutcome | None) -> None:
    rows = [
        (outcome.study, measure["name"], measure["title"], quantity, value, options)
        for outcome in outcomes
        for options in [outcome.result.options_line]
        for measure in outcome.to_dict()["measures"]
        for quantity, value in measure["values"].items()
    ]
    if published is not None:
        rows += [
            ("published", row.name, row.name, f"{row.quantity}_{kind}", getattr(row, kind), "")
            for row in published.comparison.means().itertuples(index=False)
            for kind in ("here", "published", "factor")
        ]
    write(csv_text(["study", "measure", "title", "quantity", "value", "options"], rows))


_WRITERS: dict[str, Callable[[Sequence[StudyOutcome], PublishedOutcome | None], None]] = {
    "table": _write_tables,
    "json": _write_json,
    "csv": _write_csv,
    "latex": _write_latex,
}


def write_study_page(path: Path | None, results: Sequence[StudyResult]) -> None:
    """Write the page of ``--html`` with all results, if there is a path.

    Raises
    ------
    VuskitError
        If the file cannot be written.
    """
    if path is None:
        return
    from vuskit.report.page import studies_page_html

    write_file(path, studies_page_html(results))
    say(f"page: {path}")

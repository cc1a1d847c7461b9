"""What a study found: on standard output as tables, JSON or csv; files in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.cli._files import atomic_folder, write_file
from vuskit.cli._output import csv_text, document, frame_records, frame_table, say, write
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies import BufferUse, Failure

__all__ = ["StudyFiles", "StudyOutcome", "emit_studies", "write_study_page", "written"]

_LISTED = 5


@dataclass(frozen=True, eq=False)
class StudyOutcome:
    """What a study says, ready to be written in any form.

    Attributes
    ----------
    study : str
        Its name.
    result : object
        What it returned.
    numbers : pandas.DataFrame
        One row for each measure, by name.
    measures : tuple of Measure
        Their titles.
    files : list of Path
        What was written, the page first.
    failures : tuple of Failure
        Series that could not be studied.
    facts : dict
        Counts and rules, for JSON.
    notes : tuple of str
        The same in words.
    buffers : BufferUse or None
        The buffers of the series; None where there are no series.
    datasets : tuple of str
        Data set of each series, where the numbers are means over data sets.
    """

    study: str
    result: Any
    numbers: pd.DataFrame
    measures: tuple[Measure, ...]
    files: list[Path]
    failures: tuple[Failure, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    buffers: BufferUse | None = None
    datasets: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Numbers under the titles of their measures, for reading."""
        from vuskit.report.page.studies import titled_table

        return titled_table(self.numbers, self.measures)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        titles = {measure.name: measure.title for measure in self.measures}
        rows = frame_records(self.numbers.select_dtypes("number"))
        return {
            "study": self.study,
            "measures": [
                {"name": name, "title": titles[str(name)], "values": values}
                for name, values in zip(self.numbers.index, rows, strict=True)
            ],
            "failures": [{"name": one.name, "reason": one.reason} for one in self.failures],
            "facts": self.facts | ({"buffers": self.buffers.to_dict()} if self.buffers else {}),
            "files": self.files,
        }


def written(
    write_study: Callable[..., list[Path]],
    result: Any,
    folder: Path,
    *,
    figures: str = "png",
    **own: Any,
) -> list[Path]:
    """Write a study's files into a folder, all or none; where they are, the page first."""
    with atomic_folder(folder) as temporary:
        names = [path.name for path in write_study(result, temporary, figure_format=figures, **own)]
    return [folder / name for name in names]


@dataclass(frozen=True)
class StudyFiles:
    """Where the files of studies go, and in which formats.

    Attributes
    ----------
    folder : Path
        Made if it does not exist.
    figures : str
        Format of the figures.
    latex : bool
        Whether tables are written for LaTeX too.
    """

    folder: Path
    figures: str
    latex: bool

    def write(self, write_study: Callable[..., list[Path]], result: Any, **own: Any) -> list[Path]:
        """Write a study's files, all or none; where they are, the page first."""
        return written(
            write_study, result, self.folder, figures=self.figures, latex=self.latex, **own
        )


def emit_studies(form: str, outcomes: Sequence[StudyOutcome]) -> None:
    """Write studies to standard output, and where their pages are to standard error."""
    _WRITERS[form](outcomes)
    _tell_buffers(outcomes)
    _tell_datasets(outcomes)
    for outcome in outcomes:
        for note in outcome.notes:
            say(f"{outcome.study}: {note}")
        if outcome.failures:
            say(f"{outcome.study}: could not be studied: {len(outcome.failures)}")
            for failure in outcome.failures[:_LISTED]:
                say(f"  {failure.name}: {failure.reason}")
        say(f"{outcome.study}: page, tables and figures: {outcome.files[0]}")


def _tell_buffers(outcomes: Sequence[StudyOutcome]) -> None:
    """Say which buffers were used, once for all studies that used the same."""
    users: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.buffers is not None:
            users.setdefault(str(outcome.buffers), []).append(outcome.study)
    for text, studies in users.items():
        say(f"{', '.join(studies)}: buffer: {text}")


def _tell_datasets(outcomes: Sequence[StudyOutcome]) -> None:
    """Say that there is one data set only, once for all studies that take means over data sets."""
    users = [one for one in outcomes if len(one.datasets) > 1 and len(set(one.datasets)) == 1]
    if users:
        names, datasets = ", ".join(one.study for one in users), users[0].datasets
        say(
            f"{names}: all {len(datasets)} series are in one data set ({datasets[0]}): means over "
            "data sets are its own; data sets are the folders in SCORES"
        )


def _write_tables(outcomes: Sequence[StudyOutcome]) -> None:
    parts = []
    for outcome in outcomes:
        title = [outcome.study] if len(outcomes) > 1 else []
        parts.append("\n".join([*title, frame_table(outcome.to_frame())]))
    write("\n\n".join(parts))


def _write_latex(outcomes: Sequence[StudyOutcome]) -> None:
    from vuskit.report.latex import latex_frame

    write("\n\n".join(latex_frame(one.to_frame(), notes=[one.study]) for one in outcomes))


def _write_json(outcomes: Sequence[StudyOutcome]) -> None:
    write(document("studies", studies=[outcome.to_dict() for outcome in outcomes]))


def _write_csv(outcomes: Sequence[StudyOutcome]) -> None:
    rows = [
        (found["study"], measure["name"], measure["title"], quantity, value)
        for found in (outcome.to_dict() for outcome in outcomes)
        for measure in found["measures"]
        for quantity, value in measure["values"].items()
    ]
    write(csv_text(["study", "measure", "title", "quantity", "value"], rows))


_WRITERS: dict[str, Callable[[Sequence[StudyOutcome]], None]] = {
    "table": _write_tables,
    "json": _write_json,
    "csv": _write_csv,
    "latex": _write_latex,
}


def write_study_page(path: Path | None, results: Iterable[Any]) -> None:
    """Write ``--html``: one page of all results; nothing without a path.

    Raises
    ------
    VuskitError
        If the file cannot be written.
    """
    if path is None:
        return
    from vuskit.report.page import studies_page_html

    write_file(path, studies_page_html(list(results)))
    say(f"page: {path}")

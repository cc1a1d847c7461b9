"""Reproduce the paper: compute the results, make the exhibits, check the statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.files import write_atomically
from vuskit._util.optional import require
from vuskit._util.text import plural
from vuskit.datasets.inputs import Source
from vuskit.engine import ExecutorSettings, Limits
from vuskit.errors import ClusterError, InvalidInputError, VuskitError
from vuskit.inputs import check_int
from vuskit.measures.registry import Measures, resolve_measures
from vuskit.paper.examples import Choice
from vuskit.paper.exhibits import Exhibit, select_exhibits
from vuskit.paper.files import MadeExhibit, make_exhibit
from vuskit.paper.findings import (
    FindingTable,
    ReadingTable,
    check_statements,
    list_statements,
)
from vuskit.paper.inputs import PaperInput, open_input, run_detectors, usable_detectors
from vuskit.paper.material import Material
from vuskit.paper.page import paper_page_html
from vuskit.paper.progress import PaperProgress, Tracker
from vuskit.paper.results import STUDIES, Work, digest_of, needed_results
from vuskit.paper.settings_text import describe_settings
from vuskit.paper.words import series_count
from vuskit.report.tables import write_table
from vuskit.studies import PublishedComparison, compare_with_published, read_published

if TYPE_CHECKING:
    import pandas as pd

PAGE = "index.html"
_TITLE = "VUS paper: figures, tables and findings"
_SECONDS_PER_EXHIBIT = 2.0
_DETECTORS, _EXHIBITS, _PAGE = "detectors", "exhibits", "page"


@dataclass(frozen=True)
class PaperResult:
    """Result of a reproduction.

    Attributes
    ----------
    folder : Path
        The output folder.
    page : Path
        The page with all exhibits and findings.
    exhibits : tuple of MadeExhibit
        Figures and tables with captions and files, or the reason why one is missing.
    findings : FindingTable
        Statements of the paper, measurements on this data, and verdicts.
    published : PublishedComparison or None
        Published values next to those of this data.
    notes : tuple of str
        Failures and other messages.
    failed : bool
        Whether a detector, a study or a timing failed on a series.
    """

    folder: Path
    page: Path
    exhibits: tuple[MadeExhibit, ...]
    findings: FindingTable
    published: PublishedComparison | None = None
    notes: tuple[str, ...] = ()
    failed: bool = False

    @property
    def missing(self) -> tuple[MadeExhibit, ...]:
        """Exhibits that could not be made."""
        return tuple(one for one in self.exhibits if not one.made)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each exhibit: caption, files, and the reason if it is missing."""
        rows = [
            {
                "exhibit": one.exhibit.key,
                "title": one.exhibit.title,
                "made": one.made,
                "caption": one.caption,
                "files": " ".join(one.files),
                "reason": one.reason,
            }
            for one in self.exhibits
        ]
        frame: pd.DataFrame = require("pandas", purpose="to_frame()").DataFrame(rows)
        return frame


def reproduce(
    source: Any,
    *,
    output: str | Path = "paper",
    only: str | Iterable[str] | None = None,
    detectors: Sequence[str] | None = None,
    example: str | Iterable[str] = (),
    pairs: Iterable[tuple[str, str]] = (),
    datasets: Iterable[str] = (),
    measures: Measures = "paper",
    options: Mapping[str, Mapping[str, Any]] | None = None,
    as_published: bool = False,
    published: str | Path | None = None,
    budget: float = 300.0,
    processes: int = 1,
    executor: ExecutorSettings | None = None,
    limits: Limits | None = None,
    seed: int = 0,
    quick: bool = False,
    real: bool = True,
    title: str = _TITLE,
    progress: Callable[[PaperProgress], None] | None = None,
) -> PaperResult:
    """Make every figure and table of the paper from your data, and check its findings.

    Parameters
    ----------
    source : path, ScoredSeries, or iterable of these
        Folder of saved scores, of a benchmark run, or of series. Detectors run first on series
        without scores.
    output : str or Path, default="paper"
        Output folder. It also holds finished work: the same call resumes.
    only : str or iterable of str, optional
        Exhibits to make, such as ``"fig-11,table-1"``; all by default.
    detectors : sequence of str, optional
        Detectors to run on series without scores; by default those of the paper whose libraries
        are installed.
    example : str or iterable of str, optional
        Series for the figures that show a single series; by default those of the paper, or those
        on which measures disagree most.
    pairs : iterable of (str, str), optional
        Pairs of detectors: compared in Figure 8, accurate and inaccurate in Figure 13.
    datasets : iterable of str, optional
        Data sets with separate panels; by default those of the paper, or the largest.
    measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
        The measures to study.
    options : mapping from str to mapping, optional
        Options of the studies by name, such as ``{"robustness": {"count": 20}}``.
    as_published : bool, default=False
        Follow the procedure of the authors' code where it differs from the text of the paper.
    published : str or Path, optional
        Folder of published tables for :func:`vuskit.studies.compare_with_published`. The page
        shows their values next to those of this data.
    budget : float, default=300.0
        Seconds for timing; the most expensive cells are skipped.
    processes : int, default=1
        Number of local processes.
    executor : ExecutorSettings, optional
        Where to run instead, such as a Dask cluster. Timing always runs on this machine.
    limits : Limits, optional
        Time and memory of each series in a study.
    seed : int, default=0
        Seed of detectors and of generated series.
    quick : bool, default=False
        Whether to time fewer settings of generated series.
    real : bool, default=True
        Whether the series are real. Findings about means are not judged on synthetic series.
    title : str, optional
        Heading of the page.
    progress : callable, optional
        Called with a `PaperProgress`.

    Returns
    -------
    PaperResult
        Exhibits with captions and files, findings, and the page.

    Raises
    ------
    InvalidInputError
        If the source or an option is invalid.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.datasets.synthetic import three_scores
    >>> from vuskit.paper import reproduce
    >>> found = reproduce(three_scores(), output=tempfile.mkdtemp(), only="table-3")
    >>> found.exhibits[0].files
    ('table-3-datasets.csv', 'table-3-datasets.md', 'table-3-datasets.tex')
    """
    check_int("processes", processes, minimum=1)
    if not budget > 0:
        raise InvalidInputError(f"`budget` must be a number of seconds > 0, got {budget}")
    if executor is not None and processes != 1:
        raise InvalidInputError(
            f"`processes` must be left out with an executor, got {processes}; set its workers"
        )
    exhibits = select_exhibits(only)
    choice = Choice(
        (example,) if isinstance(example, str) else tuple(example),
        tuple((str(first), str(second)) for first, second in pairs),
        (datasets,) if isinstance(datasets, str) else tuple(datasets),
    )
    folder = Path(output)
    given = options or {}
    preset = {"as_published": True} if as_published else {}
    work = Work(
        folder / "work",
        resolve_measures(measures),
        {name: {**preset, **given.get(name, {})} for name in STUDIES},
        executor or ExecutorSettings(workers=processes),
        limits,
        budget,
        seed,
        quick,
        ten_runs=as_published,
    )
    if published is not None:
        read_published(published)  # fails early if the folder has no tables
    return _Reproduction(
        open_input(source),
        usable_detectors(detectors),
        exhibits,
        choice,
        folder,
        work,
        title,
        None if published is None else Path(published),
        complete=only is None,
        real=real,
    ).run(progress)


READINGS: Mapping[str, Mapping[str, Any]] = {
    "text": {},
    "text, VUS over 0..2L": {"volume_factor": 2.0},
    "as published": {"as_published": True},
}
"""Readings of the paper: settings of all studies. The authors' code differs from the text."""


def check_readings(
    source: Any,
    *,
    output: str | Path = "paper",
    detectors: Sequence[str] | None = None,
    budget: float = 300.0,
    executor: ExecutorSettings | None = None,
    limits: Limits | None = None,
    seed: int = 0,
    quick: bool = False,
    real: bool = True,
    progress: Callable[[PaperProgress], None] | None = None,
) -> ReadingTable:
    """Check the paper's findings under three readings of the paper; parameters as for `reproduce`.

    The readings are the text, the text with VUS over the buffers 0 to 2L, and the procedure of the
    published experiments. Times are measured once. The table is written to ``findings.csv``,
    ``.md`` and ``.tex``, the results of the studies to ``work/studies/<reading>``.

    Returns
    -------
    ReadingTable
        The findings under each reading.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.datasets.synthetic import three_scores
    >>> from vuskit.paper import check_readings
    >>> found = check_readings(
    ...     three_scores(), output=tempfile.mkdtemp(), budget=0.1, quick=True, real=False
    ... )
    >>> list(found.tables)
    ['text', 'text, VUS over 0..2L', 'as published']
    """
    folder, tables, notes = Path(output), {}, list[str]()
    for name, settings in READINGS.items():
        work = Work(
            folder / "work",
            resolve_measures("paper"),
            {one: dict(settings) for one in STUDIES},
            executor or ExecutorSettings(),
            limits,
            budget,
            seed,
            quick,
            studies=f"studies/{folder_of(name)}",
        )
        one = _Reproduction(
            open_input(source), usable_detectors(detectors), (), Choice(), folder, work, "", None,
            complete=True, real=real,
        )  # fmt: skip
        material, failures, _ = one.prepare(progress)
        tables[name] = check_statements(material)
        notes += [f"{name}: {text}" for text in failures]
    found = ReadingTable(tables, tuple(notes))
    write_forms(found, folder / "findings")
    return found


def folder_of(reading: str) -> str:
    """Return the name of the folder with the results of a reading."""
    return re.sub(r"[^a-z0-9]+", "-", reading.lower())


@dataclass(frozen=True, eq=False)
class _Reproduction:
    """A reproduction with checked options."""

    opened: PaperInput
    detectors: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]
    choice: Choice
    folder: Path
    work: Work
    title: str
    published: Path | None
    complete: bool
    real: bool

    def needs(self) -> tuple[str, ...]:
        """Return the results to compute; statements add theirs unless exhibits were chosen."""
        needs = [name for one in self.exhibits for name in one.needs]
        if self.complete:
            needs += [name for one in list_statements() for name in one.needs]
        return needed_results(needs)

    def prepare(
        self, progress: Callable[[PaperProgress], None] | None
    ) -> tuple[Material, list[str], Tracker]:
        """Return the results of all studies, messages about failures, and the progress."""
        self.folder.mkdir(parents=True, exist_ok=True)
        needs = self.needs()
        workers, count = self.work.executor.workers, self.opened.n_series
        weights = {_DETECTORS: self.opened.seconds(self.detectors, workers)}
        weights |= {name: self.work.seconds(name, count) for name in needs}
        weights |= {_EXHIBITS: _SECONDS_PER_EXHIBIT * len(self.exhibits), _PAGE: 1.0}
        tracker = Tracker(weights, progress)
        sources, failures = self._sources(tracker)
        results = {name: self._result(name, sources, tracker) for name in needs}
        for name, found in results.items():
            failures += _failures_of(name, found)
        return Material(sources, results, self.choice, self.real), failures, tracker

    def run(self, progress: Callable[[PaperProgress], None] | None) -> PaperResult:
        """Make the exhibits, the findings and the page."""
        material, failures, tracker = self.prepare(progress)
        results = material.results
        refused = [f"{name}: {found}" for name, found in results.items() if isinstance(found, str)]
        notes = [*self.opened.notes, *failures, *refused]
        made = self._exhibits(material, results, tracker)
        with tracker.step(_PAGE):
            findings = check_statements(material)
            write_forms(findings, self.folder / "findings")
            compared = self._compare(results, notes)
            page = self.folder / PAGE
            html = paper_page_html(
                self.title,
                made,
                findings,
                about=_about(material),
                notes=notes,
                settings=describe_settings(results),
                published=compared,
            )
            write_atomically(page, html)
        return PaperResult(
            self.folder, page, made, findings, compared, tuple(notes), bool(failures)
        )

    def _compare(self, results: Mapping[str, Any], notes: list[str]) -> PublishedComparison | None:
        """Compare with published values and write the tables."""
        if self.published is None:
            return None
        usable = [one for name, one in results.items() if name in STUDIES]
        usable = [one for one in usable if not isinstance(one, str)]
        try:
            found = compare_with_published(usable, self.published)
        except VuskitError as error:
            notes.append(f"published values: {error}")
            return None
        for name, frame in found.tables().items():
            write_table(frame, self.folder / f"published-{name.replace('_', '-')}.csv")
        write_forms(found, self.folder / "published-means")
        return found

    def _sources(self, tracker: Tracker) -> tuple[Sequence[Source], list[str]]:
        """Return series with scores, and messages about failed detectors."""
        if self.opened.series is None:
            return self.opened.sources, []
        with tracker.step(_DETECTORS) as update:
            sources, failures = run_detectors(
                self.opened.series,
                self.work.folder / "detectors",
                self.detectors,
                executor=self.work.executor,
                seed=self.work.seed,
                progress=update,
            )
        return sources, list(failures)

    def _result(self, name: str, sources: Sequence[Source], tracker: Tracker) -> Any:
        """Return a result, or why the data does not allow it."""
        with tracker.step(name) as update:
            try:
                return self.work.run(name, sources, update)
            except ClusterError:
                raise  # says nothing about the data; the same command resumes
            except VuskitError as error:
                return str(error)

    def _exhibits(
        self, material: Material, results: Mapping[str, Any], tracker: Tracker
    ) -> tuple[MadeExhibit, ...]:
        digests = {name: digest_of(found) for name, found in results.items()}
        made: list[MadeExhibit] = []
        with tracker.step(_EXHIBITS) as update:
            for place, one in enumerate(self.exhibits):
                update(place, len(self.exhibits), one.stem)
                made.append(make_exhibit(one, material, self.folder, results=digests))
        return tuple(made)


def write_forms(table: FindingTable | ReadingTable | PublishedComparison, stem: Path) -> None:
    """Write a table as csv, Markdown and LaTeX."""
    write_table(table.to_frame(), stem.with_suffix(".csv"))
    write_atomically(stem.with_suffix(".md"), table.to_markdown() + "\n")
    write_atomically(stem.with_suffix(".tex"), table.to_latex() + "\n")


def _failures_of(name: str, found: Any) -> list[str]:
    failed = () if isinstance(found, str) else found.failures
    if not failed:
        return []
    what = plural(len(failed), "cell") if name.startswith("timing") else series_count(len(failed))
    return [f"{name}: {what} failed, for example {failed[0].name}: {failed[0].reason}"]


def _about(material: Material) -> str:
    """Return a sentence about the data; empty if no series was studied."""
    for name in ("consistency", "robustness"):
        found = material.results.get(name)
        if found is None or isinstance(found, str):
            continue
        names = sorted({str(name) for one in found.values for name in one.axes["detector"]})
        return (
            f"{series_count(len(found.values))} of "
            f"{plural(len(set(found.datasets)), 'data set')}, "
            f"{plural(len(names), 'detector')}: {', '.join(names)}."
        )
    return ""

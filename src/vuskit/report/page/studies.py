"""Studies as sections of a page, and as folders of tables, figures and Markdown."""

from __future__ import annotations

import base64
import html
import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.report.figures import (
    CenteredBoxDisplay,
    CriticalDifferenceDisplay,
    EntropyDisplay,
    RankLinesDisplay,
    RobustnessBarsDisplay,
    ScatterDisplay,
    ScenarioDisplay,
    SeparabilityBarsDisplay,
    SeparabilityBoxDisplay,
    SummaryDisplay,
    SweepDisplay,
)
from vuskit.report.figures._families import FAMILY_TITLES, family_color, family_of, titles_of
from vuskit.report.figures.base import PAGE_DPI, check_figure_format
from vuskit.report.figures.timing import (
    CONTESTANT_STYLES,
    QUANTITIES,
    TimingSeriesDisplay,
    TimingSweepDisplay,
    alike_groups,
)
from vuskit.report.latex import latex_frame
from vuskit.report.page.document import Section, page_document
from vuskit.report.tables import markdown_table
from vuskit.studies.base import Failure, SeriesValues, ValuesResult
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.scenarios import EXACT, TOUCHING, ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.statistics.comparison import TableComparison
from vuskit.studies.summary import Summary
from vuskit.studies.timing import (
    CONTESTANTS,
    PARAMETERS,
    Job,
    Setting,
    TimingResult,
    is_generated,
    joint_slopes,
    rows_of_sweep,
    single_slopes,
    speed_ratios,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ROOM",
    "average_table",
    "box_numbers",
    "comparison_data",
    "consistency_data",
    "describe_job",
    "encoded",
    "joint_table",
    "measures_data",
    "plain",
    "ratio_table",
    "robustness_data",
    "sampled",
    "scenarios_data",
    "separability_data",
    "slope_table",
    "studies_page_html",
    "study_sections",
    "summary_data",
    "table_data",
    "timing_data",
    "write_comparison",
    "write_consistency",
    "write_report",
    "write_robustness",
    "write_scenarios",
    "write_separability",
    "write_summary",
]

_MOST_LATEX_ROWS = 200  # more are for a computer to read
_MEASURE_COLUMNS = {"measure", "first", "second", "name"}
_LISTED = 20


def groups_sentence(groups: Iterable[Iterable[Hashable]], titles: Mapping[str, str]) -> str:
    """Who is joined by the bars of a diagram, in words.

    Examples
    --------
    >>> groups_sentence([("auc_pr", "own"), ("own", "other")], {"auc_pr": "AUC-PR"})
    'Groups of neighbors without a significant difference: AUC-PR, own; own, other.'
    """
    names = ([titles.get(str(name), str(name)) for name in group] for group in groups)
    listed = "; ".join(map(", ".join, names))
    return f"Groups of neighbors without a significant difference: {listed or 'none'}."


def picture(title: str, file: str) -> str:
    r"""Markdown that shows a figure; browsers do not show a pdf within a page, so it is linked.

    Examples
    --------
    >>> picture("values on plant/[1]", "boxes.png")
    '![values on plant/\\[1\\]](boxes.png)'
    """
    said = title.replace("[", r"\[").replace("]", r"\]")
    return f"[{said}]({file})" if file.endswith(".pdf") else f"![{said}]({file})"


class Savable(Protocol):
    """A figure that can be saved."""

    def save(self, path: str | Path, *, dpi: int) -> Path:
        """Save in the format that the name ends with."""


@dataclass
class StudyReport:
    """Page, tables and figures of one study, gathered before anything is written.

    Attributes
    ----------
    name : str
        How the files begin.
    figure_format : {"png", "pdf", "svg"}
        Of the figures.
    latex : bool
        Whether tables of up to 200 rows are written for LaTeX too.
    titles : mapping of str to str
        What measures are called in LaTeX, by name.
    page : list of str
        Paragraphs.
    tables : dict of DataFrame
        By name.
    figures : dict of Savable
        By name.
    """

    name: str
    figure_format: str = "png"
    latex: bool = False
    titles: Mapping[str, str] = field(default_factory=dict)
    page: list[str] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    figures: dict[str, Savable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_figure_format(self.figure_format)

    def say(self, *paragraphs: str) -> None:
        """Add paragraphs to the page."""
        self.page.extend(paragraphs)

    def show(self, title: str, name: str, figure: Savable) -> None:
        """Add a figure, and show it on the page."""
        self.figures[name] = figure
        self.page.append(picture(title, f"{self.name}_{name}.{self.figure_format}"))

    def write(self, folder: str | Path) -> list[Path]:
        """Write the page, tables, and figures; the page is the first of the files."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        written = [place / f"{self.name}.md"]
        written[0].write_text("\n\n".join(self.page) + "\n", encoding="utf-8")
        for title, frame in self.tables.items():
            written.append(place / f"{self.name}_{title}.csv")
            frame.to_csv(written[-1], index=False, lineterminator="\n")
            if self.latex and len(frame) <= _MOST_LATEX_ROWS:
                written.append(written[-1].with_suffix(".tex"))
                notes = [f"{self.name}: {title.replace('_', ' ')}"]
                text = latex_frame(self._titled(frame), notes=notes)
                written[-1].write_text(text + "\n", encoding="utf-8")
        for title, figure in self.figures.items():
            file = place / f"{self.name}_{title}.{self.figure_format}"
            written.append(figure.save(file, dpi=PAGE_DPI))
        return written

    def _titled(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table with titles of measures for their names."""
        named = frame.rename(columns=dict(self.titles))
        for column in _MEASURE_COLUMNS & set(named.columns):
            named[column] = [self.titles.get(str(name), name) for name in named[column]]
        return named


def average_table(frame: pd.DataFrame, measures: Iterable[Measure]) -> pd.DataFrame:
    """Averages by measure, under their titles, for reading."""
    titled = frame.rename(index=titles_of(measures))
    titled.index.name = "measure"
    return titled.reset_index()


def _if_possible(make: Callable[[], TableComparison]) -> TableComparison | None:
    """A comparison, or None where there are too few series or measures for one."""
    try:
        return make()
    except InvalidInputError:
        return None


def _buffers(result: ValuesResult) -> str:
    return f"Buffer: {result.buffers}."


def _failures(failures: tuple[Failure, ...]) -> list[str]:
    if not failures:
        return ["No series failed."]
    listed = "\n".join(f"- {one.name}: {one.reason}" for one in failures[:_LISTED])
    more = f"\n- and {len(failures) - _LISTED} more" if len(failures) > _LISTED else ""
    return [f"{len(failures)} series could not be studied:\n\n{listed}{more}"]


def _tests(comparison: TableComparison, measures: Iterable[Measure]) -> list[str]:
    return [
        "\n".join(f"- {text}" for text in comparison.tests),
        groups_sentence(comparison.groups, titles_of(measures)),
    ]


def write_robustness(
    result: RobustnessResult,
    folder: str | Path,
    *,
    series: str | None = None,
    alpha: float = 0.1,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write the robustness study: deviations, averages, tests, figures and a page.

    Parameters
    ----------
    result : RobustnessResult
        At least one series.
    folder : str or Path
        Made if it does not exist.
    series : str, optional
        The series whose box plots are drawn; the first by default.
    alpha : float, default=0.1
        Level of significance of the tests.
    figure_format : {"png", "pdf", "svg"}, default="png"
        Of the figures.
    latex : bool, default=False
        Write tables of up to 200 rows as ``.tex`` too, beside the ``.csv``.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If the result is empty, has no such series, or the format is unknown.
    """
    report = StudyReport("robustness", figure_format, latex, titles_of(result.measures))
    measures = result.measures
    averages, counts = result.averages(), result.undefined()
    over_series = result.averages(over="series")
    report.tables |= {
        "deviations": result.to_frame(),
        "datasets": result.by_dataset().reset_index(),
        "averages": averages.rename_axis("measure").reset_index(),
        "averages_over_series": over_series.rename_axis("measure").reset_index(),
        "undefined": counts,
    }
    report.say(
        "# Robustness",
        f"{len(result.values)} series, {result.study.count} perturbations of each kind, seed "
        f"{result.study.seed}. Mean standard deviation of each measure: over detectors, series, "
        "data sets. Low is robust.",
        _buffers(result),
    )
    report.show("averages", "averages", RobustnessBarsDisplay.from_result(result))
    report.say(markdown_table(average_table(averages, measures)))
    boxes = CenteredBoxDisplay.from_result(result, series)
    report.show(f"values on {boxes.series} less the detector's mean", "boxes", boxes)
    for kind in result.study.perturbations:
        report.say(f"## {kind}")
        bars = RobustnessBarsDisplay.from_result(result, perturbation=kind)
        report.show(f"{kind} by data set", f"datasets_{kind}", bars)
        comparison = _if_possible(partial(result.compare, kind, alpha=alpha))
        if comparison is None:
            report.say("Too few series with all measures defined for a test.")
            continue
        report.tables[f"ranks_{kind}"] = comparison.to_frame()
        report.tables[f"pairs_{kind}"] = comparison.pairs_frame()
        diagram = CriticalDifferenceDisplay.from_comparison(comparison)
        report.show(f"ranks, {kind}", f"ranks_{kind}", diagram)
        report.say(*_tests(comparison, measures))
    total = counts.groupby("perturbation", sort=False).sum(numeric_only=True).reset_index()
    report.say("## Undefined", markdown_table(total), *_failures(result.failures))
    return [*report.write(folder), result.save(folder)]


def write_separability(
    result: SeparabilityResult,
    folder: str | Path,
    *,
    series: str | None = None,
    alpha: float = 0.1,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write the separability study; parameters as for :func:`write_robustness`."""
    report = StudyReport("separability", figure_format, latex, titles_of(result.measures))
    averages = result.averages()
    with_pairs = [one.name for one in result.values if one.notes["pairs"]]
    report.tables |= {
        "z": result.to_frame(),
        "series": result.by_series().reset_index(),
        "averages": averages.reset_index(),
    }
    report.say(
        "# Separability",
        f"Pairs: {result.rule}. {len(with_pairs)} series have such pairs, "
        f"{len(result.series_without_pairs)} have none. High z is separable. The mean is over the "
        "series of their mean z, without infinite and undefined ones; the median, and the share "
        "of pairs that are the right way round, know infinite z. Where nothing varies and the "
        "means are equal z is 0.",
        _buffers(result),
    )
    report.show("z", "z", SeparabilityBarsDisplay.from_result(result))
    report.say(markdown_table(average_table(averages, result.measures)))
    boxes = SeparabilityBoxDisplay.from_result(result, series)
    report.show(f"values of pairs of detectors on {boxes.series}", "pairs", boxes)
    comparison = _if_possible(lambda: result.compare(alpha=alpha))
    if comparison is not None:
        report.tables["ranks"] = comparison.to_frame()
        report.tables["measure_pairs"] = comparison.pairs_frame()
        report.show("ranks", "ranks", CriticalDifferenceDisplay.from_comparison(comparison))
        report.say(*_tests(comparison, result.measures))
    report.say(*_failures(result.failures))
    return [*report.write(folder), result.save(folder)]


def write_consistency(
    result: ConsistencyResult,
    folder: str | Path,
    *,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write the consistency study: ranks, entropies, averages, figures and a page."""
    report = StudyReport("consistency", figure_format, latex, titles_of(result.measures))
    averages = result.averages()
    families = result.by_family().reset_index()
    report.tables |= {
        "ranks": result.to_frame(),
        "entropies": result.entropies().reset_index(),
        "averages": averages.reset_index(),
        "families": families,
        "rank_table": result.rank_table().reset_index(),
    }
    left_out = ", ".join(result.small_datasets)
    report.say(
        "# Consistency",
        f"Shannon entropy of a detector's ranks over the series of a data set, in bits; mean over "
        f"detectors and data sets. Low is consistent. Equal values get the {result.study.ties} "
        f"rank. Data sets of fewer than {result.study.min_series} series are left out: "
        f"{left_out or 'none'}.",
        _buffers(result),
    )
    report.show("entropy", "entropies", EntropyDisplay.from_result(result))
    report.say(markdown_table(average_table(averages, result.measures)), markdown_table(families))
    report.show("ranks", "ranks", RankLinesDisplay.from_result(result))
    entropies = RankLinesDisplay.from_result(result, quantity="entropy")
    report.show("entropy by detector", "detectors", entropies)
    for dataset in dict.fromkeys(one.dataset for one in result.values):
        report.tables[f"rank_table_{dataset}"] = result.rank_table(dataset).reset_index()
    undefined = f"Undefined values: {int(result.undefined().sum())}."
    report.say(undefined, *_failures(result.failures))
    return [*report.write(folder), result.save(folder)]


def write_scenarios(
    result: ScenarioResult, folder: str | Path, *, figure_format: str = "png", latex: bool = False
) -> list[Path]:
    """Write the scenarios: values, what happens at the first touch, figures and a page."""
    report = StudyReport("scenarios", figure_format, latex, titles_of(result.measures))
    touch = result.at_first_touch()
    report.tables |= {
        "values": result.to_frame(),
        "sweep": result.sweep_frame(),
        "touch": touch.reset_index(),
    }
    report.say(
        "# Scenarios",
        f"One anomaly of {result.length} points among {result.n_points:,}, buffer "
        f"{result.buffer}, and a prediction that moves over it.",
    )
    report.show("values", "values", ScenarioDisplay.from_result(result))
    report.say(
        "## At the first touch",
        "`credit`: what just missing is worth, from 0 (a miss) to 1 (the exact match). `jump`: how "
        "much of the rise from a miss to the first touch happens at the touch itself; 1 is all of "
        "it.",
        markdown_table(average_table(touch, result.measures)),
    )
    report.show("sweep", "sweep", SweepDisplay.from_result(result))
    report.say(f"Undefined values: {sum(result.undefined().values())}.")
    return [*report.write(folder), result.save(folder)]


def write_summary(
    summary: Summary, folder: str | Path, *, figure_format: str = "png", latex: bool = False
) -> list[Path]:
    """Write the summary: ranks in all studies, the scatter and a page."""
    report = StudyReport("summary", figure_format, latex, titles_of(summary.measures))
    scatter = summary.scatter().reset_index()
    report.tables |= {"ranks": summary.to_frame(), "scatter": scatter}
    report.say(
        "# Summary",
        "Rank of every measure in every study, 1 is best, and the mean of the five ranks.",
    )
    report.show("ranks", "ranks", SummaryDisplay.from_summary(summary))
    report.say(
        markdown_table(average_table(summary.ranks, summary.measures)),
        "The numbers behind the ranks: mean standard deviations, z, mean entropy.",
        markdown_table(average_table(summary.scores, summary.measures)),
    )
    title = "robustness against separability"
    report.show(title, "scatter", ScatterDisplay.from_summary(summary))
    return [*report.write(folder), summary.save(folder)]


def write_comparison(
    comparison: TableComparison,
    folder: str | Path,
    *,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write a comparison: ranks, pairs with effect sizes, the diagram and a page."""
    report = StudyReport("comparison", figure_format, latex)
    report.tables |= {"ranks": comparison.to_frame(), "pairs": comparison.pairs_frame()}
    report.say(f"# Comparison by {comparison.title}")
    report.show("diagram", "diagram", CriticalDifferenceDisplay.from_comparison(comparison))
    report.say(markdown_table(comparison.to_frame()), *_tests(comparison, ()))
    return report.write(folder)


# -- execution time --------------------------------------------------------------------------------


_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path, index=False),
}


def ratio_table(result: TimingResult) -> pd.DataFrame:
    """Lay out how many times longer the paper's algorithms take, for reading."""
    frame = speed_ratios(result).to_frame()
    frame["slow"], frame["fast"] = frame["slow"].map(_title), frame["fast"].map(_title)
    return frame.rename(columns={"slow": "algorithm", "fast": "against"})


def slope_table(result: TimingResult) -> pd.DataFrame:
    """Lay out the slope of each parameter by itself beside the paper's, for reading."""
    frame = single_slopes(result).to_frame()
    frame["contestant"] = frame["contestant"].map(_title)
    frame["parameter"] = frame["parameter"].map(lambda name: PARAMETERS[name].title)
    return frame.rename(
        columns={
            "slope": "ms per unit",
            "r_squared": "R2",
            "to_naive": "/ naive",
            "paper_slope": "paper C.",
            "paper_r_squared": "paper R2",
            "paper_to_naive": "paper / naive",
        }
    )


def joint_table(result: TimingResult) -> pd.DataFrame:
    """Lay out the slopes of the series' three properties together beside the paper's."""
    frame = joint_slopes(result).to_frame()
    frame["contestant"] = frame["contestant"].map(_title)
    return frame.rename(columns=_joint_heading)


def _joint_heading(column: str) -> str:
    owner, name = ("paper: ", column[6:]) if column.startswith("paper_") else ("", column)
    titles = {"r_squared": "R2"} | {key: parameter.title for key, parameter in PARAMETERS.items()}
    return owner + titles.get(name, name)


def _title(name: str) -> str:
    return CONTESTANTS[name].title


def describe_job(job: Job) -> str:
    """Name a contestant and its series, or what is unusual about a generated one, in one line.

    Examples
    --------
    >>>     >>> case, = synthetic_cases([Setting(max_buffer=1000)])
    >>> describe_job(Job(case, CONTESTANTS["naive"]))
    'VUS, maximum buffer length 1000'
    """
    if not is_generated(job.case.name):
        return f"{job.contestant.title}, {job.case.name}"
    setting = job.case.setting
    changed = setting.differs_in(Setting())
    details = ", ".join(f"{PARAMETERS[name].title} {getattr(setting, name):g}" for name in changed)
    return f"{job.contestant.title}, {details or 'defaults'}"


TABLE_FORMATS = tuple(_WRITERS)


def write_report(
    result: TimingResult,
    folder: str | Path,
    *,
    table_format: str = "csv",
    figure_format: str = "png",
) -> list[Path]:
    """Write tables, figures and a page that shows them.

    Parameters
    ----------
    result : TimingResult
        At least one sample.
    folder : str or Path
        Made if it does not exist.
    table_format : {"csv", "parquet"}
        Of the tables.
    figure_format : {"png", "pdf", "svg"}, default="png"
        Of the figures.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If a format is unknown or nothing was measured.
    MissingDependencyError
        If matplotlib, pandas or scipy is not installed.
    """
    if table_format not in _WRITERS:
        known = ", ".join(map(repr, _WRITERS))
        raise InvalidInputError(f"`table_format` must be one of {known}, got {table_format!r}")
    check_figure_format(figure_format)
    if not result.samples:
        raise InvalidInputError("`result` must hold at least one sample, got none")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    display = TimingSweepDisplay if result.generated else TimingSeriesDisplay
    figures = [
        display.from_result(result, quantity=quantity).save(
            folder / f"{quantity}.{figure_format}", dpi=PAGE_DPI
        )
        for quantity in QUANTITIES
    ]
    tables = {"timings": result.to_frame(), "summary": result.summary()}
    tables["ratios"] = speed_ratios(result).to_frame()
    tables["joint_slopes"] = joint_slopes(result).to_frame()
    if result.generated:
        tables["slopes"] = single_slopes(result).to_frame()
    written = []
    for name, frame in tables.items():
        path = folder / f"{name}.{table_format}"
        _WRITERS[table_format](frame, path)
        written.append(path)
    page = folder / "timing.md"
    page.write_text(_page(result, figure_format), encoding="utf-8")
    return [page, *figures, *written, result.save(folder)]


def _page(result: TimingResult, figure_format: str) -> str:
    kind = "generated" if result.generated else "real"
    clocks = " and ".join(sorted({sample.clock for sample in result.samples}))
    parts = [f"# Execution time on {kind} series\n\nTimes are {clocks} time; medians."]
    parts += [picture("Time", f"seconds.{figure_format}")]
    parts += [picture("Memory", f"memory.{figure_format}")]
    parts.append("## How many times longer\n\n" + markdown_table(ratio_table(result)))
    if result.generated:
        parts.append(
            "## Each parameter by itself\n\nThe paper's columns are another machine, other code "
            "and units that it does not state; compare the ratios to naive.\n\n"
            + markdown_table(slope_table(result))
        )
    parts.append(
        "## The series' properties together\n\nMilliseconds for each unit; the paper's "
        "columns as above.\n\n" + markdown_table(joint_table(result))
    )
    if result.dropped:
        jobs = "\n".join(f"- {describe_job(job)}" for job in result.dropped)
        parts.append(f"## Left out: more than the budget allowed\n\n{jobs}")
    environment = json.dumps(result.environment, indent=2)
    parts.append(f"## Machine and versions\n\n```json\n{environment}\n```")
    return "\n\n".join(parts) + "\n"


# -- sections --------------------------------------------------------------------------------------


_ASSETS = ("studies.css", "charts.js", "studies.js")
_ALPHA = 0.1  # of the paper's tests


@dataclass(frozen=True)
class _Kind:
    """How results of one kind become a section."""

    result: type
    key: str
    title: str
    data: Callable[[Any, float], dict[str, Any]]
    about: Callable[[Any], str]
    figures: tuple[str, ...]


def study_sections(results: Iterable[Any], *, alpha: float = _ALPHA) -> list[Section]:
    """Make one section for each result of a study.

    Parameters
    ----------
    results : iterable
        What studies returned, or :func:`vuskit.studies.load_study_results` read.
    alpha : float, default=0.1
        Level of significance of the tests.

    Returns
    -------
    list of Section
        In the order of the results.

    Raises
    ------
    InvalidInputError
        If there is none, or one is not the result of a study.

    Examples
    --------
    >>> from vuskit.studies import scenario_study
    >>> section, = study_sections([scenario_study(measures=["vus_pr", "auc_pr"])])
    >>> section.key, section.title, len(section.data["scenarios"])
    ('scenarios', 'Scenarios', 12)
    """
    seen: Counter[str] = Counter()
    sections = []
    for result in results:
        kind = _kind_of(result)
        seen[kind.key] += 1
        again = seen[kind.key]
        sections.append(
            Section(
                key=kind.key if again == 1 else f"{kind.key}-{again}",
                view=f"study-{kind.key}",
                title=kind.title if again == 1 else f"{kind.title} ({again})",
                html=_markup(kind, result),
                data=kind.data(result, alpha),
                assets=_ASSETS,
            )
        )
    if not sections:
        raise InvalidInputError("`results` must hold at least one result of a study, got none")
    return sections


def _kind_of(result: Any) -> _Kind:
    for kind in _KINDS:
        if isinstance(result, kind.result):
            return kind
    known = ", ".join(kind.result.__name__ for kind in _KINDS)
    raise InvalidInputError(
        f"`results` must be results of studies ({known}), got {type(result).__name__}"
    )


# ---- markup ----


def _markup(kind: _Kind, result: Any) -> str:
    return (
        f"<header>\n<h1>{kind.title}</h1>\n<p>{html.escape(kind.about(result))}</p>\n</header>\n"
        '<div class="legend"></div>\n' + "\n".join(kind.figures)
    )


def _figure(
    identity: str, title: str, text: str = "", *, select: tuple[str, ...] = (), tail: str = ""
) -> str:
    """Heading, choices, button to copy, explanation and the place of a figure or table."""
    choices = "".join(
        f'<label>{name} <select id="{identity}-{name.replace(" ", "-")}"></select></label>'
        for name in select
    )
    return (
        f'<section aria-labelledby="h-{identity}">\n<div class="head"><h2 id="h-{identity}">'
        f'{title}</h2>{choices}<button type="button" data-copy="{identity}">Copy csv</button>'
        f"</div>\n" + (f'<p class="quiet">{text}</p>\n' if text else "") + f'<div id="{identity}" '
        f'class="panels"></div>\n{tail}</section>'
    )


_BARS = (
    "No two measures that share a bar differ significantly; two that share none do, or something "
    "between them does."
)
_ROBUSTNESS = (
    _figure(
        "averages",
        "Mean standard deviation",
        "Mean over detectors, then series, then data sets. Short bars: robust.",
        tail='<div id="averages-table"></div>\n',
    ),
    _figure(
        "ranks",
        "Critical differences",
        "Mean rank of each measure over the series, 1 is the most robust. " + _BARS,
    ),
    _figure(
        "boxes",
        "One series",
        "Values of each measure less their mean over the perturbations of a detector: quartiles, "
        "median, and whiskers to the last value within one and a half boxes.",
        select=("series", "detector"),
        tail='<p id="boxes-note" class="quiet"></p>\n',
    ),
    _figure(
        "datasets",
        "By data set",
        "Mean standard deviation over the series of each data set, all on the same scale.",
        select=("perturbation",),
        tail='<p id="datasets-note" class="quiet"></p>\n',
    ),
    _figure("undefined", "Undefined values", "Counted, and left out of the averages."),
    '<div id="failures"></div>',
)
_SEPARABILITY = (
    _figure(
        "z",
        "z of the pairs",
        "How many standard errors lie between an accurate and an inaccurate detector. The mean is "
        "taken over the series' means of finite z, the median over all pairs.",
        tail='<div id="z-table"></div>\n',
    ),
    _figure(
        "pairs",
        "One pair",
        "Values of each measure for the perturbed scores of the two detectors.",
        select=("series", "pair"),
        tail='<p id="pairs-note" class="quiet"></p>\n',
    ),
    _figure(
        "ranks",
        "Critical differences",
        "Mean rank of each measure over the series, 1 is the most separable. " + _BARS,
    ),
    '<div id="failures"></div>',
)
_CONSISTENCY = (
    _figure(
        "entropies",
        "Entropy of the ranks",
        "In bits, mean over detectors and data sets; by measure, and by family of measures. "
        "Short bars: consistent.",
    ),
    _figure(
        "map",
        "Detectors",
        "How each measure ranks each detector, 1 is best; and how much that rank changes from "
        "series to series.",
        select=("data set", "quantity"),
        tail='<p id="map-note" class="quiet"></p>\n',
    ),
    _figure("by-dataset", "Entropy by data set", "Mean over the detectors, in bits."),
    '<div id="failures"></div>',
)
_SCENARIOS = (
    '<section aria-labelledby="h-walk">\n<div class="head"><h2 id="h-walk">Walk over the anomaly'
    '</h2><button type="button" data-copy="walk">Copy csv</button></div>\n'
    '<div class="slider"><label for="scenario">scenario</label><input type="range" id="scenario" '
    'min="0" step="1"><output id="scenario-name" for="scenario"></output></div>\n'
    '<div id="walk" class="panels"></div>\n<div id="walk-bars" class="panels"></div>\n</section>',
    _figure(
        "sweep",
        "Point by point",
        "Value of every measure while the prediction moves, by the place of its end. The first "
        "touch is at 0; the upright line is the scenario chosen above.",
    ),
    _figure(
        "touch",
        "At the first touch",
        "credit: what just missing is worth, from 0 (a miss) to 1 (the exact match). jump: how "
        "much of the rise from a miss to the first touch happens at the touch itself; 1 is all of "
        "it.",
    ),
    _figure("values", "All values"),
)
_SUMMARY = (
    _figure("summary", "Ranks", "1 is best; mean: of the five ranks."),
    _figure(
        "scatter",
        "Robustness against separability",
        "Left is robust, up is separable. The larger the circle, the more the measure depends on "
        "the share of anomalous points.",
    ),
    _figure("scores", "The numbers behind the ranks", "Mean standard deviations, z, mean entropy."),
)
_TIMING = (
    _figure(
        "panels",
        "One property at a time",
        "Medians, with the quartiles as shade; both axes are logarithmic where the scale allows.",
        select=("quantity",),
    ),
    '<div id="tables"></div>',
    _figure("cells", "All cells"),
    '<div id="dropped"></div>',
    '<section><div class="head"><h2>Machine and versions</h2></div><div id="machine"></div>'
    "</section>",
)


# ---- what a result says about itself ----


def _about_robustness(result: RobustnessResult) -> str:
    task = result.study
    return (
        f"How much each measure changes under perturbations that should not matter: "
        f"{', '.join(task.perturbations)}; {len(result.values):,} series, {task.count} "
        f"perturbations of each kind, seed {task.seed}. {_settings(task.settings)}"
    )


def _about_separability(result: SeparabilityResult) -> str:
    without = len(result.series_without_pairs)
    return (
        f"How far each measure keeps accurate and inaccurate detectors apart while lag and noise "
        f"perturb their scores. Pairs: {result.rule}. {len(result.values) - without:,} series have "
        f"such pairs, {without:,} have none. {_settings(result.study.settings)}"
    )


def _about_consistency(result: ConsistencyResult) -> str:
    left_out = ", ".join(result.small_datasets) or "none"
    return (
        f"Whether each measure ranks the detectors alike on series of the same kind: "
        f"{len(result.values):,} series; equal values get the {result.study.ties} rank. Data sets "
        f"of fewer than {result.study.min_series} series are left out: {left_out}. "
        f"Undefined values: {int(result.undefined().sum()):,}. {_settings(result.study.settings)}"
    )


def _about_scenarios(result: ScenarioResult) -> str:
    return (
        f"One anomaly of {result.length} points among {result.n_points:,}, buffer "
        f"{result.buffer}, and a prediction that moves over it. Undefined values: "
        f"{sum(result.undefined().values()):,}."
    )


def _about_summary(summary: Summary) -> str:
    return (
        f"Rank of {len(summary.measures)} measures in every study: robustness by the mean standard "
        "deviation, separability by z, consistency by the mean entropy."
    )


def _about_timing(result: TimingResult) -> str:
    kind = "generated" if result.generated else "real"
    clocks = " and ".join(sorted({sample.clock for sample in result.samples}))
    cells = len({sample.key for sample in result.samples})
    return (
        f"Execution time and memory on {kind} series: {cells:,} cells, {len(result.samples):,} "
        f"timed runs, {clocks} time."
    )


def _settings(settings: Any) -> str:
    return f"Settings: {settings}."


def _robustness(result: RobustnessResult, alpha: float) -> dict[str, Any]:
    return robustness_data(result, alpha=alpha)


def _separability(result: SeparabilityResult, alpha: float) -> dict[str, Any]:
    return separability_data(result, alpha=alpha)


def _untested(data: Callable[[Any], dict[str, Any]]) -> Callable[[Any, float], dict[str, Any]]:
    """For studies without tests, which need no level of significance."""
    return lambda result, alpha: data(result)


# -- numbers ---------------------------------------------------------------------------------------


Values = NDArray[np.float64]
Item = TypeVar("Item")

ROOM = 1_200_000
"""Bytes, encoded, that the part of a study that grows with its series may take."""

_BYTES_PER_NUMBER = 16 / 3  # single precision in base64
_BOX = 5
_MOST_FAILURES = 50


# ---- forms ----


def plain(value: Any) -> Any:
    """A value as JSON knows it: undefined as null, infinite as text, numbers whole.

    Examples
    --------
    >>> [plain(value) for value in (0.1, float("nan"), float("-inf"), np.int64(3), "a")]
    [0.1, None, '-inf', 3, 'a']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _numbers(values: Iterable[Any]) -> list[Any]:
    return [plain(value) for value in values]


def table_data(frame: pd.DataFrame) -> dict[str, Any]:
    """A table as JSON knows it, by rows."""
    rows = frame.itertuples(index=False, name=None)
    return {"columns": list(map(str, frame.columns)), "rows": [_numbers(row) for row in rows]}


def encoded(numbers: Values) -> str:
    """Numbers in single precision, as text; NaN stays NaN.

    Examples
    --------
    >>> encoded(np.array([1.0]))
    'AACAPw=='
    """
    return base64.b64encode(np.asarray(numbers).astype("<f4").tobytes()).decode("ascii")


def measures_data(measures: Iterable[Measure]) -> dict[str, Any]:
    """Names, titles and families of measures, and the colors of the families."""
    listed = list(measures)
    return {
        "measures": [
            {"name": one.name, "title": one.title, "family": family_of(one)} for one in listed
        ],
        "families": {
            family_of(one): {"title": FAMILY_TITLES[family_of(one)], "color": family_color(one)}
            for one in listed
        },
    }


def box_numbers(values: Values) -> Values:
    """Five numbers of a box plot along the last axis; undefined values are left out.

    Returns
    -------
    array
        Lower whisker, lower quartile, median, upper quartile, upper whisker. A whisker ends at the
        last value within one and a half times the box.

    Examples
    --------
    >>> box_numbers(np.array([1.0, 2.0, 3.0, 4.0, 30.0, np.nan]))
    array([1., 2., 3., 4., 4.])
    """
    ordered = np.sort(values, axis=-1)  # NaN comes last
    last = np.maximum(np.isfinite(ordered).sum(axis=-1, keepdims=True) - 1, 0)

    def quantile(share: float) -> Values:
        place = share * last
        lower = np.floor(place).astype(np.intp)
        upper = np.minimum(lower + 1, last)
        below = np.take_along_axis(ordered, lower, -1)
        found: Values = below + (place - lower) * (np.take_along_axis(ordered, upper, -1) - below)
        return found

    first, median, third = quantile(0.25), quantile(0.5), quantile(0.75)
    reach = 1.5 * (third - first)
    inside = (ordered >= first - reach) & (ordered <= third + reach)
    low = np.where(inside, ordered, np.inf).min(axis=-1, keepdims=True)
    high = np.where(inside, ordered, -np.inf).max(axis=-1, keepdims=True)
    nothing = np.isnan(median)
    whiskers = [np.where(nothing, np.nan, end) for end in (low, high)]
    return np.concatenate([whiskers[0], first, median, third, whiskers[1]], axis=-1)


def sampled(
    items: Sequence[Item], count: int, group: Callable[[Item], Hashable] = lambda item: None
) -> list[Item]:
    """Keep at most ``count`` items, evenly from every group, in their order.

    Examples
    --------
    >>> sampled(["a1", "a2", "a3", "b1"], 2, group=lambda name: name[0])
    ['a1', 'b1']
    """
    if len(items) <= count:
        return list(items)
    groups: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(group(item), []).append(place)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    chosen = itertools.islice((place for place in turns if place is not None), count)
    return [items[place] for place in sorted(chosen)]


def _series_that_fit(
    values: Sequence[SeriesValues], numbers_of: Callable[[SeriesValues], int]
) -> list[SeriesValues]:
    """As many series as there is room for, from every data set."""
    largest = max(map(numbers_of, values), default=1)
    count = max(int(ROOM / _BYTES_PER_NUMBER / max(largest, 1)), 1)
    return sampled(values, count, group=lambda one: one.dataset)


def _sample_note(kept: int, total: int, what: str = "series") -> str:
    return "" if kept == total else f"A sample of {kept:,} of {total:,} {what}, from all data sets."


def comparison_data(
    make: Callable[[], TableComparison], measures: Iterable[Measure]
) -> dict[str, Any] | None:
    """Ranks, groups and sentences of a comparison; None where too few series allow one."""
    try:
        found = make()
    except InvalidInputError:
        return None
    return {
        "title": found.title,
        "ranks": table_data(found.to_frame()),
        "pairs": table_data(found.pairs.to_frame()),
        "groups": [[str(name) for name in group] for group in found.groups],
        "sentences": [*found.tests, groups_sentence(found.groups, titles_of(measures))],
    }


def _failures_data(failures: Sequence[Failure]) -> dict[str, Any]:
    return {
        "count": len(failures),
        "rows": [[one.name, one.reason] for one in failures[:_MOST_FAILURES]],
    }


# ---- the studies ----


def robustness_data(result: RobustnessResult, *, alpha: float) -> dict[str, Any]:
    """Averages, data sets, tests, and the boxes of as many series as there is room for."""
    kinds, names = list(result.study.perturbations), list(result.study.names)
    datasets, averages = result.by_dataset(), result.averages()
    over_series = result.averages(over="series")
    shown = _series_that_fit(
        result.values, lambda one: len(kinds) * (len(one.axes["detector"]) + 1) * len(names) * _BOX
    )
    return {
        **measures_data(result.measures),
        "perturbations": kinds,
        "averages": {kind: _numbers(averages[kind]) for kind in kinds},
        "over_series": {kind: _numbers(over_series[kind]) for kind in kinds},
        "datasets": {
            "names": list(map(str, datasets.loc[kinds[0]].index)),
            "values": {
                kind: [_numbers(row) for row in datasets.loc[kind].to_numpy()] for kind in kinds
            },
        },
        "tests": {
            kind: comparison_data(partial(result.compare, kind, alpha=alpha), result.measures)
            for kind in kinds
        },
        "undefined": table_data(result.undefined()),
        "series": [_robustness_boxes(result, one) for one in shown],
        "note": _sample_note(len(shown), len(result.values)),
        "failures": _failures_data(result.failures),
    }


def _robustness_boxes(result: RobustnessResult, one: SeriesValues) -> dict[str, Any]:
    """Boxes of centered values by perturbation: all detectors together, and each by itself."""
    detectors, measures = one.axes["detector"], len(result.measures)
    boxes = []
    for kind in result.study.perturbations:
        centered = result.centered(one.name, kind).to_numpy()
        each = centered.reshape(len(detectors), result.study.count, measures).transpose(0, 2, 1)
        boxes += [box_numbers(centered.T)[None], box_numbers(each)]
    return {
        "name": one.name,
        "buffer": one.buffer,
        "detectors": list(detectors),
        "boxes": encoded(np.concatenate(boxes)),
    }


def separability_data(result: SeparabilityResult, *, alpha: float) -> dict[str, Any]:
    """Averages, tests, and the pairs of as many series as there is room for."""
    frame = result.to_frame()
    with_pairs = [one for one in result.values if one.notes["pairs"]]
    shown = _series_that_fit(
        with_pairs,
        lambda one: (
            len(result.measures) * (_BOX * len(one.axes["detector"]) + len(one.notes["pairs"]))
        ),
    )
    return {
        **measures_data(result.measures),
        "rule": result.rule,
        "averages": table_data(result.averages().reset_index()),
        "test": comparison_data(lambda: result.compare(alpha=alpha), result.measures),
        "without": len(result.series_without_pairs),
        "series": _pairs(result, frame, shown),
        "note": _sample_note(len(shown), len(with_pairs), "series with pairs"),
        "failures": _failures_data(result.failures),
    }


def _pairs(
    result: SeparabilityResult, frame: pd.DataFrame, shown: Iterable[SeriesValues]
) -> list[dict[str, Any]]:
    count = len(result.measures)
    # One row for each pair and measure, series by series: as the frame is made.
    by_series = {key: part["z"].to_numpy() for key, part in frame.groupby(["dataset", "series"])}
    return [
        {
            "name": one.name,
            "buffer": one.buffer,
            "detectors": list(one.axes["detector"]),
            "pairs": [list(pair) for pair in one.notes["pairs"]],
            "criterion": {name: plain(merit) for name, merit in one.notes["criterion"].items()},
            "boxes": encoded(box_numbers(one.values.transpose(0, 2, 1))),
            "z": encoded(by_series[one.dataset, one.series].reshape(-1, count)),
        }
        for one in shown
    ]


def consistency_data(result: ConsistencyResult) -> dict[str, Any]:
    """Entropies, and mean ranks and entropies of every detector by data set."""
    names = list(result.study.names)
    averages, entropies = result.averages(), result.entropies()
    everywhere = entropies.groupby(level="detector", sort=False).mean()
    datasets = list(dict.fromkeys(one.dataset for one in result.values))
    maps = [{"name": "", **_rank_map(result.rank_table(), everywhere, names)}]
    largest = 2 * len(maps[0]["detectors"]) * len(names)
    kept = sampled(datasets, max(int(ROOM / _BYTES_PER_NUMBER / largest), 1))
    known = set(entropies.index.get_level_values("dataset"))
    for dataset in kept:
        own = entropies.loc[dataset] if dataset in known else everywhere.iloc[:0]
        maps.append({"name": dataset, **_rank_map(result.rank_table(dataset), own, names)})
    return {
        **measures_data(result.measures),
        "entropies": _numbers(averages["entropy"]),
        "by_family": {family: plain(mean) for family, mean in result.by_family().items()},
        "datasets": table_data(result.by_dataset().reset_index()),
        "maps": maps,
        "small": list(result.small_datasets),
        "undefined": int(result.undefined().sum()),
        "note": _sample_note(len(kept), len(datasets), "data sets"),
        "failures": _failures_data(result.failures),
    }


def _rank_map(ranks: pd.DataFrame, entropies: pd.DataFrame, names: list[str]) -> dict[str, Any]:
    ranks = ranks.reindex(columns=names)
    return {
        "detectors": list(map(str, ranks.index)),
        "ranks": encoded(ranks.to_numpy(float)),
        "entropies": encoded(entropies.reindex(index=ranks.index, columns=names).to_numpy(float)),
    }


def scenarios_data(result: ScenarioResult) -> dict[str, Any]:
    """Every scenario, the way in between, and the first touch."""
    return {
        **measures_data(result.measures),
        "scenarios": [
            {"name": one.name, "title": one.title, "start": one.start, "stop": one.stop}
            for one in result.scenarios
        ],
        "values": [_numbers(row) for row in result.values],
        "positions": result.positions.tolist(),
        "sweep": [_numbers(row) for row in result.sweep],
        "touch": table_data(result.at_first_touch().reset_index()),
        "n_points": result.n_points,
        "length": result.length,
        "buffer": result.buffer,
        "touching": TOUCHING,
        "exact": EXACT,
        "undefined": sum(result.undefined().values()),
    }


def summary_data(summary: Summary) -> dict[str, Any]:
    """Ranks, the numbers behind them, and the scatter."""
    return {
        **measures_data(summary.measures),
        "ranks": table_data(summary.ranks.reset_index()),
        "scores": table_data(summary.scores.reset_index()),
        "scatter": table_data(summary.scatter().reset_index()),
    }


# -- numbers of the execution time -----------------------------------------------------------------


_DASHES = {"-": "", "--": "6 4", ":": "2 3", "-.": "6 3 2 3"}
_PROPERTIES = ("n_anomalies", "mean_length", "n_points")
# What is drawn: a column, and the columns of its envelope.
_QUANTITIES = {
    "seconds": ("median", "lower_quartile", "upper_quartile"),
    "peak memory (bytes)": ("peak_bytes", "peak_bytes", "peak_bytes"),
}


def timing_data(result: TimingResult) -> dict[str, Any]:
    """Panels, tables and the machine."""
    summary = result.summary()
    present = [name for name in CONTESTANTS if name in set(summary["contestant"])]
    panels = _sweep_panels if result.generated else _series_panels
    return {
        "generated": result.generated,
        "clocks": sorted({sample.clock for sample in result.samples}),
        "cells": len(summary),
        "runs": len(result.samples),
        "contestants": [
            {
                "name": name,
                "title": CONTESTANTS[name].title,
                "color": CONTESTANT_STYLES[name]["color"],
                "dash": _DASHES[CONTESTANT_STYLES[name]["linestyle"]],
            }
            for name in present
        ],
        "quantities": list(_QUANTITIES),
        "panels": panels(summary, present),
        "tables": _tables(result),
        "summary": table_data(summary),
        "dropped": [describe_job(job) for job in result.dropped],
        "environment": _environment(result.environment),
    }


def _tables(result: TimingResult) -> dict[str, dict[str, Any]]:
    """Ratios and coefficients, by title."""
    tables = {"How many times longer": ("Over the cells that both have", ratio_table(result))}
    if result.generated:
        tables["Each parameter by itself"] = (
            "The paper's columns are another machine, other code and units that it does not state; "
            "compare the ratios to naive",
            slope_table(result),
        )
    tables["The series' properties together"] = (
        "Milliseconds for each unit; the paper's columns are another machine",
        joint_table(result),
    )
    return {
        title: {"caption": caption, **table_data(frame)}
        for title, (caption, frame) in tables.items()
    }


def _sweep_panels(summary: pd.DataFrame, present: list[str]) -> list[dict[str, Any]]:
    """One panel for each parameter that varies while the others do not."""
    panels = []
    for parameter in PARAMETERS.values():
        cells = rows_of_sweep(summary, parameter.name)
        if cells[parameter.name].nunique() > 1:
            curves = [_sweep(cells, parameter.name, name) for name in present]
            panels.append(_panel(parameter.name, parameter.scale, curves))
    return panels


def _sweep(cells: pd.DataFrame, parameter: str, contestant: str) -> dict[str, Any]:
    curve = cells[cells["contestant"] == contestant]
    return {
        "name": contestant,
        "x": list(map(plain, curve[parameter])),
        **{
            quantity: [list(map(plain, curve[column])) for column in columns]
            for quantity, columns in _QUANTITIES.items()
        },
    }


def _series_panels(summary: pd.DataFrame, present: list[str]) -> list[dict[str, Any]]:
    """One panel for each property of real series: medians of series that are alike."""
    panels = []
    for name in _PROPERTIES:
        curves = [_alike(summary[summary["contestant"] == one], name, one) for one in present]
        panels.append(_panel(name, "log", curves))
    return panels


def _alike(cells: pd.DataFrame, parameter: str, contestant: str) -> dict[str, Any]:
    x = cells[parameter].to_numpy(float)
    curve: dict[str, Any] = {"name": contestant, "dots": {"x": x.tolist()}}
    for quantity, (column, *_) in _QUANTITIES.items():
        y = cells[column].to_numpy(float)
        middle_x, *lines = alike_groups(x, y)
        curve["x"] = middle_x.tolist()
        curve[quantity] = [line.tolist() for line in lines]
        curve["dots"][quantity] = y.tolist()
    return curve


def _panel(parameter: str, scale: str, curves: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "parameter": parameter,
        "title": PARAMETERS[parameter].title,
        "scale": scale,
        "curves": [curve for curve in curves if curve["x"]],
    }


def _environment(environment: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, value in environment.items():
        listed = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name} {part}".strip(), str(text)] for part, text in listed]
    return rows


_KINDS = (
    _Kind(
        RobustnessResult, "robustness", "Robustness", _robustness, _about_robustness, _ROBUSTNESS
    ),
    _Kind(
        SeparabilityResult,
        "separability",
        "Separability",
        _separability,
        _about_separability,
        _SEPARABILITY,
    ),
    _Kind(
        ConsistencyResult,
        "consistency",
        "Consistency",
        _untested(consistency_data),
        _about_consistency,
        _CONSISTENCY,
    ),
    _Kind(
        ScenarioResult,
        "scenarios",
        "Scenarios",
        _untested(scenarios_data),
        _about_scenarios,
        _SCENARIOS,
    ),
    _Kind(Summary, "summary", "Summary", _untested(summary_data), _about_summary, _SUMMARY),
    _Kind(TimingResult, "timing", "Execution time", _untested(timing_data), _about_timing, _TIMING),
)


def studies_page_html(studies: Sequence[object]) -> str:
    """Write the page of some studies.

    Parameters
    ----------
    studies : sequence
        Results of studies, at least one.

    Returns
    -------
    str
        One HTML document that needs nothing else and asks no network.
    """
    return page_document("Studies", study_sections(studies))

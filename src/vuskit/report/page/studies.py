"""Studies for readers: sections of a page, folders with tables and figures, and text."""

from __future__ import annotations

import base64
import html
import re
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit._util.tables import TableLayout, csv_text, frame_csv, frame_records
from vuskit._util.text import escape_markdown
from vuskit.errors import InvalidInputError
from vuskit.figures import ChoiceDisplay, Display
from vuskit.figures._drawing import titles_of
from vuskit.figures.base import PAGE_DPI, check_figure_format, json_ready
from vuskit.inputs import check_choice
from vuskit.report.latex import latex_frame
from vuskit.report.page.document import (
    CHART_ASSETS,
    Section,
    answers,
    compact,
    element,
    page_document,
    safe_json,
)
from vuskit.report.tables import (
    TABLE_FORMATS,
    markdown_table,
    titled_table,
    with_titles,
    write_table,
)
from vuskit.report.verdict import Verdict, verdict_of
from vuskit.statistics.comparison import compare_columns
from vuskit.studies import PublishedComparison, get_study
from vuskit.studies.result import StudyResult
from vuskit.studies.timing import TimingResult
from vuskit.studies.timing.tables import complexity_table, ratio_table, speed_ratios

if TYPE_CHECKING:
    import pandas as pd

ROOM = 1_200_000
"""Bytes, encoded, that the choices of one figure may take in a page."""

DRAWN_KINDS = frozenset(
    {
        "centered_boxes",
        "choice",
        "comparison_matrix",
        "critical_difference",
        "entropy",
        "forest",
        "rank_lines",
        "robustness_bars",
        "scatter",
        "scenario_sweep",
        "scenarios",
        "sensitivity",
        "separability_bars",
        "separability_boxes",
        "summary",
        "timing_series",
        "timing_sweeps",
    }
)
"""Kinds of displays that studies.js draws; others are embedded as pictures by matplotlib."""

STUDY_ASSETS = (*CHART_ASSETS, "studies.css", "studies.js")
_PICTURE_DPI = 110
_SHARED = ("measures", "families")  # stored once for all displays of a choice
_MOST_ROWS = 400  # longer tables are not part of a page
_MOST_FAILURES = 50


def studies_page_html(results: Sequence[Any]) -> str:
    """Return the page of some studies.

    Parameters
    ----------
    results : sequence
        Results of studies, at least one.

    Returns
    -------
    str
        One self-contained HTML document; it uses no network.
    """
    return page_document("Studies", study_sections(results))


def study_sections(results: Iterable[Any]) -> list[Section]:
    """Create one section for each result of a study."""
    seen: Counter[str] = Counter()
    sections = []
    for result in map(checked, results):
        key, title = result.kind, get_study(result.kind).title
        seen[key] += 1
        again = seen[key]
        data = _section_data(result)
        sections.append(
            Section(
                key=key if again == 1 else f"{key}-{again}",
                view="study",
                title=title if again == 1 else f"{title} ({again})",
                html=_section_html(result, data),
                data=data,
                assets=STUDY_ASSETS,
            )
        )
    if not sections:
        raise InvalidInputError("`results` must hold at least one result of a study, got none")
    return sections


def _section_data(result: StudyResult) -> dict[str, Any]:
    """Return the data of all displays and tables, and the measures they show."""
    displays, frames = result.figures(), result.tables()
    named = slugs(displays)
    figures = [{"name": named[name], **figure_data(display)} for name, display in displays.items()]
    named = slugs(frames)
    tables = [
        {
            "name": named[name],
            "title": spoken(name),
            "columns": list(map(str, frame.columns)),
            "rows": [json_ready(list(row)) for row in frame.itertuples(index=False, name=None)],
        }
        for name, frame in frames.items()
        if len(frame) <= _MOST_ROWS
    ]
    verdicts = {name: one.to_dict() for name, one in _verdicts(result).items()}
    return {**measures_of(figures), "figures": figures, "tables": tables, "verdicts": verdicts}


def _verdicts(result: StudyResult) -> dict[str, Verdict]:
    """Return the verdict of each comparison of measures of a study."""
    if not hasattr(result, "comparisons"):
        return {}
    titles = {one.name: one.title for one in result.measures}
    found = {}
    for name, one in result.comparisons().items():
        renamed = compare_columns(
            one.table.rename(columns=titles),
            title=one.title,
            higher_is_better=one.higher_is_better,
            alpha=one.pairs.alpha,
            n_resamples=2,  # the minimum: verdicts use no intervals of ranks
        )
        found[name] = verdict_of(renamed, compared="measures")
    return found


def measures_of(figures: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the measures and families that figures show, for the legend."""
    measures: dict[str, Any] = {}
    families: dict[str, Any] = {}
    for figure in figures:
        shown = figure.get("shared", figure)
        families |= shown.get("families", {})
        for item in (*shown.get("measures", ()), *shown.get("items", ())):
            if "family" in item:
                kept = {name: item[name] for name in ("name", "title", "family", "color")}
                measures.setdefault(item["name"], kept)
    return {"measures": list(measures.values()), "families": families}


def figure_data(display: Display) -> dict[str, Any]:
    """Return the data of a display, limited in size; a picture if the page cannot draw it."""
    if isinstance(display, ChoiceDisplay):
        first = display.display(display.keys[0])
        if first.kind not in DRAWN_KINDS:
            return _picture(display)
        own = {name: one for name, one in first.to_dict().items() if name not in _SHARED}
        data = display.limited(max(int(ROOM / len(safe_json(compact(own)))), 1)).to_dict()
        return {
            **data,
            "choices": [{**one, "figure": compact(one["figure"])} for one in data["choices"]],
        }
    return display.to_dict() if display.kind in DRAWN_KINDS else _picture(display)


def _picture(display: Display) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = display.save(Path(folder) / "figure.png", dpi=_PICTURE_DPI)
        encoded = base64.b64encode(file.read_bytes()).decode("ascii")
    return {
        "kind": "picture",
        "title": display.title or display.heading,
        "caption": display.caption,
        "picture": f"data:image/png;base64,{encoded}",
    }


def _section_html(result: StudyResult, data: Mapping[str, Any]) -> str:
    """Return headings, captions and placeholders of figures and tables; names are escaped."""
    study = get_study(result.kind)
    header = [element("h1", study.title), element("p", study.question)]
    about = " ".join([result.about(), *remarks(result)])
    header += [element("p", text, class_="quiet") for text in (about, *options_text(result))]
    verdicts = {name: one["sentences"].values() for name, one in data["verdicts"].items()}
    said = answers({spoken(name): " ".join(texts) for name, texts in verdicts.items()})
    parts = [
        f"<header>\n{''.join(header)}\n</header>",
        f'<div class="answers" aria-label="Verdict">{said}</div>' if said else "",
        '<div class="legend"></div>',
    ]
    for figure in data["figures"]:
        labels = figure.get("labels", [])
        parts.append(
            figure_place(f"figure-{figure['name']}", figure["title"], figure["caption"], labels)
        )
    parts += [
        figure_place(f"table-{table['name']}", table["title"], "") for table in data["tables"]
    ]
    long = {
        spoken(name): len(frame)
        for name, frame in result.tables().items()
        if len(frame) > _MOST_ROWS
    }
    if long:
        listed = ", ".join(f"{name} ({count:,} rows)" for name, count in long.items())
        parts.append(element("p", f"Too long for this page: {listed}.", class_="quiet"))
    return "\n".join([*parts, _failures_html(result.failures)])


def figure_place(identity: str, title: str, caption: str, labels: Sequence[str] = ()) -> str:
    """Return heading, controls, caption and placeholder of a figure or table."""
    choices = "".join(
        f'<label>{html.escape(label)} <select id="{identity}-{label.replace(" ", "-")}"></select>'
        "</label>"
        for label in labels
    )
    heading = element("h2", title[:1].upper() + title[1:], id=f"h-{identity}")
    return (
        f'<section aria-labelledby="h-{identity}">\n<div class="head">{heading}{choices}'
        f'<button type="button" data-copy="{identity}">Copy csv</button></div>\n'
        + (element("p", caption, class_="quiet") + "\n" if caption else "")
        + f'<div id="{identity}" class="panels"></div>\n</section>'
    )


def _failures_html(failures: Sequence[Any]) -> str:
    if not failures:
        return ""
    more = f" The first {_MOST_FAILURES} are shown." if len(failures) > _MOST_FAILURES else ""
    listed = "".join(
        element("li", f"{one.name}: {one.reason}") for one in failures[:_MOST_FAILURES]
    )
    return (
        f'<section id="failures"><div class="head"><h2>Failures</h2></div>'
        f"<p>{len(failures):,} series failed.{more}</p><ul>{listed}</ul></section>"
    )


def remarks(result: StudyResult) -> list[str]:
    """Return the buffer and the notes of a result as sentences."""
    buffer = [] if result.buffers is None else [f"Buffer: {result.buffers}."]
    return buffer + [f"{note[:1].upper()}{note[1:]}." for note in result.notes()]


def options_text(result: StudyResult) -> list[str]:
    """Return the options of a result as a sentence; nothing for a result without a study."""
    return [] if result.study is None else [f"O{result.options_line[1:]}."]


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Return unique names that are valid in addresses and file names.

    Examples
    --------
    >>> slugs(["ranks_plant/logs", "ranks_plant-logs", "averages"])
    {'ranks_plant/logs': 'ranks_plant-logs', 'ranks_plant-logs': 'ranks_plant-logs-2', ...}
    """
    found: dict[str, str] = {}
    for name in names:
        slug = first = re.sub(r"[^\w-]+", "-", name)
        count = 1
        while slug in found.values():
            count += 1
            slug = f"{first}-{count}"
        found[name] = slug
    return found


def spoken(name: str) -> str:
    """Return the name of a table in words."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def checked(result: Any) -> StudyResult:
    """Return the result if it is one of a study."""
    if not isinstance(result, StudyResult):
        raise InvalidInputError(
            f"`results` must be results of studies, got {type(result).__name__}"
        )
    return result


_MOST_MARKDOWN_ROWS = 40
_MOST_LATEX_ROWS = 200  # longer tables are not for print
_LISTED = 20


def write_study(
    result: Any,
    folder: str | Path,
    *,
    series: str | None = None,
    figure_format: str = "png",
    table_format: str = "csv",
    latex: bool = False,
) -> list[Path]:
    """Write a study: a Markdown page, tables, figures, and the saved result.

    Parameters
    ----------
    result : StudyResult
        Result of any study.
    folder : str or Path
        Output folder; created if it does not exist.
    series : str, optional
        Series to draw if there is one figure per series: its name, with or without the data set.
        The first by default.
    figure_format : {"png", "pdf", "svg"}, default="png"
        Format of the figures.
    table_format : {"csv", "parquet"}, default="csv"
        Format of the tables.
    latex : bool, default=False
        Also write tables of up to 200 rows as ``.tex``.

    Returns
    -------
    list of Path
        The files, the page first.

    Raises
    ------
    InvalidInputError
        If the result holds no values, no figure shows that series, or a format is unknown.
    """
    result = checked(result)
    figures = result.figures()
    study, measures = get_study(result.kind), () if result.study is None else result.measures
    keys = {name: _key_of(one, series) for name, one in figures.items()}
    if series is not None and not any(keys.values()):
        raise InvalidInputError(f"`series` must name a series with a figure, got {series!r}")
    page = [f"# {study.title}", study.question, result.about()]
    page += [*remarks(result), *options_text(result)]
    page = list(map(escape_markdown, page))
    verdicts = _verdicts(result).items()
    page += ["## Verdict"] * bool(verdicts)
    page += [f"**{spoken(name)}**: {escape_markdown(str(one))}" for name, one in verdicts]
    titles = titles_of(measures)
    writer = _Folder(result.kind, folder, figure_format, table_format, latex, titles)
    if result.study is not None:
        writer.notes = [f"{result.options_line}."]
    for name, display in figures.items():
        title = display.title or display.heading
        page += [escape_markdown(f"## {title[:1].upper()}{title[1:]}")]
        page += [escape_markdown(display.caption)] if display.caption else []
        page.append(writer.figure(name, display, keys[name]))
        page += [escape_markdown(f"- {note}") for note in getattr(display, "notes", ())]
    tables = result.tables()
    page.append("## Tables")
    if result.study is not None:
        writer.table("options", _options_table(result))
    for name, frame in tables.items():
        writer.table(name, frame)
        if len(frame) <= _MOST_MARKDOWN_ROWS:
            page += [f"### {spoken(name)}", markdown_table(with_titles(frame, titles))]
    page += _failures(result.failures)
    return [*writer.write(page), result.save(folder)]


def _options_table(result: StudyResult) -> pd.DataFrame:
    pandas = require("pandas", purpose="tables")
    options = result.study.options_in_force()
    frame: pd.DataFrame = pandas.DataFrame(list(options.items()), columns=["option", "value"])
    return frame


def write_comparison(
    comparison: Any,
    folder: str | Path,
    *,
    verdict: Verdict | None = None,
    figure_format: str = "png",
    latex: bool = False,
) -> list[Path]:
    """Write a comparison: verdict, ranks, pairs with effect sizes, diagram, matrix and a page."""
    writer = _Folder("comparison", folder, figure_format, "csv", latex, {})
    writer.table("ranks", comparison.to_frame())
    writer.table("pairs", comparison.pairs_frame())
    display, matrix = comparison.figure(), comparison.matrix()
    page = [
        escape_markdown(f"# Comparison by {comparison.title}"),
        escape_markdown(str(verdict or verdict_of(comparison))),
        writer.figure("diagram", display, None),
        escape_markdown(display.caption),
        writer.figure("matrix", matrix, None),
        escape_markdown(matrix.caption),
        markdown_table(comparison.to_frame()),
        "\n".join(f"- {escape_markdown(text)}" for text in comparison.tests),
    ]
    return writer.write(page)


class _Folder:
    """Files of one study, collected before anything is written."""

    def __init__(
        self,
        name: str,
        folder: str | Path,
        figure_format: str,
        table_format: str,
        latex: bool,
        titles: Mapping[str, str],
    ) -> None:
        self.name, self.place = name, Path(folder)
        self.figure_format = check_figure_format(figure_format)
        self.table_format = check_choice("table_format", table_format, TABLE_FORMATS)
        self.latex, self.titles = latex, titles
        self.notes: list[str] = []
        self.tables: dict[str, pd.DataFrame] = {}
        self.figures: dict[str, Display] = {}

    def _file(self, name: str, among: Iterable[str], form: str) -> str:
        """Return the file name of a table or figure."""
        return f"{self.name}_{slugs(among)[name]}.{form}"

    def figure(self, name: str, display: Display, key: tuple[str, ...] | None) -> str:
        """Add a figure; return the Markdown that shows it."""
        if isinstance(display, ChoiceDisplay):
            key = display.keys[0] if key is None else key
            shown, title = display.display(key), ", ".join(key)
        else:
            shown, title = display, name.replace("_", " ")
        self.figures[name] = shown
        return _picture_link(title, self._file(name, self.figures, self.figure_format))

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Add a table."""
        self.tables[name] = frame

    def write(self, page: Sequence[str]) -> list[Path]:
        """Write all files; the page comes first."""
        self.place.mkdir(parents=True, exist_ok=True)
        written = [self.place / f"{self.name}.md"]
        written[0].write_text("\n\n".join(page) + "\n", encoding="utf-8")
        for name, frame in self.tables.items():
            written.append(self.place / self._file(name, self.tables, self.table_format))
            write_table(frame, written[-1])
            if self.latex and len(frame) <= _MOST_LATEX_ROWS:
                written.append(written[-1].with_suffix(".tex"))
                notes = [f"{self.name}: {name.replace('_', ' ')}", *self.notes]
                text = latex_frame(with_titles(frame, self.titles), notes=notes)
                written[-1].write_text(text + "\n", encoding="utf-8")
        for name, display in self.figures.items():
            file = self.place / self._file(name, self.figures, self.figure_format)
            written.append(display.save(file, dpi=PAGE_DPI))
        return written


def _key_of(display: Display, series: str | None) -> tuple[str, ...] | None:
    """Return the first key of a series, named with or without its data set."""
    if series is None or not isinstance(display, ChoiceDisplay) or display.labels[0] != "series":
        return None
    return next(
        (key for key in display.keys if series in (key[0], key[0].rpartition("/")[2])), None
    )


def _picture_link(title: str, file: str) -> str:
    r"""Return the Markdown of a figure; a pdf is linked, because browsers do not embed it.

    Examples
    --------
    >>> _picture_link("values on plant/[1]", "boxes.png")
    '![values on plant/\\[1\\]](boxes.png)'
    """
    said = escape_markdown(title).replace("[", r"\[").replace("]", r"\]")
    return f"[{said}]({file})" if file.endswith(".pdf") else f"![{said}]({file})"


def _failures(failures: Sequence[Any]) -> list[str]:
    if not failures:
        return ["No series failed."]
    texts = (" ".join(f"{one.name}: {one.reason}".split()) for one in failures[:_LISTED])
    listed = "\n".join(f"- {escape_markdown(text)}" for text in texts)
    more = f"\n- and {len(failures) - _LISTED} more" if len(failures) > _LISTED else ""
    return [f"{len(failures)} series failed:\n\n{listed}{more}"]


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
    """Return verdicts and printed tables with their options."""
    parts = []
    for result in results:
        for title, frame in printed_tables(result).items():
            lines = [title] if len(results) > 1 or isinstance(result, TimingResult) else []
            verdicts = _verdicts(result).items()
            lines += [_filled(f"{spoken(name)}: {one}") for name, one in verdicts]
            lines += [""] * bool(verdicts) + [TableLayout.of_frame(frame).to_text(_WIDTH)]
            lines += map(_filled, _options(result))
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False, break_long_words=False)


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
    record["verdicts"] = {name: one.to_dict() for name, one in _verdicts(result).items()}
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

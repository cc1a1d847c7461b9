"""``vuskit paper``: every figure and table of the paper from one command."""

from __future__ import annotations

import textwrap
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.files import check_exists
from vuskit._util.tables import frame_csv
from vuskit._util.text import plural
from vuskit.cli._completion import complete_detectors, complete_exhibits
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import (
    EXECUTION,
    INPUT,
    OUTPUT,
    SHOWN,
    AsCsv,
    AsJson,
    Budget,
    Dask,
    OpenPage,
    Processes,
    executor_of,
    flag,
    input_options,
    option,
    output_option,
    seed_option,
    split_list,
    takes,
)
from vuskit.cli._output import chosen_format, emit, say, terminal_width
from vuskit.cli._progress import ProgressBar, resumable
from vuskit.cli.study import AsPublished, Published
from vuskit.datasets.columns import Reading
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from vuskit.paper import PaperResult
    from vuskit.paper.findings import ReadingTable

_OUTPUT = Path("paper")
_BUDGET, _DEMO_BUDGET = 300.0, 100.0


@takes(reading=input_options(SHOWN))
def paper(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA",
            help="A run folder, plan or pack, a folder of series, or scores: everything that "
            "vuskit evaluate reads, with the same options of input.",
        ),
    ] = None,
    *,
    reading: Reading,
    demo: Annotated[
        bool, flag("--demo", "Use synthetic series; takes some minutes.", INPUT)
    ] = False,
    output: Annotated[
        Path, output_option("FOLDER", "results. The same command resumes.")
    ] = _OUTPUT,
    only: Annotated[
        list[str] | None,
        option(
            OUTPUT,
            "NAME",
            "Make only these exhibits, e.g. fig-11. Repeat or separate with commas.",
            autocompletion=complete_exhibits,
        ),
    ] = None,
    run_detectors: Annotated[
        list[str] | None,
        option(
            EXECUTION,
            "NAME",
            "Detectors to run on series without scores. Default: those of the paper that are "
            "installed. Repeat or separate with commas.",
            "--detectors",
            autocompletion=complete_detectors,
        ),
    ] = None,
    example: Annotated[
        list[str] | None,
        option(
            OUTPUT,
            "SERIES",
            "Series for figures that show a single one, e.g. ECG/MBA_ECG805_data. Repeat for "
            "several.",
        ),
    ] = None,
    pairs: Annotated[
        list[str] | None,
        option(
            INPUT,
            "GOOD:BAD,...",
            "Accurate and inaccurate detector, e.g. AE:OCSVM. Repeat or separate with commas.",
            "--pairs",
        ),
    ] = None,
    findings: Annotated[
        bool, flag("--findings", "Only check the findings, under three readings.", OUTPUT)
    ] = False,
    as_published: AsPublished = False,
    published: Published = None,
    budget: Budget = None,
    seed: Annotated[int, seed_option("detectors and generated series")] = 0,
    processes: Processes = 0,
    dask: Dask = None,
    open_page: OpenPage = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Make every figure and table of the paper, and check its findings.

    If DATA has no scores, detectors run first. The command writes figures
    (pdf, png), tables (LaTeX, Markdown), their numbers (csv), and one page
    with captions for your data.

    Example: vuskit paper scores --only fig-11,table-3 --output paper
    """
    from vuskit.paper import reproduce
    from vuskit.paper.demo import DEMO_DETECTORS, DEMO_OPTIONS, write_demo_series
    from vuskit.paper.exhibits import select_exhibits

    form = chosen_format(json=as_json, csv=as_csv)
    if demo is bool(data):
        raise InvalidInputError("`vuskit paper` needs either DATA or --demo; see --help")
    if published is not None:
        check_exists(published)
    source = None if demo else _opened(data or [], reading)
    names = split_list(only)
    select_exhibits(names)
    options: dict[str, Any] = {}
    chosen = split_list(run_detectors)
    if demo:
        source = write_demo_series(output / "work" / "demo-series", seed=seed)
        options |= {"options": DEMO_OPTIONS, "quick": True, "real": False}
        chosen = chosen or list(DEMO_DETECTORS)
    how: dict[str, Any] = {
        "output": output,
        "detectors": chosen,
        "budget": budget or (_DEMO_BUDGET if demo else _BUDGET),
        "executor": executor_of(dask, processes),
        "seed": seed,
    }
    if findings:
        others = {"--only": only, "--example": example, "--pairs": pairs, "--published": published,
                  "--as-published": as_published}  # fmt: skip
        _write_readings(source, how, options, others, form)
        return
    with resumable(output / "work"), ProgressBar(delay=0) as bar:
        result = reproduce(
            source,
            only=names,
            example=example or (),
            pairs=[_pair(text) for text in split_list(pairs) or ()],
            as_published=as_published,
            published=published,
            progress=_shown_by(bar),
            **how,
            **options,
        )
    emit(
        form,
        _content(result),
        text=lambda: _text(result),
        csv=lambda: frame_csv(result.findings.to_frame()),
    )
    if result.published is not None:
        for note in result.published.notes():
            say(f"published values: {note}")
    for note in result.notes:
        say(note)
    for one in result.missing:
        say(f"{one.exhibit.stem}: not made: {one.reason}")
    made = [one for one in result.exhibits if one.made]
    again = sum(one.reused for one in made)
    say(
        f"{plural(len(made), 'exhibit')} in {result.folder}"
        + (f" ({again} made earlier)" if again else "")
        + f": {result.page}"
    )
    if open_page:
        webbrowser.open(result.page.resolve().as_uri())
    if result.failed:
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _opened(data: list[str], reading: Reading) -> Any:
    """Return scores to study, or the path that `reproduce` opens itself."""
    from vuskit.bench.run import open_scores

    path, options = Path(data[0]), reading.options()
    return (
        path if len(data) == 1 and path.is_dir() and not options else open_scores(data, **options)
    )


def _write_readings(
    data: Any,
    how: dict[str, Any],
    options: dict[str, Any],
    others: dict[str, Any],
    form: str,
) -> None:
    """Check the findings under all readings."""
    from vuskit.paper import check_readings

    given = [name for name, value in others.items() if value]
    if given:
        raise InvalidInputError(f"`--findings` must come without {given[0]}, which it replaces")
    options.pop("options", None)  # the readings set the options of the studies
    with resumable(how["output"] / "work"), ProgressBar(delay=0) as bar:
        found = check_readings(data, progress=_shown_by(bar), **how, **options)
    emit(
        form,
        {"findings": found.to_frame(), "notes": found.notes},
        text=lambda: _readings_text(found),
        csv=lambda: frame_csv(found.to_frame()),
    )
    for note in found.notes:
        say(note)
    say(f"findings.csv, findings.md and findings.tex in {how['output']}")


def _readings_text(found: ReadingTable) -> str:
    """Return the verdicts of all readings as text."""
    lines = []
    for several in zip(*(table.findings for table in found.tables.values()), strict=True):
        one = several[0]
        lines.append(
            textwrap.fill(
                f"{one.number:>2}. {one.paper} ({one.place})",
                terminal_width(),
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
        )
        lines += [
            f"    {reading}: {own.judged}"
            for reading, own in zip(found.tables, several, strict=True)
        ]
    lines += [f"{reading}: {table.counts}." for reading, table in found.tables.items()]
    return "\n".join(lines)


def _shown_by(bar: ProgressBar) -> Callable[[Any], None]:
    """Return a function that shows the progress of all steps in one bar."""
    last_step = ""

    def advance(progress: Any) -> None:
        nonlocal last_step
        if progress.step != last_step:
            last_step = progress.step
            bar.step(last_step)
        counted = f"{progress.done:,}/{progress.total:,} " if progress.total else ""
        doing = f"{counted}{progress.name}"
        bar(round(100 * progress.share), 100, progress.seconds_left, doing)

    return advance


def _pair(text: str) -> tuple[str, str]:
    """Parse ``A:B``."""
    first, colon, second = (part.strip() for part in text.partition(":"))
    if not (first and colon and second):
        raise InvalidInputError(f"`--pairs` must be two detectors such as AE:OCSVM, got {text!r}")
    return first, second


# -- output ----------------------------------------------------------------------------------------


def _text(result: PaperResult) -> str:
    """Return the findings as text."""
    from vuskit.paper.findings import Verdict

    width = terminal_width()
    lines = []
    skipped = [
        one
        for one in result.findings.findings
        if one.verdict is Verdict.NOT_CHECKED and one.measured.startswith("not requested")
    ]
    for one in result.findings.findings:
        if one in skipped:
            continue
        count = f", {plural(one.n_series, 'series', 'series')}" if one.n_series else ""
        lines.append(f"{one.number:>2}. {one.judged}{count}")
        for name, text in (("paper", f"{one.paper} ({one.place})"), ("here", one.details)):
            lines.append(
                textwrap.fill(
                    text,
                    width,
                    initial_indent=f"    {name:<5} ",
                    subsequent_indent=" " * 10,
                    break_on_hyphens=False,
                )
            )
    lines.append(f"{result.findings.counts}.")
    if skipped:
        by_need: dict[str, list[str]] = {}
        for one in skipped:
            by_need.setdefault(one.measured.partition("needs ")[2], []).append(str(one.number))
        needs = "; ".join(f"{', '.join(numbers)} ({need})" for need, numbers in by_need.items())
        text = f"not checked, because `--only` leaves out their exhibits: {needs}"
        lines.append(textwrap.fill(text, width, subsequent_indent="    ", break_on_hyphens=False))
    return "\n".join(lines)


def _content(result: PaperResult) -> dict[str, Any]:
    """Return everything as plain data."""
    content: dict[str, Any] = {
        "folder": result.folder,
        "page": result.page,
        "exhibits": [
            {
                "exhibit": one.exhibit.key,
                "title": one.exhibit.title,
                "caption": one.caption,
                "reason": one.reason,
                "files": [result.folder / name for name in one.files],
            }
            for one in result.exhibits
        ],
        "findings": result.findings.to_frame(),
        "notes": result.notes,
    }
    if result.published is not None:
        files = sorted(result.folder.glob("published-*.*"))
        content["published"] = {**result.published.to_dict(), "files": files}
    return content

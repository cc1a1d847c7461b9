"""``vuskit demo``: a benchmark and two studies on synthetic series, with a page."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
import time
import webbrowser
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.optional import is_installed
from vuskit._util.text import listed
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import AsJson, OpenPage, output_option, quick_flag, seed_option
from vuskit.cli._output import chosen_format, emit, say, terminal_width, write_file
from vuskit.cli._progress import ProgressBar, resumable
from vuskit.errors import InvalidInputError, MissingDependencyError

if TYPE_CHECKING:
    from vuskit.bench import Run
    from vuskit.datasets import ScoredSeries, Series
    from vuskit.report.publication import PublicationTable
    from vuskit.studies import RobustnessResult

_NEEDED = ("pandas", "scipy", "sklearn", "matplotlib", "cloudpickle")
_DEFAULT_FOLDER = Path("vuskit-demo")
_FIRST_LINE = "# The plan of `vuskit demo`."
_SHOWN = ("vus_pr", "vus_roc", "range_auc_pr", "auc_pr", "auc_roc", "f_score")
_CHANCE = "Random"
_EVEN = 1e-9  # smaller differences are ties
_SHOWN_SCORES = 3
# No detector that needs compilation, which would take longer than everything else.
_QUICK_DETECTORS = ('name = "iforest"', 'name = "pca"', 'name = "moving_zscore"\nwindow = 50')
_DETECTORS = (
    *_QUICK_DETECTORS,
    'name = "lof"',
    'name = "ocsvm"',
    'name = "poly"',
    'name = "values"',
    'name = "random"',
)


def demo(
    output: Annotated[Path, output_option("FOLDER", "everything.")] = _DEFAULT_FOLDER,
    seed: Annotated[int, seed_option("series and detectors")] = 0,
    quick: Annotated[bool, quick_flag("fewer detectors, shorter series.")] = False,
    open_page: OpenPage = False,
    as_json: AsJson = False,
) -> None:
    """Run a benchmark and two studies on synthetic series; write a page.

    Needs no data and no network. The same command resumes a stopped demo and
    reuses finished work.

    Example: vuskit demo --quick --open
    """
    from vuskit.bench import Run, Status

    missing = [name for name in _NEEDED if not is_installed(name)]
    if missing:
        raise MissingDependencyError(
            f"the demo needs packages that are not installed: {', '.join(missing)}; "
            'run: pip install "vuskit[bench]"'
        )
    begin, run, page = time.monotonic(), Run(output / "benchmark"), output / "report.html"
    with resumable(output, [_program(), *sys.argv[1:]]):
        table, robustness = _make(output, seed, page, quick=quick)
    say(f"Done in {time.monotonic() - begin:.0f} s.\n")
    content = {
        "table": table,
        "robustness": robustness.averages().rename_axis("measure").reset_index(),
        "findings": findings(table, robustness),
        "files": {
            "page": page,
            "run": run.folder,
            "studies": output / "studies",
            "scores": output / "scores.csv",
            "plan": output / "plan.toml",
        },
        "next": _commands(output),
    }
    emit(chosen_format(json=as_json), content, text=lambda: _text(content, _table(run, _SHOWN)))
    if open_page:
        webbrowser.open(page.resolve().as_uri())
    failed = run.status(failures=0).count(*(one for one in Status if one.failed))
    if failed:
        look = shlex.join([_program(), "bench", "status", str(run.folder)])
        say(f"\n{failed} jobs failed. See: {look}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _program() -> str:
    """Return how to call vuskit: by name if it is on the path, else by its file."""
    called, found = sys.argv[0], shutil.which("vuskit")
    if not os.path.isfile(called) or (found is not None and os.path.samefile(found, called)):
        return "vuskit"
    return called


def _commands(folder: Path) -> list[str]:
    """Commands to try next."""
    run, scores = str(folder / "benchmark"), str(folder / "scores.csv")
    commands = [
        ["compare", run, "--measure", "vus_pr"],
        ["evaluate", scores, "--html", str(folder / "series.html")],
        ["report", run, "--studies", str(folder / "studies")],
    ]
    return [shlex.join([_program(), *command]) for command in commands]


def _text(content: dict[str, Any], table: PublicationTable) -> str:
    width = terminal_width()
    lines = [
        textwrap.fill(
            sentence, width, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
        )
        for sentence in content["findings"]
    ]
    commands = [f"  {command}" for command in content["next"]]
    page = f"Page: {content['files']['page']}"
    return "\n".join([table.to_text(width), "", *lines, "", page, "", "Try next:", *commands])


# -- making ----------------------------------------------------------------------------------------


def _make(
    folder: Path, seed: int, page: Path, *, quick: bool
) -> tuple[PublicationTable, RobustnessResult]:
    """Run benchmark and studies, and write all files."""
    from vuskit.bench import Run, load_plan, run_plan
    from vuskit.datasets.synthetic.demo import demo_series
    from vuskit.report.page import RunReport, run_page_html
    from vuskit.studies import run_study

    series = demo_series(seed, short=quick)
    detectors = _QUICK_DETECTORS if quick else _DETECTORS
    _claim(folder, plan_text(series, detectors, seed=seed))
    _write_series(folder / "data", series)
    plan = load_plan(folder / "plan.toml")
    with ProgressBar(delay=0) as bar:
        bar.step(f"1/4 Benchmark: {len(series)} series x {len(detectors)} detectors")
        run_plan(plan, observer=bar.show)
        run = Run(folder / "benchmark")
        table = _table(run)
        bar.step("2/4 Robustness: lag, noise, crops")
        wanted = set(run.values()["dataset"] + "/" + run.values()["series"])
        robustness: RobustnessResult = run_study(
            "robustness",
            [source for source in run.scored_series() if source.name in wanted],
            buffer="median_anomaly",
            count=2 if quick else 5,
            seed=seed,
            processes=1 if quick else plan.executor.workers,
            folder=folder / "studies" / "series",
            progress=bar.show,
        )
        bar.step("3/4 Scenarios: near miss to match")
        studies = [robustness, run_study("scenarios", n_points=1000 if quick else 10_000)]
        for study in studies:
            study.save(folder / "studies")
        bar.step("4/4 Page")
        write_file(page, run_page_html(RunReport.read(run.folder), studies=studies, progress=bar))
    write_file(folder / "scores.csv", _example(run, table).to_frame().round(6).to_csv(index=False))
    return table, robustness


def _table(run: Run, measures: Sequence[str] | None = None) -> PublicationTable:
    """Return the means over the series; by default by all measures."""
    from vuskit.report.publication import publication_table

    return publication_table(
        run, measures=measures, columns="measure", by="series", spread="none", rank=None
    )


def _claim(folder: Path, plan: str) -> None:
    """Create the folder, or reuse that of an earlier demo, and write the plan."""
    path = folder / "plan.toml"
    own = folder.is_dir() and (not any(folder.iterdir()) or _is_demo(path))
    if folder.exists() and not own:
        raise InvalidInputError(
            "`output` must be a new or empty folder, or that of an earlier demo, "
            f"got {str(folder)!r}; choose another"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_file(path, plan)


def _is_demo(plan: Path) -> bool:
    text = plan.read_text(encoding="utf-8", errors="replace") if plan.is_file() else ""
    return text.partition("\n")[0] == _FIRST_LINE


def _write_series(folder: Path, series: Sequence[Series]) -> None:
    """Write missing or changed series as csv files; the run does not reread the others."""
    for one in series:
        path = folder / one.dataset / f"{one.name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = one.to_frame().round(6).to_csv(index=False)
        if not path.is_file() or path.read_text(encoding="utf-8") != content:
            write_file(path, content)


def plan_text(series: Sequence[Series], detectors: Sequence[str], *, seed: int) -> str:
    """Return a plan for these series and detectors, with all thirteen measures.

    It names the files of the series, so other files in the folder are ignored.
    """
    names = ",\n".join(f'  "{one.dataset}/{one.name}.csv"' for one in series)
    entries = "\n\n".join(f"[[detectors]]\n{entry}" for entry in detectors)
    return f"""\
{_FIRST_LINE}
# Change it and run it again: vuskit bench run THIS_FILE
# `vuskit bench init` writes a plan that explains every key.

folder = "benchmark"
seeds = [{seed}]

[[series]]
folder = "data"
names = [
{names},
]

{entries}

[[evaluate]]
measures = "paper"
buffer = "median_anomaly"
"""


def _example(run: Run, table: PublicationTable) -> ScoredSeries:
    """Return the series on which the best detectors differ most, with their scores."""
    from vuskit.datasets import ScoredSeries

    values = run.values()
    known = set(values["detector"]) - {_CHANCE}
    names = [name for name in table.detectors if name in known][:_SHOWN_SCORES]
    rows = values[(values["measure"] == "vus_pr") & values["detector"].isin(names)]
    spread = rows.groupby(["dataset", "series"])["value"].agg(lambda one: one.max() - one.min())
    wanted = "/".join(spread.idxmax())
    scored: Any = next(one for one in run.scored_series() if one.name == wanted).read()
    return ScoredSeries(scored.series, {name: scored.scores[name] for name in names})


# -- findings --------------------------------------------------------------------------------------


def findings(table: PublicationTable, robustness: RobustnessResult) -> list[str]:
    """Return sentences about results that may surprise."""
    means = {(one["measure"], one["detector"]): one["mean"] for one in table.cells}
    names = [name for name in table.detectors if means["vus_pr", name] == means["vus_pr", name]]
    places = _places(table.measures, names, means)
    sentences = [
        _winners(table.measures, names, places),
        _jump(table.measures, names, places),
        _chance(table.measures, names, means),
        _most_and_least(table.measures, robustness),
    ]
    return [sentence for sentence in sentences if sentence]


Numbers = dict[tuple[str, str], Any]


def _places(measures: Iterable[str], names: list[str], means: Numbers) -> Numbers:
    """Return the rank of each detector by each measure, 1 is best; ties share the better rank."""
    return {
        (measure, name): 1
        + sum(means[measure, one] > means[measure, name] + _EVEN for one in names)
        for measure in measures
        for name in names
    }


def _winners(titles: dict[str, str], names: list[str], places: Numbers) -> str:
    """Describe which detector is best by which measure."""
    won = {name: [titles[m] for m in titles if places[m, name] == 1] for name in names}
    winners = sorted(filter(won.get, won), key=lambda name: -len(won[name]))
    if len(winners) == 1:
        return f"All {len(titles)} measures agree that {winners[0]} is best."
    parts = "; ".join(f"{name} by {listed(won[name], most=4)}" for name in winners)
    return f"The best detector depends on the measure: {parts}."


def _jump(titles: dict[str, str], names: list[str], places: Numbers) -> str:
    """Describe the detector whose rank differs most between two measures."""

    def spread(name: str) -> int:
        return int(max(places[m, name] for m in titles) - min(places[m, name] for m in titles))

    name = max(names, key=spread)
    if spread(name) < 2:  # a swap of neighbors is no surprise
        return ""
    high = min(titles, key=lambda m: places[m, name])
    low = max(titles, key=lambda m: places[m, name])
    return (
        f"With the same scores, {name} ranks {places[high, name]} of {len(names)} by "
        f"{titles[high]} and {places[low, name]} by {titles[low]}."
    )


def _chance(titles: dict[str, str], names: list[str], means: Numbers) -> str:
    """Describe the measure by which random scores look best."""
    if _CHANCE not in names:
        return ""

    def beaten(measure: str) -> int:
        chance = means[measure, _CHANCE]
        return sum(chance > means[measure, name] + _EVEN for name in names)

    measure = max(titles, key=beaten)
    count = beaten(measure)
    if not count:
        return ""
    others = "a detector" if count == 1 else f"{count} detectors"
    return (
        f"{titles[measure]} gives random scores {means[measure, _CHANCE]:.2f}, more than {others}: "
        "compare values with the chance level."
    )


def _most_and_least(titles: dict[str, str], robustness: RobustnessResult) -> str:
    """Describe which measures change most and least when scores lag."""
    lag = robustness.averages()["lag"].dropna()
    most, least = lag.idxmax(), lag.idxmin()
    return (
        f"If scores lag a little, {titles[most]} changes most (standard deviation "
        f"{lag[most]:.3f}) and {titles[least]} least ({lag[least]:.3f})."
    )

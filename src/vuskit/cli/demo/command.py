"""``vuskit demo``: a benchmark and two studies on synthetic series, with a page."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import sys
import textwrap
import time
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vuskit._util.optional import is_installed
from vuskit._util.tables import TableLayout, csv_text
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._files import atomic_file, write_file
from vuskit.cli._options import OpenPage, output_option, quick_flag, seed_option
from vuskit.cli._output import (
    AsCsv,
    AsJson,
    chosen_format,
    document,
    frame_records,
    say,
    terminal_width,
    write,
)
from vuskit.cli._progress import stderr_console
from vuskit.cli._stopping import resumable
from vuskit.cli.demo.files import DemoFolder, plan_text
from vuskit.errors import MissingDependencyError

if TYPE_CHECKING:
    from vuskit.cli._progress import StepProgress
    from vuskit.cli.demo.findings import Findings
    from vuskit.studies import RobustnessResult, ScenarioResult

__all__ = ["demo"]

_NEEDED = ("pandas", "scipy", "sklearn", "matplotlib", "cloudpickle")
_DEFAULT_FOLDER = Path("vuskit-demo")
_STEPS = 4


@dataclass(frozen=True)
class _Size:
    """Size of the demo."""

    detectors: tuple[str, ...]
    perturbations: int
    scenario_points: int
    in_processes: bool = True


_SIZES = {
    # No detector that needs compilation, which would take longer than everything else.
    True: _Size(
        ('name = "iforest"', 'name = "pca"', 'name = "moving_zscore"\nwindow = 50'),
        perturbations=2,
        scenario_points=1000,
        in_processes=False,
    ),
    False: _Size(
        (
            'name = "iforest"',
            'name = "lof"',
            'name = "ocsvm"',
            'name = "pca"',
            'name = "poly"',
            'name = "moving_zscore"\nwindow = 50',
            'name = "values"',
            'name = "random"',
        ),
        perturbations=5,
        scenario_points=10_000,
    ),
}


def demo(
    output: Annotated[Path, output_option("FOLDER", "everything.")] = _DEFAULT_FOLDER,
    seed: Annotated[int, seed_option("series and detectors")] = 0,
    quick: Annotated[bool, quick_flag("fewer detectors, shorter series.")] = False,
    open_page: OpenPage = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """Run a benchmark and two studies on synthetic series; write a page.

    Needs no data and no network. The same command resumes a stopped demo and
    reuses finished work.

    Example: vuskit demo --quick --open
    """
    form = chosen_format(json=as_json, csv=as_csv)
    _check_installed()
    begin = time.monotonic()
    folder = DemoFolder(output)
    with resumable(output, _again(output, seed, quick)):
        findings, robustness = _make(folder, seed, _SIZES[quick], quick=quick)
    say(f"Done in {time.monotonic() - begin:.0f} s.\n")
    write(_WRITERS[form](findings, robustness, folder))
    if open_page:
        webbrowser.open(folder.page.resolve().as_uri())
    failed = findings.report.failures
    if failed:
        look = shlex.join([_program(), "bench", "status", str(folder.run)])
        say(f"\n{failed} jobs failed. See: {look}")
        raise typer.Exit(ExitCode.FAILED_JOBS)


def _check_installed() -> None:
    missing = [name for name in _NEEDED if not is_installed(name)]
    if missing:
        raise MissingDependencyError(
            f"the demo needs packages that are not installed: {', '.join(missing)}; "
            'run: pip install "vuskit[bench]"'
        )


def _again(output: Path, seed: int, quick: bool) -> list[str]:
    given = ["--output", str(output)] if output != _DEFAULT_FOLDER else []
    given += ["--seed", str(seed)] if seed else []
    return [_program(), "demo", *given, *(["--quick"] if quick else [])]


def _program() -> str:
    """Return how to call vuskit: by name if it is on the path, else by its file."""
    called, found = sys.argv[0], shutil.which("vuskit")
    if not os.path.isfile(called) or (found is not None and os.path.samefile(found, called)):
        return "vuskit"
    return called


def _make(
    folder: DemoFolder, seed: int, size: _Size, *, quick: bool
) -> tuple[Findings, RobustnessResult]:
    from vuskit.cli._progress import StepProgress
    from vuskit.cli.demo.findings import Findings
    from vuskit.datasets.synthetic.demo import demo_series
    from vuskit.report.page import RunReport

    series = demo_series(seed, short=quick)
    folder.claim(plan_text(series, size.detectors, seed=seed))
    folder.write_series(series)
    with StepProgress(stderr_console(), _STEPS) as steps:
        _benchmark(folder, steps, f"{len(series)} series x {len(size.detectors)} detectors")
        robustness = _robustness(folder, steps, size, seed)
        scenarios = _scenarios(steps, size)
        for result in (robustness, scenarios):
            result.save(folder.studies)
        findings = Findings(RunReport.read(folder.run))
        _page(folder, steps, findings, [robustness, scenarios])
    return findings, robustness


def _benchmark(folder: DemoFolder, steps: StepProgress, what: str) -> None:
    from vuskit.bench import load_plan, run_plan

    with steps.step(f"Benchmark: {what}") as advance:
        run_plan(
            load_plan(folder.plan),
            observer=lambda progress: advance(progress.done, progress.total),
        )


def _sources(folder: DemoFolder) -> list[Any]:
    """Return the series of this plan; the folder may also hold those of an earlier demo."""
    from vuskit.bench import Run

    run = Run(folder.run)
    table = run.values()
    wanted = set(table["dataset"] + "/" + table["series"])
    return [source for source in run.scored_series() if source.name in wanted]


def _robustness(
    folder: DemoFolder, steps: StepProgress, size: _Size, seed: int
) -> RobustnessResult:
    from vuskit.bench import load_plan
    from vuskit.studies import run_study

    with steps.step("Robustness: lag, noise, crops") as advance:
        return run_study(
            "robustness",
            _sources(folder),
            buffer="median_anomaly",
            count=size.perturbations,
            seed=seed,
            processes=load_plan(folder.plan).executor.workers if size.in_processes else 1,
            folder=folder.studies / "series",
            progress=lambda progress: advance(progress.done, progress.total),
        )


def _scenarios(steps: StepProgress, size: _Size) -> ScenarioResult:
    from vuskit.studies import run_study

    with steps.step("Scenarios: near miss to match"):
        return run_study("scenarios", n_points=size.scenario_points)


def _page(folder: DemoFolder, steps: StepProgress, findings: Findings, studies: list[Any]) -> None:
    from vuskit.cli.demo.overview import most_disputed_series, write_overview
    from vuskit.report.page import run_page_html

    with steps.step("Page and overview figure") as advance:
        page = run_page_html(findings.report, studies=studies, progress=advance)
        write_file(folder.page, page)
        scored = most_disputed_series(findings, _sources(folder))
        write_file(folder.scores, scored.to_frame().round(6).to_csv(index=False))
        with atomic_file(folder.overview) as temporary:
            write_overview(findings, scored, temporary)


def _commands(folder: DemoFolder) -> list[str]:
    """Commands to try next."""
    series_page = folder.path / "series.html"
    commands = [
        ["compare", str(folder.run), "--measure", "vus_pr"],
        ["evaluate", str(folder.scores), "--html", str(series_page)],
        ["report", str(folder.run), "--studies", str(folder.studies)],
    ]
    return [shlex.join([_program(), *command]) for command in commands]


def _summary(findings: Findings, robustness: RobustnessResult, folder: DemoFolder) -> str:
    width = terminal_width()
    header, rows = findings.leaderboard()
    surprises = [_wrapped(sentence, width) for sentence in findings.surprises(robustness)]
    return "\n".join(
        [
            f"Means over {findings.series_used}. Wins: series with the highest VUS-PR.\n",
            TableLayout(header, rows).to_text(width),
            "",
            *surprises,
            "",
            f"Page: {folder.page}",
            "",
            "Try next:",
            *(f"  {command}" for command in _commands(folder)),
        ]
    )


def _wrapped(sentence: str, width: int) -> str:
    return textwrap.fill(
        sentence, width, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )


def _json(findings: Findings, robustness: RobustnessResult, folder: DemoFolder) -> str:
    averages = robustness.averages().rename_axis("measure").reset_index()
    return document(
        "demo",
        series=findings.counts[0],
        failed=findings.report.failures,
        detectors=[dataclasses.asdict(one) for one in findings.standings()],
        robustness=frame_records(averages),
        findings=findings.surprises(robustness),
        files=folder.to_dict(),
        next=_commands(folder),
    )


def _csv(findings: Findings, robustness: RobustnessResult, folder: DemoFolder) -> str:
    """Return one row per detector."""
    header = ["detector", *findings.measures, "wins", "seconds"]
    rows = [
        [one.detector, *one.means.values(), one.wins, one.seconds] for one in findings.standings()
    ]
    return csv_text(header, rows)


_WRITERS: dict[str, Callable[[Findings, RobustnessResult, DemoFolder], str]] = {
    "table": _summary,
    "json": _json,
    "csv": _csv,
}

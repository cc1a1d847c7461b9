"""Speed of vuskit against np.sort, scikit-learn's two AUCs and the other VUS implementations.

    python benchmarks/speed.py --quick        the rows that have targets, about two minutes
    python benchmarks/speed.py                the whole grid, hours; may be interrupted and resumed
    python benchmarks/speed.py --no-peers     only ours
    python benchmarks/speed.py --huge         also a memory map of 100 million points

Every contestant runs in a worker process beside scikit-learn on the same input, and only the ratio
of the two is shown. Cases, contestants and sampling are those of `vuskit study timing`. Raw
samples, versions and the machine go to out/bench/.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import speed_report as report
from speed_peers import InstallError, install, recipes
from speed_report import GROWTHS, TARGET_BUFFER, TARGETS, Growth, growth_jobs, sharing_jobs
from speed_run import (
    NOT_INSTALLED,
    Effort,
    Job,
    Progress,
    Record,
    Records,
    Runner,
    fingerprint,
    machine,
)
from speed_worker import CONTESTANTS, OWN, OWN_ENVIRONMENTS, PEERS

from vuskit._util.environment import describe_environment
from vuskit.studies.timing import Setting

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ("sharing", "growth", "import")
QUICK_CHECKS = ("sharing", "import")  # growth alone would take longer than the rest
SEED = 20
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
ANOMALIES = (10, 100, 1000)
LENGTHS = (10, 100)
BUFFERS = (5, 100, 1000)
# Above a fifth of the points an "anomaly" is no longer one, and 1000 x 100 does not fit 1e4 at all.
LARGEST_ANOMALOUS_SHARE = 0.2


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only the rows that have targets")
    parser.add_argument(
        "--n", type=_sizes, metavar="N,...", help="only these lengths, e.g. 1e4,1e5"
    )
    parser.add_argument(
        "--only", type=_names, metavar="NAME,...", help=f"of {', '.join((*OWN, *PEERS, *CHECKS))}"
    )
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--limit", type=float, help="seconds for one call (default 60, quick 8)")
    parser.add_argument("--budget", type=float, help="seconds of samples (default 20, quick 1.5)")
    parser.add_argument("--memory", type=float, default=6, help="GB a peer may use (default 6)")
    parser.add_argument("--huge", action="store_true", help="memory map of 1e8 points (1 GB disk)")
    parser.add_argument("--fresh", action="store_true", help="measure again what is already there")
    parser.add_argument("--show", action="store_true", help="measure nothing, print what holds")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "bench")
    parser.add_argument("--peers-folder", type=Path, default=ROOT / ".peers")
    return parser.parse_args(arguments)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(round(float(part)) for part in text.split(","))


def _names(text: str) -> list[str]:
    names, known = text.split(","), (*OWN, *PEERS, *CHECKS)
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"`{name}` is not one of {', '.join(known)}")
    return names


def effort_of(options: argparse.Namespace) -> Effort:
    """Samples, seconds and limits of this run."""
    limit = options.limit or (8.0 if options.quick else 60.0)
    budget = options.budget or (1.5 if options.quick else 20.0)
    most = 15 if options.quick else 31
    return Effort(3, most, budget, limit, memory=round(options.memory * 2**30))


def grid(sizes: tuple[int, ...] = SIZES) -> list[Setting]:
    """Every combination that fits, small ones first."""
    return [
        Setting(n_anomalies, length, 0, n, buffer)
        for n in sizes
        for n_anomalies in ANOMALIES
        for length in LENGTHS
        if n_anomalies * length <= LARGEST_ANOMALOUS_SHARE * n
        for buffer in BUFFERS
    ]


def settings_of(options: argparse.Namespace) -> list[Setting]:
    """The settings of this run."""
    sizes = options.n or SIZES
    return [one for one in TARGETS if one.n_points in sizes] if options.quick else grid(sizes)


def plan(settings: list[Setting], own: list[str], peers: list[str]) -> list[Job]:
    """All jobs, smallest first: an interrupted run then leaves the most rows."""
    buffers: dict[Setting, list[int]] = {}
    for setting in settings:
        buffers.setdefault(replace(setting, max_buffer=0), []).append(setting.max_buffer)
    jobs = []
    for setting, lengths in buffers.items():
        for environment in OWN_ENVIRONMENTS:
            # All buffer lengths in one process: they share the reference, the largest part at 1e7.
            entries = [
                (name, buffer)
                for name in own
                for buffer in (lengths if CONTESTANTS[name].uses_buffer else (0,))
            ]
            jobs += [Job(setting, environment, tuple(entries))] if entries else []
        for buffer, peer in itertools.product(lengths, peers):
            jobs.append(Job(setting, CONTESTANTS[peer].environments[0], ((peer, buffer),)))
    return jobs


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """Everything this run measures in workers."""
    wanted = options.only or [*OWN, *PEERS, *(QUICK_CHECKS if options.quick else CHECKS)]
    peers = [name for name in PEERS if name in wanted and options.peers]
    jobs = plan(settings_of(options), [name for name in OWN if name in wanted], peers)
    if "sharing" in wanted:
        jobs += sharing_jobs()
    if "growth" in wanted:
        jobs += growth_jobs(growths_of(options))
    return jobs


def growths_of(options: argparse.Namespace) -> tuple[Growth, ...]:
    """The directions of growth that this run can afford."""
    return tuple(one.only_small() for one in GROWTHS) if options.quick else GROWTHS


def install_peers(jobs: list[Job], folder: Path) -> dict[str, str]:
    """Make the environments that the jobs need; reasons by name where that fails."""
    reasons = {}
    for name, recipe in recipes().items():
        if any(job.environment == name for job in jobs):
            print(f"environment of {recipe.package} ...", file=sys.stderr, flush=True)
            try:
                install(recipe, folder)
            except InstallError as error:
                reasons[name] = str(error)
                print(f"  cannot be installed: {error}", file=sys.stderr)
    return reasons


def fingerprints() -> dict[str, str]:
    """What the results of each environment depend on: our code and versions, or a recipe."""
    here = machine()
    ours = fingerprint(describe_environment(), here)
    prints = dict.fromkeys(OWN_ENVIRONMENTS, ours)
    return prints | {name: fingerprint(recipe.stamp, here) for name, recipe in recipes().items()}


def measure(options: argparse.Namespace, records: Records) -> None:
    """Run every job that has no record yet."""
    effort, prints, jobs = effort_of(options), fingerprints(), jobs_of(options)
    open_jobs = [
        job
        for job in jobs
        if options.fresh
        or not all(records.finished(k, prints[job.environment], effort.limit) for k in job.keys)
    ]
    missing = install_peers(open_jobs, options.peers_folder)
    runner = Runner(records, effort, options.peers_folder, machine(), SEED)
    progress = Progress(sum(job.guess_seconds(effort) for job in open_jobs))
    for number, job in enumerate(open_jobs, start=1):
        progress.show(f"{number}/{len(open_jobs)}", job.text)
        mark = prints[job.environment]
        if job.environment in missing:
            for key in job.keys:
                records.add(Record(key, NOT_INSTALLED, mark, reason=missing[job.environment]))
        else:
            runner.run(job, mark)
        progress.advance(job.guess_seconds(effort))


def measure_checks(options: argparse.Namespace, path: Path) -> list[Any]:
    """The claims that need a process of their own; their raw numbers go to ``path``."""
    wanted, outcomes, raw = options.only or CHECKS, [], {}
    if "import" in wanted:
        outcome, numbers = report.import_outcome()
        outcomes.append(outcome)
        raw.update(numbers)
    if options.huge:
        print("memory map of 1e8 points ...", file=sys.stderr, flush=True)
        outcome, numbers = report.huge_outcome(100_000_000)
        outcomes.append(outcome)
        raw.update(numbers)
    if raw:
        path.write_text(json.dumps(raw | {"machine": machine()}, indent=1), encoding="utf-8")
    return outcomes


def main(arguments: list[str] | None = None) -> int:
    """Measure, save and print."""
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    records = Records(options.out / "samples.jsonl")
    records.forget_stale(fingerprints())
    checks: list[Any] = []
    if not options.show:
        try:
            measure(options, records)
            checks = measure_checks(options, options.out / "checks.json")
        except KeyboardInterrupt:
            print("interrupted; run again to go on from here", file=sys.stderr)
    print_tables(options, records, checks)
    return 0


def print_tables(options: argparse.Namespace, records: Records, checks: list[Any]) -> None:
    """Everything that was measured about the settings of this run."""
    settings = settings_of(options)
    print(report.LEGEND, "\n")
    print(report.ratio_table(records, report.OWN_COLUMNS, settings), "\n")
    if options.peers:
        print(report.PEER_LEGEND, "\n")
        print(report.ratio_table(records, report.PEER_COLUMNS, settings), "\n")
    print(f"Targets: share of scikit-learn's two AUCs, L={TARGET_BUFFER}", "\n")
    print(report.target_table(records), "\n")
    outcomes = [
        *report.evaluate_outcomes(records),
        *report.sharing_outcomes(records),
        *report.growth_outcomes(records, growths_of(options)),
        *checks,
    ]
    print(report.outcome_table(outcomes), "\n")
    for growth in growths_of(options):
        if found := report.growth_table(records, growth):
            print(found, "\n")
    for text in (
        report.agreement(records),
        report.troubles(records, settings),
        report.disturbances(records, settings),
    ):
        if text:
            print(text)
    here = machine()
    print(f"{here['cpu']}, {here['cpus']} cores")
    print(f"raw samples in {records.path}")


if __name__ == "__main__":
    sys.exit(main())

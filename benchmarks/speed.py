"""Speed of vuskit against np.sort, scikit-learn's two AUCs and the other VUS implementations.

    python benchmarks/speed.py --quick        the rows that have targets, about two minutes
    python benchmarks/speed.py                the whole grid, hours; may be interrupted and resumed
    python benchmarks/speed.py --no-peers     only ours
    python benchmarks/speed.py --huge         also a memory map of 100 million points

Every contender runs in a worker process beside scikit-learn on the same input, and only the ratio
of the two is shown. Raw samples, versions and the machine go to out/bench/.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import speed_tables as tables
from speed_cases import BUFFERS, SIZES, TARGET_BUFFER, TARGET_SERIES, Series, grid
from speed_checks import (
    GROWTHS,
    evaluate_outcomes,
    growth_jobs,
    growth_outcomes,
    huge_outcome,
    import_outcome,
    sharing_jobs,
    sharing_outcomes,
)
from speed_contenders import OWN, OWN_ENVIRONMENTS, PEERS
from speed_peers import InstallError, install, recipes
from speed_run import Effort, Job, Progress, Runner, plan
from speed_store import NOT_INSTALLED, Record, Store, fingerprint, machine, source_hash

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ("sharing", "growth", "import")
QUICK_CHECKS = ("sharing", "import")  # growth alone would take longer than the rest
SEED = 20


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


def cases_of(options: argparse.Namespace) -> tuple[list[Series], tuple[int, ...]]:
    """The series and buffer lengths of this run."""
    if options.quick:
        sizes = options.n or SIZES
        return [one for one in TARGET_SERIES if one.n in sizes], (TARGET_BUFFER,)
    return grid(options.n or SIZES), BUFFERS


def jobs_of(options: argparse.Namespace) -> list[Job]:
    """Everything this run measures in workers."""
    wanted = options.only or [*OWN, *PEERS, *(QUICK_CHECKS if options.quick else CHECKS)]
    series, buffers = cases_of(options)
    peers = [name for name in PEERS if name in wanted and options.peers]
    jobs = plan(series, buffers, [name for name in OWN if name in wanted], peers)
    if "sharing" in wanted:
        jobs += sharing_jobs()
    if "growth" in wanted:
        jobs += growth_jobs(growths_of(options))
    return jobs


def growths_of(options: argparse.Namespace) -> Any:
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
    """What the results of each environment depend on: our code, or a peer's recipe."""
    here = machine()
    ours = fingerprint(source_hash(ROOT / "src" / "vuskit"), here, sys.version_info[:2])
    prints = dict.fromkeys(OWN_ENVIRONMENTS, ours)
    return prints | {name: fingerprint(recipe.stamp, here) for name, recipe in recipes().items()}


def measure(options: argparse.Namespace, store: Store) -> None:
    """Run every job that the store does not hold yet."""
    effort, prints, jobs = effort_of(options), fingerprints(), jobs_of(options)
    open_jobs = [
        job
        for job in jobs
        if options.fresh
        or not all(store.finished(k, prints[job.environment], effort.limit) for k in job.keys)
    ]
    missing = install_peers(open_jobs, options.peers_folder)
    runner = Runner(store, effort, options.peers_folder, machine(), SEED)
    progress = Progress(sum(job.guess_seconds(effort) for job in open_jobs))
    for number, job in enumerate(open_jobs, start=1):
        progress.show(f"{number}/{len(open_jobs)}", job.text)
        mark = prints[job.environment]
        if job.environment in missing:
            for key in job.keys:
                store.add(Record(key, NOT_INSTALLED, mark, reason=missing[job.environment]))
        else:
            runner.run(job, mark)
        progress.advance(job.guess_seconds(effort))


def measure_checks(options: argparse.Namespace, path: Path) -> list[Any]:
    """The claims that need a process of their own; their raw numbers go to ``path``."""
    wanted, outcomes, raw = options.only or CHECKS, [], {}
    if "import" in wanted:
        outcome, numbers = import_outcome()
        outcomes.append(outcome)
        raw.update(numbers)
    if options.huge:
        print("memory map of 1e8 points ...", file=sys.stderr, flush=True)
        outcome, numbers = huge_outcome(100_000_000)
        outcomes.append(outcome)
        raw.update(numbers)
    if raw:
        path.write_text(json.dumps(raw | {"machine": machine()}, indent=1), encoding="utf-8")
    return outcomes


def main(arguments: list[str] | None = None) -> int:
    """Measure, save and print."""
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    store = Store(options.out / "samples.jsonl")
    store.forget_stale(fingerprints())
    checks: list[Any] = []
    if not options.show:
        try:
            measure(options, store)
            checks = measure_checks(options, options.out / "checks.json")
        except KeyboardInterrupt:
            print("interrupted; run again to go on from here", file=sys.stderr)
    print_tables(options, store, checks)
    return 0


def print_tables(options: argparse.Namespace, store: Store, checks: list[Any]) -> None:
    """Everything the store holds about the cases of this run."""
    series, buffers = cases_of(options)
    cases = [(one, buffer) for one in series for buffer in buffers]
    print(tables.LEGEND, "\n")
    print(tables.ratio_table(store, tables.OWN_COLUMNS, cases), "\n")
    if options.peers:
        print(tables.PEER_LEGEND, "\n")
        print(tables.ratio_table(store, tables.PEER_COLUMNS, cases), "\n")
    print(f"Targets: share of scikit-learn's two AUCs, L={TARGET_BUFFER}", "\n")
    print(tables.target_table(store), "\n")
    outcomes = [
        *evaluate_outcomes(store),
        *sharing_outcomes(store),
        *growth_outcomes(store, growths_of(options)),
        *checks,
    ]
    print(tables.outcome_table(outcomes), "\n")
    for growth in growths_of(options):
        if found := tables.growth_table(store, growth):
            print(found, "\n")
    for text in (tables.agreement(store), tables.troubles(store, cases)):
        if text:
            print(text)
    here = machine()
    facts = [f"{here['cpu']}, {here['cores']} cores", tables.load_text(store, cases)]
    print("; ".join(fact for fact in facts if fact))
    print(f"raw samples in {options.out / 'samples.jsonl'}")


if __name__ == "__main__":
    sys.exit(main())

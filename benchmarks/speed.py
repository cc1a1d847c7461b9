"""Cost of both VUS, exact, against scikit-learn's two AUCs, np.sort and other implementations.

    python benchmarks/speed.py                     every topic, half an hour
    python benchmarks/speed.py --quick             few samples, without peers, about two minutes
    python benchmarks/speed.py --only rows,sets    these topics
    python benchmarks/speed.py --show              measure nothing, print what is stored
    python benchmarks/speed.py --docs README.md docs/benchmarks.md docs/fast-algorithm.md

Every call is timed in turn with scikit-learn on the same input, in processor time on one core.
Raw samples, versions and the machine go to out/bench/speed.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import speed_report as report
import speed_run as run
from docs_block import replace_block
from speed_peers import measure_peers

from vuskit._util.optional import describe_environment

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "out" / "bench" / "speed.json"
QUICK = run.Effort(fewest=2, most=3, budget=0.5)
LIBRARIES = ("numpy", "scikit-learn")


@dataclass(frozen=True)
class Topic:
    """Rows to measure and the table that shows them."""

    title: str
    measure: Callable[[argparse.Namespace], Iterator[dict[str, Any]]]
    table: Callable[[list[dict[str, Any]]], str]


def _own(measure: Callable[[run.Effort], Iterator[dict[str, Any]]]) -> Callable[..., Any]:
    return lambda options: measure(effort_of(options))


TOPICS = {
    "rows": Topic("Both VUS, exact / sk", _own(run.measure_rows), report.rows_table),
    "sets": Topic("Instruction sets", _own(run.measure_sets), report.sets_table),
    "calls": Topic("Short calls and many scores", _own(run.measure_calls), report.calls_table),
    "other": Topic("Other series and scores", _own(run.measure_other), report.rows_table),
    "worst": Topic("Worst case", _own(run.measure_worst), report.rows_table),
    "growth": Topic("Growth", _own(run.measure_growth), report.growth_table),
    "import": Topic("Import", _own(run.measure_import), report.import_table),
    "huge": Topic("Memory", lambda _: run.measure_huge(), report.huge_table),
    "peers": Topic(
        "Other implementations / sk",
        lambda options: measure_peers(effort_of(options), options.limit, options.peers_folder),
        report.peers_table,
    ),
}
SLOW = ("growth", "huge", "peers")


def effort_of(options: argparse.Namespace) -> run.Effort:
    return QUICK if options.quick else run.Effort()


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"few samples, no {', '.join(SLOW)}")
    parser.add_argument("--only", type=_topics, metavar="TOPIC,...", help=f"of {', '.join(TOPICS)}")
    parser.add_argument(
        "--limit", type=float, default=60, help="processor seconds of one call of a peer"
    )
    parser.add_argument("--show", action="store_true", help="print what is stored")
    parser.add_argument("--docs", type=Path, nargs="+", default=[], help="pages to update")
    parser.add_argument("--store", type=Path, default=STORE, help="file of raw samples")
    parser.add_argument("--peers-folder", type=Path, default=ROOT / ".peers")
    return parser.parse_args(arguments)


def _topics(text: str) -> list[str]:
    for name in text.split(","):
        if name not in TOPICS:
            raise argparse.ArgumentTypeError(f"`{name}` is not one of {', '.join(TOPICS)}")
    return text.split(",")


def load(path: Path) -> dict[str, Any]:
    """Stored topics."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    for topic in stored.values():
        for row in topic["rows"]:
            if "series" in row:
                row["series"] = run.Series(*row["series"])
    return stored


def measure(options: argparse.Namespace, stored: dict[str, Any]) -> None:
    """Measure the topics of this run; each replaces its stored rows when it is complete."""
    default = [name for name in TOPICS if not (options.quick and name in SLOW)]
    options.store.parent.mkdir(parents=True, exist_ok=True)
    for name in options.only or default:
        rows = []
        for row in TOPICS[name].measure(options):
            rows.append(row)
            print(f"{name}: {len(rows)} measured", file=sys.stderr, flush=True)
        here = describe_environment() | {one: metadata.version(one) for one in LIBRARIES}
        stored[name] = {"date": time.strftime("%Y-%m-%d"), "environment": here, "rows": rows}
        options.store.write_text(json.dumps(stored, indent=1), encoding="utf-8")


def blocks(stored: dict[str, Any]) -> dict[str, str]:
    """Return the text of each topic, in the order of the topics."""
    texts = {}
    for name in (one for one in TOPICS if one in stored):
        topic = stored[name]
        here, rows = topic["environment"], topic["rows"]
        versions = [f"{one} {here[one]}" for one in LIBRARIES]
        sets = sorted({f"instruction set {row['set']}" for row in rows if "set" in row})
        where = ", ".join([here["cpu"], *sets, f"Python {here['python']}", *versions])
        footer = f"Measured on {topic['date']}: {where}. {report.load_text(rows)}"
        texts[name] = f"{TOPICS[name].table(rows)}\n\n{textwrap.fill(footer, 100)}"
        if name == "rows":
            texts["headline"] = report.headline_table(rows)
    return texts


def main(arguments: list[str] | None = None) -> None:
    """Measure, store, print, and update pages."""
    options = parse(arguments)
    if run.native_core() is None:
        raise SystemExit("the native core must be in use; build it and unset VUSKIT_CORE")
    stored = load(options.store)
    if not options.show:
        measure(options, stored)
    texts = blocks(stored)
    for name, text in texts.items():
        if name in TOPICS and name in (options.only or TOPICS):
            print(f"\n{TOPICS[name].title}\n\n{text}")
    for page in options.docs:
        for name, text in texts.items():
            if f"<!-- speed {name} -->" in page.read_text(encoding="utf-8"):
                replace_block(page, f"speed {name}", text)


if __name__ == "__main__":
    main()

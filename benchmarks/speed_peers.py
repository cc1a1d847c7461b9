"""Other implementations of VUS: one virtual environment and one worker process each."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from speed_run import HEADLINE, ROWS, Effort, OtherWork, Series, measure_series
from speed_worker import PEERS, THRESHOLDS, Peer

import vuskit

SAME_VERSION = ("numpy", "scikit-learn")
RECIPES = Path(__file__).parent / "peers" / "recipes.toml"
WORKER = Path(__file__).parent / "speed_worker.py"
INSTALL_SECONDS = 900
PEER_ROWS = (HEADLINE, *ROWS[1:5])
PEER_ROUNDS, PEER_BUDGET, PEER_MEMORY = 5, 20.0, 6 * 2**30
OVER_LIMIT, IMPLIED, ABSENT = "over limit", "implied", "absent"


@dataclass(frozen=True)
class Recipe:
    """Packages of the environment of a peer, and a statement that must work in it."""

    name: str
    package: str
    needs: tuple[str, ...]
    probe: str

    @property
    def stamp(self) -> str:
        """Changes with the recipe, so that outdated environments are replaced."""
        text = json.dumps([self.package, self.needs, self.probe, sys.version_info[:2]])
        return hashlib.sha256(text.encode()).hexdigest()


class InstallError(Exception):
    """A peer cannot be installed; the text says why."""


def recipes() -> dict[str, Recipe]:
    """Every recipe by the name of its environment."""
    tables = tomllib.loads(RECIPES.read_text(encoding="utf-8"))
    return {
        name: Recipe(name, table["package"], tuple(map(_pinned, table["needs"])), table["probe"])
        for name, table in tables.items()
    }


def _pinned(requirement: str) -> str:
    if requirement not in SAME_VERSION:
        return requirement
    return f"{requirement}=={metadata.version(requirement)}"


def install(recipe: Recipe, folder: Path) -> Path:
    """Return the interpreter of the environment, which is made if it is missing or outdated."""
    python, stamp = folder / recipe.name / "bin" / "python", folder / recipe.name / "recipe.sha256"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != recipe.stamp:
        print(f"environment of {recipe.package} ...", file=sys.stderr, flush=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([sys.executable, "-m", "venv", "--clear", str(folder / recipe.name)])
        _run([*pip, *recipe.needs])
        _run([*pip, "--no-deps", recipe.package])
        _run([str(python), "-c", recipe.probe])
        stamp.write_text(recipe.stamp, encoding="utf-8")
    return python


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from error
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no message"]
        raise InstallError(errors[-1].strip()[:200])


def measure_peers(effort: Effort, limit: float, folder: Path) -> Iterator[dict[str, Any]]:
    """Measure vuskit and every peer on each series; a peer stops at its first timeout."""
    slow: dict[str, Series] = {}
    known = recipes()
    for series in PEER_ROWS:
        yield {"peer": "vuskit", **measure_series(series, effort, ("sk", "public"))}
        for name, peer in PEERS.items():
            row: dict[str, Any] = {"peer": name, "series": series, "limit": limit}
            if name in slow and _is_within(slow[name], series):
                yield row | {"status": IMPLIED, "seconds": {}}
                continue
            try:
                python = install(known[peer.environment], folder)
            except InstallError as error:
                yield row | {"status": ABSENT, "reason": str(error), "seconds": {}}
                continue
            row |= run_worker(python, name, series, limit)
            if row["status"] == OVER_LIMIT:
                slow[name] = series
            yield row


def _is_within(small: Series, large: Series) -> bool:
    return all(a <= b for a, b in zip(small[:4], large[:4], strict=True))


def run_worker(python: Path, name: str, series: Series, limit: float) -> dict[str, Any]:
    """Time one peer on one series in a process of its environment."""
    labels, scores = series.load()
    other_work = OtherWork()
    with tempfile.TemporaryDirectory(prefix="vuskit-bench-") as temporary:
        path = Path(temporary) / "input.npz"
        np.savez(path, labels=labels, scores=scores)
        job = {
            "peer": name, "input": str(path), "buffer": series.buffer, "limit": limit,
            "rounds": PEER_ROUNDS, "budget": PEER_BUDGET, "memory": PEER_MEMORY,
        }  # fmt: skip
        done = subprocess.run(
            [str(python), str(WORKER)],
            input=json.dumps(job), capture_output=True, text=True, check=False,
        )  # fmt: skip
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    seconds: dict[str, list[float]] = {"sk": [], name: []}
    row = {"status": "ok", "seconds": seconds, "other_cores": other_work.cores()}
    for report in reports:
        if "status" in report:
            row |= report
        else:
            seconds[report["name"]].append(report["seconds"])
            row["values"] = report["values"] if report["name"] == name else row.get("values")
    if done.returncode == -signal.SIGPROF:
        row["status"] = "ok" if seconds[name] else OVER_LIMIT
    elif done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        row |= {"status": "failed", "reason": lines[-1][:200]}
    if row["status"] == "ok":
        row["difference"] = _difference(row["values"], PEERS[name], labels, scores, series.buffer)
    return row


def _difference(values: list[float], peer: Peer, labels: Any, scores: Any, buffer: int) -> float:
    """Largest difference from vuskit with the definition and the thresholds of a peer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = vuskit.evaluate(
            labels, scores, buffer=buffer, measures=["vus_roc", "vus_pr"],
            thresholds=THRESHOLDS, definition=peer.definition,
        )  # fmt: skip
    return float(np.abs(np.subtract(values, list(own.values()))).max())

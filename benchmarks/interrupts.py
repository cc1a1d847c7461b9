"""Press Ctrl-C at every moment of a command: none may be lost, none may end in an error.

    python benchmarks/interrupts.py [--tries 200] [--only evaluate] [--only paper] [--seed 0]

Each try starts a command on small data in an empty folder and sends SIGINT to its process group,
as a terminal does. The moments cover the time from vuskit's first import to the end of the
process. A try must end in one of two ways:

stopped
    Exit code 130, no output, and one last line that says so.
finished
    Exit code 0 and the complete output, which began before the signal was sent.

Every tenth stopped command is started again and must finish. No process may remain. The exit code
is 1 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

# Writes a byte to the descriptor in the first argument when vuskit has installed its handler.
START = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
mark, install = int(sys.argv.pop(1)), signal.signal

def note(number, handler):
    before = install(number, handler)
    if number == signal.SIGINT:
        signal.signal = install
        os.write(mark, b".")
        os.close(mark)
    return before

signal.signal = note
sys.argv[0] = "vuskit"
from vuskit.cli.main import run
run()
"""
PLAN = """
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
seed = [1, 2, 3]
[[detectors]]
name = "values"
[[detectors]]
name = "pca"
[[evaluate]]
measures = ["auc_pr", "vus_pr"]
buffer = 20
[executor]
workers = 2
"""
SEVERAL = ("--processes", "2")
COMMANDS = {
    "evaluate": ("evaluate", "scores", *SEVERAL, "--csv"),
    "evaluate run": ("evaluate", "scores", *SEVERAL, "--csv", "--output", "out"),
    "bench run": ("bench", "run"),
    "study": ("study", "robustness", "scores", "--set=count=3", *SEVERAL, "--output", "out"),
    "paper": ("paper", "scores", "--only", "fig-11", *SEVERAL, "--output", "out"),
}
RESUMED = 10
PATIENCE = 300.0  # seconds after which a process counts as stuck
UNCERTAIN = 0.05  # seconds between the decision to write and the arrival of the output
FAULTS = ("Traceback", "internal error", "Exception ignored", "Warning")
SHOWN = 5


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    out: str
    err: str
    seconds: float  # since the first import
    written: float | None  # when the output began
    left: tuple[str, ...]  # processes that remain


def write_inputs(folder: Path) -> None:
    """Write a plan and three series with two scores each."""
    (folder / "bench.toml").write_text(PLAN)
    (folder / "scores" / "plant").mkdir(parents=True)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        labels = np.zeros(1500)
        labels[[*range(300, 330), *range(900, 940)]] = 1
        columns = [np.sin(np.arange(1500) / 8), labels]
        columns += [0.5 * labels + generator.random(1500), generator.random(1500)]
        path = folder / "scores" / "plant" / f"s{seed}.csv"
        header = "value,label,good,random"
        np.savetxt(path, np.column_stack(columns), "%.6f", ",", header=header, comments="")


def run(words: tuple[str, ...], folder: Path, delay: float | None = None) -> Ended:
    """Run a command; send SIGINT a while after its first import."""
    reader, writer = os.pipe()
    token = uuid.uuid4().hex
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", START, str(writer), *words],
            cwd=folder,
            env={**os.environ, "VUSKIT_SWEEP": token, "VUSKIT_CACHE": str(folder / "cache")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=[writer],
            start_new_session=True,
        )
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        begin = time.monotonic()
        out: list[tuple[float, bytes]] = []
        collector = threading.Thread(target=_collect, args=(process, begin, out))
        collector.start()
        if delay is not None:
            time.sleep(delay)
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        seconds = time.monotonic() - begin
        left = remaining(token)
        collector.join()
        errors.seek(0)
        return Ended(
            process.returncode,
            b"".join(part for _, part in out).decode(),
            errors.read().decode(),
            seconds,
            out[0][0] if out else None,
            left,
        )


def _collect(
    process: subprocess.Popen[bytes], begin: float, out: list[tuple[float, bytes]]
) -> None:
    with process.stdout as stream:
        while part := os.read(stream.fileno(), 65_536):
            out.append((time.monotonic() - begin, part))


def remaining(token: str) -> tuple[str, ...]:
    """Return processes of a try that have not ended after ten seconds; end them."""
    for _ in range(200):
        found = [process for process in psutil.process_iter() if _has(process, token)]
        if not found:
            return ()
        time.sleep(0.05)
    names = []
    for process in found:
        with contextlib.suppress(psutil.Error):
            names.append(" ".join(process.cmdline())[:80])
            process.kill()
    return tuple(names)


def _has(process: psutil.Process, token: str) -> bool:
    try:
        ended = process.status() == psutil.STATUS_ZOMBIE
        return not ended and process.environ().get("VUSKIT_SWEEP") == token
    except psutil.Error:
        return False


def comparable(text: str) -> str:
    """Return output without durations and the names of temporary folders."""
    folder = re.escape(tempfile.gettempdir())
    return re.sub(rf"{folder}/\w+|\d+(\.\d+)? ?(ms|s|min|h)\b", "", text)


def judge(ended: Ended, delay: float, expected: str) -> str:
    """Return "stopped", "finished", or what is wrong."""
    if ended.left:
        return f"processes remain: {', '.join(ended.left)}"
    for fault in FAULTS:
        if fault in ended.err:
            return f"error: {fault}"
    if ended.code == 0:
        if comparable(ended.out) != comparable(expected):
            return "incomplete output with exit code 0"
        late = ended.written is None or ended.written > delay + UNCERTAIN
        return "lost interrupt" if late else "finished"
    if ended.code != 130:
        return f"exit code {ended.code}"
    lines = ended.err.splitlines()
    if not lines or "topped" not in lines[-1] or "topped" in "".join(lines[:-1]):
        return "no last line that says so"
    return "output of a stopped command" if ended.out else "stopped"


def sweep(name: str, inputs: Path, tries: int, chance: random.Random) -> int:
    """Interrupt a command at many moments, and show what is wrong; return how often it is."""
    words = COMMANDS[name]

    def fresh(folder: str) -> Path:
        return shutil.copytree(inputs, Path(folder) / "work")

    undisturbed = []
    for _ in range(3):  # the first one also fills caches of the system
        with tempfile.TemporaryDirectory() as folder:
            undisturbed.append(run(words, fresh(folder)))
        if undisturbed[-1].code:
            raise SystemExit(f"{name} fails without Ctrl-C:\n{undisturbed[-1].err}")
    expected, whole = undisturbed[-1].out, max(one.seconds for one in undisturbed[1:])
    counts: Counter[str] = Counter()
    problems = []
    for number in range(tries):
        delay = (number + chance.random()) / tries * whole
        with tempfile.TemporaryDirectory() as folder:
            place = fresh(folder)
            ended = run(words, place, delay)
            verdict = judge(ended, delay, expected)
            if verdict == "stopped" and counts[verdict] % RESUMED == 0:
                again = run(words, place)
                if again.code:
                    verdict, ended = "does not resume", again
        counts[verdict] += 1
        if verdict not in ("stopped", "finished"):
            text = f"{name} after {delay:.3f} s: {verdict}, code {ended.code}"
            problems.append(f"{text}\n{ended.err}\n{ended.out}".rstrip())
    print(
        f"{name:<10} {whole:5.2f} s  {tries:5} tries  {counts['stopped']:5} stopped  "
        f"{counts['finished']:5} finished  {len(problems):5} wrong",
        flush=True,
    )
    for problem in problems[:SHOWN]:
        print(f"\n{problem}\n", flush=True)
    return len(problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tries", type=int, default=200, help="interrupts per command")
    parser.add_argument("--only", action="append", choices=COMMANDS, help="command; repeat")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(Path(folder))
        for name in options.only or COMMANDS:
            chance = random.Random(f"{options.seed} {name}")
            wrong += sweep(name, Path(folder), options.tries, chance)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

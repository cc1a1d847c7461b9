"""A storm on a benchmark run: kills, faulty detectors, edits and a full disk, by a seed.

    python benchmarks/bench_chaos.py [--seed 0] [--jobs 300] [--events 66] [--executor dask]
    python benchmarks/bench_chaos.py --compare FOLDER    # of a storm with --keep FOLDER

The storm starts ``vuskit bench run`` again and again and disturbs it. At the end the final plan
finishes undisturbed, in the battered folder and in a fresh one. Every row of
``export --shape values`` must be equal bit for bit, ``bench verify`` must find nothing, and no
process, temporary file or changed user file may remain. The exit code is 1 otherwise.

The disk is a small tmpfs in a private mount namespace, so that filling it affects nothing else.
Where that is not allowed, a limit on the size of files (RLIMIT_FSIZE) takes its place.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from chaos.storm_faults import ENDING, LINGERING, STATE
from chaos_files import (
    FIRST_NUMBER,
    FUNCTIONS,
    USER_CONTENT,
    USER_FILES,
    Workspace,
    write_user_files,
)

from vuskit._util.text import format_duration
from vuskit.bench import Run
from vuskit.bench.changes import BEFORE
from vuskit.engine import Status

START = "import sys; sys.argv[0] = 'vuskit'; from vuskit.cli.main import run; run()"
COMMAND = [sys.executable, "-c", START, "bench"]
NAMESPACE = "VUSKIT_CHAOS_NAMESPACE"
LOCAL_EXECUTOR = 'kind = "local"\nworkers = 2\n'
DASK_EXECUTOR = 'kind = "dask"\naddress = "scheduler.json"\n'
DISK_MEGABYTES = 64
OPEN_FILES = 512  # so that a leak of descriptors has an end
PATIENCE = 300.0  # seconds after which a process counts as stuck
# Times, memory, and which measures one job computed together: different from run to run.
UNCOMPARED = (
    "fit_seconds",
    "score_seconds",
    "warm_up_seconds",
    "peak_bytes",
    "cold",
    "evaluate_key",
)
NAMES = ("dataset", "series", "detector", "seed", "settings", "measure")
SHOWN = 10

# Kinds of events and their shares; in a small storm the first ones come first.
SHARES = {
    "kill main process": 9,
    "faulty job": 14,
    "edit labels or data": 9,
    "edit code": 7,
    "fill disk": 3,
    "kill worker": 8,
    "edit plan": 8,
    "edit during run": 4,
    "terminate main process": 3,
    "interrupt main process": 3,
    "stop at once": 4,
}
DASK_SHARES = {"kill Dask worker": 4, "kill Dask scheduler": 2}
EDITS = ("edit labels or data", "edit code", "edit plan")
# These end the run, or are meant to; others happen while it goes on.
ENDINGS = (
    "kill main process",
    "terminate main process",
    "interrupt main process",
    "stop at once",
    "fill disk",
    "kill Dask scheduler",
)


# The schedule -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Something that happens to a run.

    Attributes
    ----------
    kind : str
        One of `SHARES`.
    seed : int
        Decides all details.
    after : int
        Number of jobs that the run finishes before.
    delay : float
        Seconds after that.
    """

    kind: str
    seed: int
    after: int = 0
    delay: float = 0.0

    def chance(self) -> random.Random:
        """Random numbers of this event."""
        return random.Random(self.seed)


@dataclass
class Start:
    """One start of the command: edits before it, and events while it runs."""

    edits: list[Event] = field(default_factory=list)
    during: list[Event] = field(default_factory=list)


def make_schedule(
    seed: int, n_events: int, n_jobs: int, *, dask: bool
) -> tuple[list[Event], list[Start]]:
    """Faulty jobs and starts of a storm; the same for the same arguments."""
    chance = random.Random(seed)
    counts = share_out(n_events, {**SHARES, **DASK_SHARES} if dask else SHARES)
    faults = [Event("faulty job", chance.getrandbits(32)) for _ in range(counts.pop("faulty job"))]
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    chance.shuffle(kinds)
    endings = [kind for kind in kinds if kind in ENDINGS]
    step = max(2, n_jobs // (len(endings) + 1))
    starts = [Start() for _ in endings] or [Start()]
    # Nothing else has time to happen in a run that is stopped at once.
    long = [
        start
        for start, kind in itertools.zip_longest(starts, endings)
        if kind != "stop at once" or len(endings) == 1
    ] or starts
    for kind in kinds:
        event = Event(
            kind, chance.getrandbits(32), chance.randrange(1, step), chance.uniform(0.0, 0.3)
        )
        if kind in EDITS:
            chance.choice(starts).edits.append(event)
        elif kind not in ENDINGS:
            chance.choice(long).during.append(event)
    for start, kind in zip(starts, endings, strict=False):
        early = kind == "stop at once"
        after, longest = (0, 1.0) if early else (chance.randrange(1, step), 0.3)
        start.during.append(Event(kind, chance.getrandbits(32), after, chance.uniform(0, longest)))
    return faults, starts


def share_out(total: int, shares: dict[str, int]) -> dict[str, int]:
    """Numbers of events by kind, in proportion; each kind has one before any has more."""
    whole = sum(shares.values())
    kinds = list(shares)
    counts = {kind: int(place < total) for place, kind in enumerate(kinds)}
    while sum(counts.values()) < total:
        behind = {kind: shares[kind] / whole * total - counts[kind] for kind in kinds}
        counts[max(kinds, key=behind.__getitem__)] += 1
    return counts


# Processes ----------------------------------------------------------------------------------------


def alive_in_session(session: int) -> list[psutil.Process]:
    """Processes of a session, which they keep after its leader has ended."""
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getsid(pid) == session:
                process = psutil.Process(pid)
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
    return found


def alive_with(state: str) -> list[psutil.Process]:
    """Processes of a storm, which pass its state on to those that they start."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(STATE) == state and process.pid != os.getpid():
                found.append(process)
    return [one for one in found if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def is_of_a_job(process: psutil.Process, main: int) -> bool:
    """Whether a job has started a process; workers lead sessions of their own."""
    try:
        helper = "resource_tracker" in " ".join(process.cmdline())  # ends with those that use it
        return helper or os.getsid(process.pid) not in (process.pid, main)
    except (ProcessLookupError, psutil.Error):
        return True


def eventually(check: Any, seconds: float = PATIENCE) -> bool:
    """Whether a check holds, at once or later."""
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class DaskCluster:
    """A scheduler and two workers, each with a nanny, as a user would start them."""

    def __init__(self, file: Path, environment: dict[str, str]) -> None:
        self._file = file
        self._environment = {**environment, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
        self.processes: list[subprocess.Popen[bytes]] = []
        self.sessions: list[int] = []
        self.broken = False  # without a scheduler

    def start(self) -> None:
        """Start a scheduler and its workers."""
        self._file.unlink(missing_ok=True)
        options = ["--scheduler-file", str(self._file), "--no-dashboard"]
        self._launch("distributed.cli.dask_scheduler", "--port", "0", *options)
        if not eventually(lambda: self._file.exists() and self._file.stat().st_size):
            raise SystemExit("the Dask scheduler did not start")
        for _ in range(2):
            self._add_worker()

    def _add_worker(self) -> None:
        options = ["--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
        file = ["--scheduler-file", str(self._file)]
        self._launch("distributed.cli.dask_worker", *file, *options)

    def _launch(self, module: str, *options: str) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *options],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        self.sessions.append(process.pid)

    def kill_worker(self, chance: random.Random) -> str:
        """Kill a worker: without its nanny, which starts another, or with it."""
        process = chance.choice(self.processes[1:])
        children = psutil.Process(process.pid).children()
        workers = [one for one in children if is_spawned(one)]
        if workers and chance.random() < 0.5:
            workers[0].kill()
            return "worker"
        for one in alive_in_session(process.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                one.kill()
        process.wait()
        self.processes.remove(process)
        self._add_worker()
        return "worker and nanny"

    def kill_scheduler(self) -> None:
        """Kill the scheduler; `restart` makes another."""
        self.processes[0].kill()
        self.broken = True

    def restart(self) -> None:
        """Start anew, also the workers, which end without a scheduler."""
        self.stop()
        self.start()
        self.broken = False

    def job_processes(self) -> list[psutil.Process]:
        """Processes beside the workers, in which jobs run."""
        found = []
        for process in self.processes[1:]:
            with contextlib.suppress(psutil.NoSuchProcess):
                for worker in psutil.Process(process.pid).children():
                    found += [one for one in worker.children() if is_spawned(one)]
        return found

    def stop(self) -> None:
        """End everything."""
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.processes = []
        self._file.unlink(missing_ok=True)


def is_spawned(process: psutil.Process) -> bool:
    """Whether multiprocessing started a process for work, not to track resources."""
    with contextlib.suppress(psutil.Error):
        return any("spawn_main" in word for word in process.cmdline())
    return False


# The disk -----------------------------------------------------------------------------------------


def enter_namespace() -> None:
    """Start this script again in a private mount namespace, if the system allows it."""
    if os.environ.get(NAMESPACE) or shutil.which("unshare") is None:
        return
    for options in (["--mount"], ["--mount", "--map-root-user"]):
        with tempfile.TemporaryDirectory() as place:
            mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place]
            probe = subprocess.run(["unshare", *options, *mount], capture_output=True, check=False)
        if probe.returncode == 0:
            os.environ[NAMESPACE] = "private"
            command = ["unshare", *options, sys.executable, *sys.argv]
            os.execvp(command[0], command)


class Disk:
    """A small file system that can be filled, or a limit on the size of files instead of it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir(parents=True)
        self.mounted = False
        if os.environ.get(NAMESPACE):
            size = f"size={DISK_MEGABYTES}m"
            mount = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)]
            self.mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        self._ballast = place / "ballast"

    def fill(self) -> None:
        """Use all that is left."""
        with self._ballast.open("wb", buffering=0) as stream, contextlib.suppress(OSError):
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        stream.write(bytes(size))

    def free(self) -> None:
        """Free it again."""
        self._ballast.unlink(missing_ok=True)

    def file_limit(self, run: Path) -> int:
        """Size of files that a run soon wants to exceed."""
        sizes = [one.stat().st_size for one in run.glob("results.sqlite*")]
        return max([0, *sizes]) + (1 << 16)

    def close(self) -> None:
        """Unmount it."""
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.place)], check=False)


# The storm ----------------------------------------------------------------------------------------


@dataclass
class Storm:
    """A run folder, the events that hit it, and what went wrong."""

    base: Path
    options: argparse.Namespace
    happened: Counter[str] = field(default_factory=Counter)
    fault_kinds: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    missed: list[Event] = field(default_factory=list)
    finished: dict[str, str] = field(default_factory=dict)
    n_starts: int = 0
    has_user_files: bool = False
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.dask = self.options.executor == "dask"
        for name in ("state", "tmp", "logs"):
            (self.base / name).mkdir()
        self.files = Workspace.for_jobs(
            self.base / "work",
            self.options.jobs,
            run="disk/run",
            executor=DASK_EXECUTOR if self.dask else LOCAL_EXECUTOR,
            seed=self.options.seed,
        )
        self.disk = Disk(self.files.base / "disk")
        self.run = self.disk.place / "run"
        self.environment = {
            **os.environ,
            STATE: str(self.base / "state"),
            "TMPDIR": str(self.base / "tmp"),
        }
        self.cluster = DaskCluster(self.files.base / "scheduler.json", self.environment)
        self.begin = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line of progress."""
        if not self.options.quiet:
            print(f"{time.monotonic() - self.begin:6.1f} s  {text}", file=sys.stderr, flush=True)

    # -- faulty jobs ------------------------------------------------------------------------------

    def plant_faults(self, faults: list[Event]) -> None:
        """Write down which detector misbehaves on which series, how and how often."""
        used = len(self.files.detectors) // 2 if len(self.files.detectors) < 9 else len(FUNCTIONS)
        places = list(itertools.product(FUNCTIONS[:used], range(self.files.n_series)))
        kinds = [kind for pair in itertools.zip_longest(ENDING, LINGERING) for kind in pair if kind]
        begin = faults[0].seed if faults else 0
        for number, event in enumerate(faults):
            chance = event.chance()
            if not places:
                return
            function, place = places.pop(chance.randrange(len(places)))
            kind = kinds[(begin + number) % len(kinds)]
            always = kind in ENDING and number % 3 == 0
            times = "always" if always else str(chance.randrange(1, 3))
            path = self.base / "state" / f"{function}-{FIRST_NUMBER + place}"
            path.write_text(f"{kind} {times}\n")

    def faults(self) -> dict[tuple[str, int], tuple[str, str]]:
        """Faults by function and series."""
        found = {}
        for path in (self.base / "state").iterdir():
            if not path.suffix:
                function, _, number = path.name.rpartition("-")
                kind, times = path.read_text().split()
                found[function, int(number) - FIRST_NUMBER] = kind, times
        return found

    def count_faults(self) -> None:
        """Count the faulty jobs that ran at least once."""
        for (function, place), (kind, times) in self.faults().items():
            mark = self.base / "state" / f"{function}-{FIRST_NUMBER + place}.0"
            if times == "always" or mark.exists():
                self.happened["faulty job"] += 1
                self.fault_kinds[kind] += 1
            else:
                self.say(f"fault never ran: {function} on series {place}: {kind}")

    def end_temporary_faults(self) -> None:
        """Let every detector behave that does not always fail."""
        for (function, place), (_, times) in self.faults().items():
            if times != "always":
                (self.base / "state" / f"{function}-{FIRST_NUMBER + place}").unlink()

    # -- starts -----------------------------------------------------------------------------------

    def rage(self, starts: list[Start]) -> None:
        """Go through all starts; events that came too late get two more chances each."""
        for start in starts:
            self._start_and_disturb(start)
        for _ in range(2):
            late, self.missed = self.missed, []
            for event in late:
                # Something must be left to run.
                self.say(f"once more: {event.kind}")
                self.files.edit_shared_code(event.chance())
                quick = Event(event.kind, event.seed, after=min(event.after, 3), delay=0.0)
                self._start_and_disturb(Start(during=[quick]))

    def _start_and_disturb(self, start: Start) -> None:
        for event in start.edits:
            self._edit(event)
        fills = any(event.kind == "fill disk" for event in start.during)
        limit = self.disk.file_limit(self.run) if fills and not self.disk.mounted else None
        process, log = self._launch(self.files.plan, limit)
        signaled: set[int] = set()
        late = []
        for event in start.during:
            if not self._wait_for_moment(process, event):
                late.append(event)
                continue
            self._disturb(process, event, signaled)
            self.happened[event.kind] += 1
        code = self._finish(process, log, signaled, full=fills)
        for event in late:
            if event.kind == "fill disk" and limit is not None and code == 2:
                self.happened[event.kind] += 1  # the limit took effect before its moment
            else:
                self.missed.append(event)
        if self.finished and not self.has_user_files:
            write_user_files(self.run)
            self.has_user_files = True
        if self.cluster.broken:
            self.cluster.restart()

    def _launch(
        self, plan: Path, file_limit: int | None = None
    ) -> tuple[subprocess.Popen[bytes], Path]:
        self.n_starts += 1
        log = self.base / "logs" / f"{self.n_starts:03}.txt"

        def set_limits() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
            if file_limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        with log.open("wb") as stream:
            process = subprocess.Popen(
                [*COMMAND, "run", str(plan), "--plain"],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,
                preexec_fn=set_limits,
            )
        self.process = process
        self._launched = time.monotonic()
        self._before = len(self._jobs())
        self._latest_run = self._query("SELECT max(id) FROM starts")
        return process, log

    def stop_run(self) -> None:
        """Kill the latest start if the storm ends before it."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _wait_for_moment(self, process: subprocess.Popen[bytes], event: Event) -> bool:
        """Wait until the run has done so much; whether it still runs then."""
        if event.kind == "stop at once":
            # Reading the database would take part of this time.
            time.sleep(max(0.0, self._launched + event.delay - time.monotonic()))
            return process.poll() is None
        eventually(
            lambda: process.poll() is not None or len(self._jobs()) - self._before >= event.after
        )
        time.sleep(event.delay)
        return process.poll() is None

    def _disturb(self, process: subprocess.Popen[bytes], event: Event, signaled: set[int]) -> None:
        chance = event.chance()
        detail = ""
        match event.kind:
            case "kill main process":
                signaled.add(signal.SIGKILL)
                process.kill()
            case "terminate main process":
                signaled.add(signal.SIGTERM)
                process.terminate()
            case "interrupt main process":
                signaled.add(signal.SIGINT)
                if chance.random() < 0.5:
                    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
                else:
                    process.send_signal(signal.SIGINT)
            case "stop at once":
                number = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
                signaled.add(number)
                process.send_signal(number)
                detail = f" by {number.name} after {event.delay:.2f} s"
            case "kill worker":
                detail = self._kill_worker(process, chance)
            case "kill Dask worker":
                detail = f" ({self.cluster.kill_worker(chance)})"
            case "kill Dask scheduler":
                self.cluster.kill_scheduler()
            case "edit during run":
                edit = chance.choice(
                    [self.files.edit_plan, self.files.edit_code, self.files.edit_data]
                )
                detail = f": {edit(chance)}"
            case "fill disk":
                if self.disk.mounted:
                    self.disk.fill()
                    if chance.random() < 0.3:
                        time.sleep(chance.random())
                        self.disk.free()
                        detail = " and free it at once"
            case _:
                raise AssertionError(event.kind)
        self.say(f"start {self.n_starts}: {event.kind}{detail}")

    def _kill_worker(self, process: subprocess.Popen[bytes], chance: random.Random) -> str:
        number = signal.SIGKILL if chance.random() < 0.7 else signal.SIGTERM

        def workers() -> list[psutil.Process]:
            if self.dask:
                return self.cluster.job_processes()
            with contextlib.suppress(psutil.NoSuchProcess):
                return [one for one in psutil.Process(process.pid).children() if is_spawned(one)]
            return []

        eventually(lambda: process.poll() is not None or workers())
        with contextlib.suppress(psutil.NoSuchProcess, IndexError):
            chance.choice(workers()).send_signal(number)
        return f" by {number.name}"

    def _edit(self, event: Event) -> None:
        edits = {
            "edit plan": self.files.edit_plan,
            "edit code": self.files.edit_code,
            "edit labels or data": self.files.edit_data,
        }
        done = edits[event.kind](event.chance())
        self.happened[event.kind] += 1
        self.say(f"before start {self.n_starts + 1}: {event.kind}: {done}")

    def _finish(
        self, process: subprocess.Popen[bytes], log: Path, signaled: set[int], *, full: bool
    ) -> int:
        """Wait for the end of a start and check what must hold then."""
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._problem(log, f"did not end within {PATIENCE:g} s")
            process.kill()
            code = process.wait()
        self.disk.free()
        self.exits[code] += 1
        expected = {0, 3, *(-number for number in signaled)}
        if signaled & {signal.SIGINT, signal.SIGTERM}:
            expected.add(130)
        if full or self.cluster.broken:
            expected.add(2)
        if code not in expected:
            self._problem(log, f"ended with exit code {code}")
        killed = signal.SIGKILL in signaled
        if not eventually(lambda: not self._left_by(process.pid, killed=killed), 60):
            left = self._left_by(process.pid, killed=killed)
            self._problem(log, f"left processes: {[' '.join(one.cmdline())[:100] for one in left]}")
        if not self.cluster.sessions:
            for one in alive_with(self.environment[STATE]):
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
        self._check_store(log, killed=signal.SIGKILL in signaled or full)
        return code

    def _left_by(self, main: int, *, killed: bool) -> list[psutil.Process]:
        """Processes that should have ended; what jobs have started may outlive ``kill -9``."""
        if self.cluster.sessions:
            return alive_in_session(main)
        found = alive_with(self.environment[STATE])
        return [one for one in found if not (killed and is_of_a_job(one, main))]

    def _check_store(self, log: Path, *, killed: bool) -> None:
        now = self._jobs()
        lost = self.finished.keys() - now.keys()
        again = {key for key in self.finished.keys() & now.keys() if self.finished[key] != now[key]}
        if lost or again:
            self._problem(log, f"{len(lost)} finished jobs lost, {len(again)} done again")
        self.finished = now
        states = self._query("SELECT state FROM starts ORDER BY id DESC LIMIT 1")
        began = self._query("SELECT max(id) FROM starts") != self._latest_run
        if began and not killed and states == [("running",)]:
            self._problem(log, "left the run as running")

    def _problem(self, log: Path, text: str) -> None:
        tail = log.read_text(errors="replace")[-1500:]
        self.problems.append(f"start {log.stem}: {text}")
        self.say(f"PROBLEM: start {log.stem}: {text}\n{tail}")

    def _jobs(self) -> dict[str, str]:
        """Finished jobs and when they finished."""
        return dict(self._query("SELECT key, finished FROM results"))

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        return query(self.run, sql)

    # -- the end ----------------------------------------------------------------------------------

    def settle(self, fresh: Path) -> None:
        """Finish the final plan undisturbed, here and in a fresh folder."""
        self.say("the storm is over; the final plan runs undisturbed")
        self._run_undisturbed(self.files.plan)
        self._check_failures()
        self.count_faults()
        self.end_temporary_faults()
        self._retry()
        if self.dask:
            self.cluster.stop()
        self.say("the same plan in a fresh folder")
        plan = self.files.copy_to(fresh, run="run", executor=LOCAL_EXECUTOR)
        self._run_undisturbed(plan)

    def _run_undisturbed(self, plan: Path) -> None:
        process, log = self._launch(plan)
        code = self._finish(process, log, set(), full=False)
        if code not in (0, 3):
            self._problem(log, f"undisturbed, but ended with {code}")

    def _retry(self) -> None:
        statuses = [word for one in Status if one.failed for word in ("--status", one.value)]
        log = self.base / "logs" / "retry.txt"
        with log.open("wb") as stream:
            code = subprocess.run(
                [*COMMAND, "retry", str(self.files.plan), "--plain", *statuses],
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=self.environment,
                check=False,
            ).returncode
        if code not in (0, 3):
            self._problem(log, f"ended with exit code {code}")
        self.finished = self._jobs()

    def _check_failures(self) -> None:
        """Every failure has its cause in the detector, or was killed too often."""
        functions = {e["label"]: e["name"].rpartition(":")[2] for e in self.files.detectors}
        faulty = {place for place, (kind, _) in self.faults().items() if kind in ENDING}
        unexplained: dict[str, list[str]] = defaultdict(list)
        for failure in Run(self.run).status(failures=10**6).failures:
            function = functions.get(failure.detector or "", "").replace("wide_spread", "spread")
            # Series have their numbers in the name or, if names are equal, in the folder above.
            number = re.search(r"\d+", f"{failure.dataset.partition('-')[0]} {failure.series} 0")
            place = function, int(number[0])
            explained = failure.kind == "score" and place in faulty
            if not explained and failure.status != Status.KILLED:
                unexplained[f"{failure.status} {failure.message}"[:300]].append(failure.title)
        for message, titles in unexplained.items():
            self.problems.append(f"{len(titles)} unexplained failures ({titles[0]}): {message}")
            self.say(f"PROBLEM: {self.problems[-1]}")

    def check_leftovers(self) -> None:
        """No process, temporary file or changed file of the user may remain."""
        for session in self.cluster.sessions:
            if not eventually(lambda s=session: not alive_in_session(s), 60):
                self.problems.append(f"processes of Dask left: {alive_in_session(session)}")
        known = {f"{key}.npy" for (key,) in self._query("SELECT key FROM results")}
        known.add(BEFORE)  # edits repeat finished jobs
        for path in sorted(self.run.rglob("*")):
            own = path.name in known or path.name.startswith(("results.sqlite", ".vuskit-lock"))
            name = str(path.relative_to(self.run))
            if path.is_file() and not own and name not in USER_FILES:
                self.problems.append(f"left in the run folder: {name}")
        for path in sorted((self.base / "tmp").iterdir()):
            if path.name != "dask-scratch-space":
                self.problems.append(f"left in the temporary folder: {path.name}")
        for path in self.files.base.rglob(".vuskit-*"):
            if not path.is_relative_to(self.run):
                self.problems.append(f"left beside the run: {path.name}")
        for folder, name in itertools.product((self.files.base, self.run), USER_FILES):
            path = folder / name
            if not path.exists() or path.read_bytes() != USER_CONTENT:
                self.problems.append(f"changed a file of the user: {path}")

    def verify(self) -> None:
        """Check every stored file and value."""
        options = ["--allow-code"]
        done = subprocess.run(
            [*COMMAND, "verify", str(self.run), *options],
            capture_output=True,
            env=self.environment,
            check=False,
        )
        if done.returncode:
            text = (done.stdout + done.stderr).decode(errors="replace")
            self.problems.append(f"verify ended with {done.returncode}: {text[-2000:]}")


def query(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Ask the database of a run, which may not be there yet."""
    try:
        connection = sqlite3.connect(f"file:{folder}/results.sqlite?mode=ro", uri=True, timeout=30)
    except sqlite3.OperationalError:
        return []
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.OperationalError:
        return []  # without tables, or without room for the index of the log
    finally:
        connection.close()


# The comparison -----------------------------------------------------------------------------------


def rows_of(run: Path) -> list[dict[str, str]]:
    """Rows of ``export --shape values`` without times; numbers to the last bit."""
    table = Run(run).table(shape="values")
    names = [name for name in table if name not in UNCOMPARED]
    return [
        {name: text(value) for name, value in zip(names, row, strict=True)}
        for row in table[names].itertuples(index=False, name=None)
    ]


def text(value: Any) -> str:
    """A cell; a number in hexadecimal form, which has all of its bits."""
    return value.hex() if isinstance(value, float) else str(value)


def compare(battered: Path, fresh: Path) -> tuple[int, list[str]]:
    """Number of rows of the fresh run, and every difference."""
    found, expected = by_name(rows_of(battered)), by_name(rows_of(fresh))
    differences = []
    for name in sorted(found.keys() | expected.keys()):
        if len(found[name]) != 1 or len(expected[name]) != 1:
            counts = f"{len(found[name])} rows after the storm, {len(expected[name])} undisturbed"
            differences.append(f"{name}: {counts}")
            continue
        (one,), (other,) = found[name], expected[name]
        changed = [
            f"{key} {one.get(key)} instead of {other.get(key)}"
            for key in sorted(one.keys() | other.keys())
            if one.get(key) != other.get(key)
        ]
        if changed:
            differences.append(f"{name}: {', '.join(changed)}")
    return sum(map(len, expected.values())), differences


def by_name(rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    """Rows by what a reader of a table sees; there should be one each."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        found[", ".join(row[key] for key in NAMES)].append(row)
    return found


# The report ---------------------------------------------------------------------------------------


def counted(counts: Counter[Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=str))


def report(storm: Storm, fresh: Path, n_rows: int, differences: list[str], digest: str) -> str:
    """What happened and how it ended."""
    options = storm.options
    statuses = Counter(dict(query(fresh, "SELECT status, count(*) FROM results GROUP BY status")))
    disk = f"tmpfs of {DISK_MEGABYTES} MB" if storm.disk.mounted else "limit on the size of files"
    seconds = format_duration(time.monotonic() - storm.begin)
    lines = [
        f"seed {options.seed}, {options.executor} executor, disk: {disk}; "
        f"schedule {digest}; {storm.n_starts} starts in {seconds}",
        f"{storm.happened.total()} events: {counted(storm.happened)}",
        f"faults: {counted(storm.fault_kinds)}",
        f"exit codes: {counted(storm.exits)}",
        f"final plan: {statuses.total()} jobs ({counted(statuses)})",
        f"{n_rows:,} rows compared, {len(differences)} differences, "
        f"{len(storm.problems)} other problems",
    ]
    lines += [f"missed: {event.kind}" for event in storm.missed]
    lines += [f"  {problem}" for problem in [*storm.problems[:SHOWN], *differences[:SHOWN]]]
    return "\n".join(lines)


def run_storm(options: argparse.Namespace, base: Path) -> bool:
    """Run a storm and print its report; whether everything was right."""
    faults, starts = make_schedule(
        options.seed, options.events, options.jobs, dask=options.executor == "dask"
    )
    digest = hashlib.sha256(repr((faults, starts)).encode()).hexdigest()[:12]
    storm = Storm(base, options)
    fresh = base / "fresh"
    try:
        if not storm.disk.mounted:
            storm.say("no tmpfs can be mounted here: a limit on the size of files replaces it")
        if storm.dask:
            storm.cluster.start()
        storm.plant_faults(faults)
        storm.rage(starts)
        storm.settle(fresh)
        storm.verify()
        storm.check_leftovers()
        n_rows, differences = compare(storm.run, fresh / "run")
        print(report(storm, fresh / "run", n_rows, differences, digest))
        if options.keep is not None:
            keep(storm, options.keep)
    finally:
        storm.stop_run()
        storm.cluster.stop()
        storm.disk.close()
    return not differences and not storm.problems


def keep(storm: Storm, target: Path) -> None:
    """Copy both runs and the logs."""
    target.mkdir(parents=True, exist_ok=True)
    for source, name in (
        (storm.run, "battered"),
        (storm.base / "fresh" / "run", "fresh"),
        (storm.base / "logs", "logs"),
    ):
        shutil.copytree(source, target / name, dirs_exist_ok=True)


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vuskit-storm-", ignore_cleanup_errors=True) as base:
        yield Path(base)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=300)
    parser.add_argument("--events", type=int, default=66)
    parser.add_argument("--executor", choices=("local", "dask"), default="local")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy both runs and logs here")
    parser.add_argument("--compare", type=Path, metavar="FOLDER", help="only compare kept runs")
    parser.add_argument("--quiet", action="store_true", help="no lines of progress")
    options = parser.parse_args()
    if options.compare is not None:
        n_rows, differences = compare(options.compare / "battered", options.compare / "fresh")
        print(f"{n_rows:,} rows compared, {len(differences)} differences", *differences, sep="\n")
        raise SystemExit(bool(differences))
    enter_namespace()
    # A terminated storm must end its processes too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with work_folder() as base:
        right = run_storm(options, base)
    raise SystemExit(not right)


if __name__ == "__main__":
    main()

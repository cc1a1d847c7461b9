"""Worker processes under limits: a task that kills its process does not affect other tasks."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import pickle
import signal
import time
import uuid
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

from vuskit._util.interrupts import delayed_signals, ignore_sigint_in_children
from vuskit._util.optional import require
from vuskit.engine._process import BROKEN_EXIT, pack, send_message, serve
from vuskit.engine.tasks import Limits, Outcome, StaleWorkerError, Status, Task

_ATTEMPTS = 3  # for a task whose process is killed from outside or cannot start
_MOST_OUTPUT = 8_000_000  # bytes of output of a task on disk
_OUTPUT_TAIL = 8_000  # bytes of output that are kept
_POLL_SECONDS = 0.1
_START_SECONDS = 600.0
_KILL_SECONDS = 2.0  # after the time limit, at which the process ends itself
_CLOSED_SECONDS = 1.0  # for a process to end after its connection
_END_SECONDS = 5.0  # for an idle process to end
_NEARLY_ALL = 0.9  # share of the memory limit
_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS", "SIGALRM")


@dataclass(frozen=True)
class PackedTask:
    """A pickled task; ``bare`` is its action without inputs, for the warm-up."""

    group: str | None
    code: str | None
    action: bytes
    bare: bytes

    @classmethod
    def of(cls, task: Task, *, load: bool = False, portable: bool = False) -> PackedTask:
        """Pickle a task; ``load`` attaches its inputs."""
        bare = pack(task.action, portable=portable)
        action = pack(task.action.load(), portable=portable) if load else bare
        return cls(task.action.group, task.action.code, action, bare)


@dataclass
class _Job:
    """A submitted task and its attempts."""

    key: str
    task: PackedTask
    warm_up_seconds: float | None = None
    kills: int = 0
    repeated: bool = False


class Pool:
    """Processes that each run one task at a time and are replaced when they die.

    Single-threaded: processes make progress in `poll`. On Linux, a process ends with the thread
    that started it. Other threads may only call `kill`, and `close` while no task runs.
    """

    def __init__(self, workers: int, limits: Limits, scratch: Path) -> None:
        self._workers, self._limits, self._scratch = workers, limits, scratch
        self._processes: list[_WorkerProcess] = []
        self._not_warmable: set[str | None] = {None}  # also groups whose warm-up failed
        self._closed = False
        self._last_used = time.monotonic()
        if limits.memory is not None:
            require("psutil", purpose="a limit on memory")

    @property
    def idle_seconds(self) -> float:
        """Time since the last task ended; 0 while one runs."""
        busy = any(process.job is not None for process in self._processes)
        return 0.0 if busy else time.monotonic() - self._last_used

    def run(self, task: PackedTask) -> Outcome:
        """Run a task and wait for it."""
        self.submit("", task)
        while not (found := self.poll(_POLL_SECONDS)):
            pass
        self._last_used = time.monotonic()
        return found[0][1]

    def submit(self, key: str, task: PackedTask) -> None:
        """Start a task. There must be an idle process, or room for one."""
        self._begin(_Job(key, task))

    def _begin(self, job: _Job) -> None:
        for process in [one for one in self._processes if one.has_died_idle()]:
            self._remove(process, kill=False)
        idle = [process for process in self._processes if process.job is None]
        fitting = [process for process in idle if process.fits(job.task)]
        warm = [process for process in fitting if job.task.group in process.codes]
        if not fitting and len(self._processes) == self._workers:
            self._remove(idle[0])
        for process in (*warm, *fitting):
            process.begin(job)
            return
        with delayed_signals(), ignore_sigint_in_children():
            process = _WorkerProcess(self._limits, self._scratch, self._not_warmable)
            process.job = job
            self._processes.append(process)
            process.start()
        if self._closed:
            process.kill()

    def poll(self, timeout: float) -> list[tuple[str, Outcome]]:
        """Wait for outcomes; return an empty list after the timeout."""
        end = time.monotonic() + timeout
        found: list[tuple[str, Outcome]] = []
        while not found and (busy := [one for one in self._processes if one.job is not None]):
            left = max(0.0, end - time.monotonic())
            wait([process.connection for process in busy], min(left, _POLL_SECONDS))
            for process in busy:
                job = process.job
                outcome = self._advance(process)
                if outcome is not None and job is not None:
                    outcome = dataclasses.replace(outcome, warm_up_seconds=job.warm_up_seconds)
                    found.append((job.key, outcome))
            if not left:
                break
        return found

    # -- progress of one process

    def _advance(self, process: _WorkerProcess) -> Outcome | None:
        """Read what a process has sent; return the outcome when its task has ended."""
        try:
            while process.connection.poll():
                outcome = process.receive()
                if outcome is not None:
                    return self._finished(process, outcome)
            if not process.is_over() or process.connection.poll():
                return None
        except (EOFError, OSError):
            pass
        except Exception as error:  # the task wrote to the connection
            process.failure = f"the worker could not send its result: {error}"
        return self._ended(process)

    def _finished(self, process: _WorkerProcess, outcome: Outcome) -> Outcome | None:
        job, process.job = process.job, None
        assert job is not None
        stale = outcome.status.failed and outcome.error_type == StaleWorkerError.__name__
        # After OOM, the process may never return its memory to the system.
        doubtful = stale or outcome.status is Status.OOM
        if doubtful or not process.usable:
            self._remove(process)
        if doubtful and (stale or process.tasks > 1) and not job.repeated:
            job.repeated = True
            self._begin(job)
            return None
        return outcome

    def _ended(self, process: _WorkerProcess) -> Outcome | None:
        """Outcome after the end of a process; None if the task is repeated in a new one."""
        job, stage = process.job, process.stage
        assert job is not None
        late = process.is_late()
        outcome = process.died(late=late)
        self._remove(process)
        if self._closed:
            return Outcome(Status.ERROR, message="the worker was closed")
        if stage == "warm-up":
            # The task still runs, in a new process under its own limits.
            self._not_warmable.add(job.task.group)
            job.warm_up_seconds = self._limits.warm_up_seconds if late else None
        elif stage != "run" or outcome.status is Status.KILLED:
            job.kills += 1
            if job.kills == _ATTEMPTS:
                return dataclasses.replace(outcome, message=f"{outcome.message}, {job.kills} times")
        elif outcome.status is Status.TIMEOUT or process.tasks == 1 or job.repeated:
            return outcome
        else:
            job.repeated = True  # an earlier task of the process may be the cause
        self._begin(job)
        return None

    def _remove(self, process: _WorkerProcess, *, kill: bool = True) -> None:
        with delayed_signals():
            if kill:
                process.kill()
            process.clean_up()
            self._processes.remove(process)

    def kill(self) -> None:
        """Kill the processes for good. Safe to call while another thread runs a task."""
        self._closed = True
        for process in tuple(self._processes):
            process.kill()

    def close(self, *, kill: bool) -> None:
        """End the processes for good; without ``kill``, wait for idle ones."""
        self._closed = True
        try:
            if not kill:
                for process in self._processes:
                    process.connection.close()  # the process ends when it notices this
                for process in self._processes:
                    process.process.join(_END_SECONDS)
        finally:
            with delayed_signals():
                self.kill()
                for process in tuple(self._processes):
                    self._remove(process, kill=False)
                with contextlib.suppress(OSError):  # other pools use it too
                    self._scratch.rmdir()


class _WorkerProcess:
    """A process as its parent sees it."""

    def __init__(self, limits: Limits, scratch: Path, not_warmable: set[str | None]) -> None:
        self._limits, self._not_warmable = limits, not_warmable
        self._output = _Output(scratch / f"worker-{uuid.uuid4().hex[:12]}.log")
        # A spawned process inherits no locks, database connections or threads.
        context = multiprocessing.get_context("spawn")
        self.connection, self._other_end = context.Pipe()
        args = (self._other_end, limits, os.getpid(), str(self._output.path))
        self.process = context.Process(target=serve, args=args, daemon=True)
        self.job: _Job | None = None
        self.tasks = 0
        self.codes: dict[str | None, str | None] = {}  # code of each group that has run
        self.reserved: str | None = None  # the only group that may use the process
        self.usable = True
        self.failure: str | None = None
        self._enter("start", time.monotonic(), _START_SECONDS)
        self._part, self._size = bytearray(), -1
        self._most_memory = self._oom_kills = 0

    def start(self) -> None:
        """Start the process; after an error, the next poll finds the connection closed."""
        try:
            self.process.start()
        except OSError as error:
            self.failure = str(error)
        self._other_end.close()

    def has_died_idle(self) -> bool:
        """Whether the process has ended without a task."""
        return self.job is None and self.process.exitcode is not None

    def fits(self, task: PackedTask) -> bool:
        """Whether the process can run a task."""
        if self.reserved is not None and self.reserved != (task.group or ""):
            return False
        return task.group is None or self.codes.get(task.group, task.code) == task.code

    def begin(self, job: _Job) -> None:
        """Send a task to the idle process."""
        self.job = job
        self._enter("send", time.monotonic(), _START_SECONDS)
        self._output.clear()
        self._most_memory, self._oom_kills = 0, _count_oom_kills()
        task = job.task
        needs_warm_up = task.group not in self._not_warmable and task.group not in self.codes
        if task.group is not None:
            self.codes[task.group] = task.code
        with contextlib.suppress(OSError):  # the next poll notices that the process has died
            send_message(self.connection, (task.bare if needs_warm_up else None, task.action))

    def receive(self) -> Outcome | None:
        """Read a part of a message; return the outcome when the task has ended."""
        data = self.connection.recv_bytes()
        if self._size < 0:
            self._size = int.from_bytes(data, "little")
        else:
            self._part += data
        if len(self._part) < self._size:
            return None
        message, self._part, self._size = pickle.loads(self._part), bytearray(), -1
        assert self.job is not None
        match message:
            case ("idle",):
                self.begin(self.job)
            case "warm-up", begin:
                self._enter("warm-up", begin, self._limits.warm_up_seconds)
            case "run", begin, warm_up_seconds:
                self._enter("run", begin, self._limits.seconds)
                self.tasks += 1
                self.job.warm_up_seconds = warm_up_seconds or self.job.warm_up_seconds
            case "end", usable, reserved, Outcome() as outcome:
                self.usable = usable
                self.reserved = (self.job.task.group or "") if reserved else None
                return outcome
        return None

    def _enter(self, stage: str, begin: float, seconds: float | None) -> None:
        self.stage, self._begin = stage, begin
        self._seconds = float("inf") if seconds is None else seconds

    def is_late(self) -> bool:
        """Whether the time limit is over."""
        # The monotonic clock does not run while the machine is suspended, and is never adjusted.
        return time.monotonic() >= self._begin + self._seconds

    def is_over(self) -> bool:
        """Whether the process has ended, or exceeds a limit and is killed."""
        self._output.cut()
        memory = self._limits.memory
        if memory is not None:
            self._most_memory = max(self._most_memory, _resident_memory(self.process.pid))
        late = time.monotonic() > self._begin + self._seconds + _KILL_SECONDS
        if late or (memory is not None and self._most_memory > memory):
            self.kill()
            return True
        return self.process.exitcode is not None

    def died(self, *, late: bool) -> Outcome:
        """What the end of the process says about its task."""
        if self.process.pid is not None:
            self.process.join(_CLOSED_SECONDS)
        code = self.process.exitcode  # None: the connection is closed, but the process runs
        name = _signal_name(-code) if code is not None and code < 0 else ""
        memory = self._limits.memory or float("inf")
        status, seconds = Status.ERROR, None
        if self._most_memory > memory:
            status, text = Status.OOM, "used more memory than allowed"
        elif self.stage != "run":
            reason = self.failure or f"exit code {code}"
            text = f"no worker process could be started: {reason}"
        elif late:
            status, seconds = Status.TIMEOUT, self._seconds
            text = f"took more than {self._seconds:g} s"
        elif self.failure is not None:
            text = self.failure
        elif code is None or code == BROKEN_EXIT:
            text = "the task closed the connection to its worker"
        elif code >= 0:
            text = f"the worker process ended with exit code {code}"
        elif name in _CRASHES:
            text = f"the worker process died of signal {-code} ({name})"
        elif name == "SIGKILL" and (
            self._most_memory > _NEARLY_ALL * memory or _count_oom_kills() != self._oom_kills
        ):
            status = Status.OOM
            text = "the system killed the worker process because memory ran out (SIGKILL)"
        else:
            status = Status.KILLED
            text = f"the worker process was killed from outside by signal {-code} ({name})"
        output = self._output.tail() or None
        return Outcome(status, message=text, traceback=output, seconds=seconds)

    def kill(self) -> None:
        """Kill the process and its children."""
        pid = self.process.pid
        if pid is None:
            return
        if hasattr(os, "killpg"):
            # The number is not used again while the group has a process.
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)
        else:
            psutil = require("psutil", purpose="ending processes of a task")
            with contextlib.suppress(psutil.Error):
                for child in psutil.Process(pid).children(recursive=True):
                    child.kill()
        with contextlib.suppress(ValueError, OSError):
            self.process.kill()

    def clean_up(self) -> None:
        """Wait for the end of the process and remove its files."""
        if self.process.pid is not None:
            self.process.join()
        self.connection.close()
        self._output.remove()


class _Output:
    """File with the output of a process; only the end is kept.

    The parent truncates the file, because compiled code may block other threads of the worker.
    The worker appends, so it continues at the new end.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._left_out, self._last = 0, b""  # of the output before the last truncation

    def clear(self) -> None:
        """Discard the output so far."""
        self._left_out, self._last = 0, b""
        os.ftruncate(self._file, 0)

    def cut(self) -> None:
        """Keep only the end if the file is too large; output written meanwhile may be lost."""
        if os.fstat(self._file).st_size > _MOST_OUTPUT:
            self._left_out, self._last = self._state()
            os.ftruncate(self._file, 0)

    def _state(self) -> tuple[int, bytes]:
        """Number of omitted bytes, and the last bytes."""
        size = os.fstat(self._file).st_size
        os.lseek(self._file, max(0, size - _OUTPUT_TAIL), os.SEEK_SET)
        last = (self._last + os.read(self._file, _OUTPUT_TAIL))[-_OUTPUT_TAIL:]
        return self._left_out + len(self._last) + size - len(last), last

    def tail(self) -> str:
        left_out, last = self._state()
        mark = f"[… at least {left_out:,} bytes of output left out …]\n" if left_out else ""
        return mark + last.decode(errors="replace").strip()

    def remove(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1
        self.path.unlink(missing_ok=True)


def _resident_memory(pid: int | None) -> int:
    psutil = require("psutil", purpose="a limit on memory")
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:  # the process has ended
        return 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _count_oom_kills() -> int:
    """Number of processes that the system killed because memory ran out.

    Counts this control group if possible, otherwise the whole machine.
    """
    for path in (_memory_events(), Path("/proc/vmstat")):
        with contextlib.suppress(OSError, ValueError):
            for line in path.read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count)
    return 0


def _memory_events() -> Path:
    """Counters of the control group."""
    folder = ""
    with contextlib.suppress(OSError):
        folder = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
    return Path("/sys/fs/cgroup", folder, "memory.events")

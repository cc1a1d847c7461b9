"""Worker processes under limits: a task that kills its process does not affect other tasks."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import multiprocessing
import os
import queue
import signal
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from vuskit._util.signals import ignore_sigint_in_children
from vuskit.engine._pickling import pack
from vuskit.engine._process import (
    ALARM_MARK,
    BROKEN_EXIT,
    OVER_MEMORY_EXIT,
    Reply,
    RunRequest,
    WarmUpRequest,
    read_message,
    send_message,
    serve,
)
from vuskit.engine.tasks import Limits, Outcome, StaleWorkerError, Status, Task

__all__ = ["ATTEMPTS", "PackedTask", "Worker", "WorkerProcess", "lost_task"]

ATTEMPTS = 3
"""Maximum attempts for a task whose process is killed from outside or cannot start."""

_MOST_OUTPUT = 8_000_000  # bytes of output of a task on disk
_OUTPUT_TAIL = 8_000  # bytes of output that are kept
_POLL_SECONDS = 0.1
_QUICK_SECONDS = 1.0
_START_SECONDS = 600.0
_END_SECONDS = 5.0
_NEARLY_ALL = 0.9  # share of the memory limit
_CRASHES = {
    getattr(signal, name, None)
    for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS", "SIGALRM")
}


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


def lost_task(message: str, output: str | None = None) -> Outcome:
    """Outcome of a task whose worker died, with its last output."""
    return Outcome(Status.ERROR, message=message, traceback=output)


class Repeat(enum.Enum):
    """Whether a task is repeated in a new process."""

    NEVER = enum.auto()
    ONCE = enum.auto()
    KILLED = enum.auto()  # up to `ATTEMPTS` attempts


@dataclass(frozen=True)
class Attempt:
    """How one attempt to run a task ended."""

    outcome: Outcome
    repeat: Repeat = Repeat.NEVER
    process_ended: bool = False


class _ProcessEndedError(Exception):
    """The process has ended or is unreachable."""


class _OutOfTimeError(Exception):
    """The process did not answer in time."""


class WorkerProcess:
    """One process that runs one task at a time and is replaced when it dies.

    The process is also replaced if a task changed state that later tasks depend on. All methods
    except `kill` must be called by the same thread: on Linux, the process ends with the thread that
    started it.

    Parameters
    ----------
    limits : Limits
        Limits of each task.
    scratch : Path
        Folder for the output of the process and its stack dumps.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._limits = limits
        name = f"worker-{uuid.uuid4().hex[:12]}"
        self._output = _Output(scratch / f"{name}.log")
        self._stack = scratch / f"{name}.stack"
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._lock = threading.Lock()  # prevents starting a process while `kill` runs
        self._killed = False
        self._not_warmable: set[str] = set()  # groups whose warm-up crashed or took too long
        self._highest_memory = 0
        self._forget_process()

    def _forget_process(self) -> None:
        self._tasks = 0
        self._warm: set[str] = set()  # groups that are warmed up
        self._codes: dict[str, str | None] = {}  # loaded code of each group
        self._reserved: str | None = None  # the only group that may use the process

    # -- running a task

    def run(self, task: PackedTask) -> Attempt:
        """Run a task, after a warm-up if its group needs one."""
        if not self._fits(task):
            self.end(kill=True)
        try:
            if self._process is None:
                self._start_process()
            warm_up_seconds = self._warm_up(task)
        except (_ProcessEndedError, _OutOfTimeError, OSError) as error:
            return self._not_started(error)
        attempt = self._run(task)
        outcome = dataclasses.replace(attempt.outcome, warm_up_seconds=warm_up_seconds)
        return dataclasses.replace(attempt, outcome=outcome)

    def _fits(self, task: PackedTask) -> bool:
        """Whether the current process, if any, can run a task."""
        if self._process is None:
            return True
        if self._process.exitcode is not None:
            return False  # it died while idle
        if self._reserved is not None and self._reserved != (task.group or ""):
            return False
        return task.group is None or self._codes.get(task.group, task.code) == task.code

    def _not_started(self, error: Exception) -> Attempt:
        code = self._exit_code() if isinstance(error, _ProcessEndedError) else None
        self.end(kill=True)
        reason = f"exit code {code}" if str(error) == "" else str(error)
        return Attempt(
            lost_task(f"no worker process could be started: {reason}"),
            Repeat.KILLED,
        )

    def _warm_up(self, task: PackedTask) -> float | None:
        group = task.group
        if group is None:
            return None
        self._codes[group] = task.code
        if group in self._warm | self._not_warmable:
            return None
        seconds: float | None = None
        try:
            reply = self._request(WarmUpRequest(task.bare), self._limits.warm_up_seconds)
        except _OutOfTimeError:
            seconds = self._limits.warm_up_seconds
        except _ProcessEndedError:
            pass
        else:
            if reply.changes.imported:
                self._reserved = group
            if not reply.changes.harmful:
                self._warm.add(group)
                return reply.outcome.seconds
        # The task still runs, in a new process under its own limits.
        self._not_warmable.add(group)
        self.end(kill=True)
        self._start_process()
        self._codes[group] = task.code
        return seconds

    def _run(self, task: PackedTask) -> Attempt:
        fresh, self._tasks = self._tasks == 0, self._tasks + 1
        # Repeating does not help if the task already ran in a fresh process.
        once = Repeat.NEVER if fresh else Repeat.ONCE
        kills = _count_oom_kills()
        self._highest_memory = 0
        self._output.clear()
        request = RunRequest(task.action, self._limits.seconds, str(self._stack))
        try:
            reply = self._request(request, self._limits.seconds)
        except _OutOfTimeError:
            attempt = Attempt(self._timeout())
        except _ProcessEndedError:
            attempt = self._died(self._exit_code(), once, oom=_count_oom_kills() != kills)
        except Exception as error:
            attempt = Attempt(lost_task(f"the worker could not send its result: {error}"), once)
        else:
            return self._finished(task, reply, once)
        self.end(kill=True)
        return dataclasses.replace(attempt, process_ended=True)

    def _finished(self, task: PackedTask, reply: Reply, once: Repeat) -> Attempt:
        outcome, changes = reply.outcome, reply.changes
        failed = outcome.status.failed
        stale = failed and outcome.error_type == StaleWorkerError.__name__
        if stale:
            once = Repeat.ONCE
        # After OOM, the process may never return its memory to the system.
        oom = outcome.status is Status.OOM
        suspicious = failed and (stale or oom or reply.suspicious)
        if changes.imported:
            self._reserved = task.group or ""
        if suspicious or changes.harmful:
            self.end(kill=True)
        if changes.harmful:
            text = f"its worker process was replaced: the task changed {_listed(changes.harmful)}"
            outcome = dataclasses.replace(outcome, notes=(text,))
        return Attempt(
            outcome,
            once if suspicious else Repeat.NEVER,
            process_ended=bool(changes.harmful),
        )

    # -- outcomes of failed processes

    def _timeout(self, detail: str = "") -> Outcome:
        return Outcome(
            Status.TIMEOUT,
            message=f"took more than {self._limits.seconds:g} s{detail}",
            traceback=self._tail(),
            seconds=self._limits.seconds,
        )

    def _died(self, code: int | None, once: Repeat, *, oom: bool) -> Attempt:
        output = self._tail()
        if code is None or code == BROKEN_EXIT:
            return Attempt(lost_task("the task closed the connection to its worker", output), once)
        memory = self._limits.memory
        if code == OVER_MEMORY_EXIT and memory is not None:
            text = "used more memory than allowed"
            return Attempt(Outcome(Status.OOM, message=text, traceback=output), once)
        if code >= 0:
            return Attempt(lost_task(f"the worker process ended with exit code {code}", output))
        name = _signal_name(-code)
        if -code in _CRASHES:
            if ALARM_MARK in _read_tail(self._stack):
                # The time limit was near, and the alarm may have killed the process.
                detail = f" and died of signal {-code} ({name})"
                return Attempt(self._timeout(detail))
            text = f"the worker process died of signal {-code} ({name})"
            return Attempt(lost_task(text, output), once)
        oom = oom or (memory is not None and self._highest_memory > _NEARLY_ALL * memory)
        if -code == getattr(signal, "SIGKILL", None) and oom:
            text = "the system killed the worker process because memory ran out (SIGKILL)"
            return Attempt(Outcome(Status.OOM, message=text, traceback=output), once)
        text = f"the worker process was killed from outside by signal {-code} ({name})"
        return Attempt(Outcome(Status.KILLED, message=text, traceback=output), Repeat.KILLED)

    def _tail(self) -> str | None:
        """Last output of the task, and its stack shortly before the time limit."""
        return "\n".join(filter(None, (self._output.tail(), _read_tail(self._stack)))) or None

    # -- the process

    def _request(self, request: object, seconds: float | None) -> Reply:
        """Send a request and wait for the reply; time counts from when the process starts on it."""
        assert self._connection is not None
        try:
            send_message(self._connection, request)
        except OSError as error:
            raise _ProcessEndedError from error
        self._receive(_START_SECONDS)
        reply: Reply = self._receive(seconds)
        return reply

    def _receive(self, seconds: float | None) -> Any:
        # The monotonic clock does not run while the machine is suspended, and is never adjusted.
        end = None if seconds is None else time.monotonic() + seconds
        return read_message(lambda: self._read_part(end))

    def _read_part(self, end: float | None) -> bytes:
        process, connection = self._process, self._connection
        assert process is not None
        assert connection is not None
        try:
            while not connection.poll(_POLL_SECONDS):
                self._output.cut()
                self._note_memory()
                if process.exitcode is not None and not connection.poll(0):
                    raise _ProcessEndedError
                if end is not None and time.monotonic() > end and not connection.poll(0):
                    raise _OutOfTimeError
            return connection.recv_bytes()
        except (EOFError, OSError) as error:
            raise _ProcessEndedError from error

    def _note_memory(self) -> None:
        if self._limits.memory is None or self._process is None:
            return
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
            used = int(pages) * os.sysconf("SC_PAGE_SIZE")
            self._highest_memory = max(self._highest_memory, used)

    def _start_process(self) -> None:
        self._output.open()
        # A spawned process inherits no locks, database connections or threads.
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(
            target=serve,
            args=(there, self._limits, os.getpid(), str(self._output.path)),
            daemon=True,  # multiprocessing ends it with this process
        )
        with self._lock:
            if self._killed:
                raise _ProcessEndedError
            with ignore_sigint_in_children():
                process.start()
            self._process, self._connection = process, here
        there.close()
        self._receive(_START_SECONDS)

    def _exit_code(self) -> int | None:
        """Exit code of an unreachable process; None if it still runs."""
        if self._process is None:
            return None
        self._process.join(_END_SECONDS)
        return self._process.exitcode

    def kill(self) -> None:
        """End the process for good. Safe to call while another thread waits for it."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                with contextlib.suppress(ValueError, OSError):
                    self._process.kill()

    def end(self, *, kill: bool) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
            connection, self._connection = self._connection, None
        if process is not None and connection is not None:
            if kill:
                process.kill()
            connection.close()  # the process ends when it notices this
            process.join(_END_SECONDS)
            if process.exitcode is None:
                process.kill()
                process.join()
            process.close()
        self._forget_process()
        self._output.remove()
        self._stack.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not empty: other processes use it too
            self._stack.parent.rmdir()


class Worker:
    """Runs one task at a time, in one of two processes.

    Compiling takes longer than many tasks, and a killed process loses its compiled code. So a
    group whose process was killed, and whose own warm-up is quick, runs its next tasks in a spare
    process. That process is started when first needed.

    Parameters
    ----------
    limits : Limits
        Limits of each task.
    scratch : Path
        Folder for the output of the processes.
    """

    def __init__(self, limits: Limits, scratch: Path) -> None:
        self._main, self._spare = WorkerProcess(limits, scratch), WorkerProcess(limits, scratch)
        self._slow_groups: set[str] = set()  # groups with a long warm-up
        self._spare_groups: set[str] = set()  # groups that use the spare process
        self._closed = False
        self._requests: queue.SimpleQueue[Callable[[], bool]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while self._requests.get()():
            pass

    def start(self, task: PackedTask) -> Future[Outcome]:
        """Start a task."""
        future: Future[Outcome] = Future()
        future.set_running_or_notify_cancel()

        def run() -> bool:
            try:
                future.set_result(self._run(task))
            except BaseException as error:
                future.set_exception(error)
            return True

        self._requests.put(run)
        return future

    def run(self, task: PackedTask) -> Outcome:
        """Run a task and wait for it."""
        return self.start(task).result()

    def _run(self, task: PackedTask) -> Outcome:
        """Run a task, and repeat it if the process may have caused its failure."""
        kills, repeated = 0, False
        while True:
            process = self._spare if task.group in self._spare_groups else self._main
            attempt = process.run(task)
            outcome = attempt.outcome
            if self._closed:
                return lost_task("the worker was closed")
            self._note_group(task.group, attempt)
            if attempt.repeat is Repeat.KILLED:
                kills += 1
                if kills < ATTEMPTS:
                    continue
                return dataclasses.replace(outcome, message=f"{outcome.message}, {kills} times")
            if attempt.repeat is Repeat.NEVER or repeated:
                return outcome
            repeated = True

    def _note_group(self, group: str | None, attempt: Attempt) -> None:
        if group is None:
            return
        if (attempt.outcome.warm_up_seconds or 0.0) > _QUICK_SECONDS:
            self._slow_groups.add(group)
        if attempt.process_ended and group not in self._slow_groups:
            self._spare_groups.add(group)

    def begin_close(self, *, kill: bool = False) -> None:
        """Request the end of the processes; ``kill`` also ends a running task."""
        self._closed = True
        if kill:
            for process in (self._main, self._spare):
                process.kill()

        def end() -> bool:
            for process in (self._main, self._spare):
                process.end(kill=kill)
            return False

        self._requests.put(end)

    def join(self) -> None:
        """Wait for the end of the processes."""
        self._thread.join()

    def close(self, *, kill: bool = False) -> None:
        """End the processes for good."""
        self.begin_close(kill=kill)
        self.join()


class _Output:
    """File with the output of a process; only the end is kept.

    The parent truncates the file, because compiled code may block other threads of the worker.
    The worker appends, so it continues at the new end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None
        self._left_out = 0
        self._last = b""  # end of the output before the last truncation

    def open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)

    def clear(self) -> None:
        """Discard the output so far."""
        self._left_out, self._last = 0, b""
        if self._file is not None:
            os.ftruncate(self._file, 0)

    def cut(self) -> None:
        """Keep only the end if the file is too large; output written meanwhile may be lost."""
        if self._file is not None and os.fstat(self._file).st_size > _MOST_OUTPUT:
            self._left_out, self._last = self._state()
            os.ftruncate(self._file, 0)

    def _state(self) -> tuple[int, bytes]:
        """Number of omitted bytes, and the last bytes."""
        if self._file is None:
            return self._left_out, self._last
        size = os.fstat(self._file).st_size
        os.lseek(self._file, max(0, size - _OUTPUT_TAIL), os.SEEK_SET)
        last = (self._last + os.read(self._file, _OUTPUT_TAIL))[-_OUTPUT_TAIL:]
        return self._left_out + len(self._last) + size - len(last), last

    def tail(self) -> str:
        try:
            left_out, last = self._state()
        except OSError:
            return ""
        mark = f"[… at least {left_out:,} bytes of output left out …]\n" if left_out else ""
        return mark + last.decode(errors="replace").strip()

    def remove(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
        self._left_out, self._last = 0, b""
        self.path.unlink(missing_ok=True)


def _read_tail(path: Path) -> str:
    try:
        return path.read_bytes()[-_OUTPUT_TAIL:].decode(errors="replace").strip()
    except OSError:
        return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def _count_oom_kills() -> int:
    """Number of processes that the system killed because memory ran out.

    Counts this control group if possible, otherwise the whole machine.
    """
    for path in (*_cgroup_files(), Path("/proc/vmstat")):
        with contextlib.suppress(OSError, ValueError):
            for line in path.read_text().splitlines():
                name, _, count = line.partition(" ")
                if name == "oom_kill":
                    return int(count)
    return 0


def _cgroup_files() -> list[Path]:
    files = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                files.append(Path("/sys/fs/cgroup") / path.lstrip("/") / "memory.events")
            elif "memory" in controllers.split(","):
                place = Path("/sys/fs/cgroup/memory") / path.lstrip("/")
                files.append(place / "memory.oom_control")
    return files

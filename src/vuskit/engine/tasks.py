"""Tasks, their limits and their outcomes; how an action runs in this process."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import os
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

from vuskit import errors
from vuskit._util.interrupts import noted_interrupts
from vuskit._util.text import storable_text
from vuskit.errors import InvalidInputError

_MESSAGE_CHARACTERS = 2_000
_TRACEBACK_CHARACTERS = 20_000
_NAME_CHARACTERS = 200
# Not failures of the task: its data or code changed while it waited.
_CHANGED = ("ChangedInputError", "StaleWorkerError")
_TRACEBACK_FRAMES = 20
_RESET_PEAK = "5"  # the value for clear_refs that resets the peak


class Status(enum.StrEnum):
    """How a finished task ended. An unfinished task has no status."""

    OK = "OK"
    ERROR = "ERROR"
    TIMEOUT = "TIMEOUT"
    OOM = "OOM"
    KILLED = "KILLED"
    SKIPPED = "SKIPPED"

    @property
    def failed(self) -> bool:
        """Whether the task failed; OK and SKIPPED are not failures."""
        return self not in (Status.OK, Status.SKIPPED)


class NotApplicableError(Exception):
    """Raised by an action that does not apply. The task is SKIPPED, with the text as reason."""


class StaleWorkerError(Exception):
    """Raised by an action that this process cannot run correctly, for example with old modules.

    The executor replaces the process and repeats the task once. If the new process raises the
    error too, the task stays unfinished.
    """


@dataclass(frozen=True)
class Limits:
    """Limits of one task.

    Attributes
    ----------
    seconds : float or None
        Wall time after which the task is killed; None: no limit. Time during which the machine
        is suspended does not count.
    warm_up_seconds : float
        Wall time for loading and compiling what a task needs. It does not count as task time.
    memory : int or None
        Memory of the worker process in bytes, including libraries; None: no limit.
    threads : int
        Number of threads of BLAS, OpenMP, numba and torch.

    Raises
    ------
    InvalidInputError
        If a limit is not positive.

    Examples
    --------
    >>> Limits(seconds=60.0).threads
    1
    >>> Limits(seconds=0)
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `seconds` must be > 0 or None, got 0
    """

    seconds: float | None = 3600.0
    warm_up_seconds: float = 300.0
    memory: int | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidInputError(f"`{name}` must be > 0 or None, got {value}")
        if not self.warm_up_seconds > 0:
            raise InvalidInputError(f"`warm_up_seconds` must be > 0, got {self.warm_up_seconds}")
        if not self.threads >= 1:
            raise InvalidInputError(f"`threads` must be >= 1, got {self.threads}")


UNLIMITED = Limits(seconds=None)
"""One thread, without limits on time and memory."""


class Action(Protocol):
    """What a task does: a small object that can be pickled and sent to a worker.

    Classes that inherit from `Action` only need `run`. Return values are pickled too. Functions
    and classes from notebooks, scripts and modules that workers cannot import are sent by value.

    The value must not depend on earlier tasks of the process. `run` cannot rely on `warm_up`,
    which may exceed its own time limit.
    """

    @property
    def group(self) -> str | None:
        """Name shared by tasks with the same warm-up; None: no warm-up."""
        return None

    @property
    def code(self) -> str | None:
        """Digest of the code that the action runs; None: unknown.

        A process that ran different code of the same group is replaced first.
        """
        return None

    def run(self) -> Any:
        """Do the work and return its value.

        Raises
        ------
        NotApplicableError
            If the action does not apply; the task is SKIPPED.
        Exception
            Any other error makes the task fail.
        """
        raise NotImplementedError

    def warm_up(self) -> None:
        """Load and compile what `run` needs. Called once per group and worker process.

        Errors are ignored here: they occur again in `run`.
        """
        return None

    def load(self) -> Self:
        """Return the action with its inputs attached, for workers without access to our files."""
        return self


@dataclass(frozen=True)
class Task:
    """One piece of work.

    Attributes
    ----------
    key : str
        Content identity: tasks with equal keys have equal values.
    title : str
        One line for progress displays.
    make : callable
        Returns the `Action`; called when the task starts, after its parent has finished.
    kind : str
        What is done.
    about : mapping
        What the key is a digest of, as plain data.
    parent : str or None
        Key of the task whose result this one uses.
    libraries : tuple of str
        Distributions whose versions are recorded with the result.
    """

    key: str
    title: str
    make: Callable[[], Action]
    kind: str = "task"
    about: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None
    libraries: tuple[str, ...] = ()

    @cached_property
    def action(self) -> Action:
        """What to do."""
        return self.make()


@dataclass(frozen=True)
class Outcome:
    """How a task ended.

    Texts are valid UTF-8: other characters are escaped, and long texts are shortened in the
    middle.

    Attributes
    ----------
    status : Status
        Only an OK outcome has a value.
    value : object
        What the action returned.
    message : str or None
        Why the task failed or was skipped.
    traceback : str or None
        Stack of the error, or the last output of a worker process that died.
    error_type : str or None
        Name of the exception's class.
    seconds : float or None
        Wall time of the action.
    peak_bytes : int or None
        Peak resident memory of the process during the task, including libraries.
    warm_up_seconds : float or None
        Wall time of the warm-up before this task, if there was one.
    worker : str or None
        Host and process that finished the task; None if the process died.
    """

    status: Status
    value: Any = None
    message: str | None = None
    traceback: str | None = None
    error_type: str | None = None
    seconds: float | None = None
    peak_bytes: int | None = None
    warm_up_seconds: float | None = None
    worker: str | None = None

    def __post_init__(self) -> None:
        for name, most in (
            ("message", _MESSAGE_CHARACTERS),
            ("traceback", _TRACEBACK_CHARACTERS),
            ("error_type", _NAME_CHARACTERS),
        ):
            text = getattr(self, name)
            if text is not None:
                object.__setattr__(self, name, storable_text(text, most=most))

    @property
    def is_unfinished(self) -> bool:
        """Whether data or code changed while the task waited, so that it was not computed."""
        return self.status.failed and self.error_type in _CHANGED

    @property
    def reason(self) -> str | None:
        """The message without the class of the exception if vuskit itself raised it.

        Examples
        --------
        >>> Outcome(Status.ERROR, message="KeyError: 'a'", error_type="KeyError").reason
        "KeyError: 'a'"
        >>> text = "InvalidInputError: `a` must be > 0, got 0"
        >>> Outcome(Status.ERROR, message=text, error_type="InvalidInputError").reason
        '`a` must be > 0, got 0'
        """
        if self.message is None or self.error_type not in errors.__all__:
            return self.message
        return self.message.removeprefix(f"{self.error_type}: ")


def run_action(action: Action) -> Outcome:
    """Run an action in this process, without limits; errors become part of the outcome.

    This includes SystemExit and KeyboardInterrupt if the action raises them. Ctrl-C still raises
    KeyboardInterrupt.

    Parameters
    ----------
    action : Action
        What to do.

    Returns
    -------
    Outcome
        Status, value, time and memory.

    Examples
    --------
    >>> from vuskit.engine import Action
    >>> class Divide(Action):
    ...     def run(self):
    ...         return 1 / 0
    >>> outcome = run_action(Divide())
    >>> str(outcome.status), outcome.message
    ('ERROR', 'ZeroDivisionError: division by zero')
    """
    _reset_peak_memory()
    begin = time.perf_counter()
    outcome = outcome_of(action.run)
    return dataclasses.replace(
        outcome,
        seconds=time.perf_counter() - begin,
        peak_bytes=_peak_memory(),
        worker=f"{platform.node()}:{os.getpid()}",
    )


def warm_up_action(action: Action) -> float:
    """Warm up for an action and return the seconds. Errors occur again when the action runs."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome_of(action.warm_up)
    return time.perf_counter() - begin


def outcome_of(function: Callable[[], Any]) -> Outcome:
    """Call a function; every error except Ctrl-C becomes part of the outcome."""
    with noted_interrupts() as interrupted:
        outcome = _caught_outcome_of(function)
        if interrupted():
            raise KeyboardInterrupt
    return outcome


def _caught_outcome_of(function: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(Status.OK, function())
    except NotApplicableError as reason:
        return Outcome(Status.SKIPPED, message=_text_of(reason))
    except MemoryError as error:
        # Free the memory that the frames hold, because reporting needs some.
        traceback.clear_frames(error.__traceback__)
        text = ": ".join(filter(None, ("out of memory", _text_of(error))))
        return failed_outcome(Status.OOM, error, text)
    except BaseException as error:
        # SystemExit too: code that calls exit() must not end the process.
        return failed_outcome(Status.ERROR, error, f"{type(error).__name__}: {_text_of(error)}")


def failed_outcome(status: Status, error: BaseException, message: str) -> Outcome:
    """Return the outcome of an error, with the end of its traceback."""
    try:
        stack = traceback.format_exc(limit=-_TRACEBACK_FRAMES)
    except BaseException:  # formatting runs code of the error, which may fail
        stack = None
    return Outcome(status, message=message, traceback=stack, error_type=type(error).__name__)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # `__str__` of the error may fail
        return "(its text could not be read)"


def _reset_peak_memory() -> None:
    """Reset the peak memory if the system supports it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def _peak_memory() -> int | None:
    """Peak resident memory in bytes since the last reset, or since the start without a reset."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except (ImportError, OSError):  # the task may have left no descriptor to import with
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

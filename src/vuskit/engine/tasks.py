"""Tasks, their limits and their outcomes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self

from vuskit import errors
from vuskit._util.text import storable_text
from vuskit.errors import InvalidInputError

_MESSAGE_CHARACTERS = 2_000
_TRACEBACK_CHARACTERS = 20_000
_NAME_CHARACTERS = 200
# Not failures of the task: its data or code changed while it waited.
_CHANGED = ("ChangedInputError", "StaleWorkerError")


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

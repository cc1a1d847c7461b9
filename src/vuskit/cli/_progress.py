"""Long commands: progress on standard error, and how they stop and resume."""

from __future__ import annotations

import contextlib
import math
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer

from vuskit._util.text import escape_control, format_duration, plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._output import say

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from vuskit.engine import Outcome, Progress, Task

_LINE_SECONDS = 10.0
_SHOWN_RUNNING = 8
_DELAY = 2.0  # seconds before a bar appears
_DOING_WIDTH = 48


def stderr_console() -> Console:
    """Console of standard error, where progress is shown."""
    from rich.console import Console  # slow to import and not needed for --help

    return Console(stderr=True)


def _bar(console: Console) -> Bar:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )


def _summary(progress: Progress) -> str:
    parts = [f"{progress.per_minute:,.0f} jobs/min"] if progress.ran else []
    left = progress.seconds_left
    if progress.done < progress.total and left is not None:
        parts.append(f"{format_duration(left)} left")
    return ", ".join([*parts, f"{progress.failed:,} failed"])


class RunDisplay:
    """Progress of a benchmark run, on standard error."""

    def __init__(self, *, plain: bool = False) -> None:
        from rich.live import Live

        self._console = console = stderr_console()
        self._plain = plain or not console.is_terminal
        self._last_line = float("-inf")
        self._start = time.monotonic()
        self._bar = _bar(console)
        self._task = self._bar.add_task("", total=None)
        self._live = Live(console=console, refresh_per_second=4, transient=True)
        self._begun = False
        self._repeated: dict[str, int] = {}  # repeated failures by cause

    def __enter__(self) -> RunDisplay:
        if not self._plain:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):  # the terminal may be closed
            if not self._plain:
                self._live.stop()
            for cause, count in self._repeated.items():
                if count:
                    self._print(f"{plural(count, 'more job')} failed with {cause}")

    def _print(self, text: str) -> None:
        self._console.print(escape_control(text), soft_wrap=True, highlight=False, markup=False)

    def reading(self, count: int) -> None:
        """Show the number of series read so far."""
        if not self._plain:
            self._live.update(f"Reading series: {count:,}")
        elif time.monotonic() - max(self._last_line, self._start) > _LINE_SECONDS:
            self._last_line = time.monotonic()
            self._print(f"Reading series: {count:,}")

    def ended(self, task: Task, outcome: Outcome) -> None:
        """Show a failure."""
        if outcome.status.failed:
            self._show_failure(task, outcome)

    def update(self, progress: Progress) -> None:
        """Show the current state."""
        if not self._begun and 0 < progress.before < progress.total:
            self._print(f"Resuming: {progress.before:,} of {progress.total:,} jobs are done")
        self._begun = True
        if self._plain:
            self._line(progress)
        else:
            self._redraw(progress)

    def _show_failure(self, job: Task, outcome: Outcome) -> None:
        """Show the first failure of each cause; count the others."""
        message = (outcome.message or "").partition("\n")[0]
        cause = f"{outcome.status}: {message}"
        if cause in self._repeated:
            self._repeated[cause] += 1
            return
        self._repeated[cause] = 0
        self._print(f"{outcome.status} {job.kind} {job.title}: {message}")

    def _line(self, progress: Progress) -> None:
        last = progress.done == progress.total
        if not last and time.monotonic() - self._last_line < _LINE_SECONDS:
            return
        self._last_line = time.monotonic()
        now = f"; now: {', '.join(progress.running[:2])}" if progress.running else ""
        self._print(f"{progress.done:,}/{progress.total:,} jobs, {_summary(progress)}{now}")

    def _redraw(self, progress: Progress) -> None:
        self._bar.update(
            self._task,
            completed=progress.done,
            total=progress.total,
            description=_summary(progress),
        )
        from rich.console import Group
        from rich.text import Text

        running = [
            Text(f"  {escape_control(title)}", style="dim", no_wrap=True, overflow="ellipsis")
            for title in progress.running[:_SHOWN_RUNNING]
        ]
        self._live.update(Group(self._bar, *running))


class ProgressBar:
    """Bar on a terminal that appears after a delay; elsewhere, nothing."""

    def __init__(self, title: str = "", *, delay: float | None = None) -> None:
        self.title = title
        self._delay = _DELAY if delay is None else delay
        self._begun = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __call__(
        self, done: float, total: float | None, left: float | None = None, doing: str = ""
    ) -> None:
        """Show what is done of a total, the seconds left and the current task."""
        if self._bar is None:
            if time.monotonic() - self._begun < self._delay:
                return
            console = stderr_console()
            if not console.is_terminal:
                self._delay = math.inf
                return
            self._bar = _bar(console)
            self._bar.add_task("")
            self._bar.start()
        rest = ""
        if left is not None and left == left:  # None or NaN before the first task
            rest = f"{format_duration(left)} left"
        parts = [self.title, rest, doing]
        self._bar.update(
            self._bar.task_ids[0],
            completed=done,
            total=total,
            description=_short(" ".join(filter(None, parts))),
        )

    def show(self, progress: Any) -> None:
        """Show the progress of a run of tasks."""
        doing = progress.name or next(iter(progress.running), "")
        self(progress.done, progress.total, progress.seconds_left, doing)

    def step(self, title: str) -> None:
        """Print the title of the next step and start the bar again."""
        if self._bar is not None:
            self._bar.stop()
        say(title)
        self._bar, self._begun = None, time.monotonic()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _short(text: str) -> str:
    """Shorten a text to the space next to the bar."""
    text = escape_control(text)
    return text if len(text) <= _DOING_WIDTH else text[: _DOING_WIDTH - 1] + "…"


# Sent by kill, and when the terminal or its connection closes.
_STOP_SIGNALS = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def resumable(folder: Path, command: Sequence[str] | None = None) -> Iterator[None]:
    """On Ctrl-C and similar signals, print where finished work is and how to resume."""
    try:
        with _stop_signals():
            yield
    except KeyboardInterrupt:
        again = shlex.join(["vuskit", *sys.argv[1:]] if command is None else command)
        with contextlib.suppress(OSError):  # the terminal may be closed
            say(f"Stopped. Finished work is in {folder}. Resume with: {again}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


@contextlib.contextmanager
def _stop_signals() -> Iterator[None]:
    """Treat other signals that end a program like Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):  # Ctrl-C is ignored, other signals are not
            raise KeyboardInterrupt
        handler(signal.SIGINT, frame)

    known = [signal.Signals[name] for name in _STOP_SIGNALS if hasattr(signal, name)]
    # Ignored signals stay ignored: under nohup, the run must outlive its terminal.
    handled = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in handled}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

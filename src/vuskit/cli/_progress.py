"""Progress on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from vuskit._util.text import escape_control, format_duration, plural

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from vuskit.engine import Outcome, Progress, Task

__all__ = [
    "DelayedProgressBar",
    "RunDisplay",
    "StepProgress",
    "overall_progress",
    "stderr_console",
    "study_progress",
]

_LINE_SECONDS = 10.0
_SHOWN_RUNNING = 8
_DELAY = 2.0  # seconds before a bar appears
_DOING_WIDTH = 40


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
    if progress.done < progress.total:
        left = progress.seconds_left
        parts.append(f"{'?' if left is None else format_duration(left)} left")
    return ", ".join([*parts, f"{progress.failed:,} failed"])


class RunDisplay:
    """Progress of a benchmark run.

    Parameters
    ----------
    console : Console
        Where to write.
    plain : bool
        Write lines (at most one per ten seconds, and one per failure) instead of a bar.
    """

    def __init__(self, console: Console, *, plain: bool) -> None:
        from rich.live import Live

        self._console = console
        self._plain = plain
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


class DelayedProgressBar:
    """Progress bar on a terminal that appears after a delay.

    Parameters
    ----------
    title : str
        Text next to the bar.
    delay : float, optional
        Seconds before the bar appears; two by default.
    """

    def __init__(self, title: str, *, delay: float | None = None) -> None:
        self._title = title
        self._delay = _DELAY if delay is None else delay
        self._begun = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> DelayedProgressBar:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Update the bar."""
        if self._bar is None:
            if time.monotonic() - self._begun < self._delay:
                return
            console = stderr_console()
            if not console.is_terminal:
                self._delay = math.inf
                return
            self._bar = _bar(console)
            self._bar.add_task(self._title)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


class StepProgress:
    """Progress of a command with several steps: a bar per step, or a line without a terminal.

    Parameters
    ----------
    console : Console
        Where to write.
    total : int
        Number of steps.
    """

    def __init__(self, console: Console, total: int) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._console = console
        self._total = total
        self._begun = 0
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )

    def __enter__(self) -> StepProgress:
        if self._console.is_terminal:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._bars.stop()

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """Start a step; yield a function that takes the number done and the total."""
        self._begun += 1
        shown = f"{self._begun}/{self._total} {title}"
        if not self._console.is_terminal:
            text = escape_control(shown)
            self._console.print(text, soft_wrap=True, highlight=False, markup=False)
        task = self._bars.add_task(shown, total=1)

        def advance(done: int, total: int) -> None:
            self._bars.update(task, completed=done, total=total)

        yield advance
        known = next(bar.total for bar in self._bars.tasks if bar.id == task)
        self._bars.update(task, completed=known)


@contextmanager
def study_progress(
    title: str = "", describe: Callable[[Any], str] = lambda progress: progress.name
) -> Iterator[Callable[[Any], None]]:
    """Show a bar with the remaining time and the current task."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        *([TextColumn(title)] if title else []),
        BarColumn(bar_width=16),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]:>6} left", style="cyan"),
        TextColumn("{task.fields[doing]}", style="dim", markup=False),
    )
    console = stderr_console()
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, left="?", doing="")

        def advance(progress: Any) -> None:
            left = progress.seconds_left
            known = left is not None and left == left  # None or NaN before the first task
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                left=format_duration(left) if known else "?",
                doing=_short(describe(progress)),
            )

        yield advance


@contextmanager
def overall_progress() -> Iterator[Callable[[Any], None]]:
    """Show one bar for all steps of a command, or a line per step without a terminal."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    console = stderr_console()
    columns = (
        BarColumn(bar_width=16),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]:>6} left", style="cyan"),
        TextColumn("{task.fields[doing]}", markup=False),
    )
    last_step = ""
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0, left="?", doing="")

        def advance(progress: Any) -> None:
            nonlocal last_step
            if not console.is_terminal and progress.step != last_step:
                console.print(progress.step, soft_wrap=True, highlight=False, markup=False)
                last_step = progress.step
            left = progress.seconds_left
            counted = f" {progress.done:,}/{progress.total:,}" if progress.total else ""
            bar.update(
                task,
                completed=progress.share,
                left="?" if left is None else format_duration(left),
                doing=_short(f"{progress.step}{counted} {progress.name}".rstrip()),
            )

        yield advance


def _short(text: str) -> str:
    """Shorten a text to the space next to the bar."""
    text = escape_control(text)
    return text if len(text) <= _DOING_WIDTH else text[: _DOING_WIDTH - 1] + "…"

"""How a benchmark is shown: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from types import TracebackType
from typing import TYPE_CHECKING

from vuskit.cli.durations import format_duration

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from vuskit.bench.jobs import Job, Outcome
    from vuskit.bench.runner import Progress

__all__ = ["Display", "PatientBar", "talk_console"]

_LINE_SECONDS = 10.0
_SHOWN_RUNNING = 8
_PATIENCE = 2.0  # seconds


def talk_console() -> Console:
    """Where progress is shown: standard error."""
    from rich.console import Console  # here and below: not needed to show a help

    return Console(stderr=True)


def _bar(console: Console) -> Bar:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
    )


def _summary(progress: Progress) -> str:
    left = progress.seconds_left
    return (
        f"{progress.per_minute:,.0f} jobs/min, "
        f"{'?' if left is None else format_duration(left)} left, {progress.failed:,} failed"
    )


class Display:
    """Shows the progress of a run.

    Parameters
    ----------
    console : Console
        Where.
    plain : bool
        Lines, at most one in ten seconds and one per failure, instead of a bar.
    """

    def __init__(self, console: Console, *, plain: bool) -> None:
        from rich.live import Live

        self._console = console
        self._plain = plain
        self._told = float("-inf")
        self._began = time.monotonic()
        self._bar = _bar(console)
        self._task = self._bar.add_task("", total=None)
        self._live = Live(console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Display:
        if not self._plain:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._plain:
            with contextlib.suppress(OSError):  # the terminal may be what has gone
                self._live.stop()

    def reading(self, count: int) -> None:
        """Show how many series were looked at, while the plan is drawn up."""
        if not self._plain:
            self._live.update(f"Reading series: {count:,}")
        elif time.monotonic() - max(self._told, self._began) > _LINE_SECONDS:
            self._told = time.monotonic()
            self._console.print(f"Reading series: {count:,}", highlight=False)

    def update(self, progress: Progress, ended: list[tuple[Job, Outcome]]) -> None:
        """Show a new state."""
        for job, outcome in ended:
            if outcome.status.failed:
                message = (outcome.message or "").partition("\n")[0]
                text = f"{outcome.status} {job.kind} {job.title}: {message}"
                self._console.print(text, soft_wrap=True, highlight=False, markup=False)
        if self._plain:
            self._line(progress)
        else:
            self._redraw(progress)

    def _line(self, progress: Progress) -> None:
        last = progress.done == progress.total
        if not last and time.monotonic() - self._told < _LINE_SECONDS:
            return
        self._told = time.monotonic()
        now = f"; now: {', '.join(progress.running[:2])}" if progress.running else ""
        self._console.print(
            f"{progress.done:,}/{progress.total:,} jobs, {_summary(progress)}{now}",
            soft_wrap=True,
            highlight=False,
            markup=False,
        )

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
            Text(f"  {title}", style="dim", no_wrap=True, overflow="ellipsis")
            for title in progress.running[:_SHOWN_RUNNING]
        ]
        self._live.update(Group(self._bar, *running))


class PatientBar:
    """A bar on a terminal, once something takes longer than one likes to wait without a word.

    Parameters
    ----------
    title : str
        What is done.
    patience : float, optional
        Seconds without a word; two by default.
    """

    def __init__(self, title: str, *, patience: float | None = None) -> None:
        self._title = title
        self._patience = _PATIENCE if patience is None else patience
        self._console = talk_console()
        self._begun = time.monotonic()
        self._bar: Bar | None = None

    def __enter__(self) -> PatientBar:
        return self

    def __call__(self, done: int, total: int) -> None:
        """Tell how far it is."""
        if self._bar is None:
            waited = time.monotonic() - self._begun
            if waited < self._patience or not self._console.is_terminal:
                return
            self._bar = _bar(self._console)
            self._bar.add_task(self._title)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

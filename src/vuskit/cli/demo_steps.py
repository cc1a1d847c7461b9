"""How the demo tells what it does: bars on a terminal, one line for each step elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["Steps"]

Tell = Callable[[int, int], None]


class Steps:
    """The steps of a demo, shown as they go.

    Parameters
    ----------
    console : Console
        Where; with a bar for each step if it is a terminal.
    total : int
        How many steps there will be.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._begun = 0
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
        )

    def __enter__(self) -> Steps:
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
    def step(self, title: str) -> Iterator[Tell]:
        """Begin a step; what is given is called with what is done, and with how much there is."""
        self._begun += 1
        shown = f"{self._begun}/{self._total} {title}"
        if not self._console.is_terminal:
            self._console.print(shown, soft_wrap=True, highlight=False, markup=False)
        task = self._bars.add_task(shown, total=1)

        def tell(done: int, total: int) -> None:
            self._bars.update(task, completed=done, total=total)

        yield tell
        known = next(bar.total for bar in self._bars.tasks if bar.id == task)
        self._bars.update(task, completed=known)

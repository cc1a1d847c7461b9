"""``vuskit study``: studies of the measures themselves."""

from __future__ import annotations

import typer

from vuskit.cli.study.scores import (
    consistency,
    everything,
    robustness,
    scenarios,
    separability,
    summary,
)
from vuskit.cli.study.timing import timing

__all__ = ["app"]

app = typer.Typer(help="Studies of the measures themselves.", no_args_is_help=True)


@app.callback()
def study() -> None:
    """Study the measures themselves."""


for _command in (timing, robustness, separability, consistency, scenarios, summary):
    app.command()(_command)
app.command(name="all")(everything)

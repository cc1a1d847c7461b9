"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from vuskit import __version__
from vuskit.cli import bench, study
from vuskit.cli.demo import demo

__all__ = ["app"]

app = typer.Typer(
    name="vuskit",
    help="Accuracy measures for time-series anomaly detection.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(bench.app, name="bench")
app.add_typer(study.app, name="study")
app.command()(demo)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vuskit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Accuracy measures for time-series anomaly detection."""

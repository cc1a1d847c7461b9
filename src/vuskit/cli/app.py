"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from vuskit import __version__
from vuskit.cli import bench, data, list_, studies
from vuskit.cli.compare import compare
from vuskit.cli.demo import demo
from vuskit.cli.doctor import doctor
from vuskit.cli.evaluate import evaluate
from vuskit.cli.exits import exit_codes_text
from vuskit.cli.group import PatientGroup
from vuskit.cli.options import flag
from vuskit.cli.report import report

__all__ = ["app"]

app = typer.Typer(
    name="vuskit",
    cls=PatientGroup,
    no_args_is_help=True,
    epilog=exit_codes_text(),
    pretty_exceptions_enable=False,
)
app.command()(evaluate)
app.add_typer(list_.app, name="list")
app.add_typer(data.app, name="data")
app.command()(doctor)
app.add_typer(bench.app, name="bench")
app.add_typer(studies.app, name="study")
app.command()(compare)
app.command()(report)
app.command()(demo)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vuskit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", metavar="", callback=_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    debug: Annotated[
        bool, flag("--debug", "Show where an error comes from; may stand anywhere.")
    ] = False,
) -> None:
    """Accuracy measures for time-series anomaly detection.

    Data goes to standard output, everything else to standard error.

    Example: vuskit evaluate scores.csv
    """

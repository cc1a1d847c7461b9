"""``vuskit bench``: run detectors on many series; one module per command."""

from __future__ import annotations

import typer

from vuskit.cli._output import Command
from vuskit.cli.bench.export import export
from vuskit.cli.bench.leaderboard import leaderboard
from vuskit.cli.bench.pack import pack
from vuskit.cli.bench.plan import init, plan
from vuskit.cli.bench.run import retry, run
from vuskit.cli.bench.run_job import run_job
from vuskit.cli.bench.status import status
from vuskit.cli.bench.verify import verify

app = typer.Typer(help="Run and evaluate detectors on many series.", no_args_is_help=True)


for _command in (init, plan, run, retry, status, leaderboard, export, pack, verify):
    app.command(cls=Command)(_command)
app.command("run-job", cls=Command)(run_job)

"""Options of commands that come from declared parameters."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from vuskit import EvaluationSettings, InvalidInputError
from vuskit.cli._parameters import Given, takes

app = typer.Typer()


@app.command()
@takes(EvaluationSettings, flags=("buffer", "definition"), defaults={"buffer": "auto"})
def show(source: str, given: Given, loud: bool = False) -> None:
    """Show what is given."""
    typer.echo(f"{source} {given} {loud}")


def test_flags_and_set():
    options = ["--buffer", "median-anomaly", "--set=step=2", "--set=threshold=0.5", "--loud"]
    found = CliRunner().invoke(app, ["x", *options, "--set=range_recall.alpha=0.2"])
    assert found.stdout == (
        "x {'buffer': 'median_anomaly', 'step': 2, 'threshold': 0.5, "
        "'measure_options': ('range_recall.alpha=0.2',)} True\n"
    )
    assert CliRunner().invoke(app, ["x"]).stdout == "x {} False\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--buffer=-1"], "`--buffer` must be an int >= 0, got -1"),
        (["--definition", "jornal"], "`--definition` must be one of"),
        (["--set=step=0"], "`--set`: `step` must be an int >= 1, got 0"),
        (["--set=stpe=1"], "did you mean 'step'?"),
    ],
)
def test_errors_name_the_option(options, message):
    error = CliRunner().invoke(app, ["x", *options]).exception
    assert isinstance(error, InvalidInputError)
    assert re.search(re.escape(message), str(error))


def test_help():
    shown = re.sub(r"[│\s]+", " ", CliRunner().invoke(app, ["--help"]).stdout)
    assert "--buffer N|RULE" in shown
    assert "Default: auto." in shown
    assert "Definition of R-AUC and VUS: journal, pvldb2022 or timeeval. Default: journal." in shown
    assert "Set thresholds, step, side, threshold, k" in shown

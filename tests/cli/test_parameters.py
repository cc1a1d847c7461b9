"""Options of commands that come from declared parameters."""

from __future__ import annotations

import re

import pytest
import typer
from typer.testing import CliRunner

from vuskit import EvaluationSettings, InvalidInputError
from vuskit.cli._options import Flags, takes
from vuskit.datasets.columns import Columns
from vuskit.parameters import params_of

app = typer.Typer()


@app.command()
@takes(
    columns=Flags(Columns, tuple(params_of(Columns)), "Input"),
    settings=Flags(
        EvaluationSettings, ("buffer", "definition"), "Measures", defaults={"buffer": "auto"}
    ),
)
def show(
    source: str,
    columns: Columns,
    settings: EvaluationSettings,
    measure_options: tuple[str, ...],
    loud: bool = False,
) -> None:
    """Show what is given."""
    named = {name: one for name, one in vars(columns).items() if one not in (None, (), "error")}
    typer.echo(f"{source} {settings} {measure_options} {named} {loud}")


def test_flags_and_set():
    options = ["--buffer", "median-anomaly", "--set=step=2", "--set=threshold=0.5", "--loud"]
    options += ["--label=7", "--score=none", "--score=a,b", "--labels-all"]
    found = CliRunner().invoke(app, ["x", *options, "--set=range_recall.alpha=0.2"])
    assert found.stdout == (
        "x buffer=median_anomaly, thresholds=all, definition=journal, step=2, threshold=0.5 "
        "('range_recall.alpha=0.2',) "
        "{'label': '7', 'score': ('none', 'a,b'), 'labels_all': True} True\n"
    )
    shown = "x buffer=auto, thresholds=all, definition=journal () {'labels_all': False} False\n"
    assert CliRunner().invoke(app, ["x"]).stdout == shown


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

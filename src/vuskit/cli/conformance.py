"""``vuskit conformance``: test other implementations of the measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from vuskit._util.files import check_file
from vuskit._util.tables import plain_data
from vuskit._util.text import plural
from vuskit.cli._exit_codes import ExitCode
from vuskit.cli._options import MEASURES, AsJson, option, output_option
from vuskit.cli._output import Command, chosen_format, emit, say, write, write_file
from vuskit.errors import InvalidInputError

_SHOWN = 10

app = typer.Typer(help="Test other implementations of the measures.", no_args_is_help=True)


@app.callback()
def conformance() -> None:
    """Test other implementations of the measures."""


@app.command(cls=Command)
def export(
    output: Annotated[
        Path | None, output_option("FILE", "the JSON file. Default: standard output.")
    ] = None,
) -> None:
    """Write the conformance suite as JSON: inputs, options and expected values.

    Example: vuskit conformance export --output suite.json
    """
    from vuskit.conformance import conformance_suite, suite_text

    if output is None:
        write(suite_text().removesuffix("\n"))
        return
    write_file(output, suite_text())
    suite = conformance_suite()
    say(
        f"suite {suite['version']}: {len(suite['inputs'])} inputs, {len(suite['measures'])} "
        f"measures, {len(suite['checks']):,} checks"
    )
    write(str(output))


@app.command(cls=Command)
def check(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="JSON file with your values by check id.")
    ],
    tolerance: Annotated[
        float | None,
        option(MEASURES, "X", "Largest accepted difference. Default: 1e-9.", min=0),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare the values of another implementation with the conformance suite.

    RESULTS holds {"results": {ID: VALUE, ...}}; null means that a measure is
    undefined. The exit code is 4 if a value is wrong or no value is right.

    Example: vuskit conformance check results.json
    """
    from vuskit.conformance import TOLERANCE, check_answers, conformance_suite

    answers, name, version = _read(results)
    ours = conformance_suite()["version"]
    if version not in (None, ours):
        raise InvalidInputError(
            f"{results}: `version` must be {ours}, the version of the suite, got {version!r}; "
            "export the suite again"
        )
    found = check_answers(answers, tolerance=TOLERANCE if tolerance is None else tolerance)
    content = {"implementation": name, "passed": found.passed, **plain_data(found)}
    emit(chosen_format(json=as_json), content, text=lambda: str(found))
    for one in found.wrong[:_SHOWN]:
        say(f"wrong: {one.id}: expected {_shown(one.expected)}, got {_shown(one.got)}")
    if len(found.wrong) > _SHOWN:
        say(f"and {plural(len(found.wrong) - _SHOWN, 'more wrong answer')}; --json lists all")
    say(
        f"{name or results.name}: {found.total('right'):,} right, {found.total('wrong'):,} wrong, "
        f"{found.total('missing'):,} missing (suite {found.version}, "
        f"tolerance {found.tolerance:g})"
    )
    if not found.passed:
        raise typer.Exit(ExitCode.PROBLEMS)


def _read(path: Path) -> tuple[dict[str, Any], str | None, Any]:
    """Return the answers, the name of the implementation and the version of the suite."""
    check_file(path, holds="answers to the suite")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInputError(f"{path}: must be JSON, got {error}") from error
    answers = found.get("results") if isinstance(found, dict) else None
    if not isinstance(answers, dict):
        raise InvalidInputError(
            f'{path}: must hold {{"results": {{ID: VALUE, ...}}}}, got no such object; '
            "vuskit conformance export lists the ids"
        )
    name = found.get("implementation")
    return answers, name if isinstance(name, str) else None, found.get("version")


def _shown(value: float | None) -> str:
    return "no value" if value is None else repr(value)

"""``vuskit list``: names that other commands accept."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vuskit.cli._options import AsLatex, AsMarkdown, flag
from vuskit.cli._output import (
    AsCsv,
    AsJson,
    chosen_format,
    emit_table,
    say,
    terminal_width,
    write,
)
from vuskit.errors import InvalidInputError
from vuskit.measures.properties import list_properties
from vuskit.measures.registry import list_measures

__all__ = ["app"]

app = typer.Typer(help="List measures, detectors, studies and more.", no_args_is_help=True)


@app.callback()
def list_() -> None:
    """List measures, detectors, studies and more."""


@app.command()
def measures(
    properties: Annotated[
        bool, flag("--properties", "Show the properties of each measure instead.")
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """List the measures: the thirteen of the paper, then others.

    Example: vuskit list measures --properties
    """
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    if properties:
        _emit_properties(form)
        return
    if form in ("latex", "markdown"):
        raise InvalidInputError(f"`--{form}` must be used with --properties")
    records = [
        {
            "name": measure.name,
            "title": measure.title,
            "family": measure.family,
            "lowest": measure.bounds[0],
            "highest": measure.bounds[1],
            "higher_is_better": measure.higher_is_better,
            "group": measure.group,
            "paper": measure.group == "paper",
            "reference": measure.reference,
        }
        for measure in list_measures()
    ]
    shown = {"name": "name", "title": "title", "group": "group", "reference": "defined in"}
    emit_table(form, records, shown)


def _emit_properties(form: str) -> None:
    table = list_properties()
    if form == "latex":
        write(table.to_latex())
    elif form == "markdown":
        write(table.to_markdown())
    elif form == "table":
        write(table.to_text(terminal_width()))
    else:
        emit_table(form, table.records(), {})


@app.command()
def detectors(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the detectors with their parameters.

    Example: vuskit list detectors --json
    """
    from vuskit.detectors import (
        list_detectors,
    )
    from vuskit.detectors.registry import detector_class

    records: list[dict[str, Any]] = []
    for name in list_detectors():
        try:
            found = detector_class(name)
        except InvalidInputError as error:  # a plug-in that cannot be loaded
            say(f"warning: plug-in ignored: {error}")
            continue
        records.append(
            {
                "name": name,
                "title": found.title,
                "parameters": list(found.parameter_names()),
                "reference": found.reference,
            }
        )
    emit_table(
        chosen_format(json=as_json, csv=as_csv),
        records,
        {"name": "name", "title": "title", "parameters": "parameters"},
    )


@app.command()
def readers(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the recognized file formats.

    Example: vuskit list readers
    """
    from vuskit.datasets import list_formats

    records: list[dict[str, Any]] = [
        {
            "name": entry.name,
            "title": entry.title,
            "options": " ".join(entry.options),
            "layout": entry.layout,
        }
        for entry in list_formats()
    ]
    shown = {"name": "name", "layout": "files"}
    emit_table(chosen_format(json=as_json, csv=as_csv), records, shown)


@app.command()
def thresholds(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the threshold rules for --threshold and for plans.

    Example: vuskit list thresholds
    """
    from vuskit.measures.thresholds import list_threshold_rules, rule_description

    records = [
        {"name": name, "description": rule_description(name).replace("``", "")}
        for name in list_threshold_rules()
    ]
    shown = {"name": "name", "description": "threshold"}
    emit_table(chosen_format(json=as_json, csv=as_csv), records, shown)


@app.command()
def studies(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the studies and the questions they answer.

    Example: vuskit list studies
    """
    from vuskit.studies import list_studies

    records = [
        {
            "name": study.name,
            "title": study.title,
            "question": study.question,
            "input": study.input,
            "better": study.better,
        }
        for study in list_studies()
    ]
    shown = {"name": "name", "question": "question"}
    emit_table(chosen_format(json=as_json, csv=as_csv), records, shown)


@app.command()
def families(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the families of synthetic series.

    Example: vuskit list families
    """
    from vuskit.datasets.synthetic import list_families

    records = [
        {
            "name": family.name,
            "title": family.title,
            "period": family.period,
            "anomaly_length": family.anomaly_length,
            "anomaly": family.anomaly,
        }
        for family in list_families()
    ]
    shown = {"name": "name", "period": "period", "title": "imitates"}
    emit_table(chosen_format(json=as_json, csv=as_csv), records, shown)

"""``vuskit list``: what there is to name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vuskit.cli._output import AsCsv, AsJson, chosen_format, emit_table, json_text, write
from vuskit.measures.registry import list_measures

__all__ = ["app"]

app = typer.Typer(help="What there is: measures, detectors, file formats.", no_args_is_help=True)


@app.callback()
def list_() -> None:
    """List measures, detectors, file formats, synthetic families, schemas."""


@app.command()
def measures(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the measures: the paper's thirteen, then those of other papers.

    Example: vuskit list measures
    """
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
    emit_table(chosen_format(json=as_json, csv=as_csv), records, shown)


@app.command()
def detectors(as_json: AsJson = False, as_csv: AsCsv = False) -> None:
    """List the detectors with their parameters.

    Example: vuskit list detectors --json
    """
    from vuskit.detectors import detector_class, list_detectors

    records: list[dict[str, Any]] = []
    for name in list_detectors():
        found = detector_class(name)
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
    """List the file formats that are recognized, with their options.

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


@app.command()
def schemas(
    name: Annotated[
        str | None, typer.Argument(help="Print this schema.", metavar="[NAME]", show_default=False)
    ] = None,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
) -> None:
    """List the JSON schemas of plans and of what commands write with --json, or print one.

    Example: vuskit list schemas evaluation
    """
    from vuskit.cli._schemas import list_schemas
    from vuskit.inputs import check_choice

    known = {entry.name: entry for entry in list_schemas()}
    if name is not None:
        write(json_text(known[check_choice("NAME", name, known)].schema()))
        return
    records = [
        {"name": entry.name, "title": entry.title, "command": entry.command}
        for entry in known.values()
    ]
    shown = {"name": "name", "command": "describes"}
    emit_table(chosen_format(json=as_json, csv=as_csv), records, shown)

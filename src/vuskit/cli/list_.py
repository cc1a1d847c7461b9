"""``vuskit list``: names that other commands accept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from vuskit.cli._completion import complete_kinds
from vuskit.cli._options import OUTPUT, AsCsv, AsJson, AsLatex, AsMarkdown, flag
from vuskit.cli._output import chosen_format, emit_table, say, table_forms, write
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.measures.properties import list_properties
from vuskit.measures.registry import list_measures

Records = list[dict[str, Any]]


def list_(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="measures, detectors, readers (file formats), thresholds, studies, families "
            "(of synthetic series) or citations (BibTeX).",
            autocompletion=complete_kinds,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Show this entry; of a study, its parameters."),
    ] = None,
    properties: Annotated[
        bool, flag("--properties", "Show the properties of each measure instead.", OUTPUT)
    ] = False,
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """List measures, detectors, studies and more, or the parameters of one study.

    Example: vuskit list studies robustness
    """
    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex, markdown=as_markdown)
    check_choice("KIND", kind, KINDS)
    if form in ("latex", "markdown") and not properties:
        raise InvalidInputError(f"`--{form}` must be used with --properties")
    if properties and kind == "measures":
        table = list_properties("all" if name is None else name)
        if form in ("json", "csv"):
            emit_table(form, table.records(), {})
        else:
            write(table_forms(table)[form.replace("table", "text")]())
        return
    read, shown = KINDS[kind]
    records = read()
    if name is not None:
        check_choice("NAME", name, [record["name"] for record in records])
        records = [record for record in records if record["name"] == name]
    if kind == "citations" and form == "table":
        write("\n\n".join(record["bibtex"] for record in records))
        return
    if name is not None and kind == "studies":
        records, shown = _parameters(name), {"name": "name", "default": "default", "help": "what"}
    emit_table(form, records, shown)


def _measures() -> Records:
    return [
        {
            "name": measure.name,
            "title": measure.title,
            "family": measure.family,
            "lowest": measure.bounds[0],
            "highest": measure.bounds[1],
            "higher_is_better": measure.higher_is_better,
            "group": measure.group,
            "reference": measure.reference,
        }
        for measure in list_measures()
    ]


def _detectors() -> Records:
    from vuskit.detectors import list_detectors
    from vuskit.detectors.agreement import AGREEMENT, mark_of
    from vuskit.detectors.registry import detector_class

    records = []
    for name in list_detectors():
        try:
            found = detector_class(name)
        except InvalidInputError as error:  # a plug-in that cannot be loaded
            say(f"warning: plug-in ignored: {error}")
            continue
        parameters = list(found.parameter_names())
        agreement, ceiling = AGREEMENT.get(name, (None, None))
        records.append(
            {
                "name": name,
                "title": found.title,
                "scores": mark_of(name),
                "agreement": agreement,
                "agreement_of_seeds": ceiling,
                "parameters": parameters,
                "reference": found.reference,
            }
        )
    return records


def _readers() -> Records:
    from vuskit.datasets import list_formats

    return [
        {
            "name": entry.name,
            "title": entry.title,
            "options": " ".join(entry.options),
            "layout": entry.layout,
        }
        for entry in list_formats()
    ]


def _thresholds() -> Records:
    from vuskit.measures.thresholds import list_threshold_rules, rule_description

    return [
        {"name": name, "description": rule_description(name).replace("``", "")}
        for name in list_threshold_rules()
    ]


def _studies() -> Records:
    from vuskit.studies import list_studies

    fields = ("name", "title", "question", "input", "better")
    return [{name: getattr(study, name) for name in fields} for study in list_studies()]


def _families() -> Records:
    from vuskit.datasets.synthetic import list_families

    fields = ("name", "title", "period", "anomaly_length", "anomaly")
    return [{name: getattr(family, name) for name in fields} for family in list_families()]


def _citations() -> Records:
    text = (Path(__file__).parent / "citations.bib").read_text(encoding="utf-8")
    entries = text.strip().split("\n\n")
    return [{"name": re.split("[{,]", entry)[1], "bibtex": entry} for entry in entries]


def _parameters(study: str) -> Records:
    """Return the parameters that ``vuskit study NAME --set`` accepts."""
    from vuskit.studies import get_study

    return [
        {"name": name, "default": one.text(one.default), "accepts": one.words, "help": one.help}
        for name, one in get_study(study).options().items()
        if one.help
    ]


KINDS: dict[str, tuple[Callable[[], Records], dict[str, str]]] = {
    "measures": (
        _measures,
        {"name": "name", "title": "title", "group": "group", "reference": "defined in"},
    ),
    "detectors": (
        _detectors,
        {
            "name": "name",
            "scores": "scores",
            "agreement": "agreement",
            "agreement_of_seeds": "of seeds",
            "parameters": "parameters",
        },
    ),
    "readers": (_readers, {"name": "name", "layout": "files"}),
    "thresholds": (_thresholds, {"name": "name", "description": "threshold"}),
    "studies": (_studies, {"name": "name", "question": "question"}),
    "families": (_families, {"name": "name", "period": "period", "title": "imitates"}),
    "citations": (_citations, {}),
}

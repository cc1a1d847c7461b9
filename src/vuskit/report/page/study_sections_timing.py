"""Numbers behind the drawings of the execution-time study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vuskit.report.figures.timing import CONTESTANT_STYLES, alike_groups
from vuskit.report.page.study_sections_data import plain, table_data
from vuskit.report.timing import describe_job, joint_table, ratio_table, slope_table
from vuskit.studies.timing import CONTESTANTS, PARAMETERS, TimingResult, rows_of_sweep

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["timing_data"]

_DASHES = {"-": "", "--": "6 4", ":": "2 3", "-.": "6 3 2 3"}
_PROPERTIES = ("n_anomalies", "mean_length", "n_points")
# What is drawn: a column, and the columns of its envelope.
_QUANTITIES = {
    "seconds": ("median", "lower_quartile", "upper_quartile"),
    "peak memory (bytes)": ("peak_bytes", "peak_bytes", "peak_bytes"),
}


def timing_data(result: TimingResult) -> dict[str, Any]:
    """Panels, tables and the machine."""
    summary = result.summary()
    present = [name for name in CONTESTANTS if name in set(summary["contestant"])]
    panels = _sweep_panels if result.generated else _series_panels
    return {
        "generated": result.generated,
        "clocks": sorted({sample.clock for sample in result.samples}),
        "cells": len(summary),
        "runs": len(result.samples),
        "contestants": [
            {
                "name": name,
                "title": CONTESTANTS[name].title,
                "colour": CONTESTANT_STYLES[name]["color"],
                "dash": _DASHES[CONTESTANT_STYLES[name]["linestyle"]],
            }
            for name in present
        ],
        "quantities": list(_QUANTITIES),
        "panels": panels(summary, present),
        "tables": _tables(result),
        "summary": table_data(summary),
        "dropped": [describe_job(job) for job in result.dropped],
        "environment": _environment(result.environment),
    }


def _tables(result: TimingResult) -> dict[str, dict[str, Any]]:
    """Ratios and coefficients, by title."""
    tables = {"How many times longer": ("Over the cells that both have", ratio_table(result))}
    if result.generated:
        tables["Each parameter by itself"] = (
            "The paper's columns are another machine, other code and units that it does not state; "
            "compare the ratios to naive",
            slope_table(result),
        )
    tables["The series' properties together"] = (
        "Milliseconds for each unit; the paper's columns are another machine",
        joint_table(result),
    )
    return {
        title: {"caption": caption, **table_data(frame)}
        for title, (caption, frame) in tables.items()
    }


def _sweep_panels(summary: pd.DataFrame, present: list[str]) -> list[dict[str, Any]]:
    """One panel for each parameter that varies while the others do not."""
    panels = []
    for parameter in PARAMETERS.values():
        cells = rows_of_sweep(summary, parameter.name)
        if cells[parameter.name].nunique() > 1:
            curves = [_sweep(cells, parameter.name, name) for name in present]
            panels.append(_panel(parameter.name, parameter.scale, curves))
    return panels


def _sweep(cells: pd.DataFrame, parameter: str, contestant: str) -> dict[str, Any]:
    curve = cells[cells["contestant"] == contestant]
    return {
        "name": contestant,
        "x": list(map(plain, curve[parameter])),
        **{
            quantity: [list(map(plain, curve[column])) for column in columns]
            for quantity, columns in _QUANTITIES.items()
        },
    }


def _series_panels(summary: pd.DataFrame, present: list[str]) -> list[dict[str, Any]]:
    """One panel for each property of real series: medians of series that are alike."""
    panels = []
    for name in _PROPERTIES:
        curves = [_alike(summary[summary["contestant"] == one], name, one) for one in present]
        panels.append(_panel(name, "log", curves))
    return panels


def _alike(cells: pd.DataFrame, parameter: str, contestant: str) -> dict[str, Any]:
    x = cells[parameter].to_numpy(float)
    curve: dict[str, Any] = {"name": contestant, "dots": {"x": x.tolist()}}
    for quantity, (column, *_) in _QUANTITIES.items():
        y = cells[column].to_numpy(float)
        middle_x, *lines = alike_groups(x, y)
        curve["x"] = middle_x.tolist()
        curve[quantity] = [line.tolist() for line in lines]
        curve["dots"][quantity] = y.tolist()
    return curve


def _panel(parameter: str, scale: str, curves: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "parameter": parameter,
        "title": PARAMETERS[parameter].title,
        "scale": scale,
        "curves": [curve for curve in curves if curve["x"]],
    }


def _environment(environment: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, value in environment.items():
        listed = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name} {part}".strip(), str(text)] for part, text in listed]
    return rows

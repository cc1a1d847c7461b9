"""``vuskit bench leaderboard``: means of every detector, the best marked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.tables import Cell, TableLayout
from vuskit._util.text import plural
from vuskit.cli._options import AsLatex, By
from vuskit.cli._output import (
    AsCsv,
    AsJson,
    chosen_format,
    frame_records,
    terminal_width,
    wrapped,
    write,
)
from vuskit.cli.bench._arguments import DEFAULT_PLAN, RunFolder, run_folder
from vuskit.cli.bench._output import Content, Rows, emit
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from vuskit.measures.registry import Measure

__all__ = ["leaderboard", "leaderboard_content", "leaderboard_text"]

_COUNTS = {"datasets": "data sets", "series": "series"}


def leaderboard(
    target: RunFolder = DEFAULT_PLAN,
    by: By = "series",
    as_json: AsJson = False,
    as_csv: AsCsv = False,
    as_latex: AsLatex = False,
) -> None:
    """Show the means of every detector, the best first.

    A mean uses the series on which all detectors have a value of the measure.

    Example: vuskit bench leaderboard my-plan.toml --by dataset
    """
    from vuskit.bench import AVERAGES
    from vuskit.inputs import check_choice

    form = chosen_format(json=as_json, csv=as_csv, latex=as_latex)
    check_choice("--by", by, AVERAGES)
    content = leaderboard_content(run_folder(target), by)
    emit(form, "leaderboard", content, rows=_rows, text=leaderboard_text, latex=_latex)


def leaderboard_content(folder: Path, by: str) -> dict[str, Any]:
    """Means of every detector, apart for each of the run's settings.

    Raises
    ------
    InvalidInputError
        If there is no run, or it has no values yet.
    """
    from vuskit import bench
    from vuskit.bench._leaderboard import no_common_series

    run = bench.Run(folder)
    values = run.values()
    if not len(values):
        raise InvalidInputError(
            f"`RUN` must have values, got none yet in {str(folder)!r}; see: vuskit bench status"
        )
    measures, detectors = run.measures(), run.detectors()
    asked = run.measures_by_settings()
    boards = []
    for settings, rows in values.groupby("settings", sort=False):
        table = bench.leaderboard(rows, by=by, detectors=detectors, measures=asked[str(settings)])
        if not any(table[name].notna().any() for name in measures if name in table):
            raise InvalidInputError(no_common_series(rows, str(settings)))
        boards.append(_board(table, rows, str(settings), measures))
    return {"folder": folder, "by": by, "boards": boards}


def _board(
    table: pd.DataFrame, rows: pd.DataFrame, settings: str, measures: Mapping[str, Measure]
) -> dict[str, Any]:
    from vuskit.bench import main_measure

    names = [name for name in measures if name in table.columns]
    present = table["own_series"] > 0
    first = frame_records(table)[0]
    counts = [name for name in _COUNTS if name in table.columns]
    own = rows.drop_duplicates(["dataset", "series", "detector", "measure"])
    own_counts = own.groupby(["detector", "measure"]).size().to_dict()
    valued = {name for _, name in own_counts}
    return {
        "settings": settings,
        "ordered_by": main_measure([name for name in names if table[name].notna().any()]),
        **{count: first[count] for count in counts},
        "measures": [
            {
                "name": name,
                "title": measures[name].title,
                "family": measures[name].family,
                "higher_is_better": measures[name].higher_is_better,
                **{
                    count: first.get(f"{count}_{name}", first[count] if name in valued else 0)
                    for count in counts
                },
            }
            for name in names
        ],
        "detectors": [
            {
                "name": record["detector"],
                "own_series": record["own_series"],
                "own_series_by_measure": {
                    name: own_counts.get((record["detector"], name), 0) for name in names
                },
                "values": {name: record[name] for name in names},
            }
            for record in frame_records(table[present])
        ],
        "without_values": [str(name) for name in table.loc[~present, "detector"]],
    }


def _rows(content: Content) -> Rows:
    """One row per settings, detector and measure, also for detectors without any value."""
    counts = ["datasets", "series"] if content["by"] == "dataset" else ["series"]
    header = ["settings", "by", *counts, "detector", "own_series"]
    header += ["measure", "higher_is_better", "mean"]
    rows = [
        [board["settings"], content["by"], *(measure[name] for name in counts),
         entry["name"], entry["own_series"],
         measure["name"], measure["higher_is_better"], entry["values"].get(measure["name"])]
        for board in content["boards"]
        for entry in (*board["detectors"], *map(_without_values, board["without_values"]))
        for measure in board["measures"]
    ]  # fmt: skip
    return header, rows


def _without_values(name: str) -> dict[str, Any]:
    return {"name": name, "own_series": 0, "values": {}}


def leaderboard_text(content: Content) -> None:
    """Tables for reading: the measure that orders them first, the best of each marked."""
    write("\n\n".join(_board_text(board, content["by"]) for board in content["boards"]))


def _latex(content: Content) -> str:
    """LaTeX tables (package booktabs): the same as for reading, the best of each bold."""
    tables = []
    for board in content["boards"]:
        header, rows = _cells(board)
        rows += _count_rows(board)
        tables.append(TableLayout(header, rows, notes=[_title(board, content["by"])]).to_latex())
    return "\n\n".join(tables)


def _cells(board: Content) -> tuple[list[str], list[list[str | Cell]]]:
    """Header and rows, the measure that orders them first; the best value of each is told apart."""
    ordered = _ordered(board)
    top = {measure["name"]: _best(board["detectors"], measure) for measure in ordered}

    def cell(name: str, value: float | None) -> Cell:
        return Cell(
            "" if value is None else f"{value:.3f}", bold=value is not None and value == top[name]
        )

    rows: list[list[str | Cell]] = [
        [entry["name"], *(cell(name, entry["values"][name]) for name in top)]
        for entry in board["detectors"]
    ]
    return ["detector", *map(_heading, ordered)], rows


def _ordered(board: Content) -> list[Content]:
    return sorted(board["measures"], key=lambda one: bool(one["name"] != board["ordered_by"]))


def _count_rows(board: Content) -> list[list[str | Cell]]:
    """How many data sets and series the means of each measure rest on, where measures differ."""
    return [
        [f"({title})", *(f"{one[count]:,}" for one in _ordered(board))]
        for count, title in _COUNTS.items()
        if count in board and board[count] is None
    ]


def _title(board: Content, by: str) -> str:
    if board["series"] is None:
        over = "the series on which all detectors have a value of the measure (last line)"
    else:
        over = f"{board['series']:,} series that all detectors have values for"
    if by == "dataset":
        counted = (
            "data sets" if board["datasets"] is None else plural(board["datasets"], "data set")
        )
        over = f"{counted}, each the mean of its series ({over})"
    first = _ordered(board)[0]["title"]
    return f"Means over {over}; best by {first} first ({board['settings']})"


def _board_text(board: Content, by: str) -> str:
    header, rows = _cells(board)
    rows += _count_rows(board)
    lines = [
        wrapped(_title(board, by)),
        TableLayout(header, rows).to_text(terminal_width()),
        wrapped("* best" + _directions(board["measures"])),
    ]
    fewest = min(entry["own_series"] for entry in board["detectors"])
    most = max(entry["own_series"] for entry in board["detectors"])
    if fewest < most:
        lacking = [e["name"] for e in board["detectors"] if e["own_series"] < most]
        lines.append(wrapped(f"With values for fewer series than others: {', '.join(lacking)}"))
    if board["series"] is None:
        lines += [
            wrapped(line) for line in map(partial(_lacking, board), board["measures"]) if line
        ]
    blank = [one["title"] for one in board["measures"] if _has_no_value(board, one)]
    if blank:
        lines.append(wrapped(f"No value on any series: {', '.join(blank)}"))
    if board["without_values"]:
        lines.append(wrapped(f"Without any value: {', '.join(board['without_values'])}"))
    return "\n".join(lines)


def _lacking(board: Content, measure: Content) -> str:
    """Which detectors miss values of the measure on series for which they have others."""
    name = measure["name"]
    own = {
        e["name"]: (e["own_series_by_measure"][name], e["own_series"]) for e in board["detectors"]
    }
    lacking = [f"{label} {few:,} of {all_:,}" for label, (few, all_) in own.items() if few < all_]
    if not lacking or _has_no_value(board, measure):
        return ""
    return f"Series with a value of {measure['title']}: {', '.join(lacking)}"


def _has_no_value(board: Content, measure: Content) -> bool:
    return not any(e["own_series_by_measure"][measure["name"]] for e in board["detectors"])


def _heading(measure: Content) -> str:
    return str(measure["title"]) + ("" if measure["higher_is_better"] else " (-)")


def _directions(measures: Sequence[Content]) -> str:
    lower = any(not measure["higher_is_better"] for measure in measures)
    return "; (-) lower is better" if lower else ""


def _best(detectors: Sequence[Content], measure: Content) -> float | None:
    values = [entry["values"][measure["name"]] for entry in detectors]
    known = [value for value in values if value is not None]
    if not known or len(detectors) < 2:
        return None
    return float(max(known) if measure["higher_is_better"] else min(known))

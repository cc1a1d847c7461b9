"""What the reports of the studies share: figures, colours, tables, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit.datasets.optional import require
from vuskit.measures.registry import Measure
from vuskit.report.timing import format_cell

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "family_colour",
    "family_legend",
    "label_measures",
    "markdown_table",
    "new_figure",
    "titles_of",
    "write_files",
]

# Okabe and Ito's palette: told apart by people with any kind of colour vision.
_COLOURS = {
    "threshold": "#999999",
    "range": "#E69F00",
    "auc": "#56B4E9",
    "range_auc": "#009E73",
    "vus": "#D55E00",
    "custom": "#CC79A7",
}
_FAMILY_TITLES = {
    "threshold": "threshold",
    "range": "range, threshold",
    "auc": "AUC",
    "range_auc": "R-AUC",
    "vus": "VUS",
    "custom": "own",
}
_DPI = 130


def new_figure(
    rows: int, columns: int, *, size: tuple[float, float], **options: Any
) -> tuple[Figure, Any]:
    """Figure and its axes, as a grid; it belongs to no window."""
    # Figure itself instead of pyplot: nothing global is touched, no display is needed.
    matplotlib = require("matplotlib.figure", purpose="a figure")
    figure = matplotlib.Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def family_colour(measure: Measure) -> str:
    """Colour of the measure's family."""
    return _COLOURS.get(measure.family, _COLOURS["custom"])


def family_legend(figure: Figure, measures: Iterable[Measure]) -> None:
    """Legend of the families, below the figure."""
    patches = require("matplotlib.patches", purpose="a figure")
    present = dict.fromkeys(
        measure.family if measure.family in _COLOURS else "custom" for measure in measures
    )
    handles = [patches.Patch(color=_COLOURS[name], label=_FAMILY_TITLES[name]) for name in present]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)


def label_measures(axis: Axes, measures: Iterable[Measure]) -> None:
    """Names of the measures along the horizontal axis."""
    titles = [measure.title for measure in measures]
    axis.set_xticks(range(len(titles)), titles, rotation=90, fontsize=8)
    axis.grid(visible=True, axis="y", alpha=0.3)
    axis.set_axisbelow(True)


def titles_of(measures: Iterable[Measure]) -> dict[str, str]:
    """Title of each measure by its name."""
    return {measure.name: measure.title for measure in measures}


def markdown_table(frame: pd.DataFrame) -> str:
    """Lay out a table in Markdown, numbers to three digits."""
    lines = [list(map(str, frame.columns)), ["---"] * frame.shape[1]]
    lines += [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_files(
    folder: str | Path,
    name: str,
    *,
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Figure],
    page: Iterable[str],
) -> list[Path]:
    """Write tables as csv, figures as png and a page that shows them; the page is the first."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = [place / f"{name}.md"]
    written[0].write_text("\n\n".join(page) + "\n", encoding="utf-8")
    for title, frame in tables.items():
        written.append(place / f"{name}_{title}.csv")
        frame.to_csv(written[-1], index=False, lineterminator="\n")
    for title, figure in figures.items():
        written.append(place / f"{name}_{title}.png")
        figure.savefig(written[-1], dpi=_DPI)
    return written

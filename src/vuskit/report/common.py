"""What the reports of the studies share: figures, colours, tables, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit.datasets.optional import require
from vuskit.inputs import check_choice
from vuskit.measures.registry import Measure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "FIGURE_FORMATS",
    "check_figure_format",
    "family_colour",
    "family_legend",
    "format_cell",
    "label_measures",
    "markdown_table",
    "new_figure",
    "picture",
    "save_figure",
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
FIGURE_FORMATS = ("png", "pdf", "svg")
_TEXT_AS_TEXT = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}


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


def format_cell(value: object) -> str:
    """Three significant digits for numbers; nothing for what is not there.

    Examples
    --------
    >>> [format_cell(value) for value in (0.0123456, 1234.5, float("nan"), 7, "opt")]
    ['0.0123', '1,230', '', '7', 'opt']
    """
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"


def markdown_table(frame: pd.DataFrame) -> str:
    """Lay out a table in Markdown, numbers to three digits."""
    lines = [list(map(str, frame.columns)), ["---"] * frame.shape[1]]
    lines += [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def check_figure_format(figure_format: str) -> str:
    """Return the format of the figures.

    Raises
    ------
    InvalidInputError
        If it is none of ``png``, ``pdf`` and ``svg``.
    """
    return check_choice("figure_format", figure_format, FIGURE_FORMATS)


def save_figure(figure: Figure, path: Path) -> None:
    """Save a figure in the format that its name ends with; text stays text."""
    matplotlib = require("matplotlib", purpose="a figure")
    with matplotlib.rc_context(_TEXT_AS_TEXT):
        figure.savefig(path, dpi=_DPI)


def picture(title: str, file: str) -> str:
    """Markdown that shows a figure; browsers do not show a pdf within a page, so it is linked."""
    return f"[{title}]({file})" if file.endswith(".pdf") else f"![{title}]({file})"


def write_files(
    folder: str | Path,
    name: str,
    *,
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Figure],
    page: Iterable[str],
    figure_format: str = "png",
) -> list[Path]:
    """Write tables as csv, figures and a page that shows them; the page is the first."""
    check_figure_format(figure_format)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = [place / f"{name}.md"]
    written[0].write_text("\n\n".join(page) + "\n", encoding="utf-8")
    for title, frame in tables.items():
        written.append(place / f"{name}_{title}.csv")
        frame.to_csv(written[-1], index=False, lineterminator="\n")
    for title, figure in figures.items():
        written.append(place / f"{name}_{title}.{figure_format}")
        save_figure(figure, written[-1])
    return written

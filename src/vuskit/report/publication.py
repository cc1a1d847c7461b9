"""The table of a paper: detectors as rows, data sets or measures as columns."""

from __future__ import annotations

import dataclasses
import html
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit._util.tables import Cell, TableForms, TableLayout
from vuskit._util.text import did_you_mean, plain_name, plural, quoted
from vuskit.bench import (
    Run,
    Status,
    Values,
)
from vuskit.bench.means import (
    AVERAGES,
    Floats,
    Place,
    column_means,
    common_series,
    mean_of_seeds,
    place_order,
    rows_of_mean,
)
from vuskit.buffers import buffer_summary
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError, MeasureError
from vuskit.inputs import check_choice, check_int
from vuskit.measures.chance import chance_level
from vuskit.measures.registry import Measure, main_measure, measure_called, measures_in_order
from vuskit.statistics.tests import mean_intervals

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PublicationTable",
    "publication_table",
]

COLUMNS = ("dataset", "measure")
"""Allowed columns of a table."""

SPREADS = ("std", "bootstrap", "none")
"""Allowed spreads next to a mean."""

_RESAMPLES = 1000
_DRAWS = 20  # random scores per series
_MOST_TITLES = 3
_MISSING = "–"  # noqa: RUF001
_LOWER = "\N{DOWNWARDS ARROW}"
_OK = str(Status.OK)
_UNDEFINED = "undefined"
_UNNAMED = "value"
_NO_DATASET = "all"
_UNITS = {"dataset": "data sets", "series": "series"}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; color-scheme: light dark; }
h1 { font-size: 1.3em; }
table { border-collapse: collapse; margin: 0 0 2em; font-variant-numeric: tabular-nums; }
caption { text-align: left; max-width: 60em; padding-bottom: .5em; }
th, td { padding: .15em .8em; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead tr:last-child th, tbody { border-bottom: 1px solid; }
tfoot td { white-space: normal; font-size: .9em; }
"""
_LATEX_WIDTH = 86  # characters of small type in a line of a one-column article


@dataclass(frozen=True, eq=False)
class PublicationTable(TableForms):
    """Means of detectors, ready for a paper.

    Attributes
    ----------
    cells : list of dict
        One record per detector, measure and data set: ``mean``, ``std``, ``lower`` and ``upper``
        (missing unless requested), ``series`` (number of series) and ``mean_rank``. Means over
        data sets have an empty ``dataset``. Chance has an empty ``detector``.
    detectors : tuple of str
        Rows, best first; detectors without any value come last.
    measures : dict
        Titles of the measures by name.
    higher_is_better : dict
        Directions of the measures by name.
    columns : {"dataset", "measure"}
        Whether the columns are data sets or measures.
    datasets : tuple of str
        Data sets in order.
    failures : dict
        By detector: number and status of series without a value of a shown measure, such as
        ``"3 ERROR"``.
    notes : tuple of str
        Failures, settings and buffers.
    by, spread, rank, digits, seed
        As for :func:`publication_table`.
    """

    cells: list[dict[str, Any]]
    detectors: tuple[str, ...]
    measures: dict[str, str]
    higher_is_better: dict[str, bool]
    columns: str
    datasets: tuple[str, ...]
    failures: dict[str, str]
    notes: tuple[str, ...]
    by: str
    spread: str
    rank: str | None
    digits: int
    seed: int

    def to_frame(self) -> pd.DataFrame:
        """Return ``cells`` as a table, in full precision.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="a table of means")
        frame: pd.DataFrame = pandas.DataFrame(self.cells)
        return frame

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, width: int | None = None
    ) -> str:
        """Return a LaTeX table; it needs the package booktabs.

        Parameters
        ----------
        caption : str, optional
            Text instead of the table's own caption.
        label : str, optional
            Name to refer to the table.
        width : int, optional
            Characters per line; by default those of a one-column article. Wider tables are split
            into parts, one below the other. Use about 130 for a ``table*`` over two columns.
        """
        # The spread is printed in smaller type.
        usual = None if self.spread == "none" else _LATEX_WIDTH
        return super().to_latex(caption=caption, label=label, width=width or usual)

    def __repr__(self) -> str:
        return self.to_text(79)

    @property
    def caption(self) -> str:
        """Caption that defines the columns."""
        titles = list(self.measures.values())
        titles = ["values" if title == _UNNAMED else title for title in titles]
        what = ", ".join(titles) if len(titles) <= _MOST_TITLES else f"{len(titles)} measures"
        shown = ""
        if self.spread == "std":
            shown = " ± standard deviation"
        elif self.spread == "bootstrap":
            shown = f" [95% bootstrap interval, {_RESAMPLES:,} resamples, seed {self.seed}]"
        over, several = "series", len(self.datasets) > 1
        if self.columns == "dataset":
            over = "series of each data set"
        elif several and self.by == "dataset":
            over = "data sets, each the mean of its series"
        said = [
            f"{what} of {plural(len(self.detectors), 'detector')}: mean{shown} over the {over}."
        ]
        if self.columns == "dataset" and several:
            said.append(f"Mean: over the {_UNITS[self.by]}.")
        if self._has_ranks and self.rank is not None:
            said.append(f"Rank: mean rank over the {_UNITS[self.rank]}.")
        said.append("Only series with values of all detectors are included.")
        if not all(self.higher_is_better.values()):
            said.append(f"{_LOWER}: lower is better.")
        if self._has_chance:
            said.append("Chance: mean of random scores.")
        text = " ".join(said)
        return text.replace("values", "Values", 1) if titles[0] == "values" else text

    @property
    def _has_chance(self) -> bool:
        return any(not row["detector"] for row in self.cells)

    @property
    def _has_ranks(self) -> bool:
        """Whether there is a column of mean ranks; only tables of one measure have one."""
        known = (not math.isnan(row["mean_rank"]) for row in self.cells)
        return len(self.measures) == 1 and any(known)

    # -- layout ----------------------------------------------------------------------------------

    @property
    def _layout(self) -> TableLayout:
        columns = list(self._printed_columns())
        numbers = {column: self._column(*column) for column in columns}
        ranks = self._ranks()
        names = list(self.detectors)
        rows: list[list[str | Cell]] = []
        for name in names:
            cells = [numbers[column][name] for column in columns]
            rows.append([name, *cells, *([ranks[name]] if ranks else [])])
        rules = [len(rows)]
        blank = [""] if ranks else []
        if self._has_chance:
            rows.append(["chance", *(numbers[column][""] for column in columns), *blank])
        rows.append(["series", *map(self._count, columns), *blank])
        header, groups = self._headings(columns, has_ranks=bool(ranks))
        return TableLayout(
            header,
            rows,
            notes=self.notes,
            caption=self.caption,
            groups=groups,
            rules=rules,
            marks=("best in column", "second best"),
        )

    def _printed_columns(self) -> Iterator[tuple[str, str]]:
        if self.columns == "dataset":
            for dataset in self.datasets:
                yield from ((dataset, measure) for measure in self.measures)
        if self.columns == "measure" or len(self.datasets) > 1:
            yield from (("", measure) for measure in self.measures)

    def _headings(
        self, columns: Sequence[tuple[str, str]], *, has_ranks: bool
    ) -> tuple[list[str], list[tuple[str, int]]]:
        titles = {
            name: title if self.higher_is_better[name] else f"{title} {_LOWER}"
            for name, title in self.measures.items()
        }
        last = ["rank"] if has_ranks else []
        if self.columns == "measure":
            return ["detector", *(titles[measure] for _, measure in columns), *last], []
        if len(titles) == 1:
            return ["detector", *(dataset or "mean" for dataset, _ in columns), *last], []
        shown = list(dict.fromkeys(dataset for dataset, _ in columns))
        groups = [("", 1), *((dataset or "mean", len(titles)) for dataset in shown)]
        return ["detector", *(titles[measure] for _, measure in columns)], groups

    @cached_property
    def _records(self) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
        """Rows of ``cells`` by data set and measure, then by detector."""
        found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        for row in self.cells:
            found.setdefault((row["dataset"], row["measure"]), {})[row["detector"]] = row
        return found

    def _column(self, dataset: str, measure: str) -> dict[str, Cell]:
        """Return the cells by detector, the best two marked; chance has the name ""."""
        rows = self._records[dataset, measure]
        texts = {name: self._number(row["mean"]) for name, row in rows.items()}
        best, second = _best_two(
            [texts.get(name, _MISSING) for name in self.detectors],
            higher=self.higher_is_better[measure],
        )
        found = {}
        for name in (*self.detectors, ""):
            text = texts.get(name, _MISSING)
            marked = bool(name) and text != _MISSING
            spread = self._spread(rows[name]) if text != _MISSING else ""
            found[name] = Cell(text, marked and text == best, marked and text == second, spread)
        return found

    def _number(self, value: float) -> str:
        if math.isnan(value):
            return _MISSING
        text = f"{value:.{self.digits}f}"
        return text.removeprefix("-") if float(text) == 0 else text

    def _spread(self, row: Mapping[str, Any]) -> str:
        if not math.isnan(row["std"]):
            return f"± {self._number(row['std'])}"
        if not math.isnan(row["lower"]):
            return f"[{self._number(row['lower'])}, {self._number(row['upper'])}]"
        return ""

    def _count(self, column: tuple[str, str]) -> str:
        return f"{next(iter(self._records[column].values()))['series']:,}"

    def _ranks(self) -> dict[str, Cell]:
        if not self._has_ranks:
            return {}
        rows = self._records["", next(iter(self.measures))]
        texts = {
            name: _MISSING if math.isnan(row["mean_rank"]) else f"{row['mean_rank']:.2f}"
            for name, row in rows.items()
        }
        best, second = _best_two([texts[name] for name in self.detectors], higher=False)
        return {
            name: Cell(texts[name], texts[name] == best, texts[name] == second)
            for name in self.detectors
        }


def _best_two(texts: Iterable[str], *, higher: bool) -> tuple[str | None, str | None]:
    """Return the two best printed numbers; None if all are equal, no second if the best tie."""
    known = [text for text in texts if text != _MISSING]
    order = sorted(set(known), key=float, reverse=higher)
    if len(order) < 2:
        return None, None
    second = len(known) > 2 and known.count(order[0]) == 1
    return order[0], order[1] if second else None


def table_page(tables: Sequence[TableForms], *, title: str) -> str:
    """Return a self-contained HTML page with some tables."""
    said = html.escape(title)
    body = "\n".join(table.to_html() for table in tables)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{said}</title>\n'
        f"<style>{_STYLE}</style></head>\n<body><h1>{said}</h1>\n{body}\n</body></html>\n"
    )


# -- computing ---------------------------------------------------------------------------------


def publication_table(
    values: Any,
    *,
    measures: str | Sequence[str] | None = None,
    columns: str | None = None,
    by: str = "series",
    spread: str | None = "std",
    chance: Any = None,
    detectors: Sequence[str] | None = None,
    settings: str | None = None,
    rank: str | None = "series",
    digits: int = 3,
    seed: int = 0,
) -> PublicationTable:
    """Make a table for a paper: detectors as rows, data sets or measures as columns.

    Means are taken over the seeds of a series, then over the series; with ``by="dataset"``, over
    the series of each data set, then over the data sets. Only series with values of all detectors
    are included, as in :func:`vuskit.bench.leaderboard`.

    Parameters
    ----------
    values : pandas.DataFrame, Run or Values
        One row per value with the columns ``series``, ``detector``, ``measure`` and ``value``.
        Optional columns are ``dataset``, ``seed``, ``settings``, ``status``, ``buffer``,
        ``higher_is_better`` and ``measure_title``. A benchmark run has all of them.
    measures : str or sequence of str, optional
        Names or titles. By default all measures for ``columns="measure"``, otherwise VUS-PR if
        it is there.
    columns : {"dataset", "measure"}, optional
        Whether the columns are data sets or measures. Data sets with several measures are groups
        of columns. By default data sets if there are several, otherwise measures.
    by : {"series", "dataset"}, default="series"
        Whether series or data sets have equal weight in the overall mean.
    spread : {"std", "bootstrap", "none"} or None, default="std"
        Spread next to each mean: the standard deviation, or a 95% bootstrap interval of the mean.
    chance : bool, int or pandas.DataFrame, optional
        Adds a row with the means of random scores. For a run: True, or the number of random scores
        per series. Otherwise a table with the columns ``series``, ``measure`` and ``value``, and
        ``dataset`` if the values have it.
    detectors : sequence of str, optional
        Detectors to compare; all by default.
    settings : str, optional
        Settings to use; needed if the values have several.
    rank : {"series", "dataset"} or None, default="series"
        Whether detectors are ranked on series or data sets. The mean rank is the last column of a
        table of one measure.
    digits : int, default=3
        Printed decimals. Equal printed numbers are ties.
    seed : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    PublicationTable
        With ``to_text``, ``to_latex``, ``to_markdown``, ``to_html`` and ``to_frame``.

    Raises
    ------
    InvalidInputError
        If a column is missing, a name is unknown, or no series has values of all detectors.
    MissingDependencyError
        If pandas is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> values = pd.DataFrame({
    ...     "dataset": ["ECG"] * 4 + ["KPI"] * 4, "series": [1, 1, 2, 2, 3, 3, 4, 4],
    ...     "detector": ["LOF", "PCA"] * 4, "measure": "vus_pr",
    ...     "value": [0.9, 0.5, 0.8, 0.6, 0.3, 0.4, 0.2, 0.3]})
    >>> print(publication_table(values, spread=None).to_text(72))
    VUS-PR of 2 detectors: mean over the series of each data set. Mean: over
      the series. Rank: mean rank over the series. Only series with values
      of all detectors are included.
    detector     ECG     KPI    mean  rank
    LOF       0.850*  0.250   0.550*  1.50
    PCA       0.550   0.350*  0.450   1.50
    --------------------------------------
    series        2       2       4
    *: best in column.
    """
    check_choice("by", by, AVERAGES)
    kind = check_choice("spread", spread or "none", SPREADS)
    if columns is not None:
        check_choice("columns", columns, COLUMNS)
    if rank is not None:
        check_choice("rank", rank, AVERAGES)
    digits, seed = check_int("digits", digits, minimum=0), check_int("seed", seed, minimum=0)
    evaluated = values if isinstance(values, Run | Values) else None
    rows = _one_settings(_read(values), settings)
    rows, names = _of_detectors(rows, detectors)
    datasets = tuple(dict.fromkeys(dataset for dataset, _ in rows.first("place")))
    if columns is None or datasets == (_NO_DATASET,):
        columns = "dataset" if len(datasets) > 1 else "measure"
    chosen = _chosen_measures(rows, measures, columns)
    rows = rows.having("measure", chosen)
    random, without_chance = _chance_levels(evaluated, rows, chance, chosen)
    found = _measures(rows, chosen)
    titles = {name: one.title for name, one in found.items()}
    higher = {name: one.higher_is_better for name, one in found.items()}
    places, table = _mean_of_seeds(rows, chosen, names)
    cells = _Maker(places, table, names, datasets, random, kind, by, rank, seed).cells(higher)
    order = _best_first(cells, chosen[0], names, higher=higher[chosen[0]])
    failures, gain = _failures(rows, names, table)
    notes = [*_notes(rows, failures, gain, titles, evaluated.alignments() if evaluated else ())]
    notes += [f"No chance level of {titles[name]}: {why}." for name, why in without_chance.items()]
    return PublicationTable(
        cells=cells,
        detectors=order,
        measures=titles,
        higher_is_better=higher,
        columns=columns,
        datasets=datasets,
        failures=failures,
        notes=tuple(notes),
        by=by,
        spread=kind,
        rank=rank,
        digits=digits,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Maker:
    """Computes means, spreads, counts and ranks of all measures."""

    places: list[Place]
    table: Floats  # by measure, series and detector
    detectors: tuple[str, ...]
    datasets: tuple[str, ...]
    chance: dict[tuple[Any, ...], float] | None
    spread: str
    by: str
    rank: str | None
    seed: int

    def cells(self, higher: Mapping[str, bool]) -> list[dict[str, Any]]:
        both = zip(higher, self.table, strict=True)
        cells = [cell for name, one in both for cell in self._of_measure(name, one, higher[name])]
        if not any(cell["series"] for cell in cells):
            raise InvalidInputError(_no_common_series(self.table, self.detectors))
        return cells

    def _of_measure(self, measure: str, one: Floats, higher: bool) -> Iterator[dict[str, Any]]:
        places, table = self._common(measure, one)
        owners = np.array([dataset for dataset, _ in places], dtype=object)
        for dataset in self.datasets:
            yield from self._summary(table[owners == dataset], dataset, measure)
        # With one data set, the spread is that of its series.
        by = self.by if len(self.datasets) > 1 else "series"
        ranks: dict[str, float] = {}
        if self.rank is not None and len(table):
            ranked = rows_of_mean(table[:, : len(self.detectors)], owners, self.rank)
            ranks = _mean_ranks(ranked, self.detectors, higher=higher)
        for cell in self._summary(rows_of_mean(table, owners, by), "", measure):
            cell["series"] = len(table)
            cell["mean_rank"] = ranks.get(cell["detector"], math.nan)
            yield cell

    def _common(self, measure: str, table: Floats) -> tuple[list[Place], Floats]:
        """Return the included series and their values by detector, and chance if requested."""
        kept = common_series(table.T)
        places, table = list(compress(self.places, kept)), table[kept]
        if self.chance is not None:
            random = [self.chance.get((*place, measure), math.nan) for place in places]
            table = np.column_stack([table, np.array(random, dtype=np.float64)])
        return places, table

    def _summary(self, table: Floats, dataset: str, measure: str) -> list[dict[str, Any]]:
        """Return means over the rows of a table, with their spread."""
        names = (*self.detectors, "")[: table.shape[1]]
        nothing = np.full(len(names), math.nan)
        lower = upper = nothing
        if self.spread == "bootstrap" and len(table) > 1:
            lower, upper = mean_intervals(table, n_resamples=_RESAMPLES, seed=self.seed)
        return [
            {
                "detector": name,
                "dataset": dataset,
                "measure": measure,
                "series": len(table),
                "mean": float(mean),
                "std": _deviation(column) if self.spread == "std" else math.nan,
                "lower": float(low),
                "upper": float(high),
                "mean_rank": math.nan,
            }
            for name, column, mean, low, high in zip(
                names, table.T, column_means(table), lower, upper, strict=True
            )
        ]


def _mean_of_seeds(
    rows: _Rows, measures: Sequence[str], detectors: Sequence[str]
) -> tuple[list[Place], Floats]:
    """Return the series, and means by measure, series and detector; NaN without a value."""
    known = rows.known
    places = sorted(known.first("place"), key=place_order)
    columns = {"measure": measures, "place": places, "detector": detectors}
    at = [known.positions(name, order) for name, order in columns.items()]
    return places, mean_of_seeds(known.value, at, [len(order) for order in columns.values()])


def _deviation(column: Floats) -> float:
    """Return the standard deviation of the known numbers; NaN for a single one."""
    known = column[~np.isnan(column)]
    return float(known.std(ddof=1)) if known.size > 1 else math.nan


def _mean_ranks(table: Floats, names: Sequence[str], *, higher: bool) -> dict[str, float]:
    """Return the mean rank of each detector that has values; ties share their mean rank."""
    present = np.asarray(~np.isnan(table).all(axis=0))
    known = -table[:, present] if higher else table[:, present]
    better = (known[:, None, :] < known[:, :, None]).sum(axis=2)
    equal = (known[:, None, :] == known[:, :, None]).sum(axis=2)
    ranks = (better + (equal + 1) / 2).mean(axis=0)
    return dict(zip(compress(names, present.tolist()), ranks.tolist(), strict=True))


def _no_common_series(table: Floats, detectors: Sequence[str]) -> str:
    counts = (~np.isnan(table)).any(axis=0).sum(axis=0).tolist()
    listed = ", ".join(f"{name} {count}" for name, count in zip(detectors, counts, strict=True))
    return (
        "`values` must have at least one series with values of all detectors, got none. "
        f"Series by detector: {listed}. Choose some with `detectors`"
    )


# -- reading the values ------------------------------------------------------------------------


class _Factor(NamedTuple):
    """A column: its distinct entries, and the position of each row's entry among them."""

    entries: list[Any]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, column: Iterable[Any], times: int = 1) -> _Factor:
        found: dict[Any, int] = {}
        codes = np.fromiter((found.setdefault(one, len(found)) for one in column), np.int32)
        return cls(list(found), np.repeat(codes, times))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Values with their other columns; those that are not there hold None."""

    value: Floats
    columns: dict[str, _Factor]

    def where(self, kept: NDArray[np.bool_]) -> _Rows:
        if kept.all():
            return self
        columns = {name: one._replace(codes=one.codes[kept]) for name, one in self.columns.items()}
        return _Rows(self.value[kept], columns)

    @property
    def known(self) -> _Rows:
        return self.where(~np.isnan(self.value))

    def having(self, name: str, wanted: Sequence[Any]) -> _Rows:
        return self.where(self.positions(name, wanted) >= 0)

    def positions(self, name: str, order: Sequence[Any]) -> NDArray[np.intp]:
        """Return the position of each row's entry in a list, -1 if it is not there."""
        entries, codes = self.columns[name]
        at = {one: place for place, one in enumerate(order)}
        return np.array([at.get(one, -1) for one in entries], dtype=np.intp)[codes]

    def first(self, name: str) -> dict[Any, int]:
        """Return the entries of a column in order, each with its first row."""
        entries, codes = self.columns[name]
        row = np.full(len(entries), -1, dtype=np.intp)
        row[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment counts
        return {entries[at]: int(row[at]) for at in np.argsort(row) if row[at] >= 0}


def _read(values: Any) -> _Rows:
    """Read the columns of a data frame, a run or values in memory."""
    rows = _of_values(values) if isinstance(values, Values) else _of_frame(values)
    if np.isnan(rows.value).all():
        raise InvalidInputError(
            "`values` must have at least one value, got none; check the failed jobs"
        )
    return rows


def _of_values(values: Values) -> _Rows:
    pairs, n = list(values.scores()), len(values.measures)
    described = [(one.title, one.higher_is_better) for one in values.measures]
    measures: dict[str, list[Any]] = {
        "measure": [one.name for one in values.measures],
        "described": described,
    }
    scores: dict[str, list[Any]] = {
        "place": [(series.dataset, series.name) for series, _ in pairs],
        "detector": [score.detector for _, score in pairs],
        "settings": [values.settings_text] * len(pairs),
        "buffer": [
            (series.buffer if Status.OK in score.statuses else None, series.buffer_reason)
            for series, score in pairs
        ],
    }
    tiled = np.tile(np.arange(n, dtype=np.int32), len(pairs))
    columns = {name: _Factor(column, tiled) for name, column in measures.items()}
    columns |= {name: _Factor.of(column, n) for name, column in scores.items()}
    columns["status"] = _Factor.of(one for _, score in pairs for one in score.statuses)
    return _Rows(np.array([score.values for _, score in pairs], dtype=float).ravel(), columns)


def _of_frame(values: Any) -> _Rows:
    pandas = require("pandas", purpose="a table of means")
    if isinstance(values, Run):
        values = values.outcomes()
    frame = values.to_pandas() if hasattr(values, "to_pandas") else values
    if not isinstance(frame, pandas.DataFrame):
        raise InvalidInputError(
            f"`values` must be a data frame or a Run, got {type(values).__name__}"
        )
    lacking = [name for name in ("series", "detector", "value") if name not in frame.columns]
    if lacking:
        raise InvalidInputError(
            "`values` must have the columns 'series', 'detector' and 'value', got none named "
            f"{quoted(lacking)}; rename your columns"
        )
    measures = frame["measure"] if "measure" in frame.columns else [_UNNAMED] * len(frame)
    read = partial(_column, frame)
    columns: dict[str, Iterable[Any]] = {
        "place": zip(_datasets(frame), read("series"), strict=True),
        "detector": map(str, read("detector")),
        "measure": map(str, measures),
        "described": zip(read("measure_title"), read("higher_is_better"), strict=True),
        "settings": read("settings"),
        "status": read("status"),
        "buffer": zip(read("buffer"), read("buffer_reason"), strict=True),
    }
    numbers = [math.nan if _is_missing(one) else float(one) for one in read("value")]
    factors = {name: _Factor.of(column) for name, column in columns.items()}
    return _Rows(np.array(numbers, dtype=np.float64), factors)


def _is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, or missing in a nullable column."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _column(frame: Any, name: str) -> list[Any]:
    return frame[name].tolist() if name in frame.columns else [None] * len(frame)


def _datasets(frame: Any) -> list[str]:
    """Return the column of data sets; the mean over data sets has the empty name."""
    column = _column(frame, "dataset")
    return [_NO_DATASET if _is_missing(one) else str(one) or _NO_DATASET for one in column]


def _known(column: Iterable[Any]) -> tuple[Any, ...]:
    """Return the entries of a column that are not missing."""
    return tuple(one for one in column if not _is_missing(one))


def _one_settings(rows: _Rows, settings: str | None) -> _Rows:
    known = _known(rows.first("settings"))
    present = list(map(str, known))
    if settings is None and len(present) > 1:
        raise InvalidInputError(f"`settings` must be one of {quoted(present)}, got none")
    if settings is not None and present and settings not in present:
        raise InvalidInputError(f"`settings` must be one of {quoted(present)}, got {settings!r}")
    if len(present) < 2:
        return rows
    return rows.having("settings", [one for one in known if str(one) == settings])


def _of_detectors(rows: _Rows, detectors: Sequence[str] | None) -> tuple[_Rows, tuple[str, ...]]:
    present = tuple(rows.first("detector"))
    if detectors is None:
        return rows, present
    for name in detectors:
        if name not in present:
            near = did_you_mean(name, present)
            raise InvalidInputError(
                f"`detectors` must be among {quoted(present)}, got {name!r}{near}"
            )
    return rows.having("detector", detectors), tuple(dict.fromkeys(detectors))


def _chosen_measures(rows: _Rows, wanted: str | Sequence[str] | None, columns: str) -> list[str]:
    present = list(rows.first("measure"))
    if wanted is None:
        main = main_measure(list(rows.known.first("measure")))
        if columns == "dataset":
            return [main]
        first = [main, *(name for name in ("vus_pr", "vus_roc") if name in present)]
        return list(dict.fromkeys([*first, *measures_in_order(present)]))
    names = {plain_name(measure_called(name).title): name for name in present}
    names |= {plain_name(one.title): name for name, one in _measures(rows, present).items()}
    names |= {plain_name(name): name for name in present}
    chosen = []
    for name in [wanted] if isinstance(wanted, str) else wanted:
        if plain_name(name) not in names:
            near = did_you_mean(name, present)
            raise InvalidInputError(
                f"`measures` must be among {quoted(present)}, got {name!r}{near}"
            )
        chosen.append(names[plain_name(name)])
    return list(dict.fromkeys(chosen))


def _measures(rows: _Rows, names: Sequence[str]) -> dict[str, Measure]:
    """Return measures with the stored titles and directions, if there are any."""
    first = rows.first("measure")
    entries, codes = rows.columns["described"]
    found = {}
    for name in names:
        measure = measure_called(name)
        title, higher = entries[codes[first[name]]]
        title = title if isinstance(title, str) else measure.title
        higher = measure.higher_is_better if higher is None else bool(higher)
        found[name] = dataclasses.replace(measure, title=title, higher_is_better=higher)
    return found


def _best_first(
    cells: Iterable[Mapping[str, Any]], measure: str, names: Sequence[str], *, higher: bool
) -> tuple[str, ...]:
    means = {
        cell["detector"]: cell["mean"]
        for cell in cells
        if not cell["dataset"] and cell["measure"] == measure
    }

    def key(name: str) -> tuple[bool, float, str]:
        mean = means[name]
        return math.isnan(mean), -mean if higher else mean, name

    return tuple(sorted(names, key=key))


# -- chance ------------------------------------------------------------------------------------


def chance_by_series(
    values: Run | Values, settings: str, measures: Sequence[str], draws: int
) -> tuple[dict[tuple[Any, ...], float], dict[str, str]]:
    """Return the mean of random scores by data set, series and measure.

    The second result says why measures have no chance level.
    """
    found: dict[tuple[Any, ...], float] = {}
    reasons: dict[str, str] = {}
    source: Any = values
    for one in values.series if isinstance(values, Values) else values.series():
        used = source.evaluation_settings(one, settings)
        if used is None:
            continue
        read = one.read()
        series = read.series if isinstance(read, ScoredSeries) else read
        labels = series.after(source.evaluated_from(one, settings)).labels
        computed = source.evaluation_measures(one, settings)
        for name in measures:
            if name not in computed:
                reasons.setdefault(name, "custom; import the module that registers it")
                continue
            try:
                level = chance_level(labels, measures=computed[name], settings=used, draws=draws)
            except (InvalidInputError, MeasureError) as error:
                reasons.setdefault(name, str(error).partition("; ")[0])
                continue
            (found[one.dataset, one.name, name],) = level.mean.values()
    return found, reasons


def _chance_levels(
    run: Run | Values | None, rows: _Rows, chance: Any, measures: Sequence[str]
) -> tuple[dict[tuple[Any, ...], float] | None, dict[str, str]]:
    """Return chance levels as `chance_by_series` does; None if none are requested."""
    if chance is None or chance is False or (isinstance(chance, int) and chance == 0):
        return None, {}
    if hasattr(chance, "columns"):
        frame = chance.to_pandas() if hasattr(chance, "to_pandas") else chance
        names = frame["series"].tolist(), frame["measure"].tolist()
        places = zip(_datasets(frame), *names, strict=True)
        levels = list(zip(places, frame["value"].tolist(), strict=True))
        return dict(levels[::-1]), {}  # the first of several counts
    if run is None:
        raise InvalidInputError(
            "`chance` must be a table of chance levels unless `values` is a Run, "
            f"got {chance!r}; see chance_level"
        )
    draws = _DRAWS if chance is True else check_int("chance", chance, minimum=1)
    return chance_by_series(run, str(next(iter(rows.first("settings")))), measures, draws)


# -- words -------------------------------------------------------------------------------------


def _gain_text(complete: NDArray[np.bool_], detectors: Iterable[str]) -> str:
    """Say whose exclusion adds most common series, given which series have all values."""
    present = np.asarray(complete.any(axis=0))
    lacking = ~complete[:, present]
    gains = lacking[lacking.sum(axis=1) == 1].sum(axis=0)
    if len(gains) < 3 or not gains.any():
        return ""
    best = list(compress(detectors, present.tolist()))[gains.argmax()]
    now = len(lacking) - int(lacking.any(axis=1).sum())
    gained = now + int(gains.max())
    return f"Without {best}, {gained:,} series have values of all detectors, not {now:,}."


def _failures(rows: _Rows, detectors: Sequence[str], table: Floats) -> tuple[dict[str, str], str]:
    """Count the series without a value of a shown measure by detector, with their statuses.

    The text says whose exclusion adds most common series.
    """
    total = len(rows.first("place"))
    known = ~np.isnan(table)
    complete = np.asarray(known[known.any(axis=(1, 2))].all(axis=0))
    statuses: dict[str, dict[int, str]] = {}
    failed = rows.where(np.isnan(rows.value)).columns
    for place, detector, code in zip(
        *(failed[name].codes.tolist() for name in ("place", "detector", "status")), strict=True
    ):
        status = failed["status"].entries[code]
        if status is not None:
            own = statuses.setdefault(failed["detector"].entries[detector], {})
            # With several measures, a failure is more informative than an undefined value.
            if own.get(place, _UNDEFINED) == _UNDEFINED:
                own[place] = _UNDEFINED if status == _OK else str(status)
    found = {}
    for name, count in zip(detectors, complete.sum(axis=0).tolist(), strict=True):
        if lacking := total - count:
            kinds = Counter(sorted(statuses.get(name, {}).values(), key=lambda k: k == _UNDEFINED))
            said = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
            found[name] = said or f"{lacking:,}"
    return found, _gain_text(complete, detectors)


def _notes(
    rows: _Rows,
    failures: Mapping[str, str],
    gain: str,
    titles: Mapping[str, str],
    alignments: Sequence[str],
) -> Iterator[str]:
    known = rows.known.first("measure")
    blank = [title for name, title in titles.items() if name not in known]
    if blank:
        yield f"No value on any series: {', '.join(blank)}."
    if failures:
        total = len(rows.first("place"))
        listed = "; ".join(f"{name}: {count}" for name, count in failures.items())
        yield f"Without a value, of {plural(total, 'series', 'series')}: {listed}."
    if gain:
        yield gain
    settings = _known(rows.first("settings"))
    if settings:
        yield f"Settings: {settings[0]}."
    if alignments:
        yield f"Scores of windows aligned at: {'; '.join(alignments)}."
    buffers = _buffers(rows)
    if buffers:
        yield f"{buffers[0].upper()}{buffers[1:]}."


def _buffers(rows: _Rows) -> str:
    """Return how the buffers of the series were chosen, and their range; empty if unknown."""
    entries, codes = rows.columns["buffer"]
    is_known = np.array([not _is_missing(length) for length, _ in entries], dtype=bool)[codes]
    places = rows.columns["place"].codes[is_known].tolist()
    last = dict(zip(places, codes[is_known].tolist(), strict=True))
    found = [entries[code] for code in last.values()]
    lengths = [int(length) for length, _ in found]
    reasons = [None if _is_missing(reason) else reason for _, reason in found]
    return buffer_summary(lengths, reasons) if found else ""

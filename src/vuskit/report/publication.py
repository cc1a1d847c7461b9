"""The table of a paper: detectors as rows, data sets or measures as columns."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.names import did_you_mean, plain_name
from vuskit._util.optional import require
from vuskit._util.tables import Cell, TableForms, TableLayout
from vuskit._util.text import plural, quoted
from vuskit.bench import (
    AVERAGES,
    Run,
    Status,
    directions,
    main_measure,
    measure_called,
    rows_of_mean,
)
from vuskit.bench._leaderboard import common_values, measures_in_order, values_by_series
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_int
from vuskit.measures.chance import chance_level

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "SPREADS",
    "PublicationTable",
    "chance_values",
    "publication_table",
    "table_page",
]

COLUMNS = ("dataset", "measure")
"""Allowed columns of a table."""

SPREADS = ("std", "bootstrap", "none")
"""Allowed spreads next to a mean."""

_RESAMPLES = 1000
_LEVEL = 0.95
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
_Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublicationTable(TableForms):
    """Means of detectors, ready for a paper.

    Attributes
    ----------
    cells : pandas.DataFrame
        One row per detector, measure and data set: ``mean``, ``std``, ``lower`` and ``upper``
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

    cells: pd.DataFrame
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
        """Return the numbers in full precision; see ``cells``."""
        return self.cells.copy()

    def to_text(self, width: int | None = None) -> str:
        """Return the table as plain text.

        Parameters
        ----------
        width : int, optional
            Wider tables are split into several.
        """
        return self._layout.to_text(width)

    def to_latex(self, *, width: int | None = None) -> str:
        """Return a LaTeX table; it needs the package booktabs.

        Parameters
        ----------
        width : int, optional
            Characters per line; by default those of a one-column article. Wider tables are split
            into parts, one below the other. Use about 130 for a ``table*`` over two columns.
        """
        # The spread is printed in smaller type.
        usual = None if self.spread == "none" else _LATEX_WIDTH
        return super().to_latex(width=width or usual)

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
        return bool((self.cells["detector"] == "").any())

    @property
    def _has_ranks(self) -> bool:
        """Whether there is a column of mean ranks; only tables of one measure have one."""
        return len(self.measures) == 1 and bool(self.cells["mean_rank"].notna().any())

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
        for row in self.cells.to_dict("records"):
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
    """Return a self-contained HTML page with some tables.

    Parameters
    ----------
    tables : sequence of results
        Anything with ``to_html()``.
    title : str
        Heading of the page.
    """
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
    by: str = "dataset",
    spread: str | None = "std",
    chance: Any = None,
    detectors: Sequence[str] | None = None,
    settings: str | None = None,
    rank: str | None = "series",
    digits: int = 3,
    seed: int = 0,
) -> PublicationTable:
    """Make a table for a paper: detectors as rows, data sets or measures as columns.

    Means are taken over the seeds of a series, then over the series of a data set, then over data
    sets. Only series with values of all detectors are included, as in
    :func:`vuskit.bench.leaderboard`.

    Parameters
    ----------
    values : pandas.DataFrame or Run
        One row per value with the columns ``series``, ``detector``, ``measure`` and ``value``.
        Optional columns are ``dataset``, ``seed``, ``settings``, ``status``, ``buffer``,
        ``higher_is_better`` and ``measure_title``. A benchmark run has all of them.
    measures : str or sequence of str, optional
        Names or titles. By default all measures for ``columns="measure"``, otherwise VUS-PR if
        it is there.
    columns : {"dataset", "measure"}, optional
        Whether the columns are data sets or measures. Data sets with several measures are groups
        of columns. By default data sets if there are several, otherwise measures.
    by : {"dataset", "series"}, default="dataset"
        Whether data sets or series have equal weight in the overall mean.
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
      the data sets. Rank: mean rank over the series. Only series with
      values of all detectors are included.
    detector     ECG     KPI    mean  rank
    LOF       0.850*  0.250   0.550*  1.50
    PCA       0.550   0.350*  0.450   1.50
    --------------------------------------
    series        2       2       4
    *: best in column.
    """
    require("pandas", purpose="a table of means")
    check_choice("by", by, AVERAGES)
    kind = check_choice("spread", spread or "none", SPREADS)
    if columns is not None:
        check_choice("columns", columns, COLUMNS)
    if rank is not None:
        check_choice("rank", rank, AVERAGES)
    digits, seed = check_int("digits", digits, minimum=0), check_int("seed", seed, minimum=0)
    run = values if isinstance(values, Run) else None
    rows = _one_settings(_checked(run.outcomes() if run else values), settings)
    rows, names = _of_detectors(rows, detectors)
    datasets = tuple(map(str, rows["dataset"].unique()))
    if columns is None or datasets == (_NO_DATASET,):
        columns = "dataset" if len(datasets) > 1 else "measure"
    chosen = _chosen_measures(rows, measures, columns)
    rows = rows[rows["measure"].isin(chosen)]
    random = _chance_rows(run, rows, chance, chosen)
    known = directions(rows)
    higher = {name: known[name] for name in chosen}
    cells = _Maker(rows, names, datasets, random, kind, by, rank, seed).cells(higher)
    order = _best_first(cells, chosen[0], names, higher=higher[chosen[0]])
    titles = _titles(rows, chosen)
    failures = _failures(rows, names)
    return PublicationTable(
        cells=cells,
        detectors=order,
        measures=titles,
        higher_is_better=higher,
        columns=columns,
        datasets=datasets,
        failures=failures,
        notes=tuple(_notes(rows, failures, titles, run.alignments() if run else ())),
        by=by,
        spread=kind,
        rank=rank,
        digits=digits,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Maker:
    """Computes means, spreads, counts and ranks of all measures."""

    rows: pd.DataFrame
    detectors: tuple[str, ...]
    datasets: tuple[str, ...]
    chance: pd.DataFrame | None
    spread: str
    by: str
    rank: str | None
    seed: int

    def cells(self, higher: Mapping[str, bool]) -> pd.DataFrame:
        pandas = require("pandas", purpose="a table of means")
        values = values_by_series(self.rows)
        parts = [part for name in higher for part in self._of_measure(values, name, higher[name])]
        if not any(part["series"].iloc[0] for part in parts):
            raise InvalidInputError(_no_common_series(values, self.detectors))
        return pandas.concat(parts, ignore_index=True)

    def _of_measure(self, values: pd.Series, measure: str, higher: bool) -> Iterator[pd.DataFrame]:
        names = list(self.detectors)
        table = _common(values, measure, names)
        if self.chance is not None:
            random = self.chance[self.chance["measure"] == measure]
            random = random.set_index(["dataset", "series"])["value"]
            table[""] = random.reindex(table.index)
        parts = dict(iter(table.groupby(level="dataset", sort=False)))
        for dataset in self.datasets:
            yield self._summary(parts.get(dataset, table[:0]), dataset, measure)
        # With one data set, the spread is that of its series.
        by = self.by if len(self.datasets) > 1 else "series"
        overall = self._summary(rows_of_mean(table, by), "", measure)
        overall["series"] = len(table)
        if self.rank is not None and len(table):
            ranked = rows_of_mean(table[names], self.rank).dropna(axis=1, how="all")
            ranks = ranked.rank(axis=1, ascending=not higher).mean()
            overall["mean_rank"] = overall["detector"].map(ranks)
        yield overall

    def _summary(self, table: pd.DataFrame, dataset: str, measure: str) -> pd.DataFrame:
        """Return means over the rows of a table, with their spread."""
        pandas = require("pandas", purpose="a table of means")
        found = pandas.DataFrame(
            {
                "detector": list(table.columns),
                "dataset": dataset,
                "measure": measure,
                "series": len(table),
                "mean": table.mean().to_numpy(dtype=float),
                "std": math.nan,
                "lower": math.nan,
                "upper": math.nan,
                "mean_rank": math.nan,
            }
        )
        if self.spread == "std":
            found["std"] = table.std().to_numpy(dtype=float)
        elif self.spread == "bootstrap" and len(table) > 1:
            found["lower"], found["upper"] = _bootstrap(table.to_numpy(dtype=float), self.seed)
        return found


def _common(values: pd.Series, measure: str, names: list[str]) -> pd.DataFrame:
    """Return values of the included series; no rows for a measure without any value."""
    known = values.index.get_level_values("measure")
    if measure in known:
        return common_values(values, measure, names)
    return common_values(values, known[0], names)[:0]


def _bootstrap(table: _Numbers, seed: int) -> tuple[_Numbers, _Numbers]:
    """Return the interval of each column's mean; all columns use the same resamples."""
    n = len(table)
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
    means = counts @ table / n
    tail = (1 - _LEVEL) / 2
    lower, upper = np.quantile(means, [tail, 1 - tail], axis=0)
    return lower, upper


def _no_common_series(values: pd.Series, detectors: Sequence[str]) -> str:
    counts = values.index.droplevel("measure").drop_duplicates().get_level_values("detector")
    listed = ", ".join(f"{name} {(counts == name).sum()}" for name in detectors)
    return (
        "`values` must have at least one series with values of all detectors, got none. "
        f"Series by detector: {listed}. Choose some with `detectors`"
    )


# -- reading the values ------------------------------------------------------------------------


def _checked(values: Any) -> pd.DataFrame:
    pandas = require("pandas", purpose="a table of means")
    frame = values.to_pandas() if hasattr(values, "to_pandas") else values
    if not isinstance(frame, pandas.DataFrame):
        raise InvalidInputError(
            f"`values` must be a data frame or a Run, got {type(values).__name__}"
        )
    lacking = [name for name in ("series", "detector", "value") if name not in frame.columns]
    if lacking:
        raise InvalidInputError(
            f"`values` must have the columns 'series', 'detector' and 'value', got none named "
            f"{quoted(lacking)}; rename your columns"
        )
    frame = frame.copy(deep=False)
    frame["dataset"] = _datasets(frame)
    if "measure" not in frame.columns:
        frame["measure"] = _UNNAMED
    for name in ("measure", "detector"):
        frame[name] = frame[name].astype(str)
    if not frame["value"].notna().any():
        raise InvalidInputError(
            "`values` must have at least one value, got none; check the failed jobs"
        )
    return frame


def _datasets(frame: pd.DataFrame) -> Any:
    """Return the column of data sets; the mean over data sets has the empty name."""
    if "dataset" not in frame.columns:
        return _NO_DATASET
    return frame["dataset"].fillna("").astype(str).replace("", _NO_DATASET)


def _one_settings(frame: pd.DataFrame, settings: str | None) -> pd.DataFrame:
    if "settings" not in frame.columns:
        return frame
    present = [str(one) for one in frame["settings"].dropna().unique()]
    if settings is None and len(present) > 1:
        raise InvalidInputError(f"`settings` must be one of {quoted(present)}, got none")
    if settings is not None and settings not in present:
        raise InvalidInputError(f"`settings` must be one of {quoted(present)}, got {settings!r}")
    return frame if len(present) < 2 else frame[frame["settings"].astype(str) == settings]


def _of_detectors(
    frame: pd.DataFrame, detectors: Sequence[str] | None
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    present = [str(name) for name in frame["detector"].unique()]
    if detectors is None:
        return frame, tuple(present)
    for name in detectors:
        if name not in present:
            near = did_you_mean(name, present)
            raise InvalidInputError(
                f"`detectors` must be among {quoted(present)}, got {name!r}{near}"
            )
    return frame[frame["detector"].isin(detectors)], tuple(dict.fromkeys(detectors))


def _chosen_measures(
    frame: pd.DataFrame, wanted: str | Sequence[str] | None, columns: str
) -> list[str]:
    present = [str(name) for name in frame["measure"].unique()]
    if wanted is None:
        main = main_measure(list(frame.dropna(subset="value")["measure"].unique()))
        if columns == "dataset":
            return [main]
        return [main, *(name for name in measures_in_order(present) if name != main)]
    names = {plain_name(measure_called(name).title): name for name in present}
    names |= {plain_name(title): name for name, title in _titles(frame, present).items()}
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


def _titles(frame: pd.DataFrame, measures: Sequence[str]) -> dict[str, str]:
    stored: Mapping[Any, Any] = {}
    if "measure_title" in frame.columns:
        named = frame.drop_duplicates("measure")
        stored = dict(zip(named["measure"], named["measure_title"], strict=True))
    titles = {name: stored.get(name) for name in measures}
    return {
        name: title if isinstance(title, str) else measure_called(name).title
        for name, title in titles.items()
    }


def _best_first(
    cells: pd.DataFrame, measure: str, names: Sequence[str], *, higher: bool
) -> tuple[str, ...]:
    overall = cells[(cells["dataset"] == "") & (cells["measure"] == measure)]
    means = dict(zip(overall["detector"], overall["mean"], strict=True))

    def key(name: str) -> tuple[bool, float, str]:
        mean = means[name]
        return math.isnan(mean), -mean if higher else mean, name

    return tuple(sorted(names, key=key))


# -- chance ------------------------------------------------------------------------------------


def chance_values(
    run: Run, *, settings: str, measures: Sequence[str], draws: int = 20, seed: int = 0
) -> pd.DataFrame:
    """Return the values of random scores on the series of a run, by measure.

    Reads the labels of every series. Measures without a chance level have no value: those that are
    not registered, and those with a number as threshold.

    Parameters
    ----------
    run : Run
        A run whose series can still be read.
    settings : str
        Settings of the run.
    measures : sequence of str
        Names of measures.
    draws, seed : int
        Number of random scores per series, and their seed.

    Returns
    -------
    pandas.DataFrame
        With the columns ``dataset``, ``series``, ``measure`` and ``value``.
    """
    pandas = require("pandas", purpose="a table of chance levels")
    found = []
    for one in run.series():
        chosen = run.evaluation_settings(one, settings)
        if chosen is None:
            continue
        series = one.read()
        series = series.after(run.evaluated_from(one, settings))
        for name in measures:
            try:
                level = chance_level(
                    series.labels, measures=name, settings=chosen, draws=draws, seed=seed
                ).mean
            except InvalidInputError:
                continue
            found += [(one.dataset, one.name, name, value) for value in level.values()]
    return pandas.DataFrame(found, columns=["dataset", "series", "measure", "value"])


def _chance_rows(
    run: Run | None, rows: pd.DataFrame, chance: Any, measures: Sequence[str]
) -> pd.DataFrame | None:
    if chance is None or chance is False or (isinstance(chance, int) and chance == 0):
        return None
    if hasattr(chance, "columns"):
        frame = chance.to_pandas() if hasattr(chance, "to_pandas") else chance.copy(deep=False)
        frame["dataset"] = _datasets(frame)
        unique: pd.DataFrame = frame.drop_duplicates(["dataset", "series", "measure"])
        return unique
    if run is None:
        raise InvalidInputError(
            "`chance` must be a table of chance levels unless `values` is a Run, "
            f"got {chance!r}; see chance_level"
        )
    draws = {} if chance is True else {"draws": check_int("chance", chance, minimum=1)}
    settings = str(rows["settings"].iloc[0])
    return chance_values(run, settings=settings, measures=measures, **draws)


# -- words -------------------------------------------------------------------------------------


def _failures(rows: pd.DataFrame, detectors: Sequence[str]) -> dict[str, str]:
    """Count the series without a value of a shown measure by detector, with their statuses."""
    place = ["dataset", "series"]
    total = len(rows.drop_duplicates(place))
    known = rows.dropna(subset="value").drop_duplicates([*place, "detector", "measure"])
    wanted = known["measure"].nunique()
    complete = known.groupby(["detector", *place], observed=True).size() == wanted
    counts = complete[complete].groupby(level="detector").size()
    found = {}
    for name in detectors:
        lacking = total - int(counts.get(name, 0))
        if not lacking:
            continue
        said = f"{lacking:,}"
        if "status" in rows.columns:
            own = rows[(rows["detector"] == name) & rows["value"].isna()]
            own = own.assign(status=own["status"].astype(str).replace(_OK, _UNDEFINED))
            # With several measures, a failure is more informative than an undefined value.
            own = own.sort_values("status", key=lambda kind: kind == _UNDEFINED, kind="stable")
            kinds = own.drop_duplicates(place)["status"].value_counts()
            said = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items()) or said
        found[name] = said
    return found


def _notes(
    rows: pd.DataFrame,
    failures: Mapping[str, str],
    titles: Mapping[str, str],
    alignments: Sequence[str],
) -> Iterator[str]:
    known = set(rows.dropna(subset="value")["measure"].unique())
    blank = [title for name, title in titles.items() if name not in known]
    if blank:
        yield f"No value on any series: {', '.join(blank)}."
    if failures:
        total = len(rows.drop_duplicates(["dataset", "series"]))
        listed = "; ".join(f"{name}: {count}" for name, count in failures.items())
        yield f"Without a value, of {plural(total, 'series', 'series')}: {listed}."
    if "settings" in rows.columns and rows["settings"].notna().any():
        yield f"Settings: {rows['settings'].dropna().iloc[0]}."
    if alignments:
        yield f"Scores of windows aligned at: {'; '.join(alignments)}."
    if "buffer" in rows.columns and rows["buffer"].notna().any():
        lengths = rows["buffer"].dropna().astype(int)
        low, high = lengths.min(), lengths.max()
        said = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        yield f"Buffers: {said} points."

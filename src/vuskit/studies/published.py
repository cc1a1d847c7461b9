"""Published results of the studies, and their comparison with our results.

`read_published` recognizes tables by their columns, and the files of the authors' repositories by
their layout. `compare_with_published` puts published values next to ours.
"""

from __future__ import annotations

import ast
import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from vuskit._util.optional import pd, require
from vuskit._util.tables import TableForms, TableLayout
from vuskit._util.text import plural
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import list_measures
from vuskit.studies.base import detector_key
from vuskit.studies.result import StudyResult

PERTURBATIONS = ("lag", "noise", "ratio")
_QUANTITIES = (*PERTURBATIONS, "z", "entropy", "rank")
_TITLES = {
    "lag": "standard deviation under lag",
    "noise": "standard deviation under noise",
    "ratio": "standard deviation under ratio",
    "z": "mean z",
    "entropy": "entropy of ranks",
    "rank": "mean rank",
}
_PERTURBATION_WORDS = {
    "lag": ("lag", "shift"),
    "noise": ("noise",),
    "ratio": ("ratio", "percentage", "percent", "crop", "share"),
}
_SERIES_COLUMNS = ("series", "file", "filename", "file_name", "name", "time_series")
_LENGTH_COLUMNS = ("length", "points", "n_points", "data_len", "ts_len")
_LENGTH_TOLERANCE = 0.01  # saved scores may lack the first point
_DETECTOR_COLUMNS = ("detector", "method", "algorithm", "model", "")
_ROBUSTNESS_FILE = "_robustness.txt"
_ENDINGS = re.compile(r"(\.(gz|csv|txt|out))+$", re.IGNORECASE)
_FEWEST = 3  # minimum number of measures by which a table is recognized


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """Published values of one quantity.

    Attributes
    ----------
    quantity : {"lag", "noise", "ratio", "z", "entropy", "rank"}
        Quantity of the values.
    values : pd.DataFrame
        One column for each measure, with the name it has in vuskit. Rows are series; for
        ``"rank"`` they are detectors, and ``"entropy"`` has one row.
    source : str
        File or folder, relative to the folder that was read.
    unit : str
        Unit of an entropy: ``"nats"`` or ``"bits"``.
    lengths : mapping from str to float
        Length of each series, for standard deviations in tables with such a column.
    """

    quantity: str
    values: pd.DataFrame
    source: str
    unit: str = ""
    lengths: Mapping[str, float] = field(default_factory=dict)


# ---- reading ----


def read_published(folder: str | Path) -> tuple[PublishedTable, ...]:
    r"""Read the published tables in a folder.

    Tables are recognized by their columns. Series and measures: robustness, where the file's name
    contains lag, noise, ratio or percentage. Measures and series: z. Measures and an entropy:
    consistency. Detectors and measures: mean ranks.

    The authors' repositories are recognized too: one file per series in
    ``result_data_aggregated_lag`` (and noise, percentage), the table of mean ranks in a Markdown
    file, and the entropies in the output of a notebook.

    Parameters
    ----------
    folder : str or Path
        A folder, searched with its subfolders, or a single file.

    Returns
    -------
    tuple of PublishedTable
        In the order lag, noise, ratio, z, entropy, rank; one table of each quantity.

    Raises
    ------
    InvalidInputError
        If the folder does not exist, or no table in it is recognized.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "robustness_lag.csv").write_text("series,F,RF,VUS_PR\na.out,0.1,0.2,0.05\n")
    >>> table, = read_published(folder)
    >>> table.quantity, table.values.to_dict("index")
    ('lag', {'a.out': {'f_score': 0.1, 'range_f_score': 0.2, 'vus_pr': 0.05}})
    """
    place = Path(folder)
    if not place.exists():
        raise InvalidInputError(f"`published` must be a folder or a file, got {str(place)!r}")
    found: dict[str, PublishedTable] = {}
    for table in _tables_in(place):
        found.setdefault(table.quantity, table)
    if not found:
        raise InvalidInputError(
            "`published` must hold tables such as robustness_lag.csv with a column for the series "
            f"and one for each measure, got none in {str(place)!r}"
        )
    return tuple(found[name] for name in _QUANTITIES if name in found)


def _tables_in(place: Path) -> Iterator[PublishedTable]:
    files = [place] if place.is_file() else sorted(place.rglob("*"))
    root = place.parent if place.is_file() else place
    by_folder: dict[Path, list[Path]] = {}
    for path in files:
        source = path.relative_to(root).as_posix()
        if path.name.endswith(_ROBUSTNESS_FILE):
            by_folder.setdefault(path.parent, []).append(path)
        elif path.suffix.lower() == ".csv":
            yield from _from_rows(_csv_rows(path), source)
        elif path.suffix.lower() == ".md":
            for rows in _markdown_tables(path):
                yield from _from_rows(rows, source)
        elif path.suffix == ".ipynb" and "entropy" in source.lower():
            yield from _from_notebook(path, source)
    for parent, several in by_folder.items():
        yield from _from_series_files(parent, several, root)


def _csv_rows(path: Path) -> Iterator[list[str]]:
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as stream:
        try:
            yield from csv.reader(stream)
        except csv.Error:  # not a CSV file, despite its name
            return


def _markdown_tables(path: Path) -> Iterator[list[list[str]]]:
    """Yield the cells of each table in a Markdown file."""
    rows: list[list[str]] = []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in (*lines, ""):
        if line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells if cell):
                rows.append(cells)
        elif rows:
            yield rows
            rows = []


def _from_rows(rows: Iterable[Sequence[str]], source: str) -> Iterator[PublishedTable]:
    """Yield the table in these rows, the first of which names the columns, if it is recognized."""
    lines = iter(rows)
    header = [cell.strip() for cell in next(lines, [])]
    names = [_plain(cell) for cell in header]
    measures = {place: name for place, cell in enumerate(header) if (name := measure_named(cell))}
    if "measure" in names:
        yield from _by_measure(header, names.index("measure"), lines, source)
    elif len(measures) >= _FEWEST:
        detectors = [place for place, name in enumerate(names) if name in _DETECTOR_COLUMNS]
        series = [place for place, name in enumerate(names) if name in _SERIES_COLUMNS]
        if detectors and not series:
            table = _frame({row[detectors[0]]: _numbers(row, measures) for row in lines if row})
            yield PublishedTable("rank", table, source)
        elif series and not detectors:
            yield from _by_series(names, series[0], measures, lines, source)


def _by_series(
    names: Sequence[str],
    series: int,
    measures: Mapping[int, str],
    lines: Iterator[Sequence[str]],
    source: str,
) -> Iterator[PublishedTable]:
    """Yield tables of robustness; a column or the file's name contains the perturbation."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    column = names.index("perturbation") if "perturbation" in names else None
    by_name = _perturbation(Path(source).name) or _perturbation(source)
    points = next((place for place, name in enumerate(names) if name in _LENGTH_COLUMNS), None)
    lengths = {}
    for row in lines:
        if len(row) > series:
            kind = by_name if column is None else _perturbation(row[column])
            found.setdefault(kind, {})[row[series]] = _numbers(row, measures)
            length = None if points is None else _number(row, points)
            if length is not None:
                lengths[row[series]] = length
    for kind, table in found.items():
        if kind:
            yield PublishedTable(kind, _frame(table), source, lengths=lengths)


def _by_measure(
    header: Sequence[str], measure: int, lines: Iterator[Sequence[str]], source: str
) -> Iterator[PublishedTable]:
    """Yield entropies, or z by series, from one row for each measure."""
    rows = {
        name: row for row in lines if len(row) > measure and (name := measure_named(row[measure]))
    }
    if len(rows) < _FEWEST:
        return
    columns = {
        title: {
            name: number
            for name, row in rows.items()
            if (number := _number(row, place)) is not None
        }
        for place, title in enumerate(header)
        if place != measure
    }
    for title, values in columns.items():
        if "entropy" in title.lower() and values:
            unit = "bits" if "bit" in title.lower() or "bit" in source.lower() else "nats"
            yield PublishedTable("entropy", _frame({"": values}), source, unit)
            return
    if not any(_perturbation(title) for title in columns):
        yield PublishedTable("z", _frame({key: one for key, one in columns.items() if one}), source)


def _from_notebook(path: Path, source: str) -> Iterator[PublishedTable]:
    """Yield the entropies in a notebook's outputs: lines of a measure and a number."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, OSError):
        return
    for output in (one for cell in cells for one in cell.get("outputs", ())):
        text = "".join(output.get("data", {}).get("text/plain", ()))
        pairs = [line.split() for line in text.splitlines()]
        values = {
            name: float(parts[1])
            for parts in pairs
            if len(parts) == 2
            and (name := measure_named(parts[0]))
            and re.fullmatch(r"\d+\.\d+", parts[1])
        }
        if len(values) >= _FEWEST:
            yield PublishedTable("entropy", _frame({"": values}), source, "nats")
            return


def _from_series_files(parent: Path, files: Sequence[Path], root: Path) -> Iterator[PublishedTable]:
    """Yield robustness from one file per series, each with a Python dictionary of numbers."""
    kind = _perturbation(parent.name)
    if not kind:
        return
    rows = {}
    for path in files:
        try:
            text = re.sub(r"\bnan\b", "None", path.read_text(encoding="utf-8"))
            entry = ast.literal_eval(text.strip())
            values = {measure_named(str(key)): value for key, value in entry.items()}
        except (ValueError, SyntaxError, AttributeError, OSError):
            continue
        numbers = {
            name: float(value)
            for name, value in values.items()
            if name and isinstance(value, (int, float))
        }
        if numbers:
            rows[path.name.removesuffix(_ROBUSTNESS_FILE)] = numbers
    if rows:
        yield PublishedTable(kind, _frame(rows), parent.relative_to(root).as_posix())


def measure_named(text: str) -> str:
    """Return the name of the paper's measure for a name in a table; empty if there is none."""
    plain = re.sub(r"[^a-z0-9]", "", text.lower())
    for one in list_measures():
        keys = {re.sub(r"[^a-z0-9]", "", name.lower()) for name in (one.name, one.title)}
        if plain and one.group == "paper" and plain in keys:
            return one.name
    return ""


def series_key(name: str) -> str:
    """Return the same key for all file names of a series."""
    return _ENDINGS.sub("", name.rpartition("/")[2]).lower()


def _perturbation(text: str) -> str:
    """Return the perturbation that a name contains; empty if it contains none or several."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    words = re.split(r"[^a-z]+", apart.lower())
    found = [
        kind for kind, known in _PERTURBATION_WORDS.items() if any(word in words for word in known)
    ]
    return found[0] if len(found) == 1 else ""


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.strip().lower()).strip("_")


def _number(row: Sequence[str], place: int) -> float | None:
    try:
        return float(row[place])
    except (ValueError, IndexError):
        return None


def _numbers(row: Sequence[str], measures: Mapping[int, str]) -> dict[str, float]:
    found = {name: _number(row, place) for place, name in measures.items()}
    return {name: math.nan if value is None else value for name, value in found.items()}


def _frame(rows: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index")


# ---- comparing ----


@dataclass(frozen=True, eq=False)
class PublishedComparison(TableForms):
    """Published values next to ours.

    Attributes
    ----------
    cells : pd.DataFrame
        One row for each value present in both: ``quantity``, ``dataset``, ``item`` (a series, or a
        detector for mean ranks), ``measure``, ``here``, ``published`` and ``factor`` (here /
        published).
    sources : mapping
        File of each quantity.
    options : mapping
        Options of the studies that were compared.
    other_lengths : tuple of str
        Series that were left out because the table states another length: only the names agree.
    """

    cells: pd.DataFrame
    sources: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    other_lengths: tuple[str, ...] = ()

    @property
    def quantities(self) -> tuple[str, ...]:
        """The compared quantities, in order."""
        return tuple(name for name in _QUANTITIES if name in set(self.cells["quantity"]))

    def means(self, *, over: str = "series") -> pd.DataFrame:
        """Means of each measure over series or data sets; mean ranks are by detector.

        In the columns ``here_order`` and ``published_order``, 1 is the best measure or detector.
        """
        parts = [self._means_of(name, over) for name in self.quantities]
        return pd.concat(parts, ignore_index=True)

    def _means_of(self, quantity: str, over: str) -> pd.DataFrame:
        rows = self.cells[self.cells["quantity"] == quantity]
        key = "item" if quantity == "rank" else "measure"
        values = rows[[key, "dataset", "here", "published"]]
        if over == "datasets" and quantity in PERTURBATIONS:
            values = values.groupby([key, "dataset"], sort=False).mean().reset_index()
        table = values.groupby(key, sort=False)[["here", "published"]].mean()
        lower = quantity != "z"
        table.insert(0, "quantity", quantity)
        table["factor"] = table["here"] / table["published"]
        table["here_order"] = table["here"].rank(ascending=lower)
        table["published_order"] = table["published"].rank(ascending=lower)
        return table.rename_axis("name").reset_index()[
            ["quantity", "name", "here", "published", "factor", "here_order", "published_order"]
        ]

    @cached_property
    def agreement(self) -> pd.DataFrame:
        """Agreement of each quantity; one row for each level of aggregation.

        ``over`` is the level: means of the measures over ``"series"`` or ``"datasets"``, single
        ``"cells"``, or one series. ``ratio`` is the median of here / published. ``factor`` is the
        median of this ratio or its inverse, whichever is at least 1, and ``largest_factor`` the
        maximum.
        """
        rows = [row for name in self.quantities for row in self._agreements(name)]
        return pd.DataFrame(rows)

    def _agreements(self, quantity: str) -> Iterator[dict[str, Any]]:
        cells = self.cells[self.cells["quantity"] == quantity]
        items, datasets = cells["item"].nunique(), cells["dataset"].nunique()
        facts = {"quantity": quantity, "items": items}
        if quantity in (*PERTURBATIONS, "z"):
            counts = {"series": items, "datasets": datasets}
            for over in ("series", "datasets") if quantity != "z" else ("series",):
                table = self._means_of(quantity, over)
                yield {**facts, "over": over, "items": counts[over], **_agreement(table)}
        elif quantity == "rank":
            yield {**facts, "over": "detectors", **_agreement(self._means_of(quantity, "series"))}
        yield {**facts, "over": "cells", "items": len(cells), **_agreement(cells)}
        if quantity in PERTURBATIONS:
            several = [_agreement(rows) for _, rows in cells.groupby(["dataset", "item"])]
            medians = {
                name: float(np.nanmedian([one[name] for one in several])) for name in several[0]
            }
            yield {**facts, "over": "median of series", **medians}
        elif quantity == "z":
            for item, rows in cells.groupby("item", sort=False):
                yield {**facts, "over": str(item), "items": 1, **_agreement(rows)}

    def to_frame(self) -> pd.DataFrame:
        """Return the means over series; see `means`."""
        return self.means()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Means over series and over data sets, agreement, and all values."""
        return {
            "means": self.means(),
            "means_over_datasets": self.means(over="datasets"),
            "agreement": self.agreement,
            "cells": self.cells,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return means, agreement and sources as plain data."""
        return {
            "means": self.means().to_dict("records"),
            "agreement": self.agreement.to_dict("records"),
            "sources": dict(self.sources),
        }

    def notes(self) -> tuple[str, ...]:
        """Describe the agreement of each quantity, and name series of other lengths."""
        agreement = tuple(
            f"{_TITLES[row.quantity]}, {_over(row)}: Spearman {row.spearman:.3f}, "
            f"Pearson {row.pearson:.3f}, median factor {row.factor:.2f}"
            for row in self.agreement.itertuples()
        )
        return (*agreement, *([_other_lengths_text(self.other_lengths)] * bool(self.other_lengths)))

    @property
    def _layout(self) -> TableLayout:
        titles = {one.name: one.title for one in list_measures()}
        frame = self.means()
        frame["name"] = frame["name"].replace(titles)
        frame = frame.rename(
            columns={
                "name": "measure",
                "here_order": "order here",
                "published_order": "published order",
            }
        )
        lines = [f"options of {name}: {line}" for name, line in self.options.items()]
        return TableLayout.of_frame(
            frame,
            notes=[f"{note}." for note in (*self.notes(), *lines)],
            caption="Published values next to ours: means over common series; mean ranks by "
            "detector. Factor: here / published. Order: 1 is best.",
        )

    def __str__(self) -> str:
        return self.to_text()


def _agreement(table: pd.DataFrame) -> dict[str, float]:
    """Correlations and factors of the two columns; correlations are NaN below three pairs."""
    stats = require("scipy.stats", purpose="correlations")
    known = table[["here", "published"]].dropna()
    here, published = known["here"].to_numpy(), known["published"].to_numpy()
    positive = (here > 0) & (published > 0)
    ratio = here[positive] / published[positive]
    factor = np.maximum(ratio, 1 / ratio)
    enough = len(known) >= 3 and np.ptp(here) > 0 and np.ptp(published) > 0
    return {
        "spearman": float(stats.spearmanr(here, published).statistic) if enough else math.nan,
        "pearson": float(stats.pearsonr(here, published).statistic) if enough else math.nan,
        "factor": float(np.median(factor)) if factor.size else math.nan,
        "largest_factor": float(factor.max()) if factor.size else math.nan,
        "ratio": float(np.median(ratio)) if ratio.size else math.nan,
    }


def _other_lengths_text(series: Sequence[str]) -> str:
    return f"{plural(len(series), 'series', 'series')} left out, as lengths differ: " + (
        "; ".join(series[:3]) + "; ..." * (len(series) > 3)
    )


def _over(row: Any) -> str:
    if row.over == "series":
        return f"measures, means over {row.items:,} series"
    if row.over == "datasets":
        return f"measures, means over {plural(row.items, 'data set')}"
    if row.over == "cells":
        return f"all {row.items:,} values"
    if row.over == "detectors":
        return f"means of {row.items:,} detectors"
    return str(row.over)


def compare_with_published(
    results: StudyResult | Iterable[StudyResult], folder: str | Path
) -> PublishedComparison:
    r"""Put published values next to ours.

    Robustness and z are compared by series, entropies by measure, and mean ranks by detector and
    measure; `read_published` describes the tables. Series whose published length differs by more
    than 1 % are left out and named. Entropies are compared in the published unit, and z in standard
    deviations.

    Parameters
    ----------
    results : StudyResult or iterable of these
        Results of robustness, separability or consistency; others are ignored.
    folder : str or Path
        Folder of published tables.

    Returns
    -------
    PublishedComparison
        Common values, means, and agreement.

    Raises
    ------
    InvalidInputError
        If the results and the tables have no value in common.

    Examples
    --------
    >>> import tempfile
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> from vuskit.datasets.synthetic import labeled_scores
    >>> from vuskit.studies import run_study
    >>> labels, score = labeled_scores(400, n_anomalies=3, mean_length=8, seed=1)
    >>> scored = ScoredSeries(Series("a", "docs", score, labels), {"mine": score})
    >>> measures = ["f_score", "auc_pr", "vus_pr"]
    >>> found = run_study("robustness", scored, measures=measures, buffer=20, perturbations=["lag"])
    >>> folder = Path(tempfile.mkdtemp())
    >>> text = "series,F,AUC_PR,VUS_PR\na.out,0.02,0.1,0.05\n"
    >>> _ = (folder / "robustness_lag.csv").write_text(text)
    >>> compare_with_published(found, folder).means()[["name", "published"]].values.tolist()
    [['f_score', 0.02], ['auc_pr', 0.1], ['vus_pr', 0.05]]
    """
    several = [results] if isinstance(results, StudyResult) else list(results)
    tables = read_published(folder)
    rows: list[dict[str, Any]] = []
    sources, options = {}, {}
    other_lengths: dict[str, None] = {}
    for table in tables:
        for result in several:
            table, others = _of_equal_lengths(result, table)
            other_lengths |= dict.fromkeys(others)
            found = list(_common_values(result, table))
            if found:
                rows += [{"quantity": table.quantity, **row} for row in found]
                sources[table.quantity] = table.source
                options[result.kind] = result.options_line.partition(": ")[2]
    if not rows:
        kinds = ", ".join(dict.fromkeys(one.kind for one in several)) or "nothing"
        listed = ", ".join(f"{one.quantity} ({one.source})" for one in tables)
        raise InvalidInputError(
            f"`published` must have series, detectors or measures of {kinds}, got {listed}, of "
            "which none is in common; compare names of series and detectors"
            + (f" ({_other_lengths_text(tuple(other_lengths))})" if other_lengths else "")
        )
    cells = pd.DataFrame(rows)
    cells["factor"] = cells["here"] / cells["published"]
    return PublishedComparison(cells, sources, options, tuple(other_lengths))


Rows = Iterator[dict[str, Any]]


def _of_equal_lengths(
    result: StudyResult, table: PublishedTable
) -> tuple[PublishedTable, list[str]]:
    """Leave out series of other lengths; return what remains, and each of them in words."""
    if not table.lengths or result.kind != "robustness":
        return table, []
    ours = {(one.dataset, one.series): one.notes["points"] for one in cast("Any", result).values}
    keys = _by_key(ours)
    others = {}
    for name, length in table.lengths.items():
        found = _matching(series_key(name), keys)
        if found and abs(ours[found] - length) > _LENGTH_TOLERANCE * length:
            others[name] = f"{found[1]} ({ours[found]:,} points, published {length:,.0f})"
    return replace(table, values=table.values.drop(index=list(others))), list(others.values())


def _common_values(result: Any, table: PublishedTable) -> Rows:
    """Yield the values of our result that the table has, too."""
    match result.kind, table.quantity:
        case "robustness", kind if kind in result.study.perturbations:
            yield from _pairs_by_series(result.by_series(kind), table.values)
        case "separability", "z":
            yield from _pairs_by_series(result.with_options(z="raw").by_series(), table.values)
        case "consistency", "entropy":
            averages = result.with_options(entropy=table.unit or "nats").averages()
            rows = [("", "", "entropy", table.values.index[0])]
            yield from _pairs(averages[["entropy"]].T, table.values, rows)
        case "consistency", "rank":
            yield from _ranks(result, table.values)


def _pairs(
    here: pd.DataFrame, published: pd.DataFrame, rows: Iterable[tuple[str, str, Any, Any]]
) -> Rows:
    """Yield common measures of rows, each given by data set, item, and its names in both tables."""
    for dataset, item, ours, theirs in rows:
        for measure in here.columns:
            if measure in published.columns:
                yield {
                    "dataset": dataset,
                    "item": item,
                    "measure": measure,
                    "here": float(here.loc[ours, measure]),
                    "published": float(published.loc[theirs, measure]),
                }


def _pairs_by_series(here: pd.DataFrame, published: pd.DataFrame) -> Rows:
    """Yield the values of common series and measures; `here` has data set and series as index."""
    ours = _by_key(here.index)
    names = ((name, _matching(series_key(str(name)), ours)) for name in published.index)
    return _pairs(here, published, ((*found, found, name) for name, found in names if found))


def _by_key(names: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    ours: dict[str, list[tuple[str, str]]] = {}
    for dataset, series in names:
        ours.setdefault(series_key(series), []).append((dataset, series))
    return ours


def _matching(key: str, ours: Mapping[str, Sequence[tuple[str, str]]]) -> tuple[str, str] | None:
    """Return the series with this name, or the only one whose name begins with it, or None."""
    exact = ours.get(key, ())
    if not exact:
        longer = [one for one in ours if re.match(re.escape(key) + r"(?![a-z0-9])", one)]
        exact = ours[longer[0]] if len(longer) == 1 else ()
    return exact[0] if len(exact) == 1 else None


def _ranks(result: Any, published: pd.DataFrame) -> Rows:
    """Yield the mean ranks over data sets of common detectors and measures."""
    datasets = dict.fromkeys(result.datasets)
    by_dataset = pd.concat({name: result.rank_table(name) for name in datasets})
    here = by_dataset.groupby(level=1, sort=False).mean()
    ours = {detector_key(name): name for name in reversed(list(here.index))}
    names = ((name, ours.get(detector_key(str(name)))) for name in published.index)
    return _pairs(here, published, (("", found, found, name) for name, found in names if found))

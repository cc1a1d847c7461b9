"""Tables of results: read them in any form, bring them into one, choose what to compare."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit._util.files import check_file
from vuskit._util.optional import require
from vuskit._util.text import did_you_mean, plain_name, quoted
from vuskit.bench import Run
from vuskit.bench.means import common_series
from vuskit.datasets.columns import LABEL_NAMES
from vuskit.datasets.tables import Table, read_csv, read_parquet
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures, measure_called
from vuskit.statistics.comparison import by_detector
from vuskit.statistics.tests import complete_rows

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_MEASURE = "vus_pr"

_UNNAMED = "value"
_KEYS = ("dataset", "series", "detector", "seed", "settings")
_NOT_MEASURES = {*_KEYS, "measure", "higher_is_better", "buffer", "fit_seconds", "score_seconds"}
_NOT_MEASURES |= {"warm_up_seconds", "peak_bytes", "cold", "own_series", "datasets"}
_FEWEST_SERIES = 2
_SERIES_NAMES = ("filename", "file", "file_name", "series_name", "ts_name", "time_series", "name")
# Columns that describe a series or a job, such as ts_len, num_anomaly, n_points and fit_time.
_FACTS = re.compile(
    r"(ts_)?(time|seconds|runtime|duration|length|len|index|id|seed|fold|count|period|window)"
    r"|num_.+|n_(points|series|channels|features|anomal(y|ies)|events|windows|jobs|runs)"
    r"|anomaly_(ratio|rate|share|count|points)|(point|seq|sequence|avg|max|min)_anomaly(_len.*)?"
    r"|.+_(len|length|points|seconds|time|ms|bytes|count|id)"
)
_WHOLE = "whole numbers"
_FORCE = "--detector NAME for each column"
_PERCENT = 100.0  # values may be given as percentages
_INDEX = {"", "__index_level_0__"}  # names that pandas gives to an index
_READERS: dict[str, Callable[..., Table]] = {
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
    ".pq": read_parquet,
}


@dataclass(frozen=True, eq=False)
class Selection:
    """The values to compare.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per series or data set, one column per detector.
    counts : dict from str to int
        Number of series with a value, by detector.
    series : int
        Number of all series.
    common : int
        Number of series with a value of all detectors, ignoring detectors without any value.
    left_out : dict from str to str
        Columns that cannot be values of a measure, with the reason.
    """

    table: pd.DataFrame
    counts: dict[str, int]
    series: int
    common: int
    left_out: dict[str, str]

    @property
    def left_out_text(self) -> str:
        """Sentence about the columns in `left_out`."""
        return _left_out_text(self.left_out, _FORCE)

    @property
    def empty(self) -> tuple[str, ...]:
        """Detectors without any value."""
        return tuple(name for name, count in self.counts.items() if not count)

    def series_used(self, missing: str) -> str:
        """Describe which series are used, and which detectors lack values."""
        what = "means, ranks and tests"
        if missing == "worst":
            what = "ranks and tests use all series and rank missing values last; mean and median"
        most = max(self.counts.values())
        lacking = [f"{name} {count:,}" for name, count in self.counts.items() if 0 < count < most]
        fewer = f"; fewer than {most:,}: {', '.join(lacking)}" if lacking else ""
        return (
            f"{what} use {self.common:,} of {self.series:,} series, "
            f"those with a value of all detectors{fewer}"
        )


@dataclass(frozen=True, eq=False)
class Results:
    """Values of detectors on series.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per value, with the columns ``series``, ``detector``, ``measure`` and ``value``;
        often also ``dataset``, ``seed``, ``settings`` and what a run knows about measures.
    is_wide : bool
        Whether the table had one column per detector. It names no measure.
    left_out : dict from str to str
        Columns that cannot be values of a measure, with the reason: detectors of a wide table,
        measures of another.
    names_series : bool
        Whether the table names its series.
    """

    frame: pd.DataFrame
    is_wide: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    names_series: bool = True

    @property
    def measures(self) -> list[str]:
        """Names of the measures."""
        return [str(name) for name in dict.fromkeys(self.frame["measure"])]

    @property
    def compared(self) -> pd.DataFrame:
        """Rows without the columns that are left out."""
        column = "detector" if self.is_wide else "measure"
        rows: pd.DataFrame = self.frame[~self.frame[column].isin(list(self.left_out))]
        return rows

    def of_measure(self, name: str) -> Results:
        """Return the values of a wide table as those of a measure."""
        return dataclasses.replace(self, frame=self.frame.assign(measure=name))

    def of_settings(self, wanted: str | None) -> Results:
        """Return the rows of one evaluation setting; averages over several are meaningless."""
        if "settings" not in self.frame.columns:
            return self
        names = self.frame["settings"].astype(str)
        present = list(dict.fromkeys(names))
        if (wanted is None and len(present) > 1) or (wanted is not None and wanted not in present):
            got = "none" if wanted is None else repr(wanted)
            raise InvalidInputError(f"`--settings` must be one of {quoted(present)}, got {got}")
        return dataclasses.replace(self, frame=self.frame[names == (wanted or present[0])])

    def measure(self, name: str) -> Measure:
        """Return a measure with title and direction as stored in the table, or as registered."""
        rows = self.frame[self.frame["measure"] == name]
        measure = measure_called(name)
        columns = {"measure_title": measure.title, "higher_is_better": measure.higher_is_better}
        for column in columns:
            known = rows[column].dropna().tolist() if column in rows.columns else []
            if known and known[0] != name:
                columns[column] = known[0]
        title, higher = columns.values()
        return dataclasses.replace(measure, title=str(title), higher_is_better=bool(higher))

    def has_values(self, name: str) -> bool:
        """Return whether a measure has a value."""
        return bool(self.frame.loc[self.frame["measure"] == name, "value"].notna().any())

    def chosen_measure(self, wanted: str | None = None) -> tuple[str, str]:
        """Return the measure to compare by, and a note if it was chosen by default."""
        named = self.measures
        if self.is_wide and wanted is None:
            return named[0], ""
        present = named if self.is_wide else [name for name in named if self.has_values(name)]
        if wanted is not None:
            plain = {plain_name(name): name for name in present}
            if plain_name(wanted) in set(map(plain_name, named)) - set(plain):
                raise InvalidInputError(
                    f"`--measure` must have values, got {wanted!r}, which has none; "
                    f"choose from {quoted(present)}"
                )
            if plain_name(wanted) not in plain:
                raise InvalidInputError(
                    f"`--measure` must be one of {quoted(present)}, "
                    f"got {wanted!r}{did_you_mean(wanted, present)}"
                )
            return plain[plain_name(wanted)], ""
        present = [name for name in present if name not in self.left_out]
        note = _left_out_text(self.left_out, "--measure NAME") if self.left_out else ""
        if len(present) == 1:
            return present[0], note
        if DEFAULT_MEASURE in present:
            others = f"by {DEFAULT_MEASURE}; choose other measures of the table with --measure"
            return DEFAULT_MEASURE, f"{others}\n{note}" if note else others
        if not present and self.left_out:
            raise InvalidInputError(f"`table` must have a column of values, got none; {note}")
        raise InvalidInputError(f"`--measure` must be one of {quoted(present)}, got none")

    def select(
        self,
        measure: str,
        *,
        detectors: Sequence[str] = (),
        excluded: Sequence[str] = (),
        by: str = "series",
        missing: str = "drop",
    ) -> Selection:
        """Select the values of a measure, means over seeds.

        With ``missing="drop"``, detectors without any value are left out, too.

        Raises
        ------
        InvalidInputError
            If a name is unknown, there are no data sets, or too few series have values of all
            detectors.
        """
        if by == "dataset" and "dataset" not in self.frame.columns:
            raise InvalidInputError(
                "`--unit dataset` needs a column 'dataset', got none; add it or use --unit series"
            )
        known = list(dict.fromkeys(self.frame["detector"]))
        values = by_detector(self.frame, measure).reindex(columns=known)
        left_out = self.left_out if self.is_wide and not detectors else {}
        wanted = [name for name in _kept(known, detectors, excluded) if name not in left_out]
        unwanted = _split(excluded, known)
        left_out = {name: why for name, why in left_out.items() if name not in unwanted}
        counts = {name: int(values[name].notna().sum()) for name in wanted}
        kept = [name for name in wanted if counts[name] or missing != "drop"]
        common = int(common_series(values[wanted].to_numpy(dtype=float).T).sum())
        if missing == "drop" and len(kept) > 1 and common < _FEWEST_SERIES <= len(values):
            raise InvalidInputError(_too_few_common(counts, len(values), common))
        if self.is_wide and by == "series" and len(kept) < 2:
            raise InvalidInputError(
                f"`table` must have numeric columns for at least two detectors, got {kept}"
                + (f"; {_left_out_text(left_out, _FORCE)}" if left_out else "")
            )
        table = values[kept]
        if by == "dataset":
            table = _by_dataset(table, missing)
        return Selection(table, counts, len(values), common, left_out)


def read_results(path: Path) -> Results:
    """Read the values of a run folder, plan, pack, csv or parquet file."""
    run = Run(path)
    path = run.folder
    if run.exists:
        frame = run.outcomes()
        if not frame["value"].notna().any():
            raise InvalidInputError(f"{path}: the run has no values yet; see: vuskit bench status")
        return Results(frame)
    if path.is_dir():
        raise InvalidInputError(
            f"`table` must be a file or a run folder, got the folder {str(path)!r}; "
            "evaluate a folder of scores with: vuskit evaluate FOLDER"
        )
    check_file(path, holds="a table of results")
    require("pandas", purpose="vuskit compare")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in _READERS:
        raise InvalidInputError(
            f"`table` must be a .csv or .parquet file, a run folder or a pack, got {str(path)!r}"
        )
    return _long(_READERS[suffix](path, unread=_INDEX).to_frame(), path)


def _long(frame: pd.DataFrame, path: Path) -> Results:
    """Return one row per value, from a table of any form."""
    is_wide = "detector" not in frame.columns
    labels = [name for name in frame.columns if str(name).strip().lower() in LABEL_NAMES]
    if labels and is_wide:
        raise InvalidInputError(
            f"{path} looks like the scores of one series (column {labels[0]!r}), not like a table "
            f"of results; evaluate it with: vuskit evaluate {path}"
        )
    frame = _with_series(frame)
    names_series = "series" in frame.columns
    if names_series:
        _check_repeated(frame, path)
    elif is_wide:
        frame = frame.assign(series=range(len(frame)))
    numbers = [str(name) for name in frame.select_dtypes("number") if name not in _NOT_MEASURES]
    melted = numbers
    left_out: dict[str, str] = {}
    if not is_wide and "measure" in frame.columns:
        melted = []
    elif not is_wide and not numbers:
        raise InvalidInputError(
            "`table` must have a column of values, got only "
            f"{quoted([str(name) for name in frame.columns])}; add a numeric column"
        )
    else:
        left_out = _not_values(frame, [name for name in numbers if frame[name].notna().any()])
    if "series" not in frame.columns:
        if "dataset" not in frame.columns:
            raise InvalidInputError(
                "`table` must have a column 'series', got none; "
                "rename the column that names the series"
            )
        frame = frame.assign(series=frame["dataset"])
    if melted or is_wide:
        kept = [name for name in (*_KEYS, "status", "buffer") if name in frame.columns]
        column = "detector" if is_wide else "measure"
        # A column may be called "value".
        frame = frame.melt(kept, melted, var_name=column, value_name="\0")
        frame = frame.rename(columns={"\0": "value"})
    if is_wide:
        frame = frame.assign(measure=_UNNAMED)
    frame = frame.assign(detector=frame["detector"].astype(str))
    return Results(frame, is_wide, left_out, names_series)


def _with_series(frame: pd.DataFrame) -> pd.DataFrame:
    """Rename the column that names the series of a published table."""
    if "series" in frame.columns:
        return frame
    named = {plain_name(str(name)): str(name) for name in frame.columns}
    found = next((named[name] for name in _SERIES_NAMES if name in named), None)
    if found is None:
        return frame
    renamed = frame.rename(columns={found: "series"})
    return frame if renamed.duplicated(_ids(renamed)).any() else renamed


def _ids(frame: pd.DataFrame) -> list[str]:
    return [name for name in (*_KEYS, "measure") if name in frame.columns]


def _check_repeated(frame: pd.DataFrame, path: Path) -> None:
    """Refuse several values of one detector on one series; those of seeds are no repetitions."""
    keys = _ids(frame)
    again = frame.duplicated(keys, keep=False)
    if again.any():
        first = frame.loc[again, keys].iloc[0]
        count = int((frame[keys] == first).all(axis=1).sum())
        named = ", ".join(f"{name} {first[name]!s}" for name in keys)
        raise InvalidInputError(
            f"{path}: every series must have one row per detector and measure, got {count} with "
            f"{named}; drop repeated rows, or number repetitions in a column 'seed'"
        )


def _left_out_text(left_out: Mapping[str, str], option: str) -> str:
    """Describe which columns are left out, why, and how to compare them anyway."""
    listed = ", ".join(f"{name} ({why})" for name, why in left_out.items())
    return f"left out, not values of a measure: {listed}; compare them anyway with {option}"


def _not_values(frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """Return columns that cannot be values of a measure, with the reason."""
    known = {
        plain_name(name): measure.bounds
        for measure in list_measures()
        for name in (measure.name, measure.title)
    }
    reasons = {name: _reason(frame, name, known.get(plain_name(name))) for name in columns}
    found = {name: why for name, why in reasons.items() if why}
    if len(columns) - len(found) < (1 if "detector" in frame.columns else 2):
        # Nothing else to compare: ranks, counts and rounded percentages are whole numbers.
        found = {name: why for name, why in found.items() if not why.startswith(_WHOLE)}
    return found


def _reason(frame: pd.DataFrame, name: str, bounds: tuple[float, float] | None) -> str:
    """Return why a column cannot hold values of a measure; empty if it can."""
    present = frame[name].dropna()
    low, high = float(present.min()), float(present.max())
    if bounds is not None:
        outside = low < bounds[0] * _PERCENT - 1.0 or high > max(bounds[1] * _PERCENT, 1.0)
        return f"values from {low:,.4g} to {high:,.4g}" if outside else ""
    if _FACTS.fullmatch(plain_name(name)):
        return "by its name"
    if high > 1.0 and bool((present % 1 == 0).all()):
        return f"{_WHOLE} up to {high:,.0f}"
    return "the same for all detectors" if _describes_series(frame, name) else ""


def _describes_series(frame: pd.DataFrame, column: str) -> bool:
    """Return whether a column has the same value for all detectors of a series."""
    place = [name for name in ("dataset", "series") if name in frame.columns]
    if "detector" not in frame.columns or not place or frame["detector"].nunique() < 2:
        return False
    groups = frame.groupby(place, observed=True)[column]
    return bool((groups.nunique() <= 1).all() and (groups.count() > 1).any())


def _too_few_common(counts: dict[str, int], series: int, common: int) -> str:
    listed = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return (
        f"`table` must have at least {_FEWEST_SERIES} series with a value of all detectors, got "
        f"{common} of {series:,}. Series with a value: {listed}. Compare fewer detectors with "
        "--detector or --exclude, or rank missing values last with --missing worst"
    )


def _by_dataset(table: pd.DataFrame, missing: str) -> pd.DataFrame:
    """Return means over the series of each data set; all columns use the same series."""
    means: pd.DataFrame
    if missing != "worst":
        complete, _ = complete_rows(table, missing=missing)
        means = complete.groupby(level="dataset", sort=False).mean()
        return means
    # A detector without any value in a data set ranks last there.
    groups = table.groupby(level="dataset", sort=False)
    means = groups[list(table)].apply(
        lambda rows: rows[common_series(rows.to_numpy(dtype=float).T)].mean()
    )
    return means


def _split(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Split names at commas, unless the comma is part of a known name."""
    return [
        part.strip()
        for name in names
        for part in ([name] if name in known else name.split(","))
        if part.strip()
    ]


def _kept(known: list[str], wanted: Sequence[str], unwanted: Sequence[str]) -> list[str]:
    wanted, unwanted = _split(wanted, known), _split(unwanted, known)
    options = [("--detector", name) for name in wanted] + [("--exclude", name) for name in unwanted]
    for option, name in options:
        if name not in known:
            near = did_you_mean(name, known)
            raise InvalidInputError(
                f"`{option}` must be one of {quoted(known)}, got {name!r}{near}"
            )
    return [name for name in (wanted or known) if name not in unwanted]

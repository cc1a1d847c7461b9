"""Read tables of results from a benchmark run or a file, and select what to compare."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vuskit._util.files import check_file
from vuskit._util.optional import require
from vuskit._util.text import did_you_mean, plain_name, quoted
from vuskit.datasets.columns import LABEL_NAMES
from vuskit.datasets.tables import Table, read_csv, read_parquet
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Results",
    "Selection",
    "check_repeated",
    "chosen_measure",
    "compared_columns",
    "has_measure",
    "long_values",
    "naming_column",
    "read_results",
    "selected",
    "settings_of",
]

_DETECTOR = "detector"
_KEYS = ("dataset", "series", _DETECTOR, "seed", "settings")
_NOT_MEASURES = {*_KEYS, "measure", "higher_is_better", "buffer", "fit_seconds", "score_seconds"}
_NOT_MEASURES |= {"warm_up_seconds", "peak_bytes", "cold", "own_series", "datasets"}
_DEFAULT_MEASURE = "vus_pr"
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
class Results:
    """A table of results.

    Attributes
    ----------
    frame : pandas.DataFrame
        Long or wide.
    """

    frame: pd.DataFrame

    def direction(self, measure: str | None) -> bool | None:
        """Return whether higher is better; None if the table does not say."""
        found = self._stored(measure, "higher_is_better")
        return None if found is None else bool(found)

    def title(self, measure: str | None) -> str | None:
        """Return the title of a measure if the table has one, else its name."""
        found = self._stored(measure, "measure_title")
        return measure if found is None else str(found)

    def _stored(self, measure: str | None, column: str) -> Any:
        if measure is None or not {"measure", column} <= set(self.frame.columns):
            return None
        rows = self.frame.loc[self.frame["measure"] == measure, column].dropna()
        return rows.iloc[0] if len(rows) else None


@dataclass(frozen=True, eq=False)
class Selection:
    """Selected part of a table of results.

    Attributes
    ----------
    table : pandas.DataFrame
        Numeric columns of a wide table, or rows of a long one.
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
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def left_out_text(self) -> str:
        """Sentence about the columns in `left_out`."""
        return _left_out_text(self.left_out, _FORCE)

    @property
    def empty(self) -> tuple[str, ...]:
        """Detectors without any value."""
        return tuple(name for name, count in self.counts.items() if not count)


def read_results(path: Path) -> Results:
    """Read the values of a run folder, plan, pack, csv or parquet file."""
    from vuskit.bench import Run

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
    frame = _read_file(path)
    labels = [name for name in frame.columns if str(name).strip().lower() in LABEL_NAMES]
    if labels and _DETECTOR not in frame.columns:
        raise InvalidInputError(
            f"{path} looks like the scores of one series (column {labels[0]!r}), not like a table "
            f"of results; evaluate it with: vuskit evaluate {path}"
        )
    check_repeated(frame, path)
    return Results(frame)


def check_repeated(frame: pd.DataFrame, path: Path) -> None:
    """Refuse several values of one detector on one series; those of seeds are no repetitions."""
    place = _place(frame)
    keys = [name for name in (*_KEYS, "measure") if name in frame.columns]
    if "series" not in place:
        return
    again = frame.duplicated(keys, keep=False)
    if again.any():
        first = frame.loc[again, keys].iloc[0]
        count = int((frame[keys] == first).all(axis=1).sum())
        named = ", ".join(f"{name} {first[name]!s}" for name in keys)
        raise InvalidInputError(
            f"{path}: every series must have one row per detector and measure, got {count} with "
            f"{named}; drop repeated rows, or number repetitions in a column 'seed'"
        )


def _read_file(path: Path) -> pd.DataFrame:
    require("pandas", purpose="vuskit compare")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in _READERS:
        raise InvalidInputError(
            f"`table` must be a .csv or .parquet file, a run folder or a pack, got {str(path)!r}"
        )
    return _READERS[suffix](path, unread=_INDEX).to_frame()


def chosen_measure(frame: pd.DataFrame, measure: str | None) -> tuple[str | None, str]:
    """Return the measure to compare by, and a note if it was chosen by default."""
    if _DETECTOR not in frame.columns:
        return measure, ""
    named = _measures(frame)
    present = [name for name in named if _has_values(frame, name)]
    left_out = {} if "measure" in frame.columns else _not_values(frame, present)
    if measure is not None:
        plain = {plain_name(name): name for name in present}
        if plain_name(measure) in set(map(plain_name, named)) - set(plain):
            raise InvalidInputError(
                f"`--measure` must have values, got {measure!r}, which has none; "
                f"choose from {quoted(present)}"
            )
        if plain_name(measure) not in plain:
            raise InvalidInputError(
                f"`--measure` must be one of {quoted(present)}, "
                f"got {measure!r}{did_you_mean(measure, present)}"
            )
        return plain[plain_name(measure)], ""
    present = [name for name in present if name not in left_out]
    note = _left_out_text(left_out, "--measure NAME") if left_out else ""
    if len(present) == 1:
        return present[0], note
    if _DEFAULT_MEASURE in present:
        others = f"by {_DEFAULT_MEASURE}; choose other measures of the table with --measure"
        return _DEFAULT_MEASURE, f"{others}\n{note}" if note else others
    if not present and left_out:
        raise InvalidInputError(f"`table` must have a column of values, got none; {note}")
    raise InvalidInputError(f"`--measure` must be one of {quoted(present)}, got none")


def _left_out_text(left_out: Mapping[str, str], option: str) -> str:
    """Describe which columns are left out, why, and how to compare them anyway."""
    listed = ", ".join(f"{name} ({why})" for name, why in left_out.items())
    return f"left out, not values of a measure: {listed}; compare them anyway with {option}"


def _not_values(frame: pd.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """Return columns that cannot be values of a measure, with the reason."""
    from vuskit.measures.registry import list_measures

    known = {
        plain_name(name): measure.bounds
        for measure in list_measures()
        for name in (measure.name, measure.title)
    }
    reasons = {name: _reason(frame, name, known.get(plain_name(name))) for name in columns}
    found = {name: why for name, why in reasons.items() if why}
    if len(columns) - len(found) < (1 if _DETECTOR in frame.columns else 2):
        # Nothing else to compare: ranks, counts and rounded percentages are whole numbers.
        found = {name: why for name, why in found.items() if not why.startswith(_WHOLE)}
    return found


def _reason(frame: pd.DataFrame, name: str, bounds: tuple[float, float] | None) -> str:
    """Return why a column cannot hold values of a measure; empty if it can."""
    present = frame[name].dropna()
    if not len(present):
        return ""
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
    place = _place(frame)
    if _DETECTOR not in frame.columns or not place or frame[_DETECTOR].nunique() < 2:
        return False
    groups = frame.groupby(place, observed=True)[column]
    return bool((groups.nunique() <= 1).all() and (groups.count() > 1).any())


def _measures(frame: pd.DataFrame) -> list[str]:
    if "measure" in frame.columns:
        return [str(name) for name in dict.fromkeys(frame["measure"])]
    numbers = frame.select_dtypes("number").columns
    found = [str(name) for name in numbers if name not in _NOT_MEASURES]
    if not found:
        raise InvalidInputError(
            "`table` must have a column of values, got only "
            f"{quoted([str(name) for name in frame.columns])}; add a numeric column"
        )
    return found


def compared_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns with values: measures, or detectors in a wide table."""
    numbers = map(str, frame.select_dtypes("number").columns)
    found = [name for name in numbers if name not in _NOT_MEASURES]
    left_out = _not_values(frame, found)
    return [name for name in found if name not in left_out]


def has_measure(frame: pd.DataFrame, measure: str) -> bool:
    """Return whether a table has values of a measure."""
    return (
        _DETECTOR in frame.columns and measure in _measures(frame) and _has_values(frame, measure)
    )


def _has_values(frame: pd.DataFrame, measure: str) -> bool:
    values = frame[measure] if measure in frame.columns else frame["value"]
    rows = frame["measure"] == measure if "measure" in frame.columns else slice(None)
    return bool(values[rows].notna().any())


def selected(
    frame: pd.DataFrame,
    *,
    measure: str | None,
    detectors: Sequence[str],
    excluded: Sequence[str],
    settings: str | None,
    by: str,
    missing: str,
) -> Selection:
    """Select numeric columns of a wide table, or rows of a long one.

    With ``missing="drop"``, detectors without any value are left out, too.

    Raises
    ------
    InvalidInputError
        If a name is unknown, settings are mixed, there are no data sets, or too few series
        have values of all detectors.
    """
    from vuskit.bench._leaderboard import common_series

    if by == "dataset" and "dataset" not in frame.columns:
        raise InvalidInputError(
            "`--unit dataset` needs a column 'dataset', "
            f"got {quoted([str(name) for name in frame.columns])}; add it or use --unit series"
        )
    long = _DETECTOR in frame.columns
    left_out: dict[str, str] = {}
    if long:
        if not _place(frame):
            raise InvalidInputError(
                "`table` must have a column 'series', got none; "
                "rename the column that names the series"
            )
        frame = settings_of(frame, settings)
        known, values = list(dict.fromkeys(frame[_DETECTOR])), _by_series(frame, measure)
    else:
        numbers = frame.select_dtypes("number")
        numbers = numbers[[name for name in numbers if name not in _NOT_MEASURES]]
        known = list(map(str, numbers.columns))
        place = _place(frame)
        if not place and (name := naming_column(frame)) and name not in known:
            place = [name]
        values = frame.set_index(place)[known] if place else numbers
        left_out = {} if detectors else _not_values(numbers, known)
    wanted = [name for name in _kept(known, detectors, excluded) if name not in left_out]
    left_out = {name: why for name, why in left_out.items() if name not in _split(excluded, known)}
    counts = {name: int(values[name].notna().sum()) for name in wanted}
    kept = [name for name in wanted if counts[name] or missing != "drop"]
    common = int(common_series(values[wanted].to_numpy(dtype=float).T).sum())
    about = counts, len(values), common
    described = *about, left_out
    if missing == "drop" and len(kept) > 1 and common < _FEWEST_SERIES <= len(values):
        raise InvalidInputError(_too_few_common(*about))
    if by == "dataset":
        return Selection(_by_dataset(values[kept], missing), *described)
    if long:
        return Selection(frame[frame[_DETECTOR].isin(kept)], *described)
    if len(kept) < 2:
        raise InvalidInputError(
            f"`table` must have numeric columns for at least two detectors, got {kept}"
            + (f"; {_left_out_text(left_out, _FORCE)}" if left_out else "")
        )
    return Selection(values[kept], *described)


def long_values(
    frame: pd.DataFrame, measures: Sequence[str | None], *, settings: str | None
) -> pd.DataFrame:
    """Return one row per value of some measures, from a long or wide table."""
    if _DETECTOR not in frame.columns:
        place = _place(frame)
        numbers = [str(name) for name in frame.select_dtypes("number").columns]
        numbers = [name for name in numbers if name not in place]
        rows = frame if "series" in place else frame.assign(series=range(len(frame)))
        keys = list(dict.fromkeys([*place, "series"]))
        long: pd.DataFrame = rows.melt(keys, numbers, var_name=_DETECTOR)
        return long.assign(measure=measures[0] or "value")
    frame = settings_of(frame, settings)
    if "series" not in frame.columns:
        frame = frame.assign(series=frame["dataset"])
    if "measure" in frame.columns or list(measures) == [None]:
        return frame
    names = [str(name) for name in measures if name in frame.columns]
    if not names:
        return frame.assign(measure=measures[0])
    kept = [name for name in (*_KEYS, "status", "buffer") if name in frame.columns]
    melted: pd.DataFrame = frame.melt(kept, names, var_name="measure")
    return melted


def _too_few_common(counts: dict[str, int], series: int, common: int) -> str:
    listed = ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
    return (
        f"`table` must have at least {_FEWEST_SERIES} series with a value of all detectors, got "
        f"{common} of {series:,}. Series with a value: {listed}. Compare fewer detectors with "
        "--detector or --exclude, or rank missing values last with --missing worst"
    )


def naming_column(frame: pd.DataFrame) -> str | None:
    """Return the column that names the series of a published table."""
    named = {plain_name(str(name)): str(name) for name in frame.columns}
    return next((named[name] for name in _SERIES_NAMES if name in named), None)


def _place(frame: pd.DataFrame) -> list[str]:
    """Return the columns that identify a series."""
    return [name for name in ("dataset", "series") if name in frame.columns]


def _by_series(frame: pd.DataFrame, measure: str | None) -> pd.DataFrame:
    """Return one row per series and one column per detector, means over seeds."""
    column = measure if measure in frame.columns else "value"
    rows = frame[frame["measure"] == measure] if "measure" in frame.columns else frame
    means = rows.groupby([*_place(rows), _DETECTOR], sort=False, observed=True)[column].mean()
    table: pd.DataFrame = means.unstack(_DETECTOR)
    return table.reindex(columns=list(dict.fromkeys(frame[_DETECTOR])))


def _by_dataset(table: pd.DataFrame, missing: str) -> pd.DataFrame:
    """Return means over the series of each data set; all columns use the same series."""
    from vuskit.bench._leaderboard import common_series, rows_of_mean
    from vuskit.statistics.tests import complete_rows

    if missing != "worst":
        table, _ = complete_rows(table, missing=missing)
        return rows_of_mean(table, "dataset")
    # A detector without any value in a data set ranks last there.
    datasets = table.index.get_level_values("dataset")
    used = table.groupby(datasets, sort=False, group_keys=False)[list(table)].apply(
        lambda rows: rows[common_series(rows.to_numpy(dtype=float).T)]
    )
    return rows_of_mean(used, "dataset").reindex(datasets.unique())


def settings_of(frame: pd.DataFrame, wanted: str | None) -> pd.DataFrame:
    """Return the rows of one evaluation setting; averages over several are meaningless."""
    if "settings" not in frame.columns:
        return frame
    present = [str(name) for name in dict.fromkeys(frame["settings"])]
    if wanted is None and len(present) > 1:
        raise InvalidInputError(f"`--settings` must be one of {quoted(present)}, got none")
    if wanted is not None and wanted not in present:
        raise InvalidInputError(f"`--settings` must be one of {quoted(present)}, got {wanted!r}")
    chosen: Any = frame["settings"].astype(str) == (wanted or present[0])
    rows: pd.DataFrame = frame[chosen]
    return rows


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

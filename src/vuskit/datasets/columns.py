"""Decide which columns hold labels, scores, the series itself and times."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import did_you_mean, quoted
from vuskit.alignment import ANCHORS, fill_missing_ends
from vuskit.datasets.tables import Table, is_number, open_table
from vuskit.errors import InvalidInputError
from vuskit.inputs import rank_missing_lowest
from vuskit.parameters import (
    Check,
    Checked,
    flag,
    one_of,
    param,
    params_of,
    several,
    text,
    whole,
)
from vuskit.times import (
    TIME_NAMES,
    check_timezone,
    find_time_columns,
    is_row_number,
    look_like_epochs,
)

LABEL_NAMES = (
    "label", "labels", "is_anomaly", "anomaly", "is_outlier", "outlier", "target",
    "y_true", "ground_truth", "truth", "gt",
)  # fmt: skip
VALUE_NAMES = ("value", "values", "data", "series", "signal")
# Columns that identify a row: ignored unless requested by name.
PLACE_NAMES = frozenset({"", *TIME_NAMES, "timestamps", "index", "unnamed: 0", "id", "is_ignored"})
DUPLICATES = ("error", "first", "last")
# Names of score columns that do not name the detector.
GENERIC_SCORES = frozenset(
    {"score", "scores", "anomaly_score", "anomaly_scores", "y_score", "y_scores", "output", "0"}
)
# Column names of interval bounds. Ends are inclusive, stops are exclusive.
_STARTS = ("start", "begin", "from", "start_time", "start_timestamp")
_ENDS = ("end", "to", "end_time", "end_timestamp", "last")
_IDS = ("ticket", "ticket_id", "incident", "incident_id", "id")
STOPS = ("stop", "stop_time")
# Columns that name what a series was recorded from.
KEY_NAMES = {
    "machine", "machine_id", "device", "device_id", "host", "hostname", "server", "node", "sensor",
    "sensor_id", "asset", "asset_id", "unit", "equipment", "station", "instance", "entity",
}  # fmt: skip
_SERIES_NAMES = ("series", "name", "file", "filename", "ts_name", "channel", "chan_id")

# Reasons for ignoring a column.
RISING = "strictly increasing, like a time"
COMPONENT = "a component or marker, not a measurement; select it with values="
_COMPONENTS = re.compile(r"(is_)?change_?points?|trend|noise|seasonal(ity)?_?\d*")

_NO_SCORES = {name for name in PLACE_NAMES - {*TIME_NAMES} if not is_row_number(name)}
_ANOMALOUS_WORDS = ("anom", "outl", "abno", "fault", "attack", "fail", "bad", "true", "yes", "-1")
_NORMAL_WORDS = ("norm", "ok", "good", "heal", "inl", "nomin", "benign", "regular", "no")
TEXT_MARK = "text such as"
_EMPTY = "None"
_ALMOST_NUMBER = re.compile(r"\s*[+\-\u2212]?[\d.,\s]*\d\s?[^\d\s.,:/T-]{0,4}")  # 1,234.5 or 5 %
_FEW = 12  # this many numbers may be increasing by chance
_MOST_SHOWN = 6
_MISSPELLED = 0.75  # minimum similarity of a misspelled name


def _column(text_of_help: str, *, many: bool = False, metavar: str = "COLUMN") -> Any:
    check = several(text) if many else text
    return param(() if many else None, check, text_of_help, metavar=metavar)


def _check_zone(name: str, value: Any) -> Any:
    check_timezone(value)
    return value


@dataclass(frozen=True)
class Columns(Checked):
    """Columns of an input by role, as the user names them; the others are found by name.

    Attributes
    ----------
    label : str, optional
        Labels.
    value : str or sequence of str
        The series itself: one column per channel.
    score : str or sequence of str
        Scores. Default: all other numeric columns.
    positive : str, optional
        Label that means anomalous, if labels are not 0 and 1.
    by, dataset : str, optional
        Name of the series and of the data set of each row, for a table with many series.
    order : str, optional
        Times of the rows, by which they are sorted; ``"none"``: rows are in order. Default: the
        column with a usual name of times.
    duplicates : {"error", "first", "last"}, default="error"
        Which of several rows with the same time to keep.
    timezone : str, optional
        Zone of times without one, such as ``"Europe/Berlin"``, if others have one.
    start, end, id : str, optional
        First and last time or position of each anomaly, and its name, in a file of intervals.
    labels_by : str, optional
        Column of a file of intervals that names the series.
    labels_all : bool, default=False
        Apply all intervals to every series.

    Examples
    --------
    >>> columns = Columns(value="flow", score=["LOF", "PCA"])
    >>> columns.value, columns.score
    (('flow',), ('LOF', 'PCA'))
    """

    label: str | None = _column("Column with the labels.")
    value: str | Sequence[str] = _column(
        "Column with the series itself. Repeat for more channels.", many=True
    )
    score: str | Sequence[str] = _column(
        "Column with scores. Default: all other numeric columns. Repeat for several.", many=True
    )
    positive: str | None = param(None, text, "Label that means anomalous.", metavar="LABEL")
    by: str | None = _column("Column of a long table that names the series.")
    dataset: str | None = _column("Column of a long table that names the data set.")
    order: str | None = _column(
        "Times by which rows are sorted; none: keep their order.", metavar="COLUMN|none"
    )
    duplicates: str = param(
        "error",
        one_of(*DUPLICATES),
        "Which of several rows with the same time to keep.",
        metavar="RULE",
    )
    timezone: str | None = param(
        None,
        Check("the name of a zone", _check_zone, literal=False),
        "Zone of times without one, such as Europe/Berlin.",
        metavar="ZONE",
    )
    start: str | None = _column("Column of --labels with the start of each interval.")
    end: str | None = _column("Column of --labels with the end of each interval.")
    id: str | None = _column("Column of --labels that names each interval.")
    labels_by: str | None = _column("Column of --labels that names the series.")
    labels_all: bool = param(False, flag, "Apply all intervals of --labels to every series.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dataset is not None and self.by is None:
            raise InvalidInputError(
                "`dataset` must be used with `by`, the column that names the series"
            )
        if self.labels_all and self.labels_by is not None:
            raise InvalidInputError("`labels_by` must be used without `labels_all`; omit one")

    def named(self) -> list[tuple[str, str]]:
        """Return role and name of each column given by the user."""
        singles = [("by", self.by), ("dataset", self.dataset), ("label", self.label)]
        several = [("value", self.value), ("score", self.score)]
        found = [(role, name) for role, name in singles if name is not None]
        if self.order not in (None, "none"):
            found.append(("order", str(self.order)))
        return found + [(role, name) for role, names in several for name in names]

    def intervals(self) -> dict[str, Any]:
        """Return the options of files of intervals that the user gave."""
        names = ("start", "end", "id", "labels_by", "labels_all")
        return {name: one for name in names if (one := getattr(self, name))}

    def reading(self) -> dict[str, str]:
        """Return the options of the order of rows that differ from the default."""
        given = {"order": self.order, "timezone": self.timezone}
        if self.duplicates != "error":
            given["duplicates"] = self.duplicates
        return {name: one for name, one in given.items() if one is not None}

    def check(self, path: Path, names: Sequence[str]) -> None:
        """Check that a file has the columns named by the user."""
        for role, name in self.named():
            check_column(path, names, role, name)

    def unread(self) -> set[str]:
        """Return columns that are skipped unless named, in lower case."""
        return set(_NO_SCORES - {name.strip().lower() for _, name in self.named()})


Window: TypeAlias = int | str | None
Windows: TypeAlias = Window | Mapping[str, int | str]


def _check_windows(name: str, value: Any) -> Any:
    check = whole(1, word="auto")
    if not isinstance(value, Mapping):
        return check(name, value)
    return {detector: check(f"{name}.{detector}", one) for detector, one in value.items()}


def window_of(windows: Windows, detector: str) -> Window:
    """Return the window of a detector; None: its scores are those of points."""
    return windows.get(detector) if isinstance(windows, Mapping) else windows


def check_windows(windows: Windows, detectors: Collection[str], name: str = "window") -> None:
    """Check that windows by detector name detectors with scores."""
    for detector in windows if isinstance(windows, Mapping) else ():
        if detector not in detectors:
            raise InvalidInputError(
                f"`{name}` must name detectors among {quoted(sorted(detectors))}, "
                f"got {detector!r}{did_you_mean(detector, sorted(detectors))}"
            )


@dataclass(frozen=True, kw_only=True)
class Reading(Columns):
    """How to read scores: the columns, and the other options of `open_inputs`."""

    labels: str | None = param(
        None,
        text,
        "File or folder with the labels. Files of a folder are matched by name.",
        metavar="PATH",
    )
    pattern: str | None = param(
        None, text, "How to read paths, such as '{detector}/{series}.npy'.", metavar="PATTERN"
    )
    align: str | None = param(
        None, one_of(*ANCHORS), "Point of the window that a score belongs to.", metavar="POINT"
    )
    window: Windows = param(
        None,
        Check("'auto', an int >= 1, or a table of these by detector", _check_windows),
        "Window length in points; auto: from the number of scores, for each detector.",
        metavar="N|auto",
    )

    @property
    def columns(self) -> Columns:
        """The columns alone."""
        return Columns(**{name: getattr(self, name) for name in params_of(Columns)})

    def options(self) -> dict[str, Any]:
        """Return the options of `open_inputs` that differ from their defaults."""
        given = {name: getattr(self, name) for name in ("labels", "pattern", "align", "window")}
        given["columns"] = None if self.columns == Columns() else self.columns
        return {name: one for name, one in given.items() if one is not None}


def check_column(path: Path, names: Sequence[str], role: str, name: str) -> None:
    """Check that a file has a column."""
    if name not in names:
        raise InvalidInputError(
            f"`{role}` must be a column of {path} ({quoted(names)}), "
            f"got {name!r}{did_you_mean(name, names)}"
        )


@dataclass(frozen=True)
class Roles:
    """Columns of a file by role."""

    label: str | None
    value: tuple[str, ...]
    scores: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    repeating: tuple[str, ...] = ()  # unused columns that may name the series of each row


def find_roles(table: Table, columns: Columns, *, labels_elsewhere: bool = False) -> Roles:
    """Decide the role of each column; labels may come from another file."""
    columns.check(table.path, table.names)
    label, value = label_and_value(table, columns, labels_elsewhere=labels_elsewhere)
    used = {label, *value, *columns.score, columns.order}
    repeating = tuple(name for name in table.names if name not in used and _repeats(table, name))
    if columns.score:
        return Roles(label, value, tuple(dict.fromkeys(columns.score)), (), repeating)
    return Roles(label, value, *_score_names(table, columns, used, repeating), repeating)


def _repeats(table: Table, name: str) -> bool:
    """Whether a column may name the series of each row: text, or integers with a usual name."""
    plain = name.strip().lower()
    if plain in PLACE_NAMES or table.is_dated(name):
        return False
    if not table.is_text(name):
        if plain not in (*KEY_NAMES, *_SERIES_NAMES):
            return False
        numbers = table.numbers(name)
        if (numbers != np.floor(numbers)).any():
            return False
    return 1 < len(table.distinct(name)[0]) <= table.length // 2


def label_and_value(
    table: Table, columns: Columns, *, labels_elsewhere: bool = False
) -> tuple[str | None, tuple[str, ...]]:
    """Return the column of the labels and those of the series."""
    label = columns.label
    if label is None:
        label = label_column(table.names) if labels_elsewhere else _find_label(table)
    if columns.value:
        return label, tuple(columns.value)
    taken = {label or "", *columns.score, columns.by or "", columns.dataset or ""}
    usual = _usual(VALUE_NAMES, table.names, taken=taken)
    return label, () if usual is None else (usual,)


def roles_of_file(path: Path, columns: Columns, *, labels_elsewhere: bool = False) -> Roles:
    """Decide the role of each column of a file."""
    table = open_table(path, unread=columns.unread())
    if labels_elsewhere:
        value = [name for name in columns.value if name in table.names]
        columns = replace(columns, label=None, positive=None, value=value)
    return find_roles(table, columns, labels_elsewhere=labels_elsewhere)


# -- labels --------------------------------------------------------------------------------------


def label_column(names: Sequence[str]) -> str | None:
    """Return the column with a common name for labels, ignoring case, or None.

    Examples
    --------
    >>> label_column(["value", "Y_true"])
    'Y_true'
    """
    return _usual(LABEL_NAMES, names)


def interval_columns(
    names: Sequence[str], start: str | None = None, end: str | None = None
) -> tuple[str, str] | None:
    """Return the columns with the start and the end of each anomaly, or None.

    `start` and `end` are the columns that the user names.

    Examples
    --------
    >>> interval_columns(["series", "Start", "End"])
    ('Start', 'End')
    """
    first, last = start or _usual(_STARTS, names), end or _usual((*_ENDS, *STOPS), names)
    return None if first is None or last is None else (first, last)


def id_column(names: Sequence[str]) -> str | None:
    """Return the column that names each interval, or None."""
    return _usual(_IDS, names)


def series_column(names: Sequence[str]) -> str | None:
    """Return the column that names the series of each interval, or None."""
    return _usual(_SERIES_NAMES, names)


def _usual(usual: Sequence[str], names: Sequence[str], taken: Collection[str] = ()) -> str | None:
    lower = {name.strip().lower(): name for name in reversed(names) if name not in taken}
    return next((lower[name] for name in usual if name in lower), None)


def _find_label(table: Table) -> str:
    path, names = table.path, table.names
    found = label_column(names)
    headless = all(map(is_number, names))
    if found is None and headless:
        binary = [name for name in names if _is_binary(table.distinct(name)[0])]
        found = binary[0] if len(binary) == 1 else None
    if found is not None:
        return found
    if len(names) == 1:
        raise InvalidInputError(
            f"{path}: there must be labels besides the scores, got one column; read labels from "
            "another file or folder with --labels PATH"
        )
    if headless:
        raise InvalidInputError(
            f"{path}: without a header line, exactly one column must hold only 0 and 1; add a "
            "header line such as label,score, or use --labels PATH"
        )
    near = next((name for name in names if _is_misspelled(name)), None)
    hint = (
        "; name it with --label, or use --labels PATH"
        if near is None
        else f"; did you mean --label {quote(near)}?"
    )
    raise InvalidInputError(
        f"{path}: there must be a label column ({', '.join(LABEL_NAMES[:4])}, ...), "
        f"got columns {quoted(names)}{hint}"
    )


def only_label_column(table: Table) -> str:
    """Return the label column of a file of labels without a common name."""
    if len(table.names) == 1:
        return table.names[0]
    found = [
        name
        for name in table.names
        if not table.is_text(name) and np.isin(table.numbers(name), (0, 1)).all()
    ]
    if len(found) != 1:
        dates = [quote(name) for name in table.names if table.is_dated(name)]
        first, last = dates if len(dates) == 2 else ("COLUMN", "COLUMN")
        raise InvalidInputError(
            f"{table.path}: exactly one column must hold labels (0 and 1), got {len(found)} among "
            f"{quoted(table.names)}; name it with --label, or, if the rows are intervals, use "
            f"--start {first} --end {last}"
        )
    return found[0]


def _is_misspelled(name: str) -> bool:
    """Whether this looks like a misspelled name of a label column; 'late' does not."""
    return bool(
        difflib.get_close_matches(name.strip().lower(), LABEL_NAMES, n=1, cutoff=_MISSPELLED)
    )


def _is_binary(words: list[str]) -> bool:
    return set(words) <= {"0", "1", "0.0", "1.0", "True", "False"}


def read_label_column(
    table: Table, name: str, positive: str | None
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return labels, and notes about assumptions."""
    path = table.path
    if positive is None and not table.is_text(name):
        numbers = table.numbers(name)
        if np.isin(numbers, (0, 1)).all():
            return numbers == 1, ()
        if np.isnan(numbers).any():
            raise _empty_cell(path, name, "0 or 1", int(np.isnan(numbers).argmax()))
    words, codes = table.distinct(name)
    if positive is None and _EMPTY in words:
        raise _empty_cell(path, name, "a label", int((codes == words.index(_EMPTY)).argmax()))
    counts = np.bincount(codes, minlength=len(words))
    anomalous, notes = anomalous_words(path, name, words, counts, positive)
    return np.array([word in anomalous for word in words])[codes], notes


def anomalous_words(
    path: Path,
    name: str,
    words: list[str],
    counts: Sequence[int] | NDArray[np.intp],
    positive: str | None,
) -> tuple[list[str], tuple[str, ...]]:
    """Return the labels that mean anomalous, and notes about assumptions."""
    if positive is not None:
        return _matching(path, name, words, positive), ()
    if {word.lower() for word in words} <= {"true", "false", "0", "1"}:
        return [word for word in words if word.lower() in ("true", "1")], ()
    anomalous = [word for word in words if word.lower().startswith(_ANOMALOUS_WORDS)]
    others = [word for word in words if word not in anomalous]
    if len(anomalous) == 1 and others and all(w.lower().startswith(_NORMAL_WORDS) for w in others):
        note = f"label {anomalous[0]!r} means anomalous; use --positive to choose another label"
        return anomalous, (note,)
    by_count = [words[place] for place in np.argsort(-np.asarray(counts), kind="stable")]
    raise InvalidInputError(_label_problem(path, name, by_count))


def _empty_cell(path: Path, name: str, wanted: str, row: int) -> InvalidInputError:
    return InvalidInputError(
        f"{path}: label column {name!r} must hold {wanted} in every row, got none in row "
        f"{row + 1}; fill or drop that row"
    )


def _label_problem(path: Path, name: str, words: list[str]) -> str:
    shown = ", ".join(map(repr, words[:_MOST_SHOWN])) + (
        ", ..." if len(words) > _MOST_SHOWN else ""
    )
    text = f"{path}: label column {name!r} must hold 0 and 1, got {shown}"
    if len(words) > _FEW:
        return f"{text}; if the labels are in another column, name it with --label"
    anomalous = (word for word in words if word.lower().startswith(_ANOMALOUS_WORDS))
    example = next(anomalous, words[-1])
    return f"{text}; name the one that means anomalous, for example --positive {example}"


def _matching(path: Path, name: str, words: list[str], positive: str) -> list[str]:
    wanted = [word for word in words if word == positive or _same_number(word, positive)]
    known = sorted(word for word in words if word != _EMPTY)
    if not wanted:
        raise InvalidInputError(
            f"`positive` must be a label of column {name!r} in {path} "
            f"({quoted(known)}), got {positive!r}{did_you_mean(positive, known)}"
        )
    return wanted


def _same_number(first: str, second: str) -> bool:
    try:
        return float(first) == float(second)
    except ValueError:
        return False


# -- scores, channels and times ------------------------------------------------------------------


def _score_names(
    table: Table, columns: Columns, taken: Collection[str | None], repeating: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the score columns and the ignored columns."""
    found, left_out, rising = [], list(table.unread), []
    epochs: list[str] = []
    for name in table.names:
        if name in taken:
            continue
        if name in repeating or is_place(table, name):
            left_out.append(place_shown(table, name))
            continue
        scores = table.numbers(name)
        if only_rises(scores):
            rising.append(name)
        elif look_like_epochs(scores):
            epochs.append(name)
        elif is_second_label(name, scores):
            left_out.append(second_label(name))
        else:
            found.append(name)
    left_out += epochs_left_out(table, columns, epochs)
    return scores_or_rising(found, rising, left_out)


def epochs_left_out(table: Table, columns: Columns, epochs: Sequence[str]) -> list[str]:
    """Return ignored columns of epochs; refuse them if no other column has the times of rows."""
    dated = [name for name in table.names if table.is_dated(name)]
    if epochs and columns.order is None and not find_time_columns(table.names, dated):
        raise InvalidInputError(
            f"{table.path}: column {epochs[0]!r} must be a score or the times of the rows, got "
            f"integers such as {table.first_cell(epochs[0])}, which may be both; use --order "
            f"{quote(epochs[0])}, or name the scores with --score"
        )
    return [f"{name} (looks like times; select it with --score)" for name in epochs]


def is_place(table: Table, name: str) -> bool:
    """Whether a column holds text, or has a name of a time or another position."""
    plain = name.strip().lower()
    return plain in PLACE_NAMES or is_row_number(name) or table.is_text(name)


def place_shown(table: Table, name: str) -> str:
    """Return the name of a column that is no score; and a cell if that looks like a number."""
    cell = table.first_cell(name) if table.is_text(name) else ""
    return f"{name} ({TEXT_MARK} {cell!r})" if _ALMOST_NUMBER.fullmatch(cell) else name


def is_second_label(name: str, numbers: NDArray[np.float64]) -> bool:
    """Whether a column looks like labels of another kind, not like scores."""
    return name.strip().lower() in LABEL_NAMES and bool(np.isin(numbers, (0, 1)).all())


def second_label(name: str) -> str:
    """Reason for ignoring labels of another kind."""
    return f"{name} (looks like labels; select it with --score)"


def scores_or_rising(
    found: list[str], rising: list[str], left_out: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return scores and ignored columns; increasing columns are scores if there are no others."""
    if found:
        left_out = [*left_out, *(f"{name} ({RISING})" for name in rising)]
    shown = (name if name.strip() else "a column without a name" for name in left_out)
    return tuple(found or rising), tuple(shown)


def only_rises(numbers: NDArray[np.float64]) -> bool:
    """Whether more than 12 numbers are strictly increasing, like a time or a row number.

    Examples
    --------
    >>> only_rises(np.arange(100.0)), only_rises(np.arange(5.0)), only_rises(np.zeros(100))
    (True, False, False)
    """
    return numbers.size > _FEW and bool((numbers[1:] > numbers[:-1]).all())


def is_component(name: str) -> bool:
    """Whether this is the name of a component of a series, such as its trend, or a marker."""
    return _COMPONENTS.fullmatch(name.strip().lower()) is not None


def suspect_channels(table: Table, channels: Sequence[str]) -> dict[str, str]:
    """Return columns that are probably no channels, with the reason.

    Strictly increasing columns are times, unless no other column remains.
    """
    named = [name for name in channels if is_component(name)]
    kept = [name for name in channels if name not in named] or list(channels)
    found = dict.fromkeys((name for name in named if name not in kept), COMPONENT)
    rising = [name for name in kept if only_rises(_channel(table, name))]
    return found | dict.fromkeys([] if len(rising) == len(kept) else rising, RISING)


def _channel(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column as numbers; the error for text suggests `by`."""
    try:
        return table.numbers(name)
    except InvalidInputError as error:
        if not table.is_text(name):
            raise
        raise InvalidInputError(
            f"{error}; if the column names the series of each row, read the file with "
            f"by={name!r}, otherwise name the channels with values="
        ) from None


def filled_scores(
    path: Path, name: str, numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], str | None]:
    """Return scores with missing ends filled, and a note about it."""
    if np.isfinite(numbers).all():
        return numbers, None
    filled = fill_missing_ends(numbers)
    missing = ~np.isfinite(filled.scores)
    if missing.any():
        raise InvalidInputError(
            f"{path}: score column {name!r} must hold a number in every row, got none in "
            f"{int(missing.sum()):,} of {numbers.size:,} (first: row {int(missing.argmax()) + 1}); "
            "fill or drop those rows, name the columns to evaluate with --score, or rank them "
            "below all others with --set nan=lowest"
        )
    ends = ((filled.leading, "first"), (filled.trailing, "last"))
    shown = " and ".join(f"the {end} {count:,}" for count, end in ends if count)
    points = "points" if filled.leading + filled.trailing > 1 else "point"
    return filled.scores, (
        f"{name} has no score at {shown} {points}, as is usual with windows; the nearest score "
        "fills them"
    )


def lowest_scores(
    path: Path, name: str, numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Return scores whose missing ones rank below all others, and their number."""
    if np.isnan(numbers).all():
        raise InvalidInputError(
            f"{path}: score column {name!r} must hold at least one number, got none; name the "
            "columns to evaluate with --score"
        )
    return rank_missing_lowest(numbers)


def time_range(times: NDArray[np.datetime64] | None) -> tuple[str, str] | None:
    """Return the first and last time as text."""
    if times is None:
        return None
    ends = [str(time.astype("datetime64[s]")).replace("T", " ") for time in (times[0], times[-1])]
    if all(end.endswith(" 00:00:00") for end in ends):
        ends = [end.removesuffix(" 00:00:00") for end in ends]
    return ends[0], ends[1]

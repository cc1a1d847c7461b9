"""Evaluate every series of a long table from pandas, polars, pyarrow, DuckDB or Dask.

Rows are read in batches. Valid series of a batch are evaluated together if the measures allow it,
all others one by one. Besides the frame and the result, memory holds only one batch and one series
at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit._util.text import did_you_mean
from vuskit.buffers import choose_buffer
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice, check_labels, missing_note
from vuskit.intervals import Ints
from vuskit.measures.batch import can_batch, evaluate_batch, find_valid_series
from vuskit.measures.breakdown import alarms_text
from vuskit.measures.evaluate import Evaluator
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.settings import (
    EvaluationSettings,
    SettingOptions,
    settings_from,
    with_setting_keywords,
)
from vuskit.measures.workspace import warn_long_buffer
from vuskit.times import (
    TIME_NAMES,
    check_timezone,
    find_time_columns,
    is_row_number,
    look_like_epochs,
    read_times,
)

__all__ = ["evaluate_frame"]

_BATCH = 1 << 17  # rows
_ROW = "vuskit_row"  # column with the row position, for a stable sort
_WHOLE = "all"  # name of the series or data set if no column names it
_ERRORS = ("record", "raise")
_DUPLICATES = ("error", "first", "last")
_AUTO = "auto"
_TEXT = ("dataset", "series", "detector", "measure", "buffer_reason", "status", "message")
_COLUMNS = (
    "dataset",
    "series",
    "detector",
    "measure",
    "value",
    "buffer",
    "buffer_reason",
    "status",
    "message",
)

Arrays = dict[str, NDArray[Any]]
Name = tuple[str, str]


@with_setting_keywords
def evaluate_frame(
    frame: Any,
    *,
    by: str | Sequence[str] | None = None,
    label: str = "label",
    scores: str | Sequence[str] | None = None,
    dataset: str | None = None,
    value: str | None = None,
    order: str | None = "auto",
    duplicates: str = "error",
    timezone: str | None = None,
    errors: str = "record",
    measures: Measures = "paper",
    settings: EvaluationSettings | None = None,
    **options: Unpack[SettingOptions],
) -> Any:
    """Evaluate every series of a long table.

    The values equal those of :func:`evaluate` called once per series and score column.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, DuckDB or Dask table
        One row per point: a pandas or polars ``DataFrame``, a polars ``LazyFrame``, a pyarrow
        ``Table`` or ``RecordBatchReader``, a DuckDB relation, or a Dask ``DataFrame``.
    by : str or list of str, optional
        Columns that identify a series. The values of several columns are joined by "/". By default
        each data set is one series. Ids keep their spelling; missing and empty ids are errors.
    label : str, default="label"
        Column of labels: 1 for anomalous points, 0 for normal ones.
    scores : str or list of str, optional
        Score columns, one per detector. The default is every numeric column without another role.
    dataset : str, optional
        Column with the name of the data set.
    value : str, optional
        Column with the values of the series, for buffer strategies based on the period.
    order : str, optional
        Column of times to sort the points of a series by: numbers, dates or ISO text. By default
        the column named timestamp, time, datetime, date or ts, or the column of dates; the message
        of a series says if its rows were sorted. Without such a column, or with None, rows must be
        in order.
    duplicates : {"error", "first", "last"}, default="error"
        What to do with several rows of a series at the same time: refuse them, or keep one.
    timezone : str, optional
        Zone of times without one, such as ``"Europe/Berlin"``, if other times of the series have
        one.
    errors : {"record", "raise"}, default="record"
        What to do if a series cannot be evaluated: ``"record"`` adds rows with a status and a
        message, ``"raise"`` raises an error.
    buffer : int, str or BufferChoice
        Buffer length of R-AUC and longest buffer of VUS: a number of points, the name of a strategy
        or a BufferChoice. Required unless `settings` is given.
    measures, settings
        As for :class:`Evaluator`.
    thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor,
    nan
        As for :class:`Evaluator`.

    Returns
    -------
    table
        One row per series, score column and measure, in the same type as `frame`. The columns are
        dataset, series, detector, measure, value, buffer, buffer_reason, status and message. The
        result is in memory, except for Dask. ``status`` is OK, ERROR, or SKIPPED for series with
        only one class. The message of a series with status OK notes what was changed.

    Raises
    ------
    InvalidInputError
        If the frame, a column or a parameter is invalid. With ``errors="raise"``, also if a series
        cannot be evaluated.

    Warns
    -----
    LongBufferWarning
        If buffers are too long for some series; one warning for all of them.

    Notes
    -----
    If the rows of a series are not adjacent, the frame is sorted first. DuckDB and polars sort on
    disk if memory is short; frames in memory are copied. A ``RecordBatchReader`` can be read only
    once, so the rows of a series must be adjacent.

    Examples
    --------
    >>> import pandas as pd
    >>> from vuskit import evaluate_frame
    >>> table = pd.DataFrame({
    ...     "machine": ["a"] * 6 + ["b"] * 6,
    ...     "label": [0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0],
    ...     "forest": [0, 1, 3, 5, 4, 2, 0, 5, 4, 1, 2, 3],
    ... })
    >>> result = evaluate_frame(table, by="machine", buffer=2, measures=["auc_pr", "vus_pr"])
    >>> result[["series", "detector", "measure", "value"]].round(3)
      series detector measure  value
    0      a   forest  auc_pr  0.833
    1      a   forest  vus_pr  0.869
    2      b   forest  auc_pr  1.000
    3      b   forest  vus_pr  1.000
    """
    check_choice("errors", errors, _ERRORS)
    evaluation = _FrameEvaluation(
        settings_from(settings, options),
        resolve_measures(measures),
        errors == "raise",
        check_choice("duplicates", duplicates, _DUPLICATES),
        check_timezone(timezone),
    )
    request: dict[str, Any] = {
        "by": by,
        "label": label,
        "scores": scores,
        "dataset": dataset,
        "value": value,
        "order": order,
    }
    if _is_dask(frame):
        return _evaluate_dask(frame, request, evaluation)
    source = _source_of(frame, request)
    roles = _Roles.of(source.kinds, **request)
    evaluation.check_buffer(roles)
    return source.result(_evaluate(source, roles, evaluation))


# --- columns -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Roles:
    """Columns by role."""

    dataset: str | None
    by: tuple[str, ...]
    label: str
    scores: tuple[str, ...]
    value: str | None
    order: str | None
    is_order_given: bool
    is_guessed: bool = False  # neither the scores nor the order is given, or found

    @classmethod
    def of(
        cls,
        kinds: Mapping[str, str],
        *,
        by: str | Sequence[str] | None,
        label: str,
        scores: str | Sequence[str] | None,
        dataset: str | None,
        value: str | None,
        order: str | None,
    ) -> _Roles:
        """Assign roles to the columns of a frame; `kinds` maps names to number, time or other."""
        keys = _names("by", by)
        given = () if scores is None else _names("scores", scores)
        is_order_given = order != _AUTO
        if not is_order_given:
            used = {*keys, *given, label, dataset, value}
            order = _time_column({name: kinds[name] for name in kinds if name not in used})
        singles = {"label": label, "dataset": dataset, "value": value, "order": order}
        for name, column in singles.items():
            if column is not None:
                _check_column(name, column, kinds)
        for column in keys:
            _check_column("by", column, kinds)
        if scores is None:
            taken = {*keys, *singles.values(), _ROW}
            detectors = tuple(
                name
                for name, kind in kinds.items()
                if kind == "number" and name not in taken and not is_row_number(name)
            )
            if not detectors:
                raise InvalidInputError(
                    "`frame` must have a numeric column of scores without another role, "
                    f"got columns {_listed(kinds)}; name the score columns with `scores`"
                )
        else:
            detectors = given
            if not detectors:
                raise InvalidInputError(
                    "`scores` must name at least one column, got none; leave it out to use every "
                    "other numeric column"
                )
            for column in detectors:
                _check_column("scores", column, kinds)
        guessed = scores is None and order is None and not is_order_given
        return cls(dataset, keys, label, detectors, value, order, is_order_given, guessed)

    def check_epochs(self, arrays: Arrays) -> None:
        """Refuse scores that may be times if neither them nor the order is given."""
        for name in self.scores if self.is_guessed else ():
            if arrays[name].dtype.kind in "iuf" and look_like_epochs(arrays[name]):
                raise InvalidInputError(
                    f"{name!r} must be a score or the times of the rows, got numbers such as "
                    f"{arrays[name][0]:.0f}, which may be both; pass order={name!r}, or name the "
                    "score columns with `scores`"
                )

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that together identify a series."""
        return (*([self.dataset] if self.dataset is not None else []), *self.by)

    @property
    def arrays(self) -> tuple[str, ...]:
        """Columns to read as arrays."""
        columns = [self.label, *self.scores, self.value, self.order]
        return tuple(dict.fromkeys(name for name in columns if name is not None))

    @property
    def columns(self) -> list[str]:
        """All columns to read."""
        return list(dict.fromkeys([*self.keys, *self.arrays]))

    def name(self, values: Sequence[Any]) -> Name:
        """Return the data set and series for values of the keys."""
        texts = [str(value) for value in values]
        dataset = texts.pop(0) if self.dataset is not None else _WHOLE
        return dataset, "/".join(texts) if self.by else dataset


def _names(name: str, columns: str | Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return ()
    listed = (columns,) if isinstance(columns, str) else tuple(columns)
    if len(set(listed)) < len(listed):
        raise InvalidInputError(f"`{name}` must be unique columns, got {_listed(listed)}")
    return listed


def _time_column(kinds: Mapping[str, str]) -> str | None:
    """Return the only column of times, if there is one."""
    found = find_time_columns(kinds, [name for name, kind in kinds.items() if kind == "time"])
    if len(found) > 1:
        raise InvalidInputError(
            f"`order` must name the column of times if there are several, got 'auto' for "
            f"{_listed(found)}; name one of them, or pass None if rows are in order"
        )
    return found[0] if found else None


def _check_column(name: str, column: Any, known: Mapping[str, str]) -> None:
    if column not in known:
        hint = did_you_mean(column, known) or f"; the columns are {_listed(known)}"
        raise InvalidInputError(f"`{name}` must be a column of `frame`, got {column!r}{hint}")


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))


# --- evaluating ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _FrameEvaluation:
    """Measures and settings for each series."""

    settings: EvaluationSettings
    measures: tuple[Measure, ...]
    raises: bool
    duplicates: str = "error"
    zone: tzinfo | None = None

    def check_buffer(self, roles: _Roles) -> None:
        """Reject a strategy that needs values if no value column is given."""
        strategy = self.settings.buffer
        if (
            roles.value is None
            and isinstance(strategy, str)
            and self.settings.buffer_fallback is None
        ):
            try:
                choose_buffer(strategy, y_true=[0, 1, 0])
            except InvalidInputError:
                raise InvalidInputError(
                    f"`value` must be a column of `frame` for buffer={strategy!r}, got None; name "
                    "the column, or use buffer='auto'"
                ) from None

    def add_group(self, table: _Values, group: _Group, roles: _Roles) -> None:
        """Append the values of several series."""
        together = self._evaluate_together(group, roles)
        for place, name in enumerate(group.names):
            if place not in together:
                self.add_series(table, name, group.series(place), roles)
                continue
            values, (length, reason), excess = together[place]
            table.add_excess(name, excess)
            for detector, numbers in zip(roles.scores, values, strict=True):
                table.add(name, detector, numbers, length, reason, "OK", None)

    def _evaluate_together(self, group: _Group, roles: _Roles) -> dict[int, tuple[Any, ...]]:
        """Return values, buffer and its excess of each valid series, by position in the group."""
        if not can_batch(self.measures, self.settings, has_values=roles.value is not None):
            return {}
        labels, offsets = group.arrays[roles.label], group.offsets
        scores = [group.arrays[detector] for detector in roles.scores]
        valid = find_valid_series(labels, scores, offsets)
        if roles.order is not None:
            valid &= _are_sorted(group.arrays[roles.order], offsets)
        if not valid.any():
            return {}
        if not valid.all():
            lengths = np.diff(offsets)
            is_valid = np.repeat(valid, lengths)
            labels, scores = labels[is_valid], [score[is_valid] for score in scores]
            offsets = np.append(0, np.cumsum(lengths[valid]))
        names = [measure.name for measure in self.measures]
        try:
            found = evaluate_batch(labels != 0, scores, offsets, self.settings, names)
        except VuskitError:
            return {}  # series by series, so that the error of each is recorded
        rows = zip(found.values.tolist(), found.buffers, found.excess, strict=True)
        return dict(zip(valid.nonzero()[0].tolist(), rows, strict=True))

    def add_series(self, table: _Values, name: Name, arrays: Arrays, roles: _Roles) -> None:
        """Append the values of one series."""
        notes: list[str] = []
        try:
            if roles.order is not None:
                notes += self._sort_points(arrays, roles)
            evaluator = self._evaluator(arrays, roles)
        except VuskitError as error:
            for detector in roles.scores:
                self._add_failure(table, name, detector, None, "ERROR", error)
            return
        if isinstance(evaluator, Evaluator):
            table.add_excess(name, evaluator._excess_of_buffer)
        for detector in roles.scores:
            if isinstance(evaluator, str):
                without = not np.any(arrays[roles.label])
                alarms = alarms_text(arrays[detector], self.settings) if without else ""
                skipped = InvalidInputError(evaluator + alarms)
                self._add_failure(table, name, detector, None, "SKIPPED", skipped)
                continue
            try:
                values = evaluator(arrays[detector])
            except VuskitError as error:
                self._add_failure(table, name, detector, evaluator, "ERROR", error)
                continue
            filled = [missing_note(values.missing)] if values.missing else []
            message = "; ".join([*notes, *filled]) or None
            table.add(name, detector, values.values(), *evaluator.buffer_record, "OK", message)

    def _evaluator(self, arrays: Arrays, roles: _Roles) -> Evaluator | str:
        """Return the evaluator of a series, or the reason to skip the series."""
        labels = check_labels(arrays[roles.label], roles.label)
        if not labels.has_both_classes:
            only = "anomalous" if labels.n_anomalous else "normal"
            return f"`{roles.label}` must have normal and anomalous points, got only {only} ones"
        values = None if roles.value is None else arrays[roles.value]
        return Evaluator._of_many(
            labels, measures=self.measures, settings=self.settings, values=values
        )

    def _sort_points(self, arrays: Arrays, roles: _Roles) -> Iterator[str]:
        """Sort the points of a series by time, and yield notes on what that changed."""
        order = str(roles.order)
        times = read_times(order, arrays[order], zone=self.zone)
        if (times[1:] > times[:-1]).all():
            return
        rank = np.argsort(times, kind="stable")
        if not roles.is_order_given and not (times[1:] >= times[:-1]).all():
            yield f"rows sorted by {order!r}"
        same = np.flatnonzero(times[rank][1:] == times[rank][:-1])
        if same.size:
            shown = ", ".join(map(str, dict.fromkeys(times[rank[same]][:3].tolist())))
            if self.duplicates == "error":
                raise InvalidInputError(
                    f"`{order}` must be unique within a series, got {same.size:,} more rows at the "
                    f"same times (first: {shown}); add the column that separates the series to "
                    "`by`, or pass duplicates='last' or duplicates='first' to keep one row per time"
                )
            yield f"dropped {same.size:,} rows at times that another row has (first: {shown})"
            rank = np.delete(rank, same if self.duplicates == "last" else same + 1)
        for column in arrays:
            arrays[column] = arrays[column][rank]

    def _add_failure(
        self,
        table: _Values,
        name: Name,
        detector: str,
        evaluator: Evaluator | None,
        status: str,
        error: VuskitError,
    ) -> None:
        if self.raises:
            series = "/".join(dict.fromkeys(part for part in name if part != _WHOLE)) or _WHOLE
            raise InvalidInputError(
                f"{error} (series {series!r}, score {detector!r}); use errors='record' to continue"
            ) from error
        nothing = [float("nan")] * len(self.measures)
        if evaluator is None:
            table.add(name, detector, nothing, None, None, status, str(error))
        else:
            table.add(name, detector, nothing, *evaluator.buffer_record, status, str(error))


def _are_sorted(times: NDArray[Any], offsets: Ints) -> NDArray[np.bool_]:
    """Whether the times of each series are known and ascending; False for text and objects."""
    starts = offsets[:-1]
    if times.dtype.kind not in "biufMm":
        return np.zeros(starts.size, dtype=np.bool_)
    rises = np.append(True, times[1:] > times[:-1])
    rises[starts] = times[starts] == times[starts]  # False for NaN and NaT
    return np.asarray(np.logical_and.reduceat(rises, starts))


class _Values:
    """Result table, stored as one entry per series and detector."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self.measures = [measure.name for measure in measures]
        self.values = array("d")
        self.entries: dict[str, list[Any]] = {
            name: [] for name in _COLUMNS if name not in ("measure", "value")
        }
        self.excess: list[str] = []

    def add_excess(self, name: Name, excess: str | None) -> None:
        """Remember that the buffer of a series is too long."""
        if excess is not None:
            self.excess.append(f"{name[1]}: {excess}")

    def add(
        self,
        name: Name,
        detector: str,
        values: Any,
        buffer: int | None,
        reason: str | None,
        status: str,
        message: str | None,
    ) -> None:
        self.values.extend(values)
        row = (*name, detector, buffer, reason, status, message)
        for entries, entry in zip(self.entries.values(), row, strict=True):
            entries.append(entry)

    def columns(self, make: Callable[[str, list[Any]], Any]) -> dict[str, Any]:
        """Return the columns of the result as arrays; `make(column, entries)` creates an array."""
        # Convert entries before repeating them for each measure, because conversion takes longer.
        entry, measure = np.divmod(np.arange(len(self.values)), len(self.measures))
        columns = {name: make(name, entries).take(entry) for name, entries in self.entries.items()}
        columns["measure"] = make("measure", self.measures).take(measure)
        columns["value"] = np.array(self.values)
        return {name: columns[name] for name in _COLUMNS}


def _evaluate(source: _Source, roles: _Roles, evaluation: _FrameEvaluation) -> _Values:
    """Evaluate the series of a source; sort it if rows of a series are not adjacent."""
    for is_sorted in (False, True):
        table = _Values(evaluation.measures)
        batches = source.batches(roles, is_sorted)
        try:
            for group in _groups(batches, roles):
                roles.check_epochs(group.arrays)
                evaluation.add_group(table, group, roles)
        except _ScatteredError as error:
            if not source.can_sort:
                raise InvalidInputError(
                    "`frame` must have adjacent rows for each series if it can be read only once, "
                    f"got series {error.name[1]!r} again; sort it, or pass a table, a polars "
                    "LazyFrame or a DuckDB relation"
                ) from None
            continue
        finally:
            batches.close()
        break
    if table.excess:
        more = f" ({len(table.excess):,} series have such buffers)" if table.excess[1:] else ""
        warn_long_buffer(table.excess[0] + more)
    return table


class _ScatteredError(Exception):
    """Rows of a series are not adjacent."""

    def __init__(self, name: Name) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class _Group:
    """Series stored one after the other; ``offsets`` are their first rows and the end."""

    names: list[Name]
    offsets: Ints
    arrays: Arrays

    @classmethod
    def single(cls, name: Name, parts: list[Arrays]) -> _Group:
        """Return the group of one series, whose rows may come from several batches."""
        arrays = _joined(parts)
        return cls([name], np.array([0, len(next(iter(arrays.values())))]), arrays)

    def series(self, place: int) -> Arrays:
        """Return the arrays of one series."""
        return _rows(self.arrays, self.offsets[place], self.offsets[place + 1])


def _rows(arrays: Arrays, start: int, stop: int) -> Arrays:
    return {column: values[start:stop] for column, values in arrays.items()}


def _groups(batches: Iterator[Any], roles: _Roles) -> Iterator[_Group]:
    """Yield the whole series of each batch; series of several batches are yielded separately."""
    seen: dict[Name, Any] = {}  # ids by name
    current: Any = None  # ids of the last series, which may continue in the next batch
    parts: list[Arrays] = []
    for batch in batches:
        if len(batch) == 0:
            continue
        starts, ids = _runs(batch, roles)
        names = [roles.name(one) for one in ids]
        first = int(ids[0] == current)
        # Check before evaluating anything, so that unsorted frames are detected early.
        for name, one in zip(names[first:], ids[first:], strict=True):
            if name in seen:
                if seen[name] == one:
                    raise _ScatteredError(name)
                raise InvalidInputError(
                    f"`by` must give each series a unique name, got {name[1]!r} for two series; "
                    "rename one of them"
                )
            seen[name] = one
        arrays = {column: _to_numpy(batch[column]) for column in roles.arrays}
        bounds = [*starts, len(batch)]
        if first:
            parts.append(_rows(arrays, 0, bounds[1]))
            if len(names) == 1:
                continue
        if current is not None:
            yield _Group.single(roles.name(current), parts)
        if whole := names[first:-1]:
            offsets = np.array(starts[first:])
            yield _Group(whole, offsets - offsets[0], _rows(arrays, starts[first], starts[-1]))
        current, parts = ids[-1], [_rows(arrays, *bounds[-2:])]
    if current is not None:
        yield _Group.single(roles.name(current), parts)


def _runs(batch: Any, roles: _Roles) -> tuple[list[int], list[tuple[Any, ...]]]:
    """Return the first row and the ids of each series in a batch."""
    if not roles.keys:
        return [0], [()]
    changed = np.zeros(len(batch), dtype=bool)
    columns = []
    for key in roles.keys:
        column = _plain(batch[key])
        if column.null_count():
            _check_ids(key, [None])
        if column.dtype == _narwhals().Object:
            _check_ids(key, column.to_list())  # Python compares 1 and 1.0 as equal
        changed[1:] |= (column[1:] != column.shift(1)[1:]).to_numpy().astype(bool)
        columns.append(column)
    changed[0] = True
    starts = np.flatnonzero(changed).tolist()
    values = [column[starts].to_list() for column in columns]
    for key, ids in zip(roles.keys, values, strict=True):
        _check_ids(key, ids)
    return starts, list(zip(*values, strict=True))


def _check_ids(key: str, ids: list[Any]) -> None:
    """Refuse ids that are missing, empty, or of several types."""
    for one in ids:
        if one is None or one != one or one == "":
            shown = "empty text" if one == "" else "a missing value"
            raise InvalidInputError(
                f"{key!r} must name the series in every row, got {shown}; fill or drop it"
            )
    kinds = {type(one).__name__ for one in ids}
    if len(kinds) > 1:
        raise InvalidInputError(
            f"{key!r} must hold ids of one type, got {' and '.join(sorted(kinds))}; convert them, "
            "for example to text"
        )


def _plain(column: Any) -> Any:
    """Return a column with categories as text, so that it can be compared."""
    nw = _narwhals()
    return column.cast(nw.String) if column.dtype in (nw.Categorical, nw.Enum) else column


def _to_numpy(column: Any) -> NDArray[Any]:
    if column.dtype.is_decimal():
        column = column.cast(_narwhals().Float64)
    return np.asarray(column.to_numpy())


def _joined(parts: list[Arrays]) -> Arrays:
    if len(parts) == 1:
        return parts[0]
    return {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}


# --- sources -------------------------------------------------------------------------------------


def _narwhals() -> Any:
    return require("narwhals.stable.v2", purpose="evaluate_frame()", extra="frames")


class _Source:
    """Access to a frame: its columns, its rows in batches, and results of the same type."""

    can_sort = True
    kinds: dict[str, str]

    def batches(self, roles: _Roles, is_sorted: bool) -> Any:
        """Yield batches of rows as eager narwhals frames, sorted by series if requested."""
        raise NotImplementedError

    def result(self, values: _Values) -> Any:
        """Return the result in the type of the frame."""
        raise NotImplementedError


def _source_of(frame: Any, request: Mapping[str, Any]) -> _Source:
    nw = _narwhals()
    native = nw.to_native(frame, pass_through=True)
    if _is_of(native, "pyarrow", "RecordBatchReader"):
        return _ReaderSource(native)
    if _is_of(native, "pyarrow", "RecordBatch"):
        native = require("pyarrow", purpose="a record batch").Table.from_batches([native])
    wrapped = nw.from_native(_with_index_columns(native, request), pass_through=True)
    if isinstance(wrapped, nw.DataFrame):
        return _EagerSource(wrapped)
    if isinstance(wrapped, nw.LazyFrame):
        if wrapped.implementation.is_polars():
            return _LazyPolarsSource(wrapped)
        if wrapped.implementation.is_duckdb():
            return _DuckdbSource(wrapped)
    kind = f"{type(native).__module__}.{type(native).__qualname__}"
    raise InvalidInputError(
        "`frame` must be a table of pandas, polars, pyarrow, DuckDB or Dask, "
        f"got {kind}; convert it with its `to_pandas()` or `to_arrow()`"
    )


def _is_of(value: Any, package: str, name: str) -> bool:
    kind = type(value)
    return kind.__module__.partition(".")[0] == package and kind.__name__ == name


def _with_index_columns(frame: Any, request: Mapping[str, Any]) -> Any:
    """Turn the index levels of a pandas frame that have a role into columns."""
    if not _is_of(frame, "pandas", "DataFrame"):
        return frame
    by, order = request["by"], request["order"]
    if order == _AUTO and getattr(frame.index, "dtype", np.dtype("O")).kind == "M":
        name = frame.index.name or TIME_NAMES[0]
        return frame if name in frame.columns else frame.rename_axis(index=name).reset_index()
    wanted = {*([by] if isinstance(by, str) else by or []), request["dataset"], order}
    levels = [one for one in frame.index.names if one in wanted - {None, *frame.columns}]
    return frame.reset_index(levels) if levels else frame


def _kinds(schema: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: "number" if dtype.is_numeric() else "time" if dtype.is_temporal() else "other"
        for name, dtype in schema.items()
    }


class _EagerSource(_Source):
    """A frame in memory."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.kinds = _kinds(frame.schema)

    def batches(self, roles: _Roles, is_sorted: bool) -> Any:
        frame = self.frame.select(roles.columns)
        if is_sorted:
            frame = frame.with_row_index(_ROW).sort([*roles.keys, _ROW])
        for start in range(0, len(frame), _BATCH):
            yield frame[start : start + _BATCH]

    def result(self, values: _Values) -> Any:
        backend = self.frame.implementation
        if backend.is_pandas_like():
            return _pandas_result(values, self.frame.__native_namespace__())
        return _narwhals_result(values, backend)


class _LazyPolarsSource(_Source):
    """A polars LazyFrame."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.kinds = _kinds(frame.collect_schema())

    def batches(self, roles: _Roles, is_sorted: bool) -> Any:
        frame = self.frame.select(roles.columns)
        if is_sorted:
            polars = require("polars", purpose="a LazyFrame", extra="frames")
            native = frame.to_native().with_row_index(_ROW)
            native = native.sort([polars.col(name) for name in (*roles.keys, _ROW)])
        else:
            native = frame.to_native()
        if not hasattr(native, "collect_batches"):
            raise InvalidInputError(
                "`frame` must be eager for this version of polars, got a LazyFrame; "
                "pip install --upgrade polars, or pass frame.collect()"
            )
        batches = native.collect_batches(chunk_size=_BATCH, maintain_order=True)
        try:
            for batch in batches:
                yield _narwhals().from_native(batch, eager_only=True)
        finally:
            if hasattr(batches, "stop"):
                batches.stop()

    def result(self, values: _Values) -> Any:
        return _narwhals_result(values, "polars")


class _ReaderSource(_Source):
    """A stream of pyarrow record batches."""

    can_sort = False

    def __init__(self, reader: Any) -> None:
        self.reader = reader
        empty = _narwhals().from_native(reader.schema.empty_table())
        self.kinds = _kinds(empty.schema)

    def batches(self, roles: _Roles, is_sorted: bool) -> Any:
        yield from _arrow_batches(self.reader, roles.columns)

    def result(self, values: _Values) -> Any:
        return _narwhals_result(values, "pyarrow")


class _DuckdbSource(_Source):
    """A DuckDB relation."""

    def __init__(self, frame: Any) -> None:
        self.relation = frame.to_native()
        self.kinds = _kinds(frame.collect_schema())

    def batches(self, roles: _Roles, is_sorted: bool) -> Any:
        require("pyarrow", purpose="evaluate_frame() of a DuckDB relation", extra="frames")
        columns = ", ".join(map(_quoted, roles.columns))
        if is_sorted:
            relation = self.relation.project(f"{columns}, row_number() over () as {_ROW}")
            relation = relation.order(", ".join(map(_quoted, (*roles.keys, _ROW))))
        else:
            relation = self.relation.project(columns)
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        yield from _arrow_batches(read(_BATCH), roles.columns)

    def result(self, values: _Values) -> Any:
        evaluated = _narwhals_result(values, "pyarrow")
        # DuckDB resolves `evaluated` from the local variables, on the connection of the frame.
        relation = self.relation.query("vuskit_frame", "from evaluated")
        del evaluated
        return relation


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _arrow_batches(reader: Any, columns: list[str]) -> Iterator[Any]:
    pyarrow = require("pyarrow", purpose="record batches", extra="frames")
    for batch in reader:
        table = pyarrow.Table.from_batches([batch]).select(columns)
        yield _narwhals().from_native(table, eager_only=True)


# --- results -------------------------------------------------------------------------------------


def _narwhals_result(values: _Values, backend: Any) -> Any:
    nw = _narwhals()
    schema = dict.fromkeys(_COLUMNS, nw.String)
    schema |= {"value": nw.Float64, "buffer": nw.Int64}
    columns = values.columns(lambda name, entries: np.array(entries, dtype=object))
    # Use missing values instead of NaN, because an average over NaN would be NaN.
    missing = np.isnan(columns["value"])
    if missing.any():
        columns["value"] = columns["value"].astype(object)
        columns["value"][missing] = None
    lists = {name: column.tolist() for name, column in columns.items()}
    return nw.from_dict(lists, schema=schema, backend=backend).to_native()


def _pandas_result(values: _Values, pandas: Any) -> Any:
    # Before pandas 3, dtype "str" would turn None into the text "None".
    text = "str" if int(pandas.__version__.partition(".")[0]) >= 3 else object
    dtypes = {**dict.fromkeys(_TEXT, text), "buffer": "Int64"}
    return pandas.DataFrame(
        values.columns(lambda name, entries: pandas.array(entries, dtype=dtypes[name]))
    )


# --- Dask ----------------------------------------------------------------------------------------


def _is_dask(frame: Any) -> bool:
    kind = type(frame)
    return kind.__module__.partition(".")[0].startswith("dask") and kind.__name__ == "DataFrame"


def _evaluate_dask(frame: Any, request: dict[str, Any], evaluation: _FrameEvaluation) -> Any:
    """Evaluate the partitions of a Dask frame; shuffle first if a series may span several."""
    pandas = require("pandas", purpose="evaluate_frame() of a Dask frame")
    roles = _Roles.of(_source_of(frame._meta, request).kinds, **request)
    evaluation.check_buffer(roles)
    if not roles.keys:
        frame = frame.repartition(npartitions=1)
    elif not _holds_whole_series(frame, roles):
        meta = _number_rows(frame._meta)
        frame = frame.map_partitions(_number_rows, meta=meta).shuffle(on=list(roles.keys))
    result = _pandas_result(_Values(evaluation.measures), pandas)
    return frame.map_partitions(_evaluate_partition, request, roles, evaluation, meta=result)


def _holds_whole_series(frame: Any, roles: _Roles) -> bool:
    """Whether each series lies within one partition."""
    if frame.npartitions == 1:
        return True
    index = frame._meta.index.name
    if index not in roles.keys or index in frame.columns or not frame.known_divisions:
        return False
    starts = frame.divisions[:-1]
    return len(set(starts)) == len(starts)


def _number_rows(frame: Any, partition_info: dict[str, Any] | None = None) -> Any:
    """Add a column with row positions, because a shuffle does not preserve row order."""
    first = (partition_info["number"] if partition_info else 0) << 40
    index = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(index) if index else frame
    return frame.assign(**{_ROW: np.arange(first, first + len(frame), dtype=np.int64)})


def _evaluate_partition(
    frame: Any, request: dict[str, Any], roles: _Roles, evaluation: _FrameEvaluation
) -> Any:
    if _ROW in frame.columns:
        frame = frame.sort_values(_ROW).drop(columns=_ROW)
    source = _source_of(frame, request)
    return source.result(_evaluate(source, roles, evaluation))

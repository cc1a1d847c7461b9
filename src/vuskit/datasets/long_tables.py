"""Tables of many series: a column names the series of each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.files import file_state
from vuskit._util.optional import require
from vuskit._util.text import quoted
from vuskit.datasets.columns import (
    LABEL_NAMES,
    Columns,
    Roles,
    anomalous_words,
    check_column,
    epochs_left_out,
    is_place,
    is_second_label,
    label_and_value,
    place_shown,
    scores_or_rising,
    second_label,
)
from vuskit.datasets.tables import (
    PARQUET,
    Table,
    is_dated,
    named_columns,
    open_table,
    table_suffix,
)
from vuskit.errors import InvalidInputError
from vuskit.times import find_time_columns, is_row_number, look_like_epochs

_FEW = 12  # this many numbers may be increasing by chance
_BLOCK = 1 << 17  # rows
WHOLE = "all"
"""Name of the series and data set of a frame without a column that names them."""

Key = tuple[str, ...]


class LongTable:
    """Rows of many series; those of a series are adjacent, or brought together in memory.

    A parquet file is read in blocks, other files as a whole.
    """

    def __init__(self, path: Path, by: Key, table: Table | None = None) -> None:
        self.path = path
        self._file: Any = None
        self._table = table
        self._kept: tuple[tuple[str, ...], int, int, Table] | None = None
        if table is None and table_suffix(path) in PARQUET and path.suffix.lower() in PARQUET:
            self._file = _parquet_file(path)
        elif table is None:
            self._table = open_table(path, texts=by)
        for option, name in zip(("dataset", "by")[-len(by) :], by, strict=False):
            check_column(path, self.names, option, name)
        self.keys, self.bounds = self._find_series(by)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        if self._table is not None:
            return self._table.names
        return tuple(name.strip() for name in self._file.schema_arrow.names)

    @cached_property
    def time_names(self) -> tuple[str, ...]:
        """Columns that may hold times or row numbers."""
        schema = self._file.schema_arrow if self._table is None else self._table.to_arrow().schema
        named = [find_time_columns([name], ()) or is_row_number(name) for name in self.names]
        found = zip(self.names, named, schema.types, strict=True)
        return tuple(name for name, is_named, kind in found if is_named or is_dated(kind))

    @property
    def form(self) -> str:
        """Description of an unusual separator, decimal sign or encoding; usually empty."""
        return "" if self._table is None else self._table.form

    def cut(self, start: int, stop: int) -> LongTable:
        """Return a table in memory with the rows of one series."""
        assert self._table is not None
        return LongTable(self.path, (), self._table.take(np.arange(start, stop)))

    def first_rows(self) -> Table:
        """Return the first rows, to look at types of columns."""
        return self.rows(0, min(int(self.bounds[-1]), _BLOCK))

    def rows(self, start: int, stop: int, names: Sequence[str] | None = None) -> Table:
        """Return consecutive rows; errors refer to rows of the file."""
        if self._table is not None:
            return self._table.slice(start, stop)
        wanted = self.names if names is None else tuple(names)
        if self._kept is None or not self._holds(wanted, start, stop):
            self._kept = self._read(wanted, start, stop)
        _, first, _, table = self._kept
        return table.slice(start - first, stop - first)

    def select(self, part: str | None) -> tuple[str, Table]:
        """Return the name and the rows of a series."""
        names = [key[-1] for key in self.keys]
        if part is None and len(names) == 1:
            part = names[0]
        if part not in names:
            got = "none" if part is None else repr(part)
            raise InvalidInputError(
                f"{self.path}: `part` must be one of {len(names):,} series, got {got}; "
                f"choose from {quoted(names, most=5)}"
            )
        place = names.index(part)
        return part, self.rows(int(self.bounds[place]), int(self.bounds[place + 1]))

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[int, Table]]:
        """Yield all rows of some columns in blocks, each with the number of its first row."""
        if self._table is not None:
            yield 0, self._table
            return
        first = 0
        for batch in self._file.iter_batches(batch_size=_BLOCK, columns=self._written(names)):
            table = require("pyarrow", purpose="long tables").Table.from_batches([batch])
            if table.num_rows:
                yield first, _as_table(self.path, table, first)
            first += table.num_rows

    def _written(self, names: Sequence[str]) -> list[str]:
        return [name for name in self._file.schema_arrow.names if name.strip() in names]

    def _holds(self, names: tuple[str, ...], start: int, stop: int) -> bool:
        assert self._kept is not None
        known, first, last, _ = self._kept
        return known == names and first <= start and stop <= last

    def _read(
        self, names: tuple[str, ...], start: int, stop: int
    ) -> tuple[tuple[str, ...], int, int, Table]:
        """Read the row groups that hold some rows."""
        about = self._file.metadata
        sizes = [about.row_group(place).num_rows for place in range(about.num_row_groups)]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        groups = [i for i, (a, b) in enumerate(pairwise(bounds)) if a < stop and b > start]
        table = self._file.read_row_groups(groups, columns=self._written(names), use_threads=False)
        first = int(bounds[groups[0]])
        return names, first, int(bounds[groups[-1] + 1]), _as_table(self.path, table, first)

    def _find_series(self, by: Key) -> tuple[list[Key], NDArray[np.intp]]:
        """Return the keys and bounds of the series; sort the rows if they lie apart."""
        if not by:
            assert self._table is not None
            return [(WHOLE,)], np.array([0, self._table.length])
        keys: list[Key] = []
        starts: list[int] = []
        n_rows = 0
        for first, table in self.blocks(by):
            n_rows = first + table.length
            changed = np.zeros(table.length, dtype=np.bool_)
            changed[0] = True
            cells = []
            for name in by:
                table.check_filled(name, "the name of a series")
                words, codes = table.distinct(name)
                changed[1:] |= codes[1:] != codes[:-1]
                cells.append((words, codes))
            for place in np.flatnonzero(changed).tolist():
                key = tuple(words[codes[place]] for words, codes in cells)
                if not keys or key != keys[-1]:
                    keys.append(key)
                    starts.append(first + place)
        bounds = np.array([*starts, n_rows])
        distinct = list(dict.fromkeys(keys))
        if len(distinct) == len(keys):
            return keys, bounds
        number = {key: place for place, key in enumerate(distinct)}
        codes = np.repeat([number[key] for key in keys], np.diff(bounds))
        whole = self._table if self._table is not None else self.rows(0, n_rows)
        self._table, self._kept = whole.take(np.argsort(codes, kind="stable")), None
        sizes = np.bincount(codes, minlength=len(distinct))
        return distinct, np.concatenate([[0], np.cumsum(sizes)])


def _parquet_file(path: Path) -> Any:
    pyarrow = require("pyarrow", purpose="reading parquet files", extra="cli")
    parquet = require("pyarrow.parquet", purpose="reading parquet files", extra="cli")
    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise InvalidInputError(f"{path}: not a readable parquet file: {error}") from error
    if not file.metadata.num_rows:
        raise InvalidInputError(f"{path}: the file must have at least one row, got none")
    return file


def _as_table(path: Path, arrow: Any, first: int) -> Table:
    return Table(path, named_columns(path, arrow), first_row=first)


def open_long_table(path: Path, by: str, dataset: str | None = None) -> LongTable:
    """Open a file with many series; caches the last file, whose series are read in turn."""
    return _open(path, (by,) if dataset is None else (dataset, by), file_state(path))


@lru_cache(maxsize=1)
def _open(path: Path, by: Key, state: str) -> LongTable:
    return LongTable(path, by)


# -- roles of the columns ------------------------------------------------------------------------


@dataclass(frozen=True)
class LongRoles:
    """Roles of the columns of a long table, decided for all series together."""

    roles: Roles
    anomalous: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


def find_long_roles(
    table: LongTable, columns: Columns, *, labels_elsewhere: bool = False
) -> LongRoles:
    """Decide the role of each column for all series together; labels may be in another file."""
    columns.check(table.path, table.names)
    first = table.first_rows()
    label, value = label_and_value(first, columns, labels_elsewhere=labels_elsewhere)
    taken = {label, *value, columns.by, columns.dataset, columns.order}
    if columns.score:
        roles = Roles(label, value, tuple(dict.fromkeys(columns.score)))
    else:
        roles = Roles(label, value, *_score_names(table, first, columns, taken))
    if not roles.scores:
        raise InvalidInputError(
            f"{table.path}: there must be a column of scores besides {quoted(table.names)}; "
            "name one with --score"
        )
    if labels_elsewhere:
        return LongRoles(replace(roles, label=None))
    assert label is not None
    if columns.positive is None and not first.is_text(label):
        return LongRoles(roles)
    counts: dict[str, int] = {}
    for _, rows in table.blocks((label,)):
        words, codes = rows.distinct(label)
        for word, count in zip(words, np.bincount(codes, minlength=len(words)), strict=True):
            counts[word] = counts.get(word, 0) + int(count)
    known = {word: count for word, count in counts.items() if word != "None"}
    found, notes = anomalous_words(
        table.path, label, list(known), list(known.values()), columns.positive
    )
    return LongRoles(roles, tuple(found), notes)


def _score_names(
    table: LongTable, first: Table, columns: Columns, taken: set[str | None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the score columns and the ignored columns."""
    left_out: list[str] = []
    candidates: list[str] = []
    for name in first.names:
        if name not in taken:
            if is_place(first, name):
                left_out.append(place_shown(first, name))
            else:
                candidates.append(name)
    long = bool((np.diff(table.bounds) > _FEW).any())
    rising = set(candidates) if long else set()
    labels = {name for name in candidates if name.strip().lower() in LABEL_NAMES}
    epochs = set(candidates)
    last: dict[str, float] = {}
    for start, rows in table.blocks(candidates):
        undecided = [name for name in candidates if name in rising | labels | epochs]
        if not undecided:
            break
        bounds = table.bounds[np.searchsorted(table.bounds, start) :]
        begins = bounds[bounds < start + rows.length] - start
        for name in undecided:
            numbers = rows.numbers(name)
            if not is_second_label(name, numbers):
                labels.discard(name)
            if not look_like_epochs(numbers):
                epochs.discard(name)
            rises = numbers > np.concatenate([[last.get(name, -np.inf)], numbers[:-1]])
            rises[begins] = True
            if not rises.all():
                rising.discard(name)
            last[name] = float(numbers[-1])
    left_out += [second_label(name) for name in candidates if name in labels - rising]
    left_out += epochs_left_out(first, columns, [n for n in candidates if n in epochs - rising])
    scores = [name for name in candidates if name not in rising | labels | epochs]
    return scores_or_rising(scores, [name for name in candidates if name in rising], left_out)

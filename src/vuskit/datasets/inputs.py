"""Open series with scores: files, patterns, folders, standard input, long tables, frames."""

from __future__ import annotations

import atexit
import contextlib
import glob
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vuskit._util.files import check_exists, check_file, file_state
from vuskit._util.optional import require
from vuskit._util.text import listed, match_names, matches_name, plural, quoted
from vuskit.alignment import ANCHORS, align_scores
from vuskit.datasets.collection import read_series
from vuskit.datasets.columns import (
    TEXT_MARK,
    Columns,
    Roles,
    Window,
    Windows,
    check_windows,
    filled_scores,
    interval_columns,
    lowest_scores,
    read_label_column,
    roles_of_file,
    time_range,
    window_of,
)
from vuskit.datasets.layouts import (
    LAYOUTS,
    SHOWN,
    LabeledFile,
    LabelFile,
    LabelFiles,
    Names,
    ScoreFile,
    ambiguous,
    cut_at_underscore,
    depth_of,
    key_column,
    label_options,
    layout_note,
    named_by_pattern,
    parse_by_layout,
)
from vuskit.datasets.layouts import layout_by_names as _layout_by_names
from vuskit.datasets.long_tables import (
    WHOLE,
    LongRoles,
    LongTable,
    find_long_roles,
    open_long_table,
)
from vuskit.datasets.readers.labels import read_labeled
from vuskit.datasets.readers.registry import declared_train_length, stem
from vuskit.datasets.row_times import (
    NO_ORDER,
    Decision,
    Ordered,
    Times,
    check_same_times,
    in_time_order,
    row_number_columns,
    row_times,
    time_column,
)
from vuskit.datasets.series import ScoredSeries, Series, SeriesName, unique_names
from vuskit.datasets.tables import (
    SUFFIXES,
    Table,
    column_names,
    damaged_gzip,
    named_columns,
    open_table,
    table_suffix,
)
from vuskit.datasets.tickets import Placed, Ticket, place_tickets
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice, length_advice, missing_note

STDIN = "-"
Scores = NDArray[np.float64]

_WILD = "*?["
_STDIN_KINDS = {
    b"\x93NUMPY": ".npy",
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"PK\x03\x04": ".npz",
}


@runtime_checkable
class Source(Protocol):
    """A series with scores that is read on demand; picklable for several processes."""

    @property
    def name(self) -> str:
        """Data set and series."""

    def read(self) -> ScoredSeries:
        """Return the series and its scores."""


@dataclass(frozen=True)
class LoadedScore:
    """A score as read from its file, or why it is unusable."""

    detector: str
    numbers: Scores | Exception
    filled: int = 0  # points at the ends without a score, which got the nearest one
    missing: int = 0  # points without a score, which rank below all others
    path: Path | None = None
    note: str | None = None
    aligned: tuple[str, int] | None = None  # anchor and length of the windows


@dataclass(frozen=True)
class Loaded:
    """A series with its scores, and how they were read."""

    series: Series
    scores: tuple[LoadedScore, ...]
    label: str = "label"
    path: Path | None = None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dates: NDArray[np.datetime64] | None = None
    decisions: tuple[Decision, ...] = ()
    tickets: tuple[Ticket, ...] = ()

    @property
    def file_name(self) -> str:
        """Name of the file of the only scores, or of the labels."""
        path = self.scores[0].path if len(self.scores) == 1 else self.path
        return self.series.name if path is None else path.name

    @property
    def summary(self) -> str:
        """Length, times and columns by role, in one line."""
        names = ", ".join(one.detector for one in self.scores)
        parts = [f"labels: {self.label}", f"scores: {names}"]
        if not np.isnan(self.series.values).all():
            parts.append(f"values: {', '.join(self.series.channels)}")
        if self.left_out:
            parts.append(f"left out: {', '.join(self.left_out)}")
        times = time_range(self.dates)
        shown = f" ({times[0]} … {times[1]})" if times else ""
        return f"{self.series.n_points:,} points{shown}; {'; '.join(parts)}"

    def scored(self) -> ScoredSeries:
        """Return the series and its scores; raises if one is unusable."""
        scores = {}
        for one in self.scores:
            if isinstance(one.numbers, Exception):
                if one.path is None or str(one.path) in str(one.numbers):
                    raise one.numbers
                raise InvalidInputError(f"{one.path}: {one.numbers}") from one.numbers
            scores[one.detector] = one.numbers
        return ScoredSeries(self.series, scores)


def load_source(source: Source, nan: str = "error") -> Loaded:
    """Read a series and its scores; those of files may be unusable one by one.

    Missing scores in files are an error except at the ends, or rank below all others if `nan` is
    ``"lowest"``.
    """
    if isinstance(source, FileSource | TableSource):
        return source.load(nan)
    scored = source.read()
    return Loaded(scored.series, tuple(LoadedScore(*one) for one in scored.scores.items()))


@dataclass(frozen=True)
class Inputs(Sequence[Source]):
    """Series with scores, and notes on how they were found.

    Attributes
    ----------
    entries : tuple of Source
        The series, in the order given; those of a folder by path.
    notes : tuple of str
        Interpretations and skipped files.
    """

    entries: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    def __getitem__(self, place: Any) -> Any:
        return self.entries[place]

    def __len__(self) -> int:
        return len(self.entries)


def open_inputs(
    source: Any,
    *,
    labels: str | Path | None = None,
    pattern: str | None = None,
    columns: Columns | None = None,
    align: str | None = None,
    window: Windows = None,
    select: str | Iterable[str] | None = None,
) -> Inputs:
    r"""Find series with scores; each is read on demand.

    Parameters
    ----------
    source : str, Path, data frame, ScoredSeries, Source, or iterable of these
        Files (csv, tsv, parquet, Arrow, npy or npz, also .gz), folders, shell patterns, ``"-"`` for
        standard input, a frame with one row per point, or series in memory. A custom source needs
        a ``name`` and a ``read()`` that returns a `ScoredSeries`.
    labels : str or Path, optional
        File or folder of the labels, if files of scores have none.
    pattern : str, optional
        How to read paths, such as ``"{detector}/{series}.npy"``. Default: detected.
    columns : Columns, optional
        Roles of columns. Default: found by name.
    align : {"start", "center", "end"}, optional
        Point of the window that a score belongs to.
    window : int, "auto" or mapping, optional
        Length of the windows of the scores, in points. ``"auto"``: one more than there are points
        without a score, for each detector. ``{"lof": 64}``: by detector; the scores of others are
        those of points.
    select : str or iterable of str, optional
        Selects series by name, such as ``"ECG/*"``.

    Returns
    -------
    Inputs
        The series and notes. Names are unique, see `vuskit.datasets.series`.

    Raises
    ------
    InvalidInputError
        If there are no scores, names are ambiguous, or `select` matches no series.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "Plant"
    >>> folder.mkdir()
    >>> _ = (folder / "pump.csv").write_text("flow,is_anomaly,LOF\n1,0,0.1\n9,1,0.7\n")
    >>> inputs = open_inputs(folder, columns=Columns(value="flow"))
    >>> inputs[0].name, inputs[0].read()
    ('Plant/pump', ScoredSeries(Series('Plant/pump', 2 points, 1 channel, 1 anomaly), ...['LOF']))
    """
    request = _Request(
        None if labels is None else check_exists(Path(labels)),
        pattern,
        columns or Columns(),
        align,
        window,
    )
    with plain_stdin_errors():
        found = _open(source, request)
    of_files = [one for one in found.entries if isinstance(one, FileSource)]
    check_windows(window, {score.detector for one in of_files for score in one.scores})
    with plain_stdin_errors():
        return select_sources(found, select)


@dataclass(frozen=True)
class _Request:
    """How to read files."""

    labels: Path | None
    pattern: str | None
    columns: Columns
    align: str | None
    window: Windows

    def __post_init__(self) -> None:
        if self.align is not None:
            check_choice("align", self.align, ANCHORS)
        if self.window is not None and self.align is None:
            raise InvalidInputError(
                "`window` must be used with `align`: center, start or end, the point of the "
                "window that a score belongs to"
            )
        if self.align is not None and self.window is None:
            raise InvalidInputError(
                "`align` must be used with `window`, the number of points in a window"
            )


def _open(source: Any, request: _Request) -> Inputs:
    if isinstance(source, (str, Path)):
        return _open_paths([source], request)
    if isinstance(source, ScoredSeries):
        series = source.series
        return Inputs((MemorySource(f"{series.dataset}/{series.name}", source),))
    if isinstance(source, Source):
        return Inputs((source,))
    if _is_frame(source):
        return _open_long(Path("frame"), request, _frame_table(source))
    if isinstance(source, Iterable):
        several = list(source)
        if several and all(isinstance(one, (str, Path)) for one in several):
            return _open_paths(several, request)
        found = [_open(one, request) for one in several]
        if found:
            entries = [entry for one in found for entry in one.entries]
            notes = tuple(note for one in found for note in one.notes)
            return Inputs(_with_unique_names(entries), notes)
        raise InvalidInputError(f"`source` must hold saved scores, got none in {source!r}")
    raise InvalidInputError(
        "`source` must be a folder or file of saved scores, a data frame, a ScoredSeries, or "
        f"several of these, got {type(source).__name__}"
    )


def _open_paths(paths: Sequence[str | Path], request: _Request) -> Inputs:
    if STDIN in map(str, paths):
        if len(paths) > 1:
            raise InvalidInputError(
                "`SOURCE` must be either - or files and folders, got both; choose one"
            )
        paths = [_save_stdin()]
    if request.columns.by is not None:
        if len(paths) != 1 or request.pattern is not None:
            raise InvalidInputError(
                "`by` must be used with one long table and without `pattern`, got "
                f"{plural(len(paths), 'source')}; omit it if every series has its own file"
            )
        path = Path(paths[0])
        check_file(path)
        return _open_long(path, request)
    root, files = find_files(paths, request.labels)
    return _find_scores(request, root, files)


def select_sources(inputs: Inputs, select: str | Iterable[str] | None) -> Inputs:
    """Return the series that patterns select, by name or by path below the folder."""
    if select is None:
        return inputs
    patterns = [select] if isinstance(select, str) else list(select)
    names = [(entry.name, getattr(entry, "key", entry.name)) for entry in inputs]
    for one in patterns:
        if not any(matches_name(name, one) for both in names for name in both):
            match_names([key for _, key in names], one, argument="select")
    kept = [
        entry
        for entry, both in zip(inputs, names, strict=True)
        if any(matches_name(name, one) for name in both for one in patterns)
    ]
    return Inputs(tuple(kept), inputs.notes)


# -- series in memory ----------------------------------------------------------------------------


@dataclass(frozen=True)
class MemorySource:
    """A series with scores in memory."""

    name: str
    scored: ScoredSeries

    def read(self) -> ScoredSeries:
        """Return the series and its scores."""
        return self.scored


@dataclass(frozen=True)
class RenamedSource:
    """A series that is renamed because another series has the same name."""

    source: Source
    dataset: str
    series: str

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    @property
    def place(self) -> Path | None:
        """File of the series and its scores, or run folder."""
        return getattr(self.source, "place", None)

    def read(self) -> ScoredSeries:
        """Return the series and its scores."""
        scored = self.source.read()
        named = replace(scored.series, dataset=self.dataset, name=self.series)
        return replace(scored, series=named)


def _with_unique_names(entries: Sequence[Source]) -> tuple[Source, ...]:
    """Rename series that results could not tell apart; custom sources keep their names."""
    named = [(place, one) for place, one in enumerate(entries) if _series_name(one) is not None]
    names = [name for _, one in named if (name := _series_name(one)) is not None]
    found = list(entries)
    for (place, one), name, unique in zip(named, names, unique_names(names), strict=True):
        if unique != name[:2]:
            found[place] = _renamed(one, *unique)
    return tuple(found)


def _series_name(source: Source) -> SeriesName | None:
    if isinstance(source, MemorySource):
        one = source.scored.series
        return SeriesName(one.dataset, one.name, None, one.content_hash)
    if isinstance(source, FileSource):
        return SeriesName(source.dataset or "", source.series, source.scores[0].path.resolve())
    if isinstance(source, TableSource):
        return SeriesName(source.dataset, source.series, source.table.path.resolve())
    named: SeriesName | None = getattr(source, "series_name", None)
    return named


def _renamed(source: Source, dataset: str, series: str) -> Source:
    if isinstance(source, FileSource | TableSource):
        return replace(source, dataset=dataset, series=series)
    return RenamedSource(source, dataset, series)


# -- series in files -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SavedScore:
    """Column of a file with the scores of one detector."""

    detector: str
    path: Path
    column: str
    window: Window = None


@dataclass(frozen=True)
class FileSource:
    """A series in one or several files; small and picklable."""

    dataset: str | None
    series: str
    key: str
    labels: LabeledFile
    scores: tuple[SavedScore, ...]
    columns: Columns = field(default_factory=Columns)
    align: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Data set and series."""
        return self.series if self.dataset is None else f"{self.dataset}/{self.series}"

    @property
    def part(self) -> tuple[tuple[str, str], ...]:
        """Key columns and cells that select rows; none, as the file holds one series."""
        return ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that are read."""
        points = self.labels.options.get("points")
        named = [self.labels.path, *(one.path for one in self.scores)]
        return tuple(dict.fromkeys(named if points is None else [*named, Path(points)]))

    @property
    def place(self) -> Path | None:
        """The file, if it holds labels and scores and is read by default rules."""
        plain = self.columns == Columns() and all(one.window is None for one in self.scores)
        return self.labels.path if plain and len(self.files) == 1 else None

    def read(self) -> ScoredSeries:
        """Read the series and its scores."""
        return self.load().scored()

    def load(self, nan: str = "error") -> Loaded:
        """Read the series and its scores; each file is read once."""
        with plain_stdin_errors():
            return self._load(nan)

    def _load(self, nan: str) -> Loaded:
        @cache
        def opened(path: Path) -> Table:
            return open_table(path, unread=self.columns.unread())

        @cache
        def ordered(path: Path) -> Ordered:
            return in_time_order(opened(path), self.columns, self.series)

        one, label, notes = self.labels, self.labels.path.name, tuple[str, ...]()
        decisions, tickets = tuple[Decision, ...](), tuple[Ticket, ...]()
        paths = dict.fromkeys(one.path for one in self.scores)
        if one.format == "labels":
            labeled = read_labeled(one.path, opened, **one.options)
            series, notes, tickets = labeled.series, labeled.notes, labeled.tickets
            label = labeled.label if len(self.files) == 1 else label
            rows, is_aligned = labeled.ordered, labeled.ordered is not None
            if one.path not in paths:
                decisions = labeled.decisions
        else:
            read = read_series(one.path, format=one.format, **one.options)
            assert isinstance(read, Series)
            series, rows, is_aligned = read, None, True
        series = replace(series, dataset=self.dataset or series.dataset, name=self.series)
        tables = [ordered(path) for path in paths]
        self._check_order(rows if is_aligned else tables[0], tables)
        forms = [
            f"{one.table.path.name} is read as {one.table.form}" for one in tables if one.table.form
        ]
        scores = tuple(
            self._score(one, opened(one.path), series, ordered, nan) for one in self.scores
        )
        dates = next((d for one in tables if (d := _dates(one.times)) is not None), None)
        kinds = dict.fromkeys(decision for one in tables for decision in one.decisions)
        return Loaded(
            series,
            scores,
            label,
            self.labels.path,
            self.left_out,
            (*forms, *notes, *(one.note for one in scores if one.note is not None)),
            dates if dates is not None and dates.size == series.n_points else None,
            (*kinds, *decisions),
            tickets,
        )

    def _check_order(self, labels: Ordered | None, scores: Sequence[Ordered]) -> None:
        """Refuse to sort labels or scores if nothing tells the order of the others."""
        tables = [(one.table.path, one) for one in scores]
        tables.append((self.labels.path, labels or Ordered(scores[0].table)))
        moved = next((path for path, one in tables if one.rank is not None), None)
        untimed = next((path for path, one in tables if one.times is None), None)
        if moved is not None and untimed is not None:
            raise InvalidInputError(
                f"{moved}: rows must be in the order of their times, as {untimed} has no times by "
                "which to sort; sort both, or use --order none if their rows belong together as "
                "they are"
            )
        for _, one in tables[:-1]:
            check_same_times(tables[-1][1], one, self.columns.timezone)

    def _score(
        self,
        one: SavedScore,
        table: Table,
        series: Series,
        ordered: Callable[[Path], Ordered],
        nan: str,
    ) -> LoadedScore:
        try:
            numbers = table.scores(one.column)
            rank = ordered(one.path).rank
            numbers = numbers if rank is None else numbers[rank]
            n = series.n_points
            got = f"{numbers.size} scores and {n} labels; "
            aligned = aligned_scores(numbers, n, one.window, self.align, got)
            found = _without_missing(one.path, one.detector, aligned, nan)
            if numbers.size == n:
                return found
            length = n - numbers.size + 1
            told = f"{one.detector}: windows of {length:,} points" if one.window == "auto" else None
            note = "; ".join(filter(None, (told, found.note))) or None
            return replace(found, note=note, aligned=(self.align or "center", length))
        except (VuskitError, OSError) as error:
            return LoadedScore(one.detector, error, path=one.path)


def _dates(times: Times | None) -> NDArray[np.datetime64] | None:
    """Return times that are dates."""
    if times is None:
        return None
    dates = times.as_dates()
    return dates.values.astype("datetime64[us]") if dates.are_dates else None


def _without_missing(path: Path, detector: str, numbers: Scores, nan: str) -> LoadedScore:
    if nan == "lowest":
        lowest, missing = lowest_scores(path, detector, numbers)
        note = f"{detector}: {missing_note(missing)}" if missing else None
        return LoadedScore(detector, lowest, missing=missing, path=path, note=note)
    filled, note = filled_scores(path, detector, numbers)
    n_filled = int(np.isnan(numbers).sum()) if note else 0
    return LoadedScore(detector, filled, n_filled, path=path, note=note)


def aligned_scores(
    scores: Scores, n_points: int, window: Window, align: str | None, got: str = ""
) -> Scores:
    """Return one score per point; an error proposes options and names no file."""
    if scores.size == n_points:
        return scores
    if window == "auto" and n_points // 2 <= scores.size < n_points:
        window = n_points - scores.size + 1
    if isinstance(window, int) and scores.size == n_points - window + 1:
        return align_scores(scores, n_points, window=window, at=align or "center")
    remedy = f"--align center (or start, end) --window {n_points - scores.size + 1}"
    advice = length_advice(scores.size, n_points, remedy=remedy)
    raise InvalidInputError(f"there must be one score per label, got {got}{advice}")


def alignment_texts(found: Iterable[tuple[str, str, int | str]]) -> tuple[str, ...]:
    """Describe how scores of windows were aligned, by detector, anchor and length of the windows.

    Examples
    --------
    >>> alignment_texts([("LOF", "center", 64), ("AE", "center", 100)])
    ('center of windows of 64 points (LOF)', 'center of windows of 100 points (AE)')
    """
    detectors: dict[tuple[str, int | str], set[str]] = {}
    for detector, at, length in found:
        detectors.setdefault((at, length), set()).add(detector)
    texts = []
    for at, length in sorted(detectors, key=lambda one: (one[0], str(one[1]).zfill(20))):
        points = f"{length:,} points" if isinstance(length, int) else "any length"
        named = f" ({', '.join(sorted(detectors[at, length]))})" if len(detectors) > 1 else ""
        texts.append(f"{at} of windows of {points}{named}")
    return tuple(texts)


def find_files(paths: Sequence[str | Path], labels: Path | None) -> tuple[Path, tuple[Path, ...]]:
    """Return the common folder of paths and patterns, and their files."""
    found = [path for one in paths for path in _matching(str(one), labels)]
    if len(paths) == 1 and Path(paths[0]).is_dir():
        return Path(paths[0]), tuple(found)
    files = tuple(dict.fromkeys(found))
    for file in files:
        check_file(file)
    root = Path(os.path.commonpath([file.absolute().parent for file in files]))
    return root, files


def _matching(text: str, labels: Path | None) -> list[Path]:
    """Return the files of a path or pattern, without label files."""
    if any(sign in text for sign in _WILD) and not Path(text).exists():
        found = [Path(name) for name in sorted(glob.glob(text, recursive=True))]
        files = [path for path in found if path.is_file()]
        if not files:
            raise InvalidInputError(
                f"`SOURCE` must match files, got {text!r}, which matches none; check the pattern"
            )
        return files
    path = Path(text)
    if not path.exists():
        check_file(path) if table_suffix(path) in SUFFIXES else check_exists(path)
    return files_in(path, labels) if path.is_dir() else [path]


def files_in(folder: Path, labels: Path | None) -> list[Path]:
    """Return the files in a folder that can hold scores."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if labels is not None:
        apart = labels.resolve()
        found = [path for path in found if apart not in (path.resolve(), *path.resolve().parents)]
    usable = [path for path in found if table_suffix(path) in SUFFIXES]
    if not usable:
        others = [path.relative_to(folder).as_posix() for path in found]
        raise InvalidInputError(
            f"{folder}: a score folder must contain files that end in "
            f"{', '.join(SUFFIXES)} (also .gz), got "
            + (quoted(others, most=SHOWN) if others else "an empty folder")
        )
    return usable


def _find_scores(request: _Request, root: Path, paths: Sequence[Path]) -> Inputs:
    """Assign files to series and detectors."""
    notes: list[str] = []
    files = _with_roles(request, root, paths, notes)
    find = _with_own_labels if request.labels is None else _with_separate_labels
    found = find(request, root, files, notes)
    for one in found:
        same: dict[str, list[Path]] = {}
        for score in one.scores:
            same.setdefault(score.detector, []).append(score.path)
        for detector, several in same.items():
            if len(several) > 1:
                raise InvalidInputError(
                    "every series must have one score per detector, got "
                    f"{plural(len(several), 'file')} for {detector!r} on {one.series!r}: "
                    f"{listed([str(p) for p in several], most=3)}; "
                    'describe the paths, for example with --pattern "{detector}/{series}.npy"'
                )
    return Inputs(_with_unique_names(found), tuple(notes))


def _with_roles(
    request: _Request, root: Path, paths: Iterable[Path], notes: list[str]
) -> list[ScoreFile]:
    apart = request.labels is not None
    columns = request.columns
    files, errors = [], []
    for path in paths:
        try:
            roles = roles_of_file(path, columns, labels_elsewhere=apart)
            if not roles.scores:
                raise InvalidInputError(
                    f"{path}: there must be a column of scores, got {_shown(roles)}; "
                    "name one with --score"
                )
        except (InvalidInputError, OSError) as error:
            errors.append(str(error))
            continue
        key = path.absolute().relative_to(root.absolute()).as_posix()
        files.append(ScoreFile(path, key, roles))
    if not files:
        others = plural(len(errors) - 1, "other file fails", "other files fail")
        raise InvalidInputError(errors[0] + (f" ({others})" if len(errors) > 1 else ""))
    notes += [f"skipped: {error}" for error in errors]
    if len(files) > 1:  # the summary of a single file names them
        notes += _text_notes(file.roles for file in files)
    repeating = dict.fromkeys(name for file in files for name in file.roles.repeating)
    if repeating:
        notes.append(
            f"each file is one series; if {quoted(repeating)} names the series of each row, use "
            "--by COLUMN"
        )
    return files


def _text_notes(roles: Iterable[Roles]) -> list[str]:
    """Name the columns that are no scores because their numbers are text."""
    found = dict.fromkeys(name for one in roles for name in one.left_out if TEXT_MARK in name)
    return [f"left out: {', '.join(found)}"] if found else []


def _shown(roles: Roles) -> str:
    names = [name for name in (roles.label, *roles.value) if name is not None]
    return quoted([*names, *roles.left_out])


def _own(
    request: _Request, file: ScoreFile, names: Names, dataset: str | None, labels: LabeledFile
) -> FileSource:
    """Return the series of one file; the path or the column names the detector."""
    several = len(file.roles.scores) > 1
    scores = []
    for column in file.roles.scores:
        detector = "score" if column == "0" and labels.path != file.path else column
        if names.detector is not None:
            detector = f"{names.detector} {column}" if several else names.detector
        window = window_of(request.window, detector)
        scores.append(SavedScore(detector, file.path, column, window))
    return FileSource(
        dataset,
        names.series,
        file.key,
        labels,
        tuple(scores),
        request.columns,
        request.align,
        file.roles.left_out if labels.path == file.path else (),
    )


def _joined(parts: Iterable[FileSource], of: dict[int, Any]) -> list[FileSource]:
    """Join the scores of the same series."""
    groups: dict[Any, FileSource] = {}
    for part in parts:
        key = of[id(part)]
        known = groups.get(key)
        groups[key] = (
            part if known is None else replace(known, scores=(*known.scores, *part.scores))
        )
    return list(groups.values())


def _with_own_labels(
    request: _Request, root: Path, files: list[ScoreFile], notes: list[str]
) -> list[FileSource]:
    options = label_options(request.columns)

    @cache
    def digest(path: Path) -> str:
        return read_labeled(path, open_table, **options).series.content_hash

    if request.pattern is not None:
        named = named_by_pattern(request.pattern, root, files, notes)
    elif all(file.is_generic for file in files) and len(files) > 1:
        named = _layout_by_labels(digest, root, files, notes)
    else:
        named = [(file, Names(stem(file.path))) for file in files]
    found: list[FileSource] = []
    keys: dict[int, Any] = {}
    for file, names in named:
        dataset = names.dataset or (
            root.resolve().name if names.detector is not None else file.path.resolve().parent.name
        )
        labels = LabeledFile(
            file.path, "labels", {**options, "dataset": dataset, "name": names.series}
        )
        one = _own(request, file, names, dataset, labels)
        key: tuple[Any, ...] = (file.path,)
        if names.detector is not None:  # files with the labels of the same series
            with contextlib.suppress(VuskitError, OSError):
                key = dataset, names.series, digest(file.path)
        keys[id(one)] = key
        found.append(one)
    return _joined(found, keys)


def _layout_by_labels(
    digest: Callable[[Path], str], root: Path, files: list[ScoreFile], notes: list[str]
) -> list[tuple[ScoreFile, Names]]:
    """Find the layout whose series have equal labels in all their files."""
    fitting = []
    for layout in LAYOUTS[depth_of(files)]:
        read = [(file, parse_by_layout(layout, file.parts, cut_at_underscore)) for file in files]
        named = [(file, names) for file, names in read if names is not None]
        if "{detector}" not in layout or len(named) < len(files):
            continue
        groups: dict[tuple[str | None, str], list[Path]] = {}
        for file, names in named:
            groups.setdefault((names.dataset, names.series), []).append(file.path)
        repeated = min(map(len, groups.values())) > 1
        if repeated and all(len(set(map(digest, group))) == 1 for group in groups.values()):
            fitting.append((layout, named))
    if len(fitting) > 1:
        raise ambiguous(root, files[0].key, [layout for layout, _ in fitting])
    if not fitting:
        return [(file, Names(stem(file.path))) for file in files]
    layout, named = fitting[0]
    notes.append(layout_note(layout, *named[0]))
    return named


def _with_separate_labels(
    request: _Request, root: Path, files: list[ScoreFile], notes: list[str]
) -> list[FileSource]:
    assert request.labels is not None
    keys = [file.key.rpartition("/")[0] + "/" + stem(file.path) for file in files]
    labels = LabelFiles(
        request.labels,
        root,
        request.columns,
        request.window,
        [key.strip("/") for key in keys],
        notes,
    )
    if labels.single is not None:
        return _of_one_series(request, root, files, labels, labels.single, notes)
    if request.pattern is not None:
        named = named_by_pattern(request.pattern, root, files, notes)
    else:
        named = _layout_by_names(root, files, labels, notes)
    return _matched(request, root, named, labels, notes)


def _of_one_series(
    request: _Request,
    root: Path,
    files: list[ScoreFile],
    labels: LabelFiles,
    entry: LabelFile,
    notes: list[str],
) -> list[FileSource]:
    """Scores of a single series; each file is named after its detector."""
    if request.pattern is not None:
        named = named_by_pattern(request.pattern, root, files, notes)
    else:
        generic = all(file.is_generic for file in files)
        detectors = _distinct_names(files) if generic else [None] * len(files)
        named = [
            (file, Names(entry.name, detector=detector))
            for file, detector in zip(files, detectors, strict=True)
        ]
    first = next((file for file in files if file.roles.value), files[0])
    has_values = bool(first.roles.value)
    source = labels.source(entry, entry.dataset, entry.name, first.path, has_values=has_values)
    found = [
        _own(request, file, names, names.dataset or entry.dataset, source) for file, names in named
    ]
    return _joined(found, {id(one): (one.dataset, one.series) for one in found})


def _distinct_names(files: Sequence[ScoreFile]) -> list[str]:
    """Names of the files, or of their folders if file names are not unique."""
    by_file = [stem(file.path) for file in files]
    by_folder = [file.path.resolve().parent.name for file in files]
    for names in (by_file, by_folder):
        if len(set(names)) == len(names):
            return names
    return ["/".join(file.parts) for file in files]


def _matched(
    request: _Request,
    root: Path,
    named: Sequence[tuple[ScoreFile, Names]],
    labels: LabelFiles,
    notes: list[str],
) -> list[FileSource]:
    """Match scores with labels by name."""
    found: list[FileSource] = []
    unmatched: list[tuple[ScoreFile, Names]] = []
    points: dict[tuple[str, str], Path] = {}
    for file, names in named:
        entries = labels.by_name.get(names.series, [])
        if len(entries) > 1 and names.dataset is not None:
            entries = [one for one in entries if one.dataset == names.dataset] or entries
        if not entries:
            unmatched.append((file, names))
            continue
        if len({entry.path for entry in entries}) > 1:
            paths = listed([str(entry.path) for entry in entries], most=3)
            raise InvalidInputError(
                f"{file.path}: labels must have unique names, got {names.series!r} in {paths}; "
                'include the data set, for example with --pattern "{dataset}/{series}.npy"'
            )
        entry = entries[0]
        dataset = names.dataset or entry.dataset
        first = points.setdefault((dataset, entry.name), file.path)
        has_values = bool(file.roles.value)
        source = labels.source(entry, dataset, entry.name, first, has_values=has_values)
        shown = names.dataset if source.format != "labels" else dataset
        if names.detector is None and file.is_generic:
            names = replace(names, detector=root.resolve().name)
        one = _own(request, file, replace(names, series=entry.name), shown, source)
        found.append(one)
    by_series = len({names.detector is None for _, names in named}) == 1
    declared = request.columns.labels_by is not None
    if unmatched and labels.key is not None and by_series and (found or declared):
        for file, names in unmatched:
            entry = labels.without_intervals(names.series)
            dataset = names.dataset or entry.dataset
            has_values = bool(file.roles.value)
            source = labels.source(entry, dataset, entry.name, file.path, has_values=has_values)
            if names.detector is None and file.is_generic:
                names = replace(names, detector=root.resolve().name)
            found.append(_own(request, file, names, dataset, source))
        shown = quoted([names.series for _, names in unmatched], most=SHOWN)
        notes.append(f"no intervals in {labels.path.name}, all points are normal: {shown}")
    elif unmatched:
        series = unmatched[0][1].series
        shown = quoted([file.key for file, _ in unmatched], most=SHOWN)
        text = (
            f"{plural(len(unmatched), 'score file has', 'score files have')} no labels of the "
            f"same name in {labels.path}: {shown}; {labels.nearest(series)}"
        )
        if not found:
            raise InvalidInputError(
                f"{text}; rename files, or describe the paths, for example with "
                '--pattern "{detector}/{series}.npy"'
            )
        notes.append(text)
    return _joined(found, {id(one): (one.dataset, one.series) for one in found})


# -- series in long tables -----------------------------------------------------------------------


@dataclass(frozen=True)
class Intervals:
    """File with the anomalies of the series of a long table."""

    path: Path
    key: str | None  # column that names the series; None: all intervals belong to every series
    state: str

    def place(self, rows: Ordered, columns: Columns, series: str, points: Path) -> Placed:
        """Return the labels of a series."""
        return place_tickets(
            _open_intervals(self.path, self.key, self.state),
            columns,
            n_points=rows.table.length,
            times=rows.times,
            points=points,
            key=None if self.key is None else {self.key: series},
        )


@lru_cache(maxsize=1)
def _open_intervals(path: Path, key: str | None, state: str) -> Table:
    return open_table(path, texts=() if key is None else (key,))


def _find_intervals(request: _Request, table: LongTable, notes: list[str]) -> Intervals:
    """Find the intervals of each series of a long table."""
    path, columns = request.labels, request.columns
    assert path is not None
    names = column_names(path) if path.is_file() and table_suffix(path) in SUFFIXES else []
    if columns.label is not None or interval_columns(names, columns.start, columns.end) is None:
        raise InvalidInputError(
            f"{path}: labels of a long table must be a file of intervals, got "
            f"{f'columns {quoted(names)}' if names else 'no table'}; name the columns with "
            "--start COLUMN --end COLUMN, or add a column of labels to the long table"
        )
    series = [key[-1] for key in table.keys]
    key = key_column(path, columns, series, notes)
    found = Intervals(path, key, file_state(path))
    if key is not None:
        rows = _open_intervals(path, key, found.state)
        rows.check_filled(key, "the name of a series")
        named = rows.distinct(key)[0]
        without = [name for name in series if name not in named]
        if len(without) == len(series):
            raise InvalidInputError(
                f"{path}: column {key!r} must name series of {table.path}, such as "
                f"{quoted(series, most=3)}, got {quoted(named, most=3)}; name the column with "
                "--labels-by"
            )
        if without:
            shown = quoted(without, most=SHOWN)
            notes.append(f"no intervals in {path.name}, all points are normal: {shown}")
        if unknown := [name for name in named if name not in series]:
            shown = quoted(unknown, most=SHOWN)
            notes.append(f"intervals in {path.name} of series without scores, not used: {shown}")
    return found


@dataclass(frozen=True)
class LongInput:
    """A table of many series, and how to read it; small and picklable unless in memory."""

    path: Path
    columns: Columns
    found: LongRoles
    state: str = ""
    frame: LongTable | None = field(default=None, compare=False)
    intervals: Intervals | None = None

    def rows(self, start: int, stop: int) -> Table:
        """Return consecutive rows."""
        table = self.frame
        if table is None:
            assert self.columns.by is not None
            if file_state(self.path) != self.state:
                raise InvalidInputError(f"{self.path} must not change while it is evaluated")
            table = open_long_table(self.path, self.columns.by, self.columns.dataset)
        return table.rows(start, stop, self._wanted(table))

    def _wanted(self, table: LongTable) -> tuple[str, ...]:
        roles = self.found.roles
        wanted = {roles.label, *roles.value, *roles.scores, self.columns.order}
        return tuple(name for name in table.names if name in wanted or name in table.time_names)

    def in_order(self, rows: Table, offsets: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether the rows of each series are in the order of their times."""
        numbered = [] if self.columns.order == NO_ORDER else row_number_columns(rows)
        name = time_column(rows, self.columns) or next(iter(numbered), None)
        if name is None:
            return np.ones(offsets.size - 1, dtype=np.bool_)
        if rows.is_text(name) and rows.dates(name) is None:
            return np.zeros(offsets.size - 1, dtype=np.bool_)
        times = row_times(rows, name).values
        wrong = np.append(False, times[1:] <= times[:-1])  # type: ignore[operator]
        wrong[offsets[:-1]] = False
        found: NDArray[np.bool_] = np.add.reduceat(wrong, offsets[:-1], dtype=np.intp) == 0
        return found

    def labels(self, rows: Table) -> NDArray[np.bool_]:
        """Return the labels of some rows."""
        roles, anomalous = self.found.roles, self.found.anomalous
        assert roles.label is not None
        if anomalous is None:
            return read_label_column(rows, roles.label, None)[0]
        words, codes = rows.distinct(roles.label)
        if self.columns.positive is None:
            rows.check_filled(roles.label, "a label in every row")
        return np.array([word in anomalous for word in words])[codes]


@dataclass(frozen=True)
class TableSource:
    """Rows of one series in a long table."""

    table: LongInput
    dataset: str
    series: str
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Data set and series."""
        return f"{self.dataset}/{self.series}"

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that are read."""
        apart = self.table.intervals
        own = () if self.table.frame is not None else (self.table.path,)
        return own if apart is None else (*own, apart.path)

    @property
    def part(self) -> tuple[tuple[str, str], ...]:
        """Key columns, and the cells of this series."""
        columns = self.table.columns
        cells = ((columns.dataset, self.dataset), (columns.by, self.series))
        return tuple((name, cell) for name, cell in cells if name is not None)

    @property
    def labels(self) -> LabeledFile:
        """The series without its scores, as a file with options."""
        columns = self.table.columns
        options = {**label_options(columns), "score": list(columns.score), "part": dict(self.part)}
        options |= {"dataset": self.dataset, "name": self.series}
        apart = self.table.intervals
        if apart is None:
            return LabeledFile(self.table.path, "labels", options)
        options |= {"points": str(self.table.path.resolve())}
        options |= {} if apart.key is None else {"key": apart.key}
        return LabeledFile(apart.path, "labels", options)

    @property
    def scores(self) -> tuple[SavedScore, ...]:
        """Columns of the scores."""
        names = self.table.found.roles.scores
        return tuple(SavedScore(name, self.table.path, name) for name in names)

    @property
    def train_length(self) -> int | None:
        """Training points that the name of the series declares."""
        declared = declared_train_length(Path(f"{self.series}.csv"))
        return declared if declared is not None and declared < self.stop - self.start else None

    def read(self) -> ScoredSeries:
        """Read the series and its scores."""
        return self.load().scored()

    def load(self, nan: str = "error") -> Loaded:
        """Read the series and its scores."""
        with plain_stdin_errors():
            rows = self.table.rows(self.start, self.stop)
            columns, roles = self.table.columns, self.table.found.roles
            ordered = in_time_order(rows, columns, self.series)
            apart = self.table.intervals
            if apart is None:
                labels = self.table.labels(rows)
                placed = Placed(labels if ordered.rank is None else labels[ordered.rank])
                path, label = self.table.path, roles.label
            else:
                placed = apart.place(ordered, columns, self.series, self.table.path)
                path, label = apart.path, apart.path.name
            assert label is not None
            rows, labels = ordered.table, placed.labels
            values = np.full(labels.size, np.nan)
            if len(roles.value) > 1:
                values = np.column_stack([rows.numbers(name) for name in roles.value])
            elif roles.value:
                values = rows.numbers(roles.value[0])
            series = Series(
                self.series,
                self.dataset,
                values,
                labels,
                self.train_length,
                roles.value if len(roles.value) > 1 else (),
            )
            scores = tuple(self._score(rows, name, nan) for name in roles.scores)
        notes = tuple(one.note for one in scores if one.note is not None)
        return Loaded(
            series,
            scores,
            label,
            path,
            roles.left_out,
            notes,
            _dates(ordered.times),
            (*ordered.decisions, *placed.decisions),
            placed.tickets,
        )

    def _score(self, rows: Table, name: str, nan: str) -> LoadedScore:
        try:
            return _without_missing(self.table.path, name, rows.scores(name), nan)
        except VuskitError as error:
            return LoadedScore(name, error, path=self.table.path)

    def __reduce__(self) -> tuple[Any, ...]:
        table = self.table
        if table.frame is None:
            fields = (table, self.dataset, self.series, self.start, self.stop)
            return TableSource, fields
        part = replace(table, frame=table.frame.cut(self.start, self.stop))
        return TableSource, (part, self.dataset, self.series, 0, self.stop - self.start)


def _open_long(path: Path, request: _Request, frame: Table | None = None) -> Inputs:
    columns = request.columns
    if request.window is not None:
        raise InvalidInputError(
            "`window` must be used with one file per series, got a long table; omit it"
        )
    state = "" if frame is not None else file_state(path)
    if frame is not None:
        keys = tuple(name for name in (columns.dataset, columns.by) if name is not None)
        table = LongTable(path, keys, frame)
    else:
        assert columns.by is not None
        table = open_long_table(path, columns.by, columns.dataset)
    notes = [f"{path.name} is read as {table.form}"] if table.form else []
    apart = None if request.labels is None else _find_intervals(request, table, notes)
    found = find_long_roles(table, columns, labels_elsewhere=apart is not None)
    one = LongInput(path, columns, found, state, None if frame is None else table, apart)
    default = path.name.partition(".")[0] if frame is None else WHOLE
    bounds = table.bounds.tolist()
    entries = tuple(
        TableSource(one, key[0] if len(key) > 1 else default, key[-1], start, stop)
        for key, start, stop in zip(table.keys, bounds, bounds[1:], strict=False)
    )
    notes += _text_notes([found.roles])
    return Inputs(entries, (*notes, *found.notes))


@lru_cache(maxsize=2)
def _parts_of(
    path: Path, columns: Columns, labels: Path | None, states: tuple[str, ...]
) -> dict[Any, TableSource]:
    found = _open_long(path, _Request(labels, None, columns, None, None))
    return {one.part: one for one in found.entries if isinstance(one, TableSource)}


def read_part(
    path: Path,
    columns: Columns,
    part: Mapping[str, str],
    variant: int,
    labels: Path | None = None,
) -> Series:
    """Read one series of a long table, with labels from a file of intervals if there is one."""
    *dataset, by = part
    keyed = replace(columns, by=by, dataset=next(iter(dataset), None))
    states = tuple(file_state(one) for one in (path, labels) if one is not None)
    found = _parts_of(path, keyed, labels, states).get(tuple(part.items()))
    if found is None:
        raise InvalidInputError(f"{path}: there must be rows of {dict(part)}, got none")
    return replace(found.load().series, variant=variant)


def _is_frame(source: Any) -> bool:
    package = type(source).__module__.partition(".")[0]
    return package in ("pandas", "polars", "pyarrow", "duckdb") and hasattr(source, "columns")


def _frame_table(frame: Any) -> Table:
    pyarrow = require("pyarrow", purpose="data frames", extra="cli")
    path = Path("frame")
    if type(frame).__module__.partition(".")[0] == "pandas":
        arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    elif hasattr(frame, "to_arrow_table"):  # DuckDB
        arrow = frame.to_arrow_table()
    else:
        eager = frame.collect() if hasattr(frame, "collect") else frame
        arrow = eager.to_arrow() if hasattr(eager, "to_arrow") else eager
    return Table(path, named_columns(path, arrow))


# -- standard input ------------------------------------------------------------------------------


@cache
def _stdin_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="vuskit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextlib.contextmanager
def plain_stdin_errors() -> Iterator[None]:
    """Call saved standard input ``stdin`` in errors."""
    try:
        yield
    except InvalidInputError as error:
        folder = f"{_stdin_folder()}{os.sep}" if _stdin_folder.cache_info().currsize else ""
        if not folder or folder not in str(error):
            raise
        raise InvalidInputError(str(error).replace(folder, "")) from error


def _save_stdin() -> Path:
    """Save standard input to a file, which several readers need."""
    data = sys.stdin.buffer.read()
    if data.startswith(b"\x1f\x8b"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise damaged_gzip(Path("standard input"), error) from error
    if not data:
        raise InvalidInputError(
            "standard input must hold labels and scores, got nothing; "
            "for example: vuskit evaluate - < scores.csv"
        )
    suffix = next((kind for start, kind in _STDIN_KINDS.items() if data.startswith(start)), ".csv")
    path = _stdin_folder() / f"stdin{suffix}"
    path.write_bytes(data)
    return path

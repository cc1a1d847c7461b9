"""Find saved scores: assign files of any form to series and detectors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.text import listed, plural, quoted
from vuskit.alignment import align_scores
from vuskit.datasets import ScoredSeries, Series, read_series
from vuskit.datasets.readers.column_roles import (
    GENERIC_SCORES,
    SCORE_SUFFIXES,
    ColumnRoles,
    Columns,
    column_names,
    filled_scores,
    find_roles,
    open_columns,
    score_suffix,
)
from vuskit.datasets.readers.labels import SERIES_COLUMNS, interval_columns, read_labels
from vuskit.datasets.readers.registry import plain_name, recognize, stem
from vuskit.errors import InvalidInputError
from vuskit.inputs import length_advice

if TYPE_CHECKING:
    from vuskit.bench.plan import ScoresFolder
    from vuskit.bench.series import SeriesSource

Scores = NDArray[np.float64]

_SHOWN = 6
_SEPARATORS = ("__", "_", "-", ".", " ")
_GENERIC_NAMES = {"label", "labels", "y_true", "ground_truth", "test_label", "test_labels", "gt"}
_PLACEHOLDER = re.compile(r"(\{(?:series|dataset|detector)\})")
# Indexed by the number of folders above the files.
_LAYOUTS = (
    ("{series}", "{series}_{detector}", "{detector}_{series}"),
    (
        "{detector}/{series}",
        "{series}/{detector}",
        "{dataset}/{series}",
        "{dataset}/{series}_{detector}",
        "{dataset}/{detector}_{series}",
    ),
    (
        "{detector}/{dataset}/{series}",
        "{dataset}/{detector}/{series}",
        "{dataset}/{series}/{detector}",
    ),
)


@dataclass(frozen=True)
class LabeledFile:
    """File of labels, and of values if there are any."""

    path: Path
    format: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def load(self) -> Series:
        """Read the series."""
        if self.format == "labels":
            return read_labels(self.path, **self.options)
        series = read_series(self.path, format=self.format, **self.options)
        assert isinstance(series, Series)
        return series


@dataclass(frozen=True)
class SavedScore:
    """Scores of one detector on one series."""

    dataset: str | None
    series: str
    detector: str
    path: Path
    column: str
    labels: LabeledFile

    @property
    def source(self) -> SeriesSource:
        """The series in the form of a run."""
        from vuskit.bench.series import SeriesSource

        labels = self.labels
        return SeriesSource.file(labels.path, labels.format, dict(labels.options))


@dataclass(frozen=True)
class SavedSeries:
    """A series with its saved scores, read and aligned on demand; small and picklable."""

    scores: tuple[SavedScore, ...]
    align: str | None = None
    window: int | None = None

    @property
    def name(self) -> str:
        """Data set and series."""
        first = self.scores[0]
        return first.series if first.dataset is None else f"{first.dataset}/{first.series}"

    def by_labels(self) -> tuple[SavedSeries, ...]:
        """Split the scores by the files of their labels, which need not agree."""
        groups: dict[LabeledFile, list[SavedScore]] = {}
        for one in self.scores:
            groups.setdefault(one.labels, []).append(one)
        return tuple(replace(self, scores=tuple(same)) for same in groups.values())

    def read_series(self) -> Series:
        """Read the series, with the names of the scores."""
        first = self.scores[0]
        series = first.labels.load()
        return replace(series, dataset=first.dataset or series.dataset, name=first.series)

    def read_columns(self) -> Iterator[tuple[SavedScore, Columns]]:
        """Yield each score with the columns of its file; files are opened once."""
        path: Path | None = None
        for one in self.scores:
            if one.path != path:
                path, columns = one.path, open_columns(one.path)
            yield one, columns

    def read(self) -> ScoredSeries:
        """Read the series and its scores."""
        return self.read_with_notes()[0]

    def read_with_notes(self) -> tuple[ScoredSeries, tuple[str, ...]]:
        """Read the series and its scores, and describe scores that lack values at the ends."""
        series = self.read_series()
        scores, notes = {}, []
        for one, columns in self.read_columns():
            numbers = columns.scores(one.column)
            n = series.n_points
            got = f"{numbers.size} scores and {n} labels; "
            try:
                found = aligned_scores(numbers, n, self.window, self.align, got)
            except InvalidInputError as error:
                raise InvalidInputError(f"{one.path}: {error}") from error
            scores[one.detector], note = filled_scores(one.path, one.detector, found)
            notes += [note] if note else []
        return ScoredSeries(series, scores), tuple(notes)


def aligned_scores(
    scores: Scores, n_points: int, window: int | None, align: str | None, got: str = ""
) -> Scores:
    """Return one score per point; an error proposes options and names no file."""
    if scores.size == n_points:
        return scores
    if window is not None and scores.size == n_points - window + 1:
        return align_scores(scores, n_points, window=window, at=align or "center")
    remedy = f"--align center (or start, end) --window {n_points - scores.size + 1}"
    advice = length_advice(scores.size, n_points, remedy=remedy)
    raise InvalidInputError(f"there must be one score per label, got {got}{advice}")


@dataclass(frozen=True)
class SavedScores:
    """Scores found, and notes on how file names were interpreted."""

    scores: tuple[SavedScore, ...]
    notes: tuple[str, ...]

    def by_series(
        self, *, align: str | None = None, window: int | None = None
    ) -> tuple[SavedSeries, ...]:
        """Group the scores by series, with an alignment of window scores."""
        groups: dict[tuple[str | None, str], list[SavedScore]] = {}
        for one in self.scores:
            groups.setdefault((one.dataset, one.series), []).append(one)
        return tuple(SavedSeries(tuple(same), align, window) for same in groups.values())


@dataclass(frozen=True)
class _File:
    """A score file: its path below the folder, and the roles of its columns."""

    path: Path
    key: str
    roles: ColumnRoles

    @property
    def parts(self) -> tuple[str, ...]:
        """Folders below the root, then the name without suffixes."""
        return (*Path(self.key).parts[:-1], stem(self.path))

    @property
    def is_generic(self) -> bool:
        """Whether only the path can name the detector: the one score column has a generic name."""
        scores = self.roles.scores
        return len(scores) == 1 and scores[0].strip().lower() in GENERIC_SCORES


@dataclass(frozen=True)
class _Names:
    """Names parsed from a path; None: not part of the path."""

    series: str
    dataset: str | None = None
    detector: str | None = None


def find_saved_scores(request: ScoresFolder) -> SavedScores:
    """Find the scores in a folder, or in some of its files, with their labels."""
    root = Path(request.folder)
    notes: list[str] = []
    paths = (
        [root / name for name in request.files]
        if request.files
        else list_score_files(root, without=Path(request.labels) if request.labels else None)
    )
    files = _with_roles(request, root, paths, notes)
    find = _with_own_labels if request.labels is None else _with_separate_labels
    found = find(request, root, files, notes)
    same: dict[tuple[str | None, str, str], list[Path]] = {}
    for one in found:
        same.setdefault((one.dataset, one.series, one.detector), []).append(one.path)
    for (_, series, detector), paths in same.items():
        if len(paths) > 1:
            raise InvalidInputError(
                f"every series must have one score per detector, got {plural(len(paths), 'file')} "
                f"for {detector!r} on {series!r}: {listed([str(p) for p in paths], most=3)}; "
                'describe the paths, for example with --pattern "{detector}/{series}.npy"'
            )
    return SavedScores(tuple(found), tuple(notes))


# -- files -------------------------------------------------------------------------------------


def list_score_files(folder: Path, *, without: Path | None = None) -> list[Path]:
    """Return the files in a folder that can hold scores."""
    hidden = re.compile(r"(?:^|/)\.")
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not hidden.search(path.relative_to(folder).as_posix())
    ]
    if without is not None:
        labels = without.resolve()
        found = [path for path in found if labels not in (path.resolve(), *path.resolve().parents)]
    usable = [path for path in found if score_suffix(path) in SCORE_SUFFIXES]
    if not usable:
        others = [path.relative_to(folder).as_posix() for path in found]
        raise InvalidInputError(
            f"{folder}: a score folder must contain files that end in "
            f"{', '.join(SCORE_SUFFIXES)} (also .gz), got "
            + (quoted(others, most=_SHOWN) if others else "an empty folder")
        )
    return usable


def _with_roles(
    request: ScoresFolder, root: Path, paths: Iterable[Path], notes: list[str]
) -> list[_File]:
    files, errors = [], []
    for path in paths:
        try:
            roles = find_roles(
                path,
                label=request.label if request.labels is None else None,
                scores=request.score,
                value=request.value if request.labels is None else None,
                labels_elsewhere=request.labels is not None,
            )
            if not roles.scores:
                raise InvalidInputError(
                    f"{path}: there must be a score column, got none; name one with --score"
                )
        except (InvalidInputError, OSError) as error:
            errors.append(str(error))
            continue
        files.append(_File(path, path.relative_to(root).as_posix(), roles))
    if not files:
        others = plural(len(errors) - 1, "other file fails", "other files fail")
        raise InvalidInputError(errors[0] + (f" ({others})" if len(errors) > 1 else ""))
    notes += [f"skipped: {error}" for error in errors]
    return files


def _by_pattern(request: ScoresFolder, file: _File) -> _Names | None:
    assert request.pattern is not None
    pieces, seen = [], set()
    for part in _PLACEHOLDER.split(request.pattern):
        name = part[1:-1]
        if not _PLACEHOLDER.fullmatch(part):
            pieces.append(re.escape(part))
        elif name in seen:
            pieces.append(f"(?P={name})")
        else:
            seen.add(name)
            pieces.append(f"(?P<{name}>[^/]+?)")
    expression = re.compile("".join(pieces))
    plain = Path(file.key).with_name(plain_name(file.path)).as_posix()
    for key in (plain.removesuffix(Path(plain).suffix), plain, file.key):
        match = expression.fullmatch(key)
        if match is not None:
            return _Names(**match.groupdict())
    return None


def _named_by_pattern(
    request: ScoresFolder, files: Sequence[_File], notes: list[str]
) -> list[tuple[_File, _Names]]:
    """Files that match the pattern of the user."""
    read = [(file, _by_pattern(request, file)) for file in files]
    found = [(file, names) for file, names in read if names is not None]
    others = [file.key for file, names in read if names is None]
    if not found:
        raise InvalidInputError(
            f"`pattern` must match files in {request.folder}, got {request.pattern!r}, which "
            f"matches none of {quoted(others, most=_SHOWN)}"
        )
    if others:
        notes.append(
            f"{request.folder}: skipped {plural(len(others), 'file')} not matching "
            f"{request.pattern!r}: {quoted(others, most=_SHOWN)}"
        )
    return found


def _depth(files: Sequence[_File]) -> int:
    depths = {len(file.parts) - 1 for file in files}
    if len(depths) > 1 or max(depths) >= len(_LAYOUTS):
        shown = quoted([file.key for file in files], most=_SHOWN)
        raise InvalidInputError(
            "score files must be at the same depth, at most two folders down, to detect names, "
            f"got {shown}; describe the paths, for example with "
            '--pattern "{detector}/{series}.npy"'
        )
    return depths.pop()


def _ambiguous(root: Path, example: str, layouts: Sequence[str]) -> InvalidInputError:
    choices = " or ".join(f'--pattern "{layout}"' for layout in layouts)
    return InvalidInputError(f"{root}: paths such as {example!r} are ambiguous; choose {choices}")


def _layout_note(layout: str, file: _File, names: _Names) -> str:
    known = (("detector", names.detector), ("data set", names.dataset), ("series", names.series))
    shown = ", ".join(f"{what} {name!r}" for what, name in known if name is not None)
    return f"{file.key!r} is interpreted as {layout}: {shown}; use --pattern to change this"


# -- labels in the score files -----------------------------------------------------------------


def _with_own_labels(
    request: ScoresFolder, root: Path, files: list[_File], notes: list[str]
) -> list[SavedScore]:
    if request.pattern is not None:
        named = _named_by_pattern(request, files, notes)
    elif all(file.is_generic for file in files) and len(files) > 1:
        named = _layout_by_labels(request, root, files, notes)
    else:
        named = [(file, _Names(stem(file.path))) for file in files]
    options = _column_options(request)
    found: list[SavedScore] = []
    for file, names in named:
        dataset = names.dataset or (
            root.resolve().name if names.detector is not None else file.path.resolve().parent.name
        )
        labels = LabeledFile(
            file.path, "labels", {**options, "dataset": dataset, "name": names.series}
        )
        found += _saved(file, names, dataset, names.series, labels)
    return found


def _saved(
    file: _File, names: _Names, dataset: str | None, series: str, labels: LabeledFile
) -> Iterator[SavedScore]:
    """Yield the scores of a file; the path or the column names the detector."""
    for column in file.roles.scores:
        detector = column if column != "0" else "score"
        if names.detector is not None:
            several = len(file.roles.scores) > 1
            detector = f"{names.detector} {column}" if several else names.detector
        yield SavedScore(dataset, series, detector, file.path, column, labels)


def _column_options(request: ScoresFolder) -> dict[str, Any]:
    given = {"label": request.label, "value": request.value, "positive": request.positive}
    return {name: value for name, value in given.items() if value is not None}


def _layout_by_labels(
    request: ScoresFolder, root: Path, files: list[_File], notes: list[str]
) -> list[tuple[_File, _Names]]:
    """Find the layout whose series have equal labels in all their files."""
    options = _column_options(request)

    @cache
    def digest(path: Path) -> str:
        return LabeledFile(path, "labels", options).load().content_hash

    fitting = []
    for layout in _LAYOUTS[_depth(files)]:
        read = [(file, _parsed(layout, file.parts, _cut_at_underscore)) for file in files]
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
        raise _ambiguous(root, files[0].key, [layout for layout, _ in fitting])
    if not fitting:
        return [(file, _Names(stem(file.path))) for file in files]
    layout, named = fitting[0]
    notes.append(_layout_note(layout, *named[0]))
    return named


def _parsed(
    layout: str, parts: Sequence[str], cut: Callable[[str, bool], tuple[str, str] | None]
) -> _Names | None:
    """Parse a path by a layout; `cut` splits a part into series and detector."""
    names: dict[str, str] = {}
    for piece, part in zip(layout.split("/"), parts, strict=True):
        keys = [key[1:-1] for key in _PLACEHOLDER.findall(piece)]
        if len(keys) == 1:
            names[keys[0]] = part
            continue
        found = cut(part, keys[0] == "series")
        if found is None:
            return None
        names["series"], names["detector"] = found
    return _Names(**names)


def _cut_at_underscore(part: str, series_first: bool) -> tuple[str, str] | None:
    before, _, after = part.rpartition("_")
    if not before or not after:
        return None
    return (before, after) if series_first else (after, before)


# -- labels elsewhere --------------------------------------------------------------------------


@dataclass(frozen=True)
class _LabelFile:
    """Labels of one series."""

    name: str
    dataset: str
    path: Path
    format: str | None = None  # None: the file has only labels
    intervals_of: str | None = None


class _LabelFiles:
    """Label files by the names of their series."""

    def __init__(self, request: ScoresFolder, root: Path) -> None:
        assert request.labels is not None
        self.request = request
        self.root = root
        self.path = Path(request.labels)
        self.single: _LabelFile | None = None
        self.by_name: dict[str, list[_LabelFile]] = {}
        if self.path.is_dir():
            self._read_folder()
        else:
            self._read_file()

    def _read_folder(self) -> None:
        for path in sorted(self.path.rglob("*")):
            relative = path.relative_to(self.path).parts
            if not path.is_file() or any(part.startswith(".") for part in relative):
                continue
            form = _series_format(path)
            if form is None and score_suffix(path) not in SCORE_SUFFIXES:
                continue
            dataset = path.resolve().parent.name
            if len(relative) == 1 and dataset.lower() in {*_GENERIC_NAMES, "data", "series"}:
                dataset = self.root.resolve().name
            entry = _LabelFile(_bare(stem(path)), dataset, path, form)
            for name in dict.fromkeys((stem(path), plain_name(path), entry.name)):
                self.by_name.setdefault(name, []).append(entry)
        if not self.by_name:
            raise InvalidInputError(
                f"`--labels` must contain label files ({', '.join(SCORE_SUFFIXES)} or a known "
                f"series format), got none in {self.path}"
            )

    def _read_file(self) -> None:
        dataset = self.root.resolve().name
        columns = column_names(self.path) if score_suffix(self.path) in SCORE_SUFFIXES else []
        lower = {name.strip().lower(): name for name in reversed(columns)}
        of_series = next((lower[name] for name in SERIES_COLUMNS if name in lower), None)
        if interval_columns(columns) and of_series is not None and self.request.label is None:
            for name in open_columns(self.path).distinct(of_series)[0]:
                entry = _LabelFile(name, dataset, self.path, intervals_of=name)
                for key in dict.fromkeys((name, stem(Path(name)))):
                    self.by_name.setdefault(key, []).append(entry)
            return
        name = stem(self.path)
        self.single = _LabelFile(
            dataset if name.lower() in _GENERIC_NAMES else name,
            dataset,
            self.path,
            _series_format(self.path),
            "" if interval_columns(columns) and self.request.label is None else None,
        )

    @cached_property
    def longest_first(self) -> list[str]:
        """Names, longest first."""
        return sorted(self.by_name, key=len, reverse=True)

    def source(self, entry: _LabelFile, dataset: str, name: str, points: Path) -> LabeledFile:
        """Return the file of the labeled series."""
        options = _column_options(self.request)
        if entry.format is not None and not options:
            return LabeledFile(entry.path, entry.format, {})
        options |= {"dataset": dataset, "name": name}
        if entry.intervals_of is not None:
            options["points"] = str(points.resolve())
            if entry.intervals_of:
                options["series"] = entry.intervals_of
            if self.request.window is not None:
                options["window"] = self.request.window
        return LabeledFile(entry.path, "labels", options)

    def cut(self, part: str, series_first: bool) -> tuple[str, str] | None:
        """Split a part of a path into a known series and a detector."""
        for name in self.longest_first:
            for separator in _SEPARATORS:
                mark = name + separator if series_first else separator + name
                rest = part.removeprefix(mark) if series_first else part.removesuffix(mark)
                if rest and rest != part:
                    return name, rest
        return None

    def nearest(self, name: str) -> str:
        """Suggest labels with a similar name."""
        known = list(dict.fromkeys(one.name for found in self.by_name.values() for one in found))
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.3)
        shown = near or known[:3]
        label = f"nearest to {name!r}" if near else "available"
        return f"{label}: {quoted(shown, most=3)}"


def _series_format(path: Path) -> str | None:
    """Name of the format of a series with labels; None if the file has only labels."""
    form = recognize(path)
    return None if form is None or form.fallback or form.name == "scores" else form.name


def _bare(name: str) -> str:
    """Name without a suffix that marks labels."""
    for word in sorted(_GENERIC_NAMES, key=len, reverse=True):
        for separator in ("_", "-", "."):
            if name.lower().endswith(separator + word):
                return name[: -len(word) - 1]
    return name


def _with_separate_labels(
    request: ScoresFolder, root: Path, files: list[_File], notes: list[str]
) -> list[SavedScore]:
    labels = _LabelFiles(request, root)
    if labels.single is not None:
        return _of_one_series(request, files, labels, labels.single, notes)
    if request.pattern is not None:
        named = _named_by_pattern(request, files, notes)
    else:
        named = _layout_by_names(root, files, labels, notes)
    return _joined(root, named, labels, notes)


def _of_one_series(
    request: ScoresFolder,
    files: list[_File],
    labels: _LabelFiles,
    entry: _LabelFile,
    notes: list[str],
) -> list[SavedScore]:
    """Scores of a single series; each file is named after its detector."""
    if request.pattern is not None:
        named = _named_by_pattern(request, files, notes)
    else:
        generic = all(file.is_generic for file in files)
        detectors = _distinct_names(files) if generic else [None] * len(files)
        named = [
            (file, _Names(entry.name, detector=detector))
            for file, detector in zip(files, detectors, strict=True)
        ]
    source = labels.source(entry, entry.dataset, entry.name, files[0].path)
    return [
        one
        for file, names in named
        for one in _saved(file, names, names.dataset or entry.dataset, names.series, source)
    ]


def _distinct_names(files: Sequence[_File]) -> list[str]:
    """Names of the files, or of their folders if file names are not unique."""
    by_file = [stem(file.path) for file in files]
    by_folder = [file.path.resolve().parent.name for file in files]
    for names in (by_file, by_folder):
        if len(set(names)) == len(names):
            return names
    return ["/".join(file.parts) for file in files]


def _joined(
    root: Path, named: Iterable[tuple[_File, _Names]], labels: _LabelFiles, notes: list[str]
) -> list[SavedScore]:
    """Match scores with labels by name."""
    found: list[SavedScore] = []
    unmatched: list[tuple[str, str]] = []
    points: dict[tuple[str, str], Path] = {}
    for file, names in named:
        entries = labels.by_name.get(names.series, [])
        if len(entries) > 1 and names.dataset is not None:
            entries = [one for one in entries if one.dataset == names.dataset] or entries
        if not entries:
            unmatched.append((file.key, names.series))
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
        source = labels.source(entry, dataset, entry.name, first)
        shown = names.dataset if source.format != "labels" else dataset
        if names.detector is None and file.is_generic:
            names = replace(names, detector=root.resolve().name)
        found += _saved(file, names, shown, entry.name, source)
    if unmatched:
        series = unmatched[0][1]
        text = (
            f"{plural(len(unmatched), 'score file has', 'score files have')} no labels of the "
            f"same name in {labels.path}: {quoted([key for key, _ in unmatched], most=_SHOWN)}; "
            f"{labels.nearest(series)}"
        )
        if not found:
            raise InvalidInputError(
                f"{text}; rename files, or describe the paths, for example with "
                '--pattern "{detector}/{series}.npy"'
            )
        notes.append(text)
    return found


def _layout_by_names(
    root: Path, files: list[_File], labels: _LabelFiles, notes: list[str]
) -> list[tuple[_File, _Names]]:
    """Find the layout that matches the names of the labels best."""
    generic = all(file.is_generic for file in files)
    readings = []
    for layout in _LAYOUTS[_depth(files)]:
        if "{detector}" in layout and not generic:
            continue
        named = [(file, _known_names(layout, file.parts, labels)) for file in files]
        matched = sum(names is not None for _, names in named)
        if matched and _is_consistent([names for _, names in named if names is not None], labels):
            agrees = "{dataset}" in layout and all(
                names.dataset in {one.dataset for one in labels.by_name[names.series]}
                for _, names in named
                if names is not None
            )
            names_detector = "{detector}" in layout
            readings.append(((matched, agrees, names_detector or not generic), layout, named))
    if not readings:
        return [(file, _Names(file.parts[-1])) for file in files]
    best = max(rank for rank, _, _ in readings)
    chosen = [(layout, named) for rank, layout, named in readings if rank == best]
    if len(chosen) > 1:
        raise _ambiguous(root, files[0].key, [layout for layout, _ in chosen])
    layout, named = chosen[0]
    found = [(file, names or _Names(file.parts[-1])) for file, names in named]
    if layout != "{series}":
        example = next((file, names) for file, names in named if names is not None)
        notes.append(_layout_note(layout, *example))
    return found


def _known_names(layout: str, parts: Sequence[str], labels: _LabelFiles) -> _Names | None:
    """Parse a path by a layout; None if the series has no labels."""
    names = _parsed(layout, parts, labels.cut)
    return names if names is not None and names.series in labels.by_name else None


def _is_consistent(found: Sequence[_Names], labels: _LabelFiles) -> bool:
    """Whether scores are unique and every series belongs to one data set."""
    if len(set(found)) < len(found):
        return False
    if len(found) > 1 and len({replace(one, dataset=None) for one in found}) < len(found):
        # The same series and detector in two data sets: the labels must distinguish them.
        return all(
            one.dataset in {entry.dataset for entry in labels.by_name[one.series]} for one in found
        )
    datasets: dict[str, set[str | None]] = {}
    for one in found:
        datasets.setdefault(one.series, set()).add(one.dataset)
    return all(len(known) <= max(1, len(labels.by_name[s])) for s, known in datasets.items())

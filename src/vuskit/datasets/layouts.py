"""Match files by name: names in paths, and labels in files or folders apart from the scores."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vuskit._util.text import plural, quoted
from vuskit.datasets.columns import (
    GENERIC_SCORES,
    KEY_NAMES,
    Columns,
    Roles,
    Windows,
    check_column,
    id_column,
    interval_columns,
    series_column,
)
from vuskit.datasets.readers.registry import plain_name, recognize, stem
from vuskit.datasets.tables import SUFFIXES, column_names, is_number, open_table, table_suffix
from vuskit.errors import InvalidInputError

SHOWN = 6  # names in a message
_PLACEHOLDER = re.compile(r"(\{(?:series|dataset|detector)\})")
# Indexed by the number of folders above the files.
LAYOUTS = (
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
class ScoreFile:
    """A score file: its path below the folder, and the roles of its columns."""

    path: Path
    key: str
    roles: Roles

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
class Names:
    """Names parsed from a path; None: not part of the path."""

    series: str
    dataset: str | None = None
    detector: str | None = None


def expression_of(pattern: str, **known: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern with placeholders, some of which are known."""
    pieces, seen = [], set()
    for part in _PLACEHOLDER.split(pattern):
        name = part[1:-1]
        if not _PLACEHOLDER.fullmatch(part):
            pieces.append(re.escape(part))
        elif name in known:
            pieces.append(re.escape(known[name]))
        elif name in seen:
            pieces.append(f"(?P={name})")
        else:
            seen.add(name)
            pieces.append(f"(?P<{name}>[^/]+?)")
    return re.compile("".join(pieces))


def names_by_pattern(pattern: str, file: ScoreFile) -> Names | None:
    """Read the names of a file by the pattern of the user; None if it does not match."""
    expression = expression_of(pattern)
    plain = Path(file.key).with_name(plain_name(file.path)).as_posix()
    for key in (plain.removesuffix(Path(plain).suffix), plain, file.key):
        match = expression.fullmatch(key)
        if match is not None:
            return Names(**match.groupdict())
    return None


def named_by_pattern(
    pattern: str, root: Path, files: Sequence[ScoreFile], notes: list[str]
) -> list[tuple[ScoreFile, Names]]:
    """Return the files that match the pattern of the user, with their names."""
    read = [(file, names_by_pattern(pattern, file)) for file in files]
    found = [(file, names) for file, names in read if names is not None]
    others = [file.key for file, names in read if names is None]
    if not found:
        raise InvalidInputError(
            f"`pattern` must match files in {root}, got {pattern!r}, which "
            f"matches none of {quoted(others, most=SHOWN)}"
        )
    if others:
        notes.append(
            f"{root}: skipped {plural(len(others), 'file')} not matching "
            f"{pattern!r}: {quoted(others, most=SHOWN)}"
        )
    return found


def depth_of(files: Sequence[ScoreFile]) -> int:
    """Return the number of folders above the files."""
    depths = {len(file.parts) - 1 for file in files}
    if len(depths) > 1 or max(depths) >= len(LAYOUTS):
        shown = quoted([file.key for file in files], most=SHOWN)
        raise InvalidInputError(
            "score files must be at the same depth, at most two folders down, to detect names, "
            f"got {shown}; describe the paths, for example with "
            '--pattern "{detector}/{series}.npy"'
        )
    return depths.pop()


def ambiguous(root: Path, example: str, layouts: Sequence[str]) -> InvalidInputError:
    """Return the error for paths that several layouts fit."""
    choices = " or ".join(f'--pattern "{layout}"' for layout in layouts)
    return InvalidInputError(f"{root}: paths such as {example!r} are ambiguous; choose {choices}")


def layout_note(layout: str, file: ScoreFile, names: Names) -> str:
    """Describe how a path was read."""
    known = (("detector", names.detector), ("data set", names.dataset), ("series", names.series))
    shown = ", ".join(f"{what} {name!r}" for what, name in known if name is not None)
    return f"{file.key!r} is interpreted as {layout}: {shown}; use --pattern to change this"


def parse_by_layout(
    layout: str, parts: Sequence[str], cut: Callable[[str, bool], tuple[str, str] | None]
) -> Names | None:
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
    return Names(**names)


def cut_at_underscore(part: str, series_first: bool) -> tuple[str, str] | None:
    """Split a part of a path into series and detector at its last underscore."""
    before, _, after = part.rpartition("_")
    if not before or not after:
        return None
    return (before, after) if series_first else (after, before)


_SEPARATORS = ("__", "_", "-", ".", " ")
_GENERIC_NAMES = {"label", "labels", "y_true", "ground_truth", "test_label", "test_labels", "gt"}


@dataclass(frozen=True)
class LabeledFile:
    """File of labels, and of values if there are any, as a format and its options."""

    path: Path
    format: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)


def label_options(columns: Columns) -> dict[str, Any]:
    """Return the options of the format "labels" for the columns named by the user."""
    value = list(columns.value) if len(columns.value) > 1 else next(iter(columns.value), None)
    given = {"label": columns.label, "value": value, "positive": columns.positive}
    given |= {"start": columns.start, "end": columns.end, "ticket": columns.id, **columns.reading()}
    return {name: one for name, one in given.items() if one is not None}


@dataclass(frozen=True)
class LabelFile:
    """Labels of one series."""

    name: str
    dataset: str
    path: Path
    format: str | None = None  # None: the file has only labels
    has_intervals: bool = False
    key: str | None = None  # column that names the series of each interval


class LabelFiles:
    """Label files by the names of their series."""

    def __init__(
        self,
        path: Path,
        root: Path,
        columns: Columns,
        window: Windows,
        series: Sequence[str],
        notes: list[str],
    ) -> None:
        self.path, self.root, self.window = path, root, window
        self.columns, self.options = columns, label_options(columns)
        self.key: str | None = None
        self.single: LabelFile | None = None
        self.by_name: dict[str, list[LabelFile]] = {}
        if self.path.is_dir():
            self._read_folder()
        else:
            self._read_file(series, notes)

    def _read_folder(self) -> None:
        for path in sorted(self.path.rglob("*")):
            relative = path.relative_to(self.path).parts
            if not path.is_file() or any(part.startswith(".") for part in relative):
                continue
            form = _series_format(path)
            if form is None and table_suffix(path) not in SUFFIXES:
                continue
            dataset = path.resolve().parent.name
            if len(relative) == 1 and dataset.lower() in {*_GENERIC_NAMES, "data", "series"}:
                dataset = self.root.resolve().name
            entry = LabelFile(_bare(stem(path)), dataset, path, form)
            for name in dict.fromkeys((stem(path), plain_name(path), entry.name)):
                self.by_name.setdefault(name, []).append(entry)
        if not self.by_name:
            raise InvalidInputError(
                f"`labels` must contain label files ({', '.join(SUFFIXES)} or a known "
                f"series format), got none in {self.path}"
            )

    def _read_file(self, series: Sequence[str], notes: list[str]) -> None:
        dataset = self.root.resolve().name
        names = column_names(self.path) if table_suffix(self.path) in SUFFIXES else []
        columns = self.columns
        bounds = interval_columns(names, columns.start, columns.end)
        has_intervals = bounds is not None and columns.label is None
        self.key = key_column(self.path, columns, series, notes) if has_intervals else None
        if self.key is not None:
            table = open_table(self.path, texts=(self.key,))
            table.check_filled(self.key, "the name of a series")
            known = table.distinct(self.key)[0]
            for name in known:
                entry = LabelFile(name, dataset, self.path, has_intervals=True, key=self.key)
                self.by_name[name] = [entry]
            stems = Counter(stem(Path(name)) for name in known)
            for name in known:
                if stems[stem(Path(name))] == 1:
                    self.by_name.setdefault(stem(Path(name)), self.by_name[name])
            return
        name = stem(self.path)
        generic = name.lower() in _GENERIC_NAMES
        form = _series_format(self.path)
        self.single = LabelFile(
            dataset if generic else name, dataset, self.path, form, has_intervals
        )

    def without_intervals(self, name: str) -> LabelFile:
        """Return the labels of a series that has no intervals: all points are normal."""
        return LabelFile(
            name, self.root.resolve().name, self.path, has_intervals=True, key=self.key
        )

    @cached_property
    def longest_first(self) -> list[str]:
        """Names, longest first."""
        return sorted(self.by_name, key=len, reverse=True)

    def source(
        self, entry: LabelFile, dataset: str, name: str, points: Path, *, has_values: bool
    ) -> LabeledFile:
        """Return the file of the labeled series; `points` has its scores, and perhaps values."""
        options = dict(self.options)
        if entry.format is not None and not {"label", "value", "positive"} & options.keys():
            return LabeledFile(entry.path, entry.format, {})
        options |= {"dataset": dataset, "name": name}
        if entry.has_intervals:
            options["points"] = str(points.resolve())
            if entry.key is not None:
                options |= {"series": entry.name, "key": entry.key}
            if self.window is not None:
                options["window"] = self.window
        elif has_values:
            options["points"] = str(points.resolve())
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


def key_column(path: Path, columns: Columns, series: Sequence[str], notes: list[str]) -> str | None:
    """Return the column of a file of intervals that names the series; None: all are of one."""
    names = column_names(path)
    if columns.labels_all:
        return None
    if columns.labels_by is not None:
        check_column(path, names, "labels_by", columns.labels_by)
        return columns.labels_by
    usual = columns.by if columns.by in names else series_column(names)
    if usual is not None:
        return usual
    bounds = interval_columns(names, columns.start, columns.end) or ()
    taken = {*bounds, columns.id or id_column(names)}
    texts = [name for name in names if name not in taken]
    table = open_table(path, texts=texts)
    shared, likely, repeating = list[str](), list[str](), list[str]()
    for name in texts:
        words = [word for word in table.distinct(name)[0] if word != "None"]
        if any(_names_series(word, one) for word in words for one in series):
            shared.append(name)
        elif name.strip().lower() in KEY_NAMES:
            (likely if len(words) > 1 else repeating).append(name)
        elif 1 < len(words) < table.length and not all(map(is_number, words)):
            repeating.append(name)
    if len(shared) == 1:
        notes.append(
            f"{path.name}: column {shared[0]!r} names the series of each interval; --labels-all "
            "applies all intervals to every series"
        )
        return shared[0]
    if shared or likely:
        found = shared or likely
        raise InvalidInputError(
            f"{path}: it must be clear which intervals belong to which series, got "
            f"{'columns' if len(found) > 1 else 'column'} {quoted(found)} and series "
            f"{quoted(series, most=3)}; use --labels-by COLUMN, or --labels-all if all intervals "
            "belong to every series"
        )
    if repeating:
        notes.append(
            f"{path.name}: {quoted(repeating)} not used, all intervals belong to every series; "
            "if a column names the series, use --labels-by COLUMN"
        )
    return None


def _names_series(word: str, path: str) -> bool:
    starts = tuple(word + separator for separator in _SEPARATORS)
    ends = tuple(separator + word for separator in _SEPARATORS)
    parts = path.split("/")
    return any(part == word or part.startswith(starts) or part.endswith(ends) for part in parts)


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


def layout_by_names(
    root: Path, files: list[ScoreFile], labels: LabelFiles, notes: list[str]
) -> list[tuple[ScoreFile, Names]]:
    """Find the layout that matches the names of the labels best."""
    generic = all(file.is_generic for file in files)
    readings = []
    for layout in LAYOUTS[depth_of(files)]:
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
        return [(file, Names(file.parts[-1])) for file in files]
    best = max(rank for rank, _, _ in readings)
    chosen = [(layout, named) for rank, layout, named in readings if rank == best]
    if len(chosen) > 1:
        raise ambiguous(root, files[0].key, [layout for layout, _ in chosen])
    layout, named = chosen[0]
    found = [
        (file, names or parse_by_layout(layout, file.parts, labels.cut) or Names(file.parts[-1]))
        for file, names in named
    ]
    if layout != "{series}":
        example = next((file, names) for file, names in named if names is not None)
        notes.append(layout_note(layout, *example))
    return found


def _known_names(layout: str, parts: Sequence[str], labels: LabelFiles) -> Names | None:
    """Parse a path by a layout; None if the series has no labels."""
    names = parse_by_layout(layout, parts, labels.cut)
    return names if names is not None and names.series in labels.by_name else None


def _is_consistent(found: Sequence[Names], labels: LabelFiles) -> bool:
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

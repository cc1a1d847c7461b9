"""Labels in files or folders apart from the scores, matched by the names of the series."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from vuskit._util.text import quoted
from vuskit.datasets.columns import Columns, interval_columns, series_column
from vuskit.datasets.layouts import (
    LAYOUTS,
    Names,
    ScoreFile,
    ambiguous,
    depth_of,
    layout_note,
    parse_by_layout,
)
from vuskit.datasets.readers.registry import plain_name, recognize, stem
from vuskit.datasets.tables import SUFFIXES, column_names, open_table, table_suffix
from vuskit.errors import InvalidInputError

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
    return {name: one for name, one in given.items() if one is not None}


@dataclass(frozen=True)
class LabelFile:
    """Labels of one series."""

    name: str
    dataset: str
    path: Path
    format: str | None = None  # None: the file has only labels
    intervals_of: str | None = None


class LabelFiles:
    """Label files by the names of their series."""

    def __init__(self, path: Path, root: Path, columns: Columns, window: int | None) -> None:
        self.path, self.root, self.window = path, root, window
        self.label, self.options = columns.label, label_options(columns)
        self.single: LabelFile | None = None
        self.by_name: dict[str, list[LabelFile]] = {}
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
                f"`--labels` must contain label files ({', '.join(SUFFIXES)} or a known "
                f"series format), got none in {self.path}"
            )

    def _read_file(self) -> None:
        dataset = self.root.resolve().name
        columns = column_names(self.path) if table_suffix(self.path) in SUFFIXES else []
        of_series = series_column(columns)
        if interval_columns(columns) and of_series is not None and self.label is None:
            for name in open_table(self.path).distinct(of_series)[0]:
                entry = LabelFile(name, dataset, self.path, intervals_of=name)
                for key in dict.fromkeys((name, stem(Path(name)))):
                    self.by_name.setdefault(key, []).append(entry)
            return
        name = stem(self.path)
        self.single = LabelFile(
            dataset if name.lower() in _GENERIC_NAMES else name,
            dataset,
            self.path,
            _series_format(self.path),
            "" if interval_columns(columns) and self.label is None else None,
        )

    @cached_property
    def longest_first(self) -> list[str]:
        """Names, longest first."""
        return sorted(self.by_name, key=len, reverse=True)

    def source(self, entry: LabelFile, dataset: str, name: str, points: Path) -> LabeledFile:
        """Return the file of the labeled series."""
        options = dict(self.options)
        if entry.format is not None and not options:
            return LabeledFile(entry.path, entry.format, {})
        options |= {"dataset": dataset, "name": name}
        if entry.intervals_of is not None:
            options["points"] = str(points.resolve())
            if entry.intervals_of:
                options["series"] = entry.intervals_of
            if self.window is not None:
                options["window"] = self.window
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
    found = [(file, names or Names(file.parts[-1])) for file, names in named]
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

"""Combine tables of results (runs, packs, published tables) on their common series."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit._util.optional import require
from vuskit._util.text import plain_name, plural, quoted
from vuskit.bench import Run
from vuskit.errors import InvalidInputError
from vuskit.statistics.results import DEFAULT_MEASURE, Results, read_results

if TYPE_CHECKING:
    import pandas as pd

_ENDING = re.compile(r"\.(gz|csv|tsv|out|txt|npy|npz|parquet|vuskit\.zip|zip|toml)$", re.IGNORECASE)
_KEPT = ("dataset", "series", "detector", "seed", "measure", "status", "value")
_SHOWN = 3

Key = tuple[str, str]


@dataclass(frozen=True, eq=False)
class _Source:
    """One table, with the digests of its series by data set and name if they are known."""

    label: str
    results: Results
    digests: dict[Key, str]
    settings: str | None

    @property
    def detectors(self) -> list[str]:
        return list(dict.fromkeys(self.results.compared["detector"]))

    @property
    def measures(self) -> list[str]:
        """Names of the measures; empty for a table with one column per detector."""
        if self.results.is_wide:
            return []
        return [name for name in self.results.measures if name not in self.results.left_out]

    def long(self, unnamed: str, names: dict[str, str]) -> pd.DataFrame:
        """Return one row per value; measures are spelled as in the other tables."""
        if self.results.is_wide:
            return self.results.of_measure(unnamed).compared
        frame = self.results.compared
        return frame.assign(measure=[names.get(plain_name(str(n)), n) for n in frame["measure"]])


@dataclass
class _Series:
    """Series of all tables, matched by content or name."""

    by_digest: dict[str, int] = field(default_factory=dict)
    by_key: dict[Key, int] = field(default_factory=dict)
    by_similar: dict[Key, set[int]] = field(default_factory=dict)
    by_name: dict[str, set[int]] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)
    names: list[Key] = field(default_factory=list)
    differing: dict[str, None] = field(default_factory=dict)

    def places(self, label: str, keys: Iterable[Key], digests: dict[Key, str]) -> dict[Key, int]:
        """Return the numbers of the series of one table, which never match each other.

        Series match by content, then by equal names, then by names without case and endings.
        """
        found: dict[Key, int] = {}
        rest = list(keys)
        for find in (self._with_content, self._with_name, self._with_similar_name):
            matched: dict[int, Key] = {}
            for key in rest:
                place = find(key, digests.get(key))
                if place is None or place in found.values():
                    continue
                if place in matched and find != self._with_content:
                    raise self._ambiguous(label, [matched[place], key], [place])
                matched[place] = key
            found |= {key: place for place, key in matched.items()}
            rest = [key for key in rest if key not in found]
        for key in rest:
            found[key] = len(self.names)
            self.names.append(key)
        for key, place in found.items():
            self._add(key, place, digests.get(key))
        return found

    def _with_content(self, _: Key, digest: str | None) -> int | None:
        return None if digest is None else self.by_digest.get(digest)

    def _with_name(self, key: Key, digest: str | None) -> int | None:
        place = self.by_key.get(key)
        return None if place is None else self._unless_differing(key, digest, place)

    def _with_similar_name(self, key: Key, digest: str | None) -> int | None:
        dataset, name = series_key(*key)
        places = self.by_similar.get((dataset, name), set())
        if not places:
            places = self.by_name.get(name, set())
            known = {series_key(*self.names[place])[0] for place in places}
            if len(places) > 1 or (dataset and known != {""}):
                return None
        if len(places) > 1:
            raise self._ambiguous("the table", [key], sorted(places))
        return next((self._unless_differing(key, digest, place) for place in places), None)

    def _unless_differing(self, key: Key, digest: str | None, place: int) -> int | None:
        other = self.digests.get(place)
        if digest is None or other is None or other == digest:
            return place
        self.differing["/".join(key)] = None
        return None

    def _ambiguous(self, label: str, keys: list[Key], places: list[int]) -> InvalidInputError:
        here = quoted(["/".join(filter(None, key)) for key in keys])
        there = quoted(["/".join(filter(None, self.names[place])) for place in places])
        return InvalidInputError(
            f"`TABLE...` must name each series alike, got {here} in {label} and {there} in "
            "others; give the same series the same name"
        )

    def _add(self, key: Key, place: int, digest: str | None) -> None:
        if key[0] and not self.names[place][0]:
            self.names[place] = key[0], self.names[place][1]
        if digest is not None:
            self.by_digest.setdefault(digest, place)
            self.digests.setdefault(place, digest)
        self.by_key.setdefault(key, place)
        similar = series_key(*key)
        self.by_similar.setdefault(similar, set()).add(place)
        self.by_name.setdefault(similar[1], set()).add(place)


def series_key(dataset: str, name: str) -> Key:
    """Return data set and name in a normalized form, for matching.

    Examples
    --------
    >>> series_key("ECG", "MBA_ECG805_data.out.csv.gz")
    ('ecg', 'mba_ecg805_data')
    >>> series_key("", "ECG/MBA_ECG805_data.out")
    ('ecg', 'mba_ecg805_data')
    """
    if not dataset and "/" in name:
        dataset, _, name = name.rpartition("/")
    elif dataset:
        name = name.removeprefix(f"{dataset}/")
    return dataset.strip().lower(), _without_endings(name.strip()).lower()


def _without_endings(name: str) -> str:
    while (shorter := _ENDING.sub("", name)) != name and shorter:
        name = shorter
    return name


def read_sources(
    paths: Sequence[Path], *, measure: str | None = None, settings: str | None = None
) -> tuple[Results, tuple[str, ...]]:
    """Read one table, or several as one table of their common series."""
    if len(paths) == 1:
        results = read_results(paths[0]).of_settings(settings)
        return results.of_measure(measure) if measure and results.is_wide else results, ()
    pandas = require("pandas", purpose="vuskit compare")
    sources = [
        _read(path, label, settings) for path, label in zip(paths, _labels(paths), strict=True)
    ]
    unnamed, names, notes = _measure_names(sources, measure)
    frames = [source.long(unnamed, names) for source in sources]
    series = _Series()
    frames = [_matched(one, frame, series) for one, frame in zip(sources, frames, strict=True)]
    common = set.intersection(*(set(frame["place"]) for frame in frames))
    notes += _series_notes(sources, frames, series, common)
    if not common:
        raise InvalidInputError(
            "`TABLE...` must have series in common, got none; "
            + "; ".join(_example(one, frame) for one, frame in zip(sources, frames, strict=True))
            + "; give the same series the same data set and name"
        )
    notes += _settings_notes(sources)
    table = pandas.concat(
        [_renamed(one, frame, sources) for one, frame in zip(sources, frames, strict=True)],
        ignore_index=True,
    )
    table = table[table["place"].isin(common)]
    has_datasets = all(series.names[place][0] for place in common)
    table = table.assign(
        dataset=[series.names[place][0] for place in table["place"]],
        series=[series.names[place][1] for place in table["place"]],
    )
    columns = [name for name in table if name != "place" and (has_datasets or name != "dataset")]
    return Results(table[columns].reset_index(drop=True)), tuple(notes)


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return unique names of the tables: file names without endings, or paths."""
    short = [_without_endings(path.resolve().name) for path in paths]
    labels = short if len(set(short)) == len(short) else [str(path) for path in paths]
    if len(set(labels)) < len(labels):
        raise InvalidInputError(
            f"`TABLE...` must be different tables, got {quoted(labels)}; give each once"
        )
    return labels


def _read(path: Path, label: str, settings: str | None) -> _Source:
    results = read_results(path)
    if not results.names_series:
        raise InvalidInputError(
            f"{path} must have a column 'series' to be compared with other tables, got none; "
            "rename the column that names the series"
        )
    run = Run(path)
    digests: dict[Key, str] = {}
    if run.exists:
        digests = {(one.dataset, one.name): one.hash for one in run.series()}
    if "settings" not in results.frame.columns:
        return _Source(label, results, digests, None)
    present = set(results.frame["settings"].astype(str))
    wanted = settings if len(present) > 1 or settings in present else None
    try:
        results = results.of_settings(wanted)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from error
    return _Source(label, results, digests, str(results.frame["settings"].iloc[0]))


def _measure_names(
    sources: Iterable[_Source], wanted: str | None
) -> tuple[str, dict[str, str], list[str]]:
    """Return the measure of unnamed values, the spellings of measures, and notes."""
    names: dict[str, str] = {}
    for source in sources:
        for name in source.measures:
            names.setdefault(plain_name(name), name)
    wide = [source.label for source in sources if source.results.is_wide]
    if wanted is not None:
        unnamed = names.get(plain_name(wanted), wanted)
    elif DEFAULT_MEASURE in names:
        unnamed = names[DEFAULT_MEASURE]
    elif len(names) <= 1:
        unnamed = next(iter(names.values()), "value")
    elif wide:
        raise InvalidInputError(
            f"`--measure` must name the measure of the values in {quoted(wide)}, got none; "
            f"choose from {quoted(names.values())}"
        )
    else:
        unnamed = "value"
    notes = [f"{label}: values are taken as {unnamed}, as no measure is named" for label in wide]
    return unnamed, names, notes if names else []


def _matched(source: _Source, frame: pd.DataFrame, series: _Series) -> pd.DataFrame:
    """Add the number of its series to each row."""
    datasets = frame["dataset"].astype(str) if "dataset" in frame.columns else [""] * len(frame)
    keys = list(zip(datasets, frame["series"].astype(str), strict=True))
    places = series.places(source.label, dict.fromkeys(keys), source.digests)
    kept = [name for name in _KEPT if name in frame.columns]
    more = [name for name in ("higher_is_better", "measure_title") if name in frame.columns]
    return frame[[*kept, *more]].assign(place=[places[key] for key in keys])


def _renamed(source: _Source, frame: pd.DataFrame, sources: Iterable[_Source]) -> pd.DataFrame:
    """Return the rows with detector names that are unique among all tables."""
    others = {name for one in sources if one is not source for name in one.detectors}
    names = {name: f"{name} ({source.label})" for name in source.detectors if name in others}
    status = frame["status"] if "status" in frame.columns else "OK"
    return frame.assign(
        detector=[names.get(name, name) for name in frame["detector"]], status=status
    )


# -- notes -------------------------------------------------------------------------------------


def _series_notes(
    sources: Sequence[_Source],
    frames: Sequence[pd.DataFrame],
    series: _Series,
    common: set[int],
) -> list[str]:
    counts = ", ".join(
        f"{one.label} {frame['place'].nunique():,}"
        for one, frame in zip(sources, frames, strict=True)
    )
    notes = [f"{plural(len(common), 'series', 'series')} in all tables; {counts}"]
    for one, frame in zip(sources, frames, strict=True):
        alone = [place for place in dict.fromkeys(frame["place"]) if place not in common]
        if alone and common:
            shown = quoted(["/".join(filter(None, series.names[p])) for p in alone], most=_SHOWN)
            notes.append(f"ignored (not in all tables), from {one.label}: {shown}")
    if series.differing:
        shown = quoted(series.differing, most=_SHOWN)
        notes.append(f"warning: not matched, same name but different content: {shown}")
    return notes


def _settings_notes(sources: Iterable[_Source]) -> list[str]:
    used = {one.label: one.settings for one in sources}
    known = {settings for settings in used.values() if settings is not None}
    if len(known) <= 1 and None not in used.values():
        return [f"settings: {next(iter(known))}"]
    if not known:
        return []
    lines = [f"  {label}: {text or 'not stated'}" for label, text in used.items()]
    if len(known) > 1:
        first = "warning: the tables have different settings, so their values may not be comparable"
    else:
        first = "settings of the tables (they should be the same):"
    return [first, *lines]


def _example(source: _Source, frame: pd.DataFrame) -> str:
    if not len(frame):
        return f"{source.label} has none"
    row = frame.iloc[0]
    place = [str(row[name]) for name in ("dataset", "series") if name in frame.columns]
    count = frame["place"].nunique()
    return f"{source.label} has {count:,}, such as {'/'.join(place)!r}"

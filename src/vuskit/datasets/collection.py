"""Read files and folders of series; folders are read lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import require
from vuskit._util.text import match_names, plural
from vuskit.datasets.readers.registry import (
    Candidate,
    Format,
    get_format,
    list_formats,
    plain_name,
    recognize,
)
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Collection", "SeriesFile", "read_collection", "read_series"]


@dataclass(frozen=True)
class SeriesFile:
    """One series of a collection: its file, format and options."""

    path: Path
    key: str
    format: Format
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Path:
        """Path of the file, followed by the name of the series if the file holds several."""
        part = self.options.get("part")
        return self.path if part is None else self.path / str(part)

    def read(self) -> Series:
        """Read the series."""
        return self.format.load(self.path, self.options)


class Collection:
    r"""Series of a folder, read lazily; returned by `read_series`.

    ``len()`` counts all files, readable or not. Iteration yields the readable series and records
    the other files in `failures`. A file that holds several series counts as several files.

    Parameters
    ----------
    files : iterable of SeriesFile
        Files with a recognized format.
    skipped : iterable of Path
        Files of the folder without a recognized format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from vuskit.datasets import read_series
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, text in {"a": "1,0\n7,1\n", "b": "3,0\n1,0\n", "c": "1,maybe\n"}.items():
    ...     _ = (folder / f"{name}.out").write_text(text)
    >>> collection = read_series(folder, dataset="docs")
    >>> [series.name for series in collection]
    ['a.out', 'b.out']
    >>> collection
    Collection(3 files, 1 failure, 0 skipped)
    >>> collection["b.out"].n_anomalies
    0
    """

    def __init__(self, files: Iterable[SeriesFile], skipped: Iterable[Path] = ()) -> None:
        self._files = tuple(files)
        self.skipped = tuple(skipped)
        self._failures: dict[Path, InvalidInputError] = {}
        self._notes: dict[Path, str] = {}

    @property
    def files(self) -> tuple[SeriesFile, ...]:
        """Files of the collection, in order; does not read them."""
        return self._files

    @property
    def keys(self) -> tuple[str, ...]:
        """Key of every file: its path relative to the folder, without ``.gz``."""
        return tuple(file.key for file in self._files)

    @property
    def failures(self) -> Mapping[Path, InvalidInputError]:
        """Files that failed to read so far, with the error."""
        return MappingProxyType(self._failures)

    @property
    def notes(self) -> Mapping[Path, str]:
        """Files read so far whose columns were partly ignored, with the ignored columns."""
        return MappingProxyType(self._notes)

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[Series]:
        return (series for _, series in self._readable())

    def __getitem__(self, key: str | int) -> Series:
        """Read one series by its name, its path relative to the folder, or its position.

        Raises
        ------
        InvalidInputError
            If no file or more than one has this name, or the file is invalid.
        IndexError
            If the position is out of range.
        """
        if isinstance(key, int):
            return self._files[key].read()
        return self._named(key).read()

    def filter(
        self,
        *,
        name: str | Iterable[str] | None = None,
        dataset: str | Iterable[str] | None = None,
        where: Callable[[Series], bool] | None = None,
    ) -> Collection:
        r"""Keep the series that meet all conditions.

        Parameters
        ----------
        name : str or iterable of str, optional
            Shell patterns for the path relative to the folder or its last part, such as
            ``"ECG/*"``. Does not read files. A pattern without a match is an error.
        dataset : str or iterable of str, optional
            Names of data sets. Reads all remaining files.
        where : callable, optional
            Receives each remaining series and returns whether to keep it. Reads all remaining
            files; drops invalid files and records them in `failures`.

        Returns
        -------
        Collection
            A new collection, which inherits the failures recorded so far.

        Raises
        ------
        InvalidInputError
            If a pattern matches no file; lists the available names.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from vuskit.datasets import read_series
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in {"a": "1,0\n7,1\n", "b": "3,0\n1,0\n"}.items():
        ...     _ = (folder / f"{name}.out").write_text(text)
        >>> read_series(folder).filter(where=lambda series: series.n_anomalies > 0).keys
        ('a.out',)
        """
        kept = self
        if name is not None:
            wanted_keys = set(match_names(kept.keys, name, argument="name"))
            kept = kept._only(file for file in kept._files if file.key in wanted_keys)
        wanted = None if dataset is None else {dataset} if isinstance(dataset, str) else {*dataset}
        if wanted is not None or where is not None:
            kept = kept._only(
                file
                for file, series in kept._readable()
                if (wanted is None or series.dataset in wanted) and (where is None or where(series))
            )
        return kept

    def sample(self, k: int, *, seed: int) -> Collection:
        r"""Return k random files in their original order; reproducible by seed.

        Raises
        ------
        InvalidInputError
            If the collection has fewer than k files.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from vuskit.datasets import read_series
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in "abcdef":
        ...     _ = (folder / f"{name}.out").write_text("1,0\n")
        >>> first, again = (read_series(folder).sample(2, seed=7) for _ in range(2))
        >>> len(first), first.keys == again.keys
        (2, True)
        """
        if not 0 <= k <= len(self):
            raise InvalidInputError(f"`k` must be in 0..{len(self)}, got {k}")
        chosen = np.random.default_rng(seed).choice(len(self), size=k, replace=False)
        return self._only(self._files[index] for index in sorted(chosen.tolist()))

    def check(self) -> Mapping[Path, InvalidInputError]:
        r"""Read every file once and return `failures`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from vuskit.datasets import read_series
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "broken.out").write_text("1,0\n2,two\n")
        >>> [path.name for path in read_series(folder).check()]
        ['broken.out']
        """
        for _ in self:
            pass
        return self.failures

    def to_frame(self) -> pd.DataFrame:
        r"""Return a DataFrame with one row per readable series; reads every file.

        Columns are the data set, name, format, sizes, anomalies and train length.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from vuskit.datasets import read_series
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.out").write_text("1,0\n7,1\n")
        >>> read_series(folder, dataset="docs").to_frame()["n_points"].to_list()
        [2]
        """
        rows = [
            {
                "dataset": series.dataset,
                "name": series.name,
                "format": file.format.name,
                "n_points": series.n_points,
                "n_channels": series.n_channels,
                "n_anomalies": series.n_anomalies,
                "anomalous_points": series.anomalous_points,
                "train_length": series.train_length,
            }
            for file, series in self._readable()
        ]
        frame: pd.DataFrame = require("pandas", purpose="to_frame()").DataFrame(rows)
        return frame

    def __repr__(self) -> str:
        failures = len(self._failures)
        return (
            f"Collection({plural(len(self), 'file')}, {plural(failures, 'failure')}, "
            f"{len(self.skipped)} skipped)"
        )

    def _readable(self) -> Iterator[tuple[SeriesFile, Series]]:
        for file in self._files:
            try:
                series = file.read()
            except InvalidInputError as error:
                self._failures[file.place] = error
            else:
                if series.left_out:
                    self._notes[file.place] = f"left out: {', '.join(series.left_out)}"
                yield file, series

    def _named(self, key: str) -> SeriesFile:
        found = [file for file in self._files if key == file.key]
        found = found or [file for file in self._files if key in _short_names(file.key)]
        if len(found) != 1:
            problem = (
                f"which matches {[file.key for file in found]}; use one of these"
                if found
                else "which matches none; see `keys`"
            )
            raise InvalidInputError(
                f"`key` must name one of {len(self)} files, got {key!r}, {problem}"
            )
        return found[0]

    def _only(self, files: Iterable[SeriesFile]) -> Collection:
        kept = Collection(files, self.skipped)
        kept._failures.update(self._failures)
        kept._notes.update(self._notes)
        return kept


def _short_names(key: str) -> tuple[str, str]:
    last = key.rpartition("/")[2]
    return last, Path(last).stem


def read_series(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> Series | Collection:
    r"""Read a file, or open a folder.

    Parameters
    ----------
    path : str or Path
        A file, or a folder, which is searched recursively.
    format : str, optional
        Name of a format (see `list_formats`). By default, the format is detected from the file
        name and the first line.
    **options
        Keywords of the format, such as ``label=`` and ``values=`` for tables. All formats accept
        ``dataset=``.

    Returns
    -------
    Series or Collection
        A series for a file, a lazy collection for a folder or a file with several series.

    Raises
    ------
    InvalidInputError
        If the path does not exist, the format is not recognized or does not accept an option, or
        the file is invalid. Invalid files of a folder are listed in ``failures`` instead.
    MissingDependencyError
        If the format needs a library that is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "Plant"
    >>> folder.mkdir()
    >>> text = "time,flow,heat,anomaly\n0,1.5,20,False\n1,9,21,True\n"
    >>> _ = (folder / "pump.csv").write_text(text)
    >>> series = read_series(folder / "pump.csv")
    >>> series, series.channels
    (Series('Plant/pump', 2 points, 2 channels, 1 anomaly), ('flow', 'heat'))
    >>> read_series(folder)
    Collection(1 file, 0 failures, 0 skipped)
    """
    source = Path(path)
    if source.is_dir():
        return read_collection(source, format=format, **options)
    if not source.is_file():
        raise InvalidInputError(f"`path` must be a file or a folder, got {str(path)!r}")
    entry = get_format(format) if format is not None else _recognized(source, options)
    if entry is None:
        names = ", ".join(known.name for known in list_formats())
        raise InvalidInputError(
            f"{source}: no format recognizes the file; choose one with format= ({names})"
        )
    entry.check_options(options)
    files = _series_files(source, plain_name(source), entry, options)
    return files[0].read() if len(files) == 1 else Collection(files)


def _recognized(path: Path, options: Mapping[str, Any]) -> Format | None:
    """Return the format of a file; a table may have the label column that the options name."""
    found = recognize(path)
    if found is not None or "label" not in options:
        return found
    table, file = get_format("table"), Candidate(path)
    return table if table.possible(file) and options["label"] in file.columns else None


def _series_files(
    path: Path, key: str, entry: Format, options: Mapping[str, Any]
) -> list[SeriesFile]:
    """Return one entry per series in a file."""
    try:
        names = entry.part_names(path, options)
    except InvalidInputError:
        names = ()  # reading the file reports the error
    if not names:
        return [SeriesFile(path, key, entry, options)]
    return [SeriesFile(path, f"{key}/{name}", entry, {**options, "part": name}) for name in names]


def read_collection(
    folder: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> Collection:
    """Open a folder of series lazily; reads only the first line of each file.

    Files that hold several series are an exception: the names of their series are read at once.

    Examples
    --------
    >>> import tempfile
    >>> read_collection(tempfile.mkdtemp())
    Collection(0 files, 0 failures, 0 skipped)
    """
    root = Path(folder)
    if not root.is_dir():
        raise InvalidInputError(f"`folder` must be a folder, got {str(folder)!r}")
    only = get_format(format) if format is not None else None
    files, skipped = [], []
    for path in _visible_files(root):
        entry = (
            _recognized(path, options)
            if only is None
            else only
            if only.possible(Candidate(path))
            else None
        )
        if entry is None:
            skipped.append(path)
            continue
        entry.check_options(options)
        key = path.relative_to(root).with_name(plain_name(path)).as_posix()
        files += _series_files(path, key, entry, options)
    return Collection(files, _without_companions(skipped, files))


def _without_companions(skipped: list[Path], files: list[SeriesFile]) -> list[Path]:
    """Remove files that belong to a series, such as labels."""
    used: set[Path] = set()
    for file in files if skipped else ():
        with suppress(InvalidInputError):  # reading the file reports the error
            used.update(one.resolve() for one in file.format.input_files(file.path, file.options))
    return [path for path in skipped if path.resolve() not in used]


def _visible_files(root: Path) -> list[Path]:
    return sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    )

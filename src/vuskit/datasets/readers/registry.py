"""Registry of file formats: how to recognize and read each of them; what file names tell."""

from __future__ import annotations

import inspect
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vuskit._util.optional import EntryPointGroup
from vuskit.datasets.series import Series
from vuskit.datasets.tables import header_of
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

# Reads one file; everything after the path is a keyword of the format.
ReadFunction = Callable[..., Series]
# Called with the path and the options of the format.
CompanionFunction = Callable[[Path, Mapping[str, Any]], Sequence[Path | None]]
PartsFunction = Callable[[Path, Mapping[str, Any]], Sequence[str]]


@dataclass(frozen=True)
class Format:
    """One file format.

    Attributes
    ----------
    name : str
        Value of ``format=``.
    title, layout : str
        Common name of the format, and a short description of a file's content.
    matches : callable
        Returns whether a candidate file looks like this format.
    possible : callable
        Returns whether a file can be read as this format. Selects the files of a folder that is
        read with ``format=``.
    read : callable
        Reads one file into a `Series`.
    fallback : bool
        Whether to try this format only when no other format matches.
    companions : callable or None
        Returns the other files that a series is read from, such as a file of labels.
    parts : callable or None
        Returns the names of the series in a file; None if every file holds one series.
    """

    name: str
    title: str
    layout: str
    matches: Callable[[Candidate], bool]
    possible: Callable[[Candidate], bool]
    read: ReadFunction
    fallback: bool = False
    companions: CompanionFunction | None = None
    parts: PartsFunction | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Keywords that the format accepts."""
        return tuple(inspect.signature(self.read).parameters)[1:]

    def load(self, path: Path, options: Mapping[str, Any]) -> Series:
        """Read a file; errors name the file.

        Raises
        ------
        InvalidInputError
            If the file is invalid.
        """
        try:
            return self.read(path, **options)
        except InvalidInputError as error:
            if str(path) in str(error):
                raise
            raise InvalidInputError(f"{path}: {error}") from error

    def input_files(self, path: Path, options: Mapping[str, Any]) -> tuple[Path, ...]:
        """Return the file and its companions.

        Parameters
        ----------
        path : Path
            The file.
        options : mapping
            Keywords of the format.

        Raises
        ------
        InvalidInputError
            If the function that finds the companions fails.

        Examples
        --------
        >>> get_format("ucr").input_files(Path("a.txt"), {})
        (PosixPath('a.txt'),)
        """
        if self.companions is None:
            return (path,)
        try:
            found = [Path(one) for one in self.companions(path, options) if one is not None]
        except Exception as error:  # a user's function may raise anything
            raise InvalidInputError(
                f"{path}: `companions` of format {self.name!r} must return files, "
                f"got {type(error).__name__}: {error}"
            ) from error
        return (path, *found)

    def part_names(self, path: Path, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the series in a file; empty if the file holds one series.

        Parameters
        ----------
        path : Path
            The file.
        options : mapping
            Keywords of the format. With ``part=``, the file counts as one series.

        Raises
        ------
        InvalidInputError
            If the file cannot be read.

        Examples
        --------
        >>> get_format("ucr").part_names(Path("a.txt"), {})
        ()
        """
        if self.parts is None or options.get("part") is not None:
            return ()
        try:
            return tuple(self.parts(path, options))
        except (InvalidInputError, ImportError):  # MissingDependencyError is an ImportError
            raise
        except Exception as error:  # a user's function may raise anything
            raise InvalidInputError(
                f"{path}: `parts` of format {self.name!r} must return names, "
                f"got {type(error).__name__}: {error}"
            ) from error

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Check that the format accepts all of these keywords.

        Raises
        ------
        InvalidInputError
            If a keyword is unknown; lists the valid ones.
        """
        for option in options:
            if option not in self.options:
                raise InvalidInputError(
                    f"options of format {self.name!r} must be among {list(self.options)}, "
                    f"got {option!r}"
                )


class Candidate:
    """A file to recognize; reads its first line on demand."""

    def __init__(self, path: Path, data: bytes | None = None) -> None:
        self.path = path
        self._data = data

    @property
    def suffix(self) -> str:
        """Lower-case suffix, ignoring a final ``.gz``."""
        return Path(plain_name(self.path)).suffix.lower()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Cells of the first line, as text; empty for binary or unreadable files."""
        try:
            return tuple(header_of(self.path, self._data))
        except (OSError, EOFError, zlib.error, InvalidInputError):
            return ()


_FORMATS: dict[str, Format] = {}
_PLUGINS = EntryPointGroup(
    "vuskit.readers",
    "a function that register_format registers under this name",
    lambda name, loaded: name in _FORMATS and _FORMATS[name].read is loaded,
)


def register_format(
    *,
    name: str,
    title: str,
    layout: str,
    matches: Callable[[Candidate], bool],
    possible: Callable[[Candidate], bool] | None = None,
    fallback: bool = False,
    companions: CompanionFunction | None = None,
    parts: PartsFunction | None = None,
) -> Callable[[ReadFunction], ReadFunction]:
    """Register a function that reads a file format.

    At most one format may match a file. Fallbacks are an exception: they are tried last.

    Parameters
    ----------
    name, title, layout : str
        Value of ``format=``, common name of the format, and a short description of a file's
        content.
    matches : callable
        Returns whether a `Candidate` file looks like this format.
    possible : callable, optional
        Returns whether a file can be read as this format if the user passes ``format=``. Defaults
        to `matches`.
    fallback : bool, default=False
        Try this format only when no other format matches.
    companions : callable, optional
        Called with the path and the options; returns the other files that the series is read
        from, such as a file of labels. A benchmark reads a series again when one of them changes.
        A benchmark does not track other files; after you edit one, run with ``--reread``.
    parts : callable, optional
        For files that hold several series: called with the path and the options; returns the
        names of the series. The read function receives one of them as ``part=``.

    Raises
    ------
    InvalidInputError
        If another function has registered the name. A reloaded module may register its function
        again.

    Examples
    --------
    >>> from vuskit.datasets import register_format
    >>> register_format(name="tsb_uad", title="", layout="", matches=lambda file: False)(print)
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `name` must be a new format, got 'tsb_uad'
    """

    def register(read: ReadFunction) -> ReadFunction:
        if name in _FORMATS and _qualified_name(read) != _qualified_name(_FORMATS[name].read):
            raise InvalidInputError(f"`name` must be a new format, got {name!r}")
        _FORMATS[name] = Format(
            name, title, layout, matches, possible or matches, read, fallback, companions, parts
        )
        return read

    return register


def _qualified_name(function: ReadFunction) -> tuple[str, str]:
    return function.__module__, getattr(function, "__qualname__", "")


def list_formats() -> tuple[Format, ...]:
    """Return all formats, sorted by name, with fallbacks last.

    Installed packages can add formats through the entry point group ``vuskit.readers``.

    Examples
    --------
    >>> [format.name for format in list_formats()][-3:]
    ['wfdb', 'yahoo', 'table']
    """
    _PLUGINS.load_all(_FORMATS)
    return tuple(sorted(_FORMATS.values(), key=lambda entry: (entry.fallback, entry.name)))


def get_format(name: str) -> Format:
    """Return the format with the given name.

    Examples
    --------
    >>> get_format("tsb_ad").title
    'TSB-AD'
    """
    if name in _FORMATS or (isinstance(name, str) and _PLUGINS.load(name)):
        return _FORMATS[name]
    return _FORMATS[check_choice("format", name, [entry.name for entry in list_formats()])]


def recognize(path: Path) -> Format | None:
    """Return the format that matches the file, or None.

    Examples
    --------
    >>> recognize(Path("005_UCR_Anomaly_x_4000_5391_5392.txt")).name
    'ucr'
    >>> recognize(Path("README.md")) is None
    True
    """
    candidate = Candidate(path)
    return next((entry for entry in list_formats() if entry.matches(candidate)), None)


def plain_name(path: Path) -> str:
    """File name without a final ``.gz``."""
    return path.name[:-3] if path.suffix.lower() == ".gz" else path.name


def stem(path: Path) -> str:
    """File name without ``.gz`` and without its suffix."""
    return Path(plain_name(path)).stem


def parent_name(path: Path) -> str:
    """Name of the folder that holds the file; for most formats, the data set."""
    return path.resolve().parent.name


# TSB-AD: ..._tr_<train length>_1st_<first anomaly>
# UCR: ..._UCR_Anomaly_..._<train length>_<start>_<stop>
_NAMES = (
    re.compile(r".*_tr_(?P<train>\d+)_1st_\d+"),
    re.compile(r".*UCR_Anomaly_.*_(?P<train>\d+)_\d+_\d+"),
)


def declared_train_length(path: Path) -> int | None:
    """Return the number of leading training points given in a file name, or None.

    Understands the names of the TSB-AD and UCR archives; any text may follow them.

    Examples
    --------
    >>> declared_train_length(Path("001_NAB_id_1_Facility_tr_1007_1st_2014.csv"))
    1007
    >>> declared_train_length(Path("scores.csv")) is None
    True
    """
    plain = stem(path)
    if "_tr_" not in plain and "UCR_Anomaly_" not in plain:
        return None
    found = (name.match(plain) for name in _NAMES)
    return next((int(match["train"]) for match in found if match is not None), None)

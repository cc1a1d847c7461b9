"""One function for every file and folder of series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vuskit.datasets.collection import Collection, SeriesFile
from vuskit.datasets.readers.registry import (
    Candidate,
    get_format,
    list_formats,
    plain_name,
    recognise,
)
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = ["read_collection", "read_series"]


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
        A file, or a folder that is searched with all its subfolders.
    format : str, optional
        Name of a format (see `list_formats`); recognised from name and first line by default.
    **options
        Keywords of the format, such as ``label=`` and ``values=`` for tables; ``dataset=`` is
        understood by all of them.

    Returns
    -------
    Series or Collection
        A series for a file, a lazy collection for a folder.

    Raises
    ------
    InvalidInputError
        If the path does not exist, no format claims the file, the format does not have an option,
        or the file is broken. In a folder, broken files are listed in ``failures`` instead.
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
    entry = get_format(format) if format is not None else recognise(source)
    if entry is None:
        names = ", ".join(known.name for known in list_formats())
        raise InvalidInputError(
            f"{source}: no format recognises the file; name one by format= ({names})"
        )
    entry.check_options(options)
    return entry.load(source, options)


def read_collection(
    folder: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> Collection:
    """Open a folder of series; nothing but first lines is read until a series is asked for.

    Parameters
    ----------
    folder : str or Path
        Searched with all its subfolders; hidden files and folders are left out.
    format : str, optional
        Read all files that can be of this format by it; each by its own format by default.
    **options
        Keywords for the format or formats found.

    Returns
    -------
    Collection
        Files that no format claims are in its ``skipped``.

    Raises
    ------
    InvalidInputError
        If it is not a folder, or a format that was found does not have an option.

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
            recognise(path) if only is None else only if only.possible(Candidate(path)) else None
        )
        if entry is None:
            skipped.append(path)
            continue
        entry.check_options(options)
        key = path.relative_to(root).with_name(plain_name(path)).as_posix()
        files.append(SeriesFile(path, key, entry, options))
    return Collection(files, skipped)


def _visible_files(root: Path) -> list[Path]:
    return sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    )

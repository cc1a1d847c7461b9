"""Files on the command line: early checks, atomic writes, readable errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vuskit._util.files import atomic_files, atomic_path
from vuskit._util.names import did_you_mean
from vuskit.errors import InvalidInputError, VuskitError

__all__ = [
    "atomic_file",
    "atomic_folder",
    "check_exists",
    "check_file",
    "check_page",
    "plan_folder",
    "reason_of",
    "write_file",
]

_PAGES = (".html", ".htm")
_PLAN = ".toml"
# Why a file could not be read or written, and what to do about it.
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space, or write to another place",
    errno.EDQUOT: "your disk quota is used up; free some space, or write to another place",
    errno.EROFS: "it is on a read-only disk; write to another place",
    errno.EACCES: "permission denied; check it with: ls -l",
    errno.EPERM: "permission denied; check it with: ls -l",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EEXIST: "a file of that name exists; choose another name",
    errno.ENAMETOOLONG: "its name is too long; shorten it",
}


def reason_of(error: OSError) -> str:
    """Return why a file cannot be read or written, and what to do.

    Examples
    --------
    >>> reason_of(OSError(errno.EISDIR, "Is a directory"))
    'it is a folder; give the name of a file'
    """
    code = error.errno if error.errno is not None else 0
    return _REASONS.get(code, error.strerror or str(error))


def check_page(option: str, path: Path | None, *, made: Path | None = None) -> None:
    """Check early that a page can be written; no page is fine.

    Parameters
    ----------
    option : str
        Name of the option, for errors.
    path : Path or None
        Path of the page.
    made : Path, optional
        Folder that the command will create, with its parents.

    Raises
    ------
    InvalidInputError
        If the path does not end in .html, or its folder does not exist.

    Examples
    --------
    >>> check_page("--html", Path("scores.csv"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `--html` must be a file that ends in .html or .htm, got ...
    """
    if path is None:
        return
    if path.suffix.lower() not in _PAGES:
        raise InvalidInputError(
            f"`{option}` must be a file that ends in {' or '.join(_PAGES)}, got {str(path)!r}"
        )
    created = () if made is None else (made.resolve(), *made.resolve().parents)
    if not path.parent.is_dir() and path.parent.resolve() not in created:
        raise InvalidInputError(
            f"`{option}` must be in a folder that exists, got {str(path)!r}; create it first"
        )


def check_exists(path: Path) -> Path:
    """Return a path that must exist.

    Raises
    ------
    InvalidInputError
        If it does not exist; the error suggests a similar name.

    Examples
    --------
    >>> check_exists(Path("no-such-folder"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: no-such-folder: there is no such file or folder
    """
    if not path.exists():
        near = did_you_mean(path.name, names_in(path.parent))
        raise InvalidInputError(f"{path}: there is no such file or folder{near}")
    return path


def check_file(path: Path, *, holds: str = "labels and scores") -> None:
    """Check that a path is a readable file with content.

    Raises
    ------
    InvalidInputError
        If it is a folder, or a missing, unreadable or empty file.
    """
    if path.is_dir():
        raise InvalidInputError(
            f"{path} is a folder, not a file; give one of its files, "
            "or run detectors on all of them with: vuskit bench"
        )
    if not path.exists():
        near = did_you_mean(path.name, names_in(path.parent))
        raise InvalidInputError(f"{path}: there is no such file{near}")
    try:
        with path.open("rb") as stream:
            is_empty = not stream.read(1)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {reason_of(error)}") from error
    if is_empty:
        raise InvalidInputError(f"{path}: the file is empty; it must hold {holds}")


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder; none if it cannot be read."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def plan_folder(target: Path) -> Path:
    """Return the run folder of a plan, or the target itself.

    Raises
    ------
    InvalidInputError
        If it is a plan that cannot be read.

    Examples
    --------
    >>> plan_folder(Path("bench-run")).name
    'bench-run'
    """
    if target.suffix != _PLAN or not target.is_file():
        return target
    from vuskit.bench.plan import planned_folder

    return planned_folder(target)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path that becomes the file on success and is removed on failure.

    Raises
    ------
    VuskitError
        If it cannot be written; the error says why.
    """
    try:
        with atomic_path(path) as temporary:
            yield temporary
    except OSError as error:
        raise _refusal(path, error) from error


def write_file(path: Path, text: str) -> None:
    """Write a file atomically.

    Raises
    ------
    VuskitError
        If it cannot be written; the error says why.
    """
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def atomic_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder; on success its files move to the folder.

    Raises
    ------
    VuskitError
        If it cannot be written; the error says why.
    """
    try:
        with atomic_files(folder) as temporary:
            yield temporary
    except OSError as error:
        raise _refusal(folder, error) from error


def _refusal(path: Path, error: OSError) -> VuskitError:
    missing = error.errno == errno.ENOENT
    reason = f"there is no folder {str(path.parent)!r}" if missing else reason_of(error)
    return VuskitError(f"{path} cannot be written: {reason}")

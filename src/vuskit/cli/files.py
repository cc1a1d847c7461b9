"""Files that are written whole or not at all, where they may go, and why one could not be."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import did_you_mean

__all__ = [
    "check_page",
    "check_there",
    "names_in",
    "plan_folder",
    "reason_of",
    "whole_file",
    "whole_folder",
    "write_file",
]

_PAGES = (".html", ".htm")
_PLAN = ".toml"
# Why a file could not be read or written, and what to do about it.
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space, or write to another place",
    errno.EDQUOT: "your disk quota is used up; free some space, or write to another place",
    errno.EROFS: "it is on a read-only disk; write to another place",
    errno.EACCES: "you have no permission; look at it with: ls -l",
    errno.EPERM: "you have no permission; look at it with: ls -l",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; give the name of a file",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EEXIST: "there is a file of that name; choose another",
    errno.ENAMETOOLONG: "its name is too long",
}


def reason_of(error: OSError) -> str:
    """Why a file cannot be read or written, and what to do.

    Examples
    --------
    >>> reason_of(OSError(errno.EISDIR, "Is a directory"))
    'it is a folder; give the name of a file'
    """
    code = error.errno if error.errno is not None else 0
    return _REASONS.get(code, error.strerror or str(error))


def check_page(option: str, path: Path | None, *, made: Path | None = None) -> None:
    """Refuse a place where a page cannot be written, before the work for it begins.

    Nothing is wrong with no page at all.

    Parameters
    ----------
    option : str
        What to call it.
    path : Path or None
        The page.
    made : Path, optional
        Folder that the command makes before it writes the page, with those above.

    Raises
    ------
    InvalidInputError
        If it does not end like a page, or its folder will not exist.

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
    will_be = () if made is None else (made.resolve(), *made.resolve().parents)
    if not path.parent.is_dir() and path.parent.resolve() not in will_be:
        raise InvalidInputError(f"`{option}` must be in a folder that exists, got {str(path)!r}")


def check_there(path: Path) -> Path:
    """Refuse a file or folder that does not exist.

    Raises
    ------
    InvalidInputError
        Naming one that is spelt alike.

    Examples
    --------
    >>> check_there(Path("no-such-folder"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: no-such-folder: there is no such file or folder
    """
    if not path.exists():
        near = did_you_mean(path.name, names_in(path.parent))
        raise InvalidInputError(f"{path}: there is no such file or folder{near}")
    return path


def names_in(folder: Path) -> list[str]:
    """What is in a folder, or nothing where that cannot be told."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def plan_folder(target: Path) -> Path:
    """Return the folder that is meant: the run of a plan, or what was given.

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
    from vuskit.bench.plan import load_plan

    return load_plan(target).folder


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give a place to write to that becomes the file in the end; nothing is left on a failure.

    Raises
    ------
    VuskitError
        If it cannot be written; says why and what to do.
    """
    draft = path.with_name(f".{os.getpid()}.part.{path.name}")  # ends alike: endings choose formats
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        raise _refusal(path, error) from error
    finally:
        draft.unlink(missing_ok=True)


def write_file(path: Path, text: str) -> None:
    """Write a file whole, or leave what was there.

    Raises
    ------
    VuskitError
        If it cannot be written; says why and what to do.
    """
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to; in the end its files move into the one that is meant.

    Raises
    ------
    VuskitError
        If it cannot be written; says why and what to do.
    """
    draft = folder / f".{os.getpid()}.part"
    try:
        draft.mkdir(parents=True, exist_ok=True)
        yield draft
        for path in sorted(draft.iterdir()):
            path.replace(folder / path.name)
    except OSError as error:
        raise _refusal(folder, error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _refusal(path: Path, error: OSError) -> VuskitError:
    missing = error.errno == errno.ENOENT
    reason = f"there is no folder {str(path.parent)!r}" if missing else reason_of(error)
    return VuskitError(f"{path} cannot be written: {reason}")

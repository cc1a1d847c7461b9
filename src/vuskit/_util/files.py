"""Files: states that reveal changes, and writing that is complete or absent after a crash."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vuskit._util.text import did_you_mean
from vuskit.errors import InvalidInputError

PRIVATE_PREFIX = ".vuskit-"
"""Prefix of the names of temporary files and locks."""


def file_state(path: str | Path) -> str:
    """Return a text that changes whenever the file changes: size, mtime and ctime.

    The ctime also changes when an edit preserves the size and restores the mtime.
    """
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return "missing"
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"


@contextmanager
def atomic_path(
    path: str | Path, *, durable: bool = False, scratch: Path | None = None
) -> Iterator[Path]:
    """Yield a new, empty file that replaces `path` on success and is removed on failure."""
    target = Path(path)
    # Keep the suffixes, because writers select the format by them.
    name = f"{PRIVATE_PREFIX}{secrets.token_hex(8)}{''.join(target.suffixes[-2:])}"
    temporary = (scratch or target.parent) / name
    # O_EXCL fails if the name already exists, for example as a link to another file.
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        if durable:
            _sync(temporary, os.O_RDWR)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    if durable:
        with contextlib.suppress(OSError):  # some systems cannot sync a folder
            _sync(target.parent, os.O_RDONLY)


def write_atomically(path: str | Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write a file completely, or keep the existing file."""
    content = data.encode() if isinstance(data, str) else data
    with atomic_path(path, durable=durable) as temporary:
        temporary.write_bytes(content)


@contextmanager
def atomic_files(folder: str | Path) -> Iterator[Path]:
    """Yield a temporary folder whose files move to `folder` on success; created if missing."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=PRIVATE_PREFIX, dir=target))
    try:
        yield temporary
        for path in sorted(temporary.iterdir()):
            path.replace(target / path.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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


def check_exists(path: Path) -> Path:
    """Return a path that must exist.

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
    """Check that a path is a readable file with content."""
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

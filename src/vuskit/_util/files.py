"""Files: states that reveal changes, and writing that is complete or absent after a crash."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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

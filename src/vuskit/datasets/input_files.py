"""Track the files that a series is read from, and detect changes."""

from __future__ import annotations

import functools
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

__all__ = ["MISSING", "file_state", "record_opened_files"]

MISSING = "missing"
"""State of a file that does not exist."""

_CODE = (".py", ".pyc", ".so", ".pyd", ".dll")
_SYSTEM = ("/proc/", "/dev/", "/sys/", "/etc/", "/usr/share/", "/usr/lib/locale/")


def file_state(path: str | Path) -> str:
    """Return a text that changes whenever the file changes: size, mtime and ctime.

    The ctime also changes when an edit preserves the size and restores the mtime.

    Examples
    --------
    >>> file_state("nowhere")
    'missing'
    >>> len(file_state(__file__).split())
    3
    """
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return MISSING
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"


class _Record:
    """Files opened so far; files opened for writing are not inputs."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.written: set[str] = set()

    def note(self, path: Any, mode: Any, flags: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return  # a file descriptor
        place = os.path.abspath(os.fsdecode(path))
        if place.endswith(_CODE) or place.startswith(_ignored()):
            return
        opening = flags if isinstance(flags, int) else 0
        if opening & (os.O_WRONLY | os.O_RDWR) or set(str(mode or "")) & set("wax+"):
            self.written.add(place)
        elif place not in self.states and not os.path.isdir(place):
            # The state is taken before reading, so that later edits are detected.
            self.states[place] = file_state(place)


_record: ContextVar[_Record | None] = ContextVar("vuskit_opened_files", default=None)


@contextmanager
def record_opened_files() -> Iterator[dict[str, str]]:
    """Record the states of files that Python code opens for reading inside the block, by path.

    Includes files that do not exist. Excludes code, installed packages and files of the operating
    system. Files opened by compiled libraries may go unnoticed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file, record_opened_files() as found:
    ...     _ = Path(file.name).read_text()
    >>> found[file.name].split()[0]
    '0'
    """
    _install_hook()
    record = _Record()
    found: dict[str, str] = {}
    token = _record.set(record)
    try:
        yield found
    finally:
        _record.reset(token)
        states = record.states.items()
        found.update((path, state) for path, state in states if path not in record.written)


@functools.cache
def _install_hook() -> None:
    # Audit hooks cannot be removed, so one hook serves all blocks and is idle outside them.
    sys.addaudithook(_note_event)


def _note_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open":
        return
    record = _record.get()
    if record is not None and len(arguments) == 3:
        record.note(*arguments)


@functools.cache
def _ignored() -> tuple[str, ...]:
    """Path prefixes of code, installed packages and the operating system."""
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages()}
    folders.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if sys.prefix != sys.base_prefix:
        folders.add(sys.prefix)
    real = {os.path.realpath(folder) for folder in folders}
    return (*_SYSTEM, *(os.path.join(folder, "") for folder in folders | real))

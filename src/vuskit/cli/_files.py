"""Files on the command line: early checks, atomic writes, readable errors."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from vuskit._util.files import atomic_files, atomic_path, check_exists, check_file, reason_of
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


def check_page(option: str, path: Path | None, *, made: Path | None = None) -> None:
    """Check early that a page can be written; no page is fine.

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


def plan_folder(target: Path) -> Path:
    """Return the run folder of a plan, or the target itself.

    Examples
    --------
    >>> plan_folder(Path("bench-run")).name
    'bench-run'
    """
    if target.suffix != _PLAN or target.is_dir():
        return target
    from vuskit.bench.plan import planned_folder

    return planned_folder(target)


@contextmanager
def _written(path: Path, temporary: AbstractContextManager[Path]) -> Iterator[Path]:
    """Yield a temporary path; errors say why `path` cannot be written."""
    try:
        with temporary as found:
            yield found
    except OSError as error:
        missing = error.errno == errno.ENOENT
        reason = f"there is no folder {str(path.parent)!r}" if missing else reason_of(error)
        raise VuskitError(f"{path} cannot be written: {reason}") from error


def atomic_file(path: Path) -> AbstractContextManager[Path]:
    """Yield a temporary path that becomes the file on success and is removed on failure."""
    return _written(path, atomic_path(path))


def atomic_folder(folder: Path) -> AbstractContextManager[Path]:
    """Yield a temporary folder; on success its files move to the folder."""
    return _written(folder, atomic_files(folder))


def write_file(path: Path, text: str) -> None:
    """Write a file atomically."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

"""Unpacking archives that nobody vouches for."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from vuskit.errors import VuskitError

__all__ = ["UnpackLimits", "UnsafeArchiveError", "unpack"]

_CHUNK = 1 << 20
_JUNK = ("__MACOSX/", ".DS_Store")
_SMALL = 16 << 20  # ratios below this size say nothing: a file of zeros is no bomb
_COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


class UnsafeArchiveError(VuskitError):
    """An archive is broken, reaches outside its folder, or is far larger than it looks."""


@dataclass(frozen=True)
class UnpackLimits:
    """How much an archive may unpack to.

    Attributes
    ----------
    total_bytes : int
        Size of everything unpacked; 20 GB by default.
    ratio : float
        Size unpacked over size packed, once 16 MB are passed; 200 by default.
    members : int
        Number of files and folders; 100,000 by default.
    """

    total_bytes: int = 20 << 30
    ratio: float = 200.0
    members: int = 100_000


def unpack(archive: Path, folder: Path, *, limits: UnpackLimits | None = None) -> None:
    """Unpack a zip, a tar (plain, gz, bz2, xz), or put any other file into the folder as it is.

    Only plain files and folders are made, all of them inside `folder`; links, devices, absolute
    paths and ``..`` end the unpacking. Sizes are counted while writing, not believed.

    Parameters
    ----------
    archive : Path
        The file.
    folder : Path
        An empty folder; what was written before an error stays there for the caller to remove.
    limits : UnpackLimits, optional
        Limits of size, ratio and number.

    Raises
    ------
    UnsafeArchiveError
        If the archive is broken, unsafe or too large.

    Examples
    --------
    >>> import tempfile
    >>> home = Path(tempfile.mkdtemp())
    >>> with zipfile.ZipFile(home / "a.zip", "w") as out:
    ...     out.writestr("../outside.txt", "x")
    >>> unpack(home / "a.zip", home / "target")
    Traceback (most recent call last):
    vuskit.datasets.archive.UnsafeArchiveError: a.zip: '../outside.txt' must stay in the folder
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = _Target(archive, folder, limits or UnpackLimits())
    try:
        if zipfile.is_zipfile(archive):
            _unpack_zip(target)
        else:
            _unpack_stream(target)
    except (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise UnsafeArchiveError(f"{archive.name}: not a readable archive: {error}") from error
    except (RuntimeError, NotImplementedError) as error:  # zipfile: password, odd compression
        raise UnsafeArchiveError(f"{archive.name}: cannot be unpacked: {error}") from error


class _Target:
    """The folder that is written to, and what has been written so far."""

    def __init__(self, archive: Path, folder: Path, limits: UnpackLimits) -> None:
        self.archive = archive
        self.packed_bytes = max(1, archive.stat().st_size)
        self._folder = folder
        self._limits = limits
        self._written = 0
        self._members = 0

    def refuse(self, reason: str) -> UnsafeArchiveError:
        return UnsafeArchiveError(f"{self.archive.name}: {reason}")

    def count_member(self) -> None:
        self._members += 1
        if self._members > self._limits.members:
            raise self.refuse(f"must have at most {self._limits.members:,} members, has more")

    def check_size(self, total: int) -> None:
        if total > self._limits.total_bytes:
            raise self.refuse(
                f"must unpack to at most {self._limits.total_bytes:,} bytes, holds more"
            )
        if total > _SMALL and total > self._limits.ratio * self.packed_bytes:
            raise self.refuse(
                f"must unpack to at most {self._limits.ratio:g} times its size, holds more"
            )

    def add_folder(self, name: str) -> None:
        self._place(name).mkdir(parents=True, exist_ok=True)

    def add_file(self, name: str, content: IO[bytes]) -> None:
        place = self._place(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            stream = place.open("xb")
        except FileExistsError:
            raise self.refuse(f"{name!r} must occur once, occurs again") from None
        with stream:
            while chunk := content.read(_CHUNK):
                self._written += len(chunk)
                self.check_size(self._written)
                stream.write(chunk)

    def _place(self, name: str) -> Path:
        # Backslashes and drive letters are judged as Windows would read them, everywhere.
        parts = PurePosixPath(name.replace("\\", "/")).parts
        odd = (
            not parts
            or parts[0].startswith("/")
            or any(part == ".." or ":" in part or "\0" in part for part in parts)
        )
        if odd:
            raise self.refuse(f"{name!r} must stay in the folder")
        return self._folder.joinpath(*parts)


def _unpack_zip(target: _Target) -> None:
    with zipfile.ZipFile(target.archive) as source:
        for entry in source.infolist():
            target.count_member()
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise target.refuse(f"{entry.filename!r} must be a plain file or a folder")
            if entry.is_dir():
                target.add_folder(entry.filename)
            elif not _is_junk(entry.filename):
                with source.open(entry) as content:
                    target.add_file(entry.filename, content)


def _unpack_stream(target: _Target) -> None:
    """Tar or single file, perhaps compressed."""
    with _decompressed(target) as (stream, is_compressed):
        if _looks_like_tar(stream):
            _unpack_tar(target, stream)
        else:
            name = target.archive.name
            target.count_member()
            target.add_file(Path(name).stem if is_compressed else name, stream)


def _unpack_tar(target: _Target, stream: io.BufferedReader[Any]) -> None:
    with tarfile.open(fileobj=stream, mode="r|") as source:
        for entry in source:
            target.count_member()
            if entry.isdir():
                target.add_folder(entry.name)
            elif not entry.isreg():
                raise target.refuse(f"{entry.name!r} must be a plain file or a folder")
            elif not _is_junk(entry.name):
                content = source.extractfile(entry)
                if content is not None:
                    target.add_file(entry.name, content)


class _CountedStream(io.RawIOBase):
    """Decompressed bytes, refused beyond the limits: a tar's own headers may be the bomb."""

    def __init__(self, stream: IO[bytes], target: _Target) -> None:
        super().__init__()
        self._stream = stream
        self._target = target
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self._count += len(data)
        # Headers and padding take their share: twice the room, and one megabyte.
        self._target.check_size((self._count - _CHUNK) // 2)
        return len(data)


@contextmanager
def _decompressed(target: _Target) -> Iterator[tuple[io.BufferedReader[Any], bool]]:
    """Open the file as a stream of its content; say whether it was compressed."""
    with target.archive.open("rb") as stream:
        head = stream.read(8)
    opener = next((open_ for magic, open_ in _COMPRESSED.items() if head.startswith(magic)), None)
    with (opener or Path.open)(target.archive, "rb") as content:
        yield io.BufferedReader(_CountedStream(content, target), _CHUNK), opener is not None


def _looks_like_tar(stream: io.BufferedReader[Any]) -> bool:
    head = stream.peek(512)[:512]
    return len(head) == 512 and head[257:262] == b"ustar"


def _is_junk(name: str) -> bool:
    return name.startswith(_JUNK[0]) or PurePosixPath(name).name == _JUNK[1]

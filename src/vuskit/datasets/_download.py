"""Downloads that resume, and archives that are unpacked safely."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import http.client
import io
import json
import lzma
import re
import stat
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from vuskit.datasets.catalog import DownloadError, Progress, UnpackLimits, UnsafeArchiveError
from vuskit.errors import InvalidInputError

__all__ = ["download", "unpack"]

_CHUNK = 1 << 16
_RETRY_STATUS = {408, 425, 429, 500, 502, 503, 504}
_COPY_CHUNK = 1 << 20
_JUNK = ("__MACOSX/", ".DS_Store")
_SMALL = 16 << 20  # ratios below this size say nothing: a file of zeros is no bomb
_COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}


@dataclass(frozen=True)
class _Partial:
    """A part of a file on disk, and the version of the file (ETag or date) it belongs to."""

    path: Path

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def _note(self) -> Path:
        return self.path.with_name(self.path.name + ".json")

    def version(self, url: str) -> str | None:
        try:
            note = json.loads(self._note.read_text())
        except (OSError, ValueError):
            return None
        return note.get("version") if note.get("url") == url else None

    def remember(self, url: str, version: str | None) -> None:
        self._note.write_text(json.dumps({"url": url, "version": version}))

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        self.path.replace(target)
        self._note.unlink(missing_ok=True)


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    progress: Progress | None = None,
    retries: int = 5,
    timeout: float = 30.0,
    max_bytes: int = 20 << 30,
    pause: float = 1.0,
) -> str:
    """Download a file; the target appears only when it is complete and correct.

    Bytes go to ``<target>.part`` first. A cut connection is taken up where it broke, in this call
    or in a later one, provided that the server still has the same version of the file (ETag or
    Last-Modified); otherwise it starts again.

    Parameters
    ----------
    url : str
        An http or https address.
    target : Path
        Where the file shall be.
    sha256 : str, optional
        Expected SHA-256 of the file, in hex.
    progress : callable, optional
        Called as ``progress(bytes_so_far, bytes_in_all_or_None)``.
    retries : int, default=5
        How often a failed attempt is followed by another; an attempt that brought new bytes
        starts the count again.
    timeout : float, default=30
        Seconds of silence after which a connection counts as cut.
    max_bytes : int, default=20 GB
        A larger file is refused.
    pause : float, default=1
        Seconds before the first new attempt; doubled each time.

    Returns
    -------
    str
        SHA-256 of the file.

    Raises
    ------
    InvalidInputError
        If the address is not http(s).
    DownloadError
        If the server refuses, the connection keeps breaking, the file is too large, or its
        checksum is another one (the file is then removed).

    Examples
    --------
    >>> download("file:///etc/hostname", Path("x"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `url` must start with http:// or https://, got 'file:///etc/hostname'
    """
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise InvalidInputError(f"`url` must start with http:// or https://, got {url!r}")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = _Partial(target.with_name(target.name + ".part"))
    failures = 0
    while True:
        before = partial.size
        try:
            _attempt(url, partial, progress, timeout, max_bytes)
            break
        except (OSError, http.client.HTTPException) as error:
            failures = 1 if partial.size > before else failures + 1
            if _is_final(error) or failures > retries:
                raise DownloadError(f"{url}: download failed: {error}") from error
            time.sleep(pause * 2 ** (failures - 1))
    found = file_sha256(partial.path)
    if sha256 is not None and found != sha256.lower():
        partial.discard()
        raise DownloadError(f"{url}: SHA-256 must be {sha256.lower()}, got {found}")
    partial.finish(target)
    return found


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _CutError(OSError):
    """The connection ended before the file did."""


def _attempt(
    url: str, partial: _Partial, progress: Progress | None, timeout: float, max_bytes: int
) -> None:
    """Fetch what is missing of the file, all of it or an OSError."""
    have, version = partial.size, partial.version(url)
    headers = {"User-Agent": "vuskit", "Accept-Encoding": "identity"}
    if have and version:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    request = urllib.request.Request(url, headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # what is on disk is no beginning of what the server has
            partial.discard()
            raise _CutError("the server does not have the rest of the file") from error
        raise
    with response:
        begin, total = _extent(response, have)
        if total is not None and total > max_bytes:
            raise DownloadError(f"{url}: must be at most {max_bytes:,} bytes, got {total:,}")
        partial.remember(url, response.headers.get("ETag") or response.headers.get("Last-Modified"))
        _receive(response, partial, begin, total, progress, max_bytes)


def _extent(response: http.client.HTTPResponse, have: int) -> tuple[int, int | None]:
    """Return where the answer begins in the file, and the size of the whole file."""
    length = response.headers.get("Content-Length")
    size = int(length) if length is not None and length.isdigit() else None
    if response.status != 206:
        return 0, size
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    if match is None or int(match[1]) != have:
        raise _CutError("the server sent another part than the one that was asked for")
    if match[2] != "*":
        return have, int(match[2])
    return have, None if size is None else have + size


def _receive(
    response: http.client.HTTPResponse,
    partial: _Partial,
    begin: int,
    total: int | None,
    progress: Progress | None,
    max_bytes: int,
) -> None:
    done = begin
    with partial.path.open("ab" if begin else "wb") as stream:
        while chunk := response.read1(_CHUNK):
            done += len(chunk)
            if done > max_bytes:
                raise DownloadError(f"{response.url}: must be at most {max_bytes:,} bytes, is more")
            stream.write(chunk)
            if progress is not None:
                progress(done, total)
    if total is not None and done != total:
        raise _CutError(f"connection cut after {done:,} of {total:,} bytes")


def _is_final(error: Exception) -> bool:
    """Whether trying again is pointless: the server has understood and said no."""
    return isinstance(error, urllib.error.HTTPError) and error.code not in _RETRY_STATUS


# -- archives ------------------------------------------------------------------------------------


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
    vuskit.datasets.catalog.UnsafeArchiveError: a.zip: '../outside.txt' must stay in the folder
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
            while chunk := content.read(_COPY_CHUNK):
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
        self._target.check_size((self._count - _COPY_CHUNK) // 2)
        return len(data)


@contextmanager
def _decompressed(target: _Target) -> Iterator[tuple[io.BufferedReader[Any], bool]]:
    """Open the file as a stream of its content; say whether it was compressed."""
    with target.archive.open("rb") as stream:
        head = stream.read(8)
    opener = next((open_ for magic, open_ in _COMPRESSED.items() if head.startswith(magic)), None)
    with (opener or Path.open)(target.archive, "rb") as content:
        yield io.BufferedReader(_CountedStream(content, target), _COPY_CHUNK), opener is not None


def _looks_like_tar(stream: io.BufferedReader[Any]) -> bool:
    head = stream.peek(512)[:512]
    return len(head) == 512 and head[257:262] == b"ustar"


def _is_junk(name: str) -> bool:
    return name.startswith(_JUNK[0]) or PurePosixPath(name).name == _JUNK[1]

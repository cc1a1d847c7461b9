"""Downloads that resume, and archives that are unpacked safely."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import http.client
import io
import json
import lzma
import re
import shutil
import ssl
import stat
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Self

from vuskit.datasets.catalog import DownloadError, Progress, UnpackLimits, UnsafeArchiveError
from vuskit.errors import InvalidInputError

__all__ = ["check_url", "download", "unpack"]

_CHUNK = 1 << 16
_RETRY_STATUS = {408, 425, 429, 500, 502, 503, 504}
_COPY_CHUNK = 1 << 20
_ENCRYPTED = 0x1  # flag of a member of a zip
_JUNK = ("__MACOSX/", ".DS_Store")
_SMALL = 16 << 20  # ratios below this size say nothing: a file of zeros is no bomb
_COMPRESSED: dict[str, Callable[..., Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
_HEAD = 2048  # bytes that tell what a file is
_MAGIC = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PK\x07\x08": "zip",
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x1f\x9d": "compress",
}
_ENDINGS = {
    ".zip": "zip",
    ".tar": "tar",
    ".gz": "gzip",
    ".tgz": "gzip",
    ".bz2": "bzip2",
    ".tbz": "bzip2",
    ".tbz2": "bzip2",
    ".xz": "xz",
    ".txz": "xz",
    ".zst": "zstd",
    ".7z": "7z",
    ".rar": "rar",
}
_TAR_ENDINGS = (".tar", ".tgz", ".tbz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
_UNSUPPORTED = ("zstd", "7z", "rar", "compress")
_PAGE_TYPES = ("text/html", "application/xhtml+xml")
# Reasons of the machine, not of the archive.
_MACHINE_ERRORS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


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
    allow_http: bool = False,
    context: ssl.SSLContext | None = None,
) -> str:
    """Download a file; the target appears only when it is complete and correct.

    Bytes go to ``<target>.part`` first. A cut connection is taken up where it broke, in this call
    or in a later one, provided that the server still has the same version of the file (ETag or
    Last-Modified); otherwise it starts again.

    Without a checksum, the first bytes must fit the file's name and the content type: a web page
    is no archive. A plain file whose length the server does not tell needs a checksum; an archive
    does not, because `unpack` checks that it is complete.

    Parameters
    ----------
    url : str
        An https address, or an http one if that is allowed.
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
    allow_http : bool, default=False
        Allow http, which anybody on the way can change, also as the target of a redirect.
    context : ssl.SSLContext, optional
        Of https connections; the system's certificates decide by default.

    Returns
    -------
    str
        SHA-256 of the file.

    Raises
    ------
    InvalidInputError
        If the address is not https, or http where that is allowed.
    DownloadError
        If the server refuses or redirects to http, the connection keeps breaking, the file is too
        large or not what its name says, or its checksum differs (the file is then removed).

    Examples
    --------
    >>> download("file:///etc/hostname", Path("x"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `url` must start with https://, got 'file:///etc/hostname'
    """
    check_url(url, allow_http=allow_http)
    opener = urllib.request.build_opener(
        urllib.request.HTTPSHandler(context=context), _CheckedRedirects(allow_http)
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = _Partial(target.with_name(target.name + ".part"))
    failures = 0
    while True:
        before = partial.size
        try:
            received = _attempt(opener, url, partial, progress, timeout, max_bytes)
            break
        except (OSError, http.client.HTTPException) as error:
            failures = 1 if partial.size > before else failures + 1
            if _is_final(error) or failures > retries:
                hint = "" if _is_final(error) else "; the same call later continues the download"
                raise DownloadError(f"{url}: download failed: {error}{hint}") from error
            time.sleep(pause * 2 ** (failures - 1))
    found = file_sha256(partial.path)
    if sha256 is not None and found != sha256.lower():
        partial.discard()
        raise DownloadError(
            f"{url}: SHA-256 must be {sha256.lower()}, got {found}; the file changed, or the "
            "checksum belongs to another file"
        )
    problem = "" if sha256 else _problem(partial.path, target.name, received, found)
    if problem:
        partial.discard()
        raise DownloadError(f"{url}: {problem}")
    partial.finish(target)
    return found


def check_url(url: str, *, allow_http: bool) -> None:
    """Reject addresses that are not https, or http where that is allowed.

    Examples
    --------
    >>> check_url("https://example.org/a.zip", allow_http=False)
    >>> check_url("http://example.org/a", allow_http=False)
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `url` must start with https://, got 'http://example.org/a'; ...
    """
    scheme = urllib.parse.urlsplit(url).scheme
    if scheme == "https" or (scheme == "http" and allow_http):
        return
    hint = "; use https, or allow http with --allow-http (allow_http=True)"
    raise InvalidInputError(
        f"`url` must start with https://, got {url!r}{hint if scheme == 'http' else ''}"
    )


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects to allowed addresses only."""

    def __init__(self, allow_http: bool) -> None:
        self._allow_http = allow_http

    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        try:
            check_url(newurl, allow_http=self._allow_http)
        except InvalidInputError as error:
            fp.close()
            raise DownloadError(f"{req.full_url}: the server redirects: {error}") from None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@dataclass(frozen=True)
class _Received:
    """What the server said about a file that was received whole."""

    content_type: str
    has_end: bool


def _problem(path: Path, name: str, received: _Received, sha256: str) -> str:
    """Why a file without a checksum must not be used; empty if it may be."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    ask = "open the address in a browser, and give the address of the file itself"
    if _is_html(head) and not name.lower().endswith((".html", ".htm", ".xhtml")):
        return f"must be a data file, got a web page (login, error or download page); {ask}"
    wanted = _kind_by_name(name)
    kind = _kind(head)
    if wanted and kind != wanted and not (wanted == "tar" and kind is None):
        return f"must be a {wanted} file as its name says, got {_shown(head)}; {ask}"
    if kind is None and wanted is None:
        if received.content_type in _PAGE_TYPES:
            return f"must be a data file, got the content type {received.content_type!r}; {ask}"
        if not received.has_end:
            return (
                "the server does not tell the length, so that a cut connection looks complete; "
                f"give a checksum with --sha256 (sha256=); the file received has {sha256}"
            )
    return ""


def _kind(head: bytes) -> str | None:
    """Kind of an archive by its first bytes."""
    if head[257:262] == b"ustar":
        return "tar"
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def _kind_by_name(name: str) -> str | None:
    lower = name.lower()
    return next((kind for ending, kind in _ENDINGS.items() if lower.endswith(ending)), None)


def _is_html(head: bytes) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:200].lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<script")) or (
        start.startswith((b"<?xml", b"<!--")) and b"<html" in head.lower()
    )


def _shown(head: bytes) -> str:
    return f"a file that begins with {head[:16]!r}" if head else "an empty file"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _CutError(OSError):
    """The connection ended before the file did."""


def _attempt(
    opener: urllib.request.OpenerDirector,
    url: str,
    partial: _Partial,
    progress: Progress | None,
    timeout: float,
    max_bytes: int,
) -> _Received:
    """Fetch what is missing of the file, all of it or an OSError."""
    have, version = partial.size, partial.version(url)
    headers = {"User-Agent": "vuskit", "Accept-Encoding": "identity"}
    if have and version:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    request = urllib.request.Request(url, headers=headers)
    try:
        response = opener.open(request, timeout=timeout)
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
        # A chunked answer has an end of its own; http.client reports one that lacks it.
        has_end = total is not None or bool(response.chunked)
        return _Received(response.headers.get_content_type(), has_end)


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
    paths and ``..`` end the unpacking. Sizes are counted while writing, not believed. Everything
    is read to its end, so that every checksum of the archive is verified.

    Parameters
    ----------
    archive : Path
        The file.
    folder : Path
        A new or empty folder; an error removes it.
    limits : UnpackLimits, optional
        Limits of size, ratio and number.

    Raises
    ------
    UnsafeArchiveError
        If the archive is broken, incomplete, encrypted, unsafe, too large, or of a kind that is
        not supported.
    DownloadError
        If the folder cannot be written.

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
        _unpack(target)
    except (UnsafeArchiveError, DownloadError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except Exception as error:  # decompressors raise nearly anything on damaged data
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in _MACHINE_ERRORS:
            raise DownloadError(f"{archive.name}: cannot be unpacked: {error}") from error
        reason = str(error) or type(error).__name__
        raise target.refuse(
            f"{target.place}is not readable: {reason}; download it again"
        ) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _unpack(target: _Target) -> None:
    with target.archive.open("rb") as stream:
        head = stream.read(_HEAD)
    name = target.archive.name
    kind, wanted = _kind(head), _kind_by_name(name)
    if _is_html(head) and not name.lower().endswith((".html", ".htm", ".xhtml")):
        raise target.refuse("must be a data file, got a web page")
    if kind in _UNSUPPORTED:
        raise target.refuse(
            f"must be a zip, tar, gz, bz2 or xz file, got {kind}; unpack it yourself"
        )
    if kind is None and wanted not in (None, "tar"):
        raise target.refuse(f"must be a {wanted} file as its name says, got {_shown(head)}")
    if kind == "zip" or (kind is None and zipfile.is_zipfile(target.archive)):
        _unpack_zip(target)
    else:
        _unpack_stream(target, _COMPRESSED.get(kind or ""))


class _Target:
    """The folder that is written to, and what has been written so far."""

    def __init__(self, archive: Path, folder: Path, limits: UnpackLimits) -> None:
        self.archive = archive
        self.packed_bytes = max(1, archive.stat().st_size)
        self._folder = folder
        self._limits = limits
        self._written = 0
        self._members = 0
        self._current: str | None = None

    @property
    def place(self) -> str:
        """Member that is read at the moment, for messages."""
        return "" if self._current is None else f"{self._current!r} "

    def refuse(self, reason: str) -> UnsafeArchiveError:
        return UnsafeArchiveError(f"{self.archive.name}: {reason}")

    def begin_member(self, name: str) -> None:
        self._members += 1
        self._current = name
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
        self._make_folder(name, self._place(name))

    def _make_folder(self, name: str, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise self.refuse(f"{name!r} must not be inside a file") from None

    def add_file(self, name: str, content: IO[bytes]) -> None:
        place = self._place(name)
        self._make_folder(name, place.parent)
        try:
            stream = place.open("xb")
        except FileExistsError:
            raise self.refuse(f"{name!r} must occur once, occurs again") from None
        with stream:
            while chunk := content.read(_COPY_CHUNK):
                self._written += len(chunk)
                self.check_size(self._written)
                stream.write(chunk)

    def end_members(self) -> None:
        self._current = None

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
            target.begin_member(entry.filename)
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise target.refuse(f"{entry.filename!r} must be a plain file or a folder")
            if entry.flag_bits & _ENCRYPTED:
                raise target.refuse(f"{entry.filename!r} must not need a password")
            if entry.is_dir():
                target.add_folder(entry.filename)
            elif not _is_junk(entry.filename):
                with source.open(entry) as content:
                    target.add_file(entry.filename, content)


def _unpack_stream(target: _Target, opener: Callable[..., Any] | None) -> None:
    """Tar or single file, perhaps compressed."""
    name = target.archive.name
    with (opener or Path.open)(target.archive, "rb") as content:
        stream = io.BufferedReader(_CountedStream(content, target), _COPY_CHUNK)
        if _looks_like_tar(stream) or name.lower().endswith(_TAR_ENDINGS):
            _unpack_tar(target, stream)
            target.end_members()
            while stream.read(_COPY_CHUNK):  # the checksum of the compression is at its end
                pass
        else:
            single = Path(name).stem if opener else name
            target.begin_member(single)
            target.add_file(single, stream)


class _StrictTarInfo(tarfile.TarInfo):
    """Report damaged and missing headers; `tarfile` takes them for the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        if len(buf) == tarfile.BLOCKSIZE and not any(buf):
            return super().frombuf(buf, encoding, errors)  # raises: the end
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"the archive is cut or damaged ({error})") from error


def _unpack_tar(target: _Target, stream: io.BufferedReader[Any]) -> None:
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_StrictTarInfo) as source:
        for entry in source:
            target.begin_member(entry.name)
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


def _looks_like_tar(stream: io.BufferedReader[Any]) -> bool:
    head = stream.peek(512)[:512]
    return len(head) == 512 and head[257:262] == b"ustar"


def _is_junk(name: str) -> bool:
    return name.startswith(_JUNK[0]) or PurePosixPath(name).name == _JUNK[1]

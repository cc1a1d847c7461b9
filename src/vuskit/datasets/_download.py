"""Resumable downloads and safe unpacking of archives."""

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
_ENCRYPTED = 0x1  # flag bit of a zip member
_JUNK = ("__MACOSX/", ".DS_Store")
_SMALL = 16 << 20  # no ratio limit below this size: a small file of zeros is harmless
_COMPRESSED: dict[str, Callable[..., Any]] = {
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
_HEAD = 2048  # bytes that suffice to detect the type of a file
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
# Errors caused by the machine, not by the archive.
_MACHINE_ERRORS = (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO)


@dataclass(frozen=True)
class _Partial:
    """A partial download on disk, and the version of the file (ETag or date) it belongs to."""

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
    """Download a file; the target appears only after the file is complete and verified.

    Bytes are written to ``<target>.part`` first. An interrupted download resumes, in this call or
    in a later one, if the server still has the same version of the file (ETag or Last-Modified).
    Otherwise it starts over.

    Without a checksum, the first bytes must match the file's name and content type. This rejects
    web pages. A plain file of unknown length needs a checksum. An archive does not, because
    `unpack` checks that it is complete.

    Parameters
    ----------
    url : str
        An https address, or an http address with `allow_http`.
    target : Path
        Path of the downloaded file.
    sha256 : str, optional
        Expected SHA-256 of the file, in hexadecimal digits.
    progress : callable, optional
        Called as ``progress(bytes_so_far, total_bytes_or_None)``.
    retries : int, default=5
        Maximum number of retries; an attempt that received new bytes resets the count.
    timeout : float, default=30
        Seconds without data after which a connection counts as lost.
    max_bytes : int, default=20 GB
        Maximum size of the file.
    pause : float, default=1
        Seconds before the first retry; doubled for each further retry.
    allow_http : bool, default=False
        Allow unencrypted http, including redirects to it. Others on the network can change such
        downloads.
    context : ssl.SSLContext, optional
        Settings of https connections. Defaults to the system's certificates.

    Returns
    -------
    str
        SHA-256 of the file.

    Raises
    ------
    InvalidInputError
        If the address is neither https nor allowed http.
    DownloadError
        If the server refuses or redirects to http, the connection keeps failing, the file is too
        large or does not match its name, or its checksum differs (the file is then removed).

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
                hint = "" if _is_final(error) else "; try again later to resume the download"
                raise DownloadError(f"{url}: download failed: {error}{hint}") from error
            time.sleep(pause * 2 ** (failures - 1))
    found = file_sha256(partial.path)
    if sha256 is not None and found != sha256.lower():
        partial.discard()
        raise DownloadError(
            f"{url}: SHA-256 must be {sha256.lower()}, got {found}; the file has changed, or the "
            "checksum belongs to another file"
        )
    problem = "" if sha256 else _problem(partial.path, target.name, received, found)
    if problem:
        partial.discard()
        raise DownloadError(f"{url}: {problem}")
    partial.finish(target)
    return found


def check_url(url: str, *, allow_http: bool) -> None:
    """Reject addresses that are neither https nor allowed http.

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
    """Response headers of a completely received file."""

    content_type: str
    has_end: bool


def _problem(path: Path, name: str, received: _Received, sha256: str) -> str:
    """Reason to reject a file without a checksum; empty if it is acceptable."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
    ask = "open the address in a browser, and use the address of the file itself"
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
                "the server does not send the length, so an interrupted download would look "
                "complete; pass a checksum with --sha256 (sha256=); the received file has "
                f"{sha256}"
            )
    return ""


def _kind(head: bytes) -> str | None:
    """Detect the type of an archive from its first bytes."""
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
    return f"a file that starts with {head[:16]!r}" if head else "an empty file"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _IncompleteError(OSError):
    """The connection ended before the file was complete."""


def _attempt(
    opener: urllib.request.OpenerDirector,
    url: str,
    partial: _Partial,
    progress: Progress | None,
    timeout: float,
    max_bytes: int,
) -> _Received:
    """Download the missing part of the file; raise an OSError if it stays incomplete."""
    have, version = partial.size, partial.version(url)
    headers = {"User-Agent": "vuskit", "Accept-Encoding": "identity"}
    if have and version:
        headers |= {"Range": f"bytes={have}-", "If-Range": version}
    request = urllib.request.Request(url, headers=headers)
    try:
        response = opener.open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the server's file does not continue the partial download
            partial.discard()
            raise _IncompleteError("the server does not have the rest of the file") from error
        raise
    with response:
        begin, total = _extent(response, have)
        if total is not None and total > max_bytes:
            raise DownloadError(f"{url}: must be at most {max_bytes:,} bytes, got {total:,}")
        partial.remember(url, response.headers.get("ETag") or response.headers.get("Last-Modified"))
        _receive(response, partial, begin, total, progress, max_bytes)
        # A chunked response marks its end; http.client raises an error if the mark is missing.
        has_end = total is not None or bool(response.chunked)
        return _Received(response.headers.get_content_type(), has_end)


def _extent(response: http.client.HTTPResponse, have: int) -> tuple[int, int | None]:
    """Return the file position where the response starts, and the size of the whole file."""
    length = response.headers.get("Content-Length")
    size = int(length) if length is not None and length.isdigit() else None
    if response.status != 206:
        return 0, size
    match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
    if match is None or int(match[1]) != have:
        raise _IncompleteError("the server sent a different part than requested")
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
                raise DownloadError(
                    f"{response.url}: must be at most {max_bytes:,} bytes, got more"
                )
            stream.write(chunk)
            if progress is not None:
                progress(done, total)
    if total is not None and done != total:
        raise _IncompleteError(f"connection cut after {done:,} of {total:,} bytes")


def _is_final(error: Exception) -> bool:
    """Whether a retry is pointless, because the server rejected the request."""
    return isinstance(error, urllib.error.HTTPError) and error.code not in _RETRY_STATUS


# -- archives ------------------------------------------------------------------------------------


def unpack(archive: Path, folder: Path, *, limits: UnpackLimits | None = None) -> None:
    """Unpack a zip or a tar (plain, gz, bz2, xz); copy any other file into the folder.

    Creates only regular files and folders, all inside `folder`. Links, devices, absolute paths and
    ``..`` are errors. Sizes are counted while writing instead of trusting headers. The archive is
    read to its end, which verifies all of its checksums.

    Parameters
    ----------
    archive : Path
        The file.
    folder : Path
        A new or empty folder; removed after an error.
    limits : UnpackLimits, optional
        Limits of size, ratio and number of members.

    Raises
    ------
    UnsafeArchiveError
        If the archive is damaged, incomplete, encrypted, unsafe, too large or of an unsupported
        type.
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
    except Exception as error:  # decompressors raise various errors for damaged data
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
            f"must be a zip, tar, gz, bz2 or xz file, got {kind}; unpack it manually"
        )
    if kind is None and wanted not in (None, "tar"):
        raise target.refuse(f"must be a {wanted} file as its name says, got {_shown(head)}")
    if kind == "zip" or (kind is None and zipfile.is_zipfile(target.archive)):
        _unpack_zip(target)
    else:
        _unpack_stream(target, _COMPRESSED.get(kind or ""))


class _Target:
    """The target folder, and the number of bytes and members written so far."""

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
        """Name of the current member, for messages."""
        return "" if self._current is None else f"{self._current!r} "

    def refuse(self, reason: str) -> UnsafeArchiveError:
        return UnsafeArchiveError(f"{self.archive.name}: {reason}")

    def begin_member(self, name: str) -> None:
        self._members += 1
        self._current = name
        if self._members > self._limits.members:
            raise self.refuse(
                f"must have at most {self._limits.members:,} members, got more; raise the limit "
                "with limits=UnpackLimits(members=...) if you trust the archive"
            )

    def check_size(self, total: int) -> None:
        if total > self._limits.total_bytes:
            raise self.refuse(
                f"must unpack to at most {self._limits.total_bytes:,} bytes, got more; raise the "
                "limit with limits=UnpackLimits(total_bytes=...) if you trust the archive"
            )
        if total > _SMALL and total > self._limits.ratio * self.packed_bytes:
            raise self.refuse(
                f"must unpack to at most {self._limits.ratio:g} times its size, got more; raise "
                "the limit with limits=UnpackLimits(ratio=...) if you trust the archive"
            )

    def add_folder(self, name: str) -> None:
        self._make_folder(name, self._place(name))

    def _make_folder(self, name: str, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise self.refuse(f"{name!r} must not be inside another file") from None

    def add_file(self, name: str, content: IO[bytes]) -> None:
        place = self._place(name)
        self._make_folder(name, place.parent)
        try:
            stream = place.open("xb")
        except FileExistsError:
            raise self.refuse(f"{name!r} must occur once, got it twice") from None
        with stream:
            while chunk := content.read(_COPY_CHUNK):
                self._written += len(chunk)
                self.check_size(self._written)
                stream.write(chunk)

    def end_members(self) -> None:
        self._current = None

    def _place(self, name: str) -> Path:
        # Treat backslashes and drive letters as Windows does, on every platform.
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
                raise target.refuse(
                    f"{entry.filename!r} must not be encrypted; unpack the archive manually"
                )
            if entry.is_dir():
                target.add_folder(entry.filename)
            elif not _is_junk(entry.filename):
                with source.open(entry) as content:
                    target.add_file(entry.filename, content)


def _unpack_stream(target: _Target, opener: Callable[..., Any] | None) -> None:
    """Unpack a tar archive or a single file, compressed or not."""
    name = target.archive.name
    with (opener or Path.open)(target.archive, "rb") as content:
        stream = io.BufferedReader(_CountedStream(content, target), _COPY_CHUNK)
        if _looks_like_tar(stream) or name.lower().endswith(_TAR_ENDINGS):
            _unpack_tar(target, stream)
            target.end_members()
            while stream.read(_COPY_CHUNK):  # the end of the stream verifies the checksum
                pass
        else:
            single = Path(name).stem if opener else name
            target.begin_member(single)
            target.add_file(single, stream)


class _StrictTarInfo(tarfile.TarInfo):
    """Report damaged and missing headers, which `tarfile` treats as the end of the archive."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        if len(buf) == tarfile.BLOCKSIZE and not any(buf):
            return super().frombuf(buf, encoding, errors)  # raises the regular end of archive
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"the archive is truncated or damaged ({error})") from error


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
    """Decompressed bytes, checked against the limits; huge tar headers count as well."""

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
        # Headers and padding take space: allow twice the limit plus one megabyte.
        self._target.check_size((self._count - _COPY_CHUNK) // 2)
        return len(data)


def _looks_like_tar(stream: io.BufferedReader[Any]) -> bool:
    head = stream.peek(512)[:512]
    return len(head) == 512 and head[257:262] == b"ustar"


def _is_junk(name: str) -> bool:
    return name.startswith(_JUNK[0]) or PurePosixPath(name).name == _JUNK[1]

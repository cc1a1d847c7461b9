"""Downloading one file over http: resumed when cut, checked when complete."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vuskit.errors import InvalidInputError, VuskitError

__all__ = ["DownloadError", "Progress", "download"]

# Called with the bytes there are and the bytes there will be (None if the server does not say).
Progress = Callable[[int, int | None], None]

_CHUNK = 1 << 16
_RETRY_STATUS = {408, 425, 429, 500, 502, 503, 504}


class DownloadError(VuskitError):
    """A file could not be downloaded, or is not the one that was asked for."""


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

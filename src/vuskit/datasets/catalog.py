"""Catalog of public data sets, and their download into the cache."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import tomllib
import urllib.parse
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice

__all__ = ["DatasetInfo", "DownloadError", "cache_folder", "fetch", "get_dataset", "list_datasets"]

Progress = Callable[[int, int | None], None]  # bytes so far, and in total if known
_RECEIPT = ".vuskit.json"  # in the folder of a data set: address and checksum of its archive


class DownloadError(VuskitError):
    """A file could not be downloaded or unpacked, or is not the requested file."""


@dataclass(frozen=True)
class DatasetInfo:
    """Catalog entry of a data set.

    Attributes
    ----------
    name, title : str
        Name for `fetch`, and a short description.
    n_series : int
        Number of series.
    n_points, n_anomalies, anomalous_points : float or None
        Means per series from the VUS paper; None for collections of data sets.
    license, citation, home : str
        License as stated by the owners, reference to cite, and home page.
    format, layout : str
        Name of the reader, and layout of the unpacked folder.
    url, sha256 : str or None
        Address of an archive published by the owners, and its published checksum. So far, no
        owner publishes a checksum; the archives of NAB and MGAB change with their repositories.
    part_of : str or None
        A data set of this catalog whose archive contains this one.
    """

    name: str
    title: str
    n_series: int
    n_points: float | None
    n_anomalies: float | None
    anomalous_points: float | None
    license: str
    citation: str
    home: str
    format: str
    layout: str
    url: str | None = None
    sha256: str | None = None
    part_of: str | None = None


@functools.cache
def list_datasets() -> tuple[DatasetInfo, ...]:
    """Return all data sets of the catalog, sorted by name; works offline.

    Examples
    --------
    >>> [info.name for info in list_datasets()][:4]
    ['Dodgers', 'ECG', 'IOPS', 'KDD21']
    """
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    means = dict.fromkeys(("n_points", "n_anomalies", "anomalous_points"))
    return tuple(DatasetInfo(**{"name": name, **means, **entry}) for name, entry in entries.items())


def get_dataset(name: str) -> DatasetInfo:
    """Return the catalog entry with the given name.

    Raises
    ------
    InvalidInputError
        If the name is unknown.

    Examples
    --------
    >>> get_dataset("NAB").format
    'nab'
    """
    known = {info.name: info for info in list_datasets()}
    return known[check_choice("name", name, known)]


def fetch(
    name: str,
    *,
    url: str | None = None,
    sha256: str | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> Path:
    """Download, verify and unpack a data set; return its folder in the cache.

    A cached data set is returned without network access, unless the address or the checksum
    differs. The folder appears only after the archive has been unpacked completely. An interrupted
    download starts again.

    Parameters
    ----------
    name : str
        A name from `list_datasets`, or with `url` any name for the folder.
    url : str, optional
        Address of a zip, a tar (plain, gz, bz2 or xz) or a single file. Defaults to the address in
        the catalog.
    sha256 : str, optional
        Expected SHA-256 of the download. Without `url`, defaults to the checksum in the catalog.
    progress : callable, optional
        Called as ``progress(bytes_so_far, total_bytes_or_None)``.
    force : bool, default=False
        Download again even if the data set is cached.

    Returns
    -------
    Path
        The folder, for `read_series`.

    Raises
    ------
    InvalidInputError
        If the name is unknown and `url` is not given, the name is not a valid folder name, or the
        address is not https and there is no checksum.
    DownloadError
        If the download fails, does not match the checksum, or cannot be unpacked.

    Examples
    --------
    >>> fetch("YAHOO")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `url` must be given for 'YAHOO', which has no archive ...
    """
    url, sha256 = _source(name, url, sha256)
    folder = cache_folder() / name
    known = _receipt(folder)
    if not force and known.get("url") == url and sha256 in (None, known["sha256"]):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
        archive, found = _download(url, sha256, Path(scratch), progress)
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        _unpack(archive, fresh)
        (fresh / _RECEIPT).write_text(json.dumps({"url": url, "sha256": found}))
        if folder.exists():
            folder.replace(Path(scratch) / "stale")
        fresh.replace(folder)
    return folder


def archive_sha256(name: str) -> str | None:
    """Return the SHA-256 of the archive of a cached data set; None if it is not cached."""
    return _receipt(cache_folder() / name).get("sha256")


def _receipt(folder: Path) -> dict[str, str]:
    try:
        return dict(json.loads((folder / _RECEIPT).read_text()))
    except (OSError, ValueError):
        return {}


def cache_folder() -> Path:
    r"""Return the folder of downloaded data sets, without creating it.

    It is the environment variable ``VUSKIT_CACHE``, or the platform's folder:
    ``$XDG_CACHE_HOME/vuskit`` or ``~/.cache/vuskit`` on Linux, ``~/Library/Caches/vuskit`` on
    macOS, ``%LOCALAPPDATA%\vuskit\Cache`` on Windows.

    Examples
    --------
    >>> import os
    >>> os.environ["VUSKIT_CACHE"] = "here"
    >>> cache_folder().name
    'here'
    >>> del os.environ["VUSKIT_CACHE"]
    """
    chosen = os.environ.get("VUSKIT_CACHE")
    return Path(chosen).expanduser() if chosen else _platform_folder(sys.platform)


def _platform_folder(platform: str) -> Path:
    home = Path.home()
    if platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData/Local") / "vuskit" / "Cache"
    if platform == "darwin":
        return home / "Library/Caches/vuskit"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "vuskit"


def _source(name: str, url: str | None, sha256: str | None) -> tuple[str, str | None]:
    """Return the address and the lowercase checksum."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise InvalidInputError(
            f"`name` must be letters, digits and '._-', starting with a letter or digit, "
            f"got {name!r}"
        )
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InvalidInputError(f"`sha256` must be 64 hexadecimal digits, got {sha256!r}")
    if url is None:
        info = get_dataset(name)
        if info.url is None:
            part = f"it is part of {info.part_of!r}; " if info.part_of else ""
            raise InvalidInputError(
                f"`url` must be given for {name!r}, which has no archive in the catalog; "
                f"{part}see {info.home}"
            )
        url, sha256 = info.url, sha256 or info.sha256
    if not url.startswith("https://") and not (sha256 and url.startswith("http://")):
        raise InvalidInputError(
            f"`url` must start with https://, got {url!r}; http:// requires `sha256`, because "
            "others on the network can change the file"
        )
    return url, sha256 and sha256.lower()


class _Bar:
    """The progress bar that pooch expects, as calls of a function."""

    def __init__(self, report: Progress) -> None:
        self._report = report
        self._done = self.total = 0

    def update(self, size: int) -> None:
        self._done += size
        if self.total:
            self._report(min(self._done, self.total), self.total)
        elif size:
            self._report(self._done, None)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None: ...


def _download(
    url: str, sha256: str | None, folder: Path, progress: Progress | None
) -> tuple[Path, str]:
    """Download a file; return it and its checksum."""
    pooch = require("pooch", purpose="downloading data sets")
    pooch.get_logger().setLevel("WARNING")
    last = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
    file_name = re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".") or "archive"
    bar = _Bar(progress) if progress else False
    downloader = pooch.HTTPDownloader(progressbar=bar, chunk_size=1 << 18)
    try:
        archive = pooch.retrieve(
            url, sha256, fname=file_name, path=folder / "download", downloader=downloader
        )
    except (OSError, ValueError) as error:  # of requests, of the disk, or a wrong checksum
        raise DownloadError(f"{url}: the download failed: {error}; try again") from error
    return Path(archive), str(pooch.file_hash(archive))


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack a zip or a tar; move any other file into the folder."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as found:
                found.extractall(folder)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as found:
                found.extractall(folder, filter="data")
        else:
            _check_single_file(archive)
            archive.replace(folder / archive.name)
    except DownloadError:
        raise
    except Exception as error:  # decompressors raise various errors for damaged data
        raise DownloadError(
            f"{archive.name}: cannot be unpacked: {error}; download it again"
        ) from error
    shutil.rmtree(folder / "__MACOSX", ignore_errors=True)


def _check_single_file(path: Path) -> None:
    with path.open("rb") as stream:
        head = stream.read(512)
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise DownloadError(
            f"{path.name}: must be a data file, got a web page; open the address in a browser"
        )
    endings = tuple(ending for _, all_, _ in shutil.get_unpack_formats() for ending in all_)
    if path.name.endswith(endings):
        raise DownloadError(
            f"{path.name}: must be an archive as its name says, got a file that starts with "
            f"{head[:20]!r}"
        )

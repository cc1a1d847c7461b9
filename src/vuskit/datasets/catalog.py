"""Public data sets: what they are, under which terms, and how to get them."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit.datasets.cache import cache_folder, locked
from vuskit.datasets.catalog_entries import ENTRIES, DatasetInfo
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    from vuskit.datasets.archive import UnpackLimits
    from vuskit.datasets.download import Progress

__all__ = ["DatasetInfo", "fetch", "get_dataset", "list_datasets"]


def list_datasets() -> tuple[DatasetInfo, ...]:
    """All data sets of the catalog, by name; reads nothing and asks nobody.

    Examples
    --------
    >>> [info.name for info in list_datasets()][:4]
    ['Dodgers', 'ECG', 'IOPS', 'KDD21']
    """
    return tuple(sorted(ENTRIES, key=lambda info: info.name.lower()))


def get_dataset(name: str) -> DatasetInfo:
    """Return the entry of that name.

    Raises
    ------
    InvalidInputError
        If there is none.

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
    cache: str | Path | None = None,
    progress: Progress | None = None,
    limits: UnpackLimits | None = None,
    retries: int = 5,
    timeout: float = 30.0,
    force: bool = False,
) -> Path:
    """Download a data set, check and unpack it; return its folder.

    What is in the cache already is returned without asking the network, unless another address
    or checksum is wanted. A download that was cut goes on where it stopped.

    Parameters
    ----------
    name : str
        A name of `list_datasets`, or any name for a folder together with `url`.
    url : str, optional
        Address of the archive; the catalog's by default.
    sha256 : str, optional
        Expected SHA-256 of the archive; the catalog's by default, if the address is its own.
    cache : str or Path, optional
        Folder to keep data sets in; see `cache_folder`.
    progress : callable, optional
        Called as ``progress(bytes_so_far, bytes_in_all_or_None)``.
    limits : UnpackLimits, optional
        How much the archive may unpack to.
    retries, timeout
        As for `download`.
    force : bool, default=False
        Download again even if it is there.

    Returns
    -------
    Path
        The folder, for `read_series`.

    Raises
    ------
    InvalidInputError
        If the name is unknown and has no address, or cannot be a folder.
    DownloadError
        If the file cannot be had or is another one than the checksum says.
    UnsafeArchiveError
        If the archive is broken, reaches outside its folder or is too large.

    Examples
    --------
    >>> fetch("YAHOO")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `url` must be given for 'YAHOO', which has no archive ...
    """
    url, sha256 = _source(name, url, sha256)
    home = cache_folder(cache)
    folder, receipt = home / name, home / f"{name}.json"
    with locked(home / f"{name}.lock"):
        if not force and _is_there(folder, receipt, url, sha256):
            return folder
        _install(folder, receipt, url, sha256, progress, limits, retries, timeout)
    return folder


def _source(name: str, url: str | None, sha256: str | None) -> tuple[str, str | None]:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise InvalidInputError(
            f"`name` must be letters, digits and '._-' after a letter or digit, got {name!r}"
        )
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InvalidInputError(f"`sha256` must be 64 hexadecimal digits, got {sha256!r}")
    if url is not None:
        return url, sha256
    info = get_dataset(name)
    if info.url is None:
        within = f"it is part of {info.part_of!r}; " if info.part_of else ""
        raise InvalidInputError(
            f"`url` must be given for {name!r}, which has no archive of its own here: "
            f"{within}see {info.home}"
        )
    return info.url, sha256 or info.sha256


def _is_there(folder: Path, receipt: Path, url: str, sha256: str | None) -> bool:
    try:
        known = json.loads(receipt.read_text())
    except (OSError, ValueError):
        return False
    same = known.get("url") == url and (sha256 is None or known.get("sha256") == sha256.lower())
    return folder.is_dir() and same


def _install(
    folder: Path,
    receipt: Path,
    url: str,
    sha256: str | None,
    progress: Progress | None,
    limits: UnpackLimits | None,
    retries: int,
    timeout: float,
) -> None:
    from vuskit.datasets.archive import UnpackLimits, unpack
    from vuskit.datasets.download import download

    limits = limits or UnpackLimits()
    # The part of a download outlives this call, the archive and a half-unpacked folder do not.
    last = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
    safe_name = re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".") or "archive"
    archive = folder.parent / "downloads" / folder.name / safe_name
    found = download(
        url,
        archive,
        sha256=sha256,
        progress=progress,
        retries=retries,
        timeout=timeout,
        max_bytes=limits.total_bytes,
    )
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        fresh = Path(scratch) / "fresh"
        try:
            unpack(archive, fresh, limits=limits)
        finally:
            archive.unlink(missing_ok=True)
        receipt.unlink(missing_ok=True)
        if folder.exists():
            shutil.move(folder, Path(scratch) / "stale")
        fresh.replace(folder)
        receipt.write_text(json.dumps({"url": url, "sha256": found}))

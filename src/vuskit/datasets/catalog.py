"""Catalog of public data sets: description, license and download."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vuskit._util.files import write_atomically
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice

if TYPE_CHECKING:
    import ssl

__all__ = [
    "DatasetInfo",
    "DownloadError",
    "Progress",
    "UnpackLimits",
    "UnsafeArchiveError",
    "archive_sha256",
    "cache_folder",
    "fetch",
    "get_dataset",
    "list_datasets",
]

# Called with the bytes received so far and the total (None if unknown).
Progress = Callable[[int, int | None], None]


class DownloadError(VuskitError):
    """A file could not be downloaded, or is not the requested file."""


class UnsafeArchiveError(VuskitError):
    """An archive cannot be unpacked safely.

    It is damaged, incomplete or encrypted, contains paths outside its folder, or unpacks to far
    more than its size.
    """


@dataclass(frozen=True)
class UnpackLimits:
    """Limits for unpacking an archive.

    Attributes
    ----------
    total_bytes : int
        Maximum total size; 20 GB by default.
    ratio : float
        Maximum ratio of unpacked to packed size, applied beyond 16 MB; 200 by default.
    members : int
        Maximum number of files and folders; 100,000 by default.
    """

    total_bytes: int = 20 << 30
    ratio: float = 200.0
    members: int = 100_000


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


def list_datasets() -> tuple[DatasetInfo, ...]:
    """Return all data sets of the catalog, sorted by name; works offline.

    Examples
    --------
    >>> [info.name for info in list_datasets()][:4]
    ['Dodgers', 'ECG', 'IOPS', 'KDD21']
    """
    return tuple(sorted(_ENTRIES, key=lambda info: info.name.lower()))


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
    cache: str | Path | None = None,
    progress: Progress | None = None,
    limits: UnpackLimits | None = None,
    retries: int = 5,
    timeout: float = 30.0,
    force: bool = False,
    allow_http: bool = False,
    context: ssl.SSLContext | None = None,
) -> Path:
    """Download, verify and unpack a data set; return its folder.

    A cached data set is returned without network access, unless the address or the checksum
    differs. Interrupted downloads resume. The folder appears only after the archive has been
    unpacked completely. To pin a version, pass the value of `archive_sha256` as `sha256`.

    Parameters
    ----------
    name : str
        A name from `list_datasets`, or with `url` any name for the folder.
    url : str, optional
        Address of the archive. Defaults to the address in the catalog.
    sha256 : str, optional
        Expected SHA-256 of the archive. Without `url`, defaults to the checksum in the catalog.
    cache : str or Path, optional
        Folder for data sets; see `cache_folder`.
    progress : callable, optional
        Called as ``progress(bytes_so_far, total_bytes_or_None)``.
    limits : UnpackLimits, optional
        Limits for unpacking.
    retries : int, default=5
        Maximum number of retries; an attempt that received new bytes resets the count.
    timeout : float, default=30
        Seconds without data after which a connection counts as lost.
    force : bool, default=False
        Download again even if the data set is cached.
    allow_http : bool, default=False
        Allow unencrypted http, including redirects to it. Others on the network can change such
        downloads.
    context : ssl.SSLContext, optional
        Settings of https connections, for example to trust the certificate of a private server.

    Returns
    -------
    Path
        The folder, for `read_series`.

    Raises
    ------
    InvalidInputError
        If the name is unknown and `url` is not given, the name is not a valid folder name, or the
        address is not https.
    DownloadError
        If the download fails, returns a web page, or does not match the checksum.
    UnsafeArchiveError
        If the archive is damaged, incomplete, too large, or contains paths outside its folder.

    Examples
    --------
    >>> fetch("YAHOO")
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `url` must be given for 'YAHOO', which has no archive ...
    """
    from vuskit.datasets import _download

    url, sha256 = _source(name, url, sha256)
    home = cache_folder(cache)
    folder, receipt = home / name, home / f"{name}.json"
    with _locked(home / f"{name}.lock"):
        if not force and _is_there(folder, receipt, url, sha256):
            return folder
        limits = limits or UnpackLimits()
        download = partial(
            _download.download,
            url,
            sha256=sha256,
            progress=progress,
            retries=retries,
            timeout=timeout,
            max_bytes=limits.total_bytes,
            allow_http=allow_http,
            context=context,
        )
        _install(folder, receipt, url, limits, download)
    return folder


def archive_sha256(name: str, *, cache: str | Path | None = None) -> str | None:
    """Return the SHA-256 of the archive of a cached data set.

    Parameters
    ----------
    name : str
        As for `fetch`.
    cache : str or Path, optional
        As for `fetch`.

    Returns
    -------
    str or None
        Hexadecimal digits; None if the data set is not cached.

    Examples
    --------
    >>> import tempfile
    >>> archive_sha256("NAB", cache=tempfile.mkdtemp())
    """
    found = _receipt(cache_folder(cache) / f"{name}.json").get("sha256")
    return None if found is None else str(found)


def _source(name: str, url: str | None, sha256: str | None) -> tuple[str, str | None]:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise InvalidInputError(
            f"`name` must be letters, digits and '._-', starting with a letter or digit, "
            f"got {name!r}"
        )
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise InvalidInputError(f"`sha256` must be 64 hexadecimal digits, got {sha256!r}")
    if url is not None:
        return url, sha256
    info = get_dataset(name)
    if info.url is None:
        part = f"it is part of {info.part_of!r}; " if info.part_of else ""
        raise InvalidInputError(
            f"`url` must be given for {name!r}, which has no archive in the catalog; "
            f"{part}see {info.home}"
        )
    return info.url, sha256 or info.sha256


def _is_there(folder: Path, receipt: Path, url: str, sha256: str | None) -> bool:
    known = _receipt(receipt)
    same = known.get("url") == url and (sha256 is None or known.get("sha256") == sha256.lower())
    return folder.is_dir() and same


def _receipt(path: Path) -> dict[str, Any]:
    """Address and checksum of an unpacked archive; empty if unknown."""
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _install(
    folder: Path,
    receipt: Path,
    url: str,
    limits: UnpackLimits,
    download: Callable[[Path], str],
) -> None:
    from vuskit.datasets._download import unpack

    # A failure keeps the partial download, but not the archive or a partly unpacked folder.
    last = urllib.parse.unquote(urllib.parse.urlsplit(url).path).rpartition("/")[2]
    safe_name = re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".") or "archive"
    archive = folder.parent / "downloads" / folder.name / safe_name
    found = download(archive)
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
        write_atomically(receipt, json.dumps({"url": url, "sha256": found}))


# -- the cache -----------------------------------------------------------------------------------


def cache_folder(cache: str | Path | None = None) -> Path:
    r"""Return the cache folder without creating it.

    Parameters
    ----------
    cache : str or Path, optional
        The folder itself. Defaults to the environment variable ``VUSKIT_CACHE``, and then to the
        platform's folder: ``$XDG_CACHE_HOME/vuskit`` or ``~/.cache/vuskit`` on Linux,
        ``~/Library/Caches/vuskit`` on macOS, ``%LOCALAPPDATA%\vuskit\Cache`` on Windows.

    Examples
    --------
    >>> cache_folder("here").name
    'here'
    """
    chosen = cache or os.environ.get("VUSKIT_CACHE")
    return Path(chosen).expanduser() if chosen else _platform_folder(sys.platform)


def _platform_folder(platform: str) -> Path:
    home = Path.home()
    if platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData/Local") / "vuskit" / "Cache"
    if platform == "darwin":
        return home / "Library/Caches/vuskit"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg else home / ".cache") / "vuskit"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file, waiting for other processes; a crash releases the lock.

    Examples
    --------
    >>> import tempfile
    >>> with _locked(Path(tempfile.mkdtemp()) / "x.lock"):
    ...     pass
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        _lock(stream)
        yield


if sys.platform == "win32":  # pragma: no cover
    import msvcrt
    import time

    def _lock(stream: IO[bytes]) -> None:
        while True:
            try:
                stream.seek(0)
                return msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.1)

else:
    import fcntl

    def _lock(stream: IO[bytes]) -> None:
        fcntl.flock(stream, fcntl.LOCK_EX)


# -- the entries: numbers are means per series from the table of the VUS paper -------------------

_OUT = "TSB-UAD format: {}/*.out, value,label per line"
_AD = "{}/<nr>_<data set>_id_<k>_<domain>_tr_<train>_1st_<first>.csv: {}, Label"

_ENTRIES = (
    DatasetInfo(
        name="Dodgers",
        title="Traffic of a Los Angeles freeway ramp; games and gaps in the record",
        n_series=1,
        n_points=50_400,
        n_anomalies=133.0,
        anomalous_points=5612.0,
        license="UCI repository; CC BY 4.0",
        citation="Ihler, Hutchins, Smyth: Adaptive event detection with time-varying Poisson "
        "processes. KDD 2006. doi:10.1145/1150402.1150428",
        home="https://archive.ics.uci.edu/dataset/157/dodgers+loop+sensor",
        format="tsb_uad",
        layout=_OUT.format("Dodgers"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="SED",
        title="Simulated engine disk, NASA rotor dynamics laboratory",
        n_series=1,
        n_points=100_000,
        n_anomalies=75.0,
        anomalous_points=3750.0,
        license="none stated",
        citation="Abdul-Aziz, Woike, Oza, Matthews, Lekki: Rotor health monitoring combining spin "
        "tests and data-driven anomaly detection methods. Structural Health Monitoring, 2012. "
        "doi:10.1177/1475921710395811",
        home="https://github.com/TheDatumOrg/VUS",
        format="tsb_uad",
        layout=_OUT.format("SED"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="ECG",
        title="Electrocardiograms with premature ventricular beats (MBA)",
        n_series=52,
        n_points=230_351,
        n_anomalies=195.6,
        anomalous_points=15_634.0,
        license="ODC-By 1.0 (MIT-BIH, PhysioNet)",
        citation="Goldberger et al.: PhysioBank, PhysioToolkit, and PhysioNet. Circulation 101, "
        "2000. doi:10.1161/01.CIR.101.23.e215",
        home="https://physionet.org/content/mitdb/",
        format="tsb_uad",
        layout=_OUT.format("ECG"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="IOPS",
        title="Performance indicators of web services (AIOps challenge 2018)",
        n_series=58,
        n_points=102_119,
        n_anomalies=46.5,
        anomalous_points=2312.3,
        license="MIT (NetManAIOps/KPI-Anomaly-Detection)",
        citation="AIOps Challenge 2018: KPI anomaly detection",
        home="https://github.com/NetManAIOps/KPI-Anomaly-Detection",
        format="tsb_uad",
        layout=_OUT.format("IOPS"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="KDD21",
        title="UCR anomaly archive: one anomaly in each series",
        n_series=250,
        n_points=77_415,
        n_anomalies=1.0,
        anomalous_points=196.5,
        license="none stated",
        citation="Keogh, Dutta Roy, Naik, Agrawal: Multi-dataset time-series anomaly detection "
        "competition. SIGKDD 2021",
        home="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/",
        format="ucr",
        layout="<id>_UCR_Anomaly_<name>_<train end>_<start>_<stop>.txt, one value per line",
        url="https://www.cs.ucr.edu/~eamonn/time_series_data_2018/"
        "UCR_TimeSeriesAnomalyDatasets2021.zip",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="MGAB",
        title="Mackey-Glass series with spliced anomalies (synthetic)",
        n_series=10,
        n_points=100_000,
        n_anomalies=10.0,
        anomalous_points=200.0,
        license="CC0 1.0",
        citation="Thill, Konen, Baeck: The Mackey-Glass anomaly benchmark. Zenodo, 2020. "
        "doi:10.5281/zenodo.3762385",
        home="https://github.com/MarkusThill/MGAB",
        format="table",
        layout="MGAB-master/<1..10>.csv: time, value, is_anomaly, is_ignored",
        url="https://github.com/MarkusThill/MGAB/archive/refs/heads/master.zip",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="NAB",
        title="Numenta anomaly benchmark: cloud metrics, clicks, traffic, tweets",
        n_series=58,
        n_points=6301,
        n_anomalies=2.0,
        anomalous_points=575.5,
        license="MIT (older releases AGPL-3.0)",
        citation="Ahmad, Lavin, Purdy, Agha: Unsupervised real-time anomaly detection for "
        "streaming data. Neurocomputing 262, 2017. doi:10.1016/j.neucom.2017.04.070",
        home="https://github.com/numenta/NAB",
        format="nab",
        layout="NAB-master/data/<group>/<name>.csv, NAB-master/labels/combined_windows.json; to "
        "skip the rest of the repository, use read_series(folder, format='nab')",
        url="https://github.com/numenta/NAB/archive/refs/heads/master.zip",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="NASA-MSL",
        title="Telemetry of the Curiosity rover",
        n_series=27,
        n_points=2730,
        n_anomalies=1.33,
        anomalous_points=286.3,
        license="BSD-style (Caltech/JPL); keep the notice",
        citation="Hundman et al.: Detecting spacecraft anomalies using LSTMs and nonparametric "
        "dynamic thresholding. KDD 2018. doi:10.1145/3219819.3219845",
        home="https://github.com/khundman/telemanom",
        format="telemanom",
        layout="test/<channel>.npy, train/<channel>.npy, labeled_anomalies.csv",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="NASA-SMAP",
        title="Telemetry of the soil moisture satellite SMAP",
        n_series=54,
        n_points=8066,
        n_anomalies=1.26,
        anomalous_points=1032.4,
        license="BSD-style (Caltech/JPL); keep the notice",
        citation="Hundman et al.: Detecting spacecraft anomalies using LSTMs and nonparametric "
        "dynamic thresholding. KDD 2018. doi:10.1145/3219819.3219845",
        home="https://github.com/khundman/telemanom",
        format="telemanom",
        layout="test/<channel>.npy, train/<channel>.npy, labeled_anomalies.csv",
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="SensorScope",
        title="Environmental sensors: temperature, humidity, radiation (EPFL)",
        n_series=23,
        n_points=27_038,
        n_anomalies=11.2,
        anomalous_points=6110.4,
        license="none stated",
        citation="Yao, Sharma, Golubchik, Govindan: Online anomaly detection for sensor systems. "
        "Performance Evaluation 67(11), 2010. doi:10.1016/j.peva.2010.08.018",
        home="https://github.com/TheDatumOrg/TSB-UAD",
        format="tsb_uad",
        layout=_OUT.format("SensorScope"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="YAHOO",
        title="Production traffic of Yahoo, real and synthetic (S5)",
        n_series=367,
        n_points=1561,
        n_anomalies=5.9,
        anomalous_points=10.7,
        license="Yahoo Webscope agreement; redistribution not allowed",
        citation="Laptev, Amizadeh, Billawala: S5, a labeled anomaly detection dataset, 2015",
        home="https://webscope.sandbox.yahoo.com/catalog.php?datatype=s&did=70",
        format="tsb_uad",
        layout=_OUT.format("YAHOO"),
        part_of="TSB-UAD",
    ),
    DatasetInfo(
        name="TSB-UAD",
        title="TSB-UAD, public part: the data sets of the VUS paper and more, in one format",
        n_series=1980,
        n_points=None,
        n_anomalies=None,
        anomalous_points=None,
        license="Apache-2.0 for the collection; each source keeps its own terms",
        citation="Paparrizos, Kang, Boniol, Tsay, Palpanas, Franklin: TSB-UAD: an end-to-end "
        "benchmark suite for univariate time-series anomaly detection. PVLDB 15(8), 2022. "
        "doi:10.14778/3529337.3529354",
        home="https://github.com/TheDatumOrg/TSB-UAD",
        format="tsb_uad",
        layout=_OUT.format("TSB-UAD-Public/<data set>"),
        url="https://www.thedatum.org/datasets/TSB-UAD-Public.zip",
    ),
    DatasetInfo(
        name="TSB-AD-U",
        title="TSB-AD, univariate: curated from 23 data sets",
        n_series=870,
        n_points=None,
        n_anomalies=None,
        anomalous_points=None,
        license="Apache-2.0 for the curation; each source keeps its own terms",
        citation="Liu, Paparrizos: The elephant in the room: towards a reliable time-series "
        "anomaly detection benchmark. NeurIPS 2024",
        home="https://thedatumorg.github.io/TSB-AD/",
        format="tsb_ad",
        layout=_AD.format("TSB-AD-U", "Data"),
        url="https://www.thedatum.org/datasets/TSB-AD-U.zip",
    ),
    DatasetInfo(
        name="TSB-AD-M",
        title="TSB-AD, multivariate: curated from 17 data sets",
        n_series=200,
        n_points=None,
        n_anomalies=None,
        anomalous_points=None,
        license="Apache-2.0 for the curation; each source keeps its own terms",
        citation="Liu, Paparrizos: The elephant in the room: towards a reliable time-series "
        "anomaly detection benchmark. NeurIPS 2024",
        home="https://thedatumorg.github.io/TSB-AD/",
        format="tsb_ad",
        layout=_AD.format("TSB-AD-M", "channels"),
        url="https://www.thedatum.org/datasets/TSB-AD-M.zip",
    ),
)

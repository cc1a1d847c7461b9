"""The catalog, and fetching into the cache from a server on this machine."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from datasets.web import Site, serving
from vuskit.datasets import (
    DownloadError,
    cache_folder,
    catalog,
    fetch,
    get_dataset,
    list_datasets,
    list_formats,
    read_series,
)
from vuskit.datasets.catalog import _platform_folder, archive_sha256
from vuskit.errors import InvalidInputError


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("VUSKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, content in members.items():
            out.writestr(name, content)
    return buffer.getvalue()


def tarred(members, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as out:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            out.addfile(entry, io.BytesIO(content.encode()))
    return buffer.getvalue()


def sha256_of(content):
    return hashlib.sha256(content).hexdigest()


def fetch_from(site, **options):
    """Fetch by http, which needs the checksum."""
    return fetch("mine", url=site.url, **{"sha256": sha256_of(site.content), **options})


def files(folder):
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if not name.startswith(".vuskit"))


MEMBERS = {"Plant/a.out": "1,0\n2,1\n", "Plant/b.out": "1,0\n", "README.md": "hello"}
ARCHIVE = zipped(MEMBERS)


def test_every_entry_is_complete():
    formats = {entry.name for entry in list_formats()}
    names = [info.name for info in list_datasets()]
    assert names == sorted(set(names), key=str.lower)
    for info in list_datasets():
        assert info.format in formats
        assert info.home.startswith("https://")
        assert info.url is None or info.url.startswith("https://")
        assert info.part_of is None or info.part_of in names
        assert info.citation
        assert info.license
        assert info.layout
        assert info.n_series > 0


def test_the_papers_data_sets_are_there():
    # Size of the collection as the paper's table sums up.
    paper = [info for info in list_datasets() if info.part_of == "TSB-UAD"]
    assert len(paper) == 11
    assert sum(info.n_series for info in paper) == 901
    assert {"TSB-AD-U", "TSB-AD-M"} < {info.name for info in list_datasets()}


def test_fetch_then_read(cache):
    seen = []
    with serving(Site(ARCHIVE), "some%20name.zip?x=1") as site:
        folder = fetch_from(site, progress=lambda *now: seen.append(now))
    assert folder == cache / "mine"
    assert [(series.dataset, series.n_anomalies) for series in read_series(folder)] == [
        ("Plant", 1),
        ("Plant", 0),
    ]
    assert seen[-1] == (len(ARCHIVE), len(ARCHIVE))
    assert archive_sha256("mine") == sha256_of(ARCHIVE)
    assert [path.name for path in cache.iterdir()] == ["mine"], "something was left"


def test_second_fetch_asks_nobody():
    with serving(Site(ARCHIVE)) as site:
        first = fetch_from(site)
        assert fetch_from(site) == first
        assert len(site.requests) == 1
        fetch_from(site, force=True)
        assert len(site.requests) == 2
        with pytest.raises(DownloadError, match=f"expected {'0' * 64} but got"):
            fetch_from(site, sha256="0" * 64)
    assert (first / "Plant/a.out").exists(), "what was there before must survive a failure"


def test_new_version_replaces_the_old_one_whole():
    with serving(Site(ARCHIVE)) as site:
        fetch_from(site)
        site.content = zipped({"Plant/c.out": "1,0\n"})
        folder = fetch_from(site)
    assert files(folder) == ["Plant/c.out"]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar(mode):
    with serving(Site(tarred(MEMBERS, mode)), "a.tar") as site:
        assert files(fetch_from(site)) == sorted(MEMBERS)


def test_single_file_and_files_of_the_packer():
    with serving(Site(b"x,label\n1,0\n"), "series.csv") as site:
        assert files(fetch_from(site)) == ["series.csv"]
    with serving(Site(zipped({"__MACOSX/._a.out": "junk", "a.out": "1,0\n"}))) as site:
        assert files(fetch_from(site)) == ["a.out"]


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/tmp/vuskit-evil"])
def test_archive_never_writes_outside(name, pack, tmp_path):
    archive = pack({"fine": "x", name: "x"})
    with serving(Site(archive), "a.bin") as site, contextlib.suppress(DownloadError):
        fetch_from(site)
    assert not any("evil" in one for one in files(tmp_path) if not one.startswith("cache/mine/"))
    assert not Path("/tmp/vuskit-evil").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_tar_with_a_link_or_device(kind, cache):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        entry = tarfile.TarInfo("link")
        entry.type, entry.linkname = kind, "../.."
        out.addfile(entry)
    with serving(Site(buffer.getvalue()), "a.tar") as site, pytest.raises(DownloadError):
        fetch_from(site)
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("cut", [40, -30])
@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_damaged_archive_is_not_installed(name, cut, cache):
    content = ARCHIVE if name == "a.zip" else tarred(MEMBERS)
    with serving(Site(content[:cut]), name) as site:
        with pytest.raises(DownloadError, match=r"cannot be unpacked|as its name says"):
            fetch_from(site)
        assert list(cache.iterdir()) == []
        site.content = content
        assert files(fetch_from(site)) == sorted(MEMBERS)


@pytest.mark.parametrize(
    ("site", "message"),
    [
        (Site(ARCHIVE, cuts=[100]), "the download failed: .*IncompleteRead"),
        (Site(ARCHIVE, statuses=[404]), "the download failed: 404"),
        (Site(b"<!doctype html><title>Log in</title>"), "got a web page; open the address"),
        (Site(b"quota exceeded"), "must be an archive as its name says, got a file .*b'quota"),
    ],
)
def test_failed_downloads(site, message, cache):
    with serving(site, "a.zip"), pytest.raises(DownloadError, match=message):
        fetch_from(site)
    assert list(cache.iterdir()) == []


def test_nobody_there():
    with pytest.raises(DownloadError, match="the download failed"):
        fetch("mine", url="http://127.0.0.1:9/x.zip", sha256="0" * 64)


def test_single_file_of_unknown_length():
    seen = []
    content = gzip.compress(bytes(range(256)) * 9)
    with serving(Site(content, send_length=False), "a.csv.gz") as site:
        fetch_from(site, progress=lambda *now: seen.append(now))
    assert {total for _, total in seen} == {None}


def test_checksum_of_the_catalog(monkeypatch):
    with serving(Site(ARCHIVE)) as site:
        for sha256 in ("0" * 64, sha256_of(ARCHIVE)):
            entry = replace(get_dataset("NAB"), url=site.url, sha256=sha256)
            monkeypatch.setattr(catalog, "list_datasets", lambda entry=entry: (entry,))
            if sha256 == sha256_of(ARCHIVE):
                fetch("NAB")
            else:
                with pytest.raises(DownloadError, match="does not match the known hash"):
                    fetch("NAB")
                assert archive_sha256("NAB") is None
    assert archive_sha256("NAB") == sha256_of(ARCHIVE)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x.zip", "file:///etc/passwd", "ftp://host/x", "x.zip"]
)
def test_addresses_without_encryption_are_refused(url):
    with pytest.raises(InvalidInputError, match="`url` must start with https://"):
        fetch("mine", url=url)


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\\b", "x\0"])
def test_name_must_be_a_plain_folder(name):
    with pytest.raises(InvalidInputError, match="`name` must be letters, digits"):
        fetch(name, url="https://127.0.0.1:9/x.zip")


def test_bad_arguments():
    with pytest.raises(InvalidInputError, match=r"`name` must be one of .*'NAB'.* got 'nope'"):
        fetch("nope")
    with pytest.raises(
        InvalidInputError, match=r"`url` must be given for 'ECG'.* part of 'TSB-UAD'"
    ):
        fetch("ECG")
    with pytest.raises(
        InvalidInputError, match="`sha256` must be 64 hexadecimal digits, got 'abc'"
    ):
        fetch("NAB", sha256="abc")
    assert get_dataset("MGAB").license == "CC0 1.0"


def test_where_the_cache_is(monkeypatch, tmp_path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("VUSKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert _platform_folder("linux") == tmp_path / "xdg/vuskit"
    assert _platform_folder("darwin") == Path.home() / "Library/Caches/vuskit"
    assert _platform_folder("win32") == tmp_path / "local/vuskit/Cache"

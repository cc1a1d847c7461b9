"""The catalog, and fetching into the cache from end to end."""

from __future__ import annotations

import gzip
import hashlib
import io
import multiprocessing
import os
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from waiting import eventually

from datasets.web import Site, serving, trusting
from vuskit.datasets import (
    DownloadError,
    UnpackLimits,
    UnsafeArchiveError,
    archive_sha256,
    cache_folder,
    catalog,
    get_dataset,
    list_datasets,
    list_formats,
    read_series,
)
from vuskit.datasets import fetch as fetch_https
from vuskit.datasets.catalog import _locked, _platform_folder
from vuskit.errors import InvalidInputError

fetch = partial(fetch_https, allow_http=True)


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, content in members.items():
            out.writestr(name, content)
    return buffer.getvalue()


ARCHIVE = zipped({"Plant/a.out": "1,0\n2,1\n", "Plant/b.out": "1,0\n", "README.md": "hello"})


def entries(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "downloads")


def test_every_entry_is_complete():
    formats = {entry.name for entry in list_formats()}
    names = [info.name for info in list_datasets()]
    assert len(set(names)) == len(names)
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


def test_fetch_then_read(tmp_path):
    with serving(Site(ARCHIVE), "some%20name.zip?x=1") as site:
        sha256 = hashlib.sha256(ARCHIVE).hexdigest()
        folder = fetch("mine", url=site.url, sha256=sha256, cache=tmp_path)
    assert folder == tmp_path / "mine"
    assert [(series.dataset, series.n_anomalies) for series in read_series(folder)] == [
        ("Plant", 1),
        ("Plant", 0),
    ]
    assert not list((tmp_path / "downloads/mine").iterdir())


def test_second_fetch_asks_nobody(tmp_path):
    with serving(Site(ARCHIVE)) as site:
        first = fetch("mine", url=site.url, cache=tmp_path)
        assert fetch("mine", url=site.url, cache=tmp_path) == first
        assert len(site.requests) == 1
        fetch("mine", url=site.url, cache=tmp_path, force=True)
        assert len(site.requests) == 2
        with pytest.raises(DownloadError, match="SHA-256"):
            fetch("mine", url=site.url, sha256="0" * 64, cache=tmp_path)
    assert (first / "Plant/a.out").exists(), "what was there before must survive a failure"


def test_new_version_replaces_the_old_one_whole(tmp_path):
    with serving(Site(ARCHIVE)) as site:
        fetch("mine", url=site.url, cache=tmp_path)
        site.content = zipped({"Plant/c.out": "1,0\n"})
        folder = fetch("mine", url=site.url, cache=tmp_path, force=True)
    assert [path.name for path in folder.rglob("*.out")] == ["c.out"]


def test_malicious_archive_leaves_the_cache_as_it_was(tmp_path):
    with (
        serving(Site(zipped({"fine": "x", "../../evil": "x"}))) as site,
        pytest.raises(UnsafeArchiveError, match="must stay in the folder"),
    ):
        fetch("mine", url=site.url, cache=tmp_path / "cache")
    assert entries(tmp_path / "cache") == ["mine.lock"]
    assert entries(tmp_path) == ["cache"]
    assert not list((tmp_path / "cache/downloads/mine").iterdir())


def test_checksum_of_the_catalog(tmp_path, monkeypatch):
    with serving(Site(ARCHIVE), https=True) as site:
        digest = hashlib.sha256(ARCHIVE).hexdigest()
        for sha256 in ("0" * 64, digest):
            entry = replace(get_dataset("NAB"), url=site.url, sha256=sha256)
            monkeypatch.setattr(catalog, "_ENTRIES", (entry,))
            if sha256 == digest:
                fetch_https("NAB", cache=tmp_path, context=trusting())
            else:
                with pytest.raises(DownloadError, match=f"SHA-256 must be {sha256}, got {digest}"):
                    fetch_https("NAB", cache=tmp_path, context=trusting())
                assert archive_sha256("NAB", cache=tmp_path) is None
    assert archive_sha256("NAB", cache=tmp_path) == digest


@pytest.mark.parametrize("cut", [10, -30])
@pytest.mark.parametrize("make", [lambda: ARCHIVE, lambda: gzip.compress(bytes(range(256)) * 9)])
def test_archive_that_is_cut_without_a_length_is_not_installed(make, cut, tmp_path):
    content = make()
    name = "a.zip" if content is ARCHIVE else "a.csv.gz"
    with serving(Site(content[:cut], send_length=False), name) as site:
        with pytest.raises(UnsafeArchiveError, match=r"is not readable: .*; download it again"):
            fetch("mine", url=site.url, cache=tmp_path)
        assert entries(tmp_path) == ["mine.lock"]
        assert not list((tmp_path / "downloads/mine").iterdir())
        site.content = content
        assert list(fetch("mine", url=site.url, cache=tmp_path).iterdir())


def test_limits_are_passed_on(tmp_path):
    with (
        serving(Site(ARCHIVE)) as site,
        pytest.raises(UnsafeArchiveError, match="at most 2 members"),
    ):
        fetch("mine", url=site.url, cache=tmp_path, limits=UnpackLimits(members=2))


def test_interrupted_fetch_goes_on_later(tmp_path):
    with serving(Site(ARCHIVE, cuts=[100])) as site:
        with pytest.raises(DownloadError, match="cut after 100"):
            fetch("mine", url=site.url, cache=tmp_path, retries=0)
        seen = []
        fetch("mine", url=site.url, cache=tmp_path, progress=lambda *now: seen.append(now))
    assert site.asked_ranges() == [None, "bytes=100-"]
    assert seen[-1] == (len(ARCHIVE), len(ARCHIVE))


def fetch_in_process(url, cache, notes):
    """Fetch, note that the lock is reached, and do not get it too early."""
    lock = catalog._lock

    def noted_lock(stream):
        (notes / f"waiting-{os.getpid()}").touch()
        lock(stream)
        assert (notes / "free").exists()

    catalog._lock = noted_lock
    fetch("mine", url=url, cache=cache)


def test_processes_wait_for_each_other(tmp_path):
    notes, cache = tmp_path / "notes", tmp_path / "cache"
    notes.mkdir()
    with serving(Site(ARCHIVE)) as site:
        spawn = multiprocessing.get_context("spawn")
        with _locked(cache / "mine.lock"):
            arguments = (site.url, cache, notes)
            workers = [spawn.Process(target=fetch_in_process, args=arguments) for _ in range(2)]
            for worker in workers:
                worker.start()
            assert eventually(lambda: len(list(notes.iterdir())) == 2)
            assert not site.requests
            (notes / "free").touch()
        for worker in workers:
            worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(site.requests) == 1


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a\\b", "x\0"])
def test_name_must_be_a_plain_folder(name, tmp_path):
    with pytest.raises(InvalidInputError, match="`name` must be letters, digits"):
        fetch(name, url="http://127.0.0.1:9/x.zip", cache=tmp_path)


def test_bad_arguments(tmp_path):
    with pytest.raises(InvalidInputError, match=r"`name` must be one of .*'NAB'.* got 'nope'"):
        fetch("nope", cache=tmp_path)
    with pytest.raises(
        InvalidInputError, match=r"`url` must be given for 'ECG'.* part of 'TSB-UAD'"
    ):
        fetch("ECG", cache=tmp_path)
    with pytest.raises(
        InvalidInputError, match="`sha256` must be 64 hexadecimal digits, got 'abc'"
    ):
        fetch("NAB", sha256="abc", cache=tmp_path)
    assert get_dataset("MGAB").license == "CC0 1.0"


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("VUSKIT_CACHE", str(tmp_path / "env"))
    assert cache_folder() == tmp_path / "env"
    assert cache_folder(tmp_path / "arg") == tmp_path / "arg"
    monkeypatch.delenv("VUSKIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert _platform_folder("linux") == tmp_path / "xdg/vuskit"
    assert _platform_folder("darwin") == Path.home() / "Library/Caches/vuskit"
    assert _platform_folder("win32") == tmp_path / "local/vuskit/Cache"

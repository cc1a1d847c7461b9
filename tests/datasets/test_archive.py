"""Archives, honest and malicious."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from vuskit.datasets import DownloadError, UnpackLimits, UnsafeArchiveError, _download
from vuskit.datasets._download import unpack


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def files(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def zip_of(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as out:
        for name, content in members:
            out.writestr(name, content)
    return path


def tar_entry(name, content=b"x", kind=tarfile.REGTYPE, link=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    entry.size = len(content) if kind == tarfile.REGTYPE else 0
    return entry, content


def tar_of(path, entries, mode="w"):
    with tarfile.open(path, mode) as out:
        for entry, content in entries:
            out.addfile(entry, io.BytesIO(content))
    return path


def refuses(archive, home, message, **limits):
    with pytest.raises(UnsafeArchiveError, match=message):
        unpack(archive, home / "target", limits=UnpackLimits(**limits))
    assert files(home.parent) == [f"home/{archive.name}"], "something was left"
    assert not (home / "target").exists()


def test_zip(home):
    archive = zip_of(
        home / "a.zip",
        [("d/", ""), ("d/a.out", "1,0\n"), ("__MACOSX/d/._a.out", "junk"), ("d/.DS_Store", "junk")],
    )
    unpack(archive, home / "target")
    assert files(home / "target") == ["d/a.out"]
    assert (home / "target/d/a.out").read_text() == "1,0\n"


@pytest.mark.parametrize(
    ("suffix", "mode"), [("tar", "w"), ("tgz", "w:gz"), ("tbz", "w:bz2"), ("txz", "w:xz")]
)
def test_tar(suffix, mode, home):
    entries = [tar_entry("d", kind=tarfile.DIRTYPE), tar_entry("./d/a.out", b"1,0\n")]
    unpack(tar_of(home / f"a.{suffix}", entries, mode), home / "target")
    assert files(home / "target") == ["d/a.out"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_single_compressed_file(pack, home):
    (home / "series.csv.gz").write_bytes(pack(b"x,label\n1,0\n"))
    unpack(home / "series.csv.gz", home / "target")
    assert (home / "target/series.csv").read_bytes() == b"x,label\n1,0\n"


def test_plain_file_is_put_into_the_folder(home):
    (home / "series.csv").write_bytes(b"x,label\n1,0\n")
    unpack(home / "series.csv", home / "target")
    assert files(home / "target") == ["series.csv"]


ESCAPES = [
    "../out",
    "a/../../out",
    "/tmp/vuskit-out",
    "..\\out",
    "C:\\out",
    "C:out",
    "a/..",
    "//out",
]


@pytest.mark.parametrize("name", ESCAPES)
def test_zip_that_reaches_outside(name, home):
    refuses(zip_of(home / "a.zip", [("fine", "x"), (name, "x")]), home, "must stay in the folder")
    assert not Path("/tmp/vuskit-out").exists()


@pytest.mark.parametrize("name", ESCAPES)
def test_tar_that_reaches_outside(name, home):
    refuses(tar_of(home / "a.tar", [tar_entry(name)]), home, "must stay in the folder")


def test_zip_with_a_link(home):
    entry = zipfile.ZipInfo("link")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    archive = zip_of(home / "a.zip", [(entry, "../.."), ("link/out", "x")])
    refuses(archive, home, "'link' must be a plain file or a folder")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_tar_with_a_link_or_device(kind, home):
    entries = [tar_entry("link", kind=kind, link="../.."), tar_entry("link/out")]
    refuses(tar_of(home / "a.tar", entries), home, "'link' must be a plain file or a folder")


def test_member_that_comes_twice(home):
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = zip_of(home / "a.zip", [("a", "1"), ("a", "2")])
    refuses(archive, home, "'a' must occur once")


def test_file_used_as_a_folder(home):
    refuses(zip_of(home / "a.zip", [("a", "1"), ("a/b", "2")]), home, "'a/b' must not be inside")


@pytest.mark.parametrize("kind", ["zip", "tar", "gz"])
def test_bomb_by_ratio(kind, home):
    zeros = bytes(40 << 20)
    if kind == "zip":
        archive = zip_of(home / "a.zip", [("a", zeros)])
    elif kind == "tar":
        archive = tar_of(home / "a.tgz", [tar_entry("a", zeros)], "w:gz")
    else:
        archive = home / "a.gz"
        archive.write_bytes(gzip.compress(zeros))
    refuses(archive, home, "must unpack to at most 200 times its size")


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_too_large_in_all(kind, home):
    parts = [(f"part{k}", os.urandom(40_000)) for k in range(3)]
    if kind == "zip":
        archive = zip_of(home / "a.zip", parts)
    else:
        archive = tar_of(home / "a.tar", [tar_entry(*part) for part in parts])
    refuses(archive, home, "must unpack to at most 100,000 bytes", total_bytes=100_000)


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_too_many_members(kind, home):
    names = [f"{k}/" if k % 2 else f"{k}.out" for k in range(20)]
    if kind == "zip":
        archive = zip_of(home / "a.zip", [(name, "") for name in names])
    else:
        archive = tar_of(home / "a.tar", [tar_entry(name.strip("/"), b"") for name in names])
    refuses(archive, home, "must have at most 10 members", members=10)


def test_bomb_in_the_headers_of_a_tar(home):
    entry, content = tar_entry("a")
    entry.pax_headers = {"comment": "0" * (60 << 20)}
    archive = tar_of(home / "a.tgz", [(entry, content)], "w:gz")
    refuses(archive, home, "must unpack to at most 200 times its size")


def test_sizes_in_a_zip_are_not_believed(home):
    archive = zip_of(home / "a.zip", [("a", bytes(5_000_000))])
    data = bytearray(archive.read_bytes())
    for at in (22, data.rfind(b"PK\x01\x02") + 24):  # uncompressed size, in both headers
        data[at : at + 4] = (10).to_bytes(4, "little")
    archive.write_bytes(data)
    refuses(archive, home, "is not readable|at most 1,000 bytes", total_bytes=1000)


# Compressible, so that decompressors meet damaged codes and not only stored bytes.
CONTENT = np.random.default_rng(1).integers(32, 64, 50_000, dtype=np.uint8).tobytes()
MAKE = {
    "a.zip": lambda path: zip_of(path, [("first", "1"), ("a", CONTENT)]),
    "bz2.zip": lambda path: zip_of(path, [("first", "1"), ("a", CONTENT)], zipfile.ZIP_BZIP2),
    "lzma.zip": lambda path: zip_of(path, [("first", "1"), ("a", CONTENT)], zipfile.ZIP_LZMA),
    "a.tar": lambda path: tar_of(path, [tar_entry("first"), tar_entry("a", CONTENT)]),
    "a.tgz": lambda path: tar_of(path, [tar_entry("first"), tar_entry("a", CONTENT)], "w:gz"),
    "a.tbz2": lambda path: tar_of(path, [tar_entry("first"), tar_entry("a", CONTENT)], "w:bz2"),
    "a.tar.xz": lambda path: tar_of(path, [tar_entry("first"), tar_entry("a", CONTENT)], "w:xz"),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(CONTENT)),
    "a.csv.bz2": lambda path: path.write_bytes(bz2.compress(CONTENT)),
    "a.csv.xz": lambda path: path.write_bytes(lzma.compress(CONTENT)),
}


@pytest.mark.parametrize("name", MAKE)
def test_damaged_archive(name, home):
    """Cut anywhere, or with a byte changed: an error, or exactly the content."""
    path = home / name
    MAKE[name](path)
    data = path.read_bytes()
    unpack(path, home / "whole")
    expected = {one: (home / "whole" / one).read_bytes() for one in files(home / "whole")}
    shutil.rmtree(home / "whole")
    for stop in (3, 20, 300, 600, 1400, len(data) // 2, len(data) - 1):
        if name == "a.tar" and stop == len(data) - 1:
            continue  # padding
        path.write_bytes(data[:stop])
        refuses(path, home, "is not readable: |as its name says")
    rng = np.random.default_rng(0)
    for at in [0, 5, *rng.integers(len(data), size=40)]:
        changed = bytearray(data)
        changed[at] ^= 0xFF
        path.write_bytes(changed)
        try:
            unpack(path, home / "target")
        except UnsafeArchiveError:
            assert not (home / "target").exists()
            continue
        found = {one: (home / "target" / one).read_bytes() for one in files(home / "target")}
        # Plain tar has checksums of its headers only.
        assert name == "a.tar" or list(found.values()) == list(expected.values())
        shutil.rmtree(home / "target")


def test_damaged_header_in_the_middle_of_a_tar(home):
    archive = tar_of(home / "a.tar", [tar_entry("first"), tar_entry("second"), tar_entry("third")])
    data = bytearray(archive.read_bytes())
    data[1024] ^= 0xFF  # the second name
    archive.write_bytes(data)
    refuses(archive, home, "'first' is not readable: the archive is truncated or damaged")


def test_the_message_names_the_member(home):
    archive = zip_of(home / "a.zip", [("fine", "1"), ("d/broken", CONTENT)])
    data = bytearray(archive.read_bytes())
    data[5000] ^= 0xFF
    archive.write_bytes(data)
    refuses(archive, home, r"a\.zip: 'd/broken' is not readable: .*; download it again")


def test_zip_with_an_unknown_compression(home):
    archive = zip_of(home / "a.zip", [("a", "x")])
    data = bytearray(archive.read_bytes())
    for at in (8, data.rfind(b"PK\x01\x02") + 10):
        data[at] = 98
    archive.write_bytes(data)
    refuses(archive, home, "'a' is not readable: .*compression")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", b"quota exceeded", "must be a zip file as its name says, got a file that starts"),
        ("a.csv", b"<html><head>", "must be a data file, got a web page"),
        ("a.tar.zst", b"\x28\xb5\x2f\xfdx", "must be a zip, tar, gz, bz2 or xz file, got zstd"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "got 7z; unpack it manually"),
        (
            "a.tgz",
            gzip.compress(b"no tar", mtime=0),
            "is not readable: the archive is truncated or damaged",
        ),
        ("a.tar", b"", "is not readable: the archive is truncated or damaged"),
    ],
)
def test_what_is_no_archive(name, content, message, home):
    (home / name).write_bytes(content)
    refuses(home / name, home, message)


def test_full_disk_is_no_fault_of_the_archive(home, monkeypatch):
    def full(self, name, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_download._Target, "add_file", full)
    with pytest.raises(DownloadError, match=r"a\.zip: cannot be unpacked: .*No space left"):
        unpack(zip_of(home / "a.zip", [("a", "x")]), home / "target")
    assert not (home / "target").exists()


def test_zip_with_a_password(home):
    archive = zip_of(home / "a.zip", [("a", "secret")])
    data = bytearray(archive.read_bytes())
    for at in (6, data.rfind(b"PK\x01\x02") + 8):
        data[at] |= 1
    archive.write_bytes(data)
    refuses(archive, home, "'a' must not be encrypted")

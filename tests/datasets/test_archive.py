"""Archives, honest and malicious."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from vuskit.datasets import UnpackLimits, UnsafeArchiveError
from vuskit.datasets._download import unpack


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def files(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
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
    assert files(home.parent) == sorted(
        [f"home/{archive.name}", *(f"home/target/{name}" for name in files(home / "target"))]
    ), "something was written outside the target"


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
    refuses(zip_of(home / "a.zip", [("a", "1"), ("a/b", "2")]), home, "not a readable archive")


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
    assert sum(path.stat().st_size for path in (home / "target").rglob("*")) < 20 << 20


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
    refuses(archive, home, "not a readable archive|at most 1,000 bytes", total_bytes=1000)


@pytest.mark.parametrize("make", ["zip", "tgz"])
def test_archive_that_ends_too_early(make, home):
    content = os.urandom(50_000)
    if make == "zip":
        archive = zip_of(home / "a.zip", [("a", content)])
        data = archive.read_bytes()
        archive.write_bytes(data[:20_000] + data[30_000:])
    else:
        archive = tar_of(home / "a.tgz", [tar_entry("a", content)], "w:gz")
        archive.write_bytes(archive.read_bytes()[:20_000])
    refuses(archive, home, "not a readable archive")


def test_zip_with_a_password(home):
    archive = zip_of(home / "a.zip", [("a", "secret")])
    data = bytearray(archive.read_bytes())
    for at in (6, data.rfind(b"PK\x01\x02") + 8):
        data[at] |= 1
    archive.write_bytes(data)
    refuses(archive, home, "cannot be unpacked: .*password")

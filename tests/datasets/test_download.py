"""Downloads against a server that cuts, lies, changes and refuses."""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import partial

import numpy as np
import pytest

from datasets.web import Site, serving, trusting
from vuskit.datasets import DownloadError
from vuskit.datasets._download import download as download_https
from vuskit.errors import InvalidInputError

download = partial(download_https, allow_http=True)
CONTENT = np.random.default_rng(0).bytes(300_000)
SHA = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def target(tmp_path):
    return tmp_path / "in" / "file.bin"


def names(target):
    return sorted(path.name for path in target.parent.iterdir())


def test_whole_file_with_progress(target):
    seen = []
    with serving(Site(CONTENT)) as site:
        found = download(
            site.url, target, sha256=SHA.upper(), progress=lambda *now: seen.append(now)
        )
    assert found == SHA
    assert target.read_bytes() == CONTENT
    assert names(target) == ["file.bin"]
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_cut_connection_is_taken_up_where_it_broke(target):
    with serving(Site(CONTENT, cuts=[100_000, 50_000])) as site:
        download(site.url, target, sha256=SHA, pause=0)
    assert target.read_bytes() == CONTENT
    assert site.asked_ranges() == [None, "bytes=100000-", "bytes=150000-"]


def test_later_call_goes_on_where_an_earlier_one_stopped(target):
    with serving(Site(CONTENT, cuts=[100_000])) as site:
        with pytest.raises(DownloadError, match="cut after 100,000 of 300,000 bytes"):
            download(site.url, target, retries=0)
        assert not target.exists()
        download(site.url, target, sha256=SHA)
    assert site.asked_ranges() == [None, "bytes=100000-"]


def test_changed_file_starts_again(target):
    with serving(Site(CONTENT[::-1], cuts=[100_000])) as site:
        with pytest.raises(DownloadError):
            download(site.url, target, retries=0)
        site.content, site.etag = CONTENT, '"v2"'
        download(site.url, target, sha256=SHA)
    assert target.read_bytes() == CONTENT


def test_file_without_version_is_never_pieced_together(target):
    with serving(Site(CONTENT, etag=None, cuts=[100_000])) as site:
        download(site.url, target, sha256=SHA, pause=0)
    assert site.asked_ranges() == [None, None]


def test_server_that_ignores_ranges(target):
    with serving(Site(CONTENT, ranges=False, cuts=[100_000])) as site:
        download(site.url, target, sha256=SHA, pause=0)
    assert target.read_bytes() == CONTENT


def test_server_that_sends_another_part(target):
    with (
        serving(Site(CONTENT, wrong_offset=7, cuts=[100_000])) as site,
        pytest.raises(DownloadError, match="a different part than requested"),
    ):
        download(site.url, target, retries=2, pause=0)
    assert len(site.requests) == 3
    assert not target.exists()


def test_part_that_is_longer_than_the_file(target):
    with serving(Site(CONTENT + CONTENT, cuts=[400_000])) as site:
        with pytest.raises(DownloadError):
            download(site.url, target, retries=0)
        site.content = CONTENT
        download(site.url, target, sha256=SHA, pause=0)
    assert site.asked_ranges() == [None, "bytes=400000-", None]


def test_connection_that_never_gets_further_is_given_up(target):
    with (
        serving(Site(CONTENT, cuts=[0] * 10)) as site,
        pytest.raises(DownloadError, match="cut after 0 of 300,000 bytes"),
    ):
        download(site.url, target, retries=3, pause=0)
    assert len(site.requests) == 4


def test_progress_pays_back_retries(target):
    with serving(Site(CONTENT, cuts=[50_000] * 5)) as site:
        download(site.url, target, sha256=SHA, retries=1, pause=0)
    assert len(site.requests) == 6


def test_wrong_checksum_leaves_nothing(target):
    with (
        serving(Site(CONTENT)) as site,
        pytest.raises(DownloadError, match=f"SHA-256 must be {'0' * 64}, got {SHA}"),
    ):
        download(site.url, target, sha256="0" * 64)
    assert names(target) == []


@pytest.mark.parametrize(("status", "requests"), [(404, 1), (403, 1), (503, 3), (500, 3)])
def test_errors_of_the_server(status, requests, target):
    with (
        serving(Site(CONTENT, statuses=[status] * 10)) as site,
        pytest.raises(DownloadError, match=f"HTTP Error {status}"),
    ):
        download(site.url, target, retries=2, pause=0)
    assert len(site.requests) == requests


def test_server_that_recovers(target):
    with serving(Site(CONTENT, statuses=[503, 429])) as site:
        download(site.url, target, sha256=SHA, pause=0)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("send_length", [True, False])
def test_file_beyond_the_limit(send_length, target):
    with (
        serving(Site(CONTENT, send_length=send_length)) as site,
        pytest.raises(DownloadError, match="must be at most 1,000 bytes"),
    ):
        download(site.url, target, max_bytes=1000)
    assert not target.exists()


def test_server_that_does_not_say_how_much(target):
    seen = []
    with serving(Site(CONTENT, send_length=False)) as site:
        download(site.url, target, sha256=SHA, progress=lambda *now: seen.append(now))
    assert seen[-1] == (len(CONTENT), None)


def test_nobody_there(target):
    with pytest.raises(DownloadError, match="download failed"):
        download("http://127.0.0.1:9/nothing", target, retries=1, pause=0)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "data:,x", "x.zip"])
def test_only_http(url, target):
    with pytest.raises(InvalidInputError, match="`url` must start with https"):
        download(url, target)


def test_https(target):
    with serving(Site(CONTENT), https=True) as site:
        assert download_https(site.url, target, sha256=SHA, context=trusting()) == SHA
        with pytest.raises(DownloadError, match="CERTIFICATE_VERIFY_FAILED"):
            download_https(site.url, target, retries=0)
    assert target.read_bytes() == CONTENT


def test_http_only_if_allowed(target):
    with serving(Site(CONTENT), "file.bin") as site:
        with pytest.raises(InvalidInputError, match=r"start with https://.* --allow-http"):
            download_https(site.url, target)
        assert not site.requests
        assert download(site.url, target) == SHA


def test_redirect_to_http_only_if_allowed(target):
    with serving(Site(CONTENT), "file.bin") as plain, serving(Site(b""), https=True) as first:
        first.redirect = plain.url
        with pytest.raises(DownloadError, match=r"the server redirects: `url` must start with ht"):
            download_https(first.url, target, context=trusting())
        assert not plain.requests
        assert download(first.url, target, context=trusting()) == SHA
        first.redirect = "ftp://127.0.0.1/file.bin"
        with pytest.raises(DownloadError, match="the server redirects: `url` must start with http"):
            download(first.url, target, context=trusting())
        with serving(Site(CONTENT), https=True) as second:
            first.redirect = second.url
            assert download_https(first.url, target, context=trusting()) == SHA


PAGE = b"\n<!DOCTYPE html>\n<html><body>Please log in</body></html>"
BUFFER = io.BytesIO()
with zipfile.ZipFile(BUFFER, "w") as bundle:
    bundle.writestr("a.out", "1,0\n")
ZIP = BUFFER.getvalue()


@pytest.mark.parametrize("send_length", [True, False])
@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        ("a.zip", PAGE, "text/html; charset=utf-8", "got a web page .* open the address in a"),
        ("a.zip", PAGE, "application/zip", "got a web page"),
        ("a.csv", PAGE, None, "got a web page"),
        ("a.zip", b"", None, "must be a zip file as its name says, got an empty file"),
        ("a.zip", b'{"error": "quota"}', "application/json", "must be a zip file .* b'{\"error"),
        ("a.tar.gz", ZIP, None, "must be a gzip file as its name says"),
        ("a", b"quota exceeded", "text/html", "got the content type 'text/html'"),
    ],
)
def test_what_is_no_data_is_refused(name, content, kind, message, send_length, tmp_path):
    site = Site(content, content_type=kind, send_length=send_length)
    with serving(site, name), pytest.raises(DownloadError, match=message):
        download(site.url, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_archive_with_a_wrong_content_type(tmp_path):
    with serving(Site(ZIP, content_type="text/html")) as site:
        download(site.url, tmp_path / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == ZIP


def test_plain_file_without_a_length_needs_a_checksum(target):
    with serving(Site(CONTENT, send_length=False)) as site:
        with pytest.raises(DownloadError, match=f"does not send the length.* --sha256 .*{SHA}"):
            download(site.url, target)
        assert names(target) == []
        assert download(site.url, target, sha256=SHA) == SHA


def test_chunked_answer_has_an_end(target):
    with serving(Site(CONTENT, chunked=True, etag=None, cuts=[1000])) as site:
        with pytest.raises(DownloadError, match="IncompleteRead"):
            download(site.url, target, retries=0)
        assert not target.exists()
        assert download(site.url, target) == SHA

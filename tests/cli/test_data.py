"""``vuskit data``: the catalog, and a download from a server on this machine."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from datasets.web import Site, serving

from vuskit.datasets import list_datasets


@pytest.fixture
def archive():
    """Address and bytes of a small archive that a server on this machine offers."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as bundle:
        bundle.writestr("plant/pump.csv", "value,label\n1,0\n2,1\n")
    site = Site(content.getvalue())
    with serving(site, "plant.zip"):
        yield site.url, site.content


def test_list(command, snapshot):
    outcome = command("data", "list")
    assert (outcome.code, outcome.err) == (0, "")
    snapshot("data_list", outcome.out)


def test_list_as_json(command):
    rows = json.loads(command("data", "list", "--json").out)
    assert [row["name"] for row in rows] == [info.name for info in list_datasets()]
    assert command("data", "list", "--csv").out.count("\n") == len(rows) + 1


def test_show(command, snapshot):
    snapshot("data_show", command("data", "show", "NAB").out)
    assert json.loads(command("data", "show", "NAB", "--json").out)["format"] == "nab"


def test_unknown_name(command):
    outcome = command("data", "show", "NAV")
    assert outcome.code == 2
    assert outcome.err.startswith("vuskit: `name` must be one of 'Dodgers', 'ECG'")


def test_fetch(command, archive, snapshot, tmp_path):
    url, body = archive
    digest = hashlib.sha256(body).hexdigest()
    refused = command("data", "fetch", "Plant", "--url", url)
    assert (refused.code, refused.out) == (2, "")
    assert "`url` must start with https://" in refused.err
    assert "--allow-http" in refused.err
    outcome = command("data", "fetch", "Plant", "--url", url, "--sha256", digest, "--allow-http")
    assert outcome.code == 0
    assert outcome.err == (
        f"SHA-256 of the archive: {digest}\n"
        "next: vuskit bench init, with the folder of Plant as its data\n"
    )
    folder = Path(outcome.out.strip())
    shown = (outcome.out + outcome.err).replace(str(tmp_path), "PLACE")
    snapshot("data_fetch", shown.replace(digest, "DIGEST"))
    assert (folder / "plant" / "pump.csv").read_text() == "value,label\n1,0\n2,1\n"


def test_fetch_refuses_another_file(command, archive):
    options = ("--url", archive[0], "--allow-http", "--sha256", "0" * 64)
    outcome = command("data", "fetch", "Plant", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1].startswith("vuskit: ")


def test_fetch_what_cannot_be_fetched(command):
    outcome = command("data", "fetch", "YAHOO")
    assert outcome.code == 2
    assert "it is part of 'TSB-UAD'" in outcome.err


def test_a_login_page_is_not_installed(command, tmp_path):
    site = Site(b"<!doctype html><title>Log in</title>", content_type="text/html")
    with serving(site, "plant.zip"):
        outcome = command("data", "fetch", "Plant", "--url", site.url, "--allow-http")
    assert (outcome.code, outcome.out) == (2, "")
    assert "must be a data file, got a web page" in outcome.err
    assert not (tmp_path / "cache" / "Plant").exists()

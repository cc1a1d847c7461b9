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
    snapshot("data_show", command("data", "list", "NAB").out)
    assert json.loads(command("data", "list", "NAB", "--json").out)["format"] == "nab"


def test_unknown_name(command):
    outcome = command("data", "list", "NAV")
    assert outcome.code == 2
    assert outcome.err.startswith("vuskit: `NAME` must be one of 'Dodgers', 'ECG'")


def test_fetch(command, archive, snapshot, tmp_path):
    url, body = archive
    digest = hashlib.sha256(body).hexdigest()
    refused = command("data", "fetch", "Plant", "--url", url)
    assert (refused.code, refused.out) == (2, "")
    assert "must start with https://" in refused.err
    outcome = command("data", "fetch", "Plant", "--url", url, "--sha256", digest)
    assert outcome.code == 0
    assert outcome.err == (
        f"SHA-256 of the archive: {digest}\n"
        "Next: run vuskit bench init, and set the folder of Plant in the plan\n"
    )
    folder = Path(outcome.out.strip())
    shown = (outcome.out + outcome.err).replace(str(tmp_path), "PLACE")
    snapshot("data_fetch", shown.replace(digest, "DIGEST"))
    assert (folder / "plant" / "pump.csv").read_text() == "value,label\n1,0\n2,1\n"


def test_fetch_refuses_another_file(command, archive):
    options = ("--url", archive[0], "--sha256", "0" * 64)
    outcome = command("data", "fetch", "Plant", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[-1].startswith("vuskit: ")


def test_fetch_what_cannot_be_fetched(command):
    outcome = command("data", "fetch", "YAHOO")
    assert outcome.code == 2
    assert "it is part of 'TSB-UAD'" in outcome.err


def test_a_login_page_is_not_installed(command, tmp_path):
    site = Site(b"<!doctype html><title>Log in</title>")
    digest = hashlib.sha256(site.content).hexdigest()
    with serving(site, "plant.zip"):
        outcome = command("data", "fetch", "Plant", "--url", site.url, "--sha256", digest)
    assert (outcome.code, outcome.out) == (2, "")
    assert "must be a data file, got a web page" in outcome.err
    assert not (tmp_path / "cache" / "Plant").exists()


# -- describe ----------------------------------------------------------------------------------

KPIS = "timestamp,value,label,KPI ID\n1,1,0,a\n1,7,0,b\n2,2,1,a\n2,8,0,b\n3,9,1,b\n"
YAHOO = "timestamps,value,anomaly,changepoint,trend\n1,5,0,0,1\n2,6,1,1,2\n3,6,1,1,2\n"


@pytest.fixture
def raw(tmp_path):
    """Raw files of two data sets, one of them with two series, and a file that nothing reads."""
    folder = tmp_path / "raw"
    (folder / "A3").mkdir(parents=True)
    (folder / "kpis.csv").write_text(KPIS)
    (folder / "A3" / "TS1.csv").write_text(YAHOO)
    (folder / "README").write_text("about these files")
    return folder


def test_describe(command, raw, snapshot):
    outcome = command("data", "describe", raw)
    assert outcome.code == 0
    snapshot("data_describe", outcome.out)
    assert "no known format, left out: 1 file: 'README'" in outcome.err
    assert "1 series, columns left out: changepoint (" in outcome.err


def test_describe_in_other_forms(command, raw):
    (first, second) = json.loads(command("data", "describe", raw, "--json").out)
    assert first == {
        "dataset": "A3",
        "n_series": 1,
        "mean_length": 3,
        "mean_anomalies": 1,
        "mean_anomalous_points": 2,
        "density": 2 / 3,
    }
    assert (second["dataset"], second["n_series"], second["mean_length"]) == ("IOPS", 2, 2.5)
    assert command("data", "describe", raw, "--csv").out.splitlines()[2].startswith("IOPS,2,2.5,")
    assert r"IOPS & 2 & 2 & 1.0 & 1.0 & 41.67 \\" in command("data", "describe", raw, "--latex").out
    assert "| A3 | 1 | 3 |" in command("data", "describe", raw, "--markdown").out
    assert command("data", "describe", raw, "--csv", "--latex").code == 2


def test_describe_one_file_one_data_set_and_a_long_table(command, raw, tmp_path):
    (row,) = json.loads(command("data", "describe", raw / "A3" / "TS1.csv", "--json").out)
    assert row["n_series"] == 1
    (row,) = json.loads(command("data", "describe", raw, "--dataset-name", "All", "--json").out)
    assert (row["dataset"], row["n_series"]) == ("All", 3)
    path = tmp_path / "pumps.csv"
    path.write_text("pump,flow,label\nleft,1,0\nright,5,0\nleft,9,1\nright,5,0\n")
    (row,) = json.loads(command("data", "describe", path, "--by", "pump", "--json").out)
    assert (row["dataset"], row["n_series"]) == ("pumps", 2)


def test_describe_reports_files_that_cannot_be_read(command, raw):
    (raw / "kpis.csv").write_text(KPIS.replace("2,2,1,a", "2,2,maybe,a"))
    outcome = command("data", "describe", raw, "--json")
    assert outcome.code == 3
    assert [row["n_series"] for row in json.loads(outcome.out)] == [1, 1]
    assert "cannot be read: " in outcome.err
    assert "kpis.csv, line 4: column 'label' must hold a label" in outcome.err


def test_describe_without_a_readable_series(command, raw, tmp_path):
    (tmp_path / "empty").mkdir()
    outcome = command("data", "describe", tmp_path / "empty")
    assert (outcome.code, outcome.out) == (2, "")
    assert "must hold at least one readable series" in outcome.err
    assert "vuskit list readers" in outcome.err
    assert command("data", "describe", tmp_path / "nowhere").code == 2
    assert "must be among" in command("data", "describe", raw, "--by", "pump").err

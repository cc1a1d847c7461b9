"""Packs: what they hold, that they read like their run, and that changes are found."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import pickle
import platform
import shutil
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bench.conftest import Workshop

from vuskit.bench import Pack, Run, open_pack, open_run
from vuskit.bench import pack as pack_module
from vuskit.datasets.catalog import UnsafeArchiveError
from vuskit.errors import InvalidInputError

DATA = """
[[series]]
folder = "data"
format = "scores"
"""


def write_data(folder):
    """Two series in files, each with the scores of one detector."""
    place = folder / "data" / "lab"
    place.mkdir(parents=True)
    random = np.random.default_rng(0)
    for name in ("a", "b"):
        labels = np.zeros(300, dtype=int)
        labels[100:120] = labels[200:230] = 1
        table = {"value": random.normal(size=300), "label": labels}
        score = labels + random.normal(size=300)
        pd.DataFrame(table | {"ours": score}).to_csv(place / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A run on files, with a failing detector, and its pack."""
    shop = Workshop(tmp_path_factory.mktemp("packed"))
    write_data(shop.base)
    shop.write(
        series=DATA,
        detectors=('name = "values"', "raises"),
        top="seeds = [0, 1]",
        tail='[[scores]]\nfolder = "data"',
    )
    shop.run()
    Run(shop.folder).pack(shop.base / "run.vuskit.zip")
    return shop


@pytest.fixture
def packed(shop, tmp_path):
    """A copy of the pack."""
    return Path(shutil.copy(shop.base / "run.vuskit.zip", tmp_path))


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, changes, *, fix_manifest=True):
    """Replace members as a forger would: with digests that fit."""
    content = members(path) | {name: data for name, data in changes.items() if data is not None}
    for name in [name for name, data in changes.items() if data is None]:
        del content[name]
    if fix_manifest:
        manifest = json.loads(content["manifest.json"])
        manifest["members"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in content.items()
            if name != "manifest.json"
        }
        content["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def problems(path):
    return "\n".join(Run(path).verify().problems)


def test_a_pack_reads_like_its_run(shop, packed):
    run, pack = Run(shop.folder), Run(packed)
    assert isinstance(pack, Pack)
    pd.testing.assert_frame_equal(pack.values(), run.values())
    pd.testing.assert_frame_equal(pack.outcomes(), run.outcomes())
    pd.testing.assert_frame_equal(pack.leaderboard(), run.leaderboard())
    assert pack.detectors() == run.detectors()
    assert [one.hash for one in pack.series()] == [one.hash for one in run.series()]
    assert pack.score_records() == run.score_records()
    assert pack.status().counts == run.status().counts
    assert pack.status().failures[0].message == run.status().failures[0].message
    assert pack.plan_text == shop.path.read_text()
    again = pickle.loads(pickle.dumps(pack))
    assert again.detectors() == pack.detectors()


def test_scores_and_labels_of_a_pack_are_those_of_the_run(shop, packed):
    found = {one.name: one.read() for one in Run(packed).scored_series()}
    expected = {one.name: one.read() for one in Run(shop.folder).scored_series()}
    assert list(found) == list(expected)
    for name, scored in expected.items():
        np.testing.assert_array_equal(found[name].series.labels, scored.series.labels)
        assert found[name].scores.keys() == scored.scores.keys()
        for detector, scores in scored.scores.items():
            np.testing.assert_array_equal(found[name].scores[detector], scores)


def test_a_pack_verifies(packed):
    found = Run(packed).verify()
    assert found.problems == ()
    assert (found.n_files, found.n_values, found.n_members) == (4, 8, len(members(packed)) - 1)
    assert found.n_checksums == 4


def test_equal_runs_give_equal_packs(shop, packed):
    again = packed.with_name("again.zip")
    Run(shop.folder).pack(again)
    assert again.read_bytes() == packed.read_bytes()


def test_a_pack_names_no_machine(shop, packed):
    (row,) = json.loads(members(packed)["tables/runs.json"])["rows"]
    assert platform.node() not in row
    for name, data in members(packed).items():
        assert str(shop.base).encode() not in data, name


def test_values_csv_is_the_table_of_outcomes(shop, packed):
    table = pd.read_csv(io.BytesIO(members(packed)["values.csv"]))
    expected = Run(shop.folder).outcomes()
    assert len(table) == len(expected)
    keys = ["dataset", "series", "detector", "measure"]
    left = table.sort_values(keys)["value"].to_numpy()
    np.testing.assert_array_equal(left, expected.sort_values(keys)["value"].to_numpy(dtype=float))
    assert set(table["status"]) == {"OK", "ERROR"}


def test_a_changed_value_is_found(packed):
    table = json.loads(members(packed)["tables/values.json"])
    table["rows"][0][2] += 0.01
    rewrite(packed, {"tables/values.json": json.dumps(table).encode()})
    found = problems(packed)
    assert "values differ from their checksum" in found
    assert "but recomputed as" in found
    assert "values.csv, line" in found


def test_a_value_in_the_csv_only_is_found(packed):
    text = members(packed)["values.csv"].decode().splitlines()
    text[1] = text[1].replace("OK,0.", "OK,0.9")
    rewrite(packed, {"values.csv": ("\n".join(text) + "\n").encode()})
    assert "values.csv, line 2" in problems(packed)


def test_a_forged_score_is_found(packed):
    name = next(name for name in members(packed) if name.startswith("scores/"))
    data = bytearray(members(packed)[name])
    data[-8:] = np.float64(99.0).tobytes()
    rewrite(packed, {name: bytes(data)})
    assert "does not hold the stored scores" in problems(packed)


def test_forged_labels_are_found(packed):
    labels = json.loads(members(packed)["labels.json"])
    for entry in labels.values():
        entry["anomalies"] = [[10, 30], [200, 230]]  # as many and as long as before
    rewrite(packed, {"labels.json": json.dumps(labels).encode()})
    assert "but recomputed as" in problems(packed)
    for entry in labels.values():
        entry["anomalies"] = [[10, 900]]
    rewrite(packed, {"labels.json": json.dumps(labels).encode()})
    assert "must be intervals within the series" in problems(packed)


def test_members_are_compared_with_the_manifest(packed):
    rewrite(packed, {"plan.toml": b"seeds = [7]"}, fix_manifest=False)
    assert "plan.toml: differs from its digest" in problems(packed)
    rewrite(packed, {"plan.toml": None}, fix_manifest=False)
    assert "plan.toml: missing" in problems(packed)


def test_broken_tables_are_a_problem_not_a_crash(packed):
    rewrite(packed, {"tables/jobs.json": b'{"columns": ["id; DROP TABLE jobs"], "rows": []}'})
    assert "unknown columns" in problems(packed)
    rewrite(packed, {"tables/jobs.json": b"{"})
    assert "must be JSON" in problems(packed)
    rewrite(packed, {"tables/jobs.json": None})
    assert "must have a member 'tables/jobs.json'" in problems(packed)


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "code.py", "scores/x.npy"])
def test_members_that_a_pack_does_not_have_are_refused(packed, name):
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(name, "x")
    with pytest.raises(UnsafeArchiveError, match="must have only members of a pack"):
        Run(packed)


def test_a_bomb_is_refused(packed, monkeypatch):
    monkeypatch.setattr(pack_module, "_SMALL", 1 << 10)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"scores/{'0' * 64}.npy", bytes(64 << 20))
    with pytest.raises(UnsafeArchiveError, match="times its size"):
        Run(packed)


def test_the_header_of_a_score_cannot_ask_for_memory(packed):
    name = next(name for name in members(packed) if name.startswith("scores/"))
    huge = members(packed)[name].replace(b"(300,), ", b"(10**9,)")
    rewrite(packed, {name: huge})
    assert name in problems(packed)


def test_other_files_are_no_packs(tmp_path):
    path = tmp_path / "a.zip"
    path.write_text("no zip")
    with pytest.raises(InvalidInputError, match="must be a pack"):
        Run(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(InvalidInputError, match="a zip without"):
        Run(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", '{"schema": "vuskit-pack-2"}')
    with pytest.raises(InvalidInputError, match="update vuskit"):
        Run(path)


def test_a_pack_without_scores_says_so(shop, packed, monkeypatch):
    monkeypatch.setattr(pack_module, "SCORES_LIMIT", 100)
    summary = Run(shop.folder).pack(packed)
    assert not summary.with_scores
    assert summary.score_bytes == 4 * 300 * 8
    pack = Run(packed)
    found = pack.verify()
    assert (found.problems, found.without_scores, found.n_values) == ((), True, 0)
    assert found.n_checksums == 4
    with pytest.raises(InvalidInputError, match="--scores"):
        next(pack.scored_series())
    assert Run(shop.folder).pack(packed, scores=True).with_scores


def test_labels_must_be_those_of_the_run(shop, packed):
    file = shop.base / "data" / "lab" / "a.csv"
    content = file.read_text()
    file.unlink()
    try:
        with pytest.raises(InvalidInputError, match="--no-scores"):
            Run(shop.folder).pack(packed)
        assert not Run(shop.folder).pack(packed, scores=False).with_scores
    finally:
        file.write_text(content)


def test_an_unfinished_run_is_refused(shop, packed):
    run = Run(shutil.copytree(shop.folder, packed.parent / "copy"))
    with contextlib.closing(sqlite3.connect(run.folder / "results.sqlite")) as connection:
        connection.execute("UPDATE starts SET state = 'interrupted'")
        connection.commit()
    with pytest.raises(InvalidInputError, match="--partial"):
        run.pack(packed)
    run.pack(packed, partial=True)
    assert Run(packed).manifest["partial"]
    assert Run(packed).status().run["state"] == "interrupted"


def test_a_pack_runs_nothing(packed):
    pack = Run(packed)
    with pytest.raises(InvalidInputError, match="holds only results"):
        pack.plan(allow_code=True)
    with pytest.raises(InvalidInputError, match="holds only results"):
        pack.action("0", allow_code=True)
    with pytest.raises(InvalidInputError, match="holds only labels and scores"):
        pack.read_series(pack.series()[0])

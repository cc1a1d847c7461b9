"""Packs as files: equal runs give equal packs, and unsafe or damaged files are refused."""

from __future__ import annotations

import contextlib
import io
import json
import platform
import shutil
import sqlite3
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bench.packs import make_packed_run, members, rewrite

from vuskit.bench import Run
from vuskit.errors import InvalidInputError
from vuskit.store import Store
from vuskit.store import pack as pack_module


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return make_packed_run(tmp_path_factory.mktemp("packed"))


@pytest.fixture
def packed(shop, tmp_path):
    """A copy of the pack."""
    return Path(shutil.copy(shop.pack, tmp_path))


def test_equal_runs_give_equal_packs(shop, packed):
    again = packed.with_name("again.zip")
    Run(shop.folder).pack(again)
    assert again.read_bytes() == packed.read_bytes()


def test_a_pack_names_no_machine(shop, packed):
    assert platform.node() not in members(packed)["starts.jsonl"].decode()
    for name, data in members(packed).items():
        assert str(shop.base).encode() not in data, name


def test_values_csv_is_the_table_of_outcomes(shop, packed):
    table = pd.read_csv(io.BytesIO(members(packed)["values.csv"]))
    expected = Run(shop.folder).outcomes()
    keys = ["dataset", "series", "detector", "measure"]
    left = table.sort_values(keys)["value"].to_numpy()
    np.testing.assert_array_equal(left, expected.sort_values(keys)["value"].to_numpy(dtype=float))
    assert set(table["status"]) == {"OK", "ERROR"}


def test_a_pack_holds_the_latest_plan_only(shop, tmp_path):
    copy = shutil.copytree(shop.folder, tmp_path / "copy")
    with contextlib.closing(sqlite3.connect(copy / "results.sqlite")) as connection:
        connection.execute("DELETE FROM planned WHERE detector = 'Values'")
        connection.commit()
    Run(copy).pack(tmp_path / "less.zip")
    with Store.read(tmp_path / "less.zip") as store:
        assert len(store.statuses()) == 2 + 2 + 2
        assert len(store.rows("starts")) == 1
        assert store.archive.names.isdisjoint({"results.sqlite", "sources.jsonl"})
    assert Run(tmp_path / "less.zip").verify().problems == []


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/passwd", "code.py", "scores/x.npy"])
def test_members_that_a_pack_does_not_have_are_refused(packed, name):
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr(name, "x")
    with pytest.raises(InvalidInputError, match="must have only members of a pack"):
        Store.read(packed)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_and_encrypted_members_are_refused(packed):
    twice = Path(shutil.copy(packed, packed.with_name("twice.zip")))
    with zipfile.ZipFile(twice, "a") as archive:
        archive.writestr("plan.toml", "x")
    with pytest.raises(InvalidInputError, match="must have unique members"):
        Store.read(twice)
    data = bytearray(packed.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 8] |= 1
    packed.write_bytes(data)
    with pytest.raises(InvalidInputError, match="must not be encrypted"):
        Store.read(packed)


def test_a_bomb_is_refused(packed, monkeypatch):
    monkeypatch.setattr(pack_module, "_SMALL", 1 << 10)
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"scores/{'0' * 32}.npy", bytes(64 << 20))
    with pytest.raises(InvalidInputError, match="times its size"):
        Store.read(packed)


def test_other_files_are_no_packs(tmp_path):
    path = tmp_path / "a.zip"
    path.write_text("no zip")
    with pytest.raises(InvalidInputError, match="must be a pack"):
        Store.read(path)
    for name, content, reason in (
        ("a.txt", "a", "a zip without"),
        ("manifest.json", '{"schema": "vuskit-pack-1"}', "of another version"),
        ("manifest.json", '{"schema": "vuskit-pack-2", "tables": 5}', "of another version"),
        ("manifest.json", "[]", "of another version"),
        ("manifest.json", "{", "must be JSON"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, content)
        with pytest.raises(InvalidInputError, match=reason):
            Store.read(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'["id; DROP TABLE planned"]\n', "columns .* of 'planned'"),
        (b'["key"]\n["x", 1]\n', "columns"),
        (b"{}\n", "columns"),
        (b"{", "must be JSON"),
        (b"\xff\xfe", "must be JSON"),
        (None, r"must have a member 'planned.jsonl'"),
        ("rows", "must hold valid tables"),
    ],
)
def test_broken_tables_are_refused(packed, content, reason):
    if content == "rows":
        first = members(packed)["planned.jsonl"].splitlines()[0]
        content = first + b"\n" + json.dumps([{}]).encode()
    rewrite(packed, {"planned.jsonl": content})
    with pytest.raises(InvalidInputError, match=reason):
        Store.read(packed)


def test_results_without_their_parents_are_refused(packed):
    def without_scores(rows):
        return [row for row in rows if row["kind"] == "evaluate"]

    rewrite(packed, {}, results=without_scores)
    with pytest.raises(InvalidInputError, match="refers to a missing row of 'results'"):
        Store.read(packed)


def test_the_header_of_a_score_cannot_ask_for_memory_or_run_code(packed):
    name = next(name for name in members(packed) if name.startswith("scores/"))
    huge = members(packed)[name].replace(b"(300,), ", b"(10**9,)")
    pickled = io.BytesIO()
    np.save(pickled, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    for data in (huge, pickled.getvalue(), b"rubbish", b""):
        rewrite(packed, {name: data})
        with (
            Store.read(packed) as store,
            pytest.raises(InvalidInputError, match=r"scores/\w+\.npy must"),
        ):
            store.scores(name[7:-4])


def test_a_pack_without_scores(shop, packed, monkeypatch):
    monkeypatch.setattr(pack_module, "SCORES_LIMIT", 100)
    summary = Run(shop.folder).pack(packed)
    assert not summary.with_scores
    assert (summary.score_bytes, summary.n_values, summary.n_series) == (4 * 300 * 8, 8, 2)
    with pytest.raises(InvalidInputError, match="--scores"):
        next(Run(packed).scored_series())
    found = Run(packed).verify()
    assert (found.problems, found.without_scores, found.n_values) == ([], True, 0)
    assert found.n_results == 10
    assert Run(shop.folder).pack(packed, scores=True).with_scores


def test_changed_scores_are_not_packed(shop, packed):
    copy = Path(shutil.copytree(shop.folder, packed.parent / "copy"))
    next(copy.rglob("*.npy")).write_bytes(b"rubbish")
    with pytest.raises(InvalidInputError, match="--no-scores"):
        Run(copy).pack(packed)
    assert not Run(copy).pack(packed, scores=False).with_scores


def test_an_unfinished_run_is_refused(shop, packed):
    run = Run(shutil.copytree(shop.folder, packed.parent / "copy"))
    with contextlib.closing(sqlite3.connect(run.folder / "results.sqlite")) as connection:
        connection.execute("UPDATE starts SET state = 'interrupted'")
        connection.commit()
    with pytest.raises(InvalidInputError, match="--partial"):
        run.pack(packed)
    run.pack(packed, partial=True)
    with Store.read(packed) as store:
        assert store.archive.manifest["partial"]
    assert Run(packed).status().run["state"] == "interrupted"

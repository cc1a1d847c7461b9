"""Verification of folders and packs: whatever was changed afterwards is found."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from bench.conftest import Workshop
from bench.packs import make_packed_run, members, rewrite

from vuskit.bench import Run
from vuskit.bench.verify import packed_values
from vuskit.errors import InvalidInputError
from vuskit.store import Store, key_of
from vuskit.store.store import value_digest


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return make_packed_run(tmp_path_factory.mktemp("verified"))


class Forged:
    """A copy of a run as a folder or a pack, whose tables can be changed."""

    def __init__(self, place):
        self.place = place

    def change(self, table, change):
        """Change each row in place, or replace all rows by what `change` returns."""

        def changed(rows):
            found = [change(row) for row in rows]
            return [row if new is None else new for row, new in zip(rows, found, strict=True)]

        if self.place.is_file():
            rewrite(self.place, {}, **{table: changed})
            with contextlib.suppress(Exception):  # forgers update what can be computed
                values = packed_values(Run(self.place).value_rows()).encode()
                rewrite(self.place, {"values.csv": values})
            return
        with Store.read(self.place) as store:
            rows = changed(store.rows(table))
        names = ", ".join(rows[0])
        marks = ", ".join("?" * len(rows[0]))
        with contextlib.closing(sqlite3.connect(self.place / "results.sqlite")) as connection:
            connection.execute(f"DELETE FROM {table}")
            insert = f"INSERT INTO {table} ({names}) VALUES ({marks})"
            connection.executemany(insert, [tuple(row.values()) for row in rows])
            connection.commit()

    def problems(self):
        return "\n".join(Run(self.place).verify(sample=None).problems)


@pytest.fixture(params=["folder", "pack"])
def forged(request, shop, tmp_path):
    if request.param == "pack":
        return Forged(Path(shutil.copy(shop.pack, tmp_path)))
    return Forged(Path(shutil.copytree(shop.folder, tmp_path / "run")))


def edit_value(row, change):
    """Change the value of an evaluation, and its digest."""
    if row["kind"] == "evaluate" and row["value"] is not None:
        value = json.loads(row["value"])
        change(value)
        row["value"] = json.dumps(value)
        row["digest"] = value_digest(row["value"])


def test_an_intact_run_verifies(forged):
    found = Run(forged.place).verify(sample=None)
    assert found.problems == []
    assert (found.n_files, found.n_values, found.n_results, found.n_skipped) == (4, 8, 10, 0)
    assert found.n_members == (len(members(forged.place)) - 1 if forged.place.is_file() else 0)
    some = Run(forged.place).verify(sample=1)
    assert (some.n_results, some.n_values) == (10, 2)  # every key and digest is compared


def test_a_changed_value_is_found(forged):
    def raise_values(row):
        if row["kind"] == "evaluate" and row["value"] is not None:
            row["value"] = row["value"].replace('"auc_pr": 0.', '"auc_pr": 0.9')

    forged.change("results", raise_values)
    found = forged.problems()
    assert "its values differ from their checksum" in found
    assert "auc_pr is stored as" in found


def test_a_digest_finds_changes_within_rounding(forged):
    def nudge(value):
        value["values"]["auc_pr"] += 1e-13

    def change(row):
        digest = row["digest"]
        edit_value(row, nudge)
        row["digest"] = digest

    forged.change("results", change)
    lines = forged.problems().splitlines()
    assert len(lines) == 4
    assert all("its values differ from their checksum" in line for line in lines)


def test_a_changed_value_with_its_digest_is_found(forged):
    def change(row):
        edit_value(row, lambda value: value["values"].update(vus_pr=0.99))

    forged.change("results", change)
    assert "vus_pr is stored as 0.99, but recomputed as" in forged.problems()


def test_added_and_removed_values_are_found(forged):
    forged.change("results", lambda row: edit_value(row, lambda v: v["values"].update(mine=1.0)))
    assert "has values of 'mine', which it did not compute" in forged.problems()
    forged.change("results", lambda row: edit_value(row, lambda v: v["values"].clear()))
    assert "auc_pr is stored as None, but recomputed as 0." in forged.problems()


def test_a_buffer_that_contradicts_the_settings_is_found(forged):
    """Fifty in the settings, four hundred for one detector."""
    with Store.read(forged.place) as store:
        chosen = {named.key for named, _ in store.planned() if named.detector == "ours"}

    def change(row):
        if row["key"] in chosen:
            edit_value(row, lambda value: value.update(buffer=400))

    forged.change("results", change)
    found = forged.problems()
    assert "its buffer is stored as 400, but its settings give 50" in found
    assert "its buffer is 400 for ours, but 50 for Values on the same series" in found


def test_changed_settings_are_found(forged):
    def change(row):
        row["about"] = row["about"].replace('"buffer":50', '"buffer":40')

    forged.change("results", change)
    found = forged.problems()
    assert "what it depends on differs from its key" in found
    assert "does not match its settings" in found


def test_changed_settings_with_new_keys_are_found(forged):
    keys = {}

    def change(row):
        if row["kind"] == "evaluate":
            about = json.loads(row["about"])
            about["settings"]["buffer"] = 40
            keys[row["key"]] = key_of("evaluate", about, row["parent"])
            row.update(about=json.dumps(about), key=keys[row["key"]])

    forged.change("results", change)
    forged.change("planned", lambda row: row.update(key=keys.get(row["key"], row["key"])))
    found = forged.problems()
    assert "differs from its key" not in found
    assert "does not match its settings" in found
    assert "its buffer is stored as 50, but its settings give 40" in found


def test_changed_measures_are_found(forged):
    titles = {"auc_pr": "VUS-PR", "vus_pr": "AUC-PR"}
    forged.change("measures", lambda row: row.update(title=titles[row["name"]]))
    found = forged.problems()
    assert "measure auc_pr: its title must be 'AUC-PR', got 'VUS-PR'" in found
    assert "measure vus_pr: its title must be 'VUS-PR', got 'AUC-PR'" in found
    forged.change("measures", lambda row: row.update(higher_is_better=0))
    assert "its higher_is_better must be True, got False" in forged.problems()


@pytest.mark.parametrize(
    ("table", "change", "problem"),
    [
        ("planned", {"detector": {"ours": "Values", "Values": "ours"}}, "has no detector 'ours'"),
        ("planned", {"seed": {None: 7}}, "does not match its seed"),
        ("planned", {"series": {"a": "b", "b": "a"}}, "does not match its series"),
        ("measures", {"highest": {1.0: 0.5}}, "its bounds must be (0.0, 1.0), got (0.0, 0.5)"),
        ("starts", {"plan": {"buffer = 50": "buffer = 400"}}, "has no settings 'buffer=50, "),
        ("starts", {"plan": {'name = "values"': 'name = "random"'}}, "has no detector 'Values'"),
        ("starts", {"plan": {"[[series]]": "\0"}}, "plan.toml: must be TOML, got: "),
    ],
)
def test_names_and_plans_of_other_results_are_found(forged, table, change, problem):
    def replaced(row):
        for column, texts in change.items():
            for old, new in texts.items():
                if row[column] == old:
                    row[column] = new
                    break
                if table == "starts":
                    assert old in row[column]
                    row[column] = row[column].replace(old, new)

    forged.change(table, replaced)
    assert problem in forged.problems()


def test_evaluations_of_another_detector_are_found(forged):
    """The names of two evaluations are swapped, so that a detector gets the values of another."""
    with Store.read(forged.place) as store:
        rows = [row for row in store.rows("planned") if row["kind"] == "evaluate"]
    first = rows[0]
    second = next(
        row for row in rows if row["hash"] == first["hash"] and row["detector"] != first["detector"]
    )
    swapped = {first["key"]: second["key"], second["key"]: first["key"]}
    forged.change("planned", lambda row: row.update(key=swapped.get(row["key"], row["key"])))
    assert "does not match its parent" in forged.problems()
    swapped = {first["parent"]: second["parent"], second["parent"]: first["parent"]}

    def follow(row):
        if row["kind"] == "evaluate":
            row.update(parent=swapped.get(row["parent"], row["parent"]))

    forged.change("planned", follow)
    assert "does not match its detector" in forged.problems()


def test_changed_labels_are_found(forged):
    moved, outside = "[[10, 30], [200, 230]]", "[[10, 900]]"  # as many and as long as before
    forged.change("series", lambda row: row.update(events=moved))
    assert "but recomputed as" in forged.problems()
    forged.change("series", lambda row: row.update(events=outside))
    assert "must be intervals within the series" in forged.problems()


def test_a_forged_score_is_found(forged):
    array = np.zeros(300)
    file = io.BytesIO()
    np.save(file, array)
    if forged.place.is_file():
        name = next(name for name in members(forged.place) if name.startswith("scores/"))
        rewrite(forged.place, {name: file.getvalue()})
    else:
        next(forged.place.rglob("*.npy")).write_bytes(file.getvalue())
    assert "got different content" in forged.problems()
    assert len(Run(forged.place).verify().broken) == 1


ROWS = [(column, text) for column in ("about", "value", "environment") for text in ("x", "[1]")]


@pytest.mark.parametrize(("column", "content"), [*ROWS, ("about", "{}"), ("value", None)])
def test_rows_of_other_content_are_problems_not_crashes(forged, column, content):
    forged.change("results", lambda row: row.update({column: content}))
    assert forged.problems()


# -- folders ---------------------------------------------------------------------------------------


def test_missing_and_unknown_score_files_are_found(shop, tmp_path):
    run = Run(shutil.copytree(shop.folder, tmp_path / "run"))
    first, second, *_ = sorted(run.folder.rglob("*.npy"))
    first.unlink()
    second.write_bytes(b"rubbish")
    np.save(second.with_name("0" * 32 + ".npy"), np.zeros(3))
    found = run.verify()
    problems = "\n".join(found.problems)
    assert f"{first} must hold the scores of the run, got: [Errno 2]" in problems
    assert f"{second} must hold the scores of the run" in problems
    assert "belongs to no job" in problems
    assert sorted(found.broken) == sorted(path.stem for path in (first, second))


def test_labels_are_compared_if_the_buffer_needs_values(tmp_path):
    shop = Workshop(tmp_path)
    shop.write(evaluate='[[evaluate]]\nmeasures = ["auc_pr"]\nbuffer = "period"').run()
    Run(shop.folder).pack(tmp_path / "run.zip")
    for place in (shop.folder, tmp_path / "run.zip"):
        forged = Forged(place)
        assert forged.problems() == ""
        forged.change("series", lambda row: row.update(events="[[10, 30]]"))
        assert "labels of synthetic/ecg" in forged.problems()


def test_a_buffer_from_values_that_a_pack_does_not_hold(shop, tmp_path):
    """It must be the same for all detectors on a series."""
    shop = Workshop(tmp_path)
    (tmp_path / "data").mkdir()
    rows = [f"{np.sin(i / 5):.6f},{int(100 <= i < 120)}" for i in range(400)]
    (tmp_path / "data" / "a.csv").write_text("\n".join(["value,label", *rows]))
    shop.write(
        series='[[series]]\nfolder = "data"',
        detectors=('name = "values"', "fine"),
        evaluate='[[evaluate]]\nmeasures = ["auc_pr", "vus_pr"]\nbuffer = "period"',
    ).run()
    Run(shop.folder).pack(tmp_path / "run.zip")
    found = Run(tmp_path / "run.zip").verify()
    assert (found.problems, found.n_values, found.n_stored_buffers) == ([], 4, 2)
    assert Run(shop.folder).verify().n_stored_buffers == 0
    with Store.read(tmp_path / "run.zip") as store:
        chosen = {named.key for named, _ in store.planned() if named.detector == "Values"}

    def change(row):
        if row["key"] in chosen:
            edit_value(row, lambda value: value.update(buffer=7))

    forged = Forged(tmp_path / "run.zip")
    forged.change("results", change)
    assert "on the same series" in forged.problems()


def test_evaluations_of_earlier_plans_are_verified_by_digests(workshop):
    """Their data may be gone and their code may have changed: neither is damage of the run."""
    data = workshop.base / "data"
    data.mkdir()
    module = workshop.base / "earlier_measures.py"
    code = (
        "import vuskit\n@vuskit.register_measure(name='part_of_scores')\n"
        "def part_of_scores(y_true, y_score):\n    return y_true[0] + {}\n"
    )
    workshop.write(
        top='imports = ["earlier_measures"]',
        series='[[series]]\nfolder = "data"',
        evaluate='[[evaluate]]\nmeasures = ["auc_pr", "part_of_scores"]\nbuffer = 5',
    )
    for value, number in ((1, "0.25"), (7, "0.25"), (7, "0.5")):
        rows = [f"{value + i * i % 13},{int(40 < i < 50)}\n" for i in range(100)]
        (data / "a.csv").write_text("value,label\n" + "".join(rows))
        module.write_text(code.format(number))
        workshop.run()
    found = Run(workshop.folder).verify(sample=None, allow_code=True)
    assert found.problems == []
    # Two scores; two evaluations of the first run, one changed in the third.
    assert (found.n_results, found.n_earlier, found.n_values) == (7, 3, 2)


# -- packs -----------------------------------------------------------------------------------------


@pytest.fixture
def packed(shop, tmp_path):
    return Path(shutil.copy(shop.pack, tmp_path))


def problems(path):
    return "\n".join(Run(path).verify().problems)


def test_a_value_in_the_csv_only_is_found(packed):
    text = members(packed)["values.csv"].decode().splitlines()
    text[1] = text[1].replace("OK,0.", "OK,0.9")
    rewrite(packed, {"values.csv": ("\n".join(text) + "\n").encode()})
    assert "values.csv, line 2: must be" in problems(packed)
    rewrite(packed, {"values.csv": "\n".join(text[:3]).encode()})
    assert "values.csv must have 13 lines, got 3" in problems(packed)


def test_members_are_compared_with_the_manifest(packed):
    rewrite(packed, {"plan.toml": b"seeds = [7]"}, fix_manifest=False)
    assert "plan.toml: differs from its digest" in problems(packed)
    rewrite(packed, {"plan.toml": None}, fix_manifest=False)
    assert "plan.toml: missing" in problems(packed)


@pytest.mark.parametrize("plan", [b"seeds = [7]", b"\xff\xfe\x00"])
def test_another_plan_is_found(packed, plan):
    rewrite(packed, {"plan.toml": plan})
    assert "plan.toml: differs from the plan in starts.jsonl" in problems(packed)
    text = members(packed)["values.csv"].decode().splitlines()
    rewrite(packed, {"values.csv": "\n".join(text[:3]).encode()})
    assert "values.csv must have 13 lines" in problems(packed)  # other checks go on


def test_pickled_scores_are_found(packed):
    name = next(name for name in members(packed) if name.startswith("scores/"))
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    rewrite(packed, {name: file.getvalue()})
    assert f"{name} must hold" in problems(packed)


def test_unknown_members_are_refused(packed):
    rewrite(packed, {"code.py": b"x"})
    with pytest.raises(InvalidInputError, match="must have only members of a pack"):
        Run(packed).verify()

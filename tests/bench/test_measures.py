"""Measures of one's own: what a run knows of them where their module is not."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from vuskit.bench.export import export_run
from vuskit.bench.measures import measure_called, read_measures
from vuskit.bench.reading import DATABASE, open_for_reading
from vuskit.bench.results import leaderboard, read_detectors, read_status, read_values_table
from vuskit.bench.schema import SCHEMA_VERSION
from vuskit.bench.store import Store
from vuskit.report.page.run import RunReport

OWN = """
import vuskit

@vuskit.register_measure(
    name="misplaced", title="Misplaced", family="threshold", bounds=(0.0, {bound}),
    higher_is_better=False, reference="mine",
)
def misplaced(y_true, y_score, share=0.1):
    top = y_score.argsort()[::-1][: int(share * len(y_true))]
    return float((y_true[top] == 0).mean())
"""
EVALUATE = """
[[evaluate]]
measures = ["auc_pr", "misplaced", {name = "misplaced", share = 0.2}]
buffer = 20
"""
OLD_STORE = Path(__file__).parent / "data" / "store_1.sql"


def elsewhere(shop, code):
    """Run code in a process that has never seen the module of the measure."""
    script = f"from pathlib import Path\nfolder = Path({str(shop.folder)!r})\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def own(workshop, start):
    """A run with a measure of one's own, made by another process."""
    (workshop.base / "own_measures.py").write_text(OWN.format(bound=1.0))
    workshop.write(
        top='imports = ["own_measures"]',
        detectors=['name = "values"', 'name = "random"', "raises"],
        evaluate=EVALUATE,
        tail="[executor]\nworkers = 1",
    )
    process = start()
    process.communicate()
    assert process.returncode == 3  # one detector always fails
    (workshop.base / "own_measures.py").unlink()
    return workshop


def test_measures_of_the_package_keep_what_it_knows_of_them(workshop, start):
    evaluate = '[[evaluate]]\nmeasures = ["ucr_score", {name = "f_score", beta = 2}]\nbuffer = 20'
    workshop.write(detectors=['name = "values"'], evaluate=evaluate)
    process = start()
    process.communicate()
    assert process.returncode == 0
    found = read_measures(workshop.folder)
    assert [measure.group for measure in found.values()] == ["paper", "extra"]
    assert list(found) == ["f_score(beta=2)", "ucr_score"]
    assert found["ucr_score"].misleading_without_chance


def test_title_family_bounds_and_direction_are_read_from_the_store(own):
    assert measure_called("misplaced").higher_is_better  # nobody knows it here
    found = read_measures(own.folder)
    assert list(found) == ["auc_pr", "misplaced", "misplaced(share=0.2)"]
    for name, title in (
        ("misplaced", "Misplaced"),
        ("misplaced(share=0.2)", "Misplaced(share=0.2)"),
    ):
        measure = found[name]
        facts = (measure.title, measure.family, measure.bounds, measure.reference)
        assert facts == (title, "threshold", (0.0, 1.0), "mine")
        assert not measure.higher_is_better
    assert found["auc_pr"].title == "AUC-PR"
    assert found["auc_pr"].higher_is_better


def test_the_leaderboard_of_a_measure_where_lower_is_better(own, tmp_path):
    values = read_values_table(own.folder)
    table = values[values["measure"] == "misplaced"]
    assert set(table["measure_title"]) == {"Misplaced"}
    assert set(table["higher_is_better"]) == {False}
    board = leaderboard(table, detectors=read_detectors(own.folder))
    assert board["misplaced"].dropna().is_monotonic_increasing
    assert board["misplaced"].notna().to_list() == [True, True, False]
    assert board["detector"].to_list()[-1] == "misbehaving:raises"
    written = export_run(own.folder, tmp_path / "values.csv")
    assert set(written["higher_is_better"]) == {True, False}


def test_a_page_ranks_it_the_right_way_and_names_whom_it_leaves_out(own):
    run = RunReport.read(own.folder)
    assert run.measures == ("auc_pr", "misplaced", "misplaced(share=0.2)")
    assert [run.measure(name).title for name in run.measures][1] == "Misplaced"
    (settings,) = run.settings
    found = run.comparison(settings, "misplaced")
    assert not found.higher_is_better
    first, last = found.summary.index
    assert found.summary["mean"][first] < found.summary["mean"][last]
    assert run.without_values(settings, "misplaced") == ("misbehaving:raises",)


def test_compare_knows_the_direction_in_another_process(own):
    code = (
        "from vuskit.cli._results_table import read_results\n"
        "found = read_results(folder)\n"
        "print(found.title('misplaced'), found.direction('misplaced'), found.direction('auc_pr'))\n"
        "counts = found.frame.groupby('detector')['value'].count()\n"
        "print(*counts[counts == 0].index)\n"
    )
    assert elsewhere(own, code).splitlines() == ["Misplaced False True", "misbehaving:raises"]


def test_values_of_another_version_of_a_measure_are_not_shown(workshop):
    """The plan goes from one version to another and back, and a job holds both."""
    module = workshop.base / "versioned.py"
    texts = [
        "import vuskit\n"
        f"@vuskit.register_measure(name='versioned', title='V{number}')\n"
        f"def versioned(y_true, y_score):\n    return {number}.0\n"
        for number in (1, 2)
    ]
    measures = (["auc_pr", "versioned"], ["auc_pr", "versioned", "auc_roc"])
    for text, names in zip([*texts, texts[0]], [*measures, measures[1]], strict=True):
        module.write_text(text)
        listed = ", ".join(f'"{name}"' for name in names)
        workshop.write(
            top='imports = ["versioned"]',
            evaluate=f"[[evaluate]]\nmeasures = [{listed}]\nbuffer = 20",
        )
        # Another process, as a user would have: modules are read once per process.
        elsewhere(
            workshop,
            "from vuskit.bench import load_plan, run_plan\n"
            "run_plan(load_plan(folder.parent / 'bench.toml'))",
        )
    values = read_values_table(workshop.folder)
    shown = values[values["measure"] == "versioned"]
    assert set(shown["value"]) == {1.0}
    assert set(shown["measure_title"]) == {"V1"}
    assert len(values) == 6


# -- stores of earlier versions ----------------------------------------------------------------


@pytest.fixture
def old(tmp_path):
    """A store that the first version of the schema wrote, with a measure of one's own."""
    folder = tmp_path / "old"
    folder.mkdir()
    connection = sqlite3.connect(folder / DATABASE)
    connection.executescript(OLD_STORE.read_text())
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return folder


def shape_of(folder):
    connection = sqlite3.connect(folder / DATABASE)
    try:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
        columns = {
            name: sorted(row[1:4] for row in connection.execute(f'PRAGMA table_info("{name}")'))
            for name in tables
        }
        return columns, connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()


def read_everything(folder):
    values = read_values_table(folder)
    assert len(values) == 16
    assert list(read_measures(folder)) == ["auc_pr", "misses"]
    assert read_status(folder).n_values == 12
    assert leaderboard(values)["series"].to_list() == [2, 2]
    run = RunReport.read(folder)
    assert run.measure("auc_pr").title == "AUC-PR"
    assert run.seeds == 2
    return values


def test_an_old_store_is_read_as_it_is(old):
    before = (old / DATABASE).read_bytes()
    values = read_everything(old)
    assert values["warm_up_seconds"].isna().all()
    assert set(values[values["measure"] == "misses"]["measure_title"]) == {"misses"}
    assert (old / DATABASE).read_bytes() == before
    assert shape_of(old)[1] == 1


def test_an_old_store_becomes_a_new_one_when_it_is_written(old, tmp_path):
    before = read_everything(old)
    with Store(old) as store:
        assert store.integrity() == "ok"
    Store(tmp_path / "new").close()
    assert shape_of(old) == shape_of(tmp_path / "new")
    assert shape_of(old)[1] == SCHEMA_VERSION
    assert read_everything(old).equals(before)
    Store(old).close()  # once is enough


def test_a_migration_that_fails_leaves_the_old_store(old, monkeypatch):
    added = {2: {"measures": {"title": "TEXT"}, "nowhere": {"x": "TEXT"}}, 3: {}}
    monkeypatch.setattr("vuskit.bench.schema._ADDED", added)
    with pytest.raises(Exception, match="no such table: nowhere"):
        Store(old)
    monkeypatch.undo()
    assert shape_of(old)[1] == 1
    read_everything(old)


def test_a_new_run_enters_what_an_old_store_did_not_know(own):
    with sqlite3.connect(own.folder / DATABASE) as connection:
        connection.execute("UPDATE measures SET title = NULL, higher_is_better = NULL")
    connection.close()
    assert read_measures(own.folder)["misplaced"].title == "misplaced"
    (own.base / "own_measures.py").write_text(OWN.format(bound=1.0))
    elsewhere(
        own,
        "from vuskit.bench import load_plan, run_plan\n"
        "run_plan(load_plan(folder.parent / 'bench.toml'))",
    )
    again = read_measures(own.folder)["misplaced"]
    assert (again.title, again.higher_is_better) == ("Misplaced", False)


def test_a_store_with_an_open_log_is_copied_where_nothing_can_be_written(old, monkeypatch):
    """As on a read-only disk: the log of a killed run holds the last transactions."""
    writer = sqlite3.connect(old / DATABASE)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("UPDATE runs SET host = 'late'")
    writer.commit()
    from vuskit.bench import reading

    real = reading._connected
    refused = []

    def connected(path, options):
        if path.parent == old and options == "mode=ro":
            refused.append(path)
            raise sqlite3.OperationalError("unable to open database file")
        return real(path, options)

    monkeypatch.setattr(reading, "_connected", connected)
    connection = open_for_reading(old)
    assert connection.execute("SELECT host FROM runs").fetchone()["host"] == "late"
    connection.close()
    writer.close()
    connection = open_for_reading(old)  # the log is gone: the file is all there is
    assert connection.execute("SELECT host FROM runs").fetchone()["host"] == "late"
    connection.close()
    assert len(refused) == 2

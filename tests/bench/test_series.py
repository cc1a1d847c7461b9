"""Series: values follow every file that a series is read from."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from vuskit import auc_pr, vus_pr
from vuskit.bench import Run, load_plan, parse_plan, run_plan
from vuskit.bench.series import SeriesRef, SeriesSource, describe_series
from vuskit.engine import (
    Limits,
)
from vuskit.engine._dask import DaskExecutor
from vuskit.errors import ChangedInputError, InvalidInputError

VUSKIT = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
N = 40
OWN_FORMAT = """
import json
import numpy as np
from vuskit.datasets import Series, register_format

@register_format(
    name="plain", title="plain", layout="*.plain", matches=lambda file: file.suffix == ".plain",
    companions=lambda path, options: [path.parent / "truth.json"],
)
def read_plain(path):
    values = np.loadtxt(path)
    labels = np.zeros(len(values), dtype=bool)
    for place in json.loads((path.parent / "truth.json").read_text())[path.stem]:
        labels[place] = True
    return Series(path.stem, "Plain", values, labels)
"""
PLAN = """
imports = ["own_format"]
series = [
    {folder = "nab", format = "nab"},
    {folder = "nasa", format = "telemanom"},
    {folder = "plain", format = "plain"},
    {folder = "plants"},
]
detectors = [{name = "values"}]
evaluate = [{measures = ["auc_pr"], buffer = 2}]
"""
PLANTS = {"A/logs/pump": [[4, 9]], "B/logs/pump": [[20, 30]]}  # files with the same name
FIRST = {"art": [[3, 5]], "T-1": [[10, 12]], "a": [[20, 24]], "b": [[7, 9]], **PLANTS}
LATER = {"art": [[30, 32]], "T-1": [[15, 19]], "a": [[2, 4]], "b": [[1, 5]], **PLANTS}


def time_at(place):
    return f"2026-01-01 00:{place:02d}:00"


def write_labels(base, events):
    """Write the three files of labels; the data stay as they are."""
    windows = [[time_at(first), time_at(last)] for first, last in events["art"]]
    (base / "nab/labels/combined_windows.json").write_text(json.dumps({"g/art.csv": windows}))
    rows = f'chan_id,spacecraft,anomaly_sequences\nT-1,SMAP,"{events["T-1"]}"\n'
    (base / "nasa/labeled_anomalies.csv").write_text(rows)
    places = {
        name: [place for first, last in events[name] for place in range(first, last + 1)]
        for name in ("a", "b")
    }
    (base / "plain/truth.json").write_text(json.dumps(places))


def expected(events):
    return {name: auc_pr(labels_of(ranges), data_of(name)) for name, ranges in events.items()}


def labels_of(ranges):
    labels = np.zeros(N, dtype=int)
    for first, last in ranges:
        labels[first : last + 1] = 1
    return labels


def data_of(name):
    return np.random.default_rng(list(name.encode())).random(N).round(6)


@pytest.fixture
def base(tmp_path):
    for folder in ("nab/g", "nab/labels", "nasa/test", "plain"):
        (tmp_path / folder).mkdir(parents=True)
    lines = [f"{time_at(place)},{value}" for place, value in enumerate(data_of("art"))]
    (tmp_path / "nab/g/art.csv").write_text("\n".join(["timestamp,value", *lines]))
    np.save(tmp_path / "nasa/test/T-1.npy", data_of("T-1"))
    for name in ("a", "b"):
        np.savetxt(tmp_path / f"plain/{name}.plain", data_of(name))
    for name, ranges in PLANTS.items():
        path = tmp_path / "plants" / f"{name}.csv"
        path.parent.mkdir(parents=True)
        rows = zip(data_of(name), labels_of(ranges), strict=True)
        path.write_text("\n".join(["value,label", *(f"{v},{label}" for v, label in rows)]))
    (tmp_path / "own_format.py").write_text(OWN_FORMAT)
    write_labels(tmp_path, FIRST)
    return tmp_path


@pytest.fixture(params=["local", "dask"])
def executor(request):
    if request.param == "local":
        return "[executor]\nworkers = 1\n"
    return f'[executor]\nkind = "dask"\naddress = "{request.getfixturevalue("cluster")}"\n'


def values_of(folder):
    """Values by series; with the data set where the names of files are equal."""
    table = Run(folder).values()
    names = table["series"].where(table["series"] != "pump", table["dataset"] + "/pump")
    assert names.is_unique
    return dict(zip(names, table["value"], strict=True))


@pytest.fixture
def run(base, environment, executor):
    """Run the plan as a command; return the values."""

    def start():
        (base / "bench.toml").write_text(PLAN + executor)
        command = [*VUSKIT, "bench", "run", "--plain", str(base / "bench.toml")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return values_of(base / "bench-run")

    return start


def test_labels_in_other_files_are_tracked(base, run):
    assert run() == pytest.approx(expected(FIRST), abs=1e-12)
    write_labels(base, LATER)
    assert run() == pytest.approx(expected(LATER), abs=1e-12)
    if "dask" in (base / "bench.toml").read_text():
        return
    last_job = Run(base / "bench-run").status().run["last_job"]
    run()
    assert Run(base / "bench-run").status().run["last_job"] == last_job  # nothing ran again
    # A nearer file of labels that appears later, and a read function that is edited.
    nearer = {"art.csv": [[time_at(0), time_at(3)]]}
    (base / "nab/g/combined_windows.json").write_text(json.dumps(nearer))
    edited = OWN_FORMAT.replace("labels[place] = True", "labels[place + 1] = True")
    (base / "own_format.py").write_text(edited)
    now = {**LATER, "art": [[0, 3]], "a": [[3, 5]], "b": [[2, 6]]}
    assert run() == pytest.approx(expected(now), abs=1e-12)


def test_labels_edited_during_a_run_are_refused(base, cluster):
    plan = PLAN.replace('imports = ["own_format"]', "")
    plan = plan.replace('    {folder = "plain", format = "plain"},\n', "")
    (base / "bench.toml").write_text(plan)
    ended = []

    def edit_then_note(progress):
        if progress.done == 0:
            write_labels(base, LATER)
        ended.append(progress)

    with DaskExecutor(address=cluster, limits=Limits(seconds=300)) as dask:
        run_plan(load_plan(base / "bench.toml"), executor=dask, observer=edit_then_note)
        assert ended[-1].failed == 0
        assert len(ended[-1].not_computed) == 2
        assert values_of(base / "bench-run").keys() == PLANTS.keys()
        run_plan(load_plan(base / "bench.toml"), executor=dask)
    later = {name: value for name, value in expected(LATER).items() if name not in ("a", "b")}
    assert values_of(base / "bench-run") == pytest.approx(later, abs=1e-12)


def test_an_edit_that_keeps_size_and_time_is_noticed(base):
    path = base / "nab/labels/combined_windows.json"
    source = SeriesSource.file(base / "nab/g/art.csv", "nab", {})
    ref = describe_series(source)
    assert source.changed_files(ref.files) == ()
    state = path.stat()
    path.write_text(path.read_text().replace(":05:", ":06:"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_size == state.st_size
    assert source.changed_files(ref.files) == (str(path),)
    assert describe_series(source).hash != ref.hash


def test_companions_of_formats(base):
    (base / "nasa/train").mkdir()
    np.save(base / "nasa/train/T-1.npy", data_of("T-1"))
    options = {"with_train": True}
    source = SeriesSource.file(base / "nasa/test/T-1.npy", "telemanom", options)
    ref = describe_series(source)
    names = {os.path.relpath(path, base / "nasa") for path in ref.files}
    assert names == {"test/T-1.npy", "train/T-1.npy", "labeled_anomalies.csv"}
    (base / "nasa/labeled_anomalies.csv").unlink()
    assert len(source.changed_files(ref.files)) == 1


def test_descriptions_survive_the_store(base):
    ref = describe_series(SeriesSource.file(base / "nab/g/art.csv", "nab", {}))
    again = SeriesRef.from_facts(json.loads(json.dumps(ref.facts())), ref.source)
    assert again == ref
    assert again.files == ref.files
    assert again.events == ((3, 6),)
    assert (again.n_anomalies, again.anomalous_points) == (1, 3)
    options = {"options": {"by": "KPI"}}
    assert ref.source.with_options(by="KPI").content == {**ref.source.content, **options}


def test_labels_are_in_one_of_two_hashes(base):
    source = SeriesSource.file(base / "nab/g/art.csv", "nab", {})
    before = describe_series(source)
    write_labels(base, LATER)
    after = describe_series(source)
    assert before.hash != after.hash
    assert before.values_hash == after.values_hash
    other = describe_series(SeriesSource.file(base / "nasa/test/T-1.npy", "telemanom", {}))
    assert other.values_hash != after.values_hash


TABLE = "value,label,A,B\n1,0,0.1,5\n9,1,0.7,6\n2,0,0.2,4\n"


def test_a_series_is_read_again_when_a_process_holds_an_old_copy(tmp_path):
    table = tmp_path / "pump.csv"
    table.write_text(TABLE)
    ref = describe_series(SeriesSource.file(table, "scores", {}))
    assert ref.load().labels.tolist() == [False, True, False]
    state = table.stat()
    table.write_text(TABLE.replace("9,1", "9,0").replace("2,0", "2,1"))
    os.utime(table, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert ref.load().labels.tolist() == [False, True, False]  # what was planned
    new = describe_series(ref.source)
    assert new.load().labels.tolist() == [False, False, True]
    synthetic = SeriesSource.synthetic({"family": "ecg", "n": 1500, "n_anomalies": 3, "seed": 1})
    assert describe_series(synthetic).load()
    assert new.load()
    with pytest.raises(ChangedInputError, match=r"/pump must .*pump.csv\); .* run the same"):
        ref.load()


def test_intervals_label_the_series_of_a_folder(tmp_path):
    times = pd.date_range("2026-03-21", periods=60, freq="min")
    (tmp_path / "data").mkdir()
    expected, rows = {}, []
    for seed, (name, start) in enumerate({"m1": 10, "m2": 40}.items()):
        values = np.random.default_rng(seed).random(60)
        frame = pd.DataFrame({"ts": times, "flow": values}).sample(frac=1, random_state=seed)
        frame.to_csv(tmp_path / "data" / f"{name}.csv", index=False)
        rows += [(name, times[start], times[start + 4]), (name, times[59], None)]
        labels = np.isin(np.arange(60), [*range(start, start + 5), 59])
        expected[name] = vus_pr(labels, values, buffer=3)
    tickets = pd.DataFrame(rows, columns=["machine", "start", "end"])
    tickets.to_csv(tmp_path / "tickets.csv", index=False)
    text = (
        '[[series]]\nfolder = "data"\nlabels = "tickets.csv"\noptions = {OPTIONS}\n'
        '[[detectors]]\nname = "values"\n[[evaluate]]\nmeasures = ["vus_pr"]\nbuffer = 3\n'
    )
    options = '{key = "machine", value = "flow"}'
    summary = run_plan(parse_plan(text.replace("{OPTIONS}", options), base=tmp_path))
    assert any(note.startswith("intervals without an end") for note in summary.notes)
    table = Run(summary.folder).values()
    assert dict(zip(table["series"], table["value"], strict=True)) == expected
    with pytest.raises(InvalidInputError, match=r"must be a column of values; name it in `series"):
        run_plan(parse_plan(text.replace("{OPTIONS}", '{key = "machine"}'), base=tmp_path))

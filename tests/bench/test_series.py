"""Values follow every file that a series is read from, through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dask_cluster import scheduler

from vuskit import auc_pr
from vuskit.bench import Run, load_plan, run_plan
from vuskit.bench.series import SeriesSource, describe_series
from vuskit.store.store import Store
from vuskit.datasets.input_files import record_opened_files
from vuskit.engine import DaskExecutor, Limits

VUSKIT = [sys.executable, "-c", "from vuskit.cli.main import run; run()"]
N = 40
VALUES = np.random.default_rng(3).random(N).round(6)
OWN_FORMAT = """
import functools, json
import numpy as np
from vuskit.datasets import Series, register_format

@functools.cache  # one file has the labels of all series
def truth(path):
    return json.loads(path.read_text())

@register_format(
    name="plain", title="plain", layout="*.plain", matches=lambda file: file.suffix == ".plain"
)
def read_plain(path):
    values = np.loadtxt(path)
    labels = np.zeros(len(values), dtype=bool)
    for place in truth(path.parent / "truth.json")[path.stem]:
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
    return np.roll(VALUES, sum(map(ord, name)))


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


@pytest.fixture(scope="module")
def cluster():
    with scheduler(1) as (file, _):
        yield file


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

    def edit_then_note(progress, outcomes):
        if progress.done == 0:
            write_labels(base, LATER)
        ended.extend(outcome for _, outcome in outcomes)

    with DaskExecutor(address=cluster, limits=Limits(seconds=300)) as dask:
        run_plan(load_plan(base / "bench.toml"), executor=dask, observer=edit_then_note)
        assert {outcome.error_type for outcome in ended} <= {"ChangedInputError", None}
        assert values_of(base / "bench-run").keys() == PLANTS.keys()
        run_plan(load_plan(base / "bench.toml"), executor=dask)
    later = {name: value for name, value in expected(LATER).items() if name not in ("a", "b")}
    assert values_of(base / "bench-run") == pytest.approx(later, abs=1e-12)


def test_a_format_that_keeps_labels_in_memory_is_reported(base):
    """In a notebook, where Python goes on after an edit."""
    script = """
import sys, pathlib
from test_input_files import LATER, write_labels
from vuskit.bench import Run, load_plan, run_plan
from vuskit.engine import InProcessExecutor
base = pathlib.Path(sys.argv[1])
run_plan(load_plan(base / "bench.toml"), executor=InProcessExecutor())
(base / "plain/a.plain").write_text((base / "plain/a.plain").read_text() + "0.5")
run_plan(load_plan(base / "bench.toml"), executor=InProcessExecutor())
write_labels(base, LATER)
run_plan(load_plan(base / "bench.toml"), executor=InProcessExecutor())
"""
    (base / "bench.toml").write_text(PLAN)
    paths = os.pathsep.join(map(str, Path(__file__).parents[:2]))
    done = subprocess.run(
        [sys.executable, "-c", script, str(base)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    last = done.stderr.splitlines()[-1]
    assert "format 'plain' must read" in last
    assert "truth.json again after it changed" in last
    refs = Store.read(base / "bench-run").known_series().values()
    plain = [ref for ref in refs if "plain" in ref.source.spec]
    assert len(plain) == 2
    assert all(str(base / "plain/truth.json") in ref.files for ref in plain)


def test_an_edit_that_keeps_size_and_time_is_noticed(base):
    path = base / "nab/labels/combined_windows.json"
    source = SeriesSource.file(base / "nab/g/art.csv", "nab", {})
    ref = describe_series(source)
    assert ref.changed_files() == ()
    state = path.stat()
    path.write_text(path.read_text().replace(":05:", ":06:"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert path.stat().st_size == state.st_size
    assert ref.changed_files() == (str(path),)
    assert describe_series(source).hash != ref.hash


def test_companions_of_formats(base):
    (base / "nasa/train").mkdir()
    np.save(base / "nasa/train/T-1.npy", data_of("T-1"))
    options = {"with_train": True}
    ref = describe_series(SeriesSource.file(base / "nasa/test/T-1.npy", "telemanom", options))
    names = {os.path.relpath(path, base / "nasa") for path in ref.files}
    assert names == {"test/T-1.npy", "train/T-1.npy", "labeled_anomalies.csv"}
    (base / "nasa/labeled_anomalies.csv").unlink()
    assert len(ref.changed_files()) == 1


def test_opened_files_are_recorded_without_code_and_outputs(tmp_path):
    (tmp_path / "labels.txt").write_text("1")
    with record_opened_files() as found:
        import ensurepip

        open(ensurepip.__file__).close()
        open(tmp_path / "labels.txt").close()
        (tmp_path / "cache.txt").write_text("2")
        (tmp_path / "cache.txt").read_text()
        os.listdir(tmp_path)
        with pytest.raises(FileNotFoundError):
            (tmp_path / "nearer.txt").read_text()
    open(tmp_path / "later.txt", "w").close()
    assert {os.path.basename(path) for path in found} == {"labels.txt", "nearer.txt"}
    assert found[str(tmp_path / "nearer.txt")] == "missing"

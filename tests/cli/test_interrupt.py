"""Ctrl-C while a command works: exit code 130, a sentence, nothing half written."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading

import numpy as np
import pandas as pd
import pytest
from cli.terminal import COMMAND, holding, on_terminal
from waiting import PATIENCE, eventually

from vuskit.engine import Status
from vuskit.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are other ones there")
PLAN = """
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
seed = [1, 2, 3]
[[detectors]]
name = "slow:slow"
[[evaluate]]
measures = ["auc_pr"]
buffer = 5
[executor]
workers = 1
"""
SLOW = """
import time

def slow(values):
    open("started", "w").close()
    time.sleep(600)
"""


def start(folder, command, arguments):
    return subprocess.Popen(
        [*command, *arguments],
        cwd=folder,
        env={**os.environ, "VUSKIT_CACHE": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def interrupted(folder, command, arguments, ready=None):
    """Start a command, press Ctrl-C when it is ready, and return its messages."""
    process = start(folder, command, arguments)
    ready = ready or (folder / "held").exists
    try:
        assert eventually(lambda: ready() or process.poll() is not None), "it does not begin"
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    assert "topped" in err.splitlines()[-1]
    assert err.count("topped") == 1
    return err


@pytest.fixture
def scores_file(tmp_path):
    labels = np.arange(600) % 100 < 9
    scores = np.random.default_rng(0).random(600)
    frame = pd.DataFrame({"label": labels.astype(int), "A": scores})
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


@pytest.mark.parametrize("place", ["evaluate_many", "EvaluationReport"])
def test_evaluate(tmp_path, scores_file, place):
    page = tmp_path / "page.html"
    page.write_text("the page of yesterday")
    arguments = ["evaluate", scores_file.name, "--html", "page.html"]
    err = interrupted(tmp_path, holding(f"vuskit.report.one_series:{place}"), arguments)
    assert err.splitlines()[-1] == "vuskit: stopped"
    assert page.read_text() == "the page of yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "page.html", "scores.csv"]


@pytest.mark.parametrize(
    ("processes", "place"),
    [("1", "InputEvaluator.evaluate"), ("2", "_evaluate_here")],
)
def test_evaluate_several_in_memory(tmp_path, scores_file, processes, place):
    """With two processes, the key is pressed while they start."""
    other = tmp_path / "other.csv"
    other.write_bytes(scores_file.read_bytes())
    arguments = ["evaluate", scores_file.name, other.name, "--processes", processes]
    err = interrupted(tmp_path, holding(f"vuskit.bench.in_memory:{place}"), arguments)
    assert err.splitlines()[-1] == "vuskit: stopped"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "other.csv", "scores.csv"]


def test_a_result_that_is_written_is_completed(tmp_path, scores_file):
    arguments = ["evaluate", scores_file.name, "--csv", "--html", "page.html"]
    process = start(tmp_path, holding("vuskit.cli._output:begin_result"), arguments)
    try:
        assert eventually((tmp_path / "held").exists), "it does not begin"
        process.send_signal(signal.SIGINT)
        (tmp_path / "go").touch()
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert len(out.splitlines()) == 14
    assert err.endswith("page: page.html\n")
    assert (tmp_path / "page.html").exists()


def test_bench_run_says_how_to_go_on(tmp_path):
    (tmp_path / "bench.toml").write_text(PLAN)
    (tmp_path / "slow.py").write_text(SLOW)
    err = interrupted(tmp_path, COMMAND, ["bench", "run"], (tmp_path / "started").exists)
    assert err.splitlines()[-1] == (
        f"Stopped. Finished work is in {tmp_path / 'bench-run'}. "
        "Resume with: vuskit bench run bench.toml"
    )


def test_bench_verify(tmp_path):
    (tmp_path / "bench.toml").write_text(PLAN.replace("slow:slow", "values"))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*COMMAND, "bench", "run"], cwd=tmp_path, check=True, **quiet)
    # All three files are checked: it is a value that is computed when the key is pressed.
    held = holding("vuskit.cli._progress:ProgressBar.__call__", 4)
    shown = on_terminal(tmp_path, "bench", "verify", press_at="4/6", command=held)
    assert (shown.code, shown.out) == (130, "")
    assert shown.terminal.rstrip().endswith("vuskit: stopped")
    assert "Traceback" not in shown.terminal


def test_compare(tmp_path):
    rng = np.random.default_rng(0)
    places = pd.MultiIndex.from_product([range(9), list("abc")])
    table = pd.DataFrame(rng.random((len(places), 2)), columns=["vus_pr", "auc_pr"])
    table["series"], table["detector"] = places.get_level_values(0), places.get_level_values(1)
    table.to_parquet(tmp_path / "results.parquet")
    arguments = ["compare", "results.parquet", "--figure", "ranks.svg", "--output", "out"]
    err = interrupted(tmp_path, holding("vuskit.statistics.comparison:compare_columns"), arguments)
    assert err.splitlines()[-1] == "vuskit: stopped"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "results.parquet"]


def test_data_fetch_keeps_no_half_data_set(tmp_path):
    asked, over = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def stall():
            server.settimeout(PATIENCE)
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nPK")
                asked.set()
                over.wait(PATIENCE)

        thread = threading.Thread(target=stall)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/plant.zip"
        arguments = ["data", "fetch", "Plant", "--url", url, "--sha256", "0" * 64]
        try:
            err = interrupted(tmp_path, COMMAND, arguments, asked.is_set)
        finally:
            over.set()
            thread.join()
    assert err.splitlines()[-1] == "vuskit: stopped"
    assert not (tmp_path / "cache" / "Plant").exists()


@pytest.mark.parametrize(
    ("line", "place", "store"),
    [
        ("study all saved --processes 1 --output out", "vuskit.store:Store.save", "series"),
        ("study robustness saved --processes 2 --output out", "vuskit.store:Store.save", "series"),
        ("study timing --only opt --output out", "vuskit.studies.timing.study:_Work.add", "runs"),
        ("evaluate saved --buffer 9 --output out", "vuskit.store:Store.save", ""),
        ("paper saved --only fig-11 --output out", "vuskit.store:Store.save", "work/results"),
        ("demo --output out --quick", "vuskit.store:Store.save", "benchmark"),
    ],
    ids=lambda value: " ".join(value.split()[:2]) if " " in value else None,
)
def test_long_commands_say_how_to_go_on(tmp_path, line, place, store):
    from studies.scored import make_several, write_scored

    (tmp_path / "saved").mkdir()
    for scored in make_several():
        write_scored(tmp_path / "saved", scored)
    err = interrupted(tmp_path, holding(place), line.split())
    assert err.splitlines()[-1].endswith(f"Resume with: vuskit {line}")
    with Store.read(tmp_path / "out" / store) as found:
        assert set(found.statuses().values()) == {Status.OK}
    left = {path.name for path in (tmp_path / "out").rglob(".vuskit-*")}
    assert left <= {".vuskit-lock"}

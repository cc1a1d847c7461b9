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
from cli.terminal import COMMAND, on_terminal
from waiting import PATIENCE, eventually

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


def interrupted(folder, arguments, ready):
    """Start a command, press Ctrl-C when it is ready, and say how it ended."""
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "VUSKIT_NUMBA": "0", "VUSKIT_CACHE": str(folder / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert eventually(lambda: ready(process)), "it does not begin"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    return err


def test_evaluate(tmp_path):
    rng = np.random.default_rng(0)
    labels = (rng.random(100_000) < 0.01).astype(int)
    pd.DataFrame({"label": labels, "A": rng.random(100_000)}).to_csv(
        tmp_path / "scores.csv", index=False
    )
    page = tmp_path / "page.html"
    page.write_text("the page of yesterday")
    arguments = ["evaluate", "scores.csv", "--chance", "5000", "--html", "page.html"]
    # The buffer is told when everything is read and the measures begin.
    err = interrupted(tmp_path, arguments, lambda process: "buffer" in process.stderr.readline())
    assert err.splitlines()[-1] == "vuskit: stopped"
    assert page.read_text() == "the page of yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "scores.csv"]


def test_bench_run_says_how_to_go_on(tmp_path):
    (tmp_path / "bench.toml").write_text(PLAN)
    (tmp_path / "slow.py").write_text(SLOW)
    started = tmp_path / "started"
    err = interrupted(tmp_path, ["bench", "run"], lambda _: started.exists())
    assert "Stopped. Finished work is in" in err
    assert "Resume with: vuskit bench run bench.toml" in err


def test_bench_verify(tmp_path):
    plan = PLAN.replace("slow:slow", "values").replace("1500", "200000")
    plan = plan.replace("auc_pr", "vus_pr").replace("buffer = 5", "buffer = 2000")
    (tmp_path / "bench.toml").write_text(plan)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*COMMAND, "bench", "run"], cwd=tmp_path, check=True, **quiet)
    # All three files are checked: it is a value that is computed when the key is pressed.
    shown = on_terminal(tmp_path, "bench", "verify", press_at="[3-5]/6")
    assert (shown.code, shown.out) == (130, "")
    assert shown.terminal.rstrip().endswith("vuskit: stopped")
    assert "Traceback" not in shown.terminal


def test_compare(tmp_path):
    rng = np.random.default_rng(0)
    places = pd.MultiIndex.from_product([range(3000), map(str, range(60))])
    table = pd.DataFrame(rng.random((len(places), 2)), columns=["vus_pr", "auc_pr"])
    table["series"], table["detector"] = places.get_level_values(0), places.get_level_values(1)
    table.to_parquet(tmp_path / "results.parquet")
    arguments = ["compare", "results.parquet", "--figure", "ranks.svg", "--output", "out"]
    # The measure is told when the table is read and the tests begin.
    err = interrupted(tmp_path, arguments, lambda process: "by vus" in process.stderr.readline())
    assert err == "vuskit: stopped\n"
    assert [path.name for path in tmp_path.iterdir()] == ["results.parquet"]


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
        arguments = ["data", "fetch", "Plant", "--url", url, "--sha256", "0" * 64, "--allow-http"]
        try:
            err = interrupted(tmp_path, arguments, lambda _: asked.is_set())
        finally:
            over.set()
            thread.join()
    assert err.splitlines()[-1] == "vuskit: stopped"
    assert not (tmp_path / "cache" / "Plant").exists()


def test_study_summary_says_how_to_go_on(tmp_path):
    from studies.scored import make_several, write_scored

    (tmp_path / "saved").mkdir()
    for scored in make_several():
        write_scored(tmp_path / "saved", scored)
    arguments = ["study", "summary", "saved", "--processes", "1", "--output", "out"]
    done = tmp_path / "out" / "series"
    err = interrupted(tmp_path, arguments, lambda _: any(done.glob("[!.]*.npz")))
    assert "Resume with: vuskit study summary saved" in err
    assert not list((tmp_path / "out").glob(".vuskit-*"))

"""``vuskit bench`` as a user meets it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from cli.terminal import on_terminal
from report.runs import run_inline
from typer.testing import CliRunner

import vuskit
from vuskit.bench import (
    Run,
    load_plan,
)
from vuskit.cli import main
from vuskit.cli.app import app
from vuskit.datasets.synthetic import three_scores
from vuskit.errors import VuskitError
from vuskit.store.store import Store

PLAN = """
[[series]]
family = "ecg"
n = 1500
n_anomalies = 3
seed = [1, 2]
[[detectors]]
name = "values"
[[detectors]]
name = "picky:picky"
[[evaluate]]
measures = ["auc_pr", "vus_pr"]
buffer = "median_anomaly"
[executor]
workers = 1
"""
PICKY = """
import pathlib
import time

def picky(values):
    if not (pathlib.Path(__file__).parent / "mended").exists():
        raise RuntimeError("not mended yet")
    while (pathlib.Path(__file__).parent / "slowly").exists():
        time.sleep(0.05)
    return values
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a plan, one of whose detectors fails until it is mended."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "picky", raising=False)
    (tmp_path / "bench.toml").write_text(PLAN)
    (tmp_path / "picky.py").write_text(PICKY)
    return tmp_path


def invoke(*arguments):
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_a_run_from_plan_to_table(folder):
    planned = invoke("plan")
    assert "2 series, 0 jobs already done; local executor" in planned.output
    assert "once" not in planned.output  # with one seed everything runs once
    assert re.search(r"scores\D+4\D+4\D", planned.output)

    first = invoke("run", "--plain")
    assert first.exit_code == 3
    assert "6 of 6 jobs done, 2 failed" in first.output
    assert first.output.count("ERROR score picky:picky on synthetic") == 1  # one line per cause
    assert "1 more job failed with ERROR: RuntimeError: not mended yet\n" in first.output

    status = invoke("status")
    assert "Run 1: finished" in status.output
    assert "4 values" in status.output
    assert "more failed" not in status.output
    assert re.search(r"ERROR score \S+ on \S+ and 1 other job: RuntimeError: not", status.output)
    shown = invoke("status", "--failures", 0).output
    assert "2 more failed; list them with --failures 2\n" in shown
    command = re.search(r"vuskit bench run-job (\S+) (\w+)", status.output)
    failed = invoke("run-job", command[1], command[2], "--allow-code")
    assert (failed.exit_code, failed.stdout) == (3, "")
    assert "Traceback" in failed.stderr
    assert "RuntimeError: not mended yet" in failed.stderr

    (folder / "mended").touch()
    assert (
        "1,500 scores from" in invoke("run-job", command[1], command[2][:10], "--allow-code").output
    )
    again = invoke("retry", "--status", "error", "--plain")
    assert again.exit_code == 0
    assert "2 jobs with ERROR to run again" in again.output
    assert re.search(
        r"^4 jobs run, 0 failed, \d+s; the run has 8 of 8 jobs done: .*bench-run$",
        again.output,
        re.MULTILINE,
    )
    nothing = invoke("run", "--plain")
    assert "nothing left to run; the run has 8 of 8 jobs done:" in nothing.stdout
    assert "in earlier runs" not in nothing.stderr

    assert "8 rows: out/all.csv" in invoke("export", "-o", "out/all.csv").output
    assert "2 rows: board.parquet" in (
        invoke("export", "bench-run", "-o", "board.parquet", "--shape", "leaderboard").output
    )
    assert "4 score files, 8 results, 8 values recomputed, 0 problems" in invoke("verify").output


def test_the_plan_shows_the_series_or_the_data_sets(folder):
    assert re.search(r"series +points +channels +anomalies\nsynthetic/ecg\S+ +1,500 +1 +3\n",
                     invoke("plan").stdout)  # fmt: skip
    (folder / "bench.toml").write_text(PLAN.replace("[1, 2]", str(list(range(20)))))
    assert re.search(r"data set +series +points +channels +anomalies\n"
                     r"synthetic +20 +1,500 +1 +3\n", invoke("plan").stdout)  # fmt: skip
    told = json.loads(invoke("plan", "--json").stdout)
    assert len(told["data"]) == told["series"] == 20
    assert set(told["data"][0]) == {
        "dataset", "name", "points", "channels", "anomalies", "missing"
    }  # fmt: skip


def test_new_failures_are_not_ignored_and_are_in_the_table(folder):
    assert invoke("run", "--plain", "--new-failures-only").exit_code == 3
    invoke("export", "-o", "all.csv")
    table = pd.read_csv(folder / "all.csv")
    failed = table["status"] == "ERROR"
    assert failed.any()
    assert table.loc[failed, "message"].str.contains("RuntimeError: not mended yet").all()
    assert table.loc[~failed, "message"].isna().all()


def test_a_run_that_has_failed_jobs_says_so_again(folder):
    assert invoke("run", "--plain").exit_code == 3
    again = invoke("run", "--plain")
    assert again.exit_code == 3
    assert "nothing left to run; the run has 6 of 6 jobs done" in again.stdout
    assert "Failed: 2 in earlier runs, 0 in this run\nSee: vuskit bench status" in again.stderr
    assert "retry with: vuskit bench retry bench.toml --status ERROR\n" in again.stderr
    assert "Next: vuskit bench leaderboard" in again.stderr
    ignored = invoke("run", "--plain", "--new-failures-only")
    assert ignored.exit_code == 0
    assert "Failed: 2 in earlier runs" in ignored.stderr
    found = json.loads(invoke("run", "--plain", "--json").stdout)
    progress = found["progress"]
    assert (progress["failed_before"], progress["before"], progress["counts"]) == (2, 6, {})


def test_some_of_the_failures_are_run_again(folder):
    (folder / "choosy.py").write_text(PICKY.replace("picky", "choosy"))
    (folder / "bench.toml").write_text(PLAN + '[[detectors]]\nname = "choosy:choosy"\n')
    invoke("run", "--plain")
    (folder / "mended").touch()
    with pytest.raises(VuskitError, match=r"`--detector` must be one of .*; did you mean 'picky"):
        invoke("retry", "--detector", "picky")
    with pytest.raises(VuskitError, match=r"`--series` must match an available name \(.*seed2"):
        invoke("retry", "--series", "*seed3")
    none = invoke("retry", "--status", "TIMEOUT")
    assert "0 jobs with TIMEOUT" in none.stderr
    assert none.exit_code == 3  # others still fail
    again = invoke("retry", "--detector", "picky:picky", "--series", "*seed2", "--plain")
    assert "1 jobs with ERROR to run again" in again.stderr
    assert again.exit_code == 3  # there are others
    found = json.loads(invoke("status", "--json").stdout)
    left = sorted((one["detector"], one["series"][-5:]) for one in found["failures"])
    expected = [("choosy:choosy", "seed1"), ("choosy:choosy", "seed2"), ("picky:picky", "seed1")]
    assert left == expected
    assert "2 jobs with ERROR" in invoke("retry", "--series", "synthetic/*seed1", "--plain").stderr
    shown = invoke("status").stdout
    assert re.search(r"^detector +jobs +OK +ERROR", shown, re.MULTILINE)
    assert re.search(r"^choosy:choosy +score +1 +1 +0 +0 +0 +0$", shown, re.MULTILINE)
    assert not re.search(r"^(Values|picky:picky) ", shown, re.MULTILINE)  # all went well


def test_the_leaderboard_is_shown_with_the_best_marked_and_whom_it_leaves_out(folder):
    (folder / "bench.toml").write_text(PLAN + '[[detectors]]\nname = "random"\n')
    invoke("run", "--plain")
    shown = invoke("leaderboard").stdout
    assert shown.startswith("VUS-PR, AUC-PR of 3 detectors: mean ± standard deviation over the ser")
    assert re.search(r"^detector +VUS-PR +AUC-PR *$", shown, re.MULTILINE)
    rows = json.loads(invoke("export", "--shape", "leaderboard", "--json").stdout)
    best = max(rows, key=lambda row: row["auc_pr"] or 0)
    assert re.search(rf"^{best['detector']} .* {best['auc_pr']:.3f}\*", shown, re.MULTILINE)
    assert "Without a value, of 2 series: picky:picky: 2 ERROR." in shown
    latex = invoke("leaderboard", "--latex").stdout
    assert latex.startswith("\\begin{table}\n\\centering\n\\caption{VUS-PR, AUC-PR of 3 detectors")
    assert "\ndetector & VUS-PR & AUC-PR \\\\\n" in latex
    assert f" & \\textbf{{{best['auc_pr']:.3f}}} {{\\scriptsize $\\pm$" in latex
    one = invoke("leaderboard", "--measure", "AUC-PR", "--spread", "none", "--markdown").stdout
    assert "| detector | AUC-PR | rank |" in one
    page = invoke("leaderboard", "--html", "board.html", "--chance", "2")
    assert "\nchance " in page.stdout
    assert "<td>chance</td>" in (folder / "board.html").read_text()
    with pytest.raises(VuskitError, match="`--unit` must be one of 'series', 'dataset', got 'set'"):
        invoke("leaderboard", "--unit", "set")
    with pytest.raises(VuskitError, match="`--unit` must be 'series' for shape 'values'"):
        invoke("export", "--unit", "dataset")
    with pytest.raises(VuskitError, match=r"`--output` must be a file that ends in \.csv or "):
        invoke("export", "-o", "board.txt")


def test_a_leaderboard_without_values_says_so(folder):
    Store(folder / "bench-run").close()
    with pytest.raises(VuskitError, match="`folder` must hold a benchmark run"):
        invoke("leaderboard", "bench-run")


def test_a_leaderboard_needs_a_series_that_all_detectors_share(folder):
    plan = PLAN.replace('name = "picky:picky"', 'name = "random"')
    plan += '[[scores]]\nfolder = "saved"\n'
    (folder / "bench.toml").write_text(plan)
    (folder / "saved").mkdir()
    three_scores().to_frame().to_csv(folder / "saved" / "other.csv", index=False)
    invoke("run", "--plain")
    with pytest.raises(VuskitError, match=r"all detectors, got none.* late 1.* Random 2"):
        invoke("leaderboard")
    with pytest.raises(VuskitError, match=r"all detectors, got none for"):
        invoke("export", "--shape", "leaderboard")


def test_imported_scores_need_other_labels_than_detectors(folder):
    plan = PLAN.replace('name = "picky:picky"', 'name = "random"\nlabel = "late"')
    (folder / "bench.toml").write_text(plan + '[[scores]]\nfolder = "saved"\n')
    (folder / "saved").mkdir()
    three_scores().to_frame().to_csv(folder / "saved" / "other.csv", index=False)
    with pytest.raises(VuskitError, match=r"`scores\[0\]` must not use labels .* 'late' in both"):
        invoke("plan")


def test_a_plan_is_looked_at_without_writing(folder):
    invoke("plan")
    # Python itself may cache the bytecode of the detector's module.
    names = {path.name for path in folder.iterdir()} - {"__pycache__"}
    assert names == {"bench.toml", "picky.py"}
    invoke("run", "--plain")
    with Store(folder / "bench-run"):  # as while it runs
        assert "2 series, 6 jobs already done" in invoke("plan").output
    # A reader of a write-ahead log makes two files of its own beside it.
    files = [path for path in (folder / "bench-run").rglob("*") if path.is_file()]
    before = [(path, path.stat().st_mtime_ns) for path in files]
    assert "2 series, 6 jobs already done" in invoke("plan").output
    invoke("plan", "--reread")
    assert [(path, path.stat().st_mtime_ns) for path in files] == before


def test_a_plan_says_which_detectors_run_once(folder):
    text = PLAN + '[[detectors]]\nname = "random"\n'
    (folder / "bench.toml").write_text("seeds = [0, 1]\n" + text)
    shown = invoke("plan").stdout
    assert "\n  Random\n  Values, once\n  picky:picky, once\n" in shown
    assert "\nSeeds: 0, 1; detectors marked once do not depend on the seed\n" in shown
    assert re.search(r"scores\D+8\D+8\D", shown)  # 2 series x (1 + 1 + 2)
    found = json.loads(invoke("plan", "--json").stdout)
    assert (found["seeds"], found["without_seed"]) == ([0, 1], ["Values", "picky:picky"])


def test_a_long_list_of_measures_is_wrapped(folder, monkeypatch):
    text = PLAN.replace('["auc_pr", "vus_pr"]', '"paper"')
    (folder / "bench.toml").write_text(text)
    narrow = {"COLUMNS": "80"}
    lines = CliRunner().invoke(app, ["bench", "plan"], env=narrow).stdout.splitlines()
    listed = [line for line in lines if "executor" not in line]  # which ends with a path
    assert max(map(len, listed)) <= 80
    assert any(line.startswith("Measures: Precision, Recall, F,") for line in listed)


def test_a_missing_plan_or_run_is_told_in_a_sentence(folder):
    (folder / "bench.toml").unlink()
    for command in ("plan", "run", "status", "retry", "export", "verify", "leaderboard"):
        with pytest.raises(VuskitError) as told:
            invoke(command)
        assert str(told.value) == (
            "`plan` must be a file that exists, got 'bench.toml'; "
            "write one with: vuskit bench init bench.toml"
        )
    with pytest.raises(VuskitError, match="nowhere: there is no such file or folder"):
        invoke("status", "nowhere")
    with pytest.raises(VuskitError, match="`plan` must be a readable TOML file"):
        invoke("run", folder)
    with pytest.raises(VuskitError, match="`folder` must hold a benchmark run"):
        invoke("plan", folder)


def test_a_run_that_was_killed_does_not_look_as_if_it_ran(folder):
    invoke("run", "--plain")
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with contextlib.closing(sqlite3.connect(folder / "bench-run" / "results.sqlite")) as connection:
        connection.execute("UPDATE starts SET state = 'running', pid = ?", (child.pid,))
        connection.commit()
        assert "Run 1: killed, started" in invoke("status").stdout
        connection.execute("UPDATE starts SET pid = ?", (os.getpid(),))
        connection.commit()
        assert "Run 1: running, started" in invoke("status").stdout
        connection.execute("UPDATE starts SET host = 'elsewhere', pid = ?", (child.pid,))
        connection.commit()
        assert "Run 1: running, started" in invoke("status").stdout


def test_verify_ends_with_an_error_where_something_is_wrong(folder):
    invoke("run", "--plain")
    next((folder / "bench-run").rglob("*.npy")).write_bytes(b"rubbish")
    result = invoke("verify")
    assert result.exit_code == 4
    assert "must hold the scores of the run, got: " in result.output
    assert "1 jobs to run again" in invoke("verify", "--repair").output
    assert "6 of 6 jobs done" in invoke("run", "--plain").output
    assert "0 problems" in invoke("verify").output


DAMAGES = ["truncated", "middle", "rubbish", "starts", "results", "planned", "measures"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_database_is_told_in_a_sentence(folder, capsys, monkeypatch, damage):
    (folder / "bench.toml").write_text(PLAN.replace("picky:picky", "random"))
    run_inline(load_plan(folder / "bench.toml"))
    database = folder / "bench-run" / "results.sqlite"
    data = bytearray(database.read_bytes())
    if damage == "truncated":
        del data[len(data) // 2 :]
    elif damage == "middle":
        data[4096:-4096] = b"Z" * (len(data) - 8192)
    elif damage == "rubbish":
        data[:100] = b"Z" * 100
    else:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            ((page,),) = connection.execute(
                "SELECT rootpage FROM sqlite_master WHERE name = ?", (damage,)
            )
            ((size,),) = connection.execute("PRAGMA page_size")
        data[(page - 1) * size : page * size] = b"Z" * size
    database.write_bytes(data)
    status = [] if damage == "measures" else [["status"], ["status", "bench-run"]]
    for line in (*status, ["export"], ["leaderboard"], ["plan"], ["run", "--plain"], ["verify"]):
        monkeypatch.setattr(sys, "argv", ["vuskit", "bench", *line])
        with pytest.raises(SystemExit) as ended:
            main.run()
        printed = capsys.readouterr()
        if line == ["verify"] and ended.value.code == 4:
            assert "database: " in printed.out
            continue
        if line[0] in ("plan", "run") and ended.value.code == 0:
            continue  # these tables are written, not read
        assert ended.value.code == 2, (line, printed)
        last = printed.err.splitlines()[-1]
        assert last.startswith("vuskit: ")
        assert f"{database.name} must be" in last
        assert "got a damaged file: " in last
        assert last.endswith("; restore a copy, or remove it and run the plan again")
        assert "Traceback" not in printed.err


def test_init_writes_a_plan_once(folder):
    (folder / "bench.toml").unlink()
    assert "Next: vuskit bench plan bench.toml" in invoke("init").output
    assert "8 series" in invoke("plan").output
    with pytest.raises(VuskitError, match="must be a new file"):
        invoke("init")
    assert invoke("init", "--force").exit_code == 0


@pytest.mark.usefixtures("folder")
def test_mistakes_are_told_in_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["vuskit", "bench", "retry", "--status", "eror"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "`--status` must be one of 'ERROR', 'TIMEOUT', 'OOM', 'KILLED', 'SKIPPED'" in error
    assert "Traceback" not in error


def test_a_terminal_gets_a_bar_with_rate_and_rest(folder):
    (folder / "mended").touch()
    slowly = folder / "slowly"
    slowly.touch()
    # What is running is shown, however long it takes to be drawn.
    running = "picky:picky on synthetic/"
    shown = on_terminal(folder, "bench", "run", press_at=running, press=lambda _: slowly.unlink())
    assert shown.code == 0
    assert "jobs/min" in shown.terminal
    assert "0 failed" in shown.terminal
    assert running in shown.terminal
    assert shown.out.startswith("8 of 8 jobs done, 0 failed")


def test_verify_shows_a_bar_on_a_terminal_only(folder):
    invoke("run", "--plain")
    assert invoke("verify").stderr == ""
    shown = on_terminal(folder, "bench", "verify")
    assert shown.code == 0
    assert "4/4 checking" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.terminal)
    assert shown.out == "2 score files, 6 results, 4 values recomputed, 0 problems\n"


LARGE_PLAN = """
[[series]]
folder = "data"
[[scores]]
folder = "mine"
pattern = "{detector}-{series}.npy"
[[scores]]
folder = "texts"
pattern = "{detector}-{series}.csv"
[[detectors]]
name = "large:large"
[[detectors]]
name = "large:unreal"
[[detectors]]
name = "large:hidden"
[[evaluate]]
measures = ["auc_pr", "vus_pr"]
buffer = 4
[executor]
workers = 1
"""
LARGE = """
import numpy as np

def large(values):
    return 2**60 + values.astype(np.int64)

def unreal(values):
    return values + 0j

def hidden(values):
    return np.ma.array(values, mask=values == 3)
"""


def test_integers_that_floats_would_round(tmp_path, monkeypatch):
    """Scores of detectors keep their order; in files, such integers are errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench.toml").write_text(LARGE_PLAN)
    (tmp_path / "large.py").write_text(LARGE)
    for folder in ("data", "mine", "texts"):
        (tmp_path / folder).mkdir()
    labels = np.zeros(40, dtype=int)
    labels[10:14] = labels[30:33] = 1
    values = np.arange(40) * 7 % 40 + 20 * labels
    pd.DataFrame({"value": values, "label": labels}).to_csv("data/pump.csv", index=False)
    np.save("mine/signed-pump.npy", 2**60 + values)
    np.savetxt("texts/text-pump.csv", 2**60 + values, fmt="%d")

    assert invoke("run", "--plain").exit_code == 3
    table = Run("bench-run").table(shape="wide").set_index("detector")
    expected = vuskit.evaluate(labels, values, buffer=4, measures=["auc_pr", "vus_pr"])
    found = table.loc["large:large", list(expected)]
    assert dict(found) == pytest.approx(dict(expected), abs=1e-12)
    for name in ("signed", "text"):
        assert "must hold integers up to 2**53" in table.loc[name, "message"]
    told = invoke("status").output
    assert "must be real numbers, got" in told
    assert "must not be masked, got a masked value at index 29" in told

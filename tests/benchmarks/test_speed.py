"""The speed comparison: its series, calls, tables and worker; no test depends on a duration."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import speed
import speed_peers
import speed_report as report
from speed_peers import IMPLIED, OVER_LIMIT, recipes, run_worker
from speed_run import (
    GROWTHS,
    HEADLINE,
    OTHER_ROWS,
    ROWS,
    SCORES,
    SHORT,
    WIDE,
    WORST_ROWS,
    Effort,
    OtherWork,
    Series,
    calls_of,
    instruction_sets,
    interleave,
    measure_series,
    ratio,
)
from speed_worker import PEERS

from vuskit.intervals import event_bounds
from vuskit.kernels.backend import native_core

TINY = Series(500, 4, 10, 5)
ONCE = Effort(fewest=1, most=1, budget=0.0)
needs_core = pytest.mark.skipif(native_core() is None, reason="the native core is not in use")


def sampled(series, **seconds):
    return {"series": series, "set": "v4", "seconds": seconds, "other_cores": 0.01}


@pytest.mark.parametrize("scores", SCORES)
def test_series_has_the_anomalies_of_its_row(scores):
    series = TINY._replace(scores=scores)
    labels, values = series.load()
    starts, stops = event_bounds(np.flatnonzero(labels))
    assert (stops - starts).tolist() == [10] * 4
    assert (labels.dtype, values.dtype, values.size) == (np.int64, np.float64, 500)
    assert np.array_equal(values, series.load()[1])
    if scores == "missed event":
        assert (
            values[starts[0] : stops[0]].max() < np.delete(values, range(starts[0], stops[0])).min()
        )


@pytest.mark.parametrize(
    "series", [*ROWS, HEADLINE, *OTHER_ROWS, *WORST_ROWS, *itertools.chain(*GROWTHS.values())]
)
def test_anomalies_fit_the_series(series):
    assert series.anomalies * (series.length + 1) <= series.n + 1


@needs_core
@pytest.mark.parametrize("scores", ["uniform", "rounded"])
def test_all_calls_give_the_same_values(scores, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.delenv("VUSKIT_CORE", raising=False)
    calls = calls_of(TINY._replace(scores=scores))
    expected = list(calls["public"]().values())
    before = native_core().instruction_set()
    assert calls["kernel"]() == pytest.approx(expected, abs=1e-12)
    for name in ("numpy", *instruction_sets()):
        assert list(calls[name]().values()) == pytest.approx(expected, abs=1e-12)
    assert native_core().instruction_set() == before


@needs_core
def test_wrong_values_are_not_timed(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr("speed_run.kernel_call", lambda *_: lambda: (0.5, 0.5))
    with pytest.raises(SystemExit, match="kernel must give"):
        measure_series(TINY, ONCE, ("sk", "kernel"))


def test_numpy_core_is_sampled_in_the_first_rounds_only():
    calls = dict.fromkeys(("sk", "public", "numpy"), lambda: None)
    samples = interleave(calls, Effort(fewest=2, most=5, budget=1e9))
    assert {name: len(found) for name, found in samples.items()} == {
        "sk": 5,
        "public": 5,
        "numpy": 2,
    }


def test_ratio_is_the_median_over_rounds():
    assert ratio({"a": [1.0, 9.0, 2.0], "b": [1.0, 3.0, 4.0, 5.0]}, "a", "b") == 1.0


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00421, "0.0042"), (0.0654, "0.065"), (1.236, "1.24"), (35.63, "35.6"), (606.2, "606")],
)
def test_number_text(value, text):
    assert report.number_text(value) == text


@pytest.mark.parametrize(
    ("n", "text"),
    [(10_000, "1e4"), (20_000, "2e4"), (12_500, "12500"), (64, "64"), (1_234_567, "1234567")],
)
def test_size_text(n, text):
    assert report.size_text(n) == text


def test_verdict():
    assert report.verdict(0.5, 0.5) == "met"
    assert report.verdict(0.6, 0.5) == "missed: 20 % above"
    assert report.verdict(0.6, None) == "-"


def test_short_series_are_judged_by_the_kernel():
    seconds = {"sk": [1.0], "sort": [0.1], "kernel": [0.004], "public": [0.03], "numpy": [0.2]}
    short = report.rows_table([sampled(SHORT, **seconds)]).splitlines()[-1]
    assert "0.008 (kernel) | met " in short
    long = report.rows_table([sampled(ROWS[2], **seconds)])
    assert "0.007 (evaluate) | missed: 329 % above |" in long
    rounded = report.rows_table([sampled(SHORT._replace(scores="rounded"), **seconds)])
    assert "target" not in rounded


def test_instruction_sets_have_their_own_targets():
    rows = [sampled(WIDE, sk=[1.0], sort=[0.1], base=[0.9], v3=[0.45], v4=[0.45])]
    verdicts = [line.split("|")[-2].strip() for line in report.sets_table(rows).splitlines()[2:]]
    assert verdicts == ["-", "met", "missed: 12 % above"]


def test_targets_in_seconds_follow_the_sort():
    short = {"sort": [4.8e-6], "kernel": [1e-5], "evaluate": [1.5e-4], "vus_pr": [9.5e-5]}
    claims = {
        "short": short,
        "frame": {"sort": [4.8e-6], "frame": [0.09], "read": [0.03]},
        "thirteen": {"both": [1.0], "thirteen": [1.2]},
        "many": {"single": [1.0], "many": [0.9]},
        "threads": {"1": [1.0], "2": [0.6]},
    }
    text = report.calls_table([{"claim": k, "seconds": v} for k, v in claims.items()])
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in text.splitlines()[2:-2]]
    assert rows == [
        ["150 µs", "160 µs", "met"],
        ["85.0 µs", "80.0 µs", "missed: 6 % above"],
        ["45.0 µs", "-", "-"],
        ["30.0 µs", "40.0 µs", "met"],
        ["1.20", "1.3", "met"],
        ["0.90", "-", "-"],
        ["0.60", "-", "-"],
    ]


def test_exponent_of_powers():
    sizes = [10, 100, 1000]
    assert report.exponent(sizes, [3.0 * n**1.5 for n in sizes]) == pytest.approx(1.5)


@pytest.mark.parametrize(("power", "verdict"), [(1.2, "met"), (1.5, "missed: 20 % above")])
def test_growth_is_judged_beside_the_sort(power, verdict):
    rows = []
    for direction, all_series in GROWTHS.items():
        for series in all_series:
            size = getattr(
                series, {"points": "n", "anomalies": "anomalies"}.get(direction, "buffer")
            )
            times = {"sort": size**1.1, "public": size**power, "numpy": float(size)}
            rows.append(
                {
                    "direction": direction,
                    "series": series,
                    "seconds": {k: [v] for k, v in times.items()},
                }
            )
    native, numpy = report.growth_table(rows).splitlines()[2:4]
    assert native.split("|")[-2].strip() == verdict
    assert numpy.split("|")[-2].strip() == "met"


def test_every_peer_has_a_recipe_and_every_recipe_a_peer():
    assert {peer.environment for peer in PEERS.values()} == set(recipes())


def test_worker_reports_a_missing_package():
    pytest.importorskip("sklearn")
    row = run_worker(Path(sys.executable), "aeon", TINY, limit=60.0)
    assert row["status"] == "failed"
    assert "No module named 'aeon'" in row["reason"]


WORKER = """
import json, signal, sys
sys.path.insert(0, {folder!r})
import speed_worker
speed_worker.PEERS["aeon"] = speed_worker.Peer("aeon", "aeon", "journal", lambda: call)
def call(labels, scores, buffer):
    {body}
speed_worker.main()
"""


def worker(tmp_path, monkeypatch, body):
    path = tmp_path / "worker.py"
    path.write_text(WORKER.format(folder=str(Path(speed.__file__).parent), body=body))
    monkeypatch.setattr(speed_peers, "WORKER", path)
    return run_worker(Path(sys.executable), "aeon", TINY, limit=0.1)


def test_worker_measures_beside_the_reference(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr(speed_peers, "PEER_ROUNDS", 2)
    row = worker(tmp_path, monkeypatch, "print('noise'); return 0.5, 0.25")
    assert row["status"] == "ok", row.get("reason")
    assert [len(row["seconds"][name]) for name in ("sk", "aeon")] == [2, 2]
    assert row["values"] == [0.5, 0.25]
    assert row["difference"] > 0


def test_call_over_the_limit_is_stopped(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    row = worker(tmp_path, monkeypatch, "\n    while labels.size == 500: pass\n    return 0, 0")
    assert row["status"] == OVER_LIMIT
    assert len(row["seconds"]["sk"]) == 1


def test_memory_error_is_reported(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    row = worker(tmp_path, monkeypatch, "raise MemoryError('too much')")
    assert (row["status"], row["reason"]) == ("memory", "MemoryError: too much")


def test_larger_series_of_a_peer_over_the_limit_are_skipped(tmp_path, monkeypatch):
    own = {"series": HEADLINE, "seconds": {"sk": [1.0], "public": [0.1]}}
    monkeypatch.setattr(speed_peers, "install", lambda *_: Path(sys.executable))
    monkeypatch.setattr(speed_peers, "measure_series", lambda series, *_: own | {"series": series})
    over = {"status": OVER_LIMIT, "seconds": {"sk": [0.5], "aeon": []}}
    monkeypatch.setattr(speed_peers, "run_worker", lambda *_: over)
    rows = list(speed_peers.measure_peers(ONCE, 60.0, tmp_path))
    found = [row["status"] for row in rows if row["peer"] == "aeon"]
    assert found == [OVER_LIMIT, OVER_LIMIT, IMPLIED, IMPLIED, IMPLIED]
    lines = report.peers_table(rows).splitlines()
    assert ">120" in lines[2]
    assert "over*" in lines[4]


def test_a_busy_machine_is_reported():
    assert report.load_text([{"other_cores": 0.05}]) == "Other processes used at most 0.05 cores."
    assert "again" in report.load_text([{"other_cores": 1.25}, {"other_cores": None}])


@needs_core
def test_stored_topics_update_the_blocks_of_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("VUSKIT_CORE", raising=False)
    rows = [sampled(HEADLINE, sk=[1.0], sort=[0.1], kernel=[0.1], public=[0.25], numpy=[0.5])]
    topic = speed.Topic("Title", lambda _: iter(rows), report.rows_table)
    monkeypatch.setitem(speed.TOPICS, "rows", topic)
    store, page = tmp_path / "folder" / "speed.json", tmp_path / "page.md"
    page.write_text("a\n<!-- speed rows -->\nold\n<!-- /speed rows -->\nb\n")
    speed.main(["--only", "rows", "--store", str(store), "--docs", str(page)])
    text = page.read_text()
    assert "| 2e4 | 10 x 100  | 100 | uniform | 1000" in text
    assert "old" not in text
    assert "instruction set v4" in text
    assert text.endswith("<!-- /speed rows -->\nb\n")
    capsys.readouterr()
    speed.main(["--show", "--store", str(store)])
    assert capsys.readouterr().out.strip() in f"Title\n\n{text.split('-->')[1][1:]}"
    assert json.loads(store.read_text())["rows"]["rows"][0]["seconds"]["sk"] == [1.0]


def test_unknown_topic_is_rejected(capsys):
    with pytest.raises(SystemExit):
        speed.parse(["--only", "rowz"])
    assert "`rowz` is not one of rows, sets" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the system does not count its work")
def test_other_work_counts_other_processes():
    own, other = OtherWork(), OtherWork()
    own._begin = (0.0, 10.0, 1.0)
    own._now = lambda: (2.0, 13.0, 4.0)  # three seconds busy, all of them ours
    assert own.cores() == 0
    other._begin = (0.0, 10.0, 1.0)
    other._now = lambda: (2.0, 13.0, 1.0)
    assert other.cores() == 1.5

"""Every kind of input gives the same values in evaluate, a plan, a study and explore."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from waiting import eventually

import vuskit
from vuskit.bench import Run, evaluate_inputs, run_plan
from vuskit.bench.plan import parse_plan
from vuskit.bench.run import open_scores
from vuskit.cli.evaluate import scores_entry
from vuskit.datasets import Columns, ScoredSeries, Series, open_inputs
from vuskit.datasets.columns import Reading
from vuskit.engine.run import ExecutorSettings, InProcessExecutor
from vuskit.explore.content import ScoresContent
from vuskit.studies import run_study

N, BUFFER = 300, 10
SETTINGS = vuskit.EvaluationSettings(buffer=BUFFER, volume_factor=1.0)
SERIES, DETECTORS = ("007", "7", "b c"), ("LOF", "PCA")


def made():
    """Frames with the columns of a series each."""
    rng = np.random.default_rng(3)
    frames = {}
    for number, name in enumerate(SERIES):
        label = np.zeros(N, dtype=int)
        label[50 + 30 * number : 60 + 30 * number] = label[200:215] = 1
        scores = {one: rng.random(N) + 0.5 * label for one in DETECTORS}
        frames[name] = pd.DataFrame({"value": rng.random(N), "label": label, **scores})
    return frames


def save_files(folder, frames):
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder, {}


def save_parquet(folder, frames):
    times = pd.date_range("2024-01-01", periods=N, freq="min")
    for name, frame in frames.items():
        table = frame.rename(columns={"label": "is_anomaly"}).assign(timestamp=times, row=range(N))
        table.to_parquet(folder / f"{name}.parquet")
    return f"{folder}/*.parquet", {}


def save_apart(folder, frames):
    for name, frame in frames.items():
        for one in DETECTORS:
            (folder / "scores" / one).mkdir(parents=True, exist_ok=True)
            np.save(folder / "scores" / one / f"{name}.npy", frame[one].to_numpy())
        (folder / "data").mkdir(exist_ok=True)
        frame[["value", "label"]].to_csv(folder / "data" / f"{name}.csv", index=False)
    return folder / "scores", {"labels": folder / "data"}


def long_table(frames):
    return pd.concat([frame.assign(machine=name) for name, frame in frames.items()])


def save_long(folder, frames):
    long_table(frames).to_csv(folder / "long.csv", index=False)
    return folder / "long.csv", {"columns": Columns(by="machine")}


def save_mixed(folder, frames):
    table = long_table(frames).sort_index(kind="stable")  # rows of a series lie apart
    table.to_parquet(folder / "mixed.parquet", index=False)
    return folder / "mixed.parquet", {"columns": Columns(by="machine")}


FILES = [save_files, save_parquet, save_apart, save_long, save_mixed]


def expected(frames):
    return {
        (name, one): vuskit.vus_pr(frame["label"], frame[one], buffer=BUFFER)
        for name, frame in frames.items()
        for one in DETECTORS
    }


def values_of(frame):
    rows = zip(frame["series"], frame["detector"], frame["value"], strict=True)
    return {(series, detector): value for series, detector, value in rows}


def in_memory(inputs):
    executor = ExecutorSettings("local", 1)
    return values_of(
        evaluate_inputs(inputs, measures="vus_pr", settings=SETTINGS, executor=executor).to_frame()
    )


@pytest.mark.parametrize("save", FILES)
def test_files_of_any_kind_give_the_same_values_everywhere(save, tmp_path):
    frames = made()
    source, reading = save(tmp_path, frames)
    wanted = expected(frames)
    inputs = open_scores(source, **reading)
    assert in_memory(inputs) == wanted

    named = vars(reading.get("columns", Columns()))
    labels = str(reading["labels"]) if "labels" in reading else None
    entry = scores_entry((str(source),), Reading(**named, labels=labels))
    plan = "\n".join(f"{key} = {json.dumps(one)}" for key, one in entry.items())
    evaluate = f'measures = ["vus_pr"]\nbuffer = {BUFFER}\nvolume_factor = 1.0'
    parsed = parse_plan(f"[[scores]]\n{plan}\n[[evaluate]]\n{evaluate}\n", base=tmp_path)
    summary = run_plan(parsed, executor=InProcessExecutor())
    assert values_of(Run(summary.folder).values()) == wanted

    found = run_study(
        "consistency", inputs, measures=["vus_pr"], buffer=BUFFER, volume_factor=1.0
    ).to_frame()
    assert values_of(found) == pytest.approx(wanted, abs=1e-12)

    content = ScoresContent(tmp_path, inputs, measures="vus_pr", settings=SETTINGS)
    content.start()
    assert eventually(lambda: len(content.report().series) == len(SERIES))
    report = content.report()
    content.stop()
    assert sorted(one.name for one in report.series) == sorted(SERIES)
    shown = report.to_frame()
    assert values_of(shown) == wanted


def test_frames_and_series_in_memory(tmp_path):
    frames = made()
    wanted = expected(frames)
    assert in_memory(open_inputs(long_table(frames), columns=Columns(by="machine"))) == wanted
    scored = [
        ScoredSeries(
            Series(name, "docs", frame["value"], frame["label"]),
            {one: frame[one] for one in DETECTORS},
        )
        for name, frame in frames.items()
    ]
    assert in_memory(open_inputs(scored)) == wanted

"""``vuskit evaluate`` on folders, patterns, separate labels, windows, long tables and stdin."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import vuskit

N = 120
rng = np.random.default_rng(3)
FEW = ("--measure", "auc_pr", "--buffer", "10", "--processes", "1")


@pytest.fixture
def scores_data():
    """Real scores; the tests are skipped where they are not at hand."""
    folder = os.environ.get("VUSKIT_TEST_DATA")
    if not folder:
        pytest.skip("VUSKIT_TEST_DATA is not set")
    return Path(folder) / "data" / "scores"


def frame_of(seed):
    own = np.random.default_rng(seed)
    label = np.zeros(N, dtype=int)
    label[20 + seed : 30 + seed] = 1
    return pd.DataFrame(
        {
            "value": own.random(N),
            "label": label,
            "LOF": own.random(N) + label,
            "PCA": own.random(N),
        }
    )


@pytest.fixture
def tables(tmp_path):
    """Four series of two data sets, each with two detectors."""
    frames = {}
    for seed, key in enumerate(("ECG/a", "ECG/b", "KPI/c", "KPI/d")):
        path = tmp_path / "scores" / f"{key}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        frames[key] = frame_of(seed)
        frames[key].to_csv(path, index=False)
    return frames


def expected_values(frames):
    return {
        (*key.split("/"), name): vuskit.auc_pr(frame["label"], frame[name])
        for key, frame in frames.items()
        for name in ("LOF", "PCA")
    }


def values_of(outcome):
    rows = pd.read_csv(io.StringIO(outcome.out))
    assert set(rows["measure"]) == {"auc_pr"}
    return {(row.dataset, str(row.series), row.detector): row.value for row in rows.itertuples()}


@pytest.mark.parametrize("sources", [["scores/*/*.csv"], ["scores/ECG", "scores/KPI"]])
def test_folders_and_patterns_give_the_values_of_the_library(command, tables, sources):
    outcome = command("evaluate", *sources, *FEW, "--csv")
    assert outcome.code == 0, outcome.err
    assert values_of(outcome) == pytest.approx(expected_values(tables), abs=1e-12)


def test_the_table_in_every_form(command, tables, tmp_path):
    arguments = ("evaluate", "scores", *FEW, "--output", "run")
    text = command(*arguments)
    assert text.code == 0, text.err
    assert text.out.splitlines()[3].split() == ["detector", "ECG", "KPI", "mean", "rank"]
    assert "\\toprule" in command(*arguments, "--latex").out
    assert "| detector |" in command(*arguments, "--markdown").out
    content = json.loads(command(*arguments, "--json").out)
    assert content["table"]
    assert len(content["values"]) == 8
    page = command(*arguments, "--html", "page.html")
    assert page.code == 0, page.err
    assert "LOF" in (tmp_path / "page.html").read_text()
    assert command("bench", "leaderboard", "run").code == 0


def test_labels_in_another_folder(command, tables, tmp_path):
    for key, frame in tables.items():
        dataset, series = key.split("/")
        for folder, columns in (("data", ["value", "label"]), ("only", ["label"])):
            path = tmp_path / folder / dataset / f"{series}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            frame[columns].to_parquet(path)
        for name in ("LOF", "PCA"):
            path = tmp_path / "npy" / name / f"{series}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, frame[name])
    for folder in ("data", "only"):
        outcome = command("evaluate", "npy", "--labels", folder, *FEW, "--csv")
        assert outcome.code == 0, outcome.err
        assert values_of(outcome) == pytest.approx(expected_values(tables), abs=1e-12)
        assert "is interpreted as {detector}/{series}" in outcome.err


def test_series_with_equal_labels_and_no_values_stay_apart(command, tmp_path):
    label = frame_of(0)["label"]
    np.save(tmp_path / "labels.npy", label)
    scores = {}
    for series in ("a", "b", "c"):
        (tmp_path / "gt").mkdir(exist_ok=True)
        (tmp_path / "scores").mkdir(exist_ok=True)
        np.save(tmp_path / "gt" / f"{series}.npy", label)
        scores[series] = rng.random(N)
        np.save(tmp_path / "scores" / f"{series}.npy", scores[series])
    outcome = command("evaluate", "scores", "--labels", "gt", *FEW, "--csv")
    assert outcome.code == 0, outcome.err
    assert values_of(outcome) == pytest.approx(
        {("gt", name, "scores"): vuskit.auc_pr(label, score) for name, score in scores.items()},
        abs=1e-12,
    ) or values_of(outcome) == pytest.approx(
        {("scores", name, "scores"): vuskit.auc_pr(label, s) for name, s in scores.items()},
        abs=1e-12,
    )


@pytest.mark.parametrize(
    ("many", "at"), [(True, "center"), (False, "center"), (False, "start"), (False, "end")]
)
def test_windows_are_aligned(command, tmp_path, many, at):
    window, names = 100, ("a", "b") if many else ("a",)
    expected = {}
    for place, name in enumerate(names):
        n = 400
        label = np.zeros(n, dtype=int)
        label[150 + place : 170] = 1
        score = rng.random(n - window + 1)
        for folder, array in (("scores", score), ("labels", label)):
            (tmp_path / folder).mkdir(exist_ok=True)
            np.save(tmp_path / folder / f"{name}.npy", array)
        expected[name] = vuskit.auc_pr(label, vuskit.align_scores(score, n, window=window, at=at))
    arguments = ("evaluate", "scores", "--labels", "labels", *FEW)
    if not many:
        arguments = ("evaluate", "scores/a.npy", "--labels", "labels/a.npy", *FEW)
    refused = command(*arguments)
    assert refused.code == (3 if many else 2)
    if many:
        assert "1 more job failed with ERROR: InvalidInputError: there must be" in refused.err
    advice = "windows of 100? Try --align center (or start, end) --window 100"
    assert f"99 fewer scores than labels; {advice}" in refused.err.replace("\n", " ")
    outcome = command(*arguments, "--align", at, "--window", str(window), "--csv")
    assert outcome.code == 0, outcome.err
    rows = pd.read_csv(io.StringIO(outcome.out))
    assert rows["value"].tolist() == pytest.approx(list(expected.values()), abs=1e-12)


def test_missing_ends_are_filled_and_told(command, tmp_path):
    frame = frame_of(0)
    frame.loc[:4, "LOF"] = np.nan
    frame.loc[N - 3 :, "LOF"] = np.nan
    frame.to_csv(tmp_path / "x.csv", index=False)
    outcome = command("evaluate", "x.csv", "--measure", "auc_pr", "--csv", "--score", "LOF")
    assert outcome.code == 0, outcome.err
    assert (
        "note: LOF has no score at the first 5 and the last 3 points, as is usual with windows; "
        "the nearest score fills them"
    ) in outcome.err
    filled = frame["LOF"].bfill().ffill()
    row = pd.read_csv(io.StringIO(outcome.out)).iloc[0]
    assert row["value"] == pytest.approx(vuskit.auc_pr(frame["label"], filled), abs=1e-12)


@pytest.mark.parametrize("more", [(), ("--output", "run"), ("--processes", "2")])
@pytest.mark.parametrize("source", ["folder", "long"])
def test_missing_scores_rank_lowest_on_request(command, tmp_path, more, source):
    frames = {"a": frame_of(0), "b": frame_of(1)}
    frames["a"].loc[[0, 7, 50], "LOF"] = np.nan
    frames["b"].loc[9, "LOF"] = np.nan
    if source == "folder":
        (tmp_path / "folder").mkdir()
        for name, frame in frames.items():
            frame.to_csv(tmp_path / "folder" / f"{name}.csv", index=False)
        arguments = ["folder", *FEW]
    else:
        table = pd.concat([frame.assign(key=name) for name, frame in frames.items()])
        table.to_csv(tmp_path / "long.csv", index=False)
        arguments = ["long.csv", "--by", "key", *FEW]
    refused = command("evaluate", *arguments, "--csv")
    assert refused.code == 3
    assert "or rank them below all others with --set nan=lowest" in refused.err.replace("\n", " ")
    outcome = command("evaluate", *arguments, "--set", "nan=lowest", "--csv", *more)
    assert outcome.code == 0, outcome.err
    values = pd.read_csv(io.StringIO(outcome.out)).set_index(["series", "detector", "measure"])
    for name, frame in frames.items():
        expected = vuskit.auc_pr(frame["label"], frame["LOF"], nan="lowest")
        assert values.loc[(name, "LOF", "auc_pr"), "value"] == pytest.approx(expected, abs=1e-12)
    told = outcome.err.replace("\n", " ")
    assert "note: 4 missing scores rank lowest: LOF" in told
    assert f"on {source}/a (3)" in told
    assert f"on {source}/b (1)" in told


def test_missing_scores_of_one_series_are_told(command, tmp_path):
    frame = frame_of(0)
    frame.loc[[0, 7], "LOF"] = np.nan
    frame.to_csv(tmp_path / "x.csv", index=False)
    one = ("--measure", "auc_pr", "--score", "LOF", "--set", "nan=lowest")
    arguments = ("evaluate", "x.csv", *one)
    outcome = command(*arguments, "--csv")
    assert "note: LOF: 2 missing scores rank lowest" in outcome.err
    value = pd.read_csv(io.StringIO(outcome.out))["value"][0]
    expected = vuskit.auc_pr(frame["label"], frame["LOF"], nan="lowest")
    assert value == pytest.approx(expected, abs=1e-12)
    frame.assign(LOF=np.nan).to_csv(tmp_path / "x.csv", index=False)
    assert "must hold at least one number, got none" in command(*arguments).err.replace("\n", " ")


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_table_gives_the_values_of_its_series(command, tables, tmp_path, shuffled):
    parts = [
        frame.assign(dataset=key.split("/")[0], series=key.split("/")[1])
        for key, frame in tables.items()
    ]
    long = pd.concat(parts, ignore_index=True)
    if shuffled:  # the rows of each series stay in order
        order = np.arange(len(long)).reshape(len(tables), N).T.ravel()
        long = long.iloc[order]
    long.to_parquet(tmp_path / "long.parquet")
    outcome = command(
        "evaluate", "long.parquet", "--by", "series", "--dataset", "dataset", *FEW, "--csv"
    )
    assert outcome.code == 0, outcome.err
    assert values_of(outcome) == pytest.approx(expected_values(tables), abs=1e-12)


@pytest.fixture
def with_training(tmp_path):
    """Two series whose names declare a training part of 15 points, and one without."""
    frames = {}
    names = ("001_A_id_1_Web_tr_15_1st_20", "002_A_id_2_Web_tr_15_1st_21", "plain")
    for seed, name in enumerate(names):
        frames[name] = frame_of(seed)
        frames[name].loc[:14, "PCA"] = 9.0  # false alarms, in the training part only
        (tmp_path / "A").mkdir(exist_ok=True)
        frames[name].to_csv(tmp_path / "A" / f"{name}.csv", index=False)
    return frames


def test_training_parts_of_several_series(command, with_training):
    def expected(length):
        return {
            ("A", key, name): vuskit.auc_pr(frame["label"][first:], frame[name][first:])
            for key, frame in with_training.items()
            for first in [length if length is not None else 15 * ("_tr_" in key)]
            for name in ("LOF", "PCA")
        }

    whole = command("evaluate", "A", *FEW, "--csv")
    assert values_of(whole) == pytest.approx(expected(0))
    told = " ".join(whole.err.split())
    assert "2 series start with training data, according to the file name, and this part" in told
    assert "`--train-length` auto leaves it out, 0 hides this note" in told
    auto = command("evaluate", "A", *FEW, "--csv", "--train-length", "auto")
    assert values_of(auto) == pytest.approx(expected(None))
    assert "1 series has no known training part and is evaluated in full: A/plain" in auto.err
    number = command("evaluate", "A", *FEW, "--csv", "--train-length", "10")
    assert values_of(number) == pytest.approx(expected(10))
    assert "training part" not in number.err
    assert "training data" not in number.err
    quiet = command("evaluate", "A", *FEW, "--csv", "--train-length", "none")
    assert quiet.out == whole.out
    assert "training data" not in quiet.err


def test_a_left_out_training_part_is_shown_packed_and_verified(command, with_training):
    options = (*FEW, "--train-length", "auto", "--output", "run", "--chance", "5")
    shown = command("evaluate", "A", *options, "--html", "page.html")
    assert shown.code == 0, shown.err
    assert "definition=journal, train_length=auto." in " ".join(shown.out.split())
    assert "chance" in shown.out
    assert command("bench", "pack", "run", "run.zip").code == 0
    checked = command("bench", "verify", "run.zip")
    assert checked.code == 0, checked.err
    ranked = command("compare", "run", "--buffers", "1,2", "--measure", "vus_pr")
    assert ranked.code != 0  # the run has no VUS-PR


def test_on_a_dask_cluster(command, tables, cluster):
    """The workers get series and scores with their tasks."""
    options = ("--dask", cluster, "--csv")
    outcome = command("evaluate", "scores", *FEW, *options)
    assert outcome.code == 0, outcome.err
    assert values_of(outcome) == pytest.approx(expected_values(tables), abs=1e-12)


@pytest.mark.parametrize("form", ["csv", "tsv", "npy", "parquet"])
def test_standard_input(command, tables, monkeypatch, form):
    frame, stream = tables["ECG/a"], io.BytesIO()
    if form == "npy":
        np.save(stream, frame[["label", "LOF"]].to_numpy())
    elif form == "parquet":
        frame[["label", "LOF"]].to_parquet(stream)
    else:
        separator = "," if form == "csv" else "\t"
        stream.write(frame[["label", "LOF"]].to_csv(index=False, sep=separator).encode())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stream.getvalue())))
    outcome = command("evaluate", "-", "--measure", "auc_pr", "--csv")
    assert outcome.code == 0, outcome.err
    value = pd.read_csv(io.StringIO(outcome.out))["value"][0]
    assert value == pytest.approx(vuskit.auc_pr(frame["label"], frame["LOF"]), abs=1e-12)


@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".parquet.gz", ".npz.gz", ".npy.gz"])
def test_more_formats(command, tables, tmp_path, suffix):
    import gzip

    frame, path = tables["ECG/a"], tmp_path / f"x{suffix}"
    columns = frame[["label", "LOF"]]
    stream = io.BytesIO()
    if suffix in (".arrow", ".feather"):
        columns.to_feather(stream, compression="uncompressed")
    elif suffix.startswith(".parquet"):
        columns.to_parquet(stream)
    elif suffix.startswith(".npz"):
        np.savez(stream, label=columns["label"], LOF=columns["LOF"])
    else:
        np.save(stream, columns.to_numpy())
    data = stream.getvalue()
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    outcome = command("evaluate", path.name, "--measure", "auc_pr", "--csv")
    assert outcome.code == 0, outcome.err
    value = pd.read_csv(io.StringIO(outcome.out))["value"][0]
    assert value == pytest.approx(vuskit.auc_pr(frame["label"], frame["LOF"]), abs=1e-12)


def test_files_without_a_header(command, tables, tmp_path):
    frame = tables["ECG/a"][["LOF", "label"]]
    frame.to_csv(tmp_path / "x.csv", index=False, header=False)
    outcome = command("evaluate", "x.csv", "--measure", "auc_pr", "--csv")
    assert outcome.code == 0, outcome.err
    value = pd.read_csv(io.StringIO(outcome.out))["value"][0]
    assert value == pytest.approx(vuskit.auc_pr(frame["label"], frame["LOF"]), abs=1e-12)


def test_times_are_shown(command, tables, tmp_path):
    times = pd.date_range("2024-01-01", periods=N, freq="D")
    tables["ECG/a"].assign(timestamp=times).to_csv(tmp_path / "x.csv", index=False)
    outcome = command("evaluate", "x.csv", "--measure", "auc_pr")
    assert "120 points (2024-01-01 … 2024-04-29); labels: label" in outcome.err
    content = json.loads(command("evaluate", "x.csv", "--measure", "auc_pr", "--json").out)
    assert content["series"]["times"] == ["2024-01-01", "2024-04-29"]


def test_failures_are_told_and_the_others_are_shown(command, tables, tmp_path):
    path = tmp_path / "scores" / "ECG" / "a.csv"
    frame = pd.read_csv(path)
    frame.loc[50, "PCA"] = np.nan
    frame.to_csv(path, index=False)
    outcome = command("evaluate", "scores", *FEW, "--csv")
    assert outcome.code == 3
    values = values_of(outcome)
    assert np.isnan(values.pop(("ECG", "a", "PCA")))
    assert len(values) == 7
    assert "got none in 1 of 120 (first: row 51)" in outcome.err.replace("\n", " ")
    table = pd.read_csv(io.StringIO(outcome.out))
    assert table["message"].count() == 1
    assert "got none in 1 of 120" in table.dropna(subset="message")["message"].item()


def test_memory_processes_and_a_run_give_the_same_output(command, tables, tmp_path):
    """Nothing is stored without --output."""
    arguments = ("evaluate", "scores", "--measure", "paper", "--buffer", "10", "--json")
    alone = json.loads(command(*arguments, "--processes", "1").out)
    shared = json.loads(command(*arguments, "--processes", "2").out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores"]
    stored = json.loads(command(*arguments, "--output", "run").out)
    assert alone.pop("folder") is shared.pop("folder") is None
    assert stored.pop("folder") == "run"
    assert alone == shared == stored


def test_the_page_of_an_evaluation_in_memory(command, tables, tmp_path):
    outcome = command("evaluate", "scores", *FEW, "--html", "page.html")
    assert outcome.code == 0, outcome.err
    page = (tmp_path / "page.html").read_text()
    assert "Finished: 4 jobs, none failed, 4 series, 2 data sets, 2 detectors, 1 measure." in page
    assert 'id="data-series-3"' in page  # every series is drawn
    assert "vuskit report" not in page
    assert "vuskit explore scores" in page


def test_a_long_evaluation_recommends_a_run_folder(command, tables, monkeypatch):
    monkeypatch.setattr("vuskit.cli.evaluate._LONG_SECONDS", 0.0)
    outcome = command("evaluate", "scores", *FEW)
    assert outcome.code == 0
    assert outcome.err.count("left; to stop and resume, use --output RUN") == 1


# -- real files ----------------------------------------------------------------------------------


def smallest(folder, count):
    return sorted(folder.iterdir(), key=lambda path: path.stat().st_size)[:count]


def test_thirty_real_files_to_latex(command, scores_data):
    counts = {"NAB": 20, "IOPS": 4, "Occupancy": 2, "SensorScope": 4}
    files = [path for name, count in counts.items() for path in smallest(scores_data / name, count)]
    outcome = command("evaluate", *files, *FEW, "--score", "IFOREST", "--score", "LOF", "--latex")
    assert outcome.code == 0, outcome.err
    header = next(line for line in outcome.out.splitlines() if line.startswith("detector"))
    assert [cell.strip(" \\") for cell in header.split("&")][1:5] == sorted(counts)
    assert "\\toprule" in outcome.out
    assert "IFOREST" in outcome.out


def test_a_folder_in_the_style_of_tsb_ad(command, tmp_path, scores_data):
    """Data files with a column Label, and a folder of .npy scores per detector."""
    expected = {}
    for number, path in enumerate(smallest(scores_data / "NAB", 2), start=1):
        frame = pd.read_csv(path)
        name = f"{number:03}_NAB_id_{number}_Facility_tr_50_1st_90"
        (tmp_path / "TSB-AD-U").mkdir(exist_ok=True)
        data = pd.DataFrame({"Data": frame["value"], "Label": frame["label"]})
        data.to_csv(tmp_path / "TSB-AD-U" / f"{name}.csv", index=False)
        for detector in ("IFOREST", "LOF"):
            folder = tmp_path / "eval" / "score" / "uni" / detector
            folder.mkdir(parents=True, exist_ok=True)
            np.save(folder / f"{name}.npy", frame[detector])
            expected["NAB", name, detector] = vuskit.auc_pr(frame["label"], frame[detector])
    outcome = command("evaluate", "eval/score/uni", "--labels", "TSB-AD-U", *FEW, "--csv")
    assert outcome.code == 0, outcome.err
    assert values_of(outcome) == pytest.approx(expected, abs=1e-12)


def test_real_files_through_every_door(command, tmp_path, scores_data):
    """One long parquet table has the values of its files."""
    files = [*smallest(scores_data / "NAB", 2), *smallest(scores_data / "Occupancy", 1)]
    wanted = (*FEW, "--score", "IFOREST", "--score", "LOF", "--csv")
    one_by_one = values_of(command("evaluate", *files, *wanted))
    parts = [
        pd.read_csv(path)[["value", "label", "IFOREST", "LOF"]].assign(
            series=path.name.removesuffix(".csv.gz"), dataset=path.parent.name
        )
        for path in files
    ]
    pd.concat(parts).to_parquet(tmp_path / "long.parquet")
    long = command("evaluate", "long.parquet", "--by", "series", "--dataset", "dataset", *wanted)
    assert values_of(long) == pytest.approx(one_by_one, abs=1e-12)
    assert len(one_by_one) == 6


@pytest.mark.parametrize("options", [(), ("--output", "run")])
def test_inverted_scores_are_named_with_their_series(command, tables, tmp_path, options):
    for key, frame in tables.items():
        frame.assign(bad=-frame["LOF"]).to_csv(tmp_path / "scores" / f"{key}.csv", index=False)
    shown = command("evaluate", "scores", "--measure", "auc_roc", *options)
    (note,) = [line for line in shown.err.splitlines() if "inverted" in line]
    assert note.startswith("note: bad (AUC-ROC 0.0")
    assert "bad: below 0.5 on 4 of 4 series (ECG/a, ECG/b, KPI/c and 1 more)." in note
    assert note.endswith("if low scores mean anomalous, negate it.")

"""Which file of scores belongs to which series and detector: layouts, labels, notes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from vuskit.alignment import align_scores
from vuskit.bench import Run, evaluate_inputs, run_plan
from vuskit.bench.plan import make_plan
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import load_source, open_inputs
from vuskit.errors import InvalidInputError
from vuskit.measures.settings import EvaluationSettings

N = 40
rng = np.random.default_rng(0)


def labels_of(series):
    """Labels that differ from series to series."""
    labels = np.zeros(N, dtype=int)
    start = 3 + sum(map(ord, series)) % 25
    labels[start : start + 4] = 1
    return labels


def save_scores(folder, *keys, suffix=".npy"):
    for key in keys:
        path = folder / f"{key}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if suffix == ".npy":
            np.save(path, rng.random(N))
        else:
            pd.DataFrame({"score": rng.random(N)}).to_csv(path, index=False)


def save_labels(folder, *keys):
    for key in keys:
        path = folder / f"{key}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        labels = labels_of(path.stem)
        pd.DataFrame({"value": rng.random(N), "label": labels}).to_csv(path, index=False)


def found(folder, **options):
    result = open_inputs(folder, **options)
    scores = {(one.dataset, one.series, score.detector) for one in result for score in one.scores}
    return scores, result.notes


LAYOUTS = {
    "{detector}/{series}": ("LOF/a", "LOF/b", "PCA/a", "PCA/b"),
    "{series}/{detector}": ("a/LOF", "b/LOF", "a/PCA", "b/PCA"),
    "{series}_{detector}": ("a_LOF", "b_LOF", "a_PCA", "b_PCA"),
    "{detector}_{series}": ("LOF_a", "LOF_b", "PCA_a", "PCA_b"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_found_by_the_names_of_labels(tmp_path, layout):
    save_scores(tmp_path / "scores", *LAYOUTS[layout])
    save_labels(tmp_path / "ECG", "a", "b")
    scores, notes = found(tmp_path / "scores", labels=str(tmp_path / "ECG"))
    assert scores == {("ECG", s, d) for s in "ab" for d in ("LOF", "PCA")}
    assert any(f"is interpreted as {layout}" in note for note in notes)


@pytest.mark.parametrize(
    "layout",
    ["{detector}/{dataset}/{series}", "{dataset}/{detector}/{series}",
     "{dataset}/{series}/{detector}"],
)  # fmt: skip
def test_data_sets_are_found_by_the_folders_of_labels(tmp_path, layout):
    names = [("ECG", "a"), ("ECG", "b"), ("KPI", "c"), ("KPI", "a")]
    keys = [
        layout.format(detector=detector, dataset=dataset, series=series)
        for dataset, series in names
        for detector in ("LOF", "PCA")
    ]
    save_scores(tmp_path / "scores", *keys)
    save_labels(tmp_path / "labels", *(f"{dataset}/{series}" for dataset, series in names))
    scores, notes = found(tmp_path / "scores", labels=str(tmp_path / "labels"))
    assert scores == {(*name, detector) for name in names for detector in ("LOF", "PCA")}
    assert any(f"is interpreted as {layout}" in note for note in notes)


@pytest.mark.parametrize("layout", ["{detector}/{series}", "{series}/{detector}"])
def test_layouts_are_found_by_labels_in_the_files(tmp_path, layout):
    for key in LAYOUTS[layout]:
        path = tmp_path / "scores" / f"{key}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        series = next(part for part in key.split("/") if part in "ab")
        columns = {"label": labels_of(series), "score": rng.random(N)}
        pd.DataFrame(columns).to_csv(path, index=False)
    scores, notes = found(tmp_path / "scores", columns=Columns(score="score"))
    assert scores == {("scores", s, d) for s in "ab" for d in ("LOF", "PCA")}
    assert any(f"is interpreted as {layout}" in note for note in notes)


def test_equal_labels_make_a_layout_ambiguous(tmp_path):
    for key in LAYOUTS["{detector}/{series}"]:
        path = tmp_path / f"{key}.csv"
        path.parent.mkdir(exist_ok=True)
        columns = {"label": labels_of("a"), "score": rng.random(N)}
        pd.DataFrame(columns).to_csv(path, index=False)
    with pytest.raises(InvalidInputError, match="are ambiguous; choose --pattern"):
        found(tmp_path, columns=Columns(score="score"))
    scores, _ = found(tmp_path, columns=Columns(score="score"), pattern="{detector}/{series}.csv")
    assert {detector for _, _, detector in scores} == {"LOF", "PCA"}


def test_tables_name_their_detectors(tmp_path):
    for key in ("ECG/a", "KPI/b"):
        path = tmp_path / f"{key}.csv.gz"
        path.parent.mkdir()
        columns = {"label": labels_of("a"), "LOF": rng.random(N), "PCA": rng.random(N)}
        pd.DataFrame(columns).to_csv(path, index=False)
    scores, _ = found(tmp_path, columns=Columns(label="label"))
    assert scores == {
        (d, s, detector) for d, s in (("ECG", "a"), ("KPI", "b")) for detector in ("LOF", "PCA")
    }


def test_one_file_of_labels_makes_files_detectors(tmp_path):
    save_scores(tmp_path / "run", "LOF", "PCA")
    save_labels(tmp_path, "pump")
    scores, _ = found(tmp_path / "run", labels=str(tmp_path / "pump.csv"))
    assert scores == {("run", "pump", "LOF"), ("run", "pump", "PCA")}


def test_folders_are_detectors_where_files_have_equal_names(tmp_path):
    save_scores(tmp_path / "run", "LOF/x", "PCA/x")
    save_labels(tmp_path, "pump")
    scores, _ = found(tmp_path / "run", labels=str(tmp_path / "pump.csv"))
    assert {detector for _, _, detector in scores} == {"LOF", "PCA"}


def test_unmatched_labels_are_named(tmp_path):
    save_scores(tmp_path / "scores", "LOF/pump_1", "LOF/pump_2")
    save_labels(tmp_path / "labels", "pump_1", "pumpe_2")
    scores, notes = found(tmp_path / "scores", labels=str(tmp_path / "labels"))
    assert scores == {("scores", "pump_1", "LOF")}
    assert any("1 score file has no labels" in note and "'pumpe_2'" in note for note in notes)
    (tmp_path / "labels" / "pump_1.csv").unlink()
    with pytest.raises(InvalidInputError, match="2 score files have no labels of the same name"):
        found(tmp_path / "scores", labels=str(tmp_path / "labels"))


def test_endings_that_say_labels_do_not_matter(tmp_path):
    save_scores(tmp_path / "scores", "a", "b")
    for name in "ab":
        (tmp_path / "gt").mkdir(exist_ok=True)
        np.save(tmp_path / "gt" / f"{name}_labels.npy", labels_of(name))
    scores, _ = found(tmp_path / "scores", labels=str(tmp_path / "gt"))
    assert {series for _, series, _ in scores} == {"a", "b"}


def test_intervals_by_position_and_by_time(tmp_path):
    save_scores(tmp_path / "scores", "a", "b")
    rows = [("a", 3, 6), ("a", 10, 10), ("b", 0, 1)]
    frame = pd.DataFrame(rows, columns=["series", "start", "end"])
    frame.to_csv(tmp_path / "events.csv", index=False)
    inputs = open_inputs(tmp_path / "scores", labels=tmp_path / "events.csv")
    by_name = {one.series: one.read().series for one in inputs}
    assert by_name["a"].events == ((3, 7), (10, 11))
    assert by_name["b"].events == ((0, 2),)

    times = pd.date_range("2024-01-01", periods=N, freq="D")
    (tmp_path / "timed").mkdir()
    pd.DataFrame({"time": times, "score": rng.random(N)}).to_csv(
        tmp_path / "timed" / "a.csv", index=False
    )
    pd.DataFrame({"start": [times[3]], "end": [times[6]]}).to_csv(
        tmp_path / "dates.csv", index=False
    )
    (one,) = open_inputs(tmp_path / "timed", labels=tmp_path / "dates.csv")
    assert one.read().series.events == ((3, 7),)
    assert set(one.files) == {tmp_path / "timed" / "a.csv", tmp_path / "dates.csv"}


@pytest.mark.parametrize("names", [["x", "y"], [1, 2]])
def test_a_column_that_may_name_series_is_told(tmp_path, names):
    frame = pd.DataFrame({"label": [0, 1] * 8, "score": np.arange(16) % 5 / 4})
    frame.assign(machine=np.repeat(names, 8)).to_csv(tmp_path / "long.csv", index=False)
    inputs = open_inputs(tmp_path / "long.csv")
    assert [one.detector for one in inputs[0].scores] == ["score"]
    assert "if 'machine' names the series of each row, use --by COLUMN" in inputs.notes[0]
    frame.assign(machine="x").to_csv(tmp_path / "one.csv", index=False)
    assert open_inputs(tmp_path / "one.csv").notes == ()


def test_windows_may_differ_by_detector(tmp_path):
    labels = labels_of("x")
    np.save(tmp_path / "labels.npy", labels)
    scores = {"ae": rng.random(N), "lof": rng.random(N - 4), "far": rng.random(N // 3)}
    for name, score in scores.items():
        np.save(tmp_path / f"{name}.npy", score)
    (one,) = open_inputs(
        [tmp_path / f"{name}.npy" for name in scores],
        labels=tmp_path / "labels.npy",
        align="start",
        window="auto",
    )
    found = {score.detector: score for score in load_source(one).scores}
    assert found["ae"].numbers.tolist() == scores["ae"].tolist()
    expected = align_scores(scores["lof"], N, window=5, at="start")
    assert found["lof"].numbers.tolist() == expected.tolist()
    assert [found[name].note for name in ("ae", "lof")] == [None, "lof: windows of 5 points"]
    assert "must be one score per label" in str(found["far"].numbers)


def test_windows_by_detector(tmp_path):
    labels = labels_of("x")
    scores = {"ae": rng.random(N), "lof": rng.random(N - 4), "mp": rng.random(N - 9)}
    for series in "ab":
        (tmp_path / "labels").mkdir(exist_ok=True)
        np.save(tmp_path / "labels" / f"{series}.npy", labels)
        for name, score in scores.items():
            (tmp_path / "scores" / name).mkdir(parents=True, exist_ok=True)
            np.save(tmp_path / "scores" / name / f"{series}.npy", score)
    reading = {"labels": str(tmp_path / "labels"), "align": "end"}

    def opened(window):
        return open_inputs(tmp_path / "scores", **reading, window=window)

    inputs = opened({"lof": 5, "mp": "auto"})
    found = {score.detector: score for score in load_source(inputs[0]).scores}
    assert found["ae"].numbers.tolist() == scores["ae"].tolist()
    for name, window in (("lof", 5), ("mp", 10)):
        expected = align_scores(scores[name], N, window=window, at="end")
        assert found[name].numbers.tolist() == expected.tolist()
        assert found[name].aligned == ("end", window)
    texts = ("end of windows of 5 points (lof)", "end of windows of 10 points (mp)")
    settings = EvaluationSettings(buffer=2)
    values = evaluate_inputs(inputs, measures="auc_pr", settings=settings)
    assert values.alignments() == texts
    with pytest.raises(
        InvalidInputError, match=r"`window` .*'ae', 'lof'.*got 'loff'; did you mean"
    ):
        opened({"loff": 5})
    with pytest.raises(InvalidInputError, match=r"one score per label"):
        raise load_source(opened({"lof": 5})[0]).scores[2].numbers

    def run(window):
        entry = {"folder": str(tmp_path / "scores"), **reading}
        document = {
            "folder": str(tmp_path / "run"),
            "scores": [entry | {"window": window}],
            "evaluate": [{"measures": ["auc_pr"], "buffer": 2}],
        }
        return run_plan(make_plan(document, base=tmp_path, name="plan"))

    assert run({"lof": 5, "mp": "auto"}).progress.failed == 0
    assert Run(tmp_path / "run").alignments() == texts
    with pytest.raises(InvalidInputError, match=r"got 'loff'; did you mean 'lof'"):
        run({"loff": 5})


def test_numbers_with_units_are_named(tmp_path):
    frame = pd.DataFrame(
        {"label": [0, 1] * 8, "A": np.arange(16) % 5 / 4, "B": "0.5 %", "C": "v", "D": "1 234"}
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    (one,) = open_inputs(tmp_path / "a.csv")
    frame.assign(by="x").to_csv(tmp_path / "b.csv", index=False)
    told = "left out: B (text such as '0.5 %'), D (text such as '1 234')"
    assert told in open_inputs(tmp_path).notes
    assert told in open_inputs(tmp_path / "b.csv", columns=Columns(by="by")).notes
    assert one.left_out == ("B (text such as '0.5 %')", "C", "D (text such as '1 234')")


def test_two_files_for_one_score_are_refused(tmp_path):
    save_scores(tmp_path / "scores", "LOF/a", "LOF/b")
    save_scores(tmp_path / "scores", "LOF/a", suffix=".csv")
    save_labels(tmp_path / "labels", "a", "b")
    with pytest.raises(InvalidInputError, match="one score per detector, got 2 files"):
        found(tmp_path / "scores", labels=str(tmp_path / "labels"), pattern="{detector}/{series}")


def test_a_folder_without_scores_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(
        InvalidInputError, match=r"must contain files that end in .*got 'notes\.txt'"
    ):
        found(tmp_path, columns=Columns(label="label"))

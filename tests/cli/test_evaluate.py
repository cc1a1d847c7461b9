"""``vuskit evaluate``: files as users have them, answers they can use."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.terminal import COMMAND

import vuskit
from vuskit.datasets.synthetic import three_scores

DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def small_frame():
    """Sixty points, two anomalies, two scores."""
    labels = np.zeros(60, dtype=int)
    labels[10:14] = labels[40:46] = 1
    place = np.arange(60)
    return pd.DataFrame(
        {
            "value": np.sin(place * 2 * np.pi / 12),
            "label": labels,
            "A": labels + (place * 7 % 11) / 20,
            "B": (place * 13 % 17) / 17 + 0.3 * labels,
        }
    )


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    small_frame().to_csv(path, index=False)
    return path


def values_of(outcome):
    """Values by score and measure, out of csv."""
    rows = csv.DictReader(io.StringIO(outcome.out))
    return {(row["score"], row["measure"]): float(row["value"]) for row in rows}


def test_a_training_part_is_noted_and_may_be_left_out(command, small):
    name = "001_NAB_id_1_Web_tr_30_1st_40.csv"
    small.rename(small.with_name(name))
    whole = command("evaluate", name, "--csv", "--buffer", "4")
    assert (
        "note: 1 series starts with training data, according to the file name, and this part is "
        f"evaluated too ({name}: 30 points); `--train-length` auto leaves it out, 0 hides this note"
    ) in whole.err
    frame = small_frame()
    expected = vuskit.evaluate(frame["label"], frame["A"], buffer=4)
    assert values_of(whole)["A", "vus_pr"] == pytest.approx(expected["vus_pr"])
    rest = frame[30:]
    expected = vuskit.evaluate(rest["label"], rest["A"], buffer=4)
    for length in ("auto", "30"):
        outcome = command("evaluate", name, "--csv", "--buffer", "4", "--train-length", length)
        assert values_of(outcome)["A", "vus_pr"] == pytest.approx(expected["vus_pr"])
        assert "left out: the first 30 points (training data)\n" in outcome.err
    quiet = command("evaluate", name, "--csv", "--buffer", "4", "--train-length", "none")
    assert quiet.out == whole.out
    assert "training" not in quiet.err


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (
            "auto",
            "`--train-length` auto needs files with names such as 001_NAB_id_1_Web_tr_500_1st_800",
        ),
        ("60", "`--train-length` must be less than the 60 points of the longest series, got 60"),
        ("half", "`--train-length` must be a number of points, auto or none, got 'half'"),
        ("50", "must hold both normal and anomalous points"),
    ],
)
def test_training_parts_that_cannot_be_left_out(command, small, length, text):
    outcome = command("evaluate", "small.csv", "--train-length", length)
    assert outcome.code == 2
    assert text in " ".join(outcome.err.split())


def test_columns_of_values_accumulate(command, small):
    frame = small_frame().assign(second=0.5, third=0.25)
    frame.to_csv(small, index=False)
    outcome = command("evaluate", "small.csv", "--csv", "--value", "value", "--value", "second")
    assert {score for score, _ in values_of(outcome)} == {"A", "B", "third"}
    assert "values: value, second" in outcome.err
    missing = command("evaluate", "small.csv", "--value", "value", "--value", "fourth")
    assert "`--value` must be a column of small.csv" in " ".join(missing.err.split())


def test_options_of_one_series_are_refused_for_several(command, small):
    small_frame().to_csv(small.with_name("other.csv"), index=False)
    small.write_text(small.read_text().replace("0.0,0,", "0.0,1,", 1))
    options = ("--value", "value", "--value", "A")
    outcome = command("evaluate", "small.csv", "other.csv", *options)
    assert outcome.code == 2
    assert "`--value` must be given once for several series" in " ".join(outcome.err.split())


def test_a_score_that_looks_inverted_is_reported(command, tmp_path):
    labels = (np.arange(400) % 50 == 7).astype(int)
    frame = pd.DataFrame({"label": labels, "good": labels + 0.5, "bad": 1.0 - labels})
    frame.to_csv("scores.csv", index=False)
    outcome = command("evaluate", "scores.csv", "--csv", "--buffer", "4")
    assert "warning: bad (AUC-ROC 0.00) looks inverted" in " ".join(outcome.err.split())


def test_table_of_several_scores(command, scores_csv, snapshot):
    outcome = command("evaluate", "scores.csv")
    assert outcome.code == 0
    snapshot("evaluate", outcome.out)
    snapshot("evaluate_talk", outcome.err)


def test_table_of_one_score(command, scores_csv, snapshot):
    outcome = command("evaluate", "scores.csv", "--score", "late", "--buffer", "median-anomaly")
    snapshot("evaluate_one", outcome.out)


def test_a_file_adds_a_measure_of_ones_own(tmp_path, scores_csv):
    (tmp_path / "own.py").write_text(
        "from vuskit import register_measure\n"
        "@register_measure(name='top_point', title='Top point')\n"
        "def top_point(y_true, y_score):\n"
        "    return float(y_true[y_score.argmax()])\n"
    )
    # A process of its own: the measure would stay registered for other tests.
    arguments = ["evaluate", "scores.csv", "--load", "own.py", "--csv", "--chance", "0"]
    result = run_process(arguments, tmp_path, stdout=subprocess.PIPE)
    assert result.returncode == 0, result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 3 * 14
    assert next(row["value"] for row in rows if row["measure"] == "top_point") == "1.0"
    (tmp_path / "scores").mkdir()
    for name, seed in (("a.csv", 1), ("b.csv", 2)):
        three_scores(seed).to_frame().to_csv(tmp_path / "scores" / name, index=False)
    result = run_process(["evaluate", "scores", *arguments[2:]], tmp_path, stdout=subprocess.PIPE)
    several = list(csv.DictReader(io.StringIO(result.stdout)))
    assert sum(row["measure"] == "top_point" for row in several) == 2 * 3
    result = run_process(["evaluate", "scores", *arguments[2:], "--output=run"], tmp_path)
    assert result.returncode == 2


def test_a_measure_of_ones_own_that_fails_is_named_and_the_others_are_shown(tmp_path, scores_csv):
    (tmp_path / "own.py").write_text(
        "from vuskit import register_measure\n"
        "@register_measure(name='boom')\n"
        "def boom(y_true, y_score):\n"
        "    raise ValueError('no such luck')\n"
    )
    arguments = ["evaluate", "scores.csv", "--load=own.py", "--csv", "--chance=0", "--measure"]
    result = run_process([*arguments, "auc_pr,boom"], tmp_path, stdout=subprocess.PIPE)
    assert result.returncode == 3
    assert result.stderr.endswith("measure 'boom' failed: ValueError: no such luck\n")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["measure"] for row in rows] == ["auc_pr"] * 3
    result = run_process([*arguments, "boom"], tmp_path, stdout=subprocess.PIPE)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith("vuskit: measure 'boom' failed: ValueError: no such luck\n")


def test_latex(command, scores_csv, snapshot):
    outcome = command("evaluate", "scores.csv", "--latex", "--measure", "f_score,vus_pr")
    snapshot("evaluate_latex", outcome.out, width=100)


def test_latex_escapes_names(command, small):
    frame = small_frame().rename(columns={"A": "iso_forest & 50%"})
    frame.to_csv("small.csv", index=False)
    outcome = command("evaluate", "small.csv", "--latex", "--measure", "auc_pr")
    assert r"iso\_forest \& 50\%" in outcome.out


def test_values_are_those_of_the_library(command, small):
    frame = small_frame()
    options = {"buffer": 7, "definition": "pvldb2022", "thresholds": 30, "threshold": 0.9}
    expected = vuskit.evaluate_many(frame["label"], frame[["A", "B"]], **options)
    words = [f"--{name}={value}" for name, value in options.items()]
    outcome = command("evaluate", "small.csv", "--csv", *words)
    got = values_of(outcome)
    assert len(got) == 2 * 13
    for (score, measure), value in got.items():
        assert value == expected[score][measure]


def test_chance_and_adjusted_values(command, small):
    frame = small_frame()
    level = vuskit.chance_level(frame["label"], buffer=4, measures=["vus_pr"], draws=5)
    outcome = command(
        "evaluate", "small.csv", "--csv", "--buffer=4", "--measure=vus_pr", "--chance=5"
    )
    row = next(csv.DictReader(io.StringIO(outcome.out)))
    assert float(row["chance"]) == level.mean["vus_pr"]
    value, chance = float(row["value"]), float(row["chance"])
    assert float(row["adjusted"]) == pytest.approx((value - chance) / (1 - chance))
    without = command("evaluate", "small.csv", "--csv", "--measure=vus_pr", "--chance=0")
    assert next(csv.DictReader(io.StringIO(without.out)))["chance"] == ""


def test_wide_tables_are_folded(command, tmp_path):
    frame = small_frame()
    for k in range(20):
        frame[f"detector number {k}"] = frame["A"] * (k + 1) % 1.7
    frame.to_csv("wide.csv", index=False)
    outcome = command("evaluate", "wide.csv", "--measure", "auc_roc")
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert all(f"detector number {k}" in outcome.out for k in range(20))


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".npz", ".npy"])
def test_formats_agree(command, small, suffix):
    frame = small_frame()
    path = Path(f"other{suffix}")
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".npz":
        np.savez(path, **{name: frame[name].to_numpy() for name in frame})
    elif suffix == ".npy":
        np.save(path, frame.to_records(index=False))
    else:
        frame.to_csv(path, index=False)
    first = command("evaluate", "small.csv", "--csv")
    other = command("evaluate", path, "--csv")
    assert other.code == 0
    assert values_of(other) == values_of(first)


def test_plain_array_finds_the_column_of_labels(command, small):
    np.save("plain.npy", small_frame()[["A", "label", "B"]].to_numpy())
    outcome = command("evaluate", "plain.npy", "--csv", "--buffer=6")
    named = values_of(command("evaluate", "small.csv", "--csv", "--buffer=6"))
    got = values_of(outcome)
    assert got["0", "vus_pr"] == named["A", "vus_pr"]
    assert got["2", "vus_pr"] == named["B", "vus_pr"]


@pytest.mark.parametrize("name", ["Label", "is_anomaly", "y_true", "anomaly"])
def test_labels_are_found_by_usual_names(command, tmp_path, name):
    small_frame().rename(columns={"label": name}).to_csv("x.csv", index=False)
    assert f"labels: {name}; scores: A, B" in command("evaluate", "x.csv").err


def test_columns_that_are_no_scores_are_left_out(command):
    frame = small_frame()
    frame.insert(0, "timestamp", range(60))
    frame["note"] = "x"
    frame.to_csv("x.csv", index=False)
    err = command("evaluate", "x.csv").err
    assert "scores: A, B; values: value; left out: timestamp, note" in err


def test_second_labels_are_no_score(command):
    frame = small_frame()
    frame["anomaly"] = frame["label"]
    frame.to_csv("x.csv", index=False)
    err = command("evaluate", "x.csv").err
    assert "left out: anomaly (looks like labels; select it with --score)" in err
    assert "scores: anomaly;" in command("evaluate", "x.csv", "--score", "anomaly").err
    frame["anomaly"] = frame["A"]
    frame.to_csv("x.csv", index=False)
    assert "scores: A, B, anomaly;" in command("evaluate", "x.csv").err


def test_columns_without_a_name_are_told(command):
    small_frame().to_csv("x.csv")
    assert "left out: a column without a name" in command("evaluate", "x.csv").err


def test_names_of_labels_are_proposed_as_the_shell_takes_them(command):
    small_frame().rename(columns={"label": "Is Anomaly?"}).to_csv("x.csv", index=False)
    assert "did you mean --label 'Is Anomaly?'?" in command("evaluate", "x.csv").err


def test_buffers_beyond_the_series_are_told(command, small):
    err = command("evaluate", "small.csv", "--buffer=61").err
    assert "the buffer is longer than the series of 60 points" in err
    assert "longer" not in command("evaluate", "small.csv", "--buffer=60").err


def test_words_for_labels(command):
    frame = small_frame()
    numbers = frame.copy()
    frame["label"] = np.where(frame["label"] == 1, "anomaly", "normal")
    frame.to_csv("words.csv", index=False)
    numbers.to_csv("numbers.csv", index=False)
    understood = command("evaluate", "words.csv", "--csv")
    note = "note: label 'anomaly' means anomalous; use --positive to choose another label"
    assert note in understood.err.splitlines()
    told = command("evaluate", "words.csv", "--positive", "anomaly", "--csv")
    assert "means anomalous" not in told.err
    expected = values_of(command("evaluate", "numbers.csv", "--csv"))
    assert values_of(understood) == values_of(told) == expected


def test_words_that_could_mean_either(command):
    frame = small_frame()
    frame["label"] = np.where(frame["label"] == 1, "B", "A")
    frame.to_csv("letters.csv", index=False)
    refused = command("evaluate", "letters.csv")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "vuskit: letters.csv: label column 'label' must hold 0 and 1, got 'A', 'B'; "
        "name the one that means anomalous, for example --positive B\n"
    )


def test_minus_one_for_anomalous(command):
    frame = small_frame()
    frame.to_csv("numbers.csv", index=False)
    frame["label"] = 1 - 2 * frame["label"]
    frame.to_csv("signs.csv", index=False)
    assert "--positive -1" in command("evaluate", "signs.csv").err
    got = command("evaluate", "signs.csv", "--positive", "-1", "--csv")
    assert values_of(got) == values_of(command("evaluate", "numbers.csv", "--csv"))


@pytest.mark.parametrize(
    ("strategy", "said"),
    [
        ("auto", "buffer: 12 (auto: the values repeat every 12 points)"),
        ("period", "buffer: 12 (period: period of 12 points (acf))"),
        ("median-anomaly", "buffer: 5 (median_anomaly: median length of 2 anomalies)"),
        ("9", "buffer: 9 (number: given)"),
    ],
)
def test_buffer_and_why(command, small, strategy, said):
    assert said in command("evaluate", "small.csv", "--buffer", strategy).err.splitlines()


def test_automatic_buffer_without_values(command):
    small_frame().drop(columns="value").to_csv("x.csv", index=False)
    err = command("evaluate", "x.csv").err
    assert "median length of 2 anomalies, as there are no values" in err
    refused = command("evaluate", "x.csv", "--buffer", "period").err
    assert "needs the series itself; name its column with `--value`" in refused
    refused = command("evaluate", "x.csv", "--buffer", "authors").err
    assert refused.count("median-anomaly (not for published values)") == 1


def test_settings_of_the_function(command, small):
    """What the function takes, the command takes, and the last line says what is not usual."""
    frame = small_frame()
    options = {"buffer": 8, "side": "after", "step": 3, "threshold": 0.5, "k": 7}
    wanted = vuskit.evaluate(frame["label"], frame["A"], **options)
    line = [f"--set={name}={value}" for name, value in options.items() if name != "buffer"]
    line.append("--buffer=8")
    got = values_of(command("evaluate", "small.csv", *line, "--csv", "--chance=0"))
    assert {name: got["A", name] for name in wanted} == pytest.approx(dict(wanted))
    shown = command("evaluate", "small.csv", *line, "--chance=0").out.splitlines()
    assert shown[-1] == f"({wanted.settings})"
    assert str(wanted.settings).endswith("step=3, side=after, threshold=0.5, k=7")
    found = json.loads(command("evaluate", "small.csv", *line, "--json", "--chance=0").out)
    assert {name: found["settings"][name] for name in options} == options


def test_page_of_one_side(command, small, tmp_path):
    """The page counts alarms on the side of the evaluation, at its threshold."""
    frame = small_frame()
    frame["A"] = 0.0
    frame.loc[8, "A"] = 1.0
    frame.to_csv("early.csv", index=False)
    for side in ("both", "after"):
        line = (
            "--score=A",
            "--buffer=8",
            f"--set=side={side}",
            "--threshold=0.5",
            "--html=page.html",
        )
        assert command("evaluate", "early.csv", *line).code == 0
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert f'"side":"{side}"' in page
        assert '"threshold":0.5' in page


def test_gaps_in_the_values_do_not_matter(command):
    frame = small_frame()
    frame.loc[20:22, "value"] = np.nan
    frame.to_csv("x.csv", index=False)
    assert "buffer: 12 (auto" in command("evaluate", "x.csv", "--html", "x.html").err


def test_warnings_are_one_line(command, scores_csv):
    outcome = command("evaluate", "scores.csv", "--thresholds=20", "--measure=vus_pr")
    assert "warning: 20 thresholds step over 500 points at a time" in outcome.err
    assert "Warning" not in outcome.err


CASES = {
    "no labels.csv": ("late,A\n0,1\n1,2\n", [], "got columns 'late', 'A'; name it with --label"),
    "load.csv": (
        "label,A\n0,1\n1,2\n",
        ["--load=load.csv"],
        "`--load load.csv` cannot be run: NameError in line 1: name 'label' is not defined",
    ),
    "side.csv": ("label,A\n0,1\n1,2\n", ["--set=side=behind"], "'after', got 'behind'"),
    "nan.csv": (
        "label,A\n0,.1\n1,\n0,nan\n1,.2\n",
        [],
        "score column 'A' must hold a number in every row, got none in 2 of 4 (first: row 2); "
        "fill or drop those rows, name the columns to evaluate with --score, or rank them below "
        "all others with --set nan=lowest",
    ),
    "text.csv": ("label,A\n0,.1\n1,abc\n", [], "line 3: column 'A' must hold a number, got 'abc'"),
    "inf.csv": ("label,A\n0,.1\n1,inf\n", [], "column 'A' must hold a finite number, got inf"),
    "empty.csv": ("", [], "the file is empty; it must hold labels and scores"),
    "header.csv": ("label,A\n", [], "must have at least one row"),
    "junk.npy": ("junk", [], "not a NumPy file of plain numbers"),
    "junk.parquet": ("junk", [], "not a readable parquet file"),
    "score.csv": ("label,good\n0,1\n1,2\n", ["--score=god"], "got 'god'; did you mean 'good'?"),
    "label.csv": ("labels,A\n0,1\n1,2\n", ["--label=labls"], "did you mean 'labels'?"),
    "positive.csv": (
        "label,A\nok,1\nbroken,2\n",
        ["--positive=brocken"],
        "got 'brocken'; did you mean 'broken'?",
    ),
    "measure.csv": ("label,A\n0,1\n1,2\n", ["--measure=vus_rp"], "did you mean 'vus_pr'?"),
    "buffer.csv": ("label,A\n0,1\n1,2\n", ["--buffer=priod"], "did you mean 'period'?"),
    "hour.csv": (
        "label,A\n0,1\n1,2\n",
        ["--buffer=1h"],
        "`--buffer` must be a number of points (1 hour of minute data: 60) or one of 'auto', "
        "'period', 'fft', 'authors', 'median-anomaly', 'mean-anomaly', got '1h'",
    ),
    "negative.csv": (
        "label,A\n0,1\n1,2\n",
        ["--buffer=-3"],
        "`--buffer` must be an int >= 0",
    ),
    "definition.csv": ("label,A\n0,1\n1,2\n", ["--definition=jornal"], "did you mean 'journal'?"),
    "forms.csv": ("label,A\n0,1\n1,2\n", ["--json", "--csv"], "got --json and --csv"),
    "page.csv": ("label,A\n0,1\n1,2\n", ["--html=no/x.html"], "must be in a folder that exists"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_helpful_sentence(command, tmp_path, name):
    text, options, expected = CASES[name]
    (tmp_path / name).write_text(text)
    outcome = command("evaluate", name, *options)
    assert outcome.code == 2
    assert outcome.out == ""
    last = outcome.err.splitlines()[-1]
    assert last.startswith("vuskit: ")
    assert expected in last
    assert "Traceback" not in outcome.err


def test_places_that_are_no_file(command, scores_csv, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "must contain files that end in .csv" in command("evaluate", "folder").err
    assert "no such file; did you mean 'scores.csv'?" in command("evaluate", "score.csv").err


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_unreadable_file(command, tmp_path):
    (tmp_path / "mem.csv").symlink_to("/proc/self/mem")
    outcome = command("evaluate", "mem.csv")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "vuskit: mem.csv cannot be read: Input/output error\n"


def test_page_that_cannot_be_written(command, small, tmp_path):
    (tmp_path / "taken.html").mkdir()
    outcome = command("evaluate", "small.csv", "--html", "taken.html")
    assert outcome.code == 2
    assert "taken.html cannot be written: it is a folder; give the name of a file" in outcome.err
    assert list(tmp_path.glob(".vuskit-*")) == []


def test_debug_shows_where_an_error_comes_from(command, tmp_path):
    (tmp_path / "empty.csv").touch()
    outcome = command("evaluate", "empty.csv", "--debug")
    assert outcome.code == 2
    assert "Traceback (most recent call last)" in outcome.err


def run_process(arguments, folder, **options):
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_full_disk(small, tmp_path):
    with open("/dev/full", "w") as full:
        result = run_process(["evaluate", "small.csv"], tmp_path, stdout=full)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        "vuskit: the disk is full; free some space, or write to another place"
    )


@pytest.mark.parametrize("options", [[], ["--chance=0"], ["--threshold=0.5", "--thresholds=40"]])
def test_json_and_csv_agree(command, small, options):
    outcome = command("evaluate", "small.csv", "--json", *options)
    found = json.loads(outcome.out)
    assert found["scores"][0]["values"]["vus_pr"] == pytest.approx(
        values_of(command("evaluate", "small.csv", "--csv", *options))["A", "vus_pr"]
    )


def examples():
    """Commands of the documentation and what it says they print."""
    for block in re.findall(r"```console\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield line.split(), output


def shortened(line):
    """A line without the digits in which compiled and other kernels may differ."""
    return re.sub(r"\d\.\d{13,}", lambda found: f"{float(found[0]):.12f}", line.rstrip())


def test_documented_examples_are_true(command, monkeypatch, tmp_path):
    snippet = re.search(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(snippet[1], {})
    env = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "VUSKIT_CACHE": str(tmp_path / "cache")}
    count = 0
    for (program, *arguments), expected in examples():
        assert program == "vuskit"
        if arguments[0] == "list":
            # A process of its own: other tests register measures and detectors of theirs.
            printed = run_process(arguments, tmp_path, stdout=subprocess.PIPE, env=env).stdout
        else:
            outcome = command(*arguments)
            printed = outcome.err + outcome.out
        shown = [shortened(line) for line in printed.splitlines()]
        wanted = [shortened(line) for line in expected.splitlines()]
        assert shown == wanted, arguments
        count += 1
    assert count == 15


def test_the_demo_series_is_the_documented_one(scores_csv):
    frame = pd.read_csv(scores_csv)
    assert list(frame) == ["value", "label", *three_scores().detectors]


@pytest.mark.parametrize("form", ["csv", "parquet", "npz"])
@pytest.mark.parametrize("base", [2**53, 2**60, 2**63, -(2**60)])
def test_integers_that_float64_would_round_are_refused(command, tmp_path, form, base):
    frame = small_frame()
    large = np.array([base + rank for rank in range(len(frame))])
    path = tmp_path / f"large.{form}"
    if form == "npz":
        np.savez(path, label=frame["label"], A=large)
    else:
        table = pd.DataFrame({"label": frame["label"], "A": large})
        table.to_parquet(path) if form == "parquet" else table.to_csv(path, index=False)
    outcome = command("evaluate", path, "--score", "A", "--buffer", "6")
    assert outcome.code == 2
    assert "column 'A' must hold integers up to 2**53" in " ".join(outcome.err.split())


def test_integers_too_long_for_any_type_are_refused_but_large_floats_are_not(command, tmp_path):
    frame = small_frame().assign(A=[str(2**70 + place) for place in range(60)])
    frame.to_csv(tmp_path / "long.csv", index=False)
    outcome = command("evaluate", tmp_path / "long.csv", "--score", "A", "--buffer", "6")
    assert outcome.code == 2
    assert "line 2: column 'A' must hold integers" in " ".join(outcome.err.split())
    frame.assign(A=small_frame()["A"] * 1e20).to_csv(tmp_path / "float.csv", index=False)
    assert command("evaluate", tmp_path / "float.csv", "--score", "A", "--buffer", "6").code == 0


def test_complex_scores_are_refused(command, tmp_path):
    frame = small_frame()
    path = tmp_path / "complex.npz"
    np.savez(path, label=frame["label"], A=frame["A"] + 1j)
    outcome = command("evaluate", path, "--score", "A", "--buffer", "6")
    assert outcome.code != 0
    assert "'A' must hold real numbers, got dtype complex128" in outcome.err


def test_thresholds_beyond_memory_are_refused(command, small):
    outcome = command("evaluate", "small.csv", "--buffer", "6", "--thresholds", 10**9)
    assert outcome.code == 2
    assert "`--thresholds` must be at most" in outcome.err
    assert "available memory, got 1000000000" in outcome.err.replace("\n", " ")


def test_evaluate_and_bench_use_the_same_buffer(command, test_data, tmp_path):
    """One real file: the same value from both commands, without a word about the buffer."""
    source = min(
        (test_data / "data" / "scores").rglob("*.csv*"), key=lambda file: file.stat().st_size
    )
    folder = tmp_path / "scores" / source.parent.name
    folder.mkdir(parents=True)
    (folder / source.name).write_bytes(source.read_bytes())
    measures = ["vus_pr", "auc_pr"]
    printed = command("evaluate", source, "--measure", ",".join(measures), "--json", "--chance", 0)
    one = json.loads(printed.out)
    plan = 'executor = {workers = 1}\n[[scores]]\nfolder = "scores"\n[[evaluate]]\n'
    plan += f"measures = {measures}"
    (tmp_path / "plan.toml").write_text(plan)
    assert command("bench", "run", "plan.toml", "--plain").code == 0
    rows = json.loads(command("bench", "export", "plan.toml", "--json").out)
    found = {(row["detector"], row["measure"]): row["value"] for row in rows}
    for score in one["scores"]:
        for measure in measures:
            assert found[score["name"], measure] == pytest.approx(
                score["values"][measure], abs=1e-12
            )
    assert {row["buffer"] for row in rows} == {one["settings"]["buffer"]}
    reason = f"auto: {one['settings']['buffer_reason']}"
    assert {row["buffer_reason"] for row in rows} == {reason}


def test_measures_without_a_buffer_are_printed_where_none_is_found(command, tmp_path):
    rows = [f"{i},{int(i // 10 == 7)},{i % 9}" for i in range(200)]
    (tmp_path / "slope.csv").write_text("\n".join(["value,label,mine", *rows]))
    found = command("evaluate", "slope.csv", "--buffer", "period", "--json", "--html", "page.html")
    assert found.code == 0, found.err
    assert "note: no value of VUS-PR, VUS-ROC, R-AUC-ROC, R-AUC-PR: `values` must show" in found.err
    assert "--set buffer_fallback" in found.err
    report = json.loads(found.out)
    assert report["settings"]["buffer"] is None
    (score,) = report["scores"]
    assert score["values"]["vus_pr"] is None
    assert score["values"]["auc_pr"] > 0
    only = command("evaluate", "slope.csv", "--buffer", "period", "--measure", "vus_pr")
    assert only.code == 2
    assert "give the buffer as a number" in only.err


def test_intervals_of_one_series(command, tmp_path):
    rng = np.random.default_rng(0)
    labels = np.tile([0] * 90 + [1] * 10, 12)
    frame = pd.DataFrame({"label": labels, "mine": rng.normal(size=1200) + 1.5 * labels})
    frame.to_csv(tmp_path / "one.csv", index=False)
    line = ("evaluate", str(tmp_path / "one.csv"), "--buffer=10", "--measure=vus_pr,auc_roc")
    line += ("--interval", "0.9", "--chance", "0")
    expected = vuskit.evaluate(
        labels, frame["mine"], buffer=10, measures=["vus_pr", "auc_roc"], interval=0.9
    ).intervals
    rows = list(csv.DictReader(io.StringIO(command(*line, "--csv").out)))
    bounds = {row["measure"]: (float(row["lower"]), float(row["upper"])) for row in rows}
    assert bounds == dict(expected)
    found = json.loads(command(*line, "--json").out)
    assert found["interval"] == [str(expected)]
    assert found["scores"][0]["intervals"] == {name: list(one) for name, one in expected.items()}
    low, high = expected["vus_pr"]
    shown = command(*line).out
    assert f"{low:.3f} to {high:.3f}" in shown
    assert f"({expected})" in shown
    assert f"[{low:.3f}, {high:.3f}]" in command(*line, "--latex").out
    frame[:300].to_csv(tmp_path / "one.csv", index=False)
    why = "no interval: 3 anomalies; an interval needs at least 8"
    assert f"({why})" in command(*line).out
    assert f"note: {why}" in command(*line, "--csv").err
    spread = command(*line, "--spread", "bootstrap")
    assert "--spread is for several series; for one use --interval 0.95" in spread.err
    several = command("evaluate", str(tmp_path / "one.csv"), "--interval=0.9", "--output=run")
    assert "`--interval` must be used with one series" in several.err

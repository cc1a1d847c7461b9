"""The command line of the studies of measures, and of the comparison, as a user meets it."""

from __future__ import annotations

import io
import json
import re

import pandas as pd
import pytest
from studies.scored import make_several, write_scored
from typer.testing import CliRunner

from vuskit.cli.app import app
from vuskit.datasets.synthetic import three_scores
from vuskit.errors import InvalidInputError
from vuskit.studies import load_study_results, run_study

OWN = """
from vuskit import register_measure

@register_measure(name="first_half", title="First half")
def first_half(y_true, y_score):
    return float(y_score[: len(y_score) // 2].mean())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    source = tmp_path_factory.mktemp("scores")
    for scored in make_several():
        write_scored(source, scored)
    return source


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})


QUICK = ("--measure", "auc_pr", "--measure", "vus_pr", "--buffer", "24", "--processes", "1")


def test_all_writes_every_page_and_repeats_to_the_byte(folder, tmp_path, illustrated):
    first = invoke("study", "all", folder, *QUICK, "--set=count=3", "--output", tmp_path / "a")
    assert first.exit_code == 0, first.output
    pages = {"robustness", "separability", "consistency", "scenarios", "summary"}
    assert {path.stem for path in (tmp_path / "a").glob("*.md")} == pages
    again = invoke("study", "all", folder, *QUICK, "--set=count=3", "--output", tmp_path / "b")
    assert again.exit_code == 0
    tables = sorted(path.name for path in (tmp_path / "a").glob("*.csv"))
    assert len(tables) > 20
    for name in tables:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    for page in (tmp_path / "a").glob("*.md"):
        pictures = [
            line.split("(")[-1][:-1] for line in page.read_text().splitlines() if "![" in line
        ]
        assert pictures
        assert all((tmp_path / "a" / name).stat().st_size > 5000 for name in pictures)


def test_data_sets_that_are_too_small_show_before_the_long_studies(folder, tmp_path):
    # Two series in each data set.
    small = (*QUICK, "--set=count=2", "--series", "*/s[0-3]*", "--output", tmp_path)
    rest = invoke("study", "all", folder, *small, "--output", tmp_path / "rest")
    assert rest.exit_code == 3
    assert "consistency: skipped: `min_series` must be at most 2" in rest.stderr
    pages = {path.stem for path in (tmp_path / "rest").glob("*.md")}
    assert pages == {"robustness", "separability", "scenarios", "summary"}
    assert rest.stderr.index("consistency: skipped") < rest.stderr.index("robustness: page")


def test_series_by_several_patterns(folder, tmp_path):
    line = (
        "study",
        "robustness",
        folder,
        *QUICK,
        "--set",
        "count=2",
        "--json",
        "--output",
        tmp_path,
    )
    found = json.loads(invoke(*line, "--series", "mill/s1*", "--series", "*/s[0-3]*").stdout)
    alone = json.loads(invoke(*line, "--series", "mill/s1*").stdout)
    assert found["studies"][0]["facts"]["values"] > alone["studies"][0]["facts"]["values"]
    refused = invoke(*line, "--series", "mill/s1*", "--series", "mil/s1.csv")
    assert re.search(r"`--series` must match .*mill/s1.csv.*, got 'mil/s1", str(refused.exception))


@pytest.mark.parametrize(
    ("buffer", "told"),
    [
        ("24", "robustness: buffer: 24 points"),
        ("median-anomaly", "robustness: buffer: the median length of the anomalies (median_anom"),
    ],
)
def test_which_buffers_were_used(folder, tmp_path, buffer, told):
    line = (
        "--measure",
        "auc_pr,vus_pr",
        "--set",
        "count=2",
        "--processes",
        "1",
        "--series",
        "mill/*",
    )
    result = invoke("study", "robustness", folder, *line, "--buffer", buffer, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert told in result.stderr
    page = (tmp_path / "robustness.md").read_text(encoding="utf-8")
    assert f"Buffer: {told.partition('buffer: ')[2]}" in page


def test_a_file_has_one_vus_in_evaluate_and_in_studies(tmp_path):
    path = tmp_path / "scores" / "docs" / "series.csv"
    path.parent.mkdir(parents=True)
    scored = three_scores()
    columns = {"value": scored.series.values, "label": scored.series.labels.astype(int)}
    pd.DataFrame({**columns, **scored.scores}).to_csv(path, index=False)
    line = ("--measure", "range_auc_pr,vus_pr", "--json")
    found = json.loads(invoke("evaluate", path, *line).stdout)
    evaluated = {one["name"]: one["values"] for one in found["scores"]}
    study = run_study("consistency", path.parents[1], measures=["range_auc_pr", "vus_pr"])
    frame = study.to_frame()
    assert set(frame["detector"]) == set(evaluated)
    for row in frame.itertuples():
        assert row.value == evaluated[row.detector][row.measure]


def test_scenarios_know_their_anomaly_only(tmp_path):
    line = (
        "study",
        "scenarios",
        "--measure",
        "f_score",
        "--set",
        "n_points=600",
        "--output",
        tmp_path,
    )
    result = invoke(*line, "--buffer", "median-anomaly", "--json")
    assert json.loads(result.stdout)["studies"][0]["facts"]["buffer"] == 20
    refused = invoke(*line, "--buffer", "fft")
    assert "`--buffer fft` needs values, and scenarios have none" in str(refused.exception)


def test_a_file_adds_a_measure_of_ones_own(folder, tmp_path):
    own = tmp_path / "own.py"
    own.write_text(OWN)
    options = ("--load", own, "--buffer", "24", "--set=count=3", "--series", "mill/s1*")
    result = invoke("study", "robustness", folder, *options, "--output", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "First half" in result.output
    table = pd.read_csv(tmp_path / "out" / "robustness_averages.csv")
    assert len(table) == 14


def test_pairs_from_the_command_line(folder, tmp_path):
    command = ("study", "separability", folder, *QUICK, "--set=count=4", "--output", tmp_path)
    result = invoke(*command, "--set=pairs=good:useless")
    assert result.exit_code == 0, result.output
    assert "pairs as given" in result.output
    wrong = invoke(*command, "--set=pairs=good")
    assert isinstance(wrong.exception, InvalidInputError)
    assert re.search(r"pairs` must be .*GOOD:BAD", str(wrong.exception))


PERTURBED = {"count": 5, "lag": "score:0.1", "noise": "uniform:0.2", "seed": 3}
AS_PERTURBED = [f"--set={name}={value}" for name, value in PERTURBED.items()]


def test_all_takes_the_options_of_its_studies(folder, tmp_path):
    line = ("study", "all", folder, *QUICK, "--series", "mill/*", *AS_PERTURBED)
    result = invoke(*line, "--set=pairs=good:useless", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    studied = {type(one).__name__: one for one in load_study_results(tmp_path)}
    task = studied["RobustnessResult"].study
    assert {name: getattr(task, name) for name in PERTURBED} == PERTURBED
    separable = studied["SeparabilityResult"]
    assert separable.rule == "pairs as given"
    assert {one.values.shape[1] for one in separable.values} == {5}
    told = "robustness, consistency: all 3 series are in one data set (mill)"
    assert result.stderr.count("in one data set") == result.stderr.count(told) == 1


def test_pairs_are_perturbed_as_asked(folder, tmp_path):
    line = ("study", "separability", folder, *QUICK, *AS_PERTURBED, "--series", "mill/*")
    result = invoke(*line, "--set=pairs=good:useless", "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert "in one data set" not in result.stderr  # there are no means over data sets
    expected = run_study(
        "separability",
        folder / "mill",
        measures=["auc_pr", "vus_pr"],
        buffer=24,
        pairs=[("good", "useless")],
        **PERTURBED,
    ).to_frame()
    assert pd.read_csv(tmp_path / "separability_z.csv")["z"].to_list() == expected["z"].to_list()


def test_rules_of_pairs_reach_the_study_of_all(folder, tmp_path):
    line = ("study", "all", folder, *QUICK, "--set=count=5", "--output", tmp_path)
    rule = (
        "--set",
        "criterion=auc_roc",
        "--set",
        "top=1",
        "--set",
        "bottom=2",
        "--set",
        "min_gap=0.2",
    )
    result = invoke(*line, *rule)
    assert result.exit_code == 0, result.output
    assert (
        "separability: pairs: top 1 against bottom 2 detectors by the criterion "
        "'AUC-ROC', if they differ by at least 0.2; series without pairs: "
    ) in result.stderr
    assert "in one data set" not in result.stderr


def test_latex_on_standard_output_and_beside_csv(tmp_path):
    line = (
        "study",
        "scenarios",
        "--measure",
        "f_score",
        "--set",
        "n_points=600",
        "--output",
        tmp_path,
    )
    result = invoke(*line, "--buffer", "20", "--latex")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("% scenarios\n% options: n_points=600, ")
    assert "\n\\begin{tabular}{lrrrrrr}\n\\toprule\nmeasure &" in result.stdout
    assert "\nF & 0 & 0 & " in result.stdout
    assert (tmp_path / "scenarios_touch.tex").read_text().count("\nF & ") == 1
    both = invoke(*line, "--latex", "--json")
    assert "only one output form is possible" in str(both.exception)


@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_figures_for_papers(tmp_path, form, illustrated):
    command = (
        "study",
        "scenarios",
        "--measure",
        "f_score",
        "--set",
        "n_points=600",
        "--buffer",
        "20",
    )
    result = invoke(*command, "--figure-format", form, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    assert {path.suffix for path in tmp_path.iterdir()} >= {".md", ".csv", f".{form}"}
    assert not list(tmp_path.glob("*.png"))


def test_unknown_form_of_figures(folder, tmp_path):
    result = invoke("study", "consistency", folder, "--figure-format", "pfd", "--output", tmp_path)
    assert "got 'pfd'; did you mean 'pdf'?" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


ROWS = [f"{k % 5},{int(20 <= k < 30)},{k % 7 + 9 * (20 <= k < 30)}" for k in range(60)]
FORMS = {
    "stdin": (["-"], "value,label,LOF", ROWS),
    "pattern": (["?.csv"], "value,label,LOF", ROWS),
    "long": (
        ["a.csv", "--by", "machine"],
        "machine,value,label,LOF",
        [f"{name},{row}" for name in "xy" for row in ROWS],
    ),
    "named": (["a.csv", "--label", "bad"], "value,bad,LOF", ROWS),
}


@pytest.mark.parametrize("form", FORMS)
def test_studies_read_what_evaluate_reads(form, command, tmp_path, monkeypatch):
    words, header, rows = FORMS[form]
    text = "\n".join([header, *rows]) + "\n"
    (tmp_path / "a.csv").write_text(text)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    monkeypatch.chdir(tmp_path)
    options = ("--measure=auc_pr", "--buffer=3", "--set=count=2", "--output=out")
    outcome = command("study", "robustness", *words, *options)
    assert outcome.code == 0, outcome.err
    (found,) = load_study_results("out")
    assert len(found.inputs) == (2 if form == "long" else 1)

"""The table of a paper: the numbers of the leaderboard, the best marked, LaTeX that compiles."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

import vuskit
from vuskit import (
    EvaluationSettings,
    InvalidInputError,
    chance_level,
    evaluate_many,
    events,
    get_measure,
)
from vuskit.bench import evaluate_inputs, leaderboard
from vuskit.datasets import ScoredSeries, Series, open_inputs
from vuskit.measures.registry import Measure
from vuskit.report.publication import publication_table
from vuskit.studies import compare

NASTY = r"a_b & 50% #1 {x} \ ~ ^"


def made(*, datasets=("ECG", "KPI", "SMD"), detectors=("LOF", "PCA", "CNN", "HBOS"), each=4):
    """Values of two measures with two seeds each; a lower delay is better."""
    rng = np.random.default_rng(5)
    rows = [
        (dataset, f"s{number}", detector, seed, measure, rng.random())
        for dataset in datasets
        for number in range(each)
        for detector in detectors
        for seed in (0, 1)
        for measure in ("vus_pr", "delay")
    ]
    names = ["dataset", "series", "detector", "seed", "measure", "value"]
    frame = pd.DataFrame(rows, columns=names).assign(settings="buffer=5")
    return frame.assign(higher_is_better=frame["measure"] != "delay")


def drop(frame, detector, dataset, series, measure=None):
    """Remove values as a failed job does."""
    gone = (frame["detector"] == detector) & (frame["dataset"] == dataset)
    gone &= frame["series"] == series
    if measure is not None:
        gone &= frame["measure"] == measure
    frame = frame.assign(status=np.where(gone, "TIMEOUT", "OK"))
    return frame.assign(value=frame["value"].where(~gone))


def cell(table, detector, dataset, measure="vus_pr", column="mean"):
    rows = table.to_frame().set_index(["detector", "dataset", "measure"])
    return rows.loc[(detector, dataset, measure), column]


@pytest.mark.parametrize("by", ["series", "dataset"])
def test_means_are_those_of_the_leaderboard(by):
    values = drop(made(), "PCA", "KPI", "s1", "vus_pr")
    values = drop(values, "PCA", "KPI", "s1", "vus_pr")
    board = leaderboard(values, by=by).set_index("detector")
    table = publication_table(values, by=by, columns="measure")
    assert list(table.measures) == ["vus_pr", "delay"]
    for detector in board.index:
        for measure in table.measures:
            assert cell(table, detector, "", measure) == pytest.approx(
                board.loc[detector, measure], abs=1e-15
            )
    assert list(table.detectors) == board.index.to_list()
    assert cell(table, "LOF", "", "vus_pr", "series") == 11
    assert cell(table, "LOF", "", "delay", "series") == 12


def test_seeds_then_series_then_data_sets():
    values = made()
    table = publication_table(values, by="dataset")
    assert table.columns == "dataset"
    assert list(table.measures) == ["vus_pr"]
    own = values[(values["detector"] == "CNN") & (values["measure"] == "vus_pr")]
    series = own.groupby(["dataset", "series"])["value"].mean()
    datasets = series.groupby("dataset").mean()
    assert cell(table, "CNN", "ECG") == pytest.approx(datasets["ECG"])
    assert cell(table, "CNN", "ECG", column="std") == pytest.approx(series["ECG"].std())
    assert cell(table, "CNN", "") == pytest.approx(datasets.mean())
    assert cell(table, "CNN", "", column="std") == pytest.approx(datasets.std())
    wide = values[values["measure"] == "vus_pr"].groupby(["dataset", "series", "detector"])
    ranks = wide["value"].mean().unstack().rank(axis=1, ascending=False).mean()
    assert cell(table, "CNN", "", column="mean_rank") == pytest.approx(ranks["CNN"])


def test_bootstrap_intervals_are_reproducible_and_hold_the_mean():
    first, again = (publication_table(made(), spread="bootstrap", seed=3) for _ in range(2))
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
    other = publication_table(made(), spread="bootstrap", seed=4).to_frame()
    assert not first.to_frame()["lower"].equals(other["lower"])
    frame = first.to_frame()
    assert (frame["lower"] < frame["mean"]).all()
    assert (frame["mean"] < frame["upper"]).all()
    low, high = frame["lower"][0], frame["upper"][0]
    assert f"[{low:.3f}, {high:.3f}]" in first.to_text()


def test_intervals_do_not_depend_on_other_measures():
    """Nor on the order of the rows: series are resampled in the order of their names."""
    values = made(detectors=("LOF",), each=6)
    values = values[~((values["dataset"] == "ECG") & values["series"].isin(["s0", "s2"]))]
    values = values[values["seed"] == 0]
    delay = values["measure"] == "delay"
    extra = values[delay].assign(series="s9")
    alone = publication_table(values[~delay], spread="bootstrap")
    shown = publication_table(
        pd.concat([extra, values]).sample(frac=1, random_state=0),
        measures=["vus_pr", "delay"],
        spread="bootstrap",
    )
    for dataset in ("ECG", "KPI", ""):
        for column in ("lower", "upper"):
            found = [cell(one, "LOF", dataset, column=column) for one in (alone, shown)]
            assert found[0] == found[1]


def fixed(rows, **more):
    """One series per data set; values by detector."""
    return pd.DataFrame(
        [
            {"dataset": dataset, "series": "s", "detector": detector, "value": value}
            for detector, values in rows.items()
            for dataset, value in values.items()
        ]
    ).assign(measure="vus_pr", **more)


def test_best_and_second_best_at_the_printed_precision():
    rows = {"A": {"x": 0.50002}, "B": {"x": 0.50001}, "C": {"x": 0.4}, "D": {"x": 0.1}}
    text = publication_table(fixed(rows), columns="dataset", rank=None).to_markdown()
    assert re.findall(r"\| (\w) \| (.+) \|", text) == [
        ("A", "**0.500**"),
        ("B", "**0.500**"),
        ("C", "0.400"),  # third, behind two that share the best value
        ("D", "0.100"),
    ]
    fine = publication_table(fixed(rows), columns="dataset", rank=None, digits=5).to_markdown()
    assert "| A | **0.50002** |\n| B | <u>0.50001</u> |" in fine


def test_lower_is_better_where_the_measure_says_so():
    rows = {"A": {"x": 3.0}, "B": {"x": 1.0}, "C": {"x": 2.0}}
    table = publication_table(fixed(rows, higher_is_better=False), columns="dataset")
    assert table.detectors == ("B", "C", "A")
    assert "| B | **1.000** | **1.00** |" in table.to_markdown()
    assert "lower is better" in table.caption
    measures = publication_table(fixed(rows, higher_is_better=False), columns="measure")
    assert "VUS-PR ↓" in measures.to_text()
    assert r"VUS-PR $\downarrow$" in measures.to_latex()


def test_equal_values_are_not_marked():
    table = publication_table(fixed({"A": {"x": 0.5}, "B": {"x": 0.5}}), columns="dataset")
    assert "*" not in table.to_text()
    assert "best" not in table.to_text()


def test_data_sets_with_several_measures_are_groups():
    table = publication_table(made(), measures=["VUS-PR", "delay"], columns="dataset")
    above, header = table.to_text().splitlines()[1:3]
    assert above.split() == ["ECG", "KPI", "SMD", "mean"]
    assert header.split() == ["detector", *["VUS-PR", "delay", "↓"] * 4]
    latex = table.to_latex(width=200)
    assert r"\multicolumn{2}{c}{ECG}" in latex
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5}" in latex
    assert latex.count(r"\begin{tabular}") == 1
    assert table.to_latex(width=60).count(r"\begin{tabular}") > 1


def test_counts_failures_settings_and_buffers():
    values = drop(made(), "PCA", "KPI", "s1").assign(buffer=[5] * 96 + [9] * 96)
    values = pd.concat([values, made(detectors=["Bad"]).assign(value=np.nan, status="ERROR")])
    table = publication_table(values)
    assert table.detectors[-1] == "Bad"
    assert table.failures == {"PCA": "1 TIMEOUT", "Bad": "12 ERROR"}
    text = table.to_text(100)
    assert re.search(r"^Bad( +[^\w\s]){5}$", text, re.MULTILINE)
    assert re.search(r"^series +4 +3 +4 +11$", text, re.MULTILINE)
    assert "Without a value, of 12 series: PCA: 1 TIMEOUT; Bad: 12 ERROR." in text
    assert "Without PCA, 12 series have values of all detectors, not 11." in text
    assert "Without PCA" not in publication_table(made()).to_text(100)
    assert "Settings: buffer=5." in text
    assert "Buffer 5 to 9 points." in text


def test_chance_row():
    values = made()
    chance = values.drop_duplicates(["dataset", "series", "measure"]).assign(value=0.25)
    table = publication_table(values, chance=chance[["dataset", "series", "measure", "value"]])
    line = next(line for line in table.to_text().splitlines() if line.startswith("chance"))
    assert line.split() == ["chance", *["0.250", "±", "0.000"] * 4]
    assert "Chance: mean of random scores." in table.caption
    with pytest.raises(InvalidInputError, match="`chance` must be a table of chance levels unless"):
        publication_table(values, chance=True)


def test_values_without_data_sets_or_seeds():
    values = made(datasets=["ECG"])[["series", "detector", "measure", "value"]]
    table = publication_table(values)
    assert table.columns == "measure"
    assert table.to_text().splitlines()[1].split() == ["detector", "VUS-PR", "delay"]
    own = publication_table(values[values["measure"] == "vus_pr"].drop(columns="measure"))
    assert own.to_text().splitlines()[1].split() == ["detector", "value", "rank"]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda one: one.drop(columns="value"), {}, "must have the columns .* got none named 'val"),
        (lambda one: one, {"measures": "vus_rp"}, "got 'vus_rp'; did you mean 'vus_pr'"),
        (lambda one: one, {"detectors": ["LOV"]}, "`detectors` must be among 'LOF', "),
        (lambda one: one, {"columns": "series"}, "`columns` must be one of"),
        (lambda one: one, {"spread": "sd"}, "`spread` must be one of 'std', 'bootstrap', 'none'"),
        (lambda one: one, {"settings": "buffer=6"}, "`settings` must be one of 'buffer=5', got"),
        (
            lambda one: pd.concat([one, one.assign(settings="buffer=9")]),
            {},
            "`settings` must be one of 'buffer=5', 'buffer=9', got none",
        ),
        (
            lambda one: one[(one["detector"] == "LOF") == (one["dataset"] == "ECG")],
            {},
            "with values of all detectors, got none. Series by detector: LOF 4, ",
        ),
        (lambda one: one.assign(value=np.nan), {}, "`values` must have at least one value"),
        (lambda one: 3, {}, "`values` must be a data frame or a Run, got int"),
    ],
)
def test_errors_say_what_to_do(change, options, message):
    with pytest.raises(InvalidInputError, match=message):
        publication_table(change(made()), **options)


def compile_latex(folder, *tables):
    """Compile tables in an article; return what LaTeX says."""
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("needs pdflatex")
    body = "\n\\clearpage\n".join(tables)
    document = (
        f"\\documentclass{{article}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n{body}\n"
    )
    (folder / "table.tex").write_text(document + "\\end{document}\n", encoding="utf-8")
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "table.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def test_latex_compiles_and_fits_the_page(tmp_path):
    greek = "\u03b1-\u03a3 é ± ∞"
    names = ["LOF", NASTY, greek, "PCA <b>|</b>", *(f"detector {i}" for i in range(30))]
    sets = ["ECG", "a_b & 50%", "NAB_data {1}", *(f"set{i}" for i in range(9))]
    values = made(datasets=sets, detectors=names, each=2)
    chance = values.drop_duplicates(["dataset", "series", "measure"])
    labels = [0] * 20 + [1] * 4 + [0] * 20
    evaluated = evaluate_many(labels, {NASTY: labels, greek: range(44)}, buffer=4)
    tables = [
        publication_table(values, chance=chance),
        publication_table(values, spread="bootstrap"),
        publication_table(values, columns="measure"),
        publication_table(
            values, measures=["vus_pr", "delay"], columns="dataset", detectors=names[:5]
        ),
        publication_table(drop(made(), "PCA", "KPI", "s1")),
        publication_table(values, spread=None, detectors=names[:4]),
        compare(values[values["measure"] == "vus_pr"]),
        evaluated,
        evaluated[NASTY],
        events(labels, labels, threshold=1),
    ]
    said = compile_latex(tmp_path, *(table.to_latex() for table in tables))
    assert "Overfull" not in said
    assert "too large" not in said


def test_the_buffer_rule_is_a_note():
    why = "auto: median length of 3 anomalies, as there are no values"
    values = made().assign(buffer=[5] * 96 + [638] * 96, buffer_reason=why)
    note = "Buffer auto: median anomaly length, no values given; 5 to 638 points."
    for text in (publication_table(values).to_latex(), publication_table(values).to_html()):
        assert note in " ".join(text.split())


def test_latex_with_a_caption_and_label():
    table = publication_table(made(), spread=None)
    latex = table.to_latex(caption="Means & ranks", label="tab:means")
    assert r"\caption{Means \& ranks. Bold: best in column." in " ".join(latex.split())
    assert latex.count(r"\label{tab:means}}") == 1
    assert r"\label" not in table.to_latex()
    with pytest.raises(InvalidInputError, match="`label` needs `caption`"):
        vuskit.list_properties().to_latex(label="tab:properties")


def test_chance_of_measures_with_options_and_custom_measures():
    rng = np.random.default_rng(0)
    labels = np.tile([0] * 40 + [1] * 5, 8)
    series = [
        ScoredSeries(
            Series(f"s{number}", "ECG", rng.normal(size=360), labels),
            {"A": rng.random(360), "B": rng.random(360) + labels},
        )
        for number in range(2)
    ]

    def share(y_true, scores):
        return float(y_true[scores.argmax()])

    best = get_measure("point_adjusted_f_score").with_options(threshold="best")
    own = Measure("share", "Share", share)
    values = evaluate_inputs(
        open_inputs(series), measures=[best, own], settings=EvaluationSettings(buffer=5)
    )
    table = publication_table(values, chance=4)
    random = {cell["measure"]: cell["mean"] for cell in table.cells if not cell["detector"]}
    level = chance_level(labels, buffer=5, measures=[best, own], draws=4).mean
    assert random == pytest.approx(level)
    assert random[best.name] > 0.2
    assert not [note for note in table.notes if "chance" in note]


def test_a_missing_chance_level_states_its_reason():
    labels = np.tile([0] * 40 + [1] * 5, 8)
    scored = ScoredSeries(Series("s", "ECG", np.arange(360.0), labels), {"A": labels * 1.0})
    settings = EvaluationSettings(buffer=5, threshold=0.5)
    values = evaluate_inputs(open_inputs(scored), measures=["f_score"], settings=settings)
    notes = publication_table(values, chance=2).notes
    assert "No chance level of F: `threshold` must be a rule for random scores, got 0.5." in notes

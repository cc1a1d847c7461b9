"""``vuskit compare``: tables as users have them, ranks they can trust."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from vuskit.bench import Run, load_plan, run_plan
from vuskit.report.publication import publication_table
from vuskit.studies import compare


def wide_frame():
    """Twelve series of two data sets, four detectors; the first two are alike."""
    rng = np.random.default_rng(3)
    base = rng.random(12)
    return pd.DataFrame(
        {
            "dataset": ["ECG"] * 5 + ["KPI"] * 7,
            "series": [f"s{i}" for i in range(12)],
            "LOF": base + rng.normal(0.30, 0.05, 12),
            "IForest": base + rng.normal(0.28, 0.05, 12),
            "PCA": base + rng.normal(0.1, 0.05, 12),
            "Random": base - rng.random(12) / 2,
        }
    )


def long_frame():
    """The same as one row for each series and detector, with two measures."""
    long = wide_frame().melt(["dataset", "series"], var_name="detector", value_name="vus_pr")
    return long.assign(auc_pr=1 - long["vus_pr"])


@pytest.fixture
def wide(tmp_path):
    wide_frame().to_csv(tmp_path / "wide.csv", index=False)
    return tmp_path


@pytest.fixture
def long(tmp_path):
    long_frame().to_csv(tmp_path / "long.csv", index=False)
    return tmp_path


def test_table_and_diagram(command, wide, snapshot):
    outcome = command("compare", "wide.csv")
    assert (outcome.code, outcome.err) == (0, "")
    snapshot("compare", outcome.out)


def test_latex(command, wide, snapshot):
    snapshot("compare_latex", command("compare", "wide.csv", "--latex").out, width=200)


def test_numbers_are_those_of_the_library(command, wide):
    found = compare(wide_frame()[["LOF", "IForest", "PCA", "Random"]], test="nemenyi", alpha=0.1)
    options = ("--test", "nemenyi", "--alpha", "0.1")
    as_json = json.loads(command("compare", "wide.csv", *options, "--json").out)
    for row in as_json["detectors"]:
        assert row["mean_rank"] == found.summary.loc[row["name"], "mean_rank"]
        assert row["lower"] == found.summary.loc[row["name"], "lower"]
    assert as_json["groups"] == [list(group) for group in found.groups]
    assert as_json["critical_difference"] == found.pairs.critical_difference
    assert len(as_json["pairs"]) == 6
    as_csv = list(
        csv.DictReader(io.StringIO(command("compare", "wide.csv", *options, "--csv").out))
    )
    assert [row["name"] for row in as_csv] == [row["name"] for row in as_json["detectors"]]
    assert float(as_csv[0]["mean_rank"]) == as_json["detectors"][0]["mean_rank"]


@pytest.mark.parametrize("form", ["wide.csv", "wide.tsv", "wide.csv.gz", "wide.parquet"])
def test_formats_agree(command, wide, form):
    frame = wide_frame()
    if form.endswith("parquet"):
        frame.to_parquet(form)
    else:
        frame.to_csv(form, index=False, sep="\t" if "tsv" in form else ",")
    assert command("compare", form, "--csv").out == command("compare", "wide.csv", "--csv").out


def test_long_table_gives_the_same_as_a_wide_one(command, wide, long):
    first = command("compare", "wide.csv", "--csv").out
    second = command("compare", "long.csv", "--measure", "VUS-PR", "--csv")
    assert second.out == first
    default = command("compare", "long.csv", "--csv")
    assert default.out == first
    assert default.err == "by vus_pr; choose other measures of the table with --measure\n"


def test_lower_is_better_turns_the_order(command, wide):
    up = command("compare", "wide.csv", "--csv").out.splitlines()[1:]
    down = command("compare", "wide.csv", "--csv", "--lower").out.splitlines()[1:]
    assert up[0].partition(",")[0] == down[-1].partition(",")[0]


def test_data_sets_as_rows(command, wide, long):
    for table in ("wide.csv", "long.csv"):
        found = json.loads(command("compare", table, "--unit", "dataset", "--json").out)
        assert found["rows"] == 2
    frame = wide_frame().groupby("dataset")["LOF"].mean()
    row = next(one for one in found["detectors"] if one["name"] == "LOF")
    assert row["mean"] == pytest.approx(frame.mean())


def test_some_detectors(command, wide, long):
    for table in ("wide.csv", "long.csv"):
        found = json.loads(command("compare", table, "--exclude", "Random", "--json").out)
        assert len(found["detectors"]) == 3
        options = ("--detector", "LOF", "--detector", "PCA")
        two = json.loads(command("compare", table, *options, "--json").out)
        assert {row["name"] for row in two["detectors"]} == {"LOF", "PCA"}
        assert two["friedman"] is None


def test_names_with_commas(command, wide, long):
    for table in ("wide.csv", "long.csv"):
        found = json.loads(command("compare", table, "--exclude", "Random, PCA", "--json").out)
        assert {row["name"] for row in found["detectors"]} == {"LOF", "IForest"}
        kept = json.loads(command("compare", table, "--detector", "LOF,PCA", "--json").out)
        assert {row["name"] for row in kept["detectors"]} == {"LOF", "PCA"}
    wide_frame().rename(columns={"LOF": "LOF, k=3"}).to_csv("comma.csv", index=False)
    found = json.loads(command("compare", "comma.csv", "--exclude", "LOF, k=3", "--json").out)
    assert {row["name"] for row in found["detectors"]} == {"IForest", "PCA", "Random"}


FACTS = {"ts_len": 5000, "num_anomaly": 3, "anomaly_ratio": 0.04, "points": 7000, "Time": 2.5}


def test_columns_about_the_series_win_no_leaderboard(command, wide):
    plain = command("compare", "wide.csv", "--csv").out
    frame = wide_frame()
    frame.assign(**{name: value + frame.index % 3 for name, value in FACTS.items()}).to_csv(
        "facts.csv", index=False
    )
    outcome = command("compare", "facts.csv", "--csv")
    assert outcome.out == plain
    assert outcome.err == (
        "left out, not values of a measure: ts_len (by its name), num_anomaly (by its name), "
        "anomaly_ratio (by its name), points (whole numbers up to 7,002), Time (by its name); "
        "compare them anyway with --detector NAME for each column\n"
    )
    quiet = command("compare", "facts.csv", "--csv", "--exclude", ",".join(FACTS))
    assert (quiet.out, quiet.err) == (plain, "")
    forced = json.loads(command("compare", "facts.csv", "--detector", "LOF,ts_len", "--json").out)
    assert {row["name"] for row in forced["detectors"]} == {"LOF", "ts_len"}


def test_columns_about_the_series_are_no_measures(command, long):
    plain = command("compare", "long.csv", "--csv").out
    frame = long_frame().drop(columns="auc_pr")
    facts = {"ts_len": 5000, "difficulty": 0.25}
    place = frame["series"].str[1:].astype(int)
    frame.assign(**{name: value + place % 3 / 8 for name, value in facts.items()}).to_csv(
        "facts.csv", index=False
    )
    outcome = command("compare", "facts.csv", "--csv")
    assert outcome.out == plain
    assert outcome.err == (
        "left out, not values of a measure: ts_len (by its name), difficulty (the same for all "
        "detectors); compare them anyway with --measure NAME\n"
    )
    forced = json.loads(command("compare", "facts.csv", "--measure", "difficulty", "--json").out)
    assert forced["measure"] == "difficulty"
    frame[["series", "detector"]].assign(ts_len=5).to_csv("none.csv", index=False)
    failed = command("compare", "none.csv")
    assert failed.code == 2
    assert "`TABLE` must have a column of values, got none; left out, not values of" in failed.err


def test_whole_numbers_are_compared_where_there_is_nothing_else(command, wide):
    frame = wide_frame()
    names = ["LOF", "IForest", "PCA", "Random"]
    frame[names] = frame[names].rank(axis=1).astype(int)
    frame.to_csv("ranks.csv", index=False)
    outcome = command("compare", "ranks.csv", "--lower", "--json")
    assert outcome.err == ""
    assert len(json.loads(outcome.out)["detectors"]) == 4


def test_impossible_values_of_a_known_measure_are_left_out(command, long):
    long_frame().assign(auc_pr=3000.5).to_csv("large.csv", index=False)
    assert "auc_pr (values from 3,000 to 3,000)" in command("compare", "large.csv", "--csv").err


@pytest.mark.parametrize(
    ("ending", "start"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89P")]
)
def test_figure(command, wide, ending, start):
    outcome = command("compare", "wide.csv", "--figure", f"cd.{ending}")
    files = [f"cd{suffix}.{ending}" for suffix in ("", "_means", "_pairs")]
    assert outcome.err.splitlines() == [f"figure: {file}" for file in files]
    assert all((wide / file).read_bytes().startswith(start) for file in files)
    assert (wide / f"cd.{ending}").read_bytes().startswith(start)


def test_output_folder(command, wide):
    outcome = command("compare", "wide.csv", "--output", "out")
    assert outcome.err == "page, tables and diagram: out/comparison.md\n"
    written = {path.name for path in (wide / "out").iterdir()}
    assert {"comparison.md", "comparison_ranks.csv", "comparison_diagram.png"} <= written
    assert not [name for name in written if name.startswith(".") or name.endswith(".tex")]
    command("compare", "wide.csv", "--output", "tex", "--latex")
    assert {"comparison_ranks.tex", "comparison_pairs.tex"} <= {
        path.name for path in (wide / "tex").iterdir()
    }


def test_few_series_say_that_no_pair_can_be_significant(command, wide):
    pd.read_csv("wide.csv").head(4).to_csv("few.csv", index=False)
    found = " ".join(command("compare", "few.csv").out.split())
    assert "n too small: no pair can be significant (needs n >= 8)" in found
    told = json.loads(command("compare", "few.csv", "--json").out)
    assert told["rows_needed"] == 8
    assert told["smallest_p_value"] >= told["alpha"]


def test_many_detectors_fit_the_terminal(command, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"a detector with a long name, number {i}" for i in range(30)]
    table = pd.DataFrame(rng.random((8, 30)), columns=names)
    table.to_csv("many.csv", index=False)
    outcome = command("compare", "many.csv")
    assert outcome.code == 0
    diagram = outcome.out.split("\n\n")[1]
    assert max(map(len, diagram.splitlines())) <= 80


def mixed_settings():
    return pd.concat([long_frame().assign(settings=name) for name in ("buffer=5", "buffer=9")])


CASES = {
    "measure": (long_frame, ["--measure", "vus_rp"], "got 'vus_rp'; did you mean 'vus_pr'?"),
    "detector": (long_frame, ["--detector", "LOV"], "got 'LOV'; did you mean 'LOF'?"),
    "ignore": (wide_frame, ["--exclude", "PAC"], "`--exclude` must be one of 'LOF', "),
    "by": (wide_frame, ["--unit", "datasets"], "did you mean 'dataset'?"),
    "no_dataset": (
        lambda: wide_frame().drop(columns="dataset"),
        ["--unit", "dataset"],
        "`--unit dataset` needs a column 'dataset', got none",
    ),
    "settings": (
        mixed_settings,
        [],
        "`--settings` must be one of 'buffer=5', 'buffer=9', got none",
    ),
    "figure": (wide_frame, ["--figure", "cd.docx"], "must be a file that ends in .pdf, .svg, .png"),
    "figure_place": (wide_frame, ["--figure", "no/cd.pdf"], "there is no folder 'no'"),
    "no_common": (
        lambda: wide_frame().assign(
            LOF=lambda one: one["LOF"].where(one["dataset"] == "ECG"),
            PCA=lambda one: one["PCA"].where(one["dataset"] != "ECG"),
        ),
        [],
        "series with a value of all detectors, got 0 of 12. Series with a value: LOF 5, "
        "IForest 12, PCA 7, Random 12. Compare fewer detectors with --detector or --exclude, or "
        "rank missing values last with --missing worst",
    ),
    "one_row": (lambda: wide_frame()[:1], [], "must hold at least 2 series to compare, got 1; for"),
    "one_column": (lambda: wide_frame()[["LOF"]], [], "for at least two detectors"),
    "scores": (
        lambda: wide_frame().assign(label=0),
        [],
        "looks like the scores of one series (column 'label'), not like a table of results; "
        "evaluate it with: vuskit evaluate scores.csv",
    ),
    "words": (
        lambda: pd.DataFrame({"series": ["a"], "detector": ["x"], "note": ["n"]}),
        [],
        "must have a column of values",
    ),
    "test": (wide_frame, ["--test", "wilcoxn"], "did you mean 'wilcoxon'?"),
    "forms": (wide_frame, ["--json", "--latex"], "got --json and --latex"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_helpful_sentence(command, name):
    make, options, expected = CASES[name]
    make().to_csv(f"{name}.csv", index=False)
    outcome = command("compare", f"{name}.csv", *options)
    assert outcome.code == 2
    last = outcome.err.splitlines()[-1]
    assert last.startswith("vuskit: ")
    assert expected in last
    assert "Traceback" not in outcome.err


def test_settings_are_told(command):
    long_frame().assign(settings="buffer=5").to_csv("one.csv", index=False)
    assert "settings: buffer=5" in command("compare", "one.csv").err.splitlines()


def test_one_of_several_settings(command):
    mixed_settings().to_csv("mixed.csv", index=False)
    outcome = command("compare", "mixed.csv", "--settings", "buffer=9", "--json")
    assert json.loads(outcome.out)["rows"] == 12


def test_places_that_are_no_table(command, wide):
    (wide / "folder").mkdir()
    (wide / "empty.csv").touch()
    (wide / "junk.parquet").write_text("junk")
    (wide / "book.xlsx").write_text("PK")
    answers = {
        "folder": "must be a file or a run folder, got",
        "empty.csv": "the file is empty; it must hold a table of results",
        "junk.parquet": "not a readable parquet file",
        "book.xlsx": "must be a .csv or .parquet file, a run folder or a pack",
        "wid.csv": "there is no such file; did you mean 'wide.csv'?",
    }
    for place, answer in answers.items():
        outcome = command("compare", place)
        assert (outcome.code, outcome.out) == (2, "")
        assert answer in outcome.err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_of_rows_are_no_detector(command, wide, kind):
    frame = wide_frame().set_index(pd.Index(range(12, 0, -1)))
    getattr(frame, f"to_{kind}")(f"indexed.{kind}")
    assert command("compare", f"indexed.{kind}").out == command("compare", "wide.csv").out


def test_table_with_decimal_commas(command, wide):
    wide_frame().to_csv("commas.csv", index=False, sep=";", decimal=",")
    assert command("compare", "commas.csv").out == command("compare", "wide.csv").out


FAILING = """
def never(values):
    raise RuntimeError("always")

def sometimes(values):
    if len(values) == 1500:
        raise RuntimeError("too short")
    return abs(values - values.mean())
"""
FAILING_PLAN = """
folder = "run"
series = [
    {family = "ecg", n = 1500, n_anomalies = 3, seed = 1},
    {family = "ecg", n = 1600, n_anomalies = 3, seed = 2},
    {family = "ecg", n = 1700, n_anomalies = 3, seed = 3},
]
detectors = [{name = "values"}, {name = "failing:never"}, {name = "failing:sometimes"}]
evaluate = [{measures = ["auc_pr"], buffer = 5}]
executor = {workers = 1}
"""


@pytest.fixture(scope="module")
def with_failures(tmp_path_factory):
    """A run in which a detector fails on one series and another on all, and its exported tables."""
    place = tmp_path_factory.mktemp("failures")
    (place / "failing.py").write_text(FAILING)
    (place / "bench.toml").write_text(FAILING_PLAN)
    run_plan(load_plan(place / "bench.toml"))
    for shape in ("values", "wide"):
        Run(place / "run").export(place / f"{shape}.csv", shape=shape)
    return place


@pytest.mark.parametrize("form", ["run", "values.csv", "wide.csv"])
def test_who_has_no_value_is_left_out_or_last(command, with_failures, form):
    table = with_failures / form
    dropped = command("compare", table, "--csv")
    assert dropped.code == 0, dropped.err
    assert "left out, without any value: failing:never\n" in dropped.err
    names = [row["name"] for row in csv.DictReader(io.StringIO(dropped.out))]
    assert sorted(names) == ["Values", "failing:sometimes"]

    worst = command("compare", table, "--missing", "worst", "--csv")
    assert worst.code == 0, worst.err
    assert "left out" not in worst.err
    used = "mean and median use 2 of 3 series, those with a value of all detectors"
    assert f"{used}; fewer than 3: failing:sometimes 2\n" in worst.err
    *_, last = csv.DictReader(io.StringIO(worst.out))
    assert (last["name"], last["mean"], last["median"]) == ("failing:never", "", "")
    assert float(last["mean_rank"]) > 2.5
    shown = command("compare", table, "--missing", "worst").out
    assert "nan" not in shown

    refused = command("compare", table, "--missing", "raise")
    assert refused.code == 2
    assert "must have no missing cell" in refused.err


def test_a_data_set_uses_the_series_that_all_detectors_have(command):
    wide = wide_frame()
    wide.loc[0, "LOF"] = wide.loc[5, "PCA"] = np.nan
    wide.loc[wide["dataset"] == "KPI", "Random"] = np.nan
    wide.to_csv("holes.csv", index=False)
    options = ("--unit", "dataset", "--missing", "worst", "--json")
    found = json.loads(command("compare", "holes.csv", *options).out)
    assert (found["rows"], found["rows_in_means"]) == (2, 1)
    means = {row["name"]: row["mean"] for row in found["detectors"]}
    assert means["IForest"] == pytest.approx(wide["IForest"][1:5].mean())
    assert means["Random"] == pytest.approx(wide["Random"][1:5].mean())


def test_the_table_is_that_of_publication_table(command, wide, long):
    expected = publication_table(
        long_frame().melt(["dataset", "series", "detector"], var_name="measure"),
        measures="vus_pr",
    )
    shown = command("compare", "long.csv", "--measure", "vus_pr")
    assert expected.to_text(80) + "\n\nRanks by VUS-PR" in shown.out
    latex = command("compare", "long.csv", "--measure", "vus_pr", "--latex").out
    assert latex.startswith(expected.to_latex() + "\n\n\\begin{table}")
    markdown = command("compare", "long.csv", "--measure", "vus_pr", "--markdown").out
    assert markdown.startswith(expected.to_markdown() + "\n\nComparison by VUS-PR")
    found = json.loads(command("compare", "long.csv", "--measure", "vus_pr", "--json").out)
    means = {(one["detector"], one["dataset"]): one["mean"] for one in found["cells"]}
    assert means["LOF", "ECG"] == pytest.approx(wide_frame()["LOF"][:5].mean())
    table = expected.to_frame().query("dataset == ''").set_index("detector")["mean"]
    assert means["LOF", ""] == pytest.approx(table["LOF"])


def test_several_measures_and_kinds_of_spread(command, long):
    both = command("compare", "long.csv", "--measure", "vus_pr,auc_pr")
    assert "\nVUS-PR, AUC-PR of 4 detectors" in both.out
    drawn = command("compare", "long.csv", "--measure", "vus_pr", "--spread", "bootstrap")
    assert "[95% bootstrap interval, 1,000 resamples, seed 0]" in " ".join(drawn.out.split())
    plain = command("compare", "long.csv", "--spread", "none", "--html", "ranks.html")
    assert "±" not in plain.out
    page = (long / "ranks.html").read_text()
    assert page.count("<table>") == 3
    wrong = command("compare", "long.csv", "--spread", "sd")
    assert "`--spread` must be one of 'std', 'bootstrap', 'none', got 'sd'" in wrong.err


def test_means_are_missing_if_no_series_counts(command, wide):
    frame = wide_frame().assign(LOF=np.nan, PCA=lambda one: one["PCA"].where(one.index > 5))
    frame.loc[6:, "Random"] = np.nan
    frame.to_csv("none.csv", index=False)
    shown = command("compare", "none.csv", "--missing", "worst")
    assert shown.code == 0, shown.err
    assert "\n\nRanks by value" in shown.out


def known(n, better=0.0, other=None):
    """Values of three detectors on n series; A is better by some amount, or by one measure only."""
    rng = np.random.default_rng(1)
    rows = []
    for series in range(n):
        shared = rng.normal(0.5, 0.1)
        for name in "ABC":
            first = shared + better * (name == "A") + rng.normal(0, 0.03)
            second = shared + (other or 0.0) * (name == "B") + rng.normal(0, 0.03)
            rows.append((f"s{series}", name, first, second))
    return pd.DataFrame(rows, columns=["series", "detector", "vus_pr", "vus_roc"])


@pytest.mark.parametrize(
    ("frame", "question", "expected"),
    [
        (known(30), "significance", "Undecided: "),
        (known(30, 0.2), "significance", "A is significantly better than all other detectors ("),
        (
            known(30, 0.2, 0.2),
            "measures",
            "The winner depends on the measure: A leads by",
        ),
        (known(30, 0.2, None).assign(vus_roc=lambda t: t["vus_pr"]), "measures", "A also leads by"),
        (known(4, 0.3), "significance", "Undecided: with 4 series, no pair can differ"),
    ],
)
def test_the_verdict_on_known_truth(command, tmp_path, frame, question, expected):
    frame.to_csv(tmp_path / "known.csv", index=False)
    line = ("compare", str(tmp_path / "known.csv"))
    shown = command(*line)
    assert shown.code == 0, shown.err
    found = json.loads(command(*line, "--json").out)
    sentences = found["verdict"]["sentences"]
    assert sentences[question].startswith(expected)
    text = " ".join(shown.out.split())
    assert text.startswith(" ".join(sentences.values()))
    assert max(map(len, shown.out.splitlines())) <= 80
    undecided = found["friedman"]["p_value"] >= 0.05
    assert ("No groups: Friedman's test finds no difference" in text) == undecided
    assert ("Groups of neighbors" in text) == bool(found["groups"]) == (not undecided)
    # Pairs that no group contains are either significant or listed.
    joined = [set(group) for group in found["groups"]]
    for pair in found["pairs"]:
        names = {pair["first"], pair["second"]}
        if joined and not any(names <= group for group in joined) and not pair["significant"]:
            assert any(names == set(one) for one in found["unjoined"])
    statement = command(*line, "--statement").out
    assert " ".join(statement.split()) == found["statement"]
    assert " ".join(sentences.values()) in found["statement"]


def test_bayesian_test_and_statement_in_latex(command, tmp_path):
    known(20, 0.2).to_csv(tmp_path / "known.csv", index=False)
    line = ("compare", str(tmp_path / "known.csv"), "--rope", "0.05")
    assert "better/equal/worse" in command(*line).out
    found = json.loads(command(*line, "--json").out)["bayesian"]
    assert found["rope"] == 0.05
    rows = {(row["first"], row["second"]): row for row in found["frame"]}
    best = next(row for names, row in rows.items() if "A" in names)
    assert max(best["p_first"], best["p_second"]) > 0.99
    latex = command(*line, "--statement", "--latex").out
    assert "95\\% interval" in latex
    wrong = command(*line, "--statement", "--csv")
    assert wrong.code != 0
    assert "--statement" in wrong.err


def test_caption_and_label_in_latex(command, wide):
    latex = command(
        "compare", "wide.csv", "--latex", "--caption", "Means & ranks", "--table-label", "tab:a"
    ).out
    assert latex.count("\\label{tab:a}") == 1
    assert "\\caption{Means \\& ranks. " in latex


def test_several_tables(command, wide, long):
    wide_frame().rename(columns={"series": "filename"}).drop(columns="PCA")[:9].to_csv(
        "published.csv", index=False
    )
    found = command("compare", "long.csv", "published.csv", "--json")
    assert found.code == 0, found.err
    content = json.loads(found.out)
    assert content["rows"] == 9
    names = {row["name"] for row in content["detectors"]}
    assert {"LOF (long)", "LOF (published)", "PCA"} <= names
    assert "9 series in all tables" in found.err
    text = command("compare", "long.csv", "published.csv", "--unit", "dataset")
    assert text.code == 0, text.err
    assert "LOF (published)" in text.out


def test_lower_holds_for_all_measures(command, long):
    shown = command("compare", "long.csv", "--measure", "vus_pr,auc_pr", "--lower", "--markdown")
    assert "| VUS-PR \N{DOWNWARDS ARROW} | AUC-PR \N{DOWNWARDS ARROW} |" in shown.out

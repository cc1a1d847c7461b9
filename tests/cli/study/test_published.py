"""``--as-published`` and ``--published``: presets, options that replace them, and both tables."""

from __future__ import annotations

import csv
import io

import pytest
from cli.json_keys import strict_json
from cli.study.test_scores import invoke
from studies.scored import make_several, write_scored

from vuskit.studies import load_study_results

MEASURES = ("--measure", "f_score,auc_pr,vus_pr", "--buffer", "24", "--processes", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    source = tmp_path_factory.mktemp("scores")
    for scored in make_several()[::2]:
        write_scored(source, scored)
    return source


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    tables = tmp_path_factory.mktemp("published")
    rows = "".join(f"s{n}.out,0.0{n + 1},0.1,0.05\n" for n in (0, 2, 4))
    (tables / "robustness_lag.csv").write_text(f"series,F,AUC_PR,VUS_PR\n{rows}")
    return tables


def test_options_that_are_given_replace_the_preset(folder, tmp_path):
    line = ("study", "robustness", folder, *MEASURES, "--as-published", "--output", tmp_path)
    own = ("--set=noise=uniform:0.1", "--set=thresholds=40", "--set=perturbations=noise")
    result = invoke(*line, *own, "--set=auc_pr.interpolation=step", "--set=count=10")
    assert result.exit_code == 0, result.output
    (found,) = load_study_results(tmp_path)
    study = found.study
    assert (study.noise, study.count, study.settings.thresholds) == ("uniform:0.1", 10, 40)
    assert (study.lag, study.section) == ("labels:0.25", "rare:10000")
    assert (study.settings.definition, study.settings.threshold) == ("pvldb2022", "cascade")
    assert study.measures[1].options == {"interpolation": "step"}
    shown = " ".join(result.stdout.split())
    assert "options: detectors=published, section=rare:10000, scale=unit" in shown
    assert "noise=uniform:0.1" in shown


def test_all_studies_follow_the_preset(folder, tmp_path):
    line = ("study", "all", folder, *MEASURES, "--as-published", "--set=count=3")
    result = invoke(*line, "--output", tmp_path)
    assert result.exit_code == 0, result.output
    found = {one.kind: one.study for one in load_study_results(tmp_path)}
    assert found["separability"].z == "raw"
    assert found["consistency"].entropy == "nats"
    assert found["robustness"].spread == "pooled"
    assert {one.settings.definition for one in found.values()} == {"pvldb2022"}
    assert result.stdout.count("threshold=cascade") == 5


@pytest.mark.parametrize("form", ["", "--json", "--csv", "--latex"])
def test_published_values_next_to_ours(folder, published, tmp_path, form):
    line = (
        "study",
        "robustness",
        folder,
        *MEASURES,
        "--set",
        "perturbations=lag",
        "--set",
        "count=3",
    )
    given = [form] if form else []
    result = invoke(*line, "--published", published, "--output", tmp_path, *given)
    assert result.exit_code == 0, result.output
    with (tmp_path / "published_cells.csv").open() as stream:
        cells = list(csv.DictReader(stream))
    assert len(cells) == 9
    assert {row["published"] for row in cells if row["measure"] == "auc_pr"} == {"0.1"}
    if form == "--json":
        document = strict_json(result.stdout)
        (row,) = [one for one in document["published"]["means"] if one["name"] == "f_score"]
        assert row["published"] == pytest.approx(0.03)
    elif form == "--csv":
        rows = csv.DictReader(io.StringIO(result.stdout))
        named = {(row["study"], row["measure"], row["quantity"]): row for row in rows}
        assert float(named["published", "vus_pr", "lag_published"]["value"]) == pytest.approx(0.05)
        assert named["robustness", "vus_pr", "lag"]["options"].startswith("options: section=all")
    else:
        assert "means over 3 series: Spearman" in " ".join(result.stdout.split())
        assert (tmp_path / "published_means.tex").exists() == (form == "--latex")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--set=noise=normals:0:1",), "`noise` must be uniform[:X] or normal"),
        (("--set=lag=labels:2",), "must be a number from 0 to 1"),
        (("--set=vus_pr",), "`--set` must have the form NAME=VALUE"),
        (("--published", "missing"), "missing"),
    ],
)
def test_wrong_values_are_refused_before_the_work(folder, tmp_path, given, message):
    result = invoke("study", "robustness", folder, *MEASURES, *given, "--output", tmp_path)
    assert result.exit_code != 0
    assert message in str(result.exception) + result.output
    assert not any(tmp_path.iterdir())

"""``--html`` of the study commands: one page with what the command found."""

from __future__ import annotations

import json
import re

import pytest
from studies.scored import make_several, write_scored
from typer.testing import CliRunner

from vuskit.cli.app import app
from vuskit.errors import InvalidInputError
from vuskit.studies import load_study_results

QUICK = ("--measure", "auc_pr", "--measure", "vus_pr", "--buffer", "24", "--processes", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    source = tmp_path_factory.mktemp("scores")
    for scored in make_several():
        write_scored(source, scored)
    return source


def invoke(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})


def sections_of(page):
    text = page.read_text(encoding="utf-8")
    listed = re.search(r'id="data-sections">(.*?)</script>', text, re.DOTALL)[1]
    return [section["key"] for section in json.loads(listed)]


def data_of(page, key):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(rf'id="data-{key}">(.*?)</script>', text, re.DOTALL)[1])


def test_all_writes_one_page_of_all_studies(folder, tmp_path, illustrated):
    page = tmp_path / "page.html"
    out = tmp_path / "out"
    arguments = ("--output", out, "--html", page, "--set=alpha=0.3", "--json")
    result = invoke("study", "all", folder, *QUICK, "--set=count=3", *arguments)
    assert result.exit_code == 0, result.output
    assert f"page: {page}" in result.stderr
    assert "page" not in json.loads(result.stdout)
    names = ["scenarios", "robustness", "separability", "consistency", "summary"]
    assert sections_of(page) == names
    saved = {type(one).__name__: one for one in load_study_results(out)}
    averages = saved["RobustnessResult"].averages()
    found = data_of(page, "robustness")
    table = next(one for one in found["tables"] if one["name"] == "averages")
    lag = table["columns"].index("lag")
    assert [row[lag] for row in table["rows"]] == pytest.approx(averages["lag"].to_list())
    assert "alpha = 0.3" in json.dumps(found)


def test_timings_have_a_page(tmp_path):
    page = tmp_path / "time.htm"
    arguments = ("--quick", "--budget", "2s", "--set=repeats=1", "--only", "auc")
    result = invoke("study", "timing", *arguments, "--output", tmp_path, "--html", page)
    assert result.exit_code == 0, result.output
    assert sections_of(page) == ["timing"]
    assert load_study_results(tmp_path)[0].samples


@pytest.mark.parametrize("page", ["new/out/page.html", "new/page.html"])
def test_a_page_may_be_in_a_folder_that_the_command_makes(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    line = ("study", "scenarios", "--measure", "f_score", "--set=n_points=600", "--buffer", "20")
    result = invoke(*line, "--output", tmp_path / "new" / "out", "--html", page)
    assert result.exit_code == 0, result.output
    assert sections_of(tmp_path / page) == ["scenarios"]
    refused = invoke(*line, "--output", tmp_path / "new" / "out", "--html", "new/other/page.html")
    assert "must be in a folder that exists" in str(refused.exception)


@pytest.mark.parametrize(
    ("name", "words"),
    [("page.pdf", "must be a file that ends in .html or .htm"), ("no/page.html", "must be in a")],
)
def test_a_wrong_place_is_refused_before_the_work(folder, tmp_path, name, words):
    result = invoke("study", "consistency", folder, "--output", tmp_path, "--html", tmp_path / name)
    assert isinstance(result.exception, InvalidInputError)
    assert words in str(result.exception)
    assert not (tmp_path / "series").exists()

"""``vuskit report``: a run becomes a page, and every mistake a sentence."""

from __future__ import annotations

import json
import re

import pytest
from report.runs import ONLY_FAILURES, run_inline, write_plan, write_series

from vuskit.studies import run_study


@pytest.fixture
def run_folder(tmp_path):
    """A finished run beside its plan, in the folder where commands start."""
    write_series(tmp_path)
    return run_inline(write_plan(tmp_path))


@pytest.fixture
def studies(tmp_path):
    folder = tmp_path / "studies"
    run_study("scenarios", measures=["vus_pr", "auc_pr"]).save(folder)
    return folder


def keys(path):
    text = path.read_text(encoding="utf-8")
    listed = re.search(r'id="data-sections">(.*?)</script>', text, re.DOTALL)[1]
    return [one["key"] for one in json.loads(listed)]


def test_page_of_a_run(command, run_folder, snapshot):
    outcome = command("report", "night run")
    assert outcome.code == 0
    snapshot("report", outcome.out)
    snapshot("report_talk", outcome.err)
    drawn = [f"series-{place}" for place in range(6)]
    views = ["run", "detectors", "table", "series", "failures"]
    assert keys(run_folder / "page.html") == [*views, *drawn]


def test_title_and_notes_are_text(command, run_folder, tmp_path):
    (tmp_path / "notes.txt").write_text("First <b>part</b>.\nSame.\n\n\nSecond.\n")
    outcome = command("report", "night run", "--title", "<i>Spring</i>", "--notes", "notes.txt")
    assert outcome.code == 0
    page = (run_folder / "page.html").read_text(encoding="utf-8")
    assert "<title>&lt;i&gt;Spring&lt;/i&gt;</title>" in page
    assert "<h1>&lt;i&gt;Spring&lt;/i&gt;</h1>" in page
    assert "<p>First &lt;b&gt;part&lt;/b&gt;.\nSame.</p><p>Second.</p>" in page
    outcome = command("report", "night run", "--notes", "nothing.txt")
    assert outcome.code == 2
    assert "nothing.txt: there is no such file" in outcome.err


def test_help_has_an_example_and_fits(command):
    outcome = command("report", "--help")
    assert outcome.code == 0
    assert "Example: vuskit report bench-run --open" in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= 80


def test_plan_instead_of_the_folder_and_another_place(command, run_folder, tmp_path):
    outcome = command("report", "bench.toml", "--output", "shown.html", "--series", "beta/two")
    assert (outcome.code, outcome.out) == (0, "shown.html\n")
    assert "run" in keys(tmp_path / "shown.html")
    assert not (run_folder / "page.html").exists()


def test_series_by_pattern(command, run_folder, monkeypatch):
    """A pattern stands for all series that it fits; the page is told their names."""
    asked = []

    def told(found, *, series, **_):
        asked.append(list(series))
        return "<html></html>"

    monkeypatch.setattr("vuskit.report.page.run_page_html", told)
    assert command("report", "night run", "--series", "beta/*", "--series", "beta/two").code == 0
    names = [name for name in asked[0] if name.startswith("beta/")]
    assert len(names) > 1
    assert names == asked[0]
    assert len(set(names)) == len(names)


def test_studies_beside_a_run_and_alone(command, run_folder, studies):
    outcome = command("report", "night run", "--studies", "studies")
    assert outcome.code == 0
    assert "scenarios" in keys(run_folder / "page.html")
    outcome = command("report", "studies")
    assert (outcome.code, outcome.err) == (0, "")
    assert keys(studies / "page.html") == ["scenarios"]


def test_run_with_only_failures(command, tmp_path):
    write_series(tmp_path)
    run_inline(write_plan(tmp_path, ONLY_FAILURES))
    outcome = command("report", "failed")
    assert outcome.code == 0
    assert "failures" in keys(tmp_path / "failed" / "page.html")


def test_page_is_shown_if_wanted(command, run_folder, monkeypatch):
    # A browser that only writes down what it was told to open.
    shown = run_folder / "shown.txt"
    browser = run_folder / "browser.sh"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{shown}"\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"'{browser}' %s")
    assert command("report", "night run").code == 0
    assert not shown.exists()
    assert command("report", "night run", "--open").code == 0
    assert shown.read_text().strip() == (run_folder / "page.html").as_uri()


def test_bar_on_a_terminal_that_waits(command, run_folder, monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("vuskit.cli._progress._DELAY", 1e9)
    assert "drawing" not in command("report", "night run").err
    monkeypatch.setattr("vuskit.cli._progress._DELAY", 0.0)
    outcome = command("report", "night run")
    assert "drawing" in outcome.err
    assert outcome.out == "night run/page.html\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "`RUN` must be a folder written by `vuskit bench run`, `vuskit evaluate` or"),
        (["data"], "got 'data'"),
        (["night run", "--output", "page.pdf"], "must be a file that ends in .html or .htm"),
        (["night run", "--output", "no/page.html"], "must be in a folder that exists"),
        (["night run", "--series", "beta/tow"], "got 'beta/tow'; did you mean 'beta/two'?"),
        (["night run", "--studies", "data"], "must hold results of studies"),
        (["night run", "--output", "folder.html"], "it is a folder; give the name of a file"),
    ],
)
def test_mistakes_are_sentences(command, run_folder, tmp_path, arguments, said):
    (tmp_path / "folder.html").mkdir()
    outcome = command("report", *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert said in " ".join(outcome.err.split())
    assert "Traceback" not in outcome.err

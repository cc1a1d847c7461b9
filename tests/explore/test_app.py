from __future__ import annotations

import base64
import html
import json
import re
import shutil

import numpy as np
import pytest
from explore.serving import serving
from report.evaluated import EVIL, EVIL_SCORE
from report.runs import POINTS

from vuskit.bench import Run
from vuskit.explore import open_content
from vuskit.report.page.run_data import compare_series
from vuskit.report.page.series_filters import select_series
from vuskit.report.run_report import RunReport


def identity(ask, title):
    data = ask("/data/run").json
    titles = [
        f"{data['datasets'][d]}/{name}"
        for d, name in zip(data["series"]["dataset"], data["series"]["name"], strict=True)
    ]
    return data["series"]["id"][titles.index(title)]


def floats(text):
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def test_values_are_those_of_the_run(ask, run_folder):
    data, report = ask("/data/run").json, RunReport.read(run_folder)
    assert data["detectors"] == list(report.detectors)
    found = floats(data["values"]).reshape(report.values.shape)
    np.testing.assert_array_equal(found, report.values.astype("<f4"))
    assert data["filters"]["number"]["classes"] == [["several", "several"]]


def test_status_tells_progress_and_causes(ask, run_folder):
    found, status = ask("/data/status").json, Run(run_folder).status()
    assert (found["state"], found["done"]) == ("finished", status.progress["done"])
    assert found["failed"] == 18
    assert [one["jobs"] for one in found["causes"]] == [12, 6]
    assert found["causes"][1]["message"].startswith("ValueError: <b>the first value</b>")
    by_name = {one["name"]: one for one in found["detectors"]}
    assert by_name["never"]["failed"] == 12
    assert by_name["good"] == {"name": "good", "ok": 12, "failed": 0, "skipped": 0}


def test_detectors_keep_their_colors(ask, run_folder):
    """On the page of a series a detector has its place in the run, also if others failed."""
    page = ask(f"/series/{identity(ask, 'beta/two')}").body.decode()
    data = json.loads(re.search(r'id="data-series">(.*?)</script>', page, re.DOTALL)[1])
    run = RunReport.read(run_folder)
    assert run.detectors == tuple(sorted(run.detectors))
    places = {score["name"]: score["place"] for score in data["scores"]}
    assert "flaky" not in places
    assert places == {name: run.detectors.index(name) for name in places}


def test_unchanged_data_is_not_sent_again(ask):
    for path in ("/data/status", "/data/run"):
        version = ask(path).headers["etag"]
        again = ask(path, if_none_match=version)
        assert (again.status, again.body) == (304, b"")
        assert ask(path, if_none_match='"other"').status == 200


def test_a_series_and_its_scores(ask, run_folder):
    key = identity(ask, "beta/two")
    about = ask(f"/data/series/{key}").json
    (scored,) = (one.read() for one in Run(run_folder).scored_series() if one.name == "beta/two")
    assert about["n"] == POINTS
    assert about["events"] == [list(event) for event in scored.series.events]
    assert about["scores"] == list(scored.scores)
    assert about["detectors"]["Random (seed 1)"] == "Random"
    lines = ask(f"/data/series/{key}/lines?start=10&stop=60&pixels=100").json
    for place, score in enumerate(scored.scores.values()):
        line = lines["scores"][str(place)]
        np.testing.assert_allclose(floats(line["points"]) + line["base"], score[10:60], atol=1e-6)
        assert line["range"] == [score.min(), score.max()]
    values = lines["values"]
    expected = np.asarray(scored.series.values).ravel()[10:60]
    np.testing.assert_allclose(floats(values["points"]) + values["base"], expected, atol=1e-6)
    some = ask(f"/data/series/{key}/lines?scores=1,0").json
    assert list(some["scores"]) == ["1", "0"]


def test_comparisons_follow_the_filters(ask, run_folder):
    report = RunReport.read(run_folder)
    measure = report.measures.index("auc_pr")
    for filters in ({}, {"dataset": "alpha"}, {"kind": "sequence", "length": "0-999"}):
        query = "&".join(f"{name}={value}" for name, value in filters.items())
        found = ask(f"/data/comparison?settings=0&measure={measure}&{query}").json
        chosen = select_series(report.series, filters)
        assert found == compare_series(report, 0, measure, chosen)
    assert "error" in ask("/data/comparison?kind=point").json


def test_the_evaluation_page_of_a_series(ask):
    page = ask(f"/series/{identity(ask, f'alpha/{EVIL}')}")
    assert page.status == 200
    assert f"<title>{html.escape(f'alpha/{EVIL}')}</title>" in page.body.decode()
    assert "connect-src" not in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/data/series/../../../../etc/passwd",
        "/data/series/..%2f..%2f..%2fetc%2fpasswd",
        "/data/series/%2e%2e/%2e%2e/results.sqlite/lines",
        "/series/..%2fresults.sqlite",
        "/series//etc/passwd",
        "/data/series/alpha/one.csv",
        "/data/series/%00",
        "/results.sqlite",
        "/data/",
        "/data/series/0/lines",
        "//etc/passwd",
    ],
)
def test_paths_lead_nowhere(ask, path):
    answer = ask(path)
    assert answer.status == 404
    assert b"root:" not in answer.body
    assert b"SQLite" not in answer.body


@pytest.mark.parametrize(
    "query",
    [
        *("start=-1", "stop=301", "start=5&stop=5", "pixels=0", "pixels=99999999", "start=1e3"),
        *("channel=7", "scores=99", "scores=x", f"start={'9' * 40}", "start=<script>"),
    ],
)
def test_unusable_requests_are_explained(ask, query):
    answer = ask(f"/data/series/{identity(ask, 'alpha/one')}/lines?{query}")
    assert answer.status == 422
    assert answer.headers["content-type"] == "application/json"
    assert "must be" in answer.json["error"]


def test_hostile_names_are_data(ask):
    page = ask("/").body.decode()
    assert EVIL_SCORE not in page
    assert page.count("</script>") == page.count("<script")
    assert EVIL_SCORE in ask("/data/run").json["detectors"]
    assert ask("/data/run").headers["content-type"] == "application/json"


def test_nothing_is_written(ask, run_folder):
    def state():
        # Readers of a database in WAL mode may touch its index, never its content.
        return {
            str(path): (path.stat().st_size, path.read_bytes())
            for path in sorted(run_folder.rglob("*"))
            if path.is_file() and not path.name.endswith("-shm")
        }

    before = state()
    for path in ("/", "/data/status", "/data/run", f"/series/{identity(ask, 'alpha/two')}"):
        assert ask(path).status == 200
    assert state() == before


def test_a_changed_series_is_explained(run_folder, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(run_folder, copy)
    with serving(open_content(copy)) as ask:
        key = identity(ask, "alpha/one")
        for file in (copy / "scores").rglob("*.npy"):
            file.write_bytes(b"broken")
        answer = ask(f"/data/series/{key}")
    assert answer.status == 422
    assert "must hold the scores of the run" in answer.json["error"]

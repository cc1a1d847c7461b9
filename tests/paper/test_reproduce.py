"""A whole reproduction on small series: files, captions, reasons, and what is reused."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pandas as pd
import pytest
from studies.scored import make_scored, make_several, write_scored
from studies.timing.estimates import estimated_times

from vuskit.errors import InvalidInputError
from vuskit.paper import (
    list_exhibits,
    reproduce,
)
from vuskit.paper.findings import Verdict

OPTIONS = {
    name: {"buffer": 24, **more}
    for name, more in {
        "consistency": {},
        "robustness": {"count": 4, "min_values": 2},
        "separability": {"count": 4},
    }.items()
}
STUDIED = [one.key for one in list_exhibits() if not set(one.needs) & {"timing", "timing_series"}]


def run(folder, source=None, **how):
    return reproduce(source or make_several(), output=folder, options=OPTIONS, **how)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All exhibits but those of times, of six series of two data sets."""
    return run(tmp_path_factory.mktemp("paper"), only=STUDIED)


@pytest.fixture(scope="module")
def timed(tmp_path_factory):
    """Exhibits of times, of a few cells."""
    only = [one.key for one in list_exhibits() if one.key not in STUDIED]
    with estimated_times():
        return run(tmp_path_factory.mktemp("timed"), only=only, budget=3.0, quick=True)


def test_every_exhibit_has_its_files(made):
    assert [one.exhibit.key for one in made.missing] == []
    for one in made.exhibits:
        stem = one.exhibit.stem
        ends = ("csv", "pdf", "png") if one.exhibit.kind == "fig" else ("csv", "md", "tex")
        assert {f"{stem}.{end}" for end in ends} <= set(one.files)
        assert all((made.folder / name).stat().st_size > 0 for name in one.files)
        assert len(pd.read_csv(made.folder / f"{stem}.csv")) > 0


def test_captions_are_sentences_about_this_data(made):
    for one in made.exhibits:
        assert one.caption.endswith("."), one.exhibit.key
        assert "  " not in one.caption
        assert not re.search(r"\bnan\b|None|undefined measure", one.caption), one.caption
    captions = {one.exhibit.key: one.caption for one in made.exhibits}
    assert "6 series in 2 data sets" in captions["table-3"]
    assert "3 series of mill" in captions["fig-01"]


def test_findings_are_checked_with_what_was_computed(made):
    by_number = {one.number: one for one in made.findings.findings}
    assert by_number[7].n_series == 6
    assert by_number[7].verdict is Verdict.NOT_CHECKABLE
    assert by_number[2].verdict is Verdict.NOT_CHECKABLE
    assert by_number[27].verdict is Verdict.NOT_CHECKED
    assert by_number[27].measured == "not requested; needs fig-17"
    assert (made.folder / "findings.csv").is_file()


def test_frame_lists_all_exhibits(made):
    frame = made.to_frame()
    assert list(frame["exhibit"]) == STUDIED
    assert frame["made"].all()


def test_the_page_is_small_and_links_to_the_files(made):
    page = made.page.read_text(encoding="utf-8")
    assert len(page) < 6_000_000
    links = re.findall(r'<a href="([^"#][^"]*)" download', page)
    assert {name for one in made.exhibits for name in one.files} <= set(links)
    assert all((made.folder / link).is_file() for link in links)
    for one in made.exhibits:
        assert f'href="#{one.exhibit.key}"' in page
        assert f'id="{one.exhibit.key}"' in page


def test_times(timed):
    by_key = {one.exhibit.key: one for one in timed.exhibits}
    assert by_key["fig-18"].made
    for one in timed.missing:
        assert "budget" in one.reason, one
    page = timed.page.read_text(encoding="utf-8")
    assert page.count("Not made:") == len(timed.missing)


def test_a_second_run_reuses_everything(timed, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("measured again")

    monkeypatch.setattr("vuskit.paper.results.timing_study", fail)
    only = [one.exhibit.key for one in timed.exhibits]
    again = run(timed.folder, only=only, budget=3.0, quick=True)
    assert [one.exhibit.key for one in again.exhibits if one.made and not one.reused] == []
    assert again.page.read_bytes() == timed.page.read_bytes()


def test_what_changed_is_made_again(tmp_path):
    first = run(tmp_path, only="table-3,fig-06")
    record = tmp_path / "work" / "exhibits" / "fig-06-sections.json"
    assert json.loads(record.read_text())["caption"] == first.exhibits[0].caption
    (tmp_path / "fig-06-sections.pdf").unlink()
    again = run(tmp_path, only="table-3,fig-06")
    assert [one.reused for one in again.exhibits] == [False, True]
    other = run(tmp_path, only="table-3,fig-06", source=[make_scored(9), make_scored(8)])
    assert [one.reused for one in other.exhibits] == [False, False]
    assert other.exhibits[1].caption.startswith("2 series")


def test_a_builder_that_cannot_work_gives_its_reason(tmp_path):
    found = run(tmp_path, source=[make_scored(1)], only="fig-01,fig-12,table-1")
    reasons = {one.exhibit.key: one.reason for one in found.exhibits}
    assert "no data set has 3 series" in reasons["fig-01"]
    assert "two series" in reasons["fig-12"]
    assert reasons["table-1"] == ""
    page = found.page.read_text(encoding="utf-8")
    assert "no data set has 3 series" in page


def test_a_study_that_refuses_the_data_is_told(tmp_path):
    found = reproduce(
        [make_scored(1)], output=tmp_path, only="fig-11", options={"robustness": {"buffer": -1}}
    )
    assert "buffer" in found.missing[0].reason
    assert any(note.startswith("robustness: ") for note in found.notes)


def test_too_few_series_for_an_entropy(tmp_path):
    found = run(tmp_path, source=[make_scored(1)], only="fig-16")
    assert "min_series" in found.missing[0].reason


def test_chosen_examples(tmp_path):
    found = run(
        tmp_path,
        only="fig-08,fig-13",
        example="plant/s2",
        pairs=[("good", "useless")],
    )
    assert found.missing == ()
    for one in found.exhibits:
        assert "plant/s2" in one.caption
    table = pd.read_csv(tmp_path / "fig-13-pairs.csv")
    assert set(zip(table["accurate"], table["inaccurate"], strict=True)) == {("good", "useless")}


def test_names_cannot_break_the_page(tmp_path):
    several = [
        replace(one, series=replace(one.series, dataset="<b>&", name=f"<i>{place}"))
        for place, one in enumerate(make_several())
    ]
    page = run(tmp_path, source=several, only="fig-01,table-3").page.read_text(encoding="utf-8")
    assert "<b>&" not in page
    assert "<i>" not in page


def test_detectors_run_on_series_without_scores(tmp_path):
    data = tmp_path / "data" / "plant"
    data.mkdir(parents=True)
    for seed in range(3):
        one = make_scored(seed).series
        one.to_frame().to_csv(data / f"{one.name}.csv", index=False)
    seen = []
    found = reproduce(
        tmp_path / "data",
        output=tmp_path / "paper",
        only="table-3,fig-01",
        detectors=["values", "moving_zscore"],
        progress=seen.append,
    )
    assert found.missing == ()
    assert [one.step for one in seen if one.step == "detectors"]
    assert seen[-1].share == 1
    shares = [one.share for one in seen]
    assert shares == sorted(shares)


def test_series_beside_scores_are_told(tmp_path):
    for one in make_several()[:2]:
        write_scored(tmp_path / "data", one)
    one = make_scored(7).series
    one.to_frame().to_csv(tmp_path / "data" / "alone.csv", index=False)
    found = reproduce(tmp_path / "data", output=tmp_path / "paper", only="table-3")
    (note,) = found.notes
    assert note.startswith("skipped: ")
    assert "alone.csv: there must be a column of scores" in note


def test_published_values(tmp_path):
    tables = tmp_path / "published"
    tables.mkdir()
    rows = "".join(f"s{seed}.out,0.02,0.1,0.05\n" for seed in range(6))
    (tables / "robustness_lag.csv").write_text(f"series,F,AUC_PR,VUS_PR\n{rows}")
    found = run(tmp_path / "paper", only="fig-12", published=tables)
    assert found.published.quantities == ("lag",)
    page = found.page.read_text(encoding="utf-8")
    assert 'href="#published"' in page
    links = re.findall(r'<a href="(published-[^"]*)" download', page)
    assert len(links) == 6
    assert all((found.folder / link).is_file() for link in links)


def test_published_values_of_other_series_are_told(tmp_path):
    (tmp_path / "robustness_lag.csv").write_text("series,F,AUC_PR,VUS_PR\nother,0.02,0.1,0.05\n")
    found = run(tmp_path / "paper", only="fig-12", published=tmp_path)
    assert found.published is None
    assert any(note.startswith("published values: ") for note in found.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "fig-99"}, "`only` must name"),
        ({"budget": 0}, "`budget` must be"),
        ({"detectors": ["nothing"]}, "nothing"),
    ],
)
def test_options_are_checked_first(tmp_path, options, message):
    with pytest.raises(InvalidInputError, match=message):
        reproduce(make_several(), output=tmp_path / "paper", **options)
    assert not (tmp_path / "paper").exists()


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="must hold series or saved scores"):
        reproduce(tmp_path, output=tmp_path / "paper")

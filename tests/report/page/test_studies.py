"""Pages of studies show every file that is written, and figures of what the results hold."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import pytest
from studies.scored import SOME, make_several

from vuskit.errors import InvalidInputError
from vuskit.report.page.studies import (
    studies_text,
    study_record,
    study_sections,
    write_comparison,
    write_study,
)
from vuskit.studies import compare, run_study, summarize


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return run_study("robustness", several, **SOME)


@pytest.fixture(scope="module")
def robust_files(robust, tmp_path_factory):
    """The whole report, written once for the tests that look at its parts."""
    return write_study(robust, tmp_path_factory.mktemp("robustness"), latex=True)


@pytest.fixture(scope="module")
def separable(several):
    return run_study("separability", several, count=6, **SOME)


@pytest.fixture(scope="module")
def consistent(several):
    return run_study("consistency", several, **SOME)


PICTURES = (".png", ".pdf", ".svg")


def shown(files):
    """Every picture of a report is on its page, and nothing that is not there."""
    page, *others = files
    text = page.read_text()
    pictures = {path.name for path in others if path.suffix in PICTURES}
    assert all(path.stat().st_size > 0 for path in others)
    assert all(f"]({name})" in text for name in pictures)
    assert text.count("](") == len(pictures)
    return pictures


def test_robustness_page(robust_files):
    kinds = ("lag", "noise", "ratio")
    assert shown(robust_files) == {
        "robustness_averages.png",
        "robustness_boxes.png",
        *(f"robustness_datasets_{kind}.png" for kind in kinds),
        *(f"robustness_ranks_{kind}.png" for kind in kinds),
    }
    text = robust_files[0].read_text()
    assert all(f"**{kind.capitalize()}**: " in text.partition("## Verdict")[2] for kind in kinds)
    assert "| lag | F | 240 | 0 | 24 | 0 | 0 |" in text
    assert "No series failed." in text


def test_page_text_and_json_of_a_study_state_the_verdict_on_its_measures(robust):
    (section,) = study_sections([robust])
    assert set(section.data["verdicts"]) == {"lag", "noise", "ratio"}
    assert study_record(robust)["verdicts"] == section.data["verdicts"]
    top, table = studies_text([robust]).split("\n\n")
    assert table.startswith("measure")
    said = " ".join(top.split())
    for kind, found in section.data["verdicts"].items():
        means = robust.by_series(kind).dropna().mean()
        title = {one.name: one.title for one in robust.measures}[means.idxmin()]
        leader = found["sentences"]["leader"]
        assert leader.startswith(f"{title} has the best mean standard deviation under {kind}, ")
        assert html.escape(leader) in section.html
        assert f"{kind.capitalize()}: {leader}" in said
        assert "detectors" not in found["sentences"]["significance"]


def test_other_pages(robust, separable, consistent, tmp_path):
    assert shown(write_study(separable, tmp_path)) == {
        "separability_z.png", "separability_pairs.png", "separability_ranks.png",
    }  # fmt: skip
    files = write_study(consistent, tmp_path)
    assert shown(files) == {
        "consistency_entropies.png", "consistency_ranks.png", "consistency_detectors.png",
    }  # fmt: skip
    assert "consistency_rank_table_mill.csv" in {path.name for path in files}
    summary = summarize(robust, separable, consistent)
    assert shown(write_study(summary, tmp_path)) == {"summary_ranks.png", "summary_scatter.png"}


@pytest.mark.parametrize(("figure_format", "begin"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_in_another_format(tmp_path, figure_format, begin):
    result = run_study("scenarios", measures=["f_score", "vus_pr"])
    files = write_study(result, tmp_path, figure_format=figure_format)
    assert shown(files) == {f"scenarios_{name}.{figure_format}" for name in ("values", "sweep")}
    for path in files:
        if path.suffix == f".{figure_format}":
            assert path.read_bytes().startswith(begin)


def test_unknown_format_writes_nothing(robust, tmp_path):
    with pytest.raises(InvalidInputError, match="`figure_format` must be one of 'png', 'pdf'"):
        write_study(robust, tmp_path / "new", figure_format="tiff")
    assert not (tmp_path / "new").exists()


def test_pages_name_the_series_that_is_shown(robust, separable, tmp_path):
    page = write_study(robust, tmp_path, series="s0")[0].read_text()
    assert "![plant/s0, all detectors](robustness_boxes.png)" in page
    page = write_study(separable, tmp_path)[0].read_text()
    assert "![plant/s0, first pairs](separability_pairs.png)" in page
    page = write_study(robust, tmp_path, series="mill/s3")[0].read_text()
    assert "![mill/s3, all detectors](robustness_boxes.png)" in page


def test_unknown_series_is_named(robust, separable, tmp_path):
    with pytest.raises(
        InvalidInputError, match="`series` must name a series with a figure, got 'nowhere'"
    ):
        write_study(robust, tmp_path, series="nowhere")
    with pytest.raises(InvalidInputError, match="`series` must name a series with a figure"):
        write_study(separable, tmp_path, series="nowhere")


def test_comparison_page_has_effect_sizes(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).random((20, 4)), columns=list("abcd"))
    files = write_comparison(compare(table), tmp_path)
    assert shown(files) == {"comparison_diagram.png", "comparison_matrix.png"}
    assert "has the best mean value" in files[0].read_text()
    pairs = pd.read_csv(tmp_path / "comparison_pairs.csv")
    assert len(pairs) == 6
    assert {"p_raw", "p_adjusted", "rank_biserial", "cohens_d"} <= set(pairs.columns)
    assert (pairs["p_raw"] <= pairs["p_adjusted"]).all()


def test_latex_beside_csv_with_titles_of_measures(robust_files):
    files = {path.name: path for path in robust_files}
    tables = {name.removesuffix(".csv") for name in files if name.endswith(".csv")}
    latex = {name.removesuffix(".tex") for name in files if name.endswith(".tex")}
    assert tables - latex == {"robustness_deviations"}  # 288 rows
    comment, line, begin, _, header, *_ = files["robustness_averages.tex"].read_text().splitlines()
    assert line.startswith("% options: section=all, ")
    assert (comment, begin) == ("% robustness: averages", r"\begin{tabular}{lrrr}")
    assert header == r"measure & lag & noise & ratio \\"
    pairs = files["robustness_pairs_lag.tex"].read_text()
    assert "\nF & R-AUC-PR & " in pairs
    assert r"rank\_biserial" in pairs


def test_no_latex_unless_asked(tmp_path):
    result = run_study("scenarios", measures=["f_score"], n_points=600, buffer=20)
    assert not [path for path in write_study(result, tmp_path) if path.suffix == ".tex"]


def test_studies_write_tests_and_sizes_of_pairs_of_measures(robust_files, separable, tmp_path):
    separability = write_study(separable, tmp_path)
    files = {path.name: path for path in [*robust_files, *separability]}
    for name in ("robustness_pairs_lag.csv", "separability_measure_pairs.csv"):
        pairs = pd.read_csv(files[name])
        assert len(pairs) == 6
        assert (pairs["p_raw"] <= pairs["p_adjusted"]).all()
        assert pairs["rank_biserial"].between(-1, 1).all()


def test_pages_say_that_no_pair_can_be_significant(robust_files):
    page = html.unescape(robust_files[0].read_text())  # six series, six pairs of measures
    assert "(alpha = 0.1, n = 6); n too small: no pair can be significant (needs n >= 7)" in page

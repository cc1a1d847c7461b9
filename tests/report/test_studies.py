"""Pages of studies show every file that is written, and figures of what the results hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from studies.scored import SOME, make_several

from vuskit.errors import InvalidInputError
from vuskit.report.common import StudyReport, markdown_table
from vuskit.report.figures import CriticalDifferenceDisplay
from vuskit.report.studies import (
    write_comparison,
    write_consistency,
    write_robustness,
    write_scenarios,
    write_separability,
    write_summary,
)
from vuskit.studies import (
    compare,
    consistency_study,
    robustness_study,
    scenario_study,
    separability_study,
    summarise,
)


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return robustness_study(several, **SOME)


@pytest.fixture(scope="module")
def separable(several):
    return separability_study(several, count=6, **SOME)


@pytest.fixture(scope="module")
def consistent(several):
    return consistency_study(several, **SOME)


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


def test_robustness_page(robust, tmp_path):
    files = write_robustness(robust, tmp_path)
    kinds = ("lag", "noise", "ratio")
    assert shown(files) == {
        "robustness_averages.png",
        "robustness_boxes.png",
        *(f"robustness_datasets_{kind}.png" for kind in kinds),
        *(f"robustness_ranks_{kind}.png" for kind in kinds),
    }
    text = files[0].read_text()
    assert "| lag | 960 | 0 |" in text
    assert "No series failed." in text


def test_other_pages(robust, separable, consistent, tmp_path):
    assert shown(write_separability(separable, tmp_path)) == {
        "separability_z.png", "separability_pairs.png", "separability_ranks.png",
    }  # fmt: skip
    files = write_consistency(consistent, tmp_path)
    assert shown(files) == {
        "consistency_entropies.png", "consistency_ranks.png", "consistency_detectors.png",
    }  # fmt: skip
    assert "consistency_rank_table_mill.csv" in {path.name for path in files}
    summary = summarise(robust, separable, consistent)
    assert shown(write_summary(summary, tmp_path)) == {"summary_ranks.png", "summary_scatter.png"}


@pytest.mark.parametrize(("figure_format", "begin"), [("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_in_another_format(tmp_path, figure_format, begin):
    result = scenario_study(measures=["f_score", "vus_pr"])
    files = write_scenarios(result, tmp_path, figure_format=figure_format)
    assert shown(files) == {f"scenarios_{name}.{figure_format}" for name in ("values", "sweep")}
    for path in files:
        if path.suffix == f".{figure_format}":
            assert path.read_bytes().startswith(begin)


def test_unknown_format_writes_nothing(robust, tmp_path):
    with pytest.raises(InvalidInputError, match="`figure_format` must be one of 'png', 'pdf'"):
        write_robustness(robust, tmp_path / "new", figure_format="tiff")
    assert not (tmp_path / "new").exists()


def test_unknown_series_is_named(robust, separable, tmp_path):
    with pytest.raises(InvalidInputError, match="`series` must name one series, got 'nowhere'"):
        write_robustness(robust, tmp_path, series="nowhere")
    with pytest.raises(InvalidInputError, match="`series` must name one series with pairs"):
        write_separability(separable, tmp_path, series="nowhere")


def test_comparison_page_has_effect_sizes(tmp_path):
    table = pd.DataFrame(np.random.default_rng(0).random((20, 4)), columns=list("abcd"))
    files = write_comparison(compare(table), tmp_path)
    assert shown(files) == {"comparison_diagram.png"}
    pairs = pd.read_csv(tmp_path / "comparison_pairs.csv")
    assert len(pairs) == 6
    assert {"p_raw", "p_adjusted", "rank_biserial", "cohens_d"} <= set(pairs.columns)
    assert (pairs["p_raw"] <= pairs["p_adjusted"]).all()


def test_report_gathers_before_it_writes(tmp_path):
    table = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.4, 0.5, 0.7]})
    report = StudyReport("mine", "pdf")
    report.say("# Mine")
    report.show("ranks", "diagram", CriticalDifferenceDisplay.from_results(table))
    report.tables["values"] = table
    assert list(tmp_path.iterdir()) == []
    assert [path.name for path in report.write(tmp_path)] == [
        "mine.md", "mine_values.csv", "mine_diagram.pdf",
    ]  # fmt: skip
    # A pdf cannot be shown within a page.
    assert (tmp_path / "mine.md").read_text() == "# Mine\n\n[ranks](mine_diagram.pdf)\n"


def test_tables_in_markdown():
    frame = pd.DataFrame({"a": ["x"], "b": [0.123456], "c": [float("nan")]})
    assert markdown_table(frame) == "| a | b | c |\n| --- | --- | --- |\n| x | 0.123 |  |"

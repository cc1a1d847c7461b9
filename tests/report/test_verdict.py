"""Every sentence of a verdict, on tables with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import vuskit
from vuskit.report.pairs import PairTable
from vuskit.report.verdict import kendall_tau, statement, verdict_of
from vuskit.statistics.comparison import compare_columns


def table(n, seed=0, **levels):
    """Values of detectors on n series: a shared difficulty, a level per detector, noise."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0.5, 0.1, n)
    columns = {name: shared + level + rng.normal(0, 0.05, n) for name, level in levels.items()}
    return pd.DataFrame(columns, index=[f"s{row}" for row in range(n)])


def verdict(frame, *, title="VUS-PR", higher=True, **options):
    found = compare_columns(frame, title=title, higher_is_better=higher, n_resamples=50)
    return verdict_of(found, **options)


def test_one_detector_is_better():
    said = verdict(table(30, LOF=0.2, PCA=0.0, MP=0.0))
    assert said.decided
    assert said.sentences["significance"] == (
        "LOF is significantly better than all other detectors "
        "(Wilcoxon signed-rank, holm, alpha = 0.05)."
    )
    leader = said.sentences["leader"]
    assert leader.startswith("LOF has the best mean VUS-PR, ")
    assert "over 30 series" in leader
    low, high = leader.split("difference ")[1].rstrip(").").split(" to ")
    assert 0.15 < float(low) < 0.2 < float(high) < 0.25


@pytest.mark.parametrize("seed", range(5))
def test_equal_detectors_are_undecided(seed):
    frame = table(30, seed=seed, LOF=0.0, PCA=0.0, MP=0.0)
    said = verdict(frame)
    assert not said.decided
    assert said.sentences["significance"].startswith("Undecided: ")


def test_too_few_series():
    said = verdict(table(4, LOF=0.3, PCA=0.0, MP=0.0))
    assert said.sentences["significance"] == (
        "Undecided: with 4 series, no pair can differ significantly (7 or more are needed)."
    )


def test_some_pairs_differ():
    frame = table(40, LOF=0.2, PCA=0.0)
    frame["Twin"] = frame["LOF"] + np.random.default_rng(4).normal(0, 0.01, 40)
    said = verdict(frame)
    assert not said.decided
    found = compare_columns(frame, n_resamples=20)
    p_value = f"{found.pairs.p_values.loc['LOF', 'Twin']:.3f}".lstrip("0")
    best, other = ("LOF", "Twin") if frame["LOF"].mean() > frame["Twin"].mean() else ("Twin", "LOF")
    assert said.sentences["significance"] == (
        f"{best} is significantly better than PCA (Wilcoxon signed-rank, holm, alpha = 0.05). "
        f"{best} does not differ significantly from {other} (p = {p_value})."
    )


def test_many_unclear_pairs_give_the_smallest_p_value():
    frame = table(30, A=0.12, **dict.fromkeys("BCDEF", 0.1), Bad=-0.4)
    said = verdict(frame)
    p_values = compare_columns(frame, n_resamples=20).pairs.p_values["A"]
    text = said.sentences["significance"]
    assert text.startswith("A is significantly better than Bad (")
    assert text.endswith(f" (smallest p = {p_values[list('BCDEF')].min():.3f}).".replace("0.", "."))


def leaders_by_mean_and_rank(n, wins):
    """`wild` has the better mean, `steady` the better rank; `poor` is below both."""
    rng = np.random.default_rng(3)
    steady = 0.5 + rng.normal(0, 0.01, n)
    wild = np.where(np.arange(n) < wins, 1.0, 0.45) + rng.normal(0, 0.01, n)
    return pd.DataFrame({"steady": steady, "wild": wild, "poor": rng.normal(0.1, 0.01, n)})


def test_the_leader_by_mean_need_not_lead_by_rank():
    frame = leaders_by_mean_and_rank(20, 5)
    said = verdict(frame, by_measure={"AUC-PR": compare_columns(frame, n_resamples=20)})
    assert not said.decided
    leader = said.sentences["leader"]
    assert leader.startswith("wild has the best mean VUS-PR, ")
    assert leader.endswith("steady has the best mean rank, 1.25; wild has 1.75.")
    p_value = compare_columns(frame, n_resamples=20).pairs.p_values.loc["wild", "steady"]
    assert p_value > 0.05
    shown = f"{p_value:.3f}".lstrip("0")
    assert said.sentences["significance"] == (
        "Undecided: wild leads by mean and steady by mean rank; these two do not differ "
        f"significantly (p = {shown}). wild is significantly better than poor. "
        "steady is significantly better than poor (Wilcoxon signed-rank, holm, alpha = 0.05)."
    )
    assert said.sentences["weakness"].startswith("wild is not the best on 15 of 20 series; ")
    assert said.sentences["measures"].startswith("wild also leads by AUC-PR. ")


def test_the_leader_by_mean_can_be_significantly_worse():
    frame = leaders_by_mean_and_rank(60, 8)
    said = verdict(frame)
    assert not said.decided
    text = said.sentences["significance"]
    assert "by mean rank; these two differ significantly (p < .001). wild is" in text
    assert "steady is significantly better than wild and poor (" in text
    two = verdict(frame[["wild", "steady"]]).sentences["significance"]
    assert "wild is significantly better than none of the other detectors" in two


def test_lower_can_be_better():
    said = verdict(-table(30, LOF=0.2, PCA=0.0), title="delay", higher=False)
    assert said.sentences["leader"].startswith("LOF has the best mean delay")
    low, high = said.sentences["leader"].split("difference ")[1].rstrip(").").split(" to ")
    assert 0 < float(low) < float(high)


def test_equal_columns():
    frame = pd.DataFrame({"a": [0.5, 0.6], "b": [0.5, 0.6]})
    assert "have the same VUS-PR on all 2 series" in verdict(frame).sentences["leader"]


def test_weakness_and_chance():
    frame = table(20, LOF=0.2, PCA=0.0)
    frame.loc[["s0", "s1"], "LOF"] = 0.05
    names = {row: "hard" if row in ("s0", "s1") else "easy" for row in frame.index}
    said = verdict(frame, datasets=names, chance=0.1)
    weak = frame.loc[["s0", "s1"]].mean()
    assert said.sentences["weakness"] == (
        f"LOF is not the best on 1 of 2 data sets; it is weakest on hard: .050, where PCA gets "
        f"{weak['PCA']:.3f}."
    ).replace("0.", ".")
    assert said.sentences["chance"] == (
        "Random scores get .100 on average; all detectors are above."
    )
    assert verdict(frame, chance=1.0).sentences["chance"].endswith("; no detector is above.")
    frame["Random"] = frame["PCA"] - 0.1  # not worth a sentence
    high = verdict(frame, chance=frame["PCA"].mean() + 0.01).sentences["chance"]
    assert high.endswith("; all other detectors except PCA are above.")
    frame = table(20, LOF=0.5, PCA=0.0)
    worst = frame["LOF"].idxmin()
    weak = f"LOF is best on each of the 20 series; its worst value is {frame['LOF'].min():.3f} on "
    for rows, name in ((None, worst), ({worst: "pump"}, "pump")):
        text = verdict(frame, rows=rows).sentences["weakness"]
        assert text == f"{weak}{name}.".replace("0.", ".")
    best = verdict(frame, datasets=names).sentences["weakness"]
    lowest = frame["LOF"].groupby(names).mean()
    assert best == (
        "LOF is best on each of the 2 data sets; its worst value is "
        f"{lowest.min():.3f} on {lowest.idxmin()}.".replace("0.", ".")
    )


def test_order_depends_on_the_measure_or_not():
    first = table(30, LOF=0.2, PCA=0.1, MP=0.0)
    same, other = (
        compare_columns(frame, n_resamples=20)
        for frame in (first, table(30, seed=1, LOF=0.0, PCA=0.1, MP=0.2))
    )
    agrees = verdict(first, by_measure={"AUC-PR": same}).sentences["measures"]
    assert agrees == (
        "LOF also leads by AUC-PR. Kendall's tau with the mean ranks by VUS-PR: 1.000."
    )
    differs = verdict(first, by_measure={"AUC-PR": same, "F": other}).sentences["measures"]
    assert differs == (
        "The winner depends on the measure: LOF leads by VUS-PR and AUC-PR; MP leads by F. "
        "Kendall's tau with the mean ranks by VUS-PR: at least -1.000 (F)."
    )


def test_kendall_tau_equals_scipys():
    stats = pytest.importorskip("scipy.stats")
    names = list("abcdef")
    one, other = (
        compare_columns(table(9, seed=seed, **dict.fromkeys(names, 0.0)).round(1), n_resamples=20)
        for seed in (1, 2)
    )
    expected = stats.kendalltau(
        one.summary["mean_rank"][names], other.summary["mean_rank"][names]
    ).statistic
    assert kendall_tau(one, other) == pytest.approx(expected)


def test_buffers_and_forms():
    frame = table(30, LOF=0.2, PCA_1=0.0)
    same, other = (
        compare_columns(one, n_resamples=20) for one in (frame, table(30, LOF=0.0, PCA_1=0.2))
    )
    said = verdict(frame, by_buffer={"half": same, "double": other})
    assert said.sentences["buffer"] == (
        "The winner depends on the buffer: LOF leads with the buffer half; "
        "PCA_1 leads with the buffer double."
    )
    assert r"PCA\_1" in said.to_latex()
    assert said.to_dict() == {"decided": True, "sentences": said.sentences}
    assert str(said) == " ".join(said.sentences.values())
    kept = verdict(frame, by_buffer={"half": same}).sentences["buffer"]
    assert kept == "LOF also leads with the buffer half."


def test_filled_cells_count_only_in_ranks():
    frame = table(12, LOF=0.1, PCA=0.0, MP=0.0)
    frame.loc[frame.index[:3], "PCA"] = np.nan
    found = compare_columns(frame, missing="worst", n_resamples=20)
    said = verdict_of(found, chance=0.1, datasets=dict.fromkeys(frame.index, "a")).sentences
    assert said["leader"].startswith("LOF has the best mean rank by value, 1.")
    assert said["leader"].endswith("missing values rank last.")
    assert set(said) == {"leader", "significance"}
    assert "\u2013" in PairTable(found).to_text()


def test_statement_names_tests_and_settings():
    found = compare_columns(table(30, LOF=0.2, PCA=0.0, MP=0.0), title="VUS-PR", n_resamples=20)
    text = statement(verdict_of(found, chance=0.1), found, details="Buffer given; 100 points.")
    assert text.startswith("We compared 3 detectors by VUS-PR on 30 series with values of all")
    for part in (
        "LOF is significantly better than all other detectors",
        "Random scores get .100 on average",
        "Friedman's test: p < .001, Kendall's W = .",
        "pairs: Wilcoxon signed-rank, correction holm, alpha = 0.05, n = 30.",
        "Buffer given; 100 points.",
        f"Computed with vuskit {vuskit.__version__}.",
    ):
        assert part in text

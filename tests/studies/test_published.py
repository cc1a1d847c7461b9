"""Published tables: every layout that is read, and how values are compared."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from studies.scored import make_several

from vuskit.errors import InvalidInputError
from vuskit.studies import compare_with_published, read_published, run_study
from vuskit.studies.published import measure_named, series_key

HEADER = "series,VUS_ROC,VUS_PR,R_AUC_ROC,F,Precision@k"
SOME = {"measures": ["f_score", "range_auc_roc", "vus_pr", "vus_roc"], "buffer": 24}


@pytest.fixture(scope="module")
def several():
    return make_several()


@pytest.fixture(scope="module")
def robust(several):
    return run_study("robustness", several, count=4, **SOME)


@pytest.fixture(scope="module")
def consistent(several):
    return run_study("consistency", several, **SOME)


@pytest.mark.parametrize(
    ("file", "quantity"),
    [
        ("robustness_lag.csv", "lag"),
        ("robustness_noise.csv", "noise"),
        ("robustness_ratio.csv", "ratio"),
        ("robustness_percentage.csv", "ratio"),
        ("RobustnessNoise.csv", "noise"),
        ("noise/all series.csv", "noise"),
    ],
)
def test_the_name_tells_the_perturbation(tmp_path, file, quantity):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{HEADER}\na.out,.1,.2,.3,.4,\n")
    (table,) = read_published(tmp_path)
    assert (table.quantity, table.source) == (quantity, file)
    assert list(table.values.columns) == [
        "vus_roc", "vus_pr", "range_auc_roc", "f_score", "precision_at_k",
    ]  # fmt: skip
    assert math.isnan(table.values.loc["a.out", "precision_at_k"])


def test_a_column_may_tell_the_perturbation(tmp_path):
    (tmp_path / "all.csv").write_text(
        "Perturbation,File Name,F,RF,AUC_PR\nlag,a,1,2,3\npercentage,a,4,5,6\n"
    )
    lag, ratio = read_published(tmp_path)
    assert (lag.quantity, ratio.quantity) == ("lag", "ratio")
    assert ratio.values.loc["a"].tolist() == [4, 5, 6]


def test_layout_of_the_authors_repositories(tmp_path):
    for kind in ("lag", "noise", "percentage"):
        folder = tmp_path / "data" / f"result_data_aggregated_{kind}"
        folder.mkdir(parents=True)
        (folder / "a.b.out_robustness.txt").write_text("{'VUS_ROC': 0.5, 'F': nan, 'RF': 0.25}\n")
        (folder / "broken_robustness.txt").write_text("None")
    rows = ["|\t| AUC_PR|\tF|\tRF|\t", "|:---|---|---|---|", "|NormA| 4.25|\t4.5|\t4.75|"]
    (tmp_path / "README.md").write_text("\n".join([*rows, "| LOF| 1|2|3|", "", "text"]))
    text = "Precision@k    1.84\nRecall         1.85\nVUS_ROC        1.53\ndtype: float64"
    cells = [{"outputs": [{"data": {"text/plain": text.splitlines(keepends=True)}}]}, {}]
    (tmp_path / "entropy.ipynb").write_text(json.dumps({"cells": cells}))
    lag, noise, ratio, entropy, rank = read_published(tmp_path)
    assert [one.quantity for one in (lag, noise, ratio)] == ["lag", "noise", "ratio"]
    assert lag.values.to_dict("index") == {"a.b.out": {"vus_roc": 0.5, "range_f_score": 0.25}}
    assert rank.values.loc["NormA"].tolist() == [4.25, 4.5, 4.75]
    assert (entropy.unit, entropy.values.iloc[0]["vus_roc"]) == ("nats", 1.53)


def test_nothing_is_executed(tmp_path):
    folder = tmp_path / "result_data_aggregated_lag"
    folder.mkdir()
    (folder / "a_robustness.txt").write_text("__import__('os').getcwd()")
    with pytest.raises(InvalidInputError, match="`published` must hold tables such as"):
        read_published(tmp_path)
    with pytest.raises(InvalidInputError, match="`published` must be a folder or a file"):
        read_published(tmp_path / "missing")


def test_other_tables_are_ignored(test_data):
    found = {one.quantity: one for one in read_published(test_data / "data" / "published")}
    assert list(found) == ["lag", "z", "entropy", "rank"]
    assert found["lag"].values.shape == (742, 13)
    assert found["z"].values.shape == (3, 13)
    assert found["rank"].values.shape == (9, 13)


def test_names_of_measures_and_series():
    assert measure_named("VUS-PR") == measure_named("vus_pr") == "vus_pr"
    assert measure_named("TSBUAD_F") == measure_named("") == ""
    assert series_key("ECG/MBA_ECG805_data.out.csv.gz") == "mba_ecg805_data"


def test_robustness_by_series_and_by_data_set(robust, tmp_path):
    ours = robust.by_series("noise")
    names = [f"{series}.out" for _, series in ours.index]
    table = (2 * ours).set_axis(names, axis=0).rename(columns={"vus_pr": "VUS_PR"})
    table.iloc[:-1].rename_axis("series").to_csv(tmp_path / "robustness_noise.csv")
    found = compare_with_published(robust, tmp_path)
    assert found.quantities == ("noise",)
    assert len(found.cells) == 5 * 4
    assert found.cells["factor"].tolist() == pytest.approx([0.5] * 20)
    means = found.means().set_index("name")
    assert means["here"].to_dict() == pytest.approx(ours.iloc[:-1].mean().to_dict())
    by_dataset = ours.iloc[:-1].groupby("dataset").mean().mean()
    over = found.means(over="datasets").set_index("name")["here"]
    assert over.to_dict() == pytest.approx(by_dataset.to_dict())
    assert (means["here_order"] == means["published_order"]).all()
    agreement = found.agreement.set_index("over")
    assert agreement.loc["series", ["items", "spearman", "factor", "ratio"]].tolist() == (
        pytest.approx([5, 1, 2, 0.5])
    )
    assert agreement.loc["datasets", "items"] == 2
    assert "means over 5 series: Spearman 1.000" in str(found)
    assert "options of robustness: section=all, " in " ".join(str(found).split())
    assert found.to_latex().count(r"\begin{table}") == 1
    assert "| noise |" in found.to_markdown()


def test_z_is_compared_without_the_standard_error(several, tmp_path):
    found = run_study("separability", several[:1], pairs=[("good", "useless")], count=8, **SOME)
    raw = found.with_options(z="raw").by_series().iloc[0]
    text = "".join(f"{name},{value!r},1\n" for name, value in raw.items())
    (tmp_path / "z.csv").write_text(f"measure,s0,other\n{text}")
    cells = compare_with_published(found, tmp_path).cells
    assert set(cells["quantity"]) == {"z"}
    np.testing.assert_allclose(cells["here"], cells["published"])
    ratio = found.by_series().iloc[0] / raw
    assert ratio.to_numpy() == pytest.approx(math.sqrt(8) * math.sqrt(7 / 8))


def test_entropies_in_the_published_unit_and_ranks_over_data_sets(consistent, tmp_path):
    bits = consistent.averages()["entropy"]
    text = "".join(f"{name},{value * math.log(2)!r}\n" for name, value in bits.items())
    (tmp_path / "rank_entropy.csv").write_text(f"measure,entropy_nats\n{text}")
    ranks = (consistent.rank_table("plant") + consistent.rank_table("mill")) / 2
    ranks.rename(index=str.upper).rename_axis("detector").to_csv(tmp_path / "ranks.csv")
    found = compare_with_published(
        [consistent, run_study("scenarios", measures=["vus_pr"])], tmp_path
    )
    assert found.quantities == ("entropy", "rank")
    np.testing.assert_allclose(found.cells["here"], found.cells["published"], atol=1e-12)
    assert len(found.cells) == 4 + 16
    row = found.agreement.set_index(["quantity", "over"]).loc[("rank", "cells")]
    assert (row["items"], row["pearson"]) == (16, pytest.approx(1))


def test_nothing_in_common_is_said(robust, tmp_path):
    (tmp_path / "robustness_lag.csv").write_text(f"{HEADER}\nelsewhere,1,2,3,4,5\n")
    with pytest.raises(InvalidInputError, match=r"got lag \(robustness_lag.csv\), of which none"):
        compare_with_published(robust, tmp_path)


def test_a_short_name_matches_one_series_only(robust, tmp_path):
    ours = robust.by_series("lag")
    rows = pd.DataFrame([ours.iloc[0], ours.iloc[1]], index=["s", "S1"]).rename_axis("series")
    rows.to_csv(tmp_path / "robustness_lag.csv")
    assert set(compare_with_published(robust, tmp_path).cells["item"]) == {"s1"}


def test_series_of_another_length_are_left_out(robust, tmp_path):
    names = [one.series for one in robust.values]
    points = {one.series: one.notes["points"] for one in robust.values}
    rows = [f"{name},{points[name] + 1},.1,.2,.3,.4" for name in names[1:]]
    rows.append(f"{names[0]},{10 * points[names[0]]},.1,.2,.3,.4")
    header = "series,Length,VUS_ROC,VUS_PR,R_AUC_ROC,F"
    (tmp_path / "robustness_lag.csv").write_text("\n".join([header, *rows]))
    found = compare_with_published(robust, tmp_path)
    assert names[0] not in set(found.cells["item"])
    assert set(found.cells["item"]) == set(names[1:])
    assert found.other_lengths[0].startswith(f"{names[0]} ({points[names[0]]:,} points, published")
    assert f"1 series left out, as lengths differ: {names[0]}" in found.notes()[-1]

"""Every statement of the paper: agrees, disagrees, undecided, or not checked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paper import made_results as made

from vuskit.paper import (
    list_exhibits,
    list_statements,
)
from vuskit.paper.exhibits import RESULTS, select_exhibits
from vuskit.paper.findings import Statement, Verdict, check_statements
from vuskit.paper.material import Material
from vuskit.paper.words import RANGE_AWARE

BEST, WORST = 0.01, 0.2


def verdict(number, **results):
    """Finding of a statement from some results; the others were not requested."""
    findings = check_statements(Material(results=results)).findings
    return next(one for one in findings if one.number == number)


def ranked(first, second, n_series=12):
    """Series of a data set whose detectors F and RF order as given, from the best."""
    return made.consistency(
        {
            ("KDD21", f"s{place}"): {
                name: {
                    "f_score": 0.9 - 0.2 * first.index(name) + 0.001 * place,
                    "range_f_score": 0.9 - 0.2 * second.index(name) + 0.001 * place,
                }
                for name in made.DETECTORS
            }
            for place in range(n_series)
        }
    )


def two(name, first, second):
    return made.consistency({("ECG", name): {"AE": first, "LOF": first, "OCSVM": second}})


def test_numbers_run_from_one_without_gaps():
    assert [one.number for one in list_statements()] == list(range(1, 32))
    assert all(one.place and one.criterion for one in list_statements())


def test_statements_whose_results_were_not_requested_are_not_checked():
    keys = {one.key for one in list_exhibits()}
    for one, found in zip(list_statements(), check_statements(Material()).findings, strict=True):
        assert found.verdict is Verdict.NOT_CHECKED
        assert found.n_series == 0
        assert found.measured == f"not requested; needs {one.exhibit}"
        assert one.exhibit in keys


@pytest.mark.parametrize("one", list_statements(), ids=lambda one: str(one.number))
def test_the_named_exhibit_computes_what_the_statement_needs(one):
    (exhibit,) = select_exhibits(one.exhibit)
    assert set(one.needs) <= set(exhibit.needs)


def test_statements_that_the_data_does_not_allow_are_not_checkable():
    refused = dict.fromkeys(RESULTS, "all series failed")
    for one in check_statements(Material(results=refused)).findings:
        assert one.verdict is Verdict.NOT_CHECKABLE
        assert one.n_series == 0
        assert one.measured == "not measured: all series failed"


def test_without_an_exhibit_the_results_are_named():
    own = Statement(99, "Mine.", "", "", ("robustness", "timing"), lambda material: None)
    assert own.not_requested == "not requested; needs robustness, timing"


def test_orders_of_detectors():
    same = ranked(["AE", "LOF", "OCSVM"], ["AE", "LOF", "OCSVM"])
    assert verdict(1, consistency=same).verdict is Verdict.DISAGREES
    few = ranked(["AE", "LOF", "OCSVM"], ["OCSVM", "AE", "LOF"], n_series=3)
    found = verdict(1, consistency=few)
    assert found.verdict is Verdict.NOT_CHECKABLE
    assert "too few" in found.measured


def test_orders_and_groups_of_detectors_differ():
    values = {
        ("KDD21", f"s{place}"): {
            "AE": {"f_score": 0.9, "range_f_score": 0.1},
            "LOF": {"f_score": 0.5 + 0.1 * (-1) ** place, "range_f_score": 0.5},
            "OCSVM": {"f_score": 0.5, "range_f_score": 0.9},
        }
        for place in range(20)
    }
    found = verdict(1, consistency=made.consistency(values))
    assert found.verdict is Verdict.AGREES
    assert found.n_series == 20


def every(detector_of):
    """Values of two detectors: each measure prefers one of them, 0 the first and 1 the second."""
    return tuple(
        {name: 0.5 + (0.1 if detector_of(name) == place else -0.1) for name in made.NAMES}
        for place in (0, 1)
    )


def on_805(name):
    return 0 if name in ("precision", "precision_at_k", *RANGE_AWARE) else 1


def on_806(name):
    return 1 if name in ("precision", "recall", "f_score", "precision_at_k", "auc_pr") else 0


@pytest.mark.parametrize(
    ("number", "series", "stated"),
    [(2, "MBA_ECG805_data.out", on_805), (4, "MBA_ECG806_data.out", on_806)],
)
def test_all_thirteen_preferences_count(number, series, stated):
    found = verdict(number, consistency=two(series, *every(stated)))
    assert (found.verdict, found.n_series) == (Verdict.AGREES, 1)
    assert (found.holding, found.exceptions, found.judged) == ("13 of 13", "", "agrees")
    other = every(lambda name: 1 - stated(name) if name == "vus_pr" else stated(name))
    found = verdict(number, consistency=two(series, *other))
    assert found.verdict is Verdict.IN_PART
    assert found.judged == "agrees in part (12 of 13)"
    assert found.exceptions.startswith("Not confirmed: VUS-PR prefers")
    wrong = every(lambda name: 1 - stated(name))
    assert verdict(number, consistency=two(series, *wrong)).verdict is Verdict.DISAGREES


def test_values_of_805():
    ae, ocsvm = {"auc_pr": 0.55, "range_auc_pr": 0.9}, {"auc_pr": 0.6, "range_auc_pr": 0.84}
    found = verdict(3, consistency=two("MBA_ECG805_data.out", ae, ocsvm))
    assert found.verdict is Verdict.IN_PART
    assert "Not confirmed: AUC-PR of OCSVM" in found.exceptions


def test_mba_805_needs_series_and_detectors():
    other = two("MBA_ECG820_data.out", {}, {})
    assert "MBA(805) is not among the series" in verdict(2, consistency=other).measured
    alone = made.consistency({("ECG", "MBA_ECG805_data"): {"AE": {}, "LOF": {}}})
    found = verdict(2, consistency=alone)
    assert found.verdict is Verdict.NOT_CHECKABLE
    assert "no scores of OCSVM" in found.measured


def test_close_values_on_806():
    lof = {"range_precision": 0.53, "range_recall": 0.47, "range_f_score": 0.5}
    assert verdict(5, consistency=two("MBA_ECG806", lof, {})).verdict is Verdict.AGREES
    apart = verdict(5, consistency=two("MBA_ECG806", {**lof, "range_recall": 0.7}, {}))
    assert apart.verdict is Verdict.IN_PART


def test_near_misses():
    assert verdict(6, scenarios=made.scenarios()).verdict is Verdict.AGREES
    without = made.scenarios(measures=["f_score", "vus_pr"])
    found = verdict(6, scenarios=without)
    assert found.verdict is Verdict.NOT_CHECKABLE
    assert "AUC-PR must be among the measures" in found.measured


FOUR = dict.fromkeys(RANGE_AWARE, BEST)


@pytest.mark.parametrize(("number", "kind"), [(7, "lag"), (8, "noise")])
def test_most_robust(number, kind):
    found = verdict(number, robustness=made.robustness({kind: FOUR}))
    assert (found.verdict, found.n_series) == (Verdict.AGREES, 12)
    assert "significantly ahead in 36 of 36 pairs" in found.measured
    three = verdict(number, robustness=made.robustness({kind: {**FOUR, "vus_pr": WORST}}))
    assert three.verdict is Verdict.DISAGREES
    assert "VUS-PR 13" in three.measured
    assert "in 27 of 36 pairs" in three.measured


def test_a_verdict_needs_ten_real_series_of_three_data_sets():
    few = verdict(7, robustness=made.robustness({"lag": FOUR}, n_series=9))
    assert few.verdict is Verdict.NOT_CHECKABLE
    assert few.measured.startswith("a verdict needs 10 real series of 3 data sets, got 9 of 3")
    assert "best mean ranks: R-AUC-ROC" in few.measured
    assert (few.holding, few.exceptions) == ("", "")
    synthetic = Material(results={"robustness": made.robustness({"lag": FOUR})}, real=False)
    found = check_statements(synthetic).findings[6]
    assert found.verdict is Verdict.NOT_CHECKABLE
    assert "these are synthetic; numbers here" in found.measured


def test_auc_under_noise_and_lag():
    areas = ("auc_roc", "auc_pr")
    low, high = dict.fromkeys(areas, BEST), dict.fromkeys(areas, WORST)
    found = verdict(9, robustness=made.robustness({"noise": low, "lag": high}))
    assert found.verdict is Verdict.AGREES
    assert verdict(9, robustness=made.robustness({"noise": low})).verdict is Verdict.IN_PART


def test_ratio():
    high = dict.fromkeys(("precision", "range_precision", "range_auc_pr", "vus_pr"), WORST)
    ratio = {**high, "range_auc_roc": BEST, "vus_roc": BEST}
    assert verdict(10, robustness=made.robustness({"ratio": ratio})).verdict is Verdict.AGREES
    mixed = verdict(10, robustness=made.robustness({"ratio": {**ratio, "vus_roc": WORST}}))
    assert mixed.verdict is Verdict.IN_PART
    undefined = made.robustness({"ratio": {"vus_pr": np.nan}})
    assert verdict(10, robustness=undefined).verdict is Verdict.NOT_CHECKABLE


def test_vus_roc_against_all_others():
    best = {kind: {"vus_roc": BEST} for kind in ("lag", "noise", "ratio")}
    assert verdict(11, robustness=made.robustness(best)).verdict is Verdict.AGREES
    del best["noise"]
    assert verdict(11, robustness=made.robustness(best)).verdict is Verdict.IN_PART


def test_separability():
    four = dict.fromkeys(RANGE_AWARE, 1.8) | {"vus_pr": 2.0, "auc_roc": 1.1}
    found = verdict(12, separability=made.separability(four))
    assert found.verdict is Verdict.AGREES
    assert "VUS-PR 1.82" in found.measured
    worse = verdict(12, separability=made.separability({**four, "vus_pr": 0.5, "f_score": 1.2}))
    assert worse.verdict is Verdict.IN_PART
    assert "VUS-PR is ahead" in worse.exceptions
    assert "AUC-ROC is the best of the others" in worse.exceptions
    few = made.separability(four, n_series=2)
    assert verdict(12, separability=few).verdict is Verdict.NOT_CHECKABLE


def test_separability_on_three_series_without_one_of_them():
    found = made.separability(dict.fromkeys(RANGE_AWARE, 2.0))
    names = ("MBA_ECG805_data.out", "MBA_ECG820_data.out")
    values = tuple(
        replace(one, dataset="ECG", series=name)
        for one, name in zip(found.values, names, strict=False)
    )
    checked = verdict(13, separability=replace(found, values=values))
    assert checked.verdict is Verdict.IN_PART  # a part that was not measured is no agreement
    assert "Not measured: SED" in checked.exceptions


def entropies(consistent, n_series=12):
    """Detectors whose order under the named measures never changes, and turns under others."""
    values = {}
    for place in range(n_series):
        turned = np.roll([0.9, 0.5, 0.1], place).tolist()
        values["plant", f"s{place}"] = {
            detector: {
                name: (0.9 - 0.3 * row if name in consistent else turned[row])
                for name in made.NAMES
            }
            for row, detector in enumerate(made.DETECTORS)
        }
        if place % 2:  # three data sets, each with enough series for an entropy
            values["mill", f"s{place}"] = values["pump", f"s{place}"] = values["plant", f"s{place}"]
    return made.consistency(values)


def test_entropy_decreases_in_every_step():
    some = ("auc_roc", "range_auc_roc", "range_auc_pr")
    found = verdict(16, consistency=entropies(some))
    assert found.verdict is Verdict.IN_PART
    assert "Not confirmed: VUS below R-AUC" in found.exceptions
    wrong = [name for name in made.NAMES if name.endswith(("precision", "recall", "score"))]
    assert verdict(16, consistency=entropies(wrong)).verdict is Verdict.DISAGREES


def test_yahoo_is_not_checkable_without_its_series():
    found = verdict(18, consistency=entropies(("vus_roc",)))
    assert found.verdict is Verdict.NOT_CHECKABLE
    assert "YAHOO is not among the data sets" in found.measured


def test_figure_2_is_not_checkable():
    found = verdict(31, consistency=entropies(("vus_roc",)))
    assert found.verdict is Verdict.NOT_CHECKABLE
    assert "does not name the part" in found.measured


@pytest.mark.parametrize(("best", "expected"), [("vus_roc", "agrees"), ("f_score", "disagrees")])
def test_always_the_best(best, expected):
    deviations = {kind: {best: BEST} for kind in ("lag", "noise", "ratio")}
    results = {
        "robustness": made.robustness(deviations),
        "separability": made.separability({best: 3.0}),
        "consistency": entropies((best,)),
    }
    assert verdict(19, **results).verdict == expected
    results["separability"] = made.separability({"auc_roc": 3.0})
    if expected == "agrees":
        found = verdict(19, **results)
        assert found.verdict is Verdict.IN_PART
        assert "Not confirmed: best in separability" in found.exceptions


def test_speed():
    assert verdict(27, timing=made.timing(naive=9.0)).verdict is Verdict.AGREES
    assert verdict(28, timing=made.timing(naive=9.0)).verdict is Verdict.DISAGREES
    assert verdict(28, timing=made.timing(naive=2.0)).verdict is Verdict.AGREES
    short = verdict(27, timing=made.timing(longest=10_000))
    assert short.verdict is Verdict.NOT_CHECKABLE
    assert "raise the budget" in short.measured


def test_slopes_that_were_not_measured_are_not_checked():
    fitted = verdict(26, timing=made.timing())
    assert fitted.verdict is Verdict.AGREES
    result = made.timing()
    kept = tuple(one for one in result.samples if one.setting.max_buffer <= 5)
    unknown = verdict(26, timing=replace(result, samples=kept))
    assert unknown.verdict is Verdict.NOT_CHECKED
    assert "Not measured: VUS opt flatter than VUS" in unknown.exceptions


def test_forms():
    table = check_statements(Material())
    assert len(table.to_frame()) == 31
    assert "| 31 |" in table.to_markdown()
    assert "\\begin{tabular}" in table.to_latex()
    assert table.counts == "not checked: 31"
    assert "| not checked |" in table.to_markdown()

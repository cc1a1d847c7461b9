"""Every statement of the paper: agrees, disagrees, undecided, or not checked."""

from __future__ import annotations

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


def test_all_eleven_statements_are_there():
    assert [one.number for one in list_statements()] == list(range(1, 12))


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


def test_statements_that_the_data_does_not_allow_are_undecided():
    refused = dict.fromkeys(RESULTS, "all series failed")
    for one in check_statements(Material(results=refused)).findings:
        assert one.verdict is Verdict.UNDECIDED
        assert one.n_series == 0
        assert one.measured == "not measured: all series failed"


def test_without_an_exhibit_the_results_are_named():
    own = Statement(12, "Mine.", ("robustness", "timing"), lambda material: None)
    assert own.not_requested == "not requested; needs robustness, timing"


def test_orders_of_detectors():
    same = ranked(["AE", "LOF", "OCSVM"], ["AE", "LOF", "OCSVM"])
    assert verdict(1, consistency=same).verdict is Verdict.DISAGREES
    few = ranked(["AE", "LOF", "OCSVM"], ["OCSVM", "AE", "LOF"], n_series=3)
    found = verdict(1, consistency=few)
    assert found.verdict is Verdict.UNDECIDED
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
    assert "groups change" in found.measured


@pytest.mark.parametrize(
    ("ae", "expected"),
    [
        ({"auc_pr": 0.4, "range_auc_pr": 0.9, "vus_pr": 0.8}, Verdict.AGREES),
        ({"auc_pr": 0.7, "range_auc_pr": 0.9, "vus_pr": 0.8}, Verdict.DISAGREES),
    ],
)
def test_mba_805(ae, expected):
    ocsvm = {"auc_pr": 0.6, "range_auc_pr": 0.8, "vus_pr": 0.7}
    found = verdict(2, consistency=two("MBA_ECG805_data.out", ae, ocsvm))
    assert found.verdict is expected
    assert found.n_series == 1


def test_mba_805_needs_series_and_detectors():
    other = two("MBA_ECG820_data.out", {}, {})
    assert "MBA(805) is not among the series" in verdict(2, consistency=other).measured
    alone = made.consistency({("ECG", "MBA_ECG805_data"): {"AE": {}, "LOF": {}}})
    found = verdict(2, consistency=alone)
    assert found.verdict is Verdict.UNDECIDED
    assert "no scores of OCSVM" in found.measured


@pytest.mark.parametrize(("vus", "expected"), [(0.8, "agrees"), (0.3, "disagrees")])
def test_mba_806(vus, expected):
    higher = dict.fromkeys(("auc_roc", "range_auc_roc", "range_auc_pr", "vus_roc"), 0.8)
    lof = {**higher, "auc_pr": 0.2, "vus_pr": vus}
    found = verdict(3, consistency=two("MBA_ECG806_data.out", lof, {}))
    assert found.verdict == expected


def test_near_misses():
    assert verdict(4, scenarios=made.scenarios()).verdict is Verdict.AGREES
    without = made.scenarios(measures=["f_score", "vus_pr"])
    found = verdict(4, scenarios=without)
    assert found.verdict is Verdict.UNDECIDED
    assert "AUC-PR must be among the measures" in found.measured


@pytest.mark.parametrize(("number", "kind"), [(5, "lag"), (6, "noise")])
def test_most_robust(number, kind):
    four = dict.fromkeys(("range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"), BEST)
    found = verdict(number, robustness=made.robustness({kind: four}))
    assert (found.verdict, found.n_series) == (Verdict.AGREES, 8)
    three = {**four, "vus_pr": WORST}
    found = verdict(number, robustness=made.robustness({kind: three}))
    assert found.verdict is Verdict.DISAGREES
    assert "VUS-PR 13" in found.measured
    few = verdict(number, robustness=made.robustness({kind: four}, n_series=4))
    assert few.verdict is Verdict.UNDECIDED
    assert "at least 5 series" in few.measured


def test_ratio():
    pr = dict.fromkeys(("auc_pr", "range_auc_pr", "vus_pr"), WORST)
    assert verdict(7, robustness=made.robustness({"ratio": pr})).verdict is Verdict.AGREES
    mixed = {**pr, "vus_roc": 2 * WORST}
    assert verdict(7, robustness=made.robustness({"ratio": mixed})).verdict is Verdict.DISAGREES
    undefined = made.robustness({"ratio": {"vus_pr": np.nan}})
    assert verdict(7, robustness=undefined).verdict is Verdict.UNDECIDED


def test_separability():
    four = dict.fromkeys(("range_auc_roc", "range_auc_pr", "vus_roc"), 1.5) | {"vus_pr": 2.0}
    found = verdict(8, separability=made.separability(four))
    assert found.verdict is Verdict.AGREES
    assert "VUS-PR 2.00" in found.measured
    worse = made.separability({**four, "vus_pr": 0.5})
    assert verdict(8, separability=worse).verdict is Verdict.DISAGREES
    few = made.separability(four, n_series=2)
    assert verdict(8, separability=few).verdict is Verdict.UNDECIDED


def entropies(consistent, n_series=8):
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
    return made.consistency(values)


def test_entropy():
    some = ("auc_roc", "vus_roc", "vus_pr")
    assert verdict(9, consistency=entropies(some)).verdict is Verdict.AGREES
    assert verdict(9, consistency=entropies(("f_score",))).verdict is Verdict.DISAGREES
    few = entropies(some, n_series=4)
    assert verdict(9, consistency=few).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(("best", "expected"), [("vus_roc", "agrees"), ("f_score", "disagrees")])
def test_best_measure(best, expected):
    deviations = {kind: {best: BEST} for kind in ("lag", "noise", "ratio")}
    found = verdict(
        10,
        robustness=made.robustness(deviations),
        separability=made.separability({best: 3.0}),
        consistency=entropies((best,)),
    )
    assert found.verdict == expected


def test_execution_time():
    assert verdict(11, timing=made.timing(naive=9.0)).verdict is Verdict.AGREES
    assert verdict(11, timing=made.timing(naive=2.0)).verdict is Verdict.DISAGREES
    short = verdict(11, timing=made.timing(longest=10_000))
    assert short.verdict is Verdict.UNDECIDED
    assert "raise the budget" in short.measured


def test_forms():
    table = check_statements(Material())
    assert len(table.to_frame()) == 11
    assert "| 11 |" in table.to_markdown()
    assert "\\begin{tabular}" in table.to_latex()
    assert table.count(Verdict.NOT_CHECKED) == 11
    assert "| not checked |" in table.to_markdown()
    assert "not checked" in table.to_latex()

"""Statements of the paper about the quality of the measures, checked on results of the studies."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from vuskit.paper.concept_figures import compare_detectors
from vuskit.paper.examples import MBA_805, MBA_806, MBA_820, SED, find_detector, find_series
from vuskit.paper.exhibits import NotPossibleError
from vuskit.paper.findings import Checked, Scope, over_series, statement
from vuskit.paper.material import Material
from vuskit.paper.words import (
    RANGE_AWARE,
    in_order,
    number,
    title_of,
    titles,
    with_values,
)
from vuskit.studies import TableComparison

__all__: list[str] = []

POINT = ("precision", "recall", "f_score", "precision_at_k")
RANGE = ("range_precision", "range_recall", "range_f_score")
AUC = ("auc_roc", "auc_pr")
R_AUC, VUS = RANGE_AWARE[:2], RANGE_AWARE[2:]
PREVIOUS = (*POINT, *RANGE, *AUC)
"""The nine measures that existed before the paper."""

_NEAR = 0.05  # between a published value and ours
_CLOSE = 0.05  # between two values that the paper calls close
_LITTLE, _MUCH = 0.01, 0.1  # credit of a near miss
_ABOUT_TWICE = (1.5, 2.5)


def _present(names: Iterable[str], known: Any) -> list[str]:
    """Return the names as a list if the measures of all of them are known."""
    wanted = list(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise NotPossibleError(f"{titles(missing)} must be among the measures")
    return wanted


# -- examples --------------------------------------------------------------------------------------


@statement(
    1,
    "On KDD21, F and RF order the detectors differently, and the groups without significant "
    "differences change.",
    place="Introduction, Fig. 1",
    criterion="at least one detector changes its place; the groups differ (alpha 0.1)",
    needs=["consistency"],
    exhibit="fig-01",
)
def _orders_differ(material: Material) -> Checked:
    dataset = material.examples.ranked_dataset()
    found = [compare_detectors(material, dataset, name) for name in ("f_score", "range_f_score")]
    if not all(one.pairs.can_be_significant for one in found):
        raise NotPossibleError(
            f"{dataset} has {found[0].pairs.n} series, too few for a significant difference"
        )
    orders = [list(map(str, one.summary.index)) for one in found]
    groups = [{frozenset(map(str, group)) for group in one.groups} for one in found]
    common = [name for name in orders[0] if name in orders[1]]
    moved = sum(orders[0].index(name) != orders[1].index(name) for name in common)
    first, second = orders[0][0], orders[1][0]
    leaders = (
        f"both rank {first} first" if first == second else f"F ranks {first} first, RF {second}"
    )
    return Checked(
        f"{dataset}: {moved} of {len(common)} detectors change places; {leaders}",
        {"the order changes": moved > 0, "the groups change": groups[0] != groups[1]},
        over_series(material, [dataset] * found[0].pairs.n, fewest_datasets=1),
    )


def _two_on(
    material: Material, pattern: re.Pattern[str], name: str, pair: tuple[str, str]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the values of two detectors on a series of the paper."""
    examples = material.examples
    series = find_series(pattern, examples.series)
    if series is None:
        raise NotPossibleError(f"{name} is not among the series")
    known = examples.detectors_of(series)
    found = []
    for wanted in pair:
        detector = find_detector(wanted, known)
        if detector is None:
            raise NotPossibleError(f"{series} has no scores of {wanted}")
        row = examples.table.loc[(series, detector)]
        found.append({str(measure): float(value) for measure, value in row.items()})
    return found[0], found[1]


def _preferences(
    pair: tuple[str, str], values: tuple[Mapping[str, float], Mapping[str, float]], first: set[str]
) -> Checked:
    """Compare the preferences of all thirteen measures; `first` prefer the first detector."""
    one, two = values
    names = _present((*PREVIOUS, *RANGE_AWARE), one)
    parts = {
        f"{title_of(name)} prefers {pair[0] if name in first else pair[1]}": (
            one[name] > two[name] if name in first else two[name] > one[name]
        )
        for name in names
    }
    said = ", ".join(f"{title_of(name)} {number(one[name])}/{number(two[name])}" for name in names)
    return Checked(f"{pair[0]}/{pair[1]}: {said}", parts, Scope(1))


_AE_OCSVM, _LOF_OCSVM = ("AE", "OCSVM"), ("LOF", "OCSVM")


@statement(
    2,
    "MBA(805): Precision, Precision@k and the four range-aware measures prefer AE, the other seven "
    "OCSVM.",
    place="Sec. 5.2, Fig. 8(A)",
    criterion="the higher value, for each of the thirteen measures",
    needs=["consistency"],
    exhibit="fig-08",
)
def _mba_805(material: Material) -> Checked:
    values = _two_on(material, MBA_805, "MBA(805)", _AE_OCSVM)
    return _preferences(_AE_OCSVM, values, {"precision", "precision_at_k", *RANGE_AWARE})


@statement(
    3,
    "MBA(805): AUC-PR is .57 for AE and .73 for OCSVM, R-AUC-PR .89 and .83.",
    place="Sec. 5.2, Fig. 8(A)",
    criterion=f"each of the four values within {_NEAR:g}",
    needs=["consistency"],
    exhibit="fig-08",
)
def _values_of_805(material: Material) -> Checked:
    found = _two_on(material, MBA_805, "MBA(805)", _AE_OCSVM)
    stated = {"auc_pr": (0.57, 0.73), "range_auc_pr": (0.89, 0.83)}
    _present(stated, found[0])
    parts = {
        f"{title_of(name)} of {detector}": abs(own[name] - value) <= _NEAR
        for name, pair in stated.items()
        for detector, own, value in zip(_AE_OCSVM, found, pair, strict=True)
    }
    said = ", ".join(
        f"{title_of(name)} {number(found[0][name])} and {number(found[1][name])}" for name in stated
    )
    return Checked(f"AE and OCSVM: {said}", parts, Scope(1))


@statement(
    4,
    "MBA(806): Precision, Recall, F, Precision@k and AUC-PR prefer OCSVM; Rprecision, Rrecall, RF, "
    "AUC-ROC and the four range-aware measures prefer LOF.",
    place="Sec. 5.2, Fig. 8(B)",
    criterion="the higher value, for each of the thirteen measures",
    needs=["consistency"],
    exhibit="fig-08",
)
def _mba_806(material: Material) -> Checked:
    values = _two_on(material, MBA_806, "MBA(806)", _LOF_OCSVM)
    return _preferences(_LOF_OCSVM, values, {*RANGE, "auc_roc", *RANGE_AWARE})


@statement(
    5,
    "MBA(806): Rprecision, Rrecall and RF are close for LOF and OCSVM.",
    place="Sec. 5.2, Fig. 8(B)",
    criterion=f"each difference at most {_CLOSE:g}",
    needs=["consistency"],
    exhibit="fig-08",
)
def _close_on_806(material: Material) -> Checked:
    lof, ocsvm = _two_on(material, MBA_806, "MBA(806)", _LOF_OCSVM)
    gaps = {name: abs(lof[name] - ocsvm[name]) for name in _present(RANGE, lof)}
    parts = {title_of(name): gap <= _CLOSE for name, gap in gaps.items()}
    return Checked(f"differences: {with_values(gaps)}", parts, Scope(1))


@statement(
    6,
    "A prediction just before the anomaly (S1) gets nothing from F and AUC-PR, which jump when it "
    "touches the anomaly (S2). VUS handles both.",
    place="Sec. 5.3, Fig. 9",
    criterion=(
        f"credit at S1, from a clear miss (0) to the exact match (1): below {_LITTLE:g} for F and "
        f"AUC-PR, above {_MUCH:g} for VUS; rise from S1 to S2: larger for F and AUC-PR than for VUS"
    ),
    needs=["scenarios"],
    exhibit="fig-09",
)
def _near_miss(material: Material) -> Checked:
    touch = material.scenarios.at_first_touch()
    credit, jump = touch["credit"], touch["jump"]
    none = _present(("f_score", "auc_pr"), credit.index)
    some = _present(VUS, credit.index)
    parts = {f"no credit from {title_of(name)}": bool(credit[name] < _LITTLE) for name in none}
    parts |= {f"credit from {title_of(name)}": bool(credit[name] > _MUCH) for name in some}
    parts["larger jumps of F and AUC-PR"] = bool(jump[none].min() > jump[some].max())
    text = f"credit: {with_values(credit[[*none, *some]])}; jump: {with_values(jump[none + some])}"
    return Checked(f"{text} (synthetic series)", parts, Scope(1))


# -- robustness ------------------------------------------------------------------------------------


def _deviations(material: Material, kind: str) -> Any:
    averages = material.robustness.averages()
    if kind not in averages:
        raise NotPossibleError(f"the study has no results for {kind}")
    found = averages[kind]
    _present((*PREVIOUS, *RANGE_AWARE), found.index)
    if found[[*PREVIOUS, *RANGE_AWARE]].isna().any():
        raise NotPossibleError(f"some measures have no standard deviation under {kind}")
    return found


def _robust_scope(material: Material) -> Scope:
    return over_series(material, [one.dataset for one in material.robustness.values])


def _compared(found: Mapping[str, TableComparison], key: str) -> TableComparison:
    if key not in found:
        raise NotPossibleError("tests need at least two series and two measures")
    return found[key]


def _ahead(comparison: TableComparison, names: Iterable[str], others: Iterable[str]) -> int:
    """Count the pairs in which the first measure has a significantly better mean rank."""
    rank = comparison.summary["mean_rank"]
    rivals = list(others)
    return sum(
        frozenset((one, other)) in comparison.significant and bool(rank[one] < rank[other])
        for one in names
        for other in rivals
    )


def _most_robust(material: Material, kind: str) -> Checked:
    means = _deviations(material, kind)
    compared = _compared(material.robustness.comparisons(), kind)
    order = in_order(means)
    ranks = in_order(compared.summary["mean_rank"])
    wins = _ahead(compared, RANGE_AWARE, PREVIOUS)
    total = len(RANGE_AWARE) * len(PREVIOUS)
    places = [f"{title_of(str(name))} {place}" for place, name in enumerate(order.index, start=1)
              if name in RANGE_AWARE]  # fmt: skip
    parts = {
        "lowest mean deviations": set(order.index[:4]) == set(RANGE_AWARE),
        "best mean ranks": set(ranks.index[:4]) == set(RANGE_AWARE),
        f"all {total} differences significant": wins == total,
    }
    text = (
        f"places by mean deviation: {', '.join(places)}; best mean ranks: {with_values(ranks, 4)}; "
        f"significantly ahead in {wins} of {total} pairs"
    )
    return Checked(text, parts, _robust_scope(material))


_MOST_ROBUST = (
    "the four lowest mean deviations; the four best mean ranks; each of the four significantly "
    "ahead of each of the nine other measures (Wilcoxon-Holm, alpha 0.1)"
)


@statement(
    7,
    "The four range-aware measures are significantly more robust to lag.",
    place="Sec. 5.4, Fig. 11(a.1) and 12(a.1)",
    criterion=_MOST_ROBUST,
    needs=["robustness"],
    exhibit="fig-12",
)
def _robust_to_lag(material: Material) -> Checked:
    return _most_robust(material, "lag")


@statement(
    8,
    "The four range-aware measures are significantly more robust to noise.",
    place="Sec. 5.4, Fig. 11(a.2) and 12(a.2)",
    criterion=_MOST_ROBUST,
    needs=["robustness"],
    exhibit="fig-12",
)
def _robust_to_noise(material: Material) -> Checked:
    return _most_robust(material, "noise")


@statement(
    9,
    "AUC-ROC and AUC-PR are robust to noise, but not to lag.",
    place="Sec. 5.4, Fig. 11(a)",
    criterion=(
        "mean deviation under noise below the median of the thirteen measures, and under lag above"
    ),
    needs=["robustness"],
    exhibit="fig-11",
)
def _auc_noise_lag(material: Material) -> Checked:
    noise, lag = (_deviations(material, kind) for kind in ("noise", "lag"))
    parts = {f"{title_of(one)}, noise": bool(noise[one] < noise.median()) for one in AUC}
    parts |= {f"{title_of(one)}, lag": bool(lag[one] > lag.median()) for one in AUC}
    text = "; ".join(
        f"{kind}: {with_values(values[list(AUC)])}, median {number(values.median())}"
        for kind, values in (("noise", noise), ("lag", lag))
    )
    return Checked(text, parts, _robust_scope(material))


@statement(
    10,
    "Under a changed share of anomalous points, R-AUC-ROC and VUS-ROC are robust, R-AUC-PR and "
    "VUS-PR are not, and Precision and Rprecision vary strongly.",
    place="Sec. 5.4, Fig. 11(a.3) and 12(a.3)",
    criterion=(
        "mean deviation of the two ROC measures below the median of the thirteen measures, of the "
        "four others above"
    ),
    needs=["robustness"],
    exhibit="fig-11",
)
def _robust_to_ratio(material: Material) -> Checked:
    ratio = _deviations(material, "ratio")
    middle = ratio.median()
    low = ("range_auc_roc", "vus_roc")
    high = ("range_auc_pr", "vus_pr", "precision", "range_precision")
    parts = {f"{title_of(one)} is robust": bool(ratio[one] < middle) for one in low}
    parts |= {f"{title_of(one)} is not robust": bool(ratio[one] > middle) for one in high}
    text = f"{with_values(ratio[[*low, *high]])}; median {number(middle)}"
    return Checked(text, parts, _robust_scope(material))


@statement(
    11,
    "VUS-ROC is significantly more robust to lag, noise and ratio than other measures.",
    place="Sec. 5.4, Fig. 12",
    criterion=(
        "for each perturbation, significantly ahead of all twelve other measures (Wilcoxon-Holm, "
        "alpha 0.1)"
    ),
    needs=["robustness"],
    exhibit="fig-12",
)
def _vus_roc_is_most_robust(material: Material) -> Checked:
    comparisons = material.robustness.comparisons()
    others = [name for name in (*PREVIOUS, *RANGE_AWARE) if name != "vus_roc"]
    _present((*others, "vus_roc"), material.robustness.study.names)
    wins = {
        kind: _ahead(_compared(comparisons, kind), ["vus_roc"], others)
        for kind in ("lag", "noise", "ratio")
    }
    parts = {kind: count == len(others) for kind, count in wins.items()}
    said = ", ".join(f"{kind} {count}" for kind, count in wins.items())
    text = f"measures, of {len(others)}, that VUS-ROC is significantly ahead of: {said}"
    return Checked(text, parts, _robust_scope(material))


# -- separability ----------------------------------------------------------------------------------


def _mean_z(material: Material) -> Any:
    z = material.separability.averages()["mean"]
    _present((*PREVIOUS, *RANGE_AWARE), z.index)
    if z[[*PREVIOUS, *RANGE_AWARE]].isna().any():
        raise NotPossibleError("some measures have no finite z")
    return z


def _separable_scope(material: Material) -> Scope:
    found = material.separability
    skipped = set(found.series_without_pairs)
    return over_series(material, [one.dataset for one in found.values if one.name not in skipped])


@statement(
    12,
    "The range-aware measures are significantly more separable than the others, up to twice as "
    "much as AUC-ROC, the best of those.",
    place="Sec. 5.5, Fig. 14",
    criterion=(
        "mean z of each of the four above all nine others; all 36 differences significant "
        "(Wilcoxon-Holm, alpha 0.1); AUC-ROC best of the nine; largest ratio to it from "
        f"{_ABOUT_TWICE[0]:g} to {_ABOUT_TWICE[1]:g}"
    ),
    needs=["separability"],
    exhibit="fig-14",
)
def _separable(material: Material) -> Checked:
    z = _mean_z(material)
    compared = _compared(material.separability.comparisons(), "z")
    wins = _ahead(compared, RANGE_AWARE, PREVIOUS)
    total = len(RANGE_AWARE) * len(PREVIOUS)
    previous = in_order(z[list(PREVIOUS)], lowest_first=False)
    ratios = in_order(z[list(RANGE_AWARE)] / z["auc_roc"], lowest_first=False)
    low, high = _ABOUT_TWICE
    parts = {f"{title_of(one)} is ahead": bool(z[one] > previous.iloc[0]) for one in RANGE_AWARE}
    parts |= {
        f"all {total} differences significant": wins == total,
        "AUC-ROC is the best of the others": str(previous.index[0]) == "auc_roc",
        "up to twice": bool(z["auc_roc"] > 0 and low <= ratios.iloc[0] <= high),
    }
    text = (
        f"mean z divided by that of AUC-ROC: {with_values(ratios)}; best others: "
        f"{with_values(previous, 2)}; significantly ahead in {wins} of {total} pairs"
    )
    return Checked(text, parts, _separable_scope(material))


@statement(
    13,
    "The range-aware measures are more separable on MBA(805), MBA(820) and SED.",
    place="Sec. 5.5, Fig. 13 and 14(a)",
    criterion="on each series, mean z of each of the four above all nine others",
    needs=["separability"],
    exhibit="fig-14",
)
def _separable_on_three(material: Material) -> Checked:
    found = material.separability.by_series()
    names = ["/".join(map(str, one)) for one in found.index]
    _present((*PREVIOUS, *RANGE_AWARE), found.columns)
    parts: dict[str, bool | None] = {}
    said = []
    for title, pattern in (("MBA(805)", MBA_805), ("MBA(820)", MBA_820), ("SED", SED)):
        series = find_series(pattern, names)
        if series is None:
            parts[title] = None
            continue
        z = found.iloc[names.index(series)]
        best, worst = z[list(PREVIOUS)].max(), z[list(RANGE_AWARE)].min()
        parts[title] = bool(worst > best)
        said.append(f"{title}: lowest of the four {number(worst)}, highest other {number(best)}")
    if not said:
        raise NotPossibleError("none of the three series has pairs of detectors")
    return Checked("; ".join(said), parts, Scope(len(said)))


@statement(
    14,
    "VUS-ROC is the most robust and most separable measure.",
    place="Sec. 5.5, global analysis",
    criterion="lowest mean deviation under lag and noise, highest mean z",
    needs=["robustness", "separability"],
    exhibit="fig-15",
)
def _most_robust_and_separable(material: Material) -> Checked:
    orders = {kind: in_order(_deviations(material, kind)) for kind in ("lag", "noise")}
    orders["z"] = in_order(_mean_z(material), lowest_first=False)
    places = {kind: list(order.index).index("vus_roc") + 1 for kind, order in orders.items()}
    parts = {f"first by {kind}": place == 1 for kind, place in places.items()}
    said = ", ".join(f"{kind} {place}" for kind, place in places.items())
    return Checked(f"places of VUS-ROC: {said}", parts, _robust_scope(material))


@statement(
    15,
    "The range-aware measures and, of the others, only AUC-ROC are robust and separable. F, RF "
    "and AUC-PR are robust but not separable, Precision and Rprecision neither.",
    place="Sec. 5.5, Fig. 15",
    criterion=(
        "robust: mean deviation under lag and noise below the median measure; separable: mean z "
        "above the median measure"
    ),
    needs=["robustness", "separability", "consistency"],
    exhibit="fig-15",
)
def _quadrants(material: Material) -> Checked:
    summary = material.summary("mean")
    if not summary.has_scatter:
        raise NotPossibleError("needs lag, noise, ratio and separability")
    points = summary.scatter()
    _present((*PREVIOUS, *RANGE_AWARE), points.index)
    robust = points["deviation"] <= points["deviation"].median()
    separable = points["z"] >= points["z"].median()
    expected = {
        **dict.fromkeys((*RANGE_AWARE, "auc_roc"), (True, True)),
        **dict.fromkeys(("f_score", "range_f_score", "auc_pr"), (True, False)),
        **dict.fromkeys(("precision", "range_precision"), (False, False)),
    }
    words = {True: "", False: "not "}
    parts = {
        f"{title_of(name)} {words[steady]}robust, {words[apart]}separable": bool(
            robust[name] == steady and separable[name] == apart
        )
        for name, (steady, apart) in expected.items()
    }
    both = [str(name) for name in points.index[robust & separable]]
    return Checked(f"both: {titles(both) or 'none'}", parts, _robust_scope(material))


# -- consistency -----------------------------------------------------------------------------------


def _rank_scope(material: Material) -> Scope:
    return over_series(material, [one.dataset for one in material.consistency.values])


@statement(
    16,
    "The entropy of the ranks decreases from threshold-based to AUC, R-AUC and VUS measures, with "
    "the lowest for VUS.",
    place="Sec. 5.6, Fig. 16(a)",
    criterion="mean entropy of the group: AUC < threshold-based, R-AUC < AUC, VUS < R-AUC",
    needs=["consistency"],
    exhibit="fig-16",
)
def _consistent(material: Material) -> Checked:
    entropy = material.consistency.averages()["entropy"]
    groups = {"threshold-based": (*POINT, *RANGE), "AUC": AUC, "R-AUC": R_AUC, "VUS": VUS}
    means = {
        title: float(entropy[_present(names, entropy.index)].mean())
        for title, names in groups.items()
    }
    if any(np.isnan(list(means.values()))):
        raise NotPossibleError("no data set has enough series for an entropy")
    steps = list(means)
    parts = {
        f"{after} below {before}": means[after] < means[before]
        for before, after in itertools.pairwise(steps)
    }
    said = ", ".join(f"{name} {number(mean, 3)}" for name, mean in means.items())
    unit = material.consistency.study.entropy
    return Checked(f"mean entropy in {unit}: {said}", parts, _rank_scope(material))


@statement(
    17,
    "The mean ranks of the detectors are more separated by VUS than by threshold-based and AUC "
    "measures.",
    place="Sec. 5.6, Fig. 16(b)",
    criterion="standard deviation of the detectors' mean ranks, mean of the group: highest for VUS",
    needs=["consistency"],
    exhibit="fig-16",
)
def _separated_ranks(material: Material) -> Checked:
    spread = material.consistency.rank_table().std(ddof=0)
    groups = {"threshold-based": (*POINT, *RANGE), "AUC": AUC, "VUS": VUS}
    means = {
        title: float(spread[_present(names, spread.index)].mean())
        for title, names in groups.items()
    }
    parts = {f"above {name}": means["VUS"] > means[name] for name in ("threshold-based", "AUC")}
    said = ", ".join(f"{name} {number(mean)}" for name, mean in means.items())
    return Checked(f"mean standard deviation: {said}", parts, _rank_scope(material))


@statement(
    18,
    "On YAHOO, LOF and MP have ranks from 4 to 5 by threshold-based and AUC measures, and from 2.5 "
    "to 3 by range-aware measures.",
    place="Sec. 5.6, Fig. 16(b.1)",
    criterion="mean ranks of both detectors, averaged over the group, in these ranges",
    needs=["consistency"],
    exhibit="fig-16",
)
def _yahoo(material: Material) -> Checked:
    dataset = next((one for one in material.examples.sizes if one.lower() == "yahoo"), None)
    if dataset is None:
        raise NotPossibleError("YAHOO is not among the data sets")
    ranks = material.consistency.rank_table(dataset)
    groups = {"before": (PREVIOUS, 4.0, 5.0), "range-aware": (RANGE_AWARE, 2.5, 3.0)}
    parts, said = {}, []
    for wanted in ("LOF", "MP"):
        detector = find_detector(wanted, list(map(str, ranks.index)))
        if detector is None:
            raise NotPossibleError(f"{dataset} has no scores of {wanted}")
        for title, (names, low, high) in groups.items():
            rank = float(ranks.loc[detector, _present(names, ranks.columns)].mean())
            parts[f"{wanted}, {title}"] = low <= rank <= high
            said.append(f"{wanted}, {title} {number(rank)}")
    count = material.examples.sizes[dataset]
    scope = over_series(material, [dataset] * count, fewest_datasets=1)
    return Checked(f"mean ranks: {'; '.join(said)}", parts, scope)


# -- summary ---------------------------------------------------------------------------------------


@statement(
    19,
    "VUS-ROC is always the best measure.",
    place="Sec. 5.8, Fig. 19",
    criterion="rank 1 in each test, and in the mean of all tests",
    needs=["robustness", "separability", "consistency"],
    exhibit="fig-19",
)
def _always_best(material: Material) -> Checked:
    ranks = material.summary("mean").ranks
    _present(("vus_roc",), ranks.index)
    places = {str(test): float(ranks.loc["vus_roc", test]) for test in ranks.columns}
    best = {test: float(ranks[test].min()) for test in places}
    parts = {
        "best on average" if test == "mean" else f"best in {test}": rank <= best[test]
        for test, rank in places.items()
    }
    said = ", ".join(f"{test} {rank:g}" for test, rank in places.items())
    other = material.summary("median").ranks.index[0]
    text = (
        f"ranks of VUS-ROC: {said}; best on average: {title_of(str(ranks.index[0]))}, with the "
        f"median z {title_of(str(other))}"
    )
    return Checked(text, parts, _robust_scope(material))


@statement(
    20,
    "On average over the tests, VUS-PR and the two R-AUC measures are second, third and fourth.",
    place="Sec. 5.8, Fig. 19",
    criterion="place by mean rank 2, 3 or 4, for each of the three",
    needs=["robustness", "separability", "consistency"],
    exhibit="fig-19",
)
def _next_best(material: Material) -> Checked:
    order = list(map(str, material.summary("mean").ranks.index))
    three = _present(("vus_pr", *R_AUC), order)
    places = {name: order.index(name) + 1 for name in three}
    parts = {title_of(name): place in (2, 3, 4) for name, place in places.items()}
    said = ", ".join(f"{title_of(name)} {place}" for name, place in places.items())
    return Checked(f"places: {said}", parts, _robust_scope(material))


@statement(
    31,
    "AUC-PR fluctuates between .75 and .50 for a lag of a quarter of the anomaly's length.",
    place="Sec. 3.2, Fig. 2(b)",
    criterion="largest and lowest value within 0.05",
    needs=["consistency"],
    exhibit="fig-02",
)
def _auc_pr_under_lag(material: Material) -> Checked:
    material.result("consistency")
    raise NotPossibleError("the paper does not name the part of the electrocardiogram")

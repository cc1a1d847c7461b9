"""Findings: statements of the paper, measurements on this data, and whether they agree."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice
from vuskit.paper.concept_figures import compare_detectors
from vuskit.paper.examples import MBA_805, MBA_806, find_detector, find_series
from vuskit.paper.exhibits import RESULTS, NotPossibleError, NotRequestedError
from vuskit.paper.material import Material
from vuskit.paper.timing_exhibits import speed_on_longest
from vuskit.paper.words import (
    AREA_PR,
    AREA_ROC,
    RANGE_AWARE,
    in_order,
    listed,
    number,
    plural,
    title_of,
    titles,
    with_values,
)
from vuskit.studies.timing.tables import single_slopes

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_SERIES = 5
"""Statements about means over series need this many series."""
_LONG_SERIES = 50_000
"""Number of points of a long series."""
_MUCH_FASTER = 5.0
"""The paper states "up to ten times"; half of that counts as agreement."""


class Verdict(enum.StrEnum):
    """Whether a measurement agrees with a statement of the paper.

    A statement is undecided if the data does not allow an answer. It is not checked if the results
    it needs were not requested.
    """

    AGREES = "agrees"
    DISAGREES = "disagrees"
    UNDECIDED = "undecided"
    NOT_CHECKED = "not checked"


class Checked(NamedTuple):
    """Outcome of a check."""

    measured: str
    agrees: bool
    n_series: int


@dataclass(frozen=True)
class Statement:
    """A statement of the paper that numbers can confirm or refute.

    Attributes
    ----------
    number : int
        Position in the table.
    text : str
        The paper's statement, in our words.
    needs : tuple of str
        Results that the check uses.
    check : callable
        Returns a `Checked` from a `Material`, or raises a `NotPossibleError` with the reason.
    exhibit : str
        Exhibit that shows the same results, such as ``"fig-11"``; may be empty.
    """

    number: int
    text: str
    needs: tuple[str, ...]
    check: Callable[[Material], Checked]
    exhibit: str = ""

    @property
    def not_requested(self) -> str:
        """What to request so that the statement is checked."""
        return f"not requested; needs {self.exhibit or listed(self.needs)}"


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, the measurement on this data, and the verdict.

    Attributes
    ----------
    number : int
        Number of the statement.
    paper : str
        The statement.
    measured : str
        The measurement, or the reason why there is none.
    verdict : Verdict
        Whether they agree.
    n_series : int
        Number of series measured; 0 if nothing was measured.
    """

    number: int
    paper: str
    measured: str
    verdict: Verdict
    n_series: int


@dataclass(frozen=True)
class FindingTable(TableForms):
    """Statements, measurements and verdicts.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of the statements.
    """

    findings: tuple[Finding, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row for each finding."""
        rows = [
            {
                "number": one.number,
                "paper": one.paper,
                "measured": one.measured,
                "verdict": str(one.verdict),
                "n_series": one.n_series,
            }
            for one in self.findings
        ]
        names = ["number", "paper", "measured", "verdict", "n_series"]
        frame: pd.DataFrame = require("pandas", purpose="to_frame()").DataFrame(rows, columns=names)
        return frame

    def count(self, verdict: Verdict) -> int:
        """Number of findings with a verdict."""
        return sum(one.verdict is verdict for one in self.findings)

    @property
    def _layout(self) -> TableLayout:
        header = ["", "paper", "measured here", "verdict", "series"]
        rows = [
            [str(one.number), one.paper, one.measured, str(one.verdict), f"{one.n_series:,}"]
            for one in self.findings
        ]
        return TableLayout(header, rows, left=4)


_STATEMENTS: dict[int, Statement] = {}
Check = Callable[[Material], Checked]


def statement(
    number: int, text: str, *, needs: Iterable[str], exhibit: str = ""
) -> Callable[[Check], Check]:
    """Decorator that registers the check of a statement.

    Parameters
    ----------
    number : int
        Position in the table; must be unique.
    text : str
        The paper's statement.
    needs : iterable of str
        Results that the check uses, see `vuskit.paper.exhibits.RESULTS`.
    exhibit : str, optional
        Exhibit that shows the same results, such as ``"fig-11"``. The table of findings names it
        when the statement is not checked.

    Raises
    ------
    InvalidInputError
        If the number is taken, or a result is unknown.
    """
    for one in needs:
        check_choice("needs", one, RESULTS)

    def decorate(check: Check) -> Check:
        if number in _STATEMENTS:
            raise InvalidInputError(f"`number` must be unique, got {number} twice")
        _STATEMENTS[number] = Statement(number, text, tuple(needs), check, exhibit)
        return check

    return decorate


def list_statements() -> tuple[Statement, ...]:
    """Return all statements, by number.

    Examples
    --------
    >>> from vuskit.paper import list_statements
    >>> print(list_statements()[9].text)
    VUS-ROC is the best measure overall.
    """
    return tuple(_STATEMENTS[number] for number in sorted(_STATEMENTS))


def check_statements(material: Material) -> FindingTable:
    """Check all statements of the paper.

    Parameters
    ----------
    material : Material
        Results of the studies.

    Returns
    -------
    FindingTable
        Statements that the data cannot decide are undecided. Statements whose results were not
        requested are not checked. Both come with the reason.
    """
    return FindingTable(tuple(_checked(one, material) for one in list_statements()))


def _checked(one: Statement, material: Material) -> Finding:
    try:
        found = one.check(material)
    except NotRequestedError:
        return Finding(one.number, one.text, one.not_requested, Verdict.NOT_CHECKED, 0)
    except VuskitError as error:
        return Finding(one.number, one.text, f"not measured: {error}", Verdict.UNDECIDED, 0)
    verdict = Verdict.AGREES if found.agrees else Verdict.DISAGREES
    return Finding(one.number, one.text, found.measured, verdict, found.n_series)


def _enough(count: int) -> int:
    if count < _FEWEST_SERIES:
        raise NotPossibleError(f"needs at least {_FEWEST_SERIES} series, got {count}")
    return count


def _present(names: Iterable[str], known: Any) -> list[str]:
    """Return the names as a list if the measures of all of them are known."""
    wanted = list(names)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise NotPossibleError(f"{titles(missing)} must be among the measures")
    return wanted


# -- the statements --------------------------------------------------------------------------------


@statement(
    1,
    "On one data set (KDD21), F and RF order the detectors differently, and the groups without "
    "significant differences change.",
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
    changed = groups[0] != groups[1]
    first, second = orders[0][0], orders[1][0]
    leaders = (
        f"both rank {first} first" if first == second else f"F ranks {first} first, RF {second}"
    )
    text = (
        f"{dataset}: {moved} of {len(common)} detectors change places; {leaders}; the groups "
        f"{'change' if changed else 'stay the same'}"
    )
    return Checked(text, moved > 0 and changed, found[0].pairs.n)


def _two_on(
    material: Material, pattern: Any, name: str, pair: tuple[str, str]
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


def _reach(material: Material) -> str:
    """Name the buffers of VUS if they differ from the default of `vuskit evaluate`."""
    factor = material.consistency.study.settings.volume_factor
    return f" (VUS over buffers 0 to {factor:g} L)" if factor != 1 else ""


def _over(measure: str, first: dict[str, float], second: dict[str, float]) -> str:
    return f"{title_of(measure)} {number(first[measure])} and {number(second[measure])}"


@statement(
    2,
    "MBA(805): AUC-PR prefers OCSVM (.73 over .57), R-AUC-PR prefers AE (.89 over .83).",
    needs=["consistency"],
    exhibit="fig-08",
)
def _mba_805(material: Material) -> Checked:
    ae, ocsvm = _two_on(material, MBA_805, "MBA(805)", ("AE", "OCSVM"))
    _present(("auc_pr", "range_auc_pr", "vus_pr"), ae)
    said = ", ".join(_over(one, ae, ocsvm) for one in ("auc_pr", "range_auc_pr", "vus_pr"))
    agrees = ocsvm["auc_pr"] > ae["auc_pr"] and ae["range_auc_pr"] > ocsvm["range_auc_pr"]
    return Checked(f"AE and OCSVM: {said}{_reach(material)}", agrees, 1)


@statement(
    3,
    "MBA(806): AUC-PR prefers OCSVM; AUC-ROC and the four range-aware measures prefer LOF.",
    needs=["consistency"],
    exhibit="fig-08",
)
def _mba_806(material: Material) -> Checked:
    lof, ocsvm = _two_on(material, MBA_806, "MBA(806)", ("LOF", "OCSVM"))
    others = _present(("auc_roc", *RANGE_AWARE), lof)
    _present(("auc_pr",), lof)
    said = ", ".join(_over(one, lof, ocsvm) for one in ("auc_pr", *others))
    agrees = ocsvm["auc_pr"] > lof["auc_pr"] and all(lof[one] > ocsvm[one] for one in others)
    return Checked(f"LOF and OCSVM: {said}{_reach(material)}", agrees, 1)


@statement(
    4,
    "A prediction just before the anomaly (S1) gets no credit from F and AUC-PR, but some from "
    "VUS.",
    needs=["scenarios"],
    exhibit="fig-09",
)
def _near_miss(material: Material) -> Checked:
    credit = material.scenarios.at_first_touch()["credit"]
    none = _present(("f_score", "auc_pr"), credit.index)
    some = _present(("vus_roc", "vus_pr"), credit.index)
    text = (
        "credit as a share of the way from a clear miss to the exact match: "
        f"{with_values(credit[[*none, *some]])} (synthetic series)"
    )
    agrees = bool((credit[none] < 0.01).all() and (credit[some] > 0.1).all())
    return Checked(text, agrees, 1)


def _most_robust(material: Material, kind: str) -> Checked:
    found = material.robustness
    averages = found.averages()
    if kind not in averages:
        raise NotPossibleError(f"the study has no results for {kind}")
    four = _present(RANGE_AWARE, averages.index)
    order = in_order(averages[kind])
    places = {name: list(order.index).index(name) + 1 for name in four if name in order.index}
    said = ", ".join(f"{title_of(name)} {place}" for name, place in places.items())
    text = f"places of the four: {said}; lowest mean standard deviations: {with_values(order, 4)}"
    count = _enough(len(found.values))
    return Checked(text, set(map(str, order.index[:4])) == set(four), count)


@statement(
    5,
    "The four range-aware measures are the most robust to lag.",
    needs=["robustness"],
    exhibit="fig-11",
)
def _robust_to_lag(material: Material) -> Checked:
    return _most_robust(material, "lag")


@statement(
    6,
    "The four range-aware measures are the most robust to noise.",
    needs=["robustness"],
    exhibit="fig-11",
)
def _robust_to_noise(material: Material) -> Checked:
    return _most_robust(material, "noise")


@statement(
    7,
    "When the share of anomalous points changes, the ROC measures are robust and the PR measures "
    "are not.",
    needs=["robustness"],
    exhibit="fig-11",
)
def _robust_to_ratio(material: Material) -> Checked:
    averages = material.robustness.averages()
    if "ratio" not in averages:
        raise NotPossibleError("the study has no results for ratio")
    ratio = averages["ratio"]
    roc, pr = (_present(names, ratio.index) for names in (AREA_ROC, AREA_PR))
    if ratio[[*roc, *pr]].isna().any():
        raise NotPossibleError("no crop of the series has the required share of anomalous points")
    text = f"mean standard deviation: {with_values(in_order(ratio[[*roc, *pr]]))}"
    agrees = bool(ratio[roc].max() < ratio[pr].min())
    return Checked(text, agrees, _enough(len(material.robustness.values)))


@statement(
    8,
    "Range-aware measures separate accurate from inaccurate detectors better than AUC-ROC, up to "
    "twice as well.",
    needs=["separability"],
    exhibit="fig-14",
)
def _separable(material: Material) -> Checked:
    found = material.separability
    averages = found.averages()
    four = _present(RANGE_AWARE, averages.index)
    _present(("auc_roc",), averages.index)
    used = _enough(len(found.values) - len(found.series_without_pairs))
    said, better = [], []
    for average in ("mean", "median"):
        z = averages[average]
        ratios = in_order(z[four] / z["auc_roc"], lowest_first=False)
        said.append(f"{average} z divided by that of AUC-ROC: {with_values(ratios)}")
        better.append(bool(z["auc_roc"] > 0 and len(ratios) == len(four) and ratios.min() > 1))
    return Checked("; ".join(said), better[0], used)


_STAGES = (
    ("threshold-based", ("threshold", "range")),
    ("AUC", ("auc",)),
    ("VUS", ("vus",)),
)


@statement(
    9,
    "The entropy of the ranks decreases from threshold-based measures to AUC to VUS.",
    needs=["consistency"],
    exhibit="fig-16",
)
def _consistent(material: Material) -> Checked:
    averages = material.consistency.averages()
    means = {
        name: float(averages.loc[averages["family"].isin(families), "entropy"].mean())
        for name, families in _STAGES
    }
    missing = [name for name, mean in means.items() if mean != mean]
    if missing:
        raise NotPossibleError(f"there is no {missing[0]} measure")
    text = f"mean entropy: {', '.join(f'{name} {number(mean)}' for name, mean in means.items())}"
    first, middle, last = means.values()
    return Checked(text, first > middle > last, _enough(len(material.consistency.values)))


@statement(
    10,
    "VUS-ROC is the best measure overall.",
    needs=["robustness", "separability", "consistency"],
    exhibit="fig-19",
)
def _best(material: Material) -> Checked:
    ranks, other = (material.summary(average).ranks["mean"] for average in ("mean", "median"))
    _present(("vus_roc",), ranks.index)
    place = list(ranks.index).index("vus_roc") + 1
    text = (
        f"place of VUS-ROC: {place}; best mean ranks with the mean z: {with_values(ranks, 3)}; "
        f"with the median z: {with_values(other, 3)}"
    )
    best = bool(ranks["vus_roc"] <= ranks.min())
    return Checked(text, best, _enough(len(material.robustness.values)))


@statement(
    11,
    "VUS opt is up to ten times as fast as VUS on long series, and its time depends less on the "
    "length and on the longest buffer.",
    needs=["timing"],
    exhibit="fig-17",
)
def _faster(material: Material) -> Checked:
    longest, seconds = speed_on_longest(material.timing)
    if longest < _LONG_SERIES:
        raise NotPossibleError(f"VUS was measured on at most {longest:,} points; raise the budget")
    ratio = seconds["naive"] / seconds["opt"]
    slopes = {
        (row.contestant, row.parameter): row.to_naive
        for row in single_slopes(material.timing).itertuples()
    }
    kept = {
        title: slopes["opt", name]
        for name, title in (("n_points", "length"), ("max_buffer", "buffer"))
        if np.isfinite(slopes.get(("opt", name), np.nan))
    }
    said = ", ".join(f"{title} {number(value)}" for title, value in kept.items())
    text = (
        f"{number(ratio, 1)} times as fast on {longest:,} points; slopes of VUS opt divided by "
        f"those of VUS: {said or 'too few values'} "
        f"({plural(len(material.timing.samples), 'timed run')})"
    )
    agrees = ratio >= _MUCH_FASTER and all(value < 1 for value in kept.values())
    return Checked(text, agrees, 1)

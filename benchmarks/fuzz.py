"""Fuzz all registered measures: compare ways of computing the same value on nasty inputs.

    python benchmarks/fuzz.py --seed 3 --seconds 60
    python benchmarks/fuzz.py --only oracle --only order
    python benchmarks/fuzz.py --seed 3 --only order --case 1729     # one case again

Each case has its own random labels, scores and settings, made from the seed and its number. A
relation compares two ways to the same values, for example both cores, or a score with its ranks.
A failure prints the seed, the case and a reproducer with as few points as simple shrinking
finds. Warnings of NumPy and Python that a call lets through are failures as well. The exit code is
1 after a failure.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import oracle

import vuskit
from vuskit.kernels.backend import native_core

TOLERANCE = 1e-12
ORACLE_TOLERANCE = 1e-11
MOST_ORACLE_POINTS = 40
MOST_FAILURES = 5
SHRINK_SECONDS = 5.0
HUGE = 1.7e308
TINY = 5e-324
DOCUMENTED = (
    vuskit.InvertedScoreWarning,
    vuskit.LongBufferWarning,
    vuskit.ThresholdResolutionWarning,
    vuskit.PredictionAsScoreWarning,
    vuskit.UndefinedMeasureWarning,
)
AREA_SETTINGS = ("buffer", "thresholds", "definition", "step", "side")
# Values that do not depend on the order of the points, or on its direction.
POINTWISE = (
    "precision", "recall", "f_score", "precision_at_k", "auc_roc", "auc_pr", "best_f_score",
)  # fmt: skip
SYMMETRIC = (
    *POINTWISE, "range_precision", "range_recall", "range_f_score", "range_auc_roc",
    "range_auc_pr", "vus_roc", "vus_pr", "event_precision", "event_recall", "event_f_score",
    "composite_f_score", "point_adjusted_precision", "point_adjusted_recall",
    "point_adjusted_f_score",
)  # fmt: skip
OPPOSITE = {"both": "both", "before": "after", "after": "before"}


class MismatchError(Exception):
    """Two ways to the same value differ."""


@dataclass(frozen=True)
class Case:
    """Labels, scores and settings of one evaluation."""

    labels: np.ndarray
    scores: np.ndarray
    settings: dict[str, Any]
    choices: int = 0  # seed of the choices that relations make
    strict: bool = False  # whether NumPy's warnings are errors

    @property
    def n(self) -> int:
        """Number of points."""
        return self.labels.size

    @property
    def random(self) -> np.random.Generator:
        """Random numbers for the choices of a relation, the same each time."""
        return np.random.default_rng(self.choices)

    @property
    def ranks(self) -> np.ndarray:
        """Dense ranks of the scores."""
        return np.unique(self.scores, return_inverse=True)[1]

    def without(self, points: slice) -> Case:
        """The same case without some points."""
        return replace(
            self, labels=np.delete(self.labels, points), scores=np.delete(self.scores, points)
        )

    def code(self, relation: str) -> str:
        """Python that makes the case again."""
        scores = [number_text(score) for score in self.scores]
        return (
            f"case = Case(np.array({self.labels.tolist()}), "
            f"np.array([{', '.join(scores)}], dtype={self.scores.dtype.str!r}), "
            f"{self.settings}, {self.choices}, {self.strict})\n"
            f"check({relation!r}, case)"
        )


def number_text(score: Any) -> str:
    """A score as Python that gives exactly the same number."""
    if isinstance(score, np.longdouble):
        return f"np.longdouble('{score!s}')"
    return repr(score.item())


# --- random cases --------------------------------------------------------------------------------


def random_labels(random: np.random.Generator, n: int) -> np.ndarray:
    """Labels with both classes; one class where there is one point."""
    labels = np.zeros(n, dtype=np.int64)
    match random.integers(6):
        case 0:
            labels[:] = random.random(n) < random.choice([0.05, 0.3, 0.7])
        case 1:
            labels[int(random.integers(2)) :: 2] = 1
        case 2:
            labels[random.integers(n)] = 1
        case 3:
            labels[:] = 1
            labels[random.integers(n)] = 0
        case 4:
            labels[[0, -1]] = 1
            labels[n // 2 : n // 2 + int(random.integers(0, 4))] = 1
        case _:
            for _ in range(int(random.integers(1, 5))):
                start = int(random.integers(n))
                labels[start : start + int(random.choice([1, 2, 5, 20]))] = 1
    if n > 1 and labels.min() == labels.max():
        labels[random.integers(n)] ^= 1
    return labels


def _quarters(random: np.random.Generator, n: int) -> np.ndarray:
    return random.integers(0, random.choice([1, 2, 3, 5, 17]), n) / 4 + random.choice([0, -2, 256])


def _large_integers(random: np.random.Generator, n: int) -> np.ndarray:
    base = random.choice([2**53, 2**60, 2**63 - 400, -(2**63), -(2**53)])
    return base + random.integers(0, 300, n)


def _magnitudes(random: np.random.Generator, n: int) -> np.ndarray:
    return random.choice([-1.0, 1.0], n) * 10.0 ** random.uniform(-320, 308, n)


def _ladder(random: np.random.Generator, n: int) -> np.ndarray:
    """Neighboring doubles."""
    start = np.float64(random.choice([1.0, 0.1, -3.0, 1e300, 1e-300]))
    return (start.view(np.int64) + random.integers(0, 9, n)).view(np.float64)


SCORES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "quarters": _quarters,
    "uniform": lambda random, n: random.random(n),
    "normal": lambda random, n: random.normal(size=n),
    "constant": lambda random, n: np.full(n, random.choice([0.0, -0.0, 0.1, HUGE, TINY, -1e9])),
    "extremes": lambda random, n: random.choice([-HUGE, HUGE, 0.0, 1.0, TINY, -TINY], n),
    "subnormal": lambda random, n: random.integers(-9, 9, n) * TINY,
    "zeros": lambda random, n: random.choice([0.0, -0.0], n),
    "magnitudes": _magnitudes,
    "ladder": _ladder,
    "large": _large_integers,
    "unsigned": lambda random, n: np.uint64(2**63) + random.integers(0, 300, n, dtype=np.uint64),
    "int8": lambda random, n: random.integers(-128, 128, n, dtype=np.int8),
    "bool": lambda random, n: random.random(n) < 0.3,
    "half": lambda random, n: random.normal(size=n).astype(np.float16),
    "single": lambda random, n: random.normal(size=n).astype(np.float32),
    "wide": lambda random, n: (
        np.longdouble(1) + random.integers(0, 40, n) * np.finfo(np.longdouble).eps
    ),
}


def random_case(seed: int, number: int, *, small: bool = False) -> Case:
    """The case of a seed and a number."""
    random = np.random.default_rng([seed, number])
    sizes = [int(random.integers(2, 4)), int(random.integers(2, 40)), int(random.integers(2, 40))]
    if not small:
        sizes += [int(random.integers(40, 400)), int(random.integers(400, 9000))]
    n = int(random.choice(sizes, p=None if small else [0.15, 0.35, 0.37, 0.1, 0.03]))
    labels = random_labels(random, n)
    scores = SCORES[str(random.choice(list(SCORES)))](random, n)
    if random.random() < 0.3:
        scores = scores + (labels * random.integers(0, 3)).astype(scores.dtype)
        if scores.dtype.kind == "f" and not np.isfinite(scores).all():
            scores = np.nan_to_num(scores)
    rules = ["sigma", "quantile", "best", scores[random.integers(n)].item()]
    settings = {
        "buffer": int(random.choice([0, 1, 2, 3, 5, 12, 60, *((n, 3 * n) if n < 100 else (30,))])),
        "thresholds": [None, None, 2, 3, 26, 250][random.integers(6)],
        "definition": str(random.choice(["journal", "journal", "pvldb2022", "timeeval"])),
        "step": int(random.choice([1, 1, 1, 2, 3, 7])),
        "side": str(random.choice(["both", "both", "before", "after"])),
        "threshold": rules[random.integers(len(rules))],
        "k": [None, None, 1, n, int(random.integers(1, n + 1))][random.integers(5)],
    }
    return Case(labels, scores, settings, int(random.integers(2**32)), bool(random.random() < 0.3))


# --- relations -----------------------------------------------------------------------------------

Relation = Callable[[Case], None]
RELATIONS: dict[str, Relation] = {}
SMALL: set[str] = set()  # relations that are too slow for long series


def relation(name: str, *, small: bool = False) -> Callable[[Relation], Relation]:
    """Register a relation; ``small``: for a few points only."""

    def register(function: Relation) -> Relation:
        RELATIONS[name] = function
        if small:
            SMALL.add(name)
        return function

    return register


def evaluate(
    case: Case, labels: Any = None, scores: Any = None, **changes: Any
) -> dict[str, float]:
    """All measures of a case, or of the case with something changed."""
    settings = {**case.settings, **changes}
    settings.setdefault("measures", [measure.name for measure in package_measures()])
    result = vuskit.evaluate(
        case.labels if labels is None else labels,
        case.scores if scores is None else scores,
        **settings,
    )
    return dict(result)


def compare(found: dict[str, float], expected: dict[str, float], tolerance: float) -> None:
    """Compare the values that both have."""
    for name in expected.keys() & found.keys():
        one, other = found[name], expected[name]
        if math.isnan(one) != math.isnan(other) or abs(one - other) > tolerance:
            raise MismatchError(f"{name}: {one!r} differs from {other!r} by {abs(one - other):.3g}")


@contextmanager
def numpy_core() -> Iterator[None]:
    """Switch the native core off."""
    before = os.environ.get("VUSKIT_CORE")
    os.environ["VUSKIT_CORE"] = "numpy"
    try:
        yield
    finally:
        if before is None:
            del os.environ["VUSKIT_CORE"]
        else:
            os.environ["VUSKIT_CORE"] = before


@relation("core")
def native_core_equals_numpy(case: Case) -> None:
    """The native core gives the values of NumPy, and both give those of the oracle."""
    with numpy_core():
        expected = evaluate(case)
        if case.n <= MOST_ORACLE_POINTS:
            compare_with_oracle(case)
    compare(evaluate(case), expected, TOLERANCE)
    if case.n <= MOST_ORACLE_POINTS:
        compare_with_oracle(case)


@relation("instructions")
def instruction_sets_agree(case: Case) -> None:
    """The native core gives the same bits with every instruction set of this machine."""
    first, *others = native_core().instruction_sets()
    expected = evaluate_with(first, case)
    for name in others:
        found = evaluate_with(name, case)
        for measure, value in found.items():
            if value.hex() != expected[measure].hex():  # tells -0.0 from 0.0
                raise MismatchError(
                    f"{measure}: {value!r} with {name} differs from {expected[measure]!r} with "
                    f"{first}"
                )


def evaluate_with(instruction_set: str, case: Case) -> dict[str, float]:
    """All measures of a case, computed with one instruction set of the native core."""
    core = native_core()
    before = core.use(instruction_set)
    try:
        return {name: float(value) for name, value in evaluate(case).items()}
    finally:
        core.use(before)


def package_measures():
    """Measures of vuskit; those that a process has registered besides are not meant."""
    return [measure for measure in vuskit.list_measures() if measure.group != "own"]


@relation("single")
def functions_equal_evaluate(case: Case) -> None:
    """A function of one measure gives what `evaluate` gives for that measure, bit for bit."""
    together = evaluate(case)
    for measure in package_measures():
        taken = {name: case.settings[name] for name in case.settings if measure.takes(name)}
        if measure.name.startswith("point_adjusted"):
            taken.pop("k", None)  # another k than that of the settings
        found = measure.function(case.labels, case.scores, **taken)
        compare({measure.name: found}, evaluate(case, measures=[measure.name]), 0.0)
        compare({measure.name: found}, together, TOLERANCE)


@relation("bounds")
def values_are_within_bounds(case: Case) -> None:
    """Every value is a finite number within the bounds of its measure."""
    values = evaluate(case)
    for measure in package_measures():
        low, high = measure.bounds
        if not low <= values[measure.name] <= high:
            raise MismatchError(f"{measure.name}: {values[measure.name]!r} is not in {low}..{high}")


@relation("sklearn")
def plain_areas_equal_sklearn(case: Case) -> None:
    """AUC-ROC and AUC-PR equal those of scikit-learn, on ranks."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    expected = {
        "auc_roc": float(roc_auc_score(case.labels, case.ranks)),
        "auc_pr": float(average_precision_score(case.labels, case.ranks)),
    }
    compare(evaluate(case, measures=list(expected)), expected, TOLERANCE)


@relation("oracle", small=True)
def values_equal_the_oracles(case: Case) -> None:
    """Every measure equals its slow twin."""
    compare_with_oracle(case)


def compare_with_oracle(case: Case) -> None:
    """Compare every measure with its slow twin, at the threshold of a random score."""
    labels, scores = case.labels.tolist(), list(case.scores)
    if case.scores.dtype != np.longdouble:
        scores = case.scores.tolist()
    threshold = case.scores[case.random.integers(case.n)]
    settings = {**case.settings, "threshold": threshold.item()}
    if case.scores.dtype == np.longdouble:
        settings["threshold"] = float(threshold)
    for measure in package_measures():
        slow = getattr(oracle, measure.name, None)
        if slow is None:
            continue
        taken = {name: settings[name] for name in settings if measure.takes(name)}
        if measure.name.startswith("point_adjusted"):
            taken.pop("k", None)
        found = measure.function(case.labels, case.scores, **taken)
        if "buffer" in taken and measure.family == "vus":
            taken["max_buffer"] = taken.pop("buffer")
        expected = float(slow(labels, scores, **taken))
        compare({measure.name: found}, {measure.name: expected}, ORACLE_TOLERANCE)


@relation("algorithms", small=True)
def algorithms_agree(case: Case) -> None:
    """The paper's algorithms give the values of the fast one."""
    settings = case.settings
    options = {"buffer": min(settings["buffer"], 40), "thresholds": settings["thresholds"] or 9}
    for function in (vuskit.vus_roc, vuskit.vus_pr):
        expected = function(case.labels, case.scores, **options)
        for algorithm in ("naive", "opt", "opt_mem"):
            found = function(case.labels, case.scores, algorithm=algorithm, **options)
            compare({algorithm: found}, {algorithm: expected}, TOLERANCE)


MAPS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ranks": lambda ranks: ranks.astype(np.float64),
    "large": lambda ranks: 2**60 + ranks,
    "unsigned": lambda ranks: np.uint64(2**63) + ranks.astype(np.uint64),
    "negative": lambda ranks: ranks + np.iinfo(np.int64).min,
    "subnormal": lambda ranks: ranks * TINY,
    "around zero": lambda ranks: (ranks - ranks.max() // 2) * TINY,
    "extremes": lambda ranks: (ranks / max(ranks.max(), 1) * 2 - 1) * HUGE,
    "neighbors": lambda ranks: (np.float64(1.0).view(np.int64) + ranks).view(np.float64),
    "single": lambda ranks: ranks.astype(np.float32),
    "objects": lambda ranks: (ranks.astype(object) + 1) * 2**70,
}


@relation("order")
def only_the_order_counts(case: Case) -> None:
    """Order-preserving maps change no value, at the best threshold."""
    expected = evaluate(case, threshold="best")
    ranks = case.ranks
    name = str(case.random.choice(list(MAPS)))
    compare(evaluate(case, scores=MAPS[name](ranks), threshold="best"), expected, TOLERANCE)


@relation("reversal")
def time_has_no_direction(case: Case) -> None:
    """Reversed series have the same values, where the measure and the definition are symmetric."""
    changes = {"definition": "journal", "threshold": case.scores[0].item()}
    if case.scores.dtype == np.longdouble:
        changes["threshold"] = "best"
    expected = evaluate(case, measures=SYMMETRIC, **changes)
    changes["side"] = OPPOSITE[case.settings["side"]]
    back = evaluate(case, case.labels[::-1], case.scores[::-1], measures=SYMMETRIC, **changes)
    compare(back, expected, TOLERANCE)


@relation("permutation")
def points_have_no_order(case: Case) -> None:
    """Shuffled points have the same values of pointwise measures."""
    order = case.random.permutation(case.n)
    rule = case.settings["threshold"]
    changes = {"measures": POINTWISE, "threshold": "best" if rule == "sigma" else rule}
    expected = evaluate(case, **changes)
    compare(evaluate(case, case.labels[order], case.scores[order], **changes), expected, TOLERANCE)


@relation("inversion")
def inverted_labels_invert_auc_roc(case: Case) -> None:
    """AUC-ROC of inverted labels, or of inverted scores, is one minus AUC-ROC."""
    value = vuskit.auc_roc(case.labels, case.scores)
    found = {
        "labels": vuskit.auc_roc(1 - case.labels, case.scores),
        "scores": vuskit.auc_roc(case.labels, -case.ranks),
        "both": 1.0 - vuskit.auc_roc(1 - case.labels, -case.ranks),
    }
    compare(found, dict.fromkeys(found, 1.0 - value), TOLERANCE)


def _containers(scores: np.ndarray) -> Iterator[Any]:
    yield list(scores) if scores.dtype == np.longdouble else scores.tolist()
    yield np.repeat(scores, 3)[::3]
    yield scores[::-1].copy()[::-1]
    read_only = scores.copy()
    read_only.flags.writeable = False
    yield read_only
    yield scores.astype(object)
    yield np.frombuffer(b"x" + scores.tobytes(), dtype=np.uint8)[1:].view(scores.dtype)
    yield np.ma.array(scores)
    if scores.dtype.kind in "fiu" and scores.dtype.itemsize <= 8:
        yield scores.astype(scores.dtype.newbyteorder("S"))
    if scores.dtype.kind == "f" and scores.dtype.itemsize < 8:
        yield scores.astype(np.float64)
    if scores.dtype.kind == "f" and scores.dtype.itemsize <= 8:
        yield scores.astype(np.longdouble)
    if scores.dtype.itemsize <= 8:
        for library in ("pandas", "polars"):
            if library in sys.modules or library_exists(library):
                yield __import__(library).Series(scores)


def library_exists(name: str) -> bool:
    """Whether a library can be imported."""
    try:
        importlib.import_module("sklearn.metrics" if name == "sklearn" else name)
    except ImportError:
        return False
    return True


@relation("containers")
def containers_are_equal(case: Case) -> None:
    """The same numbers in another container have the same values, and stay unchanged."""
    # As Python objects, extended precision keeps its order only.
    changes = {"threshold": "best"} if case.scores.dtype == np.longdouble else {}
    expected = evaluate(case, **changes)
    before = case.scores.copy()
    known = list(_containers(case.scores))
    for place in case.random.integers(len(known), size=2):
        held = known[place]
        compare(evaluate(case, scores=held, **changes), expected, TOLERANCE)
    if not np.array_equal(before, case.scores):
        raise MismatchError("the scores were changed")


@relation("errors")
def bad_scores_are_refused(case: Case) -> None:
    """A NaN or an infinity is an error that names its index; one class gives NaN."""
    random = case.random
    place = int(random.integers(case.n))
    scores = case.ranks.astype(np.float64)
    scores[place] = random.choice([np.nan, np.inf, -np.inf])
    for measure in ("vus_pr", "auc_roc", "f_score", "affiliation_recall"):
        try:
            evaluate(case, scores=scores, measures=[measure])
        except vuskit.InvalidInputError as error:
            if f"at index {place}" not in str(error):
                raise MismatchError(f"{measure}: {error} does not name index {place}") from None
        else:
            raise MismatchError(f"{measure}: {scores[place]} at index {place} is accepted")
    for label in (0, 1):
        values = evaluate(case, np.full(case.n, label))
        if not all(map(math.isnan, values.values())):
            raise MismatchError(f"only label {label}: got {values}")


# --- running -------------------------------------------------------------------------------------


def check(name: str, case: Case) -> None:
    """Check one relation; raise what is wrong, leaking warnings included."""
    errors = "raise" if case.strict else "warn"
    with warnings.catch_warnings(record=True) as caught, np.errstate(all=errors):
        warnings.simplefilter("always")
        RELATIONS[name](case)
    for warning in caught:
        if not issubclass(warning.category, DOCUMENTED):
            place = f"{Path(warning.filename).name}:{warning.lineno}"
            raise MismatchError(f"{warning.category.__name__} leaks: {warning.message} ({place})")


def failure_of(name: str, case: Case) -> str | None:
    """What is wrong with a case; None where nothing is."""
    try:
        check(name, case)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def shrink(name: str, case: Case) -> Case:
    """Remove points while the relation still fails in the same way."""
    kind = (failure_of(name, case) or "").split(":")[:2]
    until = time.monotonic() + SHRINK_SECONDS
    size = case.n // 2
    while size and time.monotonic() < until:
        for start in range(0, case.n, size):
            less = case.without(np.s_[start : start + size])
            if less.n < 2 or less.labels.min() == less.labels.max():
                continue
            found = failure_of(name, less)
            if found is not None and found.split(":")[:2] == kind:
                case = less
                break
        else:
            size //= 2
        size = min(size, case.n // 2)
    return case


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz until the time is over; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0, help="time budget")
    parser.add_argument("--only", action="append", choices=sorted(RELATIONS), help="relation")
    parser.add_argument("--cases", type=int, help="stop after so many cases each")
    parser.add_argument("--case", type=int, help="check one case")
    options = parser.parse_args(arguments)
    names = options.only or list(RELATIONS)
    missing = {}
    if native_core() is None:
        missing |= dict.fromkeys(("core", "instructions"), "the native core is not in use")
    if not library_exists("sklearn"):  # imported before the time of its relation begins
        missing["sklearn"] = "scikit-learn is not installed"
    for name in [name for name in names if name in missing]:
        print(f"{name} is skipped: {missing[name]}")
    names = [name for name in names if name not in missing]
    counts: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    failures = 0
    begin = time.monotonic()
    most = options.cases if options.case is None else 1
    while time.monotonic() - begin < options.seconds and failures < MOST_FAILURES:
        unfinished = [name for name in names if most is None or counts[name] < most]
        if not unfinished:
            break
        name = min(unfinished, key=lambda name: seconds[name])  # equal time for each
        number = counts[name] if options.case is None else options.case
        start = time.monotonic()
        case = random_case(options.seed, number, small=name in SMALL)
        wrong = failure_of(name, case)
        counts[name] += 1
        seconds[name] += time.monotonic() - start
        if wrong is not None:
            failures += 1
            report(options.seed, number, name, case, wrong)
    print(f"{'relation':<12} {'cases':>7} {'per second':>11}")
    for name in names:
        rate = counts[name] / max(seconds[name], 1e-9)
        print(f"{name:<12} {counts[name]:>7,} {rate:>11,.1f}")
    print(f"seed {options.seed}: {counts.total():,} cases, {failures} failures")
    return 1 if failures else 0


def report(seed: int, number: int, name: str, case: Case, wrong: str) -> None:
    """Print a failure with a small reproducer."""
    small = shrink(name, case)
    print(f"FAILED {name}: {wrong}")
    print(f"  again: python benchmarks/fuzz.py --seed {seed} --only {name} --case {number}")
    print(f"  with {small.n} of {case.n} points: {failure_of(name, small)}")
    print("  " + small.code(name).replace("\n", "\n  "), flush=True)


if __name__ == "__main__":
    sys.exit(main())

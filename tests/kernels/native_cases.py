"""Series for the tests of the native core, and its areas beside those of the NumPy kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from strategies import labels

from vuskit.inputs import check_labels
from vuskit.kernels.backend import NativePlan, NativeWidths, native_core, rules_of
from vuskit.kernels.labels import DEFINITIONS, plan_buffers
from vuskit.kernels.ranking import rank_table
from vuskit.kernels.sweep import DynamicScores, SweepInput, grid_of, grid_ranks, sweep

FAR = 10**12  # a buffer that is longer than every series


def require_native_core():
    """Skip all tests of a module without the native core."""
    if native_core() is None:
        reason = "the native core is not in use: not built, or VUSKIT_CORE=numpy"
        pytest.skip(reason, allow_module_level=True)


# --- one score with one of the cores -------------------------------------------------------------


def native_plan(labels, widths, definition="journal", side="both"):
    """Events with buffers, for the native core; `definition` is a name or a Definition."""
    found = check_labels(labels)
    rules = rules_of(DEFINITIONS.get(definition, definition), side)
    native_widths = NativeWidths(rules, np.array(widths))
    return NativePlan(native_core(), (found.starts, found.stops), found.n, native_widths)


def native_score(labels, scores, widths, definition="journal", side="both", thresholds=None):
    """One score, ranked by the native core."""
    return native_plan(labels, widths, definition, side).rank(np.asarray(scores), thresholds)


def native_areas(*case, **options):
    """R-AUC-ROC and R-AUC-PR by (curve, width)."""
    return np.array(native_score(*case, **options).areas())


def numpy_areas(labels, scores, widths, definition="journal", side="both", thresholds=None):
    """The same areas from the NumPy kernels."""
    found, scores = check_labels(labels), np.asarray(scores)
    rules = DEFINITIONS.get(definition, definition)
    plan = plan_buffers(
        found.inside, found.starts, found.stops, found.n, np.array(widths), rules, side
    )
    if thresholds is not None:
        ranks = rank_table(scores, scores[:0], grid_ranks(found.n, thresholds))
        return np.array(grid_of(scores, plan, ranks, thresholds).areas())
    dynamic = DynamicScores.of(plan, scores)
    levels = dynamic.count(rank_table(scores, dynamic.levels, np.zeros(0, dtype=np.intp)))
    return np.array(sweep(plan, SweepInput.of(scores, dynamic, levels)))


# --- short series --------------------------------------------------------------------------------

EPS, TINY, HUGE = np.finfo(np.float64).eps, 5e-324, 1.7e308


def _ends(dtype):
    """Integers at both ends of a type, and around zero."""
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.min + 1, 0, 1, 2, limits.max - 1, limits.max], dtype=dtype)


POOLS = {
    "quarters": np.arange(-8, 9) / 4,
    "many": np.arange(99) / 4,
    "constant": np.array([0.1]),
    "zeros": np.array([0.0, -0.0]),
    "zeros and others": np.array([0.0, -0.0, 1.0, -1.0]),
    "subnormal": np.arange(-4, 5) * TINY,
    "around subnormal": np.array([0.0, -0.0, TINY, -TINY, 2.2e-308, 1e-310, -1e-310, 1e-300]),
    "extremes": np.array([-HUGE, HUGE, 0.0, 1.0, -1.0, TINY, -1e300]),
    "two extremes": np.array([-HUGE, HUGE]),
    "heavy tails": np.array([sign * 10.0**k for sign in (-1, 1) for k in range(-300, 301, 75)]),
    "neighbors": 1.0 + EPS * np.arange(9),
    "negative neighbors": -3.0 - 4 * EPS * np.arange(9),
    "float16": np.array([-65504, -1, -6e-8, 0, 6e-8, 1, 1.001, 65504], dtype=np.float16),
    "float32": np.array(
        [-3.4e38, -1.0, -1e-45, -0.0, 0.0, 1e-45, 0.1, 1.0, 1.0000001, 3.4e38], dtype=np.float32
    ),
    "bool": np.array([False, True]),
    **{
        dtype: _ends(dtype)
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    },
    "beyond 2**53": np.array([2**53 + k for k in range(-2, 5)] + [-(2**53) - 1, -(2**53), 2**60]),
    "beyond 2**63": np.array([2**53 + 1, *(2**63 + k for k in range(5))], dtype=np.uint64),
    "longdouble": 1 + np.finfo(np.longdouble).eps * np.arange(9, dtype=np.longdouble),
}


@st.composite
def short_series(draw, max_size=40, kinds=tuple(POOLS)):
    """Labels, and scores of one type with many ties or few.

    Draw settings before a series: after a long list, Hypothesis mostly draws the simplest choice.
    """
    pool = POOLS[draw(st.sampled_from(kinds))]
    size = draw(st.sampled_from([2, 3, pool.size, pool.size]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    drawn = draw(labels(max_size=max_size))
    return drawn, rng.choice(rng.permutation(pool)[:size], len(drawn))


def random_labels(rng, n):
    """Labels with both classes: one event, a few, many, or one at each end."""
    labels = np.zeros(n, dtype=int)
    kind = rng.integers(5)
    for start in rng.integers(0, n, 1 if kind < 2 else rng.integers(2, 5)):
        labels[start : start + rng.choice([1, 1, 2, 5])] = 1
    if kind == 3:
        labels = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(int)
    elif kind == 4:
        labels[[0, -1]] = 1
    if labels.min() == labels.max():
        labels[rng.integers(n)] ^= 1
    return labels


def random_scores(rng, labels):
    """Scores without ties, or with few values; points near events often outrank those inside."""
    n = labels.size
    kind = rng.integers(4)
    scores = rng.permutation(n) if kind < 3 else rng.integers(0, rng.choice([1, 2, 3, 9]), n)
    return scores + 100.0 * labels * (kind - 1) * (kind < 3)


def random_widths(rng, n):
    """Ascending widths: all, some, or only long ones."""
    longest = int(rng.choice([3, 8, n, 2 * n, 3 * n]))
    kind = rng.integers(4)
    widths = np.arange(longest // 2 if kind == 0 else 0, longest + 1)
    if kind == 1:
        widths = np.sort(rng.choice(widths, 1 + widths.size // 4, replace=False))
    return widths.tolist()


def random_cases(number, max_size=40):
    """Labels, scores, widths and a grid, all from one generator.

    Hypothesis shrinks what it finds, but draws rare combinations too seldom.
    """
    rng = np.random.default_rng(number)
    for _ in range(number):
        n = int(rng.integers(2, max_size + 1))
        labels = random_labels(rng, n)
        scores, widths = random_scores(rng, labels), random_widths(rng, n)
        yield labels.tolist(), scores, widths, [None, None, 2, 3, 26, 250][rng.integers(6)]


def plain(scores):
    """Scores as numbers that Python compares exactly."""
    return list(scores) if scores.dtype == np.longdouble else scores.tolist()


@st.composite
def widths(draw):
    """Ascending buffer widths; the longest reaches some points of a short series or all."""
    longest = draw(st.sampled_from([1, 2, 3, 5, 8, 8, 13, 21, 40, 90]))
    some = draw(st.lists(st.integers(0, longest), min_size=1, max_size=20, unique=True))
    with_far = draw(st.sampled_from([False] * 5 + [True]))
    return [*sorted(some), *[FAR] * with_far]


# --- longer series: more than one block of 256 widths, and maps for skewed scores ----------------


def _heavy_tails(rng, n):
    return rng.standard_cauchy(n) ** 3


SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "lognormal": lambda rng, n: rng.lognormal(0, 3, n),
    "negative lognormal": lambda rng, n: -rng.lognormal(0, 3, n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "heavy tails": _heavy_tails,
    "single heavy tails": lambda rng, n: _heavy_tails(rng, n).astype(np.float32),
    "exponential": lambda rng, n: rng.exponential(size=n) ** 4,
    "two decimals": lambda rng, n: rng.lognormal(0, 2, n).round(2),
    "one far away": lambda rng, n: np.append(rng.random(n - 1), 1e300),
    "nearly all equal": lambda rng, n: np.where(rng.random(n) < 0.99, 0.5, rng.normal(size=n)),
    "magnitudes": lambda rng, n: rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-320, 308, n),
    "extremes": lambda rng, n: rng.uniform(-1, 1, n) * HUGE,
    "bytes": lambda rng, n: rng.integers(0, 200, n).astype(np.uint8),
    "large integers": lambda rng, n: 2**60 + rng.integers(0, 9 * n, n),
}


def long_series(shape, n, n_events=20, longest=40, seed=0):
    """Labels with events of several lengths, and scores that are often higher inside them."""
    rng = np.random.default_rng([seed, n, n_events])
    labels = np.zeros(n, dtype=np.int8)
    for start in rng.integers(0, n, n_events):
        labels[start : start + rng.integers(1, longest + 1)] = 1
    scores = SHAPES[shape](rng, n)
    # Exchange scores, which keeps their distribution: half of the anomalous points get high ones.
    order = np.argsort(scores, kind="stable")
    inside = rng.permutation(np.flatnonzero(labels))
    high = rng.choice(order[n // 2 :], inside.size // 2, replace=False)
    for one, other in zip(inside, high, strict=False):
        scores[[one, other]] = scores[[other, one]]
    return labels, scores

"""The core that computes the kernels: the native library, or NumPy where there is none.

The native library is compiled when the package is built, if there is a C compiler. Both cores give
the same values up to rounding in the last digits, so the name of the core belongs to every stored
result. ``VUSKIT_CORE=numpy`` switches the native library off; ``VUSKIT_CORE=native`` makes its
absence an error.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError, MissingDependencyError
from vuskit.intervals import Ints
from vuskit.kernels.labels.definitions import JOURNAL, Definition, Side
from vuskit.kernels.ranking import Scores
from vuskit.kernels.sweep.areas import Levels
from vuskit.kernels.sweep.grid import grid_ranks

try:
    from vuskit.kernels import _core as _library  # type: ignore[attr-defined]
except ImportError:
    _library = None


def native_core() -> Any:
    """Return the native library, or None if NumPy computes the kernels."""
    wanted = os.environ.get("VUSKIT_CORE") or None  # an empty variable counts as not set
    if wanted is None:
        return _library
    if wanted == "numpy":
        return None
    if wanted != "native":
        raise InvalidInputError(f"`VUSKIT_CORE` must be 'native' or 'numpy', got {wanted!r}")
    if _library is None:
        raise MissingDependencyError(
            "VUSKIT_CORE=native requires the native core, which was not built; install a C "
            "compiler and reinstall vuskit"
        )
    return _library


def core_name() -> str:
    """Return the name of the core in use: "native" or "numpy".

    Examples
    --------
    >>> core_name() in ("native", "numpy")
    True
    """
    return "numpy" if native_core() is None else "native"


Floats = NDArray[np.float64]
Rules = tuple[int, int, int, int, int, int, int, int]

_EVENTS = ("share a point", "touch", "apart")
_LANE, _BLOCK = 8, 256  # as in core.h
_EXACT = 2**53  # every integer up to this one is a double
_CACHED = 1 << 18  # maximum number of weights that are cached between calls
_NO_RANKS = np.zeros(0, dtype=np.int64)


def rules_of(definition: Definition, side: Side) -> Rules | None:
    """Return a definition in the form of the native core; None if the core does not support it.

    The core supports all published definitions. Trapezoids with a P' that follows the prediction,
    which no publication uses, are left to NumPy.
    """
    fixed = definition.positives == "fixed"
    trapezoid = definition.pr_area == "trapezoid"
    if trapezoid and not fixed:
        return None
    return (
        definition.slope == "linear",
        definition.after_is_shorter,
        definition.overlap == "larger",
        fixed,
        _EVENTS.index(definition.events),
        trapezoid,
        side != "after",
        side != "before",
    )


def as_doubles(scores: Scores) -> tuple[NDArray[Any], bool]:
    """Return contiguous scores in double or single precision, and whether they are single.

    Areas depend on the order only, so scores that no double represents are replaced by ranks.
    """
    kind, size = scores.dtype.kind, scores.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return np.require(scores, requirements=("C", "A")), size == 4
    if kind in "iu" and size == 8:
        fits = int(scores.min()) >= -_EXACT and int(scores.max()) <= _EXACT
    else:
        fits = size <= 8
    if not fits:
        scores = np.unique(scores, return_inverse=True)[1]
    return scores.astype(np.float64), False


class NativeWidths:
    """Buffer widths (ascending) of a definition; their weights are computed on first use."""

    def __init__(self, rules: Rules, widths: Ints) -> None:
        self._rules = rules
        self._lengths = np.ascontiguousarray(widths, dtype=np.int64)
        self._kept: tuple[Any, Any] = (None, None)

    def __reduce__(self) -> Any:
        return NativeWidths, (self._rules, self._lengths)

    @property
    def size(self) -> int:
        """Number of widths."""
        return int(self._lengths.size)

    def parts(self, core: Any, bounds: tuple[Ints, Ints], n: int) -> tuple[Any, Any]:
        """Return the weights, and the points near the events of a series."""
        reach = min(int(self._lengths[-1]) // 2, n)
        key = core.instruction_set(), reach
        kept = self._kept  # read once, because other threads may replace it
        widths = kept[1] if kept[0] == key else core.widths(self._rules, self._lengths, reach)
        if self.size * (reach + 1) <= _CACHED:
            self._kept = key, widths
        starts, stops = (np.ascontiguousarray(bound, dtype=np.int64) for bound in bounds)
        return widths, core.geometry(self._rules, starts, stops, n, reach)


class NativePlan:
    """Events with buffers of several widths, prepared once for many scores."""

    def __init__(self, core: Any, bounds: tuple[Ints, Ints], n: int, widths: NativeWidths) -> None:
        self._core = core
        self._bounds = bounds
        self._n = n
        self._widths = widths
        self._prepared: tuple[Any, Any] | None = None

    def __reduce__(self) -> Any:
        # Memory of the core cannot be pickled; it is computed again.
        return _restore_plan, (self._bounds, self._n, self._widths)

    @property
    def _parts(self) -> tuple[Any, Any]:
        if self._prepared is None:
            self._prepared = self._widths.parts(self._core, self._bounds, self._n)
        return self._prepared

    def rank(self, scores: Scores, grid: int | None = None) -> NativeScore:
        """Rank a score at every distinct value, or on a grid of thresholds."""
        ranks = _NO_RANKS if grid is None else grid_ranks(self._n, grid)
        doubles, single = as_doubles(scores)
        ranking = self._core.rank(self._parts[1], doubles, single, ranks)
        return NativeScore(self._core, self, ranking)

    def sweep(self, ranking: Any, threads: int = 1) -> tuple[Floats, Floats]:
        """Return R-AUC-ROC and R-AUC-PR of every width."""
        widths, geometry = self._parts
        size = self._widths.size
        roc, pr = np.empty(size), np.empty(size)

        def sweep(first: int, last: int) -> None:
            here = slice(first, last)
            self._core.sweep(widths, geometry, ranking, first, last, roc[here], pr[here])

        if threads == 1:
            sweep(0, size)
            return roc, pr
        pool = ThreadPoolExecutor(threads)
        try:
            list(pool.map(sweep, *_runs_of_widths(size, threads)))
        finally:  # after Ctrl-C, only the runs that have begun are completed
            pool.shutdown(cancel_futures=True)
        return roc, pr


def _runs_of_widths(size: int, threads: int) -> tuple[list[int], list[int]]:
    """Return the bounds of runs of widths: whole lanes, at least one run per thread."""
    length = min(_BLOCK, -(-size // threads // _LANE) * _LANE)
    firsts = list(range(0, size, length))
    return firsts, [*firsts[1:], size]


def _restore_plan(bounds: tuple[Ints, Ints], n: int, widths: NativeWidths) -> NativePlan:
    return NativePlan(native_core(), bounds, n, widths)


class NativeScore:
    """Counts of one score at the levels near events."""

    def __init__(self, core: Any, plan: NativePlan, ranking: Any) -> None:
        self._core = core
        self._plan = plan
        self._ranking = ranking

    @property
    def levels(self) -> Levels:
        """Counts at every level."""
        found = self._core.levels(self._ranking)
        return Levels(*(np.frombuffer(counts, dtype=np.int64) for counts in found))

    @property
    def plain_areas(self) -> tuple[float, float]:
        """AUC-ROC and AUC-PR, if every distinct score is a threshold."""
        areas: tuple[float, float] = self._core.curve_areas(self._ranking)
        return areas

    def areas(self, threads: int = 1) -> tuple[Floats, Floats]:
        """Return R-AUC-ROC and R-AUC-PR of every width."""
        return self._plan.sweep(self._ranking, threads)


_rules = rules_of(JOURNAL, "both")
assert _rules is not None
NO_BUFFER = NativeWidths(_rules, np.zeros(1, dtype=np.intp))
"""Width 0, for measures that only need counts."""

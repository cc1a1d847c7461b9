"""The native core without memory, with wrong arguments, interrupted, and in several threads."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.native_cases import (
    long_series,
    native_areas,
    native_plan,
    numpy_areas,
    require_native_core,
)
from waiting import PATIENCE

import vuskit
from vuskit.kernels.backend import native_core, rules_of
from vuskit.kernels.labels import DEFINITIONS

require_native_core()

pytestmark = [
    pytest.mark.filterwarnings("ignore::vuskit.ThresholdResolutionWarning"),
]

JOURNAL, PVLDB2022, TIMEEVAL = (rules_of(one, "both") for one in DEFINITIONS.values())
NO_RANKS = np.zeros(0, dtype=np.int64)


def ints(*values):
    return np.array(values, dtype=np.int64)


def compute(labels, scores, lengths, rules, ranks=NO_RANKS):
    """All stages of the core; returns both areas and the values of a fleet of two series."""
    core, n = native_core(), len(labels)
    edges = np.flatnonzero(np.diff(labels, prepend=0, append=0))
    starts, stops = (np.ascontiguousarray(edges[first::2]) for first in (0, 1))
    reach = min(int(lengths[-1]) // 2, n)
    widths = core.widths(rules, lengths, reach)
    geometry = core.geometry(rules, starts, stops, n, reach)
    ranking = core.rank(geometry, scores, scores.dtype == np.float32, ranks)
    areas = np.full((2, lengths.size), np.nan)
    core.sweep(widths, geometry, ranking, 0, lengths.size, *areas)
    values = np.full((2, 6), np.nan)
    buffer = ints(lengths[-1], 3)
    core.fleet(
        *(rules, np.tile(labels, 2).astype(np.uint8), np.tile(scores, 2).astype(float)),
        *(ints(0, n, 2 * n), buffer, buffer, 1, ranks.size, values),
    )
    counts = core.levels(ranking)
    return areas.tobytes(), values.tobytes(), counts, core.curve_areas(ranking)


# --- memory --------------------------------------------------------------------------------------


measures_memory = pytest.mark.skipif(
    not sys.platform.startswith("linux") or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="needs the memory of a Linux process; AddressSanitizer keeps freed memory",
)


@contextlib.contextmanager
def memory_limit(size):
    native_core().limit_memory(size)
    try:
        yield
    finally:
        native_core().limit_memory(0)


# Requests are rounded up to powers of two, or are as large as an array.
LIMITS = sorted({1, *(2**k + more for k in range(14, 24) for more in (0, 1, 2 ** (k - 1)))})


@pytest.mark.parametrize("rules", [JOURNAL, PVLDB2022, TIMEEVAL])
@pytest.mark.parametrize("grid", [0, 250])
@pytest.mark.parametrize(("shape", "last"), [("cauchy", 300), ("two decimals", 2_400)])
def test_too_little_memory(rules, grid, shape, last):
    """Every stage ends with an error, frees its memory, and works again afterwards."""
    labels, scores = long_series(shape, 9_000, n_events=30)
    ranks = np.linspace(0, labels.size - 1, grid).astype(np.int64)
    case = labels, scores, np.arange(0, last, last // 300, dtype=np.int64), rules, ranks
    expected = compute(*case)
    failed = []
    for limit in LIMITS:
        with memory_limit(limit):
            try:
                assert compute(*case) == expected
                failed.append(False)
            except MemoryError:
                failed.append(True)
        if limit % 3 == 0:
            assert compute(*case) == expected
    assert failed == sorted(failed, reverse=True)  # more memory is never worse
    assert sum(failed) > 10
    assert not failed[-1]
    assert compute(*case) == expected


@pytest.mark.parametrize("stage", ["widths", "geometry", "rank", "sweep", "fleet"])
def test_every_stage_without_any_memory(stage):
    core = native_core()
    labels, scores = long_series("uniform", 3_000)
    flags = labels.astype(np.uint8)
    edges = np.flatnonzero(np.diff(labels, prepend=0, append=0))
    starts, stops = edges[::2].copy(), edges[1::2].copy()
    lengths, areas = np.arange(0, 50, dtype=np.int64), np.empty((2, 50))
    geometry = core.geometry(JOURNAL, starts, stops, 3_000, 24)
    ranking, widths = (
        core.rank(geometry, scores, False, NO_RANKS),
        core.widths(JOURNAL, lengths, 24),
    )
    calls = {
        "widths": lambda: core.widths(JOURNAL, lengths, 24),
        "geometry": lambda: core.geometry(JOURNAL, starts, stops, 3_000, 24),
        "rank": lambda: core.rank(geometry, scores, False, NO_RANKS),
        "sweep": lambda: core.sweep(widths, geometry, ranking, 0, 50, *areas),
        "fleet": lambda: core.fleet(
            JOURNAL, flags, scores, ints(0, 3_000), ints(9), ints(9), 1, 0, np.empty(6)
        ),
    }
    with memory_limit(1):
        for _ in range(3):
            with pytest.raises(MemoryError):
                calls[stage]()
    calls[stage]()


def test_too_little_memory_in_a_thread():
    labels, scores = long_series("uniform", 9_000)
    score = native_plan(labels, np.arange(700)).rank(scores)
    expected = [areas.tobytes() for areas in score.areas()]
    with memory_limit(1), pytest.raises(MemoryError):
        score.areas(threads=3)
    assert [areas.tobytes() for areas in score.areas(threads=3)] == expected


def test_too_little_memory_for_a_measure():
    """Nothing that was prepared only in part is used later."""
    labels, scores = long_series("uniform", 9_000)
    expected = vuskit.vus_pr(labels, scores, buffer=30)
    evaluator = vuskit.Evaluator(labels, buffer=30, measures="vus_pr")
    with memory_limit(1):
        for call in (lambda: vuskit.vus_pr(labels, scores, buffer=31), lambda: evaluator(scores)):
            with pytest.raises(MemoryError):
                call()
    assert evaluator(scores)["vus_pr"] == vuskit.vus_pr(labels, scores, buffer=30) == expected


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_one_long_buffer_needs_little_memory(definition):
    """Weights of one width are not computed for a block of widths."""
    labels, scores = long_series("uniform", 140_000, n_events=3)
    expected = numpy_areas(labels, scores, [300_000], definition)
    with memory_limit(2**26):
        found = native_areas(labels, scores, [300_000], definition)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@measures_memory
def test_memory_is_freed():
    """With most limits, a call fails after a part of its memory was allocated."""

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    labels, scores = long_series("uniform", 40_000, n_events=30)
    lengths = np.arange(0, 900, 3, dtype=np.int64)
    for limit in (0, *(2**k for k in range(15, 24))):
        sizes = []
        for _ in range(100):
            with memory_limit(limit), contextlib.suppress(MemoryError):
                compute(labels, scores, lengths, JOURNAL)
            sizes.append(resident())
        assert max(sizes[50:]) - max(sizes[:50]) < 500_000


FLEET_MEMORY = """
import numpy as np
from vuskit.kernels import backend
from vuskit.kernels.labels import JOURNAL
from vuskit.kernels.backend import rules_of

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

n, size = 500, 4_000
labels = np.tile(np.arange(n) // 5 % 20 == 3, size).view(np.uint8)
scores = np.random.default_rng(0).random(labels.size)
starts = np.arange(0, labels.size + 1, n)
buffer, out = np.full(size, 40), np.empty((size, 6))
peaks = []
for count in (10, size):
    backend.native_core().fleet(
        rules_of(JOURNAL, "both"), labels, scores, starts[: count + 1], buffer[:count],
        buffer[:count], 1, 0, out[:count],
    )
    peaks.append(peak())
print(peaks[1] - peaks[0])
"""


@measures_memory
def test_memory_of_a_fleet_does_not_grow_with_the_number_of_series():
    done = subprocess.run(
        [sys.executable, "-c", FLEET_MEMORY], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 10_000  # kB


# --- wrong arguments -----------------------------------------------------------------------------

SCORES = np.arange(10.0)


def results():
    """Valid results for ten points with one event."""
    core = native_core()
    widths = core.widths(JOURNAL, np.arange(5, dtype=np.int64), 2)
    geometry = core.geometry(JOURNAL, ints(3), ints(5), 10, 2)
    return widths, geometry, core.rank(geometry, SCORES, False, NO_RANKS)


def rank(scores=SCORES, single=False, ranks=NO_RANKS):
    return native_core().rank(results()[1], scores, single, ranks)


def geometry(starts=(3,), stops=(5,), n=10, reach=2, rules=JOURNAL):
    return native_core().geometry(rules, ints(*starts), ints(*stops), n, reach)


def sweep(*, begin=0, end=5, roc=5, pr=5, **changed):
    parts = dict(zip(("widths", "geometry", "ranking"), results(), strict=True)) | changed
    return native_core().sweep(*parts.values(), begin, end, np.empty(roc), np.empty(pr))


def fleet(**changed):
    """A fleet of two series of five points."""
    parts = {
        "rules": JOURNAL,
        "labels": np.array([0, 1, 0, 0, 1] * 2, dtype=np.uint8),
        "scores": SCORES,
        "starts": ints(0, 5, 10),
        "buffer": ints(2, 3),
        "longest": ints(2, 3),
        "step": 1,
        "thresholds": 0,
        "out": np.full((2, 6), -1.0),
    } | changed
    native_core().fleet(*parts.values())
    return parts["out"]


def read_only(size):
    array = np.empty(size)
    array.flags.writeable = False
    return array


WRONG = {
    "use: no text": (TypeError, lambda: native_core().use(3)),
    "use: unknown": (ValueError, lambda: native_core().use("v9")),
    "limit: no number": (TypeError, lambda: native_core().limit_memory("much")),
    "rules: no tuple": (TypeError, lambda: geometry(rules=list(JOURNAL))),
    "rules: too few": (TypeError, lambda: geometry(rules=JOURNAL[:7])),
    "rules: no numbers": (TypeError, lambda: geometry(rules=(*JOURNAL[:7], "x"))),
    "rules: too large": (ValueError, lambda: geometry(rules=(0, 2, 0, 0, 0, 0, 1, 1))),
    "rules: unknown events": (ValueError, lambda: geometry(rules=(0, 0, 0, 0, 3, 0, 1, 1))),
    "rules: negative": (ValueError, lambda: geometry(rules=(0, -1, 0, 0, 0, 0, 1, 1))),
    "rules: huge": (OverflowError, lambda: geometry(rules=(0, 2**70, 0, 0, 0, 0, 1, 1))),
    "widths: empty": (ValueError, lambda: native_core().widths(JOURNAL, ints(), 2)),
    "widths: negative": (ValueError, lambda: native_core().widths(JOURNAL, ints(-4, 4), 2)),
    "widths: descending": (ValueError, lambda: native_core().widths(JOURNAL, ints(4, 0), 2)),
    "widths: part of one": (ValueError, lambda: native_core().widths(JOURNAL, b"123456789", 2)),
    "widths: negative reach": (OverflowError, lambda: native_core().widths(JOURNAL, ints(4), -1)),
    "widths: no array": (TypeError, lambda: native_core().widths(JOURNAL, [0, 1], 2)),
    "widths: strided": (
        (BufferError, ValueError),
        lambda: native_core().widths(JOURNAL, np.arange(8)[::2], 2),
    ),
    "geometry: no events": (ValueError, lambda: geometry((), ())),
    "geometry: more starts": (ValueError, lambda: geometry((3, 7), (5,))),
    "geometry: more stops": (ValueError, lambda: geometry((3,), (5, 7))),
    "geometry: unordered": (ValueError, lambda: geometry((5, 1), (7, 3))),
    "geometry: overlapping": (ValueError, lambda: geometry((1, 3), (4, 7))),
    "geometry: without a gap": (ValueError, lambda: geometry((1, 4), (4, 7))),
    "geometry: empty event": (ValueError, lambda: geometry((4,), (4,))),
    "geometry: before the series": (ValueError, lambda: geometry((-(10**7),), (4,))),
    "geometry: beyond the series": (ValueError, lambda: geometry((4,), (10**7,))),
    "geometry: no points": (ValueError, lambda: geometry((0,), (1,), n=0)),
    "geometry: negative length": (OverflowError, lambda: geometry(n=-1)),
    "geometry: negative reach": (OverflowError, lambda: geometry(reach=-1)),
    "geometry: huge reach": (OverflowError, lambda: geometry(reach=2**31)),
    "rank: empty": (ValueError, lambda: rank(np.zeros(0))),
    "rank: fewer scores": (ValueError, lambda: rank(SCORES[:9])),
    "rank: more scores": (ValueError, lambda: rank(np.arange(11.0))),
    "rank: other precision": (ValueError, lambda: rank(single=True)),
    "rank: no array": (TypeError, lambda: rank(list(SCORES))),
    "rank: strided": ((BufferError, ValueError), lambda: rank(np.arange(20.0)[::2])),
    "rank: ranks beyond": (ValueError, lambda: rank(ranks=ints(0, 10**9))),
    "rank: negative ranks": (ValueError, lambda: rank(ranks=ints(-(10**9), 9))),
    "rank: unordered ranks": (ValueError, lambda: rank(ranks=ints(5, 0, 9))),
    "rank: lowest score missing": (ValueError, lambda: rank(ranks=ints(0, 5))),
    "rank: part of a rank": (ValueError, lambda: rank(ranks=np.zeros(9, dtype=np.uint8))),
    "rank: another capsule": (
        ValueError,
        lambda: native_core().rank(results()[0], SCORES, False, NO_RANKS),
    ),
    "rank: no capsule": (ValueError, lambda: native_core().rank(None, SCORES, False, NO_RANKS)),
    "levels: another capsule": (ValueError, lambda: native_core().levels(results()[1])),
    "levels: no capsule": (ValueError, lambda: native_core().levels(3)),
    "curve_areas: another capsule": (ValueError, lambda: native_core().curve_areas(results()[0])),
    "curve_areas: no capsule": (ValueError, lambda: native_core().curve_areas("x")),
    "sweep: no widths": (ValueError, lambda: sweep(end=0, roc=0, pr=0)),
    "sweep: negative": (ValueError, lambda: sweep(begin=-1, roc=6, pr=6)),
    "sweep: too many": (ValueError, lambda: sweep(end=6, roc=6, pr=6)),
    "sweep: short areas": (ValueError, lambda: sweep(roc=4, pr=4)),
    "sweep: long areas": (ValueError, lambda: sweep(roc=6, pr=6)),
    "sweep: different areas": (ValueError, lambda: sweep(pr=4)),
    "sweep: widths are no widths": (ValueError, lambda: sweep(widths=results()[1])),
    "sweep: geometry is none": (ValueError, lambda: sweep(geometry=results()[2])),
    "sweep: ranking is none": (ValueError, lambda: sweep(ranking=results()[0])),
    "sweep: another reach": (ValueError, lambda: sweep(geometry=geometry(reach=4))),
    "sweep: ranking of another reach": (
        ValueError,
        lambda: sweep(ranking=native_core().rank(geometry(reach=9), SCORES, False, NO_RANKS)),
    ),
    "sweep: ranking of other rules": (
        ValueError,
        lambda: sweep(
            ranking=native_core().rank(geometry(rules=PVLDB2022), SCORES, False, NO_RANKS)
        ),
    ),
    "sweep: other rules": (ValueError, lambda: sweep(geometry=geometry(rules=TIMEEVAL))),
    "sweep: ranking of another length": (
        ValueError,
        lambda: sweep(ranking=native_core().rank(geometry(n=9), SCORES[:9], False, NO_RANKS)),
    ),
    "sweep: read-only areas": (
        (BufferError, TypeError, ValueError),
        lambda: native_core().sweep(*results(), 0, 5, read_only(5), np.empty(5)),
    ),
    "mean: empty": (ValueError, lambda: native_core().mean(np.zeros(0))),
    "mean: part of a number": (ValueError, lambda: native_core().mean(b"123456789")),
    "mean: no array": (TypeError, lambda: native_core().mean([1.0])),
    "fleet: no rules": (TypeError, lambda: fleet(rules=None)),
    "fleet: wrong rules": (ValueError, lambda: fleet(rules=(9,) * 8)),
    "fleet: fewer scores": (ValueError, lambda: fleet(scores=SCORES[:9])),
    "fleet: wide labels": (ValueError, lambda: fleet(labels=np.zeros(10, dtype=np.int64))),
    "fleet: fewer starts": (ValueError, lambda: fleet(starts=ints(0, 5))),
    "fleet: fewer buffers": (ValueError, lambda: fleet(buffer=ints(2))),
    "fleet: fewer longest buffers": (ValueError, lambda: fleet(longest=ints(2))),
    "fleet: empty series": (ValueError, lambda: fleet(starts=ints(0, 0, 10))),
    "fleet: unordered": (ValueError, lambda: fleet(starts=ints(5, 0, 10))),
    "fleet: negative start": (ValueError, lambda: fleet(starts=ints(-5, 5, 10))),
    "fleet: beyond the labels": (ValueError, lambda: fleet(starts=ints(0, 5, 11))),
    "fleet: negative buffer": (ValueError, lambda: fleet(buffer=ints(-2, 3))),
    "fleet: huge buffer": (ValueError, lambda: fleet(buffer=ints(2**40, 3))),
    "fleet: huge longest buffer": (ValueError, lambda: fleet(longest=ints(2**40, 3))),
    "fleet: step 0": (ValueError, lambda: fleet(step=0)),
    "fleet: negative step": (ValueError, lambda: fleet(step=-1)),
    "fleet: one threshold": (ValueError, lambda: fleet(thresholds=1)),
    "fleet: negative thresholds": (ValueError, lambda: fleet(thresholds=-2)),
    "fleet: huge thresholds": (ValueError, lambda: fleet(thresholds=2**62)),
    "fleet: short result": (ValueError, lambda: fleet(out=np.empty((1, 6)))),
    "fleet: long result": (ValueError, lambda: fleet(out=np.empty((3, 6)))),
    "fleet: read-only result": ((BufferError, TypeError, ValueError), lambda: fleet(out=b"0" * 96)),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_arguments(what):
    expected, call = WRONG[what]
    with pytest.raises(expected):
        call()


@pytest.mark.parametrize(
    "name", ["use", "widths", "geometry", "rank", "sweep", "mean", "fleet", "limit_memory"]
)
def test_wrong_number_of_arguments(name):
    for arguments in ((), (None,) * 20):
        with pytest.raises(TypeError):
            getattr(native_core(), name)(*arguments)


@pytest.mark.parametrize("n", [2**32 - 1, 2**32, 2**33, 2**62])
def test_too_many_points(n):
    with pytest.raises(OverflowError, match="4 billion points"):
        geometry(n=n)


def test_a_series_of_one_class_has_no_values():
    """The other series keep theirs."""
    expected = fleet()
    assert np.isfinite(expected).all()
    for wrong in ([0] * 5, [1] * 5, [0, 1, 2, 0, 0], [2, 0, 1, 0, 0], [0, 1, 1, 255, 0]):
        labels = np.array([*wrong, 0, 1, 0, 0, 1], dtype=np.uint8)
        for thresholds in (0, 3):
            found = fleet(labels=labels, thresholds=thresholds)
            assert np.isnan(found[0]).all()
            np.testing.assert_array_equal(found[1], fleet(thresholds=thresholds)[1])


def test_no_series():
    none = ints()
    assert fleet(starts=ints(0), buffer=none, longest=none, out=np.empty((0, 6))).size == 0


numbers = st.integers(-3, 12) | st.sampled_from([2**31, -(2**31), 2**40, 2**62, -(2**62)])
arrays = st.lists(numbers, max_size=4).map(lambda values: ints(*values))
any_rules = st.tuples(*[st.integers(0, 1)] * 8) | st.tuples(*[st.integers(-1, 3)] * 8)
ERRORS = ValueError, TypeError, OverflowError, MemoryError


@settings(max_examples=300)
@given(
    rules=any_rules,
    starts=arrays,
    stops=arrays,
    lengths=arrays,
    ranks=arrays,
    reach=st.integers(-1, 12) | numbers,
    scores=st.lists(st.floats(width=32), min_size=10, max_size=10),
    single=st.booleans(),
)
def test_any_arguments(rules, starts, stops, lengths, ranks, reach, scores, single):
    """Errors or results; also for scores that are not finite, which callers reject."""
    core, areas = native_core(), np.empty((2, lengths.size))
    reach = min(reach, 1_000)  # more would need much memory
    scores = np.array(scores, dtype=np.float32 if single else np.float64)
    with contextlib.suppress(*ERRORS):
        widths = core.widths(rules, lengths, reach)
        geometry = core.geometry(rules, starts, stops, 10, reach)
        ranking = core.rank(geometry, scores, single, ranks)
        core.curve_areas(ranking)
        assert len(core.levels(ranking)) == 3
        core.sweep(widths, geometry, ranking, 0, lengths.size, *areas)


@settings(max_examples=200)
@given(
    data=st.data(),
    rules=any_rules,
    labels=st.lists(st.integers(0, 1) | st.integers(0, 255), min_size=10, max_size=10),
    starts=st.lists(st.integers(-1, 11), min_size=2, max_size=4),
    step=st.integers(-1, 9) | numbers,
    thresholds=st.integers(-1, 9) | st.just(2**40),
)
def test_any_fleet(data, rules, labels, starts, step, thresholds):
    size = len(starts) - 1
    buffers = st.lists(st.integers(-1, 40) | numbers, min_size=size, max_size=size)
    with contextlib.suppress(*ERRORS):
        fleet(
            rules=rules,
            labels=np.array(labels, dtype=np.uint8),
            starts=ints(*starts),
            buffer=ints(*data.draw(buffers)),
            longest=ints(*data.draw(buffers)),
            step=step,
            thresholds=thresholds,
            out=np.empty((size, 6)),
        )


# --- Ctrl-C --------------------------------------------------------------------------------------

# Nothing is printed before the first results are there, which the core writes long before the last.
INTERRUPTED = """
import sys, threading
import numpy as np
from vuskit.kernels import backend
from vuskit.kernels.backend import NativePlan, NativeWidths, rules_of
from vuskit.kernels.labels import JOURNAL

core, rules = backend.native_core(), rules_of(JOURNAL, "both")
no_ranks = np.zeros(0, dtype=np.int64)
scores = np.random.default_rng(0).random(1_000_000)
# Long events with low scores: no width is finished before the last levels.
starts = np.arange(2_500, scores.size, 10_000)
stops = starts + 5_000
low = scores - ((np.arange(scores.size) + 7_500) // 5_000 % 2 == 0)
reach, lengths = 20_000, np.arange(40_001)

class Counting:
    def __getattr__(self, name):
        return getattr(core, name)

    def sweep(self, *arguments):
        core.sweep(*arguments)
        found[np.isnan(found).argmax()] = 1.0  # one more run of widths

if sys.argv[1] == "sweep":
    widths = core.widths(rules, lengths, reach)
    geometry = core.geometry(rules, starts, stops, scores.size, reach)
    ranking = core.rank(geometry, low, False, no_ranks)
    found, other = np.full(lengths.size, np.nan), np.empty(lengths.size)
    def run():
        core.sweep(widths, geometry, ranking, 0, lengths.size, found, other)
elif sys.argv[1] == "threads":
    plan = NativePlan(Counting(), (starts, stops), scores.size, NativeWidths(rules, lengths))
    ranked, found = plan.rank(low), np.full(100, np.nan)
    def run():
        ranked.areas(threads=2)
else:
    labels = np.zeros(scores.size, dtype=np.uint8)
    labels[500::1_000] = 1
    firsts = np.arange(0, scores.size + 1, 1_000)
    buffer = np.full(1_000, 100_000)
    out = np.full((1_000, 6), np.nan)
    found = out[:, 5]
    def run():
        core.fleet(rules, labels, scores, firsts, buffer, buffer, 1, 0, out)

def watch():
    while np.isnan(found[0]):
        pass
    print("started", flush=True)

threading.Thread(target=watch, daemon=True).start()
try:
    run()
except KeyboardInterrupt:
    print("interrupted" if np.isnan(found[-1]) else "too late", flush=True)
    one = core.geometry(rules, np.array([3]), np.array([5]), 10, 1)
    ranking = core.rank(one, np.arange(10.0), False, no_ranks)
    areas = np.empty((2, 1))
    core.sweep(core.widths(rules, np.array([2]), 1), one, ranking, 0, 1, *areas)
    print(areas.ravel().tolist(), flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize("what", ["sweep", "threads", "fleet"])
def test_ctrl_c(what):
    """The signal is sent once the core is at work, and ends it before the last results."""
    command = [sys.executable, "-c", INTERRUPTED, what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    lines = rest.splitlines()
    assert lines[0] == "interrupted"
    labels = np.array([0, 0, 0, 1, 1, 0, 0, 0, 0, 0])
    areas = vuskit.evaluate(labels, SCORES, buffer=2, measures=["range_auc_roc", "range_auc_pr"])
    assert lines[1] == str(list(areas.values()))
    assert process.returncode == 0


# --- threads -------------------------------------------------------------------------------------


def test_several_threads_at_once():
    """Threads share prepared labels, and evaluate the same and other series."""
    shapes = ["uniform", "cauchy", "two decimals", "bytes"]
    series = [long_series(shape, 5_000 + 7 * place) for place, shape in enumerate(shapes)]
    evaluators = [vuskit.Evaluator(labels, buffer=90, thresholds=None) for labels, _ in series]
    fresh = [vuskit.Evaluator(labels, buffer=90, thresholds=None) for labels, _ in series]
    expected = [dict(evaluator(one[1])) for evaluator, one in zip(evaluators, series, strict=True)]

    def work(number):
        place = number % len(series)
        labels, scores = series[place]
        if number % 3 == 0:
            return dict(vuskit.evaluate(labels, scores, buffer=90))
        return dict(fresh[place](scores))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(96)))
    for number, values in enumerate(found):
        assert values == expected[number % len(series)]


def test_threads_and_instruction_sets():
    """Selecting another set while threads compute changes no value."""
    core = native_core()
    labels, scores = long_series("cauchy", 5_000)
    expected = vuskit.vus_pr(labels, scores, buffer=90)
    before = core.instruction_set()
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(vuskit.vus_pr, labels, scores, buffer=90) for _ in range(60)]
        for name in core.instruction_sets() * 20:
            core.use(name)
    core.use(before)
    assert {one.result() for one in found} == {expected}


# --- copies --------------------------------------------------------------------------------------

COPIES = [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]


@pytest.mark.parametrize("make_copy", COPIES)
def test_copies_of_a_plan(make_copy):
    labels, scores = long_series("cauchy", 5_000)
    for used in (False, True):
        plan = native_plan(labels, np.arange(0, 90, 4), "pvldb2022", "before")
        if used:
            plan.rank(scores).areas()
        again = make_copy(plan)
        for grid in (None, 50):
            expected = plan.rank(scores, grid).areas()
            found = again.rank(scores, grid).areas(threads=2)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("make_copy", COPIES)
def test_copies_of_an_evaluator_and_an_evaluation(make_copy):
    labels, scores = long_series("two decimals", 5_000)
    for used, options in ((False, {}), (True, {"definition": "timeeval", "thresholds": 50})):
        evaluator = vuskit.Evaluator(labels, buffer=40, **options)
        if used:
            evaluator(scores[::-1].copy())
        again = make_copy(evaluator)
        result = evaluator(scores)
        assert dict(again(scores)) == dict(result)
        assert dict(make_copy(result)) == dict(result)
        assert repr(make_copy(result)) == repr(result)

"""Small nasty inputs, shared by the tests of every kernel and measure."""

from __future__ import annotations

from hypothesis import strategies as st

MAX_LENGTH = 40


def alternating(n):
    """One-point events at every second point: the densest labels there are."""
    return st.integers(0, 1).map(lambda first: [(first + i) % 2 for i in range(n)])


def nearly_full(n):
    """A single normal point."""
    return st.integers(0, n - 1).map(lambda normal: [int(i != normal) for i in range(n)])


def single_point(n):
    """A single anomalous point."""
    return st.integers(0, n - 1).map(lambda event: [int(i == event) for i in range(n)])


def both_ends(n):
    """Events at the first and at the last point, anything between."""
    middle = st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2)
    return middle.map(lambda bits: [1, *bits, 1])


@st.composite
def few_events(draw, n):
    """Up to three events with gaps wide enough for buffers to grow before they meet."""
    labels = [0] * n
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, n - 1))
        stop = min(start + draw(st.sampled_from([1, 1, 2, 5])), n)
        labels[start:stop] = [1] * (stop - start)
    return labels


def arbitrary(n):
    """Any labels at all."""
    return st.lists(st.integers(0, 1), min_size=n, max_size=n)


LABEL_SHAPES = (few_events, arbitrary, alternating, nearly_full, single_point, both_ends)


def has_both_classes(labels):
    return 0 < sum(labels) < len(labels)


@st.composite
def labels(draw, *, min_size=2, max_size=MAX_LENGTH, both_classes=True):
    """0/1 labels; with both classes unless told otherwise."""
    n = draw(st.integers(min_size, max_size))
    shapes = [shape(n) for shape in LABEL_SHAPES]
    if not both_classes:
        shapes += [st.just([0] * n), st.just([1] * n)]
        return draw(st.one_of(shapes))
    return draw(st.one_of(shapes).filter(has_both_classes))


@st.composite
def scores(draw, n):
    """Scores as quarters (exact in binary): from one value for all points to all distinct."""
    n_values = draw(st.sampled_from([1, 2, 3, 5, 17]))
    tied = st.lists(st.integers(0, n_values - 1), min_size=n, max_size=n)
    distinct = st.permutations(range(n))
    offset = draw(st.sampled_from([0, -8, 1024]))
    return [(value + offset) / 4 for value in draw(st.one_of(tied, distinct))]


@st.composite
def labeled_scores(draw, *, min_size=2, max_size=MAX_LENGTH, both_classes=True):
    """A pair ``(labels, scores)`` of equal length, as plain lists."""
    drawn = draw(labels(min_size=min_size, max_size=max_size, both_classes=both_classes))
    return drawn, draw(scores(len(drawn)))


@st.composite
def labeled_predictions(draw, *, min_size=2, max_size=MAX_LENGTH, both_classes=True):
    """A pair ``(labels, predictions)`` of 0/1 lists; the predictions may all be one class."""
    drawn = draw(labels(min_size=min_size, max_size=max_size, both_classes=both_classes))
    n = len(drawn)
    return drawn, draw(labels(min_size=n, max_size=n, both_classes=False))


def buffers(max_buffer=60):
    """Buffer lengths from none to one that swallows every series drawn here."""
    return st.one_of(st.integers(0, 12), st.integers(0, max_buffer))


def grids():
    """Numbers of thresholds, from the fewest to more than there are points."""
    return st.sampled_from([2, 3, 5, 26, 60, 250])


def thresholds():
    """Every distinct score (None) or a grid."""
    return st.one_of(st.none(), grids())


def definitions():
    """Names of the published definitions of VUS."""
    return st.sampled_from(["journal", "pvldb2022", "timeeval"])


def sides():
    """Which ramps exist."""
    return st.sampled_from(["both", "before", "after"])

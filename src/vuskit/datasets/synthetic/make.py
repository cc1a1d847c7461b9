"""Synthetic series: registry of families, positions of anomalies, injected anomalies, noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_fraction, check_int
from vuskit.intervals import events_to_labels

Labels = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Event = tuple[int, int]


class Generate(Protocol):
    """Function that generates n values with native anomalies in the given events."""

    def __call__(
        self, n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Generate the values; `strength` is 1 for obvious anomalies and 0 for faint ones."""
        ...


@dataclass(frozen=True)
class Family:
    """One kind of synthetic series.

    Attributes
    ----------
    name, title : str
        Name for `make_series`, and what the series imitates.
    anomaly : str
        Description of the native anomalies.
    period : int
        Typical period in points.
    anomaly_length : int
        Default length of an anomaly.
    generate : callable
        Generates the values.
    """

    name: str
    title: str
    anomaly: str
    period: int
    anomaly_length: int
    generate: Generate


_FAMILIES: dict[str, Family] = {}


def register_family(
    *, name: str, title: str, anomaly: str, period: int, anomaly_length: int
) -> Callable[[Generate], Generate]:
    """Register a function that generates a family of series.

    Raises
    ------
    InvalidInputError
        If the name is already registered.

    Examples
    --------
    >>> register_family(name="ecg", title="", anomaly="", period=1, anomaly_length=1)
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `name` must be a new family, got 'ecg'
    """
    if name in _FAMILIES:
        raise InvalidInputError(f"`name` must be a new family, got {name!r}")

    def register(generate: Generate) -> Generate:
        _FAMILIES[name] = Family(name, title, anomaly, period, anomaly_length, generate)
        return generate

    return register


def list_families() -> tuple[Family, ...]:
    """Return all families, sorted by name.

    Examples
    --------
    >>> [family.name for family in list_families()]
    ['ecg', 'kpi', 'mackey_glass', 'telemetry', 'vibration']
    """
    return tuple(_FAMILIES[name] for name in sorted(_FAMILIES))


def get_family(name: str) -> Family:
    """Return the family with the given name.

    Examples
    --------
    >>> get_family("kpi").period
    288
    """
    return _FAMILIES[check_choice("family", name, sorted(_FAMILIES))]


def labels_with_events(
    n: int,
    *,
    n_anomalies: int,
    mean_length: float,
    std_length: float = 0.0,
    seed: int,
) -> Labels:
    """Generate labels with anomalies of random position and length.

    At least one normal point lies between two anomalies. All arrangements of the gaps are equally
    likely.

    Parameters
    ----------
    n : int
        Number of points.
    n_anomalies : int
        Number of anomalies; 0 is allowed.
    mean_length : float
        Mean length of an anomaly in points, at least 1.
    std_length : float, default=0
        Standard deviation of the lengths. A length is 1 plus a rounded gamma variate, which keeps
        the mean without clipping. With 0, all lengths equal the rounded mean.
    seed : int
        Seed of the random generator.

    Returns
    -------
    ndarray of bool of shape (n,)
        The labels.

    Raises
    ------
    InvalidInputError
        If the anomalies do not fit into n points, or a parameter is out of range.

    Examples
    --------
    >>> labels = labels_with_events(1000, n_anomalies=10, mean_length=5, seed=0)
    >>> labels.size, int(labels.sum())
    (1000, 50)
    >>> labels_with_events(20, n_anomalies=5, mean_length=4, seed=0)
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `n` must be >= 24 to hold 5 anomalies with 20 points ...
    """
    n = check_int("n", n, minimum=1)
    n_anomalies = check_int("n_anomalies", n_anomalies, minimum=0)
    rng = np.random.default_rng(seed)
    lengths = _lengths(n_anomalies, mean_length, std_length, rng)
    starts = place_events(n, lengths, rng)
    return events_to_labels(starts, starts + lengths, n)


def labeled_scores(
    n: int,
    *,
    n_anomalies: int,
    mean_length: float,
    std_length: float = 0.0,
    separation: float = 2.0,
    seed: int,
) -> tuple[Labels, Floats]:
    """Generate labels like `labels_with_events`, and a score that partly detects the anomalies.

    Parameters
    ----------
    n, n_anomalies, mean_length, std_length
        As for `labels_with_events`.
    separation : float, default=2
        Offset of the score inside anomalies. The rest of the score is standard normal noise; with
        0, the score is random.
    seed : int
        Seed of the random generator; the labels equal those of `labels_with_events`.

    Returns
    -------
    labels : ndarray of bool of shape (n,)
    scores : ndarray of float64 of shape (n,)

    Raises
    ------
    InvalidInputError
        As for `labels_with_events`.

    Examples
    --------
    >>> labels, scores = labeled_scores(1000, n_anomalies=10, mean_length=5, seed=0)
    >>> bool(scores[labels].mean() > scores[~labels].mean() + 1)
    True
    """
    labels = labels_with_events(
        n, n_anomalies=n_anomalies, mean_length=mean_length, std_length=std_length, seed=seed
    )
    noise = np.random.default_rng([seed, 1]).standard_normal(labels.size)
    return labels, noise + separation * labels


def place_events(
    n: int, lengths: Ints, rng: np.random.Generator, *, first: int = 0, gap: int = 1
) -> Ints:
    """Return random starts for events of these lengths, in order, within ``first .. n``.

    Examples
    --------
    >>> place_events(12, np.array([3, 4, 3]), np.random.default_rng(0)).tolist()
    [0, 4, 9]
    """
    count = lengths.size
    if count == 0:
        return np.zeros(0, dtype=np.intp)
    behind = gap if gap > 1 else 0
    needed = first + int(lengths.sum()) + gap * (count - 1) + behind
    if needed > n:
        raise InvalidInputError(
            f"`n` must be >= {needed} to hold {count} anomalies with {int(lengths.sum())} points "
            f"in total, at least {gap} normal between two and {first} before the first, got {n}; "
            "use fewer or shorter anomalies"
        )
    # Distribute the spare points over count + 1 gaps by placing the events among them.
    spare = n - needed
    slots = np.sort(rng.choice(spare + count, size=count, replace=False))
    before = slots - np.arange(count)
    return np.asarray(
        first + before + np.concatenate(([0], np.cumsum(lengths[:-1] + gap))), dtype=np.intp
    )


def _lengths(
    n_anomalies: int, mean: float, std: float, rng: np.random.Generator
) -> NDArray[np.intp]:
    if not (np.isfinite(mean) and mean >= 1):
        raise InvalidInputError(f"`mean_length` must be a number >= 1, got {mean}")
    if not (np.isfinite(std) and std >= 0):
        raise InvalidInputError(f"`std_length` must be a number >= 0, got {std}")
    if std == 0:
        return np.full(n_anomalies, round(mean), dtype=np.intp)
    if mean == 1:
        raise InvalidInputError(f"`std_length` must be 0 when `mean_length` is 1, got {std}")
    above = mean - 1
    extra = rng.gamma((above / std) ** 2, std**2 / above, size=n_anomalies)
    return 1 + np.rint(extra).astype(np.intp)


def inject_points(
    clean: Floats,
    events: Sequence[Event],
    *,
    strength: float,
    period: int,
    rng: np.random.Generator,
) -> Floats:
    """Add an offset of 0.45 to 4.2 standard deviations to the points of each event.

    Examples
    --------
    >>> clean = np.tile([-1.0, 1.0], 10)
    >>> rng = np.random.default_rng(0)
    >>> changed = inject_points(clean, [(4, 5)], strength=1.0, period=2, rng=rng)
    >>> np.flatnonzero(changed != clean).tolist(), abs(float(changed[4] - clean[4])) >= 3
    ([4], True)
    """
    values = clean.copy()
    scale = float(clean.std()) or 1.0
    for start, stop in events:
        size = scale * (0.5 + 3.0 * strength) * rng.uniform(0.9, 1.2)
        values[start:stop] += size * rng.choice((-1.0, 1.0))
    return values


def inject_contextual(
    clean: Floats,
    events: Sequence[Event],
    *,
    strength: float,
    period: int,
    rng: np.random.Generator,
) -> Floats:
    """Replace each event by values of the series from another time.

    All values are normal, but not at this position. Among forty random segments, the strongest
    anomaly uses the one that differs most from the original.

    Examples
    --------
    >>> clean = np.repeat([0.0, 1.0], 50)
    >>> rng = np.random.default_rng(0)
    >>> changed = inject_contextual(clean, [(20, 30)], strength=1.0, period=4, rng=rng)
    >>> changed[18:32].tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0]
    """
    values = clean.copy()
    for start, stop in events:
        length = stop - start
        original = clean[start:stop]
        places = rng.integers(0, clean.size - length + 1, size=40)
        windows = clean[places[:, None] + np.arange(length)]
        order = np.argsort(((windows - original) ** 2).sum(axis=1), kind="stable")
        chosen = order[round((0.3 + 0.7 * strength) * (order.size - 1))]
        values[start:stop] = _fade(original, windows[chosen])
    return values


def inject_collective(
    clean: Floats,
    events: Sequence[Event],
    *,
    strength: float,
    period: int,
    rng: np.random.Generator,
) -> Floats:
    """Speed up or slow down the series within each event: normal values, wrong speed.

    Examples
    --------
    >>> clean = np.arange(20.0)
    >>> rng = np.random.default_rng(1)
    >>> changed = inject_collective(clean, [(5, 9)], strength=1.0, period=4, rng=rng)
    >>> np.flatnonzero(changed != clean).tolist()
    [6, 7, 8]
    """
    values = clean.copy()
    positions = np.arange(clean.size)
    for start, stop in events:
        pace = 1 + (0.15 + 1.1 * strength) * rng.uniform(0.9, 1.1)
        pace = pace if rng.random() < 0.5 else 1 / pace
        played = start + pace * np.arange(stop - start)
        # Past the end of the series, continue backwards.
        mirrored = np.where(played > clean.size - 1, 2 * (clean.size - 1) - played, played)
        values[start:stop] = _fade(clean[start:stop], np.interp(mirrored, positions, clean))
    return values


def _fade(original: Floats, changed: Floats) -> Floats:
    """Blend over a tenth of the event at either end, so that the seams are not detectable."""
    length = original.size
    ramp = length // 10 + 1
    from_end = np.minimum(np.arange(length), np.arange(length)[::-1]) + 1
    share = np.minimum(1.0, from_end / ramp)
    return np.asarray((1 - share) * original + share * changed)


INJECTIONS: dict[str, Callable[..., Floats]] = {
    "point": inject_points,
    "contextual": inject_contextual,
    "collective": inject_collective,
}


def slow_wander(n: int, scale: int, rng: np.random.Generator) -> Floats:
    """Smooth random curve with unit deviation, uncorrelated beyond about `scale` points.

    Examples
    --------
    >>> curve = slow_wander(1000, 50, np.random.default_rng(0))
    >>> bool(np.abs(np.diff(curve)).max() < 0.2)
    True
    """
    knots = rng.standard_normal(n // scale + 3)
    position = np.arange(n) / scale
    left = position.astype(np.intp)
    # Cosine interpolation between knots is smooth and stays between the two knots.
    weight = 0.5 - 0.5 * np.cos(np.pi * (position - left))
    return np.asarray((1 - weight) * knots[left] + weight * knots[left + 1])


def autoregressive(n: int, memory: float, rng: np.random.Generator) -> Floats:
    """AR(1) noise with unit deviation; `memory` is the correlation of neighbors.

    Examples
    --------
    >>> noise = autoregressive(20_000, 0.9, np.random.default_rng(0))
    >>> round(float(np.corrcoef(noise[1:], noise[:-1])[0, 1]), 1)
    0.9
    """
    shocks = rng.standard_normal(n)
    shocks[1:] *= np.sqrt(1 - memory**2)
    chain = accumulate(shocks.tolist(), lambda state, shock: memory * state + shock)
    return np.fromiter(chain, dtype=np.float64, count=n)


KINDS = ("native", *INJECTIONS)
# Strength of an anomaly: 1 is obvious to the eye, 0 is barely visible.
DIFFICULTIES = {"easy": 1.0, "medium": 0.5, "hard": 0.15}


def make_series(
    family: str,
    *,
    n: int = 10_000,
    n_anomalies: int = 10,
    anomaly_length: int | None = None,
    kind: str = "native",
    difficulty: str | float = "medium",
    train_share: float = 0.1,
    seed: int,
) -> Series:
    """Generate a labeled series of a family.

    The same arguments give the same series, up to platform-dependent rounding of sine and
    exponential; `mackey_glass` is exact. The positions of anomalies do not depend on kind and
    difficulty.

    Parameters
    ----------
    family : str
        A name from `list_families`.
    n : int, default=10000
        Number of points.
    n_anomalies : int, default=10
        Number of anomalies.
    anomaly_length : int, optional
        Length of each anomaly. Defaults to the family's length, or to 1 for ``kind="point"``.
    kind : {"native", "point", "contextual", "collective"}, default="native"
        Kind of the anomalies. "native": specific to the family, such as premature beats or
        incidents. "point": an offset. "contextual": normal values from another time.
        "collective": normal values at another speed.
    difficulty : {"easy", "medium", "hard"} or float, default="medium"
        How hard the anomalies are to detect; a number from 0 (easy) to 1 (barely visible).
    train_share : float, default=0.1
        Share of leading points without anomalies; sets the train length of the series.
    seed : int
        Seed of the random generator.

    Returns
    -------
    Series
        With ``dataset="synthetic"``.

    Raises
    ------
    InvalidInputError
        If a name is unknown, a number is out of range, or the anomalies do not fit.

    Examples
    --------
    >>> series = make_series("ecg", n=5000, n_anomalies=4, difficulty="easy", seed=1)
    >>> series
    Series('synthetic/ecg-native-easy-4x90-seed1', 5,000 points, 1 channel, 4 anomalies)
    >>> series.train_length
    500
    """
    entry = get_family(family)
    kind = check_choice("kind", kind, KINDS)
    strength = _strength(difficulty)
    n = check_int("n", n, minimum=1)
    n_anomalies = check_int("n_anomalies", n_anomalies, minimum=0)
    if anomaly_length is None:
        anomaly_length = 1 if kind == "point" else entry.anomaly_length
    anomaly_length = check_int("anomaly_length", anomaly_length, minimum=1)
    if not 0 <= train_share < 1:
        raise InvalidInputError(f"`train_share` must be in [0, 1), got {train_share}")

    places, signal, change = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(3)
    )
    lengths = np.full(n_anomalies, anomaly_length, dtype=np.intp)
    train_length = int(n * train_share)
    # Keep a period of normal behavior around each anomaly for contrast.
    starts = place_events(n, lengths, places, first=train_length, gap=entry.period)
    stops = starts + lengths
    events = tuple(zip(starts.tolist(), stops.tolist(), strict=True))
    if kind == "native":
        values = entry.generate(n, events, strength=strength, rng=signal)
    else:
        clean = entry.generate(n, (), strength=strength, rng=signal)
        values = INJECTIONS[kind](clean, events, strength=strength, period=entry.period, rng=change)
    return Series(
        f"{family}-{kind}-{difficulty}-{n_anomalies}x{anomaly_length}-seed{seed}",
        "synthetic",
        values,
        events_to_labels(starts, stops, n),
        train_length,
    )


def _strength(difficulty: str | float) -> float:
    if isinstance(difficulty, str):
        return DIFFICULTIES[check_choice("difficulty", difficulty, DIFFICULTIES)]
    return 1.0 - check_fraction("difficulty", difficulty)

"""Random labels and scores without a series, with a given number and length of anomalies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError
from vuskit.inputs import check_int
from vuskit.intervals import events_to_labels

__all__ = ["labeled_scores", "labels_with_events", "place_events"]

Labels = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


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

"""`make_series`: generate a labeled synthetic series."""

from __future__ import annotations

import numpy as np

from vuskit.datasets.series import Series
from vuskit.datasets.synthetic.anomalies import INJECTIONS
from vuskit.datasets.synthetic.labels import place_events
from vuskit.datasets.synthetic.registry import get_family
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_fraction, check_int
from vuskit.intervals import events_to_labels

__all__ = ["DIFFICULTIES", "KINDS", "make_series"]

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

"""Choose the buffer length from the period of a series or the lengths of its anomalies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit._util.gaps import bridge_gaps
from vuskit._util.text import did_you_mean
from vuskit.errors import BufferNotFoundError, InvalidInputError
from vuskit.inputs import Labels, check_choice, check_int, check_labels, check_series
from vuskit.intervals import Ints

__all__ = [
    "LENGTH_RULES",
    "BufferChoice",
    "buffer_strategy_title",
    "check_buffer",
    "choose_buffer",
    "estimate_period",
    "excess_of_buffer",
    "list_buffer_strategies",
]

Floats = NDArray[np.float64]

_LONGEST = 1 << 60  # longer buffers would overflow integers
_MAX_POINTS = 20_000
_MAX_LAG = 400
_LONGEST_AUTO = 1000  # a longer period is a trend or a season, not the shape of an anomaly
_PROMINENCE = 0.1  # minimum prominence of a maximum of the ACF
_NEAR_LARGEST = 0.6  # minimum prominence relative to the most prominent maximum
# Bounds that independent noise rarely reaches, in standard deviations. Correlations of noise are
# normal with deviation 1 / sqrt(points). With a third of 20,000 lags, one series in a thousand
# reaches 5 deviations. Local fluctuations on top of a trend are smaller.
_NOISE_HEIGHT = 5.0
_NOISE_PROMINENCE = 3.0
_SHORT = 100  # series with fewer points are examples, whose buffers cover a lot
_NOISE_SPECTRUM = 1e-3  # p-value of the strongest frequency under noise (Fisher 1929)


@dataclass(frozen=True)
class BufferChoice:
    """A buffer length and how it was chosen.

    Attributes
    ----------
    length : int
        The buffer length.
    strategy : str
        Name of the strategy.
    reason : str
        Why the strategy chose this length, in words.
    """

    length: int
    strategy: str
    reason: str

    def __int__(self) -> int:
        return self.length

    __index__ = __int__


def estimate_period(
    values: ArrayLike, *, method: str = "acf", max_lag: int | None = None
) -> int | None:
    """Estimate the period of a series.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, d)
        The series. With several channels, the first one is used.
    method : {"acf", "fft", "authors"}, default="acf"
        ``"acf"``: the first prominent local maximum of the autocorrelation that exceeds the level
        of independent noise. ``"fft"``: the strongest frequency, if it exceeds that level.
        ``"authors"``: the rule of the published experiments, which finds a period in every series.
        It takes the highest local maximum of the autocorrelation over lags 3 to 400, or 125 if
        there is none or it is above 300.
    max_lag : int, optional
        Longest period to look for. The default is a third of the points used (at most the first
        20,000).

    Returns
    -------
    int or None
        Period in points, or None if the series has no clear period.

    Raises
    ------
    InvalidInputError
        If the values are not finite numbers or the method is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> estimate_period(np.sin(np.arange(1000) * 2 * np.pi / 25))
    25
    >>> print(estimate_period(np.random.default_rng(0).normal(size=1000)))
    None
    """
    check_choice("method", method, _METHODS)
    series = _within_range(check_series(values)[:_MAX_POINTS])
    if max_lag is None:
        max_lag = max(series.size // 3, 1)
    return _METHODS[method](series, check_int("max_lag", max_lag, minimum=1))


def _within_range(series: Floats) -> Floats:
    """Return the series times a power of two (exact), so that squares stay finite."""
    return np.asarray(np.ldexp(series, -int(np.frexp(np.abs(series).max())[1])))


def autocorrelation(series: Floats, max_lag: int) -> Floats:
    """Return the autocorrelation at lags 0, ..., max_lag (biased); zeros for constant series."""
    centered = series - series.mean()
    size = 1 << int(2 * series.size - 1).bit_length()
    spectrum = np.fft.rfft(centered, size)
    correlation = np.fft.irfft(spectrum * np.conj(spectrum), size)[: max_lag + 1]
    total = correlation[0]
    scale = float(np.abs(series).max()) ** 2 * series.size
    if total <= 1e-24 * scale or total == 0.0:
        return np.zeros(max_lag + 1)
    return np.asarray(correlation / total)


def _local_maxima(values: Floats) -> NDArray[np.intp]:
    """Return the indices of local maxima; for a plateau, its first point."""
    return np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])) + 1


def _first_prominent(series: Floats, max_lag: int) -> int | None:
    correlation = autocorrelation(series, min(max_lag, series.size - 1))
    lags = _local_maxima(correlation)
    lags = lags[(lags > 1) & (correlation[lags] > 0)]
    if lags.size == 0:
        return None
    prominence = prominences(correlation)[lags]
    least = max(
        _PROMINENCE,
        _NEAR_LARGEST * float(prominence.max()),
        float(_noise_bound(_NOISE_PROMINENCE, series.size)),
    )
    # A correlation at a lag sums over n - lag pairs but is divided by n; undo the bias.
    pairs = series.size - lags
    heights = correlation[lags] * series.size / pairs
    prominent = (prominence >= least) & (heights >= _noise_bound(_NOISE_HEIGHT, pairs))
    return int(lags[prominent.argmax()]) if prominent.any() else None


def _noise_bound(deviations: float, points: NDArray[np.intp] | int) -> Floats:
    """Return the correlation of independent points that is `deviations` above 0."""
    # About deviations / sqrt(points) for many points; always below 1 for few.
    return np.asarray(deviations / np.sqrt(np.maximum(points - 2, 0) + deviations**2))


def prominences(values: Floats) -> Floats:
    """Return the prominence of each point: its height above the higher of two valleys.

    A valley is the lowest value between the point and the next higher point, or the end, on one
    side.

    Examples
    --------
    >>> prominences(np.array([0.0, 3.0, 2.0, 5.0, 1.0]))
    array([0., 1., 0., 4., 0.])
    """
    valleys = np.maximum(_valleys_before(values), _valleys_before(values[::-1])[::-1])
    return np.asarray(values - valleys)


def _valleys_before(values: Floats) -> Floats:
    """Return, for each point, the lowest value since the last higher point."""
    valleys = np.empty(values.size)
    higher: list[tuple[float, float]] = []  # descending heights, and the valley before each
    for i, value in enumerate(values.tolist()):
        valley = value
        while higher and higher[-1][0] <= value:
            valley = min(valley, higher.pop()[1])
        higher.append((value, valley))
        valleys[i] = valley
    return valleys


def _strongest_frequency(series: Floats, max_lag: int) -> int | None:
    centered = series - series.mean()
    power = np.abs(np.fft.rfft(centered)) ** 2
    lowest = int(np.ceil(series.size / max_lag))
    power = power[lowest:]
    if power.size <= 1 or not power.any():
        return None
    strongest = int(power.argmax())
    share = float(power[strongest] / power.sum())
    if power.size * (1.0 - share) ** (power.size - 1) > _NOISE_SPECTRUM:
        return None
    frequency = lowest + strongest
    period = round(series.size / frequency)
    return period if period > 1 else None


def _authors_rule(series: Floats, max_lag: int) -> int:
    del max_lag  # the rule has a fixed limit
    correlation = autocorrelation(series, min(_MAX_LAG, series.size - 1))
    tail = correlation[3:]
    peaks = _local_maxima(tail) if tail.size > 2 else np.zeros(0, dtype=np.intp)
    if peaks.size == 0:
        return 125
    best = int(peaks[tail[peaks].argmax()])
    return 125 if best < 3 or best > 300 else best + 3


_METHODS: dict[str, Callable[[Floats, int], int | None]] = {
    "acf": _first_prominent,
    "fft": _strongest_frequency,
    "authors": _authors_rule,
}


_Rule = Callable[[ArrayLike | None, ArrayLike | None], tuple[int, str]]


def _event_lengths(y_true: ArrayLike | None) -> Ints:
    if y_true is None:
        raise BufferNotFoundError("`y_true` must be given for this strategy, got None; pass labels")
    labels = check_labels(y_true)
    if labels.n_anomalous == 0:
        raise BufferNotFoundError(
            "`y_true` must hold at least one anomalous point, got none; give the buffer as a number"
        )
    return np.asarray(labels.stops - labels.starts)


def _anomalies(count: int) -> str:
    return "1 anomaly" if count == 1 else f"{count} anomalies"


def _median_length(lengths: Ints) -> tuple[int, str]:
    ordered = np.sort(lengths)
    middle = int(ordered[(lengths.size - 1) // 2]) + int(ordered[lengths.size // 2])
    return round(middle / 2), f"median length of {_anomalies(lengths.size)}"


def _mean_length(lengths: Ints) -> tuple[int, str]:
    return round(float(lengths.mean())), f"mean length of {_anomalies(lengths.size)}"


def _length_without_period(lengths: Ints, why: str = "there are no values") -> tuple[int, str]:
    length, reason = _median_length(lengths)
    return length, f"{reason}, as {why}"


def _by_lengths(rule: Callable[[Ints], tuple[int, str]]) -> _Rule:
    return lambda values, y_true: rule(_event_lengths(y_true))


def _by_period(method: str) -> _Rule:
    def strategy(values: ArrayLike | None, y_true: ArrayLike | None) -> tuple[int, str]:
        if values is None:
            raise BufferNotFoundError(
                "`values` must be given for this strategy, got None; pass the series"
            )
        period = estimate_period(values, method=method)
        if period is None:
            raise BufferNotFoundError(
                f"`values` must show a period for the strategy {_names[method]!r}, got none; "
                "give the buffer as a number, or use 'median_anomaly'"
            )
        return period, f"period of {period} points ({method})"

    return strategy


def _automatic(values: ArrayLike | None, y_true: ArrayLike | None) -> tuple[int, str]:
    """Return the period if the series has one, else the median length of the anomalies."""
    period = None if values is None else estimate_period(values, max_lag=_LONGEST_AUTO)
    if period is not None:
        return period, f"the values repeat every {period} points"
    limit = f"the values show no period within {_LONGEST_AUTO:,} points"
    why = "there are no values" if values is None else limit
    if y_true is None:
        raise BufferNotFoundError(f"`y_true` must be given, as {why}, got None")
    return _length_without_period(_event_lengths(y_true), why)


_IN_GENERAL = (
    (r"the values repeat every [\d,]+ points", "period of the values"),
    (r"period of [\d,]+ points", "period"),
    (r"(median|mean) length of [\d,]+ anomal(y|ies)", r"\1 anomaly length"),
    (r", as there are no values", ", no values given"),
    (r", as the values show no period within [\d,]+ points", ", values without period"),
    (r"number: given", "given"),
    (r"fallback: .*", "fallback"),
)


def buffer_summary(lengths: Sequence[int], reasons: Sequence[str | None]) -> str:
    """Return rule, reason and range of the buffers of one or several series, in words.

    Examples
    --------
    >>> why = "auto: median length of 3 anomalies, as there are no values"
    >>> buffer_summary([3, 638], [why, why])
    'buffer auto: median anomaly length, no values given; 3 to 638 points'
    """
    general = Counter[str]()
    for reason, count in Counter(reasons).items():
        text = reason or ""
        for pattern, plain in _IN_GENERAL:
            text = re.sub(pattern, plain, text)
        general[text] += count
    low, high = min(lengths), max(lengths)
    points = f"{low:,} points" if low == high else f"{low:,} to {high:,} points"
    counts = general.most_common()
    if not counts[0][0]:
        return f"buffer {points}"
    rule = f"{counts[0][0].partition(': ')[0]}: "
    said = [
        f"{text.removeprefix(rule)} ({count:,} series)" if place else f"{text} ({count:,} series)"
        for place, (text, count) in enumerate(counts)
    ]
    return f"buffer {', '.join(said) if len(counts) > 1 else counts[0][0]}; {points}"


_names = {"acf": "period", "fft": "fft", "authors": "authors"}

_STRATEGIES: dict[str, tuple[_Rule, str]] = {
    "auto": (_automatic, "the period, or the median length of the anomalies where there is none"),
    "period": (_by_period("acf"), "the period, by autocorrelation"),
    "fft": (_by_period("fft"), "the period, by the strongest frequency"),
    "authors": (_by_period("authors"), "the period, by the rule of the published experiments"),
    "median_anomaly": (_by_lengths(_median_length), "the median length of the anomalies"),
    "mean_anomaly": (_by_lengths(_mean_length), "the mean length of the anomalies"),
}
# Rules of the strategies that need only the lengths of the anomalies, if there are no values.
LENGTH_RULES: dict[str, Callable[[Ints], tuple[int, str]]] = {
    "auto": _length_without_period,
    "median_anomaly": _median_length,
    "mean_anomaly": _mean_length,
}


def reads_values(buffer: str | int | BufferChoice | None) -> bool:
    """Whether the buffer depends on the values of the series.

    Examples
    --------
    >>> [reads_values(buffer) for buffer in (50, "median_anomaly", "auto")]
    [False, False, True]
    """
    return isinstance(buffer, str) and not buffer.endswith("_anomaly")


def list_buffer_strategies() -> list[str]:
    """Return the names of the strategies for :func:`choose_buffer`.

    Examples
    --------
    >>> list_buffer_strategies()
    ['auto', 'period', 'fft', 'authors', 'median_anomaly', 'mean_anomaly']
    """
    return list(_STRATEGIES)


def buffer_strategy_title(name: str) -> str:
    """Return a short description of a strategy.

    Examples
    --------
    >>> buffer_strategy_title("median_anomaly")
    'the median length of the anomalies'
    """
    return _STRATEGIES[check_choice("name", name, _STRATEGIES)][1]


def check_buffer(
    buffer: int | str | BufferChoice, *, name: str = "buffer"
) -> int | str | BufferChoice:
    """Check a buffer: a length, the name of a strategy, or a choice.

    Examples
    --------
    >>> check_buffer(100), check_buffer("median-anomaly")
    (100, 'median_anomaly')
    """
    if isinstance(buffer, str):
        word = buffer.strip().lower().replace("-", "_")
        if word in _STRATEGIES:
            return word
        raise InvalidInputError(
            f"`{name}` must be a number of points (1 hour of minute data: 60) or one of "
            f"{', '.join(map(repr, _STRATEGIES)).replace('_', '-')}, "
            f"got {buffer!r}{did_you_mean(word, _STRATEGIES)}"
        )
    length = check_int(name, buffer, minimum=0)
    if length > _LONGEST:
        raise InvalidInputError(f"`{name}` must be at most {_LONGEST}, got {length}; use less")
    return buffer if isinstance(buffer, BufferChoice) else length


def choose_buffer(
    strategy: str | int | BufferChoice,
    *,
    values: ArrayLike | None = None,
    y_true: ArrayLike | None = None,
) -> BufferChoice:
    """Choose a buffer length by a named strategy.

    Parameters
    ----------
    strategy : str, int or BufferChoice
        One of :func:`list_buffer_strategies`, the length itself, or an earlier choice. ``"auto"``
        takes the period if `values` has one of at most 1,000 points, else the median length of the
        anomalies.
    values : array-like of shape (n,) or (n, d), optional
        The series, required by strategies based on the period. With several channels, the first
        one is used. Missing and infinite values are interpolated. A series without finite values
        is ignored.
    y_true : array-like of shape (n,), optional
        The labels, required by strategies based on the anomalies.

    Returns
    -------
    BufferChoice
        The length, the strategy and the reason. Pass it as any `buffer` argument.

    Raises
    ------
    BufferNotFoundError
        If the strategy finds no buffer, or its values or labels are missing.
    InvalidInputError
        If the strategy is unknown, or the values or labels are invalid.

    Examples
    --------
    >>> choose_buffer("median_anomaly", y_true=[0, 1, 1, 0, 0, 1, 1, 1, 1, 0])
    BufferChoice(length=3, strategy='median_anomaly', reason='median length of 2 anomalies')
    >>> choose_buffer(100).length
    100
    """
    if isinstance(strategy, BufferChoice):
        return strategy
    if not isinstance(strategy, str):
        length = check_int("strategy", strategy, minimum=0)
        return BufferChoice(length, "number", "given")
    rule, _ = _STRATEGIES[check_choice("strategy", strategy, _STRATEGIES)]
    length, reason = rule(None if values is None else _known_values(values), y_true)
    return BufferChoice(length, strategy, reason)


def _known_values(values: ArrayLike) -> ArrayLike | None:
    """Return values with gaps interpolated, or None if no value is finite."""
    array = np.asarray(values)
    channel = array[:, 0] if array.ndim == 2 and array.shape[1] else array
    if channel.ndim != 1 or channel.dtype.kind != "f" or np.ma.isMaskedArray(values):
        return values
    finite = np.isfinite(channel)
    if finite.all():
        return values
    known = np.where(finite, channel, np.nan).astype(np.float64)
    return bridge_gaps(known) if finite.any() else None


def excess_of_buffer(labels: Labels, length: int, side: str = "both") -> str | None:
    """Describe a buffer that exceeds a quarter of the series or covers more than half of it.

    Examples
    --------
    >>> labels = check_labels([0] * 100 + [1] + [0] * 99)
    >>> excess_of_buffer(labels, 60)
    'a buffer of 60 points exceeds a quarter of the 200 points'
    >>> print(excess_of_buffer(labels, 40))
    None
    """
    n, starts = labels.n, labels.starts
    if n < _SHORT or not starts.size:
        return None
    if 4 * length > n:
        return f"a buffer of {length:,} points exceeds a quarter of the {n:,} points"
    if 2 * starts.size * length <= n:
        return None
    half = length // 2
    begin = np.maximum(starts - half * (side != "after"), 0)
    end = np.minimum(labels.stops + half * (side != "before"), n)
    covered = np.maximum(np.minimum(end, np.append(begin[1:], n)) - begin, 0).sum()
    share = (int(covered) - labels.n_anomalous) / n
    if share <= 0.5:
        return None
    return f"buffers of {length:,} points cover {share:.0%} of the {n:,} points"

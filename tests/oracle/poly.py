"""POLY as the published experiments ran it: one block after the other, with Fourier transforms."""

import cmath
import math


def transform(values):
    """Discrete Fourier transform by its definition."""
    n = len(values)
    return [
        sum(x * cmath.exp(-2j * math.pi * k * t / n) for t, x in enumerate(values))
        for k in range(n)
    ]


def fit_polynomial(positions, values, power):
    """Coefficients of the least-squares polynomial, lowest power first: the normal equations."""
    size = power + 1
    rows = [
        [math.fsum(p ** (i + j) for p in positions) for j in range(size)]
        + [math.fsum(v * p**i for p, v in zip(positions, values, strict=True))]
        for i in range(size)
    ]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(size):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def poly_blocks(series, window=20, power=3, neighborhood=10):
    """Score of each point: that of its block; 0 in the first part of the series."""
    n = len(series)
    length = min(max(neighborhood * window, 100), n)
    initial = math.ceil(min(500, n / 10) / window) * window
    scores = [0.0] * n
    for start in range(initial, n, window):
        stop = min(start + window, n)
        left = min(max(start - length // 2, 0), n - length)
        around = [i for i in range(left, left + length) if not start <= i < start + window]
        complete = stop == start + window
        if complete:
            positions = [start + window * k / (window - 1) for k in range(window)]
        else:
            positions = list(range(start, stop))
        # Positions relative to the block keep the normal equations well conditioned.
        fit = fit_polynomial(
            [(i - start) / length for i in around], [series[i] for i in around], power
        )
        predicted = [
            sum(c * ((p - start) / length) ** k for k, c in enumerate(fit)) for p in positions
        ]
        differences = [
            abs(a - b)
            for a, b in zip(transform(series[start:stop]), transform(predicted), strict=True)
        ]
        score = math.sqrt(sum(d * d for d in differences)) / (stop - start)
        scores[start:stop] = [score] * (stop - start)
    return scores

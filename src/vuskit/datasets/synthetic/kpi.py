"""A key performance indicator of a service, with incidents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.synthetic.make import Event, autoregressive, register_family, slow_wander

__all__ = ["kpi"]

_DAY = 288


@register_family(
    name="kpi",
    title="key performance indicator",
    anomaly="incidents: a sudden drop or surge that recovers",
    period=_DAY,
    anomaly_length=40,
)
def kpi(
    n: int, events: Sequence[Event], *, strength: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Generate requests per five minutes: daily season, quiet weekends, trend and noise.

    An incident starts abruptly and recovers towards its end. Its depth is proportional to the load
    at that time, so even a strong incident at night stays within the daily range.

    .. figure:: /figures/synthetic_kpi.png

    Examples
    --------
    >>> kpi(1000, [(600, 640)], strength=1.0, rng=np.random.default_rng(0)).shape
    (1000,)
    """
    time = np.arange(n)
    day = 2 * np.pi * (time / _DAY + rng.uniform())
    season = 1 + 0.45 * np.sin(day) + 0.15 * np.sin(2 * day + 0.8) + 0.05 * np.sin(5 * day)
    weekend = np.where((time // _DAY + rng.integers(7)) % 7 < 5, 1.0, 0.8)
    trend = 1 + rng.uniform(-0.2, 0.4) * time / n + 0.06 * slow_wander(n, 3 * _DAY, rng)
    load = 100 * season * weekend * trend
    values = load * (1 + 0.05 * autoregressive(n, 0.6, rng))
    for start, stop in events:
        phase = np.arange(stop - start) / (stop - start)
        shape = np.minimum(1.0, 2.5 * (1 - phase))
        depth = (0.08 + 0.55 * strength) * rng.uniform(0.8, 1.2) * rng.choice((-1.0, 1.0))
        values[start:stop] += depth * shape * load[start:stop]
    return np.asarray(values)

"""Numbers behind the drawings of the studies: what the results say, few enough to send."""

from __future__ import annotations

import base64
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure
from vuskit.report.common import (
    FAMILY_TITLES,
    family_colour,
    family_of,
    groups_sentence,
    titles_of,
)
from vuskit.studies.base import Failure, SeriesValues
from vuskit.studies.consistency import ConsistencyResult
from vuskit.studies.robustness import RobustnessResult
from vuskit.studies.scenarios import EXACT, TOUCHING, ScenarioResult
from vuskit.studies.separability import SeparabilityResult
from vuskit.studies.statistics.comparison import TableComparison
from vuskit.studies.summary import Summary

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ROOM",
    "box_numbers",
    "comparison_data",
    "consistency_data",
    "encoded",
    "measures_data",
    "plain",
    "robustness_data",
    "sampled",
    "scenarios_data",
    "separability_data",
    "summary_data",
    "table_data",
]

Values = NDArray[np.float64]
Item = TypeVar("Item")

ROOM = 1_200_000
"""Bytes, encoded, that the part of a study that grows with its series may take."""

_BYTES_PER_NUMBER = 16 / 3  # single precision in base64
_BOX = 5
_MOST_FAILURES = 50


# ---- forms ----


def plain(value: Any) -> Any:
    """A value as JSON knows it: undefined as null, infinite as text, numbers whole.

    Examples
    --------
    >>> [plain(value) for value in (0.1, float("nan"), float("-inf"), np.int64(3), "a")]
    [0.1, None, '-inf', 3, 'a']
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _numbers(values: Iterable[Any]) -> list[Any]:
    return [plain(value) for value in values]


def table_data(frame: pd.DataFrame) -> dict[str, Any]:
    """A table as JSON knows it, by rows."""
    rows = frame.itertuples(index=False, name=None)
    return {"columns": list(map(str, frame.columns)), "rows": [_numbers(row) for row in rows]}


def encoded(numbers: Values) -> str:
    """Numbers in single precision, as text; NaN stays NaN.

    Examples
    --------
    >>> encoded(np.array([1.0]))
    'AACAPw=='
    """
    return base64.b64encode(np.asarray(numbers).astype("<f4").tobytes()).decode("ascii")


def measures_data(measures: Iterable[Measure]) -> dict[str, Any]:
    """Names, titles and families of measures, and the colours of the families."""
    listed = list(measures)
    return {
        "measures": [
            {"name": one.name, "title": one.title, "family": family_of(one)} for one in listed
        ],
        "families": {
            family_of(one): {"title": FAMILY_TITLES[family_of(one)], "colour": family_colour(one)}
            for one in listed
        },
    }


def box_numbers(values: Values) -> Values:
    """Five numbers of a box plot along the last axis; undefined values are left out.

    Returns
    -------
    array
        Lower whisker, lower quartile, median, upper quartile, upper whisker. A whisker ends at the
        last value within one and a half times the box.

    Examples
    --------
    >>> box_numbers(np.array([1.0, 2.0, 3.0, 4.0, 30.0, np.nan]))
    array([1., 2., 3., 4., 4.])
    """
    ordered = np.sort(values, axis=-1)  # NaN comes last
    last = np.maximum(np.isfinite(ordered).sum(axis=-1, keepdims=True) - 1, 0)

    def quantile(share: float) -> Values:
        place = share * last
        lower = np.floor(place).astype(np.intp)
        upper = np.minimum(lower + 1, last)
        below = np.take_along_axis(ordered, lower, -1)
        found: Values = below + (place - lower) * (np.take_along_axis(ordered, upper, -1) - below)
        return found

    first, median, third = quantile(0.25), quantile(0.5), quantile(0.75)
    reach = 1.5 * (third - first)
    inside = (ordered >= first - reach) & (ordered <= third + reach)
    low = np.where(inside, ordered, np.inf).min(axis=-1, keepdims=True)
    high = np.where(inside, ordered, -np.inf).max(axis=-1, keepdims=True)
    nothing = np.isnan(median)
    whiskers = [np.where(nothing, np.nan, end) for end in (low, high)]
    return np.concatenate([whiskers[0], first, median, third, whiskers[1]], axis=-1)


def sampled(
    items: Sequence[Item], count: int, group: Callable[[Item], Hashable] = lambda item: None
) -> list[Item]:
    """Keep at most ``count`` items, evenly from every group, in their order.

    Examples
    --------
    >>> sampled(["a1", "a2", "a3", "b1"], 2, group=lambda name: name[0])
    ['a1', 'b1']
    """
    if len(items) <= count:
        return list(items)
    groups: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(group(item), []).append(place)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*groups.values()))
    chosen = itertools.islice((place for place in turns if place is not None), count)
    return [items[place] for place in sorted(chosen)]


def _series_that_fit(
    values: Sequence[SeriesValues], numbers_of: Callable[[SeriesValues], int]
) -> list[SeriesValues]:
    """As many series as there is room for, from every data set."""
    largest = max(map(numbers_of, values), default=1)
    count = max(int(ROOM / _BYTES_PER_NUMBER / max(largest, 1)), 1)
    return sampled(values, count, group=lambda one: one.dataset)


def _sample_note(kept: int, total: int, what: str = "series") -> str:
    return "" if kept == total else f"A sample of {kept:,} of {total:,} {what}, from all data sets."


def comparison_data(
    make: Callable[[], TableComparison], measures: Iterable[Measure]
) -> dict[str, Any] | None:
    """Ranks, groups and sentences of a comparison; None where too few series allow one."""
    try:
        found = make()
    except InvalidInputError:
        return None
    return {
        "title": found.title,
        "ranks": table_data(found.to_frame()),
        "pairs": table_data(found.pairs.to_frame()),
        "groups": [[str(name) for name in group] for group in found.groups],
        "sentences": [*found.tests, groups_sentence(found.groups, titles_of(measures))],
    }


def _failures(failures: Sequence[Failure]) -> dict[str, Any]:
    return {
        "count": len(failures),
        "rows": [[one.name, one.reason] for one in failures[:_MOST_FAILURES]],
    }


# ---- the studies ----


def robustness_data(result: RobustnessResult, *, alpha: float) -> dict[str, Any]:
    """Averages, data sets, tests, and the boxes of as many series as there is room for."""
    kinds, names = list(result.task.perturbations), list(result.task.settings.names)
    datasets, averages = result.by_dataset(), result.averages()
    over_series = result.averages(over="series")
    shown = _series_that_fit(
        result.values, lambda one: len(kinds) * (len(one.axes["detector"]) + 1) * len(names) * _BOX
    )
    return {
        **measures_data(result.measures),
        "perturbations": kinds,
        "averages": {kind: _numbers(averages[kind]) for kind in kinds},
        "over_series": {kind: _numbers(over_series[kind]) for kind in kinds},
        "datasets": {
            "names": list(map(str, datasets.loc[kinds[0]].index)),
            "values": {
                kind: [_numbers(row) for row in datasets.loc[kind].to_numpy()] for kind in kinds
            },
        },
        "tests": {
            kind: comparison_data(partial(result.compare, kind, alpha=alpha), result.measures)
            for kind in kinds
        },
        "undefined": table_data(result.undefined()),
        "series": [_robustness_boxes(result, one) for one in shown],
        "note": _sample_note(len(shown), len(result.values)),
        "failures": _failures(result.failures),
    }


def _robustness_boxes(result: RobustnessResult, one: SeriesValues) -> dict[str, Any]:
    """Boxes of the centred values by perturbation, of all detectors together and each by itself."""
    detectors, measures = one.axes["detector"], len(result.measures)
    boxes = []
    for kind in result.task.perturbations:
        centred = result.centred(one.name, kind).to_numpy()
        each = centred.reshape(len(detectors), result.task.count, measures).transpose(0, 2, 1)
        boxes += [box_numbers(centred.T)[None], box_numbers(each)]
    return {
        "name": one.name,
        "buffer": one.buffer,
        "detectors": list(detectors),
        "boxes": encoded(np.concatenate(boxes)),
    }


def separability_data(result: SeparabilityResult, *, alpha: float) -> dict[str, Any]:
    """Averages, tests, and the pairs of as many series as there is room for."""
    frame = result.to_frame()
    with_pairs = [one for one in result.values if one.notes["pairs"]]
    shown = _series_that_fit(
        with_pairs,
        lambda one: (
            len(result.measures) * (_BOX * len(one.axes["detector"]) + len(one.notes["pairs"]))
        ),
    )
    return {
        **measures_data(result.measures),
        "rule": result.rule,
        "averages": table_data(result.averages().reset_index()),
        "test": comparison_data(lambda: result.compare(alpha=alpha), result.measures),
        "without": len(result.series_without_pairs),
        "series": _pairs(result, frame, shown),
        "note": _sample_note(len(shown), len(with_pairs), "series with pairs"),
        "failures": _failures(result.failures),
    }


def _pairs(
    result: SeparabilityResult, frame: pd.DataFrame, shown: Iterable[SeriesValues]
) -> list[dict[str, Any]]:
    count = len(result.measures)
    # One row for each pair and measure, series by series: as the frame is made.
    by_series = {key: part["z"].to_numpy() for key, part in frame.groupby(["dataset", "series"])}
    return [
        {
            "name": one.name,
            "buffer": one.buffer,
            "detectors": list(one.axes["detector"]),
            "pairs": [list(pair) for pair in one.notes["pairs"]],
            "criterion": {name: plain(merit) for name, merit in one.notes["criterion"].items()},
            "boxes": encoded(box_numbers(one.values.transpose(0, 2, 1))),
            "z": encoded(by_series[one.dataset, one.series].reshape(-1, count)),
        }
        for one in shown
    ]


def consistency_data(result: ConsistencyResult) -> dict[str, Any]:
    """Entropies, and mean ranks and entropies of every detector by data set."""
    names = list(result.settings.names)
    averages, entropies = result.averages(), result.entropies()
    everywhere = entropies.groupby(level="detector", sort=False).mean()
    datasets = list(dict.fromkeys(one.dataset for one in result.values))
    maps = [{"name": "", **_rank_map(result.rank_table(), everywhere, names)}]
    largest = 2 * len(maps[0]["detectors"]) * len(names)
    kept = sampled(datasets, max(int(ROOM / _BYTES_PER_NUMBER / largest), 1))
    known = set(entropies.index.get_level_values("dataset"))
    for dataset in kept:
        own = entropies.loc[dataset] if dataset in known else everywhere.iloc[:0]
        maps.append({"name": dataset, **_rank_map(result.rank_table(dataset), own, names)})
    return {
        **measures_data(result.measures),
        "entropies": _numbers(averages["entropy"]),
        "by_family": {family: plain(mean) for family, mean in result.by_family().items()},
        "datasets": table_data(result.by_dataset().reset_index()),
        "maps": maps,
        "small": list(result.small_datasets),
        "undefined": int(result.undefined().sum()),
        "note": _sample_note(len(kept), len(datasets), "data sets"),
        "failures": _failures(result.failures),
    }


def _rank_map(ranks: pd.DataFrame, entropies: pd.DataFrame, names: list[str]) -> dict[str, Any]:
    ranks = ranks.reindex(columns=names)
    return {
        "detectors": list(map(str, ranks.index)),
        "ranks": encoded(ranks.to_numpy(float)),
        "entropies": encoded(entropies.reindex(index=ranks.index, columns=names).to_numpy(float)),
    }


def scenarios_data(result: ScenarioResult) -> dict[str, Any]:
    """Every scenario, the way in between, and the first touch."""
    return {
        **measures_data(result.measures),
        "scenarios": [
            {"name": one.name, "title": one.title, "start": one.start, "stop": one.stop}
            for one in result.scenarios
        ],
        "values": [_numbers(row) for row in result.values],
        "positions": result.positions.tolist(),
        "sweep": [_numbers(row) for row in result.sweep],
        "touch": table_data(result.at_first_touch().reset_index()),
        "n_points": result.n_points,
        "length": result.length,
        "buffer": result.buffer,
        "touching": TOUCHING,
        "exact": EXACT,
        "undefined": sum(result.undefined().values()),
    }


def summary_data(summary: Summary) -> dict[str, Any]:
    """Ranks, the numbers behind them, and the scatter."""
    return {
        **measures_data(summary.measures),
        "ranks": table_data(summary.ranks.reset_index()),
        "scores": table_data(summary.scores.reset_index()),
        "scatter": table_data(summary.scatter().reset_index()),
    }

"""Statements of the paper about execution time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vuskit.paper.exhibits import NotPossibleError
from vuskit.paper.findings import Checked, Scope, statement
from vuskit.paper.material import Material
from vuskit.paper.timing_exhibits import speed_on_longest
from vuskit.paper.words import number
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.tables import joint_slopes, rows_of_sweep, single_slopes

__all__: list[str] = []

_VUS = ("naive", "opt", "opt_mem")
_AREAS = ("auc", "r_auc")
_LONG_SERIES = 50_000
_LINEAR = 0.9  # R^2
_SAME = 1.5  # largest time divided by the smallest, of times that hardly differ
_TEN_TIMES = (5.0, 20.0)
_TWICE = (1.5, 3.0)
_MAGNITUDE = 10.0
_FEWEST = 3  # values of a parameter


def _title(name: str) -> str:
    return CONTESTANTS[name].title


def _sweep(material: Material, parameter: str) -> Any:
    """Return median seconds by value of a parameter (rows) and algorithm (columns)."""
    cells = rows_of_sweep(material.timing.summary(), parameter)
    return cells.pivot_table(index=parameter, columns="contestant", values="median")


def _slopes(material: Material, parameter: str) -> dict[str, Any]:
    """Return the fitted line of each algorithm that was measured at three values."""
    fits = single_slopes(material.timing)
    return {str(row.contestant): row for row in fits[fits["parameter"] == parameter].itertuples()}


def _linear(fits: dict[str, Any], names: Iterable[str]) -> dict[str, bool | None]:
    return {
        f"{_title(name)} is linear": bool(fits[name].r_squared >= _LINEAR) if name in fits else None
        for name in names
    }


def _flatter(fits: dict[str, Any], first: str, second: str) -> bool | None:
    """Whether the time of the first grows less; None if one of the two was not measured."""
    if first not in fits or second not in fits:
        return None
    return bool(fits[first].slope < fits[second].slope)


def _said(fits: dict[str, Any], names: Iterable[str] = _VUS) -> str:
    known = [name for name in names if name in fits]
    text = ", ".join(
        f"{_title(name)} {number(fits[name].slope, 3)} (R² {number(fits[name].r_squared)})"
        for name in known
    )
    return f"slopes in ms: {text}" if text else "no algorithm was timed at three values"


def _growth(times: Any, names: Iterable[str]) -> dict[str, float]:
    """Return the largest time divided by the smallest, for algorithms timed at three values."""
    found = {}
    for name in names:
        if name in times and times[name].count() >= _FEWEST:
            found[name] = float(times[name].max() / times[name].min())
    return found


def _constant(growth: dict[str, float], names: Iterable[str]) -> dict[str, bool | None]:
    return {
        f"{_title(name)} hardly changes": growth[name] <= _SAME if name in growth else None
        for name in names
    }


def _growth_text(growth: dict[str, float]) -> str:
    text = ", ".join(f"{_title(name)} {number(value)}" for name, value in growth.items())
    return f"largest time divided by the smallest: {text}" if text else "too few values"


@statement(
    21,
    "The time of VUS, VUS opt and VUS opt mem grows linearly with the number of anomalies; VUS opt "
    "depends most on it.",
    place="Sec. 5.7.1, Fig. 17(a) and Table 5",
    criterion=f"R² of the line at least {_LINEAR:g}; slope of VUS opt above the two others",
    needs=["timing"],
    exhibit="fig-17",
)
def _by_anomalies(material: Material) -> Checked:
    fits = _slopes(material, "n_anomalies")
    parts = _linear(fits, _VUS)
    parts["VUS opt steeper than VUS"] = _flatter(fits, "naive", "opt")
    parts["VUS opt steeper than VUS opt mem"] = _flatter(fits, "opt_mem", "opt")
    return Checked(_said(fits), parts, Scope(1))


@statement(
    22,
    "The mean length of the anomalies hardly changes the time.",
    place="Sec. 5.7.1, Fig. 17(b)",
    criterion=f"largest time at most {_SAME:g} times the smallest, for each algorithm",
    needs=["timing"],
    exhibit="fig-17",
)
def _by_length_of_anomalies(material: Material) -> Checked:
    growth = _growth(_sweep(material, "mean_length"), _VUS)
    return Checked(_growth_text(growth), _constant(growth, _VUS), Scope(1))


@statement(
    23,
    "The standard deviation of the anomaly lengths does not change the time of any measure.",
    place="Sec. 5.7.1, Fig. 17(d)",
    criterion=f"largest time at most {_SAME:g} times the smallest, for each algorithm",
    needs=["timing"],
    exhibit="fig-17",
)
def _by_spread_of_lengths(material: Material) -> Checked:
    names = (*_AREAS, *_VUS)
    growth = _growth(_sweep(material, "std_length"), names)
    return Checked(_growth_text(growth), _constant(growth, names), Scope(1))


@statement(
    24,
    "On short series the three algorithms take similar time; as the series grows, VUS opt and VUS "
    "opt mem depend less on its length.",
    place="Sec. 5.7.1, Fig. 17(c) and Table 5",
    criterion="times on the shortest series within a factor of 2; slopes below that of VUS",
    needs=["timing"],
    exhibit="fig-17",
)
def _by_points(material: Material) -> Checked:
    times, fits = _sweep(material, "n_points"), _slopes(material, "n_points")
    known = times[list(_VUS)].dropna() if set(_VUS) <= set(times.columns) else times.iloc[:0]
    parts: dict[str, bool | None] = {"similar on short series": None}
    text = _said(fits)
    if len(known):
        shortest = known.iloc[0]
        ratio = float(shortest.max() / shortest.min())
        parts["similar on short series"] = ratio <= 2
        text += f"; factor on {int(known.index[0]):,} points {number(ratio)}"
    parts |= {f"{_title(name)} flatter": _flatter(fits, name, "naive") for name in _VUS[1:]}
    return Checked(text, parts, Scope(1))


@statement(
    25,
    "The time of the three algorithms is linear in the number of thresholds, that of AUC and R-AUC "
    "almost constant.",
    place="Sec. 5.7.1, Fig. 17(e) and Table 5",
    criterion=(
        f"R² of the line at least {_LINEAR:g}; largest time of AUC and R-AUC at most {_SAME:g} "
        "times the smallest; slopes of VUS opt and VUS opt mem below that of VUS"
    ),
    needs=["timing"],
    exhibit="fig-17",
)
def _by_thresholds(material: Material) -> Checked:
    fits = _slopes(material, "n_thresholds")
    growth = _growth(_sweep(material, "n_thresholds"), _AREAS)
    parts = _linear(fits, _VUS) | _constant(growth, _AREAS)
    parts |= {f"{_title(name)} flatter": _flatter(fits, name, "naive") for name in _VUS[1:]}
    return Checked(f"{_said(fits)}; {_growth_text(growth)}", parts, Scope(1))


@statement(
    26,
    "As the longest buffer grows, the time of VUS opt grows slower than that of VUS, and that of "
    "VUS opt mem slowest.",
    place="Sec. 5.7.1, Fig. 17(f) and Table 5",
    criterion="slope of VUS opt below VUS, of VUS opt mem below VUS opt",
    needs=["timing"],
    exhibit="fig-17",
)
def _by_buffer(material: Material) -> Checked:
    fits = _slopes(material, "max_buffer")
    parts = {
        "VUS opt flatter than VUS": _flatter(fits, "opt", "naive"),
        "VUS opt mem flatter than VUS opt": _flatter(fits, "opt_mem", "opt"),
    }
    return Checked(_said(fits), parts, Scope(1))


def _speed(material: Material) -> tuple[int, float, float]:
    longest, seconds = speed_on_longest(material.timing)
    if longest < _LONG_SERIES:
        raise NotPossibleError(f"VUS was measured on at most {longest:,} points; raise the budget")
    return longest, seconds["naive"] / seconds["opt"], seconds["naive"] / seconds["opt_mem"]


def _speed_text(longest: int, opt: float, mem: float) -> str:
    return (
        f"on {longest:,} points, VUS opt is {number(opt, 1)} and VUS opt mem {number(mem, 1)} "
        "times as fast as VUS"
    )


@statement(
    27,
    "The optimized implementations are up to ten times as fast as VUS on long series.",
    place="Introduction",
    criterion=(
        f"the faster of the two is {_TEN_TIMES[0]:g} to {_TEN_TIMES[1]:g} times as fast on the "
        "longest series"
    ),
    needs=["timing"],
    exhibit="fig-17",
)
def _ten_times(material: Material) -> Checked:
    longest, opt, mem = _speed(material)
    low, high = _TEN_TIMES
    parts = {"up to ten times": low <= max(opt, mem) <= high}
    return Checked(_speed_text(longest, opt, mem), parts, Scope(1))


@statement(
    28,
    "The optimized version accelerates VUS by a factor of two.",
    place="Sec. 5.8",
    criterion=f"VUS opt is {_TWICE[0]:g} to {_TWICE[1]:g} times as fast on the longest series",
    needs=["timing"],
    exhibit="fig-17",
)
def _factor_of_two(material: Material) -> Checked:
    longest, opt, mem = _speed(material)
    low, high = _TWICE
    return Checked(_speed_text(longest, opt, mem), {"factor of two": low <= opt <= high}, Scope(1))


@statement(
    29,
    "AUC and R-AUC are significantly faster than VUS; VUS opt and VUS opt mem are in the same "
    "order of magnitude as R-AUC.",
    place="Sec. 5.7",
    criterion=(
        "default parameters: time of AUC and R-AUC below all algorithms of VUS; VUS opt and VUS "
        f"opt mem at most {_MAGNITUDE:g} times R-AUC"
    ),
    needs=["timing"],
    exhibit="fig-17",
)
def _against_areas(material: Material) -> Checked:
    times = _sweep(material, "n_points")
    wanted = (*_AREAS, *_VUS)
    if not set(wanted) <= set(times.columns) or times[list(wanted)].dropna().empty:
        raise NotPossibleError("not all algorithms were timed on one length; raise the budget")
    longest = times[list(wanted)].dropna().iloc[-1]
    fastest = float(longest[list(_VUS)].min())
    ratios = {name: float(longest[name] / longest["r_auc"]) for name in _VUS}
    parts: dict[str, bool | None] = {
        f"{_title(name)} faster": bool(longest[name] < fastest) for name in _AREAS
    }
    parts |= {f"{_title(name)} near R-AUC": ratios[name] <= _MAGNITUDE for name in _VUS[1:]}
    said = ", ".join(f"{_title(name)} {number(value, 1)}" for name, value in ratios.items())
    return Checked(f"time divided by that of R-AUC: {said}", parts, Scope(1))


@statement(
    30,
    "On real series, VUS opt and VUS opt mem depend more on the number of anomalies than VUS, less "
    "on the length, and none depends on the anomaly length.",
    place="Sec. 5.7.2, Fig. 18 and Table 6",
    criterion=(
        "coefficients of the joint regression: anomalies above VUS, length below; anomaly length "
        "below a tenth of the length, per point"
    ),
    needs=["timing_series"],
    exhibit="fig-18",
)
def _on_real_series(material: Material) -> Checked:
    frame = joint_slopes(material.timing_series)
    found = {str(row.contestant): row for row in frame.itertuples()}
    parts: dict[str, bool | None] = {}
    for name in _VUS[1:]:
        known = name in found and "naive" in found
        parts[f"{_title(name)}, anomalies"] = (
            bool(found[name].n_anomalies > found["naive"].n_anomalies) if known else None
        )
        parts[f"{_title(name)}, length"] = (
            bool(found[name].n_points < found["naive"].n_points) if known else None
        )
    for name in _VUS:
        parts[f"{_title(name)}, anomaly length"] = (
            bool(abs(found[name].mean_length) < 0.1 * abs(found[name].n_points))
            if name in found
            else None
        )
    said = "; ".join(
        f"{_title(name)} {number(found[name].n_anomalies, 3)}, {number(found[name].n_points, 3)}, "
        f"{number(found[name].mean_length, 3)}"
        for name in _VUS
        if name in found
    )
    series = material.timing_series.summary()["series"]
    datasets = [str(name).partition("/")[0] for name in series.unique()]
    scope = Scope(len(datasets), len(set(datasets)), material.real, 5)
    return Checked(
        f"ms per anomaly, point and point of an anomaly: {said or 'too few series'}", parts, scope
    )

"""Tables of the execution-time study: slopes, exponents and speed ratios, next to the paper's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from vuskit._util.optional import pd, require
from vuskit.studies.timing.cases import PARAMETERS, Setting
from vuskit.studies.timing.contestants import CONTESTANTS

if TYPE_CHECKING:
    from vuskit.studies.timing.results import TimingResult

PAPER_SINGLE: dict[tuple[str, str], tuple[float, float]] = {
    (contestant, parameter): pair
    for contestant, pairs in {
        "naive": ((21.9, 0.99), (0.02, 0.15), (2.13, 0.99), (212.0, 0.99), (6.24, 0.99)),
        "opt": ((24.2, 0.99), (0.06, 0.86), (0.19, 0.99), (27.8, 0.99), (1.23, 0.99)),
        "opt_mem": ((21.5, 0.99), (0.05, 0.89), (0.21, 0.99), (15.7, 0.99), (1.16, 0.99)),
    }.items()
    for parameter, pair in zip(
        ("n_anomalies", "mean_length", "n_points", "max_buffer", "n_thresholds"),
        pairs,
        strict=True,
    )
}
"""The paper's slope and R^2 for each parameter alone; the paper does not state the units."""

PAPER_JOINT: dict[str, tuple[dict[str, float], float]] = {
    "naive": ({"n_anomalies": 7.87, "n_points": 13.5, "mean_length": -0.08}, 0.99),
    "opt": ({"n_anomalies": 10.2, "n_points": 1.70, "mean_length": 0.09}, 0.96),
    "opt_mem": ({"n_anomalies": 9.27, "n_points": 1.60, "mean_length": 0.11}, 0.96),
}
"""The paper's slopes of the joint fit to three properties of a series, and its R^2."""

PAPER_RANGES: dict[str, tuple[float, float, float]] = {
    "n_anomalies": (10, 0, 2000),
    "mean_length": (10, 0, 1000),
    "std_length": (0, 0, 10),
    "n_points": (100_000, 1000, 100_000),
    "max_buffer": (5, 0, 1000),
    "n_thresholds": (250, 2, 1000),
}
"""The paper's default, lowest and highest value of each parameter."""

_QUANTITIES = {"time": "median", "space": "peak_bytes"}
_REFERENCE = "naive"
_SLOW, _FAST = ("naive", "opt", "opt_mem"), ("fast_grid", "fast_exact")
_JOINT = ("n_anomalies", "n_points", "mean_length")
# Symbols in the complexities; none depends on the standard deviation of the lengths.
_SYMBOLS = {
    "n_points": "T",
    "n_anomalies": "a",
    "mean_length": "l",
    "max_buffer": "L",
    "n_thresholds": "N",
}
_SLOPE_COLUMNS = (
    "contestant", "parameter", "slope", "r_squared", "to_naive",
    "paper_slope", "paper_r_squared", "paper_to_naive",
)  # fmt: skip
_JOINT_COLUMNS = (
    "contestant", *_JOINT, "r_squared", *(f"paper_{name}" for name in _JOINT), "paper_r_squared",
)  # fmt: skip
_EXPONENT_COLUMNS = ("contestant", "parameter", "quantity", "exponent", "r_squared", "values")
_RATIO_COLUMNS = ("slow", "fast", "cells", "smallest", "median", "largest")


def _frame(rows: list[Any], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns))


def rows_of_sweep(
    summary: pd.DataFrame, parameter: str, *, base: Setting | None = None
) -> pd.DataFrame:
    """Return the cells in which only one parameter differs from the default, sorted by it."""
    for name, value in asdict(base or Setting()).items():
        if name != parameter:
            summary = summary[summary[name] == value]
    return summary.sort_values(parameter)


def single_slopes(result: TimingResult, *, base: Setting | None = None) -> pd.DataFrame:
    """Fit a line to the medians of each parameter's sweep, for each contestant.

    The slope is in milliseconds per unit of the parameter. ``to_naive`` is the slope divided by
    that of naive, which has no unit and can be compared with the paper; NaN if the slope of naive
    is not positive or its R^2 is below 0.5. Sweeps with fewer than three values are skipped.
    """
    stats = require("scipy.stats", purpose="single_slopes()")
    summary = result.summary()
    fits: dict[tuple[str, str], Any] = {}
    for parameter in PARAMETERS:
        for contestant, cells in rows_of_sweep(summary, parameter, base=base).groupby("contestant"):
            if cells[parameter].nunique() >= 3:
                fits[contestant, parameter] = stats.linregress(
                    cells[parameter], 1000 * cells["median"]
                )
    nothing = (np.nan, np.nan)
    rows = []
    for contestant in CONTESTANTS:
        for parameter in PARAMETERS:
            if (fit := fits.get((contestant, parameter))) is None:
                continue
            naive = fits.get((_REFERENCE, parameter))
            paper = PAPER_SINGLE.get((contestant, parameter), nothing)
            paper_naive, _ = PAPER_SINGLE.get((_REFERENCE, parameter), nothing)
            here = float(fit.slope), float(fit.rvalue**2), _ratio_to(naive, fit)
            rows.append((contestant, parameter, *here, *paper, paper[0] / paper_naive))
    return _frame(rows, _SLOPE_COLUMNS)


def _ratio_to(naive: Any, fit: Any) -> float:
    if naive is None or naive.slope <= 0 or naive.rvalue**2 < 0.5:
        return float("nan")
    return float(fit.slope / naive.slope)


def exponents(result: TimingResult, *, base: Setting | None = None) -> pd.DataFrame:
    """Fit a power of each parameter to time and memory of each contestant.

    The exponent is the slope of the least-squares line through the logarithms; ``values`` is the
    number of fitted values of the parameter. Sweeps with fewer than three values above 0 are
    skipped. Costs that do not depend on the parameter reduce the exponent. For an exponent near 0,
    R^2 is not meaningful.
    """
    stats = require("scipy.stats", purpose="exponents()")
    summary = result.summary()
    sweeps = {name: rows_of_sweep(summary, name, base=base) for name in PARAMETERS}
    rows = []
    for contestant in CONTESTANTS:
        for quantity, column in _QUANTITIES.items():
            for parameter, cells in sweeps.items():
                own = cells[(cells["contestant"] == contestant) & (cells[parameter] > 0)]
                if own[parameter].nunique() >= 3:
                    line = stats.linregress(np.log(own[parameter]), np.log(own[column]))
                    fit = float(line.slope), float(line.rvalue**2), len(own)
                    rows.append((contestant, parameter, quantity, *fit))
    return _frame(rows, _EXPONENT_COLUMNS)


def complexity_table(result: TimingResult, *, base: Setting | None = None) -> pd.DataFrame:
    """Return a readable table of complexity and fitted exponents of the algorithms for VUS.

    Two rows for each algorithm, time and space: the complexity, then for each parameter the fitted
    exponent with its R^2 in parentheses. Cells with too few measured values are empty.
    """
    found = {
        (row.contestant, row.quantity, row.parameter): _in_words(row.exponent, row.r_squared)
        for row in exponents(result, base=base).itertuples()
    }
    measured = {sample.contestant for sample in result.samples}
    rows = [
        (
            f"{contestant.title}, {quantity}",
            getattr(contestant, quantity),
            *(found.get((contestant.name, quantity, name), "") for name in _SYMBOLS),
        )
        for contestant in CONTESTANTS.values()
        if contestant.time and contestant.name in measured
        for quantity in _QUANTITIES
    ]
    return _frame(rows, ["algorithm", "complexity", *_SYMBOLS.values()])


def _in_words(exponent: float, r_squared: float) -> str:
    """Return the exponent with its R^2, which is undefined for a constant."""
    text = f"{exponent:.2f}".replace("-0.00", "0.00")
    return text if np.isnan(r_squared) else f"{text} ({r_squared:.2f})"


def parameter_table(result: TimingResult) -> pd.DataFrame:
    """Return default, lowest and highest value of each parameter, next to those of the paper.

    For real series the table has the median instead of the default.
    """
    settings = list(dict.fromkeys(sample.setting for sample in result.samples))
    rows = []
    for name, parameter in PARAMETERS.items():
        values = [float(getattr(setting, name)) for setting in settings]
        middle = getattr(Setting(), name) if result.generated else float(np.median(values))
        ends = min(values, default=np.nan), max(values, default=np.nan)
        rows.append((parameter.title, middle, *ends, *PAPER_RANGES[name]))
    middle_name = "default" if result.generated else "median"
    paper = ("paper_default", "paper_lowest", "paper_highest")
    return _frame(rows, ["parameter", middle_name, "lowest", "highest", *paper])


def joint_slopes(result: TimingResult) -> pd.DataFrame:
    """Fit the medians by number of anomalies, length of the series and anomaly length together.

    Slopes are in milliseconds per unit. Only cells with the most frequent buffer and number of
    thresholds are used, so that the time depends only on the three properties. Contestants need
    more cells than coefficients.
    """
    summary = result.summary()
    for name in ("max_buffer", "n_thresholds"):
        summary = summary[summary[name] == summary[name].mode()[0]]
    rows = []
    for contestant in CONTESTANTS:
        cells = summary[summary["contestant"] == contestant]
        if len(cells) > len(_JOINT) + 1:
            slopes, r_squared = _fit(cells[list(_JOINT)].to_numpy(float), cells["median"])
            paper, paper_r_squared = PAPER_JOINT.get(contestant, ({}, np.nan))
            papers = [paper.get(name, np.nan) for name in _JOINT]
            rows.append((contestant, *slopes, r_squared, *papers, paper_r_squared))
    return _frame(rows, _JOINT_COLUMNS)


def _fit(properties: Any, seconds: Any) -> tuple[list[float], float]:
    """Return the slopes in milliseconds, and R^2."""
    milliseconds = 1000 * np.asarray(seconds, dtype=float)
    design = np.column_stack([properties, np.ones(len(properties))])
    solution, *_ = np.linalg.lstsq(design, milliseconds)
    residual = milliseconds - design @ solution
    spread = milliseconds - milliseconds.mean()
    return solution[:-1].tolist(), float(1 - residual @ residual / (spread @ spread))


def speed_ratios(result: TimingResult) -> pd.DataFrame:
    """Divide the medians of the paper's algorithms by those of vuskit, over all common cells."""
    summary = result.summary()
    keys = ["series", *PARAMETERS]
    medians = summary.pivot_table(index=keys, columns="contestant", values="median")
    rows = []
    for slow, fast in itertools.product(_SLOW, _FAST):
        if slow in medians and fast in medians:
            ratios = (medians[slow] / medians[fast]).dropna()
            if len(ratios):
                spread = float(ratios.min()), float(ratios.median()), float(ratios.max())
                rows.append((slow, fast, len(ratios), *spread))
    return _frame(rows, _RATIO_COLUMNS)


def ratio_table(result: TimingResult) -> pd.DataFrame:
    """Return a readable table of how many times longer the paper's algorithms take."""
    frame = speed_ratios(result)
    titles = {name: contestant.title for name, contestant in CONTESTANTS.items()}
    frame["slow"], frame["fast"] = frame["slow"].map(titles), frame["fast"].map(titles)
    return frame.rename(columns={"slow": "algorithm", "fast": "against"})

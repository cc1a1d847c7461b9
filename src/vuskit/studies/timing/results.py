"""Result of the execution-time study, and its tables: slopes, exponents and speed ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice
from vuskit.report.figures import Display, TimingPanel, TimingSeriesDisplay, TimingSweepDisplay
from vuskit.studies.result import Failure, StudyResult
from vuskit.studies.timing.cases import PARAMETERS, Case, Setting, is_generated
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.storage import Sample

if TYPE_CHECKING:
    import pandas as pd

    from vuskit.studies.timing.study import Job

__all__ = [
    "PAPER_JOINT",
    "PAPER_RANGES",
    "PAPER_SINGLE",
    "Exponent",
    "JointSlopes",
    "Ratio",
    "Slope",
    "Table",
    "TimingResult",
    "complexity_table",
    "exponents",
    "joint_slopes",
    "parameter_table",
    "ratio_table",
    "rows_of_sweep",
    "single_slopes",
    "speed_ratios",
]

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

# Quantity that figures show as seconds, and the meaning of the shade around it.
_AVERAGES = {
    "median": ("seconds", "from the lower to the upper quartile"),
    "mean": ("mean_seconds", "one standard deviation to either side"),
}
_QUANTITIES = {"time": "median", "space": "peak_bytes"}
_REFERENCE = "naive"
_PROPERTIES = ("n_anomalies", "mean_length", "n_points")


@dataclass(frozen=True)
class TimingResult(StudyResult):
    """Samples of the execution-time study.

    Attributes
    ----------
    samples : tuple of Sample
        Every timed run.
    dropped : tuple of Job
        Jobs that were dropped to keep the budget.
    environment : dict
        Versions, core and machine.
    average : {"median", "mean"}
        Average in figures: median with quartiles, or mean with standard deviation as in the paper.
    failures : tuple of Failure
        Jobs that failed, with the reason.
    """

    samples: tuple[Sample, ...]
    dropped: tuple[Job, ...]
    environment: dict[str, Any]
    average: str = "median"

    @property
    def generated(self) -> bool:
        """Whether all series are generated."""
        return all(is_generated(sample.series) for sample in self.samples)

    def to_frame(self) -> pd.DataFrame:
        """One row for each timed run.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="to_frame()")
        frame: pd.DataFrame = pandas.DataFrame([sample.as_row() for sample in self.samples])
        return frame

    def summary(self) -> pd.DataFrame:
        """One row for each cell: number of runs, statistics of their seconds, peak memory.

        The statistics are median, quartiles, extremes, mean and standard deviation.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        frame = self.to_frame()
        keys = [name for name in frame.columns if name not in ("seconds", "peak_bytes")]
        cells = frame.groupby(keys, sort=False)
        seconds = cells["seconds"]
        table: pd.DataFrame = cells["peak_bytes"].max().to_frame()
        table.insert(0, "runs", seconds.size())
        statistics = {
            "median": seconds.median(),
            "lower_quartile": seconds.quantile(0.25),
            "upper_quartile": seconds.quantile(0.75),
            "fastest": seconds.min(),
            "slowest": seconds.max(),
            "mean": seconds.mean(),
            "standard_deviation": seconds.std(ddof=0),
        }
        for position, (name, values) in enumerate(statistics.items(), start=1):
            table.insert(position, name, values)
        return table.reset_index()

    def tables(self) -> dict[str, pd.DataFrame]:
        """Timed runs, cells, ratios, slopes, exponents, dropped jobs, and the machine."""
        pandas = require("pandas", purpose="tables")
        tables = {
            "samples": self.to_frame(),
            "summary": self.summary(),
            "parameters": parameter_table(self),
            "ratios": speed_ratios(self).to_frame(),
            "joint_slopes": joint_slopes(self).to_frame(),
        }
        if self.generated:
            tables["slopes"] = single_slopes(self).to_frame()
            tables["exponents"] = exponents(self).to_frame()
            tables["complexity"] = complexity_table(self)
        if self.dropped:
            tables["dropped"] = pandas.DataFrame({"job": [job.title for job in self.dropped]})
        tables["environment"] = pandas.DataFrame(
            _environment_rows(self.environment), columns=["name", "value"]
        )
        return tables

    def figures(
        self, *, base: Setting | None = None, average: str | None = None
    ) -> dict[str, Display]:
        """Seconds and peak memory against the properties of the series.

        Parameters
        ----------
        base : Setting, optional
            Defaults of a study of generated series. Default: those of the paper.
        average : {"median", "mean"}, optional
            Median with quartiles, or mean with standard deviation. Default: as in the result.

        Raises
        ------
        InvalidInputError
            If nothing was measured.
        """
        if not self.samples:
            raise InvalidInputError("`samples` must hold at least one sample, got none")
        average = check_choice("average", average or self.average, _AVERAGES)
        summary = self.summary()
        # The axis is logarithmic, so the shade must not reach 0.
        below = (summary["mean"] - summary["standard_deviation"]).clip(lower=summary["fastest"])
        above = summary["mean"] + summary["standard_deviation"]
        summary = summary.assign(below_mean=below, above_mean=above)
        titles = {name: contestant.title for name, contestant in CONTESTANTS.items()}
        panels = [
            TimingPanel(one.name, one.title, one.symbol, scale, cells)
            for one, scale, cells in (
                (
                    (one, one.scale, rows_of_sweep(summary, one.name, base=base))
                    for one in PARAMETERS.values()
                )
                if self.generated
                else ((PARAMETERS[name], "log", summary) for name in _PROPERTIES)
            )
        ]
        display = TimingSweepDisplay if self.generated else TimingSeriesDisplay
        quantity, shade = _AVERAGES[average]
        fewest, most = summary["runs"].min(), summary["runs"].max()
        runs = f"{fewest:,} runs" if fewest == most else f"{fewest:,} to {most:,} runs"
        caption = (
            f"{average.capitalize()} of {runs}. Shade: {shade}."
            if self.generated
            else f"Dot: {average} of {runs} on one series. Lines join the medians of similar "
            "series; shade: quartiles."
        )
        memory = "Peak memory that one run allocates."
        return {
            "seconds": display(panels, titles, quantity, title="Time", caption=caption),
            "memory": display(panels, titles, "memory", title="Peak memory", caption=memory),
        }

    def notes(self) -> tuple[str, ...]:
        """Return the number of dropped jobs."""
        count = len(self.dropped)
        return (f"jobs dropped to keep the budget: {count:,}",) if count else ()

    def overview(self) -> pd.DataFrame:
        """Statistics of each cell."""
        return self.summary()

    def about(self) -> str:
        """Describe the study in a sentence."""
        kind = "generated" if self.generated else "real"
        clocks = " and ".join(sorted({sample.clock for sample in self.samples}))
        cells = len({sample.key for sample in self.samples})
        return (
            f"Execution time and memory on {kind} series: {cells:,} cells, "
            f"{len(self.samples):,} timed runs, {clocks} time."
        )

    def to_saved(self) -> dict[str, Any]:
        """Return timed runs, dropped jobs and environment as plain data."""
        cells = list(dict.fromkeys(sample.key for sample in self.samples))
        place = {key: number for number, key in enumerate(cells)}
        return {
            "cells": [_cell_parts(*key) for key in cells],
            "dropped": [_cell_parts(*job.key) for job in self.dropped],
            "environment": self.environment,
            "failures": [asdict(failure) for failure in self.failures],
            "cell": np.array([place[sample.key] for sample in self.samples], dtype=np.int64),
            "seconds": np.array([sample.seconds for sample in self.samples], dtype=np.float64),
            "peak_bytes": np.array([sample.peak_bytes for sample in self.samples], dtype=np.int64),
        }

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> TimingResult:
        """Restore a result from `to_saved`; the series of dropped jobs cannot be loaded."""
        from vuskit.studies.timing.study import Job

        cells = [
            (series, contestant, _setting(numbers), clock)
            for series, contestant, numbers, clock in saved["cells"]
        ]
        columns = (saved[name].tolist() for name in ("cell", "seconds", "peak_bytes"))
        samples = []
        for cell, seconds, peak in zip(*columns, strict=True):
            series, contestant, setting, clock = cells[cell]
            samples.append(Sample(series, contestant, setting, seconds, peak, clock))
        dropped = tuple(
            Job(
                Case(series, _setting(numbers), partial(_cannot_load, series)),
                CONTESTANTS[contestant],
                clock,
            )
            for series, contestant, numbers, clock in saved["dropped"]
        )
        failures = tuple(Failure(**failure) for failure in saved.get("failures", ()))
        environment = saved["environment"]
        core = environment.get("core", "")
        return cls(tuple(samples), dropped, environment, failures=failures, core=core)


def _environment_rows(environment: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, value in environment.items():
        listed = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name} {part}".strip(), str(text)] for part, text in listed]
    return rows


_SETTING_FIELDS = tuple(entry.name for entry in fields(Setting))


def _cell_parts(series: str, contestant: str, setting: Setting, clock: str) -> list[Any]:
    return [series, contestant, [getattr(setting, name) for name in _SETTING_FIELDS], clock]


def _setting(numbers: list[Any]) -> Setting:
    return Setting(**dict(zip(_SETTING_FIELDS, numbers, strict=True)))


def _cannot_load(series: str) -> Any:
    raise InvalidInputError(
        f"`case` must hold its series to be measured, got {series!r} from a saved result; create "
        "the cases again"
    )


@dataclass(frozen=True)
class Slope:
    """Linear fit of the time to one parameter; all others have their defaults.

    Attributes
    ----------
    contestant, parameter : str
        Keys of `CONTESTANTS` and `PARAMETERS`.
    slope, r_squared : float
        Milliseconds per unit of the parameter, and R^2 of the line.
    to_naive : float
        Slope divided by the slope of naive, which has no unit and can be compared with the paper.
        NaN if the slope of naive is not positive, or its R^2 is below 0.5.
    paper_slope, paper_r_squared, paper_to_naive : float
        Values of the paper; NaN if it reports none.
    """

    contestant: str
    parameter: str
    slope: float
    r_squared: float
    to_naive: float
    paper_slope: float
    paper_r_squared: float
    paper_to_naive: float


@dataclass(frozen=True)
class JointSlopes:
    """Linear fit of the time to three properties of the series together.

    Attributes
    ----------
    contestant : str
        A key of `CONTESTANTS`.
    n_anomalies, n_points, mean_length : float
        Milliseconds per unit of the property.
    r_squared : float
        Share of the variance that the fit explains.
    paper_n_anomalies, paper_n_points, paper_mean_length, paper_r_squared : float
        Values of the paper; NaN if it reports none.
    """

    contestant: str
    n_anomalies: float
    n_points: float
    mean_length: float
    r_squared: float
    paper_n_anomalies: float
    paper_n_points: float
    paper_mean_length: float
    paper_r_squared: float


@dataclass(frozen=True)
class Exponent:
    """Growth of time or memory with one parameter; all others have their defaults.

    Attributes
    ----------
    contestant, parameter : str
        Keys of `CONTESTANTS` and `PARAMETERS`.
    quantity : str
        ``"time"`` (the median seconds) or ``"space"`` (the peak memory).
    exponent, r_squared : float
        Slope and R^2 of a line fitted to the logarithms. Costs that do not depend on the parameter
        reduce the exponent. For an exponent near 0, R^2 is not meaningful.
    values : int
        Number of fitted values of the parameter; 0 has no logarithm and is excluded.
    """

    contestant: str
    parameter: str
    quantity: str
    exponent: float
    r_squared: float
    values: int


@dataclass(frozen=True)
class Ratio:
    """Ratio of the times of two contestants over all common cells."""

    slow: str
    fast: str
    cells: int
    smallest: float
    median: float
    largest: float


Row = TypeVar("Row", Slope, JointSlopes, Exponent, Ratio)


@dataclass(frozen=True)
class Table(Generic[Row]):
    """Rows of one kind."""

    kind: type[Row]
    rows: tuple[Row, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a table.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="to_frame()")
        columns = [entry.name for entry in fields(self.kind)]
        frame: pd.DataFrame = pandas.DataFrame(map(asdict, self.rows), columns=columns)
        return frame


def rows_of_sweep(
    summary: pd.DataFrame, parameter: str, *, base: Setting | None = None
) -> pd.DataFrame:
    """Return the cells in which only one parameter differs from the default.

    Parameters
    ----------
    summary : DataFrame
        From `TimingResult.summary`.
    parameter : str
        A key of `PARAMETERS`.
    base : Setting, optional
        The defaults. Default: those of the paper.

    Returns
    -------
    DataFrame
        Sorted by the parameter.

    Raises
    ------
    InvalidInputError
        If the parameter is unknown.
    """
    if parameter not in PARAMETERS:
        known = ", ".join(PARAMETERS)
        raise InvalidInputError(f"`parameter` must be one of {known}, got {parameter!r}")
    defaults = asdict(base or Setting())
    for name, value in defaults.items():
        if name != parameter:
            summary = summary[summary[name] == value]
    return summary.sort_values(parameter)


def single_slopes(result: TimingResult, *, base: Setting | None = None) -> Table[Slope]:
    """Fit a line to the medians of each parameter's sweep, for each contestant.

    Sweeps with fewer than three values are skipped.

    Parameters
    ----------
    result : TimingResult
        Result for generated series.
    base : Setting, optional
        Defaults of the study. Default: those of the paper.

    Returns
    -------
    Table of Slope
        In the order of the contestants and parameters.

    Raises
    ------
    MissingDependencyError
        If pandas or scipy is not installed.
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
    rows = [
        _slope(contestant, parameter, fits)
        for contestant in CONTESTANTS
        for parameter in PARAMETERS
        if (contestant, parameter) in fits
    ]
    return Table(Slope, tuple(rows))


def _slope(contestant: str, parameter: str, fits: dict[tuple[str, str], Any]) -> Slope:
    fit, naive = fits[contestant, parameter], fits.get((_REFERENCE, parameter))
    nothing = (np.nan, np.nan)
    paper_slope, paper_r_squared = PAPER_SINGLE.get((contestant, parameter), nothing)
    paper_naive, _ = PAPER_SINGLE.get((_REFERENCE, parameter), nothing)
    return Slope(
        contestant=contestant,
        parameter=parameter,
        slope=float(fit.slope),
        r_squared=float(fit.rvalue**2),
        to_naive=_ratio_to(naive, fit),
        paper_slope=paper_slope,
        paper_r_squared=paper_r_squared,
        paper_to_naive=paper_slope / paper_naive,
    )


def _ratio_to(naive: Any, fit: Any) -> float:
    if naive is None or naive.slope <= 0 or naive.rvalue**2 < 0.5:
        return float("nan")
    return float(fit.slope / naive.slope)


def exponents(result: TimingResult, *, base: Setting | None = None) -> Table[Exponent]:
    """Fit a power of each parameter to time and memory of each contestant.

    The exponent is the slope of the least-squares line through the logarithms. Sweeps with fewer
    than three values above 0 are skipped.

    Parameters
    ----------
    result : TimingResult
        Result for generated series.
    base : Setting, optional
        Defaults of the study. Default: those of the paper.

    Returns
    -------
    Table of Exponent
        In the order of the contestants, quantities and parameters.

    Raises
    ------
    MissingDependencyError
        If pandas or scipy is not installed.
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
                    rows.append(Exponent(contestant, parameter, quantity, *fit))
    return Table(Exponent, tuple(rows))


def complexity_table(result: TimingResult, *, base: Setting | None = None) -> pd.DataFrame:
    """Return a readable table of complexity and fitted exponents of the algorithms for VUS.

    Parameters
    ----------
    result : TimingResult
        Result for generated series.
    base : Setting, optional
        Defaults of the study. Default: those of the paper.

    Returns
    -------
    DataFrame
        Two rows for each algorithm, time and space: the complexity, then for each parameter the
        fitted exponent with its R^2 in parentheses. Cells with too few measured values are empty.
        T: length of the series; a, l: number and mean length of anomalies; L: longest buffer; N:
        thresholds; D: points that a buffer can reach.

    Raises
    ------
    MissingDependencyError
        If pandas or scipy is not installed.
    """
    pandas = require("pandas", purpose="complexity_table()")
    found = {
        (row.contestant, row.quantity, row.parameter): _in_words(row)
        for row in exponents(result, base=base).rows
    }
    measured = {sample.contestant for sample in result.samples}
    rows = []
    for contestant in CONTESTANTS.values():
        if not contestant.time or contestant.name not in measured:
            continue
        for quantity in _QUANTITIES:
            cells = {
                symbol: found.get((contestant.name, quantity, name), "")
                for name, symbol in _SYMBOLS.items()
            }
            theory = getattr(contestant, quantity)
            head = {"algorithm": f"{contestant.title}, {quantity}", "complexity": theory}
            rows.append({**head, **cells})
    columns = ["algorithm", "complexity", *_SYMBOLS.values()]
    frame: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
    return frame


def _in_words(row: Exponent) -> str:
    """Return the exponent with its R^2, which is undefined for a constant."""
    exponent = f"{row.exponent:.2f}".replace("-0.00", "0.00")
    return exponent if np.isnan(row.r_squared) else f"{exponent} ({row.r_squared:.2f})"


# Symbols in the complexities; none depends on the standard deviation of the lengths.
_SYMBOLS = {
    "n_points": "T",
    "n_anomalies": "a",
    "mean_length": "l",
    "max_buffer": "L",
    "n_thresholds": "N",
}


def parameter_table(result: TimingResult) -> pd.DataFrame:
    """Return the values of each parameter in a result, next to those of the paper.

    Parameters
    ----------
    result : TimingResult
        Any result; for real series the table has the median instead of the default.

    Returns
    -------
    DataFrame
        One row for each parameter: default (or median), lowest and highest value.

    Raises
    ------
    MissingDependencyError
        If pandas is not installed.
    """
    pandas = require("pandas", purpose="parameter_table()")
    settings = list(dict.fromkeys(sample.setting for sample in result.samples))
    defaults, rows = Setting(), []
    for name, parameter in PARAMETERS.items():
        values = [float(getattr(setting, name)) for setting in settings]
        middle = getattr(defaults, name) if result.generated else float(np.median(values))
        paper = dict(zip(("default", "lowest", "highest"), PAPER_RANGES[name], strict=True))
        rows.append(
            {
                "parameter": parameter.title,
                "default" if result.generated else "median": middle,
                "lowest": min(values, default=np.nan),
                "highest": max(values, default=np.nan),
                **{f"paper_{key}": value for key, value in paper.items()},
            }
        )
    frame: pd.DataFrame = pandas.DataFrame(rows)
    return frame


def joint_slopes(result: TimingResult) -> Table[JointSlopes]:
    """Fit the medians by number of anomalies, length of the series and anomaly length together.

    Parameters
    ----------
    result : TimingResult
        Any result. Only cells with the most frequent buffer and number of thresholds are used, so
        that the time depends only on the three properties.

    Returns
    -------
    Table of JointSlopes
        One for each contestant with more cells than coefficients.

    Raises
    ------
    MissingDependencyError
        If pandas is not installed.
    """
    summary = result.summary()
    for name in ("max_buffer", "n_thresholds"):
        summary = summary[summary[name] == summary[name].mode()[0]]
    rows = []
    for contestant in CONTESTANTS:
        cells = summary[summary["contestant"] == contestant]
        properties = ["n_anomalies", "n_points", "mean_length"]
        if len(cells) > len(properties) + 1:
            rows.append(_joint(contestant, cells[properties].to_numpy(float), cells["median"]))
    return Table(JointSlopes, tuple(rows))


def _joint(contestant: str, properties: Any, seconds: Any) -> JointSlopes:
    milliseconds = 1000 * np.asarray(seconds, dtype=float)
    design = np.column_stack([properties, np.ones(len(properties))])
    solution, *_ = np.linalg.lstsq(design, milliseconds)
    residual = milliseconds - design @ solution
    spread = milliseconds - milliseconds.mean()
    paper, paper_r_squared = PAPER_JOINT.get(contestant, ({}, np.nan))
    n_anomalies, n_points, mean_length, _ = map(float, solution)
    return JointSlopes(
        contestant=contestant,
        n_anomalies=n_anomalies,
        n_points=n_points,
        mean_length=mean_length,
        r_squared=float(1 - residual @ residual / (spread @ spread)),
        paper_n_anomalies=paper.get("n_anomalies", np.nan),
        paper_n_points=paper.get("n_points", np.nan),
        paper_mean_length=paper.get("mean_length", np.nan),
        paper_r_squared=paper_r_squared,
    )


def speed_ratios(
    result: TimingResult,
    *,
    slow: Sequence[str] = ("naive", "opt", "opt_mem"),
    fast: Sequence[str] = ("fast_grid", "fast_exact"),
) -> Table[Ratio]:
    """Compare the medians cell by cell: smallest, median and largest ratio.

    Parameters
    ----------
    result : TimingResult
        Any result.
    slow, fast : sequence of str
        Keys of `CONTESTANTS`; the times of each of `slow` are divided by those of each of `fast`.

    Returns
    -------
    Table of Ratio
        Without pairs that have no common cell.

    Raises
    ------
    MissingDependencyError
        If pandas is not installed.
    """
    summary = result.summary()
    keys = ["series", *PARAMETERS]
    medians = summary.pivot_table(index=keys, columns="contestant", values="median")
    rows = []
    for slower in slow:
        for faster in fast:
            if slower in medians and faster in medians:
                ratios = (medians[slower] / medians[faster]).dropna()
                if len(ratios):
                    spread = float(ratios.min()), float(ratios.median()), float(ratios.max())
                    rows.append(Ratio(slower, faster, len(ratios), *spread))
    return Table(Ratio, tuple(rows))


def ratio_table(result: TimingResult) -> pd.DataFrame:
    """Return a readable table of how many times longer the paper's algorithms take."""
    frame = speed_ratios(result).to_frame()
    titles = {name: contestant.title for name, contestant in CONTESTANTS.items()}
    frame["slow"], frame["fast"] = frame["slow"].map(titles), frame["fast"].map(titles)
    return frame.rename(columns={"slow": "algorithm", "fast": "against"})

"""Samples and result of the execution-time study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vuskit._util.optional import pd
from vuskit.errors import InvalidInputError
from vuskit.figures import (
    Display,
    TimingSeriesDisplay,
    TimingSweepDisplay,
)
from vuskit.figures.timing import TimingPanel
from vuskit.inputs import check_choice
from vuskit.studies.result import StudyResult
from vuskit.studies.timing.cases import PARAMETERS, Setting, is_generated
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.tables import (
    complexity_table,
    exponents,
    joint_slopes,
    parameter_table,
    rows_of_sweep,
    single_slopes,
    speed_ratios,
)

# Quantity that figures show as seconds, and the meaning of the shade around it.
_AVERAGES = {
    "median": ("seconds", "from the lower to the upper quartile"),
    "mean": ("mean_seconds", "one standard deviation to either side"),
}
_PROPERTIES = ("n_anomalies", "mean_length", "n_points")


@dataclass(frozen=True)
class Sample:
    """One timed run.

    Attributes
    ----------
    series : str
        Name of the series; ``synthetic-<seed>`` for a generated one.
    contestant : str
        Name of the algorithm or pair of measures.
    setting : Setting
        Properties of the series and the measure.
    seconds : float
        Time of the run.
    peak_bytes : int
        Peak memory, measured in a separate run that is not timed.
    clock : {"wall", "cpu"}
        Clock that timed the run.
    """

    series: str
    contestant: str
    setting: Setting
    seconds: float
    peak_bytes: int
    clock: str = "wall"

    @property
    def cell(self) -> tuple[str, str, Setting, str]:
        """What was timed: series, contestant, setting and clock."""
        return self.series, self.contestant, self.setting, self.clock

    def as_row(self) -> dict[str, Any]:
        """Return the sample as a flat row."""
        return {
            "series": self.series,
            "contestant": self.contestant,
            **asdict(self.setting),
            "clock": self.clock,
            "seconds": self.seconds,
            "peak_bytes": self.peak_bytes,
        }


@dataclass(frozen=True)
class TimingResult(StudyResult):
    """Samples of the execution-time study.

    Attributes
    ----------
    samples : tuple of Sample
        Every timed run.
    dropped : tuple of str
        Cells that were dropped to keep the budget.
    environment : dict
        Versions, core and machine.
    average : {"median", "mean"}
        Average in figures: median with quartiles, or mean with standard deviation as in the paper.
    failures : tuple of Failure
        Cells that failed, with the reason.
    """

    samples: tuple[Sample, ...]
    dropped: tuple[str, ...]
    environment: dict[str, Any]
    average: str = "median"

    @property
    def generated(self) -> bool:
        """Whether all series are generated."""
        return all(is_generated(sample.series) for sample in self.samples)

    def to_frame(self) -> pd.DataFrame:
        """One row for each timed run."""
        return pd.DataFrame([sample.as_row() for sample in self.samples])

    def summary(self) -> pd.DataFrame:
        """One row for each cell: number of runs, statistics of their seconds, peak memory.

        The statistics are median, quartiles, extremes, mean and standard deviation.
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

    def tables(self, *, base: Setting | None = None) -> dict[str, pd.DataFrame]:
        """Timed runs, cells, ratios, slopes, exponents, dropped jobs, and the machine.

        Parameters
        ----------
        base : Setting, optional
            Defaults of a study of generated series. Default: those of the paper.
        """
        tables = {
            "samples": self.to_frame(),
            "summary": self.summary(),
            "parameters": parameter_table(self),
            "ratios": speed_ratios(self),
            "joint_slopes": joint_slopes(self),
        }
        if self.generated:
            tables["slopes"] = single_slopes(self, base=base)
            tables["exponents"] = exponents(self, base=base)
            tables["complexity"] = complexity_table(self, base=base)
        if self.dropped:
            tables["dropped"] = pd.DataFrame({"job": list(self.dropped)})
        tables["environment"] = pd.DataFrame(
            _environment_rows(self.environment), columns=["name", "value"]
        )
        return tables

    def figures(self, *, base: Setting | None = None) -> dict[str, Display]:
        """Seconds and peak memory against the properties of the series.

        Parameters
        ----------
        base : Setting, optional
            Defaults of a study of generated series. Default: those of the paper.

        Raises
        ------
        InvalidInputError
            If nothing was measured.
        """
        if not self.samples:
            raise InvalidInputError("`samples` must hold at least one sample, got none")
        average = check_choice("average", self.average, _AVERAGES)
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
        cells = len({sample.cell for sample in self.samples})
        return (
            f"Execution time and memory on {kind} series: {cells:,} cells, "
            f"{len(self.samples):,} timed runs, {clocks} time."
        )


def _environment_rows(environment: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, value in environment.items():
        listed = value.items() if isinstance(value, dict) else [("", value)]
        rows += [[f"{name} {part}".strip(), str(text)] for part, text in listed]
    return rows

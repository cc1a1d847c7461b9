"""Scenarios: one anomaly and a prediction that moves over it, numbered as in the paper.

S1 ends just before the anomaly, S2 touches it, S3 to S7 overlap it more and more, S8 matches it
exactly, and S9 to S12 shrink inside it. S13 and S14, which miss it clearly, are not in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import pd
from vuskit.buffers import BufferChoice
from vuskit.datasets import ScoredSeries, Series
from vuskit.datasets.inputs import Source
from vuskit.errors import InvalidInputError
from vuskit.figures import Display, ScenarioDisplay, SweepDisplay
from vuskit.figures.scenarios import Scenario
from vuskit.inputs import check_int
from vuskit.measures.settings import EvaluationSettings
from vuskit.parameters import param, whole
from vuskit.studies.base import PUBLISHED_SETTINGS, Study, evaluate_scores, study
from vuskit.studies.result import BufferUse, StudyResult

_LITTLE_CREDIT = 0.01
_SETTINGS = EvaluationSettings(buffer=100)
_SPARSE = 10  # with a shorter series, mean + 3 std may exceed the score of a prediction


def paper_scenarios(length: int = 20, buffer: int = 100) -> tuple[Scenario, ...]:
    """Return the paper's twelve scenarios, and two clear misses.

    Parameters
    ----------
    length : int, default=20
        Length of the anomaly, and of the prediction in S1 to S8, S13 and S14.
    buffer : int, default=100
        Distance of S13 from the anomaly; S14 ends a quarter of it before the anomaly.

    Raises
    ------
    InvalidInputError
        If the anomaly is shorter than ten points, too short for twelve different scenarios.

    Examples
    --------
    >>> for scenario in paper_scenarios()[:2]:
    ...     print(scenario)
    Scenario(name='S1', title='just missing', start=-20, stop=0)
    Scenario(name='S2', title='touching', start=-18, stop=2)
    """
    check_int("length", length, minimum=10)
    check_int("buffer", buffer, minimum=1)
    overlapping = [(title, round(share * length)) for title, share in _OVERLAPS]
    missing = [("well before", -buffer), ("near", -max(buffer // 4, 1))]
    before, after = (
        [(title, end - length, end) for title, end in ends] for ends in (overlapping, missing)
    )
    inside = [
        (f"{share:.0%} inside", (length - size) // 2, (length - size) // 2 + size)
        for share in (0.75, 0.5, 0.25, 0.1)
        for size in [max(round(share * length), 1)]
    ]
    return tuple(
        Scenario(f"S{place}", title, start, stop)
        for place, (title, start, stop) in enumerate([*before, *inside, *after], start=1)
    )


_OVERLAPS = (
    ("just missing", 0.0),
    ("touching", 0.1),
    ("25% overlap", 0.25),
    ("40% overlap", 0.4),
    ("50% overlap", 0.5),
    ("75% overlap", 0.75),
    ("90% overlap", 0.9),
    ("exact match", 1.0),
)


class _Landmarks(NamedTuple):
    """Indices of the scenarios that show the value of a near miss."""

    far: int
    missing: int
    touching: int
    exact: int


def _landmarks(scenarios: Sequence[Scenario], length: int) -> _Landmarks | None:
    """Find the landmarks by their geometry; None if one of the four is missing."""
    stops = [one.stop for one in scenarios]
    touching = [place for place, one in enumerate(scenarios) if one.start < 0 < one.stop <= length]
    exact = [place for place, one in enumerate(scenarios) if (one.start, one.stop) == (0, length)]
    if 0 not in stops or min(stops) == 0 or not touching or not exact:
        return None
    first = min(touching, key=lambda place: stops[place])
    return _Landmarks(stops.index(min(stops)), stops.index(0), first, exact[0])


@dataclass(frozen=True, eq=False)
class ScenarioResult(StudyResult):
    """Values of measures in each scenario and at every position in between.

    Attributes
    ----------
    scenarios : tuple of Scenario
        S1, S2, ...
    values : array of shape (scenarios, measures)
        Values in each scenario.
    positions : array of int
        End of the prediction (exclusive), counted from the first point of the anomaly. It moves
        point by point from the first clear miss to the exact match.
    sweep : array of shape (positions, measures)
        Values at each position.
    buffer : int
        Buffer of R-AUC.
    study : Scenarios
        The settings.
    """

    scenarios: tuple[Scenario, ...]
    values: NDArray[np.float64]
    positions: NDArray[np.intp]
    sweep: NDArray[np.float64]
    buffer: int

    @property
    def n_points(self) -> int:
        """Length of the series."""
        return int(self.study.n_points)

    @property
    def length(self) -> int:
        """Length of the anomaly."""
        return int(self.study.length)

    @property
    def buffers(self) -> BufferUse:
        """The buffer."""
        return BufferUse.of(self.study.settings, [self.buffer])

    def to_frame(self) -> pd.DataFrame:
        """One row for each scenario, one column for each measure."""
        frame: pd.DataFrame = pd.DataFrame(self.values, columns=list(self.study.names))
        frame.insert(0, "scenario", [scenario.name for scenario in self.scenarios])
        frame.insert(1, "prediction", [scenario.title for scenario in self.scenarios])
        frame.insert(2, "start", [scenario.start for scenario in self.scenarios])
        frame.insert(3, "stop", [scenario.stop for scenario in self.scenarios])
        return frame

    def sweep_frame(self) -> pd.DataFrame:
        """One row for each position of the moving prediction."""
        frame: pd.DataFrame = pd.DataFrame(self.sweep, columns=list(self.study.names))
        frame.insert(0, "end", self.positions)
        return frame

    @cached_property
    def _places(self) -> _Landmarks | None:
        return _landmarks(self.scenarios, self.length)

    def at_first_touch(self) -> pd.DataFrame:
        """Values of each measure around the first touch of the anomaly.

        The first four columns are the values for a clear miss, a near miss, the first touch and the
        exact match. ``credit`` is the value of the near miss, scaled so that a clear miss has 0 and
        the exact match 1. ``jump`` is the share of the rise from the clear miss to the first touch
        that happens at the touch itself. A measure that ignores near misses has credit 0, jump 1.

        Raises
        ------
        InvalidInputError
            If custom scenarios lack one of the four.
        """
        if self._places is None:
            raise InvalidInputError(
                "`scenarios` must hold a clear miss, a prediction that ends where the anomaly "
                "begins, one that touches it and an exact match, got "
                f"{', '.join(one.name for one in self.scenarios)}"
            )
        far, missing, touching, exact = (self.values[place] for place in self._places)
        with np.errstate(invalid="ignore", divide="ignore"):
            columns = {
                "well_before": far,
                "just_missing": missing,
                "touching": touching,
                "exact": exact,
                "credit": (missing - far) / (exact - far),
                "jump": (touching - missing) / (touching - far),
            }
        frame: pd.DataFrame = pd.DataFrame(columns, index=list(self.study.names))
        frame.index.name = "measure"
        return frame

    def ignoring_near_misses(self) -> tuple[str, ...]:
        """Names of the measures that give a near miss a credit of less than 1 %."""
        credit = self.at_first_touch()["credit"]
        return tuple(str(name) for name in credit.index[credit < _LITTLE_CREDIT])

    def undefined(self) -> dict[str, int]:
        """Number of undefined values of each measure over the scenarios."""
        counts = np.isnan(self.values).sum(axis=0)
        return dict(zip(self.study.names, map(int, counts), strict=True))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Values by scenario and by position, and around the first touch."""
        tables = {"values": self.to_frame(), "sweep": self.sweep_frame()}
        if self._places is not None:
            tables["touch"] = self.at_first_touch().reset_index()
        return tables

    def figures(self) -> dict[str, Display]:
        """Values in the scenarios, and at every position up to the exact match."""
        places = self._places
        names = [one.name for one in self.scenarios]
        found = () if places is None else (names[places.missing], names[places.touching])
        caption = "Value of each measure for a prediction at several positions."
        if found:
            caption += (
                f" Shaded: {found[0]} and {found[1]} for measures that give a near miss less than "
                "1 % of the credit of an exact match."
            )
        return {
            "values": ScenarioDisplay(
                self.scenarios,
                self.values,
                self.measures,
                self.length,
                self.buffer,
                found[1] if found else None,
                found,
                self.ignoring_near_misses() if found else (),
                title="Walk over the anomaly",
                caption=caption,
            ),
            "sweep": SweepDisplay(
                self.positions,
                self.sweep,
                self.measures,
                names[places.exact] if places is not None else "exact match",
                title="Point by point",
                caption="Value of every measure by the end of the prediction. At 0 the prediction "
                "ends where the anomaly begins.",
            ),
        }

    def overview(self) -> pd.DataFrame:
        """Values of each measure around the first touch of the anomaly."""
        return self.to_frame() if self._places is None else self.at_first_touch()

    def about(self) -> str:
        """Describe the study in sentences."""
        return (
            f"A prediction moves over one anomaly of {self.length} points in a series of "
            f"{self.n_points:,} points, buffer {self.buffer}. Undefined values: "
            f"{sum(self.undefined().values()):,}."
        )

    def facts(self) -> dict[str, Any]:
        """Sizes of the series, the anomaly and the buffer."""
        return {"points": self.n_points, "length": self.length, "buffer": self.buffer}


@dataclass(frozen=True)
class _OneAnomaly:
    """A series with one anomaly in its middle; the study generates the scores."""

    n_points: int
    length: int
    name: str = "scenarios"

    def read(self) -> ScoredSeries:
        """Generate the series."""
        first = self.n_points // 2
        labels = _box(self.n_points, first, first + self.length)
        return ScoredSeries(Series(self.name, "synthetic", labels, labels > 0), {})


@study(
    title="Scenarios",
    question="What is a prediction worth that just misses the anomaly?",
    better="higher",
    order=4,
    input="none",
    known=(Scenario,),
)
@dataclass(frozen=True)
class Scenarios(Study[ScenarioResult]):
    """A prediction that moves over one anomaly; predicted points score 1, all others 0.

    Parameters
    ----------
    measures, settings
        As for :class:`vuskit.studies.Study`; by default a buffer of 100 points.
    n_points : int, default=10000
        Length of the series; the anomaly is in its middle.
    length : int, default=20
        Length of the anomaly.
    scenarios : sequence of Scenario, optional
        Custom predictions instead of :func:`paper_scenarios`.
    """

    # The series has no period, so that the buffer stays a number.
    published_settings: ClassVar[Mapping[str, Any]] = {
        name: value for name, value in PUBLISHED_SETTINGS.items() if name != "buffer"
    }

    settings: EvaluationSettings = _SETTINGS
    n_points: int = param(10_000, whole(1), "Length of the series.", metavar="N")
    length: int = param(20, whole(10), "Length of the anomaly.", metavar="N")
    scenarios: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("n_points", self.n_points, minimum=_SPARSE * self.length)

    def sources(self, source: Any) -> Sequence[Source]:
        """Return the series with the anomaly.

        Raises
        ------
        InvalidInputError
            If a source is given; scenarios have no input.
        """
        if source is not None:
            raise InvalidInputError(f"`source` must be None for scenarios, got {source!r}")
        return (_OneAnomaly(self.n_points, self.length),)

    def choose_buffer(self, scored: ScoredSeries) -> BufferChoice:
        """Choose the buffer by the settings; there are no values to estimate a period from."""
        return self.settings.choose_buffer(y_true=scored.series.labels)

    def per_series(self, scored: ScoredSeries) -> dict[str, Any]:
        """Values of all measures in every scenario and at every position in between."""
        buffer = self.choose_buffer(scored).length
        first = self.n_points // 2
        chosen = self.scenarios or paper_scenarios(self.length, buffer)
        for scenario in chosen:
            if not 0 <= first + scenario.start < first + scenario.stop <= self.n_points:
                raise InvalidInputError(
                    f"`scenarios` must fit a series of {self.n_points} points, got {scenario}; "
                    "increase `n_points`"
                )
        evaluator = self.evaluator(scored.series.labels, buffer)
        at = (_box(self.n_points, first + one.start, first + one.stop) for one in chosen)
        positions = np.arange(min(one.stop for one in chosen), self.length + 1)
        moving = (
            _box(self.n_points, first + end - self.length, first + end)
            for end in positions.tolist()
        )
        return {
            "values": evaluate_scores(evaluator, at),
            "positions": positions,
            "sweep": evaluate_scores(evaluator, moving),
            "buffer": buffer,
        }

    def combine(self, parts: list[dict[str, Any]]) -> ScenarioResult:
        """Attach the scenarios to their values."""
        (part,) = parts
        chosen = self.scenarios or paper_scenarios(self.length, part["buffer"])
        return ScenarioResult(tuple(chosen), **part)


def _box(n_points: int, start: int, stop: int) -> NDArray[np.float64]:
    box = np.zeros(n_points)
    box[start:stop] = 1.0
    return box

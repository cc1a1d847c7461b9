"""Scenarios: one anomaly and a prediction that moves over it, S1 to S12.

The prediction comes from well before the anomaly, nears it, just misses it, touches it, overlaps
it, matches it exactly (S8), and shrinks inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_int
from vuskit.measures.registry import Measure
from vuskit.studies.base import MeasureSettings, evaluate_scores, same_arithmetic

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Scenario", "ScenarioResult", "paper_scenarios", "scenario_study"]

JUST_MISSING, TOUCHING, EXACT = "S3", "S4", "S8"
_SPARSE = 10  # with more anomalous points, mean + 3 std may exceed the score of a prediction


@dataclass(frozen=True)
class Scenario:
    """A prediction relative to the anomaly.

    Attributes
    ----------
    name, title : str
        Such as ``"S8"`` and ``"exact match"``.
    start, stop : int
        The predicted points, half-open, counted from the first point of the anomaly.
    """

    name: str
    title: str
    start: int
    stop: int


def paper_scenarios(length: int = 20, buffer: int = 100) -> tuple[Scenario, ...]:
    """The twelve scenarios for an anomaly of ``length`` points.

    Parameters
    ----------
    length : int, default=20
        Of the anomaly; the prediction is as long until it shrinks inside.
    buffer : int, default=100
        Sets the distances before the anomaly: S1 ends a whole buffer before it, S2 a quarter.

    Raises
    ------
    InvalidInputError
        If the anomaly is shorter than ten points, too short for twelve different scenarios.

    Examples
    --------
    >>> for scenario in paper_scenarios()[2:4]:
    ...     print(scenario)
    Scenario(name='S3', title='just missing', start=-20, stop=0)
    Scenario(name='S4', title='touching', start=-18, stop=2)
    """
    check_int("length", length, minimum=10)
    check_int("buffer", buffer, minimum=1)
    before = [
        ("well before", -buffer),
        ("near", -max(buffer // 4, 1)),
        ("just missing", 0),
        *((title, round(share * length)) for title, share in _OVERLAPS),
    ]
    moving = [(title, end - length, end) for title, end in before]
    inside = [
        (f"{share:.0%} inside", (length - size) // 2, (length - size) // 2 + size)
        for share in (0.75, 0.5, 0.25, 0.1)
        for size in [max(round(share * length), 1)]
    ]
    return tuple(
        Scenario(f"S{place}", title, start, stop)
        for place, (title, start, stop) in enumerate([*moving, *inside], start=1)
    )


_OVERLAPS = (
    ("touching", 0.1),
    ("25% overlap", 0.25),
    ("50% overlap", 0.5),
    ("75% overlap", 0.75),
    ("exact match", 1.0),
)


@dataclass(frozen=True, eq=False)
class ScenarioResult:
    """Values of measures in each scenario, and for every position in between.

    Attributes
    ----------
    scenarios : tuple of Scenario
        S1, S2, ...
    values : array of shape (scenarios, measures)
        The values.
    positions : array of int
        Last predicted point plus one, counted from the first point of the anomaly, as the
        prediction moves point by point from S1 to the exact match.
    sweep : array of shape (positions, measures)
        The values there.
    settings : MeasureSettings
        The measures.
    n_points, length, buffer : int
        Of the series, the anomaly and the buffer.
    """

    scenarios: tuple[Scenario, ...]
    values: NDArray[np.float64]
    positions: NDArray[np.intp]
    sweep: NDArray[np.float64]
    settings: MeasureSettings
    n_points: int
    length: int
    buffer: int

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in order."""
        return self.settings.measures

    def to_frame(self) -> pd.DataFrame:
        """One row for each scenario, one column for each measure."""
        pandas = require("pandas", purpose="to_frame()")
        frame: pd.DataFrame = pandas.DataFrame(self.values, columns=list(self.settings.names))
        frame.insert(0, "scenario", [scenario.name for scenario in self.scenarios])
        frame.insert(1, "prediction", [scenario.title for scenario in self.scenarios])
        frame.insert(2, "start", [scenario.start for scenario in self.scenarios])
        frame.insert(3, "stop", [scenario.stop for scenario in self.scenarios])
        return frame

    def sweep_frame(self) -> pd.DataFrame:
        """One row for each position of the moving prediction."""
        pandas = require("pandas", purpose="sweep_frame()")
        frame: pd.DataFrame = pandas.DataFrame(self.sweep, columns=list(self.settings.names))
        frame.insert(0, "end", self.positions)
        return frame

    @cached_property
    def _by_name(self) -> dict[str, NDArray[np.float64]]:
        return {s.name: row for s, row in zip(self.scenarios, self.values, strict=True)}

    def at_first_touch(self) -> pd.DataFrame:
        """What each measure does where the prediction comes to touch the anomaly.

        Columns: its value well before (what a miss is worth), just missing, touching, and at the
        exact match; ``credit`` is what just missing is worth, as a share of the way from a miss to
        the exact match; ``jump`` is how much of the rise from a clear miss to the first touch
        happens at the touch itself. A measure that ignores near misses has credit 0 and jump 1.
        """
        far, missing, touching, exact = (
            self._by_name[name] for name in (self.scenarios[0].name, JUST_MISSING, TOUCHING, EXACT)
        )
        pandas = require("pandas", purpose="at_first_touch()")
        with np.errstate(invalid="ignore", divide="ignore"):
            columns = {
                "well_before": far,
                "just_missing": missing,
                "touching": touching,
                "exact": exact,
                "credit": (missing - far) / (exact - far),
                "jump": (touching - missing) / (touching - far),
            }
        frame: pd.DataFrame = pandas.DataFrame(columns, index=list(self.settings.names))
        frame.index.name = "measure"
        return frame

    def undefined(self) -> dict[str, int]:
        """Number of undefined values of each measure over the scenarios."""
        counts = np.isnan(self.values).sum(axis=0)
        return dict(zip(self.settings.names, map(int, counts), strict=True))


def scenario_study(
    *,
    measures: str | Measure | Iterable[str | Measure] = "paper",
    n_points: int = 10_000,
    length: int = 20,
    buffer: int = 100,
    volume_factor: float = 1.0,
    scenarios: Sequence[Scenario] | None = None,
    **options: Any,
) -> ScenarioResult:
    """Evaluate measures on a prediction that moves over an anomaly.

    The score is 1 at the predicted points and 0 elsewhere.

    Parameters
    ----------
    measures : "paper", "extra", "all", name, or iterable of names and measures, default="paper"
        What to study.
    n_points : int, default=10000
        Length of the series; the anomaly is in its middle.
    length : int, default=20
        Length of the anomaly.
    buffer : int, default=100
        Buffer length of R-AUC.
    volume_factor : float, default=1.0
        The longest buffer of VUS, in buffers of R-AUC.
    scenarios : sequence of Scenario, optional
        Predictions of your own; named S3, S4 and S8 where they just miss, touch and match.
    **options
        Further options of :class:`vuskit.Evaluator`.

    Returns
    -------
    ScenarioResult
        Values by scenario and for all positions in between.

    Raises
    ------
    InvalidInputError
        If a prediction does not fit the series or a parameter cannot be used.

    Examples
    --------
    >>> found = scenario_study(measures=["f_score", "auc_pr", "vus_pr"])
    >>> found.at_first_touch()[["just_missing", "exact", "credit", "jump"]].round(2)
             just_missing  exact  credit  jump
    measure
    f_score          0.00    1.0    0.00  1.00
    auc_pr           0.00    1.0    0.00  1.00
    vus_pr           0.42    1.0    0.41  0.11
    """
    check_int("n_points", n_points, minimum=_SPARSE * length)
    chosen = tuple(paper_scenarios(length, buffer) if scenarios is None else scenarios)
    first = n_points // 2
    for scenario in chosen:
        if not 0 <= first + scenario.start < first + scenario.stop <= n_points:
            raise InvalidInputError(
                f"`scenarios` must fit a series of {n_points} points, got {scenario}"
            )
    settings = MeasureSettings.of(measures, buffer, volume_factor, options)
    labels = _box(n_points, first, first + length)
    evaluator = settings.evaluator(labels.astype(np.int8), buffer)
    at = [_box(n_points, first + one.start, first + one.stop) for one in chosen]
    positions = np.arange(chosen[0].stop, length + 1)
    moving = (_box(n_points, first + end - length, first + end) for end in positions.tolist())
    with same_arithmetic():
        values, sweep = evaluate_scores(evaluator, at), evaluate_scores(evaluator, moving)
    return ScenarioResult(chosen, values, positions, sweep, settings, n_points, length, buffer)


def _box(n_points: int, start: int, stop: int) -> NDArray[np.float64]:
    box = np.zeros(n_points)
    box[start:stop] = 1.0
    return box

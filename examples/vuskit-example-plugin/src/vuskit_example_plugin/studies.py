"""A study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from vuskit.studies import Study, StudyResult, evaluate_detectors, study


@dataclass(frozen=True, eq=False)
class SpreadResult(StudyResult):
    """Difference between the best and the worst detector, by series and measure."""

    spreads: pd.DataFrame

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return one table with a row per series."""
        return {"spreads": self.spreads}

    def score(self) -> pd.Series:
        """Return the mean difference of each measure."""
        return self.spreads.mean()


@study(title="Spread", question="How far apart are the detectors?", better="higher")
@dataclass(frozen=True)
class Spread(Study[SpreadResult]):
    """Range of each measure over the detectors of a series."""

    def per_series(self, scored: Any) -> pd.DataFrame:
        """Return the difference on one series."""
        evaluator = self.evaluator(scored.series.labels, self.choose_buffer(scored).length)
        values = np.sort(evaluate_detectors(evaluator, scored), axis=0)
        return pd.DataFrame([values[-1] - values[0]], columns=list(self.names))

    def combine(self, parts: Sequence[pd.DataFrame]) -> SpreadResult:
        """Return the differences of all series."""
        return SpreadResult(pd.concat(parts, ignore_index=True))

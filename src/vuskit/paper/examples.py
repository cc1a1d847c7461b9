"""Choose the series, detectors, pairs and data sets that figures show as examples."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from vuskit._util.text import did_you_mean, matches_name, plain_name
from vuskit.errors import InvalidInputError
from vuskit.paper.exhibits import NotPossibleError

if TYPE_CHECKING:
    import pandas as pd

MBA_805, MBA_806, MBA_820 = (
    re.compile(rf"(mba|ecg)\D*{number}(?!\d)", re.I) for number in (805, 806, 820)
)
"""Names of the electrocardiograms that the paper shows."""
SED = re.compile(r"sed(\W|$)", re.I)
"""Name of the series of disk revolutions that the paper shows."""

_PAPER_DETECTOR = "iforest"
_PAPER_DATASETS = ("yahoo", "kdd21")
_FIRST_DATASET = "kdd21"
_FEWEST_SERIES = 3  # that a data set needs for ranking its detectors
_POINT, _RANGE = "auc_pr", "range_auc_pr"


@dataclass(frozen=True)
class Choice:
    """Examples that the user chose; the others are derived from the data."""

    series: tuple[str, ...] = ()  # names or patterns, such as "ECG/MBA_ECG805_data"
    pairs: tuple[tuple[str, str], ...] = ()  # compared in Figure 8; accurate, inaccurate in 13
    datasets: tuple[str, ...] = ()  # with separate panels


@dataclass(frozen=True)
class Example:
    """Two detectors on a series."""

    series: str
    detectors: tuple[str, str]
    reason: str


def find_detector(name: str, known: list[str]) -> str | None:
    """Return the detector with a name in any spelling; None if there is none."""
    return next((one for one in known if _same(one) == _same(name)), None)


def _same(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", plain_name(name).lower())


def find_series(pattern: re.Pattern[str], known: list[str]) -> str | None:
    """Return the first series whose name matches a pattern; None if there is none."""
    return next((one for one in known if pattern.search(one.rpartition("/")[2])), None)


@dataclass(frozen=True, eq=False)
class Examples:
    """Examples for figures; the same values and choice give the same examples."""

    values: pd.DataFrame
    choice: Choice

    @cached_property
    def table(self) -> pd.DataFrame:
        """Values by series and detector, one column for each measure."""
        frame = self.values
        keyed = frame.assign(name=frame["dataset"] + "/" + frame["series"])
        wide = keyed.groupby(["name", "detector", "measure"], sort=False)["value"].mean()
        table: pd.DataFrame = wide.unstack("measure")
        return table

    @cached_property
    def series(self) -> list[str]:
        """Names of all series."""
        return list(dict.fromkeys(self.values["dataset"] + "/" + self.values["series"]))

    def first_of(self, dataset: str) -> str:
        """Return the first series of a data set."""
        return next(one for one in self.series if one.startswith(f"{dataset}/"))

    def detectors_of(self, series: str) -> list[str]:
        """Return the detectors of a series."""
        return list(self.table.loc[series].index)

    # -- series with two detectors ---------------------------------------------------------------

    @cached_property
    def compared(self) -> tuple[Example, ...]:
        """One or two examples for Figure 8, each with two detectors on a series."""
        if self.choice.series or self.choice.pairs:
            return self._chosen()
        paper = [
            self._published(MBA_805, ("AE", "OCSVM")),
            self._published(MBA_806, ("LOF", "OCSVM")),
        ]
        found = [one for one in paper if one is not None]
        used = {one.series for one in found}
        found += [one for one in self._disagreements() if one.series not in used]
        if not found:
            raise NotPossibleError("no series has the scores of two detectors")
        return tuple(found[:2])

    def _chosen(self) -> tuple[Example, ...]:
        names = [self.find(name) for name in self.choice.series]
        if not names:
            names = [one.series for one in self._disagreements()[:1]] or self.series[:1]
        pairs = self.choice.pairs
        found = []
        for place, name in enumerate(names):
            pair = pairs[min(place, len(pairs) - 1)] if pairs else None
            detectors = self.clearest_pair(name) if pair is None else self._pair_on(name, pair)
            if detectors is not None:
                found.append(Example(name, detectors, "as chosen"))
        if not found:
            raise NotPossibleError(f"{', '.join(names)}: needs scores of two detectors")
        return tuple(found[:2])

    def _pair_on(self, series: str, pair: tuple[str, str]) -> tuple[str, str]:
        known = self.detectors_of(series)
        found = [find_detector(name, known) for name in pair]
        for name, one in zip(pair, found, strict=True):
            if one is None:
                raise InvalidInputError(
                    f"`pairs` must name detectors of {series} ({', '.join(known)}), got {name!r}"
                    f"{did_you_mean(name, known)}"
                )
        first, second = found
        return str(first), str(second)

    def pairs_on(self, series: str) -> tuple[tuple[str, str], ...]:
        """Return the chosen pairs, with the detector names of a series."""
        return tuple(self._pair_on(series, pair) for pair in self.choice.pairs)

    def find(self, name: str) -> str:
        """Return the series that matches a name or pattern; extensions are optional."""
        known = self.series
        for one in known:
            last = one.rpartition("/")[2]
            if name in (one, last) or matches_name(one, name):
                return one
        starts = [one for one in known if f"/{one}".find(f"/{name}.") >= 0]
        if starts:
            return starts[0]
        raise InvalidInputError(
            f"`example` must name one of the {len(known)} series, got {name!r}"
            f"{did_you_mean(name, known)}"
        )

    def _published(self, pattern: re.Pattern[str], pair: tuple[str, str]) -> Example | None:
        series = find_series(pattern, self.series)
        if series is None:
            return None
        known = self.detectors_of(series)
        first, second = (find_detector(name, known) for name in pair)
        if first is None or second is None:
            return None
        return Example(series, (first, second), "an example of the paper")

    def clearest_pair(self, series: str) -> tuple[str, str] | None:
        """Return the two detectors on whose order AUC-PR and R-AUC-PR disagree most.

        Without a disagreement, return the two best detectors by R-AUC-PR.
        """
        found = self._clearest(series)
        if found is not None:
            return found[1]
        rows = self.table.loc[series].dropna(subset=_RANGE)
        if len(rows) < 2:
            return None
        first, second = rows[_RANGE].sort_values(ascending=False, kind="stable").index[:2]
        return str(first), str(second)

    def _clearest(self, series: str) -> tuple[float, tuple[str, str]] | None:
        rows = self.table.loc[series][[_POINT, _RANGE]].dropna()
        if len(rows) < 2:
            return None
        point, buffered = rows.to_numpy().T
        by_point = point[:, None] - point[None, :]
        by_range = buffered[None, :] - buffered[:, None]
        clear = np.minimum(by_point, by_range)  # positive if the measures disagree on the order
        first, second = np.unravel_index(int(clear.argmax()), clear.shape)
        if clear[first, second] <= 0:
            return None
        names = list(map(str, rows.index))
        return float(clear[first, second]), (names[second], names[first])

    def _disagreements(self) -> list[Example]:
        """Return series on which AUC-PR and R-AUC-PR disagree, clearest disagreement first."""
        ranked = []
        for name in self.series:
            found = self._clearest(name)
            if found is not None:
                ranked.append((-found[0], name, found[1]))
        reason = "where AUC-PR and R-AUC-PR disagree most"
        examples = [Example(name, pair, reason) for _, name, pair in sorted(ranked)]
        if examples:
            return examples
        pairs = ((name, self.clearest_pair(name)) for name in self.series)
        reason = "the two best detectors by R-AUC-PR, as AUC-PR agrees with it"
        return [Example(name, pair, reason) for name, pair in pairs if pair is not None]

    # -- one detector ----------------------------------------------------------------------------

    @cached_property
    def single(self) -> tuple[str, str]:
        """Series and detector of Figures 2 to 7."""
        example = self.compared[0]
        known = self.detectors_of(example.series)
        return example.series, find_detector(_PAPER_DETECTOR, known) or example.detectors[0]

    # -- data sets -------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of series by data set, largest first."""
        counts = self.values.groupby("dataset")["series"].nunique()
        return {str(name): int(counts[name]) for name in sorted(counts.index, key=_by_size(counts))}

    def ranked_dataset(self) -> str:
        """Return the data set whose detectors are ranked in Figure 1."""
        chosen = self.datasets(1)
        if self.choice.datasets:
            return chosen[0]
        paper = next((name for name in self.sizes if _same(name) == _FIRST_DATASET), None)
        name = paper or next(iter(self.sizes))
        if self.sizes[name] < _FEWEST_SERIES:
            raise NotPossibleError(
                f"no data set has {_FEWEST_SERIES} series; the largest has {self.sizes[name]}"
            )
        return name

    def datasets(self, count: int) -> list[str]:
        """Return data sets for panels: those chosen, or the paper's and then the largest."""
        known = {_same(name): name for name in self.sizes}
        for name in self.choice.datasets:
            if _same(name) not in known:
                raise InvalidInputError(
                    f"`datasets` must name data sets of the series, got {name!r}"
                    f"{did_you_mean(name, self.sizes)}"
                )
        if self.choice.datasets:
            return [known[_same(name)] for name in self.choice.datasets]
        paper = [known[name] for name in _PAPER_DATASETS if name in known]
        large = [name for name, size in self.sizes.items() if size >= _FEWEST_SERIES]
        return list(dict.fromkeys([*paper, *large]))[:count]


def _by_size(counts: pd.Series) -> Callable[[str], tuple[int, str]]:
    return lambda name: (-int(counts[name]), name)

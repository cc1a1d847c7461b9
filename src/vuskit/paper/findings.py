"""Findings: statements of the paper, measurements on this data, and whether they agree."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout
from vuskit.errors import InvalidInputError, VuskitError
from vuskit.inputs import check_choice
from vuskit.paper.exhibits import RESULTS, NotRequestedError
from vuskit.paper.material import Material
from vuskit.paper.words import listed, plural

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SERIES = 10
FEWEST_DATASETS = 3
"""Statements about means over series are judged on so many real series and data sets."""


class Verdict(enum.StrEnum):
    """Whether a measurement agrees with a statement of the paper.

    A statement with several parts agrees in part if some of them hold. It is not checkable here if
    the data does not allow an answer, and not checked if nothing was measured.
    """

    AGREES = "agrees"
    IN_PART = "agrees in part"
    DISAGREES = "disagrees"
    NOT_CHECKABLE = "not checkable here"
    NOT_CHECKED = "not checked"


class Scope(NamedTuple):
    """Series behind a measurement, and how many series and data sets a verdict needs."""

    n_series: int
    n_datasets: int = 1
    real: bool = True
    fewest_series: int = 1
    fewest_datasets: int = 1

    @property
    def reason(self) -> str:
        """Why the series do not allow a verdict; empty if they do."""
        needs = f"a verdict needs {self.fewest_series} real series"
        if self.fewest_datasets > 1:
            needs += f" of {self.fewest_datasets} data sets"
        if self.fewest_series > 1 and not self.real:
            return f"{needs}, these are synthetic"
        if self.n_series < self.fewest_series or self.n_datasets < self.fewest_datasets:
            return f"{needs}, got {self.n_series} of {plural(self.n_datasets, 'data set')}"
        return ""


class Checked(NamedTuple):
    """Outcome of a check."""

    measured: str  # the numbers
    parts: Mapping[str, bool | None]  # whether each part holds; None if it was not measured
    scope: Scope  # the series behind the numbers

    @property
    def verdict(self) -> Verdict:
        """The verdict. A part that was not measured never counts as agreement."""
        if self.scope.reason:
            return Verdict.NOT_CHECKABLE
        found = [one for one in self.parts.values() if one is not None]
        if not found:
            return Verdict.NOT_CHECKED
        if not any(found):
            return Verdict.DISAGREES
        return Verdict.AGREES if all(self.parts.values()) else Verdict.IN_PART

    @property
    def holding(self) -> str:
        """How many parts hold, such as "2 of 3"; empty without several parts or a verdict."""
        if len(self.parts) < 2 or self.scope.reason:
            return ""
        return f"{sum(map(bool, self.parts.values()))} of {len(self.parts)}"

    @property
    def exceptions(self) -> str:
        """Parts that do not hold or were not measured; empty without a verdict."""
        if self.scope.reason:
            return ""
        failed = [name for name, holds in self.parts.items() if holds is False]
        unknown = [name for name, holds in self.parts.items() if holds is None]
        said = [f"Not confirmed: {'; '.join(failed)}"] if failed and len(self.parts) > 1 else []
        said += [f"Not measured: {'; '.join(unknown)}"] if unknown else []
        return ". ".join(said)

    @property
    def text(self) -> str:
        """The numbers, after the reason if there is no verdict."""
        reason = self.scope.reason
        return f"{reason}; numbers here: {self.measured}" if reason else self.measured


@dataclass(frozen=True)
class Statement:
    """A statement of the paper that numbers can confirm or refute.

    Attributes
    ----------
    number : int
        Position in the table.
    text : str
        The paper's statement, in our words.
    place : str
        Where the paper states it.
    criterion : str
        When the statement counts as confirmed.
    needs : tuple of str
        Results that the check uses.
    check : callable
        Returns a `Checked` from a `Material`, or raises a `NotPossibleError` with the reason.
    exhibit : str
        Exhibit that shows the same results, such as ``"fig-11"``; may be empty.
    """

    number: int
    text: str
    place: str
    criterion: str
    needs: tuple[str, ...]
    check: Callable[[Material], Checked]
    exhibit: str = ""

    @property
    def not_requested(self) -> str:
        """What to request so that the statement is checked."""
        return f"not requested; needs {self.exhibit or listed(self.needs)}"


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, the measurement on this data, and the verdict.

    Attributes
    ----------
    number : int
        Number of the statement.
    paper, place, criterion : str
        The statement, where the paper makes it, and when it counts as confirmed.
    verdict : Verdict
        Whether they agree.
    measured : str
        The measurement, or the reason why there is none.
    holding : str
        How many parts of the statement hold, such as "2 of 3"; empty if it has only one.
    exceptions : str
        The parts that do not hold or were not measured.
    n_series : int
        Number of series measured; 0 if nothing was measured.
    """

    number: int
    paper: str
    place: str
    criterion: str
    verdict: Verdict
    measured: str
    holding: str = ""
    exceptions: str = ""
    n_series: int = 0

    @property
    def judged(self) -> str:
        """The verdict, with the number of parts that hold if only some do."""
        in_part = self.verdict is Verdict.IN_PART
        return f"{self.verdict} ({self.holding})" if in_part else str(self.verdict)

    @property
    def details(self) -> str:
        """The measurement and the exceptions."""
        return f"{self.measured}. {self.exceptions}" if self.exceptions else self.measured


_STATED = ("number", "paper", "place", "criterion")
_FOUND = ("verdict", "holding", "exceptions", "measured", "n_series")


@dataclass(frozen=True)
class FindingTable(TableForms):
    """Statements, measurements and verdicts.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of the statements.
    """

    findings: tuple[Finding, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row for each finding."""
        columns = [*_STATED, *_FOUND]
        rows = [{name: getattr(one, name) for name in columns} for one in self.findings]
        frame: pd.DataFrame = require("pandas", purpose="to_frame()").DataFrame(
            rows, columns=columns
        )
        frame["verdict"] = frame["verdict"].map(str)
        return frame

    def count(self, verdict: Verdict) -> int:
        """Number of findings with a verdict."""
        return sum(one.verdict is verdict for one in self.findings)

    @property
    def counts(self) -> str:
        """Number of findings by verdict, as text."""
        found = [f"{one}: {self.count(one)}" for one in Verdict if self.count(one)]
        return ", ".join(found)

    @property
    def _layout(self) -> TableLayout:
        header = ["", "paper", "place", "criterion", "measured here", "verdict", "series"]
        rows = [
            [str(one.number), one.paper, one.place, one.criterion, one.details, one.judged,
             f"{one.n_series:,}"]
            for one in self.findings
        ]  # fmt: skip
        return TableLayout(header, rows, left=6)


@dataclass(frozen=True)
class ReadingTable(TableForms):
    """Findings under several readings of the paper.

    Attributes
    ----------
    tables : mapping from str to FindingTable
        Findings by reading.
    notes : tuple of str
        Messages about failures.
    """

    tables: Mapping[str, FindingTable]
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row for each statement; verdict, parts and measurement under each reading."""
        frames = {name: table.to_frame() for name, table in self.tables.items()}
        first = next(iter(frames.values()))
        found = first[list(_STATED)].copy()
        for name, frame in frames.items():
            for column in _FOUND:
                found[f"{column}, {name}"] = frame[column]
        return found

    @property
    def _layout(self) -> TableLayout:
        rows = [
            [
                f"{one[0].number}. {one[0].paper} ({one[0].place})",
                *(own.judged for own in one),
            ]
            for one in zip(*(table.findings for table in self.tables.values()), strict=True)
        ]
        return TableLayout(["the paper states", *self.tables], rows, left=1 + len(self.tables))


_STATEMENTS: dict[int, Statement] = {}
Check = Callable[[Material], Checked]


def statement(
    number: int, text: str, *, place: str, criterion: str, needs: Iterable[str], exhibit: str = ""
) -> Callable[[Check], Check]:
    """Decorator that registers the check of a statement; parameters as for `Statement`."""
    for one in needs:
        check_choice("needs", one, RESULTS)

    def decorate(check: Check) -> Check:
        if number in _STATEMENTS:
            raise InvalidInputError(f"`number` must be unique, got {number} twice")
        _STATEMENTS[number] = Statement(
            number, text, place, criterion, tuple(needs), check, exhibit
        )
        return check

    return decorate


def list_statements() -> tuple[Statement, ...]:
    """Return all statements, by number.

    Examples
    --------
    >>> from vuskit.paper import list_statements
    >>> print(list_statements()[0].place)
    Introduction, Fig. 1
    """
    return tuple(_STATEMENTS[number] for number in sorted(_STATEMENTS))


def check_statements(material: Material) -> FindingTable:
    """Check all statements of the paper."""
    return FindingTable(tuple(_checked(one, material) for one in list_statements()))


def _checked(one: Statement, material: Material) -> Finding:
    stated = (one.number, one.text, one.place, one.criterion)
    try:
        found = one.check(material)
    except NotRequestedError:
        return Finding(*stated, Verdict.NOT_CHECKED, one.not_requested)
    except VuskitError as error:
        return Finding(*stated, Verdict.NOT_CHECKABLE, f"not measured: {error}")
    return Finding(
        *stated, found.verdict, found.text, found.holding, found.exceptions, found.scope.n_series
    )


def over_series(
    material: Material, datasets: Sequence[str], fewest_datasets: int = FEWEST_DATASETS
) -> Scope:
    """Return the scope of a mean over series, given the data set of each of them."""
    count = len(set(datasets))
    return Scope(len(datasets), count, material.real, FEWEST_SERIES, fewest_datasets)

"""The three published definitions of range-AUC and VUS, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vuskit.intervals import Ints

__all__ = ["DEFINITIONS", "JOURNAL", "Definition", "Ramps", "Side"]

Side = Literal["both", "before", "after"]


@dataclass(frozen=True)
class Definition:
    """Everything in which two definitions of VUS may differ.

    The kernels read every field except the name and the title.

    TimeEval also caps the false-positive rate at 1. No field says so, because the cap cannot
    matter. Let s_i <= 1 be the soft label of a normal point and S their sum. FP is the sum of
    1 - s_i over the predicted normal points, hence at most n - P - S. N' is n - P - S / 2 where P'
    is fixed, and at least that where P' follows the prediction. So FP <= N'.
    """

    name: str
    title: str
    slope: Literal["sqrt", "linear"]
    after_is_shorter: int  # points by which the ramp after an event is shorter
    overlap: Literal["one", "larger"]  # soft label of a point that touches two events
    positives: Literal["predicted", "fixed"]  # does P' follow the prediction?
    events: Literal["share a point", "touch", "apart"]  # when two buffered events count as one
    pr_area: Literal["step", "trapezoid"]  # a trapezoid starts at precision 1

    def weight(self, distance: Ints, width: Ints) -> NDArray[np.float64]:
        """Soft label at a distance from one event, for a buffer of the given width."""
        if self.slope == "sqrt":
            return np.asarray(np.sqrt(np.maximum(1.0 - distance / np.maximum(width, 1), 0.0)))
        half = np.maximum(width // 2, 1)
        return np.asarray(1.0 - (1.0 - np.sqrt(0.5)) * distance / half)


JOURNAL = Definition(
    name="journal",
    title="VUS journal paper",
    slope="sqrt",
    after_is_shorter=0,
    overlap="one",
    positives="predicted",
    events="share a point",
    pr_area="step",
)

DEFINITIONS = {
    definition.name: definition
    for definition in (
        JOURNAL,
        Definition(
            name="pvldb2022",
            title="first VUS paper (PVLDB 2022)",
            slope="sqrt",
            after_is_shorter=1,
            overlap="one",
            positives="fixed",
            events="touch",
            pr_area="trapezoid",
        ),
        Definition(
            name="timeeval",
            title="TimeEval",
            slope="linear",
            after_is_shorter=0,
            overlap="larger",
            positives="fixed",
            events="apart",
            pr_area="trapezoid",
        ),
    )
}


@dataclass(frozen=True)
class Ramps:
    """How far the buffer reaches on either side of an event, as the half-length grows."""

    before: bool
    after: bool
    shorter: int

    @classmethod
    def of(cls, definition: Definition, side: Side) -> Ramps:
        """Ramps of a definition, limited to one side or not."""
        return cls(side != "after", side != "before", definition.after_is_shorter)

    @property
    def equal(self) -> bool:
        """Whether the buffer reaches as far on either side."""
        return self.before and self.after and not self.shorter

    def reach_before(self, halves: Ints) -> Ints:
        """Number of buffer points before an event."""
        return halves if self.before else np.zeros_like(halves)

    def reach_after(self, halves: Ints) -> Ints:
        """Number of buffer points after an event."""
        if not self.after:
            return np.zeros_like(halves)
        return np.maximum(halves - self.shorter, 0) if self.shorter else halves

    def joined_from(self, gap: Ints, touching: bool) -> Ints:
        """Smallest half-length at which two events ``gap`` points apart become one."""
        needed = gap if touching else gap + 1
        if self.before and self.after:
            return (needed + self.shorter + 1) // 2
        return needed + self.shorter if self.after else needed

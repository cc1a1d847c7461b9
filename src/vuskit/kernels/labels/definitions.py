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
    """Definition of range-AUC and VUS: all properties in which definitions differ.

    The kernels use every field except the name and the title.

    TimeEval also caps the false-positive rate at 1. There is no field for this cap, because it has
    no effect. Let s_i <= 1 be the soft label of a normal point and S their sum. FP is the sum of
    1 - s_i over the predicted normal points, hence at most n - P - S. N' is n - P - S / 2 if P' is
    fixed, and at least that if P' follows the prediction. So FP <= N'.
    """

    name: str
    title: str
    slope: Literal["sqrt", "linear"]
    after_is_shorter: int  # points by which the ramp after an event is shorter
    overlap: Literal["one", "larger"]  # soft label of a point in the buffers of two events
    positives: Literal["predicted", "fixed"]  # whether P' follows the prediction
    events: Literal["share a point", "touch", "apart"]  # condition for merging buffered events
    pr_area: Literal["step", "trapezoid"]  # trapezoids start at precision 1

    def weight(self, distance: Ints, width: Ints) -> NDArray[np.float64]:
        """Return the soft label at a distance from an event, for a buffer of some width."""
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
    """Reach of the buffer on each side of an event, as a function of the half-length."""

    before: bool
    after: bool
    shorter: int

    @classmethod
    def of(cls, definition: Definition, side: Side) -> Ramps:
        """Return the ramps of a definition on one or both sides."""
        return cls(side != "after", side != "before", definition.after_is_shorter)

    @property
    def equal(self) -> bool:
        """Whether the buffer reaches equally far on both sides."""
        return self.before and self.after and not self.shorter

    def reach_before(self, halves: Ints) -> Ints:
        """Return the number of buffer points before an event."""
        return halves if self.before else np.zeros_like(halves)

    def reach_after(self, halves: Ints) -> Ints:
        """Return the number of buffer points after an event."""
        if not self.after:
            return np.zeros_like(halves)
        return np.maximum(halves - self.shorter, 0) if self.shorter else halves

    def joined_from(self, gap: Ints, touching: bool) -> Ints:
        """Return the smallest half-length at which events ``gap`` points apart are merged."""
        needed = gap if touching else gap + 1
        if self.before and self.after:
            return (needed + self.shorter + 1) // 2
        return needed + self.shorter if self.after else needed

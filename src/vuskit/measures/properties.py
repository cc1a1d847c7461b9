"""Table of measure properties."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit._util.tables import TableForms, TableLayout
from vuskit.measures.registry import Measure, MeasureProperties, Measures, resolve_measures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PropertyTable", "list_properties"]

_GROUPS = (("", 1), ("independent of", 2), ("adapted to", 1), ("free of", 1))
_HEADINGS = ("measure", "anomalies", "threshold", "sequences", "parameters")
_NAMES = tuple(field.name for field in fields(MeasureProperties))
_CELLS = {True: "yes", False: "no", None: "-"}
_NOTE = (
    "Independent of anomalies: repeating the series leaves the value unchanged, at fixed options. "
    "Independent of threshold: order-preserving maps of the score leave it unchanged. Adapted to "
    "sequences: the order of the points matters. Free of parameters: no threshold, number of "
    "points, buffer, weight or slack to choose."
)
_VUS_NOTE = (
    "VUS: as in the paper, which averages over all buffers up to L. The value still depends on L, "
    "which the evaluation takes from the data unless you choose it."
)
_UNDECLARED = '"-": not declared.'


@dataclass(frozen=True)
class PropertyTable(TableForms):
    """Properties of measures, as in Table 1 of the VUS paper; see :func:`list_properties`.

    Attributes
    ----------
    measures : tuple of Measure
        The measures, one per row.
    """

    measures: tuple[Measure, ...]

    @property
    def _layout(self) -> TableLayout:
        rows = [
            [measure.title, *(_CELLS[value] for value in astuple(measure.properties))]
            for measure in self.measures
        ]
        groups = [
            (measure.group, measure.family in ("range_auc", "vus")) for measure in self.measures
        ]
        rules = [place for place in range(1, len(rows)) if groups[place] != groups[place - 1]]
        return TableLayout(_HEADINGS, rows, notes=self._notes(), groups=_GROUPS, rules=rules)

    def _notes(self) -> list[str]:
        notes = [_NOTE]
        if any(measure.family == "vus" for measure in self.measures):
            notes.append(_VUS_NOTE)
        if any(None in astuple(measure.properties) for measure in self.measures):
            notes.append(_UNDECLARED)
        return notes

    def records(self) -> list[dict[str, Any]]:
        """Return one dict per measure with its name, title, group and four properties."""
        return [
            {
                "name": measure.name,
                "title": measure.title,
                "group": measure.group,
                **dict(zip(_NAMES, astuple(measure.properties), strict=True)),
            }
            for measure in self.measures
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas DataFrame with the columns of :meth:`records`.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        pandas = require("pandas", purpose="to_frame()")
        frame: pd.DataFrame = pandas.DataFrame(self.records())
        return frame.astype(dict.fromkeys(_NAMES, "boolean"))

    def __str__(self) -> str:
        return self.to_text()


def list_properties(measures: Measures = "all") -> PropertyTable:
    """List four properties of measures; see :class:`MeasureProperties`.

    Parameters
    ----------
    measures : "paper", "extra", "all", name, or iterable of names and measures, default="all"
        Measures to list.

    Returns
    -------
    PropertyTable
        Convert it with ``to_text()``, ``to_latex()``, ``to_markdown()``, ``to_html()`` or
        ``to_frame()``.

    Raises
    ------
    InvalidInputError
        If a measure is not registered.

    Examples
    --------
    >>> from vuskit import list_properties
    >>> list_properties(["precision_at_k", "auc_pr"]).records()[0]["independent_of_anomalies"]
    False
    """
    return PropertyTable(resolve_measures(measures))

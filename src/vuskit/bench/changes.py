"""Compare old and new values after the data, code or settings of a run changed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vuskit._util.files import write_atomically
from vuskit._util.optional import require
from vuskit._util.tables import frame_csv
from vuskit._util.text import plural
from vuskit.bench.run import Run

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BEFORE", "ValueChanges", "find_changes", "keep_values"]

BEFORE = "values-before.csv"
"""Values of the previous plan, in the run folder; written when a run repeats finished jobs."""

_PLACE = ["dataset", "series", "detector", "seed", "measure"]
_COLUMNS = ["dataset", "series", "detector", "seed", "settings", "measure", "value"]
_TOLERANCE = 1e-9  # other libraries and processors round differently


@dataclass(frozen=True)
class ValueChanges:
    """How values differ from the previous ones.

    Attributes
    ----------
    path : Path
        File with the old values.
    n_compared, n_changed : int
        Number of values in both plans, and of those that differ by more than 1e-9.
    largest : str
        The largest change; empty if there is none.
    """

    path: Path
    n_compared: int
    n_changed: int
    largest: str

    def __str__(self) -> str:
        if not self.n_changed:
            return f"none of the {plural(self.n_compared, 'earlier value')} changed"
        return (
            f"{self.n_changed:,} of {plural(self.n_compared, 'value')} changed; largest change: "
            f"{self.largest}"
        )


def keep_values(run: Run) -> Path | None:
    """Write the values of a run to a file in its folder, before a new plan replaces them.

    Parameters
    ----------
    run : Run
        The run.

    Returns
    -------
    Path or None
        The file; None if the run has no values.
    """
    values = run.values()
    if not len(values):
        return None
    path = run.folder / BEFORE
    write_atomically(path, frame_csv(values[_COLUMNS]) + "\n")
    return path


def find_changes(run: Run, path: Path) -> ValueChanges:
    """Compare the values of a run, by name, with those that `keep_values` saved.

    Parameters
    ----------
    run : Run
        The run.
    path : Path
        The file.
    """
    pandas = require("pandas", purpose="a comparison of values")
    text = dict.fromkeys(("dataset", "series", "detector", "settings", "measure"), str)
    old = pandas.read_csv(path, dtype=text, keep_default_na=False, na_values={"seed": [""]})
    new = run.values()
    keys = list(_PLACE)
    if max(old["settings"].nunique(), new["settings"].nunique()) > 1:
        keys.append("settings")
    both = _by_place(old, keys).to_frame("old").join(_by_place(new, keys).to_frame("new"))
    both = both.dropna()
    difference = (both["new"] - both["old"]).abs()
    changed = both[difference > _TOLERANCE]
    largest = ""
    if len(changed):
        place = difference.idxmax()
        names = dict(zip(keys, place, strict=True))
        row = both.loc[place]
        seed = "" if math.isnan(names["seed"]) or names["seed"] < 0 else f" seed {names['seed']:g}"
        largest = (
            f"{names['measure']} of {names['detector']}{seed} on "
            f"{names['dataset']}/{names['series']}, {row['old']:.3f} -> {row['new']:.3f}"
        )
    return ValueChanges(path, len(both), len(changed), largest)


def _by_place(values: pd.DataFrame, keys: list[str]) -> pd.Series:
    """Values by name; a missing seed becomes -1, because NaN never compares equal."""
    seeds = values["seed"].astype("float64").fillna(-1.0)
    found: pd.Series = values.assign(seed=seeds).groupby(keys)["value"].last()
    return found

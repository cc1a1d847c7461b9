"""What a run knows of its measures, without importing the modules that define them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from vuskit.bench.reading import latest_run, open_for_reading
from vuskit.errors import InvalidInputError
from vuskit.measures.registry import Measure, list_measures

__all__ = [
    "measure_called",
    "measures_in_order",
    "measures_of",
    "read_measures",
    "read_wanted_measures",
]


def read_measures(folder: Path) -> dict[str, Measure]:
    """Measures of the latest plan by name, in the order of tables.

    Title, family, bounds and direction are those that the run stored, so that a measure of one's
    own is known where the module that registers it is not. It cannot be computed there.

    Parameters
    ----------
    folder : Path
        The run folder.

    Raises
    ------
    InvalidInputError
        If there is no run.

    Examples
    --------
    >>> read_measures(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    with closing(open_for_reading(folder)) as connection:
        return measures_of(connection, latest_run(connection, folder))


def read_wanted_measures(folder: Path) -> dict[str, tuple[str, ...]]:
    """Names of the measures that the latest plan asks for, by settings.

    Raises
    ------
    InvalidInputError
        If there is no run.

    Examples
    --------
    >>> read_wanted_measures(Path("nowhere"))
    Traceback (most recent call last):
    vuskit.errors.InvalidInputError: `folder` must hold a benchmark run, got 'nowhere'
    """
    with closing(open_for_reading(folder)) as connection:
        wanted = json.loads(latest_run(connection, folder)["wanted"])
    found: dict[str, tuple[str, ...]] = {}
    for settings, name, *_ in wanted:
        found[settings] = (*found.get(settings, ()), name)
    return found


def measures_of(connection: sqlite3.Connection, run: sqlite3.Row) -> dict[str, Measure]:
    """Measures that a run asks for, as `read_measures`."""
    # The plan of an earlier version of the store names no identities: the latest one it is.
    wanted = [tuple(entry) for entry in json.loads(run["wanted"])]
    names = {entry[1] for entry in wanted}
    identities = {entry[2] for entry in wanted if len(entry) > 2}
    found: dict[str, Measure] = {}
    for row in connection.execute("SELECT * FROM measures ORDER BY id"):
        if row["name"] in names and (not identities or row["identity"] in identities):
            found[row["name"]] = _stored(row)
    for name in names - set(found):
        found[name] = measure_called(name)
    return {name: found[name] for name in measures_in_order(found)}


def _stored(row: sqlite3.Row) -> Measure:
    known = measure_called(row["name"])
    if row["title"] is None:  # entered by a version that did not ask
        return known
    return replace(
        known,
        title=row["title"],
        family=row["family"],
        bounds=(row["lowest"], row["highest"]),
        higher_is_better=bool(row["higher_is_better"]),
        reference=row["reference"],
    )


def measure_called(name: str) -> Measure:
    """Look a measure up by its name in tables, also with options.

    One that is not registered here keeps its name, and higher values count as better.

    Examples
    --------
    >>> measure_called("f_score(beta=2)").title
    'F(beta=2)'
    >>> measure_called("mine").title
    'mine'
    """
    base, bracket, options = name.partition("(")
    for measure in list_measures():
        if measure.name == base:
            if not bracket:
                return measure
            title = measure.title.partition("(")[0]
            return replace(measure, name=name, title=f"{title}({options}", declaration=None)
    return Measure(name=name, title=name, function=_unknown)


def _unknown(*_: Any) -> float:
    raise InvalidInputError("the measure must be registered here to be computed, got its name only")


def measures_in_order(names: Iterable[str]) -> list[str]:
    """Names of measures in the order of the registry, variants after their measure, own ones last.

    Examples
    --------
    >>> measures_in_order(["vus_pr", "my_own", "f_score(beta=2)", "precision"])
    ['precision', 'f_score(beta=2)', 'vus_pr', 'my_own']
    """
    # Own ones by name: the order must not depend on whether their module was imported.
    package = [one.name for one in list_measures() if one.function.__module__.startswith("vuskit.")]
    order = {name: place for place, name in enumerate(package)}
    return sorted(names, key=lambda name: (order.get(name.partition("(")[0], len(order)), name))

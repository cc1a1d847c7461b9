"""Tables 1 to 3: properties of the measures, complexity of the algorithms, and data sets."""

from __future__ import annotations

from vuskit.datasets import describe
from vuskit.measures.properties import list_properties
from vuskit.paper.exhibits import Built, NotPossibleError, exhibit
from vuskit.paper.material import Material
from vuskit.paper.words import joined, number, plural, series_count
from vuskit.studies.timing.contestants import CONTESTANTS
from vuskit.studies.timing.tables import complexity_table, exponents

__all__: list[str] = []


@exhibit("table", 1, "properties", title="Properties of the measures")
def properties(material: Material) -> Built:
    """Four properties of each measure of the paper."""
    table = list_properties("paper")
    frame = table.to_frame()
    names = list(frame.columns[3:])
    counts = {name: int(frame[name].fillna(value=False).sum()) for name in names}
    every = [
        str(title)
        for title, row in zip(frame["title"], frame[names].to_numpy(), strict=True)
        if all(bool(value) for value in row)
    ]
    caption = (
        f"Of {plural(len(frame), 'measure')}, {counts[names[0]]} do not depend on the number of "
        f"anomalies, {counts[names[1]]} need no threshold, {counts[names[2]]} are adapted to "
        f"sequences, and {counts[names[3]]} have no parameters. All four properties: "
        f"{joined(every) or 'none'}."
    )
    return Built(caption, frame, layout=table)


@exhibit("table", 2, "complexity", title="Complexity of the algorithms", needs=["timing"])
def complexity(material: Material) -> Built:
    """Complexity in time and space, with exponents fitted on this machine."""
    frame = complexity_table(material.timing)
    if frame.empty:
        raise NotPossibleError("no algorithm of VUS was measured; raise the budget")
    found = {
        (row.contestant, row.parameter): row.exponent
        for row in exponents(material.timing).itertuples()
        if row.quantity == "time"
    }
    said = [
        f"{CONTESTANTS[name].title} {found[name, 'n_points']:.2f}"
        for name in ("naive", "opt", "opt_mem")
        if (name, "n_points") in found
    ]
    caption = (
        "Complexity, and exponents fitted to the medians, with R² in brackets. Constant costs make "
        "exponents smaller than the complexity suggests. Exponents of the length in time: "
        f"{', '.join(said) or 'too few lengths were measured'}. T: length; T1, T2: passes over the "
        "series; a, l: number and mean length of anomalies; L: longest buffer; N: thresholds; D: "
        "points that a buffer can reach."
    )
    return Built(caption, frame)


@exhibit("table", 3, "datasets", title="Data sets", needs=["consistency"])
def datasets(material: Material) -> Built:
    """Number of series by data set, and mean length, anomalies and density."""
    if not material.sources_used:
        raise NotPossibleError("there are no series")
    table = describe(source.read().series for source in material.sources_used)
    rows = table.rows
    longest = max(rows, key=lambda row: row.mean_length)
    densest = max(rows, key=lambda row: row.density)
    caption = (
        f"{series_count(sum(row.n_series for row in rows))} in {plural(len(rows), 'data set')}. "
        "All numbers are means over the series of a data set. "
        f"{longest.dataset} has the longest series ({number(longest.mean_length)} points), "
        f"{densest.dataset} the highest share of anomalous points "
        f"({100 * densest.density:.1f}%)."
    )
    return Built(caption, table.to_frame(), layout=table)

"""Tables 1 to 3: properties of measures, complexity of algorithms, and data sets."""

from __future__ import annotations

from vuskit.datasets import describe
from vuskit.measures import list_properties
from vuskit.paper.exhibits import Built, NotPossibleError, exhibit
from vuskit.paper.material import Material
from vuskit.paper.words import number, plural, series_count
from vuskit.studies.timing import CONTESTANTS, complexity_table, exponents

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
        f"{plural(len(frame), 'measure')}. {counts[names[1]]} need no threshold, "
        f"{counts[names[2]]} are adapted to sequences, {counts[names[3]]} are free of parameters; "
        f"{', '.join(every) or 'none'} have all four properties."
    )
    return Built(caption, frame, layout=table)


@exhibit("table", 2, "complexity", title="Complexity of the algorithms", needs=["timing"])
def complexity(material: Material) -> Built:
    """Complexity of time and space, with the exponents fitted on this machine."""
    frame = complexity_table(material.timing)
    if frame.empty:
        raise NotPossibleError("no algorithm of VUS was measured; raise the budget")
    found = {
        (row.contestant, row.parameter): row.exponent
        for row in exponents(material.timing).rows
        if row.quantity == "time"
    }
    said = [
        f"{CONTESTANTS[name].title} grows with the length to the power "
        f"{found[name, 'n_points']:.2f}"
        for name in ("naive", "opt", "opt_mem")
        if (name, "n_points") in found
    ]
    caption = (
        f"Time: {'; '.join(said) or 'too few lengths were measured'}. Exponents are fitted to the "
        "medians, with R² in brackets; constant costs make them smaller than the complexity says. "
        "T: length; a, l: number and mean length of anomalies; L: longest buffer; N: thresholds; "
        "D: points that a buffer can reach."
    )
    return Built(caption, frame)


@exhibit("table", 3, "datasets", title="Data sets", needs=["consistency"])
def datasets(material: Material) -> Built:
    """Number of series, and means of length, anomalies and density."""
    if not material.sources_used:
        raise NotPossibleError("there are no series")
    table = describe(source.read().series for source in material.sources_used)
    rows = table.rows
    longest = max(rows, key=lambda row: row.mean_length)
    densest = max(rows, key=lambda row: row.density)
    caption = (
        f"{series_count(sum(row.n_series for row in rows))} in {plural(len(rows), 'data set')}. "
        f"{longest.dataset} has the longest series (mean {number(longest.mean_length)} points), "
        f"{densest.dataset} the highest share of anomalous points "
        f"({100 * densest.density:.1f} %). Means over the series of a data set."
    )
    return Built(caption, table.to_frame(), layout=table)

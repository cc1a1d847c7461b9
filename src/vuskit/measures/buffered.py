"""One road for R-AUC and VUS: check, choose the algorithm, read the value off the areas."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from vuskit.algorithms import ALGORITHMS, areas, range_rates
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_pair
from vuskit.measures.workspace import BufferOptions, PreparedLabels, Workspace, defined

__all__ = ["areas_of", "check_algorithm"]


def areas_of(
    y_true: ArrayLike,
    y_score: ArrayLike,
    options: BufferOptions,
    algorithm: str,
    memory_limit: int | None,
    name: str,
    read: Callable[[Workspace], float],
) -> float:
    """Value that ``read`` takes from the areas of one score."""
    check_algorithm(algorithm, options)
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, name, stacklevel=3):
        return float("nan")
    prepared = PreparedLabels(labels, options)
    prepared.warn_if_coarse(stacklevel=3)
    workspace = Workspace(prepared, scores, needs={"areas"})
    if algorithm != "fast":
        assert options.thresholds is not None
        rates = range_rates(
            labels.as_array(),
            scores,
            options.widths.tolist(),
            options.thresholds,
            algorithm=algorithm,
            memory_limit=memory_limit,
        )
        workspace.areas = areas(rates)
    return read(workspace)


def check_algorithm(algorithm: str, options: BufferOptions) -> None:
    """Refuse what the paper's own algorithms do not compute."""
    check_choice("algorithm", algorithm, ("fast", *ALGORITHMS))
    if algorithm == "fast":
        return
    if options.thresholds is None:
        raise InvalidInputError(
            f"`thresholds` must be an int >= 2 for algorithm={algorithm!r}, got None"
        )
    if options.definition != "journal":
        raise InvalidInputError(
            f"`definition` must be 'journal' for algorithm={algorithm!r}, "
            f"got {options.definition!r}"
        )
    if options.side != "both":
        raise InvalidInputError(
            f"`side` must be 'both' for algorithm={algorithm!r}, got {options.side!r}"
        )

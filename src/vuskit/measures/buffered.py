"""One road for R-AUC and VUS: check, choose the algorithm, read the value off the areas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from vuskit.algorithms import ALGORITHMS, areas, range_rates
from vuskit.buffers import check_buffer
from vuskit.errors import InvalidInputError
from vuskit.inputs import check_choice, check_pair
from vuskit.kernels.definitions import JOURNAL
from vuskit.measures.settings import Buffer, EvaluationSettings
from vuskit.measures.workspace import AreaSettings, PreparedLabels, Workspace, defined

__all__ = ["area_settings", "areas_of", "check_algorithm"]


def area_settings(
    buffer: Buffer | None,
    max_buffer: Buffer | None = None,
    *,
    values: ArrayLike | None,
    y_true: ArrayLike,
    with_volume: bool,
    **settings: Any,
) -> AreaSettings:
    """Area settings of a function's arguments.

    Raises
    ------
    TypeError
        If there is no buffer, or two.
    InvalidInputError
        If a setting is invalid.
    """
    name = "buffer"
    if max_buffer is not None:
        if buffer is not None:
            raise TypeError("got both 'buffer' and its synonym 'max_buffer'; give one of them")
        buffer, name = check_buffer(max_buffer, name="max_buffer"), "max_buffer"
    if buffer is None:
        raise TypeError("missing a required keyword argument: 'buffer'")
    checked = EvaluationSettings(buffer=buffer, **settings)
    length = checked.choose_buffer(y_true=y_true, values=values).length
    return AreaSettings.of(checked, length, with_volume=with_volume, name=name)


def areas_of(
    y_true: ArrayLike,
    y_score: ArrayLike,
    options: AreaSettings,
    algorithm: str,
    memory_limit: int | None,
    name: str,
    read: Callable[[Workspace], float],
) -> float:
    """Value that ``read`` takes from the areas of one score."""
    check_algorithm(algorithm, options)
    labels, scores = check_pair(y_true, y_score)
    if not defined(labels, name):
        return float("nan")
    prepared = PreparedLabels(labels, options)
    prepared.warn_if_coarse()
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


def check_algorithm(algorithm: str, options: AreaSettings) -> None:
    """Refuse what the paper's own algorithms do not compute."""
    check_choice("algorithm", algorithm, ("fast", *ALGORITHMS))
    if algorithm == "fast":
        return
    if options.thresholds is None:
        raise InvalidInputError(
            f"`thresholds` must be an int >= 2 for algorithm={algorithm!r}, got None"
        )
    if options.definition != JOURNAL.name:
        raise InvalidInputError(
            f"`definition` must be {JOURNAL.name!r} for algorithm={algorithm!r}, "
            f"got {options.definition!r}"
        )
    if options.side != "both":
        raise InvalidInputError(
            f"`side` must be 'both' for algorithm={algorithm!r}, got {options.side!r}"
        )

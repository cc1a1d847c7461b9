"""The threshold rule "best": the score at which an F-score is highest, found by its labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from vuskit.inputs import Labels, check_choice
from vuskit.kernels.best import best_point_level
from vuskit.kernels.ranking import Scores
from vuskit.measures.thresholds import is_best
from vuskit.measures.workspace import Workspace

__all__ = ["at_best", "best_finder", "finds_best"]


Finder = TypeVar("Finder", bound=Callable[..., Any])

_FINDERS: dict[str, Callable[..., Any]] = {}


def finds_best(measure: str) -> Callable[[Finder], Finder]:
    """Register how the threshold is found at which an F-score is highest, by decoration.

    The function gets the scores, the labels, beta and the options of the measure.
    """

    def decorate(finder: Finder) -> Finder:
        _FINDERS[measure] = finder
        return finder

    return decorate


@finds_best("f_score")
def _best_point_level(scores: Scores, labels: Labels, beta: float) -> Any:
    return best_point_level(scores, labels.inside, beta)


def best_finder(measure: str) -> Callable[..., Any]:
    """The function that finds the best threshold of a measure: see :func:`finds_best`.

    Raises
    ------
    InvalidInputError
        If there is none.
    """
    return _FINDERS[check_choice("measure", measure, _FINDERS)]


def at_best(workspace: Workspace, measure: str, beta: float = 1.0, **options: Any) -> Workspace:
    """The workspace; where its threshold is "best", with the prediction at a measure's best one."""
    if workspace.prediction is not None or not is_best(workspace.threshold):
        return workspace

    def cut() -> Workspace:
        scores = workspace.ranked_scores
        level = best_finder(measure)(scores, workspace.labels, beta, **options)
        return Workspace(workspace.prepared, scores, prediction=scores >= level)

    found: Workspace = workspace.keep(f"best {measure} {beta} {options}", cut)
    return found

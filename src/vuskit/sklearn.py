"""Scorers for scikit-learn's ``cross_validate`` and ``GridSearchCV``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from vuskit._util.optional import require
from vuskit.errors import InvalidInputError
from vuskit.inputs import align_to_index, index_of
from vuskit.measures.evaluate import evaluate
from vuskit.measures.registry import Measure, Measures, resolve_measures
from vuskit.measures.settings import EvaluationSettings, SettingOptions, settings_for

__all__ = ["Scorer", "anomaly_scores", "scorer"]

_RESPONSES = ("auto", "decision_function", "score_samples", "predict_proba")


def scorer(
    measures: Measures = "vus_pr",
    *,
    pos_label: Any = 1,
    response: str = "auto",
    settings: EvaluationSettings | None = None,
    **options: Unpack[SettingOptions],
) -> Scorer:
    """Create a scorer for the ``scoring`` argument of scikit-learn.

    Parameters
    ----------
    measures : name, title, function, or list of these, default="vus_pr"
        Measures to compute. A list creates a multi-metric scorer that predicts only once.
    pos_label : object, default=1
        Label of anomalous points. Use -1 if -1 marks outliers and 1 marks inliers.
    response : {"auto", "decision_function", "score_samples", "predict_proba"}, default="auto"
        Method of the estimator that returns the scores. ``"auto"`` uses the first available of
        ``predict_proba`` (classifiers only), ``decision_function`` and ``score_samples``.
    settings : EvaluationSettings, optional
        Base settings; keywords override them.
    buffer, thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor,
    nan
        As for :func:`vuskit.evaluate`.

    Returns
    -------
    Scorer
        Callable as ``scorer(estimator, X, y)``.

    Raises
    ------
    InvalidInputError
        If a measure or a setting is invalid.
    TypeError
        If a measure needs a buffer and none is given.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.model_selection import TimeSeriesSplit, cross_val_score
    >>> from vuskit.sklearn import scorer
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(400, 1)), np.zeros(400, dtype=int)
    >>> for start in (120, 220, 320):
    ...     X[start : start + 10] += 6
    ...     y[start : start + 10] = 1
    >>> model = IsolationForest(random_state=0)
    >>> vus = scorer("vus_pr", buffer=10)
    >>> bool((cross_val_score(model, X, y, scoring=vus, cv=TimeSeriesSplit(3)) > 0.5).all())
    True
    """
    if response not in _RESPONSES:
        raise InvalidInputError(f"`response` must be one of {_RESPONSES}, got {response!r}")
    found = resolve_measures(measures)
    single = len(found) == 1 and not isinstance(measures, (list, tuple))
    return Scorer(found, settings_for(found, settings, options), single, pos_label, response)


@dataclass(frozen=True)
class Scorer:
    """Scorer for one or several measures; create it with :func:`scorer`.

    Higher is better, as scikit-learn requires. Measures for which lower is better are negated.

    Attributes
    ----------
    measures : tuple of Measure
        Measures to compute.
    settings : EvaluationSettings
        Settings of the measures.
    single : bool
        Whether it returns a number instead of a dict.
    pos_label : object
        Label of anomalous points.
    response : str
        Method of the estimator that returns the scores.
    """

    measures: tuple[Measure, ...]
    settings: EvaluationSettings
    single: bool = True
    pos_label: Any = 1
    response: str = "auto"

    def __call__(self, estimator: Any, X: Any, y: Any) -> Any:
        """Score a fitted estimator on points in time order.

        Raises
        ------
        InvalidInputError
            If the rows are not in time order, the indexes of `X` and `y` do not match, or labels or
            scores are invalid.
        """
        _check_order(X)
        y = align_to_index(index_of(X), y, "X", "y")
        scores = anomaly_scores(estimator, X, response=self.response, pos_label=self.pos_label)
        strategy = self.settings.buffer if isinstance(self.settings.buffer, str) else None
        result = evaluate(
            _is_anomalous(y, self.pos_label),
            scores,
            measures=self.measures,
            settings=self.settings,
            values=None if strategy is None else np.asarray(X, dtype=float),
        )
        found = {
            one.name: result[one.name] if one.higher_is_better else -result[one.name]
            for one in self.measures
        }
        return next(iter(found.values())) if self.single else found

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.measures)
        return f"scorer({names}; {self.settings})"


def anomaly_scores(
    estimator: Any, X: Any, *, response: str = "auto", pos_label: Any = 1
) -> NDArray[np.float64]:
    """Return the anomaly scores of a fitted estimator, higher meaning more anomalous.

    =================================  ======================================
    estimator                          score
    =================================  ======================================
    classifier, ``predict_proba``      probability of ``pos_label``
    classifier, ``decision_function``  unchanged; negated if ``pos_label`` is the first class
    outlier or density model           negated, because scikit-learn scores normal points higher
    PyOD model                         unchanged
    =================================  ======================================

    Parameters
    ----------
    estimator : object
        Fitted estimator. For a pipeline, its last step decides.
    X : array-like of shape (n, d)
        Points to score.
    response, pos_label
        As for :func:`scorer`.

    Raises
    ------
    InvalidInputError
        If the estimator lacks the method, or ``pos_label`` is not one of its classes.

    Examples
    --------
    >>> from sklearn.covariance import EllipticEnvelope
    >>> X = [[0.0], [0.1], [-0.1], [0.2], [5.0]]
    >>> model = EllipticEnvelope(random_state=0).fit(X[:4])
    >>> int(anomaly_scores(model, X).argmax())
    4
    """
    base = require("sklearn.base", purpose="vuskit.sklearn")
    method = _method(estimator, response, is_classifier=base.is_classifier(estimator))
    found: NDArray[np.float64] = np.asarray(getattr(estimator, method)(X), dtype=np.float64)
    if base.is_classifier(estimator):
        return _of_class(found, list(estimator.classes_), pos_label)
    return found if _is_pyod(estimator) else -found


def _method(estimator: Any, response: str, *, is_classifier: bool) -> str:
    if response != "auto":
        wanted = [response]
    else:
        wanted = ["decision_function", "score_samples"]
        wanted = ["predict_proba", *wanted] if is_classifier else wanted
    for name in wanted:
        if hasattr(estimator, name):
            return name
    kind = type(estimator).__name__
    hint = "; set novelty=True" if kind == "LocalOutlierFactor" else ""
    raise InvalidInputError(f"`estimator` must have {' or '.join(wanted)}, got {kind}{hint}")


def _of_class(
    found: NDArray[np.float64], classes: list[Any], pos_label: Any
) -> NDArray[np.float64]:
    if pos_label not in classes or len(classes) > 2:
        raise InvalidInputError(
            f"`pos_label` must be one of two classes, got {pos_label!r} of {classes}; make sure "
            "that every training split contains both classes"
        )
    if found.ndim == 2:
        found = found[:, classes.index(pos_label)]
        return found
    return found if classes.index(pos_label) == 1 else -found


def _is_pyod(estimator: Any) -> bool:
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if steps else estimator
    return any(base.__module__.partition(".")[0] == "pyod" for base in type(last).__mro__)


def _is_anomalous(y: Any, pos_label: Any) -> NDArray[np.int8]:
    labels = np.asarray(y)
    found = set(np.unique(labels).tolist())
    if pos_label == 1 and found == {-1, 1}:
        raise InvalidInputError(
            "`y` must be 0 or 1, got -1 and 1; pass pos_label=-1 if -1 marks outliers, "
            "or recode the labels"
        )
    if len(found) > 2:
        raise InvalidInputError(
            f"`y` must have two classes, got {sorted(found)[:5]}; recode the labels"
        )
    return np.asarray(labels == pos_label, dtype=np.int8)


def _check_order(X: Any) -> None:
    """Reject a data frame whose rows were shuffled by a split."""
    index: Any = getattr(X, "index", None)
    rising = getattr(index, "is_monotonic_increasing", True)
    if not rising and getattr(index, "is_unique", False) and index.dtype.kind in "iuM":
        raise InvalidInputError(
            "`X` must have its rows in time order, got an index that is not sorted; use "
            "TimeSeriesSplit, or KFold without shuffle"
        )

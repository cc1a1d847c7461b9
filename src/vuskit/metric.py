"""Metric that collects scores batch by batch, in the style of torchmetrics but without torch."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vuskit.errors import InvalidInputError, UndefinedMeasureWarning, warn
from vuskit.inputs import align_to_labels, as_array
from vuskit.measures.evaluate import evaluate
from vuskit.measures.registry import Measures, resolve_measures
from vuskit.measures.results import Evaluation
from vuskit.measures.settings import EvaluationSettings, SettingOptions, settings_for

__all__ = ["SeriesMetric"]


@dataclass
class _Chunks:
    """Batches of one series, in order of arrival."""

    labels: list[NDArray[Any]] = field(default_factory=list)
    scores: list[NDArray[Any]] = field(default_factory=list)
    values: list[NDArray[Any]] = field(default_factory=list)


class SeriesMetric:
    """Compute measures from scores that arrive in batches, over one or many series.

    ``update`` collects batches, ``compute`` evaluates each series and returns the mean over the
    series, ``reset`` removes all batches. Inputs are lists, NumPy arrays, pandas objects or torch
    tensors in CPU memory (also with gradients).

    Parameters
    ----------
    measures : name, title, function, or list of these, default="vus_pr"
        Measures to compute. ``compute`` returns a number for a single measure and a dict for a
        list.
    settings : EvaluationSettings, optional
        Base settings; keywords override them.
    buffer, thresholds, definition, step, side, threshold, k, buffer_fallback, volume_factor,
    nan
        As for :func:`vuskit.evaluate`.

    Raises
    ------
    InvalidInputError
        If a measure or a setting is invalid.
    TypeError
        If a measure needs a buffer and none is given.

    Examples
    --------
    >>> metric = SeriesMetric("vus_pr", buffer=2)
    >>> metric.update([0, 0, 1], [0.1, 0.2, 0.7])
    >>> metric.update([1, 0, 0], [0.9, 0.8, 0.3])
    >>> round(metric.compute(), 3)
    0.869
    >>> metric.reset()
    """

    def __init__(
        self,
        measures: Measures = "vus_pr",
        *,
        settings: EvaluationSettings | None = None,
        **options: Unpack[SettingOptions],
    ) -> None:
        self.measures = resolve_measures(measures)
        self.settings = settings_for(self.measures, settings, options)
        self._single = len(self.measures) == 1 and not isinstance(measures, (list, tuple))
        self._series: dict[Hashable, _Chunks] = {}

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        series: Hashable = None,
        values: ArrayLike | None = None,
    ) -> None:
        """Append a batch to a series. Add the batches of a series in time order.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            1 for anomalous points, 0 for normal ones.
        y_score : array-like of shape (n,)
            Anomaly scores, higher meaning more anomalous.
        series : hashable, optional
            Key of the series. All batches without a key belong to the same series.
        values : array-like of shape (n,) or (n, d), optional
            Values of the series, for buffer strategies based on the period.

        Raises
        ------
        InvalidInputError
            If the lengths differ, the labels are not 0 and 1, or indexes do not match.
        """
        y_true, y_score, values = align_to_labels(y_true, y_score=y_score, values=values)
        labels, scores = _copied("y_true", y_true), _copied("y_score", y_score)
        if labels.shape != scores.shape or labels.ndim != 1:
            raise InvalidInputError(
                "`y_true` and `y_score` must be 1-D arrays of equal length, got shapes "
                f"{labels.shape} and {scores.shape}"
            )
        wrong = (labels != 0) & (labels != 1)
        if wrong.any():
            bad = int(wrong.argmax())
            raise InvalidInputError(
                f"`y_true` must be 0 or 1, got {labels[bad]!s} at index {bad}; pass labels first: "
                "update(y_true, y_score)"
            )
        chunks = self._series.setdefault(series, _Chunks())
        chunks.labels.append(labels)
        chunks.scores.append(scores)
        if values is not None:
            chunks.values.append(_copied("values", values))

    def compute(self) -> Any:
        """Return the mean over the series: a float for a single measure, a dict for a list.

        Series for which a measure is undefined (only one class) are ignored. The mean is NaN if
        no series remains.

        Warns
        -----
        UndefinedMeasureWarning
            If a measure is undefined for every series.
        """
        means = self._means()
        return next(iter(means.values())) if self._single else means

    def per_series(self) -> dict[Hashable, Evaluation]:
        """Return the evaluation of each series by key."""
        found = {}
        for key, chunks in self._series.items():
            values = np.concatenate(chunks.values) if chunks.values else None
            found[key] = evaluate(
                np.concatenate(chunks.labels),
                np.concatenate(chunks.scores),
                measures=self.measures,
                settings=self.settings,
                values=values,
            )
        return found

    def _means(self) -> dict[str, float]:
        if not self._series:
            raise InvalidInputError(
                "`compute` must follow at least one `update`, got none; call update first"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            found = list(self.per_series().values())
        means = {}
        for measure in self.measures:
            numbers = [one[measure.name] for one in found if not np.isnan(one[measure.name])]
            means[measure.name] = float(np.mean(numbers)) if numbers else float("nan")
            if not numbers:
                warn(
                    f"{measure.name} is undefined for every series ({len(found)}); returning NaN.",
                    UndefinedMeasureWarning,
                )
        return means

    def reset(self) -> None:
        """Remove all batches."""
        self._series.clear()

    def merge(self, other: SeriesMetric) -> None:
        """Append the batches of another metric, for example from another process.

        Raises
        ------
        InvalidInputError
            If measures or settings differ.
        """
        mine = [one.name for one in self.measures], self.settings
        if mine != ([one.name for one in other.measures], other.settings):
            raise InvalidInputError(
                "`other` must have the same measures and settings, got "
                f"{[one.name for one in other.measures]} with {other.settings}"
            )
        for key, chunks in other._series.items():
            own = self._series.setdefault(key, _Chunks())
            own.labels += chunks.labels
            own.scores += chunks.scores
            own.values += chunks.values

    def __len__(self) -> int:
        """Number of series."""
        return len(self._series)

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.measures)
        return f"SeriesMetric({names}; {self.settings}; {len(self)} series)"


def _copied(name: str, values: Any) -> NDArray[Any]:
    # Copy, because training loops reuse the memory of their batches.
    return np.array(as_array(name, values))

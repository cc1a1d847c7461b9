"""Results of an evaluation: values with their settings, and warnings about inverted scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vuskit._util.optional import require
from vuskit._util.tables import Cell, TableForms, TableLayout
from vuskit._util.text import listed, plain_name
from vuskit.errors import InvertedScoreWarning, warn
from vuskit.inputs import missing_note

if TYPE_CHECKING:
    from vuskit.measures.chance import ChanceLevel
    from vuskit.measures.evaluate import Evaluator
    from vuskit.measures.registry import Measure
    from vuskit.measures.settings import EvaluationSettings
    from vuskit.measures.uncertainty import IntervalTable

__all__ = [
    "FAR_BELOW_CHANCE",
    "Comparison",
    "Evaluation",
    "inverted_note",
    "inverted_text",
    "looks_inverted",
    "warn_if_inverted",
]

_LINE = 79

FAR_BELOW_CHANCE = 0.2  # AUC-ROC
_FEWEST_POINTS = 100
_RARE = 0.01  # accepted fraction of random scores that look inverted
_MOST_LISTED = 5


def _frame(rows: list[dict[str, Any]]) -> Any:
    frame = require("pandas", purpose="to_frame()").DataFrame(rows)
    # Nullable integers keep missing values without turning the other values into floats.
    frame = frame.astype({"thresholds": "Int64", "k": "Int64"})
    return frame if frame["buffer"].notna().all() else frame.astype({"buffer": "Int64"})


class _WithSettings(TableForms):
    """Base class of results that expose the settings of their evaluator."""

    _evaluator: Evaluator
    _n_predicted: float | None

    @cached_property
    def settings(self) -> EvaluationSettings:
        """Settings with the buffer of this series. Report their text together with the values.

        Examples
        --------
        >>> from vuskit import evaluate
        >>> print(evaluate([0, 1, 1, 1, 1, 0], range(6), buffer=2, thresholds=6).settings)
        buffer=2, thresholds=6, definition=journal
        """
        chosen, settings = self._evaluator.buffer, self._evaluator.settings
        return settings if chosen is None else settings.replace(buffer=chosen)

    @property
    def definition(self) -> str:
        """Definition of R-AUC and VUS."""
        return self.settings.definition

    @property
    def buffer(self) -> int | None:
        """Buffer length of R-AUC in points; None if the strategy found none."""
        chosen = self._evaluator.buffer
        return None if chosen is None else chosen.length

    @property
    def buffer_reason(self) -> str | None:
        """How the buffer was chosen: the strategy and its reason; None if it found none.

        Examples
        --------
        >>> from vuskit import evaluate
        >>> labels = [0] * 6 + [1] * 3 + [0] * 6
        >>> evaluate(labels, range(15), buffer="auto", measures="auc_pr").buffer_reason
        'auto: median length of 1 anomaly, as there are no values'
        """
        chosen = self._evaluator.buffer
        return None if chosen is None else f"{chosen.strategy}: {chosen.reason}"

    @property
    def without_buffer(self) -> Mapping[str, str]:
        """Measures that are NaN because no buffer was found, with the reason."""
        return self._evaluator.without_buffer

    @property
    def thresholds(self) -> int | None:
        """Number of thresholds; None if every distinct score is a threshold."""
        return self.settings.thresholds

    @property
    def step(self) -> int:
        """Distance between the buffer lengths of VUS."""
        return self.settings.step

    @property
    def side(self) -> str:
        """Side of the anomalies that has a buffer: both, before or after."""
        return self.settings.side

    @property
    def k(self) -> int | None:
        """The k of Precision@k; None stands for the number of anomalous points."""
        return self.settings.k

    @property
    def _columns(self) -> dict[str, Any]:
        """The settings as columns of a table."""
        return {
            "buffer": self.buffer,
            "thresholds": self.thresholds,
            "definition": self.definition,
            "step": self.step,
            "side": self.side,
            "threshold": self.settings.threshold_text,
            "k": self.k,
        }

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that were computed."""
        return self._evaluator.measures

    @property
    def n_predicted(self) -> float | None:
        """Number of predicted points (mean over several scores); None if no threshold was used."""
        return self._n_predicted

    @cached_property
    def chance(self) -> ChanceLevel:
        """Chance level of the measures on these labels; computed on first use."""
        from vuskit.measures.chance import chance_of

        return chance_of(self._evaluator, n_predicted=self.n_predicted)

    @property
    def _needs_chance(self) -> bool:
        """Whether a measure is misleading without its chance level."""
        return any(measure.misleading_without_chance for measure in self.measures)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        raise NotImplementedError

    @property
    def _layout(self) -> TableLayout:
        return TableLayout(*self._table(), caption=self._caption)

    @property
    def _note(self) -> str:
        raise NotImplementedError

    @property
    def _caption(self) -> str:
        """Settings, how the buffer was chosen if it was not given, and missing scores."""
        reason = self.buffer_reason
        known = reason in (None, "number: given")
        return f"{self.settings}{'' if known else f'; buffer {reason}'}{self._note}"

    @property
    def _titles(self) -> dict[str, str]:
        return {measure.name: measure.title for measure in self._evaluator.measures}


class Evaluation(_WithSettings, Mapping[str, float]):
    """Values of the measures of one score.

    A mapping from measure name to value; titles such as "VUS-PR" also work. It prints as a table.
    ``to_latex()``, ``to_markdown()`` and ``to_html()`` return the table in other formats.

    Examples
    --------
    >>> from vuskit import evaluate
    >>> result = evaluate([0, 1, 1, 1, 1, 0], range(6), buffer=2, measures=["vus_pr", "f_score"])
    >>> result["VUS-PR"] == result["vus_pr"]
    True
    """

    def __init__(
        self,
        values: dict[str, float],
        evaluator: Evaluator,
        n_predicted: int | None = None,
        inverted: float | None = None,
        missing: int = 0,
    ) -> None:
        self._values = values
        self._evaluator = evaluator
        self._n_predicted = n_predicted
        self._missing = missing
        self._inverted = inverted  # AUC-ROC of a score that looks inverted
        self._intervals: IntervalTable | None = None

    @property
    def missing(self) -> int:
        """Number of missing scores, which rank below all others (``nan="lowest"``).

        Examples
        --------
        >>> from vuskit import evaluate
        >>> result = evaluate([0, 1, 0], [None, 2, 1], buffer=1, measures="auc_pr", nan="lowest")
        >>> result.missing
        1
        """
        return self._missing

    def __getitem__(self, name: str) -> float:
        if name not in self._values and isinstance(name, str):
            name = self._names.get(plain_name(name), name)
        return self._values[name]

    @cached_property
    def _names(self) -> dict[str, str]:
        """Measure names by normalized title and name."""
        titled = {plain_name(title): name for name, title in self._titles.items()}
        return titled | {plain_name(name): name for name in self._values}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def intervals(self) -> IntervalTable | None:
        """Confidence intervals of the values, if ``evaluate`` was called with ``interval``.

        Examples
        --------
        >>> import numpy as np
        >>> from vuskit import evaluate
        >>> rng = np.random.default_rng(0)
        >>> labels = np.tile([0] * 180 + [1] * 20, 20)
        >>> score = rng.normal(size=4000) + 1.5 * labels
        >>> found = evaluate(labels, score, buffer=20, measures=["vus_pr"], interval=0.95)
        >>> low, high = found.intervals["vus_pr"]
        >>> low < found["vus_pr"] < high
        True
        """
        return self._intervals

    @property
    def adjusted(self) -> dict[str, float]:
        """Chance-adjusted values: 0 for a random score, 1 for the best possible score.

        Computed as ``(value - chance) / (best - chance)``.

        Examples
        --------
        >>> from vuskit import evaluate
        >>> labels, perfect = [0] * 40 + [1] * 4 + [0] * 40, [0] * 40 + [1] * 4 + [0] * 40
        >>> result = evaluate(labels, perfect, buffer=4, measures=["auc_roc"])
        >>> result["auc_roc"], result.adjusted["auc_roc"]
        (1.0, 1.0)
        """
        return self.chance.adjust(self._values)

    def to_dict(self) -> dict[str, float]:
        """Return the values by measure name as a plain dict."""
        return dict(self._values)

    def round(self, digits: int) -> dict[str, float]:
        """Return the rounded values by measure name."""
        return {name: round(value, digits) for name, value in self._values.items()}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per measure, including the settings.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        return _frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "measure": name,
                "title": self._titles[name],
                "value": value,
                **self._bounds(name),
                **self._columns,
            }
            for name, value in self._values.items()
        ]

    def _bounds(self, name: str) -> dict[str, float]:
        found = self._intervals
        return {} if found is None else dict(zip(("lower", "upper"), found[name], strict=True))

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header, columns = ["measure", "value"], [self._values]
        if "chance" in self.__dict__ or self._needs_chance:
            header += ["chance", "adjusted"]
            columns += [self.chance.mean, self.adjusted]
        rows = [
            [self._titles[name], *(f"{column[name]:.4f}" for column in columns)]
            for name in self._values
        ]
        if self._intervals is not None:
            header.insert(2, f"{100 * self._intervals.confidence:g}% interval")
            for row, (low, high) in zip(rows, self._intervals.values(), strict=True):
                row.insert(2, "" if math.isnan(low) else f"{low:.4f} to {high:.4f}")
        return header, rows

    def __repr__(self) -> str:
        method = "" if self._intervals is None else f"\n({self._intervals})"
        return f"{TableLayout(*self._table()).to_text()}\n({self.settings}{self._note}){method}"

    @property
    def _note(self) -> str:
        return f"; {missing_note(self._missing)}" if self._missing else ""


class Comparison(_WithSettings, Mapping[str, Evaluation]):
    """Evaluations of several scores of one series.

    A mapping from score name to evaluation. It prints as a table. ``to_latex()``,
    ``to_markdown()`` and ``to_html()`` return the table in other formats, best values in bold.
    """

    def __init__(self, evaluations: dict[str, Evaluation], evaluator: Evaluator) -> None:
        self._evaluations = evaluations
        self._evaluator = evaluator
        counts = [one.n_predicted for one in evaluations.values()]
        known = [count for count in counts if count is not None]
        self._n_predicted = sum(known) / len(known) if known else None

    def __getitem__(self, name: str) -> Evaluation:
        return self._evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._evaluations)

    def __len__(self) -> int:
        return len(self._evaluations)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the values by score and measure as plain dicts."""
        return {name: evaluation.to_dict() for name, evaluation in self._evaluations.items()}

    @property
    def adjusted(self) -> dict[str, dict[str, float]]:
        """Chance-adjusted values by score and measure; see ``Evaluation.adjusted``."""
        return {name: self.chance.adjust(values) for name, values in self.items()}

    def to_frame(self, *, long: bool = False) -> Any:
        """Return a pandas DataFrame with one row per score and one column per measure.

        Parameters
        ----------
        long : bool, default=False
            Return one row per score and measure instead, including the settings.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        if long:
            items = self._evaluations.items()
            return _frame([{"score": name, **row} for name, one in items for row in one._rows()])
        pandas = require("pandas", purpose="to_frame()")
        frame = pandas.DataFrame.from_dict(self.to_dict(), orient="index")
        frame.index.name = "score"
        frame.attrs["settings"] = str(self.settings)
        return frame

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [name, *(f"{value:.3f}" for value in evaluation.values())]
            for name, evaluation in self._evaluations.items()
        ]
        if self._needs_chance:
            rows.append(["chance", *(f"{value:.3f}" for value in self.chance.mean.values())])
        return ["", *self._titles.values()], rows

    @property
    def _layout(self) -> TableLayout:
        header, rows = self._table()
        marked: list[list[str | Cell]] = [[Cell(text) for text in row] for row in rows]
        for place, measure in enumerate(self.measures, start=1):
            texts = [row[place] for row in rows[: len(self)]]
            order = sorted({text for text in texts if text != "nan"}, key=float)
            if len(order) > 1:
                best = order[-1] if measure.higher_is_better else order[0]
                for row, text in zip(marked, texts, strict=False):
                    row[place] = Cell(text, bold=text == best)
        return TableLayout(header, marked, caption=self._caption, marks=("best",))

    @property
    def _note(self) -> str:
        counts = {name: one.missing for name, one in self._evaluations.items() if one.missing}
        return "".join(f"; {name}: {missing_note(count)}" for name, count in counts.items())

    def __repr__(self) -> str:
        header, rows = self._table()
        if len(TableLayout(header, rows).to_text().partition("\n")[0]) > _LINE:
            # Wide tables are easier to read with one row per measure.
            header, *rows = (list(column) for column in zip(header, *rows, strict=True))
        return TableLayout(header, rows).to_text(_LINE) + f"\n({self.settings}{self._note})"


# -- inverted scores -------------------------------------------------------------------------------


def looks_inverted(auc_roc: float, *, n_points: int, n_events: int) -> bool:
    """Whether an AUC-ROC is lower than that of an uninformative score.

    The points of an event are often all found or all missed, so a series with one event can have
    any AUC-ROC by chance. The fewer events, the lower the required AUC-ROC: the mean of one uniform
    rank per event falls below it in at most 1% of cases.

    Examples
    --------
    >>> looks_inverted(0.1, n_points=1000, n_events=5)
    True
    >>> looks_inverted(0.1, n_points=1000, n_events=1)
    False
    """
    if not auc_roc < FAR_BELOW_CHANCE or n_points < _FEWEST_POINTS or n_events == 0:
        return False
    total = n_events * auc_roc
    if total == 0.0 or total > 1.0:  # more than five events
        return True
    # Lower tail of the sum of uniform numbers; logarithms avoid underflow for many events.
    return n_events * math.log(total) - math.lgamma(n_events + 1) <= math.log(_RARE)


def warn_if_inverted(found: Mapping[str, float]) -> None:
    """Warn about scores that look inverted; `found` maps their names to AUC-ROC."""
    if found:
        warn(inverted_text(found), InvertedScoreWarning)


def inverted_text(
    found: Mapping[str, float], below: Mapping[str, tuple[Sequence[str], int]] | None = None
) -> str:
    """Return a warning about scores that look inverted.

    `below` holds the series on which a detector is below chance, and the number of all its series;
    without it, the scores are those of one series.

    Examples
    --------
    >>> inverted_text({"LOF": 0.03})[:34]
    'LOF (AUC-ROC 0.03) looks inverted:'
    >>> inverted_text({"LOF": 0.03}, {"LOF": (["a", "b"], 3)})[35:]
    'far below chance (0.5). LOF: below 0.5 on 2 of 3 series (a, b). High scores must mean ...'
    """
    shown = [f"{name} (AUC-ROC {auc_roc:.2f})" for name, auc_roc in found.items()]
    if len(shown) > _MOST_LISTED:
        shown[_MOST_LISTED:] = [f"{len(shown) - _MOST_LISTED} more"]
    verb, thing = ("looks", "it") if len(found) == 1 else ("look", "them")
    text = f"{', '.join(shown)} {verb} inverted: far below chance (0.5)"
    places = list((below or {}).items())[:_MOST_LISTED]
    counts = [
        f" {name}: below 0.5 on {len(series):,} of {total:,} series ({listed(series, most=3)})."
        for name, (series, total) in places
    ]
    text += "".join([".", *counts]) if counts else " on this series."
    if all(len(series) < 2 for _, (series, _) in places):
        return (
            f"{text} High scores must mean anomalous; do not negate {thing} because of one series."
        )
    return f"{text} High scores must mean anomalous; if low scores mean anomalous, negate {thing}."


def inverted_note(
    values: Mapping[str, Mapping[str, float]], sizes: Mapping[str, tuple[int, int]]
) -> str:
    """Return a warning about detectors whose mean AUC-ROC looks inverted; empty without any.

    `values` holds AUC-ROC by detector and series, `sizes` the points and events of each series.
    """
    found, below = {}, {}
    for detector, by_series in values.items():
        known = {name: value for name, value in by_series.items() if not math.isnan(value)}
        if not known:
            continue
        mean = sum(known.values()) / len(known)
        n_points, n_events = (sum(sizes[name][k] for name in known) for k in range(2))
        if looks_inverted(mean, n_points=n_points, n_events=n_events):
            found[detector] = mean
            below[detector] = [name for name, value in known.items() if value < 0.5], len(known)
    return inverted_text(found, below) if found else ""

"""Conformance suite: inputs and expected values for testing any implementation of the measures.

The expected values come from slow, literal implementations that share no code with vuskit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from numbers import Real
from typing import Any

import vuskit
from vuskit._util.tables import TableForms, TableLayout
from vuskit._util.text import did_you_mean
from vuskit.errors import InvalidInputError
from vuskit.kernels.labels import DEFINITIONS
from vuskit.measures.registry import get_measure

__all__ = [
    "ConformanceReport",
    "answer_suite",
    "check_answers",
    "conformance_suite",
]

SCHEMA = "vuskit-conformance-1"
TOLERANCE = 1e-9

# The value of a measure; None if it is undefined.
Answer = float | None
Implementation = Callable[[str, list[int], list[float], dict[str, Any]], Answer]


def conformance_suite() -> dict[str, Any]:
    """Return the suite as plain data: inputs, and checks with expected values.

    Returns
    -------
    dict
        Keys ``schema``, ``version``, ``vuskit``, ``tolerance``, ``definitions``, ``measures``,
        ``inputs`` and ``checks``. The page "Conformance" describes them.

    Examples
    --------
    >>> suite = conformance_suite()
    >>> suite["inputs"][0]["name"], suite["checks"][0]["measure"]
    ('middle', 'range_auc_roc')
    """
    frozen = _frozen()
    checks = list(_checks(frozen["checks"]))
    measures = [get_measure(name) for name in dict.fromkeys(check["measure"] for check in checks)]
    return {
        "schema": SCHEMA,
        "version": frozen["version"],
        "vuskit": vuskit.__version__,
        "tolerance": TOLERANCE,
        "definitions": {one.name: one.title for one in DEFINITIONS.values()},
        "measures": [
            {"name": one.name, "title": one.title, "reference": one.reference} for one in measures
        ],
        "inputs": frozen["inputs"],
        "checks": checks,
    }


def _frozen() -> dict[str, Any]:
    file = resources.files("vuskit") / "conformance.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def _checks(frozen: Mapping[str, Mapping[str, list[Any]]]) -> Iterator[dict[str, Any]]:
    for name, measures in frozen.items():
        for measure, entries in measures.items():
            for options, expected in entries:
                listed = ",".join(f"{key}={options[key]}" for key in sorted(options))
                yield {
                    "id": "/".join(filter(None, (name, measure, listed))),
                    "input": name,
                    "measure": measure,
                    "options": options,
                    "expected": expected,
                }


def suite_text() -> str:
    """Return the suite as JSON, one input or check per line.

    Examples
    --------
    >>> suite_text().splitlines()[1]
    '"schema": "vuskit-conformance-1",'
    """
    parts = []
    for key, value in conformance_suite().items():
        if isinstance(value, list):
            lines = ",\n".join(json.dumps(entry, allow_nan=False) for entry in value)
            parts.append(f"{json.dumps(key)}: [\n{lines}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def answer_suite(function: Implementation) -> dict[str, Answer]:
    """Compute the answers of a Python implementation.

    Parameters
    ----------
    function : callable
        ``function(measure, y_true, y_score, options)`` returns the value, or None or NaN if the
        measure is undefined. It raises `NotImplementedError` for unsupported measures or options.

    Returns
    -------
    dict
        Answer by check id, for :func:`check_answers`.

    Examples
    --------
    >>> def only_recall(measure, y_true, y_score, options):
    ...     if measure != "recall" or options["threshold"] == "sigma":
    ...         raise NotImplementedError
    ...     anomalous = [s for label, s in zip(y_true, y_score) if label]
    ...     if len(anomalous) in (0, len(y_true)):
    ...         return None
    ...     return sum(s >= options["threshold"] for s in anomalous) / len(anomalous)
    >>> check_answers(answer_suite(only_recall)).passed
    True
    """
    suite = _frozen()
    inputs = {one["name"]: one for one in suite["inputs"]}
    answers: dict[str, Answer] = {}
    for check in _checks(suite["checks"]):
        given = inputs[check["input"]]
        try:
            answers[check["id"]] = function(
                check["measure"], given["y_true"], given["y_score"], dict(check["options"])
            )
        except NotImplementedError:
            continue
    return answers


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that differs from the expected value.

    Attributes
    ----------
    id : str
        Id of the check.
    expected, got : float or None
        The values; None if the measure is undefined.
    """

    id: str
    expected: Answer
    got: Answer


@dataclass(frozen=True)
class ConformanceReport(TableForms):
    """Comparison of an implementation's answers with the suite.

    Attributes
    ----------
    version : int
        Version of the suite.
    tolerance : float
        Largest accepted difference.
    counts : dict
        Number of right, wrong and missing answers by measure.
    wrong : tuple of WrongAnswer
        The wrong answers.
    """

    version: int
    tolerance: float
    counts: dict[str, dict[str, int]]
    wrong: tuple[WrongAnswer, ...] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether no answer is wrong and at least one is right; missing answers are ignored."""
        return not self.wrong and any(one["right"] for one in self.counts.values())

    def total(self, kind: str) -> int:
        """Return the number of answers that are ``"right"``, ``"wrong"`` or ``"missing"``."""
        return sum(one[kind] for one in self.counts.values())

    @property
    def _layout(self) -> TableLayout:
        rows = [
            [get_measure(name).title, *(str(one[kind]) for kind in ("right", "wrong", "missing"))]
            for name, one in self.counts.items()
        ]
        return TableLayout(["measure", "right", "wrong", "missing"], rows)

    def __str__(self) -> str:
        return self._layout.to_text()


def check_answers(
    answers: Mapping[str, Answer], *, tolerance: float = TOLERANCE
) -> ConformanceReport:
    """Compare the answers of an implementation with the expected values.

    Parameters
    ----------
    answers : mapping
        Value by check id; None or NaN if the measure is undefined. Checks may be missing.
    tolerance : float, default=1e-9
        Largest accepted difference.

    Raises
    ------
    InvalidInputError
        If an id is unknown, or a value is not a number.

    Examples
    --------
    >>> report = check_answers({"perfect/auc_roc": 1.0, "inverted/auc_roc": 1.0})
    >>> report.wrong
    (WrongAnswer(id='inverted/auc_roc', expected=0.0, got=1.0),)
    """
    suite = _frozen()
    checks = list(_checks(suite["checks"]))
    known = {check["id"] for check in checks}
    for name, value in answers.items():
        if name not in known:
            raise InvalidInputError(
                f"`answers` must use check ids of the suite, got {name!r}"
                f"{did_you_mean(name, known)}"
            )
        if value is not None and (isinstance(value, bool) or not isinstance(value, Real)):
            raise InvalidInputError(
                f"`answers[{name!r}]` must be a number or None, got {value!r}; "
                "use None (null in JSON) if a measure is undefined"
            )
    counts: dict[str, dict[str, int]] = {}
    wrong = []
    for check in checks:
        one = counts.setdefault(check["measure"], {"right": 0, "wrong": 0, "missing": 0})
        if check["id"] not in answers:
            one["missing"] += 1
            continue
        given = answers[check["id"]]
        got = None if given is None or math.isnan(given) else float(given)
        if _agree(check["expected"], got, tolerance):
            one["right"] += 1
        else:
            one["wrong"] += 1
            wrong.append(WrongAnswer(check["id"], check["expected"], got))
    return ConformanceReport(suite["version"], tolerance, counts, tuple(wrong))


def _agree(expected: Answer, got: Answer, tolerance: float) -> bool:
    if expected is None or got is None:
        return expected is got
    return abs(expected - got) <= tolerance

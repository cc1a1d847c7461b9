"""Series of a run with their stored scores and values, ready for their own view."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import numpy as np

from vuskit.bench.files import ScoreFiles
from vuskit.bench.reading import open_for_reading
from vuskit.bench.sources import SeriesSource
from vuskit.bench.specs import EvaluationSpec
from vuskit.bench.states import Kind, Status
from vuskit.datasets import Series
from vuskit.errors import InvalidInputError
from vuskit.measures.results import Comparison, Evaluation
from vuskit.periods import BufferChoice
from vuskit.report.evaluation import EvaluationReport
from vuskit.report.run import RunReport, RunSeries

__all__ = ["series_report"]

_EVALUATION = """
SELECT spec, buffer, buffer_reason FROM jobs
WHERE series_hash = ? AND identity = ? AND kind = ? AND status = ?
ORDER BY id DESC LIMIT 1
"""


_NOT_OK = """
SELECT status, count(*) FROM jobs
WHERE series_hash = ? AND status != ? AND run_id = (SELECT max(id) FROM runs) GROUP BY status
"""


def series_report(run: RunReport, place: int, settings: str) -> EvaluationReport:
    """Evaluation of one series from what the run stored; nothing is scored or measured again.

    Parameters
    ----------
    run : RunReport
        The run.
    place : int
        Of the series in ``run.series``.
    settings : str
        One of ``run.settings``.

    Raises
    ------
    InvalidInputError
        If the series was not evaluated, or it or its scores cannot be read any more.
    """
    about = run.series[place]
    spec, buffer = _evaluated(run, about, settings)
    series = _read(about)
    scores = _scores(run, about)
    measures = tuple(run.measure(name) for name in run.measures)
    evaluator = spec.evaluator(series.labels, buffer, measures)
    values = run.values[run.settings.index(settings), :, :, place]
    table = Comparison(
        {
            name: Evaluation(
                dict(zip(run.measures, values[:, run.detectors.index(name)].tolist(), strict=True)),
                evaluator,
            )
            for name in scores
        },
        evaluator,
    )
    return EvaluationReport(
        name=about.title,
        labels=np.asarray(series.labels, dtype=bool),
        values=np.asarray(series.values, dtype=np.float64).reshape(series.n_points, -1)[:, 0],
        scores=scores,
        table=table,
        buffer=buffer,
        threshold=spec.threshold,
        draws=0,
    )


def _evaluated(
    run: RunReport, about: RunSeries, settings: str
) -> tuple[EvaluationSpec, BufferChoice]:
    with closing(open_for_reading(run.folder)) as connection:
        row = connection.execute(
            _EVALUATION, (about.hash, settings, Kind.EVALUATE, Status.OK)
        ).fetchone()
        if row is None:
            ended = connection.execute(_NOT_OK, (about.hash, Status.OK)).fetchall()
            raise InvalidInputError(f"{about.title} has no values{_why(run, dict(ended))}")
    fields: dict[str, Any] = json.loads(row["spec"])["evaluation"]
    strategy, _, reason = (row["buffer_reason"] or "number: given").partition(": ")
    return EvaluationSpec(**fields), BufferChoice(row["buffer"], strategy, reason)


def _why(run: RunReport, ended: dict[str, int]) -> str:
    """How jobs of a series without values ended."""
    if ended:
        listed = ", ".join(f"{count:,} {status}" for status, count in ended.items())
        return f": its jobs ended with {listed}"
    return "" if run.status.run["state"] == "finished" else " yet"


def _read(about: RunSeries) -> Series:
    try:
        series = SeriesSource(about.source).load()
    except (OSError, KeyError) as error:
        raise InvalidInputError(f"{about.title} cannot be read: {error}") from error
    if series.content_hash != about.hash:
        raise InvalidInputError(f"{about.title} has changed since the run")
    return series


def _scores(run: RunReport, about: RunSeries) -> dict[str, Any]:
    files = ScoreFiles(run.folder)
    try:
        return {
            name: np.load(files.path(digest), allow_pickle=False) for name, digest in about.scores
        }
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"scores of {about.title} cannot be read: {error}") from error

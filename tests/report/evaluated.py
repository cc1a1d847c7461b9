"""One evaluated series, for the tests of its page."""

from __future__ import annotations

import numpy as np

import vuskit
from vuskit.report.evaluation import EvaluationReport

EVIL = "<img src=x onerror=alert(1)>"
EVIL_SCORE = "</script><script>document.title='taken'</script>"


def report_of(labels, scores, *, values=None, buffer=20, name="series.csv", **options):
    labels = np.asarray(labels, dtype=bool)
    return EvaluationReport(
        name=name,
        labels=labels,
        values=values,
        scores=scores,
        table=vuskit.evaluate_many(labels, scores, buffer=buffer, **options),
        buffer=vuskit.choose_buffer(buffer),
        draws=3,
    )

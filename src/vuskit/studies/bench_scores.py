"""Series and scores of a benchmark run, for the studies."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vuskit.bench.files import ScoreFiles
from vuskit.bench.reading import DATABASE, open_for_reading
from vuskit.bench.sources import SeriesSource
from vuskit.bench.states import Kind, Status
from vuskit.datasets import ScoredSeries
from vuskit.errors import InvalidInputError

__all__ = ["BenchSeries", "bench_scores", "is_bench_run"]

_SCORES = """
SELECT series.hash, series.dataset, series.name, jobs.label, jobs.seed, jobs.scores_hash,
       (SELECT spec FROM sources WHERE series_hash = series.hash ORDER BY spec LIMIT 1) AS spec
FROM jobs JOIN series ON series.hash = jobs.series_hash
WHERE jobs.kind IN (?, ?) AND jobs.status = ? AND jobs.scores_hash IS NOT NULL
  AND jobs.run_id = (SELECT max(id) FROM runs)
ORDER BY series.dataset, series.name, series.hash, jobs.label, jobs.seed, jobs.id
"""


@dataclass(frozen=True)
class BenchSeries:
    """A series of a run and where the scores of its detectors are."""

    name: str
    spec: str
    scores: tuple[tuple[str, Path], ...]

    def read(self) -> ScoredSeries:
        """Read the series and the scores.

        Raises
        ------
        InvalidInputError
            If a file is gone or broken.
        """
        series = SeriesSource(self.spec).load()
        try:
            scores = {detector: np.load(path) for detector, path in self.scores}
        except (OSError, ValueError) as error:
            raise InvalidInputError(f"{self.name}: {error}") from error
        return ScoredSeries(series, scores)


def is_bench_run(folder: Path) -> bool:
    """Whether the folder is that of a benchmark run."""
    return (folder / DATABASE).is_file()


def bench_scores(folder: str | Path) -> tuple[BenchSeries, ...]:
    """Series of the latest plan with the scores that were stored; what failed is not there.

    A detector that ran with several seeds appears once for each, as ``label (seed 1)``.

    Raises
    ------
    InvalidInputError
        If the folder holds no run.
    """
    place = Path(folder)
    files = ScoreFiles(place)
    with closing(open_for_reading(place)) as connection:
        wanted = (Kind.SCORE.value, Kind.IMPORT.value, Status.OK.value)
        rows = connection.execute(_SCORES, wanted).fetchall()
    found: dict[str, list[tuple[str, Path]]] = defaultdict(list)
    about: dict[str, tuple[str, str]] = {}
    labels = {(row["hash"], row["label"]): 0 for row in rows}
    for row in rows:
        labels[row["hash"], row["label"]] += 1
    for row in rows:
        several = labels[row["hash"], row["label"]] > 1
        detector = f"{row['label']} (seed {row['seed']})" if several else row["label"]
        about[row["hash"]] = (f"{row['dataset']}/{row['name']}", row["spec"])
        found[row["hash"]].append((detector, files.path(row["scores_hash"])))
    return tuple(BenchSeries(*about[key], tuple(scores)) for key, scores in found.items())

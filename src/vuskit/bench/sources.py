"""Open scores of any kind: runs, plans and packs, or everything that `open_inputs` reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vuskit.bench.plan import planned_folder
from vuskit.bench.run import Run
from vuskit.datasets.columns import Columns
from vuskit.datasets.inputs import Inputs, open_inputs, select_sources
from vuskit.errors import InvalidInputError

_PLAN = ".toml"


def run_folder(target: str | Path) -> Path:
    """Return the run folder of a plan, or the target itself.

    Raises
    ------
    InvalidInputError
        If it is a plan that cannot be read.
    """
    path = Path(target)
    return planned_folder(path) if path.suffix == _PLAN and path.is_file() else path


def find_run(target: str | Path) -> Run | None:
    """Return the run of a folder, a plan or a pack; None if there is no run."""
    run = Run(run_folder(target))
    return run if run.exists else None


def open_scores(
    source: Any,
    *,
    labels: str | Path | None = None,
    pattern: str | None = None,
    columns: Columns | None = None,
    align: str | None = None,
    window: int | str | None = None,
    select: str | Iterable[str] | None = None,
) -> Inputs:
    """Open series with scores: a benchmark run, or everything that ``vuskit evaluate`` reads.

    Parameters
    ----------
    source : str, Path, data frame, ScoredSeries, Source, or iterable of these
        A run folder, its plan or a pack, or any input of `vuskit.datasets.open_inputs`.
    labels, pattern, columns, align, window
        As for `vuskit.datasets.open_inputs`; not for runs.
    select : str or iterable of str, optional
        Selects series by name, such as ``"ECG/*"``: the path below the folder or its last part.

    Returns
    -------
    Inputs
        In the order given; files of a folder by path. Names are unique, see
        `vuskit.datasets.series`.

    Raises
    ------
    InvalidInputError
        If there are no scores, or `select` matches no series.

    Examples
    --------
    >>> from vuskit.datasets import ScoredSeries, Series
    >>> scored = ScoredSeries(Series("a", "docs", [1.0, 9.0], [0, 1]), {"mine": [0.1, 0.9]})
    >>> [source.name for source in open_scores([scored])]
    ['docs/a']
    """
    several = [source] if isinstance(source, str | Path) else source
    is_list = isinstance(several, list | tuple)
    runs = [find_run(one) for one in several if isinstance(one, str | Path)] if is_list else []
    reading = {"labels": labels, "pattern": pattern, "columns": columns, "align": align}
    if not any(runs):
        return open_inputs(source, window=window, select=select, **reading)  # type: ignore[arg-type]
    if (given := [name for name, value in reading.items() if value is not None]) or window:
        name = given[0] if given else "window"
        raise InvalidInputError(
            f"`--{name}` must be used with saved scores, got {str(several[0])!r}, which is a run; "
            "omit it"
        )
    parts: list[Any] = []
    for one in several:
        run = find_run(one) if isinstance(one, str | Path) else None
        stored = [] if run is None else list(run.scored_series())
        if run is not None and not stored:
            raise InvalidInputError(f"`source` must hold saved scores, got none in {str(one)!r}")
        parts += [one] if run is None else stored
    return select_sources(open_inputs(parts), select)

"""Saved scores: value, label, then one column per detector."""

from __future__ import annotations

from pathlib import Path

from vuskit.datasets.readers.generic import series_from_table
from vuskit.datasets.readers.registry import Candidate, parent_name, register_format, stem
from vuskit.datasets.series import ScoredSeries, Series
from vuskit.datasets.tables import Table, read_csv
from vuskit.errors import InvalidInputError

__all__ = ["open_scores", "read_scores"]


def _matches(file: Candidate) -> bool:
    first = [name.lower() for name in file.columns[:2]]
    return file.suffix == ".csv" and first == ["value", "label"] and len(file.columns) > 2


@register_format(
    name="scores",
    title="saved scores",
    layout="*.csv, *.csv.gz: value,label,<detector>,... ; read_scores() also returns the scores",
    matches=_matches,
)
def read_scored_series(path: Path, *, dataset: str | None = None) -> Series:
    """Read value and label only."""
    return _series(read_csv(path), path, dataset)


def read_scores(path: str | Path, *, dataset: str | None = None) -> ScoredSeries:
    r"""Read a file of saved scores.

    Parameters
    ----------
    path : str or Path
        A csv file, possibly gzipped, with the header ``value,label,<detector>,...``. The case of
        the first two names is ignored.
    dataset : str, optional
        Name of the data set. Defaults to the folder's name.

    Returns
    -------
    ScoredSeries
        The series, and the scores by detector.

    Raises
    ------
    InvalidInputError
        If the file does not have this header, or a cell is not a number or label.
    MissingDependencyError
        If pyarrow is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "Plant"
    >>> folder.mkdir()
    >>> text = "value,label,LOF\n1.5,0,0.1\n9.5,1,0.7\n"
    >>> _ = (folder / "pump.csv").write_text(text)
    >>> scored = read_scores(folder / "pump.csv")
    >>> scored
    ScoredSeries(Series('Plant/pump', 2 points, 1 channel, 1 anomaly), detectors=['LOF'])
    >>> scored.scores["LOF"]
    array([0.1, 0.7])
    """
    table = open_scores(Path(path))
    detectors = table.names[2:]
    return ScoredSeries(
        _series(table, table.path, dataset), {name: table.scores(name) for name in detectors}
    )


def open_scores(path: Path, data: bytes | None = None) -> Table:
    """Read a file of saved scores as a table, which checks a column when it is used.

    Parameters
    ----------
    path : Path
        The file.
    data : bytes, optional
        Content of the file, if already read.

    Raises
    ------
    InvalidInputError
        If the file does not have the header of saved scores.
    MissingDependencyError
        If pyarrow is not installed.
    """
    candidate = Candidate(path, data)
    if not _matches(candidate):
        raise InvalidInputError(
            f"{path}: the header must be value,label,<detector>,..., "
            f"got {','.join(candidate.columns)!r}"
        )
    return read_csv(path, data=data)


def _series(table: Table, path: Path, dataset: str | None) -> Series:
    value, label = table.names[:2]
    return series_from_table(
        table,
        name=stem(path),
        dataset=dataset or parent_name(path),
        label=label,
        values=value,
    )

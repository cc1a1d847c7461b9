"""NASA telemanom (SMAP and MSL): one npy file per channel and a table of anomalies."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.readers.registry import Candidate, register_format
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = ["read_telemanom"]

_TABLE = "labeled_anomalies.csv"


def _matches(file: Candidate) -> bool:
    return (
        file.suffix == ".npy"
        and file.path.parent.name != "train"
        and _find_table(file.path) is not None
    )


def _companions(path: Path, options: Mapping[str, Any]) -> list[Path | None]:
    train = _train_file(path) if options.get("with_train") else None
    return [_table_file(path, options.get("anomalies")), train]


@register_format(
    name="telemanom",
    title="NASA telemanom (SMAP, MSL)",
    layout=f"test/<channel>.npy (and train/), {_TABLE} in a parent folder",
    matches=_matches,
    companions=_companions,
)
def read_telemanom(
    path: Path,
    *,
    dataset: str | None = None,
    anomalies: str | Path | None = None,
    with_train: bool = False,
    first_channel_only: bool = False,
) -> Series:
    """Read the test part of one channel.

    Parameters
    ----------
    path : Path
        ``test/<channel>.npy``.
    dataset : str, optional
        Name of the data set. Defaults to ``NASA-SMAP`` or ``NASA-MSL``, depending on the table.
    anomalies : path, optional
        Table of anomalies. Defaults to the nearest one in the parent folders.
    with_train : bool, default=False
        Prepend ``train/<channel>.npy`` and set the train length of the series.
    first_channel_only : bool, default=False
        Keep the telemetry value and drop the command columns, as TSB-UAD does.
    """
    table = _table_file(path, anomalies)
    if table is None:
        raise InvalidInputError(
            f"{path}: {_TABLE} must be in a parent folder, got none; name it with anomalies="
        )
    spacecraft, ranges = _anomalies(table, path.stem)
    values = _load(path)
    labels = np.zeros(values.shape[0], dtype=np.bool_)
    for first, last in ranges:
        if not 0 <= first <= last < labels.size:
            raise InvalidInputError(
                f"{table}: anomalies of {path.stem!r} must lie in 0..{labels.size - 1}, "
                f"got [{first}, {last}]"
            )
        labels[first : last + 1] = True
    train_length = None
    if with_train:
        train = _load(_train_file(path))
        train_length = train.shape[0]
        values = np.concatenate([train, values])
        labels = np.concatenate([np.zeros(train_length, dtype=np.bool_), labels])
    if first_channel_only and values.ndim == 2:
        values = values[:, 0]
    return Series(path.stem, dataset or f"NASA-{spacecraft}", values, labels, train_length)


def _table_file(path: Path, given: str | Path | None) -> Path | None:
    return Path(given) if given is not None else _find_table(path)


def _train_file(path: Path) -> Path:
    return path.parent.parent / "train" / path.name


def _find_table(path: Path) -> Path | None:
    above = (folder / _TABLE for folder in path.resolve().parents[:3])
    return next((table for table in above if table.is_file()), None)


def _load(path: Path) -> NDArray[np.float64]:
    try:
        values = np.load(path, allow_pickle=False)
    except Exception as error:  # numpy raises various errors for a damaged header
        raise InvalidInputError(f"{path}: not a readable npy file: {error}") from error
    if values.ndim not in (1, 2) or values.dtype.kind not in "iufb":
        raise InvalidInputError(
            f"{path}: must hold numbers of shape (n,) or (n, d), "
            f"got {values.dtype} of shape {values.shape}"
        )
    return np.asarray(values, dtype=np.float64)


def _anomalies(table: Path, channel: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the spacecraft and the inclusive ranges of a channel, from all of its rows."""
    ranges: list[tuple[int, int]] = []
    spacecraft = ""
    with table.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        for row in reader:
            if row.get("chan_id") == channel:
                spacecraft = row.get("spacecraft") or ""
                ranges += _ranges(row.get("anomaly_sequences"), table, reader.line_num)
    if not spacecraft:
        raise InvalidInputError(f"{table}: must have a row with chan_id {channel!r}, got none")
    return spacecraft, ranges


def _ranges(text: Any, table: Path, line: int) -> list[tuple[int, int]]:
    try:
        return [(int(first), int(last)) for first, last in json.loads(text)]
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{table}, line {line}: anomaly_sequences must be like [[10, 20], [40, 45]], "
            f"got {text!r}"
        ) from None

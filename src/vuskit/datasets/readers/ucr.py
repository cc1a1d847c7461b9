"""UCR anomaly archive (KDD21): one column of numbers; the file name locates the anomaly."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vuskit.datasets.readers.registry import parent_name, register_format, stem
from vuskit.datasets.series import Series
from vuskit.errors import InvalidInputError

__all__ = ["read_ucr"]

_NAME = re.compile(r".*_(?P<train>\d+)_(?P<start>\d+)_(?P<stop>\d+)$")


@register_format(
    name="ucr",
    title="UCR anomaly archive (KDD21)",
    layout="<id>_UCR_Anomaly_<name>_<train end>_<start>_<stop>.txt: one value per line",
    matches=lambda file: file.suffix == ".txt" and _NAME.match(stem(file.path)) is not None,
)
def read_ucr(path: Path, *, dataset: str | None = None) -> Series:
    """Read one file; the anomaly is ``[start, stop)`` with positions from 0, as in TSB-UAD."""
    match = _NAME.match(stem(path))
    if match is None:
        raise InvalidInputError(
            f"{path}: the name must end with _<train end>_<start>_<stop>, got {stem(path)!r}; "
            "use the original file name"
        )
    train, start, stop = (int(number) for number in match.groups())
    values = _numbers(path)
    if not train <= start < stop <= values.size:
        raise InvalidInputError(
            f"{path}: the name must give train end <= start < stop <= {values.size} "
            f"(the number of values), got {train}, {start}, {stop}"
        )
    labels = np.zeros(values.size, dtype=np.bool_)
    labels[start:stop] = True
    return Series(stem(path), dataset or parent_name(path), values, labels, train)


def _numbers(path: Path) -> NDArray[np.float64]:
    # A few files of the archive hold all values on one line, separated by spaces.
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as stream:
            lines = stream.read().splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path}: not a readable text file: {error}") from error
    try:
        values = np.array(" ".join(lines).split(), dtype=np.float64)
    except ValueError:
        raise InvalidInputError(_first_bad(path, lines)) from None
    if values.size == 0:
        raise InvalidInputError(f"{path}: the file must have at least one value, got none")
    return values


def _first_bad(path: Path, lines: list[str]) -> str:
    for number, line in enumerate(lines, start=1):
        for word in line.split():
            try:
                float(word)
            except ValueError:
                return f"{path}, line {number}: values must be numbers, got {word!r}"
    return f"{path}: values must be numbers"
